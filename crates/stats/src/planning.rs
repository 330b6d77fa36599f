//! How many starts of how many pairs find an effect in the least time.
//!
//! ```text
//!   start    ├─ start, warm ─┤pair pair pair pair├─ start, warm ─┤pair pair pair pair
//!            start_s          pair_s each
//!   sd of a start's mean  =  √( life_sd² + pair_sd² / pairs )
//! ```
//!
//! More pairs in a start make its mean surer and do nothing against what the start is off by; more
//! starts help against both and cost a start each. The best number of pairs is near
//! `√(start_s/pair_s) · pair_sd/start_sd` (Kalibera and Jones, "Rigorous Benchmarking in Reasonable
//! Time", ISMM 2013, § 6), whatever the effect; what is chosen here is the least time itself, for
//! the quantiles of Student's t make few starts dearer than the formula knows.

use crate::power::{PAIRS_CAP, detectable_change, pairs_needed};
use crate::student::quantile;

/// What disturbs a log-ratio, by level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Standard deviation of the pairs of one start.
    pub pair_sd: f64,
    /// Standard deviation of what starts are off by.
    pub start_sd: f64,
}

/// What time is spent on, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// A pair of rounds.
    pub pair_s: f64,
    /// A start of both servers with what they need until they are warm.
    pub start_s: f64,
}

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount {
    /// Starts.
    pub starts: u32,
    /// Pairs in each.
    pub pairs: u32,
    /// Time that it takes.
    pub seconds: f64,
}

/// Numbers of pairs in a start that are tried: whole blocks.
pub const PAIRS_TRIED: [u32; 16] = [2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128, 192];
/// Fewer starts than this say too little of their own spread for any plan to rest on.
pub const STARTS_LEAST: u32 = 5;

impl Spread {
    /// The standard deviation of the mean of a start with so many pairs.
    ///
    /// Assumes that the pairs of a start are independent of each other and of what their start is
    /// off by: where neighbouring pairs are alike, their mean varies by more.
    pub fn of_start(&self, pairs: u32) -> f64 {
        self.start_sd.hypot(self.pair_sd / f64::from(pairs.max(1)).sqrt())
    }
}

impl Price {
    /// The time that so many starts take.
    ///
    /// Assumes that every pair takes as long as every other one, and every start as well.
    pub(crate) fn time_of_starts(&self, starts: u32, pairs: u32) -> f64 {
        f64::from(starts) * (self.start_s + f64::from(pairs) * self.pair_s)
    }
}

/// The least time that finds a change of `effect` (a share of rQPS) at level `alpha` with chance
/// `power`. `None`: a thousand starts do not.
///
/// Assumes that pairs and starts are independent with means close to normal, and that spread and
/// price are known; they are those of yesterday, or of a pilot.
pub fn least_time(
    spread: &Spread,
    price: &Price,
    effect: f64,
    alpha: f64,
    power: f64,
) -> Option<Amount> {
    let amount = |&pairs: &u32| {
        let starts = pairs_needed(spread.of_start(pairs), effect, alpha, power).max(STARTS_LEAST);
        Amount { starts, pairs, seconds: price.time_of_starts(starts, pairs) }
    };
    let amounts = PAIRS_TRIED.iter().map(amount).filter(|amount| amount.starts < PAIRS_CAP);
    amounts.min_by(|a, b| a.seconds.total_cmp(&b.seconds))
}

/// The smallest change that `pairs` pairs find where servers live once: what starts are off by
/// stays in the interval however many there are. A share of rQPS.
///
/// Assumes what [`least_time`] assumes.
pub fn found_in_one_start(spread: &Spread, pairs: u32, alpha: f64, power: f64) -> f64 {
    let by_pairs = detectable_change(spread.pair_sd, pairs, alpha, power).ln_1p();
    by_pairs.hypot(floor(spread, alpha, power)).exp_m1()
}

/// The least time that finds a change of `effect` where servers live once. `None`: what lives are
/// off by hides it, or a hundred thousand pairs do not find it.
///
/// Assumes what [`least_time`] assumes.
pub fn least_pairs(
    spread: &Spread,
    price: &Price,
    effect: f64,
    alpha: f64,
    power: f64,
) -> Option<Amount> {
    let (wanted, floor) = (effect.abs().ln_1p(), floor(spread, alpha, power));
    if wanted <= floor {
        return None;
    }
    let left = (wanted * wanted - floor * floor).sqrt().exp_m1();
    // Beyond a thousand pairs Student's t is normal: the number goes with the square.
    let some = pairs_needed(spread.pair_sd, left, alpha, power);
    let pairs = if some < PAIRS_CAP {
        some
    } else {
        let found = detectable_change(spread.pair_sd, PAIRS_CAP, alpha, power).ln_1p();
        let times = (found / left.ln_1p()).powi(2);
        (f64::from(PAIRS_CAP) * times).ceil().min(1e9) as u32
    };
    (pairs <= PAIRS_MOST).then(|| Amount {
        starts: 1,
        pairs,
        seconds: price.time_of_starts(1, pairs),
    })
}

/// Pairs that no run has.
const PAIRS_MOST: u32 = 100_000;

/// The logarithm of the change that a single start hides.
fn floor(spread: &Spread, alpha: f64, power: f64) -> f64 {
    (normal_quantile(1.0 - alpha / 2.0) + normal_quantile(power)) * spread.start_sd
}

fn normal_quantile(p: f64) -> f64 {
    quantile(p, f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DECISION_ALPHA, POWER};

    const SPREAD: Spread = Spread { pair_sd: 0.04, start_sd: 0.009 };
    const PRICE: Price = Price { pair_s: 0.26, start_s: 5.0 };

    #[test]
    fn the_least_time_is_near_the_optimum_of_kalibera_and_jones() {
        let found = least_time(&SPREAD, &PRICE, 0.01, DECISION_ALPHA, POWER).unwrap();
        let formula = (PRICE.start_s / PRICE.pair_s).sqrt() * SPREAD.pair_sd / SPREAD.start_sd;
        assert!((found.pairs as f64 / formula).ln().abs() < 0.5, "{found:?}, not {formula}");
        for pairs in [2, 6, 64] {
            let starts = pairs_needed(SPREAD.of_start(pairs), 0.01, DECISION_ALPHA, POWER);
            assert!(PRICE.time_of_starts(starts, pairs) >= found.seconds, "{pairs}");
        }
    }

    #[test]
    fn what_a_time_finds_takes_that_time() {
        for effect in [0.005, 0.01, 0.02] {
            let amount = least_time(&SPREAD, &PRICE, effect, DECISION_ALPHA, POWER).unwrap();
            let sd = SPREAD.of_start(amount.pairs);
            let found = detectable_change(sd, amount.starts, DECISION_ALPHA, POWER);
            assert!(found <= effect && found > 0.9 * effect, "{effect}: {found}");
        }
        let once = Spread { pair_sd: 0.04, start_sd: 0.003 };
        for effect in [0.011, 0.02, 0.05] {
            let pairs = least_pairs(&once, &PRICE, effect, DECISION_ALPHA, POWER).unwrap().pairs;
            let found = found_in_one_start(&once, pairs, DECISION_ALPHA, POWER);
            assert!(found <= effect * 1.001 && found > 0.95 * effect, "{effect}: {found}");
        }
        assert_eq!(least_pairs(&once, &PRICE, 0.01, DECISION_ALPHA, POWER), None);
        assert_eq!(least_time(&SPREAD, &PRICE, 1e-4, DECISION_ALPHA, POWER), None);
    }
}
