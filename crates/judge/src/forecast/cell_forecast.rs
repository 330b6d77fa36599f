//! What a cell of a plan finds and costs, before it is carried out.
//!
//! ```text
//!   stored runs of such arms ──▶ spread of pairs and starts, seconds of a pair and of a start
//!                                  └──▶ the smallest change that is found, and in which time
//! ```
//!
//! Where nothing was measured, noise and prices are assumed.

use std::time::Duration;

use crate::family::alpha_among;
use crate::sequential::{has_starts, price_of, spread_of};
use crate::variance::MINUTE_S;
use dbdyno_model::{Cell, ExperimentLevel, Plan, RoundPace, Run, RunId};
use dbdyno_stats as stats;
use stats::{Amount, Component, ConfidenceSequence, Costs, Price, Spread};

use crate::forecast::interleaving;

/// What is known of a cell beforehand.
#[derive(Clone, Debug)]
pub struct CellForecast {
    /// Which cell.
    pub cell: Cell,
    /// The run that says so; `None`: assumed.
    pub run: Option<RunId>,
    /// Standard deviation of the log-ratios of pairs within a start.
    pub pair_sd: f64,
    pub(crate) spread: Spread,
    pub(crate) price: Price,
    /// So many times as long as the plan says are its rounds, and so many times fewer its pairs:
    /// the load is slow. See [`RoundPace`].
    pub(crate) stretch: f64,
}
/// Noise of a pair where nothing was measured: quick cells of MariaDB that had eight starts of 18
/// pairs found 2.0 % in the middle of twenty runs, as pairs of about 5 % do.
const PAIR_SD_ASSUMED: f64 = 0.05;
/// The same where both rounds of a pair take turns: 2.7 % were found on a busy host.
const PAIR_SD_INTERLEAVED: f64 = 0.03;

impl CellForecast {
    /// Of a cell of `plan`, by the first of the `known` runs that measured it; without one, with
    /// the noise that is assumed.
    pub fn of_cell(plan: &Plan, cell: &Cell, known: &[Run]) -> CellForecast {
        let of_run = |run: &Run| {
            let is_alike = run.plan.schedule.slice_ns == plan.schedule.slice_ns;
            let spread = is_alike.then(|| spread_of(run.first_pair(), cell)).flatten()?;
            let round = run.first_pair().rounds().find(|round| round.key.cell == *cell)?;
            let window_ns = RoundPace::of_round(&run.plan, round).window.as_nanos() as f64;
            let stretch = (window_ns / plan.schedule.round_ns as f64).max(1.0);
            let price = price_of(run.first_pair(), cell)?;
            let arms = plan.arms.count() as f64 / run.plan.arms.count() as f64;
            let price = Price { pair_s: price.pair_s * arms, start_s: price.start_s * arms };
            Some((spread, price, stretch, run.id.clone()))
        };
        let (spread, price, stretch, run) = match known.iter().find_map(of_run) {
            Some((spread, price, stretch, run)) => (spread, price, stretch, Some(run)),
            None => {
                let start_sd = stats::BETWEEN_STARTS_SD;
                let round_s = (plan.schedule.round_ns + plan.schedule.lead_in_ns) as f64 / 1e9;
                let pair_s = plan.arms.count() as f64 * round_s;
                let start_s = plan.start_again_ns() as f64 / 1e9;
                let are_cut = interleaving::are_for(plan, cell);
                let pair_sd = if are_cut { PAIR_SD_INTERLEAVED } else { PAIR_SD_ASSUMED };
                let spread = Spread { pair_sd, start_sd };
                (spread, Price { pair_s, start_s }, 1.0, None)
            }
        };
        CellForecast { cell: cell.clone(), run, pair_sd: spread.pair_sd, spread, price, stretch }
    }

    /// Pairs that are measured of so many in a plan.
    pub(crate) fn measured_pairs(&self, planned: u32) -> u32 {
        ((f64::from(planned) / self.stretch) as u32).max(1)
    }

    /// Pairs of a plan that so many are measured of: whole blocks.
    pub(crate) fn planned_pairs(&self, measured: u32) -> u32 {
        (f64::from(measured) * self.stretch / 2.0).ceil() as u32 * 2
    }

    /// Pairs that are measured of a plan, and the starts or stretches that they are parted into: a
    /// slow load has fewer of both.
    fn carried_out(&self, plan: &Plan) -> (u32, u32) {
        let window = Duration::from_nanos(plan.schedule.round_ns).mul_f64(self.stretch);
        let pairs = RoundPace::with_window(plan, window).pairs;
        let starts = match plan.pairs_between_looks(pairs) {
            Some(between) => pairs / between,
            None if has_starts(plan) => (plan.schedule.restarts + 1).min(pairs / 2),
            None => 1,
        };
        (pairs, starts.max(1))
    }

    /// The smallest change of rQPS, as a share, that the cell finds with this chance, if it is
    /// measured to the end. `None`: too few pairs for a verdict.
    pub fn detectable_change(&self, plan: &Plan, power: f64) -> Option<f64> {
        let (pairs, starts) = self.carried_out(plan);
        let alpha = alpha_of(plan);
        let each = plan.pairs_between_looks(pairs).unwrap_or(pairs / starts);
        let starts = starts.min(self.in_time(plan, each));
        let found = match plan.rule.stopping.look_schedule() {
            Some((_, horizon)) => {
                let starts = starts.min(ConfidenceSequence::STARTS_MAX);
                let (sd, known_sd) = if has_starts(plan) {
                    (self.spread.of_start(each), 0.0)
                } else {
                    (self.pair_sd / f64::from(each).sqrt(), stats::BETWEEN_STARTS_SD)
                };
                ConfidenceSequence::new(horizon)
                    .detectable_change(sd, known_sd, starts, alpha, power)
            }
            None if starts >= stats::MIN_PAIRS => {
                stats::detectable_change(self.spread.of_start(each), starts, alpha, power)
            }
            None => {
                let pairs = pairs.min(self.in_time(plan, 1));
                stats::found_in_one_start(&self.in_one_start(), pairs, alpha, power)
            }
        };
        found.is_finite().then_some(found)
    }

    /// What a minute more is best spent on, and by what share the interval would narrow. `None`
    /// where servers live once, or no older run says how they are spread.
    pub fn next_minute(&self, plan: &Plan) -> Option<(ExperimentLevel, f64)> {
        self.run.as_ref()?;
        let (pairs, starts) = self.carried_out(plan);
        let pairs = has_starts(plan).then_some(pairs / starts)?;
        let component = |level, count: u32, sd: f64| Component {
            level,
            count: f64::from(count),
            variance: sd * sd,
            is_assumed: false,
        };
        let components = [
            component(ExperimentLevel::Pair, pairs, self.spread.pair_sd),
            component(ExperimentLevel::Start, starts, self.spread.start_sd),
        ];
        let pair = self.price.pair_s * pairs_cost(plan);
        let costs = Costs { pair, start: Some(self.price.start_s), filling: None };
        stats::spending_advice(&components, &costs, MINUTE_S).spend.first().copied()
    }

    /// Parts of so many measured pairs that a limit leaves time for.
    fn in_time(&self, plan: &Plan, pairs: u32) -> u32 {
        plan.schedule.limit_ns.map_or(u32::MAX, |limit_ns| {
            let seconds = seconds_of_cell(plan, Duration::from_nanos(limit_ns));
            (seconds / self.price_of(plan, pairs)) as u32
        })
    }

    /// The time that measuring the cell takes, at most where results may end it.
    pub fn measuring_time(&self, plan: &Plan) -> Duration {
        let (pairs, starts) = self.carried_out(plan);
        let starts = if has_starts(plan) { starts - 1 } else { 0 };
        let measuring_s = f64::from(pairs) * self.price.pair_s * pairs_cost(plan)
            + f64::from(starts) * self.price.start_s;
        let takes = Duration::from_secs_f64(measuring_s) + Duration::from_nanos(warm_ns(plan));
        plan.schedule.limit_ns.map_or(takes, |limit_ns| takes.min(Duration::from_nanos(limit_ns)))
    }
}

/// The p-value that a cell of the plan needs for a verdict, whatever the others show.
pub(crate) fn alpha_of(plan: &Plan) -> f64 {
    alpha_among(plan.answer_count())
}

/// Warming up all arms of a cell.
pub(crate) fn warm_ns(plan: &Plan) -> u64 {
    plan.arms.count() as u64 * plan.schedule.warm_up_ns
}

/// Pairs of a search are several rounds each.
pub(crate) fn pairs_cost(plan: &Plan) -> f64 {
    plan.question.driving.rounds_in_pair() as f64
}
/// The part of a limit that a cell has when its arms are warm.
pub(crate) fn seconds_of_cell(plan: &Plan, limit: Duration) -> f64 {
    let share = limit.as_secs_f64() / plan.cells().len().max(1) as f64;
    (share - warm_ns(plan) as f64 / 1e9).max(share / 5.0)
}
impl CellForecast {
    /// Of a start or stretch of so many pairs of a plan.
    pub(crate) fn price_of_part(&self, plan: &Plan, pairs: u32) -> f64 {
        self.price_of(plan, self.measured_pairs(pairs))
    }

    fn price_of(&self, plan: &Plan, measured: u32) -> f64 {
        let start_s = if has_starts(plan) { self.price.start_s } else { 0.0 };
        start_s + f64::from(measured) * self.price.pair_s * pairs_cost(plan)
    }

    /// What finds an effect in the least time, in pairs of a plan.
    pub(crate) fn least_amount(&self, plan: &Plan, effect: f64, power: f64) -> Option<Amount> {
        let amount = if has_starts(plan) {
            stats::least_time(&self.spread, &self.price, effect, alpha_of(plan), power)
        } else {
            let spread = self.in_one_start();
            stats::least_pairs(&spread, &self.price, effect, alpha_of(plan), power)
        };
        amount.map(|amount| Amount { pairs: self.planned_pairs(amount.pairs), ..amount })
    }

    /// What starts, or pairs of one start, of so many pairs of a plan find.
    pub(crate) fn detectable_change_with(&self, plan: &Plan, amount: &Amount, power: f64) -> f64 {
        let pairs = self.measured_pairs(amount.pairs);
        if has_starts(plan) {
            let sd = self.spread.of_start(pairs);
            return stats::detectable_change(sd, amount.starts, alpha_of(plan), power);
        }
        stats::found_in_one_start(&self.in_one_start(), pairs, alpha_of(plan), power)
    }

    fn in_one_start(&self) -> Spread {
        Spread { pair_sd: self.pair_sd, start_sd: stats::BETWEEN_STARTS_SD }
    }
}
