//! False alarms, coverage and power, counted on hosts that we make up.
//!
//! Seeded, so that every run of these tests sees the same noise: they fail when the arithmetic
//! changes, never by chance. With 20 000 experiments the standard error of a share of 1 % is 0.07
//! %.

use crate::hosts::{normal, order, share};
use dbdyno_model::random::{self, RandomStream};
use dbdyno_model::{ArmIndex, IntervalChoice, Verdict};
use dbdyno_stats::{
    BETWEEN_STARTS_SD, DECISION_ALPHA, Judgement, POWER, detectable_change, judge_pairs,
    judge_starts, judge_unpaired, paired_estimate, pairs_needed,
};

/// Pairs of an effect under independent noise.
fn noisy(pairs: u64, effect_log: f64, sd: f64, key: [u64; 2]) -> Vec<f64> {
    let mut stream = random::stream(&[2026, pairs, key[0], key[1]]);
    (0..pairs).map(|_| effect_log + sd * normal(&mut stream)).collect()
}

fn alarms(judgement: &Judgement) -> bool {
    matches!(judgement.verdict, Verdict::Slower | Verdict::Faster)
}

#[test]
fn an_arm_against_itself_alarms_once_in_a_hundred() {
    for pairs in [6, 12, 28] {
        // A budget that noise of 5 % never proves, so that `equal` hides no alarm.
        let rate = share(20_000, |index| {
            alarms(&judge_pairs(&noisy(pairs, 0.0, 0.05, [1, index]), 0.002).unwrap())
        });
        assert!((0.008..=0.012).contains(&rate), "{pairs} pairs: {rate}");
    }
}

/// What happened on a real host: MariaDB against itself, where two starts of a server differ by 1 %
/// for as long as they live. Pairs of one start prove a difference that is not the server's.
#[test]
fn servers_that_live_once_look_different_and_their_starts_do_not() {
    let starts = |count: u64, pairs: u64, index: u64| -> Vec<Vec<f64>> {
        let mut own = random::stream(&[2026, 9, count, index]);
        (0..count)
            .map(|start| {
                let off = BETWEEN_STARTS_SD * normal(&mut own);
                noisy(pairs, off, 0.057, [9 + start, index])
            })
            .collect()
    };
    let naive =
        share(4_000, |index| alarms(&judge_pairs(&starts(1, 200, index)[0], 0.002).unwrap()));
    assert!(naive > 0.2, "the anchor: pairs of one start alarm in {naive} of all runs");
    for (count, pairs) in [(1, 200), (8, 20), (12, 40)] {
        let rate = share(4_000, |index| {
            let starts = starts(count, pairs, index);
            alarms(&judge_starts(&starts, BETWEEN_STARTS_SD, 0.002).unwrap())
        });
        assert!((0.004..=0.016).contains(&rate), "{count} starts: {rate}");
    }
}

#[test]
fn the_interval_of_95_covers_the_truth_95_times_in_100() {
    for pairs in [3, 6, 12, 28] {
        let truth = -0.07f64;
        let covered = share(10_000, |index| {
            let ratio =
                paired_estimate(&noisy(pairs, truth, 0.03, [2, index]), 0.95).unwrap().ratio;
            ratio.low <= truth.exp() && truth.exp() <= ratio.high
        });
        assert!((0.94..=0.96).contains(&covered), "{pairs} pairs: {covered}");
    }
}

#[test]
fn a_detectable_effect_is_found_with_the_promised_chance() {
    for pairs in [6, 12, 28] {
        let effect = detectable_change(0.02, pairs, DECISION_ALPHA, POWER);
        let found = share(3_000, |index| {
            let log_ratios = noisy(pairs.into(), -effect.ln_1p(), 0.02, [3, index]);
            judge_pairs(&log_ratios, 0.0).unwrap().verdict == Verdict::Slower
        });
        assert!((POWER - 0.04..=POWER + 0.04).contains(&found), "{pairs} pairs: {found}");
    }
}

/// The planner's promise holds at the budget of an ordinary run as well.
#[test]
fn the_planned_pairs_find_a_slowdown_of_five_per_cent() {
    let pairs = pairs_needed(0.02, 0.05, DECISION_ALPHA, 0.99);
    let found = share(3_000, |index| {
        let log_ratios = noisy(pairs.into(), (1.0f64 - 0.05).ln(), 0.02, [4, index]);
        judge_pairs(&log_ratios, 0.02).unwrap().verdict == Verdict::Slower
    });
    assert!(found > 0.97, "{pairs} pairs: {found}");
}

#[test]
fn the_missing_pairs_do_decide() {
    let mut asked = 0;
    let decided = share(300, |index| {
        // A little above half the noise: six pairs see it and cannot be sure.
        let first = noisy(6, -0.012, 0.01, [5, index]);
        let judgement = judge_pairs(&first, 0.0).unwrap();
        let Some(more) = judgement.pairs_missing else {
            return judgement.verdict != Verdict::Undecided;
        };
        asked += 1;
        let mut stream = random::stream(&[6, index]);
        let mean = paired_estimate(&first, 0.95).unwrap();
        let next = |_| mean.mean_log + mean.sd_log * normal(&mut stream);
        let all: Vec<f64> = (0..6 + more).map(next).collect();
        judge_pairs(&all, 0.0).unwrap().verdict != Verdict::Undecided
    });
    assert!(asked > 50, "the case is not the one that was meant: {asked}");
    assert!(decided > POWER, "{decided}");
}

#[test]
fn sound_pairs_are_rarely_suspected() {
    let suspected = share(4_000, |index| {
        let pairs = noisy(12, -0.02, 0.02, [7, index]);
        !judge_pairs(&pairs, 0.02).unwrap().warnings.is_empty()
    });
    assert!((0.01..=0.03).contains(&suspected), "two tests at 1 %: {suspected}");
}

/// The logarithm of the host's speed in each of `rounds` rounds: an AR(1) process that starts in
/// its stationary state, with a standard deviation of 3 % and a memory of about twenty rounds.
fn drifting_host(rounds: usize, stream: &mut RandomStream) -> Vec<f64> {
    const MEMORY: f64 = 0.95;
    const SD: f64 = 0.03;
    let mut speed = SD * normal(stream);
    let mut step = || {
        let now = speed;
        speed = MEMORY * speed + SD * (1.0 - MEMORY * MEMORY).sqrt() * normal(stream);
        now
    };
    (0..rounds).map(|_| step()).collect()
}

/// Why rounds are interleaved: the same host, the same servers, the same number of rounds, no
/// difference between the arms, and the same level of 1 %. Only the order differs.
#[test]
fn order_of_rounds_matters_more_than_the_test() {
    const PAIRS: u32 = 8;
    const ROUND_SD: f64 = 0.01;
    let host = |index| {
        let mut stream = random::stream(&[8, index]);
        let drift = drifting_host(2 * PAIRS as usize, &mut stream);
        drift.iter().map(|speed| speed + ROUND_SD * normal(&mut stream)).collect::<Vec<_>>()
    };
    let interleaved = share(6_000, |index| {
        let speeds = host(index);
        let mut log_ratios = vec![0.0; PAIRS as usize];
        for (round, speed) in order(PAIRS, index).iter().zip(&speeds) {
            let sign = if round.arm == ArmIndex::TEST { 1.0 } else { -1.0 };
            log_ratios[round.pair as usize] += sign * speed;
        }
        alarms(&judge_pairs(&log_ratios, 0.002).unwrap())
    });
    let one_after_the_other = share(2_000, |index| {
        let speeds = host(index);
        let (base, test) = speeds.split_at(PAIRS as usize);
        alarms(&judge_unpaired(base, test, 0.002, IntervalChoice::Auto).unwrap())
    });
    assert!(interleaved <= 0.02, "interleaved: {interleaved}");
    assert!(one_after_the_other > 0.2, "one after the other: {one_after_the_other}");
}
