//! A comparison of two arms as a document: the answer, rates, doubts, costs, notes.
//!
//! ```text
//!   first screen   answer · arms · a line a cell · what endangers it, three at most · the rest
//!   sections       answer · arms · a line a cell · those that were asked for
//!   whole report   answer · arms · rates · how sure · costs · tables · curves · notes
//! ```
//!
//! The first screen has for up to eight cells at most [`LINES_MOST`] lines, if labels and warnings
//! are no longer than usual: doubts give way. Nothing is hidden that would change a verdict: what
//! blocks one comes first, and a cell that anything speaks against has a `!`.

use dbdyno_document::terminal::TextStyle;
use dbdyno_document::{
    ArmLabel, DataTable, Document, Element, Footnote, LabelledItem, markdown, terminal,
};
use dbdyno_model::{PerArm, Severity, Verdict};

use crate::cautions;
use crate::counts;
use crate::difference::{self, Extent};
use crate::doubt;
use crate::groups;
use crate::mechanisms;
use crate::notes::Notes;
use crate::rates::{self, RatedCell};
use crate::rows;
use crate::shapes;
use crate::view::{CellView, Summary, View};
use crate::words;
use crate::{insert_benchmark, tables};

/// Lines of a first screen of up to eight cells.
const LINES_MOST: usize = 25;
/// Markdown folds costs of more cells than this.
const OPEN_CELLS_MAX: usize = 4;
/// Columns of the words that stand before what is said below the table, and of verdicts.
const WORD_WIDTH: usize = 8;
const VERDICT_WIDTH: usize = 12;

/// In which order cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellOrder {
    /// As they were measured, in groups where there are many.
    Groups,
    /// What has lost most comes first.
    WorstFirst,
}

/// A part of the report that the first screen leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// What operations cost, and how long they take; curves, and costs for a row.
    Cost,
    /// How sure each answer is.
    Doubt,
    /// What the mechanisms of engines did.
    Engine,
    /// Where the arms are unequal.
    Facts,
    /// Every warning and note, and where it applies.
    Notes,
}

/// The first screen for a terminal. Ends with a line feed.
pub fn first_screen(view: &View, order: CellOrder, style: &TextStyle) -> String {
    let mut count = cautions::TOLD_MOST;
    loop {
        let text = terminal::render_document(&first_document(view, order, count), style);
        let is_short = text.lines().count() <= LINES_MOST;
        if is_short || count <= 1 || view.summary.cells.len() > groups::UNGROUPED_MOST {
            return text;
        }
        count -= 1;
    }
}

/// The first screen as Markdown.
pub fn first_markdown(view: &View, order: CellOrder) -> String {
    markdown::render_document(&first_document(view, order, cautions::TOLD_MOST))
}

/// The answer, and these parts of the report. Ends with a line feed.
pub fn report_sections(
    view: &View,
    all: &[Section],
    order: CellOrder,
    style: &TextStyle,
) -> String {
    let mut document = head(view, order);
    for section in all {
        of_section(view, *section).into_iter().for_each(|passage| document.push(passage));
    }
    terminal::render_document(&document, style)
}

/// The report for a terminal, with all that there is. Ends with a line feed.
pub fn terminal_report(view: &View, style: &TextStyle) -> String {
    let costs = vec![Element::Table(cost_table(view))];
    terminal::render_document(&whole(view, costs), style)
}

/// The report as Markdown (GitHub's dialect: tables and `<details>`), with how it is repeated.
pub fn markdown(view: &View) -> String {
    let summary = &view.summary;
    let mut costs = vec![Element::Table(cost_table(view))];
    if summary.cells.len() > OPEN_CELLS_MAX {
        costs = vec![Element::Fold("cost and latency".into(), costs)];
    }
    let mut document = whole(view, costs);
    let unequal = difference::unequal_passages(&summary.audit, Extent::WhatMatters, "");
    let unequal: Vec<Element> = unequal.into_iter().flatten().collect();
    if !unequal.is_empty() {
        document.push(vec![Element::Fold("what differs between the arms".into(), unequal)]);
    }
    let Summary { run, tool_version, seed, .. } = summary;
    document.push(vec![
        Element::Sentence(
            format!("run {run}, dbdyno {tool_version}, seed {seed}, reproduce with").into(),
        ),
        Element::Lines(vec![(&summary.command).into()]),
    ]);
    markdown::render_document(&document)
}

/// The answer, a line a cell, what endangers it, and where the rest is.
fn first_document(view: &View, order: CellOrder, count: usize) -> Document {
    let mut document = head(view, order);
    let doubts = cautions::find_doubts(&view.summary);
    let mut items = Vec::new();
    for doubt in doubts.iter().take(count) {
        let text = doubt.display_text(view.summary.cells.len());
        items.push(LabelledItem::new(text).with_label(doubt.severity_word(), WORD_WIDTH));
    }
    if let more @ 1.. = doubts.len().saturating_sub(count) {
        let more = words::count_with_noun(more as u64, "more caution");
        items
            .push(LabelledItem::new(format!("{more}: --section notes")).with_label("", WORD_WIDTH));
    }
    if !items.is_empty() {
        document.push(vec![Element::Items(items)]);
    }
    let rest = LabelledItem::new(rest(&view.summary)).with_label("rest", WORD_WIDTH);
    document.push(vec![Element::Items(vec![rest])]);
    document
}

/// Where the rest is.
fn rest(summary: &Summary) -> String {
    let notes = Notes::new(summary);
    let mere = notes.iter().filter(|(_, warning)| warning.severity == Severity::Note.name());
    let mere = match mere.count() {
        0 => String::new(),
        some => format!(", {}", words::count_with_noun(some as u64, "note")),
    };
    format!(
        "dbdyno show {} --all: costs and latencies, how sure, what differs{mere}; or --section \
         cost, doubt, engine, facts, notes",
        summary.run
    )
}

/// The answer and a line a cell: what each choice of sections begins with.
fn head(view: &View, order: CellOrder) -> Document {
    let mut document = Document::default();
    let answer = words::headline(view);
    document.push(answer.status.into_iter().map(|status| Element::Status(status.into())).collect());
    // The members of a class stand in the table.
    let sentence = format!("{}{}", answer.sentence, median_of_all(&view.summary));
    document.push(vec![Element::Headline(sentence.into())]);
    let durability = words::durability_note(view).map(|note| Element::Sentence(note.into()));
    document.push_below([arms_element(&view.summary)].into_iter().chain(durability).collect());
    if view.summary.cells.is_empty() {
        counts::count_tables(view)
            .into_iter()
            .for_each(|sheet| document.push(vec![Element::Table(sheet)]));
    }
    let (notes, budget) = (Notes::new(&view.summary), view.summary.budget);
    for group in words::unit_groups(view) {
        let mut cells = group.cells;
        let groups = if order == CellOrder::WorstFirst {
            cells.sort_by(|a, b| log_gain(a).total_cmp(&log_gain(b)));
            vec![(None, cells.clone())]
        } else {
            groups::of_cells(cells.clone())
        };
        let mut counts: Vec<u32> = cells.iter().map(|cell| cell.clients).collect();
        counts.sort_unstable();
        counts.dedup();
        document.push(vec![Element::Table(match counts.as_slice() {
            [one] => rates::one_count_table(&group.title, *one, &groups, &notes, budget),
            several => rates::client_counts_table(&group.title, several, &groups, budget),
        })]);
    }
    document
}

pub(crate) fn arms_element(summary: &Summary) -> Element {
    let labels = PerArm { base: &summary.base.label, test: &summary.test.label };
    Element::Arms(ArmLabel::of_both(labels))
}

/// The logarithm of the ratio of rates, test ÷ base; of response times, of the inverse ratio.
/// Infinite where there is no estimate.
pub(crate) fn log_gain(cell: &CellView) -> f64 {
    let log = cell.effect().ratio.map_or(f64::INFINITY, f64::ln);
    if cell.response_ratio.is_some() && log.is_finite() { -log } else { log }
}

/// Fewer cells have no typical one: that of two lies where neither is.
const MEDIAN_CELLS_LEAST: usize = 3;

/// The median of all cells of several, where they are of one kind and most of them are decided.
fn median_of_all(summary: &Summary) -> String {
    let cells: Vec<&CellView> = summary.cells.iter().collect();
    let is_one_kind = cells.iter().all(|cell| cell.measure == cells[0].measure);
    let open = cells.iter().filter(|cell| cell.verdict.0 == Verdict::Undecided).count();
    let is_told = cells.len() >= MEDIAN_CELLS_LEAST && is_one_kind && 2 * open < cells.len();
    match groups::median(&cells).filter(|_| is_told) {
        Some(median) => format!("; median {median}"),
        None => String::new(),
    }
}

/// All that there is, with costs as they are told.
fn whole(view: &View, costs: Vec<Element>) -> Document {
    let summary = &view.summary;
    let mut document = Document::default();
    let answer = answer_elements(view);
    answer.into_iter().for_each(|passage| document.push(passage));
    let mut about = vec![arms_element(summary)];
    if !summary.audit.is_empty() {
        about.push(Element::Sentence(difference::unequal_counts(&summary.audit).into()));
    }
    about.extend(words::durability_note(view).map(|note| Element::Sentence(note.into())));
    about.extend(words::trust_note(summary).map(|trust| Element::Sentence(trust.into())));
    document.push_below(about);
    if !summary.cells.is_empty() {
        rate_tables(view).into_iter().for_each(|table| document.push(vec![Element::Table(table)]));
        document.push(doubt_elements(view));
        document.push(costs);
    }
    let tables = tables::all_tables(view).into_iter();
    tables.for_each(|table| document.push(vec![Element::Table(table)]));
    let shapes = shapes::curve_sentences(view).into_iter().chain(shapes::cost_sentences(view));
    shapes.for_each(|shape| document.push(shape.into_elements()));
    document.push(footnote_elements(&Notes::new(summary)));
    document.push(signs(view));
    document
}

/// How far the run got, the answer, and the cells by what they are.
pub(crate) fn answer_elements(view: &View) -> [Vec<Element>; 2] {
    let words::Headline { status, sentence, classes } = words::headline(view);
    let mut classes: Vec<LabelledItem> = classes
        .into_iter()
        .map(|(verdict, members)| {
            let word = words::verdict_word(verdict);
            LabelledItem::new(members).tinted_label(
                word,
                rates::verdict_tint(verdict),
                VERDICT_WIDTH,
            )
        })
        .collect();
    let mut answer = vec![Element::Headline(sentence.into())];
    if !classes.is_empty() {
        answer.push(Element::Items(std::mem::take(&mut classes)));
    }
    [status.into_iter().map(|status| Element::Status(status.into())).collect(), answer]
}

/// Rates of each unit, in tables of their own.
fn rate_tables(view: &View) -> Vec<DataTable> {
    let notes = Notes::new(&view.summary);
    let mut of_run = notes.of_run(&view.summary);
    let mut tables = Vec::new();
    for group in words::unit_groups(view) {
        let columns = [
            rates::clients(group.title.as_str()).with_marks(std::mem::take(&mut of_run)),
            rates::base_column(),
            rates::test_column(),
            rates::change_column(),
            rates::interval(),
            rates::ratio(&group),
            rates::answer_column(),
        ];
        tables.push(rates::below_loads(&columns, &RatedCell::from_cells(&group.cells, &notes)));
    }
    tables
}

/// How sure each cell is, why, and what that means.
pub(crate) fn doubt_elements(view: &View) -> Vec<Element> {
    let mut elements = vec![Element::Table(doubt::table(view))];
    elements
        .extend(doubt::interval_reasons(view).into_iter().map(|why| Element::Sentence(why.into())));
    elements.push(Element::Aside(doubt::table_legend(view).into()));
    elements
}

/// What operations cost, and how long they take.
pub(crate) fn cost_table(view: &View) -> DataTable {
    let columns = rows::plain_columns("cost and latency", "base", "test", "test ÷ base");
    let mut table = DataTable::new(&columns, &[]);
    for cell in &view.summary.cells {
        table.add_group(vec![words::place_of_times(cell).into()]);
        table.add_rows(&columns, &rows::plain_rows(cell));
    }
    for cell in &view.summary.cells {
        let rows = rows::class_rows(cell);
        if !rows.is_empty() {
            table.add_group(vec![words::place_of_classes(cell).into()]);
            table.add_rows(&columns, &rows);
        }
    }
    table.titled_by_its_corner()
}

/// Everything that must be known, by its number.
pub(crate) fn footnote_elements(notes: &Notes<'_>) -> Vec<Element> {
    if notes.is_empty() {
        return Vec::new();
    }
    let notes = notes.iter().map(|(number, warning)| Footnote {
        number: Some(number),
        severity: warning.severity,
        text: (&warning.text).into(),
        code: (&warning.code).into(),
    });
    vec![Element::Footnotes(notes.collect())]
}

fn signs(view: &View) -> Vec<Element> {
    vec![
        Element::Sentence(words::op_definition(view).into()),
        Element::Sentence(words::SIGNS.into()),
    ]
}

/// The passages of a section; none where there is nothing to tell.
fn of_section(view: &View, section: Section) -> Vec<Vec<Element>> {
    let has_cells = !view.summary.cells.is_empty();
    let mut passages: Vec<Vec<Element>> = Vec::new();
    match section {
        Section::Cost => {
            let counted = counts::count_tables(view);
            let others = insert_benchmark::step_tables(view).into_iter().chain(counted);
            let tables = has_cells.then(|| cost_table(view)).into_iter().chain(others);
            passages.extend(tables.map(|table| vec![Element::Table(table)]));
            let shapes =
                shapes::curve_sentences(view).into_iter().chain(shapes::cost_sentences(view));
            passages.extend(shapes.map(|shape| shape.into_elements()));
        }
        Section::Doubt if has_cells => passages.push(doubt_elements(view)),
        Section::Doubt => {}
        Section::Engine => {
            passages.extend(
                mechanisms::mechanism_tables(view)
                    .into_iter()
                    .map(|table| vec![Element::Table(table)]),
            );
        }
        Section::Facts => {
            let audit = &view.summary.audit;
            let rest = format!(" (dbdyno diff {} --all)", view.summary.run);
            passages.push(vec![Element::Sentence(difference::unequal_counts(audit).into())]);
            passages.extend(difference::unequal_passages(audit, Extent::WhatMatters, &rest));
        }
        Section::Notes => {
            passages.extend(rate_tables(view).into_iter().map(|table| vec![Element::Table(table)]));
            passages.extend([footnote_elements(&Notes::new(&view.summary)), signs(view)]);
        }
    }
    passages
}
