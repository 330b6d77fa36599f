//! The experiment.
//!
//! ```text
//!   Plan ──▶ station::Station ×2     servers started, tables filled with the same rows
//!        ──▶ course::Course          stages: warm-up, rounds in pairs, randomised, settling
//!        ──▶ judge::compare          pairs → log-ratios → interval → verdict
//! ```
//!
//! Data is loaded once per arm; every round opens fresh connections, so that the replicates differ
//! in what a restart of the client changes, too. A run that is stopped or killed is a shorter run:
//! each round is in the store before the next one begins.
//!
//! This is the only crate that ties the others into a run.

mod arrivals;
mod beside;
mod between;
mod canary;
mod capture;
mod cost;
pub mod count;
mod course;
mod curves;
mod discoveries;
pub mod doctor;
mod drift;
pub mod ending;
mod entrance;
mod error;
mod expectation;
pub mod experiment;
mod extension;
mod grain;
mod guest;
mod hiccup;
pub mod history;
mod hypothesis;
mod image;
mod insert_benchmark;
pub mod judge;
mod laws;
mod loads;
pub mod looks;
mod mechanism;
mod metrics;
mod neighbours;
mod nest;
pub mod outlook;
mod placement;
mod pragma;
mod provenance;
mod refill;
mod response;
pub mod resume;
mod row_cost;
#[cfg(test)]
mod sample;
pub mod saturation;
mod search;
mod self_test;
mod settle;
mod sift;
mod slices;
mod standstill;
pub mod station;
mod stationary;
mod stored;
mod topology;
mod track;
mod upgrade;
mod warmth;
pub mod watch;
mod yardstick;

pub use arrivals::read_recording;
pub use dbdyno_load::Clock;
pub use error::LabError;
pub use expectation::outcomes;
pub use experiment::{Lab, Order, clock_of, extend, measure, resume, survey};
pub use extension::{Extension, extended};
pub use judge::compare;
pub use loads::check;
pub use looks::{price_of, spread_of};
pub use outlook::{End, Numbers, Outlook, USUAL_POWER, Wish, aim};
pub use resume::Remaining;
pub use self_test::self_tests;
pub use stored::compare_stored;
pub use watch::{Progress, Watch};
