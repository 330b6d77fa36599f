//! The MySQL and PostgreSQL protocols, by hand.
//!
//! ```text
//!            Endpoint ──connect──▶ mysql::Connection      postgres::Connection
//!                                        │    both are `Client`    │
//!   hot path, no allocation:             └── prepare, execute, run ┘
//!   control path, may allocate:              query, bulk
//!   the other side of the wire:          mock::MockServer (scripted: delays, stalls, errors)
//! ```
//!
//! Written by hand because the client is part of every number that dbdyno reports: a generic driver
//! costs 1 to 3 µs of user time per statement, as much as the server's own work on a point query.
//! Sockets are blocking; one connection belongs to one thread. This crate knows nothing of loads.

pub mod client;
pub mod error;
pub mod mock;
pub mod mysql;
pub mod postgres;
pub mod stream;

pub use client::{Args, Client, Outcome, Param, Rows, StatementId};
pub use error::{ServerError, WireError};
pub use stream::{Endpoint, Stream};
