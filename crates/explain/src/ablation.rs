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

use dbdyno_model::{Dialect, Environment, PlanCause, PlanRemedy, StatisticsOf};
use serde::{Deserialize, Serialize};

use crate::planner::switches;
use crate::search::Set;

const VARIABLE: &str = "variable.";
const SWITCHES: &str = "optimizer_switch";
/// Units behind the values of PostgreSQL, whose settings are told in them anyway.
const UNITS: [&str; 8] = ["8kB", "16kB", "kB", "MB", "B", "ms", "s", "min"];

/// Settings that are not the same in both arms, as a session of test is given them behind `SET`:
/// `optimizer_switch='hash_join=off'`. Most are none of a session: the server refuses these.
pub fn planner_settings(dialect: Dialect, base: &Environment, test: &Environment) -> Vec<String> {
    let mut found = Vec::new();
    for (fact, of_test) in &test.facts {
        let Some(name) = fact.strip_prefix(VARIABLE) else { continue };
        if !is_name(name) {
            continue;
        }
        let of_base = base.facts.get(fact);
        if of_base == Some(of_test) || dbdyno_audit::rule_key_of(fact) == "instance" {
            continue;
        }
        match of_base {
            Some(value) if name == SWITCHES => {
                let switch = |one: crate::planner::Switch| {
                    let value = one.base.unwrap_or_else(|| "off".to_owned());
                    format!("{SWITCHES}='{}={value}'", one.name)
                };
                let told = switches(value, of_test).into_iter().filter(is_plain);
                found.extend(told.map(switch));
            }
            Some(value) => found.extend(told(dialect, name, value)),
            // What only test can do, and does.
            None if name.starts_with("enable_") && of_test == "on" => {
                found.push(format!("{name}='off'"));
            }
            None => {}
        }
    }
    // What is an optimizer's by its name is tried first, as of two that do it that one is meant.
    let is_of_others = |told: &String| {
        let name = told.split('=').next().unwrap_or_default();
        dbdyno_audit::rule_key_of(&format!("{VARIABLE}{name}")) != "optimizer"
    };
    found.sort_by_key(is_of_others);
    found
}

/// Whether a setting is called as servers call theirs: the name stands in a statement as it is.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte))
}

fn is_plain(switch: &crate::planner::Switch) -> bool {
    is_name(&switch.name) && switch.base.as_deref().is_none_or(is_name)
}

/// `None` of what a server cannot be told: values stand in quotes, in whatever mode and character
/// set the server reads them.
fn told(dialect: Dialect, name: &str, value: &str) -> Option<String> {
    let value = match value.rsplit_once(' ') {
        Some((number, unit)) if dialect == Dialect::Postgres && UNITS.contains(&unit) => number,
        _ => value,
    };
    let is_told = !value.is_empty()
        && value != "NULL"
        && value.bytes().all(|byte| matches!(byte, b' '..=b'~') && !b"<'\\".contains(&byte));
    let is_bare = dialect == Dialect::Mysql && value.parse::<f64>().is_ok();
    is_told.then(|| if is_bare { format!("{name}={value}") } else { format!("{name}='{value}'") })
}

/// A smallest set of `count` things that does it: no part of it does. One alone, if one alone does;
/// `None` where not even all of them do.
pub fn smallest(count: usize, mut does: impl FnMut(&Set) -> bool) -> Option<Set> {
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
pub fn written(cause: &PlanCause) -> String {
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

    fn environment(facts: &[(&str, &str)]) -> Environment {
        let mut environment = Environment::default();
        facts.iter().for_each(|(name, value)| environment.set(*name, *value));
        environment
    }

    #[test]
    fn what_differs_is_told_as_a_session_takes_it() {
        let base = environment(&[
            ("variable.optimizer_switch", "mrr=on,index_merge=on"),
            ("variable.eq_range_index_dive_limit", "10"),
            ("variable.sql_mode", ""),
            ("variable.join_buffer_size", "131072"),
        ]);
        let test = environment(&[
            ("variable.optimizer_switch", "mrr=on,index_merge=off,hash_join=on"),
            ("variable.eq_range_index_dive_limit", "200"),
            ("variable.sql_mode", "STRICT"),
            ("variable.join_buffer_size", "262144"),
            ("variable.datadir", "elsewhere"),
        ]);
        assert_eq!(
            planner_settings(Dialect::Mysql, &base, &test),
            [
                "eq_range_index_dive_limit=10",
                "optimizer_switch='index_merge=on'",
                "optimizer_switch='hash_join=off'",
                "join_buffer_size=131072",
            ]
        );
        let base = environment(&[("variable.work_mem", "4096 kB"), ("variable.jit", "off")]);
        let test = environment(&[
            ("variable.work_mem", "64 kB"),
            ("variable.jit", "on"),
            ("variable.enable_memoize", "on"),
        ]);
        let mut found = planner_settings(Dialect::Postgres, &base, &test);
        found.sort();
        assert_eq!(found, ["enable_memoize='off'", "jit='off'", "work_mem='4096'"]);
    }

    #[test]
    fn one_alone_is_found_where_all_together_spoil_it() {
        let does = |set: &Set| set.contains(&3) && !set.contains(&5);
        assert_eq!(smallest(8, does), Some(Set::from([3])));
        assert_eq!(smallest(8, |_: &Set| false), None);
        assert_eq!(smallest(0, |_: &Set| true), None);
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
            assert_eq!(read(&written(&cause)), Some(cause));
        }
        assert_eq!(read("no cause"), None);
    }

    /// Names and values with all that has a meaning in SQL.
    fn hostile() -> impl Strategy<Value = String> {
        let pieces =
            vec!["'", "\"", "`", "\\", ";", "--", "=", ",", " ", "é", "\n", "on", "x", "1"];
        let pieces = prop::sample::select(pieces);
        prop::collection::vec(pieces, 0..6).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        /// What another server says of its settings is a name, a sign and one value: read by other
        /// code than wrote it.
        #[test]
        fn a_setting_of_another_server_is_one_assignment(
            name in hostile(),
            of_base in hostile(),
            of_test in hostile(),
        ) {
            for name in [name, SWITCHES.to_owned()] {
                let fact = format!("{VARIABLE}{name}");
                let base = environment(&[(&fact, &of_base)]);
                let test = environment(&[(&fact, &of_test)]);
                for dialect in [Dialect::Mysql, Dialect::Postgres] {
                    for told in planner_settings(dialect, &base, &test) {
                        let (name, value) = told.split_once('=').unwrap();
                        let is_part = |b: u8| b.is_ascii_alphanumeric() || b"_.".contains(&b);
                        prop_assert!(name.bytes().all(is_part), "{told}");
                        let inside = value.strip_prefix('\'').and_then(|v| v.strip_suffix('\''));
                        let is_text = inside.is_some_and(|v| {
                            !v.contains(['\'', '\\']) && v.bytes().all(|b| (32..127).contains(&b))
                        });
                        prop_assert!(is_text || value.parse::<f64>().is_ok(), "{told}");
                    }
                }
            }
        }

        /// Whatever has to come together, it is found and nothing else.
        #[test]
        fn what_has_to_come_together_is_found(
            count in 1_usize..40,
            wanted in prop::collection::btree_set(0_usize..40, 1..5),
        ) {
            let wanted: Set = wanted.into_iter().filter(|one| *one < count).collect();
            prop_assume!(!wanted.is_empty());
            let found = smallest(count, |set| wanted.is_subset(set));
            prop_assert_eq!(found, Some(wanted));
        }
    }
}
