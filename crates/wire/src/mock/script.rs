//! What a mock server answers, as a function of connection and statement number.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The answer to one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MockReply {
    /// A result of one column of characters. To a statement that returns no rows (`UPDATE …`) it
    /// means [`MockReply::Affected`] with the same count, so that one script serves a mixed load.
    Rows {
        /// Number of rows.
        count: u32,
        /// Characters in each row.
        width: u32,
    },
    /// A result of one row with this text; only MySQL's side writes one.
    Text(String),
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
pub enum ServiceTime {
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

/// How long before its end [`ServiceTime::Exact`] stops sleeping.
pub const SPIN_TAIL: Duration = Duration::from_micros(80);

/// Service time and answer of one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Waited for before the reply is written.
    pub delay: ServiceTime,
    /// What is answered.
    pub reply: MockReply,
}

impl Turn {
    /// The same reply at once.
    pub fn now(reply: MockReply) -> Turn {
        Turn { delay: ServiceTime::None, reply }
    }

    /// The reply of a point query of sysbench: one row of 119 characters, at once.
    pub fn point_query() -> Turn {
        Turn::now(MockReply::Rows { count: 1, width: 119 })
    }
}

/// Decides what each statement gets. Connections ask concurrently.
pub trait Script: Send + Sync {
    /// The turn of statement number `statement` on connection number `connection`. Both count from
    /// 0, connections in the order of their arrival, statements per connection.
    fn statement_turn(&self, connection: u64, statement: u64) -> Turn;

    /// What control number `control` of connection number `connection` is answered, at once. Both
    /// count from 0. [`MockReply::Affected`] means that it is carried out.
    fn control_reply(&self, _connection: u64, _control: u64) -> MockReply {
        MockReply::Affected(0)
    }

    /// What the server calls itself in MySQL's greeting; `None` for the mock's own version.
    fn version(&self) -> Option<&str> {
        None
    }

    /// What a query that is sent to MySQL as text is answered, whatever its number; `None` leaves
    /// it to the others.
    fn text_reply(&self, _sql: &str) -> Option<MockReply> {
        None
    }
}

/// Every statement gets the same.
#[derive(Clone, Debug)]
pub struct FixedScript(pub Turn);

impl Script for FixedScript {
    fn statement_turn(&self, _connection: u64, _statement: u64) -> Turn {
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
    fn statement_turn(&self, _connection: u64, statement: u64) -> Turn {
        if statement % self.n == self.n.get() - 1 { self.rare.clone() } else { self.usual.clone() }
    }
}

/// A server with a service time for every statement, which stalls as a whole at known statements.
///
/// Statements are numbered in the order of their arrival, over all connections. A stall begins when
/// its statement arrives; until it ends nobody's service begins, and that statement's own begins
/// with the end. What is being served meanwhile goes on.
#[derive(Debug)]
pub struct TimedScript {
    /// The reply to every statement.
    reply: MockReply,
    /// Service times by number of the statement; they begin again when they are used up.
    service: Vec<ServiceTime>,
    stalls: Vec<(u64, Duration)>,
    arrived: AtomicU64,
    closed_until: Mutex<Option<Instant>>,
}

impl TimedScript {
    /// A server that always gives this reply, after service times that repeat, and stalls at these
    /// statements for so long.
    ///
    /// # Panics
    /// Without a service time.
    pub fn new(
        reply: MockReply,
        service: Vec<ServiceTime>,
        stalls: Vec<(u64, Duration)>,
    ) -> TimedScript {
        assert!(!service.is_empty(), "a server needs a service time");
        let (arrived, closed_until) = (AtomicU64::new(0), Mutex::new(None));
        TimedScript { reply, service, stalls, arrived, closed_until }
    }
}

impl Script for TimedScript {
    fn statement_turn(&self, _connection: u64, _statement: u64) -> Turn {
        let number = self.arrived.fetch_add(1, Ordering::Relaxed);
        #[expect(clippy::disallowed_methods, reason = "a stall is kept by this server's own clock")]
        let now = Instant::now();
        let mut closed = self.closed_until.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, lasts) in self.stalls.iter().filter(|(at, _)| *at == number) {
            *closed = (*closed).max(Some(now + *lasts));
        }
        let left = closed.map_or(Duration::ZERO, |until| until.saturating_duration_since(now));
        let delay = match self.service[(number % self.service.len() as u64) as usize] {
            ServiceTime::None if left.is_zero() => ServiceTime::None,
            ServiceTime::None => ServiceTime::Sleep(left),
            ServiceTime::Sleep(time) => ServiceTime::Sleep(left.saturating_add(time)),
            ServiceTime::Exact(time) => ServiceTime::Exact(left.saturating_add(time)),
            ServiceTime::Spin(time) if left.is_zero() => ServiceTime::Spin(time),
            // Nobody burns the processor through a stall.
            ServiceTime::Spin(time) => ServiceTime::Exact(left.saturating_add(time)),
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
        let service = vec![ServiceTime::None, ServiceTime::Exact(short)];
        let script = TimedScript::new(MockReply::Affected(1), service, vec![(2, hour)]);
        let delay = |connection| match script.statement_turn(connection, 0).delay {
            ServiceTime::None => Duration::ZERO,
            ServiceTime::Sleep(time) | ServiceTime::Exact(time) | ServiceTime::Spin(time) => time,
        };
        assert_eq!(delay(0), Duration::ZERO);
        assert_eq!(delay(1), short);
        assert_eq!(delay(0), hour);
        let after = delay(1);
        assert!(after > hour / 2 && after <= hour + short, "{after:?}");
    }
}
