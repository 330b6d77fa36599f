//! The terms of a plan in a store: columns of the row of its run, and a row of text for each term
//! without a column.
//!
//! ```text
//!   run         pairs 500 · round_ns 200000000 · …      what runs of the first releases had
//!   plan_term   stopping   decided 18 48                a term that has its usual value is not
//!               limit_ns   300000000000                 written, so that runs of before are runs
//!                                                       with usual values
//! ```
//!
//! A new term is a row of the table in `model`, and needs no new version of the store as long as
//! its usual value is what older programs did.

use dbdyno_model::terms::TermValue;
use dbdyno_model::{Plan, TERMS, Term};
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, Row, ToSql, params};

use crate::write::signed;

/// A value as its column has it.
pub(crate) struct TermColumn(TermValue);

impl ToSql for TermColumn {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match &self.0 {
            TermValue::Absent => ToSqlOutput::from(rusqlite::types::Null),
            TermValue::Number(number) => ToSqlOutput::from(signed(*number)),
            TermValue::Share(share) => ToSqlOutput::from(*share),
            TermValue::Text(text) => ToSqlOutput::from(text.as_str()),
        })
    }
}

/// The terms with columns: their names, and their values in a plan.
pub(crate) fn columns(plan: &Plan) -> (Vec<&'static str>, Vec<TermColumn>) {
    let terms = TERMS.iter().filter(|term| term.is_column);
    terms.map(|term| (term.name, TermColumn(term.value(plan)))).unzip()
}

/// Gives a plan the terms that have columns in this row of its run.
///
/// # Errors
/// The place, and a sentence about a value that this program does not know.
pub(crate) fn apply_columns(
    plan: &mut Plan,
    row: &Row<'_>,
) -> Result<(), (&'static str, ColumnError)> {
    for term in TERMS.iter().filter(|term| term.is_column) {
        let text = match term.value(plan) {
            TermValue::Share(_) => row.get::<_, f64>(term.name).map(|share| share.to_string()),
            TermValue::Text(_) => row.get::<_, String>(term.name),
            TermValue::Number(_) | TermValue::Absent => {
                row.get::<_, i64>(term.name).map(|number| (number as u64).to_string())
            }
        };
        let text = text.map_err(|error| (term.name, ColumnError::Unread(error)))?;
        term.read(plan, &text).map_err(|what| (term.name, ColumnError::Unknown(what)))?;
    }
    Ok(())
}

/// What is wrong with a column.
pub(crate) enum ColumnError {
    /// SQLite does not give it.
    Unread(rusqlite::Error),
    /// It has no value of its term.
    Unknown(String),
}

/// Gives a plan one of its terms without a column.
///
/// # Errors
/// A sentence about a name or a value that this program does not know.
pub(crate) fn apply(plan: &mut Plan, name: &str, value: &str) -> Result<(), String> {
    let term = Term::named(name)
        .filter(|term| !term.is_column)
        .ok_or_else(|| format!("the plan has a term {name:?}, which this dbdyno does not know"))?;
    term.read(plan, value)
}

/// Writes the terms of run number `seq` that have no column in place of those that it has.
pub(crate) fn write(connection: &Connection, seq: i64, plan: &Plan) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM plan_term WHERE run = ?1", [seq])?;
    for term in TERMS.iter().filter(|term| !term.is_column && !term.is_usual(plan)) {
        let value = term.value(plan).to_string();
        let insert = "INSERT INTO plan_term VALUES (?1, ?2, ?3)";
        connection.execute(insert, params![seq, term.name, value])?;
    }
    Ok(())
}
