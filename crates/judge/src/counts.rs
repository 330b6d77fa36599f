//! From counts to an answer, and what rate and instructions say together.
//!
//! ```text
//!                    rate slower                    rate equal                 rate undecided
//!   count more       the code path explains x of y  the extra work is hidden   the count decides
//!   count equal      waiting, memory or I/O         equal, said twice          the code is equal
//!   count fewer      waiting, in spite of less work
//! ```
//!
//! A count that is equal within the budget and still more, or fewer, may be the cause of what the
//! rate shows; then it is told how much of it the code path explains.
//!
//! How much of a difference the code path explains rests on one assumption: that all instructions
//! cost the same time, so that an operation's time in the server's user space grows as its
//! instructions do, and all else stays:
//!
//! ```text
//!   rQPS expected = T ÷ (T + user × (ratio − 1))      T: processor time of base per operation,
//!                                                     client, server and kernel together
//! ```
//!
//! Repetitions of a count differ by tenths of a percent. Where one differs by percents, something
//! happened in it that is no part of an operation, as when a PostgreSQL writes its file of catalog
//! entries anew: two and a quarter million instructions at once. No average makes that right, so
//! that there is no verdict then.

use std::collections::BTreeMap;

use dbdyno_model::{
    Arm, Cell, CellComparison, CountComparison, CountVerdict, FunctionChange, Interval, PerArm,
    RunArm, Severity, Verdict, Warning,
};
use dbdyno_stats as stats;

use crate::error::JudgeError;

/// The least difference that is told. Repetitions agree much better, but they are those of one
/// start of each server: two starts of MariaDB 11.8 differed by 0.013 % at ±0.001 %.
const FINEST: f64 = 0.001;
/// Beyond this, as a logarithm, half of the 95 % interval of a ratio is no longer that of a count.
const HALF_WIDTH_MOST: f64 = 0.02;
/// And a repetition that is farther from their median has something else in it,
const STRAY_MOST: f64 = 0.03;
/// as has one that is this far, where the others are so many times closer.
const STRAY_ALONE: (f64, f64) = (0.01, 10.0);

/// Judges all loads that both arms were counted in, be they of one run or of two.
pub(crate) fn compare_counted_loads(
    arms: PerArm<RunArm<'_>>,
    budget: f64,
    cells: &[CellComparison],
) -> Result<Vec<CountComparison>, JudgeError> {
    let mut compared = Vec::new();
    let mut labels = arms.test.run.plan.labels();
    labels.dedup();
    for label in labels {
        let pairs = pairs(&arms, label);
        if pairs.is_empty() {
            continue;
        }
        let logs: Vec<f64> = pairs.iter().map(|pair| (pair.test / pair.base).ln()).collect();
        let judged = stats::judge_pairs(&logs, budget.max(FINEST))?;
        let unsteady = unsteady(label, &logs, judged.rqps);
        let said = |verdict: Verdict| match verdict {
            _ if unsteady.is_some() => CountVerdict::Undecided,
            Verdict::Faster => CountVerdict::More,
            Verdict::Slower => CountVerdict::Fewer,
            Verdict::Equal => CountVerdict::Equal,
            Verdict::Undecided => CountVerdict::Undecided,
        };
        let verdict = said(judged.verdict);
        let ratio = judged.rqps;
        let told = CountFinding {
            verdict,
            finest: said(stats::judge_pairs(&logs, FINEST)?.verdict),
            ratio,
        };
        let per_op = PerArm::try_from_fn(|arm| {
            let counts: Vec<f64> = pairs.iter().map(|pair| pair[arm]).collect();
            stats::geometric_mean_interval(&counts, stats::SHOWN_CONFIDENCE)
        })?;
        let of_load = cells.iter().filter(|cell| cell.cell.load == label);
        let together = of_load.map(|cell| together(arms.base, cell, &told)).collect();
        compared.push(CountComparison {
            load: label.to_owned(),
            repeats: pairs.len() as u32,
            ratio,
            verdict,
            warnings: unsteady.into_iter().collect(),
            named_share: PerArm::from_fn(|arm| named_share(arms[arm], label)),
            functions: functions(&arms, label),
            together,
            per_op,
        });
    }
    Ok(compared)
}

/// Instructions per statement of both arms, by repetition.
fn pairs(arms: &PerArm<RunArm<'_>>, label: &str) -> Vec<PerArm<f64>> {
    let of = |repeat: u32, arm: Arm| {
        let mut samples = arms[arm].samples();
        let sample = samples.find(|sample| sample.load == label && sample.repeat == repeat)?;
        Some(sample.instructions as f64 / sample.operations as f64)
    };
    (0..)
        .map_while(|repeat| {
            Some(PerArm { base: of(repeat, Arm::Base)?, test: of(repeat, Arm::Test)? })
        })
        .collect()
}

/// What forbids a verdict: repetitions, logarithms of test ÷ base, that disagree.
fn unsteady(label: &str, logs: &[f64], ratio: Interval) -> Option<Warning> {
    let mut sorted = logs.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    let mut strays: Vec<f64> = logs.iter().map(|log| (log - median).abs()).collect();
    strays.sort_by(f64::total_cmp);
    let (common, stray) = (strays[strays.len() / 2], strays[strays.len() - 1]);
    let (alone, times) = STRAY_ALONE;
    let is_stray = stray > STRAY_MOST || (stray > alone && stray > times * common);
    let half = (ratio.high / ratio.low).ln() / 2.0;
    // An interval that is not bounded is no number.
    let is_narrow = half <= HALF_WIDTH_MOST;
    if is_narrow && !is_stray {
        return None;
    }
    let text = format!(
        "the repetitions of the count of {label} disagree, the worst by {:.1} % from their middle, \
         and no average of them is right; count once more on a host with less to do, or with \
         another load",
        100.0 * stray.exp_m1()
    );
    Some(Warning::new(Severity::Blocks, "count-unsteady", text))
}

fn functions(arms: &PerArm<RunArm<'_>>, label: &str) -> Vec<FunctionChange> {
    let mut changes: BTreeMap<(&str, String), FunctionChange> = BTreeMap::new();
    let all = Arm::BOTH.into_iter();
    let all = all.flat_map(|arm| arms[arm].functions().map(move |one| (arm, one)));
    for (arm, one) in all.filter(|(_, one)| one.load == label) {
        let key = (one.name.as_str(), kind(&one.object));
        let change = changes.entry(key).or_insert_with(|| FunctionChange {
            name: one.name.clone(),
            object: one.object.clone(),
            own_per_op: PerArm::default(),
            inclusive_per_op: PerArm::default(),
        });
        change.own_per_op[arm] += one.own_per_op;
        change.inclusive_per_op[arm] += one.inclusive_per_op;
    }
    let size = |change: &FunctionChange| (change.own_per_op.test - change.own_per_op.base).abs();
    let mut changes: Vec<FunctionChange> = changes.into_values().collect();
    changes.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.name.cmp(&b.name)));
    changes
}

/// What stays of a file's name from release to release: `libc.so.6` and `libc-2.31.so` are `libc`,
/// and `mysqld` and `mariadbd` the server.
fn kind(object: &str) -> String {
    let stem = object.split(".so").next().unwrap_or(object);
    let stem = stem.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    match stem {
        "mysqld" | "mariadbd" => "server".to_owned(),
        _ => stem.to_owned(),
    }
}

fn named_share(arm: RunArm<'_>, label: &str) -> f64 {
    let (mut named, mut all) = (0.0, 0.0);
    for one in arm.functions().filter(|one| one.load == label) {
        all += one.own_per_op;
        named += if one.name.is_empty() { 0.0 } else { one.own_per_op };
    }
    if all > 0.0 { named / all } else { 0.0 }
}

/// What the instructions of a load say: within the budget of the run, and as finely as they can.
struct CountFinding {
    verdict: CountVerdict,
    finest: CountVerdict,
    ratio: Interval,
}

/// What rate and instructions say together.
fn together(base: RunArm<'_>, cell: &CellComparison, count: &CountFinding) -> String {
    let (place, rqps) = (&cell.cell, cell.rqps.estimate);
    let rate = cell.verdict.name();
    let (ratio, times) = (count.ratio, count.ratio.estimate);
    let agree = |count: CountVerdict| {
        matches!(
            (count, cell.verdict),
            (CountVerdict::More, Verdict::Slower) | (CountVerdict::Fewer, Verdict::Faster)
        )
    };
    match (count.verdict, cell.verdict) {
        (CountVerdict::Equal, Verdict::Equal) => {
            format!("{place}: rate and instructions agree that both arms are equal")
        }
        // The budget says what is of no matter, and not what is not there.
        (CountVerdict::Equal, Verdict::Slower | Verdict::Faster) if agree(count.finest) => format!(
            "{place}: the rate says {rate} (rQPS {rqps:.3}); test needs {} instructions, by less \
             than the budget (×{times:.4}); {}",
            count.finest.name(),
            explained(base, cell, times)
        ),
        (CountVerdict::Equal, Verdict::Slower | Verdict::Faster) => format!(
            "{place}: the rate says {rate} (rQPS {rqps:.3}) and the instructions are equal \
             (×{times:.3}): the difference is not the code path; it is waiting, memory, I/O or the \
             kernel"
        ),
        (CountVerdict::More | CountVerdict::Fewer, Verdict::Slower | Verdict::Faster)
            if agree(count.verdict) =>
        {
            format!("{place}: rate and instructions agree; {}", explained(base, cell, times))
        }
        (CountVerdict::More | CountVerdict::Fewer, Verdict::Slower | Verdict::Faster) => format!(
            "{place}: the rate says {rate} (rQPS {rqps:.3}) although test needs {} instructions \
             (×{times:.3}): what changed the rate is waiting, memory, I/O or the kernel",
            count.verdict.name()
        ),
        (CountVerdict::More | CountVerdict::Fewer, Verdict::Equal) => format!(
            "{place}: test needs {} instructions (×{times:.3}) and the rate does not show it: it is \
             limited by something else, or {}",
            count.verdict.name(),
            explained(base, cell, times)
        ),
        (CountVerdict::More | CountVerdict::Fewer | CountVerdict::Equal, Verdict::Undecided) => {
            format!(
                "{place}: the rate decides nothing; by instructions test needs {} (×{times:.3})",
                match count.verdict {
                    CountVerdict::Equal => "as many".to_owned(),
                    other => other.name().to_owned(),
                }
            )
        }
        (CountVerdict::Undecided, _) => {
            format!(
                "{place}: the count does not decide it (×{times:.3}, {:.3} to {:.3})",
                ratio.low, ratio.high
            )
        }
    }
}

/// How much of a difference of rates the instructions explain.
fn explained(base: RunArm<'_>, cell: &CellComparison, times: f64) -> String {
    let rqps = cell.rqps.estimate;
    let Some(expected) = expected_rqps(base, &cell.cell, cell, times) else {
        return "how much of the rate they explain is not known without the processor time of the \
                server"
            .to_owned();
    };
    let share = expected.ln() / rqps.ln();
    if !(0.0..=10.0).contains(&share) || (rqps - 1.0).abs() < 0.005 {
        return format!(
            "if a processor is what limits the rate, they alone make rQPS {expected:.3}, and it is \
             {rqps:.3}"
        );
    }
    format!(
        "if a processor is what limits the rate, they alone make rQPS {expected:.3}, and it is \
         {rqps:.3}: the code path explains {:.0} % of the difference",
        100.0 * share
    )
}

/// The rQPS that instructions alone would make where the processor limits the rate; `None` where
/// the processor time is not known.
fn expected_rqps(
    base: RunArm<'_>,
    cell: &Cell,
    compared: &CellComparison,
    times: f64,
) -> Option<f64> {
    let did = &compared.arms.base;
    let all_us = did.server_cpu_us_per_op? + did.client_cpu_us_per_op?;
    let rounds = || base.rounds().filter(|round| round.key.cell == *cell);
    let statements: f64 = rounds().map(dbdyno_model::Round::done_statements).sum();
    let user_ns: u64 = rounds()
        .map(|round| Some(round.cost.server_cpu_ns? - round.cost.server_kernel_ns?))
        .sum::<Option<u64>>()?;
    let user_us = user_ns as f64 / 1e3 / statements;
    let expected = all_us / (all_us + user_us * (times - 1.0));
    (expected.is_finite() && expected > 0.0).then_some(expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use dbdyno_model::{ArmIndex, CountSample, Counting, Run};

    /// A run whose test arm has this rate and this many instructions, in shares of base.
    fn compared(rate: f64, instructions: f64) -> CountComparison {
        disturbed(rate, instructions, |_, _| 0.0)
    }

    /// The same, with instructions besides in each repetition, in shares of base.
    fn disturbed(
        rate: f64,
        instructions: f64,
        besides: impl Fn(Arm, u32) -> f64,
    ) -> CountComparison {
        let (run, cells) = counted(rate, |arm, repeat| {
            let noise = 1.0 + 0.0005 * f64::from((7 * repeat + arm as u32) % 5);
            let share = if arm == Arm::Test { instructions } else { 1.0 };
            share * noise + besides(arm, repeat)
        });
        compare_counts(&run, &cells).remove(0)
    }

    fn compare_counts(run: &Run, cells: &[CellComparison]) -> Vec<CountComparison> {
        let arms = PerArm::from_fn(|arm| run.first_pair().arm_on(arm));
        super::compare_counted_loads(arms, run.plan.rule.budget, cells).unwrap()
    }

    /// A run with a rate, and with instructions in shares of a point select.
    fn counted(rate: f64, instructions: impl Fn(Arm, u32) -> f64) -> (Run, Vec<CellComparison>) {
        let slow = |round: &mut dbdyno_model::Round| {
            if round.key.arm == ArmIndex::TEST {
                let count = (1_000 + u64::from(round.key.pair % 3)) as f64 * rate;
                (round.events, round.statements) = (count as u64, count as u64);
            }
        };
        let mut run = sample::point_queries("sqlite:", 1, slow);
        run.plan.question.counting = Counting::Beside;
        for arm in Arm::BOTH {
            for repeat in 0..5 {
                run.counts.samples.push(CountSample {
                    load: "point-query".into(),
                    arm: arm.into(),
                    repeat,
                    operations: 1000,
                    instructions: (46_512_000.0 * instructions(arm, repeat)) as u64,
                });
            }
        }
        let mut cells = crate::compare_run(run.first_pair()).unwrap().cells;
        // So few rounds decide nothing.
        cells[0].verdict = if rate < 1.0 { Verdict::Slower } else { Verdict::Equal };
        (run, cells)
    }

    #[test]
    fn two_starts_of_a_server_are_equal_whatever_the_budget() {
        let shares = |share: f64| {
            move |arm: Arm, repeat: u32| match arm {
                Arm::Base => 1.0 + 1e-6 * f64::from(repeat),
                Arm::Test => share,
            }
        };
        for (share, verdict) in [
            (1.000_13, CountVerdict::Equal),
            (0.999_8, CountVerdict::Equal),
            (1.003, CountVerdict::More),
            (0.997, CountVerdict::Fewer),
        ] {
            let (mut run, cells) = counted(1.0, shares(share));
            run.plan.rule.budget = 0.0;
            assert_eq!(compare_counts(&run, &cells)[0].verdict, verdict, "{share}");
        }
    }

    #[test]
    fn more_instructions_and_a_lower_rate_agree() {
        let count = compared(0.8, 1.5);
        assert_eq!((count.verdict, count.repeats), (CountVerdict::More, 5));
        assert!((count.ratio.estimate - 1.5).abs() < 0.002, "{:?}", count.ratio);
        assert!(count.together[0].contains("agree"), "{:?}", count.together);
    }

    #[test]
    fn a_rate_that_falls_with_the_same_instructions_is_not_the_code_path() {
        let count = compared(0.8, 1.0);
        assert_eq!(count.verdict, CountVerdict::Equal);
        assert!(count.together[0].contains("not the code path"), "{:?}", count.together);
        let count = compared(0.975, 0.99);
        assert_eq!(count.verdict, CountVerdict::Equal);
        assert!(count.together[0].contains("not the code path"), "{:?}", count.together);
        let count = compared(0.8, 0.9);
        assert_eq!(count.verdict, CountVerdict::Fewer);
        assert!(count.together[0].contains("although"), "{:?}", count.together);
    }

    /// 1.5 % more instructions are within the budget, and may be all of what the rate has lost.
    #[test]
    fn what_a_budget_allows_may_still_be_the_cause() {
        let count = compared(0.975, 1.015);
        assert_eq!(count.verdict, CountVerdict::Equal);
        let together = &count.together[0];
        assert!(together.contains("more instructions, by less than the budget"), "{together}");
        assert!(together.contains("how much of the rate they explain"), "{together}");
        assert!(!together.contains("not the code path"), "{together}");
    }

    #[test]
    fn instructions_that_the_rate_does_not_show_are_told() {
        let count = compared(1.0, 1.2);
        assert!(count.together[0].contains("does not show it"), "{:?}", count.together);
        assert!(compared(1.0, 1.0).together[0].contains("both arms are equal"));
    }

    #[test]
    fn repetitions_that_disagree_give_no_verdict() {
        // The two strays that PostgreSQL 15 once had: 13 996 and 68 961 among eight of 41 600.
        let strays = |arm, repeat| match (arm, repeat) {
            (Arm::Base, 2) => -0.66,
            (Arm::Test, 4) => 0.66,
            _ => 0.0,
        };
        // As many, more and twice as many: whatever their average seems to say.
        for (instructions, stray) in [(1.0, 0.66), (1.5, 0.66), (2.0, 0.66), (2.0, 0.15)] {
            let besides = |arm, repeat| strays(arm, repeat) * stray / 0.66;
            let count = disturbed(0.8, instructions, besides);
            assert_eq!(count.verdict, CountVerdict::Undecided, "{count:?}");
            let [warning] = &count.warnings[..] else { panic!("{:?}", count.warnings) };
            assert_eq!((warning.severity, &*warning.code), (Severity::Blocks, "count-unsteady"));
            assert!(count.together[0].contains("does not decide"), "{:?}", count.together);
        }
        // A single one whose interval alone would pass, and steady ones however far from 1.
        for besides in [0.034, 0.02] {
            let one = |arm, repeat| if arm == Arm::Test && repeat == 1 { besides } else { 0.0 };
            let count = disturbed(0.8, 1.0, one);
            assert!((count.ratio.high / count.ratio.low).ln() / 2.0 < HALF_WIDTH_MOST);
            assert_eq!(count.verdict, CountVerdict::Undecided, "{besides}: {count:?}");
        }
        assert!(compared(0.8, 2.0).warnings.is_empty());
    }

    #[test]
    fn files_of_two_releases_are_the_same_file() {
        assert_eq!(kind("libc.so.6"), kind("libc-2.31.so"));
        assert_eq!(kind("mysqld"), kind("mariadbd"));
        assert_ne!(kind("libc.so.6"), kind("libcrypto.so.3"));
    }
}
