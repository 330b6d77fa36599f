//! Hosts that we make up: how fast each of them is in each round of a run.
//!
//! A host is a series of log-speeds, one for each round in the order of time. Nothing in it knows
//! which arm is measured, so that any difference between the arms is a false one.

use std::f64::consts::TAU;

use dbdyno_model::random::{self, RandomStream};

/// What a host does beside being noisy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// Rounds are independent.
    Independent,
    /// A round remembers three tenths of the one before.
    Ar3,
    /// Six tenths.
    Ar6,
    /// It becomes slower by four standard deviations in the course of a run.
    Drift,
    /// Two rounds in a hundred are slower by ten standard deviations.
    Spikes,
    /// Slowness is log-normal: many good rounds, a tail of bad ones.
    LogNormal,
}

impl Host {
    pub(crate) const ALL: [Host; 6] =
        [Host::Independent, Host::Ar3, Host::Ar6, Host::Drift, Host::Spikes, Host::LogNormal];

    /// As the tables call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Host::Independent => "independent",
            Host::Ar3 => "AR(1) 0.3",
            Host::Ar6 => "AR(1) 0.6",
            Host::Drift => "drift",
            Host::Spikes => "2 % spikes",
            Host::LogNormal => "log-normal",
        }
    }

    /// Log-speeds of `rounds` rounds with a standard deviation of about `sd` beside spikes and
    /// drift.
    pub(crate) fn speeds(self, rounds: usize, sd: f64, stream: &mut RandomStream) -> Vec<f64> {
        let memory = match self {
            Host::Ar3 => 0.3,
            Host::Ar6 => 0.6,
            Host::Independent | Host::Drift | Host::Spikes | Host::LogNormal => 0.0,
        };
        let mut state = normal(stream);
        let each = |round: usize| {
            state = memory * state + (1.0_f64 - memory * memory).sqrt() * normal(stream);
            let at = round as f64 / rounds as f64;
            match self {
                Host::Independent | Host::Ar3 | Host::Ar6 => sd * state,
                Host::Drift => sd * (state - 4.0 * at),
                Host::Spikes => {
                    let spike = if stream.next_below(50) == 0 { 10.0 } else { 0.0 };
                    sd * (state - spike)
                }
                // exp(Z) has the standard deviation 2.16.
                Host::LogNormal => -sd * (state.exp() / 2.161),
            }
        };
        (0..rounds).map(each).collect()
    }
}

/// Standard normal noise (Box and Muller, 1958).
pub(crate) fn normal(stream: &mut RandomStream) -> f64 {
    let uniform =
        |stream: &mut RandomStream| ((stream.next_u64() >> 11) as f64 + 0.5) / 2f64.powi(53);
    let radius = (-2.0 * uniform(stream).ln()).sqrt();
    radius * (TAU * uniform(stream)).cos()
}

/// Numbers of their own for each purpose and each repetition.
pub(crate) fn numbers(purpose: &str, index: u64) -> RandomStream {
    random::stream(&[random::key_of("calibrate"), random::key_of(purpose), index])
}
