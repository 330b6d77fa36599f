//! Isolation protocols as state machines, explored to their end.
//!
//! ```text
//!   rules (a row of a table) ─▶ single ┐
//!                            sharded ──┴─▶ explore ─▶ states, the nearest first
//!                                                        │ outcome
//!                                                        ▼
//!                                             check: has it the level that was promised?
//!   level · results · schedules   permissiveness
//!   paths · conform               tests for servers
//!   itf                           traces for others
//! ```
//!
//! **Invariant:** pure: no I/O and no clock; what a protocol lets through is judged by `check`,
//! which knows no protocol.

mod catalog;
mod conform;
mod explore;
mod fact;
mod itf;
mod judged;
mod level;
mod outcome;
mod paths;
mod results;
mod rules;
mod schedules;
mod script;
mod sharded;
mod single;

pub use catalog::Named;
pub use conform::{Difference, Kind, Tests, difference};
pub use explore::{Graph, Keep, Protocol};
pub use fact::{Fact, Facts, Scene};
pub use itf::itf;
pub use judged::{Broken, Judged, Transactional, judge};
pub use level::LEVELS;
pub use outcome::{Did, Line, MOST, Ops, Outcome, Version};
pub use paths::Cover;
pub use results::{Produced, Results, Share};
pub use rules::{Entry, Fault, Locks, ONE_SERVER, Passes, Reads, Refuses, Rules, View};
pub use schedules::Schedules;
pub use sharded::{ShardAction, ShardState, Sharded};
pub use single::{Action, Names, Phase, Single, State};
