//! The checker, held against oracles, published histories and damaged input.

mod conflicts;
mod exhaustive;
mod formats;
mod history;
mod lattice;
mod levels;
mod online;
mod records;
mod server_log;
