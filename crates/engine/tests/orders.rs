//! Large protocols in many random orders of their threads, in the world of shuttle.
//!
//! ```text
//!   cargo test -p dbdyno-engine --features shuttle --test orders
//! ```

mod commit_shuttle;
mod depth;
mod locks_shuttle;
mod replica_shuttle;
mod sessions_shuttle;
