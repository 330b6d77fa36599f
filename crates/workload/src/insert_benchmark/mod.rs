//! The Insert Benchmark, after Mark Callaghan's: inserts and deletes at both ends of a table whose
//! three secondary indexes are hit at random, then queries while the writing goes on.
//!
//! ```text
//!   l.i0   nr1 rows in the order of the key                    100 rows a commit
//!   l.x    100 rows, then the three secondary indexes
//!   l.i1   4/5 of nr2 rows, as many deleted at the other end    50
//!   l.i2   1/5 of nr2 rows, as many deleted                      5
//!   qrN    range queries, unthrottled, while N rows/s are       50
//!   qpN    point queries,  inserted and deleted for each client
//!
//!              deleted here                                   inserted here
//!                   ▼                                               ▼
//!   transactionid   ░░░░░░░░░░████████████████████████████████████████
//!                   └ the debt: versions that the server must still step over to find the first
//!                     living row. Finding it ("getmin") is timed by itself.
//! ```
//!
//! Each client has a table of its own, `pi1 … piN`. A row is a pure function of the seed, the
//! client and the row's number; ids are given by the server. Facts of the schema, the statements
//! and the sizes: <https://github.com/mdcallag/mytools>, `bench/ibench`.
//!
//! Where we differ: the time in a row is its number, a thousand rows to the second, and not the
//! time of day; a writer is paced by the intended time of each commit, and not by sleeping off what
//! is left of a second.

mod dataset;
mod load;
mod partners;
mod role;
mod rows;
mod sizes;
pub mod sql;
mod steps;

pub use dataset::PurchaseTables;
pub use partners::{Class, PartnerCrew, Position};
pub use role::{ConnectionRole, RolePart};
pub use rows::{InsertRow, InsertRows};
pub use sizes::{Deletes, Sizes};
pub use steps::{ABOUT, BenchmarkStep, LOAD_STEPS, NAME, Work, expand_benchmark};
