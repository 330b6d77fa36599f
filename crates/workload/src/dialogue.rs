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
use dbdyno_model::isolation::IsolationLevel;

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
pub struct DialogueCounts {
    /// Rows returned.
    pub rows: u64,
    /// Rows changed.
    pub changed: u64,
}

/// Why a turn ends early. The link keeps the cause; a partner only passes this on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnFault {
    /// The server rolled the transaction back for the sake of others: the turn is asked again.
    AskAgain,
    /// The connection or a statement failed.
    Failed,
    /// An answer was wrong: what was expected and what came, for people.
    Wrong(String),
}

/// The rows of one answer.
pub trait AnswerRows {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// A value as an integer; `None` for NULL and for what is no integer.
    fn int(&self, row: usize, column: usize) -> Option<i64>;
    /// A value as characters; `None` for NULL.
    fn text_at(&self, row: usize, column: usize) -> Option<&[u8]>;
}

/// What an operation did to a row that tells its versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationNote {
    /// What it did.
    pub deed: Deed,
    /// The row.
    pub key: u64,
    /// The version: a packed [`crate::versioned::WriteName`], or 0, the value that nobody wrote. Of
    /// a sum, the sum.
    pub value: u64,
    /// The version before, where the row tells it.
    pub prev: Option<u64>,
}

/// What can be noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// A read that a snapshot may have answered.
    Read,
    /// A read of the latest version.
    CurrentRead,
    /// A new version.
    Write,
    /// An element at the end of a list, or an amount that a counter grew by.
    Append,
    /// Nothing: evidence that `value` directly follows `prev`.
    Order,
    /// A counter was read, which a snapshot may have answered.
    Sum,
    /// A counter that its own transaction has changed was read.
    CurrentSum,
}

/// A partner's connection.
pub trait Link {
    /// Executes a statement of [`Dialogue::statements`] and counts what it did.
    ///
    /// # Errors
    /// [`TurnFault::AskAgain`] or [`TurnFault::Failed`].
    fn run(&mut self, statement: usize, values: &[Arg<'_>]) -> Result<DialogueCounts, TurnFault>;

    /// Executes a statement and hands out its rows, which stay until the next one.
    ///
    /// # Errors
    /// [`TurnFault::AskAgain`] or [`TurnFault::Failed`].
    fn fetch(&mut self, statement: usize, values: &[Arg<'_>])
    -> Result<&dyn AnswerRows, TurnFault>;

    /// Sends a statement as text.
    ///
    /// # Errors
    /// [`TurnFault::AskAgain`] or [`TurnFault::Failed`].
    fn run_text(&mut self, sql: &str) -> Result<DialogueCounts, TurnFault>;

    /// Whether somebody keeps what is noted, so that answers are worth a look.
    fn is_recorded(&self) -> bool {
        false
    }

    /// Notes what an operation of the open transaction did. Where nobody records, nothing happens.
    fn note_operation(&mut self, noted: OperationNote) {
        let _nobody_records = noted;
    }
}

/// One client of a dialogue.
pub trait Partner: Send {
    /// Asks operation number `operation`, and returns the class that it belongs to (an index into
    /// [`Dialogue::class_names`]).
    ///
    /// # Errors
    /// The fault of the link, or [`TurnFault::Wrong`].
    fn take_turn(&mut self, operation: u64, link: &mut dyn Link) -> Result<usize, TurnFault>;

    /// Notes every row, when nobody else asks any more: what was written and not read since has
    /// its place then.
    ///
    /// # Errors
    /// Those of [`Partner::take_turn`].
    fn survey_rows(&mut self, link: &mut dyn Link) -> Result<(), TurnFault> {
        let _nothing_by_default = link;
        Ok(())
    }

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
    fn class_names(&self) -> Vec<String>;

    /// The partner with this number.
    fn create_partner(&self, client: u32, dialect: Dialect) -> Box<dyn Partner>;

    /// Whether turns change rows.
    fn writes_rows(&self) -> bool;

    /// The isolation level that partners ask for; `None`: that of the server.
    fn level(&self) -> Option<IsolationLevel> {
        None
    }

    /// Whether partners note what they see ([`Link::note_operation`]), so that a round can be
    /// recorded.
    fn tells_versions(&self) -> bool {
        false
    }
}
