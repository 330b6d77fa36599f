//! Memory of the arms that rests while others are measured.
//!
//! ```text
//!   before a round of an arm   sample: how many of its pages has the host of this machine taken?
//!     from then on, if some:   fetch: a byte of each page; sample again
//!   after it                   sample
//! ```
//!
//! What a sample shows stands among the readings of the round; what it means, the judge says.
//! Embedded arms have theirs in our own process and are not looked at.

use dbdyno_load::MockArm;
use dbdyno_model::random::{self, RandomStream};
use dbdyno_model::readings::{CanarySide, MEMORY_AWAY_NS, MEMORY_BROUGHT_BACK, memory_away};
use dbdyno_model::{ArmIndex, KeepMemory, Plan, Readings, Severity, Warning};
use dbdyno_probe::{HeldMemory, Reach};

use crate::host_check::ArmWatch;

/// Pages of a sample: a thousandth of them can be seen, and it takes some milliseconds.
const PAGES: usize = 1_000;
/// From this share on, pages are brought back: what preemption makes slow is a tenth of it.
const TAKEN: f64 = 0.01;

/// What a sample showed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Away {
    share: f64,
    /// What each of those pages took to come back.
    each_ns: Option<f64>,
}

/// What is done about memory that rests, in a run.
pub(crate) struct Resting {
    keep: KeepMemory,
    /// Whether pages are fetched from now on.
    is_fetching: bool,
    random: RandomStream,
}

impl Resting {
    pub(crate) fn new(plan: &Plan) -> Resting {
        Resting {
            keep: plan.quiet.keep_memory,
            is_fetching: plan.quiet.keep_memory == KeepMemory::Always,
            random: random::stream(&[random::key_of("memory at rest"), plan.question.seed]),
        }
    }

    /// Looks at the memory of an arm that is about to be measured, and has it brought back if that
    /// is wanted. Returns what the round is to keep of it, and what the reader must know now.
    pub(crate) fn before_round(
        &mut self,
        arm: ArmIndex,
        memory: &ArmWatch,
    ) -> (Readings, Option<Warning>) {
        let mut readings = Readings::default();
        let memory = Memory::of(memory);
        let sampled = memory.as_ref().and_then(|memory| memory.sample(&mut self.random));
        let (Some(memory), Some(mut away)) = (memory, sampled) else { return (readings, None) };
        let mut told = None;
        if self.keep == KeepMemory::Auto && !self.is_fetching && away.share >= TAKEN {
            self.is_fetching = true;
            told = Some(note(arm, away));
        }
        readings.set(MEMORY_AWAY_NS, away.each_ns);
        if self.is_fetching {
            memory.fetch();
            readings.set(MEMORY_BROUGHT_BACK, Some(away.share));
            away = memory.sample(&mut self.random).unwrap_or(away);
        }
        readings.set(&memory_away(CanarySide::Before), Some(away.share));
        (readings, told)
    }

    /// Looks at the memory of an arm that was measured.
    pub(crate) fn after_round(&mut self, memory: &ArmWatch, readings: &mut Readings) {
        let away = Memory::of(memory).and_then(|memory| memory.sample(&mut self.random));
        readings.set(&memory_away(CanarySide::After), away.map(|away| away.share));
    }
}

/// The memory of an arm, as it is mapped now.
enum Memory<'a> {
    /// Of its servers.
    Held(Vec<HeldMemory>),
    Modelled(&'a MockArm),
}

impl Memory<'_> {
    /// `None` where it cannot be looked at.
    fn of(arm: &ArmWatch) -> Option<Memory<'_>> {
        match arm {
            ArmWatch::Servers(probes) if !probes.is_empty() => {
                let held = probes.iter().map(|probe| probe.held_memory().ok().flatten());
                Some(Memory::Held(held.collect::<Option<_>>()?))
            }
            ArmWatch::Modelled(arm) => Some(Memory::Modelled(arm)),
            ArmWatch::Servers(_) | ArmWatch::Unseen => None,
        }
    }

    fn sample(&self, random: &mut RandomStream) -> Option<Away> {
        let held = match self {
            Memory::Held(held) => held,
            Memory::Modelled(arm) => {
                return Some(Away { share: arm.memory_away(), each_ns: None });
            }
        };
        let pages = PAGES / held.len();
        let all: Vec<Reach> =
            held.iter().map(|held| held.sample(pages, || random.next_u64())).collect();
        if all.iter().any(|reach| reach.pages == 0) {
            return None;
        }
        let sum = |of: fn(&Reach) -> u64| all.iter().map(of).sum::<u64>() as f64;
        let away = sum(|reach| reach.away);
        let each_ns = (away > 0.0).then(|| sum(|reach| reach.away_ns) / away);
        Some(Away { share: away / sum(|reach| reach.pages), each_ns })
    }

    /// Reads a byte of every page, so that the host has all of them back.
    fn fetch(&self) {
        match self {
            Memory::Held(held) => held.iter().for_each(|held| _ = held.fetch()),
            Memory::Modelled(arm) => arm.fetch_memory(),
        }
    }
}

fn note(arm: ArmIndex, away: Away) -> Warning {
    let each = away.each_ns.map_or(String::new(), |ns| format!(", {:.0} µs each", ns / 1e3));
    let text = format!(
        "the host of this virtual machine takes away memory that rests: before a round of {arm}, \
         {:.1} % of its pages had to be brought back{each}; from here on a byte of each page of \
         each server is read before its rounds (--keep-memory)",
        away.share * 100.0
    );
    Warning::new(Severity::Note, "memory-at-rest", text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_host::local_host;
    use dbdyno_probe::ServerProbe;

    #[test]
    fn the_memory_of_our_own_process_can_be_looked_at_and_fetched() {
        let mut plan = dbdyno_judge::sample::point_queries("sqlite:", 1, |_| {}).plan;
        plan.quiet.keep_memory = KeepMemory::Always;
        let mut resting = Resting::new(&plan);
        let own =
            ArmWatch::Servers(vec![ServerProbe::of_process(&local_host(), std::process::id())]);
        let (mut readings, told) = resting.before_round(ArmIndex::BASE, &own);
        assert_eq!(told, None);
        resting.after_round(&own, &mut readings);
        for name in [memory_away(CanarySide::Before), memory_away(CanarySide::After)] {
            assert!((0.0..=1.0).contains(&readings.get(&name).unwrap()), "{name}");
        }
        assert!(readings.get(MEMORY_BROUGHT_BACK).is_some());
        for unseen in [ArmWatch::Unseen, ArmWatch::Servers(Vec::new())] {
            assert!(resting.before_round(ArmIndex::BASE, &unseen).0.is_empty());
        }
    }
}
