//! What both arms did in several cells, as replicates of a curve or a line through them.

use dbdyno_model::{PerArm, Round};
use dbdyno_stats as stats;

use crate::variance::{self, nested_figures};

/// From here on the means of starts are the replicates.
const MANY_STARTS: usize = stats::MIN_PAIRS as usize;
/// What both arms did in several cells, as replicates of curves through them.
pub(crate) struct Replicates {
    /// The logarithms by place.
    pub(crate) points: Vec<stats::PointLogs>,
    /// The standard deviation of what the servers' starts add and the replicates do not show.
    pub(crate) between_sd: f64,
}

/// The logarithms of a figure of the pairs at several places. Where the servers lived often enough
/// in every cell, means of fillings or starts are the replicates; else pairs are, and the spread of
/// starts is assumed.
pub(crate) fn figure_replicates(
    places: &[(f64, Vec<PerArm<&Round>>)],
    figure: impl Fn(&Round) -> Option<f64>,
) -> Replicates {
    let log = |round: &Round| figure(round).map_or(f64::NAN, f64::ln);
    let nests: Vec<PerArm<Nest>> = places
        .iter()
        .map(|(_, pairs)| PerArm::from_fn(|arm| nested_figures(pairs, |pair| log(pair[arm]))))
        .collect();
    let fewest: usize =
        nests.iter().map(|nest| nest.base.iter().map(Vec::len).sum()).min().unwrap_or(0);
    let restarted = fewest >= MANY_STARTS;
    let points = places.iter().zip(&nests).map(|((at, _), nest)| {
        let both = logs(&nest.base, restarted).into_iter().zip(logs(&nest.test, restarted));
        let pairs = both.map(|(base, test)| PerArm { base, test }).collect();
        stats::PointLogs { at: *at, pairs }
    });
    let points = points.collect();
    let assumed = stats::BETWEEN_STARTS_SD / (fewest.max(1) as f64).sqrt();
    Replicates { points, between_sd: if restarted { 0.0 } else { assumed } }
}

/// Logarithms of the rounds of an arm, by filling and start.
type Nest = Vec<Vec<Vec<f64>>>;

/// The replicates of an arm: of the highest level if its servers were started often enough.
fn logs(nest: &Nest, restarted: bool) -> Vec<f64> {
    let highest = if restarted { variance::top_level_means(nest) } else { None };
    highest.unwrap_or_else(|| nest.concat().concat())
}
