//! What two stored runs say of each other's *test* arms.
//!
//! ```text
//!   run a   base ─┐ ratio a ─┐
//!           test ─┘          ├─▶ ratio b ÷ ratio a, where both have the same base arm: the host's
//!   run b   base ─┐ ratio b ─┘   change falls out
//!           test ─┘
//!   no base arm in common    ──▶ a ratio of rates, and no verdict: it is in the ratio
//! ```
//!
//! A run that its results ended has the interval that allowed for it here, too.
//!
//! Whatever speaks against the rounds of one of the runs speaks against the comparison.

use dbdyno_model::{
    Arm, Cell, CellComparison, Comparison, Driving, ExperimentLevel, IntervalKind, PerArm, Round,
    RunPair, Severity, TERMS, VerdictMeasure, Warning,
};
use dbdyno_stats::{self as stats, ConfidenceSequence, Judgement, RunStarts};

use crate::cautions::cell_warnings;
use crate::cell::{cell_comparison, group_of};
use crate::comparison::{cell_audit_warnings, labels, run_audit_cautions, whole_run_warnings};
use crate::error::JudgeError;
use crate::exclusion::{IncludedPairs, exclude_unusual};
use crate::family;
use crate::pairs::{log_ratio, pairs_of};
use crate::rate_unit::CellUnits;
use crate::response::CellJudgement;
use crate::sequential::{self, Values};
use crate::variance::{nested_figures, top_level_means};

/// Compares what the *test* arms of two stored runs did.
///
/// The runs were not interleaved: whatever changed between them is in the ratio. When both measured
/// the same base arm, that arm is the control: the difference of the two runs' paired log-ratios is
/// judged, and the host's change falls out. Without a common base, or where servers were started
/// fewer than three times, there is a ratio and an interval, and no verdict. Curves over clients
/// and costs per row are those of one run and not compared.
///
/// # Errors
/// [`JudgeError::Unlike`] if the runs differ in load, clients, tables, length of rounds or in what
/// processors do.
pub fn compare_stored(
    base: RunPair<'_>,
    test: RunPair<'_>,
    budget: f64,
) -> Result<Comparison, JudgeError> {
    same_shape(base, test)?;
    let runs = PerArm { base, test };
    let labels = runs.map(labels);
    let is_controlled = labels.base.base == labels.test.base;
    let specs = runs.map(|run| run.spec_on(Arm::Test));
    let facts = runs.map(|run| run.environment(Arm::Test));
    let audit = dbdyno_audit::audit_arms(&specs, &facts);
    let findings = dbdyno_audit::audit_warnings(&audit);
    let mut cells = Vec::new();
    for cell in test.plan().cells() {
        let withheld = (!is_controlled).then(|| not_interleaved(base, test));
        let found = cell_audit_warnings(&findings, &cell).into_iter().chain(withheld).collect();
        cells.extend(of_cell(&runs, &cell, is_controlled, budget, found)?);
    }
    let family = family::control_false_discoveries(&mut cells.iter_mut().collect::<Vec<_>>());
    let counts = crate::counts::compare_counted_loads(
        runs.map(|run| run.arm_on(Arm::Test)),
        budget,
        &cells,
    )?;
    let mut warnings: Vec<Warning> =
        is_controlled.then(|| ratio_of_ratios(base, test)).into_iter().collect();
    for run in [base, test] {
        let told =
            whole_run_warnings(run.whole).into_iter().filter(|one| one.severity > Severity::Note);
        warnings.extend(told.map(|warning| said_of(run, warning)));
    }
    warnings.extend(run_audit_cautions(findings));
    Ok(Comparison {
        labels: labels.map(|labels| labels.test),
        budget,
        cells,
        insert_benchmark: Vec::new(),
        counts,
        curves: Vec::new(),
        costs: Vec::new(),
        family,
        audit,
        mechanisms: Vec::new(),
        self_tests: None,
        warnings,
    })
}

/// One cell of both runs; `None` where one of them has no pair of it.
fn of_cell(
    runs: &PerArm<RunPair<'_>>,
    cell: &Cell,
    is_controlled: bool,
    budget: f64,
    mut against_it: Vec<Warning>,
) -> Result<Option<CellComparison>, JudgeError> {
    let sifted = runs.map(|run| exclude_unusual(run, cell, pairs_of(run, cell)));
    if Arm::BOTH.into_iter().any(|arm| sifted[arm].pairs.is_empty()) {
        return Ok(None);
    }
    let units = CellUnits::of_cell(runs.test.plan(), cell);
    let log = |pair: &PerArm<&Round>| {
        if is_controlled { log_ratio(&units, pair) } else { units.rate(pair.test).ln() }
    };
    let nests = sifted.as_ref().map(|sifted| nested_figures(&sifted.pairs, log));
    let replicates = nests.as_ref().map(|nest| top_level_means(nest));
    let (are_starts, logs) = match replicates {
        PerArm { base: Some(base), test: Some(test) } => (true, PerArm { base, test }),
        _ => (false, nests.map(|nest| nest.concat().concat())),
    };
    let is_judged = is_controlled && are_starts;
    let looked_at = if is_judged { looked_at(runs, cell, &logs) } else { None };
    let mut judgement = match &looked_at {
        Some(looks) => stats::judge_runs(looks.base.as_starts(), looks.test.as_starts(), budget)?,
        None => {
            let interval = runs.test.plan().rule.interval;
            stats::judge_unpaired(&logs.base, &logs.test, budget, interval)?
        }
    };
    if !is_controlled {
        ratio_of_means(&logs, &mut judgement)?;
    }
    if !are_starts {
        against_it.push(one_start());
    } else if looked_at.is_none() {
        let are_fillings = Arm::BOTH
            .into_iter()
            .all(|arm| runs[arm].plan().schedule.reloads + 1 >= stats::MIN_PAIRS);
        judgement.basis.replicates =
            if are_fillings { ExperimentLevel::Filling } else { ExperimentLevel::Start };
        against_it.extend(is_controlled.then(|| runs_by_results(runs)).flatten());
    }
    for arm in Arm::BOTH {
        let (run, IncludedPairs { pairs, warning, .. }) = (runs[arm], &sifted[arm]);
        let arms = PerArm::from_fn(|arm| pairs.iter().map(|pair| pair[arm]).collect());
        let found = cell_warnings(run, cell, &units, &arms).into_iter().chain(warning.clone());
        against_it.extend(found.map(|warning| said_of(run, warning)));
    }
    let rounds: PerArm<Vec<&Round>> =
        sifted.as_ref().map(|sifted| sifted.pairs.iter().map(|pair| pair.test).collect());
    let judged = CellJudgement::by_rate(judgement, VerdictMeasure::Rate);
    let compared = cell_comparison(cell.clone(), &units, judged, &rounds, against_it)?;
    let pairs_dropped = sifted.base.dropped + sifted.test.dropped;
    let group = group_of(runs.test.plan(), cell);
    Ok(Some(CellComparison { group, pairs_dropped, ..compared }))
}

/// A warning that speaks of the arms of one of the two runs.
fn said_of(run: RunPair<'_>, warning: Warning) -> Warning {
    Warning { text: format!("run {}: {}", run.whole.id, warning.text), ..warning }
}

/// The starts of a run, and the looks that could end it.
struct LookedAt {
    logs: Vec<f64>,
    sequence: Option<ConfidenceSequence>,
}

impl LookedAt {
    fn as_starts(&self) -> RunStarts<'_> {
        RunStarts { starts: &self.logs, looks: self.sequence.as_ref() }
    }
}

/// Of both runs, where results could end one of them and its looks were at starts of the servers;
/// `once` are the starts of a run, or of a cell of it, that was judged once.
fn looked_at(
    runs: &PerArm<RunPair<'_>>,
    cell: &Cell,
    once: &PerArm<Vec<f64>>,
) -> Option<PerArm<LookedAt>> {
    Arm::BOTH.into_iter().find(|arm| runs[*arm].plan().rule.stopping.look_schedule().is_some())?;
    let of = |arm: Arm| {
        let plan = runs[arm].plan();
        let sequence = sequential::sequence_of(plan, cell);
        match sequential::values_of(runs[arm], cell) {
            Some(Values { known_sd, .. }) if known_sd > 0.0 => None,
            Some(Values { logs, .. }) => Some(LookedAt { logs, sequence }),
            None if sequence.is_none() || sequential::judged_starts(plan, cell) > 0 => {
                Some(LookedAt { logs: once[arm].clone(), sequence: None })
            }
            None => None,
        }
    };
    Some(PerArm { base: of(Arm::Base)?, test: of(Arm::Test)? })
}

/// Where looks were at stretches of one start, the runs have no starts that a look allowed for.
fn runs_by_results(runs: &PerArm<RunPair<'_>>) -> Option<Warning> {
    let ended =
        Arm::BOTH.into_iter().find(|arm| runs[*arm].plan().rule.stopping.is_by_results())?;
    let text = format!(
        "run {} was ended by its results, and its interim analyses were not at starts of the \
         servers: its noise is small by chance, so that there is no verdict; compare the two servers in one run, or \
         measure with --restarts 2 or more",
        runs[ended].whole.id
    );
    Some(Warning::new(Severity::Blocks, "ended-by-results", text))
}

/// What is missing where servers were hardly ever started.
fn one_start() -> Warning {
    let text = "where a server was started fewer than three times there is no verdict: \
                two starts of one server differ by about 1.5 %; measure with --restarts 2 or more";
    Warning::new(Severity::Blocks, "one-start", text)
}

/// Without a common base there is a ratio of what was done in all, and Fieller's interval of it.
fn ratio_of_means(logs: &PerArm<Vec<f64>>, judged: &mut Judgement) -> Result<(), JudgeError> {
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

fn ratio_of_ratios(base: RunPair<'_>, test: RunPair<'_>) -> Warning {
    let text = format!(
        "runs {} and {} were not interleaved; both measured the same base arm, and rQPS is the \
         ratio of their two ratios, so that a change of the host falls out",
        base.whole.id, test.whole.id
    );
    Warning::new(Severity::Note, "ratio-of-ratios", text)
}

fn not_interleaved(base: RunPair<'_>, test: RunPair<'_>) -> Warning {
    let text = format!(
        "runs {} and {} were neither interleaved nor have they a base arm in common: a change of \
         the host between them looks like a change of the server, so there is no verdict; compare \
         the two servers in one run",
        base.whole.id, test.whole.id
    );
    Warning::new(Severity::Blocks, "not-interleaved", text)
}

fn same_shape(base: RunPair<'_>, test: RunPair<'_>) -> Result<(), JudgeError> {
    let (a, b) = (base.plan(), test.plan());
    if a.question.stages != b.question.stages {
        return different("--load", listed(&a.question.stages), listed(&b.question.stages));
    }
    if a.question.clients != b.question.clients {
        return different(
            "--clients",
            format!("{:?}", a.question.clients),
            format!("{:?}", b.question.clients),
        );
    }
    if a.question.driving == b.question.driving && a.question.driving != Driving::Closed {
        return Err(JudgeError::Unlike(
            "two stored runs at a given rate, or of clients that think, did the same by \
             construction; compare their response \
             times side by side with `dbdyno show`, or both servers in one run"
                .to_owned(),
        ));
    }
    for term in TERMS {
        let Some(known_as) = term.shape else { continue };
        let (base, test) = (term.value(a), term.value(b));
        if base != test {
            return different(known_as, base.to_string(), test.to_string());
        }
    }
    Ok(())
}

fn different(what: &str, base: String, test: String) -> Result<(), JudgeError> {
    Err(JudgeError::Unlike(format!(
        "the runs are not of equal shape: {what} is {base} in the one and {test} in the other; \
         repeat one of them with the same flags"
    )))
}

fn listed(stages: &[impl ToString]) -> String {
    stages.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{WALL_NS, of_pairs, set_events};
    use dbdyno_model::{
        ArmIndex, Arms, Gate, GateOutcome, Idle, LatencyHistogram, Pin, Quiet, Run, RunId,
        RunStatus, Verdict,
    };

    /// A run of nine starts whose test arm does this share of what `base` does, in percent.
    fn run(id: &str, base: &str, percent: u64) -> Run {
        let mut run = of_pairs(18, "point-query", base, 1, |round| {
            let share = if round.key.arm == ArmIndex::TEST { percent } else { 100 };
            let noise = u64::from(round.key.pair * 13 % 5);
            set_events(round, (1_000 * share + 10 * noise) as f64);
            round.start = round.key.pair / 2;
        });
        run.id = RunId(id.to_owned());
        run.plan.schedule.restarts = 8;
        run
    }

    fn gated(base: &Run, test: &Run) -> (Verdict, GateOutcome, Vec<String>) {
        let comparison = compare_stored(base.first_pair(), test.first_pair(), 0.02).unwrap();
        let cell = &comparison.cells[0];
        let gate = Gate { rqps_above: 0.98 }.judge_all(&comparison.cells);
        let blocking = cell.warnings.iter().filter(|one| one.severity == Severity::Blocks);
        (cell.verdict, gate, blocking.map(|one| one.code.clone()).collect())
    }

    const SERVER: &str = "mysql://u@h/d";

    #[test]
    fn a_common_base_arm_gives_a_verdict_and_a_gate() {
        let fails = (Verdict::Slower, GateOutcome::Fails, vec![]);
        assert_eq!(gated(&run("a", SERVER, 100), &run("b", SERVER, 80)), fails);
        let holds = (Verdict::Faster, GateOutcome::Holds, vec![]);
        assert_eq!(gated(&run("a", SERVER, 80), &run("b", SERVER, 100)), holds);
    }

    /// There is a ratio to be seen, and nothing passes or fails by it.
    #[test]
    fn a_gate_is_open_where_there_is_no_verdict() {
        let (a, b) = (run("a", SERVER, 100), run("b", "mysql://u@other/d", 80));
        let open =
            |code: &str| (Verdict::Undecided, GateOutcome::CannotTell, vec![code.to_owned()]);
        assert_eq!(gated(&a, &b), open("not-interleaved"));
        let mut once = run("b", SERVER, 80);
        once.rounds.iter_mut().for_each(|round| round.start = 0);
        assert_eq!(gated(&a, &once), open("one-start"));
    }

    #[test]
    fn runs_on_processors_of_another_kind_are_not_compared() {
        let (a, mut b) = (run("a", SERVER, 100), run("b", SERVER, 80));
        let refused = |b: &Run| {
            compare_stored(a.first_pair(), b.first_pair(), 0.02)
                .err()
                .map(|error| error.to_string())
        };
        assert_eq!(refused(&b), None);
        b.plan.quiet.idle = Idle::Poll;
        assert!(refused(&b).unwrap().contains("--idle is halt in the one and poll in the other"));
        b.plan.quiet = Quiet { pin: Pin::Same, ..Quiet::default() };
        assert!(refused(&b).unwrap().contains("--pin is none in the one and same in the other"));
    }

    /// The runs are judged as widely as their looks were; looks at stretches of one start are not.
    #[test]
    fn runs_that_results_ended_are_judged_by_their_looks() {
        let by_results = |id: &str, percent: u64| {
            let mut run = run(id, SERVER, percent);
            run.plan.arms = Arms::from(["mariadb:10.11"; 2].map(|arm| arm.parse().unwrap()));
            run.plan.rule.stopping = dbdyno_model::Stopping::Decided { pairs: 2, horizon: 9 };
            run
        };
        let fixed = |id: &str, percent: u64| {
            let mut run = by_results(id, percent);
            run.plan.rule.stopping = dbdyno_model::Stopping::Fixed;
            run
        };
        let width = |base: &Run, test: &Run| {
            let cell =
                compare_stored(base.first_pair(), test.first_pair(), 0.02).unwrap().cells.remove(0);
            assert_eq!(cell.verdict, Verdict::Slower);
            (cell.rqps.high / cell.rqps.low).ln()
        };
        let both = width(&by_results("a", 95), &by_results("b", 80));
        let one = width(&by_results("a", 95), &fixed("b", 80));
        let none = width(&fixed("a", 95), &fixed("b", 80));
        assert!(none < one && one < both, "{none} {one} {both}");
        let mut stretches = by_results("b", 80);
        stretches.plan.schedule.restarts = 0;
        let open =
            (Verdict::Undecided, GateOutcome::CannotTell, vec!["ended-by-results".to_owned()]);
        assert_eq!(gated(&by_results("a", 95), &stretches), open);
    }

    /// Latencies that contradict the rate, in the control of one of the runs.
    #[test]
    fn what_speaks_against_one_of_the_runs_speaks_against_the_comparison() {
        let a = run("a", SERVER, 100);
        let mut b = run("b", SERVER, 80);
        let of_base = |round: &&mut Round| round.key.arm == ArmIndex::BASE;
        for round in b.rounds.iter_mut().filter(of_base).take(1) {
            round.latency = LatencyHistogram::new();
            (0..round.events).for_each(|_| round.latency.record_latency(WALL_NS / 1_000));
        }
        let (verdict, gate, codes) = gated(&a, &b);
        assert_eq!((verdict, gate), (Verdict::Undecided, GateOutcome::CannotTell));
        assert_eq!(codes, ["little-broken"]);
        b.status = RunStatus::Partial;
        let told = compare_stored(a.first_pair(), b.first_pair(), 0.02).unwrap().warnings;
        let partial = told.iter().find(|warning| warning.code == "not-finished").unwrap();
        assert!(partial.text.starts_with("run b: "), "{}", partial.text);
    }

    /// Instructions do not know when they were counted.
    #[test]
    fn what_was_counted_in_two_runs_is_compared() {
        let counted = |id: &str, instructions: u64| {
            let mut run = run(id, SERVER, 100);
            for (arm, repeat) in [(Arm::Base, 0), (Arm::Test, 0), (Arm::Test, 1), (Arm::Test, 2)] {
                run.counts.samples.push(dbdyno_model::CountSample {
                    load: "point-query".into(),
                    arm: arm.into(),
                    repeat,
                    operations: 1_000,
                    instructions: instructions + u64::from(repeat),
                });
            }
            run
        };
        let (a, b) = (counted("a", 50_000_000), counted("b", 60_000_000));
        let count = compare_stored(a.first_pair(), b.first_pair(), 0.02).unwrap().counts.remove(0);
        assert_eq!(count.repeats, 3);
        assert!((count.ratio.estimate - 1.2).abs() < 1e-6, "{:?}", count.ratio);
    }
}
