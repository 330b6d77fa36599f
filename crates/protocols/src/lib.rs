//! Isolation protocols as state machines, explored to their end.
//!
//! ```text
//!   rules (a row of a table) ─▶ single ┐
//!                            sharded ──┴─▶ explore ─▶ states, the nearest first
//!                                                        │ outcome
//!                                                        ▼
//!                                             check: has it the level that was promised?
//! ```
//!
//! **Invariant:** pure: no I/O and no clock; what a protocol lets through is judged by `check`,
//! which knows no protocol.

mod catalog;
mod explore;
mod fact;
mod judged;
mod level;
mod outcome;
mod results;
mod rules;
mod schedules;
mod script;
mod sharded;
mod single;

pub use catalog::Named;
pub use explore::{Edge, Graph, Keep, Protocol};
pub use fact::{Fact, Facts, Scene};
pub use judged::{Broken, Judged, Transactional, judge};
pub use level::LEVELS;
pub use outcome::{Did, Line, MOST, Ops, Outcome, Version};
pub use results::{Produced, Results, Share};
pub use rules::{Entry, Fault, Locks, ONE_SERVER, Reads, Refuses, Rules, View};
pub use schedules::Schedules;
pub use script::{Answer, Reply};
pub use sharded::{ShardAction, ShardState, Sharded};
pub use single::{Action, Names, Phase, Single, State};
