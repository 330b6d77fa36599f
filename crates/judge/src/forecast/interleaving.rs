//! Which cells are interleaved, and how finely.
//!
//! ```text
//!   rows are only read, closed loop, threads for all clients      both rounds of a pair in slices
//!   anything else                                                 one round after the other
//! ```
//!
//! A slice is as long as the plan says, and longer where that is too short for a client to get
//! `EVENTS` events done: what is lost at the ends of a slice then stays small. Embedded arms with
//! threads of their own are left out, because those threads cannot be told apart by arm; so are
//! dialogues, whose operations do not follow from a number; arms that may have a budget of
//! processor time; and arms with a cold cache: pages that one arm has read ahead arrive in the
//! other's slice.

use std::time::Duration;

use dbdyno_model::plan::THREADS_MAX;
use dbdyno_model::{ArmSpec, Cache, Cell, Driving, Plan, Setting, Severity, Target, Warning};

use dbdyno_workload::planned;

/// Events of each client in a slice.
const EVENTS: f64 = 50.0;
/// Fewer slices than this in a round are not worth the handing over.
const SLICES_LEAST: u32 = 4;
/// So much of a slice is its lead-in.
const LEAD_IN: u32 = 10;

/// Whether the rounds of a cell are cut where they are long enough for it.
pub fn are_for(plan: &Plan, cell: &Cell) -> bool {
    plan.schedule.slice_ns > 0
        && plan.question.driving == Driving::Closed
        && cell.clients <= THREADS_MAX
        && plan.arms.values().all(can_take_turns)
        && planned::only_reads(plan, cell)
}

/// Whether the speed of an arm is the same in slices as without a pause. An arm with a budget of
/// processor time saves it up in the other's slices, and a server by URL may have one; a server
/// that began cold reads ahead then.
fn can_take_turns(arm: &ArmSpec) -> bool {
    match &arm.target {
        Target::Sqlite(_) | Target::Mock(_) => true,
        Target::Release(release) => {
            arm.begin.cache == Cache::Warm
                && !release.settings.iter().any(|setting| matches!(setting, Setting::Cpus(_)))
        }
        Target::Url(_) | Target::Rocksdb(_) | Target::Engine(_) => false,
    }
}

/// The slices of each round of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundSlices {
    /// In each round.
    pub count: u32,
    /// Counted time of one.
    pub window: Duration,
}

impl RoundSlices {
    /// How the rounds of a cell are cut, which are so long and in which the slower arm gets so many
    /// events done in a second; `None` where they are not.
    pub fn of_cell(plan: &Plan, cell: &Cell, round: Duration, tps: f64) -> Option<RoundSlices> {
        let client_tps = tps / f64::from(cell.clients);
        are_for(plan, cell).then(|| RoundSlices::with(plan.schedule.slice_ns, round, client_tps))?
    }

    /// The same for a cell of which some rounds are measured already, in slices or not: what is cut
    /// stays so.
    pub fn of_resumed_cell(
        was_cut: bool,
        cut: Option<RoundSlices>,
        round: Duration,
    ) -> Option<RoundSlices> {
        let least = RoundSlices { count: SLICES_LEAST, window: round / SLICES_LEAST };
        was_cut.then(|| cut.unwrap_or(least))
    }

    /// Slices of at least this length of a round in which a client does so many events in a second.
    fn with(slice_ns: u64, round: Duration, client_tps: f64) -> Option<RoundSlices> {
        let slice_s = (slice_ns as f64 / 1e9).max(EVENTS / client_tps);
        let count = (round.as_secs_f64() / slice_s) as u32;
        (count >= SLICES_LEAST).then(|| RoundSlices { count, window: round / count })
    }

    /// Load before each slice that is not counted.
    pub fn lead_in(self) -> Duration {
        self.window / LEAD_IN
    }

    /// What the reader of the run must know.
    pub fn interleaving_warning(plan: &Plan) -> Warning {
        let text = format!(
            "in loads that only read, {} take turns in slices of {} ms or more, so that {} meet \
             the same state of the host (--slice)",
            if plan.arms.count() == 2 { "both rounds of a pair" } else { "all rounds of a block" },
            plan.schedule.slice_ns as f64 / 1e6,
            if plan.arms.count() == 2 { "both arms" } else { "all arms" }
        );
        Warning::new(Severity::Note, "interleaved", text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_have_a_budget_of_processor_time_is_not_cut() {
        let can = |target: &str| can_take_turns(&target.parse().unwrap());
        assert!(can("mariadb:10.11") && can("postgres:17?memory=2G") && can("sqlite:"));
        assert!(!can("mariadb:10.11?cache=cold") && can("mariadb:10.11?cache=warm"));
        assert!(!can("mariadb:10.11?cpus=0.5") && !can("mysql://root@127.0.0.1:3306/test"));
        assert!(!can("engine:") && !can("rocksdb:"));
    }

    #[test]
    fn a_cell_that_is_taken_up_again_is_cut_as_it_was() {
        let round = Duration::from_millis(200);
        let cut = RoundSlices::with(10_000_000, round, 25_000.0);
        assert_eq!(RoundSlices::of_resumed_cell(true, cut, round), cut);
        let slow = RoundSlices::of_resumed_cell(true, None, round).unwrap();
        assert_eq!((slow.count, slow.window.as_millis()), (4, 50));
        assert_eq!(RoundSlices::of_resumed_cell(false, cut, round), None);
    }

    #[test]
    fn slices_hold_enough_events_or_there_are_none() {
        let cut = |round_ms: u64, client_tps: f64| {
            RoundSlices::with(10_000_000, Duration::from_millis(round_ms), client_tps)
                .map(|cut| (cut.count, cut.window.as_millis()))
        };
        assert_eq!(cut(200, 25_000.0), Some((20, 10)));
        assert_eq!(cut(200, 1_250.0), Some((5, 40)));
        assert_eq!(cut(200, 1_000.0), Some((4, 50)));
        assert_eq!(cut(200, 900.0), None, "three slices would be");
        assert_eq!(cut(200, 0.0), None);
        assert_eq!(cut(2000, 900.0), Some((36, 55)));
    }
}
