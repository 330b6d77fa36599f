//! Connections that outlive their round.
//!
//! ```text
//!   warm-up ──put──▶ ┌──────┐ ──take──▶ round ──put──▶ ┌──────┐ ──take──▶ round …
//!     connects       │ Kept │                          │ Kept │
//!                    └──────┘                          └──────┘
//! ```
//!
//! A young connection is slow: a process of PostgreSQL begins with no catalog in its memory and
//! with nothing of the shared buffers in its page table. Behind a lead-in of 50 ms version 15
//! answered 10 % fewer point queries in one tenth of a second, and 5 % fewer in the next; with many
//! clients that is many seconds, for what counts is what each connection has been asked.
//! Applications keep theirs for hours. So clients take up those of the round before, as warm as it
//! left them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use dbdyno_wire::{Client, StatementId};

use crate::parallel::close_clients;

/// Connections of the clients of one load to one life of a server, while no round uses them.
#[derive(Default)]
pub struct KeptConnections {
    /// By the client's number.
    seats: Mutex<BTreeMap<u32, Seat>>,
}

/// A connection with all statements of a load prepared on it.
pub(crate) struct Seat {
    pub(crate) client: Box<dyn Client>,
    /// By statement of the load; `None` for those sent as text.
    pub(crate) prepared: Vec<Option<StatementId>>,
}

impl KeptConnections {
    /// The connection of a client, if it has one.
    pub(crate) fn take_seat(&self, number: u32) -> Option<Seat> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner).remove(&number)
    }

    /// Keeps a connection on which nothing is under way.
    pub(crate) fn keep_seat(&self, number: u32, seat: Seat) {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner).insert(number, seat);
    }
}

impl Drop for KeptConnections {
    /// Takes leave of the server, and waits until it has let go: the next ones need the places.
    fn drop(&mut self) {
        let seats = self.seats.get_mut().unwrap_or_else(PoisonError::into_inner);
        close_clients(std::mem::take(seats).into_values().map(|seat| seat.client).collect());
    }
}

impl fmt::Debug for KeptConnections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}
