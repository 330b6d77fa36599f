//! Looking after every start, on hosts that we make up: false alarms, power, cost.
//!
//! Each host gives the logarithm of its speed round by round; rounds stand in the order of a plan
//! (each pair turned by chance), and starts carry an error of their own. Seeded: these tests fail
//! when the arithmetic changes, never by chance.

use crate::hosts::{normal, share};
use dbdyno_model::random::{self, RandomStream};
use dbdyno_model::{Arm, Verdict};
use dbdyno_stats::{
    ConfidenceSequence, DECISION_ALPHA, POWER, RunStarts, detectable_change, judge_pairs,
    judge_runs, judge_sequence, starts_missing,
};

/// How the rounds of a host are disturbed.
#[derive(Clone, Copy, Debug)]
enum Noise {
    Independent,
    /// AR(1) with this memory from round to round.
    Memory(f64),
    /// The host grows slower by 5 % of a standard deviation a round.
    Drift,
    /// One round in fifty is ten standard deviations slower.
    Spikes,
    /// What disturbs a round only ever makes it slower, seldom by much.
    LogNormal,
}

const HOSTS: [Noise; 6] = [
    Noise::Independent,
    Noise::Memory(0.3),
    Noise::Memory(0.6),
    Noise::Drift,
    Noise::Spikes,
    Noise::LogNormal,
];

/// Standard deviation of a round, and of a start.
const ROUND_SD: f64 = 0.03;
const START_SD: f64 = 0.009;

struct Host {
    noise: Noise,
    stream: RandomStream,
    state: f64,
    round: f64,
}

impl Host {
    fn new(noise: Noise, key: &[u64]) -> Host {
        let mut stream = random::stream(key);
        let state = normal(&mut stream);
        Host { noise, stream, state, round: 0.0 }
    }

    fn next(&mut self) -> f64 {
        let value = normal(&mut self.stream);
        self.round += 1.0;
        ROUND_SD
            * match self.noise {
                Noise::Independent => value,
                Noise::Memory(memory) => {
                    self.state = memory * self.state + (1.0 - memory * memory).sqrt() * value;
                    self.state
                }
                Noise::Drift => value - 0.05 * self.round,
                Noise::Spikes if self.stream.next_below(50) == 0 => value - 10.0,
                Noise::Spikes => value,
                Noise::LogNormal => -(value.exp()),
            }
    }

    /// The mean log-ratio of a start of `pairs` pairs, each turned by chance.
    fn start(&mut self, pairs: u32, effect: f64, start_sd: f64) -> f64 {
        let own = effect + start_sd * normal(&mut self.stream);
        let mut sum = 0.0;
        for _ in 0..pairs {
            let first = Arm::BOTH[self.stream.next_below(2) as usize];
            for arm in [first, first.other_side()] {
                sum += if arm == Arm::Test { self.next() } else { -self.next() };
            }
        }
        own + sum / f64::from(pairs)
    }
}

/// What an experiment that is looked at after every start ends with, and after how many starts.
fn looked_at(
    mut start: impl FnMut() -> f64,
    most: u32,
    known_sd: f64,
    budget: f64,
    sequence: &ConfidenceSequence,
) -> (Verdict, u32) {
    let mut starts = Vec::new();
    loop {
        starts.push(start());
        let look = judge_sequence(&starts, known_sd, budget, sequence).unwrap();
        if look.verdict != Verdict::Undecided || starts.len() >= most as usize {
            return (look.verdict, starts.len() as u32);
        }
    }
}

fn is_alarm(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Slower | Verdict::Faster)
}

/// A budget that this noise never proves, so that `equal` hides no alarm.
const NO_BUDGET: f64 = 0.000_1;

#[test]
fn looking_after_every_start_alarms_no_more_than_once_in_a_hundred() {
    for (horizon, most, pairs) in [(6, 72, 6), (12, 12, 6), (30, 60, 4)] {
        let sequence = ConfidenceSequence::new(horizon);
        for (kind, noise) in HOSTS.into_iter().enumerate() {
            let rate = share(8_000, |index| {
                let key = [2026, 11, u64::from(horizon), kind as u64, index];
                let mut host = Host::new(noise, &key);
                let start = || host.start(pairs, 0.0, START_SD);
                is_alarm(looked_at(start, most, 0.0, NO_BUDGET, &sequence).0)
            });
            println!("horizon {horizon}, {noise:?}: {rate}");
            assert!(rate <= 0.012, "horizon {horizon}, {noise:?}: {rate}");
        }
    }
}

/// Servers that live once: every stretch of pairs has the error of that start.
#[test]
fn stretches_of_one_start_alarm_as_rarely() {
    let sequence = ConfidenceSequence::new(30);
    for (kind, noise) in HOSTS.into_iter().enumerate() {
        let rate = share(8_000, |index| {
            let mut host = Host::new(noise, &[2026, 12, kind as u64, index]);
            let own = START_SD * normal(&mut host.stream);
            let start = || own + host.start(4, 0.0, 0.0);
            is_alarm(looked_at(start, 60, START_SD, NO_BUDGET, &sequence).0)
        });
        println!("{noise:?}: {rate}");
        assert!(rate <= 0.012, "{noise:?}: {rate}");
    }
}

/// The anchor: the interval of a single look, looked at after every start.
#[test]
fn peeking_with_the_interval_of_a_single_look_alarms_often() {
    let rate = share(2_000, |index| {
        let mut host = Host::new(Noise::Independent, &[2026, 13, index]);
        let starts: Vec<f64> = (0..30).map(|_| host.start(4, 0.0, START_SD)).collect();
        (3..=30).any(|many| is_alarm(judge_pairs(&starts[..many], NO_BUDGET).unwrap().verdict))
    });
    println!("peeking: {rate}");
    assert!(rate > 0.05, "{rate}");
}

/// A difference as large as the budget is called equal no more often than 5 % would allow.
#[test]
fn equal_needs_proof_under_looking_too() {
    let (sequence, budget) = (ConfidenceSequence::new(30), 0.02_f64);
    for noise in [Noise::Independent, Noise::Memory(0.6), Noise::Spikes] {
        let wrong = share(4_000, |index| {
            let mut host = Host::new(noise, &[2026, 14, index]);
            let start = || host.start(8, -budget.ln_1p() * 1.01, START_SD);
            looked_at(start, 60, 0.0, budget, &sequence).0 == Verdict::Equal
        });
        println!("equal, {noise:?}: {wrong}");
        assert!(wrong <= 0.05, "{noise:?}: {wrong}");
        let right = share(500, |index| {
            let mut host = Host::new(Noise::Independent, &[2026, 15, index]);
            let start = || host.start(8, 0.0, START_SD);
            looked_at(start, 30, 0.0, budget, &sequence).0 == Verdict::Equal
        });
        assert!(right > 0.95, "{right}");
    }
}

/// Two runs of which results ended at least one, with the same base arm and the same truth.
#[test]
fn two_runs_that_ended_when_they_were_decided_are_told_apart_once_in_a_hundred() {
    for (truth, horizons) in [
        (0.0, [Some(12), Some(12)]),
        (-0.012, [Some(12), Some(12)]),
        (-0.02, [Some(6), Some(24)]),
        (-0.02, [None, Some(12)]),
    ] {
        let rate = share(4_000, |index| {
            let mut host = Host::new(Noise::Independent, &[2026, 19, index]);
            let mut run = |horizon: Option<u32>| {
                let sequence = horizon.map(ConfidenceSequence::new);
                let mut starts: Vec<f64> = Vec::new();
                let most = 2 * horizon.unwrap_or(6) as usize;
                let is_over = |starts: &[f64]| {
                    let look = |sequence| judge_sequence(starts, 0.0, NO_BUDGET, sequence).unwrap();
                    starts.len() == most
                        || sequence.as_ref().is_some_and(|by| is_alarm(look(by).verdict))
                };
                while starts.is_empty() || !is_over(&starts) {
                    starts.push(host.start(4, truth, START_SD));
                }
                (starts, sequence)
            };
            let [(base, of_base), (test, of_test)] = horizons.map(&mut run);
            let base = RunStarts { starts: &base, looks: of_base.as_ref() };
            let test = RunStarts { starts: &test, looks: of_test.as_ref() };
            is_alarm(judge_runs(base, test, NO_BUDGET).unwrap().verdict)
        });
        println!("{truth} {horizons:?}: {rate}");
        assert!(rate <= 0.006, "{truth} {horizons:?}: {rate}");
    }
}

/// The interval holds for all looks together.
#[test]
fn the_interval_shown_covers_the_truth_at_all_looks_together() {
    let (sequence, effect) = (ConfidenceSequence::new(24), -0.01_f64);
    let covered = share(4_000, |index| {
        let mut host = Host::new(Noise::Independent, &[2026, 16, index]);
        let starts: Vec<f64> = (0..48).map(|_| host.start(4, effect, START_SD)).collect();
        (3..=48).all(|many| {
            let look = judge_sequence(&starts[..many], 0.0, 0.0, &sequence).unwrap();
            look.rqps.low <= effect.exp() && effect.exp() <= look.rqps.high
        })
    });
    println!("covered: {covered}");
    assert!((0.94..=0.97).contains(&covered), "{covered}");
}

/// Against one look after as many starts: little power is lost, and much time is won.
#[test]
fn looking_costs_little_power_and_saves_time() {
    const STARTS: u32 = 30;
    let start_sd = START_SD.hypot(ROUND_SD * 2.0_f64.sqrt() / 2.0);
    let effect = detectable_change(start_sd, STARTS, DECISION_ALPHA, 0.9).ln_1p();
    let sequence = ConfidenceSequence::new(STARTS);
    for (times, found_least, starts_most) in [(1.0, 0.75, 23.0), (1.4, 0.97, 17.0), (4.0, 1.0, 7.5)]
    {
        let mut starts = 0;
        let found = share(2_000, |index| {
            let mut host = Host::new(Noise::Independent, &[2026, 17, index]);
            let start = || host.start(4, -effect * times, START_SD);
            let (verdict, needed) = looked_at(start, STARTS, 0.0, NO_BUDGET, &sequence);
            starts += needed;
            verdict == Verdict::Slower
        });
        let mean = f64::from(starts) / 2_000.0;
        println!("{times} × {effect:.4}: found {found} after {mean} starts");
        assert!(found >= found_least && mean < starts_most, "{times}: {found}, {mean}");
    }
}

#[test]
fn the_missing_starts_do_decide() {
    let sequence = ConfidenceSequence::new(16);
    let (mut asked, mut decided) = (0, 0);
    for index in 0..400 {
        let mut host = Host::new(Noise::Independent, &[2026, 18, index]);
        let first: Vec<f64> = (0..8).map(|_| host.start(4, -0.02, START_SD)).collect();
        let Some(more) = starts_missing(&first, 0.0, 0.0, DECISION_ALPHA, &sequence).unwrap()
        else {
            continue;
        };
        asked += 1;
        // If mean and spread are what they seem.
        let mean = first.iter().sum::<f64>() / 8.0;
        let sd = (first.iter().map(|start| (start - mean).powi(2)).sum::<f64>() / 7.0).sqrt();
        let mut start = || mean + sd * normal(&mut host.stream);
        let many = 8 + more;
        let all: Vec<f64> = (0..many).map(|_| start()).collect();
        let found = judge_sequence(&all, 0.0, 0.0, &sequence).unwrap().verdict;
        decided += u32::from(found != Verdict::Undecided);
    }
    let share = f64::from(decided) / f64::from(asked);
    println!("{decided} of {asked}");
    assert!(asked > 200 && (POWER - 0.06..0.95).contains(&share), "{share} of {asked}");
}

/// A run of a fixed number of starts that stayed undecided may be made longer: from then on it is
/// looked at, and all that happens after the first judgement errs by a fifth of the level at most.
#[test]
fn a_fixed_run_that_is_extended_errs_hardly_more_often() {
    for fixed in [4, 8, 12, 30] {
        let sequence = ConfidenceSequence::after_judgement(fixed);
        let rate = share(12_000, |index| {
            let mut host = Host::new(Noise::Independent, &[2026, 19, u64::from(fixed), index]);
            let mut starts: Vec<f64> = (0..fixed).map(|_| host.start(4, 0.0, START_SD)).collect();
            if is_alarm(judge_pairs(&starts, NO_BUDGET).unwrap().verdict) {
                return true;
            }
            (0..5 * fixed).any(|_| {
                starts.push(host.start(4, 0.0, START_SD));
                is_alarm(judge_sequence(&starts, 0.0, NO_BUDGET, &sequence).unwrap().verdict)
            })
        });
        println!("{fixed} starts and more: {rate}");
        assert!(rate <= 0.014, "{fixed}: {rate}");
    }
}
