//! Curves whose parameters are known: what is found of them, and how often an interval holds them.

use std::f64::consts::TAU;

use dbdyno_model::random::{RandomStream, stream};
use dbdyno_model::{CurveFit, CurveQuestion, Interval, PerArm, UslCurve, Verdict};
use dbdyno_stats::{Curves, PointLogs, fit_usl};

/// λ, σ, κ.
type Truth = [f64; 3];

const CLIENTS: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];
const PAIRS: usize = 8;
const BUDGET: f64 = 0.02;

/// Normal by Box and Muller.
fn normal(random: &mut RandomStream) -> f64 {
    let mut unit = || ((random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    let (radius, angle) = ((-2.0 * unit().ln()).sqrt(), TAU * unit());
    radius * angle.cos()
}

fn rate([lambda, sigma, kappa]: Truth, clients: f64) -> f64 {
    lambda * clients / (1.0 + sigma * (clients - 1.0) + kappa * clients * (clients - 1.0))
}

fn peak([_, sigma, kappa]: Truth) -> f64 {
    ((1.0 - sigma) / kappa).sqrt()
}

/// Pairs with noise of `sd` in each arm, and as much again that both rounds of a pair share.
fn points(truth: PerArm<Truth>, sd: f64, seed: u64) -> Vec<PointLogs> {
    let point = |&clients: &f64| {
        let pair = |number: usize| {
            let mut random = stream(&[seed, clients.to_bits(), number as u64]);
            let shared = sd * normal(&mut random);
            truth.map(|truth| rate(truth, clients).ln() + shared + sd * normal(&mut random))
        };
        PointLogs { at: clients, pairs: (0..PAIRS).map(pair).collect() }
    };
    CLIENTS.iter().map(point).collect()
}

fn alike(truth: Truth) -> PerArm<Truth> {
    PerArm { base: truth, test: truth }
}

fn fitted(truth: PerArm<Truth>, sd: f64, seed: u64) -> CurveFit {
    let Curves { fit, warnings } = fit_usl(&points(truth, sd, seed), 0.0, BUDGET).unwrap();
    fit.unwrap_or_else(|| panic!("no fit: {warnings:?}"))
}

fn holds(interval: Interval, truth: f64) -> bool {
    interval.low <= truth && truth <= interval.high
}

/// Without noise the parameters themselves, whatever they are.
#[test]
fn curves_without_noise_are_found_exactly() {
    for truth in [
        [1000.0, 0.05, 0.002],
        [30_000.0, 0.3, 0.0],
        [5.0, 0.0, 0.01],
        [12.0, 0.0, 0.0],
        [700.0, 0.9, 0.3],
    ] {
        let UslCurve { lambda, sigma, kappa, peak_clients, peak_rate, misfit, .. } =
            fitted(alike(truth), 0.0, 1).arms.base;
        let near = |found: f64, truth: f64| (found - truth).abs() <= 1e-6 * truth.abs() + 1e-9;
        assert!(near(lambda.estimate, truth[0]), "{lambda:?} of {truth:?}");
        assert!(near(sigma.estimate, truth[1]), "{sigma:?} of {truth:?}");
        assert!(near(kappa.estimate, truth[2]), "{kappa:?} of {truth:?}");
        assert!(misfit < 1e-6, "{misfit}");
        if truth[2] > 0.001 {
            let place = peak(truth).max(1.0);
            assert!(near(peak_clients.estimate, place), "{peak_clients:?} of {truth:?}");
            assert!(near(peak_rate.estimate, rate(truth, place)), "{peak_rate:?} of {truth:?}");
        } else {
            assert_eq!(peak_clients.estimate, f64::INFINITY, "beyond what was measured");
            assert_eq!(peak_rate.estimate, f64::INFINITY);
        }
    }
}

/// SciPy 1.17: `least_squares(lambda p: np.log(p[0]*N/(1+p[1]*(N-1)+p[2]*N*(N-1))) - np.log(X),
/// [1000, .1, .001], bounds=([0, 0, 0], np.inf), x_scale=[1000, .1, .001], xtol=1e-15, ftol=1e-15,
/// gtol=1e-15).x`.
#[test]
fn fits_agree_with_scipy() {
    for (rates, truth) in SCIPY {
        let point = |(&at, &rate): (&f64, &f64)| {
            let logs = PerArm { base: rate.ln(), test: rate.ln() };
            PointLogs { at, pairs: vec![logs; 2] }
        };
        let points: Vec<PointLogs> = CLIENTS.iter().zip(rates).map(point).collect();
        let arm = fit_usl(&points, 0.0, 0.5).unwrap().fit.unwrap().arms.base;
        let found = [arm.lambda, arm.sigma, arm.kappa].map(|interval| interval.estimate);
        for (found, truth) in found.into_iter().zip(truth) {
            assert!((found - truth).abs() <= 2e-5 * truth.abs() + 1e-9, "{found} and {truth}");
        }
    }
}

const SCIPY: &[([f64; 5], Truth)] = &[
    (
        [1012.0, 1870.0, 3389.0, 5012.0, 5533.0],
        [1002.7071828192401, 0.044224285016702426, 0.005150015828566527],
    ),
    (
        [21843.0, 41020.0, 70011.0, 88120.0, 91400.0],
        [22210.510217712832, 0.07444575496716191, 0.007569454216609257],
    ),
    (
        [504.0, 1033.0, 2051.0, 3987.0, 7720.0],
        [510.82179664276117, 0.0006540662327949786, 0.0002103732337900032],
    ),
    (
        [9000.0, 17400.0, 21000.0, 20500.0, 19000.0],
        [9683.655579256252, 0.21063142155551795, 0.018013734757995625],
    ),
];

/// 95 % intervals of each parameter, over curves within the bounds and on them. The noise of 1 000
/// replications is 0.7 % (one standard deviation); `docs/CALIBRATION.md` has the exact figures.
#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    const TRIALS: u64 = 1_000;
    for (number, truth) in
        [[1000.0, 0.05, 0.01], [1000.0, 0.2, 0.0], [1000.0, 0.0, 0.01], [1000.0, 0.0, 0.0]]
            .into_iter()
            .enumerate()
    {
        let sd = 0.03;
        let mut held = [0_u64; 5];
        for trial in 0..TRIALS {
            let arm = fitted(alike(truth), sd, trial * 8 + number as u64).arms.test;
            let parameters = [arm.lambda, arm.sigma, arm.kappa];
            for (index, interval) in parameters.into_iter().enumerate() {
                held[index] += u64::from(holds(interval, truth[index]));
            }
            if truth[2] > 0.0 {
                let place = peak(truth);
                held[3] += u64::from(holds(arm.peak_clients, place));
                held[4] += u64::from(holds(arm.peak_rate, rate(truth, place)));
            }
        }
        let shares = held.map(|held| held as f64 / TRIALS as f64);
        for (index, share) in shares.into_iter().enumerate() {
            let is_asked = index < 3 || truth[2] > 0.0;
            let is_bound = (1..3).contains(&index) && truth[index] == 0.0;
            let most = if is_bound || index > 2 { 1.0 } else { 0.975 };
            let is_right = (0.93..=most).contains(&share);
            assert!(!is_asked || is_right, "{index} of {truth:?} at {sd}: {share}");
        }
    }
}

/// The five together are wrong in 1 % of all families at most; 1 500 families, four standard
/// deviations.
#[test]
fn curves_without_a_difference_are_rarely_told_apart() {
    const TRIALS: u64 = 1_500;
    for truth in [[1000.0, 0.05, 0.01], [1000.0, 0.0, 0.0]] {
        let wrong = (0..TRIALS).filter(|&trial| {
            let changes = fitted(alike(truth), 0.02, trial + 100_000).changes;
            let is_told = |verdict| matches!(verdict, Verdict::Slower | Verdict::Faster);
            changes.iter().any(|change| is_told(change.verdict))
        });
        let share = wrong.count() as f64 / TRIALS as f64;
        assert!(share < 0.01 + 4.0 * (0.01_f64 * 0.99 / TRIALS as f64).sqrt(), "{share}");
    }
}

/// Each question is answered by the parameter that changed, and by no other.
#[test]
fn what_changed_is_named() {
    use CurveQuestion::{Coherency, Contention, SingleClient};
    let base = [1000.0, 0.05, 0.005];
    for (test, asked) in [
        ([900.0, 0.05, 0.005], SingleClient),
        ([1000.0, 0.12, 0.005], Contention),
        ([1000.0, 0.05, 0.009], Coherency),
    ] {
        let found = fitted(PerArm { base, test }, 0.002, 7);
        for change in &found.changes {
            let is_one = [SingleClient, Contention, Coherency].contains(&change.question);
            let expected = if change.question == asked { Verdict::Slower } else { Verdict::Equal };
            assert!(!is_one || change.verdict == expected, "{test:?}: {change:?}");
        }
        let whole: f64 = found.changes[..3].iter().map(|change| change.effect.estimate.ln()).sum();
        let truth = (rate(test, 16.0) / rate(base, 16.0)).ln();
        assert!((whole - truth).abs() < 0.02, "λ, σ and κ explain all: {whole} of {truth}");
        // Swapping the arms turns every answer around.
        let swapped = fitted(PerArm { base: test, test: base }, 0.0, 7);
        let turned = swapped.changes.iter().find(|change| change.question == asked).unwrap();
        assert_eq!(turned.verdict, Verdict::Faster);
    }
}

#[test]
fn what_the_law_does_not_describe_is_not_judged() {
    // A knee: rates that stop growing at two clients.
    let kneed = |mut points: Vec<PointLogs>| {
        for point in &mut points {
            let knee = point.at.min(2.0).ln() - point.at.ln();
            point.pairs.iter_mut().for_each(|pair| *pair = pair.map(|log| log + knee));
        }
        points
    };
    let straight = alike([1000.0, 0.0, 0.0]);
    let curves = fit_usl(&kneed(points(straight, 0.01, 3)), 0.0, BUDGET).unwrap();
    assert_eq!(curves.warnings[0].code, "curve-misfit", "{:?}", curves.warnings);
    assert!(curves.fit.unwrap().changes.is_empty());
    // Faster than its clients.
    let mut rising = points(straight, 0.01, 4);
    for point in &mut rising {
        let more = 0.3 * point.at.ln();
        point.pairs.iter_mut().for_each(|pair| *pair = pair.map(|log| log + more));
    }
    let curves = fit_usl(&rising, 0.0, BUDGET).unwrap();
    assert!(curves.warnings[0].code.starts_with("curve-"), "{:?}", curves.warnings);
    assert!(curves.fit.is_none_or(|fit| fit.changes.is_empty()));
    // Straight lines are within the law.
    let curves = fit_usl(&points(straight, 0.01, 5), 0.0, BUDGET).unwrap();
    assert_eq!((curves.warnings, curves.fit.unwrap().changes.len()), (vec![], 5));
}

#[test]
fn too_few_counts_say_what_is_missing() {
    let all = points(alike([1000.0, 0.05, 0.01]), 0.01, 1);
    let told = |points: &[PointLogs]| {
        let curves = fit_usl(points, 0.0, BUDGET).unwrap();
        assert!(curves.fit.is_none());
        (curves.warnings[0].code.clone(), curves.warnings[0].text.clone())
    };
    let (code, text) = told(&all[..3]);
    assert_eq!(code, "curve-few-counts");
    assert!(text.contains("4 client counts") && text.contains("--clients 1,2,4,8,16"), "{text}");
    let far: Vec<PointLogs> =
        (0..5).map(|add| PointLogs { at: 8.0 + f64::from(add), ..all[0].clone() }).collect();
    assert!(told(&far).1.contains("smallest number of clients is 8"));
}

#[test]
fn a_pair_or_two_give_no_verdict() {
    let mut points = points(PerArm { base: [1000.0, 0.0, 0.0], test: [500.0, 0.0, 0.0] }, 0.01, 9);
    points[2].pairs.truncate(2);
    let curves = fit_usl(&points, 0.0, BUDGET).unwrap();
    assert_eq!(curves.warnings[0].code, "few-rounds");
    let verdicts: Vec<Verdict> =
        curves.fit.unwrap().changes.iter().map(|change| change.verdict).collect();
    assert_eq!(verdicts, [Verdict::Undecided; 5]);
}

/// Bands hold the curve as often as they say, twice as far out as was measured and where clients
/// never wait for each other, too.
#[test]
fn bands_hold_the_curve() {
    const TRIALS: u64 = 400;
    for truth in [[1000.0, 0.05, 0.01], [1000.0, 0.0, 0.0]] {
        let mut held = [0_u64; 32];
        for trial in 0..TRIALS {
            let points = points(alike(truth), 0.02, trial);
            let fit = fit_usl(&points, 0.0, BUDGET).unwrap().fit.unwrap();
            let band = &fit.arms.base.band;
            assert!(band.len() == 32 && band[31].clients <= 32.0 + 1e-9, "twice 16 clients");
            for (count, place) in held.iter_mut().zip(band) {
                *count += u64::from(holds(place.rate, rate(truth, place.clients)));
                assert!(place.rate.high <= 1.2 * 1000.0 * place.clients, "{place:?}");
            }
        }
        for count in held {
            let share = count as f64 / TRIALS as f64;
            // Where the truth lies on a bound, only one side can miss it.
            assert!((0.92..0.995).contains(&share), "{truth:?}: {held:?}");
        }
    }
}
