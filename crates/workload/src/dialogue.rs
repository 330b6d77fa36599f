//! Loads whose statements depend on answers: TPC-C, the Insert Benchmark.
//!
//! ```text
//!   Dialogue ──partner(client)──▶ Partner        one for each client, on its thread
//!                                   │ turn(operation, link)
//!                                   ▼
//!                                 Link           run, fetch: implemented by the load generator
//! ```
//!
//! A partner is written as straight-line code against [`Link`]; it knows nothing of sockets, clocks
//! or threads. What it asks is a pure function of seed, client, operation and of the answers that
//! it got. It must be able to repeat a turn that the server rolled back.

use std::fmt::Debug;

use dbdyno_model::Dialect;

use crate::statement::Statement;

/// A parameter of a statement of a dialogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg<'a> {
    /// SQL NULL.
    Null,
    /// An integer.
    Int(i64),
    /// Characters; decimals and times, too.
    Text(&'a [u8]),
}

/// What a statement did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows returned.
    pub rows: u64,
    /// Rows changed.
    pub changed: u64,
}

/// Why a turn ends early. The link keeps the cause; a partner only passes this on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The server rolled the transaction back for the sake of others: the turn is asked again.
    AskAgain,
    /// The connection or a statement failed.
    Failed,
    /// An answer was wrong: what was expected and what came, for people.
    Wrong(String),
}

/// The rows of one answer.
pub trait Answer {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// A value as an integer; `None` for NULL and for what is no integer.
    fn int(&self, row: usize, column: usize) -> Option<i64>;
    /// A value as characters; `None` for NULL.
    fn text(&self, row: usize, column: usize) -> Option<&[u8]>;
}

/// A partner's connection.
pub trait Link {
    /// Executes a statement of [`Dialogue::statements`] and counts what it did.
    ///
    /// # Errors
    /// [`Fault::AskAgain`] or [`Fault::Failed`].
    fn run(&mut self, statement: usize, values: &[Arg<'_>]) -> Result<Counts, Fault>;

    /// Executes a statement and hands out its rows, which stay until the next one.
    ///
    /// # Errors
    /// [`Fault::AskAgain`] or [`Fault::Failed`].
    fn fetch(&mut self, statement: usize, values: &[Arg<'_>]) -> Result<&dyn Answer, Fault>;

    /// Sends a statement as text.
    ///
    /// # Errors
    /// [`Fault::AskAgain`] or [`Fault::Failed`].
    fn text(&mut self, sql: &str) -> Result<Counts, Fault>;
}

/// One client of a dialogue.
pub trait Partner: Send {
    /// Asks operation number `operation`, and returns the class that it belongs to (an index into
    /// [`Dialogue::classes`]).
    ///
    /// # Errors
    /// The fault of the link, or [`Fault::Wrong`].
    fn turn(&mut self, operation: u64, link: &mut dyn Link) -> Result<usize, Fault>;

    /// The class of an operation that is not asked; `None` where only asking would tell.
    fn class_of(&mut self, operation: u64) -> Option<usize> {
        let _unknown_by_default = operation;
        None
    }

    /// Time between the beginning of a round and the intended start of its first operation, which
    /// is this one, microseconds. A load with pauses spreads its partners here, as if all of them
    /// had been at it for long; else a round would begin with a rush.
    fn phase_us(&mut self, operation: u64) -> Option<u64> {
        let _none_by_default = operation;
        None
    }

    /// Time between the end of this operation and the intended start of the next one,
    /// microseconds: what TPC-C calls keying and think time. `None` where there is none.
    fn pause_us(&mut self, operation: u64) -> Option<u64> {
        let _none_by_default = operation;
        None
    }
}

/// A load as a conversation.
pub trait Dialogue: Debug + Send + Sync {
    /// The statements that [`Link::run`] and [`Link::fetch`] name by number.
    fn statements(&self, dialect: Dialect) -> Vec<Statement>;

    /// What series and latencies are filed under: TPC-C's transaction types.
    fn classes(&self) -> Vec<String>;

    /// The partner with this number.
    fn partner(&self, client: u32, dialect: Dialect) -> Box<dyn Partner>;

    /// Whether turns change rows.
    fn writes(&self) -> bool;
}
