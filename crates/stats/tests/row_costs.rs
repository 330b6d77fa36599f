//! Lines whose two parts are known: what is found of them, and how often an interval holds them.

use std::f64::consts::TAU;

use dbdyno_model::random::{RandomStream, stream};
use dbdyno_model::{Interval, PerArm, Verdict};
use dbdyno_stats::{PointLogs, RowCosts, row_costs};

/// Fixed, per row.
type Truth = [f64; 2];

const ROWS: [f64; 3] = [10.0, 100.0, 1000.0];
const BUDGET: f64 = 0.02;

/// Normal by Box and Muller.
fn normal(random: &mut RandomStream) -> f64 {
    let mut unit = || ((random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let (radius, angle) = ((-2.0 * unit().ln()).sqrt(), TAU * unit());
    radius * angle.cos()
}

/// Eight pairs with noise of `sd` in each arm, and as much again that both rounds of a pair share.
fn points(truth: PerArm<Truth>, sd: f64, seed: u64) -> Vec<PointLogs> {
    let point = |&rows: &f64| {
        let pair = |number: u64| {
            let mut random = stream(&[seed, rows.to_bits(), number]);
            let shared = sd * normal(&mut random);
            truth
                .map(|[fixed, each]| (fixed + each * rows).ln() + shared + sd * normal(&mut random))
        };
        PointLogs { at: rows, pairs: (0..8).map(pair).collect() }
    };
    ROWS.iter().map(point).collect()
}

fn judged(truth: PerArm<Truth>, sd: f64, seed: u64) -> RowCosts {
    row_costs(&[points(truth, sd, seed)], 0.0, BUDGET).unwrap().remove(0)
}

fn verdicts(costs: &RowCosts) -> [Verdict; 2] {
    let changes = costs.fit.as_ref().unwrap().changes.unwrap();
    [changes.fixed.verdict, changes.per_row.verdict]
}

fn holds(interval: Interval, truth: f64) -> bool {
    interval.low <= truth && truth <= interval.high
}

/// SciPy 1.17: `least_squares(lambda p: np.log(p[0]+p[1]*R) - np.log(Y), [1, .1], bounds=([0, 0],
/// np.inf), xtol=1e-15, ftol=1e-15, gtol=1e-15).x`; the second one ends at its bound.
#[test]
fn fits_agree_with_scipy() {
    for (costs, truth) in [
        ([52.1, 81.3, 370.5], [48.944354569763135, 0.321874582537006]),
        ([40.0, 395.0, 4100.0], [0.0, 4.0161844264307325]),
    ] {
        let point = |(&at, cost): (&f64, f64)| PointLogs {
            at,
            pairs: vec![PerArm { base: cost.ln(), test: cost.ln() }; 2],
        };
        let points: Vec<PointLogs> = ROWS.iter().zip(costs).map(point).collect();
        let line = row_costs(&[points], 0.0, 0.5).unwrap().remove(0).fit.unwrap().arms.base;
        let found = [line.fixed_us.estimate, line.per_row_us.estimate];
        for (found, truth) in found.into_iter().zip(truth) {
            assert!((found - truth).abs() <= 1e-5 * truth + 1e-9, "{found} and {truth}");
        }
    }
}

#[test]
fn which_part_changed_is_named() {
    use Verdict::{Equal, Faster, Slower};
    let base = [50.0, 0.3];
    for (test, expected) in [
        ([59.0, 0.3], [Slower, Equal]),
        ([50.0, 0.36], [Equal, Slower]),
        ([45.0, 0.33], [Faster, Slower]),
        ([50.0, 0.3], [Equal, Equal]),
    ] {
        let costs = judged(PerArm { base, test }, 0.001, 3);
        assert_eq!(verdicts(&costs), expected, "{test:?}: {costs:?}");
        let changes = costs.fit.unwrap().changes.unwrap();
        assert!((changes.fixed.ratio.estimate - test[0] / base[0]).abs() < 0.01);
        assert!((changes.per_row.ratio.estimate - test[1] / base[1]).abs() < 0.01);
    }
}

/// 95 % intervals, the noise of 1 500 replications is 0.6 % (one standard deviation).
#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    const TRIALS: u64 = 1_500;
    for (base, test) in
        [([50.0, 0.3], [59.0, 0.3]), ([5.0, 0.3], [5.0, 0.36]), ([0.0, 0.3], [0.0, 0.3])]
    {
        let (mut held, mut bent) = ([0_u64; 4], 0);
        for trial in 0..TRIALS {
            let fit = judged(PerArm { base, test }, 0.02, trial).fit.unwrap();
            let Some(changes) = fit.changes else {
                bent += 1;
                continue;
            };
            for (index, (interval, truth)) in [
                (fit.arms.test.fixed_us, test[0]),
                (fit.arms.test.per_row_us, test[1]),
                (changes.fixed.ratio, test[0] / base[0]),
                (changes.per_row.ratio, test[1] / base[1]),
            ]
            .into_iter()
            .enumerate()
            {
                held[index] += u64::from(holds(interval, truth));
            }
        }
        assert!(bent <= TRIALS / 100, "{bent} lines of {TRIALS} look bent");
        for (index, held) in held.into_iter().enumerate() {
            let share = held as f64 / (TRIALS - bent) as f64;
            let is_asked = base[0] > 0.0 || index == 1 || index == 3;
            let is_right = (0.93..=0.985).contains(&share);
            assert!(!is_asked || is_right, "{index} of {base:?} and {test:?}: {share}");
        }
    }
}

/// Two measures of the same events are four questions, wrong in 1 % of all families at most.
#[test]
fn lines_without_a_difference_are_rarely_told_apart() {
    const TRIALS: u64 = 3_000;
    let truth = PerArm { base: [50.0, 0.3], test: [50.0, 0.3] };
    let wrong = (0..TRIALS).filter(|&trial| {
        let measures = [points(truth, 0.02, trial), points(truth, 0.02, trial + TRIALS)];
        let costs = row_costs(&measures, 0.0, BUDGET).unwrap();
        let changes = costs.iter().filter_map(|cost| cost.fit.as_ref()?.changes);
        let mut all = changes.flat_map(|both| [both.fixed.verdict, both.per_row.verdict]);
        all.any(|verdict| matches!(verdict, Verdict::Slower | Verdict::Faster))
    });
    let share = wrong.count() as f64 / TRIALS as f64;
    assert!(share < 0.01 + 4.0 * (0.01_f64 * 0.99 / TRIALS as f64).sqrt(), "{share}");
}

/// Where a start of a server alone makes a per cent, the intervals know it.
#[test]
fn what_starts_are_taken_to_differ_widens_the_intervals() {
    let truth = PerArm { base: [50.0, 0.3], test: [50.0, 0.3] };
    let width = |between_sd: f64| {
        let costs = row_costs(&[points(truth, 0.001, 1)], between_sd, BUDGET).unwrap().remove(0);
        let ratio = costs.fit.unwrap().changes.unwrap().fixed.ratio;
        (ratio.high / ratio.low).ln()
    };
    assert!(width(0.009) > 2.0 * 1.96 * 0.009 && width(0.0) < 0.01, "{}", width(0.009));
}

#[test]
fn what_is_no_line_is_not_judged() {
    let truth = PerArm { base: [50.0, 0.3], test: [59.0, 0.3] };
    let mut bent = points(truth, 0.002, 1);
    // A sort that spills.
    bent[2].pairs.iter_mut().for_each(|pair| pair.test += 0.5);
    let costs = row_costs(&[bent, points(truth, 0.001, 2)], 0.0, BUDGET).unwrap();
    assert_eq!(costs[0].warnings[0].code, "cost-not-a-line", "{:?}", costs[0]);
    assert!(costs[0].fit.as_ref().unwrap().changes.is_none());
    assert_eq!(verdicts(&costs[1]), [Verdict::Slower, Verdict::Equal], "the other one is");
    let costs = row_costs(&[points(truth, 0.001, 2)[..2].to_vec()], 0.0, BUDGET).unwrap();
    assert_eq!(costs[0].warnings[0].code, "cost-few-sizes");
    assert!(costs[0].fit.is_none());
}
