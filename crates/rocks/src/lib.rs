//! RocksDB as a library of the system: the few functions that an arm needs, made safe.
//!
//! ```text
//!   Library ── dlopen("librocksdb.so…") ── 63 functions of rocksdb/c.h, by name
//!      │
//!   Database ── open(directory, options as text) ── put · put_all · get · walk · flush · property
//!      │                                                                 │
//!      │                                             forwards or backwards from a key
//!   TransactionDatabase ── Transaction ── begin · get · get_for_update · put · walk · commit
//! ```
//!
//! The library is looked up when it is first asked for, not when dbdyno is linked: no C++ is
//! compiled, no header is read, and a dbdyno that was built on a machine with RocksDB runs on one
//! without. Only the C API is used, whose functions keep their names and their arguments from
//! release to release; those used here exist since 5.x, except some of transactions.
//! Options are given as the text that RocksDB itself writes into its OPTIONS files, so that no
//! option needs a function of its own, and RocksDB reports the options that it does not know.
//!
//! All unsafe calls of foreign functions are in this crate.

mod api;
mod database;
mod held;
mod library;
mod transactions;

pub use database::{Database, WriteDurability};
pub use held::{RocksError, WalkDirection};
pub use library::{Library, NoLibrary};
pub use transactions::{RocksTransaction, TransactionDatabase};
