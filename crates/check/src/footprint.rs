//! What a transaction does to others: its reads of their versions and its own versions.
//!
//! A read of a key that the transaction has written itself must see the last own write (*internal
//! consistency*: Cerone, Bernardi, Gotsman, CONCUR 2015). Of others it says only what the own
//! version follows, where the row or the list tells that. All other reads are *external*.

use crate::history::{ABSENT, Op, OperationKind, UNKNOWN, WriteId};

/// One access that matters beyond the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// An external read.
    Read(VersionRead),
    /// A version of its own, and the version of its own that it replaces, if any.
    Write { op: Op, own_before: Option<WriteId> },
    /// An increment.
    Increment { key: u32, id: WriteId },
    /// A counter was read: the operations at these places say what it includes.
    Count { key: u32, first: usize, end: usize },
    /// A read of the last own write, which says what that follows.
    Own { key: u32, value: WriteId, prev: WriteId },
    /// A read of a key that was written before, which saw something else, or a write that says it
    /// replaced something else.
    Internal { key: u32, wanted: WriteId, seen: WriteId, prev: WriteId },
}

/// A version that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VersionRead {
    pub key: u32,
    pub value: WriteId,
    pub prev: WriteId,
    /// The latest version was asked for, not that of a snapshot.
    pub is_current: bool,
    /// No row was asked for by its key: a predicate did not match it.
    pub is_predicate: bool,
}

/// Gives every access of `ops`, in their order.
#[inline]
pub(crate) fn visit_accesses(ops: &[Op], mut give: impl FnMut(Access)) {
    let mut written = 0_u64;
    for (at, op) in ops.iter().enumerate() {
        let bit = 1 << (op.key.wrapping_mul(0x9e37_79b1) >> 26);
        match op.kind {
            OperationKind::Read | OperationKind::CurrentRead => {
                if op.value == UNKNOWN {
                    continue;
                }
                if written & bit != 0
                    && let Some(own) = own_before(&ops[..at], op.key)
                {
                    let is_gone = own.kind == OperationKind::Delete && op.value == ABSENT;
                    if own.value != op.value && !is_gone {
                        let (wanted, seen, prev) = (own.value, op.value, op.prev);
                        give(Access::Internal { key: op.key, wanted, seen, prev });
                    } else if op.prev < ABSENT && op.value < ABSENT {
                        give(Access::Own { key: op.key, value: op.value, prev: op.prev });
                    }
                    continue;
                }
                give(Access::Read(VersionRead {
                    key: op.key,
                    value: op.value,
                    prev: op.prev,
                    is_current: op.kind == OperationKind::CurrentRead,
                    is_predicate: false,
                }));
            }
            OperationKind::Write
            | OperationKind::Insert
            | OperationKind::Delete
            | OperationKind::Append => {
                let is_again = written & bit != 0;
                let own = if is_again { own_before(&ops[..at], op.key) } else { None };
                let own = own.map(|own| own.value);
                if let Some(wanted) = own.filter(|own| *own != op.prev && op.prev < ABSENT) {
                    let (key, seen, prev) = (op.key, op.prev, UNKNOWN);
                    give(Access::Internal { key, wanted, seen, prev });
                }
                give(Access::Write { op: *op, own_before: own });
                written |= bit;
            }
            OperationKind::Increment => give(Access::Increment { key: op.key, id: op.value }),
            OperationKind::Scan | OperationKind::CurrentScan => missed(ops, at, written, &mut give),
            OperationKind::Count => {
                let included =
                    ops[at + 1..].iter().take_while(|op| op.kind == OperationKind::Included);
                let end = at + 1 + included.count();
                give(Access::Count { key: op.key, first: at + 1, end });
            }
            OperationKind::Included | OperationKind::Order => {}
        }
    }
}

/// The last own write of a key.
fn own_before(ops: &[Op], key: u32) -> Option<&Op> {
    ops.iter().rev().find(|op| op.key == key && is_write(op.kind))
}

/// Whether it makes a version that takes its place in the version order of its key.
pub(crate) fn is_write(kind: OperationKind) -> bool {
    matches!(
        kind,
        OperationKind::Write
            | OperationKind::Insert
            | OperationKind::Delete
            | OperationKind::Append
    )
}

/// The keys of a scan whose rows it did not find: their absence was read, by a predicate.
fn missed(ops: &[Op], at: usize, written: u64, give: &mut impl FnMut(Access)) {
    let scan = ops[at];
    let end = ops.len().min(at + 1 + scan.prev as usize);
    let found = &ops[at + 1..end];
    for key in scan.key..scan.key.saturating_add(scan.value) {
        let is_own = written != 0 && own_before(&ops[..at], key).is_some();
        if !is_own && !found.iter().any(|row| row.key == key) {
            let is_current = scan.kind == OperationKind::CurrentScan;
            let (value, prev) = (ABSENT, UNKNOWN);
            give(Access::Read(VersionRead { key, value, prev, is_current, is_predicate: true }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(kind: OperationKind, key: u32, value: u32) -> Op {
        Op { kind, key, value, prev: UNKNOWN }
    }

    fn told(ops: &[Op]) -> Vec<Access> {
        let mut all = Vec::new();
        visit_accesses(ops, |access| all.push(access));
        all
    }

    #[test]
    fn a_read_after_an_own_write_is_internal() {
        let wrong = told(&[op(OperationKind::Write, 4, 1), op(OperationKind::Read, 4, 0)]);
        assert_eq!(wrong[1], Access::Internal { key: 4, wanted: 1, seen: 0, prev: UNKNOWN });
        assert_eq!(told(&[op(OperationKind::Write, 4, 1), op(OperationKind::Read, 4, 1)]).len(), 1);
        assert_eq!(
            told(&[op(OperationKind::Delete, 4, 1), op(OperationKind::Read, 4, ABSENT)]).len(),
            1
        );
        let told_prev = told(&[
            op(OperationKind::Append, 4, 2),
            Op { prev: 1, ..op(OperationKind::Read, 4, 2) },
        ]);
        assert_eq!(told_prev[1], Access::Own { key: 4, value: 2, prev: 1 });
    }

    #[test]
    fn a_scan_reads_the_absence_of_what_it_did_not_find() {
        let scan = Op { kind: OperationKind::Scan, key: 2, value: 3, prev: 1 };
        let all = told(&[op(OperationKind::Insert, 4, 9), scan, op(OperationKind::Read, 3, 5)]);
        let seen: Vec<(u32, u32, bool)> = all
            .iter()
            .filter_map(|access| match access {
                Access::Read(seen) => Some((seen.key, seen.value, seen.is_predicate)),
                _ => None,
            })
            .collect();
        assert_eq!(seen, [(2, ABSENT, true), (3, 5, false)]);
    }
}
