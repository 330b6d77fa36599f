//! What transactions may do to each other: cases that have a name, and all small interleavings.
//!
//! ```text
//!   stories/*.txt ──parse──▶ Case: steps, and what must be read for the anomaly to have happened
//!                              │
//!                    lab plays it on a server ──▶ answers ──judge──▶ occurs · waits · error · …
//!
//!   Shape (transactions × keys × operations) ──schedules──▶ every order, once up to symmetry
//!                              │
//!                    lab plays them ──▶ reads, rows left ──serial──▶ is there an order of whole
//!                                                                    transactions that does that?
//! ```
//!
//! Nothing here speaks to a server: text and answers in, verdicts out.

pub mod case;
pub mod catalog;
mod condition;
pub mod interleaving;
mod judge;
mod parse;
mod possible;
mod reply;
mod rows;
pub mod serial;

pub use case::{Case, PromiseFamily, StepAction, StoryStatement, StoryStep};
pub use catalog::published_cases;
pub use interleaving::{Interleaving, InterleavingSize, KeyOperation};
pub use judge::{PlayedStep, faulty_statement, judge_case};
pub use parse::{CaseError, parse};
pub use reply::{StatementAnswer, StatementReply};
