//! Answers in the formats where people already look: a workflow of GitHub, a report of tests,
//! `benchstat`.
//!
//! ```text
//!   Views + what a gate says ──► comparison ┐              ┌─► github  an annotation for each
//!                                           ├─► checks ────┤
//!   a history, and the same ──► `history`   ┘  (neutral)   └─► junit   a test for each
//!
//!   Views ──► benchfmt   a line for each round
//!         ──► lines      rounds and the result, a line each
//! ```
//!
//! A check fails where the gate does, and the gate is a check of its own: it fails where the
//! command ends with 1, and is an error where that ends with 3. Without a gate nothing fails: a
//! comparison is no test of anything then, and a verdict is told as one. A command that could not
//! be carried out is one check, an error with the reason.

mod benchfmt;
mod checks;
mod comparison;
mod github;
mod junit;
mod lines;

pub use benchfmt::benchfmt_report;
pub(crate) use checks::status_of_part;
pub use checks::{CheckStatus, CheckSuite, GateResult, NamedCheck, failure_checks};
pub use comparison::{GateCheck, comparison_checks};
pub use github::{gate_markdown, github_annotations};
pub use junit::junit_report;
pub use lines::{error_line, result_line, round_line};
