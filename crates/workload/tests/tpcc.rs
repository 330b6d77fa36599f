//! TPC-C's conversations as golden files, and repeated word by word when a turn is asked again.

use std::fmt::Write as _;
use std::path::Path;

use dbdyno_model::Dialect;
use dbdyno_workload::tpcc::{CUSTOMERS, ITEMS, Tpcc, UserPace, Warehouses};
use dbdyno_workload::{
    AnswerRows, Arg, Dataset, Dialogue, DialogueCounts, Link, Statement, TurnFault,
};

const SIZE: Warehouses = Warehouses { warehouses: 2, items: ITEMS, customers: CUSTOMERS, seed: 7 };
const LOAD: Tpcc = Tpcc { size: SIZE, pace: UserPace::Saturate };
const DIALECTS: [(Dialect, &str); 3] =
    [(Dialect::Mysql, "mysql"), (Dialect::Postgres, "postgres"), (Dialect::Sqlite, "sqlite")];

/// A link that writes down what it is asked and answers what is right and always the same.
struct Notes {
    statements: Vec<Statement>,
    written: Vec<(usize, String)>,
    answer: Canned,
    /// The statement, counted from the first, at which the server rolls back.
    rolled_back_at: Option<usize>,
}

#[derive(Default)]
struct Canned {
    rows: usize,
    first: &'static str,
}

impl AnswerRows for Canned {
    fn rows(&self) -> usize {
        self.rows
    }
    fn int(&self, _row: usize, column: usize) -> Option<i64> {
        Some(3001 + column as i64)
    }
    fn text_at(&self, _row: usize, column: usize) -> Option<&[u8]> {
        Some(if column == 0 { self.first.as_bytes() } else { b"some characters of text" })
    }
}

impl Notes {
    fn new(dialect: Dialect) -> Notes {
        let statements = LOAD.statements(dialect);
        Notes { statements, written: Vec::new(), answer: Canned::default(), rolled_back_at: None }
    }

    fn note(&mut self, statement: usize, values: &[Arg<'_>]) -> Result<String, TurnFault> {
        if self.rolled_back_at == Some(self.written.len()) {
            self.rolled_back_at = None;
            return Err(TurnFault::AskAgain);
        }
        let shown: Vec<String> = values
            .iter()
            .map(|value| match value {
                Arg::Null => "NULL".to_owned(),
                Arg::Int(number) => number.to_string(),
                Arg::Text(text) => format!("'{}'", String::from_utf8_lossy(text)),
            })
            .collect();
        self.written.push((statement, shown.join(" ")));
        Ok(self.statements[statement].sql.clone())
    }

    fn story(&self) -> String {
        let mut story = String::new();
        for (statement, values) in &self.written {
            writeln!(story, "{}", self.statements[*statement].sql).unwrap();
            if !values.is_empty() {
                writeln!(story, "    {values}").unwrap();
            }
        }
        story
    }
}

impl Link for Notes {
    fn run(&mut self, statement: usize, values: &[Arg<'_>]) -> Result<DialogueCounts, TurnFault> {
        let sql = self.note(statement, values)?;
        let lines = if sql.contains("tpcc_order_line") && !sql.contains("COUNT") { 10 } else { 1 };
        let changed = if sql.starts_with("INSERT") { 1 } else { lines };
        Ok(DialogueCounts { rows: lines, changed })
    }

    fn fetch(
        &mut self,
        statement: usize,
        values: &[Arg<'_>],
    ) -> Result<&dyn AnswerRows, TurnFault> {
        let sql = self.note(statement, values)?;
        let unknown = sql.contains("FROM tpcc_item") && values[0] == Arg::Int(ITEMS as i64 + 1);
        let first = match sql.split(' ').nth(1) {
            Some("i_price,") => "12.34",
            Some("SUM(ol_amount)") => "123.40",
            Some("c_credit,") => "BC",
            Some("c_data") => "old data",
            _ => "name",
        };
        self.answer = Canned { rows: usize::from(!unknown), first };
        Ok(&self.answer)
    }

    fn run_text(&mut self, sql: &str) -> Result<DialogueCounts, TurnFault> {
        panic!("{sql}: TPC-C asks by number only");
    }
}

/// The first operation of each class; of New-Order the first with five lines, and the first of
/// those that rolls back.
#[test]
fn conversations_are_those_of_the_golden_files() {
    for (dialect, name) in DIALECTS {
        let mut story = String::new();
        for script in SIZE.tables(dialect) {
            writeln!(story, "{}\n{}", script.create, script.columns.join(", ")).unwrap();
            script.finish.iter().for_each(|sql| writeln!(story, "{sql}").unwrap());
        }
        story.push('\n');
        let mut classes = LOAD.class_names();
        classes.push("new-order that rolls back".to_owned());
        for (index, class) in classes.iter().enumerate() {
            let mut partner = LOAD.create_partner(0, dialect);
            let notes = (0..).find_map(|operation| {
                let mut notes = Notes::new(dialect);
                let drawn = partner.take_turn(operation, &mut notes).unwrap();
                let rolls_back = notes.story().ends_with("ROLLBACK\n");
                let lines = notes.story().matches("INSERT INTO tpcc_order_line").count();
                let short = drawn > 0 || lines + usize::from(rolls_back) == 5;
                let wanted = drawn == index % 5 && rolls_back == (index == 5) && short;
                wanted.then_some((operation, notes))
            });
            let (operation, notes) = notes.unwrap();
            writeln!(story, "# {class}: operation {operation}\n{}", notes.story()).unwrap();
        }
        check_golden(&format!("tpcc.{name}.txt"), &story);
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
fn a_turn_that_was_rolled_back_is_asked_again_word_by_word() {
    let mut cut_short = 0;
    for operation in 0..60 {
        let mut whole = Notes::new(Dialect::Mysql);
        let class =
            LOAD.create_partner(3, Dialect::Mysql).take_turn(operation, &mut whole).unwrap();
        let mut partner = LOAD.create_partner(3, Dialect::Mysql);
        let mut notes = Notes::new(Dialect::Mysql);
        notes.rolled_back_at = Some(whole.written.len() / 2);
        assert_eq!(partner.take_turn(operation, &mut notes), Err(TurnFault::AskAgain));
        cut_short += notes.written.len();
        notes.written.clear();
        assert_eq!(partner.take_turn(operation, &mut notes), Ok(class));
        assert_eq!(notes.story(), whole.story());
    }
    assert!(cut_short > 0);
}

#[test]
fn every_statement_is_used() {
    let mut used = vec![false; LOAD.statements(Dialect::Mysql).len()];
    let mut partner = LOAD.create_partner(0, Dialect::Mysql);
    for operation in 0..500 {
        let mut notes = Notes::new(Dialect::Mysql);
        partner.take_turn(operation, &mut notes).unwrap();
        notes.written.iter().for_each(|(statement, _)| used[*statement] = true);
    }
    let idle: Vec<usize> = (0..used.len()).filter(|&statement| !used[statement]).collect();
    // A customer with good credit: every customer of the canned answers has bad credit.
    let good: Vec<&str> = idle
        .iter()
        .map(|&statement| LOAD.statements(Dialect::Mysql)[statement].sql.clone())
        .map(|sql| if sql.contains("c_payment_cnt+1 WHERE") { "good credit" } else { "unused" })
        .collect();
    assert_eq!(good, ["good credit"]);
}
