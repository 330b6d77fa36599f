//! What changed in the code: functions by their instructions for an operation, under the names of
//! two builds.
//!
//! A function that a release has renamed would stand twice, once with all that base needs and once
//! with all that test needs, as the two largest changes of all. Names are matched as those of
//! profiles are: exact, plain, and renamed by callers and callees.

use std::collections::BTreeMap;
use std::sync::Arc;

use dbdyno_model::{Arm, ArmIndex, CodeChange, Match, Pairing, PerArm, RunCounts};

use crate::profile::{CodePart, MeasureUnit, Profile, ProfileMeasure, matched_names};

/// How much more of the instructions of one arm than of the other may have no name.
const NAMELESS_MOST: f64 = 0.02;

/// Functions of a load whose instructions changed, the largest change first, of counts of two arms.
/// What has no name is left out, and so is what did not change. None where
/// [`unequal_nameless_shares`] finds any.
pub fn code_changes(counts: &RunCounts, pairing: Pairing, load: &str) -> Vec<CodeChange> {
    if unequal_nameless_shares(counts, pairing, load).is_some() {
        return Vec::new();
    }
    let PerArm { base, test } = PerArm::from_fn(|arm| profile(counts, load, pairing.arm_on(arm)));
    let mut changes = Vec::new();
    for (names, matched) in matched_names(&base, &test) {
        let own_per_op = own_of(&test, &names.test) - own_of(&base, &names.base);
        if own_per_op != 0.0 {
            changes.push(CodeChange { name: named(&names, matched), matched, own_per_op });
        }
    }
    changes.sort_by(|a, b| {
        let by_size = b.own_per_op.abs().total_cmp(&a.own_per_op.abs());
        by_size.then_with(|| a.name.cmp(&b.name))
    });
    changes
}

/// Which share of the instructions of an arm has no name of a function.
fn nameless_share(counts: &RunCounts, load: &str, arm: ArmIndex) -> f64 {
    let (mut all, mut nameless) = (0.0, 0.0);
    for one in counts.functions.iter().filter(|one| one.load == load && one.arm == arm) {
        all += one.own_per_op;
        nameless += if one.name.is_empty() { one.own_per_op } else { 0.0 };
    }
    if all > 0.0 { nameless / all } else { 0.0 }
}

/// Which share of the instructions of each arm has no name of a function, where they are so unequal
/// that what has none in one program would be told as new in the other.
pub fn unequal_nameless_shares(
    counts: &RunCounts,
    pairing: Pairing,
    load: &str,
) -> Option<PerArm<f64>> {
    let shares = PerArm::from_fn(|arm| nameless_share(counts, load, pairing.arm_on(arm)));
    ((shares.base - shares.test).abs() > NAMELESS_MOST).then_some(shares)
}

/// What these functions executed themselves, together.
fn own_of(profile: &Profile, names: &[Arc<str>]) -> f64 {
    names.iter().filter_map(|name| profile.own.get(name)).sum()
}

fn named(names: &PerArm<Vec<Arc<str>>>, matched: Match) -> String {
    let first = |arm: Arm| names[arm].first().map_or("", |name| name);
    match matched {
        Match::Renamed => format!("{} → {}", first(Arm::Base), first(Arm::Test)),
        _ if names.base.is_empty() => first(Arm::Test).to_owned(),
        Match::Exact | Match::Plain | Match::Alone => first(Arm::Base).to_owned(),
    }
}

/// Counts as a profile, whose samples are instructions.
fn profile(counts: &RunCounts, load: &str, arm: ArmIndex) -> Profile {
    let mut own: BTreeMap<Arc<str>, f64> = BTreeMap::new();
    let functions = counts.functions.iter().filter(|one| one.load == load);
    for one in functions.filter(|one| one.arm == arm && !one.name.is_empty()) {
        *own.entry(one.name.as_str().into()).or_default() += one.own_per_op;
    }
    let calls = counts.calls.iter().filter(|one| one.load == load && one.arm == arm);
    let call = |one: &dbdyno_model::CallCount| {
        ((one.caller.as_str().into(), one.callee.as_str().into()), one.inclusive_per_op)
    };
    let (by_caller, total) = (calls.map(call).collect(), own.values().sum());
    Profile {
        unit: Some(1.0),
        own,
        by_caller,
        total,
        measure: ProfileMeasure {
            unit: MeasureUnit::Event,
            event: None,
            part: CodePart::Whole,
            gap_us: None,
        },
        ..Profile::without_samples()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{CallCount, FunctionCount};

    /// What MySQL 5.6 and 5.7 need for a point query, in round numbers: 5.7 has renamed
    /// `row_search_for_mysql`, and what calls it and what it calls has its name in both.
    #[test]
    fn a_function_that_was_renamed_stands_once() {
        let mut counts = RunCounts::default();
        let load = || "point-query".to_owned();
        let mut function = |arm: Arm, name: &str, own_per_op: f64| {
            let (name, object) = (name.to_owned(), "mysqld".to_owned());
            let (load, arm, inclusive_per_op) = (load(), arm.into(), own_per_op);
            let one = FunctionCount { load, arm, name, object, own_per_op, inclusive_per_op };
            counts.functions.push(one);
        };
        for (name, base, test) in [
            ("ha_innobase::index_read", 300.0, 320.0),
            ("btr_cur_search_to_nth_level", 1500.0, 1700.0),
            ("row_sel_store_mysql_rec", 600.0, 600.0),
        ] {
            function(Arm::Base, name, base);
            function(Arm::Test, name, test);
        }
        function(Arm::Base, "row_search_for_mysql", 1200.0);
        function(Arm::Test, "row_search_mvcc", 1350.0);
        function(Arm::Test, "dd::cache::lookup", 700.0);
        function(Arm::Base, "", 50.0);
        let mut call = |arm: Arm, caller: &str, callee: &str, inclusive_per_op: f64| {
            let (caller, callee) = (caller.to_owned(), callee.to_owned());
            let (load, arm) = (load(), arm.into());
            counts.calls.push(CallCount { load, arm, caller, callee, inclusive_per_op });
        };
        for (arm, name) in [(Arm::Base, "row_search_for_mysql"), (Arm::Test, "row_search_mvcc")] {
            call(arm, "ha_innobase::index_read", name, 3300.0);
            call(arm, name, "btr_cur_search_to_nth_level", 1500.0);
            call(arm, name, "row_sel_store_mysql_rec", 600.0);
        }
        call(Arm::Test, "open_table", "dd::cache::lookup", 700.0);
        let found = code_changes(&counts, Pairing::USUAL, "point-query");
        let told: Vec<(&str, f64)> =
            found.iter().map(|one| (one.name.as_str(), one.own_per_op)).collect();
        let expected = [
            ("dd::cache::lookup", 700.0),
            ("btr_cur_search_to_nth_level", 200.0),
            ("row_search_for_mysql → row_search_mvcc", 150.0),
            ("ha_innobase::index_read", 20.0),
        ];
        assert_eq!(told, expected);
        assert_eq!(found[2].matched, Match::Renamed);
        counts.calls.clear();
        let found = code_changes(&counts, Pairing::USUAL, "point-query");
        assert_eq!(found[0].name, "row_search_mvcc", "an older run knows no calls");
        assert_eq!(found[0].matched, Match::Alone);
        // A program without symbols: all that the other one does would be new.
        let of_base = counts.functions.iter_mut().filter(|one| one.arm == Arm::Base.into());
        of_base.for_each(|one| one.name.clear());
        assert_eq!(code_changes(&counts, Pairing::USUAL, "point-query"), []);
        let shares = unequal_nameless_shares(&counts, Pairing::USUAL, "point-query").unwrap();
        assert_eq!((shares.base, shares.test), (1.0, 0.0));
    }
}
