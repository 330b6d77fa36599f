//! Rounds that clients recorded: what of their isolation is proved, noted with the round.
//!
//! ```text
//!   round ──Recording──▶ history ──check──▶ what was promised holds, with a proof that was
//!                                           replayed; or is broken, and by what
//! ```
//!
//! The history of a round is judged when the round is over and forgotten then; what is noted of it
//! are readings ([`readings`]), so that a stored run tells it as well.

use dbdyno_check::{Checker, Level, LevelVerdict, read_records};
use dbdyno_load::{Connector, LoadError, RoundRecord};
use dbdyno_model::isolation::IsolationLevel;
use dbdyno_model::{Dialect, Readings, readings};
use dbdyno_server::{ServerRelease, session_level};
use dbdyno_workload::{Content, Load};

use crate::promise::{promise_family, promised_level};

/// What is promised of the transactions of a load.
///
/// # Errors
/// A connection that cannot be had, or a server that does not say at which level its sessions are.
pub(crate) fn promise_of(
    connector: &Connector,
    dialect: Dialect,
    load: &Load,
) -> Result<Level, LoadError> {
    let mut client = connector.connect_for_work()?;
    let asked = match &load.content {
        Content::Dialogue(dialogue) => dialogue.level(),
        Content::Mix(_) | Content::Choice(_) => None,
    };
    let level = match (asked, dialect) {
        (Some(level), _) => level,
        (None, Dialect::Sqlite) => IsolationLevel::Serializable,
        (None, Dialect::Engine) => IsolationLevel::RepeatableRead,
        (None, _) => {
            let server = ServerRelease::of_client(&*client, dialect);
            session_level(&mut *client, server).ok_or_else(|| {
                let text = "the server does not say which isolation level its sessions have; name \
                            one: register?level=serializable";
                LoadError::Unfit(text.to_owned())
            })?
        }
    };
    let promise = promised_level(promise_family(&mut *client, dialect)?, level);
    client.close();
    Ok(promise)
}

/// Judges what was recorded, and notes it.
pub(crate) fn note_verdict(recorded: &RoundRecord, promise: Level, noted: &mut Readings) {
    let history = match read_records(&recorded.records) {
        Ok(history) => history,
        Err(bad) => panic!("what was recorded cannot be read: {bad}"),
    };
    noted.set(readings::RECORDED, Some(recorded.transactions as f64));
    noted.set(readings::UNRECORDED, Some(recorded.unrecorded as f64));
    let checker = Checker::new(&history);
    let mut told = |name: String| noted.set(&name, Some(1.0));
    told(format!("{}{promise}", readings::PROMISE_PREFIX));
    match checker.proved_verdict(promise) {
        LevelVerdict::Holds(_) => told(readings::PROMISE_HOLDS.to_owned()),
        LevelVerdict::CannotTell(_) => {}
        broken => {
            let anomaly = broken.anomaly().unwrap_or_default();
            told(format!("{}{anomaly}", readings::ANOMALY_PREFIX));
        }
    }
    let seen = checker.contention();
    for (name, count) in [("ww", seen.ww), ("wr", seen.wr), ("rw", seen.rw)] {
        noted.set(&format!("{}{name}", readings::DEPENDENCIES_PREFIX), Some(count as f64));
    }
}
