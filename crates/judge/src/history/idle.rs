//! What a name says of what is idle.
//!
//! ```text
//!   cpu idle              the processor is free                          higher
//!   idle_in_transaction   it holds its locks and old rows all the while  lower
//!   idle_connections      for want of work, or in wait of something      not known
//! ```

use dbdyno_model::Better;

use super::words::has_word;

/// What holds locks and old rows while it does nothing.
const IDLE_HOLDERS: [&str; 9] =
    ["transaction", "transactions", "xact", "xacts", "tx", "txn", "txns", "trx", "txs"];
/// What may do nothing for want of work, or because it waits: nobody knows.
const IDLE_USERS: [&str; 14] = [
    "session",
    "sessions",
    "connection",
    "connections",
    "conn",
    "conns",
    "client",
    "clients",
    "backend",
    "backends",
    "worker",
    "workers",
    "thread",
    "threads",
];

/// What the words of a name say where something other than a processor or a disk is idle;
/// `Some(None)` where nobody knows.
pub(super) fn idle_direction(words: &[String]) -> Option<Option<Better>> {
    match (has_word(words, &["idle"]), has_word(words, &IDLE_HOLDERS), has_word(words, &IDLE_USERS))
    {
        (true, true, _) => Some(Some(Better::Lower)),
        (true, false, true) => Some(None),
        _ => None,
    }
}
