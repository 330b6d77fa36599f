//! From rounds to an answer.
//!
//! Pairs are formed by the plan, not by time of day: the two rounds of a pair stood next to each
//! other and asked the same questions. Each pair gives one log-ratio of rates; those are the data,
//! and what happened inside a round is not.

use dbdyno_audit::Finding;
use dbdyno_model::{
    Arm, ArmSummary, Cell, CellComparison, ClassSummary, ClassTally, ClassTimes, Comparison,
    Driving, LatencyHistogram, Measure, PerArm, Plan, Round, Run, RunStatus, Severity, Verdict,
    Warning,
};
use dbdyno_stats::{self as stats, Terms};

use crate::beside;
use crate::curves;
use crate::discoveries;
use crate::drift;
use crate::error::LabError;
use crate::extension;
use crate::grain;
use crate::insert_benchmark::{restrain, step_metrics};
use crate::laws;
use crate::looks;
use crate::mechanism;
use crate::metrics;
use crate::nest::{self, by_life, mean, mean_of_rounds, nested};
use crate::response::{self, Judged};
use crate::row_cost;
use crate::saturation;
use crate::sift::sift;
use crate::standstill;
use crate::stationary;
use crate::yardstick::Yardstick;

/// From here on the means of lives are the replicates.
const MANY_LIVES: usize = stats::MIN_PAIRS as usize;
/// A client that takes more of the processor time than this carries a note.
const CLIENT_SHARE_HIGH: f64 = 0.5;

/// Judges a run, cell by cell. Rounds without their partner are left out, cells without a pair too.
///
/// # Errors
/// Rates that cannot be judged, which only a damaged store can hold.
pub fn compare(run: &Run) -> Result<Comparison, LabError> {
    let audit = dbdyno_audit::audit(&run.plan.arms, &run.environment.as_ref());
    let findings = dbdyno_audit::findings(&audit);
    let mut cells = Vec::new();
    let (mut steps, mut mechanisms) = (Vec::new(), Vec::new());
    for cell in run.plan.cells() {
        let (pairs, dropped, notes) = judged_pairs(run, &cell);
        if pairs.is_empty() {
            continue;
        }
        let yardstick = Yardstick::of(&run.plan, &cell);
        let mut judged = judged(run, &yardstick, &pairs)?;
        judged.look_again(run, &cell)?;
        mechanisms.extend(mechanism::of_cell(run, &cell, &pairs)?);
        let arms: PerArm<Vec<&Round>> =
            PerArm::from_fn(|arm| pairs.iter().map(|pair| pair[arm]).collect());
        if let Some(step) = step_metrics(run, &cell, &arms) {
            restrain(&step, &mut judged);
            steps.push(step);
        }
        let mut against = against(run, &cell, &yardstick, &arms);
        against.extend(found_against(&findings, &cell).into_iter().chain(notes));
        let compared = cell_comparison(cell, &yardstick, judged, &arms, against)?;
        let metrics = metrics::of_cell(run, &compared, &pairs)?;
        cells.push(CellComparison { pairs_dropped: dropped, metrics, ..compared });
    }
    let family = discoveries::control(&mut cells);
    let longer = extension::looked_at(run);
    for cell in &mut cells {
        say_what_is_missing(run, longer.as_ref(), cell)?;
    }
    let counts = crate::count::compare(run, &cells)?;
    let mut warnings = of_whole(run);
    warnings.extend(found_beside(findings));
    Ok(Comparison {
        labels: labels(run),
        budget: run.plan.budget,
        curves: curves::of_run(run, &cells)?,
        costs: row_cost::of_run(run, &cells)?,
        cells,
        insert_benchmark: steps,
        family,
        counts,
        audit,
        mechanisms,
        self_tests: None,
        warnings,
    })
}

/// How many more pairs would decide a cell, and how long they would take: by the rule by which the
/// run is made longer, where it can be, for that is stricter than the one by which it was judged.
fn say_what_is_missing(
    run: &Run,
    longer: Option<&Plan>,
    cell: &mut CellComparison,
) -> Result<(), LabError> {
    let once = cell.pairs_missing.filter(|_| cell.verdict == Verdict::Undecided);
    let is_blocked = cell.warnings.iter().any(|warning| warning.severity == Severity::Blocks);
    cell.pairs_missing = match longer {
        Some(longer) if cell.verdict == Verdict::Undecided && !is_blocked => {
            looks::pairs_missing(run, longer, &cell.cell, once)?
        }
        _ => once,
    };
    cell.missing_ns =
        cell.pairs_missing.and_then(|pairs| looks::missing_ns(run, &cell.cell, pairs));
    Ok(())
}

/// What is known of a run as a whole.
pub(crate) fn of_whole(run: &Run) -> Vec<Warning> {
    let mut warnings = run.warnings.clone();
    if run.status != RunStatus::Complete {
        let text = "the run was not finished; what follows rests on what was measured";
        warnings.push(Warning::new(Severity::Caution, "not-finished", text));
    }
    warnings
}

/// What speaks against the rounds of a cell, by themselves: clients that were not fast enough, laws
/// that are broken, rates that change.
pub(crate) fn against(
    run: &Run,
    cell: &Cell,
    yardstick: &Yardstick,
    arms: &PerArm<Vec<&Round>>,
) -> Vec<Warning> {
    let of_arm = |arm: Arm| {
        let client = saturation::of_arm(run, cell, arm, &arms[arm]);
        let laws = laws::of_arm(run, cell, arm, &arms[arm]);
        client.into_iter().chain(laws).chain(standstill::of_arm(arm, &arms[arm]))
    };
    let beside = |arm: Arm| beside::short(&run.plan, cell, arm, &arms[arm]);
    let against = Arm::BOTH.into_iter().flat_map(of_arm);
    let against = against.chain(stationary::of_cell(run, cell, yardstick, arms));
    let against = against.chain(grain::of_cell(run, cell, arms));
    against.chain(Arm::BOTH.into_iter().filter_map(beside)).collect()
}

/// What the audit says of a cell: what it found there, and what withholds every verdict.
pub(crate) fn found_against(findings: &[Finding], cell: &Cell) -> Vec<Warning> {
    let place = cell.to_string();
    let is_told = |finding: &&Finding| match finding.of.as_deref() {
        None => finding.warning.severity == Severity::Blocks,
        Some(of) => of == cell.load || of == place,
    };
    findings.iter().filter(is_told).map(|finding| finding.warning.clone()).collect()
}

/// What it says of the whole run beside that.
pub(crate) fn found_beside(findings: Vec<Finding>) -> impl Iterator<Item = Warning> {
    let is_told =
        |finding: &Finding| finding.of.is_none() && finding.warning.severity != Severity::Blocks;
    findings.into_iter().filter(is_told).map(|finding| finding.warning)
}

/// The pairs of rounds that a verdict rests on, and what the reader must know of those that are
/// left out.
pub(crate) fn judged_pairs<'a>(
    run: &'a Run,
    cell: &Cell,
) -> (Vec<PerArm<&'a Round>>, u32, Option<Warning>) {
    match run.plan.driving {
        Driving::Closed | Driving::Thinking(_) | Driving::Open(_) => {
            let sifted = sift(run, cell, pairs_of(run, cell));
            (sifted.pairs, sifted.dropped, sifted.warning)
        }
        Driving::Search(slo) => {
            let (pairs, without) = response::ends_of_searches(run, cell, slo);
            (pairs, 0, (without > 0).then(|| response::nothing_found(without, slo)))
        }
    }
}

/// By what the cells of a run are judged.
pub(crate) fn terms(plan: &Plan) -> Terms {
    Terms {
        between_sd: stats::BETWEEN_LIVES_SD,
        budget: plan.budget,
        interval: plan.interval,
        seed: plan.seed,
    }
}

fn judged(run: &Run, yardstick: &Yardstick, pairs: &[PerArm<&Round>]) -> Result<Judged, LabError> {
    let terms = terms(&run.plan);
    let by_rate = |rate: &dyn Fn(&Round) -> f64, measure| -> Result<Judged, LabError> {
        let nest = nested(pairs, |pair| (rate(pair.test) / rate(pair.base)).ln());
        let judgement = stats::judge_nested(&nest, &terms)?;
        let levels = nest::levels(&nest, pairs, judgement.basis.interval, terms.between_sd);
        Ok(Judged { levels, ..Judged::by_rate(judgement, measure) })
    };
    match run.plan.driving {
        Driving::Closed => by_rate(&|round| yardstick.rate(round), Measure::Rate),
        Driving::Thinking(_) | Driving::Open(_) => {
            let rqps = by_rate(&|round| yardstick.rate(round), Measure::Rate)?.rqps;
            Judged::by_response(pairs, rqps, &terms)
        }
        Driving::Search(_) => by_rate(&response::offered_rate, Measure::MaxRate),
    }
}

/// The standard deviation of the log-ratios of pairs within a life; `None` if all lives of the cell
/// together say less of it than one that has as many pairs as a verdict needs.
pub(crate) fn noise_of(run: &Run, cell: &Cell) -> Option<f64> {
    let yardstick = Yardstick::of(&run.plan, cell);
    let pairs = sift(run, cell, pairs_of(run, cell)).pairs;
    let lives = by_life(&pairs, |pair| log_ratio(&yardstick, pair));
    // Each life has spent one of its pairs on its mean.
    let (mut squares, mut degrees) = (0.0, 0);
    for life in lives {
        let mean = mean(&life);
        squares += life.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
        degrees += life.len() - 1;
    }
    (degrees + 1 >= stats::MIN_PAIRS as usize).then(|| (squares / degrees as f64).sqrt())
}

pub(crate) fn cell_comparison(
    cell: Cell,
    yardstick: &Yardstick,
    judged: Judged,
    rounds: &PerArm<Vec<&Round>>,
    against: Vec<Warning>,
) -> Result<CellComparison, LabError> {
    let mut arms = PerArm::try_from_fn(|arm| summary(yardstick, &rounds[arm]))?;
    let blocked = against.iter().any(|warning| warning.severity == Severity::Blocks);
    let mut warnings = judged.warnings;
    warnings.extend(against);
    if judged.measure == Measure::MaxRate {
        for arm in Arm::BOTH {
            let found = mean_of_rounds(&rounds[arm], response::offered_rate)?;
            arms[arm].open.iter_mut().for_each(|open| open.max_rate = Some(found));
        }
    }
    warnings.extend(Arm::BOTH.into_iter().flat_map(|arm| response::warnings(arm, &arms[arm])));
    warnings.extend(Arm::BOTH.into_iter().filter_map(|arm| client_heavy(arm, &arms[arm])));
    warnings.extend(Arm::BOTH.into_iter().filter_map(|arm| drift::note(arm, &rounds[arm])));
    Ok(CellComparison {
        cell,
        pairs: rounds.base.len().min(rounds.test.len()) as u32,
        pairs_dropped: 0,
        unit: yardstick.unit,
        since: yardstick.since,
        rqps: judged.rqps,
        measure: judged.measure,
        verdict: if blocked { Verdict::Undecided } else { judged.verdict },
        basis: judged.basis,
        p_value: judged.p_value,
        q_value: None,
        levels: judged.levels,
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

pub(crate) fn pairs_of<'a>(run: &'a Run, cell: &Cell) -> Vec<PerArm<&'a Round>> {
    let find = |pair, arm| {
        run.rounds
            .iter()
            .find(|round| round.key.pair == pair && round.key.arm == arm && round.key.cell == *cell)
    };
    (0..run.plan.pairs)
        .filter_map(|pair| {
            Some(PerArm { base: find(pair, Arm::Base)?, test: find(pair, Arm::Test)? })
        })
        .collect()
}

/// What both arms did in several cells, as replicates of curves through them.
pub(crate) struct Replicates {
    /// The logarithms by place.
    pub(crate) points: Vec<stats::PointLogs>,
    /// The standard deviation of what the servers' lives add and the replicates do not show.
    pub(crate) between_sd: f64,
}

/// The logarithms of a figure of the pairs at several places. Where the servers lived often enough
/// in every cell, means of fillings or lives are the replicates; else pairs are, and the spread of
/// lives is assumed.
pub(crate) fn replicates(
    places: &[(f64, Vec<PerArm<&Round>>)],
    figure: impl Fn(&Round) -> Option<f64>,
) -> Replicates {
    let log = |round: &Round| figure(round).map_or(f64::NAN, f64::ln);
    type Nest = Vec<Vec<Vec<f64>>>;
    let nests: Vec<PerArm<Nest>> = places
        .iter()
        .map(|(_, pairs)| PerArm::from_fn(|arm| nested(pairs, |pair| log(pair[arm]))))
        .collect();
    let lives = |nest: &PerArm<Nest>| nest.base.iter().map(Vec::len).sum();
    let fewest: usize = nests.iter().map(lives).min().unwrap_or(0);
    let restarted = fewest >= MANY_LIVES;
    let logs = |nest: &[Vec<Vec<f64>>]| -> Vec<f64> {
        let highest = if restarted { nest::highest(nest) } else { None };
        highest.unwrap_or_else(|| nest.concat().concat())
    };
    let point = |((at, _), nest): (&(f64, _), &PerArm<Nest>)| {
        let both = logs(&nest.base).into_iter().zip(logs(&nest.test));
        let pairs = both.map(|(base, test)| PerArm { base, test }).collect();
        stats::PointLogs { at: *at, pairs }
    };
    let points = places.iter().zip(&nests).map(point).collect();
    let assumed = stats::BETWEEN_LIVES_SD / (fewest.max(1) as f64).sqrt();
    Replicates { points, between_sd: if restarted { 0.0 } else { assumed } }
}

pub(crate) fn log_ratio(yardstick: &Yardstick, pair: &PerArm<&Round>) -> f64 {
    (yardstick.rate(pair.test) / yardstick.rate(pair.base)).ln()
}

fn summary(yardstick: &Yardstick, rounds: &[&Round]) -> Result<ArmSummary, LabError> {
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
        rate: mean_of_rounds(rounds, |round| yardstick.rate(round))?,
        qps,
        tps: qps.estimate * events as f64 / whole as f64,
        server_cpu_us_per_op: per_op(|round| round.cost.server_cpu_ns, 1e3),
        client_cpu_us_per_op: per_op(|round| round.cost.client_cpu_ns, 1e3),
        context_switches_per_op: per_op(|round| round.cost.server_context_switches, 1.0),
        read_kb_per_op: per_op(|round| round.cost.server_read_bytes, 1024.0),
        written_kb_per_op: per_op(|round| round.cost.server_written_bytes, 1024.0),
        latency_us: response::percentiles(&latency),
        retries_per_event: retries as f64 / events as f64,
        open: response::summary(rounds),
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
    let summary = |(at, class): (usize, &ClassTally)| {
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
            counted: class.counted(),
            per_second: beside::achieved_by(&class.name, rounds).unwrap_or(counted),
            latency_us: percentiles(|times| Some(&times.latency)),
            response_us: percentiles(|times| times.response.as_ref()),
        }
    };
    first.classes.iter().enumerate().map(summary).collect()
}

pub(crate) fn labels(run: &Run) -> PerArm<String> {
    PerArm::from_fn(|arm| {
        let spec = run.plan.arms[arm].to_string();
        match run.environment[arm].get("server.version") {
            "" => spec,
            version => format!("{spec} ({version})"),
        }
    })
}
