//! What a comparison answers, as an exit code: see `docs/CONTRACT.md`.

use std::collections::BTreeSet;

use dbdyno_model::{
    Cell, CellComparison, Comparison, CountComparison, CountVerdict, EndedArm, Gate, GateOutcome,
    Interval, RunPair, Verdict,
};
use dbdyno_report::GateResult;

use crate::exit::Exit;

/// What was found between pairs of arms, all of them together.
pub(crate) struct JudgedCells {
    cells: Vec<CellComparison>,
    counts: Vec<CountComparison>,
    /// Planned, and measured in no pair or not in each.
    unmeasured: BTreeSet<Cell>,
    /// Arms that ended on the way, which have cells that nobody measured.
    ended: Vec<EndedArm>,
}

impl JudgedCells {
    /// What these pairs say, beside arms that ended.
    pub(crate) fn new(pairs: &[(RunPair<'_>, &Comparison)], ended: &[EndedArm]) -> JudgedCells {
        let unmeasured = pairs
            .iter()
            .flat_map(|(pair, of)| pair.plan().cells_beside(of.cells.iter().map(|one| &one.cell)));
        JudgedCells {
            cells: pairs.iter().flat_map(|(_, of)| of.cells.iter().cloned()).collect(),
            counts: pairs.iter().flat_map(|(_, of)| of.counts.iter().cloned()).collect(),
            unmeasured: unmeasured.collect(),
            ended: ended.to_vec(),
        }
    }

    /// The exit code without a gate: any decided verdict is an answer.
    pub(crate) fn exit(&self) -> Exit {
        match exit_of_verdicts(&self.cells, &self.counts) {
            Exit::Holds if !self.ended.is_empty() => Exit::CannotTell,
            exit => exit,
        }
    }

    /// What a gate says, with what is the reason. A cell that was planned and that nobody measured
    /// leaves it open.
    pub(crate) fn gate_result(&self, gate: Gate) -> GateResult {
        let (outcome, says) = match gate.judge_all(&self.cells) {
            GateOutcome::Holds => match self.missing() {
                Some(missing) => (GateOutcome::CannotTell, format!("is open: {missing}")),
                None => (GateOutcome::Holds, "holds".to_owned()),
            },
            GateOutcome::Fails => {
                (GateOutcome::Fails, format!("fails: {}", self.reasons(gate, GateOutcome::Fails)))
            }
            GateOutcome::CannotTell if self.cells.is_empty() => {
                (GateOutcome::CannotTell, "is open: no rates were measured".to_owned())
            }
            GateOutcome::CannotTell => {
                let reasons = self.reasons(gate, GateOutcome::CannotTell);
                (GateOutcome::CannotTell, format!("is open: {reasons}"))
            }
        };
        GateResult { name: gate.to_string(), outcome, sentence: format!("{gate} {says}") }
    }

    /// The cells of which the gate says this, with their intervals.
    fn reasons(&self, gate: Gate, outcome: GateOutcome) -> String {
        let cells = self.cells.iter().filter(|cell| gate.judge_cell(cell) == outcome);
        let cells = cells.map(|cell| {
            let Interval { low, high, .. } = cell.rqps;
            let is_straddled = gate.judge_interval(cell.rqps) == GateOutcome::CannotTell;
            let is_withheld = outcome == GateOutcome::CannotTell && !is_straddled;
            let why = if is_withheld { ", but nothing rests on it" } else { "" };
            format!("{} at {low:.3} to {high:.3}{why}", cell.cell)
        });
        cells.collect::<Vec<String>>().join("; ")
    }

    /// What nobody measured, if there is something.
    fn missing(&self) -> Option<String> {
        if let Some(ended) = self.ended.first() {
            return Some(format!("{} ended before the run did: {}", ended.arm, ended.why));
        }
        let first = self.unmeasured.first()?;
        let others = match self.unmeasured.len() - 1 {
            0 => " was".to_owned(),
            more => format!(" and {more} more were"),
        };
        Some(format!("{first}{others} planned and not measured"))
    }
}

/// The answer of verdicts; of counts where nothing else was measured.
fn exit_of_verdicts(cells: &[CellComparison], counts: &[CountComparison]) -> Exit {
    let is_open = if cells.is_empty() && !counts.is_empty() {
        counts.iter().any(|count| count.verdict == CountVerdict::Undecided)
    } else {
        cells.is_empty() || cells.iter().any(|cell| cell.verdict == Verdict::Undecided)
    };
    if is_open { Exit::CannotTell } else { Exit::Holds }
}
