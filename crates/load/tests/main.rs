//! Clients of every kind, on the embedded arms and on the mock server.

mod again;
mod closed;
mod crew;
mod engine;
mod interleave;
mod open;
mod patience;
mod record;
#[cfg(feature = "rocksdb")]
mod rocks;
mod shards;
mod sqlite;
mod tpcc;
