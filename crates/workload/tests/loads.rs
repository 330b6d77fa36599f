//! The loads against what is known of them: their SQL as golden files, their counts, their values.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use dbdyno_model::Dialect;
use dbdyno_workload::catalog::LOADS;
use dbdyno_workload::{Event, Load, Program, Tables, Value};

const TABLES: Tables = Tables { count: 2, rows: 1000, seed: 7 };
const DIALECTS: [(Dialect, &str); 3] =
    [(Dialect::Mysql, "mysql"), (Dialect::Postgres, "postgres"), (Dialect::Sqlite, "sqlite")];

fn program(load: &Load, dialect: Dialect) -> Program {
    Program::compile(load, dialect, TABLES).unwrap()
}

fn event(program: &Program, client: u32, operation: u64) -> Event {
    let mut event = Event::default();
    program.fill(client, operation, &mut event);
    event
}

/// One event of every load as the server sees it, next to the statement that it executes.
/// `UPDATE_GOLDEN=1` writes the files anew.
#[test]
fn statements_are_those_of_the_golden_files() {
    for (dialect, name) in DIALECTS {
        let mut story = String::new();
        for load in LOADS {
            let program = program(load, dialect);
            let event = event(&program, 0, 0);
            writeln!(story, "# {} — {}", load.name, load.about).unwrap();
            for call in &event.calls {
                let sql = &program.statements()[call.statement as usize].sql;
                let values: Vec<String> =
                    event.values(call).iter().map(|value| shown(&event, value)).collect();
                writeln!(story, "{sql}").unwrap();
                if !values.is_empty() {
                    writeln!(story, "    {}", values.join(" ")).unwrap();
                }
            }
            story.push('\n');
        }
        check_golden(&format!("loads.{name}.txt"), &story);
    }
}

#[test]
fn tables_are_those_of_the_golden_file() {
    let mut story = String::new();
    for (dialect, name) in DIALECTS {
        let script = TABLES.script(dialect, 1);
        writeln!(story, "# {name}\n{}\n{}", script.create, script.bulk).unwrap();
        script.finish.iter().for_each(|sql| writeln!(story, "{sql}").unwrap());
        writeln!(story, "{}\n", script.drop).unwrap();
    }
    check_golden("tables.txt", &story);
}

fn shown(event: &Event, value: &Value) -> String {
    match *value {
        Value::Int(number) => number.to_string(),
        Value::Text { start, length } => {
            format!("'{}'", String::from_utf8_lossy(event.text(start, length)))
        }
    }
}

fn check_golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == actual, "{name} differs; UPDATE_GOLDEN=1 writes it anew. Now:\n{actual}");
}

/// Statements per event as sysbench counts them (`queries:`), BEGIN and COMMIT included.
#[test]
fn statements_per_event_are_those_of_sysbench() {
    let expected = [
        ("point-query", 1),
        ("points-covered-si", 1),
        ("range-notcovered-pk", 1),
        ("update-nonindex", 1),
        ("read-write", 20),
    ];
    for (name, count) in expected {
        let load = Load::find(name).unwrap();
        assert_eq!(load.statements_per_event(), count, "{name}");
        let calls = event(&program(load, Dialect::Mysql), 0, 3).calls.len() as u64;
        assert_eq!(calls, count, "{name}");
    }
}

#[test]
fn both_arms_are_asked_the_same_and_clients_are_not() {
    for load in LOADS {
        let mysql = program(load, Dialect::Mysql);
        let postgres = program(load, Dialect::Postgres);
        for operation in [0, 1, 1 << 40] {
            assert_eq!(event(&mysql, 3, operation), event(&postgres, 3, operation));
            assert_ne!(event(&mysql, 3, operation), event(&mysql, 4, operation));
            assert_ne!(event(&mysql, 3, operation), event(&mysql, 3, operation + 1));
        }
    }
}

#[test]
fn ids_are_uniform_over_the_table_and_tables_are_drawn_evenly() {
    let program = program(Load::find("point-query").unwrap(), Dialect::Mysql);
    let (mut ids, mut tables) = ([0u32; 100], [0u32; 2]);
    for operation in 0..100_000 {
        let event = event(&program, 0, operation);
        let Value::Int(id) = event.values(&event.calls[0])[0] else { panic!() };
        assert!((1..=1000).contains(&id));
        ids[(id - 1) as usize / 10] += 1;
        tables[event.calls[0].statement as usize] += 1;
    }
    let chi2 = |cells: &[u32]| {
        let expected = 100_000.0 / cells.len() as f64;
        cells.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum::<f64>()
    };
    // 0.1 % points: 148.2 at 99 degrees of freedom, 10.8 at 1.
    assert!(chi2(&ids) < 148.2 && chi2(&tables) < 10.8, "{} {}", chi2(&ids), chi2(&tables));
}

#[test]
fn ranges_span_what_their_names_say_and_deleted_rows_come_back() {
    let range = program(Load::find("range-notcovered-pk").unwrap(), Dialect::Mysql);
    let asked = event(&range, 0, 9);
    let [Value::Int(low), Value::Int(high)] = asked.values(&asked.calls[0]) else { panic!() };
    assert_eq!(high - low, 100, "BETWEEN takes both ends: 101 rows");

    let mixed = program(Load::find("read-write").unwrap(), Dialect::Mysql);
    let asked = event(&mixed, 0, 9);
    let find = |word: &str| {
        let mut calls = asked.calls.iter();
        let sql = |call: &&_| sql_of(&mixed, call).starts_with(word);
        *calls.find(sql).unwrap()
    };
    let (delete, insert) = (find("DELETE"), find("INSERT"));
    assert_eq!(asked.values(&delete)[0], asked.values(&insert)[0]);
    assert_eq!(delete.statement % 2, insert.statement % 2, "not on the same table");
    let points: BTreeSet<String> =
        asked.calls[1..11].iter().map(|call| shown(&asked, &asked.values(call)[0])).collect();
    assert!(points.len() > 5, "ten point queries, ten ids: {points:?}");
}

fn sql_of<'a>(program: &'a Program, call: &dbdyno_workload::Call) -> &'a str {
    &program.statements()[call.statement as usize].sql
}
