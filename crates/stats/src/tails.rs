//! How heavy the tails of pairs are, and on which side: what the automatic interval goes by.
//!
//! ```text
//!   residuals of all pairs, each around the median of its start
//!
//!          ▂▅█▅▂              weight = standard deviation ÷ what the middle half promises
//!    ·  ·▁▂▅█▅▂▁·  ·          1 for normal noise, 1.4 double exponential, 2 to 6 on a shared host
//!    └ far ┘  └ far ┘         far: beyond 3 promised deviations; as many on either side?
//! ```
//!
//! *Heavy on both sides* is the host: now one arm is hit, now the other. Then the mean of a start
//! is a bad witness, and its Hodges–Lehmann estimate a good one. *Heavy on one side* may be the
//! server: an arm that stalls in one round of ten is slower, and an estimate that looks past such
//! rounds would hide it. So there the mean stays. It stays as well where it lies outside of the
//! robust interval (`crate::replicates`): a few deep stalls are too few to be called one-sided, and
//! an interval that has not in it what was done in all would be believed to say so.
//!
//! In starts of six pairs the median lies among them, and normal noise would look 1.3 times as
//! heavy as it is; distances are corrected for that ([`nearer`]).
//!
//! The choice does not spoil the level. The weight does not change when all residuals of a start
//! change their sign, and between equal arms those signs are a matter of chance; so the choice
//! tells nothing of where the starts lie. How many are far on each side does change, but only as
//! far as "equally many" can be refuted, at 1 %. The simulation
//! `the_automatic_choice_keeps_its_level` counts alarms of the whole procedure.

use crate::confidence::DECISION_ALPHA;
use crate::median::{median_in_place, median_or_nan};

/// From this weight on tails are heavy: there the Hodges–Lehmann estimate needs a quarter fewer
/// pairs than the mean for the same width.
pub(crate) const HEAVY_TAILS: f64 = 1.25;
/// Fewer residuals than this tell nothing of tails.
const RESIDUALS_MIN: usize = 30;
/// A start of fewer pairs has no middle that is better than its mean.
const PAIRS_MIN: usize = 4;
/// The standard deviation of normal noise is so many times its median distance from the middle.
const NORMAL_PER_MEDIAN: f64 = 1.482_602_218_505_602;
/// What is further out than so many standard deviations is far.
const FAR: f64 = 3.0;

/// What the pairs within starts say of their noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tails {
    /// Standard deviation of the residuals, in units of the one that their middle half promises.
    pub weight: f64,
    /// Residuals that are far out, below and above.
    pub far: (u32, u32),
    /// Two-sided p-value of "far ones are as often below as above" (sign test).
    pub p_one_sided: f64,
}

impl Tails {
    /// The tails of the pairs of these starts; `None` where there are too few pairs, or no spread.
    ///
    /// Assumes that all starts have the same noise around their own middle.
    pub(crate) fn from_starts(starts: &[&[f64]]) -> Option<Tails> {
        let (mut residuals, mut distances) = (Vec::new(), Vec::new());
        let long = starts.iter().filter(|start| start.len() >= PAIRS_MIN);
        let (mut squares, mut counted) = (0.0, 0usize);
        for start in long {
            let middle = median_or_nan(start);
            let mean = start.iter().sum::<f64>() / start.len() as f64;
            residuals.extend(start.iter().map(|log| log - middle));
            squares += start.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
            let nearer = nearer(start.len());
            distances.extend(start.iter().map(|log| nearer * (log - middle).abs()));
            counted += start.len() - 1;
        }
        let of_all: usize = starts.iter().map(|start| start.len()).sum();
        if residuals.len() < RESIDUALS_MIN || 2 * residuals.len() < of_all {
            return None;
        }
        let promised = NORMAL_PER_MEDIAN * median_in_place(&mut distances);
        // Rounding is no noise.
        if promised < 1e-9 {
            return None;
        }
        let below = residuals.iter().filter(|&&residual| residual < -FAR * promised).count();
        let above = residuals.iter().filter(|&&residual| residual > FAR * promised).count();
        Some(Tails {
            weight: (squares / counted as f64).sqrt() / promised,
            far: (below as u32, above as u32),
            p_one_sided: sign_test(below, above),
        })
    }

    /// Whether they are heavy.
    ///
    /// Assumes what [`Tails::from_starts`] assumes. The estimate is compared as it is: of few
    /// residuals chance alone may carry it over [`HEAVY_TAILS`], or keep it below.
    pub(crate) fn are_heavy(&self) -> bool {
        self.weight >= HEAVY_TAILS
    }

    /// Whether those far out lie on one side, by more than chance explains.
    ///
    /// Assumes what [`Tails::from_starts`] assumes, and that residuals are far out independently of
    /// each other: a disturbance that lasts for several pairs counts several times.
    pub(crate) fn are_one_sided(&self) -> bool {
        self.p_one_sided < DECISION_ALPHA
    }
}

/// The median of few values lies among them: so many times nearer than the true middle is it to
/// half of them. Within 1.2 % for normal noise and 4 to 60 values (24 million values each, by
/// NumPy: 1.3872 for 4, 1.3758 for 5, 1.2782 for 6, 1.1478 for 10, 1.0709 for 18, 1.0278 for 41).
fn nearer(values: usize) -> f64 {
    let n = values as f64;
    if values == 4 { 1.3872 } else { 1.0 + 1.0 / n + 4.0 / (n * n) }
}

/// Two-sided, by the binomial distribution with one half.
fn sign_test(below: usize, above: usize) -> f64 {
    let all = below + above;
    let mut chance = 0.5f64.powi(all.min(1_000) as i32);
    let mut sum = 0.0;
    for count in 0..=below.min(above) {
        sum += chance;
        chance *= (all - count) as f64 / (count + 1) as f64;
    }
    f64::min(2.0 * sum, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of the normal distribution, evenly: (i − ½)/n.
    fn normal(n: usize) -> Vec<f64> {
        let share = |at: usize| (at as f64 + 0.5) / n as f64;
        (0..n).map(|at| crate::student::quantile(share(at), f64::INFINITY)).collect()
    }

    #[test]
    fn normal_noise_has_weight_one_and_spikes_weigh() {
        let start = normal(200);
        let tails = Tails::from_starts(&[&start, &start]).unwrap();
        assert!((0.97..1.03).contains(&tails.weight), "{tails:?}");
        assert!(!tails.are_heavy() && !tails.are_one_sided());
        let mut both = start.clone();
        (both[0], both[1], both[198], both[199]) = (-20.0, -18.0, 19.0, 21.0);
        let tails = Tails::from_starts(&[&both]).unwrap();
        assert!(tails.are_heavy() && !tails.are_one_sided(), "{tails:?}");
        let mut below = start.clone();
        below[..8].fill(-9.0);
        let tails = Tails::from_starts(&[&below]).unwrap();
        assert!(tails.are_heavy() && tails.are_one_sided(), "{tails:?}");
    }

    /// Short starts of normal noise are as light as long ones.
    #[test]
    fn short_starts_are_not_taken_for_heavy_tails() {
        let mut stream = dbdyno_model::random::stream(&[6]);
        let mut noise = || {
            let share = (stream.next_u64() >> 11) as f64 / 2f64.powi(53);
            crate::student::quantile(share.max(1e-12), f64::INFINITY)
        };
        for pairs in [4, 5, 6, 7, 9, 18] {
            let starts: Vec<Vec<f64>> =
                (0..2_000).map(|_| (0..pairs).map(|_| noise()).collect()).collect();
            let starts: Vec<&[f64]> = starts.iter().map(Vec::as_slice).collect();
            let tails = Tails::from_starts(&starts).unwrap();
            assert!((0.97..1.03).contains(&tails.weight), "{pairs}: {tails:?}");
        }
    }

    #[test]
    fn few_pairs_and_short_starts_say_nothing() {
        let start = normal(29);
        assert_eq!(Tails::from_starts(&[&start]), None);
        let short = normal(3);
        assert_eq!(Tails::from_starts(&[&short[..]; 20]), None);
        assert_eq!(Tails::from_starts(&[&[0.25; 40]]), None);
    }

    /// `scipy.stats.binomtest(k, n).pvalue`.
    #[test]
    fn the_sign_test_agrees_with_scipy() {
        for (below, above, truth) in
            [(0, 7, 0.015625), (0, 8, 0.0078125), (2, 12, 0.012939453125), (5, 5, 1.0), (0, 0, 1.0)]
        {
            assert!((sign_test(below, above) - truth).abs() < 1e-12, "{below} {above}");
        }
    }
}
