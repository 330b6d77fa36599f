//! Histories as the files of other checkers.

use std::fmt::Write as _;

use crate::history::{
    ABSENT, History, INITIAL, Op, OperationKind, TransactionOutcome, UNKNOWN, WriteId,
};
use crate::record::write_records;
use crate::versions::{FlawKind, Versions};

/// Elements of all lists of a file together: a read of a list has all of them.
const ELEMENTS_MOST: usize = 50_000_000;

/// A format of histories that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Our records: all that is known.
    Records,
    /// Our text: no times.
    Text,
    /// Text as Plume, PolySI and AWDIT read it: numbers, no times, no order of versions.
    Plume,
    /// JSON, a transaction a line.
    Json,
    /// Registers and lists as Elle reads them.
    Edn,
    /// Registers as dbcop reads them.
    Dbcop,
}

impl Format {
    /// By the ending of a file's name: `txt`, `plume`, `jsonl` or `json`, `edn`, `bincode`; any
    /// other one means records.
    #[must_use]
    pub fn of_ending(ending: &str) -> Format {
        match ending {
            "txt" => Format::Text,
            "plume" => Format::Plume,
            "json" | "jsonl" => Format::Json,
            "edn" => Format::Edn,
            "bincode" => Format::Dbcop,
            _ => Format::Records,
        }
    }
}

/// The history in a format.
///
/// # Errors
/// An operation that the format has no words for.
pub fn write_history(history: &History, format: Format) -> Result<Vec<u8>, String> {
    match format {
        Format::Records => Ok(write_records(history)),
        Format::Text => text(history, true).map(String::into_bytes),
        Format::Plume => text(history, false).map(String::into_bytes),
        Format::Json => json(history).map(String::into_bytes),
        Format::Edn => edn(history).map(String::into_bytes),
        Format::Dbcop => dbcop(history),
    }
}

fn refused(op: &Op, format: &str) -> String {
    format!("{format} cannot express an operation of kind {:?}; export records", op.kind)
}

/// Our text, or that of Plume: numbers only, the initial value 0, no versions before, no unknown
/// outcomes.
fn text(history: &History, is_ours: bool) -> Result<String, String> {
    let mut out = String::new();
    let outcomes = if is_ours { history.outcome.clone() } else { settled(history) };
    for (txn, &outcome) in outcomes.iter().enumerate() {
        let session = history.txn(txn).session;
        for op in history.ops(txn) {
            let word = match op.kind {
                OperationKind::Read => "r",
                OperationKind::CurrentRead if is_ours => "R",
                OperationKind::CurrentRead => "r",
                OperationKind::Write => "w",
                OperationKind::Order if !is_ours => continue,
                _ => return Err(refused(op, "this text")),
            };
            if op.value == UNKNOWN {
                continue;
            }
            if is_ours && op.value == ABSENT {
                return Err(refused(op, "this text"));
            }
            let (key, value) = match is_ours {
                true => (history.key_name(op.key), told(history, op)),
                false if op.value >= ABSENT => return Err(refused(op, "Plume's text")),
                false => (op.key.to_string(), op.value.to_string()),
            };
            let number = match outcome {
                TransactionOutcome::Failed if !is_ours => "-1".to_owned(),
                _ => txn.to_string(),
            };
            let _ = writeln!(out, "{word}({key},{value},{session},{number})");
        }
        let word = match outcome {
            TransactionOutcome::Ok => continue,
            TransactionOutcome::Failed => "abort",
            TransactionOutcome::Unknown => "unknown",
        };
        if is_ours {
            let _ = writeln!(out, "{word}({session},{txn})");
        }
    }
    Ok(out)
}

/// Outcomes, where a format has no unknown ones: a transaction of which a write was seen has
/// committed, another one counts as rolled back.
fn settled(history: &History) -> Vec<TransactionOutcome> {
    let is_in = Versions::from_history(history).is_in;
    is_in
        .iter()
        .map(|is_in| if *is_in { TransactionOutcome::Ok } else { TransactionOutcome::Failed })
        .collect()
}

/// A value, and what is known of the one before.
fn told(history: &History, op: &Op) -> String {
    let name = |id| if id == INITIAL { "null".to_owned() } else { history.value_name(id) };
    match op.prev {
        prev if prev < ABSENT => format!("{}<{}", name(op.value), name(prev)),
        _ => name(op.value),
    }
}

fn json(history: &History) -> Result<String, String> {
    let mut out = String::new();
    for txn in 0..history.len() {
        let all = history.txn(txn);
        let mut ops = Vec::new();
        for (at, op) in history.ops(txn).iter().enumerate() {
            let word = match op.kind {
                OperationKind::Read => "r",
                OperationKind::CurrentRead => "R",
                OperationKind::Write => "w",
                OperationKind::Insert => "insert",
                OperationKind::Delete => "delete",
                OperationKind::Append => "append",
                OperationKind::Order => continue,
                _ => return Err(refused(op, "JSON")),
            };
            match op.value {
                ABSENT => return Err(refused(op, "JSON")),
                UNKNOWN => continue,
                _ => {}
            }
            let id = |id| match id {
                INITIAL => serde_json::Value::Null,
                id => history.value_name(id).into(),
            };
            let mut told = vec![word.into(), history.key_name(op.key).into(), id(op.value)];
            let list = listed(op, &history.ops(txn)[at + 1..])?;
            if list.len() > 1 {
                told[2] = list.into_iter().map(id).collect();
            } else if op.prev < ABSENT {
                told.push(id(op.prev));
            }
            ops.push(serde_json::Value::Array(told));
        }
        let times = all.times;
        let line = serde_json::json!({
            "session": all.session, "outcome": all.outcome.to_string(),
            "begin": [times.begin_invoke_ns, times.begin_return_ns],
            "commit": [times.commit_invoke_ns, times.commit_return_ns], "ops": ops,
        });
        let _ = writeln!(out, "{line}");
    }
    Ok(out)
}

/// The elements of a list that was read, from its beginning, where the operations behind the read
/// tell them; empty where they tell nothing.
fn listed(read: &Op, behind: &[Op]) -> Result<Vec<WriteId>, String> {
    let own = behind.iter().take_while(|op| op.kind == OperationKind::Order);
    let mut list = vec![read.value];
    let mut next = read.prev;
    for op in own {
        if op.key != read.key || op.value != next {
            return Err(refused(op, "JSON"));
        }
        list.push(op.value);
        next = op.prev;
    }
    if list.len() == 1 {
        return Ok(Vec::new());
    }
    if next != INITIAL {
        return Err(
            "JSON has lists from their beginning, and not all of what a read saw is known; \
                    export records"
                .to_owned(),
        );
    }
    list.reverse();
    Ok(list)
}

/// Lists from their beginning, which a read of a last element stands for.
struct Lists {
    /// By id, the element before; `None` for histories without lists.
    before: Option<Vec<WriteId>>,
    left: usize,
}

impl Lists {
    /// # Errors
    /// Lists that contradict each other: a history keeps one element before each, and a list that
    /// was made of them would be none that was read.
    fn of(history: &History) -> Result<Lists, String> {
        let has_lists = history.ops.iter().any(|op| op.kind == OperationKind::Append);
        let versions = has_lists.then(|| Versions::from_history(history));
        let contradictions = FlawKind::IncompatibleOrder as usize;
        if versions.as_ref().is_some_and(|versions| versions.flaw_counts[contradictions] > 0) {
            return Err("lists of this history contradict each other, and Elle's EDN would have \
                        other ones; export records"
                .to_owned());
        }
        let before = versions.map(|all| all.all.iter().map(|version| version.prev).collect());
        Ok(Lists { before, left: ELEMENTS_MOST })
    }

    /// A read as it stands in the file.
    fn read(&mut self, op: &Op) -> Result<String, String> {
        let Some(before) = &self.before else { return Ok(op.value.to_string()) };
        let mut elements = Vec::new();
        let mut next = op.value;
        while next != INITIAL {
            if next >= ABSENT || elements.len() == self.left {
                let what = if next >= ABSENT {
                    "and not all of what a read saw is known"
                } else {
                    "which grows with the square of their length, and is too much here"
                };
                return Err(format!(
                    "Elle's EDN has lists from their beginning, {what}; export records"
                ));
            }
            elements.push(next);
            next = match (op.prev, before.get(next as usize)) {
                (prev, _) if next == op.value && prev < ABSENT => prev,
                (_, known) => known.copied().unwrap_or(UNKNOWN),
            };
        }
        self.left -= elements.len();
        let names = elements.iter().rev().map(WriteId::to_string);
        Ok(format!("[{}]", names.collect::<Vec<_>>().join(" ")))
    }
}

/// Registers and lists as Elle reads them: an invocation and its end for each transaction, by their
/// times.
fn edn(history: &History) -> Result<String, String> {
    let mut lists = Lists::of(history)?;
    let lines = begins_and_ends(history)?;
    let mut out = String::new();
    for (index, (time, txn, is_end)) in lines.into_iter().enumerate() {
        let all = history.txn(txn);
        let word = match (is_end, all.outcome) {
            (false, _) => "invoke",
            (_, TransactionOutcome::Ok) => "ok",
            (_, TransactionOutcome::Failed) => "fail",
            (_, TransactionOutcome::Unknown) => "info",
        };
        let mut value = String::new();
        for op in history.ops(txn) {
            let (name, is_read) = match op.kind {
                OperationKind::Read | OperationKind::CurrentRead => ("r", true),
                OperationKind::Write => ("w", false),
                OperationKind::Append => ("append", false),
                OperationKind::Order => continue,
                _ => return Err(refused(op, "Elle's EDN")),
            };
            let seen = match op.value {
                UNKNOWN => "nil".to_owned(),
                _ if is_read && !is_end => "nil".to_owned(),
                ABSENT => return Err(refused(op, "Elle's EDN")),
                INITIAL if lists.before.is_none() => "nil".to_owned(),
                _ if is_read && all.outcome == TransactionOutcome::Ok => lists.read(op)?,
                id => id.to_string(),
            };
            let _ = write!(value, "[:{name} {} {seen}]", op.key);
        }
        let _ = writeln!(
            out,
            "{{:index {index}, :type :{word}, :process {}, :time {time}, :f :txn, :value [{value}]}}",
            all.session
        );
    }
    Ok(out)
}

/// When each transaction began and ended, in order: of one moment first what ends, by number, then
/// what begins; none ends before it begins.
fn begins_and_ends(history: &History) -> Result<Vec<(u64, usize, bool)>, String> {
    let has_times = (0..history.len()).any(|txn| history.txn(txn).times.commit_return_ns > 0);
    let mut lines: Vec<(u64, bool, usize, bool)> = Vec::new();
    for txn in 0..history.len() {
        let times = history.txn(txn).times;
        let (begun, ended) = if has_times {
            (times.begin_invoke_ns, times.commit_return_ns)
        } else {
            (2 * txn as u64, 2 * txn as u64 + 1)
        };
        lines.push((begun, begun < ended, txn, false));
        lines.push((ended, false, txn, true));
    }
    lines.sort_unstable();
    let mut open = vec![false; history.session_count()];
    for &(_, _, txn, is_end) in &lines {
        let session = history.txn(txn).session;
        let is_open = &mut open[session as usize];
        if *is_open != is_end {
            return Err(format!(
                "session {session} has two transactions at a time, which Elle's EDN cannot \
                 express; export JSON or records"
            ));
        }
        *is_open = !is_end;
    }
    Ok(lines.into_iter().map(|(time, _, txn, is_end)| (time, txn, is_end)).collect())
}

/// Registers as dbcop has them.
fn dbcop(history: &History) -> Result<Vec<u8>, String> {
    let outcomes = settled(history);
    let mut sessions: Vec<Vec<usize>> = vec![Vec::new(); history.session_count()];
    for txn in 0..history.len() {
        sessions[history.txn(txn).session as usize].push(txn);
    }
    let longest = sessions.iter().map(Vec::len).max().unwrap_or(0);
    let events = (0..history.len()).map(|txn| history.ops(txn).len()).max().unwrap_or(0);
    let mut out = Vec::new();
    let word = |out: &mut Vec<u8>, value: usize| out.extend((value as u64).to_le_bytes());
    for value in [0, sessions.len(), history.key_count as usize, longest, events] {
        word(&mut out, value);
    }
    for text in ["dbdyno", "1970-01-01T00:00:00+00:00", "1970-01-01T00:00:00+00:00"] {
        word(&mut out, text.len());
        out.extend(text.bytes());
    }
    word(&mut out, sessions.len());
    for session in &sessions {
        word(&mut out, session.len());
        for &txn in session {
            let mut events = Vec::new();
            let mut count = 0;
            for op in history.ops(txn).iter().filter(|op| op.kind != OperationKind::Order) {
                let is_write = match op.kind {
                    OperationKind::Read | OperationKind::CurrentRead => false,
                    OperationKind::Write => true,
                    _ => return Err(refused(op, "dbcop's form")),
                };
                if op.value >= ABSENT {
                    return Err(refused(op, "dbcop's form"));
                }
                events.push(u8::from(is_write));
                word(&mut events, op.key as usize);
                word(&mut events, op.value as usize);
                events.push(1);
                count += 1;
            }
            word(&mut out, count);
            out.extend(events);
            out.push(u8::from(outcomes[txn] == TransactionOutcome::Ok));
        }
    }
    Ok(out)
}
