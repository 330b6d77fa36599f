//! When the measuring of a cell ends before all its pairs are measured.
//!
//! ```text
//!   rounds  ──┬── start ──┬── start ──┬── start ──┬─
//!             look       look       look       ├─ decided, or sharp enough: by the rule
//!             time       time       time       └─ the next one would not end in time: by the clock
//! ```
//!
//! What the clock does is blind to results, so that it needs no rule: a cell that it ends is judged
//! by what it has. Cells share the time that is left evenly, so that what one cell does not need is
//! there for those after it.

use std::time::Duration;

use dbdyno_judge::forecast::ending as over;
use dbdyno_load::Clock;
use dbdyno_model::{
    Arms, Cell, EndedArm, Environment, LatencyHistogram, Plan, Round, Run, RunId, RunStatus,
    Stopping,
};

use crate::error::LabError;
use dbdyno_judge::sequential;

/// Watches over the cells of a run that is under way.
pub(crate) struct Ending {
    has_looks: bool,
    /// What was measured so far, as far as looks need it.
    seen: Run,
    limit: Option<Duration>,
    /// Measured by processes before this one.
    before: Duration,
    clock: Clock,
    began: Duration,
    /// Of the time that was spent when the cell must end.
    cell_ends: Option<Duration>,
    /// When this start or stretch began, and how long the longest of the cell took.
    part_began: Duration,
    part_longest: Duration,
    /// Starts or stretches of the cell that have ended.
    parts: u32,
}

impl Ending {
    /// For a run of this plan, of which `measured` is there already.
    pub(crate) fn new(plan: &Plan, measured: Option<&Run>, clock: &Clock) -> Ending {
        let mut seen = Run {
            id: RunId(String::new()),
            name: None,
            started_unix_ms: 0,
            status: RunStatus::Partial,
            tool_version: String::new(),
            command: String::new(),
            plan: plan.clone(),
            environment: Arms::from_fn(plan.arms.indices(), |_| Environment::default()),
            rounds: Vec::new(),
            ended: Vec::new(),
            counts: dbdyno_model::RunCounts::default(),
            warnings: Vec::new(),
        };
        if let Some(run) = measured {
            seen.rounds.clone_from(&run.rounds);
            seen.ended.clone_from(&run.ended);
        }
        let began = clock.now();
        Ending {
            has_looks: plan.rule.stopping.is_by_results(),
            before: sequential::time_spent(seen.first_pair()),
            seen,
            limit: plan.schedule.limit_ns.map(Duration::from_nanos),
            clock: clock.clone(),
            began,
            cell_ends: None,
            part_began: began,
            part_longest: Duration::ZERO,
            parts: 0,
        }
    }

    /// An arm takes no part any more.
    pub(crate) fn goes_on_without(&mut self, ended: &EndedArm) {
        self.seen.ended.push(ended.clone());
    }

    /// Takes note of a round.
    pub(crate) fn note_round(&mut self, round: &Round) {
        if self.has_looks {
            // Times of single events are not looked at, and are most of a round.
            let round = Round { latency: LatencyHistogram::new_sparse(), ..round.clone() };
            self.seen.rounds.push(round);
        }
    }

    /// Whether a cell is over by what was measured of it.
    pub(crate) fn is_decided(&self, cell: &Cell) -> Result<bool, LabError> {
        Ok(over::is_over(&self.seen, cell)?)
    }

    /// A cell begins, `cells` of them being left with it.
    pub(crate) fn cell_begins(&mut self, cells: u32) {
        let spent = self.spent();
        self.cell_ends = self.limit.map(|limit| {
            let share = limit.saturating_sub(spent) / cells.max(1);
            spent + share
        });
    }

    /// The first round of a cell begins, and with it the first start or stretch. What was before it
    /// is paid once; `again` is what is paid before every other one.
    pub(crate) fn rounds_begin(&mut self, again: Duration) {
        self.part_began = self.clock.now();
        self.part_longest = again;
        self.parts = 0;
    }

    /// Whether the cell ends here, between two starts or stretches.
    pub(crate) fn is_cell_over(&mut self, cell: &Cell) -> Result<bool, LabError> {
        let part = self.clock.now() - self.part_began;
        self.part_longest = match self.parts {
            0 => self.part_longest + part,
            _ => self.part_longest.max(part),
        };
        self.parts += 1;
        self.part_began = self.clock.now();
        let is_late = self.cell_ends.is_some_and(|ends| self.spent() + self.part_longest > ends);
        Ok(is_late || self.is_decided(cell)?)
    }

    /// The time that the clock leaves for all cells.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.limit.map(|limit| limit.saturating_sub(self.spent()))
    }

    fn spent(&self) -> Duration {
        self.before + (self.clock.now() - self.began)
    }
}

/// Where a cell may end before this pair: whoever looks does so between starts, and so does the
/// clock; where servers live once, it is asked every other pair. Who wants to know a ratio so well
/// looks after each pair.
pub(crate) fn may_end_before(plan: &Plan, pair: u32, pairs: u32) -> bool {
    match plan.pairs_between_looks(pairs) {
        None if matches!(plan.rule.stopping, Stopping::Known { .. }) => true,
        Some(between) => pair.is_multiple_of(between),
        None if plan.schedule.limit_ns.is_none() => false,
        None if plan.schedule.restarts > 0 => plan.restarts_before(pair, pairs),
        None => pair.is_multiple_of(2),
    }
}
