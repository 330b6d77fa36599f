//! A comparison as checks: a suite for each pair of arms, a check for each cell.

use dbdyno_document::number::GLUE;
use dbdyno_model::{Cell, Gate, GateOutcome, Verdict};

use super::checks::{CheckStatus, CheckSuite, GateResult, NamedCheck, status_of_part};
use crate::view::{CellDetail, CellView, View};
use crate::words;

/// What is said of a cell that was planned and not measured.
const UNMEASURED: &str = "it was planned and not measured, so that the gate is open";

/// Two arms, and what the gate says of each of their cells; nothing, where there is no gate.
#[derive(Clone, Debug)]
pub struct GateCheck {
    /// What was found.
    pub view: View,
    /// The gate, where there is one.
    pub gate: Option<Gate>,
    /// What it says, cell by cell.
    pub outcomes: Vec<GateOutcome>,
    /// Cells that were planned and not measured, of which a gate says nothing.
    pub unmeasured: Vec<Cell>,
}

/// The gate as a check of its own, where there is one, and each cell.
pub fn comparison_checks(all: &[GateCheck], gate: Option<&GateResult>) -> Vec<CheckSuite> {
    let gate = gate.map(|gate| gate.gate_suite(None));
    let mut suites: Vec<CheckSuite> = all.iter().map(GateCheck::suite).collect();
    if suites.len() > 1 {
        suites.iter_mut().for_each(name_arms);
    }
    gate.into_iter().chain(suites).collect()
}

/// Says in the name of each check which arms it is of: a cell of several pairs has one name in all
/// of them, and whoever reads tests one by one takes those for one test.
fn name_arms(suite: &mut CheckSuite) {
    for check in &mut suite.checks {
        check.name = format!("{} ({})", check.name, suite.name);
    }
}

impl GateCheck {
    fn suite(&self) -> CheckSuite {
        let outcomes = self.outcomes.iter().copied().map(Some).chain(std::iter::repeat(None));
        let cells = self.view.summary.cells.iter().zip(&self.view.detail.cells).zip(outcomes);
        let cells = cells.map(|((cell, detail), outcome)| NamedCheck {
            class: cell.group.clone().unwrap_or_else(|| "load".to_owned()),
            name: words::cell_place(cell).replace(GLUE, " "),
            status: match outcome {
                Some(outcome) => status_of_part(outcome),
                None if cell.verdict.0 == Verdict::Slower => CheckStatus::Worse,
                None => CheckStatus::Passed,
            },
            message: self.sentence(cell, outcome),
            doubts: doubts(&self.view, cell).collect(),
            file: None,
            seconds: seconds(detail),
        });
        // Cells that leave the gate open, as nobody measured them.
        let open = self.unmeasured.iter().filter(|_| self.gate.is_some());
        let open = open.map(|cell| NamedCheck {
            class: "load".to_owned(),
            name: cell.to_string(),
            status: CheckStatus::Skipped,
            message: UNMEASURED.to_owned(),
            doubts: Vec::new(),
            file: None,
            seconds: 0.0,
        });
        CheckSuite { name: self.arms(), checks: cells.chain(open).collect() }
    }

    /// The answer of a cell in a sentence, behind the gate where that does not hold: a cell may be
    /// undecided, and its gate fail.
    fn sentence(&self, cell: &CellView, outcome: Option<GateOutcome>) -> String {
        let answer = words::verdict_sentence(cell, self.view.summary.budget).replace(GLUE, " ");
        let says = match outcome {
            Some(GateOutcome::Fails) => "fails",
            Some(GateOutcome::CannotTell) => "is open",
            Some(GateOutcome::Holds) | None => return answer,
        };
        let Some(gate) = self.gate else { return answer };
        let rqps = match (cell.rqps_low, cell.rqps_high) {
            (Some(low), Some(high)) => format!(": rQPS is {low:.3} to {high:.3}"),
            _ => String::new(),
        };
        format!("gate {gate} {says}{rqps}; {answer}")
    }

    /// `mariadb:10.11 (10.11.19) → mariadb:11.8 (11.8.2)`
    fn arms(&self) -> String {
        format!("{} → {}", self.view.summary.base.label, self.view.summary.test.label)
    }
}

/// What speaks against a cell, and against the run.
fn doubts<'a>(view: &'a View, cell: &'a CellView) -> impl Iterator<Item = String> + 'a {
    let all = cell.warnings.iter().chain(&view.summary.warnings);
    let told = all.filter(|warning| warning.severity != "note");
    told.map(|warning| format!("{}: {}", warning.severity, warning.text.replace(GLUE, " ")))
}

/// From the beginning of the first round of a cell to that of the last one.
fn seconds(detail: &CellDetail) -> f64 {
    let started = || detail.rounds.iter().map(|round| round.started_ms);
    match (started().min(), started().max()) {
        (Some(first), Some(last)) => (last - first) as f64 / 1e3,
        _ => 0.0,
    }
}
