//! Loads whose rows tell their versions, so that what clients saw can be judged.
//!
//! ```text
//!   register      v │ prev      UPDATE … SET prev = v, v = NAME, then a read of the own version
//!   list-append   items         UPDATE … SET items = the last elements of items and NAME
//!   counter       n             UPDATE … SET n = n + NAME, then a read of the own sum
//! ```
//!
//! An event is a transaction of some operations on rows that are drawn with replacement and visited
//! in the order of their keys, half of them reads. One of `shape::ROLLBACKS_ONE_IN` is rolled
//! back on purpose: nobody may see what it wrote. Every write has a [`WriteName`] of its own, which
//! stands in the row. What follows from a read:
//!
//! * of a register, the version and the one before it;
//! * of a list, its last [`WINDOW`] elements in their order: what a reader is told of writes that
//!   nobody read meanwhile. Lists of a bounded length keep the load steady;
//! * of a counter, a sum. Amounts are distinct, and each increment reads its own sum, so that the
//!   sum before it is known by subtraction, and a sum names a version as an id does. Two increments
//!   that began at the same sum are a lost update. An increment whose sum nobody was told (its
//!   transaction broke before it read) has no place; and two sums may be equal by chance, if one of
//!   them was rolled back: then the other one is meant.
//!
//! What is noted goes to [`crate::Link::note_operation`]; where nobody records, answers are counted
//! and not looked at, as in any other load. Statements are the same in all dialects but for their
//! spelling, so that no server has a round trip less.

mod client;
mod name;
mod rows;
mod shape;
mod statements;

pub use name::WriteName;
pub use rows::VersionedRows;
pub(crate) use shape::SIZE_MOST;
pub use shape::{VersionedRowKind, WINDOW};

use dbdyno_model::Dialect;
use dbdyno_model::isolation::IsolationLevel;

use crate::dialogue::{Dialogue, Partner};
use crate::statement::Statement;
use client::{Client, VersionedTerms};

/// Such a load.
#[derive(Clone, Debug)]
pub struct VersionedLoad {
    /// Its table.
    pub rows: VersionedRows,
    /// Operations of a transaction.
    pub size: usize,
    /// The level that sessions ask for; `None`: that of the server.
    pub level: Option<IsolationLevel>,
    /// What is asked is a function of it.
    pub seed: u64,
}

impl Dialogue for VersionedLoad {
    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        statements::all_statements(self.rows.shape, dialect)
    }

    fn class_names(&self) -> Vec<String> {
        vec!["transaction".to_owned()]
    }

    fn create_partner(&self, client: u32, dialect: Dialect) -> Box<dyn Partner> {
        let terms = VersionedTerms { size: self.size, level: self.level, seed: self.seed };
        Box::new(Client::new(&self.rows, terms, client, dialect))
    }

    fn writes_rows(&self) -> bool {
        true
    }

    fn level(&self) -> Option<IsolationLevel> {
        self.level
    }

    fn tells_versions(&self) -> bool {
        true
    }
}
