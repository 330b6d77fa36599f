//! Normal scores, and the two statistics that are the largest of many: of steps and of bumps.
//!
//! A value is replaced by the normal quantile of its rank (van der Waerden 1952, with the ranks of
//! Blom's successor (r − ½)/n): a spike becomes the largest score and nothing more. Equal values
//! share the mean of their scores.
//!
//! ```text
//!   step   │····|:::::::     |Σ before| · √(n / τ(n−τ))         for each τ
//!   bump   │····|:::|····    |Σ inside| · √(n / k(n−k))         for each place and length k
//! ```
//!
//! Both are in units of the scores' own standard deviation, so that the largest of the statistic
//! over all places has the same meaning for scores and for simulated noise.

use std::sync::LazyLock;

use dbdyno_model::random::RandomStream;
use statrs::distribution::{ContinuousCDF, Normal};

/// A level has at least so many values: single spikes make no level.
pub(crate) const LEVEL_LEAST: usize = 4;

/// Edges of bumps that are tried; of more values, every second or third only. Cuts are moved to
/// their places afterwards.
const EDGES_MOST: usize = 64;
const QUANTILES: usize = 1 << 14;

/// A standard normal number, by inversion of a table whose tails end at 1 in 3·10⁴.
pub(crate) fn draw_normal(stream: &mut RandomStream) -> f64 {
    static TABLE: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let quantile =
            |step| Normal::standard().inverse_cdf((f64::from(step) + 0.5) / QUANTILES as f64);
        (0..QUANTILES as u32).map(quantile).collect()
    });
    TABLE[(stream.next_u64() >> 50) as usize]
}

/// The normal scores of values, with mean 0.
pub(crate) fn normal_scores(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let standard = Normal::standard();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let of_rank: Vec<f64> =
        (0..n).map(|rank| standard.inverse_cdf((rank as f64 + 0.5) / n as f64)).collect();
    let mut scores = vec![0.0; n];
    let mut from = 0;
    while from < n {
        let to = from
            + order[from..]
                .iter()
                .take_while(|&&place| values[place] == values[order[from]])
                .count();
        let mean = of_rank[from..to].iter().sum::<f64>() / (to - from) as f64;
        order[from..to].iter().for_each(|&place| scores[place] = mean);
        from = to;
    }
    scores
}

/// What a number of values has in common: the weights of the statistics.
#[derive(Debug)]
pub(crate) struct Scan {
    n: usize,
    /// √(n / k(n−k)) for each k.
    weights: Vec<f64>,
}

/// Where a statistic is largest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Best {
    /// The statistic, in standard deviations of the values.
    pub statistic: f64,
    /// The first value of the new level.
    pub from: usize,
    /// One past its last value; the number of values for a step.
    pub to: usize,
}

impl Scan {
    pub(crate) fn of_length(n: usize) -> Scan {
        Scan {
            n,
            weights: (0..=n)
                .map(|k| match k {
                    0 => 0.0,
                    k if k == n => 0.0,
                    k => (n as f64 / (k as f64 * (n - k) as f64)).sqrt(),
                })
                .collect(),
        }
    }

    /// The step that stands out most; a statistic of 0 where there is no room or no spread.
    pub(crate) fn best_step(&self, values: &[f64]) -> Best {
        let n = self.n;
        let mut best = Best { statistic: 0.0, from: 0, to: n };
        let Some((mean, sd)) = spread(values) else { return best };
        let mut sum = 0.0;
        for (index, &value) in values[..n.saturating_sub(LEVEL_LEAST)].iter().enumerate() {
            sum += value - mean;
            let from = index + 1;
            let statistic = sum.abs() * self.weights[from];
            if from >= LEVEL_LEAST && statistic > best.statistic {
                best = Best { statistic, from, to: n };
            }
        }
        best.statistic /= sd;
        best
    }

    /// The size of a step or bump in standard deviations of what it leaves.
    pub(crate) fn size(&self, best: &Best) -> f64 {
        let (n, explained) = (self.n as f64, best.statistic * best.statistic);
        let left = ((n - explained).max(0.0) / (n - 2.0)).sqrt();
        best.statistic * self.weights[best.to - best.from] / left
    }

    /// The statistic of a step at each place.
    pub(crate) fn step_statistics(&self, values: &[f64]) -> Vec<f64> {
        let Some((mean, sd)) = spread(values) else { return vec![0.0; self.n] };
        let mut sum = 0.0_f64;
        self.weights
            .iter()
            .enumerate()
            .map(|(place, &weight)| {
                let statistic = sum.abs() * weight / sd;
                sum += values.get(place).map_or(0.0, |value| value - mean);
                statistic
            })
            .take(self.n)
            .collect()
    }

    /// The bump that stands out most: a level between two stretches of one other level.
    pub(crate) fn best_bump(&self, values: &[f64]) -> Best {
        let n = self.n;
        let mut best = Best { statistic: 0.0, from: 0, to: n };
        let Some((mean, sd)) = spread(values) else { return best };
        if n < 3 * LEVEL_LEAST {
            return best;
        }
        let mut sums = Vec::with_capacity(n + 1);
        let mut sum = 0.0;
        sums.push(0.0);
        sums.extend(values.iter().map(|value| {
            sum += value - mean;
            sum
        }));
        let stride = n.div_ceil(EDGES_MOST);
        for from in (LEVEL_LEAST..=n - 2 * LEVEL_LEAST).step_by(stride) {
            for to in (from + LEVEL_LEAST..=n - LEVEL_LEAST).step_by(stride) {
                let statistic = (sums[to] - sums[from]).abs() * self.weights[to - from];
                if statistic > best.statistic {
                    best = Best { statistic, from, to };
                }
            }
        }
        best.statistic /= sd;
        best
    }
}

/// Mean and standard deviation; `None` where all values are equal.
fn spread(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let sd = (squares / n).sqrt();
    (sd > 1e-12).then_some((mean, sd))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.norm.ppf((np.arange(5) + 0.5) / 5)`, SciPy 1.17.
    #[test]
    fn scores_are_quantiles_of_ranks_and_equal_values_share_theirs() {
        let scores = normal_scores(&[3.0, 1e9, 1.0, 2.0, 4.0]);
        let truth = [0.0, 1.2815515655446, -1.2815515655446, -0.524400512708041, 0.524400512708041];
        for (score, truth) in scores.iter().zip(truth) {
            assert!((score - truth).abs() < 1e-9, "{scores:?}");
        }
        let tied = normal_scores(&[1.0, 2.0, 2.0, 3.0]);
        assert!(tied[1] == tied[2] && tied[1].abs() < 1e-12, "{tied:?}");
    }

    #[test]
    fn a_statistic_has_a_size() {
        // Means 0 and 4, deviations of 1: pooled by ten degrees of freedom.
        let values = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 5.0, 3.0, 5.0, 3.0];
        let scan = Scan::of_length(12);
        let best = scan.best_step(&values);
        assert_eq!((best.from, best.to), (8, 12));
        let size = scan.size(&best);
        assert!((size - 4.0 / (12.0_f64 / 10.0).sqrt()).abs() < 1e-12, "{size}");
    }

    #[test]
    fn a_step_and_a_bump_are_where_they_are() {
        let step: Vec<f64> = (0..20).map(|at| f64::from(at / 13)).collect();
        let best = Scan::of_length(20).best_step(&step);
        assert_eq!((best.from, best.to), (13, 20));
        let all = Scan::of_length(20).step_statistics(&step);
        assert!((all[13] - best.statistic).abs() < 1e-12 && all.len() == 20);
        let bump: Vec<f64> = (0..20).map(|at| f64::from(u8::from((6..11).contains(&at)))).collect();
        let best = Scan::of_length(20).best_bump(&bump);
        assert_eq!((best.from, best.to), (6, 11));
        // A bump explains all there is: √n standard deviations.
        assert!((best.statistic - 20f64.sqrt()).abs() < 1e-9, "{best:?}");
    }
}
