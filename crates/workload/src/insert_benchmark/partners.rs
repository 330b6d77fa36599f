//! Who asks: for each client one that inserts, one that deletes and one that queries.
//!
//! ```text
//!   Crew ── inserter   appends rows at the end
//!    │  ├── deleter    takes as many away at the beginning, and looks for the beginning
//!    │  └── querier    asks between beginning and end
//!    └ Position   what they know of each other; lives as long as the tables do
//! ```
//!
//! A turn is one statement. Looking for the first or the last row is a turn of its own, so that
//! what it costs can be told from what a delete or a query costs.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use dbdyno_model::Dialect;
use dbdyno_model::random;

use super::rows::{InsertRows, PRICES, PRODUCTS, REGISTERS};
use super::sql::{self, IDS_PER_QUERY, InsertQuestion};
use crate::dialogue::{Arg, Link, Partner, TurnFault};

/// After this many deletes the smallest id is looked for again.
const DELETES_PER_MIN: u32 = 1000;
/// After this many point queries the largest id is looked for again.
const QUERIES_PER_MAX: u32 = 100;

/// What a turn was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Rows inserted, and committed.
    Insert,
    /// Rows deleted, and committed.
    Delete,
    /// A range or point query.
    Query,
    /// The smallest id looked for.
    GetMin,
    /// The largest id looked for.
    GetMax,
}

impl Class {
    /// All classes, in the order of their numbers.
    pub const ALL: [Class; 5] =
        [Class::Insert, Class::Delete, Class::Query, Class::GetMin, Class::GetMax];

    /// The name under which it is filed.
    pub fn name(self) -> &'static str {
        match self {
            Class::Insert => "insert",
            Class::Delete => "delete",
            Class::Query => "query",
            Class::GetMin => "getmin",
            Class::GetMax => "getmax",
        }
    }
}

/// Where a client's table begins, as far as its own deletes know. 0: nobody has looked yet.
#[derive(Clone, Debug, Default)]
pub struct Position(Arc<AtomicI64>);

impl Position {
    fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, id: i64) {
        self.0.store(id, Ordering::Relaxed);
    }
}

/// The partners of one client.
#[derive(Clone, Debug)]
pub struct PartnerCrew {
    /// The client's rows, and its number.
    pub rows: InsertRows,
    /// How its SQL is spelled.
    pub dialect: Dialect,
    /// Where its table begins.
    pub position: Position,
    /// Number of the client's first statement among those that are prepared.
    pub first_statement: usize,
}

impl PartnerCrew {
    /// Inserts `rows_per_commit` rows a turn; operation 0 begins with row `first_row`.
    pub(crate) fn row_inserter(&self, first_row: u64, rows_per_commit: u64) -> Box<dyn Partner> {
        Box::new(Inserter {
            rows: self.rows,
            table: sql::table(self.rows.client),
            first_row,
            rows_per_commit,
            sql: Vec::new(),
        })
    }

    /// Deletes `rows_per_commit` rows a turn, those with the smallest ids.
    pub(crate) fn row_deleter(&self, rows_per_commit: u64) -> Box<dyn Partner> {
        Box::new(Deleter {
            edge: Edge { position: self.position.clone(), first_statement: self.first_statement },
            dialect: self.dialect,
            table: sql::table(self.rows.client),
            rows_per_commit,
            until_min: 0,
            sql: String::new(),
        })
    }

    /// Asks one of the three range queries a turn, each equally often.
    pub(crate) fn range_querier(&self) -> Box<dyn Partner> {
        let values = vec![0; 1];
        let questions = vec![InsertQuestion::Market, InsertQuestion::Register, InsertQuestion::Pdc];
        Box::new(Ranges { asking: self.asking(&questions, values), questions })
    }

    /// Asks for ten rows by id a turn.
    pub(crate) fn point_querier(&self) -> Box<dyn Partner> {
        Box::new(Points {
            asking: self.asking(&[InsertQuestion::Point], vec![0; IDS_PER_QUERY]),
            edge: Edge { position: self.position.clone(), first_statement: self.first_statement },
            last: 0,
            until_max: 0,
        })
    }

    fn asking(&self, questions: &[InsertQuestion], values: Vec<i64>) -> Asking {
        let table = sql::table(self.rows.client);
        let as_text = matches!(self.dialect, Dialect::Mysql | Dialect::Engine);
        Asking {
            rows: self.rows,
            first_statement: self.first_statement,
            pieces: as_text.then(|| {
                questions
                    .iter()
                    .map(|question| sql::query_pieces(*question, self.dialect, &table))
                    .collect()
            }),
            values,
            sql: String::new(),
        }
    }
}

struct Inserter {
    rows: InsertRows,
    table: String,
    first_row: u64,
    rows_per_commit: u64,
    sql: Vec<u8>,
}

impl Partner for Inserter {
    fn take_turn(&mut self, operation: u64, link: &mut dyn Link) -> Result<usize, TurnFault> {
        let first = self.first_row + operation * self.rows_per_commit;
        sql::write_insert(&mut self.sql, &self.rows, &self.table, first, self.rows_per_commit);
        let text = std::str::from_utf8(&self.sql).expect("rows are ASCII");
        let counts = link.run_text(text)?;
        check(counts.changed, self.rows_per_commit, self.rows_per_commit, "inserted", &self.table)?;
        Ok(Class::Insert as usize)
    }
}

/// The first row of a table, and how to find it.
struct Edge {
    position: Position,
    first_statement: usize,
}

impl Edge {
    fn look(&self, question: InsertQuestion, link: &mut dyn Link) -> Result<i64, TurnFault> {
        let answer = link.fetch(self.first_statement + question as usize, &[])?;
        let id = (answer.rows() == 1).then(|| answer.int(0, 0)).flatten();
        id.ok_or_else(|| {
            TurnFault::Wrong("the first or last row was read, but the table is empty".to_owned())
        })
    }

    fn look_for_min(&self, link: &mut dyn Link) -> Result<(), TurnFault> {
        self.position.set(self.look(InsertQuestion::Min, link)?);
        Ok(())
    }
}

struct Deleter {
    edge: Edge,
    dialect: Dialect,
    table: String,
    rows_per_commit: u64,
    until_min: u32,
    sql: String,
}

impl Partner for Deleter {
    fn take_turn(&mut self, _operation: u64, link: &mut dyn Link) -> Result<usize, TurnFault> {
        if self.until_min == 0 {
            self.edge.look_for_min(link)?;
            self.until_min = DELETES_PER_MIN;
            return Ok(Class::GetMin as usize);
        }
        let from = self.edge.position.get();
        sql::write_delete(&mut self.sql, self.dialect, &self.table, from, self.rows_per_commit);
        let counts = link.run_text(&self.sql)?;
        check(counts.changed, self.rows_per_commit, self.rows_per_commit, "deleted", &self.table)?;
        self.edge.position.set(from + self.rows_per_commit as i64);
        self.until_min -= 1;
        Ok(Class::Delete as usize)
    }
}

/// Sends questions as text or with parameters.
struct Asking {
    rows: InsertRows,
    first_statement: usize,
    /// Only where questions are sent as text.
    pieces: Option<Vec<[String; 2]>>,
    values: Vec<i64>,
    sql: String,
}

impl Asking {
    fn random(&self, what: &str, operation: u64) -> random::RandomStream {
        let key = [self.rows.seed, random::key_of(what), u64::from(self.rows.client), operation];
        random::stream(&key)
    }

    /// Asks question number `index` of ours with the present values.
    fn ask(
        &mut self,
        index: usize,
        question: InsertQuestion,
        link: &mut dyn Link,
    ) -> Result<(), TurnFault> {
        let counts = if let Some(pieces) = &self.pieces {
            let [head, tail] = &pieces[index];
            self.sql.clear();
            self.sql.push_str(head);
            for (number, value) in self.values.iter().enumerate() {
                let comma = if number == 0 { "" } else { ", " };
                let written = write!(self.sql, "{comma}{value}");
                written.expect("writing to memory does not fail");
            }
            self.sql.push_str(tail);
            link.run_text(&self.sql)?
        } else {
            let mut values = [Arg::Null; IDS_PER_QUERY];
            for (arg, value) in values.iter_mut().zip(&self.values) {
                *arg = Arg::Int(*value);
            }
            let values = &values[..self.values.len()];
            link.run(self.first_statement + question as usize, values)?
        };
        check(counts.rows, 0, IDS_PER_QUERY as u64, "returned", "a query")
    }
}

struct Ranges {
    asking: Asking,
    questions: Vec<InsertQuestion>,
}

impl Partner for Ranges {
    fn take_turn(&mut self, operation: u64, link: &mut dyn Link) -> Result<usize, TurnFault> {
        let mut random = self.asking.random("insert-benchmark range", operation);
        let index = random.next_below(self.questions.len() as u64) as usize;
        let question = self.questions[index];
        let bound = match question {
            InsertQuestion::Register => REGISTERS,
            InsertQuestion::Pdc => PRICES,
            _ => PRODUCTS,
        };
        self.asking.values[0] = random.next_below(bound) as i64;
        self.asking.ask(index, question, link)?;
        Ok(Class::Query as usize)
    }
}

struct Points {
    asking: Asking,
    edge: Edge,
    last: i64,
    until_max: u32,
}

impl Partner for Points {
    fn take_turn(&mut self, operation: u64, link: &mut dyn Link) -> Result<usize, TurnFault> {
        if self.edge.position.get() == 0 {
            self.edge.look_for_min(link)?;
            return Ok(Class::GetMin as usize);
        }
        if self.until_max == 0 {
            self.last = self.edge.look(InsertQuestion::Max, link)?;
            self.until_max = QUERIES_PER_MAX;
            return Ok(Class::GetMax as usize);
        }
        let mut random = self.asking.random("insert-benchmark point", operation);
        let first = self.edge.position.get();
        let ids = (self.last - first + 1).max(1) as u64;
        for value in &mut self.asking.values {
            *value = first + random.next_below(ids) as i64;
        }
        self.asking.ask(0, InsertQuestion::Point, link)?;
        self.until_max -= 1;
        Ok(Class::Query as usize)
    }
}

fn check(count: u64, least: u64, most: u64, what: &str, whom: &str) -> Result<(), TurnFault> {
    if (least..=most).contains(&count) {
        return Ok(());
    }
    Err(TurnFault::Wrong(format!("{whom}: {count} rows {what}, right is {least} to {most}")))
}
