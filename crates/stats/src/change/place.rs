//! Where a change is, give or take.
//!
//! ```text
//!   what a step       ╱╲                 the best place explains more than the true one, where
//!   explains        ╱    ╲╱╲             noise next to the step looks like the other level
//!   at each place ╱         ╲            best − what that makes in 95 of 100 series: may be it
//!              ──┴──┴─────┴──┴───▶
//! ```
//!
//! *How much more* is simulated: series with the step that was found, and noise that is drawn from
//! its own residuals (Antoch, Hušková and Veraverbeke, "Change-point problem and bootstrap",
//! Journal of Nonparametric Statistics 5, 1995, for independent noise). So a heavy tail or a spike
//! that could pass for the other level widens the stretch as much as it does in this series. In the
//! limit of small steps in normal noise the chance of a loss of x in log-likelihood to one side is
//! e⁻ˣ (Siegmund 1988); that holds too many places for larger steps, and too few for skewed noise.
//!
//! *Correlated noise:* each residual remembers the one before it by φ, give or take its standard
//! error and at least 0, and the rest is drawn. The rest of skewed noise is not as skewed, so that
//! its places are a little too sure.
//!
//! *A step that was barely found* is smaller than it looks (`change::selection`), and small steps
//! are moved farther by noise. So the simulated step has the size that is in the middle, given that
//! it was found.
//!
//! *A place is a whole number.* Where the best place alone is right more often than 95 %, as with
//! steps of four standard deviations, nothing that holds it is right less often.

use std::ops::Range;

use dbdyno_model::random::{self, RandomStream};

use super::scores::{Best, LEVEL_LEAST, Scan, draw_normal};
use crate::confidence::SHOWN_CONFIDENCE;
use crate::correlation::{self, Correlation};
use crate::median::median_or_nan;

/// What lies farther from both levels is brought as near as this.
const DEVIATIONS_MOST: f64 = 3.0;
/// How much stronger the correlation is taken than it looks: `change` has the reason.
const WARY: f64 = 100.0;
/// Series that are simulated.
const DRAWS: usize = 1_000;
/// Squares that differ by less, in units of the variance of all values, differ by rounding.
const ROUNDING: f64 = 1e-9;

/// The values with what lies far beyond both levels brought near: for finding a place, ranks know
/// too little of a clear step, and values too much of a spike.
pub(crate) fn clamp_outliers(values: &[f64], first: usize) -> Vec<f64> {
    let bounds = Bounds::of(values, first);
    values.iter().map(|&value| bounds.tame(value)).collect()
}

/// How large the step at `first` is, in standard deviations of what it leaves.
pub(crate) fn step_size(values: &[f64], first: usize) -> f64 {
    let scan = Scan::of_length(values.len());
    let statistic = scan.step_statistics(&clamp_outliers(values, first))[first];
    scan.size(&Best { statistic, from: first, to: values.len() })
}

/// The places at which a step explains nearly as much as at the best one; `first` is about the best
/// one. All are indices into `values`, whose neighbours have this `correlation`. The step is taken
/// as this `share` of what is seen. `seed` is that of the draws.
pub(crate) fn place_range(
    values: &[f64],
    first: usize,
    correlation: Correlation,
    share: f64,
    seed: u64,
) -> (usize, usize) {
    let n = values.len();
    let scan = Scan::of_length(n);
    let fit = Fit::of(&scan, &clamp_outliers(values, first));
    let correlation = correlation.with_wariness(WARY);
    let loss_most = Series::like(values, first, correlation, share).loss_most(&scan, seed);
    let least = fit.best - loss_most * fit.left() - ROUNDING;
    let is_near = |&place: &usize| fit.squares[place] >= least;
    let room = room(n);
    let earliest = room.clone().find(is_near).unwrap_or(LEVEL_LEAST);
    let latest = room.rev().find(is_near).unwrap_or(n - LEVEL_LEAST);
    (earliest, latest)
}

/// Two levels, and how far beyond them values are believed.
struct Bounds {
    low: f64,
    high: f64,
}

impl Bounds {
    fn of(values: &[f64], first: usize) -> Bounds {
        let levels = [median_or_nan(&values[..first]), median_or_nan(&values[first..])];
        let distances: Vec<f64> = values
            .iter()
            .enumerate()
            .map(|(at, value)| (value - levels[usize::from(at >= first)]).abs())
            .collect();
        let room = DEVIATIONS_MOST * 1.4826 * median_or_nan(&distances);
        Bounds { low: levels[0].min(levels[1]) - room, high: levels[0].max(levels[1]) + room }
    }

    fn tame(&self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }
}

/// Where a step can be.
fn room(n: usize) -> Range<usize> {
    LEVEL_LEAST..n + 1 - LEVEL_LEAST
}

/// What a step explains at each place, in units of the variance of all values.
struct Fit {
    squares: Vec<f64>,
    /// At the best place.
    best: f64,
}

impl Fit {
    fn of(scan: &Scan, values: &[f64]) -> Fit {
        let squares: Vec<f64> =
            scan.step_statistics(values).iter().map(|statistic| statistic * statistic).collect();
        let best = squares[room(values.len())].iter().copied().fold(0.0, f64::max);
        Fit { squares, best }
    }

    /// What the best step leaves.
    fn left(&self) -> f64 {
        (self.squares.len() as f64 - self.best).max(0.0)
    }
}

/// Series with a step as large as the one that was found, and with noise of the same kind.
struct Series {
    bounds: Bounds,
    /// Before and after the step.
    means: [f64; 2],
    first: usize,
    residuals: Vec<f64>,
    correlation: Correlation,
}

impl Series {
    fn like(values: &[f64], first: usize, correlation: Correlation, share: f64) -> Series {
        let bounds = Bounds::of(values, first);
        let mean = |part: &[f64]| {
            part.iter().map(|&value| bounds.tame(value)).sum::<f64>() / part.len() as f64
        };
        let means = [mean(&values[..first]), mean(&values[first..])];
        let n = values.len() as f64;
        // The two means, and the choice of the place, took so much of the noise.
        let taken = (3.0 * correlation::variance_inflation(correlation.phi)).min(n / 2.0);
        let widen = (n / (n - taken)).sqrt();
        let residual =
            |(at, value): (usize, &f64)| widen * (value - means[usize::from(at >= first)]);
        let residuals = values.iter().enumerate().map(residual).collect();
        let half_missing = (1.0 - share) * (means[1] - means[0]) / 2.0;
        let means = [means[0] + half_missing, means[1] - half_missing];
        Series { bounds, means, first, residuals, correlation }
    }

    /// What the best place explains more than the true one, as a share of what it leaves; more only
    /// as often as the confidence that is shown allows.
    fn loss_most(&self, scan: &Scan, seed: u64) -> f64 {
        let mut stream =
            random::stream(&[seed, random::key_of("place"), self.residuals.len() as u64]);
        let mut values = vec![0.0; self.residuals.len()];
        let mut loss = |_| {
            self.draw(&mut stream, &mut values);
            let fit = Fit::of(scan, &values);
            let loss = fit.best - fit.squares[self.first];
            if loss <= ROUNDING { 0.0 } else { loss / fit.left().max(ROUNDING) }
        };
        let mut losses: Vec<f64> = (0..DRAWS).map(&mut loss).collect();
        losses.sort_by(f64::total_cmp);
        losses[(DRAWS as f64 * SHOWN_CONFIDENCE).ceil() as usize - 1]
    }

    fn draw(&self, stream: &mut RandomStream, values: &mut [f64]) {
        let any = |stream: &mut RandomStream| {
            self.residuals[stream.next_below(self.residuals.len() as u64) as usize]
        };
        let phi = self.correlation.draw_plausible(draw_normal(stream));
        let mut residual = any(stream);
        for (at, value) in values.iter_mut().enumerate() {
            *value = self.bounds.tame(self.means[usize::from(at >= self.first)] + residual);
            residual = phi * residual + (1.0 - phi * phi).sqrt() * any(stream);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Correlation = Correlation { phi: 0.0, standard_error: 0.0 };

    #[test]
    fn a_clear_step_has_one_place_and_a_blurred_one_several() {
        let step: Vec<f64> =
            (0..20).map(|at| f64::from(at / 10) + 0.01 * f64::from(at % 3)).collect();
        assert_eq!(place_range(&step, 10, NOTHING, 1.0, 1), (10, 10));
        let noise = [0.3, -0.8, 0.1, 0.9, -0.4, 0.2, -1.1, 0.6];
        let blurred: Vec<f64> =
            (0..40).map(|at| f64::from(u8::from(at >= 20)) + noise[at % 8]).collect();
        let (earliest, latest) = place_range(&blurred, 20, NOTHING, 1.0, 1);
        assert!(earliest < 20 && latest > 20, "{earliest} {latest}");
        // The step may be half as large as it looks, and then noise moves it farther.
        let (far_before, far_after) = place_range(&blurred, 20, NOTHING, 0.5, 1);
        assert!(far_before < earliest && far_after > latest, "{far_before} {far_after}");
    }

    #[test]
    fn a_step_without_noise_has_one_place() {
        let exact: Vec<f64> = (0..25).map(|at| if at < 11 { 0.1 } else { 0.3 }).collect();
        assert_eq!(place_range(&exact, 11, NOTHING, 1.0, 1), (11, 11));
    }

    /// Two places are equally good, and no rounding chooses between them.
    #[test]
    fn a_value_between_the_levels_belongs_to_either() {
        for (low, high) in [(100.0, 400.0), (100.1, 100.3)] {
            let ends = [f64::ln(low), f64::ln(high)];
            let mut values = [[ends[0]; 20], [ends[1]; 20]].concat();
            values.insert(20, f64::midpoint(ends[0], ends[1]));
            assert_eq!(place_range(&values, 20, NOTHING, 1.0, 1), (20, 21), "{low}");
            values.reverse();
            assert_eq!(place_range(&values, 20, NOTHING, 1.0, 1), (20, 21), "{low}");
        }
    }

    /// exp(Z) with a step of two of its standard deviations: that tail passes for the other level.
    #[test]
    fn skewed_noise_has_its_places_as_often_as_is_said() {
        const SERIES: u64 = 200;
        let holds = |seed: u64| {
            let mut stream = random::stream(&[random::key_of("skewed"), seed]);
            let level = |at: usize| if at >= 25 { -4.3 } else { 0.0 };
            let values: Vec<f64> =
                (0..50).map(|at| level(at) - draw_normal(&mut stream).exp()).collect();
            let best = Scan::of_length(50).best_step(&clamp_outliers(&values, 25)).from;
            let (earliest, latest) = place_range(&values, best, NOTHING, 1.0, 1);
            (earliest..=latest).contains(&25)
        };
        let held = (0..SERIES).filter(|&seed| holds(seed)).count();
        assert!((180..=197).contains(&held), "{held} of {SERIES}");
    }
}
