//! Rows beyond the tolerance on a line each: how much more the server has to do, and where the time
//! went. The explanations in full stand below.

use dbdyno_document::layout::{Grid, Line, paragraph, printable};
use dbdyno_document::markdown::{self, escape};
use dbdyno_document::number::{UNKNOWN, decimals_for, fixed, signed, three_digits};
use dbdyno_document::terminal::{self, TextStyle};
use dbdyno_model::published::{Agreement, ExplainedRow, ExplainedRows};
use dbdyno_model::{DifferenceAccount, Explanation, LEDGER_LINES, Ledger, Witness, Worth};

use crate::explanation::explanation_document;

/// What stands above.
const TITLE: &str = "Where our own figures come from, of the rows that lie further from the \
                     printed ones than the tolerance: rates first, and the furthest first. By \
                     instructions: what ours would be if time followed the instructions of the \
                     server; settings: what all of them together add to those of base. Then \
                     microseconds of an operation in both arms, and test − base of its parts, \
                     whose intervals stand below.";

/// Which lines of a ledger make a column.
const SERVER_CODE: [usize; 1] = [3];
const SERVER_KERNEL: [usize; 1] = [4];
const CLIENT_AND_REST: [usize; 4] = [0, 1, 2, 5];

const HEADS: [&str; 11] = [
    "load",
    "printed",
    "theirs",
    "ours",
    "by instructions",
    "settings",
    "µs base",
    "µs test",
    "server's code",
    "server's kernel",
    "client and rest",
];

/// For a terminal; empty where nothing was explained.
pub(super) fn text(all: &ExplainedRows, style: &TextStyle, agreed: Agreed<'_>) -> String {
    if all.rows.is_empty() {
        return String::new();
    }
    let table = grid(&all.rows).render(style.width);
    let told = terminal::written(&explanation_document(&explanations(all)), style);
    let title = paragraph(TITLE, style.width, "", "  ");
    let finding = paragraph(&finding(all, agreed), style.width, "", "  ");
    format!("{title}\n{table}\n{finding}\n{told}\n")
}

/// The columns for which a terminal has room, rows of one printed table together.
fn grid(rows: &[ExplainedRow]) -> Grid {
    let heads = ["load", "theirs", "ours", "by instr.", "settings", "µs", "code"];
    let mut lines = vec![Line::Columns(heads.map(str::to_owned).to_vec())];
    let place = |one: &ExplainedRow| (one.of.clone(), one.explanation.cell.clients);
    let mut places: Vec<(String, u32)> = Vec::new();
    for one in rows.iter().map(place) {
        if !places.contains(&one) {
            places.push(one);
        }
    }
    for (of, clients) in places {
        let (of_place, clients) = ((of.clone(), clients), crate::words::clients(clients));
        lines.push(Line::Across(format!("{}, {clients}", printable(&of))));
        for one in rows.iter().filter(|one| place(one) == of_place) {
            let [_, _, theirs, ours, _, settings, base, test, code, ..] = row(one);
            let counted = one.by_instructions().map(|ratio| fixed(ratio.estimate, 2));
            let counted = counted.unwrap_or_else(|| UNKNOWN.to_owned());
            let load = format!("  {}", printable(&one.explanation.cell.load));
            let us = format!("{base} → {test}");
            lines.push(Line::Columns(vec![load, theirs, ours, counted, settings, us, code]));
        }
    }
    Grid { lines, ragged: heads.len() }
}

/// For a page; empty where nothing was explained.
pub(super) fn for_page(all: &ExplainedRows, agreed: Agreed<'_>) -> String {
    if all.rows.is_empty() {
        return String::new();
    }
    let mut text = format!("\n### Explained\n\n{}\n\n", TITLE.replace(". ", ".\n"));
    text.push_str(&format!(
        "| {} |\n|:--|:--|{}\n",
        HEADS.join(" | "),
        "--:|".repeat(HEADS.len() - 2)
    ));
    for one in &all.rows {
        text.push_str(&format!("| {} |\n", row(one).map(|cell| escape(&cell)).join(" | ")));
    }
    text.push_str(&format!("\n{}\n", escape(&finding(all, agreed))));
    text + &markdown::written(&explanation_document(&explanations(all)))
}

/// How an agreement is told.
type Agreed<'a> = &'a dyn Fn(&Agreement) -> String;

/// How the counted rows agree by their rates, and by instructions; empty where none was counted.
fn finding(all: &ExplainedRows, agreed: Agreed<'_>) -> String {
    let (Some(rate), Some(counted)) = (&all.by_rate, &all.by_instructions) else {
        return String::new();
    };
    format!("Of these rows, by rate: {}; by instructions: {}.\n", agreed(rate), agreed(counted))
}

fn explanations(all: &ExplainedRows) -> Vec<Explanation> {
    all.rows.iter().map(|one| one.explanation.clone()).collect()
}

fn row(one: &ExplainedRow) -> [String; 11] {
    let of = &one.explanation;
    let counted = of.accounts.iter().find(|account| account.witness == Witness::Instructions);
    // Where nothing could be tried, nothing is known of settings.
    let settings = counted.filter(|_| of.tried > 0).map(settings);
    let unknown = || UNKNOWN.to_owned();
    let us = |value: Option<f64>| value.map_or_else(unknown, three_digits);
    let ledger = of.ledger.as_ref();
    let part = |lines: &[usize]| {
        let sum = ledger.map(|ledger| difference_us(ledger, lines));
        sum.map_or_else(unknown, |us| signed(us, i32::from(us.abs() < 9.95)))
    };
    [
        printable(&of.cell.to_string()),
        printable(&one.of),
        fixed(one.theirs, 2),
        fixed(one.ours, 2),
        one.by_instructions().map_or_else(unknown, |ratio| {
            format!(
                "{} ({} to {})",
                fixed(ratio.estimate, 2),
                fixed(ratio.low, 2),
                fixed(ratio.high, 2)
            )
        }),
        settings.unwrap_or_else(unknown),
        us(ledger.map(|ledger| ledger.total.us.base)),
        us(ledger.map(|ledger| ledger.total.us.test)),
        part(&SERVER_CODE),
        part(&SERVER_KERNEL),
        part(&CLIENT_AND_REST),
    ]
}

/// What causes and all other settings add to base's instructions.
fn settings(account: &DifferenceAccount) -> String {
    let worths = || account.causes.iter().map(|cause| &cause.worth).chain([&account.others]);
    let percent: f64 = worths().map(|worth| 100.0 * worth.cost.estimate).sum();
    // As if their errors were independent.
    let half = |worth: &Worth| 50.0 * (worth.cost.high - worth.cost.low);
    let half = worths().map(half).fold(0.0, f64::hypot);
    let decimals = decimals_for(half).map_or(1, |decimals| decimals.clamp(0, 1));
    format!("{} ± {} %", signed(percent, decimals), fixed(half, decimals))
}

/// Test − base of these lines together.
fn difference_us(ledger: &Ledger, lines: &[usize]) -> f64 {
    let is_of = |name: &str| lines.iter().any(|line| LEDGER_LINES[*line] == name);
    let own = ledger.lines.iter().filter(|line| is_of(&line.name));
    own.map(|line| line.difference_us.estimate).sum()
}
