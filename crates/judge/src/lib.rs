//! From a stored run to an answer.
//!
//! ```text
//!   rounds ──pairs──▶ exclusion ──▶ judged ──▶ cell ──▶ comparison ──▶ family: correction for
//!              │          │           │          ▲          │          many cells
//!              │          │           │       cautions      ├─ curves, row_costs, mechanisms,
//!              │          │           │                     │  counts, insert_benchmark
//!              │     blind to rates   └─ by rates (sequential: looked at on the way),
//!              │                         or response times
//!              └─ variance: by filling of the tables and restart of the servers
//!
//!   ledger ── where the time of an operation goes, by layer (layers) where it was counted
//!   arms ── more than two: a comparison for each pair that is asked for, in one family
//!   stored ── two runs compared      expectation ── predictions of an experiment
//!   history ── change points over many runs      extension ── the rule of an extended run
//!   forecast ── what a plan will find and cost by the same rules, and when a cell ends
//! ```
//!
//! Pure: no I/O and no clock; a run that was stopped is judged by the same rules as a complete one.

mod arms;
pub mod cautions;
mod cell;
mod comparison;
mod counts;
mod curves;
mod error;
mod exclusion;
mod expectation;
mod extension;
mod family;
mod figures;
pub mod forecast;
pub mod history;
mod insert_benchmark;
mod judged;
mod layers;
mod ledger;
pub mod mechanisms;
mod metrics;
mod pairs;
mod published;
mod rate_unit;
mod replicates;
pub mod response;
mod row_costs;
pub mod sample;
pub mod sequential;
mod stored;
mod variance;
mod work;

pub use arms::{as_arms, compare_arms, compare_pair};
pub use comparison::compare_run;
pub use error::JudgeError;
pub use expectation::figure_outcomes;
pub use ledger::cell_ledger;
pub use published::{RunFigures, agreement_of, replicate};
pub use stored::compare_stored;
pub use work::compare_work;
