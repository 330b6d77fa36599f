//! The statements of the Insert Benchmark as golden files, and what its partners know of each
//! other.

use std::fmt::Write as _;
use std::path::Path;

use dbdyno_model::Dialect;
use dbdyno_workload::insert_benchmark::{
    BenchmarkStep, Class, ConnectionRole, RolePart, Sizes, sql,
};
use dbdyno_workload::{
    AnswerRows, Arg, Dialogue, DialogueCounts, Link, Spec, TurnFault, resolve_load,
};

const DIALECTS: [(Dialect, &str); 3] =
    [(Dialect::Mysql, "mysql"), (Dialect::Postgres, "postgres"), (Dialect::Sqlite, "sqlite")];

/// Writes down what is asked, and gives the answers that a table with the ids 1001 to 2000 would.
struct Recorder {
    statements: Vec<String>,
    asked: Vec<String>,
    changed: u64,
}

struct One(i64);

impl AnswerRows for One {
    fn rows(&self) -> usize {
        1
    }
    fn int(&self, _row: usize, _column: usize) -> Option<i64> {
        Some(self.0)
    }
    fn text_at(&self, _row: usize, _column: usize) -> Option<&[u8]> {
        None
    }
}

impl Recorder {
    fn note(&mut self, statement: usize, values: &[Arg<'_>]) {
        let mut text = self.statements[statement].clone();
        if !values.is_empty() {
            write!(text, "\n    {values:?}").unwrap();
        }
        self.asked.push(text);
    }
}

impl Link for Recorder {
    fn run(&mut self, statement: usize, values: &[Arg<'_>]) -> Result<DialogueCounts, TurnFault> {
        self.note(statement, values);
        Ok(DialogueCounts { rows: 10, changed: 0 })
    }

    fn fetch(
        &mut self,
        statement: usize,
        values: &[Arg<'_>],
    ) -> Result<&dyn AnswerRows, TurnFault> {
        self.note(statement, values);
        Ok(if self.statements[statement].contains("min(") { &One(1001) } else { &One(2000) })
    }

    fn run_text(&mut self, sql: &str) -> Result<DialogueCounts, TurnFault> {
        self.asked.push(sql.to_owned());
        let rows = u64::from(sql.starts_with("SELECT")) * 10;
        Ok(DialogueCounts { rows, changed: self.changed })
    }
}

fn sizes() -> Sizes {
    let mut options = Spec::parse("x?nr1=1000&nr2=500").unwrap().options();
    Sizes::of_whole(&mut options).unwrap()
}

/// What client 1 of 2 asks in `turns` turns of a role.
fn asked(
    step: BenchmarkStep,
    role: ConnectionRole,
    dialect: Dialect,
    turns: u64,
) -> (Vec<String>, Vec<Class>) {
    let part = RolePart { role, ..RolePart::of_foreground(step, &sizes(), 2, 7) };
    let statements = part.statements(dialect).into_iter().map(|one| one.sql).collect();
    let mut link = Recorder { statements, asked: Vec::new(), changed: step.rows_per_commit() };
    let mut partner = part.create_partner(1, dialect);
    let turn = |operation| Class::ALL[partner.take_turn(operation, &mut link).unwrap()];
    let classes = (0..turns).map(turn).collect();
    (link.asked, classes)
}

#[test]
fn statements_are_those_of_the_golden_files() {
    for (dialect, name) in DIALECTS {
        let mut story = String::new();
        let dataset = resolve_load("l.i0", dbdyno_workload::Tables { count: 1, rows: 1, seed: 7 });
        for table in dataset.unwrap().dataset.tables(dialect) {
            writeln!(story, "# table\n{}\n{}", table.create, table.finish.join("\n")).unwrap();
        }
        writeln!(story, "# l.x\n{}", sql::indexes(dialect, 0).join("\n")).unwrap();
        let bits = BenchmarkStep::WriteInBits;
        for (step, role, turns) in [
            (bits, ConnectionRole::Inserts, 1),
            (bits, ConnectionRole::Deletes, 3),
            (bits, ConnectionRole::InsertsAndDeletes, 4),
            (BenchmarkStep::RangeQueries(100), ConnectionRole::Queries, 12),
            (BenchmarkStep::PointQueries(100), ConnectionRole::Queries, 3),
        ] {
            writeln!(story, "# {} {role:?}", step.name()).unwrap();
            for statement in asked(step, role, dialect, turns).0 {
                writeln!(story, "{statement}").unwrap();
            }
        }
        check_golden(&format!("insert_benchmark.{name}.txt"), &story);
    }
}

#[test]
fn the_first_row_is_looked_for_at_the_start_and_after_a_thousand_deletes() {
    let (_, classes) =
        asked(BenchmarkStep::WriteInBits, ConnectionRole::Deletes, Dialect::Mysql, 2003);
    let looked: Vec<usize> =
        (0..classes.len()).filter(|at| classes[*at] == Class::GetMin).collect();
    assert_eq!(looked, [0, 1001, 2002]);
}

#[test]
fn the_last_row_is_looked_for_every_hundred_point_queries() {
    let (_, classes) =
        asked(BenchmarkStep::PointQueries(1), ConnectionRole::Queries, Dialect::Postgres, 204);
    assert_eq!(classes[..3], [Class::GetMin, Class::GetMax, Class::Query]);
    let looked = classes.iter().filter(|class| **class == Class::GetMax).count();
    assert_eq!(looked, 3);
    assert_eq!(classes[102], Class::GetMax);
}

#[test]
fn the_three_range_queries_are_asked_equally_often() {
    let (asked, _) =
        asked(BenchmarkStep::RangeQueries(1), ConnectionRole::Queries, Dialect::Mysql, 3000);
    for index in ["marketsegment", "registersegment", "pdc"] {
        let count = asked.iter().filter(|sql| sql.contains(&format!("pi2_{index}"))).count();
        // Mean 1 000, standard deviation 26.
        assert!((870..1130).contains(&count), "{index}: {count}");
    }
}

#[test]
fn point_queries_ask_for_ids_between_the_first_and_the_last_row() {
    let (asked, _) =
        asked(BenchmarkStep::PointQueries(1), ConnectionRole::Queries, Dialect::Mysql, 300);
    let mut ids = Vec::new();
    for sql in asked.iter().filter(|sql| sql.contains(" IN (")) {
        let list = sql.split_once(" IN (").unwrap().1.trim_end_matches(')');
        ids.extend(list.split(", ").map(|id| id.parse::<i64>().unwrap()));
    }
    assert_eq!(ids.len() % 10, 0);
    assert!(ids.len() > 2900 && ids.iter().all(|id| (1001..=2000).contains(id)));
}

#[test]
fn a_wrong_number_of_rows_is_said() {
    let part = RolePart {
        role: ConnectionRole::Inserts,
        ..RolePart::of_foreground(BenchmarkStep::WriteInBits, &sizes(), 1, 7)
    };
    let mut link = Recorder { statements: Vec::new(), asked: Vec::new(), changed: 4 };
    let fault = part.create_partner(0, Dialect::Mysql).take_turn(0, &mut link).unwrap_err();
    assert_eq!(fault, TurnFault::Wrong("pi1: 4 rows inserted, right is 5 to 5".to_owned()));
}

#[test]
fn sets_of_tables_differ_by_size_clients_and_seed() {
    let key = |name: &str, clients, seed| {
        let (step, sizes) = BenchmarkStep::find(name).unwrap().unwrap();
        step.load(&sizes, clients, seed).dataset.key()
    };
    assert_eq!(key("l.i0", 2, 1), key("qp500", 2, 1));
    for other in [key("l.i0", 3, 1), key("l.i0", 2, 2), key("l.i0?nr1=100", 2, 1)] {
        assert_ne!(key("l.i0", 2, 1), other);
    }
    let (step, sizes) = BenchmarkStep::find("l.i0").unwrap().unwrap();
    assert_eq!(step.load(&sizes, 3, 1).dataset.tables(Dialect::Mysql).len(), 3);
}

fn check_golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == actual, "{name} differs; UPDATE_GOLDEN=1 writes it anew. Now:\n{actual}");
}
