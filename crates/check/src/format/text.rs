//! Text, an operation a line, as the artifacts of Cobra, PolySI and Plume have it.
//!
//! ```text
//!   # comment
//!   w(x,1,0,0)        session 0, transaction 0 wrote 1 to x
//!   r(x,1,1,1)        session 1, transaction 1 read 1
//!   R(x,1,1,1)        the same by a current (locking) read
//!   w(x,2<1,1,1)      it wrote 2, which replaced 1
//!   r(x,2<1,0,2)      it read 2, and the row said that it had replaced 1
//!   abort(0,2)        transaction 2 of session 0 was rolled back
//!   w(x,3,0,-1)       so was the transaction of this write, whichever it was (as in Plume)
//!   unknown(0,3)      whether transaction 3 committed is not known
//! ```
//!
//! Transactions end in the order of their last lines; there are no times. What a key held at the
//! beginning is `null`, or a `0` that no transaction writes.
//!
//! Keys, values and transactions may be any words here, each in one form: `"x"` beside `x` is
//! refused. In the artifacts they are integers, and the readers there parse them (`Long.parseLong`
//! of `TextHistoryLoader`): `01` and `+1` are 1.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::bad_input::{BadInput, bad_input_at, txn};
use crate::builder::{Builder, NameForm, NameForms};
use crate::history::{
    History, INITIAL, Op, OperationKind, Origin, Times, TransactionOutcome, UNKNOWN, WriteId,
};

/// An operation whose values are not known to be written yet.
struct Line<'a> {
    kind: OperationKind,
    key: Cow<'a, str>,
    value: &'a str,
    prev: Option<&'a str>,
}

/// Those of one transaction, and when it was heard of last.
struct TransactionLines<'a> {
    session: u32,
    outcome: TransactionOutcome,
    ops: Vec<Line<'a>>,
    /// What it is called, and the first and last line that has it.
    name: Cow<'a, str>,
    first: usize,
    last: usize,
}

/// Marks by which a word may be a text or a keyword.
const MARKS: [char; 2] = ['"', ':'];

/// In which forms a file has its keys, and the values of each key.
#[derive(Default)]
struct WordForms {
    keys: NameForms,
    values: HashMap<String, NameForms>,
}

impl WordForms {
    fn require_form(&mut self, line: &Line<'_>) -> Result<(), String> {
        let (key, form) = name_and_form(&line.key);
        self.keys.require_form(key, form)?;
        let values = self.values.entry(key.to_owned()).or_default();
        for value in [Some(line.value), line.prev].into_iter().flatten() {
            let (value, form) = name_and_form(value);
            values.require_form(&as_number(value), form)?;
        }
        Ok(())
    }
}

/// `"x"` and `:x` as `x`, and which of them it is.
fn name_and_form(word: &str) -> (&str, NameForm) {
    if let Some(name) = word.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        (name, NameForm::Text)
    } else if let Some(name) = word.strip_prefix(':') {
        (name, NameForm::Keyword)
    } else {
        (word, NameForm::Bare)
    }
}

pub(super) fn read(text: &str) -> Result<History, BadInput> {
    let mut all: Vec<TransactionLines<'_>> = Vec::new();
    let mut known: HashMap<(u32, Cow<'_, str>), usize> = HashMap::new();
    let mut forms = text.contains(MARKS).then(WordForms::default);
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        let body = line.trim();
        if body.is_empty() || body.starts_with('#') {
            continue;
        }
        let (word, parts) = parts(line, number)?;
        let outcome = match word {
            "abort" => Some(TransactionOutcome::Failed),
            "unknown" => Some(TransactionOutcome::Unknown),
            _ => None,
        };
        let wanted = if outcome.is_some() { 2 } else { 4 };
        if parts.len() != wanted {
            let what = format!("{word} takes {wanted} values, not {}", parts.len());
            return Err(bad_input_at(number, 1, what));
        }
        let (column, session) = parts[wanted - 2];
        let session: u32 = session.parse().ok().filter(|s| *s < 1 << 20).ok_or_else(|| {
            bad_input_at(number, column, format!("{session} is no session; sessions count from 0"))
        })?;
        let name = as_number(parts[wanted - 1].1);
        let is_nameless = name == "-1";
        let begun = if is_nameless { TransactionOutcome::Failed } else { TransactionOutcome::Ok };
        let place = *known.entry((session, name.clone())).or_insert_with(|| {
            let ops = Vec::new();
            all.push(TransactionLines {
                session,
                outcome: begun,
                ops,
                name,
                first: number,
                last: 0,
            });
            all.len() - 1
        });
        all[place].last = number;
        match outcome {
            Some(outcome) if ![begun, outcome].contains(&all[place].outcome) => {
                let what = "another line says another outcome of this transaction";
                return Err(bad_input_at(number, 1, what));
            }
            Some(outcome) => all[place].outcome = outcome,
            None => {
                let line = operation(word, &parts, number)?;
                if let Some(forms) = &mut forms {
                    forms
                        .require_form(&line)
                        .map_err(|what| bad_input_at(number, parts[0].0, what))?;
                }
                all[place].ops.push(line);
            }
        }
    }
    all.sort_by_key(|collected| collected.last);
    Ok(built(&all))
}

/// A word, and what stands behind it in brackets, with columns.
type Parts<'a> = (&'a str, Vec<(usize, &'a str)>);

/// The word before the brackets and what stands in them, with columns.
fn parts(line: &str, number: usize) -> Result<Parts<'_>, BadInput> {
    let body = line.trim();
    let indent = line.len() - line.trim_start().len();
    let Some(open) = body.find('(') else {
        let what = "this begins none of the forms of histories that are known; in the plain one an \
                    operation is written r(x,1,0,0), and what Jepsen writes begins with {:type or \
                    with its log's lines";
        return Err(bad_input_at(number, indent + 1, what));
    };
    let Some(inner) = body[open + 1..].strip_suffix(')') else {
        return Err(bad_input_at(number, indent + body.len(), "the operation does not end with )"));
    };
    let mut column = indent + open + 2;
    let mut parts = Vec::new();
    for part in inner.split(',') {
        parts.push((column, part.trim()));
        column += part.len() + 1;
    }
    Ok((&body[..open], parts))
}

fn operation<'a>(
    word: &str,
    parts: &[(usize, &'a str)],
    number: usize,
) -> Result<Line<'a>, BadInput> {
    let kind = match word {
        "r" => OperationKind::Read,
        "R" => OperationKind::CurrentRead,
        "w" => OperationKind::Write,
        _ => {
            let what = format!("{word} is no operation; there are r, R, w, abort and unknown");
            return Err(bad_input_at(number, 1, what));
        }
    };
    let (column, value) = parts[1];
    let (value, prev) = match value.split_once('<') {
        Some((value, prev)) => (value, Some(prev)),
        None => (value, None),
    };
    if parts[0].1.is_empty() || value.is_empty() || prev == Some("") {
        return Err(bad_input_at(number, column, "a key or a value is empty"));
    }
    Ok(Line { kind, key: as_number(parts[0].1), value, prev })
}

/// A number without what spellings of it differ in, `05` and `+5`; other words as they are.
fn as_number(value: &str) -> Cow<'_, str> {
    let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return value.into();
    }
    match digits.trim_start_matches('0') {
        "" => "0".into(),
        shortest if value.starts_with('-') => format!("-{shortest}").into(),
        shortest => shortest.into(),
    }
}

fn built(all: &[TransactionLines<'_>]) -> History {
    let mut builder = Builder::new();
    let id = |builder: &mut Builder, key: u32, value: &str| -> WriteId {
        if value == "null" { INITIAL } else { builder.value(key, &as_number(value)) }
    };
    for collected in all {
        let mut ops = Vec::with_capacity(collected.ops.len());
        for line in &collected.ops {
            let key = builder.key(&line.key);
            let value = id(&mut builder, key, line.value);
            let prev = line.prev.map_or(UNKNOWN, |prev| id(&mut builder, key, prev));
            ops.push(Op { key, value, prev, kind: line.kind });
        }
        let called = format!("transaction {}", collected.name);
        let places = (collected.first, collected.last);
        let about = txn(collected.session, collected.outcome, Times::default());
        builder.push_from(about, &ops, Origin { called, unit: "line", places });
    }
    builder.finish()
}
