//! Why a store cannot do what was asked, by meaning.

use std::fmt;
use std::path::{Path, PathBuf};

use dbdyno_model::MaskedTarget;
use rusqlite::ErrorCode;

/// What the functions of this crate return.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Why the store could not do it. `Display` is one sentence and what to try next.
#[derive(Debug)]
pub enum StoreError {
    /// The file is something else. Carries how that was noticed.
    NotOurs(PathBuf, String),
    /// A newer dbdyno wrote the file: its version, and the newest that this one knows.
    Newer(PathBuf, i64, i64),
    /// The file may be read but not written.
    ReadOnly(PathBuf),
    /// The file cannot be opened or created. Carries the system's reason.
    CannotOpen(PathBuf, String),
    /// The disk is full, or a quota is used up.
    DiskFull(PathBuf),
    /// Another process has kept the file locked for longer than we wait.
    Busy(PathBuf),
    /// SQLite finds the file malformed.
    Damaged(PathBuf, String),
    /// A stored run cannot be read back. Carries the run, the place in it, and what is wrong.
    Corrupt {
        /// The run.
        run: String,
        /// Which round or table, in words.
        place: String,
        /// What is wrong there.
        what: String,
    },
    /// No run is called so. Carries the text and what it may have meant.
    UnknownRun(String, Vec<String>),
    /// Several runs begin so. Carries the prefix and those runs.
    AmbiguousRun(String, Vec<String>),
    /// A run may not have this name.
    BadName(String),
    /// The command that was to be stored holds a password.
    PasswordInCommand,
    /// What was to be stored could not be read back. Carries what.
    NotStorable(String),
    /// This round of this run is stored already.
    DuplicateRound(String),
    /// This run is complete and cannot go on.
    AlreadyComplete(String),
    /// Something that SQLite reports and that has no meaning of its own here.
    Sqlite(PathBuf, rusqlite::Error),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::NotOurs(path, why) => write!(
                f,
                "{} is not a dbdyno store ({why}); give another path, the file was not touched",
                path.display()
            ),
            StoreError::Newer(path, found, known) => write!(
                f,
                "{} has format {found}, this dbdyno knows formats up to {known}; use a newer \
                 dbdyno or another path",
                path.display()
            ),
            StoreError::ReadOnly(path) => write!(
                f,
                "{} cannot be written; change its permissions or those of its file system, or \
                 give another path",
                path.display()
            ),
            StoreError::CannotOpen(path, why) => write!(
                f,
                "{} cannot be opened ({why}); check that its folder exists and may be written, or \
                 give another path",
                path.display()
            ),
            StoreError::DiskFull(path) => write!(
                f,
                "no space is left for {}; what was stored is intact: free some space, or give a \
                 path on another disk",
                path.display()
            ),
            StoreError::Busy(path) => write!(
                f,
                "another process keeps {} locked; wait until it is done, or give another path",
                path.display()
            ),
            StoreError::Damaged(path, why) => write!(
                f,
                "{} is damaged ({why}); rescue what is readable with `sqlite3 FILE .recover`, or \
                 give another path",
                path.display()
            ),
            StoreError::Sqlite(path, error) => write!(
                f,
                "{}: {error}; try another path, and report this if it stays",
                path.display()
            ),
            _ => self.fmt_of_runs(f),
        }
    }
}

impl StoreError {
    fn fmt_of_runs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Corrupt { run, place, what } => write!(
                f,
                "run {run}, {place}: {what}; this run cannot be trusted, measure it again or \
                 restore the file from a copy"
            ),
            StoreError::UnknownRun(text, near) if near.is_empty() => write!(
                f,
                "there is no run {:?}: the store is empty; measure one with `dbdyno compare`",
                MaskedTarget::from_text(text)
            ),
            StoreError::UnknownRun(text, near) => write!(
                f,
                "there is no run {:?}; there are {} (all: `dbdyno runs`)",
                MaskedTarget::from_text(text),
                near.join(", ")
            ),
            StoreError::AmbiguousRun(prefix, runs) => write!(
                f,
                "{prefix:?} is the beginning of several runs: {}; write more of it",
                runs.join(", ")
            ),
            StoreError::BadName(name) => write!(
                f,
                "a run cannot be named {name:?}; choose a name that is not empty, not \"last\" \
                 and has no control characters"
            ),
            StoreError::PasswordInCommand => f.write_str(
                "the command of the run holds a password and is not stored; leave the password \
                 out of the URL and give it in an option file or in the environment",
            ),
            StoreError::NotStorable(what) => write!(
                f,
                "{what} could not be read back from the store and is not stored; write it in \
                 another way"
            ),
            StoreError::DuplicateRound(round) => {
                write!(f, "{round} is stored already; a round counts once: begin a new run")
            }
            StoreError::AlreadyComplete(run) => {
                write!(f, "run {run} is complete and cannot go on; begin a new run")
            }
            _ => f.write_str("the store failed; try another path"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StoreError::Sqlite(_, error) => Some(error),
            _ => None,
        }
    }
}

/// Gives an error of SQLite its meaning. A full disk met while the shared-memory file of the
/// WAL grows is reported as an I/O error, told apart by its extended code.
pub(crate) fn explain_sqlite(path: &Path, error: rusqlite::Error) -> StoreError {
    use rusqlite::ffi;
    let path = path.to_owned();
    let rusqlite::Error::SqliteFailure(code, text) = &error else {
        return StoreError::Sqlite(path, error);
    };
    let why = || text.clone().unwrap_or_else(|| code.to_string());
    match code.code {
        ErrorCode::DiskFull => StoreError::DiskFull(path),
        ErrorCode::SystemIoFailure if code.extended_code == ffi::SQLITE_IOERR_SHMSIZE => {
            StoreError::DiskFull(path)
        }
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Busy(path),
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreError::ReadOnly(path),
        ErrorCode::CannotOpen => StoreError::CannotOpen(path, why()),
        ErrorCode::NotADatabase => StoreError::NotOurs(path, "no SQLite file".to_owned()),
        ErrorCode::DatabaseCorrupt => StoreError::Damaged(path, why()),
        ErrorCode::OperationInterrupted => {
            let why = "its pages lead to more rows than it has bytes for";
            StoreError::Damaged(path, why.to_owned())
        }
        _ => StoreError::Sqlite(path, error),
    }
}
