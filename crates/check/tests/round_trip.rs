//! What was written in a format is read back as the same history, as far as the format has words.

use dbdyno_check::{
    Checker, Format, History, INITIAL, Level, Op, OperationKind, UNKNOWN, read_history,
    write_history,
};
use proptest::prelude::*;

use crate::small::Random;

/// Transactions of registers, or of lists, as JSON: with times or without, of all outcomes.
fn drawn_at_random(seed: u64, has_lists: bool) -> String {
    let mut random = Random(seed);
    let is_timed = random.below(2) == 0;
    let mut lists: Vec<Vec<u32>> = vec![Vec::new(); 2];
    let mut busy = [0_u64; 3];
    let mut now = 10;
    let mut lines = Vec::new();
    for txn in 1..=2 + random.below(6) as u32 {
        let session = random.below(3);
        let outcome = ["ok", "ok", "ok", "failed", "unknown"][random.below(5)];
        let mut ops = Vec::new();
        for (key, list) in lists.iter_mut().enumerate() {
            let seen = random.below(list.len() + 1);
            let elements: Vec<String> = list[..seen].iter().map(u32::to_string).collect();
            let is_read = random.below(2) == 0;
            if is_read && has_lists {
                ops.push(format!("[\"r\", \"k{key}\", [{}]]", elements.join(", ")));
            } else if is_read {
                let last = elements.last().map_or("null", String::as_str);
                ops.push(format!("[\"{}\", \"k{key}\", {last}]", ["r", "R"][random.below(2)]));
            }
            if random.below(2) == 0 {
                let word = if has_lists { "append" } else { "w" };
                ops.push(format!("[\"{word}\", \"k{key}\", {txn}]"));
                if outcome == "ok" {
                    list.push(txn);
                }
            }
        }
        // Some take no time, and one of a session follows the other at once.
        let begin = busy[session].max(now - random.below(8) as u64);
        let end = begin.max(now);
        busy[session] = end;
        now = end + random.below(3) as u64;
        let times = match is_timed {
            true => format!("\"begin\": [{begin}, {begin}], \"commit\": [{end}, {end}], "),
            false => String::new(),
        };
        lines.push(format!(
            "{{\"session\": {session}, \"outcome\": \"{outcome}\", {times}\"ops\": [{}]}}",
            ops.join(", ")
        ));
    }
    lines.join("\n")
}

/// What a format keeps of an operation.
#[derive(Clone, Copy)]
struct Kept {
    current: bool,
    orders: bool,
    unsure_reads: bool,
    sessions: bool,
}

/// By transaction the session, the outcome and the operations, with keys and versions numbered in
/// the order in which they are met.
fn plain(history: &History, kept: Kept) -> Vec<String> {
    let (mut keys, mut ids, mut sessions) = (Vec::new(), vec![(0, INITIAL)], Vec::new());
    let number = |all: &mut Vec<u32>, own: u32| {
        all.iter().position(|known| *known == own).unwrap_or_else(|| {
            all.push(own);
            all.len() - 1
        })
    };
    let mut told = Vec::new();
    for txn in 0..history.len() {
        let about = history.txn(txn);
        let session = number(&mut sessions, about.session);
        let session = if kept.sessions { about.session as usize } else { session };
        let is_sure = about.outcome == dbdyno_check::TransactionOutcome::Ok;
        let mut line = format!("{session} {}", about.outcome);
        for op in history.ops(txn) {
            let is_read = matches!(op.kind, OperationKind::Read | OperationKind::CurrentRead);
            if op.kind == OperationKind::Order || (is_read && !is_sure && !kept.unsure_reads) {
                continue;
            }
            let kind = if is_read && !kept.current { OperationKind::Read } else { op.kind };
            let key = number(&mut keys, op.key);
            let mut id = |id: u32| {
                let own = if id == INITIAL { (0, id) } else { (op.key + 1, id) };
                ids.iter().position(|known| *known == own).unwrap_or_else(|| {
                    ids.push(own);
                    ids.len() - 1
                })
            };
            let value = id(op.value);
            let prev = if kept.orders && op.prev != UNKNOWN { Some(id(op.prev)) } else { None };
            line += &format!(" {kind:?}({key}, {value}, {prev:?})");
        }
        told.push(line);
    }
    told
}

/// What follows what, by names.
fn orders(history: &History) -> Vec<(String, String, String)> {
    let ops = (0..history.len()).flat_map(|txn| history.ops(txn));
    let is_told = |op: &&Op| op.prev < dbdyno_check::ABSENT && op.value < dbdyno_check::ABSENT;
    let named = |op: &Op| {
        let value = |id: u32| history.value_name(id);
        (history.key_name(op.key), value(op.value), value(op.prev))
    };
    let mut all: Vec<_> = ops.filter(is_told).map(named).collect();
    all.sort();
    all.dedup();
    all
}

/// By session, what its committed transactions did, with the numbers that a format writes.
fn committed(
    history: &History,
    key: impl Fn(u32) -> String,
    id: impl Fn(u32) -> String,
) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new(); 3];
    for txn in 0..history.len() {
        let about = history.txn(txn);
        let told = |op: &Op| {
            let word = if op.kind == OperationKind::Write { 'w' } else { 'r' };
            let value = if op.value == INITIAL { "0".to_owned() } else { id(op.value) };
            format!("{word}({}, {value})", key(op.key))
        };
        let ops: Vec<String> = history.ops(txn).iter().map(told).collect();
        if about.outcome == dbdyno_check::TransactionOutcome::Ok && !ops.is_empty() {
            all[about.session as usize].push(ops.join(" "));
        }
    }
    all
}

fn again(history: &History, format: Format) -> Result<History, String> {
    let bytes = write_history(history, format)?;
    read_history(&bytes).map_err(|bad| format!("{bad}: {}", String::from_utf8_lossy(&bytes)))
}

const LEVELS: [Level; 4] = [
    Level::ReadCommitted,
    Level::SnapshotIsolation,
    Level::StrongSessionSerializable,
    Level::StrictSerializable,
];

/// Levels that ask for no times.
const UNTIMED: [Level; 4] = [
    Level::ReadCommitted,
    Level::SnapshotIsolation,
    Level::Serializable,
    Level::StrongSessionSerializable,
];

fn anomalies(history: &History, levels: &[Level]) -> Vec<Option<String>> {
    let checker = Checker::new(history);
    let told = |level: &Level| checker.level_verdict(*level).anomaly().map(str::to_owned);
    levels.iter().map(told).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back(seed: u64, has_lists: bool) {
        let text = drawn_at_random(seed, has_lists);
        let Ok(history) = read_history(text.as_bytes()) else { return Ok(()) };
        let is_whole = (0..history.len()).all(|txn| !history.ops(txn).is_empty());
        let all = Kept { current: true, orders: true, unsure_reads: true, sessions: true };
        let json = again(&history, Format::Json).unwrap();
        prop_assert_eq!(plain(&json, all), plain(&history, all), "{}", text);
        prop_assert_eq!(orders(&json), orders(&history), "{}", text);
        prop_assert_eq!(anomalies(&json, &LEVELS), anomalies(&history, &LEVELS), "{}", text);
        let records = again(&history, Format::Records).unwrap();
        prop_assert_eq!(anomalies(&records, &LEVELS), anomalies(&history, &LEVELS), "{}", text);
        if has_lists {
            if let Ok(edn) = again(&history, Format::Edn) {
                let kept = Kept { orders: false, unsure_reads: false, sessions: false, ..all };
                prop_assert_eq!(plain(&edn, kept), plain(&history, kept), "{}", text);
                prop_assert_eq!(edn.op_count() > 0, history.op_count() > 0);
            }
            return Ok(());
        }
        let edn = Kept { current: false, orders: false, unsure_reads: false, sessions: false };
        let wanted = plain(&history, edn);
        // A read that was not confirmed says nothing, and a history of no more is none.
        if wanted.iter().any(|line| line.contains('(')) {
            let read = again(&history, Format::Edn).unwrap();
            prop_assert_eq!(plain(&read, edn), wanted, "{}", text);
        }
        let unknown = dbdyno_check::TransactionOutcome::Unknown;
        let has_unknown = (0..history.len()).any(|txn| history.txn(txn).outcome == unknown);
        let is_broken = |history: &History| -> Vec<bool> {
            anomalies(history, &UNTIMED).iter().map(Option::is_some).collect()
        };
        for format in [Format::Plume, Format::Dbcop] {
            let bytes = write_history(&history, format).unwrap();
            // Nothing but transactions without operations is no history.
            let Ok(read) = read_history(&bytes) else {
                prop_assert_eq!(history.op_count(), 0, "{}", text);
                continue;
            };
            prop_assert_eq!(is_broken(&read), is_broken(&history), "{:?}: {}", format, text);
            if !has_unknown {
                let numbers = |number: u32| number.to_string();
                let (key, id) = (|key| read.key_name(key), |id| read.value_name(id));
                prop_assert_eq!(committed(&read, key, id), committed(&history, numbers, numbers),
                    "{:?}: {}", format, text);
            }
        }
        if is_whole {
            let ours = again(&history, Format::Text).unwrap();
            prop_assert_eq!(plain(&ours, all), plain(&history, all), "{}", text);
        }
    }
}

#[test]
fn a_transaction_that_took_no_time_is_one_in_edn() {
    let text = "{\"session\": 0, \"begin\": [5, 5], \"commit\": [5, 5], \
                \"ops\": [[\"w\", \"x\", 1]]}\n\
                {\"session\": 0, \"begin\": [5, 5], \"commit\": [9, 9], \
                \"ops\": [[\"r\", \"x\", 1]]}";
    let history = read_history(text.as_bytes()).unwrap();
    let read = again(&history, Format::Edn).unwrap();
    assert_eq!((read.len(), read.op_count()), (2, 2));
    let two = text.replace("[5, 5], \"commit\": [9", "[4, 4], \"commit\": [9");
    let refused = again(&read_history(two.as_bytes()).unwrap(), Format::Edn).unwrap_err();
    assert!(refused.starts_with("session 0 has two transactions at a time"), "{refused}");
}

#[test]
fn a_read_of_0_that_nobody_wrote_is_initial_in_every_format() {
    let all = [
        "r(x,0,0,0)\nw(x,1,1,1)",
        "{:type :ok :f :txn :value [[:r x 0]] :process 0}\n\
         {:type :ok :f :txn :value [[:w x 1]] :process 1}",
        "{\"session\": 0, \"ops\": [[\"r\", \"x\", 0]]}\n\
         {\"session\": 1, \"ops\": [[\"w\", \"x\", 1]]}",
    ];
    for text in all {
        let history = read_history(text.as_bytes()).unwrap();
        assert_eq!(history.ops(0)[0].value, INITIAL, "{text}");
    }
    // Somebody wrote it, or it is an element of a list.
    let written = read_history(all[2].replace("\"x\", 1", "\"x\", 0").as_bytes()).unwrap();
    assert_ne!(written.ops(0)[0].value, INITIAL);
    let list = read_history(all[1].replace("[:r x 0]", "[:r x [0]]").as_bytes()).unwrap();
    assert_eq!(anomalies(&list, &[Level::ReadUncommitted]), [Some("garbage read".to_owned())]);
}

/// A history keeps one element before each: of lists that exclude each other only one could be
/// written, and the file would hold where the history is broken.
#[test]
fn lists_that_contradict_each_other_are_not_written_as_lists_that_agree() {
    let text = r#"{"session": 0, "ops": [["append", "x", 1]]}
{"session": 0, "ops": [["append", "x", 2]]}
{"session": 1, "ops": [["r", "x", [1, 2]]]}
{"session": 1, "ops": [["r", "x", [2, 1]]]}"#;
    let history = read_history(text.as_bytes()).unwrap();
    let error = write_history(&history, Format::Edn).unwrap_err();
    assert!(error.contains("contradict each other"), "{error}");
    let again = read_history(&write_history(&history, Format::Records).unwrap()).unwrap();
    let verdict = Checker::new(&again).level_verdict(Level::ReadUncommitted);
    assert_eq!(verdict.anomaly(), Some("incompatible order"));
}
