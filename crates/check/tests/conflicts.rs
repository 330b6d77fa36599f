//! The graph has an edge between two transactions exactly where the matrix of conflicts says so.

use dbdyno_check::{
    ABSENT, Builder, Checker, INITIAL, Op, OperationKind, RowAction, Times, TransactionOutcome,
    Txn, UNKNOWN,
};

/// Kinds of rows, and what can be done to them.
const ROWS: [&[RowAction]; 3] = [
    &[
        RowAction::Read,
        RowAction::Write,
        RowAction::Insert,
        RowAction::Delete,
        RowAction::Predicate,
    ],
    &[RowAction::Read, RowAction::Append],
    &[RowAction::Read, RowAction::Increment, RowAction::Decrement],
];

/// The operations of an action that comes after `before`, as transaction `txn` of two. The row is
/// there at the beginning unless it `is_new`.
fn ops(
    builder: &mut Builder,
    action: RowAction,
    txn: usize,
    before: Option<RowAction>,
    is_new: bool,
) -> Vec<Op> {
    let key = builder.key("x");
    let names = ["first", "second"];
    let makes_version =
        |action: RowAction| !matches!(action, RowAction::Read | RowAction::Predicate);
    let prev = match before {
        Some(before) if makes_version(before) => builder.value(key, names[0]),
        _ => INITIAL,
    };
    let is_gone = before == Some(RowAction::Delete) || (is_new && prev == INITIAL);
    let op = |kind, value, prev| Op { key, value, prev, kind };
    let mut own = || builder.value(key, names[txn]);
    match action {
        RowAction::Read if is_gone => vec![op(OperationKind::Read, ABSENT, UNKNOWN)],
        RowAction::Read => vec![op(OperationKind::Read, prev, UNKNOWN)],
        RowAction::Write => vec![op(OperationKind::Write, own(), prev)],
        RowAction::Append => vec![op(OperationKind::Append, own(), prev)],
        RowAction::Insert => vec![op(OperationKind::Insert, own(), prev)],
        RowAction::Delete => vec![op(OperationKind::Delete, own(), prev)],
        RowAction::Increment | RowAction::Decrement => {
            vec![op(OperationKind::Increment, own(), UNKNOWN)]
        }
        RowAction::Predicate if is_gone => vec![op(OperationKind::Scan, 1, 0)],
        RowAction::Predicate => {
            vec![op(OperationKind::Scan, 1, 1), op(OperationKind::Read, prev, UNKNOWN)]
        }
    }
}

/// Of a counter a read lists the increments that it includes.
fn counted(builder: &mut Builder, txn: usize, before: Option<RowAction>) -> Vec<Op> {
    let key = builder.key("x");
    let count = |value| Op { key, value, prev: UNKNOWN, kind: OperationKind::Count };
    match before {
        Some(RowAction::Increment | RowAction::Decrement) if txn == 1 => {
            let value = builder.value(key, "first");
            vec![count(1), Op { key, value, prev: UNKNOWN, kind: OperationKind::Included }]
        }
        _ => vec![count(0)],
    }
}

/// Whether the graph of "one, and after it the other" has an edge.
fn has_edge(row: usize, one: RowAction, other: RowAction) -> bool {
    let mut builder = Builder::new();
    for (txn, action, before) in [(0, one, None), (1, other, Some(one))] {
        let ops = match action {
            RowAction::Read if row == 2 => counted(&mut builder, txn, before),
            _ => ops(&mut builder, action, txn, before, other == RowAction::Insert),
        };
        let (outcome, times) = (TransactionOutcome::Ok, Times::default());
        builder.push(Txn { session: txn as u32, outcome, times, token: 0 }, &ops);
    }
    let history = builder.finish();
    let seen = Checker::new(&history).contention();
    seen.ww + seen.wr + seen.rw > 0
}

#[test]
fn edges_are_where_the_matrix_has_conflicts() {
    let mut asked = 0;
    for (row, actions) in ROWS.iter().enumerate() {
        for &one in *actions {
            for &other in *actions {
                // What reads an absence after a deletion may have seen any of several absences.
                let is_absence = one == RowAction::Delete && !one_makes_order(other);
                let wanted = one.conflicts_with(other) && !is_absence;
                assert_eq!(has_edge(row, one, other), wanted, "{one:?}, then {other:?}");
                asked += 1;
            }
        }
    }
    assert_eq!(asked, 25 + 4 + 9);
}

fn one_makes_order(action: RowAction) -> bool {
    !matches!(action, RowAction::Read | RowAction::Predicate)
}

#[test]
fn conflicts_are_mutual_and_every_operation_has_its_action() {
    for one in RowAction::ALL {
        for other in RowAction::ALL {
            assert_eq!(one.conflicts_with(other), other.conflicts_with(one), "{one:?}, {other:?}");
        }
    }
    assert_eq!(RowAction::from_operation(OperationKind::CurrentScan), Some(RowAction::Predicate));
    assert_eq!(RowAction::from_operation(OperationKind::Included), None);
}
