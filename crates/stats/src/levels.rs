//! Where the doubt comes from, and where the next minute is best spent.
//!
//! ```text
//!   what is repeated      varies by   costs    in the variance of the result
//!   filling of tables     T₃          c₃       T₃² / n₃
//!   start of the servers   T₂          c₂     + T₂² / (n₃ n₂)
//!   pair of rounds        T₁          c₁     + T₁² / (n₃ n₂ n₁)
//! ```
//!
//! Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time" (ISMM 2013), §6: the spread of
//! the means of a level holds what the levels below left over, and taking that away leaves an
//! unbiased `Tᵢ²`. It may come out negative, which is what "nothing of its own" looks like; then it
//! is 0 here. With `cᵢ`, the time that one more costs by itself, the best numbers within one of the
//! level above are
//!
//! ```text
//!   nᵢ = ⌈ √( (cᵢ₊₁ / cᵢ) · (Tᵢ² / Tᵢ₊₁²) ) ⌉
//! ```
//!
//! and whatever time there is then goes to the highest level. Where starts are judged by their
//! Hodges–Lehmann estimates, `T₁` is the spread of pairs as those see it: what would give the mean
//! their standard error.

use dbdyno_model::{ExperimentLevel, IntervalKind};

use crate::confidence::SHOWN_CONFIDENCE;
use crate::power::MIN_PAIRS;
use crate::rank::SignedRanks;
use crate::replicates::{Nest, value_of};
use crate::student::quantile;

/// Starts of fewer pairs have no interval of their own ranks.
const RANKED_MIN: usize = 6;

/// One level of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Component {
    /// Which one.
    pub level: ExperimentLevel,
    /// How many there are within one of the level above; of the highest one, in all.
    pub count: f64,
    /// `Tᵢ²`: the variance of one of them by itself, of log-ratios.
    pub variance: f64,
    /// Whether that is assumed, because there were too few of them to tell.
    pub is_assumed: bool,
}

/// Time that one more of a level costs by itself, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Both rounds of a pair.
    pub pair: f64,
    /// Starting both servers and warming them.
    pub start: Option<f64>,
    /// Filling the tables, beside the start.
    pub filling: Option<f64>,
}

/// What a minute more would bring.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelAdvice {
    /// The best number of each level within one of the level above, but for the highest.
    pub best: Vec<(ExperimentLevel, u32)>,
    /// By how much the interval would narrow, as a share, were the time spent on more of this
    /// level; the best first.
    pub spend: Vec<(ExperimentLevel, f64)>,
}

/// The levels of a cell, the lowest first. `between_sd` is the spread of starts that is assumed
/// where there are fewer than [`MIN_PAIRS`]; a filling that is alone is not a level.
///
/// Assumes that the noise of a level is independent, and the same wherever it is.
pub fn variance_components(nest: &Nest, interval: IntervalKind, between_sd: f64) -> Vec<Component> {
    let fillings: Vec<Vec<&[f64]>> = nest
        .iter()
        .map(|starts| starts.iter().map(Vec::as_slice).filter(|start| !start.is_empty()).collect())
        .filter(|starts: &Vec<&[f64]>| !starts.is_empty())
        .collect();
    let starts: Vec<&[f64]> = fillings.concat();
    let Some(of_pairs) = pair_variance(&starts, interval) else { return Vec::new() };
    let pairs_in_start = harmonic_mean(starts.iter().map(|start| start.len()));
    let values: Vec<Vec<f64>> = fillings
        .iter()
        .map(|starts| starts.iter().map(|start| value_of(start, interval)).collect())
        .collect();
    let starts_in_filling = harmonic_mean(values.iter().map(Vec::len));
    let of_values = pooled(values.iter().map(Vec::as_slice));
    let is_assumed = starts.len() < MIN_PAIRS as usize || of_values.is_none();
    let of_starts = match of_values {
        Some(spread) if !is_assumed => (spread - of_pairs / pairs_in_start).max(0.0),
        _ => between_sd * between_sd,
    };
    let level = |level, count, variance| Component { level, count, variance, is_assumed: false };
    let mut components = vec![
        level(ExperimentLevel::Pair, pairs_in_start, of_pairs),
        Component { is_assumed, ..level(ExperimentLevel::Start, starts_in_filling, of_starts) },
    ];
    if fillings.len() >= MIN_PAIRS as usize {
        let means: Vec<f64> =
            values.iter().map(|starts| starts.iter().sum::<f64>() / starts.len() as f64).collect();
        let below = of_starts + of_pairs / pairs_in_start;
        let spread = pooled([means.as_slice()].into_iter()).unwrap_or(0.0);
        let own = (spread - below / starts_in_filling).max(0.0);
        components.push(level(ExperimentLevel::Filling, fillings.len() as f64, own));
    } else {
        components[1].count = starts.len() as f64;
    }
    components
}

/// The share of each of these levels in the variance of the result; they add up to 1, or are all 0
/// where there is no variance.
///
/// Assumes levels as [`variance_components`] gives them: the lowest first, each of them counted
/// within the one above, and what disturbs one level independent of what disturbs another.
pub fn variance_shares(components: &[Component]) -> Vec<f64> {
    let parts = parts(components);
    let all: f64 = parts.iter().sum();
    parts.iter().map(|part| if all > 0.0 { part / all } else { 0.0 }).collect()
}

/// What to do with `seconds` more. Levels whose cost is not known are left out.
///
/// Assumes that further ones are like those that were measured.
pub fn spending_advice(components: &[Component], costs: &Costs, seconds: f64) -> LevelAdvice {
    let cost = |level| match level {
        ExperimentLevel::Pair => Some(costs.pair),
        ExperimentLevel::Start => costs.start,
        ExperimentLevel::Filling => costs.filling,
    };
    let best = components.windows(2).filter_map(|two| {
        let (own, above) = (cost(two[0].level)?, cost(two[1].level)?);
        let ratio = (above / own) * (two[0].variance / two[1].variance);
        // Nothing of its own above: as many as there is time for.
        ratio.is_finite().then(|| (two[0].level, ratio.sqrt().ceil().max(1.0) as u32))
    });
    let now: f64 = parts(components).iter().sum();
    let (mut spend, mut whole) = (Vec::new(), 0.0);
    for (at, component) in components.iter().enumerate() {
        let Some(own) = cost(component.level) else { break };
        // One more of a level comes with all that is within it.
        let within = if at > 0 { components[at - 1].count * whole } else { 0.0 };
        whole = own + within;
        let above: f64 = components[at + 1..].iter().map(|component| component.count).product();
        let mut more = components.to_vec();
        more[at].count += seconds / whole / above;
        let then: f64 = parts(&more).iter().sum();
        if now > 0.0 && whole > 0.0 {
            spend.push((component.level, 1.0 - (then / now).sqrt()));
        }
    }
    spend.sort_by(|a: &(ExperimentLevel, f64), b| b.1.total_cmp(&a.1));
    LevelAdvice { best: best.collect(), spend }
}

/// What each level adds to the variance of the result.
fn parts(components: &[Component]) -> Vec<f64> {
    let repeated = |at: usize| components[at..].iter().map(|one| one.count).product::<f64>();
    (0..components.len()).map(|at| components[at].variance / repeated(at)).collect()
}

/// The variance of a pair within its start; `None` where no start has two pairs.
fn pair_variance(starts: &[&[f64]], interval: IntervalKind) -> Option<f64> {
    let is_middle = matches!(interval, IntervalKind::Robust | IntervalKind::HodgesLehmann);
    if !is_middle || starts.iter().any(|start| start.len() < RANKED_MIN) {
        return pooled(starts.iter().copied());
    }
    let sum = starts
        .iter()
        .map(|start| {
            let (low, high) = SignedRanks::one_sample(start).bounds(SHOWN_CONFIDENCE).ok()?;
            let t = quantile(0.5 + SHOWN_CONFIDENCE / 2.0, (start.len() - 1) as f64);
            Some(((high - low) / (2.0 * t)).powi(2) * start.len() as f64)
        })
        .sum::<Option<f64>>()?;
    Some(sum / starts.len() as f64)
}

/// The variance within groups, over all of them together; `None` where none has two values.
fn pooled<'a>(groups: impl Iterator<Item = &'a [f64]>) -> Option<f64> {
    let (mut squares, mut degrees) = (0.0, 0);
    for group in groups.filter(|group| group.len() > 1) {
        let mean = group.iter().sum::<f64>() / group.len() as f64;
        squares += group.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        degrees += group.len() - 1;
    }
    (degrees > 0).then(|| squares / degrees as f64)
}

/// What stands for the number in each where they differ.
fn harmonic_mean(counts: impl Iterator<Item = usize>) -> f64 {
    let (mut number, mut sum) = (0.0, 0.0);
    for count in counts {
        number += 1.0;
        sum += 1.0 / count as f64;
    }
    number / sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::random::{self, RandomStream};

    /// The sum of twelve uniform numbers has variance 1.
    fn noise(stream: &mut RandomStream) -> f64 {
        (0..12).map(|_| stream.next_below(1 << 32) as f64 / 2f64.powi(32)).sum::<f64>() - 6.0
    }

    fn nest(counts: [usize; 3], sds: [f64; 3], key: u64) -> Vec<Vec<Vec<f64>>> {
        let mut stream = random::stream(&[4, key]);
        let mut filling = || {
            let of_filling = sds[2] * noise(&mut stream);
            let mut start = || {
                let own = of_filling + sds[1] * noise(&mut stream);
                (0..counts[0]).map(|_| own + sds[0] * noise(&mut stream)).collect()
            };
            (0..counts[1]).map(|_| start()).collect()
        };
        (0..counts[2]).map(|_| filling()).collect()
    }

    /// Balanced nested analysis of variance by hand, in Python:
    /// `S₁² = mean of numpy.var(start, ddof=1)`, `S₂² = mean over fillings of the variance of the
    /// means of starts`, `S₃² = variance of the means of fillings`; `T₂² = S₂² − S₁²/n₁`, and so
    /// on.
    #[test]
    fn components_agree_with_the_analysis_of_variance() {
        let nest = [
            vec![vec![1.0, 2.0, 4.0], vec![3.0, 3.5, 5.5]],
            vec![vec![2.0, 2.5, 1.5], vec![6.0, 7.0, 6.5]],
            vec![vec![9.0, 8.0, 8.5], vec![5.0, 7.0, 6.0]],
        ];
        let found = variance_components(&nest, IntervalKind::T, 9.9);
        let truth = [(3.0, TRUTH[0]), (2.0, TRUTH[1]), (3.0, TRUTH[2])];
        for (component, (count, variance)) in found.iter().zip(truth) {
            assert!((component.count - count).abs() < 1e-12);
            assert!((component.variance - variance).abs() < 1e-12, "{component:?}");
        }
        assert!(found.iter().all(|component| !component.is_assumed));
    }

    const TRUTH: [f64; 3] = [0.9722222222222222, 4.555555555555555, 2.0347222222222223];

    /// Unbiased: right in the mean over many runs.
    #[test]
    fn components_come_out_right_in_the_mean() {
        let sds = [0.03, 0.02, 0.02];
        let mut sums = [0.0; 3];
        for key in 0..400 {
            let found = variance_components(&nest([10, 4, 6], sds, key), IntervalKind::T, 0.0);
            for (sum, component) in sums.iter_mut().zip(found) {
                *sum += component.variance / 400.0;
            }
        }
        for (mean, sd) in sums.iter().zip(sds) {
            assert!((mean.sqrt() / sd - 1.0).abs() < 0.05, "{sums:?}");
        }
    }

    #[test]
    fn what_was_not_repeated_is_assumed_or_no_level() {
        let one_start = nest([30, 1, 1], [0.05, 0.0, 0.0], 1);
        let found = variance_components(&one_start, IntervalKind::T, 0.009);
        assert_eq!(found.len(), 2);
        assert!(found[1].is_assumed && (found[1].variance - 0.000_081).abs() < 1e-15);
        assert!(variance_components(&[], IntervalKind::T, 0.009).is_empty());
        let two_fillings = nest([8, 4, 2], [0.05, 0.01, 0.0], 1);
        let found = variance_components(&two_fillings, IntervalKind::T, 0.009);
        assert_eq!((found.len(), found[1].count, found[1].is_assumed), (2, 8.0, false));
    }

    #[test]
    fn the_middle_sees_less_noise_than_the_mean_where_tails_are_heavy() {
        let mut spiky = nest([20, 8, 1], [0.02, 0.0, 0.0], 2);
        spiky[0].iter_mut().for_each(|start| (start[3], start[9]) = (0.5, -0.5));
        let of = |interval| variance_components(&spiky, interval, 0.0)[0].variance;
        assert!(of(IntervalKind::Robust) < 0.1 * of(IntervalKind::T));
        let plain = nest([20, 40, 1], [0.02, 0.0, 0.0], 3);
        let of = |interval| variance_components(&plain, interval, 0.0)[0].variance;
        let ratio = of(IntervalKind::Robust) / of(IntervalKind::T);
        assert!((0.9..1.3).contains(&ratio), "{ratio}");
    }

    /// The formula of the paper, and that the advice agrees with it: with too many pairs in a
    /// start, more starts help more; with too few, more pairs do.
    #[test]
    fn the_minute_goes_where_it_narrows_most() {
        let level = |level, count, sd: f64| Component {
            level,
            count,
            variance: sd * sd,
            is_assumed: false,
        };
        let costs = Costs { pair: 0.25, start: Some(4.0), filling: None };
        let advise = |pairs, starts| {
            let components = [
                level(ExperimentLevel::Pair, pairs, 0.06),
                level(ExperimentLevel::Start, starts, 0.01),
            ];
            spending_advice(&components, &costs, 60.0)
        };
        // √(4/0.25 · 0.0036/0.0001) = 24.
        assert_eq!(advise(24.0, 8.0).best, [(ExperimentLevel::Pair, 24)]);
        assert_eq!(advise(200.0, 8.0).spend[0].0, ExperimentLevel::Start);
        assert_eq!(advise(4.0, 8.0).spend[0].0, ExperimentLevel::Pair);
        assert!(advise(24.0, 8.0).spend.iter().all(|(_, narrows)| (0.0..1.0).contains(narrows)));
        let alone =
            [level(ExperimentLevel::Pair, 10.0, 0.05), level(ExperimentLevel::Start, 4.0, 0.0)];
        assert_eq!(
            super::spending_advice(&alone, &costs, 60.0).best,
            [],
            "starts have nothing of their own"
        );
        assert!((variance_shares(&alone)[0] - 1.0).abs() < 1e-12);
    }
}
