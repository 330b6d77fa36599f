//! The host between two rounds.
//!
//! ```text
//!      look      look           look           look
//!        │ round B │   round T    │   round T    │  …       each round carries the looks before
//!        └ canaries: sum, chase, turn, sync                and after it, as readings
//! ```
//!
//! A look takes the canaries for some milliseconds each and keeps their medians, which one
//! interruption does not move. It also notes what the servers did meanwhile: a canary that a server
//! held up says nothing about the host.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use dbdyno_load::{MockArm, pin_to};
use dbdyno_model::readings::{CANARIES, CanarySide, SERVERS_SHARE};
use dbdyno_model::{Placement, Processors, Readings};
use dbdyno_probe::{ServerProbe, ServerSample};

use crate::canaries::{self, Ends, Ring, now};

/// Repetitions of a canary, of which the median counts.
const TIMES: usize = 5;
/// Steps of one sum: about half a millisecond.
const SUM_STEPS: u64 = 400_000;
/// Steps of one walk, and words of the ring: 8 MB, more than a processor has to itself.
const CHASE_STEPS: u32 = 4_000;
const CHASE_WORDS: usize = 2 << 20;
const TURNS_FOR: Duration = Duration::from_millis(1);
const SYNCS: usize = 3;
const SYNCS_FOR: Duration = Duration::from_millis(20);
/// What a look takes in virtual time, and what canaries come to there.
const MODELLED: Duration = Duration::from_millis(10);
const CANARIES_USUAL_NS: [f64; CANARIES.len()] = [500e3, 400e3, 20e3, 1e6];

/// Medians of the canaries of one look, in the order of [`CANARIES`], and [`SERVERS_SHARE`].
#[derive(Clone, Debug, Default)]
pub(crate) struct HostLook {
    canaries: [Option<f64>; CANARIES.len()],
    servers_share: Option<f64>,
}

impl HostLook {
    /// Share of one processor that the servers used while nobody asked them; `None` where that
    /// cannot be seen.
    pub(crate) fn servers_share(&self) -> Option<f64> {
        self.servers_share
    }

    /// Puts the look among the readings of a round.
    pub(crate) fn note_canaries(&self, side: CanarySide, readings: &mut Readings) {
        for (what, value) in CANARIES.into_iter().zip(self.canaries) {
            readings.set(&side.reading_name(what), value);
        }
        readings.set(&side.reading_name(SERVERS_SHARE), self.servers_share);
    }
}

/// How an arm is watched between rounds.
pub(crate) enum ArmWatch {
    /// These are its servers; an embedded arm that does nothing by itself has none.
    Servers(Vec<ServerProbe>),
    /// It is a model, and so is its host.
    Modelled(MockArm),
    /// It cannot be.
    Unseen,
}

impl ArmWatch {
    fn sample(&self) -> Option<Vec<ServerSample>> {
        match self {
            ArmWatch::Servers(probes) => probes.iter().map(|probe| probe.sample().ok()).collect(),
            ArmWatch::Modelled(_) | ArmWatch::Unseen => None,
        }
    }
}

/// What the canaries need.
pub(crate) struct HostCheck {
    /// Made when it is first walked.
    ring: Option<Ring>,
    directory: PathBuf,
}

impl HostCheck {
    /// For a run whose servers have their data near this directory.
    pub(crate) fn new(directory: PathBuf) -> HostCheck {
        HostCheck { ring: None, directory }
    }

    /// Takes all canaries, on the processors of the clients; and looks at both arms.
    pub(crate) fn look_at_host(&mut self, placement: Placement, arms: &[ArmWatch]) -> HostLook {
        if let Some(ArmWatch::Modelled(arm)) = arms.first() {
            return modelled(arm);
        }
        let sample = || arms.iter().map(ArmWatch::sample).collect::<Option<Vec<_>>>();
        let (before, began) = (sample(), now());
        let of_clients = placement.clients;
        let ring = self.ring.get_or_insert_with(|| Ring::of_words(CHASE_WORDS));
        let mut canaries = thread::scope(|scope| {
            let taken = scope.spawn(move || processor_canaries(of_clients, ring)).join();
            taken.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let syncs = canaries::time_syncs(&self.directory, SYNCS, SYNCS_FOR).ok();
        canaries[3] = syncs.map(|sample| sample.quantile_ns(0.5) as f64);
        let elapsed_ns = began.elapsed().as_nanos() as f64;
        let used_ns = before.zip(sample()).and_then(|(before, after)| used_ns(&before, &after));
        HostLook { canaries, servers_share: used_ns.map(|ns| ns as f64 / elapsed_ns) }
    }
}

/// What canaries of a model's host come to: they are as slow as all that runs there.
fn modelled(arm: &MockArm) -> HostLook {
    let slowness = arm.host().slowness;
    arm.clock().advance_by(MODELLED);
    let canaries = CANARIES_USUAL_NS.map(|usual_ns| Some(usual_ns * slowness));
    HostLook { canaries, servers_share: Some(0.0) }
}

/// The canaries of processor and memory, where the clients have theirs.
fn processor_canaries(clients: Processors, ring: &mut Ring) -> [Option<f64>; CANARIES.len()] {
    if clients.numbers().next().is_some() {
        // Where the kernel refuses, the figure is that of its own placement.
        let _ = pin_to(clients);
    }
    let processor = clients.numbers().last().or_else(|| dbdyno_sandbox::allowed_processors().pop());
    let sum = median_ns(canaries::time_sums(TIMES, SUM_STEPS));
    let chase = median_ns(ring.time_walks(TIMES, CHASE_STEPS));
    [sum, chase, processor.and_then(turn_ns), None]
}

fn median_ns(sample: canaries::Sample) -> Option<f64> {
    Some(sample.quantile_ns(0.5) as f64)
}

fn turn_ns(processor: usize) -> Option<f64> {
    let mut turns_ns: Vec<f64> = (0..TIMES)
        .filter_map(|_| canaries::turns_per_second(Ends::On(processor), TURNS_FOR).ok())
        .map(|turns_per_second| 1e9 / turns_per_second)
        .collect();
    turns_ns.sort_unstable_by(f64::total_cmp);
    turns_ns.get(turns_ns.len() / 2).copied()
}

fn used_ns(before: &[Vec<ServerSample>], after: &[Vec<ServerSample>]) -> Option<u64> {
    let servers = before.iter().flatten().zip(after.iter().flatten());
    servers.map(|(before, after)| after.cost_since(before).server_cpu_ns).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_has_all_canaries_and_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let mut host_check = HostCheck::new(directory.path().to_owned());
        let free = Placement { clients: Processors::ANY, servers: Processors::ANY };
        let mut readings = Readings::default();
        host_check
            .look_at_host(free, &[ArmWatch::Servers(Vec::new())])
            .note_canaries(CanarySide::After, &mut readings);
        for what in CANARIES {
            assert!(readings.get(&CanarySide::After.reading_name(what)).unwrap() > 0.0, "{what}");
            assert_eq!(readings.get(&CanarySide::Before.reading_name(what)), None);
        }
        assert_eq!(readings.get(&CanarySide::After.reading_name(SERVERS_SHARE)), Some(0.0));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
