//! The connections of all clients of a round, who may be thousands.
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

use dbdyno_model::Dialect;
use dbdyno_server::max_connections;
use dbdyno_wire::{Client, Pollable, StatementId, WireError};

use crate::error::LoadError;
use crate::parallel::{CONNECTORS, in_parallel};
use crate::patience;
use crate::round::{Moment, RoundSpec};
use crate::session::ClientSession;
use crate::tally::first_cause_first;
use crate::wire::prepare_all;

/// A connection with all statements of a load prepared on it.
pub(crate) struct Member {
    pub(crate) client: Box<dyn Pollable>,
    /// By statement of the program; `None` for those sent as text.
    pub(crate) prepared: Vec<Option<StatementId>>,
    /// The client's number, from 0.
    pub(crate) number: u32,
}

/// Connects all clients of a round that share threads.
///
/// # Errors
/// Those of [`connect`].
pub(crate) fn connect_members(
    spec: &RoundSpec<'_>,
    observe: &mut dyn FnMut(Moment),
) -> Result<Vec<Member>, LoadError> {
    fn client(member: &mut Member) -> &mut dyn Client {
        &mut *member.client
    }
    connect(spec, |number| join(spec, number), client, observe)
}

/// Connects all clients of a round that are not connected, in the order of their numbers.
pub(crate) fn open_sessions<'a>(
    spec: &RoundSpec<'a>,
    observe: &mut dyn FnMut(Moment),
) -> Result<Vec<ClientSession<'a>>, LoadError> {
    connect(
        spec,
        |number| match spec.kept.and_then(|kept| kept.take_seat(number)) {
            Some(seat) => Ok(ClientSession::resume(seat, spec.connector, spec.load, number)),
            None => ClientSession::open(spec.connector, spec.load, number),
        },
        ClientSession::client,
        observe,
    )
}

/// Leaves the connections of a round that nothing stopped to the next one, where they are to stay.
pub(crate) fn keep_sessions<'a>(
    spec: &RoundSpec<'_>,
    sessions: impl IntoIterator<Item = ClientSession<'a>>,
) {
    // Waits of embedded arms can be cut off, and their connections cost nothing to make.
    let Some(kept) = spec.kept.filter(|_| !spec.connector.is_embedded()) else { return };
    for session in sessions {
        kept.keep_seat(session.client_number(), session.into_seat());
    }
}

/// Opens what each client of a round needs, many at a time; returns them in the order of their
/// numbers.
///
/// # Errors
/// The first refusal; [`LoadError::ServerFull`] if it is for want of places.
fn connect<T: Send>(
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
    let results = in_parallel(connectors, connect, || {
        let number = inside.lock().expect("nobody panics with this lock").len();
        observe(Moment::Connecting(number as u32));
    });
    let mut inside = inside.into_inner().expect("nobody panics with this lock");
    if let Err(error) = first_cause_first(results) {
        let number = inside.len();
        let insider = inside.first_mut().map(|(_, first)| client(first));
        return Err(explain_refusal(error, spec.clients, number, insider));
    }
    inside.sort_unstable_by_key(|(number, _)| *number);
    let patience = patience::of_round(spec.lead_in + spec.window);
    inside.iter_mut().for_each(|(_, opened)| client(opened).set_patience(patience));
    Ok(inside.into_iter().map(|(_, opened)| opened).collect())
}

fn join(spec: &RoundSpec<'_>, number: u32) -> Result<Member, LoadError> {
    let mut client = spec.connector.connect_pollable()?;
    let prepared = prepare_all(&mut *client, spec.load)?;
    Ok(Member { client, prepared, number })
}

/// A refusal for want of places with their number, if one of those inside can ask for it, and what
/// to do; any other error as it is.
pub(crate) fn explain_refusal(
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
    let dialect = if refusal.code == 0 { Dialect::Postgres } else { Dialect::Mysql };
    LoadError::ServerFull {
        clients,
        inside,
        places: insider.and_then(|client| max_connections(client, dialect)),
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
            let message = "no".into();
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
            let error = explain_refusal(refusal(code, sqlstate), 5000, 151, Some(&mut insider));
            let text = error.to_string();
            assert!(
                text.contains("let in 151 of 5000 clients") && text.contains(expected),
                "{text}"
            );
        }
        let denied = explain_refusal(refusal(1045, "28000"), 5000, 0, None);
        assert!(matches!(denied, LoadError::Wire(..)), "{denied}");
    }
}
