//! Rows beyond the tolerance on a line each: how much more the server has to do, and where the time
//! went. The explanations in full stand below.

use dbdyno_model::published::ExplainedRow;
use dbdyno_model::{Explanation, LEDGER_LINES, Ledger, Witness};

use crate::escape::escape;
use crate::explanation::{explanation_markdown, explanation_text};
use crate::layout::{Grid, Line, paragraph, printable};
use crate::number::{UNKNOWN, fixed, signed, three_digits};
use crate::text::TextStyle;

/// What stands above.
const TITLE: &str = "Where our own figures come from, of the rows that lie further from the \
                     printed ones than the tolerance, the furthest first. Instructions of the \
                     server for an operation, and how many of them all settings together make, by \
                     those of base; then microseconds of an operation in both arms, and test − \
                     base of its parts, whose intervals stand below.";

const HEADS: [&str; 10] = [
    "load",
    "theirs",
    "ours",
    "instructions",
    "settings",
    "µs base",
    "µs test",
    "server's code",
    "server's kernel",
    "client and rest",
];

/// For a terminal; empty where nothing was explained.
pub(super) fn text(all: &[ExplainedRow], style: &TextStyle) -> String {
    if all.is_empty() {
        return String::new();
    }
    let heads = std::iter::once(HEADS.map(str::to_owned));
    let lines = heads.chain(all.iter().map(row)).map(|row| Line::Columns(row.to_vec())).collect();
    let table = Grid { lines, ragged: HEADS.len() }.render(style.width);
    let told = explanation_text(&explanations(all), style);
    format!("{}\n{table}\n{told}\n", paragraph(TITLE, style.width, "", "  "))
}

/// For a page; empty where nothing was explained.
pub(super) fn markdown(all: &[ExplainedRow]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut text = format!("\n### Explained\n\n{}\n\n", TITLE.replace(". ", ".\n"));
    text.push_str(&format!("| {} |\n|:--|{}\n", HEADS.join(" | "), "--:|".repeat(HEADS.len() - 1)));
    for one in all {
        text.push_str(&format!("| {} |\n", row(one).map(|cell| escape(&cell)).join(" | ")));
    }
    text.push('\n');
    text + &explanation_markdown(&explanations(all))
}

fn explanations(all: &[ExplainedRow]) -> Vec<Explanation> {
    all.iter().map(|one| one.explanation.clone()).collect()
}

fn row(one: &ExplainedRow) -> [String; 10] {
    let of = &one.explanation;
    let counted = of.accounts.iter().find(|account| account.witness == Witness::Instructions);
    let settings = counted.map(|account| account.total.cost.estimate - account.code.cost.estimate);
    let unknown = || UNKNOWN.to_owned();
    let us = |value: Option<f64>| value.map_or_else(unknown, three_digits);
    let ledger = of.ledger.as_ref();
    let part = |lines: &[usize]| {
        let sum = ledger.map(|ledger| difference_us(ledger, lines));
        sum.map_or_else(unknown, |us| signed(us, i32::from(us.abs() < 9.95)))
    };
    [
        printable(&of.cell.to_string()),
        fixed(one.theirs, 2),
        fixed(one.ours, 2),
        counted.map_or_else(unknown, |of| format!("×{}", fixed(1.0 + of.total.cost.estimate, 2))),
        settings.map_or_else(unknown, |share| format!("{} %", signed(100.0 * share, 1))),
        us(ledger.map(|ledger| ledger.total.us.base)),
        us(ledger.map(|ledger| ledger.total.us.test)),
        part(&[3]),
        part(&[4]),
        part(&[0, 1, 2, 5]),
    ]
}

/// Test − base of these lines together.
fn difference_us(ledger: &Ledger, lines: &[usize]) -> f64 {
    let is_of = |name: &str| lines.iter().any(|line| LEDGER_LINES[*line] == name);
    let own = ledger.lines.iter().filter(|line| is_of(&line.name));
    own.map(|line| line.difference_us.estimate).sum()
}
