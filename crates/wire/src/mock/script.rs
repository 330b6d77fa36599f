//! What a mock server answers, as a function of connection and statement number.

use std::num::NonZeroU64;
use std::time::Duration;

/// The answer to one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A result of one column of characters. To a statement that returns no rows (`UPDATE …`) it
    /// means [`Reply::Affected`] with the same count, so that one script serves a mixed load.
    Rows {
        /// Number of rows.
        count: u32,
        /// Characters in each row.
        width: u32,
    },
    /// No result; this many rows were changed.
    Affected(u64),
    /// The statement is refused, the connection stays.
    Error {
        /// MySQL's error number; PostgreSQL has none and ignores it.
        code: u16,
        /// The five characters of SQLSTATE.
        sqlstate: &'static str,
        /// The words for the user.
        message: String,
    },
    /// The socket is closed without an answer.
    Cut,
}

/// Service time: what passes between the whole request being read and the reply being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// Answer at once.
    None,
    /// Wait without using the processor. The kernel's timer adds its slack, 50 to 100 µs on Linux.
    Sleep(Duration),
    /// Burn the processor for this long: exact to about a microsecond where a core is free.
    Spin(Duration),
}

/// Service time and answer of one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Waited for before the reply is written.
    pub delay: Delay,
    /// What is answered.
    pub reply: Reply,
}

impl Turn {
    /// The same reply at once.
    pub fn now(reply: Reply) -> Turn {
        Turn { delay: Delay::None, reply }
    }

    /// The reply of a point query of sysbench: one row of 119 characters, at once.
    pub fn point() -> Turn {
        Turn::now(Reply::Rows { count: 1, width: 119 })
    }
}

/// Decides what each statement gets. Connections ask concurrently.
pub trait Script: Send + Sync {
    /// The turn of statement number `statement` on connection number `connection`. Both count from
    /// 0, connections in the order of their arrival, statements per connection.
    fn turn(&self, connection: u64, statement: u64) -> Turn;
}

/// Every statement gets the same.
#[derive(Clone, Debug)]
pub struct Fixed(pub Turn);

impl Script for Fixed {
    fn turn(&self, _connection: u64, _statement: u64) -> Turn {
        self.0.clone()
    }
}

/// Every n-th statement of a connection gets another turn: a stall, an error, a cut.
#[derive(Clone, Debug)]
pub struct EveryNth {
    /// The distance between two rare turns. 1 makes every turn a rare one; with `n` the first rare
    /// one is the n-th statement, number `n - 1`.
    pub n: NonZeroU64,
    /// What the others get.
    pub usual: Turn,
    /// What every n-th statement gets.
    pub rare: Turn,
}

impl Script for EveryNth {
    fn turn(&self, _connection: u64, statement: u64) -> Turn {
        if statement % self.n == self.n.get() - 1 { self.rare.clone() } else { self.usual.clone() }
    }
}
