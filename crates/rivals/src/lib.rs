//! The reference engine beside RocksDB's `TransactionDB`: the same questions, asked in the way that
//! suits each best.
//!
//! ```text
//!   work ── transaction k of client i, a pure function of the seed
//!     │
//!   Client ── point · read-write · new-order · payment
//!     │
//!   statements ── of which statements a transaction consists
//!     ├── engine   Session: tables, indexes, next-key locks
//!     └── rocks    Transaction: keys made here, entries of indexes written here
//!     │
//!   answers (what a client would be sent) · contents (what is there in the end)
//! ```
//!
//! Neither side parses SQL or has a connection. Reads are consistent reads of one snapshot for each
//! transaction, writes lock rows and see what was committed last. What both sides answered is added
//! up and so is what both hold in the end; a benchmark of sides that differ in it says nothing.
//! The one thing that only one side does is in favour of RocksDB: it locks no gaps.

mod answers;
mod contents;
mod engine;
mod failure;
mod rocks;
mod side;
mod statements;
mod text;
pub mod work;

pub use answers::Answers;
pub use contents::Contents;
pub use engine::EngineSide;
pub use failure::Failure;
pub use rocks::{OPTIONS, RocksSide};
pub use side::{Client, Durability, Side};
