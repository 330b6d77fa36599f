//! Where the time of an operation goes: the ledger of a cell.
//!
//! ```text
//!   N clients, QPS answers a second:  an operation takes N ÷ QPS          (Little's law)
//!     client      its code │ its kernel │ ready to run, and no processor there
//!     server      its code │ its kernel
//!     the rest    storage, locks, logs, a processor for the server, what nobody observed
//! ```
//!
//! Each pair of rounds gives both arms' lines and their differences; the lines of a round add up to
//! the time of its operations, because the rest is what the others leave. It is negative where a
//! server works beside its clients, with threads that nobody waits for.
//!
//! The server's code is parted by layer where its instructions were counted: by their shares, as if
//! all instructions took the same time. That is told, and is why a part has no interval of its own.
//! Where more of one program than of the other has no name, nothing is parted.

use std::collections::BTreeMap;

use dbdyno_model::{
    Arm, Cell, CellComparison, Interval, LEDGER_LINES, Ledger, LedgerLine, LineStanding, PerArm,
    Round, RunArm, RunPair,
};
use dbdyno_stats::{self as stats, JudgementTerms};

use crate::error::JudgeError;
use crate::judged::{judged_pairs, judgement_terms};
use crate::layers::{Layer, layer_of};
use crate::variance::nested_figures;

/// How much more of the instructions of one program than of the other may have no name.
const NAMELESS_MOST: f64 = 0.02;
/// Which of the lines is parted by layer.
const SERVER_CODE: usize = 3;
/// Which of them is what the others leave.
const REST: usize = 5;
/// Which of them are work: what a processor did.
const WORK: [usize; 4] = [0, 1, 3, 4];
/// Layers with less than this share of the server's instructions, in both arms, are one line.
const LAYER_LEAST: f64 = 0.005;

/// The ledger of a cell that was measured in the closed loop; `None` where the processor time of
/// client and server was not observed in all of its rounds.
///
/// # Errors
/// Rates that cannot be judged, which only a damaged store can hold.
pub fn cell_ledger(
    run: RunPair<'_>,
    counted: RunPair<'_>,
    cell: &CellComparison,
) -> Result<Option<Ledger>, JudgeError> {
    let Some(times) = LineTimes::of(run, &cell.cell) else { return Ok(None) };
    let mut all = Vec::new();
    for at in 0..LEDGER_LINES.len() {
        let line = LedgerLine {
            name: LEDGER_LINES[at].to_owned(),
            is_part: LineStanding::Whole,
            us: PerArm::from_fn(|arm| times.mean(arm, at)),
            difference_us: times.difference(|lines| lines[at])?,
        };
        let parts =
            if at == SERVER_CODE { by_layer(counted, &cell.cell, &line) } else { Vec::new() };
        all.push(line);
        all.extend(parts);
    }
    let work = times.difference(|lines| WORK.iter().map(|at| lines[*at]).sum())?;
    let whole = times.total(Arm::Base);
    let rqps = |more: f64| whole / (whole + more).max(f64::MIN_POSITIVE);
    Ok(Some(Ledger {
        cell: cell.cell.clone(),
        lines: all,
        total: LedgerLine {
            name: "an operation".to_owned(),
            is_part: LineStanding::Whole,
            us: PerArm::from_fn(|arm| times.total(arm)),
            difference_us: times.difference(|lines| lines.iter().sum())?,
        },
        rest_share: times.mean(Arm::Base, REST) / whole,
        rqps_of_work: Interval {
            estimate: rqps(work.estimate),
            low: rqps(work.high),
            high: rqps(work.low),
        },
        rqps: cell.rqps.estimate,
    }))
}

/// The lines of a cell, as its pairs of rounds have them.
struct LineTimes<'r> {
    run: RunPair<'r>,
    pairs: Vec<PerArm<&'r Round>>,
    /// Microseconds of an operation by line, pair by pair.
    us: Vec<PerArm<[f64; 6]>>,
}

impl<'r> LineTimes<'r> {
    /// `None` where a round does not tell them, and where there is none.
    fn of(run: RunPair<'r>, cell: &Cell) -> Option<LineTimes<'r>> {
        let (pairs, ..) = judged_pairs(run, cell);
        let kernel = PerArm::from_fn(|arm| kernel_share(pairs.iter().map(|pair| pair[arm])));
        let us: Vec<PerArm<[f64; 6]>> = pairs
            .iter()
            .map(|pair| PerArm::try_from_fn(|arm| lines(pair[arm], kernel[arm]).ok_or(())).ok())
            .collect::<Option<_>>()?;
        (!us.is_empty()).then_some(LineTimes { run, pairs, us })
    }

    fn mean(&self, arm: Arm, line: usize) -> f64 {
        self.us.iter().map(|pair| pair[arm][line]).sum::<f64>() / self.us.len() as f64
    }

    fn total(&self, arm: Arm) -> f64 {
        (0..LEDGER_LINES.len()).map(|line| self.mean(arm, line)).sum()
    }

    /// The difference of what is picked of the lines, in microseconds.
    fn difference(&self, pick: impl Fn(&[f64; 6]) -> f64) -> Result<Interval, JudgeError> {
        // Shares of the slower arm: what is judged as logarithms are has to stay near 0.
        let scale = self.total(Arm::Base).max(self.total(Arm::Test));
        let by_pair: BTreeMap<u32, &PerArm<[f64; 6]>> =
            self.pairs.iter().map(|pair| pair.base.key.pair).zip(&self.us).collect();
        let of_pair = |pair: &PerArm<&Round>| {
            let us = by_pair[&pair.base.key.pair];
            (pick(&us.test) - pick(&us.base)) / scale
        };
        let share = self.us.iter().map(|pair| pick(&pair.base)).sum::<f64>() / self.us.len() as f64;
        interval(self.run, &self.pairs, of_pair, (share / scale).abs())
            .map(|interval| scaled(interval, scale))
    }
}

/// The share of the server's processor time that it was in the kernel, over all rounds: one round
/// has ten ticks to tell it by. What has no kernel, as a model, has none of it.
fn kernel_share<'r>(rounds: impl Iterator<Item = &'r Round>) -> f64 {
    let known = rounds.filter_map(|round| {
        Some((round.cost.server_kernel_ns? as f64, round.cost.server_cpu_ns? as f64))
    });
    let (kernel, all) = known.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    if all > 0.0 { kernel / all } else { 0.0 }
}

/// The lines of a round, in microseconds for an operation of one client; `kernel` is the share of
/// the server's time that it was in the kernel.
fn lines(round: &Round, kernel: f64) -> Option<[f64; 6]> {
    let (cost, statements) = (&round.cost, round.done_statements());
    let per_op = |ns: u64| ns as f64 / 1e3 / statements;
    let client_kernel = cost.client_kernel_ns?;
    let server = per_op(cost.server_cpu_ns?);
    let seen = [
        per_op(cost.client_cpu_ns?.saturating_sub(client_kernel)),
        per_op(client_kernel),
        per_op(cost.client_run_delay_ns.unwrap_or(0)),
        server * (1.0 - kernel),
        server * kernel,
    ];
    let clients = f64::from(round.key.cell.clients);
    let whole = clients * round.wall_ns as f64 / 1e3 / statements;
    let [a, b, c, d, e] = seen;
    Some([a, b, c, d, e, whole - seen.iter().sum::<f64>()])
}

/// Shares that are judged as they are; see [`interval`].
const FARTHEST_JUDGED: f64 = 10.0;

/// The mean of a difference, as a share of the time of an operation in the slower arm, with the
/// interval that rates have: by fillings and starts where there are enough, else with an assumed
/// spread of starts, in the measure of the `share` that the line has.
fn interval(
    run: RunPair<'_>,
    pairs: &[PerArm<&Round>],
    of_pair: impl Fn(&PerArm<&Round>) -> f64,
    share: f64,
) -> Result<Interval, JudgeError> {
    let terms = judgement_terms(run.plan());
    // What is judged are logarithms as a rule; shares of a difference are numbers like these. One
    // pair on a busy host may be sixty times off, which no logarithm of rates is: then all are
    // judged at a smaller scale.
    let farthest = pairs.iter().map(|pair| of_pair(pair).abs()).fold(0.0, f64::max);
    let scale = (farthest / FARTHEST_JUDGED).max(1.0);
    let terms = JudgementTerms { between_sd: terms.between_sd * share / scale, ..terms };
    let mean = pairs.iter().map(&of_pair).sum::<f64>() / pairs.len() as f64;
    let figures = nested_figures(pairs, |pair: &PerArm<&Round>| of_pair(pair) / scale);
    let judged = stats::judge_nested(&figures, &terms)?.rqps;
    let (middle, low, high) = (judged.estimate.ln(), judged.low.ln(), judged.high.ln());
    // The mean adds up over lines, whatever estimate belongs to the interval.
    let [low, high] = [low - middle, high - middle].map(|off| mean + scale * off);
    Ok(Interval { estimate: mean, low, high })
}

fn scaled(interval: Interval, by: f64) -> Interval {
    let Interval { estimate, low, high } = interval;
    Interval { estimate: estimate * by, low: low * by, high: high * by }
}

/// The server's code by layer, as its instructions are shared.
fn by_layer(counted: RunPair<'_>, cell: &Cell, code: &LedgerLine) -> Vec<LedgerLine> {
    let shares = PerArm::from_fn(|arm| layer_shares(counted.arm_on(arm), cell));
    if Arm::BOTH.iter().any(|arm| shares[*arm].is_empty()) {
        return Vec::new();
    }
    // What has no name in one program would be told as new in a layer of the other.
    let nameless = shares.as_ref().map(|shares| share_of(&[Layer::Nameless], shares));
    if (nameless.base - nameless.test).abs() > NAMELESS_MOST {
        return Vec::new();
    }
    let (told, small): (Vec<Layer>, Vec<Layer>) = Layer::ALL.into_iter().partition(|layer| {
        Arm::BOTH.iter().any(|arm| share_of(&[*layer], &shares[*arm]) >= LAYER_LEAST)
    });
    let mut lines: Vec<LedgerLine> =
        told.into_iter().map(|layer| layer_line(layer.name(), &[layer], &shares, code)).collect();
    if Arm::BOTH.iter().any(|arm| share_of(&small, &shares[*arm]) > 0.0) {
        lines.push(layer_line("other layers", &small, &shares, code));
    }
    lines
}

/// The share of each layer in the instructions of an arm's server.
fn layer_shares(arm: RunArm<'_>, cell: &Cell) -> BTreeMap<Layer, f64> {
    let dialect = arm.spec().dialect();
    let mut shares: BTreeMap<Layer, f64> = BTreeMap::new();
    for one in arm.functions().filter(|one| one.load == cell.load) {
        *shares.entry(layer_of(dialect, &one.name, &one.object)).or_default() += one.own_per_op;
    }
    let all: f64 = shares.values().sum();
    shares.values_mut().for_each(|share| *share /= all);
    shares
}

/// The share of these layers together.
fn share_of(layers: &[Layer], shares: &BTreeMap<Layer, f64>) -> f64 {
    layers.iter().map(|layer| shares.get(layer).copied().unwrap_or(0.0)).sum()
}

/// The part of the line of code that these layers have.
fn layer_line(
    name: &str,
    layers: &[Layer],
    shares: &PerArm<BTreeMap<Layer, f64>>,
    code: &LedgerLine,
) -> LedgerLine {
    let us = PerArm::from_fn(|arm| code.us[arm] * share_of(layers, &shares[arm]));
    let half = (code.difference_us.high - code.difference_us.low) / 2.0;
    let (difference, width) = (us.test - us.base, half * share_of(layers, &shares.test));
    LedgerLine {
        name: name.to_owned(),
        is_part: LineStanding::OfLine,
        us,
        difference_us: Interval {
            estimate: difference,
            low: difference - width,
            high: difference + width,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{WALL_NS, of_pairs};
    use dbdyno_model::{ArmIndex, FunctionCount, Run};

    /// Base does 1 000 statements in 100 ms, test 2 000: 100 and 50 µs each. The client has 10 µs
    /// of code and 5 of kernel in both, the server 30 against 10 and 20 against 5.
    fn a_run() -> Run {
        run_of_pairs(24)
    }

    fn run_of_pairs(pairs: u32) -> Run {
        let mut run = of_pairs(pairs, "point-query", "mysql:8.0", 1, |round| {
            let test = round.key.arm == ArmIndex::TEST;
            let statements = round.done_statements();
            let ns = |us: f64| Some((us * 1e3 * statements) as u64);
            let cost = &mut round.cost;
            (cost.client_cpu_ns, cost.client_kernel_ns) = (ns(15.0), ns(5.0));
            cost.client_run_delay_ns = ns(2.0);
            cost.server_kernel_ns = ns(if test { 5.0 } else { 20.0 });
            cost.server_cpu_ns = ns(if test { 15.0 } else { 50.0 });
        });
        run.plan.schedule.pairs = pairs;
        let function = |name: &str, arm: Arm, own| FunctionCount {
            load: "point-query".into(),
            arm: arm.into(),
            name: name.into(),
            object: "mysqld".into(),
            own_per_op: own,
            inclusive_per_op: own,
        };
        run.counts.functions = vec![
            function("row_search_mvcc", Arm::Base, 600.0),
            function("JOIN::exec", Arm::Base, 400.0),
            function("row_search_mvcc", Arm::Test, 500.0),
        ];
        run
    }

    fn of_run(run: &Run) -> Option<Ledger> {
        let compared = crate::compare_run(run.first_pair()).unwrap();
        cell_ledger(run.first_pair(), run.first_pair(), &compared.cells[0]).unwrap()
    }

    #[test]
    fn the_lines_add_up_and_the_rest_is_told() {
        let told = of_run(&a_run()).unwrap();
        let whole = |of: &dyn Fn(&LedgerLine) -> f64| {
            told.lines
                .iter()
                .filter(|line| line.is_part == LineStanding::Whole)
                .map(of)
                .sum::<f64>()
        };
        for arm in Arm::BOTH {
            assert!((whole(&|line| line.us[arm]) - told.total.us[arm]).abs() < 1e-9, "{arm}");
        }
        let difference = whole(&|line| line.difference_us.estimate);
        assert!((difference - told.total.difference_us.estimate).abs() < 1e-9);
        let clock = WALL_NS as f64 / 1e3;
        assert!((told.total.us.base - clock / 1_001.0).abs() < 0.1, "{told:?}");
        let server = &told.lines[SERVER_CODE];
        assert!((server.us.base - 30.0).abs() < 0.01 && (server.us.test - 10.0).abs() < 0.01);
        assert!((server.difference_us.estimate + 20.0).abs() < 0.01, "{server:?}");
        // 100 − 67 and 50 − 32 are left.
        let rest = told.lines.last().unwrap();
        assert!((rest.us.base - 33.0).abs() < 0.2 && (rest.us.test - 18.0).abs() < 0.2, "{rest:?}");
        assert!((told.rest_share - 0.33).abs() < 0.01);
        // Work alone: 35 µs less of 100.
        assert!((told.rqps_of_work.estimate - 100.0 / 65.0).abs() < 0.01, "{told:?}");
        assert!((told.rqps - 2.0).abs() < 0.01);
    }

    #[test]
    fn the_servers_code_is_parted_by_layer() {
        let told = of_run(&a_run()).unwrap();
        let parts = |name: &str| {
            let mut lines = told.lines.iter().filter(|line| line.is_part == LineStanding::OfLine);
            lines.find(|line| line.name == name).map(|line| line.us).unwrap()
        };
        let (storage, execute) = (parts("storage engine"), parts("execute"));
        assert!((storage.base - 18.0).abs() < 0.01 && (storage.test - 10.0).abs() < 0.01);
        assert!((execute.base - 12.0).abs() < 0.01 && execute.test == 0.0);
    }

    /// As where one arm waits for the disk at each commit.
    #[test]
    fn an_arm_that_takes_hundreds_of_times_as_long_has_a_ledger() {
        let mut run = a_run();
        for round in run.rounds.iter_mut().filter(|round| round.key.arm == ArmIndex::TEST) {
            crate::sample::set_events(round, 5.0);
        }
        let told = of_run(&run).unwrap();
        assert!((told.total.us.test - 20_000.0).abs() < 1.0, "{told:?}");
        let Interval { estimate, low, high } = told.total.difference_us;
        assert!((estimate - 19_900.0).abs() < 1.0 && low <= estimate && estimate <= high);
    }

    /// It was refused: "value 31 is 63.396, beyond ±50; hand in logarithms".
    #[test]
    fn a_pair_that_is_sixty_times_off_is_judged() {
        let mut run = run_of_pairs(96);
        let stood = run.rounds.iter_mut().find(|round| round.key.arm == ArmIndex::TEST).unwrap();
        crate::sample::set_events(stood, 1.0);
        let told = of_run(&run).unwrap();
        let Interval { estimate, low, high } = told.total.difference_us;
        assert!(low <= estimate && estimate <= high && high - low > 100.0, "{told:?}");
        assert!((told.total.us.test - told.total.us.base - estimate).abs() < 1e-6, "{told:?}");
    }

    /// A program of a distribution has no symbols, one of another builder has them.
    #[test]
    fn no_layer_is_told_where_names_are_missing_in_one_arm() {
        let mut run = a_run();
        let of_base = run.counts.functions.iter_mut().filter(|one| one.arm == ArmIndex::BASE);
        of_base.for_each(|one| one.name.clear());
        let told = of_run(&run).unwrap();
        let is_part = |line: &LedgerLine| line.is_part == LineStanding::OfLine;
        assert!(!told.lines.iter().any(is_part), "{told:?}");
    }

    #[test]
    fn there_is_no_ledger_without_processor_time() {
        let mut run = a_run();
        run.rounds.iter_mut().for_each(|round| round.cost.server_cpu_ns = None);
        assert_eq!(of_run(&run), None);
    }
}
