//! The loads against what is known of them: their SQL as golden files, their counts, their values.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use dbdyno_model::Dialect;
use dbdyno_workload::ready::EventSource;
use dbdyno_workload::{
    CallValue, Content, Event, Expect, Load, Program, ReadyLoad, Statement, StatementKind, Tables,
    catalog, resolve_load,
};

const TABLES: Tables = Tables { count: 2, rows: 1000, seed: 7 };
const DIALECTS: [(Dialect, &str); 4] = [
    (Dialect::Mysql, "mysql"),
    (Dialect::Postgres, "postgres"),
    (Dialect::Sqlite, "sqlite"),
    (Dialect::Rocksdb, "rocksdb"),
];

fn load(name: &str) -> Load {
    resolve_load(name, TABLES).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn program(load: &Load, dialect: Dialect) -> Program {
    match ReadyLoad::compile(load, dialect).unwrap().event_source() {
        EventSource::Program(program) => Program::clone(program),
        EventSource::Dialogue(..) => panic!("{} is a dialogue", load.name),
    }
}

/// The loads whose events are known before they are asked.
fn mixes() -> Vec<Load> {
    let loads = catalog::entries().into_iter().map(|entry| load(entry.name));
    loads.filter(|load| matches!(load.content, Content::Mix(_))).collect()
}

fn event(program: &Program, client: u32, operation: u64) -> Event {
    let mut event = Event::default();
    program.fill_event(client, operation, &mut event);
    event
}

/// One event of every load as the server sees it, next to the statement that it executes.
/// `UPDATE_GOLDEN=1` writes the files anew.
#[test]
fn the_reference_engine_is_asked_in_mysqls_words() {
    for entry in catalog::entries() {
        let (name, load) = (entry.name, load(entry.name));
        let [mysql, engine] = [Dialect::Mysql, Dialect::Engine].map(|dialect| {
            assert!(load.supports_dialect(dialect), "{name}");
            load.dataset.tables(dialect)
        });
        assert_eq!(mysql, engine, "{name}");
    }
}

#[test]
fn statements_are_those_of_the_golden_files() {
    for (dialect, name) in DIALECTS {
        let mut story = String::new();
        for load in mixes().into_iter().filter(|load| load.supports_dialect(dialect)) {
            let program = program(&load, dialect);
            let event = event(&program, 0, 0);
            writeln!(story, "# {} ({}) — {}", load.name, load.group.name(), load.about).unwrap();
            for call in &event.calls {
                let statement = &program.statements()[call.statement as usize];
                writeln!(story, "{}", told(&event, call, statement)).unwrap();
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
        let loads = ["point-query", "join", "bulk-insert", "readrandom", "fillseq"].map(load);
        let spoken = loads.into_iter().filter(|load| load.supports_dialect(dialect));
        for dataset in spoken.map(|load| load.dataset) {
            writeln!(story, "# {name}: {}", dataset.key()).unwrap();
            for table in dataset.tables(dialect) {
                writeln!(story, "{}", table.create).unwrap();
                table.finish.iter().for_each(|sql| writeln!(story, "{sql}").unwrap());
            }
            story.push('\n');
        }
    }
    check_golden("tables.txt", &story);
}

/// A statement as it is sent: as text, or prepared with its parameters below. A long list of
/// parameters is cut.
fn told(event: &Event, call: &dbdyno_workload::Call, statement: &Statement) -> String {
    let clip = |text: String| match text.char_indices().nth(300) {
        Some((end, _)) => format!("{} … ({} characters)", &text[..end], text.len()),
        None => text,
    };
    if statement.kind == StatementKind::Text {
        let mut sql = String::new();
        event.write_sql(call, statement, &mut sql);
        return format!("text: {}", clip(sql));
    }
    let values: Vec<String> = event.values(call).iter().map(|value| shown(event, value)).collect();
    let sql = clip(statement.sql.clone());
    if values.is_empty() { sql } else { format!("{sql}\n    {}", clip(values.join(" "))) }
}

fn shown(event: &Event, value: &CallValue) -> String {
    match *value {
        CallValue::Null => "NULL".to_owned(),
        CallValue::Int(number) => number.to_string(),
        CallValue::Text { start, length } => {
            format!("'{}'", String::from_utf8_lossy(event.text_slice(start, length)))
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

#[test]
fn what_does_not_write_only_reads() {
    for load in mixes() {
        assert_eq!(load.only_reads(), !load.writes_rows(), "{}", load.name);
    }
}

/// Statements per event as sysbench counts them (`queries:`), BEGIN and COMMIT included.
#[test]
fn statements_per_event_are_those_of_sysbench() {
    let expected = [
        ("point-query", 1),
        ("update-inlist", 1),
        ("read-only-distinct_range=1000", 13),
        ("read-only_range=10", 16),
        ("read-only?trx=off", 14),
        ("write-only", 6),
        ("read-write", 20),
    ];
    for (name, count) in expected {
        let load = load(name);
        let Content::Mix(mix) = &load.content else { panic!() };
        assert_eq!(mix.statements_per_event(), count, "{name}");
        let calls = event(&program(&load, Dialect::Mysql), 0, 3).calls.len() as u64;
        assert_eq!(calls, count, "{name}");
    }
}

/// Callaghan's labels, with and without the range that is only a label, and before the writes.
#[test]
fn names_that_mean_the_same_resolve_to_the_same_statements() {
    let told = |name: &str| {
        let load = load(name);
        program(&load, Dialect::Mysql).statements().to_vec()
    };
    for (name, alias) in [
        ("point-query", "point-query_range=100"),
        ("point-query", "point-query.pre"),
        ("random-points", "random-points_range=100"),
        ("random-points_range=10", "random-points_range=10.pre"),
        ("write-only", "write-only_range=10000"),
        ("read-only_range=10", "read-only?range=10"),
    ] {
        assert_eq!(told(name), told(alias), "{name} and {alias}");
    }
    for wrong in
        ["point-query_range=7", "point-query?range=5", "read-only?rand=zipf", "scan?rows=1"]
    {
        assert!(resolve_load(wrong, TABLES).is_err(), "{wrong}");
    }
}

/// The 32 microbenchmarks are in the catalog.
#[test]
fn groups_have_as_many_loads_as_in_callaghans_table() {
    let entries = catalog::micro::names();
    assert_eq!(entries.len(), 32);
    let points = entries.iter().filter(|name| name.contains("point")).count();
    let is_write = |name: &&&str| {
        ["delete", "insert", "update", "write"].iter().any(|word| name.contains(word))
    };
    let writes = entries.iter().filter(is_write).count();
    assert_eq!((points, writes, 32 - points - writes), (9, 10, 13));
    for name in entries {
        let group = load(name).group.name();
        assert_eq!(group == "point", name.contains("point"), "{name}");
        assert_eq!(group == "write", is_write(&&name), "{name}");
    }
}

#[test]
fn hot_points_are_the_same_and_in_the_middle_and_update_one_is_one() {
    let hot = program(&load("hot-points"), Dialect::Mysql);
    let asked = event(&hot, 5, 17);
    let values: Vec<String> =
        asked.values(&asked.calls[0]).iter().map(|value| shown(&asked, value)).collect();
    let expected: Vec<String> = (501..=600).map(|id| id.to_string()).collect();
    assert_eq!(values, expected);
    let one = program(&load("update-one"), Dialect::Mysql);
    for operation in 0..20 {
        let asked = event(&one, 0, operation);
        assert_eq!(asked.values(&asked.calls[0])[1], CallValue::Int(1));
    }
}

/// A distribution changes which rows are asked for, not how many statements there are.
#[test]
fn the_distribution_of_ids_can_be_chosen() {
    let share_below = |name: &str, limit: i64| {
        let program = program(&load(name), Dialect::Mysql);
        let ids = (0..20_000).map(|operation| {
            let event = event(&program, 0, operation);
            let last = event.values(&event.calls[0]).last().copied();
            let Some(CallValue::Int(id)) = last else { panic!() };
            id
        });
        ids.filter(|&id| id <= limit).count() as f64 / 20_000.0
    };
    assert!((share_below("point-query", 200) - 0.2).abs() < 0.02);
    assert!((share_below("point-query?rand=hotspot", 200) - 0.8).abs() < 0.02);
    assert!((share_below("point-query?rand=pareto", 200) - 0.8).abs() < 0.02);
    let zipf = share_below("update-zipf", 10);
    assert!((zipf - share_below("update-nonindex?rand=zipfian", 10)).abs() < 0.02 && zipf > 0.1);
    assert!(share_below("update-zipf?skew=1.5", 10) > 2.0 * zipf);
}

/// What a text statement says is what a prepared one would be asked.
#[test]
fn statements_sent_as_text_carry_their_parameters() {
    let load = load("insert");
    for (dialect, start) in
        [(Dialect::Mysql, "INSERT INTO sbtest"), (Dialect::Postgres, "INSERT INTO sbtest")]
    {
        let program = program(&load, dialect);
        let event = event(&program, 0, 1);
        let call = event.calls[0];
        let mut sql = String::new();
        event.write_sql(&call, &program.statements()[call.statement as usize], &mut sql);
        assert!(sql.starts_with(start) && !sql.contains(['?', '$', '{']), "{sql}");
        assert_eq!(sql.matches('\'').count(), 4, "two strings: {sql}");
        assert_eq!(call.expect, Some(Expect::Changed(1, 1)));
    }
}

#[test]
fn both_arms_are_asked_the_same_and_clients_are_not() {
    for load in mixes() {
        let mysql = program(&load, Dialect::Mysql);
        let postgres = program(&load, Dialect::Postgres);
        let always_the_same = ["hot-points", "scan"].contains(&load.name.as_str());
        for operation in [0, 1, 1 << 40] {
            assert_eq!(event(&mysql, 3, operation), event(&postgres, 3, operation));
            if always_the_same {
                continue;
            }
            assert_ne!(event(&mysql, 3, operation), event(&mysql, 4, operation));
            assert_ne!(event(&mysql, 3, operation), event(&mysql, 3, operation + 1));
        }
    }
}

#[test]
fn ids_are_uniform_over_the_table_and_tables_are_drawn_evenly() {
    let program = program(&load("point-query"), Dialect::Mysql);
    let (mut ids, mut tables) = ([0u32; 100], [0u32; 2]);
    for operation in 0..100_000 {
        let event = event(&program, 0, operation);
        let CallValue::Int(id) = event.values(&event.calls[0])[0] else { panic!() };
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
    let range = program(&load("range-notcovered-pk"), Dialect::Mysql);
    let asked = event(&range, 0, 9);
    let [CallValue::Int(low), CallValue::Int(high)] = asked.values(&asked.calls[0]) else {
        panic!()
    };
    assert_eq!(high - low, 100, "BETWEEN takes both ends: 101 rows");

    let mixed = program(&load("read-write"), Dialect::Mysql);
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
