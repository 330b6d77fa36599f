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

pub use ablation::{cause_text, smallest_set};
pub use blockers::blocker_tree;
pub use code::{code_changes, unequal_nameless_shares};
pub use deadlocks::{
    DeadlockGap, DeadlockReading, DeadlockTelling, GatheredDeadlocks, LogDirection, LogKind,
    LogRepair, deadlock_clusters, gather_deadlocks, merge_clusters, read_deadlocks,
    signature_written, statement_with_holes,
};
pub use effect::CostEstimate;
pub use equal::{is_limit, made_equal};
pub use evidence::{
    Starts, TriedArm, beside_base, by_rate, named_in, of_base, pool_starts, record_answer,
    relative_cost, suspect_followers, tried_arm,
};
pub use holes::with_holes;
pub use planner_settings::planner_settings;
pub use plans::{all_plan_changes, plan_changes};
pub use pointing::{Pointing, Resource};
pub use search::{
    NextTrials, SearchFinding, SearchLimits, Set, SetAnswer, next_trials, proved_causes,
    refused_suspects,
};
pub use shares::{
    CauseTrials, all_subsets, difference_account, told_apart, with_given, with_not_told_apart,
};
pub use stability::{plan_stability, sampled_plans, sampled_plans_text};
pub use suspects::{Suspects, find_leads, find_suspects, is_condition_of_process, is_same_program};
