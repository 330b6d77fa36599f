//! What must have been read for an anomaly to have happened.
//!
//! ```text
//!   first is 1:10 and later is 1:101 or end lacks 2:20
//!   └── name ┘ └ rows ┘      `and` binds closer than `or`
//! ```

use dbdyno_model::isolation::StepAnswer;

/// The name of what is in the table at the end.
pub(crate) const END: &str = "end";

/// A row as stories write it: its columns with colons between them.
pub(crate) type RowText = String;

/// One or the other of several, each of which is all of several.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    /// At least one.
    pub any_of: Vec<Vec<Atom>>,
}

/// What is said of one answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Atom {
    /// Which answer.
    pub name: String,
    /// What is said.
    pub says: Says,
}

/// What can be said of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Says {
    /// Its rows are these, in any order.
    Is(Vec<RowText>),
    /// They are others.
    IsNot(Vec<RowText>),
    /// This row is among them.
    Has(RowText),
    /// This row is not among them.
    Lacks(RowText),
    /// It changed so many rows.
    Changed(u64),
}

impl Condition {
    /// Whether it holds of these answers; one that is not there makes nothing true.
    pub(crate) fn is_met_by<'a>(&self, answer: impl Fn(&str) -> Option<&'a StepAnswer>) -> bool {
        self.any_of.iter().any(|all| {
            all.iter()
                .all(|atom| answer(&atom.name).is_some_and(|answer| atom.says.holds_of(answer)))
        })
    }
}

impl Says {
    pub(crate) fn holds_of(&self, answer: &StepAnswer) -> bool {
        match (self, answer) {
            (Says::Changed(wanted), StepAnswer::Changed(changed)) => wanted == changed,
            (Says::Is(wanted), StepAnswer::Rows(rows)) => written(rows) == rows_in_order(wanted),
            (Says::IsNot(wanted), StepAnswer::Rows(rows)) => written(rows) != rows_in_order(wanted),
            (Says::Has(row), StepAnswer::Rows(rows)) => written(rows).contains(row),
            (Says::Lacks(row), StepAnswer::Rows(rows)) => !written(rows).contains(row),
            _ => false,
        }
    }
}

/// The columns of a row.
pub(crate) fn column_count(row: &str) -> usize {
    row.split(':').count()
}

/// A row as stories write it.
pub(crate) fn write_row(row: &[Option<String>]) -> RowText {
    let texts: Vec<&str> = row.iter().map(|value| value.as_deref().unwrap_or("null")).collect();
    texts.join(":")
}

fn written(rows: &[Vec<Option<String>>]) -> Vec<RowText> {
    let rows: Vec<RowText> = rows.iter().map(|row| write_row(row)).collect();
    rows_in_order(&rows)
}

/// Rows in one order, whatever theirs is.
pub(crate) fn rows_in_order(rows: &[RowText]) -> Vec<RowText> {
    let mut rows = rows.to_vec();
    rows.sort();
    rows
}
