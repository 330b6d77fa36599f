//! A report of tests as JUnit's, which Jenkins, GitLab and many others show: a suite for each pair
//! of arms, a test for each cell.

use std::fmt::Write as _;

use dbdyno_document::layout::printable_line;
use dbdyno_model::GateOutcome;

use super::{GateCheck, UNMEASURED, cell_name, doubts};
use crate::view::CellDetail;

/// The report. Ends with a line feed.
pub fn junit_report(all: &[GateCheck]) -> String {
    let count = |of: Option<GateOutcome>| {
        let cells = all.iter().flat_map(GateCheck::cells);
        cells.filter(|(_, outcome)| of.is_none() || *outcome == of).count()
    };
    let open = all.iter().flat_map(GateCheck::open_cells).count();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _infallible = writeln!(
        text,
        "<testsuites name=\"dbdyno\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">",
        count(None) + open,
        count(Some(GateOutcome::Fails)),
        count(Some(GateOutcome::CannotTell)) + open,
    );
    for checked in all {
        suite(&mut text, checked);
    }
    text.push_str("</testsuites>\n");
    text
}

fn suite(text: &mut String, checked: &GateCheck) {
    let count = |of: GateOutcome| checked.outcomes.iter().filter(|one| **one == of).count();
    let open = checked.open_cells().count();
    let _infallible = writeln!(
        text,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">",
        xml(&checked.arms()),
        checked.view.summary.cells.len() + open,
        count(GateOutcome::Fails),
        count(GateOutcome::CannotTell) + open,
    );
    for ((cell, outcome), detail) in checked.cells().zip(&checked.view.detail.cells) {
        let class = cell.group.as_deref().unwrap_or("load");
        let seconds = seconds(detail);
        let _infallible = writeln!(
            text,
            "    <testcase classname=\"dbdyno.{}\" name=\"{}\" time=\"{seconds:.3}\">",
            xml(class),
            xml(&cell_name(cell)),
        );
        let sentence = xml(&checked.sentence(cell, outcome));
        match outcome {
            Some(GateOutcome::Fails) => {
                let _infallible = writeln!(text, "      <failure message=\"{sentence}\"/>");
            }
            Some(GateOutcome::CannotTell) => {
                let _infallible = writeln!(text, "      <skipped message=\"{sentence}\"/>");
            }
            Some(GateOutcome::Holds) | None => {}
        }
        let mut said = vec![sentence];
        said.extend(doubts(&checked.view, cell).map(|doubt| xml(&doubt)));
        let _infallible = writeln!(text, "      <system-out>{}</system-out>", said.join("\n"));
        text.push_str("    </testcase>\n");
    }
    for cell in checked.open_cells() {
        let _infallible = writeln!(
            text,
            "    <testcase classname=\"dbdyno.load\" name=\"{}\" time=\"0.000\">\n      \
             <skipped message=\"{UNMEASURED}\"/>\n    </testcase>",
            xml(&cell.to_string()),
        );
    }
    text.push_str("  </testsuite>\n");
}

/// From the beginning of the first round of a cell to that of the last one.
fn seconds(detail: &CellDetail) -> f64 {
    let started = || detail.rounds.iter().map(|round| round.started_ms);
    match (started().min(), started().max()) {
        (Some(first), Some(last)) => (last - first) as f64 / 1e3,
        _ => 0.0,
    }
}

/// Text from outside in XML, in text and attributes; XML 1.0 has no control characters.
fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in printable_line(text).chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_becomes_markup() {
        assert_eq!(xml("<a b=\"&\u{0}\">"), "&lt;a b=&quot;&amp;\u{fffd}&quot;&gt;");
    }
}
