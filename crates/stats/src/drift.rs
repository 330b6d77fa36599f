//! The drift of a rate over a long run: stable, or so many per cent per hour.
//!
//! ```text
//!   rate │ ·::··.:                    slots: neighbours resemble each other, so a regression over
//!        │    ·:.·::·.··              them would be far too sure of itself
//!        │  ■    ■    ■  ──           blocks: means of many slots; what is left of the resemblance
//!        │            ·:.··:■         is measured and widens the interval
//!        └───────────────────── t     ln(mean) = a + b·t;  drift = exp(b · 1 h) − 1
//! ```

use dbdyno_model::Interval;

use crate::confidence::{DECISION_ALPHA, SHOWN_CONFIDENCE};
use crate::correlation::{self, Correlation, FitBias, KEPT_LEAST};
use crate::error::StatsError;
use crate::student::Estimate;

/// A rate at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateAt {
    /// The middle of the slot, nanoseconds since any moment.
    pub at_ns: u64,
    /// Events per second, or any other unit.
    pub rate: f64,
}

/// What a rate does over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriftVerdict {
    /// Its drift is proved to be within the tolerance.
    Stable,
    /// It goes down.
    Declining,
    /// It goes up.
    Rising,
    /// The run is too short, or the rate too uneven, to tell.
    Undecided,
}

/// The drift of a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Change per hour as a share: −0.03 is a loss of 3 % in an hour. With 95 % confidence.
    pub per_hour: Interval,
    /// What it is called.
    pub verdict: DriftVerdict,
    /// Number of block means that were compared.
    pub blocks: u32,
    /// Correlation of neighbouring blocks beside the drift, corrected for its bias; the interval
    /// takes account of it, of a negative one down to −0.1.
    pub autocorrelation: f64,
}

/// More blocks would be shorter ones, whose means resemble each other more.
const BLOCKS_MOST: usize = 20;
const SLOTS_PER_BLOCK_LEAST: usize = 2;
/// From here on correlations below zero are taken for what they are.
const MANY_BLOCKS: usize = 16;
const HOUR_NS: f64 = 3.6e12;

/// The drift of `rates`, which are in the order of time; `tolerance_per_hour` is the drift that is
/// still called stable, as a share.
///
/// Assumes that the logarithm of the rate changes by the same amount every hour, and that what is
/// left of the block means is close to normal and resembles only its neighbour (autoregressive of
/// order 1). Under that assumption the interval goes by the measured correlation ρ: a block counts
/// as (1−ρ)/(1+ρ) of one, and of 16 blocks and more a negative ρ is believed down to −0.1. *Slots*
/// may resemble each other at will within a block. A periodic disturbance longer than a block (a
/// checkpoint each half hour in a run of an hour) is a drift to this function.
///
/// With fewer than three blocks' worth of information nothing bounds the drift.
///
/// # Errors
/// No rates, a rate that is not finite, a block whose mean is zero or negative, or a time that goes
/// backwards.
pub fn estimate_drift(rates: &[RateAt], tolerance_per_hour: f64) -> Result<Drift, StatsError> {
    let points = blocks(rates)?;
    let (slope, autocorrelation) = regress(&points);
    let (low, high) = slope.bounds(SHOWN_CONFIDENCE)?;
    let per_hour = Interval {
        estimate: share_of_log(slope.mean),
        low: share_of_log(low),
        high: share_of_log(high),
    };
    let (least, most) = slope.bounds(1.0 - DECISION_ALPHA)?;
    let verdict = if per_hour.low >= -tolerance_per_hour && per_hour.high <= tolerance_per_hour {
        DriftVerdict::Stable
    } else if most < 0.0 {
        DriftVerdict::Declining
    } else if least > 0.0 {
        DriftVerdict::Rising
    } else {
        DriftVerdict::Undecided
    };
    Ok(Drift { per_hour, verdict, blocks: points.len() as u32, autocorrelation })
}

fn share_of_log(log: f64) -> f64 {
    log.exp_m1()
}

/// A block: hours since the first slot, and the logarithm of its mean rate.
type Point = (f64, f64);

fn blocks(rates: &[RateAt]) -> Result<Vec<Point>, StatsError> {
    let first = rates.first().ok_or(StatsError::Empty)?.at_ns;
    for (index, slot) in rates.iter().enumerate() {
        if !slot.rate.is_finite() {
            return Err(StatsError::NotFinite { index, value: slot.rate });
        }
        if index > 0 && slot.at_ns <= rates[index - 1].at_ns {
            return Err(StatsError::NotInOrder { index });
        }
    }
    let count = (rates.len() / SLOTS_PER_BLOCK_LEAST).clamp(1, BLOCKS_MOST);
    let mut points = Vec::with_capacity(count);
    for block in 0..count {
        let slots = &rates[rates.len() * block / count..rates.len() * (block + 1) / count];
        let n = slots.len() as f64;
        let rate = slots.iter().map(|slot| slot.rate).sum::<f64>() / n;
        if rate <= 0.0 {
            return Err(StatsError::NotPositive { index: block, value: rate });
        }
        let hours = slots.iter().map(|slot| (slot.at_ns - first) as f64 / HOUR_NS).sum::<f64>() / n;
        points.push((hours, rate.ln()));
    }
    Ok(points)
}

/// Least squares: the slope with its uncertainty, and the correlation of neighbouring residuals.
fn regress(points: &[Point]) -> (Estimate, f64) {
    let n = points.len() as f64;
    let mean = |of: fn(&Point) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (time, level) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = points.iter().map(|point| (point.0 - time).powi(2)).sum();
    let product: f64 = points.iter().map(|point| (point.0 - time) * (point.1 - level)).sum();
    let nothing = Estimate { mean: 0.0, standard_error: 0.0, degrees: 0.0 };
    if points.len() < 3 || spread == 0.0 {
        return (nothing, 0.0);
    }
    let slope = product / spread;
    let left: Vec<f64> =
        points.iter().map(|point| point.1 - level - slope * (point.0 - time)).collect();
    let squares: f64 = left.iter().map(|residual| residual.powi(2)).sum();
    let correlation = autocorrelation(&left);
    // Of few blocks a negative one is chance.
    let believed = if points.len() < MANY_BLOCKS { correlation.max(0.0) } else { correlation };
    let degrees = n / correlation::variance_inflation(believed) - 2.0;
    if degrees <= 0.0 {
        return (Estimate { mean: slope, ..nothing }, correlation);
    }
    let standard_error = (squares / degrees / spread).sqrt();
    // Values that alternate make a mean surer, but their variance is known no better.
    (Estimate { mean: slope, standard_error, degrees: degrees.min(n - 2.0) }, correlation)
}

/// The correlation of neighbours. Residuals of a line look less correlated than they are, by about
/// (2 + 4ρ)/n (Kendall 1954, with a trend taken out).
fn autocorrelation(left: &[f64]) -> f64 {
    // Fewer tell nothing; and residuals of equal rates are rounding, not noise.
    const LEAST: usize = 5;
    const ROUNDING: f64 = 1e-24;
    if left.len() < LEAST {
        0.0
    } else {
        Correlation::from_residuals(left, FitBias { fixed: 2.0, by_phi: 4.0 }, KEPT_LEAST, ROUNDING)
            .phi
    }
}
