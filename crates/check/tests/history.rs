//! Histories are built, named and numbered as their documentation says.

use dbdyno_check::{
    ABSENT, Builder, INITIAL, Op, OperationKind, Times, TransactionOutcome, Txn, UNKNOWN, WriteIds,
};

fn txn(session: u32, at: u64) -> Txn {
    let times = Times { commit_return_ns: at, ..Times::default() };
    Txn { session, outcome: TransactionOutcome::Ok, times, token: 0 }
}

#[test]
fn names_become_numbers_and_completion_the_order() {
    let mut builder = Builder::new();
    let (x, y) = (builder.key("x"), builder.key("y"));
    let (first, second) = (builder.value(x, "5"), builder.value(y, "5"));
    assert_ne!(first, second);
    let write = |key, value| Op { key, value, prev: UNKNOWN, kind: OperationKind::Write };
    builder.push(txn(0, 9), &[write(x, first)]);
    builder.push(txn(1, 3), &[write(y, second), write(x, first)]);
    let history = builder.finish();
    assert_eq!((history.len(), history.op_count(), history.session_count()), (2, 3, 2));
    assert!(!history.is_empty());
    assert_eq!(history.txn(0).session, 1);
    assert_eq!((history.key_name(y), history.value_name(second)), ("y".into(), "5".into()));
    assert_eq!(history.value_name(INITIAL), "initial");
    assert_eq!(history.value_name(ABSENT), "absent");
}

#[test]
fn ids_of_workers_never_meet_and_end_before_what_has_a_meaning() {
    let mut ids: Vec<u32> = (0..4)
        .flat_map(|worker| {
            let mut own = WriteIds::new(worker, 4, 10);
            (0..5).map(move |_| own.next_id().unwrap())
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (11..31).collect::<Vec<u32>>());
    assert_eq!(WriteIds::new(0, 1, u32::MAX - 3).next_id(), Some(u32::MAX - 2));
    assert_eq!(WriteIds::new(0, 1, u32::MAX - 2).next_id(), None);
}
