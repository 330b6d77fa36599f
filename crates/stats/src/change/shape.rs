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

use dbdyno_model::{ChangeScale, Modes, NullKind, Slide};

use super::bend::{self, Bend, BendKind};
use super::size::{around_levels, reported_size};
use super::tree::{Node, SeriesCut};
use super::trend::{self, VALUES_LEAST};
use crate::median::median_or_nan;

/// A line has to be so much better than steps.
const LINE_MARGIN: f64 = 6.0;
/// Between two lines there is a jump of so many standard deviations, or none: a level that stays
/// and then slides is parted by one as well, in the middle of its slide.
const HEIGHT_LEAST: f64 = 3.0;
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

/// What lines explain of a stretch: the parts that slide, first and one past the last, and where
/// one line ends at another height than the next one begins.
#[derive(Default)]
struct Lines {
    slides: Vec<(usize, usize)>,
    jumps: Vec<SeriesCut>,
}

impl Lines {
    fn is_empty(&self) -> bool {
        self.slides.is_empty() && self.jumps.is_empty()
    }

    fn add(&mut self, inner: Lines, from: usize) {
        self.slides.extend(inner.slides.iter().map(|(first, end)| (from + first, from + end)));
        self.jumps.extend(inner.jumps.into_iter().map(|mut jump| {
            jump.first += from;
            jump
        }));
    }
}

/// Takes stretches that slide out of the tree, the largest first; where nothing was cut, a stretch
/// may slide as a whole or in parts. What jumps between lines is a cut of the tree.
pub(crate) fn extract_slides(
    values: &[f64],
    node: &mut Node,
    scale: ChangeScale,
    seed: u64,
    found: &mut Vec<Slide>,
) {
    let stretch = &values[node.from..node.to];
    let lines = if node.cuts.is_empty() {
        lines(stretch, node.slide_alpha(), seed)
    } else {
        better_lines(stretch, node, seed)
    };
    for &(from, to) in &lines.slides {
        let size = reported_size(theil_sen(&stretch[from..to]) * (to - from - 1) as f64, scale);
        found.push(Slide { from: node.from + from, to: node.from + to, size });
    }
    if !lines.is_empty() {
        node.cuts = lines.jumps;
        node.cuts.iter_mut().for_each(|jump| jump.first += node.from);
        node.parts.clear();
    }
    for part in &mut node.parts {
        extract_slides(values, part, scale, seed, found);
    }
}

/// The lines of a stretch that nothing cuts: around a bend, or one from end to end, or within one
/// half. For a decision at `alpha`, of which each question has a third.
///
/// The bend is asked for first: a level that fell for 80 runs and rose for 20 slides from end to
/// end as well, and the other way. One that bends more than once has its bends in the parts.
fn lines(values: &[f64], alpha: f64, seed: u64) -> Lines {
    let n = values.len();
    if n < VALUES_LEAST {
        return Lines::default();
    }
    if let Some(bend) = bend::find(values, alpha / 3.0, seed) {
        return around_bend(values, &bend, alpha, seed);
    }
    if trend::is_found(values, alpha / 3.0, seed) {
        return Lines { slides: vec![(0, n)], jumps: Vec::new() };
    }
    let mut found = Lines::default();
    for (from, to) in [(0, n / 2), (n.div_ceil(2), n)] {
        found.add(lines(&values[from..to], alpha / 6.0, seed), from);
    }
    found
}

/// The lines of the two parts around a bend, and those within them.
fn around_bend(values: &[f64], bend: &Bend, alpha: f64, seed: u64) -> Lines {
    let mut found = Lines::default();
    let parts =
        [(bend.slides_before, 0, bend.first), (bend.slides_after, bend.first, values.len())];
    for (slides, from, to) in parts {
        let mut inner = lines(&values[from..to], alpha / 6.0, seed);
        if inner.is_empty() && slides {
            inner.slides.push((0, to - from));
        }
        found.add(inner, from);
    }
    if bend.kind == BendKind::Jump {
        let null = NullKind::Correlated(bend.phi);
        let cut = SeriesCut { first: bend.first, p_value: bend.p_value, null, least_found: 0.0 };
        found.jumps.push(cut);
        found.jumps.sort_by_key(|jump| jump.first);
    }
    found
}

/// The lines of a stretch, if they explain it better than the steps do: one from end to end, two
/// that turn from up to down or back, or two with a jump between them. A level that stays and then
/// slides is left to the steps.
fn better_lines(stretch: &[f64], node: &Node, seed: u64) -> Lines {
    let n = stretch.len();
    let alpha = node.slide_alpha();
    let turn = bend::find_turn(stretch);
    let jump = bend::find_jump(stretch);
    let firsts: Vec<usize> = node.all_cuts().iter().map(|cut| cut.first - node.from).collect();
    let of_steps = around_levels(stretch, &firsts);
    let of_line = around_line(stretch);
    let of_turn = turn.map(|first| around_two_lines(stretch, first));
    let of_jump = jump.map(|first| around_two_lines(stretch, first));
    let unit = [Some(&of_steps), Some(&of_line), of_turn.as_ref(), of_jump.as_ref()]
        .into_iter()
        .flatten()
        .map(|left| deviation(left))
        .fold(f64::MAX, f64::min);
    if unit < 1e-12 {
        return Lines::default();
    }
    let steps = criterion(&of_steps, 2.0 * firsts.len() as f64 + 1.0, unit);
    let line = criterion(&of_line, 2.0, unit);
    let by_turn = of_turn.map_or(f64::MAX, |left| criterion(&left, 5.0, unit));
    let by_jump = match (&of_jump, jump) {
        (Some(left), Some(first)) if height(stretch, first).abs() >= HEIGHT_LEAST * unit => {
            criterion(left, 5.0, unit)
        }
        _ => f64::MAX,
    };
    // The draws that prove a jump are made where it would be told.
    if by_jump < line.min(by_turn)
        && by_jump + LINE_MARGIN < steps
        && let Some(bend) = bend::find(stretch, alpha / 3.0, seed)
        && bend.kind == BendKind::Jump
        && (bend.slides_before || bend.slides_after)
    {
        return around_bend(stretch, &bend, alpha, seed);
    }
    match turn {
        _ if line.min(by_turn) + LINE_MARGIN >= steps => Lines::default(),
        Some(first) if by_turn < line => {
            Lines { slides: vec![(0, first), (first, n)], jumps: Vec::new() }
        }
        _ => Lines { slides: vec![(0, n)], jumps: Vec::new() },
    }
}

/// By how much the line from `first` on begins above the end of the one before.
fn height(values: &[f64], first: usize) -> f64 {
    let slide = |from, to| Slide { from, to, size: 0.0 };
    let level = level_slides(values, 0, first, &[slide(0, first), slide(first, values.len())]);
    median_or_nan(&level[first..]) - median_or_nan(&level[..first])
}

/// What is left of values around a line before `first` and another one from there on.
fn around_two_lines(values: &[f64], first: usize) -> Vec<f64> {
    [around_line(&values[..first]), around_line(&values[first..])].concat()
}

/// Values around a cut as they would be if they did not slide there: each part that does is turned
/// around the cut. `slides` are of all values, of which these begin at `begin`.
pub(crate) fn level_slides(
    values: &[f64],
    begin: usize,
    first: usize,
    slides: &[Slide],
) -> Vec<f64> {
    let mut level = values.to_vec();
    let end = begin + values.len();
    for (from, to) in [(begin, first), (first, end)] {
        if slides.iter().any(|slide| slide.from <= from && slide.to >= to) {
            let slope = theil_sen(&values[from - begin..to - begin]);
            for at in from..to {
                level[at - begin] -= slope * (at as f64 - first as f64);
            }
        }
    }
    level
}

/// What is left of values around their line.
fn around_line(values: &[f64]) -> Vec<f64> {
    let slope = theil_sen(values);
    let flat: Vec<f64> =
        values.iter().enumerate().map(|(at, value)| value - slope * at as f64).collect();
    let centre = median_or_nan(&flat);
    flat.iter().map(|value| value - centre).collect()
}

/// The standard deviation by the median of the distances.
fn deviation(left: &[f64]) -> f64 {
    1.4826 * median_or_nan(&left.iter().map(|value| value.abs()).collect::<Vec<f64>>())
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
    median_or_nan(&slopes)
}

/// Two levels, if there are: a mixture of two normal distributions with one deviation against one
/// normal distribution.
pub(crate) fn find_modes(left: &[f64], scale: ChangeScale) -> Option<Modes> {
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
    let crossed = left.windows(2).filter(|two| (two[0] < middle) != (two[1] < middle));
    let crossings = crossed.count();
    let is_sound = crossings >= CROSSINGS_LEAST
        && (MODE_SHARE_LEAST..=1.0 - MODE_SHARE_LEAST).contains(&share)
        && best.upper - best.lower >= APART_LEAST * best.variance.sqrt();
    let apart = reported_size(best.upper - best.lower, scale);
    (is_sound && two + MODES_MARGIN < one).then_some(Modes { apart, share_upper: share, crossings })
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
