//! How ids are drawn: which rows of a table are asked for how often.
//!
//! ```text
//!   uniform   ▁▁▁▁▁▁▁▁▁▁▁▁   every row alike
//!   gaussian  ▁▁▂▃▅▇▇▅▃▂▁▁   mean of twelve uniform numbers
//!   special   ▁▁▁▁▁▁█▁▁▁▁▁   75 % on 1 % of the rows, in the middle; the rest gaussian
//!   pareto    █▅▃▂▂▁▁▁▁▁▁▁   80 % on the first 20 %
//!   zipfian   █▄▃▂▂▁▁▁▁▁▁▁   row i in proportion to i^-skew; hot rows are neighbours
//!   hotspot   ▇▇▁▁▁▁▁▁▁▁▁▁   80 % on the first 20 %, each part uniform
//!   latest    ▁▁▁▁▁▁▁▂▂▃▅█   zipfian from the last row down
//! ```
//!
//! Names and parameters are those of sysbench (gaussian, special, pareto, zipfian) and of YCSB
//! (Cooper et al. 2010: hotspot, latest). sysbench 1.0.20 draws by default from `special`; here the
//! default is uniform. Its gaussian of later versions returns a single uniform number; ours is what
//! its manual says.

use std::fmt;

use dbdyno_model::random::RandomStream;

/// A distribution over the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Draw {
    /// Every row alike.
    Uniform,
    /// The mean of twelve uniform numbers: middle rows more often, standard deviation rows / 12.
    Gaussian,
    /// Three draws in four from the middle hundredth, the rest gaussian.
    Special,
    /// Row numbers in proportion to `u^(ln h / ln (1 - h))`: a share of `1 - h` of the draws falls
    /// on the first `h` of the rows.
    Pareto(f64),
    /// Row `i` in proportion to `i^-s`, `s` > 0.
    Zipfian(f64),
    /// Four draws in five from this first share of the rows.
    Hotspot(f64),
    /// Zipfian with this exponent, counted from the last row.
    Latest(f64),
}

/// All names, in the order of the help.
pub const NAMES: [&str; 7] =
    ["uniform", "gaussian", "special", "pareto", "zipfian", "hotspot", "latest"];

/// Twelve uniform numbers make a curve that is normal as far as anybody can see.
const GAUSSIAN_TERMS: u32 = 12;
const SPECIAL_DRAWS: f64 = 0.75;
const SPECIAL_ROWS: f64 = 0.01;
const HOTSPOT_DRAWS: f64 = 0.8;

impl Draw {
    /// The distribution with this name, with its parameter or the usual one: pareto 0.2, zipfian
    /// 0.8, hotspot 0.2, latest 0.99.
    ///
    /// # Errors
    /// A sentence: an unknown name, or a parameter that the distribution does not take.
    pub fn from_name(name: &str, skew: Option<f64>) -> Result<Draw, String> {
        let within = |range: std::ops::RangeInclusive<f64>, usual: f64| match skew {
            Some(skew) if !range.contains(&skew) => {
                let (low, high) = range.into_inner();
                Err(format!("skew of {name} lies between {low} and {high}"))
            }
            skew => Ok(skew.unwrap_or(usual)),
        };
        let draw = match name {
            "pareto" => Draw::Pareto(within(0.001..=0.499, 0.2)?),
            "zipfian" => Draw::Zipfian(within(0.01..=5.0, 0.8)?),
            "hotspot" => Draw::Hotspot(within(0.0001..=0.9999, 0.2)?),
            "latest" => Draw::Latest(within(0.01..=5.0, 0.99)?),
            "uniform" | "gaussian" | "special" if skew.is_some() => {
                return Err(format!("{name} has no skew; leave it out"));
            }
            "uniform" => Draw::Uniform,
            "gaussian" => Draw::Gaussian,
            "special" => Draw::Special,
            _ => {
                return Err(format!("unknown distribution {name:?}; known: {}", NAMES.join(", ")));
            }
        };
        Ok(draw)
    }

    /// The distribution over rows 1..=`rows`, ready to be drawn from.
    pub(crate) fn over_rows(self, rows: u64) -> Sampler {
        assert!(rows > 0, "a distribution over no rows");
        let zipf = match self {
            Draw::Zipfian(skew) | Draw::Latest(skew) => Some(Zipf::new(rows, skew)),
            _ => None,
        };
        Sampler { draw: self, rows, zipf }
    }
}

/// `zipfian(0.8)`.
impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Draw::Uniform => f.write_str("uniform"),
            Draw::Gaussian => f.write_str("gaussian"),
            Draw::Special => f.write_str("special"),
            Draw::Pareto(skew) => write!(f, "pareto({skew})"),
            Draw::Zipfian(skew) => write!(f, "zipfian({skew})"),
            Draw::Hotspot(skew) => write!(f, "hotspot({skew})"),
            Draw::Latest(skew) => write!(f, "latest({skew})"),
        }
    }
}

/// A distribution over a known number of rows.
#[derive(Clone, Debug)]
pub struct Sampler {
    draw: Draw,
    rows: u64,
    zipf: Option<Zipf>,
}

impl Sampler {
    /// A row number in 1..=rows.
    #[inline]
    pub fn draw(&self, random: &mut RandomStream) -> u64 {
        match self.draw {
            Draw::Uniform => 1 + random.next_below(self.rows),
            Draw::Gaussian => self.gaussian(random),
            Draw::Special => self.special(random),
            Draw::Pareto(h) => {
                let power = h.ln() / (1.0 - h).ln();
                self.row(unit(random).powf(power))
            }
            Draw::Zipfian(_) => self.zipfian(random),
            Draw::Hotspot(share) => self.hotspot(share, random),
            Draw::Latest(_) => self.rows + 1 - self.zipfian(random),
        }
    }

    /// The row at a place between 0 and 1.
    fn row(&self, place: f64) -> u64 {
        1 + ((place * self.rows as f64) as u64).min(self.rows - 1)
    }

    fn gaussian(&self, random: &mut RandomStream) -> u64 {
        let sum: f64 = (0..GAUSSIAN_TERMS).map(|_| unit(random)).sum();
        self.row(sum / f64::from(GAUSSIAN_TERMS))
    }

    fn special(&self, random: &mut RandomStream) -> u64 {
        if unit(random) >= SPECIAL_DRAWS {
            return self.gaussian(random);
        }
        let special = ((self.rows as f64 * SPECIAL_ROWS) as u64).max(1);
        1 + (self.rows - special) / 2 + random.next_below(special)
    }

    fn hotspot(&self, share: f64, random: &mut RandomStream) -> u64 {
        let hot = ((self.rows as f64 * share) as u64).clamp(1, self.rows);
        if unit(random) < HOTSPOT_DRAWS || hot == self.rows {
            1 + random.next_below(hot)
        } else {
            1 + hot + random.next_below(self.rows - hot)
        }
    }

    fn zipfian(&self, random: &mut RandomStream) -> u64 {
        self.zipf.as_ref().expect("made with the sampler").draw(random)
    }
}

/// A number in [0, 1) with 53 random bits.
#[inline]
fn unit(random: &mut RandomStream) -> f64 {
    (random.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Zipf's distribution by rejection-inversion (Hörmann and Derflinger: "Rejection-inversion to
/// generate variates from monotone discrete distributions", TOMACS 6(3), 1996): constant time for
/// any number of rows, no table.
///
/// `h` is the integral of `x^-s`; a uniform point under the curve from 1/2 to n + 1/2 is taken to
/// the nearest integer and rejected where the bar of that integer is lower than the curve.
#[derive(Clone, Debug)]
struct Zipf {
    rows: f64,
    exponent: f64,
    h_first: f64,
    h_last: f64,
    accept_within: f64,
}

impl Zipf {
    fn new(rows: u64, exponent: f64) -> Zipf {
        let rows = rows as f64;
        let mut zipf = Zipf { rows, exponent, h_first: 0.0, h_last: 0.0, accept_within: 0.0 };
        zipf.h_first = zipf.h(1.5) - 1.0;
        zipf.h_last = zipf.h(rows + 0.5);
        zipf.accept_within = 2.0 - zipf.h_inverse(zipf.h(2.5) - zipf.density(2.0));
        zipf
    }

    fn density(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// The integral of the density; the limit of the formula for exponent 1 is the logarithm.
    fn h(&self, x: f64) -> f64 {
        let log = x.ln();
        expm1_over((1.0 - self.exponent) * log) * log
    }

    fn h_inverse(&self, y: f64) -> f64 {
        let t = (y * (1.0 - self.exponent)).max(-1.0);
        (ln1p_over(t) * y).exp()
    }

    fn draw(&self, random: &mut RandomStream) -> u64 {
        loop {
            let u = self.h_last + unit(random) * (self.h_first - self.h_last);
            let x = self.h_inverse(u);
            let k = (x + 0.5).floor().clamp(1.0, self.rows);
            if k - x <= self.accept_within || u >= self.h(k + 0.5) - self.density(k) {
                return k as u64;
            }
        }
    }
}

/// `(e^x - 1) / x`, also near 0.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.exp_m1() / x } else { 1.0 + x / 2.0 }
}

/// `ln(1 + x) / x`, also near 0.
fn ln1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { x.ln_1p() / x } else { 1.0 - x / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::random::stream;

    const DRAWS: usize = 200_000;

    fn counts(draw: Draw, rows: u64) -> Vec<f64> {
        let sampler = draw.over_rows(rows);
        let mut random = stream(&[11, rows]);
        let mut counts = vec![0.0; rows as usize];
        for _ in 0..DRAWS {
            counts[sampler.draw(&mut random) as usize - 1] += 1.0;
        }
        counts
    }

    /// Chi-square against probabilities; rare rows are put together until 5 draws are expected.
    /// Returns the normal score of Wilson and Hilferty, which exceeds 3.1 once in a thousand.
    fn score(counts: &[f64], probability: impl Fn(u64) -> f64) -> f64 {
        let total: f64 = counts.iter().sum();
        let (mut chi2, mut cells, mut seen, mut expected) = (0.0, 0.0, 0.0, 0.0);
        for (index, count) in counts.iter().enumerate() {
            seen += count;
            expected += total * probability(index as u64 + 1);
            if expected >= 5.0 {
                chi2 += (seen - expected).powi(2) / expected;
                cells += 1.0;
                (seen, expected) = (0.0, 0.0);
            }
        }
        let freedom: f64 = cells - 1.0;
        let spread = 2.0 / (9.0 * freedom);
        ((chi2 / freedom).cbrt() - (1.0 - spread)) / spread.sqrt()
    }

    #[test]
    fn zipfian_and_latest_follow_their_formula() {
        for skew in [0.5, 0.8, 0.99, 1.0, 1.5] {
            for rows in [2, 10, 1000] {
                let sum: f64 = (1..=rows).map(|i| (i as f64).powf(-skew)).sum();
                let zipfian = counts(Draw::Zipfian(skew), rows);
                let score_zipf = score(&zipfian, |i| (i as f64).powf(-skew) / sum);
                assert!(score_zipf < 3.1, "zipfian({skew}) over {rows}: {score_zipf}");
                let mut latest = counts(Draw::Latest(skew), rows);
                latest.reverse();
                assert_eq!(latest, zipfian);
            }
        }
    }

    #[test]
    fn pareto_uniform_and_hotspot_follow_their_formulae() {
        let rows = 1000.0;
        let power = |h: f64| (1.0 - h).ln() / h.ln();
        for h in [0.1, 0.2, 0.4] {
            let below = |i: u64| (i as f64 / rows).powf(power(h));
            let score = score(&counts(Draw::Pareto(h), 1000), |i| below(i) - below(i - 1));
            assert!(score < 3.1, "pareto({h}): {score}");
            assert!((below((rows * h) as u64) - (1.0 - h)).abs() < 1e-9, "the rule of its name");
        }
        assert!(score(&counts(Draw::Uniform, 1000), |_| 1.0 / rows) < 3.1);
        let hotspot = |i: u64| if i <= 200 { 0.8 / 200.0 } else { 0.2 / 800.0 };
        assert!(score(&counts(Draw::Hotspot(0.2), 1000), hotspot) < 3.1);
    }

    /// The density of the mean of twelve uniform numbers (Irwin and Hall), summed exactly.
    fn irwin_hall_below(x: f64) -> f64 {
        let n = f64::from(GAUSSIAN_TERMS);
        let (mut sum, mut choose, mut factorial) = (0.0, 1.0, 1.0);
        (1..=GAUSSIAN_TERMS).for_each(|k| factorial *= f64::from(k));
        for k in 0..=GAUSSIAN_TERMS {
            let term = n * x - f64::from(k);
            if term > 0.0 {
                let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
                sum += sign * choose * term.powf(n);
            }
            choose *= (n - f64::from(k)) / (f64::from(k) + 1.0);
        }
        sum / factorial
    }

    #[test]
    fn gaussian_and_special_follow_their_formulae() {
        let gaussian =
            |i: u64| irwin_hall_below(i as f64 / 1e3) - irwin_hall_below((i - 1) as f64 / 1e3);
        let found = score(&counts(Draw::Gaussian, 1000), gaussian);
        assert!(found < 3.1, "gaussian: {found}");
        let special =
            |i: u64| 0.25 * gaussian(i) + if (496..=505).contains(&i) { 0.75 / 10.0 } else { 0.0 };
        let found = score(&counts(Draw::Special, 1000), special);
        assert!(found < 3.1, "special: {found}");
        // The score finds what is not so.
        assert!(score(&counts(Draw::Gaussian, 1000), |_| 1e-3) > 100.0);
    }

    #[test]
    fn one_row_is_always_found_and_huge_tables_stay_in_range() {
        for name in NAMES {
            let draw = Draw::from_name(name, None).unwrap();
            let mut random = stream(&[5]);
            assert_eq!(draw.over_rows(1).draw(&mut random), 1, "{name}");
            let rows = 2_000_000_000;
            let huge = draw.over_rows(rows);
            (0..10_000).for_each(|_| assert!((1..=rows).contains(&huge.draw(&mut random))));
        }
        assert!(Draw::from_name("uniform", Some(1.0)).is_err());
        assert!(Draw::from_name("zipfian", Some(-1.0)).is_err());
        assert!(Draw::from_name("zipf", None).unwrap_err().contains("zipfian"));
    }
}
