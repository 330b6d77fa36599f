//! What an optimizer has decided on its way to a plan, and where two of them part.
//!
//! ```text
//!   MySQL, MariaDB   optimizer trace ──trace──▶ decisions, in order ─┐
//!   PostgreSQL       EXPLAIN ──────────nodes──▶ nodes, outermost in ─┴─parting──▶ the first that
//!                                                                       is not the same in both
//! ```
//!
//! A trace of some thousand lines is kept as its decisions: at which step, of which table and
//! index, taken or not and why, with how many rows and at what cost. What two optimizers do not
//! agree on first is why their plans differ later; numbers alone never say where to look.
//!
//! Beside it stands the runner-up: the best plan that was not taken, and what it would have cost.

mod nodes;
mod parting;
mod runner_up;
mod trace;

use serde::{Deserialize, Serialize};

pub use nodes::of_nodes;
pub(crate) use parting::plan_parting;
pub(crate) use runner_up::read as read_runner_up;
pub use runner_up::{runner_up, runner_up_text};
pub use trace::of_trace;

/// Decisions that are kept of a statement; a join of many tables weighs thousands of orders.
const DECISIONS_MOST: usize = 200;

/// One decision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// At which step: `range`, `access`, `join order`.
    pub step: String,
    /// Of what: `t2.range_in_b`, or the tables joined so far.
    pub of: String,
    /// Whether it was taken; `None` where there was nothing to decide.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub taken: Option<bool>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
    /// What was decided, where it is more than yes or no: the kind of node, the order of tables.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub how: Option<String>,
    /// Between which bounds, literals as `?`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bounds: Option<String>,
    /// Rows that are expected.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rows: Option<f64>,
    /// At what cost, in the unit of that optimizer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cost: Option<f64>,
    /// How many of them are believed to meet the conditions, in per cent; `None` where all do.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub filtered: Option<f64>,
}

/// Decisions as the text of a fact; empty where there are none.
pub fn decisions_text(decisions: &[Decision]) -> String {
    if decisions.is_empty() {
        String::new()
    } else {
        let kept = &decisions[..decisions.len().min(DECISIONS_MOST)];
        serde_json::to_string(kept).expect("decisions have only names and numbers")
    }
}

/// Decisions from the text of a fact; `None` where it is none.
pub(crate) fn read(text: &str) -> Option<Vec<Decision>> {
    serde_json::from_str(text).ok()
}
