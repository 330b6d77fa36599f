//! How long the rest of a run takes, by what it took so far.
//!
//! ```text
//!   cell    ├ warm-up ┤ rounds ┤ start again, warm ┤ rounds ┤ …      looks at the host between
//!   left =  rounds × (window of their cell) × (what such windows took ÷ what they should)
//!         + starts × (what one took) + cells × (what making one ready took)
//! ```
//!
//! What has not happened yet takes as long as the plan reckons with. A cell that is ahead has as
//! many rounds and starts as the plan says.

use std::time::Duration;

use dbdyno_load::Clock;
use dbdyno_model::Plan;

/// What each piece of work seen weighs against the next one: a host that becomes busy stays so for
/// a while. There are many rounds, and few starts and cells.
const WEIGHT_OF_ROUND: f64 = 0.97;
const WEIGHT_OF_START: f64 = 0.7;

/// What was seen of one kind of work, what is long ago with less weight.
#[derive(Clone, Copy, Debug)]
struct WorkTime {
    took_s: f64,
    /// What it should have taken, or how often it was done.
    of: f64,
    /// What is left of the weight of a piece when the next one is seen.
    weight: f64,
}

impl WorkTime {
    fn with_weight(weight: f64) -> WorkTime {
        WorkTime { took_s: 0.0, of: 0.0, weight }
    }

    fn add(&mut self, took: Duration, of: f64) {
        self.took_s = self.weight * self.took_s + took.as_secs_f64();
        self.of = self.weight * self.of + of;
    }

    /// Seconds for each, if any was seen.
    fn each_s(self) -> Option<f64> {
        (self.of > 0.0).then(|| self.took_s / self.of)
    }
}

/// What is still ahead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkAhead {
    /// Time of the rounds that are left: of this cell at its pace, of others at that of the plan.
    pub(crate) windows: Duration,
    /// Starts that are left, of this cell and of those ahead.
    pub(crate) starts: u32,
    /// Cells behind this one.
    pub(crate) cells: u32,
}

/// The course of a run.
#[derive(Clone, Debug)]
pub(crate) struct RemainingTime {
    clock: Clock,
    /// When what goes on now began.
    mark: Duration,
    /// By the windows that they should have taken, in seconds.
    rounds: WorkTime,
    starts: WorkTime,
    cells: WorkTime,
}

impl RemainingTime {
    pub(crate) fn new(clock: Clock) -> RemainingTime {
        let mark = clock.now();
        let rounds = WorkTime::with_weight(WEIGHT_OF_ROUND);
        let starts = WorkTime::with_weight(WEIGHT_OF_START);
        RemainingTime { clock, mark, rounds, starts, cells: starts }
    }

    /// Something begins.
    pub(crate) fn mark_begin(&mut self) {
        self.mark = self.clock.now();
    }

    /// Since it began a cell was made ready.
    pub(crate) fn cell_is_ready(&mut self) {
        let took = self.since();
        self.cells.add(took, 1.0);
    }

    /// Since it began all servers were started again and warmed.
    pub(crate) fn is_started(&mut self) {
        let took = self.since();
        self.starts.add(took, 1.0);
    }

    /// Since it began rounds were measured that should take so long.
    pub(crate) fn rounds_are_done(&mut self, windows: Duration) {
        let took = self.since();
        self.rounds.add(took, windows.as_secs_f64());
    }

    fn since(&mut self) -> Duration {
        let now = self.clock.now();
        now.saturating_sub(std::mem::replace(&mut self.mark, now))
    }

    /// How long it takes until all is measured.
    pub(crate) fn time_left(&self, plan: &Plan, ahead: &WorkAhead) -> Duration {
        let start_s = self.starts.each_s().unwrap_or(plan_seconds(plan.start_again_ns()));
        let arms = plan.arms.count() as u64;
        let cell_s = self.cells.each_s().unwrap_or(plan_seconds(arms * plan.schedule.warm_up_ns));
        let stretched = self.rounds.each_s().unwrap_or(1.0);
        Duration::from_secs_f64(
            stretched * ahead.windows.as_secs_f64()
                + f64::from(ahead.starts) * start_s
                + f64::from(ahead.cells) * cell_s,
        )
    }
}

fn plan_seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use dbdyno_load::VirtualClock;
    use dbdyno_model::random::{self, RandomStream};
    use dbdyno_model::{ArmSpec, Arms, RoundSchedule};

    use super::*;

    /// What things take on a host that does nothing else, in seconds.
    struct HostPace {
        /// What a round takes beside its window, which a busy host does not stretch.
        beside: f64,
        start: f64,
        cell: f64,
    }

    impl HostPace {
        fn draw(stream: &mut RandomStream) -> HostPace {
            HostPace {
                beside: between(stream, 0.01, 0.05),
                start: between(stream, 1.0, 5.0),
                cell: between(stream, 1.0, 3.0),
            }
        }
    }

    fn between(stream: &mut RandomStream, low: f64, high: f64) -> f64 {
        low + (high - low) * stream.next_below(1_000_001) as f64 / 1e6
    }

    /// The same up to a fifth more or less: no two rounds take as long.
    fn about(stream: &mut RandomStream, seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds * between(stream, 0.8, 1.2))
    }

    fn plan(pairs: u32, restarts: u32, window: f64) -> Plan {
        let ns = |seconds: f64| (seconds * 1e9) as u64;
        let arms = ["mysql:8.0", "mysql:8.4"].map(|arm| arm.parse::<ArmSpec>().unwrap());
        Plan {
            arms: Arms::from(arms),
            schedule: RoundSchedule {
                pairs,
                restarts,
                round_ns: ns(window),
                warm_up_ns: ns(4.0),
                ..RoundSchedule::default()
            },
            ..Plan::default()
        }
    }

    /// A run on a host that is `busy[0]` times as slow, and `busy[1]` times after a third of the
    /// rounds. Before each round: how far it was, what was told to be left, and what was.
    fn simulate(stream: &mut RandomStream, restarts: u32, busy: [f64; 2]) -> Vec<[f64; 3]> {
        let cells = 1 + stream.next_below(4) as u32;
        let every = 2 + stream.next_below(6) as u32;
        let pairs = (restarts + 1) * every;
        let window = between(stream, 0.1, 2.0);
        let (plan, pace) = (plan(pairs, restarts, window), HostPace::draw(stream));
        let virtual_clock = VirtualClock::with_noise_and_halt(0, 0, None);
        let clock = Clock::Virtual(virtual_clock.clone());
        let mut remaining = RemainingTime::new(clock.clone());
        let (round, all_pairs) = (Duration::from_secs_f64(window), pairs * cells);
        let mut told = Vec::new();
        for at in 0..all_pairs {
            let (pair, cells_behind) = (at % pairs, cells - at / pairs - 1);
            let busy = busy[usize::from(3 * at >= all_pairs)];
            remaining.mark_begin();
            if pair == 0 {
                virtual_clock.advance_by(about(stream, busy * pace.cell));
                remaining.cell_is_ready();
            } else if pair % every == 0 {
                virtual_clock.advance_by(about(stream, busy * pace.start));
                remaining.is_started();
            }
            let starts = restarts - pair / every + restarts * cells_behind;
            for of_pair in 0..2 {
                let windows = round * (2 * (all_pairs - at) - of_pair);
                let ahead = WorkAhead { windows, starts, cells: cells_behind };
                told.push((clock.now(), remaining.time_left(&plan, &ahead)));
                virtual_clock.advance_by(about(stream, window + busy * pace.beside));
                remaining.rounds_are_done(round);
            }
        }
        let (begin, end) = (told[0].0, clock.now());
        let share = |at: Duration| (at - begin).as_secs_f64() / (end - begin).as_secs_f64();
        told.iter()
            .map(|(at, left)| [share(*at), left.as_secs_f64(), (end - *at).as_secs_f64()])
            .collect()
    }

    /// The share of what is told from here on that is off by more than three tenths. Near the end
    /// one round more or less is much of what is left.
    fn wrong_share(all: &[Vec<[f64; 3]>], from: f64) -> f64 {
        let told = || all.iter().flatten().filter(|[share, ..]| (from..0.9).contains(share));
        let wrong = told().filter(|[_, told, left]| !(0.7..1.3).contains(&(told / left)));
        wrong.count() as f64 / told().count() as f64
    }

    #[test]
    fn time_left_is_right_to_three_tenths_after_the_first_tenth_on_a_busy_host_too() {
        let mut stream = random::stream(&[44]);
        let runs: Vec<_> = (0..1_000)
            .map(|at| {
                let busy = between(&mut stream, 1.0, 4.0);
                simulate(&mut stream, [3, 7, 15][at % 3], [busy; 2])
            })
            .collect();
        let wrong = wrong_share(&runs, 0.1);
        assert!(wrong <= 0.001, "{wrong} of what is told is further off");
    }

    #[test]
    fn time_left_follows_a_host_that_becomes_busy() {
        let mut stream = random::stream(&[45]);
        let runs: Vec<_> = (0..1_000).map(|_| simulate(&mut stream, 15, [1.0, 3.0])).collect();
        let wrong = wrong_share(&runs, 0.4);
        assert!(wrong <= 0.01, "{wrong} of what is told is further off");
    }
}
