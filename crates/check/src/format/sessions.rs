//! Histories that a file has session by session.
//!
//! ```text
//!   session 0   t t t t          put side by side:  t t t  t t t  t t  t
//!   session 1   t t t            where nothing tells their times
//!   session 2   t t
//! ```

use crate::bad_input::{BadInput, txn};
use crate::builder::Builder;
use crate::history::{
    History, INITIAL, Op, OperationKind, Origin, Times, TransactionOutcome, UNKNOWN,
};

/// Sessions of a history at most.
const SESSIONS_AT_MOST: usize = 1 << 20;

/// An operation as it is written.
#[derive(Clone, Debug)]
pub(super) enum SessionOperation {
    /// What was seen; `None` is what the key held at the beginning.
    Read {
        key: String,
        value: Option<String>,
    },
    Write {
        key: String,
        value: String,
    },
    /// A search found no row of the key.
    Missed {
        key: String,
    },
}

/// A transaction as it is written.
#[derive(Debug)]
pub(super) struct Transaction {
    pub ops: Vec<SessionOperation>,
    pub outcome: TransactionOutcome,
    pub times: Times,
    /// What it is called, and where it stands.
    pub origin: Origin,
}

/// The history of some sessions.
///
/// # Errors
/// There are more of them than a history can have.
pub(super) fn build_history(sessions: &[Vec<Transaction>]) -> Result<History, BadInput> {
    if sessions.len() > SESSIONS_AT_MOST {
        let what = format!("{} sessions; a history has {SESSIONS_AT_MOST} at most", sessions.len());
        return Err(BadInput { place: "all of it".to_owned(), what });
    }
    let mut builder = Builder::new();
    let longest = sessions.iter().map(Vec::len).max().unwrap_or(0);
    for at in 0..longest {
        for (number, session) in sessions.iter().enumerate() {
            let Some(transaction) = session.get(at) else { continue };
            let ops: Vec<Op> = transaction.ops.iter().map(|op| told(&mut builder, op)).collect();
            let about = txn(number as u32, transaction.outcome, transaction.times);
            builder.push_from(about, &ops, transaction.origin.clone());
        }
    }
    Ok(builder.finish())
}

fn told(builder: &mut Builder, op: &SessionOperation) -> Op {
    match op {
        SessionOperation::Read { key, value } => {
            let key = builder.key(key);
            let value = value.as_ref().map_or(INITIAL, |value| builder.value(key, value));
            Op { key, value, prev: UNKNOWN, kind: OperationKind::Read }
        }
        SessionOperation::Write { key, value } => {
            let key = builder.key(key);
            let value = builder.value(key, value);
            Op { key, value, prev: UNKNOWN, kind: OperationKind::Write }
        }
        // A search of one key that found no row.
        SessionOperation::Missed { key } => {
            Op { key: builder.key(key), value: 1, prev: 0, kind: OperationKind::Scan }
        }
    }
}
