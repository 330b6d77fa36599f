//! The loads, walked through in two places that are each other's oracle: what they do, load by
//! load.
//!
//! ```text
//!   MariaDB 10.11 ── PostgreSQL 15      servers of our own; left out where none can be had
//!   the engine ───── SQLite             in directories; always
//! ```

mod heap;
mod insert_benchmark;
mod place;
mod refill;
mod run;
mod table;
mod walk;
