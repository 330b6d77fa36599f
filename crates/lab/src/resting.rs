//! Memory of the arms that rests while others are measured.
//!
//! ```text
//!   before a round of an arm   sample: how many of its pages has the host of this machine taken?
//!     from then on, if some:   fetch: a byte of each page; sample again
//!   after it                   sample
//! ```
//!
//! What a sample shows stands among the readings of the round; what it means, the judge says.
//! Of embedded arms, the memory of our own process is looked at.

use dbdyno_model::random::{self, Stream};
use dbdyno_model::readings::{MEMORY_AWAY_NS, MEMORY_BROUGHT_BACK, Side, memory_away};
use dbdyno_model::{ArmIndex, KeepMemory, Plan, Readings, Severity, Warning};
use dbdyno_probe::{Reach, ServerProbe};

use crate::host_check::Watched;

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
    random: Stream,
}

impl Resting {
    pub(crate) fn new(plan: &Plan) -> Resting {
        Resting {
            keep: plan.keep_memory,
            is_fetching: plan.keep_memory == KeepMemory::Always,
            random: random::stream(&[random::key_of("memory at rest"), plan.seed]),
        }
    }

    /// Looks at the memory of an arm that is about to be measured, and has it brought back if that
    /// is wanted. Returns what the round is to keep of it, and what the reader must know now.
    pub(crate) fn before(
        &mut self,
        arm: ArmIndex,
        memory: &Watched,
    ) -> (Readings, Option<Warning>) {
        let mut readings = Readings::default();
        let Some(mut away) = self.sample(memory) else { return (readings, None) };
        let mut told = None;
        if self.keep == KeepMemory::Auto && !self.is_fetching && away.share >= TAKEN {
            self.is_fetching = true;
            told = Some(note(arm, away));
        }
        readings.set(MEMORY_AWAY_NS, away.each_ns);
        if self.is_fetching {
            fetch(memory);
            readings.set(MEMORY_BROUGHT_BACK, Some(away.share));
            away = self.sample(memory).unwrap_or(away);
        }
        readings.set(&memory_away(Side::Before), Some(away.share));
        (readings, told)
    }

    /// Looks at the memory of an arm that was measured.
    pub(crate) fn after(&mut self, memory: &Watched, readings: &mut Readings) {
        let away = self.sample(memory);
        readings.set(&memory_away(Side::After), away.map(|away| away.share));
    }

    fn sample(&mut self, memory: &Watched) -> Option<Away> {
        let probes = match memory {
            Watched::Servers(probes) => probes,
            Watched::Modelled(arm) => {
                return Some(Away { share: arm.memory_away(), each_ns: None });
            }
            Watched::Unseen => return None,
        };
        let pages = PAGES / probes.len().max(1);
        let of_probe = |probe: &ServerProbe| {
            let held = probe.held_memory().ok().flatten()?;
            Some(held.sample(pages, || self.random.next_u64()))
        };
        let all: Option<Vec<Reach>> = probes.iter().map(of_probe).collect();
        let sum = |of: fn(&Reach) -> u64, all: &[Reach]| all.iter().map(of).sum::<u64>() as f64;
        let all = all.filter(|all| all.iter().all(|reach| reach.pages > 0))?;
        let away = sum(|reach| reach.away, &all);
        let each_ns = (away > 0.0).then(|| sum(|reach| reach.away_ns, &all) / away);
        Some(Away { share: away / sum(|reach| reach.pages, &all), each_ns })
    }
}

fn fetch(memory: &Watched) {
    match memory {
        Watched::Servers(probes) => {
            for held in probes.iter().filter_map(|probe| probe.held_memory().ok().flatten()) {
                held.fetch();
            }
        }
        Watched::Modelled(arm) => arm.fetch_memory(),
        Watched::Unseen => {}
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

    #[test]
    fn the_memory_of_our_own_process_can_be_looked_at_and_fetched() {
        let plan = dbdyno_judge::sample::point_queries("sqlite:", 1, |_| {}).plan;
        let plan = Plan { keep_memory: KeepMemory::Always, ..plan };
        let mut resting = Resting::new(&plan);
        let own = Watched::Servers(vec![ServerProbe::of_process(std::process::id())]);
        let base = plan.specs().indices()[0];
        let (mut readings, told) = resting.before(base, &own);
        assert_eq!(told, None);
        resting.after(&own, &mut readings);
        for name in [memory_away(Side::Before), memory_away(Side::After)] {
            assert!((0.0..=1.0).contains(&readings.get(&name).unwrap()), "{name}");
        }
        assert!(readings.get(MEMORY_BROUGHT_BACK).is_some());
        for unseen in [Watched::Unseen, Watched::Servers(Vec::new())] {
            assert!(resting.before(base, &unseen).0.is_empty());
        }
    }
}
