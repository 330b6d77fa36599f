//! How fast a model is: pure functions of its words, of the time and of where it is in its start.

use std::time::Duration;

use dbdyno_model::random::{self, RandomStream};
use dbdyno_model::{ArmIndex, MockModel};

use crate::time::duration_ns;

/// The host changes by tenths of a second.
const TICK_NS: u64 = 100_000_000;

/// Where a round falls in the start of an arm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub arm: ArmIndex,
    /// That of the clock: a run that another process goes on with has other noise.
    pub noise_seed: u64,
    pub opening: u64,
    pub start: u64,
    pub round: u64,
}

impl Start {
    /// Random numbers for something, by what more tells them apart.
    fn stream(&self, model: &MockModel, what: &str, more: &[u64]) -> RandomStream {
        let of_process =
            [model.seed as u64, self.noise_seed, random::key_of(what), u64::from(self.arm.0)];
        random::stream(&[&of_process, more].concat())
    }
}

/// What a round asks of an arm that is modelled.
pub(super) struct MockRound {
    pub clients: u32,
    /// The share that the arm loses on purpose.
    pub slow: f64,
    /// Seconds for the rows of an event.
    pub rows_s: f64,
    /// When it begins.
    pub begins_ns: u64,
    /// For how long the arm was asked before.
    pub asked_ns: u64,
}

/// A host, as far as it was lived through.
#[derive(Debug)]
pub(super) struct Host {
    key: [u64; 2],
    sd: f64,
    ar: f64,
    steal: f64,
    stolen: f64,
    /// The walk at the end of each tenth of a second so far.
    walk: Vec<f64>,
}

impl Host {
    /// The same for all arms that are told the same.
    pub(super) fn new(model: &MockModel, noise_seed: u64) -> Host {
        let MockModel { host: sd, ar, steal, stolen, seed, .. } = *model;
        let key = [seed as u64, noise_seed];
        Host { key, sd, ar, steal, stolen, walk: Vec::new() }
    }

    /// What the logarithm of a rate gains from the host at this moment.
    pub(crate) fn ln_rate(&mut self, at_ns: u64) -> f64 {
        let tick = at_ns / TICK_NS;
        let stolen = if self.is_stolen(tick) { (1.0 - self.stolen).ln() } else { 0.0 };
        self.walked(tick) + stolen
    }

    /// Time that the hypervisor gave away of each processor, of so much from then on.
    pub(crate) fn stolen_ns(&self, from_ns: u64, time_ns: u64) -> u64 {
        let until_ns = from_ns + time_ns;
        let ticks = from_ns / TICK_NS..until_ns.div_ceil(TICK_NS);
        if self.steal == 0.0 {
            0
        } else {
            ticks
                .map(|tick| {
                    let (begin, end) =
                        ((tick * TICK_NS).max(from_ns), ((tick + 1) * TICK_NS).min(until_ns));
                    if self.is_stolen(tick) { (end - begin) as f64 * self.stolen } else { 0.0 }
                })
                .sum::<f64>() as u64
        }
    }

    fn is_stolen(&self, tick: u64) -> bool {
        self.steal > 0.0 && uniform(&mut self.stream("steal", tick)) < self.steal
    }

    fn walked(&mut self, tick: u64) -> f64 {
        if self.sd == 0.0 {
            return 0.0;
        }
        while self.walk.len() as u64 <= tick {
            let step = normal(&mut self.stream("host", self.walk.len() as u64));
            let next = match self.walk.last() {
                None => self.sd * step,
                Some(last) => self.ar * last + self.sd * (1.0 - self.ar * self.ar).sqrt() * step,
            };
            self.walk.push(next);
        }
        self.walk[tick as usize]
    }

    fn stream(&self, what: &str, tick: u64) -> RandomStream {
        random::stream(&[self.key[0], self.key[1], random::key_of(what), tick])
    }
}

/// How fast an arm is in one round.
pub(crate) struct Speed {
    /// Time of an event that nothing but the round slows, and by what it is drawn out on purpose.
    usual_s: f64,
    drawn_out: f64,
    begins_ns: u64,
    asked_ns: u64,
    drift_per_ns: f64,
    cold: f64,
    warm_ns: f64,
    jitter: f64,
    stall_ns: u64,
    stream: RandomStream,
}

impl Speed {
    /// In a round after a start.
    pub(super) fn new(model: &MockModel, start: Start, round: MockRound) -> Speed {
        let MockRound { clients, slow, rows_s, begins_ns, asked_ns } = round;
        let effect = |what, sd: f64, more: &[u64]| match sd {
            0.0 => 0.0,
            sd => sd * normal(&mut start.stream(model, what, more)),
        };
        let place = [start.opening, start.start, start.round];
        let happens = |what, share: f64| uniform(&mut start.stream(model, what, &place)) < share;
        let has_spike = happens("spike", model.spikes);
        let has_stall = model.stall_s > 0.0 && happens("stall", model.stalls);
        let ln_rate = model.client_rate(clients).ln()
            + effect("filling", model.fillings, &place[..1])
            + effect("start", model.restarts, &place[..2])
            + effect("round", model.noise, &place)
            + if has_spike { (1.0 - model.spike).ln() } else { 0.0 };
        Speed {
            usual_s: (-ln_rate).exp() + rows_s,
            drawn_out: 1.0 / (1.0 - slow),
            begins_ns,
            asked_ns,
            drift_per_ns: model.drift / 60e9,
            cold: model.cold,
            warm_ns: model.warm_s * 1e9,
            jitter: model.jitter,
            stall_ns: if has_stall { to_ns(model.stall_s) } else { 0 },
            stream: start.stream(model, "events", &place),
        }
    }

    /// What an event takes that begins at this moment.
    pub(super) fn event_ns(&mut self, at_ns: u64, host: &mut Host) -> u64 {
        let asked_ns = (self.asked_ns + (at_ns - self.begins_ns)) as f64;
        let warm = 1.0 - self.cold * (-asked_ns / self.warm_ns).exp();
        let ln_rate = self.drift_per_ns * at_ns as f64 + host.ln_rate(at_ns) + warm.ln();
        let jitter = match self.jitter {
            0.0 => 0.0,
            // The mean of the times stays what it is.
            sd => sd * normal(&mut self.stream) - sd * sd / 2.0,
        };
        to_ns(self.usual_s * self.drawn_out * (jitter - ln_rate).exp()).max(1)
    }

    /// The one stall of a round, where there is one: taken by whoever asks first.
    pub(super) fn take_stall_ns(&mut self) -> u64 {
        std::mem::take(&mut self.stall_ns)
    }

    /// Where in its first event a client is when the round begins, 0 to 1: clients do not go in
    /// step.
    pub(super) fn draw_phase(&mut self) -> f64 {
        uniform(&mut self.stream)
    }
}

fn to_ns(seconds: f64) -> u64 {
    duration_ns(Duration::from_secs_f64(seconds))
}

fn uniform(stream: &mut RandomStream) -> f64 {
    // 53 bits, as many as a number has.
    (stream.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// By the polar method of Box and Muller (1958).
fn normal(stream: &mut RandomStream) -> f64 {
    let radius = (-2.0 * (1.0 - uniform(stream)).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(stream)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        (mean, (square / (values.len() - 1) as f64).sqrt())
    }

    fn start(start: u64, round: u64) -> Start {
        Start { arm: ArmIndex::BASE, noise_seed: 0, opening: 0, start, round }
    }

    fn alone(asked_ns: u64) -> MockRound {
        MockRound { clients: 1, slow: 0.0, rows_s: 0.0, begins_ns: 0, asked_ns }
    }

    fn ln_rates(model: &MockModel, starts: impl Iterator<Item = Start>) -> Vec<f64> {
        let mut host = Host::new(model, 0);
        starts
            .map(|start| {
                let mut speed = Speed::new(model, start, alone(0));
                -(speed.event_ns(0, &mut host) as f64 / 1e9).ln()
            })
            .collect()
    }

    #[test]
    fn rounds_and_starts_vary_as_they_were_told() {
        let model = MockModel { noise: 0.02, ..MockModel::default() };
        let (mean, sd) = spread(&ln_rates(&model, (0..4_000).map(|round| start(0, round))));
        assert!((mean - 1000_f64.ln()).abs() < 0.001 && (sd - 0.02).abs() < 0.001, "{mean} {sd}");
        let model = MockModel { restarts: 0.01, ..MockModel::default() };
        let (_, sd) = spread(&ln_rates(&model, (0..4_000).map(|number| start(number, number))));
        assert!((sd - 0.01).abs() < 0.000_5, "{sd}");
        let alike = ln_rates(&model, (0..100).map(|round| start(7, round)));
        assert!(alike.iter().all(|rate| *rate == alike[0]), "rounds of one start");
    }

    #[test]
    fn the_host_walks_with_the_correlation_that_it_was_told() {
        let model = MockModel { host: 0.05, ar: 0.6, ..MockModel::default() };
        let mut host = Host::new(&model, 0);
        let walk: Vec<f64> = (0..20_000).map(|tick| host.ln_rate(tick * TICK_NS)).collect();
        let (mean, sd) = spread(&walk);
        let product: f64 = walk.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum();
        let correlation = product / (walk.len() as f64 * sd * sd);
        assert!(
            (sd - 0.05).abs() < 0.002 && (correlation - 0.6).abs() < 0.02,
            "{sd} {correlation}"
        );
        assert_eq!(Host::new(&model, 0).ln_rate(500 * TICK_NS), walk[500], "whenever it is asked");
    }

    #[test]
    fn steal_slows_and_is_counted() {
        let model = MockModel { steal: 0.25, stolen: 0.4, ..MockModel::default() };
        let mut host = Host::new(&model, 0);
        let slowed = (0..4_000).filter(|tick| host.ln_rate(tick * TICK_NS) < 0.0).count();
        assert!((900..1_100).contains(&slowed), "{slowed}");
        let stolen_s = host.stolen_ns(0, 4_000 * TICK_NS) as f64 / 1e9;
        assert!((stolen_s - 0.1 * 0.4 * slowed as f64).abs() < 1e-6, "{stolen_s}");
        let half = host.stolen_ns(0, TICK_NS / 2) + host.stolen_ns(TICK_NS / 2, TICK_NS / 2);
        assert_eq!(half, host.stolen_ns(0, TICK_NS));
    }

    #[test]
    fn who_was_started_a_moment_ago_is_slow_until_it_was_asked_for_a_while() {
        let model = MockModel { cold: 0.5, warm_s: 2.0, ..MockModel::default() };
        let mut host = Host::new(&model, 0);
        let mut took_us = |asked_ns| {
            let mut speed = Speed::new(&model, start(0, 0), alone(asked_ns));
            speed.event_ns(0, &mut host) / 1_000
        };
        assert_eq!([took_us(0), took_us(60_000_000_000)], [2_000, 1_000]);
    }
}
