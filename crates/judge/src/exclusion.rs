//! Which pairs are left out because the host was not as usual, decided blind to their results.
//!
//! ```text
//!   readings of the rounds  ──▶ what is usual: median ± reach, for each witness, arm and number
//!   up to the cell's last one       of clients by itself
//!   (canaries, steal, other ──▶ a pair is left out if a witness of one of its rounds is outside
//!    work; never rates)
//! ```
//!
//! Leaving out what looks odd in the results is the way to any result one likes. Here no rate is
//! looked at, and it would still be wrong to blame the host for what an arm does to it: an arm that
//! stalls because it floods the disk would be cleared of its worst rounds. So
//!
//! * a canary is outside where it is so on both sides of a round, in the same direction: what comes
//!   and goes in the milliseconds of one look is not the state of a round;
//! * each arm has limits of its own, and what it always does to the host is usual;
//! * a canary that was out while a server was at work counts for nothing, nor does one beside a
//!   server that cannot be watched;
//! * where an arm changes rows, neither syncs nor other work count: the kernel writes for the arm,
//!   and later. Where an arm does not even read from storage, syncs say nothing about it.
//!
//! After the canary workloads of MongoDB's performance tests (D. Daly, "Creating a Virtuous Cycle
//! in Performance Testing at MongoDB", ICPE 2021); limits: [`dbdyno_stats::ControlLimits`].

use std::collections::BTreeMap;

use dbdyno_model::readings::{CANARIES, CanarySide, FOREIGN_SHARE, SERVERS_SHARE, STEAL_SHARE};
use dbdyno_model::{Arm, Cell, PerArm, Round, RunPair, Severity, Warning};
use dbdyno_stats::ControlLimits;

/// A server that used more of a processor than this held the canaries up.
const SERVERS_AT_WORK: f64 = 0.1;
/// A canary that is off by less than a quarter is usual in any case.
const CANARY_LEAST: f64 = 0.223_143_551_314_209_76;
/// So are shares of time that are off by less than a tenth of all.
const SHARE_LEAST: f64 = 0.1;
/// From this share of the pairs on, leaving them out is more than a note.
const MANY: f64 = 0.1;

/// What shows the state of the host in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Witness {
    Canary(&'static str),
    Share(&'static str),
}

const WITNESSES: [Witness; 6] = [
    Witness::Canary(CANARIES[0]),
    Witness::Canary(CANARIES[1]),
    Witness::Canary(CANARIES[2]),
    Witness::Canary(CANARIES[3]),
    Witness::Share(STEAL_SHARE),
    Witness::Share(FOREIGN_SHARE),
];

/// The pairs of a cell, without those that are left out.
pub(crate) struct IncludedPairs<'a> {
    /// Those that are judged.
    pub(crate) pairs: Vec<PerArm<&'a Round>>,
    /// How many are not.
    pub(crate) dropped: u32,
    /// Why.
    pub(crate) warning: Option<Warning>,
}

/// Leaves out the pairs of a cell in which the host was not as usual. What is usual, the rounds of
/// the run say up to the last one of the cell: what is measured later changes no cell that was
/// decided. Where all pairs would go, all are kept and none is believed.
pub(crate) fn exclude_unusual<'a>(
    run: RunPair<'_>,
    cell: &Cell,
    pairs: Vec<PerArm<&'a Round>>,
) -> IncludedPairs<'a> {
    let limits: BTreeMap<(Witness, Arm), ControlLimits> = limits(run, cell);
    let all = pairs;
    let mut causes: BTreeMap<Witness, (u32, f64)> = BTreeMap::new();
    let is_usual = |pair: &PerArm<&Round>| {
        let found = Arm::BOTH.into_iter().flat_map(|arm| {
            let limits = &limits;
            WITNESSES.into_iter().filter_map(move |witness| {
                let off = off(limits.get(&(witness, arm))?, &says(witness, pair[arm]))?;
                Some((witness, off))
            })
        });
        let Some((witness, off)) = found.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())) else {
            return true;
        };
        let (count, most) = causes.entry(witness).or_default();
        *count += 1;
        *most = if off.abs() > most.abs() { off } else { *most };
        false
    };
    let pairs: Vec<PerArm<&Round>> = all.iter().copied().filter(is_usual).collect();
    let dropped = all.len() - pairs.len();
    let warning = (dropped > 0).then(|| told(dropped, all.len(), &causes));
    if pairs.is_empty() && dropped > 0 {
        return IncludedPairs { pairs: all, dropped: 0, warning };
    }
    IncludedPairs { pairs, dropped: dropped as u32, warning }
}

/// How far all that a witness says lies outside, in the same direction; the nearest of it counts.
fn off(limits: &ControlLimits, says: &[f64]) -> Option<f64> {
    let offs: Option<Vec<f64>> = says.iter().map(|value| limits.distance_outside(*value)).collect();
    let offs = offs?;
    let nearest = offs.iter().copied().min_by(|a, b| a.abs().total_cmp(&b.abs()))?;
    offs.iter().all(|off| off.signum() == nearest.signum()).then_some(nearest)
}

fn limits(run: RunPair<'_>, cell: &Cell) -> BTreeMap<(Witness, Arm), ControlLimits> {
    let rounds: Vec<&Round> = run.rounds().collect();
    let last = rounds.iter().rposition(|round| round.key.cell == *cell);
    let known = &rounds[..last.map_or(0, |last| last + 1)];
    let rounds = |arm: Arm| {
        let arm = run.pairing.arm_on(arm);
        let alike =
            move |round: &&&Round| round.key.arm == arm && round.key.cell.clients == cell.clients;
        known.iter().filter(alike)
    };
    let each = Arm::BOTH.into_iter().flat_map(|arm| WITNESSES.map(|witness| (witness, arm)));
    each.filter_map(|(witness, arm)| {
        let values: Vec<f64> = rounds(arm).flat_map(|round| says(witness, round)).collect();
        let least = match witness {
            Witness::Canary(_) => CANARY_LEAST,
            Witness::Share(_) => SHARE_LEAST,
        };
        Some(((witness, arm), ControlLimits::from_values(&values, least)?))
    })
    .collect()
}

/// What a witness says of a round where it counts: a canary the logarithms of both sides, or one
/// share; nothing where it does not.
fn says(witness: Witness, round: &Round) -> Vec<f64> {
    let readings = &round.readings;
    let writes = round.rows_changed > 0;
    let reads = round.cost.server_read_bytes.is_some_and(|bytes| bytes > 0);
    match witness {
        Witness::Canary("sync_ns") if writes || !reads => Vec::new(),
        Witness::Share(FOREIGN_SHARE) if writes => Vec::new(),
        Witness::Share(what) => readings.get(what).into_iter().collect(),
        Witness::Canary(what) => {
            let one = |side: CanarySide| {
                let at_work = readings.get(&side.reading_name(SERVERS_SHARE))?;
                let value = readings.get(&side.reading_name(what))?;
                (at_work <= SERVERS_AT_WORK && value > 0.0).then(|| value.ln())
            };
            let both: Option<Vec<f64>> = CanarySide::BOTH.into_iter().map(one).collect();
            both.unwrap_or_default()
        }
    }
}

impl Witness {
    /// What it saw, `off` from what is usual.
    fn words(self, off: f64) -> String {
        let (what, off) = match self {
            Witness::Canary("sum_ns") => ("sums", off.exp()),
            Witness::Canary("chase_ns") => ("walks through memory", off.exp()),
            Witness::Canary("turn_ns") => ("turns over the loopback", off.exp()),
            Witness::Canary(_) => ("syncs of a small file", off.exp()),
            Witness::Share(STEAL_SHARE) => ("steal", off * 100.0),
            Witness::Share(_) => ("other work", off * 100.0),
        };
        match self {
            Witness::Canary(_) => format!("{what} took {off:.1} times as long as usual"),
            Witness::Share(_) => {
                let side = if off < 0.0 { "below" } else { "above" };
                format!("{what} was {:.0} % of the time {side} its usual share", off.abs())
            }
        }
    }
}

fn told(dropped: usize, all: usize, causes: &BTreeMap<Witness, (u32, f64)>) -> Warning {
    let causes: Vec<String> = causes
        .iter()
        .map(|(witness, (count, off))| format!("{} ({count})", witness.words(*off)))
        .collect();
    let causes = causes.join(", ");
    let advice = "`dbdyno doctor` says what to change";
    let (severity, text) = if dropped == all {
        let text =
            format!("the host was disturbed in all {all} pairs, at worst: {causes}; {advice}");
        (Severity::Blocks, text)
    } else {
        let many = dropped as f64 > MANY * all as f64;
        let text = format!(
            "{dropped} of {all} pairs were excluded, without regard to their results, because the \
             host was disturbed; at worst {causes}"
        );
        let text = if many { format!("{text}; {advice}") } else { text };
        (if many { Severity::Caution } else { Severity::Note }, text)
    };
    Warning::new(severity, "pairs-dropped", text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use dbdyno_model::{ArmIndex, Run};

    /// A run of pairs whose canaries waver by a few per cent.
    fn run(pairs: u32, change: impl Fn(&mut Round)) -> Run {
        let mut run = sample::of_pairs(pairs, "point-query", "sqlite:", 1, |_| {});
        for (index, round) in run.rounds.iter_mut().enumerate() {
            for (at, what) in CANARIES.into_iter().enumerate() {
                for side in CanarySide::BOTH {
                    let wavers = 1.0 + 0.01 * ((index * 7 + at * 3) % 5) as f64;
                    round.readings.set(&side.reading_name(what), Some(1000.0 * wavers));
                    round.readings.set(&side.reading_name(SERVERS_SHARE), Some(0.0));
                }
            }
            round.readings.set(STEAL_SHARE, Some(0.01));
            round.cost.server_read_bytes = Some(4096);
            change(round);
        }
        run
    }

    fn dropped(run: &Run) -> (u32, String) {
        let cell = run.plan.cells().remove(0);
        let sifted = exclude_unusual(
            run.first_pair(),
            &cell,
            crate::pairs::pairs_of(run.first_pair(), &cell),
        );
        assert_eq!(sifted.pairs.len() as u32 + sifted.dropped, run.plan.schedule.pairs);
        (sifted.dropped, sifted.warning.map(|warning| warning.text).unwrap_or_default())
    }

    fn set_both(round: &mut Round, what: &str, value: f64) {
        CanarySide::BOTH
            .iter()
            .for_each(|side| round.readings.set(&side.reading_name(what), Some(value)));
    }

    fn is(round: &Round, pair: u32, arm: Arm) -> bool {
        round.key.pair == pair && round.key.arm == arm.into()
    }

    #[test]
    fn a_pair_goes_whichever_of_its_rounds_had_an_unusual_host() {
        assert_eq!(dropped(&run(20, |_| {})).0, 0);
        for arm in Arm::BOTH {
            for (what, words) in [
                ("sum_ns", "sums took 2.9 times as long as usual (1)"),
                ("turn_ns", "turns over the loopback took 2.9 times"),
                ("sync_ns", "syncs of a small file"),
            ] {
                let ill = |sides: &'static [CanarySide]| {
                    run(20, move |round| {
                        let ill = sides.iter().filter(|_| is(round, 7, arm));
                        let ill: Vec<String> = ill.map(|side| side.reading_name(what)).collect();
                        ill.iter().for_each(|what| round.readings.set(what, Some(3000.0)));
                    })
                };
                assert_eq!(dropped(&ill(&[CanarySide::After])).0, 0, "a spike is no state");
                let (count, text) = dropped(&ill(&CanarySide::BOTH));
                assert_eq!(count, 1, "{what}");
                assert!(text.starts_with("1 of 20 pairs were excluded"), "{text}");
                assert!(text.contains(words), "{text}");
            }
        }
        let stolen = run(20, |round| {
            if is(round, 3, Arm::Test) {
                round.readings.set(STEAL_SHARE, Some(0.31));
            }
        });
        assert!(
            dropped(&stolen).1.contains("steal was 30 % of the time above its usual share"),
            "{}",
            dropped(&stolen).1
        );
    }

    #[test]
    fn what_an_arm_does_to_the_host_is_its_own() {
        // Always: the test arm leaves a busy disk behind.
        let always = run(20, |round| {
            if round.key.arm == ArmIndex::TEST {
                set_both(round, "sync_ns", 9000.0);
            }
        });
        assert_eq!(dropped(&always).0, 0);
        // Now and then, by what it writes.
        let writes = run(20, |round| {
            round.rows_changed = 5;
            if is(round, 4, Arm::Test) {
                set_both(round, "sync_ns", 9000.0);
                round.readings.set(FOREIGN_SHARE, Some(0.9));
            }
        });
        assert_eq!(dropped(&writes).0, 0);
        let in_memory = run(20, |round| {
            round.cost.server_read_bytes = Some(0);
            if is(round, 4, Arm::Test) {
                set_both(round, "sync_ns", 9000.0);
            }
        });
        assert_eq!(dropped(&in_memory).0, 0);
        // Now and then, by purging after the round.
        let purges = run(20, |round| {
            if is(round, 4, Arm::Test) {
                set_both(round, "sum_ns", 9000.0);
                set_both(round, SERVERS_SHARE, 0.6);
            }
        });
        assert_eq!(dropped(&purges).0, 0);
    }

    #[test]
    fn what_is_measured_later_changes_no_cell() {
        let mut one = run(20, |round| {
            if is(round, 7, Arm::Base) {
                set_both(round, "sum_ns", 2000.0);
            }
        });
        let before = dropped(&one);
        assert_eq!(before.0, 1);
        let later = run(60, |round| {
            round.key.cell.load = "scan".to_owned();
            set_both(round, "sum_ns", 2000.0);
        });
        one.rounds.extend(later.rounds);
        assert_eq!(dropped(&one), before);
    }

    #[test]
    fn rates_are_not_looked_at() {
        let mut one = run(20, |round| {
            if is(round, 7, Arm::Base) {
                set_both(round, "sum_ns", 2000.0);
            }
        });
        let before = dropped(&one);
        for (index, round) in one.rounds.iter_mut().enumerate() {
            round.statements = 1 + (index as u64 * 977) % 10_000;
            round.events = round.statements;
        }
        assert_eq!(dropped(&one), before);
    }

    #[test]
    fn short_runs_have_no_usual() {
        let short = run(5, |round| {
            if is(round, 2, Arm::Base) {
                set_both(round, "sum_ns", 9000.0);
            }
        });
        assert_eq!(dropped(&short).0, 0);
    }
}
