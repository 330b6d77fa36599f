//! A log that agrees with the clients settles what they do not know; any other one is refused by
//! the first difference.

use dbdyno_check::{History, LoggedChange, TransactionOutcome, read_history};

const TEXT: &str = "w(x,1<null,0,0)\nw(y,2<null,0,0)\nr(x,1<null,1,1)\nw(x,3<1,1,1)\n\
                    w(y,4,2,2)\nunknown(2,2)\nw(y,5,3,3)\nunknown(3,3)\nw(x,6,4,4)\nabort(4,4)";

fn history() -> History {
    read_history(TEXT.as_bytes()).unwrap()
}

fn id(history: &History, name: &str) -> u32 {
    (1..20).find(|id| history.value_name(*id) == name).unwrap()
}

/// Changes as key, before, after, by name; `-` is what was there at the beginning.
fn log(history: &History, text: &str) -> Vec<Vec<LoggedChange>> {
    let key = |name: &str| (0..2).find(|key| history.key_name(*key) == name).unwrap();
    let version = |name: &str| if name == "-" { 0 } else { id(history, name) };
    let change = |text: &str| {
        let parts: Vec<&str> = text.split(' ').collect();
        let (before, after) = (version(parts[1]), version(parts[2]));
        LoggedChange { key: key(parts[0]), before, after }
    };
    text.split("; ").map(|txn| txn.split(", ").map(change).collect()).collect()
}

#[test]
fn a_log_that_agrees_tells_what_became_of_transactions() {
    let mut history = history();
    let log = log(&history, "x - 1, y - 2; y 2 4; x 1 3");
    let agrees = history.settle_by_log(&log).unwrap();
    assert_eq!((agrees.transactions, agrees.changes, agrees.unknown), (3, 4, (1, 1)));
    let outcomes: Vec<TransactionOutcome> = (0..5).map(|txn| history.txn(txn).outcome).collect();
    let (ok, failed) = (TransactionOutcome::Ok, TransactionOutcome::Failed);
    assert_eq!(outcomes, [ok, ok, ok, failed, failed]);
}

#[test]
fn a_log_that_differs_is_refused_by_the_first_difference() {
    for (text, wanted) in [
        ("x - 1, y - 2; x 1 6", "the log has changes of T4, which was rolled back"),
        ("x - 1; x 1 3; y - 2", "the log has T0 in two places"),
        ("x - 1, y - 2", "T1 was committed, and the log lacks its version 3"),
        (
            "x - 1, y - 2; x - 3",
            "follows the first version; clients, or the log before, say version 1",
        ),
        (
            "x - 3; x 3 1, y - 2",
            "follows the first version; clients, or the log before, say version 1",
        ),
        (
            "x - 1, y - 2; y - 4",
            "follows the first version; clients, or the log before, say version 2",
        ),
        ("x - 2", "which no client wrote"),
    ] {
        let mut history = history();
        let log = log(&history, text);
        let told = history.settle_by_log(&log).unwrap_err().to_string();
        assert!(told.contains(wanted), "{text}: {told}");
    }
}
