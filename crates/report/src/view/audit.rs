//! Where the arms are unequal, in the words of the JSON contract.

use dbdyno_model::{Audit, Inequality, Weight};
use serde::Serialize;

/// What is known of both arms, compared fact by fact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditView {
    /// Facts that are unequal because of what the user varied.
    pub varied: usize,
    /// Facts that withhold the verdict.
    pub blocks: usize,
    /// Facts that the reader must know.
    pub annotates: usize,
    /// Facts that mean nothing for the answer.
    pub harmless: usize,
    /// Facts that are equal.
    pub equal: usize,
    /// All that are unequal, by weight, topic and name.
    pub unequal: Vec<InequalityView>,
}

/// A fact that is not the same in both arms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InequalityView {
    /// For example `variable.sync_binlog`.
    pub name: String,
    /// Its value in the base arm; `None` if it is not there, or was not observed.
    pub base: Option<String>,
    /// The same in the test arm.
    pub test: Option<String>,
    /// `varied`, `blocks`, `annotates` or `harmless`.
    pub weight: &'static str,
    /// `different`, `default`, `new`, `gone` or `not observed`.
    pub change: &'static str,
    /// Key of the rule that says so.
    pub rule: &'static str,
    /// What it is about.
    pub topic: &'static str,
}

impl AuditView {
    /// Mirrors an audit.
    pub fn new(audit: &Audit) -> AuditView {
        let count = |weight| audit.of_weight(weight).count();
        AuditView {
            varied: count(Weight::Varied),
            blocks: count(Weight::Blocks),
            annotates: count(Weight::Annotates),
            harmless: count(Weight::Harmless),
            equal: audit.equal,
            unequal: audit.unequal.iter().filter(is_shown).map(InequalityView::new).collect(),
        }
    }

    /// Whether nothing was recorded of either arm.
    pub fn is_empty(&self) -> bool {
        self.equal == 0 && self.unequal.is_empty()
    }
}

/// What led to plans is pages of raw material; what follows from it stands with the plans.
fn is_shown(one: &&Inequality) -> bool {
    one.rule != "plan-decisions"
}

impl InequalityView {
    fn new(one: &Inequality) -> InequalityView {
        InequalityView {
            name: one.name.clone(),
            base: one.base.clone(),
            test: one.test.clone(),
            weight: one.weight.name(),
            change: one.change.name(),
            rule: one.rule,
            topic: one.topic,
        }
    }
}
