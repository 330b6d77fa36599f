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
use rusqlite::types::Value;
use rusqlite::{Connection, params};

/// The terms with columns: their names, and their values in a plan.
pub(crate) fn columns(plan: &Plan) -> (Vec<&'static str>, Vec<Value>) {
    let terms = TERMS.iter().filter(|term| term.is_column);
    let columns = terms.map(|term| match term.value(plan) {
        TermValue::Absent => (term.name, Value::Null),
        // As SQLite can hold it; read back with the same bits.
        TermValue::Number(number) => (term.name, Value::Integer(number as i64)),
        TermValue::Share(share) => (term.name, Value::Real(share)),
        TermValue::Text(text) => (term.name, Value::Text(text)),
    });
    columns.unzip()
}

/// Gives a plan one of its terms without a column.
///
/// # Errors
/// A sentence about a name or a value that this program does not know.
pub(crate) fn apply_term(plan: &mut Plan, name: &str, value: &str) -> Result<(), String> {
    let term = Term::from_name(name)
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
