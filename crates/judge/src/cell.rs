//! The answer of one cell: what was judged, what both arms did, and what speaks against it.

use dbdyno_model::{
    Arm, ArmSummary, Cell, CellComparison, ClassSummary, ClassTally, ClassTimes, ExperimentLevel,
    LatencyHistogram, PerArm, Plan, Round, Severity, SingleRuns, Verdict, VerdictMeasure, Warning,
};
use dbdyno_workload::planned;

use crate::cautions::{background, drift_warning};
use crate::error::JudgeError;
use crate::rate_unit::CellUnits;
use crate::response::{self, CellJudgement};
use crate::variance::{mean, mean_of_rounds};

/// A client that takes more of the processor time than this carries a note.
const CLIENT_SHARE_HIGH: f64 = 0.5;

/// The name of the group of a cell's load; steps of the Insert Benchmark are in none.
pub(crate) fn group_of(plan: &Plan, cell: &Cell) -> Option<String> {
    let load =
        planned::planned_load(plan, &cell.load).ok().filter(|_| planned::step_of(cell).is_none());
    load.map(|load| load.group.name().to_owned())
}

pub(crate) fn cell_comparison(
    cell: Cell,
    units: &CellUnits,
    judged: CellJudgement,
    rounds: &PerArm<Vec<&Round>>,
    against: Vec<Warning>,
) -> Result<CellComparison, JudgeError> {
    let mut arms = PerArm::try_from_fn(|arm| summary(units, &rounds[arm]))?;
    let blocked = against.iter().any(|warning| warning.severity == Severity::Blocks);
    let mut warnings = judged.warnings;
    warnings.extend(against);
    if judged.measure == VerdictMeasure::MaxRate {
        for arm in Arm::BOTH {
            let found = mean_of_rounds(&rounds[arm], response::offered_rate)?;
            arms[arm].open.iter_mut().for_each(|open| open.max_rate = Some(found));
        }
    }
    warnings
        .extend(Arm::BOTH.into_iter().flat_map(|arm| response::response_warnings(arm, &arms[arm])));
    warnings.extend(Arm::BOTH.into_iter().filter_map(|arm| client_heavy(arm, &arms[arm])));
    warnings.extend(Arm::BOTH.into_iter().filter_map(|arm| drift_warning(arm, &rounds[arm])));
    Ok(CellComparison {
        group: None,
        cell,
        pairs: rounds.base.len().min(rounds.test.len()) as u32,
        pairs_dropped: 0,
        unit: units.unit,
        since: units.since,
        rqps: judged.rqps,
        measure: judged.measure,
        verdict: if blocked { Verdict::Undecided } else { judged.verdict },
        basis: judged.basis,
        p_value: judged.p_value,
        q_value: None,
        levels: judged.levels,
        single_runs: single_runs(units, rounds),
        detectable: judged.detectable,
        // More pairs would not help.
        pairs_missing: judged.pairs_missing.filter(|_| !blocked),
        missing_ns: judged.missing_ns.filter(|_| !blocked),
        looks: judged.looks,
        metrics: Vec::new(),
        arms,
        warnings,
    })
}

/// The extremes of all comparisons of one run of each arm. Neighbours in time are not preferred:
/// whoever runs each arm once has them at different hours.
fn single_runs(units: &CellUnits, rounds: &PerArm<Vec<&Round>>) -> Option<SingleRuns> {
    let (base, test) = (start_logs(units, &rounds.base), start_logs(units, &rounds.test));
    let (level, base, test) = match base.len().min(test.len()) {
        0 | 1 => {
            (ExperimentLevel::Pair, rate_logs(units, &rounds.base), rate_logs(units, &rounds.test))
        }
        _ => (ExperimentLevel::Start, base, test),
    };
    let runs = base.len().min(test.len());
    let least = |logs: &[f64]| logs.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |logs: &[f64]| logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (runs > 1).then(|| SingleRuns {
        runs: runs as u32,
        level,
        low: (least(&test) - most(&base)).exp(),
        high: (most(&test) - least(&base)).exp(),
    })
}

/// The logarithm of the rate of each round.
fn rate_logs(units: &CellUnits, rounds: &[&Round]) -> Vec<f64> {
    rounds.iter().map(|round| units.rate(round).ln()).collect()
}

/// Their means of each start of the server.
fn start_logs(units: &CellUnits, rounds: &[&Round]) -> Vec<f64> {
    let starts = rounds.chunk_by(|a, b| (a.filling, a.start) == (b.filling, b.start));
    starts.map(|start| mean(&rate_logs(units, start))).collect()
}

fn client_heavy(arm: Arm, summary: &ArmSummary) -> Option<Warning> {
    let (client, server) = (summary.client_cpu_us_per_op?, summary.server_cpu_us_per_op?);
    let share = client / (client + server);
    (share > CLIENT_SHARE_HIGH).then(|| {
        let text = format!(
            "{arm}: the client takes {:.0} % of the processor time, so a change of the server shows \
             diluted; compare server CPU per operation",
            share * 100.0
        );
        Warning::new(Severity::Note, "client-heavy", text)
    })
}

fn summary(units: &CellUnits, rounds: &[&Round]) -> Result<ArmSummary, JudgeError> {
    let qps = mean_of_rounds(rounds, Round::qps)?;
    let statements: f64 = rounds.iter().map(|round| round.done_statements()).sum();
    let events: u64 = rounds.iter().map(|round| round.events).sum();
    let whole: u64 = rounds.iter().map(|round| round.statements).sum();
    let retries: u64 = rounds.iter().map(|round| round.retries).sum();
    let per_op = |field: fn(&Round) -> Option<u64>, unit: f64| {
        let sum: Option<u64> = rounds.iter().map(|round| field(round)).sum();
        sum.map(|sum| sum as f64 / unit / statements)
    };
    let mut latency = LatencyHistogram::new();
    rounds.iter().for_each(|round| latency.merge(&round.latency));
    let classes = classes(rounds, qps.estimate / whole as f64);
    Ok(ArmSummary {
        rate: mean_of_rounds(rounds, |round| units.rate(round))?,
        qps,
        tps: qps.estimate * events as f64 / whole as f64,
        server_cpu_us_per_op: per_op(|round| round.cost.server_cpu_ns, 1e3),
        client_cpu_us_per_op: per_op(|round| round.cost.client_cpu_ns, 1e3),
        context_switches_per_op: per_op(|round| round.cost.server_context_switches, 1.0),
        read_kb_per_op: per_op(|round| round.cost.server_read_bytes, 1024.0),
        written_kb_per_op: per_op(|round| round.cost.server_written_bytes, 1024.0),
        latency_us: response::percentiles(&latency),
        retries_per_event: retries as f64 / events as f64,
        open: response::open_summary(rounds),
        classes,
    })
}

/// The classes of an arm, if all of its rounds have the same ones. `per_second` is what one of the
/// statements of all rounds counts in the rate of statements; what is beside the clients has no
/// part in that rate, and is counted by time.
fn classes(rounds: &[&Round], per_second: f64) -> Vec<ClassSummary> {
    fn names(round: &Round) -> impl Iterator<Item = &str> {
        round.classes.iter().map(|class| class.name.as_str())
    }
    let Some(first) = rounds.first() else { return Vec::new() };
    if rounds.iter().any(|round| !names(round).eq(names(first))) {
        return Vec::new();
    }
    let classes = first.classes.iter().enumerate();
    classes.map(|(at, class)| class_summary(rounds, at, class, per_second)).collect()
}

/// The class at this place of all rounds.
fn class_summary(
    rounds: &[&Round],
    at: usize,
    class: &ClassTally,
    per_second: f64,
) -> ClassSummary {
    let tallies = || rounds.iter().map(|round| &round.classes[at]);
    let percentiles = |pick: fn(&ClassTimes) -> Option<&LatencyHistogram>| {
        let mut sum = LatencyHistogram::new();
        for tally in tallies() {
            sum.merge(pick(tally.times.as_ref()?)?);
        }
        Some(response::percentiles(&sum))
    };
    let count = tallies().map(|tally| tally.count).sum::<u64>() as f64;
    let counted = count * per_second;
    ClassSummary {
        name: class.name.clone(),
        counted: class.count_unit(),
        per_second: background::achieved_by(&class.name, rounds).unwrap_or(counted),
        latency_us: percentiles(|times| Some(&times.latency)),
        response_us: percentiles(|times| times.response.as_ref()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use dbdyno_model::ArmIndex;

    /// Nine runs of MySQL 5.5 and of 5.6 at 8 clients (Kravtchuk 2013), queries/s.
    const BASE: [f64; 9] =
        [69577.0, 70721.0, 70779.0, 71245.0, 71418.0, 71507.0, 71564.0, 71721.0, 72015.0];
    const TEST: [f64; 9] =
        [65489.0, 66156.0, 66833.0, 67293.0, 67328.0, 67395.0, 67494.0, 68655.0, 69030.0];

    fn single_runs(each_is_a_start: bool) -> SingleRuns {
        let run = sample::of_pairs(9, "point-query", "sqlite:", 8, |round| {
            let rates = if round.key.arm == ArmIndex::BASE { BASE } else { TEST };
            let seconds = sample::WALL_NS as f64 / 1e9;
            sample::set_events(round, rates[round.key.pair as usize] * seconds);
            round.start = if each_is_a_start { round.key.pair } else { 0 };
        });
        crate::compare_run(run.first_pair()).unwrap().cells[0].single_runs.unwrap()
    }

    #[test]
    fn an_unlucky_pair_of_runs_claims_what_the_extremes_say() {
        for (is_start, level) in [(true, ExperimentLevel::Start), (false, ExperimentLevel::Pair)] {
            let single = single_runs(is_start);
            assert_eq!((single.runs, single.level), (9, level));
            assert!((single.low - 65489.0 / 72015.0).abs() < 1e-3, "{single:?}");
            assert!((single.high - 69030.0 / 69577.0).abs() < 1e-3, "{single:?}");
        }
    }
}
