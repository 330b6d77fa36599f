//! Going on with a run that was interrupted or killed: only one process at a time may work at it,
//! and the servers must be those that began it.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use dbdyno_model::{Arms, Environment, Run, RunId, Severity, Warning};

use crate::arm::Station;
use crate::capture::OF_THE_MOMENT;
use crate::error::LabError;

/// Held by the process that works at a run. The kernel lets go of it when the process ends, however
/// that comes about.
pub(crate) struct Hold {
    _socket: Option<UnixListener>,
}

impl Hold {
    /// Takes hold of a run.
    ///
    /// # Errors
    /// [`LabError::Busy`] if another process has it.
    pub(crate) fn take(run: &RunId) -> Result<Hold, LabError> {
        let name = format!("dbdyno.run.{run}");
        let bound =
            SocketAddr::from_abstract_name(name).and_then(|name| UnixListener::bind_addr(&name));
        match bound {
            Ok(socket) => Ok(Hold { _socket: Some(socket) }),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
                Err(LabError::Busy(run.clone()))
            }
            // Where there are no such names, a round that comes twice is still refused.
            Err(_) => Ok(Hold { _socket: None }),
        }
    }
}

/// A fact of an arm. Before it was noted whether connections are encrypted, none was.
fn value_in<'a>(environment: &'a Environment, name: &str) -> &'a str {
    match environment.get(name) {
        "" if name == "connection.encrypted" => "no",
        value => value,
    }
}

/// What is true of the servers now and was not when the run began.
///
/// # Errors
/// [`LabError::Unlike`] for servers of another version.
pub(crate) fn changes(run: &Run, stations: &Arms<Station>) -> Result<Option<Warning>, LabError> {
    const VERSION: &str = "server.version";
    /// Made anew with each data directory.
    const OF_THE_INSTANCE: [&str; 3] =
        ["image.origin", "variable.server_uid", "variable.server_uuid"];
    let mut changed = Vec::new();
    for (arm, station) in stations.iter() {
        let (before, now) = (run.environment_of(arm), &station.environment);
        // A run that was killed before anything was known of its arms.
        if before.facts.is_empty() {
            continue;
        }
        if before.get(VERSION) != now.get(VERSION) {
            return Err(LabError::Unlike(format!(
                "{arm} was {} when the run began and is {} now; begin a new run",
                before.get(VERSION),
                now.get(VERSION)
            )));
        }
        let names = before.facts.keys().chain(now.facts.keys());
        let names = names.filter(|name| !OF_THE_INSTANCE.contains(&name.as_str()));
        let names = names.filter(|name| !OF_THE_MOMENT.iter().any(|kind| name.starts_with(kind)));
        let differs = names.filter(|name| value_in(before, name) != value_in(now, name));
        changed.extend(differs.map(|name| format!("{arm} {name}")));
    }
    changed.sort_unstable();
    changed.dedup();
    Ok((!changed.is_empty()).then(|| {
        let text = format!(
            "since the run began, this has changed: {}; rounds before and after are not alike",
            changed.join(", ")
        );
        Warning::new(Severity::Caution, "environment-changed", text)
    }))
}
