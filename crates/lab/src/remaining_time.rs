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

/// What was seen of one kind of work.
#[derive(Clone, Copy, Debug, Default)]
struct WorkTime {
    took: Duration,
    /// What it should have taken, or how often it was done.
    of: f64,
}

impl WorkTime {
    fn add(&mut self, took: Duration, of: f64) {
        self.took += took;
        self.of += of;
    }

    /// Seconds for each, if any was seen.
    fn each_s(self) -> Option<f64> {
        (self.of > 0.0).then(|| self.took.as_secs_f64() / self.of)
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
        let none = WorkTime::default();
        RemainingTime { clock, mark, rounds: none, starts: none, cells: none }
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
