//! Curves through the logarithms of what both arms did, and how sure their parameters are.
//!
//! ```text
//!   pairs ──means──► one logarithm a point ──least squares──► parameters ──► contrast
//!     │                                                                       ▲
//!     └── what each pair adds to the contrast, by its gradient ── variance ───┘
//! ```
//!
//! Noise of rates and costs is a percentage, so logarithms have equal weights. A fitted parameter
//! is nearly linear in the means where noise is a few per cent; its variance is then the sum over
//! points of the variance of what the pairs of that point add to it (the infinitesimal jackknife;
//! Efron, *The Jackknife, the Bootstrap and Other Resampling Plans*, 1982, ch. 6). Both rounds of a
//! pair are in one such addend, so that what they share cancels out of differences. Each point has
//! a variance of its own; degrees of freedom are those of Satterthwaite (1946).

use dbdyno_model::{Arm, PerArm};

use crate::error::StatsError;
use crate::student::{Estimate, Moments};

/// What was measured at one place of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct PointLogs {
    /// The place: a number of clients, or of rows.
    pub at: f64,
    /// Of each pair of rounds (or start of the servers) the logarithms of both arms' figures.
    pub pairs: Vec<PerArm<f64>>,
}

/// How a contrast changes with the mean logarithm of each arm at each point.
pub(crate) type Gradient = Vec<PerArm<f64>>;

/// The logarithm of a curve at a place with its derivatives; `None` outside of its domain.
pub(crate) type Model<const P: usize> = fn(&[f64; P], f64) -> Option<(f64, [f64; P])>;

/// A curve through points.
#[derive(Clone, Debug)]
pub(crate) struct Solution<const P: usize> {
    pub theta: [f64; P],
    /// Sum of squared residuals.
    pub squares: f64,
    /// Of each point what its logarithm adds to each parameter.
    pub influence: Vec<[f64; P]>,
    /// Logarithm less curve, for each point.
    pub residuals: Vec<f64>,
}

/// Checked points with the means of both arms.
pub(crate) struct Means {
    pub at: Vec<f64>,
    pub logs: PerArm<Vec<f64>>,
}

impl Means {
    pub(crate) fn from_points(points: &[PointLogs]) -> Result<Means, StatsError> {
        let of_arm = |arm| points.iter().map(|point| mean_log(point, arm)).collect();
        Ok(Means {
            at: points.iter().map(|point| point.at).collect(),
            logs: PerArm::try_from_fn(of_arm)?,
        })
    }
}

fn mean_log(point: &PointLogs, arm: Arm) -> Result<f64, StatsError> {
    let logs: Vec<f64> = point.pairs.iter().map(|pair| pair[arm]).collect();
    Moments::of_logs(&logs).map(|moments| moments.mean)
}

/// A contrast that has this value and gradient. `known_sd` is the standard deviation of an error in
/// the log-ratio of the arms that the pairs do not show (see [`crate::judge_starts`]); whether it
/// is the same at all points nobody knows, so the worse of the two counts.
pub(crate) fn estimate_contrast(
    points: &[PointLogs],
    value: f64,
    gradient: &Gradient,
    known_sd: f64,
) -> Estimate {
    let (mut variance, mut share_of_squares, mut is_known) = (0.0, 0.0, true);
    for (point, slope) in points.iter().zip(gradient) {
        let n = point.pairs.len() as f64;
        if n < 2.0 {
            is_known = false;
            continue;
        }
        let addend = |pair: &PerArm<f64>| slope.base * pair.base + slope.test * pair.test;
        let mean = point.pairs.iter().map(addend).sum::<f64>() / n;
        let squares: f64 = point.pairs.iter().map(|pair| (addend(pair) - mean).powi(2)).sum();
        let part = squares / (n - 1.0) / n;
        variance += part;
        share_of_squares += part * part / (n - 1.0);
    }
    if !is_known || !value.is_finite() {
        return Estimate { mean: value, standard_error: 0.0, degrees: 0.0 };
    }
    let ratio_slopes = || gradient.iter().map(|slope| (slope.test - slope.base) / 2.0);
    let common = ratio_slopes().sum::<f64>().powi(2);
    let apart: f64 = ratio_slopes().map(|slope| slope * slope).sum();
    let total = variance + known_sd * known_sd * common.max(apart);
    // Without any spread the pairs are exact, and only the known error is left.
    let degrees = if share_of_squares > 0.0 {
        total * total / share_of_squares
    } else {
        points.iter().map(|point| point.pairs.len() as f64 - 1.0).sum()
    };
    Estimate { mean: value, standard_error: total.sqrt(), degrees }
}

/// Least squares on logarithms: Gauss–Newton steps, halved until they help. Parameters that are not
/// `free` keep their start. `None` where the start lies outside of the model's domain, or the
/// points do not tell the parameters apart.
pub(crate) fn least_squares<const P: usize>(
    model: Model<P>,
    at: &[f64],
    logs: &[f64],
    start: [f64; P],
    free: [bool; P],
) -> Option<Solution<P>> {
    const STEPS_MOST: usize = 60;
    const HALVINGS_MOST: usize = 30;
    let mut theta = start;
    let (mut residuals, mut jacobian) = linearised(model, at, logs, &theta)?;
    let mut squares = sum_of_squares(&residuals);
    for _ in 0..STEPS_MOST {
        let step = project(&influence(&jacobian, free)?, &residuals);
        let mut is_better = false;
        let mut share = 1.0;
        for _ in 0..HALVINGS_MOST {
            let mut next = theta;
            next.iter_mut().zip(step).for_each(|(value, step)| *value += share * step);
            if let Some((left, slopes)) = linearised(model, at, logs, &next) {
                let now = sum_of_squares(&left);
                if now < squares {
                    is_better = squares - now > 1e-14 * squares;
                    (theta, residuals, jacobian, squares) = (next, left, slopes, now);
                    break;
                }
            }
            share /= 2.0;
        }
        if !is_better {
            break;
        }
    }
    let influence = influence(&jacobian, free)?;
    Some(Solution { theta, squares, influence, residuals })
}

/// The best of the fits in which parameters that must not be negative are free or 0: with two such
/// parameters, all of their active sets are tried.
pub(crate) fn least_squares_at_least_zero<const P: usize>(
    model: Model<P>,
    at: &[f64],
    logs: &[f64],
    start: impl Fn([bool; P]) -> Option<[f64; P]>,
    bounded: [usize; 2],
) -> Option<Solution<P>> {
    let sets = [[true, true], [true, false], [false, true], [false, false]];
    let mut best = None::<Solution<P>>;
    for set in sets {
        let mut free = [true; P];
        bounded.into_iter().zip(set).for_each(|(index, is_free)| free[index] = is_free);
        let Some(mut from) = start(free) else { continue };
        for (index, is_free) in bounded.into_iter().zip(set) {
            from[index] = if is_free { from[index].max(0.0) } else { 0.0 };
        }
        let Some(found) = least_squares(model, at, logs, from, free) else { continue };
        let is_allowed = bounded.into_iter().all(|index| found.theta[index] >= 0.0);
        if is_allowed && best.as_ref().is_none_or(|best| found.squares < best.squares) {
            best = Some(found);
            // Nothing that is bound more tightly lies closer.
            if set == [true, true] {
                break;
            }
        }
    }
    best
}

/// Linear least squares of ones on `columns`: those parameters of which the columns' sum is nearest
/// to 1 in all rows. Parameters that are not free are 0.
pub(crate) fn nearest_to_one<const P: usize>(
    columns: &[[f64; P]],
    free: [bool; P],
) -> Option<[f64; P]> {
    Some(project(&influence(columns, free)?, &vec![1.0; columns.len()]))
}

fn linearised<const P: usize>(
    model: Model<P>,
    at: &[f64],
    logs: &[f64],
    theta: &[f64; P],
) -> Option<(Vec<f64>, Vec<[f64; P]>)> {
    let mut residuals = Vec::with_capacity(at.len());
    let mut jacobian = Vec::with_capacity(at.len());
    for (&place, &log) in at.iter().zip(logs) {
        let (value, slopes) = model(theta, place)?;
        residuals.push(log - value);
        jacobian.push(slopes);
    }
    Some((residuals, jacobian))
}

fn sum_of_squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

fn project<const P: usize>(influence: &[[f64; P]], values: &[f64]) -> [f64; P] {
    let mut sum = [0.0; P];
    for (share, value) in influence.iter().zip(values) {
        sum.iter_mut().zip(share).for_each(|(sum, share)| *sum += share * value);
    }
    sum
}

/// `(JᵀJ)⁻¹Jᵀ` for the free columns of J, 0 for the others.
fn influence<const P: usize>(jacobian: &[[f64; P]], free: [bool; P]) -> Option<Vec<[f64; P]>> {
    let mut scale = [1.0; P];
    for (column, scale) in scale.iter_mut().enumerate() {
        let length = jacobian.iter().map(|row| row[column].powi(2)).sum::<f64>().sqrt();
        if free[column] && !(length > 0.0 && length.is_finite()) {
            return None;
        }
        *scale = if free[column] { 1.0 / length } else { 0.0 };
    }
    // Columns of length 1 keep the normal equations well-conditioned; a held parameter's are those
    // of the unit matrix.
    let mut normal = [[0.0; P]; P];
    for (row, line) in normal.iter_mut().enumerate() {
        for (column, sum) in line.iter_mut().enumerate() {
            let products = jacobian.iter().map(|slopes| slopes[row] * slopes[column]);
            *sum = products.sum::<f64>() * scale[row] * scale[column];
            if row == column && !free[row] {
                *sum = 1.0;
            }
        }
    }
    let inverse = inverse(normal)?;
    let of_point = |slopes: &[f64; P]| {
        let mut share = [0.0; P];
        for (row, share) in share.iter_mut().enumerate() {
            let products =
                (0..P).map(|column| inverse[row][column] * slopes[column] * scale[column]);
            *share = products.sum::<f64>() * scale[row];
        }
        share
    };
    Some(jacobian.iter().map(of_point).collect())
}

/// Gauss–Jordan with pivots on the diagonal's largest; `None` for a matrix that is nearly singular.
fn inverse<const P: usize>(mut matrix: [[f64; P]; P]) -> Option<[[f64; P]; P]> {
    const SINGULAR: f64 = 1e-13;
    let mut inverse = [[0.0; P]; P];
    (0..P).for_each(|index| inverse[index][index] = 1.0);
    for column in 0..P {
        let largest =
            |a: &usize, b: &usize| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs());
        let pivot = (column..P).max_by(largest)?;
        if matrix[pivot][column].abs() < SINGULAR {
            return None;
        }
        matrix.swap(column, pivot);
        inverse.swap(column, pivot);
        let divisor = matrix[column][column];
        for index in 0..P {
            matrix[column][index] /= divisor;
            inverse[column][index] /= divisor;
        }
        for row in (0..P).filter(|row| *row != column) {
            let times = matrix[row][column];
            for index in 0..P {
                matrix[row][index] -= times * matrix[column][index];
                inverse[row][index] -= times * inverse[column][index];
            }
        }
    }
    Some(inverse)
}

/// The gradient of something that depends on one arm's parameters alone, with these derivatives.
pub(crate) fn of_arm<const P: usize>(
    solution: &Solution<P>,
    arm: Arm,
    slopes: [f64; P],
) -> Gradient {
    let share = |influence: &[f64; P]| -> f64 {
        influence.iter().zip(slopes).map(|(share, slope)| share * slope).sum()
    };
    solution
        .influence
        .iter()
        .map(|influence| {
            let mut both = PerArm { base: 0.0, test: 0.0 };
            both[arm] = share(influence);
            both
        })
        .collect()
}

/// The sum of two gradients, the second one taken `times`.
pub(crate) fn add_scaled(first: &Gradient, second: &Gradient, times: f64) -> Gradient {
    first.iter().zip(second).map(|(a, b)| PerArm::from_fn(|arm| a[arm] + times * b[arm])).collect()
}

/// The residual of each point of an arm, as a contrast: what a point is off the curve, beyond what
/// the curve followed it.
pub(crate) fn residuals<const P: usize>(
    points: &[PointLogs],
    solution: &Solution<P>,
    model: Model<P>,
    arm: Arm,
) -> Vec<Estimate> {
    points
        .iter()
        .enumerate()
        .map(|(index, point)| {
            let slopes = model(&solution.theta, point.at).map_or([0.0; P], |(_, slopes)| slopes);
            let mut gradient = of_arm(solution, arm, slopes.map(|slope| -slope));
            gradient[index][arm] += 1.0;
            estimate_contrast(points, solution.residuals[index], &gradient, 0.0)
        })
        .collect()
}
