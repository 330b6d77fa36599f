//! Which results and which orders a level allows, by trying every execution.
//!
//! ```text
//!   execution   T2 · T1 · T3          states  s0 ─T2─▶ s1 ─T1─▶ s2 ─T3─▶ s3
//!
//!   serializable             each transaction reads the state right before it
//!   snapshot isolation       … some earlier state, and nobody between wrote what it writes
//!   InnoDB's repeatable read … some earlier state (writes are not plain reads)
//!   read committed           … each read has an earlier state of its own
//! ```
//!
//! After Crooks, Pu, Alvisi, Clement, *Seeing is Believing*, PODC 2017, with one difference: a
//! transaction that has written a key reads what it wrote. All executions of three transactions are
//! tried: six; where the order of versions is known, those that agree with it.

use dbdyno_cases::{Interleaving, KeyOperation};
use dbdyno_check::Level;

use crate::outcome::{MOST, ShortSequence};

/// Levels that are decided here, the weakest first.
pub const LEVELS: [Level; 4] = [
    Level::ReadCommitted,
    Level::InnodbRepeatableRead,
    Level::SnapshotIsolation,
    Level::Serializable,
];

/// What a transaction read from others and wrote, as far as levels ask for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Footprint {
    /// By key, which values it read before it wrote the key: bit 0 for what was there at first,
    /// bit *n* for the *n*-th transaction's.
    pub read: [u8; MOST],
    /// Keys that it wrote, as bits.
    pub wrote: u8,
}

/// All orders of `count` transactions.
pub(crate) fn all_orders(count: usize) -> &'static [[u8; MOST]] {
    const TWO: [[u8; MOST]; 2] = [[0, 1, 2], [1, 0, 2]];
    const THREE: [[u8; MOST]; 6] =
        [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    if count == 3 { &THREE } else { &TWO[..count] }
}

/// Whether a level allows that these transactions commit with what they read.
pub(crate) fn allows_footprints(level: Level, all: &[Footprint]) -> bool {
    all_orders(all.len()).iter().any(|order| is_execution(level, all, &order[..all.len()]))
}

/// The same where the order of versions is known: by key, who wrote them.
pub(crate) fn allows_versions(
    level: Level,
    all: &[Footprint],
    versions: &[ShortSequence; MOST],
) -> bool {
    let agrees = |order: &[u8]| {
        versions.iter().all(|writers| {
            writers
                .iter()
                .map(|who| order.iter().position(|one| usize::from(*one) == who))
                .is_sorted()
        })
    };
    all_orders(all.len()).iter().any(|order| {
        let order = &order[..all.len()];
        agrees(order) && is_execution(level, all, order)
    })
}

fn is_execution(level: Level, all: &[Footprint], order: &[u8]) -> bool {
    // By number of transactions before it, by key: whose value is there, as a bit.
    let mut states = [[1_u8; MOST]; MOST + 1];
    for (at, who) in order.iter().enumerate() {
        states[at + 1] = states[at];
        for (key, value) in states[at + 1].iter_mut().enumerate() {
            if all[usize::from(*who)].wrote & (1 << key) != 0 {
                *value = 2 << who;
            }
        }
    }
    order.iter().enumerate().all(|(at, who)| {
        let one = &all[usize::from(*who)];
        let is_at = |state: usize| {
            (0..MOST).all(|key| one.read[key] == 0 || one.read[key] == states[state][key])
        };
        match level {
            Level::ReadCommitted => (0..MOST).all(|key| {
                let seen = states[..=at].iter().fold(0, |bits, state| bits | state[key]);
                one.read[key] & !seen == 0
            }),
            Level::InnodbRepeatableRead => (0..=at).any(is_at),
            Level::SnapshotIsolation => (0..=at).any(|view| {
                let between = order[view..at].iter();
                is_at(view)
                    && between.fold(0, |bits, who| bits | all[usize::from(*who)].wrote) & one.wrote
                        == 0
            }),
            _ => is_at(at),
        }
    })
}

/// Whether a level allows that an order of statements completes at once: whether somebody who
/// shows committed versions only, and may show old ones, can answer every read so that the result
/// has the level.
#[must_use]
pub(crate) fn allows_schedule(level: Level, schedule: &Interleaving) -> bool {
    let count = schedule.steps.iter().map(|(who, _)| usize::from(*who) + 1).max().unwrap_or(0);
    all_orders(count).iter().any(|order| {
        let order = &order[..count];
        order.iter().enumerate().all(|(at, who)| {
            let fits = |view: usize| fits(schedule, *who, &order[..view]);
            match level {
                Level::ReadCommitted => true,
                Level::InnodbRepeatableRead => (0..=at).any(fits),
                Level::SnapshotIsolation => (0..=at).any(|view| {
                    let between = &order[view..at];
                    fits(view) && !between.iter().any(|other| clash(schedule, *other, *who))
                }),
                _ => fits(at),
            }
        })
    })
}

/// Whether a transaction can read what these have written, each after the one before it.
fn fits(schedule: &Interleaving, who: u8, earlier: &[u8]) -> bool {
    let steps = &schedule.steps;
    steps.iter().enumerate().all(|(place, (of, what))| match what {
        KeyOperation::Read(key)
            if *of == who && !steps[..place].contains(&(who, KeyOperation::Write(*key))) =>
        {
            let writer = earlier.iter().rev().find(|other| wrote(schedule, **other, *key));
            let commit = |who| steps.iter().position(|step| *step == (who, KeyOperation::Commit));
            writer.is_none_or(|who| commit(*who).is_some_and(|commit| commit < place))
        }
        _ => true,
    })
}

/// Whether two transactions write a key.
fn clash(schedule: &Interleaving, one: u8, two: u8) -> bool {
    (0..MOST as u8).any(|key| wrote(schedule, one, key) && wrote(schedule, two, key))
}

fn wrote(schedule: &Interleaving, who: u8, key: u8) -> bool {
    schedule.steps.contains(&(who, KeyOperation::Write(key)))
}

#[cfg(test)]
mod tests {
    use dbdyno_cases::InterleavingSize;
    use dbdyno_cases::serial::is_serializable;

    use super::*;

    /// Of serializability `cases` has a judge of its own.
    #[test]
    fn what_serializability_allows_is_what_serial_orders_allow() {
        for shape in ["2x2x2", "2x2x3", "3x2x1"] {
            let all = shape.parse::<InterleavingSize>().unwrap().sample_schedules(20_000, 7);
            for schedule in all {
                let told = allows_schedule(Level::Serializable, &schedule);
                assert_eq!(told, is_serializable(&schedule), "{schedule}");
            }
        }
    }

    #[test]
    fn a_stronger_level_allows_no_more() {
        for schedule in "3x2x2".parse::<InterleavingSize>().unwrap().sample_schedules(10_000, 3) {
            let told = LEVELS.map(|level| allows_schedule(level, &schedule));
            assert!(told.windows(2).all(|pair| pair[0] || !pair[1]), "{schedule}: {told:?}");
        }
    }
}
