//! What a reader of logs has found.

use dbdyno_model::DeadlockParty;

/// The deadlocks of a log, and how much of it tells of them.
#[derive(Default)]
pub(super) struct Findings {
    /// Each as its parties.
    pub(super) deadlocks: Vec<Vec<DeadlockParty>>,
    /// Lines that have a part in one.
    pub(super) used: usize,
    /// Numbers of lines that announce one which is not told.
    pub(super) unread: Vec<usize>,
}
