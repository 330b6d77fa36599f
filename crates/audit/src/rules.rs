//! The rules: how we were, or others were, misled before.
//!
//! The first rule that looks at a fact has it. What no rule looks at is an *other setting*.

use dbdyno_model::Weight;

use crate::pattern::matches_pattern;
use crate::sources::{Citation, MEASURED_CAUSES};
use crate::topic::Topic;

mod instance;
mod make;
mod table;

pub use table::RULES;

/// One way to be misled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Its name, which is also the code of its warning, and a word of `--varied`.
    pub key: &'static str,
    /// Heading of what it finds.
    pub topic: Topic,
    /// What it looks at.
    pub looks_at: Looks,
    /// What it weighs where the releases do not explain it.
    pub weight: Weight,
    /// What it weighs where it follows from two releases.
    pub of_release: Weight,
    /// How far two numbers may be apart.
    pub tolerance: Option<Tolerance>,
    /// What it means and what to do.
    pub advice: &'static str,
    /// Where a reader can look up that it is so; at least one.
    pub sources: &'static [Citation],
}

/// What a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Looks {
    /// Facts of these forms; a star stands for any characters.
    Facts(&'static [&'static str]),
    /// Warnings with these codes, which other instruments give by themselves.
    Warnings(&'static [&'static str]),
}

/// How far two numbers may be apart before they count as unequal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// The larger one, divided by the smaller one.
    pub ratio: f64,
    /// Where both are below this, they are equal.
    pub least: f64,
}

impl Tolerance {
    /// Whether two values are as good as equal. What is no number is not.
    pub(crate) fn allows_difference(self, base: &str, test: &str) -> bool {
        let (Ok(base), Ok(test)) = (base.parse::<f64>(), test.parse::<f64>()) else { return false };
        let (low, high) = (base.min(test), base.max(test));
        high < self.least || high <= low * self.ratio
    }
}

/// The rule that has this fact.
pub(crate) fn rule_of(fact: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| match rule.looks_at {
        Looks::Facts(forms) => forms.iter().any(|form| matches_pattern(form, fact)),
        Looks::Warnings(_) => false,
    })
}

/// Key of the rule that has this fact.
pub fn rule_key_of(fact: &str) -> &'static str {
    rule_of(fact).unwrap_or(&OTHER).key
}

/// What has a setting that no rule looks at.
pub const OTHER: Rule = Rule {
    key: "other-setting",
    topic: Topic::Other,
    looks_at: Looks::Facts(&["*"]),
    weight: Weight::Annotates,
    of_release: Weight::Harmless,
    tolerance: None,
    advice: "it was not asked for: set both alike, or declare it with --varied",
    sources: &[MEASURED_CAUSES],
};
