//! RocksDB, as the system has it.

mod database;
mod transactions;
