//! What a server is to the sessions of its clients: who ends a statement that goes on for too long,
//! and what sessions know of each other.
//!
//! ```text
//!   statement ── every so many rows ──▶ is it to end?  killed · too long · its client has gone
//!   KILL, SHOW PROCESSLIST ───────────▶ the other sessions
//! ```
//!
//! A session without a server ends when it has its answer.

/// Why a statement ends before it has its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementStop {
    /// Another session has said so.
    Killed,
    /// It has taken longer than `max_execution_time`.
    TimeOver,
    /// Nobody waits for the answer any more.
    ClientGone,
}

/// What one session does to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kill {
    /// It ends the statement.
    Query,
    /// It ends the connection.
    Connection,
}

/// A session, as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessRow {
    /// Its number.
    pub id: u32,
    /// The account by which it came.
    pub user: String,
    /// Whether a statement is being executed.
    pub is_busy: bool,
    /// Whether it waits for a lock, and goes on waiting until another does something.
    pub is_waiting: bool,
}

/// The server around a session.
pub trait SessionHost: Send {
    /// Why the statement that is being executed is to end, if it is. `reads_only`: what has a
    /// limit of time is a question.
    fn stop(&self, reads_only: bool) -> Option<StatementStop>;
    /// Does this to the session of that number; whether there is one.
    fn kill(&self, id: u64, what: Kill) -> bool;
    /// All sessions, in the order of their numbers.
    fn list_processes(&self) -> Vec<ProcessRow>;
}
