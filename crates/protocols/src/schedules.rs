//! Permissiveness of schedules: of all orders of statements that a level allows to complete at
//! once, those that a protocol completes, and what the others cost.
//!
//! ```text
//!   schedule ─┬─ allowed by the level? ──▶ some answers of committed versions give the level
//!             └─ played ─┬─ completed       nobody waited, all committed
//!                        ├─ blocked         somebody waited, all committed
//!                        ├─ deadlock        a circle of waits cost a transaction
//!                        ├─ aborted         a check cost a transaction
//!                        │    └─ wrongly    had it committed all the same, with what it had read,
//!                        │                  the result would have had the level
//!                        └─ misread         as completed, but the result has not the level
//! ```
//!
//! Results alone hide the cost: every serial execution completes under any protocol, so that a
//! protocol that serialises everything produces every serializable result. Rejected schedules are
//! what throughput is lost by.

use dbdyno_cases::{Interleaving, InterleavingSize, StatementAnswer};
use dbdyno_check::Level;

use crate::level::{Footprint, allows_schedule, allows_versions};
use crate::outcome::{Did, MOST, ProtocolOutcome};
use crate::rules::{Refuses, Rules};
use crate::script::{Run, possible_runs};
use crate::single::Single;

/// How many schedules went which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedules {
    /// Schedules of the shape, once up to symmetry.
    pub canonical: u64,
    /// Of these, played: all, or a sample.
    pub played: u64,
    /// Allowed to complete at once.
    pub allowed: u64,
    /// Of those allowed: nobody waited, all committed, and the result has the level.
    pub completed: u64,
    /// Of those allowed: somebody waited, all committed.
    pub blocked: u64,
    /// Of those allowed: a deadlock cost a transaction.
    pub deadlocked: u64,
    /// Of those allowed: a check cost a transaction.
    pub aborted: u64,
    /// Of those aborted: what was read and written would have had the level.
    pub wrongly_aborted: u64,
    /// Of those allowed: completed at once with a result that has not the level, although another
    /// one would have had it.
    pub misread: u64,
    /// Of those not allowed: completed at once.
    pub let_through: u64,
}

impl Schedules {
    /// Completed, of those allowed.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.completed as f64 / self.allowed.max(1) as f64
    }

    /// Plays all schedules of a shape, or if they are more than `most`, so many at equal distances.
    #[must_use]
    pub fn of_shape(rules: Rules, shape: InterleavingSize, level: Level, most: u64) -> Schedules {
        let single = |rules| Single { rules, shape, names: crate::single::Names::Given };
        let protocol = single(rules);
        // The same without checks: what would have come of it.
        let unchecked = single(Rules { refuses: Refuses::Nobody, ..rules });
        let all = shape.sample_schedules(most, 1);
        let mut counts =
            Schedules { canonical: shape.count(), played: all.len() as u64, ..Default::default() };
        for schedule in &all {
            counts.add(&protocol, &unchecked, level, schedule);
        }
        counts
    }

    /// Plays one.
    fn add(
        &mut self,
        protocol: &Single,
        unchecked: &Single,
        level: Level,
        schedule: &Interleaving,
    ) {
        let is_allowed = allows_schedule(level, schedule);
        let all = possible_runs(protocol, schedule);
        // Which one a deadlock costs does not change what is counted.
        let run = &all[0];
        let has = |level: Level, run: &Run| {
            let count = usize::from(protocol.shape.transactions);
            allows_versions(level, &footprints(&run.outcome)[..count], &run.outcome.versions)
        };
        let is_smooth = run.replies.iter().all(|reply| !reply.waited);
        let is_whole = run.replies.iter().all(|reply| reply.answer != StatementAnswer::Refused);
        self.allowed += u64::from(is_allowed);
        let place = match (is_smooth && is_whole, is_whole, run.had_deadlock) {
            (true, ..) if !is_allowed => &mut self.let_through,
            _ if !is_allowed => return,
            (true, ..) if has(level, run) => &mut self.completed,
            (true, ..) => &mut self.misread,
            (_, true, _) => &mut self.blocked,
            (_, _, true) => &mut self.deadlocked,
            _ => &mut self.aborted,
        };
        *place += 1;
        if !is_whole && !run.had_deadlock {
            let otherwise = &possible_runs(unchecked, schedule)[0];
            let all_committed =
                otherwise.replies.iter().all(|one| one.answer != StatementAnswer::Refused);
            self.wrongly_aborted += u64::from(all_committed && has(level, otherwise));
        }
    }
}

/// What levels ask of an outcome.
fn footprints(outcome: &ProtocolOutcome) -> [Footprint; MOST] {
    std::array::from_fn(|who| {
        let mut one = Footprint::default();
        let counts = !outcome.rolled_back[who];
        for did in outcome.ops[who].iter().filter(|_| counts) {
            match did {
                Did::Write(key) => one.wrote |= 1 << key,
                Did::Read(key, seen) if one.wrote & (1 << key) == 0 => {
                    one.read[usize::from(key)] |= 1 << seen.writer().map_or(0, |who| who + 1);
                }
                Did::Read(..) | Did::Nothing => {}
            }
        }
        one
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::ONE_SERVER;

    fn counted(name: &str, level: Level) -> Schedules {
        let entry = ONE_SERVER.iter().find(|entry| entry.name == name).unwrap();
        Schedules::of_shape(entry.rules, "2x2x2".parse().unwrap(), level, u64::MAX)
    }

    #[test]
    fn every_allowed_schedule_goes_one_way() {
        for entry in ONE_SERVER {
            let told = counted(entry.name, entry.level);
            let ways = told.completed + told.blocked + told.deadlocked + told.aborted;
            let wrong = (told.misread, told.let_through);
            assert_eq!((told.allowed, wrong), (ways, (0, 0)), "{} {told:?}", entry.name);
            assert!(told.completed > 0 && told.wrongly_aborted <= told.aborted);
        }
    }

    /// What servers did with the same 1 624 schedules, of which serializability allows 1 585: see
    /// `docs/ISOLATION.md`. MySQL 9.7 and MariaDB 10.11 at serializable, MySQL 9.7 at repeatable
    /// read and read committed, MariaDB 11.8 and PostgreSQL 17 at repeatable read: at once, waited,
    /// refused (by a deadlock or another error), misread; and how many were let through.
    #[test]
    fn protocols_do_what_servers_were_seen_to_do() {
        let measured = [
            ("2pl", [40.8, 56.5, 2.8, 0.0], 0),
            ("2pl-queued", [40.8, 54.0, 5.2, 0.0], 0),
            ("innodb-rr", [72.4, 25.6, 0.4, 1.6], 33),
            ("read-committed", [70.5, 25.6, 0.4, 3.5], 33),
            ("mariadb-si", [71.3, 17.2, 8.8 + 2.7, 0.0], 30),
            ("si-first-updater", [69.8, 0.0, 26.0 + 3.8, 0.4], 30),
        ];
        for (name, shares, let_through) in measured {
            let told = counted(name, Level::Serializable);
            assert_eq!((told.played, told.allowed), (1624, 1585), "{name}");
            let refused = told.deadlocked + told.aborted;
            let ways = [told.completed, told.blocked, refused, told.misread];
            for (way, share) in ways.into_iter().zip(shares) {
                let percent = 100.0 * way as f64 / 1585.0;
                // Two shares that were rounded to a tenth may be added.
                assert!((percent - share).abs() <= 0.11, "{name}: {told:?}, not {shares:?}");
            }
            assert_eq!(told.let_through, let_through, "{name}: {told:?}");
        }
    }

    #[test]
    fn optimists_abort_and_locks_block() {
        let (locks, optimist) =
            (counted("2pl", Level::Serializable), counted("occ", Level::Serializable));
        assert!(locks.aborted == 0 && locks.blocked > 0 && locks.deadlocked > 0, "{locks:?}");
        assert!(optimist.blocked == 0 && optimist.aborted > 0, "{optimist:?}");
        assert!(optimist.wrongly_aborted > 0, "{optimist:?}");
        let snapshots = counted("si", Level::SnapshotIsolation);
        assert!(snapshots.ratio() > locks.ratio(), "{snapshots:?} {locks:?}");
    }

    #[test]
    fn what_is_weaker_lets_through() {
        for name in ["si", "innodb-rr", "read-committed"] {
            assert!(counted(name, Level::Serializable).let_through > 0, "{name}");
        }
    }
}
