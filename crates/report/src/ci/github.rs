//! Checks as annotations of a workflow of GitHub, and what its summary says of a gate.

use dbdyno_document::workflow::workflow_command;
use dbdyno_document::{Document, Element, markdown};

use super::checks::{CheckStatus, CheckSuite, GateResult, NamedCheck};

/// An annotation for each check. Ends with a line feed.
pub fn github_annotations(suites: &[CheckSuite]) -> String {
    suites.iter().flat_map(|suite| &suite.checks).map(annotation).collect()
}

fn annotation(check: &NamedCheck) -> String {
    let level = match check.status {
        CheckStatus::Failed | CheckStatus::NotRun => "error",
        CheckStatus::Worse | CheckStatus::Skipped | CheckStatus::Error => "warning",
        CheckStatus::Passed => "notice",
    };
    let title = format!("dbdyno: {}", check.name);
    let file = check.file.iter().map(|file| ("file", file.as_str()));
    let properties: Vec<(&str, &str)> = file.chain([("title", title.as_str())]).collect();
    let lines: Vec<String> =
        std::iter::once(&check.message).chain(&check.doubts).cloned().collect();
    workflow_command(level, &properties, &lines)
}

/// What a gate says, as the first line of a summary. Ends with an empty line.
pub fn gate_markdown(gate: &GateResult) -> String {
    let sentence = Element::Sentence(format!("gate {}", gate.sentence).into());
    format!("{}\n", markdown::render_document(&Document::from(vec![vec![sentence]])))
}
