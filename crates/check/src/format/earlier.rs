//! What was written before a file begins: of a history that is cut at its front.
//!
//! ```text
//!   … w x 7 …  ┆  r x 7   w x 9   r x 9        7 was written by somebody, whom the file has not
//! ```
//!
//! Each value that is read and that nobody writes gets a transaction of its own whose outcome is
//! unknown and whose time is, too. One that really wrote several of them could stand in the place
//! of theirs, one behind the other: what is broken with these is broken with that, and what holds
//! holds as far as the file goes.

use std::collections::{BTreeSet, HashSet};

use crate::history::{
    ABSENT, History, INITIAL, Op, OperationKind, Origin, Times, TransactionOutcome, Txn, UNKNOWN,
    WriteId,
};

/// Adds the writers that a history lacks.
pub(super) fn with_writers_before(mut history: History) -> History {
    let mut written: HashSet<(u32, WriteId)> = HashSet::new();
    let mut lists: HashSet<u32> = HashSet::new();
    for op in &history.ops {
        match op.kind {
            OperationKind::Write | OperationKind::Insert => {
                written.insert((op.key, op.value));
            }
            OperationKind::Append => {
                written.insert((op.key, op.value));
                lists.insert(op.key);
            }
            OperationKind::Order => {
                lists.insert(op.key);
            }
            _ => {}
        }
    }
    let mut lacking: BTreeSet<(u32, WriteId)> = BTreeSet::new();
    for op in &history.ops {
        let seen = match op.kind {
            OperationKind::Read | OperationKind::CurrentRead | OperationKind::Order => {
                [op.value, op.prev]
            }
            _ => continue,
        };
        let known = seen.into_iter().filter(|&id| id != INITIAL && id < ABSENT);
        lacking.extend(known.map(|id| (op.key, id)).filter(|one| !written.contains(one)));
    }
    let sessions = history.session_count() as u32..;
    for (session, (key, value)) in sessions.zip(lacking) {
        let is_list = lists.contains(&key);
        let kind = if is_list { OperationKind::Append } else { OperationKind::Write };
        let times = Times { commit_return_ns: u64::MAX, ..Times::default() };
        let txn = Txn { session, outcome: TransactionOutcome::Unknown, times, token: 0 };
        history.push(txn, &[Op { key, value, prev: UNKNOWN, kind }]);
        let called = "before the file begins".to_owned();
        history.origins.push(Origin { called, unit: "line", places: (0, 0) });
    }
    history
}
