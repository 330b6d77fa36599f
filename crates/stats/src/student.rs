//! Student's t and the estimate that rests on it.
//!
//! Every interval of this crate is `mean ± t·se`, whether the values are paired, unpaired or alone;
//! they differ only in how `se` and its degrees of freedom come about. That common shape is
//! [`Estimate`], and the special cases (one value, no spread at all) are settled here once.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::error::StatsError;

/// Beyond this many degrees of freedom the normal distribution takes over; up to here the library's
/// inverse is right to five digits, and to seven where any experiment will ever be.
const NORMAL_DEGREES: f64 = 1e5;
/// Logarithms beyond this are refused: no rate and no ratio is larger than e^50 = 5·10²¹, while a
/// rate that was handed in without its logarithm nearly always is larger than 50.
pub(crate) const LOG_LIMIT: f64 = 50.0;

/// The value of t that a share `p` lies below.
pub(crate) fn quantile(p: f64, degrees: f64) -> f64 {
    if degrees > NORMAL_DEGREES {
        return Normal::standard().inverse_cdf(p);
    }
    student(degrees).inverse_cdf(p)
}

/// The chance of a value as far from 0 as `z`, to either side.
///
/// Assumes a value that is normally distributed around 0 with a standard deviation of 1.
pub fn normal_p_value(z: f64) -> f64 {
    2.0 * Normal::standard().sf(z.abs())
}

/// The share that lies below `t`.
pub(crate) fn probability_below(t: f64, degrees: f64) -> f64 {
    if degrees > NORMAL_DEGREES {
        return Normal::standard().cdf(t);
    }
    student(degrees).cdf(t)
}

fn student(degrees: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, degrees).expect("degrees of freedom are positive here")
}

/// Number, mean and standard deviation of values that were checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    pub n: usize,
    pub mean: f64,
    /// With n−1 in the denominator; 0 for a single value.
    pub sd: f64,
}

impl Moments {
    /// The square of the standard error of the mean.
    pub(crate) fn squared_error(&self) -> f64 {
        self.sd * self.sd / self.n as f64
    }

    /// Moments of values of any unit.
    ///
    /// The limit keeps squares and sums finite.
    pub(crate) fn of_values(values: &[f64]) -> Result<Moments, StatsError> {
        Moments::within(values, 1e100)
    }

    /// Moments of logarithms.
    pub(crate) fn of_logs(values: &[f64]) -> Result<Moments, StatsError> {
        Moments::within(values, LOG_LIMIT)
    }

    fn within(values: &[f64], limit: f64) -> Result<Moments, StatsError> {
        let &first = values.first().ok_or(StatsError::Empty)?;
        for (index, &value) in values.iter().enumerate() {
            if !value.is_finite() {
                return Err(StatsError::NotFinite { index, value });
            }
            if value.abs() > limit {
                return Err(StatsError::OutOfRange { index, value, limit });
            }
        }
        let n = values.len();
        // Equal values are told apart from nearly equal ones: rounding in the mean must not turn an
        // exact answer into a tiny spread.
        if values.iter().all(|&value| value == first) {
            return Ok(Moments { n, mean: first, sd: 0.0 });
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Ok(Moments { n, mean, sd: (squares / (n - 1) as f64).sqrt() })
    }

    /// The mean as an estimate.
    pub(crate) fn mean_estimate(&self) -> Estimate {
        Estimate {
            mean: self.mean,
            standard_error: self.sd / (self.n as f64).sqrt(),
            degrees: (self.n - 1) as f64,
        }
    }
}

/// A mean that Student's t surrounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    pub mean: f64,
    pub standard_error: f64,
    /// Degrees of freedom; 0 where no spread is known, so that nothing bounds the mean.
    pub degrees: f64,
}

impl Estimate {
    /// Lower and upper bound.
    pub(crate) fn bounds(&self, confidence: f64) -> Result<(f64, f64), StatsError> {
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(StatsError::Confidence(confidence));
        }
        if self.degrees <= 0.0 {
            return Ok((f64::NEG_INFINITY, f64::INFINITY));
        }
        if self.standard_error == 0.0 {
            return Ok((self.mean, self.mean));
        }
        let half = quantile(0.5 + confidence / 2.0, self.degrees) * self.standard_error;
        Ok((self.mean - half, self.mean + half))
    }

    /// Two-sided p-value of "the mean is 0"; 1 where nothing is known.
    pub(crate) fn p_value(&self) -> f64 {
        if self.degrees <= 0.0 || self.mean == 0.0 {
            return 1.0;
        }
        if self.standard_error == 0.0 {
            return 0.0;
        }
        let t = self.mean.abs() / self.standard_error;
        (2.0 * probability_below(-t, self.degrees)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(ours: f64, truth: f64, what: &str) {
        assert!((ours - truth).abs() <= 1e-6 * truth.abs(), "{what}: {ours}, not {truth}");
    }

    /// Degrees of freedom, and the values of t below which 0.8, 0.9, 0.975 and 0.995 lie
    /// (`scipy.stats.t.ppf`, SciPy 1.17).
    const QUANTILES: &[(f64, [f64; 4])] = &[
        (1.0, [1.3763819204711738, 3.0776835371752544, 12.706204736174694, 63.656741162871526]),
        (2.0, [1.0606601717798214, 1.8856180831641272, 4.302652729749462, 9.924843200918287]),
        (3.0, [0.9784723123633042, 1.637744353696209, 3.1824463052837078, 5.840909309733355]),
        (5.0, [0.9195437802408271, 1.4758840488244815, 2.5705818356363146, 4.032142983555228]),
        (5.7, [0.9093117416328875, 1.4491066993363557, 2.4784713087006094, 3.7889133365163956]),
        (11.0, [0.8755299780738819, 1.3634303180205407, 2.200985160091639, 3.1058065155392804]),
        (27.3, [0.8549864842039856, 1.3133408028041307, 2.050776009386825, 2.7683959005054586]),
        (59.0, [0.8477559493813871, 1.2960657251220526, 2.000995378088267, 2.6617587521629673]),
        (199.0, [0.8434311999372966, 1.2858202092594093, 1.9719565442517533, 2.600760216058516]),
        (999.0, [0.8419811822589467, 1.2823995700373971, 1.9623414611334493, 2.5807596372676365]),
        (5000.0, [0.8416931276635048, 1.2817209053357184, 1.9604385517065073, 2.5768129665562802]),
        (
            10000000.0,
            [0.8416212695170074, 1.2815516502030833, 1.959964221767205, 2.5758297952037488],
        ),
    ];
    /// Degrees of freedom, and two-sided p-values of t = 0.5, 2, 5 and 12 (`2 * scipy.stats.t.sf`).
    const TAILS: &[(f64, [f64; 4])] = &[
        (1.0, [0.7048327646991335, 0.2951672353008665, 0.1256659163780024, 0.052929352119179755]),
        (2.0, [0.6666666666666667, 0.18350341907227397, 0.037749551350623724, 0.00687293367715846]),
        (
            5.0,
            [0.6382988716409291, 0.10193947882985835, 0.004104715980053323, 7.089492517161522e-05],
        ),
        (
            11.4,
            [0.6265859806377163, 0.06989860198514782, 0.00036124669657144, 8.148400901423814e-08],
        ),
        (
            27.0,
            [0.6211258637632511, 0.05565242732803769, 3.045565443594607e-05, 2.481708718753891e-12],
        ),
        (
            200.0,
            [
                0.6176247523164609,
                0.04685318618707097,
                1.2501981277715407e-06,
                2.422136005246625e-25,
            ],
        ),
    ];

    #[test]
    fn quantiles_agree_with_scipy() {
        for &(degrees, values) in QUANTILES {
            for (p, truth) in [0.8, 0.9, 0.975, 0.995].into_iter().zip(values) {
                assert_close(quantile(p, degrees), truth, &format!("t({p}, {degrees})"));
            }
        }
    }

    #[test]
    fn p_values_agree_with_scipy_far_into_the_tail() {
        for &(degrees, values) in TAILS {
            for (t, truth) in [0.5, 2.0, 5.0, 12.0].into_iter().zip(values) {
                let estimate = Estimate { mean: -0.01 * t, standard_error: 0.01, degrees };
                assert_close(estimate.p_value(), truth, &format!("p({t}, {degrees})"));
            }
        }
    }

    /// The sum of ten times 0.1 is not 1 in binary; the mean of equal values is the value.
    #[test]
    fn equal_values_have_exactly_no_spread() {
        let moments = Moments::of_values(&[0.1; 10]).unwrap();
        assert_eq!((moments.mean, moments.sd), (0.1, 0.0));
    }
}
