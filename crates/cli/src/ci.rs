//! What continuous integration is told, and where.

use dbdyno_model::{Comparison, Gate, RunPair};
use dbdyno_report::{CheckSuite, GateCheck, GateResult, View};

use crate::failure::Failure;
use crate::{files, output};

/// Where a workflow of GitHub wants its summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Two arms, and what the gate says of their cells.
pub(crate) fn gate_check(
    pair: RunPair<'_>,
    comparison: &Comparison,
    gate: Option<Gate>,
) -> GateCheck {
    GateCheck {
        view: View::new(pair, comparison),
        gate,
        unmeasured: pair.plan().cells_beside(comparison.cells.iter().map(|of| &of.cell)),
        outcomes: gate
            .into_iter()
            .flat_map(|gate| comparison.cells.iter().map(move |cell| gate.judge_cell(cell)))
            .collect(),
    }
}

/// What a summary says: the gate first, where there is one.
pub(crate) fn workflow_summary(gate: Option<&GateResult>, markdown: &str) -> String {
    let gate = gate.map(dbdyno_report::gate_markdown).unwrap_or_default();
    output::sanitize_text(&format!("{gate}{markdown}")).into_owned()
}

/// Annotations for stdout; the summary is appended where the workflow wants it, or stands behind
/// them where none runs.
pub(crate) fn github_output(checks: &[CheckSuite], summary: &str) -> Result<String, Failure> {
    let annotations = dbdyno_report::github_annotations(checks);
    let Some(path) = std::env::var_os(SUMMARY).filter(|path| !path.is_empty()) else {
        return Ok(format!("{annotations}\n{summary}"));
    };
    files::append(path.as_ref(), format!("{summary}\n"))?;
    Ok(annotations)
}
