//! Pairs of rounds, by the plan and not by time of day: both of a pair stood next to each other and
//! asked the same questions. Each gives one log-ratio of rates.

use dbdyno_model::{Arm, Cell, PerArm, Round, RunPair};
use dbdyno_stats as stats;

use crate::exclusion::exclude_unusual;
use crate::rate_unit::CellUnits;
use crate::variance::{by_start, mean};

pub(crate) fn pairs_of<'a>(run: RunPair<'a>, cell: &Cell) -> Vec<PerArm<&'a Round>> {
    let find = |pair, arm| {
        run.rounds_of(arm).find(|round| round.key.pair == pair && round.key.cell == *cell)
    };
    (0..run.plan().schedule.pairs)
        .filter_map(|pair| {
            Some(PerArm { base: find(pair, Arm::Base)?, test: find(pair, Arm::Test)? })
        })
        .collect()
}

pub(crate) fn log_ratio(units: &CellUnits, pair: &PerArm<&Round>) -> f64 {
    (units.rate(pair.test) / units.rate(pair.base)).ln()
}

/// The standard deviation of the log-ratios of pairs within a start; `None` if all starts of the
/// cell together say less of it than one that has as many pairs as a verdict needs.
pub(crate) fn noise_of(run: RunPair<'_>, cell: &Cell) -> Option<f64> {
    let units = CellUnits::of_cell(run.plan(), cell);
    let pairs = exclude_unusual(run, cell, pairs_of(run, cell)).pairs;
    let starts = by_start(&pairs, |pair| log_ratio(&units, pair));
    // Each start has spent one of its pairs on its mean.
    let (mut squares, mut degrees) = (0.0, 0);
    for start in starts {
        let mean = mean(&start);
        squares += start.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
        degrees += start.len() - 1;
    }
    (degrees + 1 >= stats::MIN_PAIRS as usize).then(|| (squares / degrees as f64).sqrt())
}
