//! The MySQL and PostgreSQL protocols, by hand.
//!
//! ```text
//!            Endpoint ──connect──▶ mysql::Connection      postgres::Connection
//!                                        │    both are `Client`    │
//!   hot path, no allocation:             └─ execute, fetch, run ─┘
//!   control path, may allocate:              prepare, query, bulk
//!   for loops over many connections:      send_execute, send_run, receive  (`Pollable`)
//!   the other side of the wire:          mock::MockServer (scripted: delays, stalls, errors)
//!                                        mysql::server    (the server's side, for `serve`)
//! ```
//!
//! Written by hand because the client is part of every number that dbdyno reports: a generic driver
//! costs 1 to 3 µs of user time per statement, as much as the server's own work on a point query.
//! Sockets are blocking, one connection belongs to one thread, and a thread may have many: what is
//! received without waiting is read by the same code. Encryption lies between a connection and its
//! socket (`tls`); from outside of both a deadline is kept (`cutoff`). This crate knows nothing of
//! loads.

pub mod client;
mod cutoff;
pub mod error;
mod kept;
mod key_file;
pub mod listener;
pub mod mock;
pub mod mysql;
pub mod postgres;
pub mod rows;
mod server_key;
pub mod stream;
pub mod tls;

pub use client::{Args, BulkTarget, Client, Param, Pollable, Rows, StatementCounts, StatementId};
pub use cutoff::{AllCut, Patience, cut_all, is_all_cut};
pub use error::{ServerError, WireError};
pub use listener::Listener;
pub use rows::RowBuffer;
pub use server_key::ServerKey;
pub use stream::{Endpoint, SocketStream, SocketWatch};
pub use tls::{Encryption, Security, ServerSecurity};
