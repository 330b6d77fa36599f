//! Going on with a run that was interrupted or killed: only one process at a time may work at it,
//! and the servers must be those that began it.

use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use dbdyno_model::{Arms, Environment, Run, RunId, Severity, Warning};
use nix::sys::socket::sockopt::PeerCredentials;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, getsockopt, socket};

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
    pub(crate) fn on_run(run: &RunId) -> Result<Hold, LabError> {
        let name = format!("dbdyno.run.{run}");
        let bound =
            SocketAddr::from_abstract_name(&name).and_then(|name| UnixListener::bind_addr(&name));
        match bound {
            Ok(socket) => Ok(Hold { _socket: Some(socket) }),
            // Where there are no such names, or one was taken by somebody who cannot be measuring
            // into our store, a round that comes twice is still refused.
            Err(_) => match holder(&name) {
                Some(pid) => Err(LabError::Busy(run.clone(), pid)),
                None => Ok(Hold { _socket: None }),
            },
        }
    }
}

/// The process of this account, or of root, that listens under a name of the kernel's. Every
/// account may take such names, and sees those that are taken.
fn holder(name: &str) -> Option<i32> {
    let address = UnixAddr::new_abstract(name.as_bytes()).ok()?;
    // It does not wait: others may have filled the queue of whoever listens.
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let asked = socket(AddressFamily::Unix, SockType::Stream, flags, None).ok()?;
    connect(asked.as_raw_fd(), &address).ok()?;
    let holder = getsockopt(&asked, PeerCredentials).ok()?;
    let is_ours = [0, nix::unistd::geteuid().as_raw()].contains(&holder.uid());
    is_ours.then(|| holder.pid())
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
pub(crate) fn server_changes(
    run: &Run,
    stations: &Arms<Station>,
) -> Result<Option<Warning>, LabError> {
    const VERSION: &str = "server.version";
    /// Made anew with each data directory.
    const OF_THE_INSTANCE: [&str; 3] =
        ["image.origin", "variable.server_uid", "variable.server_uuid"];
    let mut changed = Vec::new();
    for (arm, station) in stations.iter() {
        let (before, now) = (&run.environment[arm], &station.environment);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str) -> RunId {
        RunId(format!("{name}-{}", std::process::id()))
    }

    #[test]
    fn a_run_is_held_by_one_process_which_is_named() {
        let run = run("held");
        let held = Hold::on_run(&run).unwrap();
        let error = Hold::on_run(&run).err().unwrap().to_string();
        assert!(error.contains(&format!("pid {}", std::process::id())), "{error}");
        drop(held);
        Hold::on_run(&run).unwrap();
    }

    /// Of another account, which keeps nobody but itself from anything.
    #[test]
    fn a_name_that_somebody_else_has_taken_is_no_hold() {
        if !nix::unistd::geteuid().is_root() {
            return;
        }
        let run = run("squatted");
        let name = format!("dbdyno.run.{run}");
        let listen = move || {
            use nix::libc::{SYS_setresuid, syscall};
            // SAFETY: it takes no pointer, and changes this thread alone.
            assert_eq!(unsafe { syscall(SYS_setresuid, -1, 65_534, -1) }, 0);
            let name = SocketAddr::from_abstract_name(name).unwrap();
            UnixListener::bind_addr(&name).unwrap()
        };
        let _theirs = std::thread::spawn(listen).join().unwrap();
        assert!(Hold::on_run(&run).unwrap()._socket.is_none());
    }
}
