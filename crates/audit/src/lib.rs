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
//! Each way in which somebody was once misled is a rule in one table ([`rules`]): what it compares,
//! its weight, the sentence for the reader, and its [`sources`]. Problems that other crates detect,
//! such as a saturated client or work of others, are in the same table by the code of their
//! warning, so that one page has all of them.
//!
//! A setting of two releases that nobody set is a *default that changed*: varied by the release,
//! part of what an upgrade comparison must show, and rarely a reason to withhold the verdict. Two
//! such defaults once made half of a loss, so that none is called harmless: `dbdyno explain` finds
//! out by experiment which of them matter for a load. The same setting at two values of one release
//! is a mistake, or a question that was not asked: there a rule weighs more.
//!
//! A fact that was observed on one side only is reported as such, and the other value is not
//! guessed.
//!
//! **Invariant:** pure: facts in, inequalities and sentences out.

mod diff;
mod pattern;
pub mod rules;
pub mod sources;
mod told;
mod topic;
mod varied;

pub use diff::audit_arms;
pub use rules::rule_key_of;
pub use told::{AuditWarning, RuleTold, all_rules, audit_warnings, rules_as_markdown};
pub use topic::Topic;
pub use varied::MEANT;
