//! What is no step: a level that slides, and two levels side by side.
//!
//! ```text
//!   slide  ....·····:::::''''''      a line explains it better than the steps it was cut into
//!   modes  ::'.':.':'.::'.'::.'      two levels, and values jump to and fro
//! ```
//!
//! Both are compared by the Bayesian information criterion, n·ln(loss) + parameters·ln n, and need
//! a margin to be named. For slides the loss of a value is its squared distance, at most that of
//! three standard deviations, so that a spike costs both the same; lines are those of Theil and
//! Sen.

use dbdyno_model::{Modes, Slide};

use super::knee;
use super::size::{around_levels, median, told};
use super::tree::Node;
use super::trend::{self, VALUES_LEAST};
use dbdyno_model::ChangeScale;

/// A line has to be so much better than steps.
const LINE_MARGIN: f64 = 6.0;
/// Two levels have to be so much better than one.
const MODES_MARGIN: f64 = 10.0;
/// Fewer values do not show two levels.
const MODES_VALUES_LEAST: usize = 20;
/// The smaller mode has at least this share: a few spikes are no mode.
const MODE_SHARE_LEAST: f64 = 0.15;
/// Levels that follow each other are no modes: values go from one to the other and back, and that
/// more than once.
const CROSSINGS_LEAST: usize = 4;
/// Distance of modes in standard deviations of one of them (Ashman, Bird and Zepf 1994 ask for 2;
/// unimodal noise with heavy tails still passes that).
const APART_LEAST: f64 = 3.0;

/// Takes stretches that slide out of the tree, the largest first; where nothing was cut, a stretch
/// may slide as a whole or in parts.
pub(crate) fn slides(
    values: &[f64],
    node: &mut Node,
    scale: ChangeScale,
    seed: u64,
    found: &mut Vec<Slide>,
) {
    let stretch = &values[node.from..node.to];
    let parts = if node.cuts.is_empty() {
        stretches(stretch, node.slide_alpha(), seed)
    } else {
        better_lines(stretch, node)
    };
    for &(from, to) in &parts {
        let size = told(theil_sen(&stretch[from..to]) * (to - from - 1) as f64, scale);
        found.push(Slide { from: node.from + from, to: node.from + to, size });
    }
    if !parts.is_empty() {
        node.cuts.clear();
        node.parts.clear();
    }
    for part in &mut node.parts {
        slides(values, part, scale, seed, found);
    }
}

/// The stretches of `values` that slide, first and one past the last: the parts around a knee, or
/// all of them, or stretches within one half. For a decision at `alpha`, of which each question has
/// a third.
///
/// The knee is asked for first: a level that fell for 80 runs and rose for 20 slides from end to
/// end as well, and the other way. One that turns more than once has its knees in the parts.
fn stretches(values: &[f64], alpha: f64, seed: u64) -> Vec<(usize, usize)> {
    let n = values.len();
    if n < VALUES_LEAST {
        return Vec::new();
    }
    let Some(knee) = knee::find(values, alpha / 3.0, seed) else {
        if trend::is_found(values, alpha / 3.0, seed) {
            return vec![(0, n)];
        }
        let halves = [(0, n / 2), (n.div_ceil(2), n)];
        return halves.into_iter().flat_map(|half| within(values, half, alpha, seed)).collect();
    };
    let parts = [(knee.slides_before, (0, knee.first)), (knee.slides_after, (knee.first, n))];
    let mut found = Vec::new();
    for (slides, part) in parts {
        let inner = within(values, part, alpha, seed);
        found.extend(if inner.is_empty() && slides { vec![part] } else { inner });
    }
    found
}

/// The stretches that slide within one of two parts.
fn within(values: &[f64], part: (usize, usize), alpha: f64, seed: u64) -> Vec<(usize, usize)> {
    let (from, to) = part;
    let found = stretches(&values[from..to], alpha / 6.0, seed);
    found.into_iter().map(|(first, end)| (from + first, from + end)).collect()
}

/// The parts of a stretch that are lines, if lines explain it better than the steps do: one from
/// end to end, or two that turn from up to down or back. A level that stays and then slides is
/// left to the steps.
fn better_lines(stretch: &[f64], node: &Node) -> Vec<(usize, usize)> {
    let n = stretch.len();
    let firsts: Vec<usize> = node.all_cuts().iter().map(|cut| cut.first - node.from).collect();
    let of_steps = around_levels(stretch, &firsts);
    let of_line = around_line(stretch);
    let turn = knee::turn(stretch);
    let of_turn: Option<Vec<f64>> =
        turn.map(|first| [around_line(&stretch[..first]), around_line(&stretch[first..])].concat());
    let of_lines = [Some(&of_line), of_turn.as_ref()];
    let unit = of_lines.iter().flatten().map(|left| deviation(left)).fold(f64::MAX, f64::min);
    let unit = unit.min(deviation(&of_steps));
    if unit < 1e-12 {
        return Vec::new();
    }
    let steps = criterion(&of_steps, 2.0 * firsts.len() as f64 + 1.0, unit);
    let line = criterion(&of_line, 2.0, unit);
    let bend = of_turn.map_or(f64::MAX, |left| criterion(&left, 5.0, unit));
    match turn {
        _ if line.min(bend) + LINE_MARGIN >= steps => Vec::new(),
        Some(first) if bend < line => vec![(0, first), (first, n)],
        _ => vec![(0, n)],
    }
}

/// What is left of values around their line.
fn around_line(values: &[f64]) -> Vec<f64> {
    let slope = theil_sen(values);
    let flat: Vec<f64> =
        values.iter().enumerate().map(|(at, value)| value - slope * at as f64).collect();
    let centre = median(&flat);
    flat.iter().map(|value| value - centre).collect()
}

/// The standard deviation by the median of the distances.
fn deviation(left: &[f64]) -> f64 {
    1.4826 * median(&left.iter().map(|value| value.abs()).collect::<Vec<f64>>())
}

/// The information criterion of what is left, whose squares count in `unit`.
fn criterion(left: &[f64], parameters: f64, unit: f64) -> f64 {
    let n = left.len() as f64;
    let loss: f64 = left.iter().map(|value| (value / unit).powi(2).min(9.0)).sum();
    n * (loss / n).ln() + parameters * n.ln()
}

/// The median of the slopes of all pairs; of long stretches, of pairs half a stretch apart.
fn theil_sen(values: &[f64]) -> f64 {
    const ALL_PAIRS_MOST: usize = 400;
    let n = values.len();
    let slope = |(a, b): (usize, usize)| (values[b] - values[a]) / (b - a) as f64;
    let slopes: Vec<f64> = if n <= ALL_PAIRS_MOST {
        (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).map(slope).collect()
    } else {
        (0..n / 2)
            .map(|a| slope((a, a + n.div_ceil(2))))
            .filter(|slope| slope.is_finite())
            .collect()
    };
    median(&slopes)
}

/// Two levels, if there are: a mixture of two normal distributions with one deviation against one
/// normal distribution.
pub(crate) fn modes(left: &[f64], scale: ChangeScale) -> Option<Modes> {
    let n = left.len() as f64;
    if left.len() < MODES_VALUES_LEAST {
        return None;
    }
    let mut sorted = left.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mean = left.iter().sum::<f64>() / n;
    let variance = left.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    if variance < 1e-24 {
        return None;
    }
    let one = n * (variance.ln() + 1.0) + 2.0 * n.ln();
    let starts = [0.25, 0.5, 0.75].map(|share| sorted[(share * n) as usize]);
    let fits = starts.into_iter().map(|start| Mixture::fit(&sorted, start, variance));
    let best = fits.min_by(|a, b| a.loss.total_cmp(&b.loss))?;
    let two = best.loss + 4.0 * n.ln();
    let share = best.share_upper;
    let middle = f64::midpoint(best.lower, best.upper);
    let sides = left.windows(2).filter(|two| (two[0] < middle) != (two[1] < middle));
    let is_sound = sides.count() >= CROSSINGS_LEAST
        && (MODE_SHARE_LEAST..=1.0 - MODE_SHARE_LEAST).contains(&share)
        && best.upper - best.lower >= APART_LEAST * best.variance.sqrt();
    (is_sound && two + MODES_MARGIN < one)
        .then(|| Modes { apart: told(best.upper - best.lower, scale), share_upper: share })
}

/// Two normal distributions with one deviation.
struct Mixture {
    lower: f64,
    upper: f64,
    share_upper: f64,
    variance: f64,
    /// Minus twice the log-likelihood, without what all have in common.
    loss: f64,
}

impl Mixture {
    /// Expectation and maximisation from the halves below and above `start`.
    fn fit(values: &[f64], start: f64, variance: f64) -> Mixture {
        const ROUNDS: usize = 60;
        let n = values.len() as f64;
        let mean = |keep: &dyn Fn(f64) -> bool| {
            let own: Vec<f64> = values.iter().copied().filter(|&value| keep(value)).collect();
            own.iter().sum::<f64>() / own.len().max(1) as f64
        };
        let (lower, upper) = (mean(&|value| value < start), mean(&|value| value >= start));
        let mut fit =
            Mixture { lower, upper, share_upper: 0.5, variance: variance / 4.0, loss: f64::MAX };
        for _ in 0..ROUNDS {
            let (mut weight, mut high, mut low, mut squares, mut log) = (0.0, 0.0, 0.0, 0.0, 0.0);
            for &value in values {
                let of = |centre: f64, share: f64| {
                    share * (-(value - centre).powi(2) / (2.0 * fit.variance)).exp()
                };
                let (a, b) = (of(fit.lower, 1.0 - fit.share_upper), of(fit.upper, fit.share_upper));
                let sum = (a + b).max(f64::MIN_POSITIVE);
                let own = b / sum;
                weight += own;
                high += own * value;
                low += (1.0 - own) * value;
                squares +=
                    own * (value - fit.upper).powi(2) + (1.0 - own) * (value - fit.lower).powi(2);
                log += sum.ln();
            }
            fit.loss = n * fit.variance.ln() - 2.0 * log;
            if !(weight > 1e-9 && n - weight > 1e-9) {
                break;
            }
            (fit.upper, fit.lower) = (high / weight, low / (n - weight));
            fit.share_upper = weight / n;
            fit.variance = (squares / n).max(variance * 1e-6);
        }
        fit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.theilslopes(values).slope`, SciPy 1.17.1.
    #[test]
    fn lines_agree_with_scipy() {
        let noisy = [
            -0.011854, 0.000903, 0.00807, 0.013433, 0.000802, 0.010987, 0.010193, 0.024079,
            0.020783, 0.007855, 0.006628, 0.02709,
        ];
        // An odd and an even number of slopes, and equal ones among them.
        for (values, truth) in [
            (&noisy[..], 0.0021160833333333335),
            (&[5.0, 1.0, 2.5, 9.0, 4.0, 4.5, 12.0][..], 1.0),
            (&[1.0, 2.0, 2.0, 7.0, 3.0, 3.5][..], 0.5),
        ] {
            let found = theil_sen(values);
            assert!((found - truth).abs() < 1e-12, "{found}, not {truth}");
        }
    }
}
