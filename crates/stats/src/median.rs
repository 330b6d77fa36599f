//! The value in the middle, or the mean of the two that are.

/// The median; `None` of no values. Assumes that they are finite.
pub fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| median_or_nan(values))
}

/// The median, NaN of no values.
pub(crate) fn median_or_nan(values: &[f64]) -> f64 {
    median_in_place(&mut values.to_vec())
}

/// As [`median_or_nan`], of values that may change their places.
pub(crate) fn median_in_place(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let half = values.len() / 2;
    let is_odd = values.len() % 2 == 1;
    let (below, &mut upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if is_odd { upper } else { f64::midpoint(lower, upper) }
}

/// As [`median_or_nan`], of values in order.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    match n {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert!(median_or_nan(&[]).is_nan() && median_of_sorted(&[]).is_nan());
        for (sorted, expected) in [
            (&[7.0][..], 7.0),
            (&[1.0, 2.0], 1.5),
            (&[1.0, 2.0, 3.0], 2.0),
            (&[1.0, 2.0, 4.0, 9.0], 3.0),
        ] {
            let turned: Vec<f64> = sorted.iter().rev().copied().collect();
            assert_eq!(median(&turned), Some(expected));
            assert_eq!(median_of_sorted(sorted), expected);
        }
    }
}
