//! Looking at a cell while it is measured, and what measuring costs.
//!
//! ```text
//!   servers are started anew        start 0      start 1      start 2        a value each
//!   servers live once               stretch 0   stretch 1   stretch 2     a value each, and what
//!                                                                        they share is assumed
//!   until a ratio is known          · · · · · ·   each pair is a value (`Stopping::Known`),
//!                                                what starts are off by is assumed
//! ```
//!
//! The same function judges a cell between two starts, when it may end there, and for ever after
//! from the store: what is shown is what was decided.

use dbdyno_model::{Arm, Cell, Driving, PerArm, Plan, Round, RunPair, Stopping};
use dbdyno_stats as stats;
use stats::{ConfidenceSequence, Price, Spread};

use crate::error::JudgeError;
use crate::exclusion::exclude_unusual;
use crate::family;
use crate::pairs::{log_ratio, noise_of, pairs_of};
use crate::rate_unit::CellUnits;
use crate::variance::{by_start, mean, round_starts};
use dbdyno_model::RoundPace;

/// Whether servers are started anew between two looks.
pub fn has_starts(plan: &Plan) -> bool {
    plan.schedule.restarts > 0 && plan.arms.values().all(|arm| arm.can_be_restarted())
}

/// What is looked at: a log-ratio for each start or stretch, and what they are known to share.
pub struct Values {
    /// Logarithms of the ratios.
    pub logs: Vec<f64>,
    /// What restarts are known to differ by, where they are not among them.
    pub known_sd: f64,
    /// Pairs in each of them, when it is whole.
    pub pairs: u32,
}

impl Values {
    /// Of these pairs of a cell; `None` where the plan is not looked at, or not yet. What is not
    /// half as long as it was meant to be is left out: it was interrupted, or has just begun.
    pub fn of_pairs(
        plan: &Plan,
        pairs: &[PerArm<&Round>],
        log: impl Fn(&PerArm<&Round>) -> f64,
    ) -> Option<Values> {
        let pace = RoundPace::of_round(plan, pairs.first()?.base);
        let meant = plan.pairs_between_looks(pace.pairs)?;
        let parts = parts(plan, pairs, meant, log);
        let whole = parts.iter().filter(|part| 2 * part.len() >= meant as usize);
        let known_sd = if has_starts(plan) { 0.0 } else { stats::BETWEEN_STARTS_SD };
        let logs: Vec<f64> = whole.map(|part| mean(part)).collect();
        let not_yet = judged_starts(plan, &pairs.first()?.base.key.cell);
        (logs.len() > not_yet as usize).then_some(Values { logs, known_sd, pairs: meant })
    }
}

/// A figure of each pair, by start, or by stretch of `meant` pairs.
fn parts(
    plan: &Plan,
    pairs: &[PerArm<&Round>],
    meant: u32,
    figure: impl Fn(&PerArm<&Round>) -> f64,
) -> Vec<Vec<f64>> {
    if has_starts(plan) {
        return by_start(pairs, figure);
    }
    let stretch = |pair: &PerArm<&Round>| pair.base.key.pair / meant;
    let parts = pairs.chunk_by(|a, b| stretch(a) == stretch(b));
    parts.map(|part| part.iter().map(&figure).collect()).collect()
}

/// What there is to look at, by this plan, of what was measured of a cell.
fn values_by(plan: &Plan, run: RunPair<'_>, cell: &Cell) -> Option<Values> {
    if run.plan().question.driving != Driving::Closed {
        return None;
    }
    let units = CellUnits::of_cell(run.plan(), cell);
    let pairs = exclude_unusual(run, cell, pairs_of(run, cell)).pairs;
    Values::of_pairs(plan, &pairs, |pair| log_ratio(&units, pair))
}

/// Starts or stretches that a cell has by this plan; at least one of what was measured at all.
pub(crate) fn starts_so_far(plan: &Plan, run: RunPair<'_>, cell: &Cell) -> u32 {
    let is_measured = run.rounds().any(|round| round.key.cell == *cell);
    let starts = values_by(plan, run, cell).map_or(0, |values| values.logs.len() as u32);
    starts.max(u32::from(is_measured))
}

/// Starts that a cell had when it was judged once; 0 where it never was.
pub(crate) fn judged_starts(plan: &Plan, cell: &Cell) -> u32 {
    let number = plan.cells().iter().position(|one| one == cell);
    number.map_or(0, |number| plan.rule.stopping.judged_at(number))
}

/// What is looked at in a cell of a run that is looked at.
pub fn values_of(run: RunPair<'_>, cell: &Cell) -> Option<Values> {
    values_by(run.plan(), run, cell)
}

/// Whether the ratio of a cell is known so well, half of its interval being a logarithm, that its
/// measuring ends: see [`Stopping::Known`].
pub fn is_known(run: RunPair<'_>, cell: &Cell, half: f64) -> Result<bool, JudgeError> {
    let Some(PairLogs { logs, starts }) = looked(run, cell) else { return Ok(false) };
    Ok(stats::anytime_reach(&logs, starts, stats::BETWEEN_STARTS_SD)? <= half)
}

/// What a cell tells whose measuring ended as soon as it was known well; `None` of one that was
/// not, or ended otherwise.
pub(crate) fn known_look(
    run: RunPair<'_>,
    cell: &Cell,
) -> Result<Option<(stats::Look, u32)>, JudgeError> {
    let Stopping::Known { half } = run.plan().rule.stopping else { return Ok(None) };
    let Some(PairLogs { logs, starts }) = looked(run, cell) else { return Ok(None) };
    let (between_sd, budget) = (stats::BETWEEN_STARTS_SD, run.plan().rule.budget);
    let is_known = stats::anytime_reach(&logs, starts, between_sd)? <= half;
    let look = || stats::judge_anytime(&logs, starts, between_sd, budget);
    Ok(is_known.then(look).transpose()?.map(|look| (look, logs.len() as u32)))
}

/// Pairs of a cell that are looked at one by one.
struct PairLogs {
    /// Logarithms of their ratios.
    logs: Vec<f64>,
    /// The starts of servers that they are of.
    starts: u32,
}

fn looked(run: RunPair<'_>, cell: &Cell) -> Option<PairLogs> {
    if run.plan().question.driving != Driving::Closed {
        return None;
    }
    let units = CellUnits::of_cell(run.plan(), cell);
    let pairs = exclude_unusual(run, cell, pairs_of(run, cell)).pairs;
    let starts = pairs.chunk_by(|a, b| a.base.start == b.base.start).count() as u32;
    let logs: Vec<f64> = pairs.iter().map(|pair| log_ratio(&units, pair)).collect();
    (!logs.is_empty()).then_some(PairLogs { logs, starts })
}

/// How many more pairs of an undecided cell would decide it, by the rule by which the run goes on
/// (`longer`) and among all its cells; `once` where there are too few starts for that. `None`: none
/// that are told.
pub fn pairs_missing(
    run: RunPair<'_>,
    longer: &Plan,
    cell: &Cell,
    once: Option<u32>,
) -> Result<Option<u32>, JudgeError> {
    let Some(sequence) = sequence_of(longer, cell) else { return Ok(once) };
    // What was judged once counts, though it is not looked at.
    let stopping = match longer.rule.stopping.clone() {
        Stopping::Extended { pairs, .. } => Stopping::Extended { pairs, judged: Vec::new() },
        looked_at => looked_at,
    };
    let plan = longer.stopped_by(stopping);
    let Some(values) = values_by(&plan, run, cell) else { return Ok(once) };
    if values.logs.len() < stats::MIN_PAIRS as usize {
        return Ok(once);
    }
    let alpha = family::alpha_among(plan.answer_count());
    let (logs, known_sd) = (&values.logs, values.known_sd);
    let starts = stats::starts_missing(logs, known_sd, plan.rule.budget, alpha, &sequence)?;
    Ok(starts.map(|starts| starts.saturating_mul(values.pairs)))
}

/// The sequence of looks at a cell of a plan that has them.
pub(crate) fn sequence_of(plan: &Plan, cell: &Cell) -> Option<ConfidenceSequence> {
    let (_, horizon) = plan.rule.stopping.look_schedule()?;
    Some(match judged_starts(plan, cell) {
        0 => ConfidenceSequence::new(horizon),
        judged => ConfidenceSequence::after_judgement(judged),
    })
}

/// What the pairs and starts of a cell took, from when they began; `None` for fewer than two pairs.
/// Where servers were never started anew, what that takes is the model's guess.
pub(crate) fn price_of(run: RunPair<'_>, cell: &Cell) -> Option<Price> {
    let starts = round_starts(run.rounds().filter(|round| round.key.cell == *cell));
    let (mut within_s, mut rounds, mut between) = (0.0, 0, Vec::new());
    for two in starts.windows(2) {
        let apart_s = two[1].at_s - two[0].at_s;
        if two[0].start == two[1].start {
            within_s += apart_s;
            rounds += two[0].rounds;
        } else {
            between.push((apart_s, two[0].rounds));
        }
    }
    if rounds == 0 {
        return None;
    }
    let round_s = within_s / f64::from(rounds);
    // In the middle: one of them may be the night in which the run was interrupted.
    between.sort_by(|a, b| a.0.total_cmp(&b.0));
    let start_s = match between.get(between.len() / 2) {
        Some((apart_s, rounds)) => (apart_s - f64::from(*rounds) * round_s).max(0.0),
        None => run.plan().start_again_ns() as f64 / 1e9,
    };
    Some(Price { pair_s: 2.0 * round_s, start_s })
}

/// How far the pairs and the starts of a cell are spread; `None` if the starts have not as many
/// pairs as that takes. Where there are too few starts to tell, what starts are off by is assumed.
pub(crate) fn spread_of(run: RunPair<'_>, cell: &Cell) -> Option<Spread> {
    let pair_sd = noise_of(run, cell)?;
    let assumed = stats::BETWEEN_STARTS_SD;
    let units = CellUnits::of_cell(run.plan(), cell);
    let pairs = exclude_unusual(run, cell, pairs_of(run, cell)).pairs;
    let starts = by_start(&pairs, |pair| log_ratio(&units, pair));
    let means: Vec<f64> = starts.iter().map(|start| mean(start)).collect();
    if means.len() < MANY {
        return Some(Spread { pair_sd, start_sd: assumed });
    }
    let of_means = stats::paired_estimate(&means, stats::SHOWN_CONFIDENCE).ok()?.sd_log;
    let of_pairs = starts.iter().map(|start| 1.0 / start.len() as f64);
    let of_pairs = pair_sd * pair_sd * of_pairs.sum::<f64>() / starts.len() as f64;
    // Few starts may seem to have no spread at all, and are not promised to.
    let start_sd = (of_means * of_means - of_pairs).max(0.0).sqrt().max(assumed / 3.0);
    Some(Spread { pair_sd, start_sd })
}

/// Fewer starts than this do not tell how far starts are spread.
const MANY: usize = 6;

/// About how long so many more pairs of a cell take, with the starts of servers that belong to
/// them.
pub fn missing_ns(run: RunPair<'_>, cell: &Cell, pairs: u32) -> Option<u64> {
    let price = price_of(run, cell)?;
    let rounds_in_pair = run.plan().question.driving.rounds_in_pair();
    let (starts, measured) = starts_of(run, cell);
    let measured = measured / rounds_in_pair as u32;
    let more = match starts {
        0 | 1 => 0,
        starts => pairs.div_ceil((measured / starts).max(1)),
    };
    let measuring_s = f64::from(pairs) * price.pair_s * rounds_in_pair as f64;
    let seconds = measuring_s + f64::from(more) * price.start_s;
    Some((seconds * 1e9) as u64)
}

/// Time that the rounds of a run have taken, without what was between two processes that measured
/// it.
pub fn time_spent(run: RunPair<'_>) -> std::time::Duration {
    let of_cell = |cell: Cell| {
        let price = price_of(run, &cell)?;
        let (starts, pairs) = starts_of(run, &cell);
        Some(f64::from(pairs) * price.pair_s + f64::from(starts.saturating_sub(1)) * price.start_s)
    };
    std::time::Duration::from_secs_f64(run.plan().cells().into_iter().filter_map(of_cell).sum())
}

/// How many starts the base arm has had in a cell, and how many rounds.
fn starts_of(run: RunPair<'_>, cell: &Cell) -> (u32, u32) {
    let of_base = run.rounds_of(Arm::Base).filter(|round| round.key.cell == *cell);
    let mut starts: Vec<u32> = of_base.map(|round| round.start).collect();
    let rounds = starts.len() as u32;
    starts.dedup();
    (starts.len() as u32, rounds)
}

#[cfg(test)]
mod tests {
    use dbdyno_model::{ArmIndex, Verdict};

    use super::*;
    use crate::sample;

    /// Twelve starts whose mean is 1.3 % with a spread of 1.8 %: by the rule of a single judgement
    /// fourteen more would do, but a run is not made longer by that rule.
    #[test]
    fn what_is_missing_is_told_by_the_rule_by_which_a_run_goes_on() {
        let off = [1.7, -0.4, 2.9, 0.6, -1.8, 3.6, 1.3, 0.9, -1.1, 3.9, 1.9, 2.1];
        let mut run = sample::of_pairs(24, "point-query", "sqlite:", 1, |round| {
            round.start = round.key.pair / 2;
            let share = 1.0 - off[round.start as usize] / 100.0;
            let is_test = round.key.arm == ArmIndex::TEST;
            sample::set_events(round, 20_000.0 * if is_test { share } else { 1.0 });
        });
        run.plan.schedule.restarts = 11;
        let cell = crate::compare_run(run.first_pair()).unwrap().cells.remove(0);
        assert_eq!(cell.verdict, Verdict::Undecided);
        let missing = cell.pairs_missing.unwrap();
        assert!((50..=90).contains(&missing), "{missing} pairs");
        run.plan.rule.interval =
            dbdyno_model::IntervalChoice::Given(dbdyno_model::IntervalKind::Robust);
        let cell = crate::compare_run(run.first_pair()).unwrap().cells.remove(0);
        let once = cell.pairs_missing.unwrap();
        assert!(once < missing / 2, "it cannot be made longer, and {once} would do in a new run");
    }

    /// The shape that a run which results may end has as a rule.
    #[test]
    fn starts_of_two_pairs_tell_how_far_pairs_and_starts_are_spread() {
        let to_and_fro = |number: u32, by: f64| if number.is_multiple_of(2) { by } else { -by };
        let spread = |pairs: u32| {
            let run = sample::of_pairs(pairs, "point-query", "sqlite:", 1, |round| {
                round.start = round.key.pair / 2;
                let off = to_and_fro(round.start, 0.03) + to_and_fro(round.key.pair, 0.02);
                let is_test = round.key.arm == ArmIndex::TEST;
                sample::set_events(round, 1e6 * if is_test { off.exp() } else { 1.0 });
            });
            spread_of(run.first_pair(), &run.plan.cells()[0])
        };
        let told = spread(24).unwrap();
        let of_means = 0.03_f64.powi(2) * 12.0 / 11.0;
        let start_sd = (of_means - told.pair_sd.powi(2) / 2.0).sqrt();
        assert!((told.pair_sd - 0.02 * 2_f64.sqrt()).abs() < 1e-5, "{}", told.pair_sd);
        assert!((told.start_sd - start_sd).abs() < 1e-5, "{}", told.start_sd);
        assert_eq!(spread(4).unwrap().start_sd, stats::BETWEEN_STARTS_SD);
        assert!(spread(2).is_none(), "two pairs in all");
    }
}
