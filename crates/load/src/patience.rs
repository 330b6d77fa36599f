//! How long a round waits for clients that wait for locks.
//!
//! ```text
//!   window ─▶ close ── events end ──▶ joined                              as a rule
//!   window ─▶ close ── … ── AFTER_CLOSE │ waits are ended ──▶ joined      where one does not end
//!   window ── stop, or a client fails   │ waits are ended ──▶ joined      at once
//! ```
//!
//! Clients of the reference engine wait for locks in threads of ours, as long as its design says;
//! and whom they wait for may have ended with its transaction open, or stand outside a gate. Waits
//! of servers are the servers' own. What a client waited for in vain does not count, as the event
//! that crosses the close does not; but an event that is no transaction stays half done. So after a
//! close waits get time to end by themselves. A thread looks after that, since the one that
//! conducts the round is the one that waits for the clients.
//!
//! A server that answers nothing at all is another matter: the connections of a round have a
//! deadline, see [`of_round`].

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::Scope;
use std::time::Duration;

use dbdyno_wire::Patience;

use crate::connector::Connector;
use crate::time::STOP_CHECK;

/// How long beyond its own length, and that again, a round is waited for: an event that crosses the
/// close may be a slow one.
const BEYOND: Duration = Duration::from_secs(1800);
/// How long a fixed amount of work may take.
pub(crate) const OF_AMOUNT: Duration = Duration::from_secs(7 * 24 * 3600);

/// How long the answers of a round are waited for, all together: one deadline, so that no statement
/// of it looks at a clock for that. A server that hangs ends the round then.
pub(crate) fn of_round(length: Duration) -> Patience {
    Patience::Whole(length * 2 + BEYOND)
}

/// How long after the close clients may wait for locks.
pub(crate) const AFTER_CLOSE: Duration = Duration::from_secs(1);

/// Looks after the clients of a round until it is dropped.
pub(crate) struct Watch {
    _until: Sender<()>,
}

/// Ends all waits of an arm for locks when `is_over` says so; none where waits are not ours.
pub(crate) fn watch_lock_waits<'scope>(
    scope: &'scope Scope<'scope, '_>,
    connector: &'scope Connector,
    is_over: impl Fn() -> bool + Send + 'scope,
) -> Option<Watch> {
    let Connector::Engine(arm) = connector else { return None };
    let (until, end) = mpsc::channel::<()>();
    scope.spawn(move || {
        let mut interruption = None;
        // Nothing is ever sent: the channel ends when the watch is dropped.
        while end.recv_timeout(STOP_CHECK) == Err(RecvTimeoutError::Timeout) {
            if interruption.is_none() && is_over() {
                interruption = Some(arm.interrupt_waits());
            }
        }
    });
    Some(Watch { _until: until })
}
