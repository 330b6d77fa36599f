//! What a comparison answers, as an exit code: see `docs/CONTRACT.md`.

use dbdyno_model::{
    CellComparison, Comparison, CountComparison, CountVerdict, Gate, GateOutcome, Interval, Verdict,
};

use crate::exit::Exit;
use crate::output;

/// The answer to a comparison; what a gate says is told to whoever watches.
pub fn answer(comparison: &Comparison, gate: Option<Gate>) -> Exit {
    if let Some(gate) = gate {
        output::say(&told(gate, comparison));
    }
    code_of(comparison, gate)
}

/// What a gate says, with the cells that are the reason.
fn told(gate: Gate, comparison: &Comparison) -> String {
    let outcome = gate.judge_all(&comparison.cells);
    let is_reason = |cell: &&CellComparison| gate.judge_cell(cell) == outcome;
    let shown = |cell: &CellComparison| {
        let Interval { low, high, .. } = cell.rqps;
        let open = matches!(gate.judge(cell.rqps), GateOutcome::CannotTell);
        let why = match outcome {
            GateOutcome::CannotTell if !open => ", but nothing rests on it",
            _ => "",
        };
        format!("{} at {low:.3} to {high:.3}{why}", cell.cell)
    };
    let reasons: Vec<String> = comparison.cells.iter().filter(is_reason).map(shown).collect();
    match outcome {
        GateOutcome::Holds => format!("gate   {gate} holds"),
        GateOutcome::Fails => format!("gate   {gate} fails: {}", reasons.join("; ")),
        GateOutcome::CannotTell if reasons.is_empty() => {
            format!("gate   {gate} is open: no rates were measured")
        }
        GateOutcome::CannotTell => format!("gate   {gate} is open: {}", reasons.join("; ")),
    }
}

/// The answer to a comparison. Without a gate, any decided verdict is an answer.
fn code_of(comparison: &Comparison, gate: Option<Gate>) -> Exit {
    if let Some(gate) = gate {
        return match gate.judge_all(&comparison.cells) {
            GateOutcome::Holds => Exit::Holds,
            GateOutcome::Fails => Exit::Fails,
            GateOutcome::CannotTell => Exit::CannotTell,
        };
    }
    let undecided = comparison.cells.iter().any(|cell| cell.verdict == Verdict::Undecided);
    // Where nothing else was measured the counts are the answer.
    let open = |count: &CountComparison| count.verdict == CountVerdict::Undecided;
    if comparison.cells.is_empty() && !comparison.counts.is_empty() {
        let undecided = comparison.counts.iter().any(open);
        return if undecided { Exit::CannotTell } else { Exit::Holds };
    }
    if undecided || comparison.cells.is_empty() { Exit::CannotTell } else { Exit::Holds }
}
