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
}

impl SessionOperation {
    pub(super) fn key(&self) -> &str {
        let (SessionOperation::Read { key, .. } | SessionOperation::Write { key, .. }) = self;
        key
    }
}

/// A transaction as it is written.
#[derive(Debug)]
pub(super) struct Transaction<Part = SessionOperation> {
    pub parts: Vec<Part>,
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
    build_from_parts(Builder::new(), sessions, |builder, told, ops| ops.push(op_of(builder, told)))
}

/// The same of transactions whose parts `tell` operations, some or none each.
pub(super) fn build_from_parts<Part>(
    mut builder: Builder,
    sessions: &[Vec<Transaction<Part>>],
    tell: impl Fn(&mut Builder, &Part, &mut Vec<Op>),
) -> Result<History, BadInput> {
    if sessions.len() > SESSIONS_AT_MOST {
        let what = format!("{} sessions; a history has {SESSIONS_AT_MOST} at most", sessions.len());
        return Err(BadInput { place: "all of it".to_owned(), what });
    }
    let mut open: Vec<usize> = (0..sessions.len()).collect();
    for at in 0.. {
        open.retain(|number| at < sessions[*number].len());
        if open.is_empty() {
            break;
        }
        for &number in &open {
            let transaction = &sessions[number][at];
            let mut ops: Vec<Op> = Vec::with_capacity(transaction.parts.len());
            for part in &transaction.parts {
                tell(&mut builder, part, &mut ops);
            }
            let about = txn(number as u32, transaction.outcome, transaction.times);
            builder.push_from(about, &ops, transaction.origin.clone());
        }
    }
    builder.require_all_times();
    Ok(builder.finish())
}

/// An operation as the history has it.
pub(super) fn op_of(builder: &mut Builder, op: &SessionOperation) -> Op {
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
    }
}
