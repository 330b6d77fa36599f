//! Why the first starts of a run do not set its length under the interval of a single look.
//!
//! An internal pilot (Wittes and Brittain, Statistics in Medicine 9, 1990) uses only the spread of
//! the first values, which of normal values says nothing of their mean; all the same, runs whose
//! spread is small by luck end early, and their intervals are too narrow. With few values and 1 %
//! that is not small. The naive way is here, and not in the crate.

use dbdyno_model::Verdict;
use dbdyno_model::random::{self, RandomStream};
use dbdyno_stats::{
    ConfidenceSequence, DECISION_ALPHA, MIN_PAIRS, detectable_change, judge_pairs, judge_sequence,
    pairs_needed,
};
use statrs::distribution::{ContinuousCDF, Normal};

const SD: f64 = 0.01;

fn normal(stream: &mut RandomStream) -> f64 {
    let share = (stream.next_u64() >> 11) as f64 + 0.5;
    Normal::standard().inverse_cdf(share / (1_u64 << 53) as f64)
}

fn sd_of(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// The share of runs that end as slower or faster, when `run` makes them of starts of one mean.
fn told(key: u64, mean: f64, run: impl Fn(&mut dyn FnMut() -> f64) -> Verdict) -> f64 {
    const RUNS: u64 = 6_000;
    let tells = |index: &u64| {
        let mut stream = random::stream(&[2026, 21, key, *index]);
        let verdict = run(&mut || mean + SD * normal(&mut stream));
        matches!(verdict, Verdict::Slower | Verdict::Faster)
    };
    (0..RUNS).filter(tells).count() as f64 / RUNS as f64
}

/// Five starts, then as many as their spread asks for, judged as if that had been the plan.
fn naive(start: &mut dyn FnMut() -> f64, effect: f64) -> Verdict {
    let mut starts: Vec<f64> = (0..5).map(|_| start()).collect();
    let wanted = pairs_needed(sd_of(&starts), effect, DECISION_ALPHA, 0.8).max(5) as usize;
    starts.resize_with(wanted, start);
    judge_pairs(&starts, 0.000_1).unwrap().verdict
}

/// Looked at after each start, until it is decided or the effect would have been found.
fn looked_at(
    start: &mut dyn FnMut() -> f64,
    effect: f64,
    sequence: &ConfidenceSequence,
) -> Verdict {
    let mut starts = Vec::new();
    loop {
        starts.push(start());
        let look = judge_sequence(&starts, 0.0, 0.000_1, sequence).unwrap();
        let is_sharp = look.detectable.is_some_and(|found| found <= effect);
        let is_over = starts.len() >= ConfidenceSequence::STARTS_MAX as usize;
        let is_decided = look.verdict != Verdict::Undecided;
        if starts.len() >= MIN_PAIRS as usize && (is_decided || is_sharp || is_over) {
            return look.verdict;
        }
    }
}

#[test]
fn a_pilot_that_counts_makes_verdicts_false_and_looking_does_not() {
    let effect = 0.008;
    let rate = told(1, 0.0, |start| naive(start, effect));
    println!("internal pilot: {rate}");
    assert!(rate > 0.016, "{rate}");
    for horizon in [8, 24, 48] {
        let sequence = ConfidenceSequence::new(horizon);
        let rate = told(2, 0.0, |start| looked_at(start, effect, &sequence));
        println!("looked at, horizon {horizon}: {rate}");
        assert!(rate <= 0.012, "horizon {horizon}: {rate}");
    }
}

#[test]
fn an_effect_that_is_asked_for_is_found_with_the_promised_chance() {
    let starts = pairs_needed(SD, 0.008, DECISION_ALPHA, 0.8);
    assert!(detectable_change(SD, starts, DECISION_ALPHA, 0.8) <= 0.008);
    for horizon in [starts, 2 * starts] {
        let sequence = ConfidenceSequence::new(horizon);
        let found = told(3, -f64::ln_1p(0.008), |start| looked_at(start, 0.008, &sequence));
        println!("horizon {horizon}: {found}");
        assert!(found > 0.8, "horizon {horizon}: {found}");
    }
}
