//! Several measures, one verdict.

use dbdyno_model::random;
use dbdyno_model::{IntervalChoice, Verdict};
use dbdyno_stats::{
    DECISION_ALPHA, JointJudgement, JudgementTerms, Nest, judge_jointly, judge_starts,
};

/// Log-ratios with this mean and alternating noise.
fn logs(mean: f64, noise: f64) -> Vec<f64> {
    (0..40).map(|pair| mean + noise * [1.0, -0.4, -1.2, 0.6][pair % 4]).collect()
}

fn jointly(measures: &[&[f64]]) -> JointJudgement {
    let nests: Vec<_> = measures.iter().map(|logs| vec![vec![logs.to_vec()]]).collect();
    let nests: Vec<&Nest> = nests.iter().map(Vec::as_slice).collect();
    let interval = IntervalChoice::Auto;
    let terms = JudgementTerms { between_sd: 0.0, budget: 0.02, interval, seed: 1 };
    judge_jointly(&nests, &terms).unwrap()
}

fn verdict(measures: &[&[f64]]) -> Verdict {
    jointly(measures).verdict
}

#[test]
fn one_measure_that_proves_is_enough_unless_another_one_refutes_it() {
    let (slow, fast) = (logs(-0.2, 0.05), logs(0.2, 0.05));
    let (same, open) = (logs(0.0001, 0.001), logs(0.01, 0.5));
    assert_eq!(verdict(&[&slow, &same]), Verdict::Slower);
    assert_eq!(verdict(&[&open, &slow]), Verdict::Slower);
    assert_eq!(verdict(&[&fast, &open]), Verdict::Faster);
    assert_eq!(verdict(&[&same, &same]), Verdict::Equal);
    assert_eq!(verdict(&[&same, &open]), Verdict::Undecided);
    let torn = jointly(&[&slow, &fast]);
    assert_eq!(torn.verdict, Verdict::Undecided);
    assert!(torn.warnings.iter().any(|warning| warning.code == "measures-contradict"));
    let few = &slow[..2];
    assert_eq!(verdict(&[few, few]), Verdict::Undecided);
}

#[test]
fn one_measure_is_judged_as_by_itself() {
    for (mean, noise) in [(-0.2, 0.05), (0.0, 0.001), (0.01, 0.5), (0.03, 0.04)] {
        let logs = logs(mean, noise);
        let alone = judge_starts(std::slice::from_ref(&logs), 0.0, 0.02).unwrap();
        let joint = jointly(&[&logs]);
        assert_eq!(joint.verdict, alone.verdict);
        assert_eq!(joint.measures[0].0, alone.rqps);
        assert_eq!(joint.pairs_missing, alone.pairs_missing);
    }
}

/// Two independent measures of nothing, 4 000 cells: false verdicts stay below the level, within
/// three standard errors.
#[test]
fn two_chances_do_not_make_two_false_verdicts() {
    let cells = 4000;
    let mut stream = random::stream(&[99]);
    let mut normal = || -> f64 {
        // Irwin–Hall: the sum of twelve uniform numbers has variance 1.
        (0..12).map(|_| stream.next_below(1 << 32) as f64 / (1_u64 << 32) as f64).sum::<f64>() - 6.0
    };
    let mut wrong = 0;
    for _ in 0..cells {
        let measures: [Vec<f64>; 2] =
            std::array::from_fn(|_| (0..20).map(|_| 0.2 * normal()).collect());
        let verdict = verdict(&[&measures[0], &measures[1]]);
        wrong += i32::from(matches!(verdict, Verdict::Slower | Verdict::Faster));
    }
    let level = DECISION_ALPHA * f64::from(cells);
    let three_errors = 3.0 * (level * (1.0 - DECISION_ALPHA)).sqrt();
    assert!(f64::from(wrong) < level + three_errors, "{wrong} false verdicts");
    assert!(wrong > 5, "the level is not used: {wrong}");
}
