//! Statements, as a client of the engine says them.
//!
//! ```text
//!   answers    what they mean: NULL, exact numbers, texts, limits, joins, groups
//!   days       dates and times
//!   transactions   levels, savepoints, those that read only
//!   refusals   what is beyond the subset, and in which words it is said
//!   sqlite     random statements, and SQLite as the oracle
//!   hostile    texts that are nearly statements, and some that are none: no panic
//! ```

mod answers;
mod days;
mod hostile;
mod refusals;
mod rows_put_in;
mod sqlite;
mod tables;
mod transactions;

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use dbdyno_engine::disk::SimDisk;
use dbdyno_engine::{Engine, EngineOptions, Upkeep};
use dbdyno_model::Design;
use dbdyno_sql::{Operand, Params, Result, Sink, SqlConnection, StatementEffect};

/// 2026-11-22 10:30:00 and nearly a second.
const NOW_US: i64 = 1_795_343_400_999_999;

/// A client of an engine in memory.
struct Client {
    connection: SqlConnection,
}

/// Rows as they are told.
#[derive(Default)]
struct Told {
    rows: Vec<Vec<Operand<'static>>>,
    row: Vec<Operand<'static>>,
}

struct Marks(Vec<Operand<'static>>);

impl Client {
    fn new() -> Client {
        let options = EngineOptions { upkeep: Upkeep::OnDemand, ..EngineOptions::default() };
        let disk = Arc::new(SimDisk::default());
        let engine = Engine::open(disk, &Design::default(), options).unwrap();
        Client { connection: SqlConnection::new(Arc::new(engine), || NOW_US) }
    }

    /// Another client of the same engine.
    fn beside(&self) -> Client {
        Client { connection: SqlConnection::new(self.connection.engine().clone(), || NOW_US) }
    }

    /// One that has said this before.
    fn after(statements: &[&str]) -> Client {
        let mut client = Client::new();
        for sql in statements {
            client.ask(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        client
    }

    fn ask(&mut self, sql: &str) -> Result<(Vec<Vec<Operand<'static>>>, StatementEffect)> {
        let mut told = Told::default();
        let done = self.connection.run(sql, &mut told)?;
        assert_eq!(done.rows, told.rows.len() as u64, "{sql}");
        Ok((told.rows, done))
    }

    /// Rows as text: `1|a; 2|NULL`.
    fn told(&mut self, sql: &str) -> String {
        let (rows, _) = self.ask(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        shown(&rows)
    }

    /// The same for a statement with marks.
    fn told_with(&mut self, sql: &str, marks: Vec<Operand<'static>>) -> Result<String> {
        let mut told = Told::default();
        let statement = self.connection.prepare(sql)?;
        self.connection.execute(statement, &Marks(marks), &mut told)?;
        Ok(shown(&told.rows))
    }
}

fn shown(rows: &[Vec<Operand<'static>>]) -> String {
    let value = |value: &Operand<'_>| match value {
        Operand::Null => "NULL".to_owned(),
        value => value.to_string(),
    };
    let row = |row: &Vec<Operand<'static>>| row.iter().map(value).collect::<Vec<_>>().join("|");
    rows.iter().map(row).collect::<Vec<_>>().join("; ")
}

impl Sink for Told {
    fn begin_rows(&mut self, _columns: &Arc<[dbdyno_sql::ResultColumn]>) {}

    fn value(&mut self, value: &Operand<'_>) {
        self.row.push(match value {
            Operand::Null => Operand::Null,
            Operand::Int(number) => Operand::Int(*number),
            Operand::Decimal(units, scale) => Operand::Decimal(*units, *scale),
            Operand::Quotient(units, digits) => Operand::Quotient(*units, *digits),
            Operand::Text(text) => Operand::Text(Cow::Owned(text.to_vec())),
            Operand::Timestamp(us, digits) => Operand::Timestamp(*us, *digits),
            Operand::Date(us) => Operand::Date(*us),
        });
    }

    fn end_row(&mut self) -> ControlFlow<()> {
        self.rows.push(std::mem::take(&mut self.row));
        ControlFlow::Continue(())
    }
}

impl Params for Marks {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn get(&self, index: usize) -> Operand<'_> {
        self.0[index].clone()
    }
}
