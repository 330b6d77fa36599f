//! What is left to do of a run that was interrupted or killed.
//!
//! ```text
//!   stages    warm  settle  a.pre   update   settle   a         b
//!   stored                  all     all               half
//!   resumed   –     –       –       repeated again    goes on   measured
//! ```
//!
//! What was measured is kept, and a cell that was measured in part goes on with its next pair; a
//! round whose partner was never measured stays alone and counts for nothing, because its
//! neighbour in time is gone. Servers and tables are made anew. So that reads still meet a database
//! that was written to, the writes that come before them are repeated, unmeasured, for as long as
//! they were measured.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dbdyno_model::readings::WINDOW_NS;
use dbdyno_model::{ArmIndex, Cell, Plan, RoundPace, Run, RunArm, Severity, Warning};
use dbdyno_workload::planned;

/// What is left to do of a run.
#[derive(Clone, Debug, Default)]
pub struct RemainingWork {
    /// Rounds that are stored.
    pub rounds_kept: usize,
    /// Rounds that will be measured.
    pub rounds_left: u32,
    /// Time that measuring them takes, without setting up, settling and warming.
    pub measuring_time: Duration,
    /// Cells with writes that are repeated unmeasured, with the time for each arm.
    pub repeated: Vec<(Cell, Duration)>,
    /// Rounds that lost their partner.
    pub alone: usize,
    /// The start that the servers now begin.
    pub start: u32,
    /// The filling of the tables that it begins with.
    pub filling: u32,
    cells: BTreeMap<Cell, StoredCell>,
    /// Cells that ended before all their pairs were measured, and stay so.
    over: BTreeSet<Cell>,
    last_stage: Option<usize>,
}

/// What is stored of a cell.
#[derive(Clone, Copy, Debug)]
struct StoredCell {
    next_pair: u32,
    window: Duration,
    /// Whether its rounds were cut into slices.
    was_cut: bool,
}

impl RemainingWork {
    /// What is left of a run; everything of one without rounds. Cells before the last one that was
    /// begun have ended.
    pub fn of_run(plan: &Plan, run: Option<&Run>) -> RemainingWork {
        let cells = plan.cells();
        let is_begun = |cell: &Cell| {
            run.is_some_and(|run| run.rounds.iter().any(|round| round.key.cell == *cell))
        };
        let last = cells.iter().rposition(is_begun).unwrap_or(0);
        RemainingWork::without_cells(
            plan,
            run,
            cells[..last.min(cells.len())].iter().cloned().collect(),
        )
    }

    /// What is left of a run of which these cells are over.
    pub fn without_cells(plan: &Plan, run: Option<&Run>, over: BTreeSet<Cell>) -> RemainingWork {
        let mut left = RemainingWork { over, ..RemainingWork::default() };
        let has_ended =
            |arm: ArmIndex| run.is_some_and(|run| run.ended.iter().any(|ended| ended.arm == arm));
        let arms: Vec<ArmIndex> = plan.arms.indices().filter(|arm| !has_ended(*arm)).collect();
        let of_arms = run.into_iter().flat_map(|run| arms.iter().map(|arm| run.arm(*arm)));
        for round in of_arms.flat_map(RunArm::rounds) {
            let window = RoundPace::of_round(plan, round).window;
            let seen = left.cells.entry(round.key.cell.clone());
            let was_cut = round.readings.get(WINDOW_NS).is_some();
            let seen = seen.or_insert(StoredCell { next_pair: 0, window, was_cut });
            seen.next_pair = seen.next_pair.max(plan.question.driving.pair_of(round.key.pair) + 1);
            left.rounds_kept += 1;
            left.start = left.start.max(round.start + 1);
            left.filling = left.filling.max(round.filling + 1);
        }
        let pairs: u32 = left.cells.values().map(|seen| seen.next_pair).sum();
        left.alone = (arms.len() * pairs as usize).saturating_sub(left.rounds_kept);
        left.last_stage = plan.question.stages.iter().rposition(|stage| {
            let cells =
                stage.measured_label().map(|label| plan.cells_of(label)).unwrap_or_default();
            cells.iter().any(|cell| left.cells.contains_key(cell))
        });
        for cell in plan.cells() {
            let pace = left.cell_pace(plan, &cell);
            let usual = || pace.as_ref().map_or(plan.schedule.pairs, |pace| pace.pairs);
            let pairs = planned::pairs_of_step(plan, &cell).unwrap_or_else(usual);
            let is_over = left.over.contains(&cell);
            let pairs = if is_over { 0 } else { pairs - left.next_pair(&cell).min(pairs) };
            let rounds = arms.len() as u32 * pairs;
            let window =
                pace.map_or(Duration::from_nanos(plan.schedule.round_ns), |pace| pace.window);
            left.rounds_left += rounds;
            left.measuring_time +=
                (window + Duration::from_nanos(plan.schedule.lead_in_ns)) * rounds;
        }
        if left.rounds_left > 0 {
            // Steps of the Insert Benchmark are repeated by amount, not by time.
            let repeated = plan.cells().into_iter().filter(|cell| {
                planned::step_of(cell).is_none() && planned::cell_writes_rows(plan, cell)
            });
            left.repeated = repeated
                .filter_map(|cell| Some((cell.clone(), left.time_of(plan, &cell)?)))
                .collect();
        }
        left
    }

    /// The first pair of a cell that is not stored.
    pub fn next_pair(&self, cell: &Cell) -> u32 {
        self.cells.get(cell).map_or(0, |seen| seen.next_pair)
    }

    /// Whether a cell ended before all its pairs were measured, and stays so.
    pub fn is_over(&self, cell: &Cell) -> bool {
        self.over.contains(cell)
    }

    /// Cells that are to be measured, from this one on.
    pub fn cells_from(&self, plan: &Plan, cell: &Cell) -> u32 {
        let from = plan.cells().into_iter().skip_while(|other| other != cell);
        from.filter(|other| !self.over.contains(other)).count() as u32
    }

    /// The pace at which a cell was measured in part, or whole.
    pub fn cell_pace(&self, plan: &Plan, cell: &Cell) -> Option<RoundPace> {
        self.cells.get(cell).map(|seen| RoundPace::with_window(plan, seen.window))
    }

    /// Whether the rounds of a cell were cut into slices; `None` for one without rounds.
    pub fn was_cut(&self, cell: &Cell) -> Option<bool> {
        self.cells.get(cell).map(|seen| seen.was_cut)
    }

    /// How long the writes of a cell are repeated; `None` where there is nothing to repeat.
    pub fn repeat(&self, cell: &Cell) -> Option<Duration> {
        self.repeated.iter().find(|(other, _)| other == cell).map(|(_, time)| *time)
    }

    /// Whether this stage was over when the run stopped.
    pub fn is_past(&self, stage: usize) -> bool {
        self.last_stage.is_some_and(|last| stage < last)
    }

    fn time_of(&self, plan: &Plan, cell: &Cell) -> Option<Duration> {
        let seen = self.cells.get(cell)?;
        Some((seen.window + Duration::from_nanos(plan.schedule.lead_in_ns)) * seen.next_pair)
    }

    /// What the reader of a resumed run must know.
    pub fn resume_warning(&self) -> Warning {
        let mut text = format!(
            "the run was taken up again after {} rounds: servers and tables were made anew",
            self.rounds_kept
        );
        if !self.repeated.is_empty() {
            let cells: Vec<String> =
                self.repeated.iter().map(|(cell, _)| cell.to_string()).collect();
            text.push_str(&format!(
                ", and the writes before that ({}) were repeated unmeasured for as long as they had \
                 been measured",
                cells.join(", ")
            ));
        }
        if self.alone > 0 {
            text.push_str(&format!("; {} without a partner count for nothing", rounds(self.alone)));
        }
        Warning::new(Severity::Caution, "resumed", text)
    }
}

fn rounds(number: usize) -> String {
    if number == 1 { "1 round".to_owned() } else { format!("{number} rounds") }
}
