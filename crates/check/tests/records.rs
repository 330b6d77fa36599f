//! What a recorder writes is read back, and damage is said with its place.

use std::io::Cursor;

use dbdyno_check::{
    HEADER, Op, OpRecord, OperationKind, Times, TransactionOutcome, Txn, UNKNOWN, encode_end,
    read_records, read_records_from, write_records,
};

fn txn(session: u32, end: u64) -> Txn {
    let times = Times { begin_invoke_ns: end - 1, commit_return_ns: end, ..Times::default() };
    Txn { session, outcome: TransactionOutcome::Ok, times, token: 7 }
}

fn record(kind: OperationKind, table: u16, key: u64, value: u32, prev: u32) -> [u8; 16] {
    OpRecord { kind, table, key, value, prev }.encode()
}

#[test]
fn what_was_written_is_read_in_the_order_of_completion() {
    let mut bytes = HEADER.to_vec();
    bytes.extend(record(OperationKind::Write, 1, 5, 1, UNKNOWN));
    bytes.extend(encode_end(txn(0, 9), 1));
    bytes.extend(record(OperationKind::Read, 3, 7, 0, UNKNOWN));
    bytes.extend(record(OperationKind::CurrentRead, 1, 6, 1, 0));
    bytes.extend(encode_end(txn(1, 4), 2));
    let history = read_records(&bytes).unwrap();
    assert_eq!((history.len(), history.op_count()), (2, 3));
    assert_eq!(history.txn(0), txn(1, 4));
    assert_eq!(
        history.ops(0)[1],
        Op { key: 1, value: 1, prev: 0, kind: OperationKind::CurrentRead }
    );
    assert_eq!((history.key_name(2), history.key_name(0)), ("3.7".into(), "1.5".into()));
    let again = read_records(&write_records(&history)).unwrap();
    assert_eq!(write_records(&again), write_records(&history));
}

/// What is missing would look like an anomaly: reads of writes that nobody made.
#[test]
fn a_file_that_was_cut_is_refused_wherever_it_was_cut() {
    let bytes = write_records(&read_records(&long_file(1)).unwrap());
    assert_eq!(read_records(&bytes).unwrap().len(), 33_000);
    let whole_transactions = HEADER.len() + 96 * 30_000;
    for at in [HEADER.len(), whole_transactions, whole_transactions + 5, bytes.len() - 1] {
        let cut = read_records(&bytes[..at]);
        let told = cut.as_ref().unwrap_err();
        assert!(told.what.contains("a part is missing"), "{at}: {told}");
        assert_eq!(told.offset, at);
        assert_eq!(read_records_from(&mut Cursor::new(&bytes[..at])), cut);
    }
    let longer = [&bytes[..], &[0; 16]].concat();
    assert!(read_records(&longer).unwrap_err().what.contains("was added"));
}

#[test]
fn keys_that_lie_far_apart_are_dense_all_the_same() {
    let mut bytes = HEADER.to_vec();
    for key in [1 << 40, 3, 1 << 20] {
        bytes.extend(record(OperationKind::Read, 0, key, 0, UNKNOWN));
    }
    bytes.extend(record(OperationKind::Scan, 0, 3, 1 << 21, 0));
    bytes.extend(encode_end(txn(0, 1), 4));
    let history = read_records(&bytes).unwrap();
    let keys: Vec<u32> = history.ops(0).iter().map(|op| op.key).collect();
    assert_eq!(keys, vec![2, 0, 1, 0]);
    assert_eq!(history.ops(0)[3].value, 2, "of the range, two keys are in the history");
}

/// More than three megabytes, so that ends of transactions lie across the ends of pieces.
fn long_file(distance: u64) -> Vec<u8> {
    let mut bytes = HEADER.to_vec();
    for at in 0..33_000_u32 {
        let key = u64::from(at % 97) * distance;
        bytes.extend(record(OperationKind::CurrentRead, 1, key, at, UNKNOWN));
        bytes.extend(record(OperationKind::Write, 1, key, at + 1, at));
        bytes.extend(record(OperationKind::Read, 2, key + 1, 0, UNKNOWN));
        bytes.extend(encode_end(txn(at % 5, u64::from(at ^ 7) + 1), 3));
    }
    bytes
}

#[test]
fn a_file_that_is_read_in_pieces_is_the_same_history() {
    for distance in [1, 1 << 30] {
        let mut bytes = long_file(distance);
        let from_pieces = |bytes: &[u8]| read_records_from(&mut Cursor::new(bytes));
        assert_eq!(from_pieces(&bytes), read_records(&bytes));
        // The end of the file is in the middle of a transaction, and of a record.
        bytes.truncate(bytes.len() - 40);
        assert_eq!(from_pieces(&bytes), read_records(&bytes));
        let damaged = HEADER.len() + 96 * 30_000;
        bytes[damaged + 7] = 0xe0;
        assert_eq!(from_pieces(&bytes).unwrap_err().offset, damaged);
        assert_eq!(from_pieces(&bytes), read_records(&bytes));
    }
    assert_eq!(read_records_from(&mut Cursor::new(b"x")), read_records(b"x"));
}

#[test]
fn damage_is_said_with_its_place_and_a_cut_end_is_left_out() {
    assert_eq!(read_records(b"x").unwrap_err().offset, 0);
    let mut bytes = HEADER.to_vec();
    bytes.extend(record(OperationKind::Read, 0, 1, 0, UNKNOWN));
    assert_eq!(read_records(&bytes).unwrap().len(), 0);
    bytes.extend(encode_end(txn(0, 1), 2));
    let error = read_records(&bytes).unwrap_err();
    assert_eq!(error.to_string(), "byte 32: a transaction of 2 operations ends after 1");
    let mut early = HEADER.to_vec();
    let times = Times { begin_invoke_ns: 9, commit_return_ns: 8, ..Times::default() };
    early.extend(encode_end(Txn { times, ..txn(0, 9) }, 0));
    assert_eq!(
        read_records(&early).unwrap_err().what,
        "a transaction was answered before it began"
    );
    bytes[23] = 0xe0;
    assert_eq!(read_records(&bytes).unwrap_err().what, "14 is no kind of an operation");
}

/// An increment was a version for one reader and none for the other, whose proof was not accepted.
#[test]
fn a_key_is_a_counter_or_is_written() {
    let file = |second: [u8; 16]| {
        let (first, end) =
            (record(OperationKind::Write, 0, 1, 1, UNKNOWN), encode_end(txn(0, 1), 1));
        [&HEADER[..], &first, &end, &second, &end].concat()
    };
    let increment = |key| file(record(OperationKind::Increment, 0, key, 2, UNKNOWN));
    assert_eq!(read_records(&increment(2)).unwrap().len(), 2);
    let what = read_records(&increment(1)).unwrap_err().what;
    assert!(what.contains("a counter and is written"), "{what}");
    let mut from = std::io::Cursor::new(increment(1));
    assert_eq!(read_records_from(&mut from).unwrap_err().what, what);
}

#[test]
fn ids_that_would_take_all_memory_are_refused() {
    let file = |value: u32, session: u32| {
        let end = encode_end(txn(session, 1), 1);
        [&HEADER[..], &record(OperationKind::Write, 0, 1, value, UNKNOWN), &end].concat()
    };
    let told = |bytes: &[u8]| read_records(bytes).unwrap_err().what;
    let dense = "write id 4000000000 for 1 operations: ids must be dense";
    assert_eq!(told(&file(4_000_000_000, 0)), dense);
    assert_eq!(told(&file(UNKNOWN, 0)), "a write without an id");
    assert_eq!(told(&file(1, u32::MAX)), "session 4294967295: there are at most 1048576");
}
