//! Small histories with a known answer: each level holds or is broken as its definition says, and
//! what holds has a certificate that the replayer accepts.

use crate::exhaustive::permutations;
use crate::small::Random;
use dbdyno_check::{
    Checker, History, Level, LevelVerdict, cycle_pictures, read_history, replay, retrace_violation,
    violation_drawing,
};

/// The name of the anomaly, or "" where the level holds and its proof is good, or "?".
fn told(history: &History, level: Level) -> String {
    match Checker::new(history).level_verdict(level) {
        LevelVerdict::Holds(proof) => {
            assert_eq!(replay(history, level, &proof), Ok(()), "{level}");
            String::new()
        }
        LevelVerdict::CannotTell(_) => "?".to_owned(),
        verdict => {
            assert_eq!(retrace_violation(history, level, &verdict), Ok(()), "{level}: {verdict:?}");
            verdict.anomaly().unwrap().to_owned()
        }
    }
}

fn of(text: &str, level: Level) -> String {
    told(&read_history(text.as_bytes()).unwrap(), level)
}

#[test]
fn dirty_write() {
    let text = "w(x,1<0,0,0)\nw(x,2<1,1,0)\nw(y,2<0,1,0)\nw(y,1<2,0,0)";
    assert_eq!(of(text, Level::ReadUncommitted), "G0");
    assert_eq!(of(text, Level::Serializable), "G0");
}

#[test]
fn aborted_and_intermediate_reads() {
    assert_eq!(of("w(x,2,0,0)\nr(x,2<2,1,0)", Level::ReadUncommitted), "incompatible order");
    let over = "w(x,1,0,0)\nabort(0,0)\nw(x,2<1,1,0)";
    assert_eq!(of(over, Level::ReadUncommitted), "");
    assert_eq!(of(over, Level::ReadCommitted), "G1a (aborted read)");
    let aborted = "w(x,1,0,0)\nabort(0,0)\nr(x,1,1,0)";
    assert_eq!(of(aborted, Level::ReadUncommitted), "");
    assert_eq!(of(aborted, Level::ReadCommitted), "G1a (aborted read)");
    let intermediate = "w(x,1,0,0)\nw(x,2,0,0)\nr(x,1,1,0)";
    assert_eq!(of(intermediate, Level::ReadCommitted), "G1b (intermediate read)");
    let unknown = "w(x,1,0,0)\nunknown(0,0)\nr(x,1,1,0)";
    assert_eq!(of(unknown, Level::Serializable), "");
}

#[test]
fn circular_information_flow() {
    let text = "w(x,1,0,0)\nw(y,2,1,0)\nr(y,2,0,0)\nr(x,1,1,0)";
    assert_eq!(of(text, Level::ReadUncommitted), "");
    assert_eq!(of(text, Level::ReadCommitted), "G1c");
}

#[test]
fn a_transaction_vanishes() {
    let text = "w(x,1,0,0)\nw(y,1,0,0)\nr(x,1,1,0)\nr(y,0,1,0)";
    assert_eq!(of(text, Level::ReadCommitted), "");
    assert_eq!(of(text, Level::MonotonicAtomicView), "OTV (observed transaction vanishes)");
    assert_eq!(of(text, Level::SnapshotIsolation), "G-single");
    let other_way_round = "w(x,1,0,0)\nw(y,1,0,0)\nr(y,0,1,0)\nr(x,1,1,0)";
    assert_eq!(of(other_way_round, Level::MonotonicAtomicView), "");
}

#[test]
fn lost_update_is_allowed_by_innodb_where_the_read_was_plain() {
    let text = "r(x,0,0,0)\nr(x,0,1,0)\nw(x,1<0,0,0)\nw(x,2<1,1,0)";
    assert_eq!(of(text, Level::MonotonicAtomicView), "");
    assert_eq!(of(text, Level::InnodbRepeatableRead), "");
    assert_eq!(of(text, Level::SnapshotIsolation), "lost update");
    assert_eq!(of(text, Level::RepeatableRead), "lost update");
    let locking = text.replace('r', "R");
    assert_eq!(of(&locking, Level::InnodbRepeatableRead), "lost update");
}

#[test]
fn write_skew() {
    let text = "r(x,0,0,0)\nr(y,0,0,0)\nr(x,0,1,0)\nr(y,0,1,0)\nw(x,1,0,0)\nw(y,1,1,0)";
    assert_eq!(of(text, Level::SnapshotIsolation), "");
    assert_eq!(of(text, Level::InnodbRepeatableRead), "");
    assert_eq!(of(text, Level::Serializable), "write skew (G2-item)");
}

#[test]
fn long_fork_breaks_snapshot_isolation() {
    let text = "w(x,1,0,0)\nw(y,1,1,0)\nr(x,1,2,0)\nr(y,0,2,0)\nr(x,0,3,0)\nr(y,1,3,0)";
    assert_eq!(of(text, Level::MonotonicAtomicView), "");
    assert_eq!(of(text, Level::SnapshotIsolation), "long fork (G-nonadjacent)");
    assert_eq!(of(text, Level::InnodbRepeatableRead), "long fork (G-nonadjacent)");
}

#[test]
fn sessions_and_real_time() {
    let stale = "w(x,1,0,0)\nr(x,0,0,1)";
    assert_eq!(of(stale, Level::Serializable), "");
    assert_eq!(of(stale, Level::StrongSessionSerializable), "G-single-process");
    assert_eq!(of(stale, Level::StrongSessionSnapshotIsolation), "G-single-process");
    assert_eq!(of(stale, Level::StrictSerializable), "?");
    let timed = r#"{"session": 0, "begin": [1, 2], "commit": [3, 4], "ops": [["w", "x", 1]]}
{"session": 1, "begin": [5, 6], "commit": [7, 8], "ops": [["r", "x", null]]}"#;
    assert_eq!(of(timed, Level::StrongSessionSerializable), "");
    assert_eq!(of(timed, Level::StrictSerializable), "G-single-realtime");
    assert_eq!(of(timed, Level::StrongSnapshotIsolation), "G-single-realtime");
    assert_eq!(of(&timed.replace("[5, 6]", "[3, 6]"), Level::StrictSerializable), "");
}

#[test]
fn lists_tell_the_order_of_versions() {
    let text = r#"{"session": 0, "ops": [["append", "l", 1]]}
{"session": 1, "ops": [["append", "l", 2]]}
{"session": 2, "ops": [["r", "l", [2, 1]]]}"#;
    assert_eq!(of(text, Level::StrongSessionSerializable), "");
    let forked = format!("{text}\n{}", r#"{"session": 3, "ops": [["r", "l", [1, 2]]]}"#);
    assert_eq!(of(&forked, Level::ReadUncommitted), "incompatible order");
}

#[test]
fn what_nobody_wrote_and_what_is_not_known() {
    assert_eq!(of("r(x,7,0,0)", Level::ReadUncommitted), "garbage read");
    assert_eq!(of("w(x,1,0,0)\nr(x,0,0,0)", Level::ReadCommitted), "internal inconsistency");
    assert_eq!(of("w(x,1,0,0)\nw(x,2,1,0)", Level::Serializable), "");
    assert_eq!(of("w(x,2,0,0)\nr(x,2<9,1,0)", Level::ReadCommitted), "garbage read");
    let aborted = "w(x,1,0,0)\nabort(0,0)\nw(x,2,0,1)\nr(x,2<1,1,0)";
    assert_eq!(of(aborted, Level::ReadCommitted), "G1a (aborted read)");
    assert_eq!(of("w(x,1<1,0,0)", Level::ReadUncommitted), "incompatible order");
    assert_eq!(of("w(x,1<2,0,0)\nw(x,2,0,0)", Level::ReadUncommitted), "incompatible order");
    assert_eq!(of("w(x,1,0,0)\nw(x,1,1,0)", Level::ReadUncommitted), "duplicate write");
}

/// Two writes of one version, and nothing says which came first: it was a lost update either way.
#[test]
fn what_holds_in_no_order_of_versions() {
    let text = "r(x,0,0,0)\nr(x,0,1,0)\nw(x,1,0,0)\nw(x,2,1,0)";
    assert_eq!(of(text, Level::InnodbRepeatableRead), "");
    assert_eq!(of(text, Level::SnapshotIsolation), "lost update");
    let last = format!("{text}\nr(x,2,2,0)");
    assert_eq!(of(&last, Level::Serializable), "lost update");
    let halves = "w(x,1,0,0)\nw(y,1,0,0)\nw(x,2,1,0)\nw(y,2,1,0)\nr(x,1,2,0)\nr(y,2,2,0)";
    assert_eq!(of(halves, Level::ReadCommitted), "");
    assert_eq!(of(halves, Level::SnapshotIsolation), "G-single or G0 in every order of versions");
    let skew = "r(x,0,0,0)\nw(y,1,0,0)\nr(y,0,1,0)\nw(x,2,1,0)\nw(x,3,2,0)\nw(y,4,2,0)";
    assert_eq!(of(skew, Level::SnapshotIsolation), "");
    assert_eq!(of(skew, Level::Serializable), "write skew (G2-item)");
}

/// Transactions of one read or write each, with the times of begin and commit.
#[test]
fn commits_that_have_to_come_first() {
    let timed = |begin: u32, commit: u32, op: &str| {
        format!(
            "{{\"session\": {begin}, \"begin\": [{begin}, {begin}], \
             \"commit\": [{commit}, {}], \"ops\": [{op}]}}",
            commit + 10
        )
    };
    let read = r#"["r", "x", 1]"#;
    let told = |write: (u32, u32), other: (u32, u32), op: &str, level: Level| {
        let write = timed(write.0, write.1, r#"["w", "x", 1, null]"#);
        of(&format!("{write}\n{}", timed(other.0, other.1, op)), level)
    };
    for (other, wanted) in [
        ((200, 210), ["", "", ""]),
        ((20, 210), ["", "?", "?"]),
        ((20, 105), ["?", "?", "?"]),
        ((20, 95), ["?", "not cascadeless", "not strict"]),
        ((20, 30), ["not recoverable", "not cascadeless", "not strict"]),
    ] {
        let levels = [Level::Recoverable, Level::Cascadeless, Level::Strict];
        assert_eq!(levels.map(|level| told((10, 100), other, read, level)), wanted, "{other:?}");
    }
    let overwrite = r#"["w", "x", 2, 1]"#;
    assert_eq!(told((10, 100), (20, 30), overwrite, Level::Cascadeless), "");
    assert_eq!(told((10, 100), (20, 30), overwrite, Level::Strict), "not strict");
    assert_eq!(of("w(x,1,0,0)\nr(x,1,1,0)", Level::Strict), "?", "there are no times");
}

/// What a transaction replaces is its own last write, whatever it says.
#[test]
fn a_write_that_replaces_another_version_than_its_own_one_is_inconsistent() {
    let of_second = |prev: &str, level| {
        let text = format!(
            "{{\"session\": 0, \"ops\": [[\"w\", \"x\", 2, null], [\"w\", \"x\", 3{prev}]]}}"
        );
        of(&text, level)
    };
    assert_eq!(of_second(", 2", Level::Serializable), "");
    assert_eq!(of_second("", Level::Serializable), "");
    for level in [Level::ReadCommitted, Level::SnapshotIsolation, Level::Serializable] {
        assert_eq!(of_second(", null", level), "internal inconsistency", "{level}");
    }
}

/// Lists of small random executions, some with reads that are a mixture, against every order of
/// their transactions: a list that was read tells the order of its elements, and an order of
/// transactions that gives another list is no view of the same.
#[test]
fn lists_are_view_serializable_where_an_order_gives_the_same_lists() {
    let mut counts = [0_u32; 2];
    for seed in 1..=600 {
        let history = random_lists(&mut Random(seed));
        let is_right = permutations(history.len()).iter().any(|order| gives_same(&history, order));
        let mut text = String::new();
        for (session, txn) in history.iter().enumerate() {
            let ops: Vec<String> = txn.iter().map(ListOperation::json).collect();
            text += &format!("{{\"session\": {session}, \"ops\": [{}]}}\n", ops.join(", "));
        }
        let told = of(&text, Level::ViewSerializable);
        assert_eq!(told.is_empty(), is_right, "{seed}: {told}\n{text}");
        counts[usize::from(is_right)] += 1;
    }
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
}

/// What a transaction does to a list.
enum ListOperation {
    Append(usize, u32),
    Read(usize, Vec<u32>),
}

impl ListOperation {
    fn json(&self) -> String {
        match self {
            ListOperation::Append(key, value) => format!("[\"append\", \"{key}\", {value}]"),
            ListOperation::Read(key, list) => format!("[\"r\", \"{key}\", {list:?}]"),
        }
    }
}

/// Transactions whose operations are carried out at once, one after the other in random turns; one
/// of four reads sees the list without its last element.
fn random_lists(random: &mut Random) -> Vec<Vec<ListOperation>> {
    let count = 2 + random.below(3);
    let mut lists = [Vec::new(), Vec::new()];
    let mut txns: Vec<Vec<ListOperation>> = (0..count).map(|_| Vec::new()).collect();
    for value in 1..=(2 * count as u32 + 2) {
        let (txn, key) = (random.below(count), random.below(2));
        if random.below(2) == 0 {
            lists[key].push(value);
            txns[txn].push(ListOperation::Append(key, value));
        } else {
            let is_own =
                |op: &ListOperation| matches!(op, ListOperation::Append(of, _) if *of == key);
            let is_late = random.below(4) == 0 && !txns[txn].iter().any(is_own);
            let length = lists[key].len().saturating_sub(usize::from(is_late));
            txns[txn].push(ListOperation::Read(key, lists[key][..length].to_vec()));
        }
    }
    txns.retain(|txn| !txn.is_empty());
    txns
}

/// Whether transactions one after the other read what was read.
fn gives_same(history: &[Vec<ListOperation>], order: &[usize]) -> bool {
    let mut lists = [Vec::new(), Vec::new()];
    order.iter().flat_map(|txn| &history[*txn]).all(|op| match op {
        ListOperation::Append(key, value) => {
            lists[*key].push(*value);
            true
        }
        ListOperation::Read(key, list) => lists[*key] == *list,
    })
}

/// View serializability asks for no order of versions, but for that which lists were read in.
#[test]
fn lists_are_view_serializable_where_their_reads_are() {
    let text = r#"{"session": 0, "ops": [["append", "l", 1], ["append", "l", 2]]}
{"session": 1, "ops": [["r", "l", [1, 2]], ["append", "l", 3]]}"#;
    assert_eq!(of(text, Level::ViewSerializable), "");
    let skew = "r(x,0,0,0)\nr(y,0,0,0)\nr(x,0,1,1)\nr(y,0,1,1)\nw(x,1<0,0,0)\nw(y,1<0,1,1)";
    assert_eq!(of(skew, Level::ViewSerializable), "write skew (G2-item)");
}

/// A file's names go to a terminal, which obeys control characters.
#[test]
fn names_are_shown_without_control_characters() {
    let history = read_history(b"r(x,\x1b[2J,0,0)").unwrap();
    let verdict = Checker::new(&history).level_verdict(Level::Serializable);
    assert!(violation_drawing(&history, &verdict).contains("read x = \u{fffd}[2J"));
}

/// A cycle of thousands is told edge by edge: nobody follows as many lanes.
#[test]
fn a_long_cycle_is_told_without_lanes() {
    const LENGTH: usize = 3_000;
    let skew = |txn: usize| {
        let next = (txn + 1) % LENGTH;
        format!("r(k{txn},0,{txn},{txn})\nw(k{next},1<0,{txn},{txn})\n")
    };
    let text: String = (0..LENGTH).map(skew).collect();
    let history = read_history(text.as_bytes()).unwrap();
    let verdict = Checker::new(&history).level_verdict(Level::Serializable);
    let text = violation_drawing(&history, &verdict);
    assert!(text.starts_with("a cycle of 3000 transactions\n"), "{:.200}", text);
    assert_eq!(text.lines().count(), 1 + LENGTH);
    assert!(text.lines().all(|line| line.len() < 200));
    assert!(cycle_pictures(&history, &verdict).is_empty());
}

#[test]
fn what_cannot_be_read_is_said_with_line_and_column() {
    let told = |text: &str| read_history(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(
        told("w(x,1,0,0)\nr(x,1,a,0)"),
        "line 2, column 7: a is no session; sessions count from 0"
    );
    assert_eq!(told("w(x,1,0"), "line 1, column 7: the operation does not end with )");
    assert_eq!(told("{\"session\": 0}"), "line 1, column 1: a transaction needs \"ops\", a list");
}

/// The replayer is no rubber stamp: no other order of a history with one order passes.
#[test]
fn a_wrong_certificate_is_refused() {
    let history = read_history(b"w(x,1<0,0,0)\nw(x,2<1,1,0)\nr(x,2,2,0)").unwrap();
    let level = Level::Serializable;
    let LevelVerdict::Holds(proof) = Checker::new(&history).level_verdict(level) else { panic!() };
    assert_eq!(proof.events, [1, 3, 5]);
    for wrong in [[1, 5, 3], [3, 1, 5], [5, 1, 3], [5, 3, 1], [3, 5, 1], [1, 1, 5]] {
        let mut other = proof.clone();
        other.events = wrong.to_vec();
        assert!(replay(&history, level, &other).is_err(), "{wrong:?}");
    }
    let mut short = proof;
    short.events.pop();
    assert!(replay(&history, level, &short).is_err());
}
