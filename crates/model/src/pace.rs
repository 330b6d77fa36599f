//! How long the rounds of a cell are, and how many pairs there is time for.
//!
//! ```text
//!   as planned     ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇
//!   a slow load    ▇▇▇▇ ▇▇▇▇ ▇▇▇▇ ▇▇▇▇         longer and fewer, in the same time
//! ```

use std::time::Duration;

use crate::plan::Plan;
use crate::readings::{STOOD_STILL, WINDOW_NS};
use crate::round::Round;

/// How long the rounds of a cell are, and how many pairs there is time for.
pub struct RoundPace {
    /// Length of the measured window.
    pub window: Duration,
    /// Pairs of rounds.
    pub pairs: u32,
}

/// However slow the load, this many pairs are measured, if the plan has them.
const PAIRS_LEAST: u32 = 8;

impl RoundPace {
    /// The pace at which this round was measured.
    pub fn of_round(plan: &Plan, round: &Round) -> RoundPace {
        let window_ns = round.readings.get(WINDOW_NS).map_or(round.wall_ns, |ns| ns as u64);
        // A round in slices keeps the window that it was meant to have.
        let times = match round.readings.get(WINDOW_NS) {
            Some(_) => 0,
            None => round.readings.get(STOOD_STILL).map_or(0, |times| times as u32),
        };
        RoundPace::with_window(plan, Duration::from_nanos(window_ns >> times))
    }

    /// The pace of rounds of this length.
    pub fn with_window(plan: &Plan, window: Duration) -> RoundPace {
        let stretch = window.as_nanos() as f64 / plan.schedule.round_ns as f64;
        let fewer = f64::from(plan.schedule.pairs) / stretch;
        let pairs = match plan.rule.stopping.look_schedule() {
            Some(_) => fewer,
            None => fewer.max(RoundPace::instead_of_starts(plan, window)),
        };
        RoundPace { window, pairs: (pairs as u32).max(PAIRS_LEAST).min(plan.schedule.pairs) }
    }

    /// Where there are fewer blocks of two pairs than starts were planned, servers are started less
    /// often, and pairs have that time, too: as many as it takes, and no more than two for each
    /// start.
    fn instead_of_starts(plan: &Plan, window: Duration) -> f64 {
        let start_again_ns = plan.start_again_ns() as f64;
        let pair_ns = |round_ns: f64| {
            2.0 * plan.question.driving.rounds_in_pair() as f64
                * (round_ns + plan.schedule.lead_in_ns as f64)
        };
        let starts = f64::from(plan.schedule.restarts) + 1.0;
        let all_ns = f64::from(plan.schedule.pairs) * pair_ns(plan.schedule.round_ns as f64)
            + starts * start_again_ns;
        (all_ns / (pair_ns(window.as_nanos() as f64) + start_again_ns / 2.0)).min(2.0 * starts)
    }
}
