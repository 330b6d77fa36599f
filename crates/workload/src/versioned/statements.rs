//! The statements of loads whose rows tell their versions.

use dbdyno_model::Dialect;
use dbdyno_model::isolation::IsolationLevel;

use super::rows::DIGITS;
use super::shape::{VersionedRowKind, WINDOW};
use crate::statement::Statement;

/// A statement by its place in [`all_statements`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    Begin,
    Commit,
    Rollback,
    /// A row by its key.
    Read,
    /// A new version of a row.
    Write,
    /// All rows.
    ReadAll,
}

/// Those of a dialect in the order of [`Ask`].
pub(super) fn all_statements(shape: VersionedRowKind, dialect: Dialect) -> Vec<Statement> {
    // A transaction that reads first and writes later would be refused by SQLite when another one
    // wrote in between.
    let begin = if dialect == Dialect::Sqlite { "BEGIN IMMEDIATE" } else { "BEGIN" };
    let table = shape.table();
    let columns = match shape {
        VersionedRowKind::Register => "v, prev",
        VersionedRowKind::List => "items",
        VersionedRowKind::Counter => "n",
    };
    let [first, second] = match dialect {
        Dialect::Postgres => ["$1", "$2"],
        _ => ["?", "?"],
    };
    let set = match shape {
        // MySQL assigns from left to right, all others at once: either way prev is the old v.
        VersionedRowKind::Register => format!("prev = v, v = {first}"),
        VersionedRowKind::List => format!("items = {}", last_elements(dialect, first)),
        VersionedRowKind::Counter => format!("n = n + {first}"),
    };
    vec![
        Statement::new_control(begin),
        Statement::new_control("COMMIT"),
        Statement::new_control("ROLLBACK"),
        Statement::new_prepared(format!("SELECT {columns} FROM {table} WHERE id = {first}")),
        Statement::new_prepared(format!("UPDATE {table} SET {set} WHERE id = {second}")),
        Statement::new_prepared(format!("SELECT id, {columns} FROM {table}")),
    ]
}

/// The elements that are kept when another one comes.
fn last_elements(dialect: Dialect, element: &str) -> String {
    let kept = WINDOW * DIGITS;
    match dialect {
        Dialect::Postgres => format!("RIGHT(items || {element}, {kept})"),
        Dialect::Sqlite => format!("substr(items || {element}, -{kept})"),
        Dialect::Mysql | Dialect::Engine | Dialect::Rocksdb => {
            format!("RIGHT(CONCAT(items, {element}), {kept})")
        }
    }
}

/// What a session says first to have a level; nothing where there is one level only.
pub(super) fn level(level: IsolationLevel, dialect: Dialect) -> Option<String> {
    let level = level.sql();
    match dialect {
        Dialect::Postgres => {
            Some(format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}"))
        }
        Dialect::Mysql | Dialect::Engine => {
            Some(format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"))
        }
        Dialect::Sqlite | Dialect::Rocksdb => None,
    }
}
