//! Annotations of a workflow of GitHub: commands that its runner reads from the output
//! (GitHub Docs, "Workflow commands for GitHub Actions").

use dbdyno_document::layout::printable_line;
use dbdyno_model::{GateOutcome, Verdict};

use super::{GateCheck, UNMEASURED, cell_name, doubts};

/// Annotations, one for each cell that says something, and one for what blocks or endangers it.
/// Ends with a line feed.
pub fn github_annotations(all: &[GateCheck]) -> String {
    let mut text = String::new();
    for checked in all {
        let view = &checked.view;
        let cells: Vec<_> = checked.cells().map(|(_, outcome)| outcome).collect();
        for (cell, outcome) in view.summary.cells.iter().zip(cells) {
            let level = match (outcome, cell.verdict.0) {
                (Some(GateOutcome::Fails), _) => "error",
                (Some(GateOutcome::CannotTell), _) | (None, Verdict::Slower) => "warning",
                _ => "notice",
            };
            let mut message = checked.sentence(cell, outcome);
            for doubt in doubts(view, cell) {
                message.push('\n');
                message.push_str(&doubt);
            }
            let title = format!("dbdyno: {}", cell_name(cell));
            text.push_str(&format!("::{level} title={}::{}\n", property(&title), data(&message)));
        }
        for cell in checked.open_cells() {
            let title = property(&format!("dbdyno: {cell}"));
            text.push_str(&format!("::warning title={title}::{UNMEASURED}\n"));
        }
    }
    text
}

/// What a command says: it ends with its line.
fn data(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(printable_line).collect();
    lines.join("\n").replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// What a property says: these end at a colon or comma, too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_becomes_a_command() {
        assert_eq!(data("5 %\n::error::x"), "5 %25%0A::error::x");
        assert_eq!(property("a,b: c"), "a%2Cb%3A c");
    }
}
