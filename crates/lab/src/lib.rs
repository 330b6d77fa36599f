//! The experiment.
//!
//! ```text
//!   experiment ──▶ all_arms ──▶ stations   servers started, tables filled with the same rows
//!       │
//!       └──▶ stages     warm-up, rounds in random blocks, settling; what is measured is stored
//!              ├── driver       asks one arm in one cell        warm_up, pauses, cost, search …
//!              ├── host_check   what the host did between rounds: canaries
//!              └── insert_benchmark, count    what has a course of its own
//!
//! ```
//!
//! Data is loaded once per arm; every round opens fresh connections, so that replicates also
//! include the variance between restarts of the client. A run that is stopped or killed is a
//! shorter run: each round is in the store before the next one begins.
//!
//! This is the only crate that ties the others into a run.

mod all_arms;
mod arm;
mod arrivals;
mod beside;
mod canaries;
mod capture;
mod checks;
mod connecting;
mod cost;
pub mod count;
pub mod doctor;
mod driver;
pub mod ending;
mod error;
pub mod experiment;
mod host;
mod host_check;
mod hypothesis;
pub mod input;
mod insert_benchmark;
mod laboratory;
mod mechanism;
mod neighbours;
mod pace;
mod pauses;
mod placement;
mod polling;
pub mod profile;
mod promise;
mod recorded;
mod refill;
mod remaining_time;
mod resting;
pub mod resume;
mod room;
mod search;
mod self_test;
mod settle;
mod stages;
mod standstill;
mod topology;
mod warm_up;
pub mod watch;

pub use arm::{Restores, SetUp, Station, connector_of_url, open_station, wants_password};
pub use arrivals::read_recording;
pub use capture::{blockers_of, deadlocks_of};
pub use checks::check_plan;
pub use dbdyno_load::Clock;
pub use dbdyno_probe::perf::Stacks;
pub use dbdyno_wire::cut_all;
pub use error::LabError;
pub use experiment::{ExperimentOrder, TrialOf, extend, resume, run_experiment, survey_arms};
pub use laboratory::{Lab, clock_of};
pub use profile::{ArmProfile, import_stacks, profile_arms};
pub use promise::{promise_family, promised_level};
pub use self_test::self_tests;
pub use watch::{Progress, Watch, for_people, left_for_people};
