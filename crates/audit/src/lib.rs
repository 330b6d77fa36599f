//! Whether two arms are equal in everything but what the user varied.
//!
//! ```text
//!   facts of base ┐                    varied      the question itself: version, product, what
//!                 ├─ unequal ─ rules ─             was written behind the target
//!   facts of test ┘                    blocks      no verdict
//!                                      annotates   a sentence beside the verdict
//!                                      harmless    counted
//! ```
//!
//! Each way in which the source texts were once misled is a rule in one table ([`rules`]): what it
//! looks at, what it weighs, what the reader is told, and where that was learnt. What other
//! instruments find by themselves, a saturated client or work of others, stands in the same table
//! by the code of its warning, so that one page has all of it.
//!
//! A setting of two releases that nobody set is a *default that changed*: varied by the release,
//! part of what an upgrade comparison must show, and rarely a reason to withhold the verdict. Two
//! such defaults once made half of a loss, so that none is called harmless: `dbdyno explain` finds
//! out by experiment which of them matter for a load. The same setting at two values of one release
//! is a mistake, or a question that was not asked: there a rule weighs more.
//!
//! What was observed on one side only is told as such and never guessed.
//!
//! **Invariant:** pure: facts in, inequalities and sentences out.

mod diff;
mod pattern;
pub mod rules;
mod told;
mod topic;
mod varied;

pub use diff::audit;
pub use rules::rule_key_of;
pub use told::{Finding, findings, handbook};
pub use topic::Topic;
pub use varied::MEANT;
