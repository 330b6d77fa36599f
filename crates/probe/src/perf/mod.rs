//! Files of `perf record` as stacks of functions.
//!
//! ```text
//!   perf.data ─▶ samples in windows of time, of the processes of an arm
//!                  │  maps: which file an address is of
//!                  ▼  symbols: which function, inlined ones each a frame
//!                main;do_command;row_search_mvcc 12
//! ```
//!
//! All processors are sampled, and what is not wanted is left out here. Stacks are followed by
//! frame pointers, which MySQL and MariaDB have; of functions that were built without them the
//! caller is missing.

mod allowance;
mod data;
mod maps;
mod program;
mod sections;
mod space;
mod symbols;
mod units;

pub use data::{SampleKind, Stacks, Window, is_perf_data, read_stacks};
