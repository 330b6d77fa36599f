//! The graph has an edge between two transactions exactly where the matrix of conflicts says so.

use dbdyno_check::{
    ABSENT, Action, Builder, Checker, INITIAL, Kind, Op, Outcome, Times, Txn, UNKNOWN,
};

/// Kinds of rows, and what can be done to them.
const ROWS: [&[Action]; 3] = [
    &[Action::Read, Action::Write, Action::Insert, Action::Delete, Action::Predicate],
    &[Action::Read, Action::Append],
    &[Action::Read, Action::Increment, Action::Decrement],
];

/// The operations of an action that comes after `before`, as transaction `txn` of two. The row is
/// there at the beginning unless it `is_new`.
fn ops(
    builder: &mut Builder,
    action: Action,
    txn: usize,
    before: Option<Action>,
    is_new: bool,
) -> Vec<Op> {
    let key = builder.key("x");
    let names = ["first", "second"];
    let makes_version = |action: Action| !matches!(action, Action::Read | Action::Predicate);
    let prev = match before {
        Some(before) if makes_version(before) => builder.value(key, names[0]),
        _ => INITIAL,
    };
    let is_gone = before == Some(Action::Delete) || (is_new && prev == INITIAL);
    let op = |kind, value, prev| Op { key, value, prev, kind };
    let mut own = || builder.value(key, names[txn]);
    match action {
        Action::Read if is_gone => vec![op(Kind::Read, ABSENT, UNKNOWN)],
        Action::Read => vec![op(Kind::Read, prev, UNKNOWN)],
        Action::Write => vec![op(Kind::Write, own(), prev)],
        Action::Append => vec![op(Kind::Append, own(), prev)],
        Action::Insert => vec![op(Kind::Insert, own(), prev)],
        Action::Delete => vec![op(Kind::Delete, own(), prev)],
        Action::Increment | Action::Decrement => vec![op(Kind::Increment, own(), UNKNOWN)],
        Action::Predicate if is_gone => vec![op(Kind::Scan, 1, 0)],
        Action::Predicate => vec![op(Kind::Scan, 1, 1), op(Kind::Read, prev, UNKNOWN)],
    }
}

/// Of a counter a read lists the increments that it includes.
fn counted(builder: &mut Builder, txn: usize, before: Option<Action>) -> Vec<Op> {
    let key = builder.key("x");
    let count = |value| Op { key, value, prev: UNKNOWN, kind: Kind::Count };
    match before {
        Some(Action::Increment | Action::Decrement) if txn == 1 => {
            let value = builder.value(key, "first");
            vec![count(1), Op { key, value, prev: UNKNOWN, kind: Kind::Included }]
        }
        _ => vec![count(0)],
    }
}

/// Whether the graph of "one, and after it the other" has an edge.
fn has_edge(row: usize, one: Action, other: Action) -> bool {
    let mut builder = Builder::new();
    for (txn, action, before) in [(0, one, None), (1, other, Some(one))] {
        let ops = match action {
            Action::Read if row == 2 => counted(&mut builder, txn, before),
            _ => ops(&mut builder, action, txn, before, other == Action::Insert),
        };
        let (outcome, times) = (Outcome::Ok, Times::default());
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
                let is_absence = one == Action::Delete && !one_makes_order(other);
                let wanted = one.conflicts_with(other) && !is_absence;
                assert_eq!(has_edge(row, one, other), wanted, "{one:?}, then {other:?}");
                asked += 1;
            }
        }
    }
    assert_eq!(asked, 25 + 4 + 9);
}

fn one_makes_order(action: Action) -> bool {
    !matches!(action, Action::Read | Action::Predicate)
}

#[test]
fn conflicts_are_mutual_and_every_operation_has_its_action() {
    for one in Action::ALL {
        for other in Action::ALL {
            assert_eq!(one.conflicts_with(other), other.conflicts_with(one), "{one:?}, {other:?}");
        }
    }
    assert_eq!(Action::of(Kind::CurrentScan), Some(Action::Predicate));
    assert_eq!(Action::of(Kind::Included), None);
}
