//! Thousands of connections: made and closed many at a time.
//!
//! ```text
//!   connector 1   client 0, 16, 32 …  ┐
//!   connector 2   client 1, 17, 33 …  ├─ they wait for the server, not for each other
//!   …                                 ┘
//! ```
//!
//! A server that has no place for all of them says so to one of them. Those that have got in ask it
//! then how many places there are.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use dbdyno_wire::{Client, Pollable, StatementId, WireError};

use crate::closed::{Moment, RoundSpec};
use crate::error::LoadError;
use crate::session::prepare_all;
use crate::tally::first_cause_first;

/// A connection with all statements of a load prepared on it.
pub(crate) struct Member {
    pub(crate) client: Box<dyn Pollable>,
    /// By statement of the program; `None` for those sent as text.
    pub(crate) prepared: Vec<Option<StatementId>>,
    /// The client's number, from 0.
    pub(crate) number: u32,
}

/// Threads that connect. More of them than processors, since most of the time they wait; not so
/// many that a server's queue of those who knock runs over.
const CONNECTORS: u32 = 16;

/// How often an observer is told who has got in.
const TOLD_EVERY: Duration = Duration::from_millis(500);

/// Connects all clients of a round that share threads.
///
/// # Errors
/// Those of [`connect`].
pub(crate) fn assemble(
    spec: &RoundSpec<'_>,
    observe: &mut dyn FnMut(Moment),
) -> Result<Vec<Member>, LoadError> {
    fn client(member: &mut Member) -> &mut dyn Client {
        &mut *member.client
    }
    connect(spec, |number| join(spec, number), client, observe)
}

/// Opens what each client of a round needs, many at a time; returns them in the order of their
/// numbers.
///
/// # Errors
/// The first refusal; [`LoadError::ServerFull`] if it is for want of places.
pub(crate) fn connect<T: Send>(
    spec: &RoundSpec<'_>,
    open: impl Fn(u32) -> Result<T, LoadError> + Sync,
    client: impl for<'t> Fn(&'t mut T) -> &'t mut dyn Client,
    observe: &mut dyn FnMut(Moment),
) -> Result<Vec<T>, LoadError> {
    let inside = Mutex::new(Vec::with_capacity(spec.clients as usize));
    let failed = AtomicBool::new(false);
    // An embedded arm is opened here, one file after the other.
    let connectors = if spec.connector.is_embedded() { 1 } else { CONNECTORS.min(spec.clients) };
    let connect = |first: u32| {
        for number in (first..spec.clients).step_by(connectors as usize) {
            if spec.stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed) {
                return Err(LoadError::Interrupted);
            }
            let opened = open(number).inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
            inside.lock().expect("nobody panics with this lock").push((number, opened));
        }
        Ok(())
    };
    let told = || {
        let number = inside.lock().expect("nobody panics with this lock").len();
        observe(Moment::Connecting(number as u32));
    };
    let results = in_parallel(connectors, connect, told);
    let mut inside = inside.into_inner().expect("nobody panics with this lock");
    if let Err(error) = first_cause_first(results) {
        let number = inside.len();
        let insider = inside.first_mut().map(|(_, first)| client(first));
        return Err(explained(error, spec.clients, number, insider));
    }
    inside.sort_unstable_by_key(|(number, _)| *number);
    Ok(inside.into_iter().map(|(_, opened)| opened).collect())
}

/// Says goodbye for all, and waits until the server has let go: the next round needs the places.
pub(crate) fn dismiss(clients: Vec<Box<dyn Client>>) {
    let threads = CONNECTORS.min(clients.len() as u32);
    let left = Mutex::new(clients);
    let leave = |_| {
        loop {
            let next = left.lock().expect("nobody panics with this lock").pop();
            let Some(client) = next else { return };
            client.close();
        }
    };
    in_parallel(threads, leave, || {});
}

/// Lets so many threads work, this one if it is only one; else `told` is called on it now and then
/// until they are done.
fn in_parallel<T: Send>(
    threads: u32,
    work: impl Fn(u32) -> T + Sync,
    mut told: impl FnMut(),
) -> Vec<T> {
    if threads == 1 {
        return vec![work(0)];
    }
    thread::scope(|scope| {
        let (done, all_done) = mpsc::channel::<()>();
        let work = &work;
        let spawn = |number| {
            let done = done.clone();
            scope.spawn(move || {
                let worked = work(number);
                drop(done);
                worked
            })
        };
        let handles: Vec<_> = (0..threads).map(spawn).collect();
        drop(done);
        // Nothing is ever sent: the channel ends when the last thread has dropped its sender.
        while all_done.recv_timeout(TOLD_EVERY) == Err(RecvTimeoutError::Timeout) {
            told();
        }
        let join = |handle: thread::ScopedJoinHandle<'_, T>| {
            handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        handles.into_iter().map(join).collect()
    })
}

fn join(spec: &RoundSpec<'_>, number: u32) -> Result<Member, LoadError> {
    let mut client = spec.connector.connect_pollable()?;
    let prepared = prepare_all(&mut *client, spec.load)?;
    Ok(Member { client, prepared, number })
}

/// A refusal for want of places with their number, if one of those inside can ask for it, and what
/// to do; any other error as it is.
pub(crate) fn explained(
    error: LoadError,
    clients: u32,
    inside: usize,
    insider: Option<&mut dyn Client>,
) -> LoadError {
    let LoadError::Wire(WireError::Login(refusal), None) = &error else { return error };
    // MySQL: too many connections, of all and of this account, no thread to be had; PostgreSQL:
    // too_many_connections.
    if !matches!(refusal.code, 1040 | 1135 | 1203) && refusal.sqlstate != "53300" {
        return error;
    }
    let question = match refusal.code {
        0 => "SHOW max_connections",
        _ => "SELECT @@global.max_connections",
    };
    let answer = insider.and_then(|client| client.query(question).ok());
    LoadError::ServerFull {
        clients,
        inside,
        places: answer.and_then(|rows| rows.single()?.parse().ok()),
        refusal: Box::new(refusal.clone()),
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_wire::ServerError;

    use super::*;
    use crate::null::NullClient;

    #[test]
    fn want_of_places_is_explained_and_nothing_else() {
        let refusal = |code, sqlstate: &str| {
            let message = "no".to_owned();
            LoadError::from(WireError::Login(ServerError {
                code,
                sqlstate: sqlstate.to_owned(),
                message,
            }))
        };
        for (code, sqlstate, expected) in [
            (1040, "08004", "SET GLOBAL max_connections = 5020"),
            (1135, "HY000", "TasksMax="),
            (0, "53300", "postgresql.conf"),
        ] {
            let mut insider = NullClient::default();
            let error = explained(refusal(code, sqlstate), 5000, 151, Some(&mut insider));
            let text = error.to_string();
            assert!(
                text.contains("let in 151 of 5000 clients") && text.contains(expected),
                "{text}"
            );
        }
        let denied = explained(refusal(1045, "28000"), 5000, 0, None);
        assert!(matches!(denied, LoadError::Wire(..)), "{denied}");
    }
}
