//! Lists that were read, as operations on their elements.

use crate::history::{INITIAL, Op, OperationKind, UNKNOWN, WriteId};

/// A list that was read: its last element was seen, and all of them tell what they follow.
pub(super) fn list(key: u32, kind: OperationKind, ids: &[WriteId], ops: &mut Vec<Op>) {
    let before = |at: usize| if at == 0 { INITIAL } else { ids[at - 1] };
    let value = ids.last().copied().unwrap_or(INITIAL);
    let prev = if ids.is_empty() { UNKNOWN } else { before(ids.len() - 1) };
    ops.push(Op { key, value, prev, kind });
    for (at, &value) in ids.iter().enumerate().rev().skip(1) {
        ops.push(Op { key, value, prev: before(at), kind: OperationKind::Order });
    }
}
