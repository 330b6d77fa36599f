//! What is asked.
//!
//! ```text
//!   catalog::Load ──compile(dialect, tables, rows, seed)──▶ Program
//!     name, statements as templates                            │
//!                                                fill(client, operation) ──▶ Event
//!   table::Tables ── schema, rows, bulk statements             statements and their parameters
//! ```
//!
//! Everything is a pure function of the seed: row *i* of a table, and operation *k* of client *i*
//! under a load. Both arms therefore hold the same data and are asked the same questions, however
//! fast they answer. This crate knows nothing of threads, clocks or sockets.

pub mod catalog;
pub mod program;
pub mod table;
pub mod template;
pub mod text;

pub use catalog::{Ask, Expect, Group, Load, Step};
pub use program::{Call, Event, Program, Statement, StatementKind, Value};
pub use table::Tables;
