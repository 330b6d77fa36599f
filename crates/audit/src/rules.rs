//! The rules: how we were, or others were, misled before.
//!
//! The first rule that looks at a fact has it. What no rule looks at is an *other setting*.

use std::collections::HashMap;
use std::sync::LazyLock;

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

/// The forms of all rules with the place of the rule: those that name one fact, by it, and those
/// with a star, in the order of rules. A server has hundreds of settings, and the rules a thousand
/// forms.
struct FactForms {
    exact: HashMap<&'static str, usize>,
    starred: Vec<(usize, &'static str)>,
}

static FORMS: LazyLock<FactForms> = LazyLock::new(|| {
    let mut forms = FactForms { exact: HashMap::new(), starred: Vec::new() };
    for (place, rule) in RULES.iter().enumerate() {
        let Looks::Facts(of_rule) = rule.looks_at else { continue };
        for form in of_rule {
            if form.contains('*') {
                forms.starred.push((place, form));
            } else {
                forms.exact.entry(form).or_insert(place);
            }
        }
    }
    forms
});

/// The rule that has this fact.
pub(crate) fn rule_of(fact: &str) -> Option<&'static Rule> {
    let exact = FORMS.exact.get(fact).copied();
    let earlier = FORMS.starred.iter().take_while(|(place, _)| exact.is_none_or(|at| *place < at));
    let starred = earlier.into_iter().find(|(_, form)| matches_pattern(form, fact));
    Some(&RULES[starred.map(|(place, _)| *place).or(exact)?])
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the first sentence of the module says, form by form.
    fn first_of_all(fact: &str) -> Option<&'static Rule> {
        RULES.iter().find(|rule| match rule.looks_at {
            Looks::Facts(forms) => forms.iter().any(|form| matches_pattern(form, fact)),
            Looks::Warnings(_) => false,
        })
    }

    #[test]
    fn each_form_leads_to_the_first_rule_that_has_it() {
        for rule in RULES {
            let Looks::Facts(forms) = rule.looks_at else { continue };
            for form in forms {
                for fact in [form.replace('*', "x"), form.replace('*', ""), format!("{form}x")] {
                    assert_eq!(rule_of(&fact), first_of_all(&fact), "{fact}");
                }
            }
        }
        assert_eq!(rule_of("nobody.knows.it"), None);
    }

    proptest! {
        #[test]
        fn any_name_leads_to_the_same_rule(
            kind in "variable|setting|server|table.t|topology|host", name in "[a-z_]{0,12}",
        ) {
            let fact = format!("{kind}.{name}");
            prop_assert_eq!(rule_of(&fact), first_of_all(&fact));
        }
    }
}
