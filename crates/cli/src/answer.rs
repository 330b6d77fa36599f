//! What a comparison answers, as an exit code: see `docs/CONTRACT.md`.

use std::collections::BTreeSet;

use dbdyno_model::{
    Cell, CellComparison, CountComparison, CountVerdict, Gate, GateOutcome, Interval, Verdict,
};

use crate::exit::Exit;
use crate::findings::RunFindings;
use crate::output;

/// The answer to what was found, of all pairs together; what a gate says is told to whoever
/// watches.
pub(crate) fn exit_of_findings(found: &RunFindings<'_>, gate: Option<Gate>) -> Exit {
    let pairs = found.judged_pairs();
    let cells = pairs.iter().flat_map(|(_, of)| of.cells.iter().cloned());
    let cells: Vec<CellComparison> = cells.collect();
    let unmeasured: BTreeSet<Cell> = pairs
        .iter()
        .flat_map(|(pair, of)| pair.plan().cells_beside(of.cells.iter().map(|one| &one.cell)))
        .collect();
    if let Some(gate) = gate {
        output::say_text(&told(gate, &cells, &unmeasured));
    }
    let counts = pairs.iter().flat_map(|(_, of)| of.counts.iter().cloned());
    match (code_of(&cells, &counts.collect::<Vec<_>>(), gate), found) {
        // An arm that ended has cells that nobody measured.
        (Exit::Holds, RunFindings::All(_, all)) if !all.ended.is_empty() => Exit::CannotTell,
        // So has a run that was interrupted.
        (Exit::Holds, _) if gate.is_some() && !unmeasured.is_empty() => Exit::CannotTell,
        (exit, _) => exit,
    }
}

/// The answer to who looks at what is stored: only a gate has another than that it was shown.
pub(crate) fn exit_of_look(found: &RunFindings<'_>, gate: Option<Gate>) -> Exit {
    gate.map_or(Exit::Holds, |gate| exit_of_findings(found, Some(gate)))
}

/// What a gate says, with the cells that are the reason.
fn told(gate: Gate, cells: &[CellComparison], unmeasured: &BTreeSet<Cell>) -> String {
    let outcome = gate.judge_all(cells);
    let shown = |cell: &CellComparison| {
        let Interval { low, high, .. } = cell.rqps;
        let open = matches!(gate.judge_interval(cell.rqps), GateOutcome::CannotTell);
        let why = match outcome {
            GateOutcome::CannotTell if !open => ", but nothing rests on it",
            _ => "",
        };
        format!("{} at {low:.3} to {high:.3}{why}", cell.cell)
    };
    let reasons: Vec<String> =
        cells.iter().filter(|cell| gate.judge_cell(cell) == outcome).map(shown).collect();
    match outcome {
        GateOutcome::Holds => match unmeasured.first() {
            None => format!("gate   {gate} holds"),
            Some(first) => {
                let others = match unmeasured.len() - 1 {
                    0 => " was".to_owned(),
                    more => format!(" and {more} more were"),
                };
                format!("gate   {gate} is open: {first}{others} planned and not measured")
            }
        },
        GateOutcome::Fails => format!("gate   {gate} fails: {}", reasons.join("; ")),
        GateOutcome::CannotTell if reasons.is_empty() => {
            format!("gate   {gate} is open: no rates were measured")
        }
        GateOutcome::CannotTell => format!("gate   {gate} is open: {}", reasons.join("; ")),
    }
}

/// The answer to a comparison. Without a gate, any decided verdict is an answer.
fn code_of(cells: &[CellComparison], counts: &[CountComparison], gate: Option<Gate>) -> Exit {
    if let Some(gate) = gate {
        return match gate.judge_all(cells) {
            GateOutcome::Holds => Exit::Holds,
            GateOutcome::Fails => Exit::Fails,
            GateOutcome::CannotTell => Exit::CannotTell,
        };
    }
    let undecided = cells.iter().any(|cell| cell.verdict == Verdict::Undecided);
    if cells.is_empty() && !counts.is_empty() {
        let undecided = counts.iter().any(is_open);
        return if undecided { Exit::CannotTell } else { Exit::Holds };
    }
    if undecided || cells.is_empty() { Exit::CannotTell } else { Exit::Holds }
}

/// Where nothing else was measured the counts are the answer.
fn is_open(count: &CountComparison) -> bool {
    count.verdict == CountVerdict::Undecided
}
