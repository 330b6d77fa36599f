//! The reference engine compared with RocksDB's `TransactionDB`: the same transactions, in the form
//! that suits each best.
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
//!   answers (what a client would get) · contents (the final data)
//! ```
//!
//! Neither side parses SQL or has a connection. Reads are consistent reads of one snapshot for each
//! transaction, writes lock rows and see what was committed last. Sums of the answers and of
//! the final data of both sides are compared; a benchmark of sides that differ in them is void. The
//! one thing that only one side does is in favour of RocksDB: it locks no gaps.

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
pub use side::{RivalClient, RivalDatabase, RivalDurability};
