//! From pairs within starts within fillings to the values that are judged, and their interval.
//!
//! ```text
//!   filling 0 ─┬─ start 0 ─ · · · · ─► value ─┐
//!              └─ start 1 ─ · · · · ─► value ─┴─ mean ─► value ─┐
//!   filling 1 ─┬─ start 2 ─ · · · · ─► value ─┐                 ├─► interval
//!              └─ start 3 ─ · · · · ─► value ─┴─ mean ─► value ─┘
//! ```
//!
//! The replicates are the values of the highest level that was repeated at least [`MIN_PAIRS`]
//! times: what is below is averaged away, what is above was not measured. A start's value is the
//! mean of its pairs or their Hodges–Lehmann estimate; which one, and which interval goes around
//! the replicates, is what `--interval` asks for, or the tails decide (see `tails`).

use dbdyno_model::{Basis, ExperimentLevel, IntervalChoice, IntervalKind};

use crate::bootstrap::{BCA_MIN, ResampledMeans};
use crate::confidence::SHOWN_CONFIDENCE;
use crate::error::StatsError;
use crate::power::MIN_PAIRS;
use crate::rank::{self, SignedRanks};
use crate::student::{Estimate, Moments, quantile};
use crate::tails::Tails;

/// Fillings, of starts, of pairs: one `ln(test ÷ base)` each, in the order of measuring.
pub type Nest = [Vec<Vec<f64>>];

/// From so many pairs on their Hodges–Lehmann estimate has an interval that can decide.
const ROBUST_PAIRS_MIN: usize = 8;

/// An estimate that something surrounds.
pub(crate) enum LocationEstimate {
    /// Student's t.
    T(Estimate),
    /// The order of the values.
    Ranks(SignedRanks),
    /// Means of resamples, and the known error beside theirs.
    Resamples(ResampledMeans, f64),
}

impl LocationEstimate {
    pub(crate) fn point_estimate(&self) -> f64 {
        match self {
            LocationEstimate::T(estimate) => estimate.mean,
            LocationEstimate::Ranks(ranked) => ranked.median_estimate(),
            LocationEstimate::Resamples(resampled, _) => resampled.mean,
        }
    }

    pub(crate) fn bounds(&self, confidence: f64) -> Result<(f64, f64), StatsError> {
        match self {
            LocationEstimate::T(estimate) => estimate.bounds(confidence),
            LocationEstimate::Ranks(ranked) => ranked.bounds(confidence),
            LocationEstimate::Resamples(resampled, known) => resampled.bounds(confidence, *known),
        }
    }

    pub(crate) fn p_value(&self) -> f64 {
        match self {
            LocationEstimate::T(estimate) => estimate.p_value(),
            LocationEstimate::Ranks(ranked) => ranked.p_value(),
            LocationEstimate::Resamples(resampled, known) => resampled.p_value(*known),
        }
    }
}

/// What is judged.
pub(crate) struct Replicates {
    /// Their interval.
    pub(crate) located: LocationEstimate,
    /// Their number, mean and spread; of pairs with a known error beside, without that.
    pub(crate) moments: Moments,
    /// How sure the mean is, as Student's t would have it: for what further ones would bring.
    pub(crate) estimate: Estimate,
    /// The known error beside, which further ones do not lessen.
    pub(crate) known_sd: f64,
    /// What they are, and why so.
    pub(crate) basis: Basis,
}

/// The replicates of a cell. `alpha` is the level at which it is decided: an interval that does not
/// exist there is not chosen.
pub(crate) fn cell_replicates(
    nest: &Nest,
    between_sd: f64,
    choice: IntervalChoice,
    seed: u64,
    alpha: f64,
) -> Result<Replicates, StatsError> {
    let fillings: Vec<Vec<&[f64]>> = nest
        .iter()
        .map(|starts| starts.iter().map(Vec::as_slice).filter(|start| !start.is_empty()).collect())
        .filter(|starts: &Vec<&[f64]>| !starts.is_empty())
        .collect();
    let starts = fillings.concat();
    let level = match (are_enough(fillings.len()), are_enough(starts.len())) {
        (true, _) => ExperimentLevel::Filling,
        (false, true) => ExperimentLevel::Start,
        (false, false) => ExperimentLevel::Pair,
    };
    let count = match level {
        ExperimentLevel::Filling => fillings.len(),
        ExperimentLevel::Start => starts.len(),
        ExperimentLevel::Pair => starts.iter().map(|start| start.len()).sum(),
    };
    let known = match level {
        ExperimentLevel::Pair => between_sd / (starts.len().max(1) as f64).sqrt(),
        ExperimentLevel::Start | ExperimentLevel::Filling => 0.0,
    };
    let figures = |interval| -> Result<(Vec<f64>, Moments, Estimate), StatsError> {
        let values: Vec<f64> = match level {
            ExperimentLevel::Filling => {
                fillings.iter().map(|starts| mean_of(starts, interval)).collect()
            }
            ExperimentLevel::Start => {
                starts.iter().map(|start| value_of(start, interval)).collect()
            }
            ExperimentLevel::Pair => starts.concat(),
        };
        let moments = Moments::of_logs(&values)?;
        let estimate = widened(estimate_of(&values, &moments, level, interval)?, known);
        Ok((values, moments, estimate))
    };
    let (mut interval, mut why) = chosen(choice, level, count, known, &starts, alpha);
    if choice == IntervalChoice::Auto && interval == IntervalKind::Robust {
        let (low, high) = figures(interval)?.2.bounds(SHOWN_CONFIDENCE)?;
        let done = figures(IntervalKind::T)?.2.mean;
        if !(low..=high).contains(&done) {
            interval = IntervalKind::T;
            why.push_str(
                ", but what was done in all lies outside of the robust interval: they count",
            );
        }
    }
    let (values, moments, estimate) = figures(interval)?;
    let located = match interval {
        IntervalKind::Bca => {
            LocationEstimate::Resamples(ResampledMeans::from_values(&values, seed)?, known)
        }
        IntervalKind::HodgesLehmann => LocationEstimate::Ranks(SignedRanks::one_sample(&values)),
        _ => LocationEstimate::T(estimate),
    };
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let basis = Basis { interval, replicates: level, count, why };
    Ok(Replicates { located, moments, estimate, known_sd: known, basis })
}

fn are_enough(count: usize) -> bool {
    count >= MIN_PAIRS as usize
}

/// Which interval, and why. `known` is an error beside that of the replicates.
fn chosen(
    choice: IntervalChoice,
    level: ExperimentLevel,
    count: usize,
    known: f64,
    starts: &[&[f64]],
    alpha: f64,
) -> (IntervalKind, String) {
    match choice {
        IntervalChoice::Auto => by_tails(starts),
        IntervalChoice::Given(kind) => {
            let too_few = match kind {
                IntervalKind::HodgesLehmann => !rank::has_signed(count, 1.0 - alpha),
                IntervalKind::Robust => level == ExperimentLevel::Pair && count < ROBUST_PAIRS_MIN,
                IntervalKind::Bca => count < BCA_MIN,
                IntervalKind::T
                | IntervalKind::Sequence
                | IntervalKind::Welch
                | IntervalKind::Fieller => false,
            };
            let name = kind.name();
            if too_few {
                let why =
                    format!("{name} was asked for, but {count} replicates are too few for it");
                (IntervalKind::T, why)
            } else if kind == IntervalKind::HodgesLehmann && known > 0.0 {
                // The estimate of the ranks, with the standard error that they give it, is what
                // such a spread can be added to.
                let why =
                    format!("{name} was asked for, but the assumed spread of starts has no ranks");
                (IntervalKind::Robust, why)
            } else {
                (kind, "asked for".to_owned())
            }
        }
    }
}

fn by_tails(starts: &[&[f64]]) -> (IntervalKind, String) {
    let Some(tails) = Tails::from_starts(starts) else {
        return (
            IntervalKind::T,
            "too few pairs in a start to tell how heavy their tails are".into(),
        );
    };
    let weight = tails.weight;
    if !tails.are_heavy() {
        return (IntervalKind::T, format!("the tails of the pairs are light ({weight:.2})"));
    }
    if tails.are_one_sided() {
        let (below, above) = tails.far;
        let why = format!(
            "the tails of the pairs are heavy ({weight:.2}), but on one side ({below} pairs far \
             below, {above} far above): that may be due to the server, and is kept"
        );
        return (IntervalKind::T, why);
    }
    (IntervalKind::Robust, format!("the tails of the pairs are heavy on both sides ({weight:.2})"))
}

/// What stands for a start.
pub(crate) fn value_of(start: &[f64], interval: IntervalKind) -> f64 {
    match interval {
        IntervalKind::Robust | IntervalKind::HodgesLehmann => rank::hodges_lehmann(start),
        _ => start.iter().sum::<f64>() / start.len() as f64,
    }
}

fn mean_of(starts: &[&[f64]], interval: IntervalKind) -> f64 {
    starts.iter().map(|start| value_of(start, interval)).sum::<f64>() / starts.len() as f64
}

/// Pairs whose middle is judged have the standard error that their signed ranks give it.
fn estimate_of(
    values: &[f64],
    moments: &Moments,
    level: ExperimentLevel,
    interval: IntervalKind,
) -> Result<Estimate, StatsError> {
    let mean = moments.mean_estimate();
    let is_middle = matches!(interval, IntervalKind::Robust | IntervalKind::HodgesLehmann);
    if level != ExperimentLevel::Pair || !is_middle || values.len() < ROBUST_PAIRS_MIN {
        return Ok(mean);
    }
    let ranked = SignedRanks::one_sample(values);
    let (low, high) = ranked.bounds(SHOWN_CONFIDENCE)?;
    let t = quantile(0.5 + SHOWN_CONFIDENCE / 2.0, mean.degrees);
    Ok(Estimate {
        mean: ranked.median_estimate(),
        standard_error: (high - low) / (2.0 * t),
        ..mean
    })
}

/// The sum of two independent errors, the second of which is known. Degrees of freedom by Welch and
/// Satterthwaite.
fn widened(estimate: Estimate, known_error: f64) -> Estimate {
    let standard_error = estimate.standard_error.hypot(known_error);
    if estimate.standard_error == 0.0 || estimate.degrees <= 0.0 {
        return Estimate { standard_error, ..estimate };
    }
    let share = (standard_error / estimate.standard_error).powi(4);
    Estimate { standard_error, degrees: estimate.degrees * share, ..estimate }
}
