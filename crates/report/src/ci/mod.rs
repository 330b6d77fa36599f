//! Answers in the formats where people already look: a workflow of GitHub, a report of tests,
//! `benchstat`.
//!
//! ```text
//!   Views + what a gate says of each cell ──► github     annotations; the summary is Markdown
//!                                         ├─► junit      a test for each cell
//!                                         ├─► benchfmt   a line for each round
//!                                         └─► jsonl      rounds and the result, a line each
//! ```
//!
//! A cell fails where the gate does. Without a gate nothing fails: a comparison is no test of
//! anything then, and a verdict is told as one.

mod benchfmt;
mod github;
mod junit;
mod lines;

use dbdyno_document::number::GLUE;
use dbdyno_model::{Cell, Gate, GateOutcome};

pub use benchfmt::benchfmt_report;
pub use github::github_annotations;
pub use junit::junit_report;
pub use lines::{result_line, round_line};

use crate::view::{CellView, View};
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

impl GateCheck {
    /// Cells with what the gate says.
    fn cells(&self) -> impl Iterator<Item = (&CellView, Option<GateOutcome>)> {
        let outcomes = self.outcomes.iter().copied().map(Some).chain(std::iter::repeat(None));
        self.view.summary.cells.iter().zip(outcomes)
    }

    /// Cells that leave the gate open, as nobody measured them.
    fn open_cells(&self) -> impl Iterator<Item = &Cell> {
        self.unmeasured.iter().filter(|_| self.gate.is_some())
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

/// `point-query at 1 client`
fn cell_name(cell: &CellView) -> String {
    words::cell_place(cell).replace(GLUE, " ")
}

/// What speaks against a cell, and against the run.
fn doubts<'a>(view: &'a View, cell: &'a CellView) -> impl Iterator<Item = String> + 'a {
    let all = cell.warnings.iter().chain(&view.summary.warnings);
    let told = all.filter(|warning| warning.severity != "note");
    told.map(|warning| format!("{}: {}", warning.severity, warning.text.replace(GLUE, " ")))
}
