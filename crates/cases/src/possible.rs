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
use crate::condition::{Atom, Condition, END, RowText, Says, column_count, rows_in_order};
use crate::rows::PossibleRows;

/// The columns of the table at the end: id and value.
const END_COLUMNS: usize = 2;
/// First words of statements that answer with rows, and of those that change them.
const READING: [&str; 4] = ["select", "table", "values", "show"];
const CHANGING: [&str; 5] = ["insert", "update", "delete", "replace", "truncate"];

/// The first part of a condition that cannot hold, or that holds whatever happens, counted from 0,
/// and why.
pub(crate) fn impossible_atom(
    condition: &Condition,
    steps: &[StoryStep],
    table: &PossibleRows,
) -> Option<(usize, String)> {
    let mut place = 0;
    let mut alone: Vec<&Atom> = Vec::new();
    for all in &condition.any_of {
        for (at, atom) in all.iter().enumerate() {
            let why = contradiction(atom, steps, table)
                .or_else(|| all[..at].iter().find_map(|before| excluded_by(atom, before)))
                .or_else(|| two_of_one_row(atom, &all[..at], steps));
            if let Some(why) = why {
                return Some((place, why));
            }
            place += 1;
        }
        if let [only] = &all[..] {
            if alone.iter().any(|other| is_opposite(only, other)) {
                let what = "this or what is said before holds whatever is answered";
                return Some((place - 1, what.to_owned()));
            }
            alone.push(only);
        }
    }
    None
}

/// Whether one of two parts holds of any rows.
fn is_opposite(one: &Atom, other: &Atom) -> bool {
    one.name == other.name
        && match (&one.says, &other.says) {
            (Says::Is(is), Says::IsNot(not)) | (Says::IsNot(not), Says::Is(is)) => {
                rows_in_order(is) == rows_in_order(not)
            }
            (Says::Has(has), Says::Lacks(lacks)) | (Says::Lacks(lacks), Says::Has(has)) => {
                has == lacks
            }
            _ => false,
        }
}

/// Why nothing that a step can answer is what is said of it, or anything is.
fn contradiction(atom: &Atom, steps: &[StoryStep], table: &PossibleRows) -> Option<String> {
    let Atom { name, says } = atom;
    let rows = said_rows(says);
    if name == END {
        return contradiction_at_end(says).or_else(|| never_or_always(says, table));
    }
    let step = steps.iter().find(|step| step.name.as_deref() == Some(name))?;
    let answer = answer_of(step)?;
    match (answer, rows) {
        (Answer::Changes, Some(_)) => {
            Some(format!("{name} changes rows and has none; write `{name} changed` and how many"))
        }
        (Answer::Changes, None) if step.action != StepAction::Statement => {
            let is_none = *says == Says::Changed(0);
            (!is_none).then(|| format!("{name} begins or ends a transaction and changes 0 rows"))
        }
        (Answer::Rows(_), None) => {
            Some(format!("{name} has rows and changes none; write `{name} is` and rows"))
        }
        (Answer::Rows(columns), Some(rows)) => {
            let other = columns.and_then(|columns| {
                Some((columns, rows.iter().find(|row| column_count(row) != columns)?))
            });
            if let Some((columns, other)) = other {
                return Some(format!(
                    "{name} has {columns} columns, and {other} is no row of so many"
                ));
            }
            of_one_row(says, step)
                .or_else(|| repeated_id(rows).filter(|_| table.of_step(step).is_some()))
                .or_else(|| never_or_always(says, &table.of_step(step)?))
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
    repeated_id(rows)
}

fn repeated_id(rows: &[RowText]) -> Option<String> {
    let mut ids = BTreeSet::new();
    let twice = rows.iter().filter_map(|row| row.split(':').next()).find(|id| !ids.insert(*id));
    twice.map(|id| format!("{id} is the id of one row at most"))
}

/// Why what is said of rows that can be these never holds, or always.
fn never_or_always(says: &Says, possible: &PossibleRows) -> Option<String> {
    let rows = said_rows(says)?;
    let is_complete = matches!(says, Says::Is(_) | Says::IsNot(_));
    let why = rows
        .iter()
        .find_map(|row| possible.why_not(row))
        .or_else(|| possible.why_incomplete(rows).filter(|_| is_complete))?;
    Some(match says {
        Says::Is(_) | Says::Has(_) | Says::Changed(_) => format!("this never holds: {why}"),
        Says::IsNot(_) | Says::Lacks(_) => format!("this holds whatever happens: {why}"),
    })
}

/// The same of a count, a sum and the like, which are one row.
fn of_one_row(says: &Says, step: &StoryStep) -> Option<String> {
    let mut spelled = step.spelled.iter().map(|(_, own)| &own.sql).chain([&step.sql]);
    if !spelled.all(|sql| is_aggregate(sql)) {
        return None;
    }
    match says {
        Says::Is(rows) if rows.len() != 1 => {
            Some(format!("a count has one row, and this is {}", rows.len()))
        }
        Says::IsNot(rows) if rows.len() != 1 => {
            Some("a count has one row, so that this holds whatever happens".to_owned())
        }
        _ => None,
    }
}

/// Whether a statement has one row whatever is in the table.
fn is_aggregate(sql: &str) -> bool {
    let sql = sql.to_ascii_lowercase();
    let first = sql.strip_prefix("select ").unwrap_or_default();
    let is_counted =
        ["count(", "sum(", "min(", "max(", "avg("].iter().any(|name| first.starts_with(name));
    is_counted
        && !["group", "union", "having", "limit", "over"].iter().any(|word| sql.contains(word))
}

/// Why an answer has not this row and another one that is said before.
fn two_of_one_row(atom: &Atom, before: &[Atom], steps: &[StoryStep]) -> Option<String> {
    let Says::Has(row) = &atom.says else { return None };
    let id = row.split(':').next();
    let step = steps.iter().find(|step| step.name.as_deref() == Some(&*atom.name));
    let mut others = before.iter().filter(|other| other.name == atom.name);
    others.find_map(|other| match (&other.says, step) {
        (Says::Has(other), _) if other == row => None,
        (Says::Has(_), Some(step)) if step.spelled.is_empty() && is_aggregate(&step.sql) => {
            Some("a count has one row, and another one is said before".to_owned())
        }
        (Says::Has(other), step) if other.split(':').next() == id => {
            let has_ids = step.is_none_or(|step| {
                let none = PossibleRows::of_story(&[], &[], &[]);
                none.of_step(step).is_some()
            });
            has_ids.then(|| format!("{} is the id of one row at most", id.unwrap_or_default()))
        }
        _ => None,
    })
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
    let mut spelled = step.spelled.iter().map(|(_, own)| answer_of_statement(&own.sql));
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
            "b changed 0 and e changed 0",
            "c is 2 and d is 1",
            "c has 1.50 or d changed 1",
            "end is 2:1 1:2 and end lacks 1:1",
        ] {
            assert_eq!(refused(condition), None, "{condition}");
        }
    }

    /// A story of rows 1:10 and 2:20, of an update, a search of row 1 and of all, a count and what
    /// else it has.
    fn refused_in(condition: &str, more: &str) -> Option<String> {
        let story = format!(
            "case: x\nanomaly: x\nabout: x\nsource: x\nrows: 1:10 2:20\noccurs: {condition}\n\
             T1: update test set value = 11 where id = 1\n\
             T2: select id, value from test where id = 1 for update => one\n\
             T2: select id, value from test order by id => all\n\
             T2: select count(*) from test => count\n\
             T1: commit => done\n{more}"
        );
        parse(&story).err().map(|error| error.message)
    }

    /// Each of these said of any server that it prevents the anomaly, or that it does not.
    #[test]
    fn a_condition_of_rows_that_the_story_cannot_have_is_refused() {
        for (condition, why) in [
            ("end has 1:12", "this never holds: no statement of the story makes a value 12"),
            ("end has 3:10", "this never holds: no row that can be there has id 3"),
            ("end lacks 3:10", "this holds whatever happens: no row"),
            (
                "end is 1:11",
                "this never holds: no statement of the story deletes the row with id 2",
            ),
            ("end is nothing", "this never holds: no statement of the story deletes"),
            ("end is not nothing", "this holds whatever happens: no statement"),
            ("end has 1:10 and end has 1:11", "1 is the id of one row"),
            ("one has 1:10 and one has 1:11", "1 is the id of one row"),
            ("one has 2:20", "this never holds: no row that can be there has id 2"),
            ("one lacks 2:20", "this holds whatever happens: no row"),
            ("one is not 1:12", "this holds whatever happens: no statement"),
            ("all is 1:10 2:21", "this never holds: no statement of the story makes a value 21"),
            ("all is 1:10 1:11", "1 is the id of one row"),
            ("count is nothing", "a count has one row, and this is 0"),
            ("count is 1 2", "a count has one row, and this is 2"),
            ("count is not nothing", "a count has one row, so that this holds"),
            ("count has 1 and count has 2", "a count has one row, and another"),
            ("done changed 1", "done begins or ends a transaction"),
            ("one is nothing or one is not nothing", "this or what is said before holds"),
            ("all has 1:10 or done changed 0 or all lacks 1:10", "this or what is said before"),
        ] {
            let told = refused_in(condition, "").unwrap_or_default();
            assert!(told.starts_with(why), "{condition}: {told}");
        }
        for condition in [
            "end has 1:10",
            "end is 1:11 2:20 and end has 2:20",
            "end is not 1:10 2:20",
            "one is nothing or one is 1:11",
            "one is not 1:10 and one is not nothing",
            "all has 1:10 and all has 2:20",
            "all is 1:10 and count is 2",
            "all has 1:10 and one lacks 1:10 or one has 1:10",
        ] {
            assert_eq!(refused_in(condition, ""), None, "{condition}");
        }
    }

    /// What may be done by a statement that is not read here is possible.
    #[test]
    fn statements_make_rows_possible() {
        for (condition, more) in [
            ("end has 1:12", "T1: update test set value = value + 1\n"),
            ("end has 1:12", "T1: UPDATE test  SET mark = 3, value = 12 WHERE id = 1\n"),
            (
                "end has 1:12",
                "T1: update test set value = 11\n  sqlite: update test set value=12\n",
            ),
            ("end has 3:10", "T1: update test set id = 3 where id = 1\n"),
            ("end has 3:30", "T1: insert into test (id, value) values (4, 40), (3, 30)\n"),
            ("end has 3:30", "T1: insert into test values (3, 30)\n"),
            ("end has 3:30", "setup: insert into test (id, value) select 3, 30\n"),
            ("end has 3:30", "T1: merge into test using other on id = 1\n"),
            ("end is 1:10", "T1: delete from test where id = 2\n"),
            ("end is nothing", "T1: truncate test\n"),
            ("x has 3:30", "T1: select id, value from test union select 3, 30 => x\n"),
            ("x has 1:3 and x has 1:4", "T1: select value, id from test => x\n"),
            ("x has 2:10", "T1: select id, value from test where id = 1 or id = 2 => x\n"),
            ("x is nothing", "T1: select count(*) from test group by id => x\n"),
        ] {
            assert_eq!(refused_in(condition, more), None, "{condition}: {more}");
        }
        let other = refused_in("end has 3:31", "T1: insert into test (id, value) values (3, 30)\n");
        assert!(other.is_some_and(|why| why.contains("makes a value 31")));
    }
}
