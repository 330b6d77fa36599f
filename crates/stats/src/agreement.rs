//! How far two columns of figures agree: Spearman's rank correlation, and medians.
//!
//! ```text
//!   theirs  0.62  0.66  0.85     ranks  1  2  3     correlation of the ranks: 1 where both put
//!   ours    0.70  0.71  1.09            1  2  3     all rows into one order, whatever the sizes
//! ```

/// Spearman's rank correlation of two columns of one length: Pearson's of their ranks, equal values
/// with the mean of the ranks that they take ("The Proof and Measurement of Association between Two
/// Things", American Journal of Psychology 15, 1904). Assumes nothing of their distributions.
/// `None` of fewer than three rows, of a column whose values are all equal, and of values that are
/// not finite.
pub fn rank_correlation(one: &[f64], other: &[f64]) -> Option<f64> {
    let is_usable = one.len() == other.len() && one.len() >= 3;
    if !is_usable || one.iter().chain(other).any(|value| !value.is_finite()) {
        return None;
    }
    let (one, other) = (average_ranks(one), average_ranks(other));
    let middle = (one.len() + 1) as f64 / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum()
    };
    let size = (product(&one, &one) * product(&other, &other)).sqrt();
    (size > 0.0).then(|| product(&one, &other) / size)
}

/// The rank of each value from 1; equal ones share the mean of theirs.
pub(crate) fn average_ranks(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .map(|value| {
            let below = values.iter().filter(|other| *other < value).count();
            let equal = values.iter().filter(|other| *other == value).count();
            below as f64 + (equal + 1) as f64 / 2.0
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of the text: ranks of intelligence and hours of television in Wikipedia's worked
    /// example of Spearman's coefficient, −29/165.
    #[test]
    fn the_worked_example_comes_out() {
        let quotient = [106.0, 100.0, 86.0, 101.0, 99.0, 103.0, 97.0, 113.0, 112.0, 110.0];
        let hours = [7.0, 27.0, 2.0, 50.0, 28.0, 29.0, 20.0, 12.0, 6.0, 17.0];
        let found = rank_correlation(&quotient, &hours).unwrap();
        assert!((found + 29.0 / 165.0).abs() < 1e-12, "{found}");
    }

    #[test]
    fn order_is_all_that_counts_and_ties_share_their_ranks() {
        assert_eq!(rank_correlation(&[1.0, 2.0, 9.0], &[0.1, 0.2, 0.3]), Some(1.0));
        assert_eq!(rank_correlation(&[1.0, 2.0, 9.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(average_ranks(&[5.0, 1.0, 5.0, 7.0]), [2.5, 1.0, 2.5, 4.0]);
        assert_eq!(rank_correlation(&[1.0, 1.0, 1.0], &[3.0, 2.0, 1.0]), None);
        assert_eq!(rank_correlation(&[1.0, 2.0], &[3.0, 2.0]), None);
        assert_eq!(rank_correlation(&[1.0, 2.0, f64::NAN], &[3.0, 2.0, 1.0]), None);
    }
}
