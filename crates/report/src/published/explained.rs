//! Rows beyond the tolerance: how much more the server has to do, and where the time went. The
//! explanations in full stand below.

use dbdyno_document::number::{UNKNOWN, decimals_for, format_fixed, format_signed, three_digits};
use dbdyno_document::{DataTable, Document, Element, TableColumn};
use dbdyno_model::published::{ExplainedRow, ExplainedRows};
use dbdyno_model::{Arm, DifferenceAccount, Explanation, LEDGER_LINES, Ledger, Witness, Worth};

use super::words::{agreement_text, two_decimals, with_ends};
use crate::explanation::explanation_document;
use crate::words::clients;

/// What the columns mean.
const KEY: &str = "Where our own figures come from, of the rows that lie further from the printed \
                   ones than the tolerance: rates first, and the furthest first. By instructions: \
                   what ours would be if time followed the instructions of the server; settings: \
                   what all of them together add to those of base. Then microseconds of an \
                   operation in both arms, and test − base of its parts, whose intervals stand \
                   below.";

/// Which lines of a ledger make a column.
const SERVER_CODE: [usize; 1] = [3];
const SERVER_KERNEL: [usize; 1] = [4];
const CLIENT_AND_REST: [usize; 4] = [0, 1, 2, 5];

/// The rows of each printed table, how they agree, and their explanations; empty where nothing was
/// explained.
pub(super) fn explained_document(all: &ExplainedRows) -> Document {
    let mut document = Document::default();
    if all.rows.is_empty() {
        return document;
    }
    document.push(vec![Element::Heading("Explained".into()), Element::Prose(KEY.into())]);
    let mut places: Vec<(&str, u32)> = Vec::new();
    for place in all.rows.iter().map(place) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    for (of, count) in places {
        let rows = all.rows.iter().filter(|row| place(row) == (of, count));
        let table =
            DataTable::new(&columns(), rows).with_title(format!("{of}, {}", clients(count)));
        document.push(vec![Element::Table(table)]);
    }
    if let (Some(rate), Some(counted)) = (&all.by_rate, &all.by_instructions) {
        let finding = format!(
            "Of these rows, by rate: {}; by instructions: {}.",
            agreement_text(rate),
            agreement_text(counted)
        );
        document.push(vec![Element::Sentence(finding.into())]);
    }
    let explanations: Vec<Explanation> =
        all.rows.iter().map(|row| row.explanation.clone()).collect();
    document.append(explanation_document(&explanations));
    document
}

/// Which printed table a row is of, and with how many clients ours was measured.
fn place(row: &ExplainedRow) -> (&str, u32) {
    (&row.of, row.explanation.cell.clients)
}

fn columns() -> [TableColumn<'static, ExplainedRow>; 10] {
    type ExplainedColumn = TableColumn<'static, ExplainedRow>;
    [
        ExplainedColumn::word_texts("load", |row| row.explanation.cell.load.as_str().into()),
        ExplainedColumn::number_texts("theirs", |row| two_decimals(row.theirs).into()),
        ExplainedColumn::number_texts("ours", |row| two_decimals(row.ours).into()),
        ExplainedColumn::number_texts("by instructions", |row| {
            with_ends(row.by_instructions()).into()
        }),
        ExplainedColumn::number_texts("settings", |row| settings(&row.explanation).into()),
        ExplainedColumn::number_texts("µs base", |row| us(row, Arm::Base).into()),
        ExplainedColumn::number_texts("µs test", |row| us(row, Arm::Test).into()),
        ExplainedColumn::number_texts("server's code", |row| part(row, &SERVER_CODE).into()),
        ExplainedColumn::number_texts("server's kernel", |row| part(row, &SERVER_KERNEL).into()),
        ExplainedColumn::number_texts("client and rest", |row| part(row, &CLIENT_AND_REST).into()),
    ]
}

/// What all settings together add to base's instructions. Where nothing could be tried, nothing is
/// known of them.
fn settings(of: &Explanation) -> String {
    let counted = of.accounts.iter().find(|account| account.witness == Witness::Instructions);
    counted.filter(|_| of.tried > 0).map_or_else(|| UNKNOWN.to_owned(), added_by_settings)
}

fn added_by_settings(account: &DifferenceAccount) -> String {
    let causes = account.causes.iter().map(|cause| &cause.worth);
    let worths: Vec<&Worth> = causes.chain([&account.others]).collect();
    let percent: f64 = worths.iter().map(|worth| 100.0 * worth.cost.estimate).sum();
    // As if their errors were independent.
    let halves = worths.iter().map(|worth| 50.0 * (worth.cost.high - worth.cost.low));
    let half = halves.fold(0.0, f64::hypot);
    let decimals = decimals_for(half).map_or(1, |decimals| decimals.clamp(0, 1));
    format!("{} ± {} %", format_signed(percent, decimals), format_fixed(half, decimals))
}

/// Microseconds of an operation in an arm.
fn us(row: &ExplainedRow, arm: Arm) -> String {
    let ledger = row.explanation.ledger.as_ref();
    ledger.map_or_else(|| UNKNOWN.to_owned(), |ledger| three_digits(ledger.total.us[arm]))
}

/// Test − base of these lines of the ledger together, in microseconds.
fn part(row: &ExplainedRow, lines: &[usize]) -> String {
    let Some(ledger) = &row.explanation.ledger else { return UNKNOWN.to_owned() };
    let us = difference_us(ledger, lines);
    format_signed(us, i32::from(us.abs() < 9.95))
}

fn difference_us(ledger: &Ledger, lines: &[usize]) -> f64 {
    let own =
        ledger.lines.iter().filter(|own| lines.iter().any(|at| LEDGER_LINES[*at] == own.name));
    own.map(|line| line.difference_us.estimate).sum()
}
