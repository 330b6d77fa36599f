//! How large the largest statistic gets where nothing changes.
//!
//! ```text
//!   correlation of neighbours, the best level change taken out, bias put back
//!     not above 0 by more than chance   →  the values in any other order
//!     above 0                           →  AR(1) noise of that correlation
//!   p = (1 + number of draws as large) / (1 + number of draws)
//! ```
//!
//! *When is "correlated"?* A Ljung–Box test at 5 % would miss half of the series of 30 values with
//! a correlation of 0.3, and the missed ones then alarm in 9 of 100 cases instead of 1. So the test
//! is generous: 0.2 standard errors above 0 are enough. For one lag it is the same test, as Ljung
//! and Box's statistic is the square of this one.
//!
//! *Bias.* A level change that was fitted to noise takes correlation away: of 0.6 in 30 values 0.31
//! is left. What is taken away was simulated (3 000 series for each of 6 lengths and 5
//! correlations) and is, within 0.02, the line `(a + b·φ)/n` with a and b that grow with ln n; that
//! is put back.
//!
//! *Draws* are stopped when it is clear that nothing is (Besag and Clifford 1991): after
//! [`LARGE_MOST`] draws as large as the observed one, p is that number over all draws, which is a
//! valid p-value as well. All series of one length see the same draws, so that p moves with the
//! statistic alone.

use dbdyno_model::NullKind;
use dbdyno_model::random::{self, RandomStream};

use super::scores::{Best, Scan, draw_normal, normal_scores};
use crate::correlation::{Correlation, FitBias, KEPT_LEAST};

/// Draws as large as what was observed, after which no more are needed.
const LARGE_MOST: u32 = 20;
const DRAWS_MOST: u32 = 20_000;
/// So many standard errors above 0, neighbours count as correlated.
const OBJECTS_FROM: f64 = 0.2;
/// No noise is taken to be more alike than this.
pub(crate) const CORRELATION_MOST: f64 = 0.95;
/// Of scores, whose squares are about 1 each.
const ROUNDING: f64 = 1e-12;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// One step.
    Step,
    /// A level that comes and goes.
    Bump,
}

impl Look {
    /// Where it stands out most.
    pub(crate) fn best_change(self, scan: &Scan, values: &[f64]) -> Best {
        match self {
            Look::Step => scan.best_step(values),
            Look::Bump => scan.best_bump(values),
        }
    }

    /// By so many standard errors the correlation of `n` values is taken as larger than it looks:
    /// among 30 values it is known to ±0.2, and one that is taken as too small costs more than one
    /// that is taken as too large.
    fn caution(self, n: f64) -> f64 {
        let of_many = match self {
            Look::Step => 0.07,
            Look::Bump => 0.32,
        };
        of_many + 8.0 / n
    }

    /// What fitting it takes from the correlation of neighbours.
    fn bias(self, n: f64) -> FitBias {
        match self {
            Look::Step => FitBias { fixed: 0.6 + 0.8 * n.ln(), by_phi: 5.5 + 0.95 * n.ln() },
            Look::Bump => FitBias { fixed: 2.35 * n.ln() - 3.9, by_phi: 1.1 + 2.5 * n.ln() },
        }
    }
}

/// The correlation of neighbours beside the best change, its bias put back.
pub(crate) fn correlation(look: Look, scores: &[f64], best: &Best) -> Correlation {
    Correlation::from_residuals(
        &without(scores, best),
        look.bias(scores.len() as f64),
        0.0,
        ROUNDING,
    )
}

/// The correlation of neighbours in what is left around two levels, by ranks. The mean of a level
/// takes (1 + 3φ)/n of its n values from it (Kendall 1954).
pub(crate) fn correlation_around(left: &[f64]) -> Correlation {
    let bias = FitBias { fixed: 2.0, by_phi: 6.0 };
    Correlation::from_residuals(&normal_scores(left), bias, KEPT_LEAST, ROUNDING)
}

/// The values without the change.
fn without(values: &[f64], best: &Best) -> Vec<f64> {
    let is_inside = |at: usize| (best.from..best.to).contains(&at);
    let mean = |inside: bool| {
        let own: Vec<f64> =
            (0..values.len()).filter(|&at| is_inside(at) == inside).map(|at| values[at]).collect();
        own.iter().sum::<f64>() / own.len().max(1) as f64
    };
    let means = [mean(false), mean(true)];
    values.iter().enumerate().map(|(at, value)| value - means[usize::from(is_inside(at))]).collect()
}

/// Against what the best change is to be tested.
pub(crate) fn choose_null(look: Look, values: &[f64], best: &Best) -> NullKind {
    let Correlation { phi, standard_error } = correlation(look, values, best);
    if phi > OBJECTS_FROM * standard_error {
        NullKind::Correlated(
            (phi + look.caution(values.len() as f64) * standard_error).min(CORRELATION_MOST),
        )
    } else {
        NullKind::Permutation
    }
}

/// How clear a change is.
pub(crate) struct Chance {
    /// Of a statistic as large where nothing changes.
    pub p_value: f64,
    /// The smallest statistic that would count as found; infinite where it was clear early that
    /// nothing is.
    pub least_found: f64,
}

/// The chance of a statistic as large as `best` where nothing changes, for a decision at `alpha`.
pub(crate) fn change_chance(
    look: Look,
    scan: &Scan,
    scores: &[f64],
    best: &Best,
    null: NullKind,
    alpha: f64,
    seed: u64,
) -> Chance {
    let draws = ((f64::from(LARGE_MOST) / alpha).ceil() as u32).min(DRAWS_MOST) - 1;
    let mut drawn = Vec::with_capacity(draws as usize);
    let mut stream = random::stream(&[seed, random::key_of("change"), scores.len() as u64]);
    let mut values = scores.to_vec();
    let mut large = 0;
    for draw in 1..=draws {
        match null {
            NullKind::Permutation => shuffle(&mut stream, &mut values),
            NullKind::Correlated(phi) => simulate_noise(&mut stream, phi, &mut values),
        }
        let statistic = look.best_change(scan, &values).statistic;
        drawn.push(statistic);
        // Orders that differ in rounding only are equal.
        if statistic >= best.statistic * (1.0 - 1e-12) {
            large += 1;
        }
        if large == LARGE_MOST {
            let p_value = f64::from(large) / f64::from(draw);
            return Chance { p_value, least_found: f64::INFINITY };
        }
    }
    let rank = (f64::from(draws + 1) * alpha) as usize;
    drawn.sort_by(|a, b| b.total_cmp(a));
    Chance {
        p_value: f64::from(large + 1) / f64::from(draws + 1),
        least_found: drawn[rank.max(1) - 1],
    }
}

/// Fisher and Yates.
pub(crate) fn shuffle<T>(stream: &mut RandomStream, values: &mut [T]) {
    for last in (1..values.len()).rev() {
        values.swap(last, stream.next_below(last as u64 + 1) as usize);
    }
}

/// Stationary noise in which each value resembles the one before it.
pub(crate) fn simulate_noise(stream: &mut RandomStream, phi: f64, values: &mut [f64]) {
    let mut value = draw_normal(stream) / (1.0 - phi * phi).sqrt();
    for place in values {
        *place = value;
        value = phi * value + draw_normal(stream);
    }
}

#[cfg(test)]
mod tests {
    use super::super::scores::LEVEL_LEAST;
    use super::*;

    fn noise(phi: f64, n: usize, seed: u64) -> Vec<f64> {
        let mut values = vec![0.0; n];
        simulate_noise(&mut random::stream(&[31, seed]), phi, &mut values);
        values
    }

    #[test]
    fn the_correlation_is_right_on_average_after_the_best_change_is_taken_out() {
        for look in [Look::Step, Look::Bump] {
            for (n, phi) in [(30, 0.0), (30, 0.6), (100, 0.0), (100, 0.3), (100, 0.6), (200, 0.6)] {
                let scan = Scan::of_length(n);
                let of_one = |seed| {
                    let scores = normal_scores(&noise(phi, n, seed));
                    correlation(look, &scores, &look.best_change(&scan, &scores)).phi
                };
                let mean = (0..400).map(of_one).sum::<f64>() / 400.0;
                // Below 0.95 in any case, which at 30 values takes a little from the mean.
                let near = if n == 30 { 0.06 } else { 0.03 };
                assert!((mean - phi).abs() < near, "{look:?} {n} {phi}: {mean}");
            }
        }
    }

    /// With 10 values the step can lie at 4, 5 or 6; all orders that differ in the statistic are
    /// counted by the sets of values that stand first.
    #[test]
    fn the_permutation_null_agrees_with_all_permutations() {
        let n = 10;
        let scan = Scan::of_length(n);
        let scores = normal_scores(&[3.0, 1.0, 2.0, 4.5, 1.5, 7.0, 9.0, 2.5, 8.0, 6.0]);
        let best = scan.best_step(&scores);
        let mut all = Vec::new();
        permutations(&mut scores.clone(), 0, &mut |order| {
            all.push(scan.best_step(order).statistic)
        });
        let share_from = |statistic: f64| {
            let large = all.iter().filter(|&&one| one >= statistic * (1.0 - 1e-12)).count();
            large as f64 / all.len() as f64
        };
        let exact = share_from(best.statistic);
        let null = NullKind::Permutation;
        let draws = change_chance(Look::Step, &scan, &scores, &best, null, 0.001, 7).p_value;
        // After 20 draws as large, p has a relative standard error of 1/√20.
        assert!((draws / exact - 1.0).abs() < 0.5, "{draws} against {exact}");
        assert!(exact > 0.01 && LEVEL_LEAST == 4, "{exact}");
        let clearest = Best { statistic: 9.0, ..best };
        let least = change_chance(Look::Step, &scan, &scores, &clearest, null, 0.05, 7).least_found;
        let found = share_from(least);
        assert!((found / 0.05 - 1.0).abs() < 0.5, "{found} of all are as large as {least}");
    }

    fn permutations(values: &mut [f64], from: usize, each: &mut impl FnMut(&[f64])) {
        if from + 1 >= values.len() {
            return each(values);
        }
        for other in from..values.len() {
            values.swap(from, other);
            permutations(values, from + 1, each);
            values.swap(from, other);
        }
    }
}
