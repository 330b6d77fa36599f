//! The plan for what is wanted of a run: an effect, a verdict, a limit on its time.
//!
//! ```text
//!   stored runs of such arms ──▶ spread of pairs and starts, seconds of a pair and of a start
//!                                  │
//!   --detect 1%  ──────────────────┴──▶ starts × pairs in the least time: judged once
//!                (nothing is known)───▶ looked at, until it would have been found
//!   --until decided ──────────────────▶ looked at, until it is decided
//!   --limit 10m  ─────────────────────▶ as many as that leaves time for
//! ```
//!
//! A number of starts that older runs give is fixed before the first of these is measured, so they
//! are judged once. Where there are no older runs, the first starts of this one are the pilot; they
//! may count because the looks hold whatever ends the run (`stats` has what an internal pilot under
//! the interval of a single look does: 1.9 % false alarms at 1 %).

use std::collections::BTreeSet;
use std::time::Duration;

use crate::sequential::has_starts;
use dbdyno_model::{
    Cell, Driving, IntervalChoice, IntervalKind, Plan, RoundSchedule, Run, Stopping,
};
use dbdyno_stats as stats;
use dbdyno_workload::planned;
use stats::{Amount, ConfidenceSequence, POWER};

use crate::forecast::cell_forecast::{CellForecast, alpha_of, pairs_cost, seconds_of_cell};

/// What is looked at is best by this much longer than what is judged once.
const LOOKING_COSTS: f64 = 1.3;
/// Stretches that the pairs of servers that live once are parted into.
const STRETCHES: u32 = 24;
/// Where results may end a run, it may last for so many usual lengths.
const LENGTHS: u32 = 2;
/// Where the clock ends it, so many times what is expected is allowed: as long as its sequence of
/// looks goes on.
const SPARE: u32 = 3;
/// The longest horizon of a sequence of looks.
const HORIZON_MAX: u32 = ConfidenceSequence::STARTS_MAX / SPARE;
/// Starts that are to fit into a limit: where each takes half as long again as was thought, there
/// are eight.
const STARTS_IN_TIME: u32 = 12;
/// So many times as long as usual is a start at most that fills a limit.
const LONGEST_START: u32 = 1_000;
/// So much of the share that a cell has of a limit may be spent on warming an arm up.
const WARMING: f64 = 0.1;

/// What is wanted of a run.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// A change that is to be found, as a share, and the chance with which it is to be found.
    pub detect: Option<(f64, f64)>,
    /// Whether a cell ends when it is decided.
    pub end: End,
    /// The longest that measuring may take.
    pub limit: Option<Duration>,
    /// Whose numbers of rounds and restarts are in the plan.
    pub numbers: Numbers,
    /// Whose warm-up is in the plan.
    pub warm_up: Numbers,
}

/// What ends a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its number of pairs.
    Planned,
    /// A verdict.
    Decided,
}

/// Where a number of a plan is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// The usual one.
    Usual,
    /// The user gave it.
    Given,
}

/// The plan for what is wanted, with what is to be said of it.
///
/// # Errors
/// A sentence about what cannot be had.
pub fn plan_for_wish(
    plan: Plan,
    wish: &Wish,
    known: &[Run],
) -> Result<(Plan, Vec<String>), String> {
    if wish.detect.is_none() && wish.end == End::Planned && wish.limit.is_none() {
        return Ok((plan, Vec::new()));
    }
    check(&plan, wish)?;
    let cells = plan.cells();
    let plan = in_time(plan, wish, cells.len());
    let forecast = |cell: &Cell| CellForecast::of_cell(&plan, cell, known);
    let forecasts: Vec<CellForecast> = cells.iter().map(forecast).collect();
    let seconds = wish.limit.map(|limit| seconds_of_cell(&plan, limit));
    let mut notes = Vec::new();
    let parts = match wish.detect {
        Some((effect, power)) => {
            let (parts, note) = parts_for(&plan, effect, power, &forecasts, wish.limit, seconds)?;
            notes.extend(note);
            parts
        }
        None => parts_usual(&plan, wish, &forecasts, seconds),
    };
    let is_known = forecasts.iter().all(|forecast| forecast.run.is_some());
    let (plan, note) = within_effect(plan, wish);
    notes.extend(note);
    let in_time = seconds.map(|seconds| fitting(&plan, &forecasts, seconds, parts.pairs));
    Ok((with(plan, wish, parts, in_time, is_known), notes))
}

/// Parts of so many pairs that there is time for.
fn fitting(plan: &Plan, forecasts: &[CellForecast], seconds: f64, pairs: u32) -> u32 {
    let prices = forecasts.iter().map(|forecast| forecast.price_of_part(plan, pairs));
    (seconds / prices.fold(f64::MIN_POSITIVE, f64::max)) as u32
}

/// Who looks for an effect does not want to hear *equal* of more than that effect: half of it is
/// the budget then.
fn within_effect(mut plan: Plan, wish: &Wish) -> (Plan, Option<String>) {
    match wish.detect {
        Some((effect, _)) if plan.rule.budget > effect / 2.0 => {
            let budget = effect / 2.0;
            let note = format!(
                "equal means within {}, half of what is to be found, and not within {}",
                percent(budget),
                percent(plan.rule.budget)
            );
            plan.rule.budget = budget;
            (plan, Some(note))
        }
        _ => (plan, None),
    }
}

/// So many starts or stretches of so many pairs.
#[derive(Clone, Copy)]
struct Parts {
    pairs: u32,
    count: u32,
}

fn with(mut plan: Plan, wish: &Wish, parts: Parts, in_time: Option<u32>, is_known: bool) -> Plan {
    let Parts { pairs, count } = parts;
    let longer = (f64::from(count) * LOOKING_COSTS).ceil() as u32;
    let decided = |planned: u32| Stopping::Decided { pairs, horizon: planned.min(HORIZON_MAX) };
    let (stopping, planned) = match (wish.detect, wish.end) {
        (Some(_), End::Decided) => {
            let planned = longer.max(filling(in_time, wish));
            (decided(planned), planned)
        }
        (Some((effect, power)), End::Planned) if !is_known => {
            let horizon = longer.min(HORIZON_MAX);
            (Stopping::Detect { pairs, horizon, effect, power }, longer)
        }
        (None, End::Decided) => (decided(count), count),
        (_, End::Planned) => (Stopping::Fixed, count),
    };
    let spare = match (wish.limit, &stopping, wish.numbers) {
        (_, Stopping::Detect { .. }, _) => SPARE,
        // What decides by looking may have all of the time.
        (Some(_), Stopping::Decided { .. }, Numbers::Usual) => SPARE,
        (Some(_), _, Numbers::Usual) if wish.detect.is_none() => SPARE,
        _ => 1,
    };
    let told =
        if stopping.look_schedule().is_some() { ConfidenceSequence::STARTS_MAX } else { u32::MAX };
    let most = planned.saturating_mul(spare).min(told);
    let restarts = if has_starts(&plan) { most.saturating_sub(1) } else { plan.schedule.restarts };
    let limit_ns = wish.limit.map(|limit| limit.as_nanos() as u64);
    plan.rule.stopping = stopping;
    plan.schedule =
        RoundSchedule { pairs: pairs.saturating_mul(most), restarts, limit_ns, ..plan.schedule };
    plan
}

/// The horizon with which looks fill the time. What an effect needs may rest on a run that had
/// little noise by luck: looks that were at their best long before the time is over had it end
/// undecided, with two thirds of the time left (`docs/journal/2026-11-23-bounds.md`).
fn filling(in_time: Option<u32>, wish: &Wish) -> u32 {
    match (in_time, wish.numbers) {
        (Some(parts), Numbers::Usual) => parts.div_ceil(SPARE).min(HORIZON_MAX),
        (None, _) | (_, Numbers::Given) => 0,
    }
}

fn check(plan: &Plan, wish: &Wish) -> Result<(), String> {
    if plan.cells().iter().any(|cell| planned::step_of(cell).is_some()) {
        return Err("steps of the Insert Benchmark are as long as their work; leave --detect, \
                    --until and --limit out"
            .to_owned());
    }
    if wish.detect.is_none() && wish.end == End::Planned {
        return Ok(());
    }
    let given = wish.numbers == Numbers::Given && wish.detect.is_none();
    if given && has_starts(plan) && plan.schedule.restarts >= ConfidenceSequence::STARTS_MAX {
        let most = ConfidenceSequence::STARTS_MAX - 1;
        return Err(format!("results are judged at {most} restarts at most; give fewer"));
    }
    let of_looks = "which --detect and --until decided do without; leave one of them out";
    if plan.question.driving != Driving::Closed {
        return Err(format!("{} is judged by more than rates, {of_looks}", plan.question.driving));
    }
    if plan.schedule.reloads > 0 {
        return Err(format!("--reloads makes fillings of the tables a level, {of_looks}"));
    }
    match plan.rule.interval {
        IntervalChoice::Auto | IntervalChoice::Given(IntervalKind::T) => Ok(()),
        other => Err(format!("--interval {other} is for results that are judged once, {of_looks}")),
    }
}

/// The plan with a warm-up that a limit on its time leaves room for, if nobody gave one.
fn in_time(mut plan: Plan, wish: &Wish, cells: usize) -> Plan {
    let Some(limit) = wish.limit else { return plan };
    let share = limit / cells.max(1) as u32;
    if wish.warm_up == Numbers::Usual {
        let longest = share.mul_f64(WARMING).as_nanos() as u64;
        plan.schedule.warm_up_ns = plan.schedule.warm_up_ns.min(longest);
    }
    plan
}

/// The parts of a plan that nobody wants to find something certain with.
fn parts_usual(
    plan: &Plan,
    wish: &Wish,
    forecasts: &[CellForecast],
    seconds: Option<f64>,
) -> Parts {
    let usual = if has_starts(plan) { plan.schedule.restarts + 1 } else { STRETCHES };
    let pairs = (plan.schedule.pairs / usual / 2 * 2).max(2);
    match (wish.numbers, seconds) {
        (Numbers::Given, _) => Parts { pairs, count: plan.schedule.pairs.div_ceil(pairs) },
        (Numbers::Usual, None) => Parts { pairs, count: usual * LENGTHS },
        (Numbers::Usual, Some(seconds)) => {
            let told = match wish.end {
                End::Decided => ConfidenceSequence::STARTS_MAX,
                End::Planned => u32::MAX,
            };
            parts_in_time(has_starts(plan).then_some(pairs), told, |pairs| {
                fitting(plan, forecasts, seconds, pairs)
            })
        }
    }
}

/// Parts that fit into the time, by how many of some pairs do: stretches, or starts of `most`
/// pairs, if there are neither too few of them nor more than `told`. Costs of a busy host are a few
/// times those that were thought, and what ends before eight looks decides little; so there are
/// many short parts.
fn parts_in_time(most: Option<u32>, told: u32, fits: impl Fn(u32) -> u32) -> Parts {
    let count = |pairs: u32| fits(pairs).max(stats::MIN_PAIRS + 1);
    let Some(most) = most else {
        let pairs = (2 * fits(2) / STRETCHES / 2 * 2).max(2);
        return Parts { pairs, count: count(pairs) };
    };
    let mut tried = (1..=most / 2).rev().map(|half| 2 * half);
    let pairs = tried.find(|&pairs| fits(pairs) >= STARTS_IN_TIME).unwrap_or(2);
    // Nothing is told of more starts: they are longer than usual then.
    let mut longer = (1..=LONGEST_START).map(|times| pairs * times);
    let pairs = longer.find(|&pairs| fits(pairs) <= told).unwrap_or(pairs);
    Parts { pairs, count: count(pairs) }
}
/// The parts of a plan that is to find `effect` in every cell, and what is to be said of it.
fn parts_for(
    plan: &Plan,
    effect: f64,
    power: f64,
    forecasts: &[CellForecast],
    limit: Option<Duration>,
    seconds: Option<f64>,
) -> Result<(Parts, Option<String>), String> {
    let mut amount = needed(plan, effect, power, forecasts)?;
    let mut note = None;
    if let (Some(limit), Some(seconds)) = (limit, seconds)
        && amount.seconds > seconds
    {
        let best = best_in(plan, seconds, power, forecasts);
        let in_time = best.as_ref().map_or(String::new(), |(found, _)| {
            format!("; in {} it finds {}", minutes(limit.as_secs_f64()), percent(*found))
        });
        let needed_s = f64::from(amount.starts)
            * forecasts
                .iter()
                .map(|forecast| forecast.price_of_part(plan, amount.pairs))
                .sum::<f64>();
        note = Some(format!(
            "cannot find {} in {} on this host: needs about {}{in_time}",
            percent(effect),
            minutes(limit.as_secs_f64()),
            minutes(needed_s),
        ));
        amount = best.map_or(amount, |(_, amount)| amount);
    }
    if has_starts(plan) {
        return Ok((Parts { pairs: amount.pairs, count: amount.starts }, note));
    }
    let pairs = (amount.pairs.div_ceil(STRETCHES)).div_ceil(2) * 2;
    Ok((Parts { pairs, count: amount.pairs.div_ceil(pairs) }, note))
}

/// The starts and pairs of a plan with which every cell finds the effect, in the least time for
/// all; seconds are those of the dearest cell.
fn needed(
    plan: &Plan,
    effect: f64,
    power: f64,
    forecasts: &[CellForecast],
) -> Result<Amount, String> {
    let mut own = Vec::new();
    for forecast in forecasts {
        own.push(forecast.least_amount(plan, effect, power).ok_or_else(|| {
            format!(
                "{} cannot find {}: two starts of these arms differ by about {:.1} %; look for a \
                 larger change, or compare servers that dbdyno starts or opens, with --restarts",
                forecast.cell,
                percent(effect),
                100.0 * forecast.spread.start_sd
            )
        })?);
    }
    let prices = |starts: u32, pairs: u32| {
        let parts = forecasts.iter().map(move |forecast| forecast.price_of_part(plan, pairs));
        parts.map(move |part| f64::from(starts) * part)
    };
    let amount = |starts: u32, pairs: u32| Amount {
        starts,
        pairs,
        seconds: prices(starts, pairs).fold(0.0, f64::max),
    };
    if !has_starts(plan) {
        let pairs = own.iter().map(|amount| amount.pairs).max();
        let pairs = pairs.ok_or("there is nothing to measure; name a --load")?;
        return Ok(amount(1, pairs));
    }
    let alpha = alpha_of(plan);
    let tried = tried(forecasts, own.iter().map(|amount| amount.pairs));
    let amounts = tried.into_iter().filter_map(|pairs| {
        let starts = forecasts.iter().map(|forecast| {
            let sd = forecast.spread.of_start(forecast.measured_pairs(pairs));
            stats::pairs_needed(sd, effect, alpha, power).max(stats::STARTS_LEAST)
        });
        let starts = starts.max()?;
        let whole: f64 = prices(starts, pairs).sum();
        (starts < stats::PAIRS_CAP).then(|| (whole, amount(starts, pairs)))
    });
    let least = amounts.min_by(|a, b| a.0.total_cmp(&b.0));
    least.map(|(_, amount)| amount).ok_or_else(|| {
        format!("these cells cannot find {} in one plan; compare them one by one", percent(effect))
    })
}

/// What is found in every cell in so many seconds each, and how.
fn best_in(
    plan: &Plan,
    seconds: f64,
    power: f64,
    forecasts: &[CellForecast],
) -> Option<(f64, Amount)> {
    let worst = |amount: &Amount| {
        forecasts
            .iter()
            .map(|forecast| forecast.detectable_change_with(plan, amount, power))
            .fold(0.0, f64::max)
    };
    let of_pairs = |pairs: u32| {
        let starts = fitting(plan, forecasts, seconds, pairs);
        let amount = Amount { starts, pairs, seconds };
        Some((worst(&amount), amount)).filter(|(found, _)| found.is_finite())
    };
    if has_starts(plan) {
        let tried = tried(forecasts, std::iter::empty());
        return tried.into_iter().filter_map(of_pairs).min_by(|a, b| a.0.total_cmp(&b.0));
    }
    let pairs = forecasts.iter().map(|forecast| {
        forecast.planned_pairs((seconds / (forecast.price.pair_s * pairs_cost(plan))) as u32)
    });
    let amount = Amount { starts: 1, pairs: pairs.min()?, seconds };
    Some((worst(&amount), amount)).filter(|(found, _)| found.is_finite())
}

/// Pairs of a plan in a start that are worth a try: a block of each cell at least.
fn tried(forecasts: &[CellForecast], own: impl Iterator<Item = u32>) -> BTreeSet<u32> {
    let usual = forecasts
        .iter()
        .flat_map(|forecast| stats::PAIRS_TRIED.map(|pairs| forecast.planned_pairs(pairs)));
    let block = forecasts.iter().map(|forecast| forecast.planned_pairs(2)).max().unwrap_or(0);
    usual.chain(own).filter(|pairs| *pairs >= block).collect()
}

fn percent(share: f64) -> String {
    let digits = if share < 0.0995 { 1 } else { 0 };
    format!("{:.digits$} %", 100.0 * share)
}

fn minutes(seconds: f64) -> String {
    match seconds {
        ..90.0 => format!("{seconds:.0} s"),
        ..5400.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

/// The chance with which an effect is found where nothing else is said.
pub const USUAL_POWER: f64 = POWER;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use dbdyno_model::{ExperimentLevel, RoundPace};
    use stats::{Price, Spread};

    fn restarted(mut plan: Plan, restarts: u32) -> Plan {
        plan.schedule.restarts = restarts;
        plan
    }

    /// A run that looked for 1 % used to end as *equal within 2 %*.
    #[test]
    fn who_looks_for_an_effect_does_not_stop_at_equal_within_more() {
        let plan = restarted(sample::point_queries("sqlite:", 1, |_| {}).plan, 3);
        assert_eq!(plan.rule.budget, 0.02);
        let wish = |detect, end| Wish {
            detect,
            end,
            limit: None,
            numbers: Numbers::Usual,
            warm_up: Numbers::Usual,
        };
        let budget = |detect: Option<f64>, end| {
            let wish = wish(detect.map(|effect| (effect, 0.8)), end);
            let (plan, notes) = plan_for_wish(plan.clone(), &wish, &[]).unwrap();
            (plan.rule.budget, notes.iter().any(|note| note.contains("equal means within")))
        };
        assert_eq!(budget(Some(0.03), End::Decided), (0.015, true));
        assert_eq!(budget(Some(0.1), End::Decided), (0.02, false));
        assert_eq!(budget(Some(0.03), End::Planned), (0.015, true));
        assert_eq!(budget(Some(0.1), End::Planned), (0.02, false));
        assert_eq!(budget(None, End::Decided), (0.02, false));
    }

    /// Who gives numbers gets them; and a small effect gets the starts that it needs.
    #[test]
    fn the_longest_horizon_shortens_no_plan() {
        let once = sample::point_queries("sqlite:", 1, |_| {}).plan;
        let wish = |detect, numbers| Wish {
            detect,
            end: End::Decided,
            limit: None,
            numbers,
            warm_up: Numbers::Usual,
        };
        let mut plan = restarted(once.clone(), 119);
        plan.schedule.pairs = 480;
        let (plan, _) = plan_for_wish(plan, &wish(None, Numbers::Given), &[]).unwrap();
        assert_eq!((plan.schedule.restarts, plan.schedule.pairs), (119, 480));
        assert_eq!(plan.rule.stopping, Stopping::Decided { pairs: 4, horizon: HORIZON_MAX });

        let small = wish(Some((0.007, 0.8)), Numbers::Usual);
        let (plan, _) = plan_for_wish(restarted(once.clone(), 3), &small, &[]).unwrap();
        assert!(plan.schedule.restarts > HORIZON_MAX, "{plan:?}");
        let found = CellForecast::of_cell(&plan, &plan.cells()[0], &[])
            .detectable_change(&plan, 0.8)
            .unwrap();
        assert!(found < 0.0085, "{found}");

        let mut plan = restarted(once, ConfidenceSequence::STARTS_MAX);
        plan.schedule.pairs = 1_000;
        let refused = plan_for_wish(plan, &wish(None, Numbers::Given), &[]).unwrap_err();
        assert!(refused.contains("239 restarts at most"), "{refused}");
    }

    /// A stored run of a load whose rounds took so many times as long as planned, with a noise of
    /// some percent.
    fn known(stretch: u64, noise: u64, label: &str) -> Run {
        let mut run = sample::of_pairs(48, label, "sqlite:", 1, |round| {
            let arm = u64::from(round.key.arm == dbdyno_model::ArmIndex::TEST);
            let pair = u64::from(round.key.pair);
            round.start = round.key.pair / 6;
            sample::set_events(round, (1_000 + noise * (7 * pair + 3 * arm) % 40) as f64);
            round.wall_ns *= stretch;
            round.started_unix_ms = (2 * pair + arm) * 110 * stretch + 4_000 * (pair / 6);
        });
        run.plan.schedule.restarts = 7;
        run
    }

    fn detecting(effect: f64) -> Wish {
        Wish {
            detect: Some((effect, 0.8)),
            end: End::Planned,
            limit: None,
            numbers: Numbers::Usual,
            warm_up: Numbers::Usual,
        }
    }

    /// What is carried out of a plan is what its promise rests on.
    #[test]
    fn a_slow_load_gets_the_pairs_that_it_needs() {
        for stretch in [1, 3, 10] {
            let run = known(stretch, 1, "point-query");
            let window = Duration::from_nanos(run.plan.schedule.round_ns * stretch);
            let (plan, _) =
                plan_for_wish(run.plan.clone(), &detecting(0.01), std::slice::from_ref(&run))
                    .unwrap();
            let forecast =
                CellForecast::of_cell(&plan, &plan.cells()[0], std::slice::from_ref(&run));
            let pace = RoundPace::with_window(&plan, window);
            let starts = plan.schedule.restarts + 1;
            let sd = forecast.spread.of_start(pace.pairs / starts);
            let found = stats::detectable_change(sd, starts, stats::DECISION_ALPHA, 0.8);
            assert!(found < 0.0102, "{stretch}: {found}, {plan:?}");
            let told = forecast.detectable_change(&plan, 0.8).unwrap();
            assert!((told / found - 1.0).abs() < 0.02, "{stretch}: {told}, not {found}");
        }
    }

    /// Pairs that have no noise of their own tell nothing more.
    #[test]
    fn a_minute_is_spent_where_the_doubt_is() {
        let best = |noise| {
            let mut run = known(1, noise, "point-query");
            run.rounds
                .iter_mut()
                .filter(|round| round.key.arm == dbdyno_model::ArmIndex::TEST)
                .for_each(|round| {
                    let events = round.events as f64 * (1.0 + f64::from(round.start % 3) / 20.0);
                    sample::set_events(round, events);
                });
            let cell = &run.plan.cells()[0];
            let forecast = CellForecast::of_cell(&run.plan, cell, std::slice::from_ref(&run));
            let (level, narrows) = forecast.next_minute(&run.plan).unwrap();
            assert!(narrows > 0.0 && narrows < 1.0, "{narrows}");
            level
        };
        assert_eq!(best(0), ExperimentLevel::Start);
        let plan = known(1, 1, "point-query").plan;
        assert_eq!(CellForecast::of_cell(&plan, &plan.cells()[0], &[]).next_minute(&plan), None);
    }

    /// Rounds that are drawn out leave fewer pairs, and at last so few that starts are left out.
    #[test]
    fn a_promise_is_of_what_is_carried_out() {
        for (stretch, restarts, pairs) in
            [(30, 15, 96), (60, 23, 384), (3, 15, 96), (3, 7, 144), (1, 2, 20)]
        {
            let run = known(stretch, 1, "point-query");
            let mut plan = restarted(run.plan.clone(), restarts);
            plan.schedule.pairs = pairs;
            let forecast =
                CellForecast::of_cell(&plan, &plan.cells()[0], std::slice::from_ref(&run));
            let window = Duration::from_nanos(plan.schedule.round_ns * stretch);
            let carried = RoundPace::with_window(&plan, window).pairs;
            let begins: Vec<u32> =
                (0..carried).filter(|&pair| plan.restarts_before(pair, carried)).collect();
            let starts = begins.len() as u32 + 1;
            let sd = forecast.spread.of_start(carried / starts);
            let found = stats::detectable_change(sd, starts, stats::DECISION_ALPHA, 0.8);
            let told = forecast.detectable_change(&plan, 0.8).unwrap();
            assert!((told / found - 1.0).abs() < 1e-9, "{stretch}: {told}, not {found}");
        }
    }

    /// One cell has starts that are spread, the other pairs: what each needs alone is dearer
    /// together than what they share, and the limit allows that.
    #[test]
    fn cells_share_a_plan_that_a_limit_allows() {
        let plan = restarted(known(1, 1, "point-query").plan, 7);
        let of = |start_sd, pair_sd| CellForecast {
            cell: plan.cells()[0].clone(),
            run: None,
            pair_sd,
            spread: Spread { pair_sd, start_sd },
            price: Price { pair_s: 0.5, start_s: 20.0 },
            stretch: 1.0,
        };
        let forecasts = [of(0.02, 0.02), of(0.005, 0.2)];
        let amount = needed(&plan, 0.01, 0.8, &forecasts).unwrap();
        assert!(amount.seconds < 5_000.0, "{amount:?}");
        for forecast in &forecasts {
            assert!(forecast.detectable_change_with(&plan, &amount, 0.8) < 0.0101, "{amount:?}");
        }
        let (found, short) = best_in(&plan, 1_000.0, 0.8, &forecasts).unwrap();
        for forecast in &forecasts {
            assert!(forecast.detectable_change_with(&plan, &short, 0.8) <= found);
            let price = f64::from(short.starts) * forecast.price_of_part(&plan, short.pairs);
            assert!(price <= 1_000.0, "{short:?}");
        }
    }

    /// What suits the quick cell leaves nothing to the slow one.
    #[test]
    fn a_slow_cell_has_its_pairs_beside_a_quick_one() {
        for stretch in [10, 20, 30] {
            let runs = [known(1, 1, "point-query"), known(stretch, 1, "read-only")];
            let mut plan = runs[0].plan.clone();
            plan.question.stages.extend(runs[1].plan.question.stages.clone());
            let (plan, notes) = plan_for_wish(plan, &detecting(0.01), &runs).unwrap();
            for cell in plan.cells() {
                let found = CellForecast::of_cell(&plan, &cell, &runs)
                    .detectable_change(&plan, 0.8)
                    .unwrap();
                assert!(found < 0.0102, "{stretch}, {cell}: {found}, {notes:?}");
            }
        }
    }

    /// A limit cuts what is promised, not only how long it takes.
    #[test]
    fn a_promise_knows_of_a_limit() {
        let run = known(1, 1, "point-query");
        let mut plan = restarted(run.plan.clone(), 182);
        plan.schedule.pairs = 183 * 18;
        let known = std::slice::from_ref(&run);
        let forecast = CellForecast::of_cell(&plan, &plan.cells()[0], known);
        let all = forecast.detectable_change(&plan, 0.8).unwrap();
        let takes = forecast.measuring_time(&plan);
        let mut limited = plan;
        limited.schedule.limit_ns = Some(takes.as_nanos() as u64 / 9);
        let part = forecast.detectable_change(&limited, 0.8).unwrap();
        assert!(part > 2.7 * all && part < 3.5 * all, "{part} of {all}");
    }

    /// One cell is dear and quiet, the other one cheap and noisy.
    #[test]
    fn a_plan_finds_the_effect_in_every_cell() {
        let runs = [known(6, 0, "point-query"), known(1, 9, "read-only")];
        let mut plan = runs[0].plan.clone();
        plan.question.stages.extend(runs[1].plan.question.stages.clone());
        let (plan, _) = plan_for_wish(plan, &detecting(0.03), &runs).unwrap();
        for cell in plan.cells() {
            let found =
                CellForecast::of_cell(&plan, &cell, &runs).detectable_change(&plan, 0.8).unwrap();
            assert!(found < 0.0306, "{cell}: {found}");
        }
    }

    /// However little an effect seems to need, looks go on until the time is over or no sequence
    /// goes on for so long.
    #[test]
    fn looks_fill_the_time_that_there_is() {
        let once = sample::point_queries("sqlite:", 1, |_| {}).plan;
        for (effect, minutes) in [(0.5, 1), (0.05, 10), (0.01, 10), (0.05, 600)] {
            let wish = Wish {
                detect: Some((effect, 0.8)),
                end: End::Decided,
                limit: Some(Duration::from_secs(60 * minutes)),
                numbers: Numbers::Usual,
                warm_up: Numbers::Usual,
            };
            let (plan, _) = plan_for_wish(restarted(once.clone(), 3), &wish, &[]).unwrap();
            let (pairs, horizon) = plan.rule.stopping.look_schedule().unwrap();
            let forecast = CellForecast::of_cell(&plan, &plan.cells()[0], &[]);
            let starts_s = f64::from(SPARE * horizon) * forecast.price_of_part(&plan, pairs);
            let fills = starts_s
                >= 0.9 * (60 * minutes) as f64 - 2.0 * plan.schedule.warm_up_ns as f64 / 1e9;
            assert!(fills || horizon == HORIZON_MAX, "{effect} {minutes}: {starts_s} {plan:?}");
            assert!(plan.schedule.pairs >= pairs * horizon * SPARE);
        }
    }

    /// Half a second a pair: whatever the limit, eight looks fit on a host that takes three times
    /// as long, if each may have two pairs.
    #[test]
    fn many_looks_fit_into_a_limit() {
        for seconds in [24.0, 48.0, 100.0, 600.0, 36_000.0] {
            let fits = |pairs: u32| (seconds / (0.5 * f64::from(pairs))) as u32;
            let Parts { pairs, count } = parts_in_time(None, 240, fits);
            let slow = seconds / (3.0 * 0.5 * f64::from(pairs));
            assert!(slow >= 8.0, "{seconds}: {slow} looks at {pairs} pairs");
            assert!((24..50).contains(&count), "{seconds}: {count}");
        }
        let none = parts_in_time(None, 240, |_| 0);
        assert_eq!((none.pairs, none.count), (2, stats::MIN_PAIRS + 1));
    }

    /// Starts are shorter where the limit is, and as usual where there is time for that.
    #[test]
    fn starts_are_neither_too_few_nor_too_many() {
        let in_time = |seconds: f64| {
            let fits = |pairs: u32| (seconds / (6.0 + 0.5 * f64::from(pairs))) as u32;
            let parts = parts_in_time(Some(40), 240, fits);
            (parts.pairs, parts.count)
        };
        assert_eq!(in_time(36_000.0), (320, 216));
        assert_eq!(in_time(3_600.0), (40, 138));
        assert_eq!(in_time(192.0), (20, 12));
        assert_eq!(in_time(60.0), (2, 8));
    }
}
