//! Who else was working while a round was measured.

use dbdyno_host::{Host, Local};
use dbdyno_load::mock::{self, UsedByMock};
use dbdyno_load::{Connector, EngineArm, EngineCounts, MockArm};
use dbdyno_model::Readings;
use dbdyno_model::readings::{FOREIGN_SHARE, STEAL_SHARE};
use dbdyno_model::{LatencyHistogram, Severity, Warning};
use dbdyno_probe::{HostSample, HostShares, ServerProbe, ServerSample, ThreadsSample};

/// What the observer sees at the opening and at the closing of a window.
pub(crate) struct Look {
    /// The arm that is measured.
    pub server: Option<ServerSample>,
    /// The arms that wait: they should not, but may, have work left over.
    waiting: Vec<Option<ServerSample>>,
    /// Those that follow the arm that is measured, where it is not alone.
    members: Vec<Option<ServerSample>>,
    /// Those that follow the arms that wait.
    waiting_members: Vec<Option<ServerSample>>,
    host: Option<HostSample>,
    /// Threads of our own process that work for the arm, where it has any.
    pub threads: Option<ThreadsSample>,
    /// What the mechanisms of the engine have counted.
    pub counts: Option<EngineCounts>,
    /// How far its replica was behind, since the look before.
    pub lag: Option<LatencyHistogram>,
}

impl Look {
    /// Looks at all arms and at their host. What cannot be seen is left out.
    pub(crate) fn at_arms<'p>(
        host: &dyn Host,
        measured: Option<&ServerProbe>,
        waiting: impl IntoIterator<Item = Option<&'p ServerProbe>>,
    ) -> Look {
        let sample = |probe: Option<&ServerProbe>| probe.and_then(|probe| probe.sample().ok());
        Look {
            server: sample(measured),
            waiting: waiting.into_iter().map(sample).collect(),
            members: Vec::new(),
            waiting_members: Vec::new(),
            host: HostSample::read(host).ok(),
            threads: None,
            counts: None,
            lag: None,
        }
    }

    /// And at what an arm shows by itself: the threads in which an embedded one works, what the
    /// engine counts, and all that there is to be seen of a model.
    pub(crate) fn with_those_of(mut self, measured: &Connector) -> Look {
        if let Connector::Rocks(_) = measured {
            self.threads = Some(ThreadsSample::with_name_prefix(&Local, "rocksdb:"));
        }
        if let Connector::Engine(arm) = measured {
            self.threads = Some(ThreadsSample::with_name_prefix(&Local, EngineArm::THREADS));
            self.counts = Some(arm.meter_counts());
            self.lag = arm.take_lag();
        }
        if let Connector::Mock(arm) = measured {
            let used = arm.total_usage();
            self.server = Some(ServerSample::of_model(used.server_cpu_ns));
            self.host = Some(modelled(arm, used));
        }
        self
    }

    /// And at those that follow them, who are neither the arm nor other work.
    pub(crate) fn with_members(
        mut self,
        measured: &[ServerProbe],
        waiting: &[ServerProbe],
    ) -> Look {
        let sample = |probes: &[ServerProbe]| -> Vec<_> {
            probes.iter().map(|probe| probe.sample().ok()).collect()
        };
        self.members = sample(measured);
        self.waiting_members = sample(waiting);
        self
    }
}

/// The host of a model, on which nobody else is at work.
fn modelled(arm: &MockArm, used: UsedByMock) -> HostSample {
    let all_ns = mock::PROCESSORS * arm.clock().now().as_nanos() as u64;
    let busy_ns = used.server_cpu_ns + used.client_cpu_ns;
    HostSample::of_model(used.client_cpu_ns, busy_ns, used.steal_ns, all_ns)
}

/// Processor time that each of those that follow the measured arm used between two looks.
pub(crate) fn members_cpu_ns(looks: &[Look]) -> Vec<Option<u64>> {
    let [opened, closed] = looks else { return Vec::new() };
    used(&opened.members, &closed.members)
}

fn used(opened: &[Option<ServerSample>], closed: &[Option<ServerSample>]) -> Vec<Option<u64>> {
    let pairs = opened.iter().zip(closed);
    pairs
        .map(|(opened, closed)| closed.as_ref()?.cost_since(opened.as_ref()?).server_cpu_ns)
        .collect()
}

/// What the arms that a look is not about do meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherArms {
    /// Nothing, it is hoped.
    Wait,
    /// Their own slices.
    TakeTurns,
}

/// Sums over the rounds of a run.
#[derive(Default)]
pub(crate) struct Neighbours {
    rounds: u32,
    foreign: f64,
    steal: f64,
    waiting: f64,
    waiting_rounds: u32,
    /// Shares of one processor that the servers used before pairs in slices, while nobody asked.
    unasked: f64,
    unasked_looks: u32,
    warnings: Vec<Warning>,
}

/// Work above this share of the host is worth a warning.
const SHARE_HIGH: f64 = 0.05;

impl Neighbours {
    /// Adds what two looks at a round saw; returns what the host did meanwhile.
    pub(crate) fn add_looks(&mut self, looks: &[Look], others: OtherArms) -> Option<HostShares> {
        let [opened, closed] = looks else { return None };
        let measured_ns = cpu_between_ns(&opened.server, &closed.server).unwrap_or(0);
        let waiting = opened.waiting.iter().zip(&closed.waiting);
        let waiting_ns: Option<u64> = waiting
            .filter_map(|(opened, closed)| cpu_between_ns(opened, closed))
            .reduce(|a, b| a + b);
        if let (Some(waiting_ns), OtherArms::Wait) = (waiting_ns, others) {
            self.waiting_rounds += 1;
            self.waiting += waiting_ns as f64 / (measured_ns + waiting_ns).max(1) as f64;
        }
        let followers = [
            used(&opened.members, &closed.members),
            used(&opened.waiting_members, &closed.waiting_members),
        ];
        let members_ns: u64 = followers.into_iter().flatten().flatten().sum();
        let servers_ns = measured_ns + waiting_ns.unwrap_or(0) + members_ns;
        let shares = match (&opened.host, &closed.host) {
            (Some(opened), Some(closed)) => closed.shares_since(opened, servers_ns),
            _ => None,
        };
        if let Some(shares) = shares {
            self.rounds += 1;
            self.foreign += shares.foreign;
            self.steal += shares.steal;
        }
        if let (Some(opened), Some(closed)) = (&opened.server, &closed.server) {
            for warning in closed.warnings_since(opened) {
                if !self.warnings.iter().any(|known| known.code == warning.code) {
                    self.warnings.push(warning);
                }
            }
        }
        shares
    }

    /// Adds the share of one processor that the servers used while nobody asked them, before a pair
    /// whose arms take turns: what they do then, they do in each other's slices.
    pub(crate) fn add_unasked(&mut self, share: Option<f64>) {
        if let Some(share) = share {
            self.unasked += share;
            self.unasked_looks += 1;
        }
    }

    /// What the reader of the run must know.
    pub(crate) fn warnings(mut self) -> Vec<Warning> {
        let findings = [
            (
                mean_of_rounds(self.foreign, self.rounds),
                "foreign-load",
                "other work took {} of this host's processors during the rounds; stop it and repeat",
            ),
            (
                mean_of_rounds(self.steal, self.rounds),
                "steal",
                "the hypervisor withheld {} of the processor time (steal); results vary more than \
                 the servers do, use a quieter host",
            ),
            (
                mean_of_rounds(self.waiting, self.waiting_rounds),
                "waiting-arm-busy",
                "the arm that had to wait used {} of the servers' processor time: it was still \
                 purging, flushing or vacuuming",
            ),
            (
                mean_of_rounds(self.unasked, self.unasked_looks),
                "waiting-arm-busy",
                "between rounds the servers used {} of a processor although no client sent \
                 anything: one was still purging, flushing or vacuuming, which slows both where \
                 they take turns, and adds to the cost of its own operations",
            ),
        ];
        for (share, code, text) in findings {
            if share > SHARE_HIGH {
                let text = text.replace("{}", &format!("{:.0} %", share * 100.0));
                self.warnings.push(Warning::new(Severity::Caution, code, text));
            }
        }
        self.warnings
    }
}

fn cpu_between_ns(opened: &Option<ServerSample>, closed: &Option<ServerSample>) -> Option<u64> {
    closed.as_ref()?.cost_since(opened.as_ref()?).server_cpu_ns
}

fn mean_of_rounds(sum: f64, rounds: u32) -> f64 {
    sum / f64::from(rounds.max(1))
}

/// Puts what the host did in a round among its readings.
pub(crate) fn note_shares(shares: &HostShares, readings: &mut Readings) {
    let wanted = shares.busy + shares.steal;
    readings.set(STEAL_SHARE, (wanted > 0.0).then(|| shares.steal / wanted));
    readings.set(FOREIGN_SHARE, Some(shares.foreign));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_that_work_although_nobody_asks_are_told() {
        let told = |shares: &[Option<f64>]| {
            let mut neighbours = Neighbours::default();
            shares.iter().for_each(|share| neighbours.add_unasked(*share));
            neighbours.warnings().iter().map(|warning| warning.text.clone()).collect::<Vec<_>>()
        };
        let busy = told(&[Some(0.30), None, Some(0.10)]);
        assert!(busy[0].starts_with("between rounds the servers used 20 %"), "{busy:?}");
        assert!(
            told(&[Some(0.34), Some(0.0), Some(0.0), Some(0.0), Some(0.0), Some(0.0), Some(0.0)])
                .is_empty()
        );
        assert!(told(&[None]).is_empty());
    }
}
