//! From rounds to an answer.
//!
//! Pairs are formed by the plan, not by time of day: the two rounds of a pair stood next to each
//! other and asked the same questions. Each pair gives one log-ratio of rates; those are the data,
//! and what happened inside a round is not.

use dbdyno_audit::Finding;
use dbdyno_model::{
    Arm, ArmSummary, Cell, CellComparison, ClassSummary, ClassTally, ClassTimes, Comparison,
    Driving, IntervalKind, LatencyHistogram, Measure, PerArm, Plan, Round, Run, RunStatus,
    Severity, Verdict, Warning,
};
use dbdyno_stats::{self as stats, Judgement, Terms};

use crate::beside;
use crate::curves;
use crate::discoveries;
use crate::drift;
use crate::error::LabError;
use crate::insert_benchmark::{restrain, step_metrics};
use crate::laws;
use crate::looks;
use crate::mechanism;
use crate::nest::{self, by_life, nested};
use crate::response::{self, Judged};
use crate::row_cost;
use crate::saturation;
use crate::sift::sift;
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
    let sequence = looks::sequence_of(&run.plan);
    let mut cells = Vec::new();
    let (mut steps, mut mechanisms) = (Vec::new(), Vec::new());
    for cell in run.plan.cells() {
        let (pairs, dropped, notes) = judged_pairs(run, &cell);
        if pairs.is_empty() {
            continue;
        }
        let yardstick = Yardstick::of(&run.plan, &cell);
        let mut judged = judged(run, &yardstick, &pairs)?;
        judged.look_again(run, &cell, sequence.as_ref())?;
        judged.warnings.extend(notes);
        mechanisms.extend(mechanism::of_cell(run, &cell, &pairs)?);
        let arms: PerArm<Vec<&Round>> =
            PerArm::from_fn(|arm| pairs.iter().map(|pair| pair[arm]).collect());
        if let Some(step) = step_metrics(run, &cell, &arms) {
            restrain(&step, &mut judged);
            steps.push(step);
        }
        let of_arm = |arm: Arm| {
            let client = saturation::of_arm(run, &cell, arm, &arms[arm]);
            client.into_iter().chain(laws::of_arm(run, &cell, arm, &arms[arm]))
        };
        let beside = |arm: Arm| beside::short(&run.plan, &cell, arm, &arms[arm]);
        let of_cell = stationary::of_cell(run, &cell, &yardstick, &arms);
        let against = Arm::BOTH.into_iter().flat_map(of_arm).chain(of_cell);
        let against = against.chain(Arm::BOTH.into_iter().filter_map(beside));
        let against = against.chain(found_against(&findings, &cell)).collect();
        let compared = cell_comparison(cell, &yardstick, judged, &arms, against)?;
        cells.push(CellComparison { pairs_dropped: dropped, ..compared });
    }
    let family = discoveries::control(&mut cells);
    let counts = crate::count::compare(run, &cells)?;
    let mut warnings = run.warnings.clone();
    warnings.extend(found_beside(findings));
    if run.status != RunStatus::Complete {
        let text = "the run was not finished; what follows rests on what was measured";
        warnings.push(Warning::new(Severity::Caution, "not-finished", text));
    }
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

/// What the audit says of a cell: what it found there, and what withholds every verdict.
fn found_against(findings: &[Finding], cell: &Cell) -> Vec<Warning> {
    let place = cell.to_string();
    let is_told = |finding: &&Finding| match finding.of.as_deref() {
        None => finding.warning.severity == Severity::Blocks,
        Some(of) => of == cell.load || of == place,
    };
    findings.iter().filter(is_told).map(|finding| finding.warning.clone()).collect()
}

/// What it says of the whole run beside that.
fn found_beside(findings: Vec<Finding>) -> impl Iterator<Item = Warning> {
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

/// Compares what the *test* arms of two stored runs did.
///
/// The runs were not interleaved: whatever changed between them is in the ratio. When both measured
/// the same base arm, that arm is the control: the difference of the two runs' paired log-ratios is
/// judged, and the host's change falls out. Without a common base there is a ratio and an interval,
/// and no verdict.
///
/// # Errors
/// [`LabError::Unlike`] if the runs differ in load, clients, tables or length of rounds.
pub fn compare_stored(base: &Run, test: &Run, budget: f64) -> Result<Comparison, LabError> {
    same_shape(base, test)?;
    let labels = PerArm { base: labels(base), test: labels(test) };
    let controlled = labels.base.base == labels.test.base;
    let specs = PerArm { base: base.plan.arms.test.clone(), test: test.plan.arms.test.clone() };
    let facts = PerArm { base: &base.environment.test, test: &test.environment.test };
    let audit = dbdyno_audit::audit(&specs, &facts);
    let findings = dbdyno_audit::findings(&audit);
    let mut cells = Vec::new();
    for cell in test.plan.cells() {
        let runs = PerArm { base, test };
        let sifted = runs.map(|run| sift(run, &cell, pairs_of(run, &cell)));
        let dropped = sifted.base.dropped + sifted.test.dropped;
        let pairs = sifted.map(|sifted| sifted.pairs);
        if pairs.base.is_empty() || pairs.test.is_empty() {
            continue;
        }
        let yardstick = Yardstick::of(&test.plan, &cell);
        let log_ratio = |pair: &PerArm<&Round>| log_ratio(&yardstick, pair);
        let lives = pairs.as_ref().map(|pairs| by_life(pairs, log_ratio));
        let restarted = Arm::BOTH.into_iter().all(|arm| lives[arm].len() >= MANY_LIVES);
        let rates: PerArm<Vec<f64>> = PerArm::from_fn(|arm| match (controlled, restarted) {
            (true, true) => lives[arm].iter().map(|life| mean(life)).collect(),
            (true, false) => pairs[arm].iter().map(log_ratio).collect(),
            (false, _) => pairs[arm].iter().map(|pair| yardstick.rate(pair.test).ln()).collect(),
        });
        let interval = test.plan.interval;
        let mut judgement = stats::judge_unpaired(&rates.base, &rates.test, budget, interval)?;
        if !controlled {
            ratio_of_means(&rates, &mut judgement)?;
        }
        if !controlled || !restarted {
            judgement.verdict = Verdict::Undecided;
        }
        let arms: PerArm<Vec<&Round>> =
            pairs.as_ref().map(|pairs| pairs.iter().map(|pair| pair.test).collect());
        let of_run =
            |run: &Run, rounds: &[&Round]| saturation::of_arm(run, &cell, Arm::Test, rounds);
        let found = found_against(&findings, &cell);
        let against = [of_run(base, &arms.base), of_run(test, &arms.test), found].concat();
        let judged = Judged::by_rate(judgement, Measure::Rate);
        let compared = cell_comparison(cell, &yardstick, judged, &arms, against)?;
        cells.push(CellComparison { pairs_dropped: dropped, ..compared });
    }
    let family = discoveries::control(&mut cells);
    let mut warnings = vec![not_interleaved(base, test, controlled)];
    warnings.extend(one_life(base, test));
    warnings.extend(found_beside(findings));
    Ok(Comparison {
        labels: PerArm { base: labels.base.test, test: labels.test.test },
        budget,
        cells,
        insert_benchmark: Vec::new(),
        counts: Vec::new(),
        curves: Vec::new(),
        costs: Vec::new(),
        family,
        audit,
        mechanisms: Vec::new(),
        self_tests: None,
        warnings,
    })
}

/// What is missing where servers were hardly ever started.
fn one_life(base: &Run, test: &Run) -> Option<Warning> {
    let few = [base, test].into_iter().any(|run| run.plan.restarts + 1 < MANY_LIVES as u32);
    let text = "where a server was started fewer than three times there is no verdict: \
                two starts of one server differ by about 1.5 %; measure with --restarts 2 or more";
    few.then(|| Warning::new(Severity::Caution, "one-life", text))
}

/// Without a common base there is a ratio of what was done in all, and Fieller's interval of it.
fn ratio_of_means(logs: &PerArm<Vec<f64>>, judged: &mut Judgement) -> Result<(), LabError> {
    if judged.basis.interval != IntervalKind::Welch {
        return Ok(());
    }
    let rates = logs.as_ref().map(|logs| logs.iter().map(|log| log.exp()).collect::<Vec<f64>>());
    let found = stats::fieller(&rates.base, &rates.test, stats::SHOWN_CONFIDENCE)?;
    (judged.rqps, judged.p_value) = (found.ratio, found.p_value);
    judged.basis.interval = IntervalKind::Fieller;
    "the runs have no base arm in common".clone_into(&mut judged.basis.why);
    Ok(())
}

fn not_interleaved(base: &Run, test: &Run, controlled: bool) -> Warning {
    let (base, test) = (&base.id, &test.id);
    if controlled {
        let text = format!(
            "runs {base} and {test} were not interleaved; both measured the same base arm, and rQPS \
             is the ratio of their two ratios, so that a change of the host falls out"
        );
        return Warning::new(Severity::Note, "ratio-of-ratios", text);
    }
    let text = format!(
        "runs {base} and {test} were neither interleaved nor have they a base arm in common: a \
         change of the host between them looks like a change of the server, so there is no verdict; \
         compare the two servers in one run"
    );
    Warning::new(Severity::Blocks, "not-interleaved", text)
}

/// The standard deviation of the log-ratios of pairs within a life; `None` if no life of the cell
/// has as many pairs as a verdict needs.
pub fn noise_of(run: &Run, cell: &Cell) -> Option<f64> {
    let yardstick = Yardstick::of(&run.plan, cell);
    let pairs = sift(run, cell, pairs_of(run, cell)).pairs;
    let lives = by_life(&pairs, |pair| log_ratio(&yardstick, pair));
    let around: Vec<f64> = lives
        .iter()
        .filter(|life| life.len() >= stats::MIN_PAIRS as usize)
        .flat_map(|life| life.iter().map(|log| log - mean(life)))
        .collect();
    stats::paired(&around, stats::SHOWN_CONFIDENCE).ok().map(|estimate| estimate.sd_log)
}

/// The smallest change of rQPS, as a share, that a cell of this plan finds with a chance of 80 %,
/// if the log-ratios of the pairs of one life have the standard deviation `sd_log`; `None` if there
/// are too few pairs for any verdict.
pub fn detectable_share(plan: &Plan, sd_log: f64) -> Option<f64> {
    let between = stats::BETWEEN_LIVES_SD;
    let lives = plan.restarts + 1;
    let find = |sd, count| stats::detectable(sd, count, stats::DECISION_ALPHA, stats::POWER);
    let share = if lives as usize >= MANY_LIVES {
        let pairs_a_life = f64::from(plan.pairs) / f64::from(lives);
        find(between.hypot(sd_log / pairs_a_life.sqrt()), lives)
    } else {
        // The spread of lives is taken as known: its share is that of very many of them.
        let known = find(between * f64::from(stats::PAIRS_CAP).sqrt(), stats::PAIRS_CAP);
        find(sd_log, plan.pairs).hypot(known)
    };
    share.is_finite().then_some(share)
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn cell_comparison(
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
            let rates: Vec<f64> =
                rounds[arm].iter().map(|round| response::offered_rate(round)).collect();
            let found = stats::geometric_mean_interval(&rates, stats::SHOWN_CONFIDENCE)?;
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
/// in every cell, means of lives are the replicates; else pairs are, and the spread of lives is
/// assumed.
pub(crate) fn replicates(
    places: &[(f64, Vec<PerArm<&Round>>)],
    figure: impl Fn(&Round) -> Option<f64>,
) -> Replicates {
    let log = |round: &Round| figure(round).map_or(f64::NAN, f64::ln);
    let lives: Vec<PerArm<Vec<Vec<f64>>>> = places
        .iter()
        .map(|(_, pairs)| PerArm::from_fn(|arm| by_life(pairs, |pair| log(pair[arm]))))
        .collect();
    let fewest = lives.iter().map(|lives| lives.base.len()).min().unwrap_or(0);
    let restarted = fewest >= MANY_LIVES;
    let logs = |lives: &[Vec<f64>]| -> Vec<f64> {
        if restarted { lives.iter().map(|life| mean(life)).collect() } else { lives.concat() }
    };
    let point = |((at, _), lives): (&(f64, _), &PerArm<Vec<Vec<f64>>>)| {
        let both = logs(&lives.base).into_iter().zip(logs(&lives.test));
        let pairs = both.map(|(base, test)| PerArm { base, test }).collect();
        stats::PointLogs { at: *at, pairs }
    };
    let points = places.iter().zip(&lives).map(point).collect();
    let assumed = stats::BETWEEN_LIVES_SD / (fewest.max(1) as f64).sqrt();
    Replicates { points, between_sd: if restarted { 0.0 } else { assumed } }
}

pub(crate) fn log_ratio(yardstick: &Yardstick, pair: &PerArm<&Round>) -> f64 {
    (yardstick.rate(pair.test) / yardstick.rate(pair.base)).ln()
}

fn summary(yardstick: &Yardstick, rounds: &[&Round]) -> Result<ArmSummary, LabError> {
    let mean = |rate: &dyn Fn(&Round) -> f64| {
        let rates: Vec<f64> = rounds.iter().map(|round| rate(round)).collect();
        stats::geometric_mean_interval(&rates, stats::SHOWN_CONFIDENCE)
    };
    let qps = mean(&Round::qps)?;
    let statements: u64 = rounds.iter().map(|round| round.statements).sum();
    let events: u64 = rounds.iter().map(|round| round.events).sum();
    let retries: u64 = rounds.iter().map(|round| round.retries).sum();
    let per_op = |field: fn(&Round) -> Option<u64>, unit: f64| {
        let sum: Option<u64> = rounds.iter().map(|round| field(round)).sum();
        sum.map(|sum| sum as f64 / unit / statements as f64)
    };
    let mut latency = LatencyHistogram::new();
    rounds.iter().for_each(|round| latency.merge(&round.latency));
    let classes = classes(rounds, qps.estimate / statements as f64);
    Ok(ArmSummary {
        rate: mean(&|round| yardstick.rate(round))?,
        qps,
        tps: qps.estimate * events as f64 / statements as f64,
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

fn labels(run: &Run) -> PerArm<String> {
    PerArm::from_fn(|arm| {
        let spec = run.plan.arms[arm].to_string();
        match run.environment[arm].get("server.version") {
            "" => spec,
            version => format!("{spec} ({version})"),
        }
    })
}

fn same_shape(base: &Run, test: &Run) -> Result<(), LabError> {
    let different = |what: &str, base: String, test: String| {
        Err(LabError::Unlike(format!(
            "the runs are not of equal shape: {what} is {base} in the one and {test} in the other; \
             repeat one of them with the same flags"
        )))
    };
    let (a, b) = (&base.plan, &test.plan);
    if a.stages != b.stages {
        let listed = |plan: &Plan| {
            let stages: Vec<String> = plan.stages.iter().map(ToString::to_string).collect();
            stages.join(",")
        };
        return different("--load", listed(a), listed(b));
    }
    if a.clients != b.clients {
        return different("--clients", format!("{:?}", a.clients), format!("{:?}", b.clients));
    }
    let sizes = [
        ("--tables", u64::from(a.tables), u64::from(b.tables)),
        ("--rows", a.rows, b.rows),
        ("--seed", a.seed, b.seed),
        ("the length of a round (ns)", a.round_ns, b.round_ns),
    ];
    if a.driving != b.driving {
        return different("the way of driving", a.driving.to_string(), b.driving.to_string());
    }
    if a.driving != Driving::Closed {
        return Err(LabError::Unlike(
            "two stored runs at a given rate, or of clients that think, did the same by \
             construction; compare their response \
             times side by side with `dbdyno show`, or both servers in one run"
                .to_owned(),
        ));
    }
    for (what, base, test) in sizes {
        if base != test {
            return different(what, base.to_string(), test.to_string());
        }
    }
    Ok(())
}
