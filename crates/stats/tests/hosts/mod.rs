//! Hosts that we make up: what their noise does to rounds in the order of a plan.

use std::sync::LazyLock;

use dbdyno_model::random::RandomStream;
use dbdyno_model::{ArmIndex, Cell, RoundKey};
use statrs::distribution::{ContinuousCDF, Normal};

/// Standard normal noise by inversion of a table: the tails end at 1 in 2·10⁵.
pub(crate) fn normal(stream: &mut RandomStream) -> f64 {
    const STEPS: u64 = 100_000;
    static TABLE: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let quantile =
            |step: u64| Normal::standard().inverse_cdf((step as f64 + 0.5) / STEPS as f64);
        (0..STEPS).map(quantile).collect()
    });
    TABLE[stream.next_below(STEPS) as usize]
}

/// The share of experiments of which something holds.
pub(crate) fn share(experiments: u64, mut holds: impl FnMut(u64) -> bool) -> f64 {
    (0..experiments).filter(|&index| holds(index)).count() as f64 / experiments as f64
}

/// What a host does to the speed of round after round.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Host {
    /// Nothing that lasts.
    Independent,
    /// What is slow stays slow for a while, by this much from round to round.
    Sticky(f64),
    /// It slows down by a tenth over the run, and wanders.
    Drifting,
    /// One round in fifty takes half as long again.
    Spiky,
    /// Delays are log-normal: many small ones and a few long ones.
    LogNormal,
}

pub(crate) const HOSTS: [Host; 6] = [
    Host::Independent,
    Host::Sticky(0.3),
    Host::Sticky(0.6),
    Host::Drifting,
    Host::Spiky,
    Host::LogNormal,
];

impl Host {
    /// The logarithm of the speed in each of `rounds` rounds.
    pub(crate) fn speeds(self, rounds: usize, stream: &mut RandomStream) -> Vec<f64> {
        let memory = match self {
            Host::Sticky(memory) => memory,
            Host::Drifting => 0.95,
            Host::Independent | Host::Spiky | Host::LogNormal => 0.0,
        };
        let mut state = normal(stream);
        (0..rounds)
            .map(|round| {
                let now = state;
                state = memory * state + (1.0 - memory * memory).sqrt() * normal(stream);
                match self {
                    Host::Independent | Host::Sticky(_) => 0.03 * now,
                    Host::Drifting => {
                        0.03 * now - 0.1 * round as f64 / rounds as f64 + 0.01 * normal(stream)
                    }
                    Host::Spiky if stream.next_below(50) == 0 => -0.4 + 0.02 * now,
                    Host::Spiky => 0.02 * now,
                    Host::LogNormal => -0.02 * (1.2 * now).exp(),
                }
            })
            .collect()
    }
}

/// The rounds of a run, as dbdyno orders them.
pub(crate) fn order(pairs: u32, seed: u64) -> Vec<RoundKey> {
    Cell { load: "point-query".to_owned(), clients: 1 }.rounds(seed, pairs)
}

/// The log-ratios of equal arms by start, in the order of a run; servers of the same build differ
/// by `between_sd` in each start.
pub(crate) fn starts(
    (pairs, seed): (u32, u64),
    host: Host,
    starts: usize,
    between_sd: f64,
    stream: &mut RandomStream,
) -> Vec<Vec<f64>> {
    let speeds = host.speeds(2 * pairs as usize, stream);
    let mut log_ratios = vec![0.0; pairs as usize];
    for (round, speed) in order(pairs, seed).iter().zip(&speeds) {
        let sign = if round.arm == ArmIndex::TEST { 1.0 } else { -1.0 };
        log_ratios[round.pair as usize] += sign * speed;
    }
    let one = |start: &[f64]| {
        let own = between_sd * normal(stream);
        start.iter().map(|log| log + own).collect()
    };
    log_ratios.chunks(pairs as usize / starts).map(one).collect()
}
