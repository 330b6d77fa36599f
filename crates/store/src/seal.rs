//! Whether a run is one that this home began.
//!
//! ```text
//!   begin, set_environment, extend … ── plan, arms, facts ──▶ HMAC under the key of the home
//!   resume, explain ── the same rows, read again ──▶ equal: ours · else: somebody wrote them
//! ```
//!
//! Whoever goes on with a run starts the servers that it names, with their options, and sends the
//! statements of its loads. A file can come from a stranger, or back from one: a run of it is
//! carried out only if each of these words is as this home wrote it. What was measured is not
//! sealed; it is read and never carried out.

use dbdyno_model::RunId;
use hmac::{Hmac, Mac as _};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, params};
use sha2::Sha256;

use crate::Store;
use crate::error::Result;
use crate::exclusive;
use crate::transaction::{WriteError, seq_of};

/// Questions for what a run carries out. Who reads a run puts the same ones, to the letter: in a
/// file made by hand a table can be one by one way to its rows and another one by another, so that
/// what one question finds says nothing of what is found by a second.
pub(crate) const PLAN: &str = "SELECT command, pairs, round_ns, lead_in_ns, warm_up_ns, seed, \
     tables, rows, budget, pin, restarts, driving, reloads, interval, slice_ns \
     FROM run WHERE seq = ?1";
pub(crate) const STAGES: &str =
    "SELECT position, stage, label FROM plan_stage WHERE run = ?1 ORDER BY position";
pub(crate) const FILES: &str =
    "SELECT position, file, text FROM plan_file WHERE run = ?1 ORDER BY position";
pub(crate) const CLIENTS: &str =
    "SELECT position, clients FROM plan_clients WHERE run = ?1 ORDER BY position";
pub(crate) const TERMS: &str = "SELECT name, value FROM plan_term WHERE run = ?1 ORDER BY name";
pub(crate) const ARMS: &str = "SELECT arm, target, slow FROM arm WHERE run = ?1 ORDER BY arm";
/// Of which `explain` makes options.
pub(crate) const FACTS: &str = "SELECT arm, name, value \
     FROM arm JOIN environment_fact USING (environment) WHERE run = ?1 ORDER BY arm, name";
const EXPLAINED: &str = "SELECT explains.id, witness \
     FROM trial JOIN run explains ON explains.seq = trial.explains WHERE trial.run = ?1";

/// By what a user names a run: else two runs of one home could change places.
const NAMES: &str = "SELECT id, name FROM run WHERE seq = ?1";

/// Everything of a run that is carried out.
const CARRIED_OUT: [&str; 8] = [PLAN, STAGES, FILES, CLIENTS, TERMS, ARMS, FACTS, EXPLAINED];

/// The tables of which these are the rows.
const TABLES: [&str; 8] = [
    "run",
    "plan_stage",
    "plan_file",
    "plan_clients",
    "plan_term",
    "arm",
    "environment_fact",
    "trial",
];

/// How a seal is written.
#[derive(Clone, Copy)]
enum SealForm {
    /// 32 bytes: of what is carried out alone, as releases before 2026-11-29 sealed.
    Plain,
    /// A byte that says so, and 32: of the names of the run, too.
    Named,
}

const HMAC_BYTES: usize = 32;

/// The first byte of a seal of a run with its names.
const NAMED: u8 = 2;

/// The key of a home, which nobody else knows.
#[derive(Clone)]
pub struct SealKey(Vec<u8>);

impl SealKey {
    /// Of bytes that nobody can guess.
    pub fn from_secret(secret: impl Into<Vec<u8>>) -> SealKey {
        SealKey(secret.into())
    }

    /// What the rows of a run are worth under this key.
    fn mac(
        &self,
        connection: &Connection,
        seq: i64,
        form: SealForm,
    ) -> rusqlite::Result<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length");
        let names = match form {
            SealForm::Plain => None,
            SealForm::Named => {
                mac.update(&[NAMED]);
                Some(NAMES)
            }
        };
        for question in names.into_iter().chain(CARRIED_OUT) {
            let mut statement = connection.prepare_cached(question)?;
            let columns = statement.column_count();
            let mut rows = statement.query([seq])?;
            while let Some(row) = rows.next()? {
                mac.update(b"row");
                for column in 0..columns {
                    value(&mut mac, row.get_ref(column)?);
                }
            }
            mac.update(b"end");
        }
        Ok(mac)
    }
}

/// Never shows the key.
impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealKey")
    }
}

/// Its kind, its length and its bytes, so that no two lists of values are the same bytes.
fn value(mac: &mut Hmac<Sha256>, value: ValueRef<'_>) {
    let mut add = |kind: u8, bytes: &[u8]| {
        mac.update(&[kind]);
        mac.update(&(bytes.len() as u64).to_le_bytes());
        mac.update(bytes);
    };
    match value {
        ValueRef::Null => add(0, &[]),
        ValueRef::Integer(number) => add(1, &number.to_le_bytes()),
        ValueRef::Real(number) => add(2, &number.to_le_bytes()),
        ValueRef::Text(text) => add(3, text),
        ValueRef::Blob(bytes) => add(4, bytes),
    }
}

/// Seals a run that has just been begun.
pub(crate) fn set(
    connection: &Connection,
    key: Option<&SealKey>,
    seq: i64,
) -> std::result::Result<(), WriteError> {
    if let Some(key) = key {
        let hmac = key.mac(connection, seq, SealForm::Named)?.finalize().into_bytes();
        let insert = "INSERT OR REPLACE INTO seal VALUES (?1, ?2)";
        connection.execute(insert, params![seq, [&[NAMED], hmac.as_slice()].concat()])?;
    }
    Ok(())
}

fn holds(connection: &Connection, key: Option<&SealKey>, seq: i64) -> rusqlite::Result<bool> {
    let select = "SELECT hmac FROM seal WHERE run = ?1";
    let found: Option<Vec<u8>> =
        connection.query_row(select, [seq], |row| row.get(0)).optional()?;
    let (Some(key), Some(found)) = (key, found) else { return Ok(false) };
    let (form, hmac) = match found.split_first() {
        Some((&NAMED, hmac)) if hmac.len() == HMAC_BYTES => (SealForm::Named, hmac),
        _ => (SealForm::Plain, &*found),
    };
    Ok(key.mac(connection, seq, form)?.verify_slice(hmac).is_ok())
}

/// Whether rows stand where their keys say, and indexes have those of their tables: else a change
/// could bring rows to light that no seal has seen.
fn is_whole(connection: &Connection) -> rusqlite::Result<bool> {
    for table in TABLES {
        let check = format!("PRAGMA integrity_check('{table}')");
        let told: String = connection.query_row(&check, [], |row| row.get(0))?;
        if told != "ok" {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Changes what a run would carry out. A run that was ours stays ours, and no other becomes it.
pub(crate) fn keep_seal(
    connection: &Connection,
    key: Option<&SealKey>,
    seq: i64,
    change: impl FnOnce() -> std::result::Result<(), WriteError>,
) -> std::result::Result<(), WriteError> {
    let is_ours = holds(connection, key, seq)? && is_whole(connection)?;
    change()?;
    if is_ours { set(connection, key, seq) } else { Ok(()) }
}

impl Store {
    /// The store, with the key under which runs are sealed that are begun from now on.
    #[must_use]
    pub fn sealed_by(mut self, key: SealKey) -> Store {
        self.seal_key = Some(key);
        self
    }

    /// The store, whose runs are all carried out where the user has said that he trusts whoever
    /// wrote them.
    #[must_use]
    pub fn with_trust(mut self, is_trusted: bool) -> Store {
        self.is_trusted = is_trusted;
        self
    }

    /// Whether what a run says may be carried out: it is our own, or all are trusted.
    ///
    /// # Errors
    /// As [`Store::is_own`].
    pub fn may_be_carried_out(&self, run: &RunId) -> Result<bool> {
        Ok(self.is_trusted || self.is_own(run)?)
    }

    /// Whether a run says what it was told when it was begun under the key of this store, each
    /// time that it was read, in a file that nobody else can change. It is not known, and so not
    /// true, of a store without a key.
    ///
    /// # Errors
    /// No such run, or a file that cannot be read.
    pub fn is_own(&self, run: &RunId) -> Result<bool> {
        let snapshot =
            self.connection().unchecked_transaction().map_err(|error| self.explain(error))?;
        let seq = match seq_of(&snapshot, run) {
            Ok(seq) => seq,
            Err(WriteError::Meaning(error)) => return Err(error),
            Err(WriteError::Sqlite(error)) => return Err(self.explain(error)),
        };
        self.look_at_seal(&snapshot, run, seq)?;
        let was_foreign = self.foreign.borrow().contains(run);
        let is_whole = is_whole(&snapshot).map_err(|error| self.explain(error))?;
        Ok(!was_foreign && is_whole && exclusive::is_ours_alone(&self.path))
    }

    /// Notes whether the seal of a run holds in the snapshot from which the run is read: what is
    /// carried out is what was read then, and not what another process has put there since.
    pub(crate) fn look_at_seal(&self, snapshot: &Connection, run: &RunId, seq: i64) -> Result<()> {
        let holds = holds(snapshot, self.seal_key.as_ref(), seq);
        if !holds.map_err(|error| self.explain(error))? {
            self.foreign.borrow_mut().insert(run.clone());
        }
        Ok(())
    }
}
