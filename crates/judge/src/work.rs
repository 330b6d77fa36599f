//! What servers did for an operation, by their own account, base beside test.
//!
//! Counters are sums over the rounds of the cell, divided by the statements of these rounds; a
//! level is the mean of the ends of rounds. The interval is that of the ratio of pairs, as for
//! rates, where no round has a zero. PostgreSQL tells its counts up to a second late, so that one
//! round may have what another one did: the sums are right, and the interval is as wide as that.

use dbdyno_model::experiment::Sign;
use dbdyno_model::server_facts::{FACTS, FactKind, STATEMENTS, fact_reading};
use dbdyno_model::{
    Arm, CellComparison, FactComparison, FactWorth, Interval, PerArm, Round, RunPair, ServerFact,
};

use crate::error::JudgeError;
use crate::figures::{FigureJudgement, of_values};
use crate::judged::judged_pairs;

/// How many times the other arm's a fact must be to be told without having been asked for.
const TIMES_LEAST: f64 = 1.1;
/// The same where nothing is proved of it.
const TIMES_UNPROVED: f64 = 1.5;
/// Less than this for an operation is as good as nothing, by unit.
const NOTHING: [(&str, f64); 3] = [("bytes", 8.0), ("ms", 0.001), ("deadlocks", 0.0)];
const NOTHING_ELSE: f64 = 0.01;
/// The same of levels, by unit.
const LEVELS: [(&str, f64); 5] = [
    ("bytes", 1_048_576.0),
    ("transactions", 1_000.0),
    ("rows", 1_000.0),
    ("pages", 100.0),
    ("s", 5.0),
];

/// The facts of a cell that both arms or one of them tell, those that differ most first.
///
/// # Errors
/// Figures that cannot be judged, which only a damaged store can hold.
pub fn compare_work(
    run: RunPair<'_>,
    cell: &CellComparison,
) -> Result<Vec<FactComparison>, JudgeError> {
    let (pairs, ..) = judged_pairs(run, &cell.cell);
    let mut all = Vec::new();
    for fact in FACTS {
        let mean = PerArm::from_fn(|arm: Arm| mean_of(fact, pairs.iter().map(|pair| pair[arm])));
        if mean.base.is_none() && mean.test.is_none() {
            continue;
        }
        let judged = of_values(run, &pairs, &|round| of_round(fact, round))?;
        all.push(compared(fact, mean, judged));
    }
    all.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then(a.fact.name.cmp(b.fact.name)));
    Ok(all)
}

fn compared(
    fact: &'static ServerFact,
    mean: PerArm<Option<f64>>,
    judged: Option<FigureJudgement>,
) -> FactComparison {
    let times = mean.base.zip(mean.test).map(|(base, test)| test / base);
    // What is said of rounds must be true of their sum as well.
    let is_true = |judged: &FigureJudgement| match (judged.ratio, times) {
        (Some(Interval { low, high, .. }), Some(times)) => (low..=high).contains(&times),
        _ => true,
    };
    let judged = judged.filter(is_true);
    let (ratio, sign) = judged.map_or((None, None), |judged| (judged.ratio, judged.sign));
    let mut one = FactComparison {
        fact,
        base: mean.base,
        test: mean.test,
        ratio,
        sign,
        worth: FactWorth::Listed,
    };
    if is_telling(&one) {
        one.worth = FactWorth::Telling;
    }
    one
}

/// Whether the arms differ in it, and one of them has more than nothing.
fn is_telling(one: &FactComparison) -> bool {
    let least = match one.sign {
        Some(Sign::More | Sign::Less) => TIMES_LEAST,
        Some(Sign::Equal) => return false,
        None => TIMES_UNPROVED,
    };
    weight(one) >= f64::ln(least)
}

/// How far the arms are apart: the logarithm of their ratio, with as much as is nothing added to
/// both, so that what hardly happens does not stand first.
fn weight(one: &FactComparison) -> f64 {
    let (Some(base), Some(test)) = (one.base, one.test) else { return 0.0 };
    let known: &[(&str, f64)] = match one.fact.kind {
        FactKind::Counter => &NOTHING,
        FactKind::Gauge => &LEVELS,
        FactKind::Each(..) => &[],
    };
    let nothing = known.iter().find(|(unit, _)| *unit == one.fact.unit);
    let nothing = nothing.map_or(NOTHING_ELSE, |(_, nothing)| *nothing).max(f64::MIN_POSITIVE);
    ((test.max(0.0) + nothing) / (base.max(0.0) + nothing)).ln().abs()
}

fn mean_of<'r>(fact: &ServerFact, rounds: impl Iterator<Item = &'r Round> + Clone) -> Option<f64> {
    let sum = |name: &str| -> Option<f64> {
        let mut seen = rounds.clone().filter_map(|round| round.readings.get(&fact_reading(name)));
        let first = seen.next()?;
        Some(first + seen.sum::<f64>())
    };
    let told = |one: Option<f64>, of: Option<f64>| {
        let of = of.filter(|of| *of > 0.0)?;
        one.map(|one| one / of)
    };
    match fact.kind {
        FactKind::Counter => told(sum(fact.name), sum(STATEMENTS)),
        FactKind::Each(one, of) => told(sum(one), sum(of)),
        FactKind::Gauge => {
            let count = rounds.clone().filter(|round| of_round(fact, round).is_some()).count();
            told(sum(fact.name), Some(count as f64))
        }
    }
}

fn of_round(fact: &ServerFact, round: &Round) -> Option<f64> {
    let get = |name: &str| round.readings.get(&fact_reading(name));
    let each = |one: &str, of: &str| Some(get(one)? / get(of).filter(|of| *of > 0.0)?);
    match fact.kind {
        FactKind::Counter => each(fact.name, STATEMENTS),
        FactKind::Each(one, of) => each(one, of),
        FactKind::Gauge => get(fact.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use dbdyno_model::ArmIndex;

    /// A run in which base and test did so much for a thousand statements of each of many rounds.
    fn told(facts: &[(&str, f64, f64)]) -> Vec<FactComparison> {
        let run = sample::of_pairs(10, "point-query", "mysql:8.0", 1, |round| {
            round.readings.set(&fact_reading(STATEMENTS), Some(1000.0));
            for (name, base, test) in facts {
                let value = if round.key.arm == ArmIndex::BASE { base } else { test };
                // No two rounds are quite alike.
                let slightly = 1.0 + 0.001 * f64::from(round.key.pair % 3);
                round.readings.set(&fact_reading(name), Some(value * slightly));
            }
        });
        let compared = crate::compare_run(run.first_pair()).unwrap();
        compare_work(run.first_pair(), &compared.cells[0]).unwrap()
    }

    #[test]
    fn what_differs_most_comes_first_for_each_operation() {
        let all = told(&[
            ("handler_read_key", 1000.0, 1010.0),
            ("handler_read_next", 1000.0, 101_000.0),
            ("pages_requested", 3000.0, 6000.0),
            ("tmp_tables", 0.0, 0.0),
        ]);
        let names: Vec<&str> = all.iter().map(|one| one.fact.name).collect();
        assert_eq!(names[..2], ["handler_read_next", "pages_requested"], "{names:?}");
        let first = &all[0];
        assert!((first.base.unwrap() - 1.0).abs() < 0.01, "{first:?}");
        assert!((first.ratio_to_base().unwrap() - 101.0).abs() < 0.1, "{first:?}");
        let Interval { low, high, .. } = first.ratio.unwrap();
        assert!(low < 101.0 && high > 101.0, "{first:?}");
        assert_eq!((first.sign, first.worth), (Some(Sign::More), FactWorth::Telling));
        let worth = |name: &str| all.iter().find(|one| one.fact.name == name).unwrap().worth;
        assert_eq!(worth("handler_read_key"), FactWorth::Listed);
        assert_eq!(worth("tmp_tables"), FactWorth::Listed);
    }

    #[test]
    fn what_one_arm_never_does_is_proved_without_a_ratio() {
        let all = told(&[("sort_merge_passes", 0.0, 40.0)]);
        let one = &all[0];
        assert_eq!((one.ratio, one.sign), (None, Some(Sign::More)), "{one:?}");
        assert_eq!(one.worth, FactWorth::Telling);
        assert!(one.ratio_to_base().unwrap().is_infinite());
    }

    #[test]
    fn rows_that_are_examined_for_each_row_that_is_sent_are_a_ratio_of_sums() {
        let all = told(&[("rows_examined", 2000.0, 90_000.0), ("rows_sent", 1000.0, 1000.0)]);
        let ratio = all.iter().find(|one| one.fact.name == "rows_examined_per_row_sent").unwrap();
        assert!((ratio.base.unwrap() - 2.0).abs() < 0.01, "{ratio:?}");
        assert!((ratio.test.unwrap() - 90.0).abs() < 0.1, "{ratio:?}");
    }

    #[test]
    fn a_level_is_no_matter_of_operations_and_a_small_one_is_nothing() {
        let all = told(&[("history_list", 10.0, 500_000.0), ("dirty_pages", 1.0, 5.0)]);
        assert!((all[0].test.unwrap() - 500_500.0).abs() < 100.0, "{:?}", all[0]);
        assert_eq!((all[0].fact.name, all[0].worth), ("history_list", FactWorth::Telling));
        assert_eq!((all[1].fact.name, all[1].worth), ("dirty_pages", FactWorth::Listed));
    }

    #[test]
    fn servers_that_say_nothing_have_no_facts() {
        assert!(told(&[]).is_empty());
    }
}
