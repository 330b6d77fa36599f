//! Which settings of a session bring the plan of base back on test.
//!
//! ```text
//!   settings that differ ──each alone──▶ one that does it
//!                        ──all at once─▶ none of them: the statistics or the code
//!                                  └───▶ halves, quarters … without which it still does (ddmin)
//! ```
//!
//! A plan is looked at with EXPLAIN, which costs a millisecond: no load is run and no server is
//! started. Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002.

use std::collections::BTreeSet;

use dbdyno_model::{PlanCause, PlanRemedy, StatisticsOf};
use serde::{Deserialize, Serialize};

use crate::search::Set;

/// A smallest set of `count` things that does it: no part of it does. One alone, if one alone does;
/// `None` where not even all of them do.
pub fn smallest_set(count: usize, mut does: impl FnMut(&Set) -> bool) -> Option<Set> {
    if let Some(one) = (0..count).map(|one| Set::from([one])).find(|one| does(one)) {
        return Some(one);
    }
    let mut left: Vec<usize> = (0..count).collect();
    let of = |part: &[usize]| part.iter().copied().collect::<Set>();
    if count < 2 || !does(&of(&left)) {
        return None;
    }
    let mut parts = 2;
    while left.len() > 1 {
        let size = left.len().div_ceil(parts);
        let without = |part: &[usize]| -> Vec<usize> {
            left.iter().copied().filter(|one| !part.contains(one)).collect()
        };
        let tried = left.chunks(size).map(<[usize]>::to_vec);
        let smaller = match left.chunks(size).find(|part| does(&of(part))) {
            Some(part) => Some((part.to_vec(), 2)),
            None => tried
                .map(|part| without(&part))
                .find(|rest| !rest.is_empty() && does(&of(rest)))
                .map(|rest| (rest, (parts - 1).max(2))),
        };
        match smaller {
            Some((fewer, next)) => (left, parts) = (fewer, next),
            None if parts < left.len() => parts = (2 * parts).min(left.len()),
            None => break,
        }
    }
    Some(BTreeSet::from_iter(left))
}

/// A cause as the text of a fact.
#[derive(Serialize, Deserialize)]
struct CauseText {
    settings: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    costs: Vec<String>,
    statistics_of_base: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    columns_of_base: bool,
    untried: Option<String>,
}

/// A cause as the text of a fact.
pub fn cause_text(cause: &PlanCause) -> String {
    let remedy = cause.remedy.as_ref();
    let is_of = |whose| remedy.is_some_and(|remedy| remedy.statistics == whose);
    let written = CauseText {
        settings: remedy.map(|remedy| remedy.settings.clone()),
        costs: remedy.map_or_else(Vec::new, |remedy| remedy.costs.clone()),
        statistics_of_base: is_of(StatisticsOf::Base),
        columns_of_base: is_of(StatisticsOf::BaseOfColumns),
        untried: cause.untried.clone(),
    };
    serde_json::to_string(&written).expect("a cause has only names")
}

/// A cause from the text of a fact; `None` where it is none.
pub(crate) fn read(text: &str) -> Option<PlanCause> {
    let written: CauseText = serde_json::from_str(text).ok()?;
    let statistics = match (written.statistics_of_base, written.columns_of_base) {
        (true, _) => StatisticsOf::Base,
        (false, true) => StatisticsOf::BaseOfColumns,
        (false, false) => StatisticsOf::Itself,
    };
    let costs = written.costs;
    let remedy = written.settings.map(|settings| PlanRemedy { settings, costs, statistics });
    Some(PlanCause { remedy, untried: written.untried })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_alone_is_found_where_all_together_spoil_it() {
        let does = |set: &Set| set.contains(&3) && !set.contains(&5);
        assert_eq!(smallest_set(8, does), Some(Set::from([3])));
        assert_eq!(smallest_set(8, |_: &Set| false), None);
        assert_eq!(smallest_set(0, |_: &Set| true), None);
    }

    #[test]
    fn a_cause_is_read_as_it_was_written() {
        let settings = vec!["optimizer_switch='mrr=off'".to_owned()];
        let costs = vec!["mysql.server_cost row_evaluate_cost=0.2".to_owned()];
        let of = |statistics| {
            Some(PlanRemedy { settings: settings.clone(), costs: costs.clone(), statistics })
        };
        for remedy in [of(StatisticsOf::Base), of(StatisticsOf::BaseOfColumns), None] {
            let cause = PlanCause { remedy, untried: Some("why".to_owned()) };
            assert_eq!(read(&cause_text(&cause)), Some(cause));
        }
        assert_eq!(read("no cause"), None);
    }

    proptest! {
        /// Whatever has to come together, it is found and nothing else.
        #[test]
        fn what_has_to_come_together_is_found(
            count in 1_usize..40,
            wanted in prop::collection::btree_set(0_usize..40, 1..5),
        ) {
            let wanted: Set = wanted.into_iter().filter(|one| *one < count).collect();
            prop_assume!(!wanted.is_empty());
            let found = smallest_set(count, |set| wanted.is_subset(set));
            prop_assert_eq!(found, Some(wanted));
        }
    }
}
