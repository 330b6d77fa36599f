//! What must hold of any numbers.

use dbdyno_model::{IntervalChoice, Verdict};
use dbdyno_stats::{
    DECISION_ALPHA, POWER, SHOWN_CONFIDENCE, detectable_change, geometric_mean_interval,
    judge_pairs, judge_unpaired, mean_interval, paired_estimate, pairs_needed, welch,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn close(left: f64, right: f64) -> bool {
    left == right || (left - right).abs() <= 1e-9 * left.abs().max(right.abs()).max(1.0)
}

fn mirrored(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Slower => Verdict::Faster,
        Verdict::Faster => Verdict::Slower,
        other => other,
    }
}

/// Log-ratios as they come: some noise around some effect.
fn log_ratios() -> impl Strategy<Value = Vec<f64>> {
    (-0.2..0.2f64, 1e-4..0.1f64, 1usize..30)
        .prop_flat_map(|(centre, noise, pairs)| vec(centre - noise..centre + noise, pairs..=pairs))
}

proptest! {
    #[test]
    fn swapping_the_arms_mirrors_everything(pairs in log_ratios(), budget in 0.0..0.1f64) {
        let swapped: Vec<f64> = pairs.iter().map(|value| -value).collect();
        let one = judge_pairs(&pairs, budget).unwrap();
        let other = judge_pairs(&swapped, budget).unwrap();
        prop_assert_eq!(one.verdict, mirrored(other.verdict));
        prop_assert_eq!(one.pairs_missing, other.pairs_missing);
        prop_assert_eq!(one.detectable, other.detectable);
        prop_assert!(close(one.rqps.low * other.rqps.high, 1.0) || pairs.len() == 1);
        prop_assert!(close(one.rqps.estimate * other.rqps.estimate, 1.0));
    }

    #[test]
    fn swapping_unpaired_arms_mirrors_the_verdict(
        base in vec(8.9..9.1f64, 1..12), test in vec(8.9..9.1f64, 1..12),
    ) {
        let one = judge_unpaired(&base, &test, 0.02, IntervalChoice::Auto).unwrap();
        let other = judge_unpaired(&test, &base, 0.02, IntervalChoice::Auto).unwrap();
        prop_assert_eq!(one.verdict, mirrored(other.verdict));
        prop_assert!(close(one.rqps.estimate * other.rqps.estimate, 1.0));
    }

    /// Kilo or mega, statements or transactions: the unit of a rate is nobody's advantage.
    #[test]
    fn the_unit_of_the_rate_does_not_matter(
        rates in vec(50.0..150.0f64, 2..20), scale in 1e-3..1e6f64,
    ) {
        let scaled: Vec<f64> = rates.iter().map(|rate| rate * scale).collect();
        let ours = geometric_mean_interval(&rates, 0.95).unwrap();
        let theirs = geometric_mean_interval(&scaled, 0.95).unwrap();
        prop_assert!(close(ours.estimate * scale, theirs.estimate));
        prop_assert!(close(ours.low * scale, theirs.low) && close(ours.high * scale, theirs.high));
        let ours = mean_interval(&rates, 0.95).unwrap();
        let theirs = mean_interval(&scaled, 0.95).unwrap();
        prop_assert!(close(ours.low * scale, theirs.low) && close(ours.high * scale, theirs.high));
        let logs = |rates: &[f64]| rates.iter().map(|rate| rate.ln()).collect::<Vec<_>>();
        let ratio = welch(&logs(&rates), &logs(&scaled), 0.95).unwrap().ratio;
        prop_assert!(close(ratio.estimate, scale));
    }

    #[test]
    fn more_confidence_is_a_wider_interval(
        pairs in log_ratios(), low in 0.01..0.99f64, high in 0.01..0.99f64,
    ) {
        prop_assume!(low < high);
        let narrow = paired_estimate(&pairs, low).unwrap();
        let wide = paired_estimate(&pairs, high).unwrap();
        prop_assert!(wide.ratio.low <= narrow.ratio.low);
        prop_assert!(wide.ratio.high >= narrow.ratio.high);
        prop_assert!(narrow.ratio.low <= narrow.ratio.estimate);
        prop_assert!(narrow.ratio.estimate <= narrow.ratio.high);
    }

    /// A p-value below 1 − confidence and an interval that excludes 1 are the same statement.
    #[test]
    fn p_value_and_interval_agree(pairs in log_ratios(), confidence in 0.5..0.999f64) {
        let estimate = paired_estimate(&pairs, confidence).unwrap();
        prop_assume!((estimate.p_value - (1.0 - confidence)).abs() > 1e-6);
        let excludes = estimate.ratio.low > 1.0 || estimate.ratio.high < 1.0;
        prop_assert_eq!(excludes, estimate.p_value < 1.0 - confidence);
    }

    /// The rule once more, from the two public intervals alone.
    #[test]
    fn the_verdict_follows_from_the_intervals(pairs in log_ratios(), budget in 0.0..0.3f64) {
        let shown = paired_estimate(&pairs, SHOWN_CONFIDENCE).unwrap().ratio;
        let deciding = paired_estimate(&pairs, 1.0 - DECISION_ALPHA).unwrap().ratio;
        let expected = if pairs.len() < 3 {
            Verdict::Undecided
        } else if shown.low >= 1.0 - budget && shown.high <= 1.0 / (1.0 - budget) {
            Verdict::Equal
        } else if deciding.high < 1.0 {
            Verdict::Slower
        } else if deciding.low > 1.0 {
            Verdict::Faster
        } else {
            Verdict::Undecided
        };
        let judgement = judge_pairs(&pairs, budget).unwrap();
        prop_assert_eq!(judgement.verdict, expected);
        prop_assert_eq!(judgement.rqps, shown);
        if expected != Verdict::Undecided {
            prop_assert_eq!(judgement.pairs_missing, None);
        }
    }

    #[test]
    fn more_pairs_and_less_noise_find_smaller_effects(
        sd in 1e-4..0.2f64, pairs in 3u32..200, effect in 1e-3..0.5f64,
    ) {
        let found = |sd, pairs| detectable_change(sd, pairs, DECISION_ALPHA, POWER);
        prop_assert!(found(sd, pairs + 1) < found(sd, pairs));
        prop_assert!(found(sd / 2.0, pairs) < found(sd, pairs));
        let needed = |sd, effect| pairs_needed(sd, effect, DECISION_ALPHA, POWER);
        prop_assert!(needed(sd, effect * 1.5) <= needed(sd, effect));
        prop_assert!(needed(sd / 2.0, effect) <= needed(sd, effect));
    }

    /// Any floats at all: an error or numbers, and nothing that is not a number.
    #[test]
    fn nothing_is_ever_not_a_number(
        pairs in vec(any::<f64>(), 0..8), more in vec(-60.0..60.0f64, 0..8), budget in any::<f64>(),
    ) {
        for values in [&pairs, &more] {
            for budget in [budget, 0.02] {
                if let Ok(judgement) = judge_pairs(values, budget) {
                    let rqps = judgement.rqps;
                    let parts = [rqps.low, rqps.estimate, rqps.high];
                    prop_assert!(!parts.iter().any(|part| part.is_nan()), "{rqps:?}");
                    prop_assert!(values.iter().all(|value| value.is_finite()));
                }
            }
            let means = [mean_interval(values, 0.95), geometric_mean_interval(values, 0.95)];
            for mean in means.into_iter().flatten() {
                let sound = mean.low <= mean.estimate && mean.estimate <= mean.high;
                prop_assert!(sound, "{mean:?}");
            }
            if let Ok(estimate) = welch(values, &more, 0.95) {
                prop_assert!(!estimate.p_value.is_nan() && !estimate.ratio.low.is_nan());
            }
        }
    }
}
