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

pub use catalog::NamedProtocol;
pub use conform::{Difference, Nonconformity, Tests, difference};
pub use explore::{Graph, Keep, Protocol};
pub use fact::{Facts, Scene, StateFact};
pub use itf::itf;
pub use judged::{BrokenOutcome, ExplorationVerdict, Transactional, judge_outcomes};
pub use level::LEVELS;
pub use outcome::{Did, KeyVersion, MOST, Ops, ProtocolOutcome, ShortSequence};
pub use paths::Cover;
pub use results::{ProducedHistories, Results, Share};
pub use rules::{
    Locks, ONE_SERVER, Passes, ProtocolEntry, Reads, Refuses, RuleFault, Rules, ViewMoment,
};
pub use schedules::Schedules;
pub use sharded::{ShardAction, ShardState, ShardedProtocol};
pub use single::{Names, Phase, Single, SingleAction, SingleState};
