//! What intervals cover, and how often whole procedures alarm, counted on hosts that we make up.
//!
//! Seeded, so that every run of these tests sees the same noise.

use crate::hosts::{self, HOSTS, normal, share, starts};
use dbdyno_model::random::{self, RandomStream};
use dbdyno_model::{IntervalChoice, IntervalKind, Verdict};
use dbdyno_stats::{
    BCA_MIN, BETWEEN_STARTS_SD, FALSE_DISCOVERIES, Judgement, JudgementTerms, bca,
    benjamini_hochberg, fieller, judge_nested, mann_whitney, signed_rank,
};

fn terms(interval: IntervalChoice) -> JudgementTerms {
    // A budget that noise never proves, so that `equal` hides no alarm.
    JudgementTerms { between_sd: BETWEEN_STARTS_SD, budget: 0.0002, interval, seed: 1 }
}

fn alarms(judgement: &Judgement) -> bool {
    matches!(judgement.verdict, Verdict::Slower | Verdict::Faster)
}

/// Equal arms on each host, judged by the interval that is chosen by the tails of the very pairs
/// that are judged: the choice is part of the procedure, and the procedure alarms in 1 % of runs.
#[test]
fn the_automatic_choice_keeps_its_level() {
    for (count, pairs, runs) in [(16, 96, 2_000), (8, 144, 2_000), (1, 200, 300)] {
        for host in HOSTS {
            let mut robust = 0;
            let rate = share(runs, |index| {
                let mut stream = random::stream(&[77, count as u64, index]);
                let nest = [starts((pairs, index), host, count, BETWEEN_STARTS_SD, &mut stream)];
                let judged = judge_nested(&nest, &terms(IntervalChoice::Auto)).unwrap();
                robust += u64::from(judged.basis.interval == IntervalKind::Robust);
                alarms(&judged)
            });
            // Three standard errors above 1 %.
            let most = 0.01 + 3.0 * (0.01 * 0.99 / runs as f64).sqrt();
            assert!(rate <= most, "{count} starts, {host:?}: {rate}");
            let heavy = matches!(host, hosts::Host::Spiky | hosts::Host::LogNormal);
            assert_eq!(heavy, 2 * robust > runs, "{host:?}: {robust} of {runs} robust");
        }
    }
}

/// What it is for: where one round in fifty is disturbed, the interval is a third narrower.
#[test]
fn heavy_tails_widen_the_interval_less() {
    let widths = |interval| {
        let width = |index| {
            let mut stream = random::stream(&[78, index]);
            let nest = [starts((144, index), hosts::Host::Spiky, 8, 0.002, &mut stream)];
            let rqps = judge_nested(&nest, &terms(interval)).unwrap().rqps;
            (rqps.high / rqps.low).ln()
        };
        (0..100).map(width).sum::<f64>()
    };
    let saved = widths(IntervalChoice::Auto) / widths(IntervalChoice::Given(IntervalKind::T));
    assert!(saved < 0.67, "{saved}");
}

/// Seven rounds of 144 in which the test arm alone all but stands still cost 7 % of what it does,
/// and are too few to be called one-sided; nor are twelve against four. Neither may be looked past.
#[test]
fn few_deep_stalls_are_not_looked_past_either() {
    for (slower, faster) in [(7, 0), (12, 4), (6, 1)] {
        for index in 0..50 {
            let mut stream = random::stream(&[80, index]);
            let mut nest = [starts((144, index), hosts::Host::Independent, 8, 0.002, &mut stream)];
            let stalls = [-1.5, 1.5].into_iter().zip([slower, faster]);
            let stalls = stalls.flat_map(|(log, count)| std::iter::repeat_n(log, count));
            for (at, stall) in stalls.enumerate() {
                nest[0][at % 8][5 + at / 8] += stall;
            }
            let judged = judge_nested(&nest, &terms(IntervalChoice::Auto)).unwrap();
            let done: f64 = nest[0].iter().flatten().sum::<f64>() / 144.0;
            let holds = judged.rqps.low <= done.exp() && done.exp() <= judged.rqps.high;
            assert!(holds, "{slower} against {faster}: {done} is not in {judged:?}");
        }
    }
}

/// An arm that stalls in one round of twelve is slower by a thirtieth. An estimate that looks past
/// single rounds would hide that, so the choice must not fall on it.
#[test]
fn stalls_of_one_arm_are_not_looked_past() {
    let mut stream = random::stream(&[79]);
    let mut nest = [starts((144, 5), hosts::Host::Independent, 8, 0.002, &mut stream)];
    for start in &mut nest[0] {
        start.iter_mut().step_by(12).for_each(|log| *log -= 0.4);
    }
    let auto = judge_nested(&nest, &terms(IntervalChoice::Auto)).unwrap();
    assert_eq!((auto.verdict, auto.basis.interval), (Verdict::Slower, IntervalKind::T));
    assert!(auto.basis.why.contains("on one side"), "{}", auto.basis.why);
    let robust = terms(IntervalChoice::Given(IntervalKind::Robust));
    let robust = judge_nested(&nest, &robust).unwrap();
    assert!(robust.rqps.estimate > auto.rqps.estimate + 0.01, "{robust:?}");
}

/// A spread that is assumed has no ranks, and what it is added to is told by its own name.
#[test]
fn an_assumed_spread_is_not_told_as_an_interval_of_ranks() {
    let judged = |count: usize, between_sd, kind| {
        let mut stream = random::stream(&[81, count as u64]);
        let nest = [starts((40, 1), hosts::Host::Independent, count, 0.002, &mut stream)];
        let interval = IntervalChoice::Given(kind);
        judge_nested(&nest, &JudgementTerms { between_sd, ..terms(interval) }).unwrap()
    };
    for count in [1, 2] {
        let told = judged(count, BETWEEN_STARTS_SD, IntervalKind::HodgesLehmann);
        assert_eq!(told.basis.interval, IntervalKind::Robust);
        let why = "hodges-lehmann was asked for, but the assumed spread of starts has no ranks";
        assert_eq!(told.basis.why, why);
        let robust = judged(count, BETWEEN_STARTS_SD, IntervalKind::Robust);
        assert_eq!((told.rqps, told.verdict), (robust.rqps, robust.verdict));
        // Where nothing is assumed, pairs are ranked; where starts were lived, starts are.
        let ranked = judged(count, 0.0, IntervalKind::HodgesLehmann).basis;
        assert_eq!((ranked.interval, &ranked.why[..]), (IntervalKind::HodgesLehmann, "asked for"));
    }
    let lived = judged(8, BETWEEN_STARTS_SD, IntervalKind::HodgesLehmann);
    assert_eq!(lived.basis.interval, IntervalKind::HodgesLehmann);
}

/// Values of mean 0: normal, skewed to the right, with heavy tails.
fn values(kind: usize, n: usize, stream: &mut RandomStream) -> Vec<f64> {
    let one = |stream: &mut RandomStream| match kind {
        0 => normal(stream),
        1 => (0.5 * normal(stream)).exp() - f64::exp(0.125),
        _ => {
            let squares: f64 = (0..3).map(|_| normal(stream).powi(2)).sum();
            normal(stream) / (squares / 3.0).sqrt()
        }
    };
    (0..n).map(|_| one(stream)).collect()
}

fn covered(n: usize, kind: usize, runs: u64, interval: impl Fn(&[f64], u64) -> [f64; 2]) -> f64 {
    share(runs, |index| {
        let mut stream = random::stream(&[88, n as u64, kind as u64, index]);
        let [low, high] = interval(&values(kind, n, &mut stream), index);
        low <= 0.0 && 0.0 <= high
    })
}

/// From [`BCA_MIN`] normal values on within 1 %, give or take the error of 400 runs; with fewer, as
/// was measured with 2 000 of them: 93.8 % of five and 98.0 % of eight where 99 % were meant. Heavy
/// tails it does not cover (96.6 to 97.8 %), which is why no choice but the user's falls on it.
#[test]
fn the_bootstrap_covers_from_ten_values_on_and_not_before() {
    let at = |n, kind, confidence| {
        covered(n, kind, 400, |values, seed| {
            let found = bca(values, confidence, seed).unwrap();
            [found.low, found.high]
        })
    };
    for n in [BCA_MIN, 24] {
        let (at_95, at_99) = (at(n, 0, 0.95), at(n, 0, 0.99));
        assert!((0.92..=0.98).contains(&at_95) && at_99 >= 0.97, "{n}: {at_95}, {at_99}");
    }
    assert!(at(5, 0, 0.99) < 0.96, "five values are enough?");
}

/// The exact intervals cover at least what they say, whatever the noise, and hardly more.
#[test]
fn signed_ranks_cover_what_they_say_under_any_symmetric_noise() {
    for kind in [0, 2] {
        for n in [8, 12, 30] {
            let covered = covered(n, kind, 4_000, |values, _| {
                let found = signed_rank(values, 0.95).unwrap();
                [found.low, found.high]
            });
            assert!((0.94..=0.975).contains(&covered), "{n} values, kind {kind}: {covered}");
        }
    }
}

#[test]
fn two_samples_cover_what_they_say() {
    let truth = 1.7;
    let mut by_ranks = 0;
    let by_fieller = share(4_000, |index| {
        let mut stream = random::stream(&[89, index]);
        let base: Vec<f64> = (0..9).map(|_| 10.0 + normal(&mut stream)).collect();
        let test: Vec<f64> = (0..7).map(|_| truth * 10.0 + normal(&mut stream)).collect();
        let moved = mann_whitney(&base, &test, 0.95).unwrap();
        by_ranks += u32::from((moved.low..=moved.high).contains(&((truth - 1.0) * 10.0)));
        let ratio = fieller(&base, &test, 0.95).unwrap().ratio;
        (ratio.low..=ratio.high).contains(&truth)
    });
    let by_ranks = f64::from(by_ranks) / 4_000.0;
    assert!((0.94..=0.96).contains(&by_fieller), "Fieller: {by_fieller}");
    assert!((0.94..=0.97).contains(&by_ranks), "Mann and Whitney: {by_ranks}");
}

/// Tables of thirty cells, eight of which changed, with and without noise that all cells share:
/// the share of false ones among those that are told, in the mean over tables; and with nothing
/// changed, the share of tables that tell anything.
#[test]
fn a_table_is_wrong_as_rarely_as_it_says() {
    for shared in [0.0f64, 0.67] {
        for changed in [0, 8] {
            let (mut naive, mut wrong) = (0.0, 0.0);
            let tables = 800;
            for index in 0..tables {
                let mut stream = random::stream(&[90, index, changed]);
                let common = shared.sqrt() * normal(&mut stream);
                let p_values: Vec<f64> = (0..30)
                    .map(|cell| {
                        let own = (1.0 - shared).sqrt() * normal(&mut stream);
                        let effect = if cell < changed { 4.0 } else { 0.0 };
                        two_sided(common + own + effect)
                    })
                    .collect();
                let q_values = benjamini_hochberg(&p_values);
                let told =
                    |cell: usize| p_values[cell] <= 0.01 && q_values[cell] <= FALSE_DISCOVERIES;
                let all = (0..30).filter(|&cell| told(cell)).count();
                let false_ones = (changed as usize..30).filter(|&cell| told(cell)).count();
                wrong += false_ones as f64 / all.max(1) as f64 / tables as f64;
                let alone = p_values.iter().any(|&p_value| p_value <= 0.01);
                naive += f64::from(u8::from(alone)) / tables as f64;
            }
            assert!(wrong <= 0.06, "shared {shared}, {changed} changed: {wrong}");
            if changed == 0 && shared == 0.0 {
                assert!((0.2..0.32).contains(&naive), "each cell by itself: {naive}");
            }
        }
    }
}

/// `2·(1 − Φ(|z|))` by the series of Marsaglia ("Evaluating the Normal Distribution", 2004).
fn two_sided(z: f64) -> f64 {
    let x = z.abs().min(8.0);
    let (mut sum, mut term, mut k) = (x, x, 1.0);
    while term > 1e-16 * sum {
        k += 2.0;
        term *= x * x / k;
        sum += term;
    }
    let density = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    (1.0 - 2.0 * sum * density).max(1e-15)
}
