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
//! A trial is the test arm with some of its differences to base taken back: an ordinary arm, so
//! that a trial run is an ordinary comparison which anybody can repeat. What is left when all of
//! them are taken back is the *code*. What test does not take is tried from the other side: base is
//! given what test has.
//!
//! **Invariant:** pure: recorded facts and trials in, statements with evidence out. It names the
//! next trials; somebody else carries them out.

mod ablation;
mod code;
pub mod decisions;
mod equal;
mod evidence;
pub mod histograms;
mod holes;
mod planner;
mod plans;
pub mod profile;
mod search;
mod shares;
mod stability;
mod suspects;
mod usual;

pub use ablation::{planner_settings, smallest, written as cause_written};
pub use code::code_changes;
pub use equal::{made_equal, taken};
pub use evidence::{
    Starts, TriedArm, by_rate, followers, instructions, learn, named_in, pooled, relative,
    tried_arms,
};
pub use holes::with_holes;
pub use plans::{all_plan_changes, plan_changes};
pub use search::{Found, Limits, Look, Set, Told, Value, look};
pub use shares::{account, subsets, with_given};
pub use stability::{plan_stability, sampled_plans, written as samples_written};
pub use suspects::{Suspects, leads, suspects};
