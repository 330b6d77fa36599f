//! Runs on disk: one SQLite file, written as the run goes.
//!
//! ```text
//!   begin ─▶ run, plan ─┐
//!   set_environment ────┤  one transaction each: whatever kills the process, the file
//!   add_round ──────────┤  holds a valid, shorter run
//!   add_warning ────────┤
//!   finish ─▶ status ───┘
//!
//!   run 1─n plan_stage, plan_clients, arm ──▶ environment 1─n environment_fact
//!    └─ 1─n round 1─n series, histogram, class (named by its SHA-256: equal facts once)
//!    ├─ 1─n counted, counted_function, counted_call
//!    ├─ 1─n warning
//!    ├─ 1─n wait
//!    ├─ 1─n trial ──▶ run that explains it
//!    └─ 1─1 seal, of the home that began it
//!   shown_note: notes on the method that were shown once
//! ```
//!
//! Facts are kept, not conclusions: the value of every round, its whole histogram and its whole
//! series, so that a better statistic next year can judge this year's runs. A verdict is computed
//! again whenever it is shown.
//!
//! *Bulk* is opaque and checked. A histogram is an HdrHistogram V2 deflate blob, which any HDR tool
//! reads; a series has the format of [`codec`]. Each blob has a checksum beside it: a flipped bit
//! gives an error that names the round, never another number.
//!
//! *Numbers* are SQLite integers, which are signed: a `u64` of 2^63 or more is stored as its two's
//! complement. *Passwords* are not stored: an arm is stored as its `Display`, which has none, and a
//! command that holds one is refused.
//!
//! *Foreign files* are data: nothing in one is run, what has our names is our tables, and a
//! question has a most number of steps (`guard`). A run that this home did not begin can be told
//! from one that it did (`seal`).
//!
//! *Durability*: WAL with `synchronous=NORMAL`. A commit survives the death of the process; a power
//! cut may take the last rounds but never the file. A sync per round would be a disturbance of our
//! own making on the disk that is being measured.

pub mod codec;
mod counts;
mod error;
mod exclusive;
mod guard;
mod names;
mod read;
mod schema;
mod seal;
mod self_test;
mod shown;
mod sound;
mod terms;
mod transaction;
mod trials;
mod waits;
mod write;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dbdyno_model::RunId;
use rusqlite::Connection;

use guard::Allowance;

pub use error::{Result, StoreError};
pub use read::{RunSummary, StoreListing};
pub use schema::VERSION;
pub use seal::SealKey;
pub use write::NewRun;

/// An open store. Several processes may use one file; readers see whole rounds.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    allowance: Allowance,
    path: PathBuf,
    seal_key: Option<SealKey>,
    is_trusted: bool,
    /// Runs that were read with a seal that does not hold.
    foreign: RefCell<BTreeSet<RunId>>,
}

impl Store {
    /// Opens the store in `path`; creates the file, but not its folder, if there is none. An older
    /// version of the format is brought up to date.
    ///
    /// # Errors
    /// The file cannot be opened or written, is not a store, is of a newer version, or another
    /// process holds it; each says what to try.
    pub fn open(path: &Path) -> Result<Store> {
        let (connection, allowance) = schema::open(path, schema::read_write())?;
        Ok(Store {
            connection,
            allowance,
            path: path.to_owned(),
            seal_key: None,
            is_trusted: false,
            foreign: RefCell::default(),
        })
    }

    /// Where the store is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file, for one question or one transaction; each may take its number of steps.
    fn connection(&self) -> &Connection {
        self.allowance.renew_steps();
        &self.connection
    }

    fn explain(&self, error: rusqlite::Error) -> StoreError {
        error::explain_sqlite(&self.path, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{RunStatus, Severity, Warning};

    /// Who can write to a store can say what was measured.
    #[test]
    fn a_file_that_others_may_write_to_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        drop(Store::open(&path).unwrap());
        let set = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode));
        for (mode, is_taken) in [(0o644, true), (0o666, false), (0o620, false), (0o600, true)] {
            set(mode).unwrap();
            let opened = Store::open(&path);
            assert_eq!(opened.is_ok(), is_taken, "{mode:o}");
            let told = opened.err().map_or_else(String::new, |error| error.to_string());
            assert_eq!(told.contains("chmod go-w"), !is_taken, "{told}");
        }
    }

    /// SQLite reports its own page limit just as it reports a full file system.
    #[test]
    fn a_full_disk_is_said_and_what_was_stored_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let mut store = Store::open(&path).unwrap();
        let arm = || "sqlite:".parse().unwrap();
        let plan = dbdyno_model::Plan {
            arms: dbdyno_model::Arms::from([arm(), arm()]),
            question: dbdyno_model::Question {
                stages: vec!["point-query".parse().unwrap()],
                rows: 1,
                ..dbdyno_model::Question::default()
            },
            schedule: dbdyno_model::RoundSchedule {
                round_ns: 1,
                lead_in_ns: 1,
                warm_up_ns: 1,
                slice_ns: 0,
                ..dbdyno_model::RoundSchedule::default()
            },
            ..dbdyno_model::Plan::default()
        };
        let new = NewRun {
            name: None,
            started_unix_ms: 0,
            tool_version: "0",
            command: "dbdyno",
            plan: &plan,
        };
        let run = store.begin_run(&new).unwrap();
        store.connection.pragma_update(None, "max_page_count", 1).unwrap();
        let warning = Warning::new(Severity::Note, "large", "x".repeat(100_000));
        let error = store.add_warning(&run, &warning).unwrap_err();
        assert!(matches!(error, StoreError::DiskFull(_)), "{error}");
        assert!(error.to_string().contains("no space is left"), "{error}");
        let small = Warning::new(Severity::Note, "small", "still here");
        store.add_warning(&run, &small).unwrap();
        drop(store);
        let run = Store::open(&path).unwrap().load(&run).unwrap();
        assert_eq!(run.warnings, [small]);
        assert_eq!(run.status, RunStatus::Partial);
    }
}
