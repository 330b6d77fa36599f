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
mod between;
mod canary;
mod capture;
mod cost;
pub mod count;
mod course;
pub mod doctor;
pub mod ending;
mod entrance;
mod error;
pub mod experiment;
mod guest;
mod hiccup;
mod hypothesis;
mod image;
mod insert_benchmark;
mod loads;
mod mechanism;
mod neighbours;
mod pace;
mod placement;
mod pragma;
mod provenance;
mod refill;
pub mod resume;
mod search;
mod self_test;
mod settle;
mod standstill;
pub mod station;
mod topology;
mod track;
mod upgrade;
mod warmth;
pub mod watch;

pub use arrivals::read_recording;
pub use dbdyno_load::Clock;
pub use error::LabError;
pub use experiment::{Lab, Order, clock_of, extend, measure, resume, survey};
pub use loads::check;
pub use self_test::self_tests;
pub use watch::{Progress, Watch};
