//! In what the plans of a load changed, by kind: of two plans that differ in more than one, the
//! kind that explains most.
//!
//! ```text
//!   shape      another order of tables, index or kind of access
//!   bounds     the same shape, read between other bounds: 8.0.27 lost one (Wang ch. 8.1.1)
//!   estimate   the same shape and bounds, and many more rows expected: other statistics
//!   misestimate   the same plan, and in one arm other rows are met than it expects: a warning
//! ```
//!
//! With each change stands the first decision in which the optimizers part, what brings the plan of
//! base back on test, what came next to either plan, and columns of which the optimizers know
//! different things, as far as these are known.

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_model::{
    Audit, HistogramDifference, Inequality, PerArm, PlanCause, PlanChange, PlanClass, PlanParting,
    RunnerUp, Weight,
};

use crate::stability::RUNNER_UP;
use crate::{ablation, decisions, histograms};

/// The facts of a statement's plan, and the kind of change that a difference in them is.
const KINDS: [(&str, PlanClass); 5] = [
    ("plan[", PlanClass::Shape),
    ("bounds[", PlanClass::Bounds),
    ("estimate[", PlanClass::Estimate),
    ("q_error[", PlanClass::Misestimate),
    ("q_reads[", PlanClass::Misestimate),
];
/// What is known beside of a statement: its decisions, what brings the plan of base back, and what
/// the optimizer knows of its columns.
const DECISIONS: &str = "decisions[";
const CAUSE: &str = "plan_cause[";
const HISTOGRAMS: &str = "histograms[";

/// What changed in the plans of a load, statement by statement.
pub fn plan_changes(audit: &Audit, load: &str) -> Vec<PlanChange> {
    let mut by_statement: BTreeMap<u32, Vec<(PlanClass, &Inequality)>> = BTreeMap::new();
    for one in audit.unequal.iter().filter(|one| one.weight != Weight::Harmless) {
        if let Some((statement, class)) = of_load(&one.name, load) {
            by_statement.entry(statement).or_default().push((class, one));
        }
    }
    let change = |(statement, mut facts): (u32, Vec<(PlanClass, &Inequality)>)| {
        facts.sort_by_key(|(class, _)| *class);
        let text = |pick: fn(&Inequality) -> &Option<String>| {
            let values = facts.iter().map(|(class, one)| match pick(one) {
                Some(value) if *class == PlanClass::Estimate => format!("{value} rows expected"),
                Some(value) if one.name.starts_with("q_reads[") => {
                    format!("q-error {value} of all rows read")
                }
                Some(value) if *class == PlanClass::Misestimate => format!("q-error {value}"),
                Some(value) => value.clone(),
                None => "not known".to_owned(),
            });
            values.collect::<Vec<_>>().join(" | ")
        };
        let class = facts[0].0;
        // Where the plan is the same there is no decision to look for.
        let is_other = class != PlanClass::Misestimate;
        PlanChange {
            statement,
            class,
            base: text(|one| &one.base),
            test: text(|one| &one.test),
            parting: parting(audit, load, statement).filter(|_| is_other),
            cause: cause(audit, load, statement),
            histograms: columns(audit, load, statement),
            runner_up: runner_up(audit, load, statement),
        }
    };
    by_statement.into_iter().map(change).collect()
}

/// What changed in the plans of all loads, each with its load.
pub fn all_plan_changes(audit: &Audit) -> Vec<(String, PlanChange)> {
    let load = |one: &Inequality| {
        let rest = KINDS.iter().find_map(|(kind, _)| one.name.strip_prefix(kind))?;
        Some(rest.rsplit_once("].")?.0.to_owned())
    };
    let loads: BTreeSet<String> = audit.unequal.iter().filter_map(load).collect();
    let changes = |load: String| {
        let changes = plan_changes(audit, &load);
        changes.into_iter().map(move |change| (load.clone(), change))
    };
    loads.into_iter().flat_map(changes).collect()
}

/// `bounds[LOAD].3` is about the third statement.
fn of_load(fact: &str, load: &str) -> Option<(u32, PlanClass)> {
    let (rest, class) =
        KINDS.iter().find_map(|(kind, class)| Some((fact.strip_prefix(kind)?, *class)))?;
    let number = rest.strip_prefix(load)?.strip_prefix("].")?;
    Some((number.parse().ok()?, class))
}

fn fact<'a>(audit: &'a Audit, kind: &str, load: &str, statement: u32) -> Option<&'a Inequality> {
    let name = format!("{kind}{load}].{statement}");
    audit.unequal.iter().find(|one| one.name == name)
}

fn parting(audit: &Audit, load: &str, statement: u32) -> Option<PlanParting> {
    let of_both = fact(audit, DECISIONS, load, statement)?;
    let read = |text: &Option<String>| decisions::read(text.as_deref()?);
    decisions::plan_parting(&read(&of_both.base)?, &read(&of_both.test)?)
}

/// Known of the test arm against the first one: where base has such a fact, too, it is about a
/// third.
fn cause(audit: &Audit, load: &str, statement: u32) -> Option<PlanCause> {
    let of_test = fact(audit, CAUSE, load, statement).filter(|one| one.base.is_none())?;
    ablation::read(of_test.test.as_deref()?)
}

fn columns(audit: &Audit, load: &str, statement: u32) -> Vec<HistogramDifference> {
    let of_both = fact(audit, HISTOGRAMS, load, statement);
    let both = of_both.and_then(|one| Some((one.base.as_deref()?, one.test.as_deref()?)));
    both.map_or_else(Vec::new, |(base, test)| histograms::histogram_differences(base, test))
}

fn runner_up(audit: &Audit, load: &str, statement: u32) -> PerArm<Option<RunnerUp>> {
    let read = |text: &Option<String>| decisions::read_runner_up(text.as_deref()?);
    let of_both = fact(audit, RUNNER_UP, load, statement);
    of_both
        .map_or_else(PerArm::default, |one| PerArm { base: read(&one.base), test: read(&one.test) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::FactChange;

    fn unequal(name: &str, base: &str, test: &str, weight: Weight) -> Inequality {
        Inequality {
            name: name.to_owned(),
            base: Some(base.to_owned()),
            test: Some(test.to_owned()),
            weight,
            change: FactChange::Default,
            rule: "plan",
            topic: "plans",
        }
    }

    #[test]
    fn a_lost_bound_is_told_apart_from_another_shape_and_from_statistics() {
        let audit = Audit {
            unequal: vec![
                unequal("estimate[scan].1", "200", "1000000", Weight::Annotates),
                unequal("bounds[scan].1", "b: ? <= b <= ?", "b: ? <= b", Weight::Annotates),
                unequal("plan[scan].2", "range t.k", "ALL t.-", Weight::Annotates),
                unequal("bounds[scan].2", "k: k = ?", "", Weight::Annotates),
                unequal("estimate[scan].3", "100", "101", Weight::Harmless),
                unequal("plan[other].1", "range t.k", "ALL t.-", Weight::Annotates),
            ],
            equal: 0,
        };
        let found = plan_changes(&audit, "scan");
        let kinds: Vec<_> = found.iter().map(|one| (one.statement, one.class)).collect();
        assert_eq!(kinds, [(1, PlanClass::Bounds), (2, PlanClass::Shape)]);
        assert_eq!(found[0].base, "b: ? <= b <= ? | 200 rows expected");
        assert_eq!(found[0].test, "b: ? <= b | 1000000 rows expected");
    }
}
