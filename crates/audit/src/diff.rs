//! The difference of two environments.

use std::collections::BTreeSet;

use dbdyno_model::{ArmSpec, Audit, Environment, FactChange, Inequality, PerArm, Weight};

use crate::rules::{self, OTHER, Rule};
use crate::varied::Variation;

const VARIABLE: &str = "variable.";
const SETTING: &str = "setting.";
/// Facts that begin so are there to compare two families; within one its own settings say more.
const NEUTRAL: &str = "neutral.";
/// Bytes of the redo log, of releases that spell them in two ways; of two with one spelling what
/// they are set to says it.
const REDO_BYTES: &str = "variable.innodb_redo_log_bytes";
const REDO_CAPACITY: &str = "variable.innodb_redo_log_capacity";
/// The rule of what each instance has of its own.
const INSTANCE: &str = "instance";
/// Rules of what two families spell and plan in their own ways.
const OF_A_FAMILY: [&str; 6] =
    ["plan", "plan-bounds", "plan-estimate", "plan-misestimate", "histograms", "cost-constants"];

/// Rules of what one of two families does by itself, which is told.
const BY_FAMILY: &str = "foreign-key-indexes";
/// The rule of answers. Two families may spell one answer in two ways, and may as well do different
/// work: which of both it is has to be looked at, and is no reason to measure nothing.
const RESULTS: &str = "results";

/// Compares what is known of both arms, fact by fact.
pub fn audit_arms(arms: &PerArm<&ArmSpec>, facts: &PerArm<&Environment>) -> Audit {
    let varied = Variation::from_arms(arms, facts);
    let families = if arms.base.dialect() == arms.test.dialect() { 1 } else { 2 };
    let names: BTreeSet<&String> = facts.base.facts.keys().chain(facts.test.facts.keys()).collect();
    let mut unequal = Vec::new();
    let all = names.len();
    for name in names {
        let [base, test] = [facts.base, facts.test].map(|facts| facts.facts.get(name).cloned());
        let is_told_otherwise = (families == 1 && name.starts_with(NEUTRAL))
            || (name == REDO_BYTES && spell_redo_alike(facts));
        if is_same(&base, &test) || is_told_otherwise {
            continue;
        }
        let rule = rules::rule_of(name);
        let (of_base, of_test) = (base.as_deref(), test.as_deref());
        let change = change(name, rule, &varied, of_base, of_test);
        let weight = weight(name, rule, change, of_base, of_test, &varied, families);
        let rule = rule.unwrap_or(&OTHER);
        let (rule, topic) = (rule.key, rule.topic);
        unequal.push((
            (weight, topic, change),
            Inequality {
                name: name.clone(),
                base,
                test,
                weight,
                change,
                rule,
                topic: topic.name(),
            },
        ));
    }
    let equal = all - unequal.len();
    // Names are in order already.
    unequal.sort_by_key(|(order, _)| *order);
    Audit { unequal: unequal.into_iter().map(|(_, one)| one).collect(), equal }
}

fn spell_redo_alike(facts: &PerArm<&Environment>) -> bool {
    let [base, test] =
        [facts.base, facts.test].map(|facts| facts.facts.contains_key(REDO_CAPACITY));
    base == test
}

/// Whether two values are one, however they are written: a release says 75 where another says
/// 75.000000.
fn is_same(base: &Option<String>, test: &Option<String>) -> bool {
    base == test || parsed_number(base).is_some_and(|base| Some(base) == parsed_number(test))
}

fn parsed_number(value: &Option<String>) -> Option<f64> {
    value.as_deref()?.parse::<f64>().ok()
}

fn change(
    name: &str,
    rule: Option<&Rule>,
    varied: &Variation,
    base: Option<&str>,
    test: Option<&str>,
) -> FactChange {
    let is_setting = is_setting(name) || name.starts_with(SETTING);
    match (base, test) {
        (Some(_), Some(_)) if varied.is_default(name) && !varied.has_fact(name, rule) => {
            FactChange::Default
        }
        (Some(_), Some(_)) => FactChange::Different,
        (None, _) if is_setting => FactChange::New,
        (_, None) if is_setting => FactChange::Gone,
        _ => FactChange::Unseen,
    }
}

/// Whether this is what a server is set to.
fn is_setting(name: &str) -> bool {
    name.starts_with(VARIABLE)
}

fn weight(
    name: &str,
    rule: Option<&Rule>,
    change: FactChange,
    base: Option<&str>,
    test: Option<&str>,
    varied: &Variation,
    families: usize,
) -> Weight {
    if varied.has_fact(name, rule) {
        return Weight::Varied;
    }
    let rule = rule.unwrap_or(&OTHER);
    if rule.of_release == Weight::Varied && varied.version {
        return Weight::Varied;
    }
    if let (Some(tolerance), (Some(base), Some(test))) = (rule.tolerance, (base, test))
        && tolerance.allows_difference(base, test)
    {
        return Weight::Harmless;
    }
    let of_a_family = families > 1 && OF_A_FAMILY.contains(&rule.key);
    match change {
        FactChange::Unseen => Weight::Harmless,
        FactChange::New | FactChange::Gone if varied.version => Weight::Varied,
        FactChange::New | FactChange::Gone | FactChange::Different if of_a_family => {
            Weight::Harmless
        }
        FactChange::Default if of_a_family => Weight::Harmless,
        FactChange::Different if families > 1 && rule.key == BY_FAMILY => rule.of_release,
        FactChange::Different if families > 1 && rule.key == RESULTS => Weight::Annotates,
        // What was set may well be why another plan was chosen.
        FactChange::Different if rule.key == "plan" && varied.affects_plan() => rule.of_release,
        FactChange::New | FactChange::Gone | FactChange::Different => rule.weight,
        // Whether it matters for this load is not known: `dbdyno explain` finds out.
        FactChange::Default if is_setting(name) && rule.of_release == Weight::Harmless => {
            if rule.key == INSTANCE { Weight::Harmless } else { Weight::Varied }
        }
        FactChange::Default => rule.of_release,
    }
}
