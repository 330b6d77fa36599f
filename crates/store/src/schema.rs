//! The tables, and how a file of an older version becomes one of this version.
//!
//! `application_id` says that the file is ours, `user_version` which format it has. Both are read
//! before anything is written, so that somebody else's database is never touched; then its tables
//! are compared with ours (`guard`). A migration takes one version to the next inside one
//! transaction; none is ever removed or changed once released.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use rusqlite::ffi::ErrorCode;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::{Result, StoreError, explain_sqlite};
use crate::exclusive;
use crate::guard::{self, Allowance};

/// The newest format that this code reads and the one that it writes.
pub const VERSION: i64 = MIGRATIONS.len() as i64;

/// "dyno" in ASCII; where SQLite keeps it, `file(1)` finds it.
const APPLICATION_ID: i64 = 0x6479_6e6f;

const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Step `i` makes version `i + 1` out of version `i`.
const MIGRATIONS: [&str; 12] = [
    include_str!("schema_v1.sql"),
    include_str!("schema_v2.sql"),
    include_str!("schema_v3.sql"),
    include_str!("schema_v4.sql"),
    include_str!("schema_v5.sql"),
    include_str!("schema_v6.sql"),
    include_str!("schema_v7.sql"),
    include_str!("schema_v8.sql"),
    include_str!("schema_v9.sql"),
    include_str!("schema_v10.sql"),
    include_str!("schema_v11.sql"),
    include_str!("schema_v12.sql"),
];

pub(crate) fn read_write() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// How processes that have the file open at once find what is not in it yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    /// By a file beside it, which takes room.
    Index,
    /// Not at all: nobody else has it open meanwhile.
    Alone,
}

/// Opens a store. On a full disk it is opened for one process alone, so that what was stored can
/// be read there, too.
pub(crate) fn open(path: &Path, flags: OpenFlags) -> Result<(Connection, Allowance)> {
    match open_for(Sharing::Index, path, flags) {
        Err(StoreError::DiskFull(_)) => open_for(Sharing::Alone, path, flags),
        outcome => outcome,
    }
}

fn open_for(sharing: Sharing, path: &Path, flags: OpenFlags) -> Result<(Connection, Allowance)> {
    let fail = |error| explain_sqlite(path, error);
    guard::check_kind(path)?;
    // Absolute, for SQLite gives the empty path, `:memory:` and `file:` a meaning of their own.
    let absolute = std::path::absolute(path)
        .map_err(|error| StoreError::CannotOpen(path.to_owned(), error.to_string()))?;
    dbdyno_files::owner::check_way(&absolute)
        .and_then(|()| dbdyno_files::owner::check_file(&absolute))
        .map_err(|error| StoreError::CannotOpen(path.to_owned(), error.to_string()))?;
    if flags.contains(OpenFlags::SQLITE_OPEN_CREATE) {
        make_private(&absolute)?;
    }
    if let Some(strange) = exclusive::strange_beside(&absolute) {
        let what = format!("{} is of somebody else, or not private", strange.display());
        return Err(StoreError::CannotOpen(path.to_owned(), what));
    }
    let mut connection = Connection::open_with_flags(absolute, flags).map_err(fail)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(fail)?;
    if sharing == Sharing::Alone {
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE").map_err(fail)?;
    }
    guard::harden_connection(&connection).map_err(fail)?;
    let allowance = Allowance::for_connection(path, &mut connection).map_err(fail)?;
    // In one snapshot: another process may be making the tables at this moment.
    let snapshot = connection.unchecked_transaction().map_err(fail)?;
    check_ours(path, &snapshot)?;
    drop(snapshot);
    if connection.is_readonly("main").map_err(fail)? {
        return Err(StoreError::ReadOnly(path.to_owned()));
    }
    migrate(path, &mut connection)?;
    write_ahead(&connection).map_err(fail)?;
    connection
        .execute_batch("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;")
        .map_err(fail)?;
    Ok((connection, allowance))
}

/// Makes an empty file that only its owner may read, if there is none; SQLite gives its mode to the
/// files beside it. Whatever is in the way, SQLite meets and reports.
///
/// # Errors
/// [`StoreError::CannotOpen`] for a file that others may write to: they could change what was
/// measured.
fn make_private(path: &Path) -> Result<()> {
    let _reported_by_sqlite = File::options().write(true).create_new(true).mode(0o600).open(path);
    match fs::metadata(path) {
        Ok(found) if found.is_file() && found.mode() & 0o022 != 0 => {
            let what = "others may write to it; take that from them by chmod go-w, or name a file \
                        of your own";
            Err(StoreError::CannotOpen(path.to_owned(), what.to_owned()))
        }
        _ => Ok(()),
    }
}

/// Lets readers and the writer work at once. The mode stays with the file, so that it does not
/// matter who sets it: where another process is just using the file, it has done so or will.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    match connection.pragma_update(None, "journal_mode", "WAL") {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
        outcome => outcome,
    }
}

fn pragma(path: &Path, connection: &Connection, name: &str) -> Result<i64> {
    connection
        .pragma_query_value(None, name, |row| row.get(0))
        .map_err(|error| explain_sqlite(path, error))
}

/// Accepts a store of a version that we know, and a file with nothing in it.
fn check_ours(path: &Path, connection: &Connection) -> Result<()> {
    let application = pragma(path, connection, "application_id")?;
    let version = pragma(path, connection, "user_version")?;
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(|error| explain_sqlite(path, error))?;
    if application == 0 && version == 0 && tables == 0 {
        return Ok(());
    }
    if application != APPLICATION_ID {
        let why = format!("a SQLite file of another application, with {tables} tables and indexes");
        return Err(StoreError::NotOurs(path.to_owned(), why));
    }
    if version > VERSION {
        return Err(StoreError::Newer(path.to_owned(), version, VERSION));
    }
    if version < 1 {
        let why = format!("it has the impossible format {version}");
        return Err(StoreError::Damaged(path.to_owned(), why));
    }
    guard::check_tables(path, connection, &MIGRATIONS[..version as usize])?;
    guard::check_ids(path, connection)
}

/// Two processes may get here at once: the version is read again once the write lock is held.
fn migrate(path: &Path, connection: &mut Connection) -> Result<()> {
    if pragma(path, connection, "user_version")? == VERSION {
        return Ok(());
    }
    let fail = |error| explain_sqlite(path, error);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
    check_ours(path, &transaction)?;
    let from = pragma(path, &transaction, "user_version")?;
    for step in MIGRATIONS.iter().skip(from as usize) {
        transaction.execute_batch(step).map_err(fail)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(fail)?;
    transaction.pragma_update(None, "user_version", VERSION).map_err(fail)?;
    transaction.commit().map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Permission bits mean nothing to root, so the read-only case is opened read-only.
    #[test]
    fn a_file_that_cannot_be_written_is_refused_before_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        drop(open(&path, read_write()).unwrap());
        let error = open(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap_err();
        assert!(matches!(error, StoreError::ReadOnly(_)), "{error}");
    }
}
