//! The checker, held against oracles, published histories and damaged input.

mod conflicts;
mod cycles;
mod exhaustive;
mod formats;
mod history;
mod late;
mod lattice;
mod levels;
mod objects;
mod online;
mod records;
mod round_trip;
mod server_log;
mod small;
mod stores;
