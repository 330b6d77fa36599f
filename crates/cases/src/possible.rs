//! Whether a condition can hold: one that never does would say of any server that it prevents the
//! anomaly.
//!
//! ```text
//!   T1: select id, value from test => a       a is 1:10        may hold
//!   T1: update test set … => b                a is 10          no: a has two columns
//!                                             a changed 1      no: a has rows
//!                                             b is 1:10        no: b changes rows
//!                                             a has 1:1 and a lacks 1:1
//! ```
//!
//! What a statement answers is known by its first word, and how many columns by what stands between
//! `select` and `from`; of other statements nothing is said.

use std::collections::BTreeSet;

use dbdyno_model::isolation::StepAnswer;

use crate::case::{StepAction, StoryStep};
use crate::condition::{Atom, Condition, END, RowText, Says, column_count};

/// The columns of the table at the end: id and value.
const END_COLUMNS: usize = 2;
/// First words of statements that answer with rows, and of those that change them.
const READING: [&str; 4] = ["select", "table", "values", "show"];
const CHANGING: [&str; 5] = ["insert", "update", "delete", "replace", "truncate"];

/// The first part of a condition that cannot hold with what stands before it, counted from 0, and
/// why.
pub(crate) fn impossible_atom(
    condition: &Condition,
    steps: &[StoryStep],
) -> Option<(usize, String)> {
    let mut place = 0;
    for all in &condition.any_of {
        for (at, atom) in all.iter().enumerate() {
            let why = contradiction(atom, steps)
                .or_else(|| all[..at].iter().find_map(|before| excluded_by(atom, before)));
            if let Some(why) = why {
                return Some((place, why));
            }
            place += 1;
        }
    }
    None
}

/// Why nothing that a step can answer is what is said of it.
fn contradiction(atom: &Atom, steps: &[StoryStep]) -> Option<String> {
    let Atom { name, says } = atom;
    let rows = said_rows(says);
    if name == END {
        return contradiction_at_end(says);
    }
    let step = steps.iter().find(|step| step.name.as_deref() == Some(name))?;
    let answer = answer_of(step)?;
    match (answer, rows) {
        (Answer::Changes, Some(_)) => {
            Some(format!("{name} changes rows and has none; write `{name} changed` and how many"))
        }
        (Answer::Rows(_), None) => {
            Some(format!("{name} has rows and changes none; write `{name} is` and rows"))
        }
        (Answer::Rows(Some(columns)), Some(rows)) => {
            let other = rows.iter().find(|row| column_count(row) != columns)?;
            Some(format!("{name} has {columns} columns, and {other} is no row of so many"))
        }
        _ => None,
    }
}

/// The same of what is in the table at the end.
fn contradiction_at_end(says: &Says) -> Option<String> {
    let Some(rows) = said_rows(says) else {
        return Some("end has rows and changes none; write `end is` and rows".to_owned());
    };
    if let Some(other) = rows.iter().find(|row| column_count(row) != END_COLUMNS) {
        return Some(format!("end has id and value, as 1:10, and {other} is no such row"));
    }
    let mut ids = BTreeSet::new();
    let twice = rows.iter().filter_map(|row| row.split(':').next()).find(|id| !ids.insert(*id));
    twice.map(|id| format!("{id} is the id of one row at most"))
}

/// Why one part cannot hold where another one does.
fn excluded_by(atom: &Atom, before: &Atom) -> Option<String> {
    let excluded = match (&before.says, &atom.says) {
        _ if before.name != atom.name => false,
        (Says::Is(_), Says::Is(_) | Says::IsNot(_) | Says::Has(_) | Says::Lacks(_)) => {
            !holds_of_rows(&atom.says, &before.says)
        }
        (Says::IsNot(_) | Says::Has(_) | Says::Lacks(_), Says::Is(_)) => {
            !holds_of_rows(&before.says, &atom.says)
        }
        (Says::Has(one), Says::Lacks(other)) | (Says::Lacks(one), Says::Has(other)) => one == other,
        (Says::Changed(one), Says::Changed(other)) => one != other,
        _ => false,
    };
    excluded.then(|| format!("nothing can be both this and what is said of {} before", atom.name))
}

/// Whether something is true of the rows that an answer is said to be.
fn holds_of_rows(says: &Says, rows: &Says) -> bool {
    let Says::Is(rows) = rows else { return true };
    let rows = rows.iter().map(|row| row.split(':').map(column_value).collect());
    says.holds_of(&StepAnswer::Rows(rows.collect()))
}

fn column_value(text: &str) -> Option<String> {
    (text != "null").then(|| text.to_owned())
}

/// The rows that are named; `None` where a number of rows is.
fn said_rows(says: &Says) -> Option<&[RowText]> {
    match says {
        Says::Is(rows) | Says::IsNot(rows) => Some(rows),
        Says::Has(row) | Says::Lacks(row) => Some(std::slice::from_ref(row)),
        Says::Changed(_) => None,
    }
}

/// What a step answers if it is not refused.
#[derive(Clone, Copy, PartialEq)]
enum Answer {
    /// Rows, of so many columns if that is known.
    Rows(Option<usize>),
    Changes,
}

/// What a step answers in every dialect; `None` where that is not known.
fn answer_of(step: &StoryStep) -> Option<Answer> {
    if step.action != StepAction::Statement {
        return Some(Answer::Changes);
    }
    let first = answer_of_statement(&step.sql)?;
    let mut spelled = step.spelled.iter().map(|(_, sql)| answer_of_statement(sql));
    spelled.try_fold(first, |known, other| match (known, other?) {
        (known, other) if known == other => Some(known),
        (Answer::Rows(_), Answer::Rows(_)) => Some(Answer::Rows(None)),
        _ => None,
    })
}

fn answer_of_statement(sql: &str) -> Option<Answer> {
    let sql = sql.to_ascii_lowercase();
    let first = sql.split_whitespace().next()?;
    if READING.contains(&first) {
        return Some(Answer::Rows(selected_columns(&sql)));
    }
    (CHANGING.contains(&first) && !sql.contains("returning")).then_some(Answer::Changes)
}

/// How many columns stand between `select` and `from`, where each is told.
fn selected_columns(sql: &str) -> Option<usize> {
    let list = sql.strip_prefix("select ")?.split(" from ").next()?;
    if list.contains(['*', '\'', '"', '`']) || list.contains("from") {
        return None;
    }
    let mut depth = 0_usize;
    let mut columns = 1;
    for byte in list.bytes() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => columns += 1,
            _ => {}
        }
    }
    (depth == 0).then_some(columns)
}

#[cfg(test)]
mod tests {
    use crate::parse::parse;

    /// What is said against a condition of a story with these answers: rows of two columns,
    /// changed rows, rows of a count, and what a statement answers that is not known.
    fn refused(condition: &str) -> Option<String> {
        let story = format!(
            "case: x\nanomaly: x\nabout: x\nsource: x\noccurs: {condition}\n\
             T1: select id, coalesce(value, 0) from test => a\nT1: update test set value = 1 => b\n\
             T1: select count(*) from test => c\nT1: update test set value = 2 returning id => d\n\
             T1: commit => e\n"
        );
        parse(&story).err().map(|error| error.message)
    }

    /// Each held of nothing, and the answer was that the anomaly is prevented.
    #[test]
    fn a_condition_that_never_holds_is_refused() {
        for condition in [
            "a is 10",
            "a changed 1",
            "b is 1:10",
            "b has 1:10",
            "e is nothing",
            "end changed 2",
            "end is 1",
            "end is 1:0 1:1",
            "a is 1:10 and a is 2:10",
            "a is 1:10 and a is not 1:10",
            "a has 2:1 and a is 1:10",
            "a has 1:1 and a lacks 1:1",
            "b changed 1 and b changed 2",
            "a is 1:10 or b is 1:10",
        ] {
            assert!(refused(condition).is_some(), "{condition}");
        }
        for condition in [
            "a is 1:10 2:null and a has 1:10 and a is not 1:10",
            "a is nothing or a is not nothing",
            "b changed 0 and e changed 0",
            "c is 2 and d is 1",
            "c has 1.50 or d changed 1",
            "end is 2:0 1:-1 and end lacks 3:0",
        ] {
            assert_eq!(refused(condition), None, "{condition}");
        }
    }
}
