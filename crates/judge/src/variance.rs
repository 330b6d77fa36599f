//! Pairs by filling of the tables and start of the servers, and what each level cost in time.
//!
//! ```text
//!   rounds   ▇ ▇▇ ▇▇ ▇ ┆      ▇ ▇▇ ▇ ┆               ▇▇ ▇
//!   gaps      ·  ·  ·      c₂           c₂ + c₃
//!            start 0      start 1         start 2, on tables that were filled anew
//! ```
//!
//! Costs are those of this cell: the time from the end of the last round before a start of the
//! servers to the beginning of the first one after it, less the gap that two rounds always have.

use dbdyno_model::{
    ExperimentLevel, Interval, IntervalKind, LevelShare, Levels, PerArm, Round, Spend,
};
use dbdyno_stats::{self as stats, Costs, median};

/// The time of which is told what it would bring, seconds.
pub(crate) const MINUTE_S: f64 = 60.0;

/// A figure of each pair, by the start of the servers.
pub(crate) fn by_start(
    pairs: &[PerArm<&Round>],
    figure: impl Fn(&PerArm<&Round>) -> f64,
) -> Vec<Vec<f64>> {
    nested_figures(pairs, figure).concat()
}

/// A figure of each pair, by the filling of the tables and the start of the servers.
pub(crate) fn nested_figures(
    pairs: &[PerArm<&Round>],
    figure: impl Fn(&PerArm<&Round>) -> f64,
) -> Vec<Vec<Vec<f64>>> {
    let place = |pair: &PerArm<&Round>| {
        (pair.base.filling, pair.test.filling, pair.base.start, pair.test.start)
    };
    let mut fillings: Vec<Vec<Vec<f64>>> = Vec::new();
    let mut before = None;
    for start in pairs.chunk_by(|a, b| place(a) == place(b)) {
        let (base, test, ..) = place(&start[0]);
        if before.replace((base, test)) != Some((base, test)) {
            fillings.push(Vec::new());
        }
        let figures = start.iter().map(&figure).collect();
        fillings.last_mut().expect("one was just begun").push(figures);
    }
    fillings
}

/// A value for each filling, or else for each start of the servers, where there are as many as a
/// verdict needs: what is below is averaged away, and what is above was not repeated.
pub(crate) fn top_level_means(nest: &stats::Nest) -> Option<Vec<f64>> {
    let enough = |values: &Vec<f64>| values.len() >= stats::MIN_PAIRS as usize;
    let starts: Vec<Vec<f64>> =
        nest.iter().map(|starts| starts.iter().map(|start| mean(start)).collect()).collect();
    let fillings: Vec<f64> = starts.iter().map(|starts| mean(starts)).collect();
    Some(fillings).filter(enough).or_else(|| Some(starts.concat()).filter(enough))
}

/// What rounds of one arm did, and its interval: of fillings or starts where there are as many as a
/// verdict needs, else of rounds, which know nothing of other starts.
pub(crate) fn mean_of_rounds(
    rounds: &[&Round],
    figure: impl Fn(&Round) -> f64,
) -> Result<Interval, stats::StatsError> {
    let alone: Vec<PerArm<&Round>> =
        rounds.iter().map(|round| PerArm { base: *round, test: *round }).collect();
    let nest = nested_figures(&alone, |round| figure(round.base).ln());
    let logs = top_level_means(&nest).unwrap_or_else(|| nest.concat().concat());
    let values: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
    stats::geometric_mean_interval(&values, stats::SHOWN_CONFIDENCE)
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The levels of a cell. `None` where there is too little to tell, or rounds have no times.
pub(crate) fn levels(
    nest: &stats::Nest,
    pairs: &[PerArm<&Round>],
    interval: IntervalKind,
    between_sd: f64,
) -> Option<Levels> {
    let components = stats::variance_components(nest, interval, between_sd);
    let costs = costs(pairs)?;
    let advice = stats::spending_advice(&components, &costs, MINUTE_S);
    let shares = stats::variance_shares(&components);
    let seconds = |level| match level {
        ExperimentLevel::Pair => Some(costs.pair),
        ExperimentLevel::Start => costs.start,
        ExperimentLevel::Filling => costs.filling,
    };
    let share = |(component, share): (&stats::Component, f64)| LevelShare {
        level: component.level,
        count: component.count,
        sd: component.variance.sqrt(),
        share,
        seconds: seconds(component.level),
        best: advice.best.iter().find(|(level, _)| *level == component.level).map(|best| best.1),
        is_assumed: component.is_assumed,
    };
    let parts: Vec<LevelShare> = components.iter().zip(shares).map(share).collect();
    let spend = advice.spend.iter().map(|&(level, narrows)| Spend { level, narrows }).collect();
    (!parts.is_empty()).then_some(Levels { parts, spend })
}

/// A moment at which a round began; both of a pair, where they took turns in slices.
pub(crate) struct Start {
    pub(crate) at_s: f64,
    pub(crate) rounds: u32,
    pub(crate) start: u32,
    filling: u32,
    /// Time in which their events count.
    counted_s: f64,
}

/// When rounds began, in the order of time.
pub(crate) fn round_starts<'r>(rounds: impl Iterator<Item = &'r Round>) -> Vec<Start> {
    let mut rounds: Vec<&Round> = rounds.collect();
    rounds.sort_by_key(|round| round.started_unix_ms);
    let at_once = rounds.chunk_by(|a, b| a.started_unix_ms == b.started_unix_ms);
    let start = |rounds: &[&Round]| Start {
        at_s: rounds[0].started_unix_ms as f64 / 1e3,
        rounds: rounds.len() as u32,
        start: rounds[0].start,
        filling: rounds[0].filling,
        counted_s: rounds.iter().map(|round| round.wall_ns as f64 / 1e9).sum(),
    };
    at_once.map(start).collect()
}

/// Rounds in the order of time, and the gaps between them.
fn costs(pairs: &[PerArm<&Round>]) -> Option<Costs> {
    let starts = round_starts(pairs.iter().flat_map(|pair| [pair.base, pair.test]));
    let (mut within, mut of_starts, mut of_fillings) = (Vec::new(), Vec::new(), Vec::new());
    let mut between_rounds = Vec::new();
    for two in starts.windows(2) {
        let apart = two[1].at_s - two[0].at_s;
        let gap = apart - two[0].counted_s;
        if two[0].filling != two[1].filling {
            of_fillings.push(gap);
        } else if two[0].start != two[1].start {
            of_starts.push(gap);
        } else {
            between_rounds.push(apart / f64::from(two[0].rounds));
            within.push(gap);
        }
    }
    let round = median(&between_rounds).filter(|seconds| *seconds > 0.0)?;
    let usual = median(&within)?;
    let start = median(&of_starts).map(|gap| (gap - usual).max(0.0));
    let filling = median(&of_fillings).map(|gap| (gap - usual).max(0.0));
    Some(match (start, filling) {
        // What is filled anew is started anew.
        (Some(start), filling) => Costs {
            pair: 2.0 * round,
            start: Some(start),
            filling: filling.map(|filling| (filling - start).max(0.0)),
        },
        // Every start had tables of its own: filling them is what a start costs.
        (None, filling) => Costs { pair: 2.0 * round, start: filling.map(|_| 0.0), filling },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use dbdyno_model::{Arm, ArmIndex, Run};

    /// Fifteen pairs of 0.2 s in five starts of three, in three fillings.
    fn run() -> Run {
        sample::of_pairs(15, "point-query", "sqlite:", 1, |round| {
            round.start = round.key.pair / 3;
            round.filling = [0, 0, 1, 1, 2][round.start as usize];
            round.wall_ns = 90_000_000;
            let place = 2 * round.key.pair + u32::from(round.key.arm == ArmIndex::TEST);
            let waits = 2_000 * u64::from(round.start) + 5_000 * u64::from(round.filling);
            round.started_unix_ms = 1_000 + 100 * u64::from(place) + waits;
        })
    }

    fn pairs(run: &Run) -> Vec<PerArm<&Round>> {
        let of = |arm| run.first_pair().rounds_of(arm);
        of(Arm::Base).zip(of(Arm::Test)).map(|(base, test)| PerArm { base, test }).collect()
    }

    #[test]
    fn pairs_are_nested_in_starts_and_starts_in_fillings() {
        let run = run();
        let nest = nested_figures(&pairs(&run), |pair| f64::from(pair.base.key.pair));
        let counts: Vec<usize> = nest.iter().map(Vec::len).collect();
        assert_eq!(counts, [2, 2, 1]);
        assert_eq!(nest[1][0], [6.0, 7.0, 8.0]);
        assert_eq!(by_start(&pairs(&run), |_| 0.0).len(), 5);
    }

    #[test]
    fn rounds_that_take_turns_begin_at_once_and_cost_the_same() {
        let mut run = run();
        for pair in run.rounds.chunks_mut(2) {
            let at_ms = pair[0].started_unix_ms.min(pair[1].started_unix_ms);
            pair.iter_mut().for_each(|round| round.started_unix_ms = at_ms);
        }
        let costs = costs(&pairs(&run)).unwrap();
        let close = |ours: f64, truth: f64| (ours - truth).abs() < 1e-6;
        assert!(close(costs.pair, 0.2) && close(costs.start.unwrap(), 2.0), "{costs:?}");
        let price = crate::sequential::price_of(run.first_pair(), &run.plan.cells()[0]).unwrap();
        assert!(close(price.pair_s, 0.2), "{price:?}");
    }

    #[test]
    fn costs_are_the_gaps_that_restarts_leave() {
        let run = run();
        let costs = costs(&pairs(&run)).unwrap();
        let close = |ours: f64, truth: f64| (ours - truth).abs() < 1e-6;
        assert!(close(costs.pair, 0.2), "{costs:?}");
        assert!(close(costs.start.unwrap(), 2.0), "{costs:?}");
        assert!(close(costs.filling.unwrap(), 5.0), "{costs:?}");
    }
}
