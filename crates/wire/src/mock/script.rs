//! What a mock server answers, as a function of connection and statement number.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

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
    /// Wait without using the processor. The thread wakes up late by what the kernel needs for it:
    /// some microseconds, fifty and more where an idle virtual processor has to be fetched.
    Sleep(Duration),
    /// Sleep, and spin the last [`SPIN_TAIL`]: exact to about a microsecond where a core is free.
    Exact(Duration),
    /// Burn the processor for this long: exact to about a microsecond where a core is free.
    Spin(Duration),
}

/// How long before its end [`Delay::Exact`] stops sleeping.
pub const SPIN_TAIL: Duration = Duration::from_micros(80);

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

    /// What control number `control` of connection number `connection` is answered, at once. Both
    /// count from 0. [`Reply::Affected`] means that it is carried out.
    fn control(&self, _connection: u64, _control: u64) -> Reply {
        Reply::Affected(0)
    }
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

/// A server with a service time for every statement, which stalls as a whole at known statements.
///
/// Statements are numbered in the order of their arrival, over all connections. A stall begins when
/// its statement arrives; until it ends nobody's service begins, and that statement's own begins
/// with the end. What is being served meanwhile goes on.
#[derive(Debug)]
pub struct Timed {
    /// The reply to every statement.
    reply: Reply,
    /// Service times by number of the statement; they begin again when they are used up.
    service: Vec<Delay>,
    stalls: Vec<(u64, Duration)>,
    arrived: AtomicU64,
    closed_until: Mutex<Option<Instant>>,
}

impl Timed {
    /// A server that always gives this reply, after service times that repeat, and stalls at these
    /// statements for so long.
    ///
    /// # Panics
    /// Without a service time.
    pub fn new(reply: Reply, service: Vec<Delay>, stalls: Vec<(u64, Duration)>) -> Timed {
        assert!(!service.is_empty(), "a server needs a service time");
        let (arrived, closed_until) = (AtomicU64::new(0), Mutex::new(None));
        Timed { reply, service, stalls, arrived, closed_until }
    }
}

impl Script for Timed {
    fn turn(&self, _connection: u64, _statement: u64) -> Turn {
        let number = self.arrived.fetch_add(1, Ordering::Relaxed);
        #[expect(clippy::disallowed_methods, reason = "a stall is kept by this server's own clock")]
        let now = Instant::now();
        let mut closed = self.closed_until.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, lasts) in self.stalls.iter().filter(|(at, _)| *at == number) {
            *closed = (*closed).max(Some(now + *lasts));
        }
        let left = closed.map_or(Duration::ZERO, |until| until.saturating_duration_since(now));
        let delay = match self.service[(number % self.service.len() as u64) as usize] {
            Delay::None if left.is_zero() => Delay::None,
            Delay::None => Delay::Sleep(left),
            Delay::Sleep(time) => Delay::Sleep(left.saturating_add(time)),
            Delay::Exact(time) => Delay::Exact(left.saturating_add(time)),
            Delay::Spin(time) if left.is_zero() => Delay::Spin(time),
            // Nobody burns the processor through a stall.
            Delay::Spin(time) => Delay::Exact(left.saturating_add(time)),
        };
        Turn { delay, reply: self.reply.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_holds_up_its_own_statement_and_those_that_come_meanwhile() {
        let (short, hour) = (Duration::from_millis(1), Duration::from_secs(3600));
        let service = vec![Delay::None, Delay::Exact(short)];
        let script = Timed::new(Reply::Affected(1), service, vec![(2, hour)]);
        let delay = |connection| match script.turn(connection, 0).delay {
            Delay::None => Duration::ZERO,
            Delay::Sleep(time) | Delay::Exact(time) | Delay::Spin(time) => time,
        };
        assert_eq!(delay(0), Duration::ZERO);
        assert_eq!(delay(1), short);
        assert_eq!(delay(0), hour);
        let after = delay(1);
        assert!(after > hour / 2 && after <= hour + short, "{after:?}");
    }
}
