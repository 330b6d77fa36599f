//! Explanations as a document.

use dbdyno_document::{ArmLabel, DataTable, Document, Element, TableColumn, Text};
use dbdyno_model::{DifferenceAccount, Explanation, FactComparison, Ledger, PerArm};

use super::facts;
use super::words::{self, Row};

/// The explanations, one after the other.
pub fn explanation_document(all: &[Explanation]) -> Document {
    let mut document = Document::default();
    all.iter().flat_map(of_cell).for_each(|passage| document.push(passage));
    document
}

fn of_cell(of: &Explanation) -> Vec<Vec<Element>> {
    let arms = PerArm { base: Text::from(&of.labels[0]), test: Text::from(&of.labels[1]) };
    let mut passages = vec![vec![
        Element::Headline(words::headline(of).into()),
        Element::Arms(ArmLabel::of_both(arms)),
    ]];
    let tables = of.accounts.iter().map(|account| account_table(account, of));
    let tables = tables.chain(of.ledger.as_ref().map(ledger_table));
    let tables = tables.chain([facts_table(&facts::shown_facts(of).0)]);
    passages.extend(tables.map(|table| vec![Element::Table(table)]));
    let notes = words::plan_notes(of).into_iter().chain(words::reader_notes(of)).map(Text::from);
    passages.push(vec![Element::Notes(notes.collect())]);
    passages
}

fn account_table(account: &DifferenceAccount, of: &Explanation) -> DataTable {
    type AccountColumn = TableColumn<'static, Row>;
    let [name, values, share] = words::column_heads(account);
    let columns = [
        AccountColumn::word_texts(name, |row| row.name.as_str().into()),
        AccountColumn::word_texts(values, |row| row.values.as_str().into()),
        AccountColumn::number_texts(share, |row| row.share.as_str().into()),
    ];
    DataTable::new(&columns, &words::rows(account, of)).with_title(words::title(account)).with_sum()
}

/// Where the time of an operation goes.
pub(super) fn ledger_table(ledger: &Ledger) -> DataTable {
    DataTable::new(&beside(words::LEDGER_HEADS), &words::ledger_rows(ledger)).with_sum()
}

/// What servers did for an operation.
pub(super) fn facts_table(facts: &[&FactComparison]) -> DataTable {
    let rows: Vec<[String; 4]> = facts.iter().map(|one| facts::fact_row(one)).collect();
    DataTable::new(&beside(facts::HEADS), &rows)
}

/// What it is, base, test, and how they differ.
fn beside(heads: [&'static str; 4]) -> [TableColumn<'static, [String; 4]>; 4] {
    let [what, base, test, difference] = heads;
    [
        TableColumn::word_texts(what, |row: &[String; 4]| row[0].as_str().into()),
        TableColumn::number_texts(base, |row: &[String; 4]| row[1].as_str().into()),
        TableColumn::number_texts(test, |row: &[String; 4]| row[2].as_str().into()),
        TableColumn::number_texts(difference, |row: &[String; 4]| row[3].as_str().into()),
    ]
}
