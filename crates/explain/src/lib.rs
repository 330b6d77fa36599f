//! Which causes make the difference between two arms, found by experiment.
//!
//! ```text
//!   facts of both arms ──suspects──▶ what can be made equal, and how a target says so
//!                                        │
//!   trials so far ─────search──▶ sets of suspects to be made equal next ──▶ (lab measures them)
//!                        │
//!                        └─ nothing left to try ──▶ shares ──▶ Explanation
//! ```
//!
//! A trial is the test arm with some of its differences to base reverted. It is an ordinary arm, so
//! that a trial run is an ordinary comparison which anybody can repeat. The difference that remains
//! when all of them are reverted is the *code*. If test cannot take a value of base, base gets the
//! value of test instead.
//!
//! **Invariant:** pure: recorded facts and trials in, statements with evidence out. It names the
//! next trials; `lab` carries them out.

mod ablation;
mod beginning;
mod blockers;
mod code;
mod deadlocks;
pub mod decisions;
mod effect;
mod equal;
mod evidence;
pub mod histograms;
mod holes;
mod planner;
mod planner_settings;
mod plans;
mod pointing;
pub mod profile;
#[cfg(test)]
mod published;
mod search;
mod shares;
mod stability;
mod suspects;
mod usual;

pub use ablation::{smallest, written as cause_written};
pub use blockers::blockers;
pub use code::code_changes;
pub use deadlocks::{
    DeadlockGap, DeadlockReading, DeadlockTelling, GatheredDeadlocks, LogDirection, LogKind,
    LogRepair, deadlock_clusters, gathered as gathered_deadlocks, merged as merged_deadlocks,
    read_deadlocks, signature_written, statement_with_holes,
};
pub use effect::CostEstimate;
pub use equal::{is_limit, made_equal, taken};
pub use evidence::{
    Starts, TriedArm, beside_base, by_rate, followers, learn, named_in, of_base, pooled, relative,
    tried_arm,
};
pub use holes::with_holes;
pub use planner_settings::planner_settings;
pub use plans::{all_plan_changes, plan_changes};
pub use pointing::{Pointing, Resource};
pub use search::{NextTrials, SearchFinding, SearchLimits, Set, SetAnswer, look, proved, refused};
pub use shares::{CauseTrials, account, subsets, told_apart, with_given, with_not_told_apart};
pub use stability::{plan_stability, sampled_plans, written as samples_written};
pub use suspects::{Suspects, is_condition_of_process, is_same_program, leads, suspects};
