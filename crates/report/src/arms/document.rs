//! Several arms as a document: one load at one client count on a line, arms across.
//!
//! ```text
//!   queries/s at 1 client   mysql:5.6   mysql:5.7   mysql:8.0   history   against the arm before
//!   rows by key                            ▼ 0.97      ▼ 0.90             ▼ 0.97  ▼ 0.93
//!     point-query              21 840      = 0.99      ▼ 0.91       ▅▅▄   =  ▼ 0.92
//! ```
//!
//! Where a terminal is too narrow, the arms stand in several tables, and what stands behind them is
//! left out. If everything is wished, each arm against the one before has a table of its own.

use dbdyno_document::number::UNKNOWN;
use dbdyno_document::terminal::TextStyle;
use dbdyno_document::{
    ColumnTone, DataTable, Document, Element, Footnote, TableCell, TableColumn, Text, markdown,
    terminal,
};
use dbdyno_model::Reference;

use super::figure::Figure;
use super::groups::Group;
use super::history::Scale;
use super::table::{self, Line, Table};
use super::view::{ArmsView, Note};
use super::words::Signs;
use super::{costs, history, words};
use crate::cautions::TOLD_MOST;
use crate::comparison::Section;
use crate::words as told;

/// How much a table of several arms says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArmsTableDetail {
    /// Ratios.
    Ratios,
    /// And their intervals.
    Intervals,
}

/// The report for a terminal. Ends with a line feed.
pub fn arms_text(
    view: &ArmsView,
    detail: ArmsTableDetail,
    parts: &[Section],
    style: &TextStyle,
) -> String {
    terminal::render_document(&document(view, detail, parts), style)
}

/// The report as Markdown (GitHub's dialect). Everything includes how it is repeated.
pub fn arms_markdown(view: &ArmsView, parts: &[Section]) -> String {
    let mut document = document(view, ArmsTableDetail::Intervals, parts);
    if is_everything(parts) {
        let command = Element::Lines(vec![(&view.head.command).into()]);
        document.push(vec![Element::Title("reproduce with".into()), command]);
    }
    markdown::render_document(&document)
}

fn document(view: &ArmsView, detail: ArmsTableDetail, parts: &[Section]) -> Document {
    let mut document = Document::default();
    document.push(answer_elements(view));
    document.push_below(vec![Element::Arms(words::arm_labels(view))]);
    if view.has_answers() {
        rates(view, detail, is_everything(parts), &mut document);
        let falls = match words::falls_in_short(view).filter(|_| !is_everything(parts)) {
            Some(in_short) => vec![("starts to fall".to_owned(), in_short)],
            None => words::fall_sentences(view),
        };
        document.push(term_elements(falls));
        if parts.contains(&Section::Cost) {
            cost_tables(view, detail, &mut document);
        }
    }
    document.push(words::counts_table(view).into_iter().map(Element::Table).collect());
    document.push(footnotes(view, parts));
    let signs = if is_everything(parts) { Signs::WithMethod } else { Signs::Alone };
    document.push(vec![Element::Sentence(words::sign_legend(view, signs).into())]);
    document
}

/// How far the run got, and the answer.
pub(super) fn answer_elements(view: &ArmsView) -> Vec<Element> {
    let status = words::status(view).into_iter().map(|status| Element::Status(status.into()));
    status.chain([Element::Headline(words::headline(view).into())]).collect()
}

/// Whether all sections that a report of several arms has are wished.
fn is_everything(parts: &[Section]) -> bool {
    [Section::Cost, Section::Notes].iter().all(|section| parts.contains(section))
}

/// Rates with their history, and each arm against the one before.
fn rates(view: &ArmsView, detail: ArmsTableDetail, is_everything: bool, document: &mut Document) {
    let rates = table::rates(view);
    let steps = table::steps_table(view).filter(|_| is_everything);
    let tail = match view.reference {
        Reference::Before => Tail::None,
        Reference::Arm(_) if steps.is_some() => Tail::History,
        Reference::Arm(_) => Tail::HistoryAndSteps,
    };
    document.push(vec![rates.element(view, detail, tail)]);
    if let Some(steps) = steps {
        let title = Element::Sentence("against the arm before:".into());
        document.push(vec![title, steps.element(view, detail, Tail::None)]);
    }
}

/// What is said of each of several; nothing of none.
pub(super) fn term_elements(all: Vec<(String, String)>) -> Vec<Element> {
    let all: Vec<(Text, Text)> =
        all.into_iter().map(|(called, said)| (called.into(), said.into())).collect();
    if all.is_empty() { Vec::new() } else { vec![Element::Terms(all)] }
}

/// What operations cost, and rates by what the server's processor had to do.
fn cost_tables(view: &ArmsView, detail: ArmsTableDetail, document: &mut Document) {
    let (of_costs, mut asides) = table::costs_by_quantity(view);
    for table in &of_costs {
        document.push(vec![table.element(view, detail, Tail::None)]);
    }
    asides.push(costs::ABOUT.to_owned());
    if let Some(table) = table::by_cpu(view) {
        let title = Element::Sentence(format!("{}:", table.title).into());
        document.push(vec![title, table.element(view, detail, Tail::None)]);
        asides.extend(costs::about_sharing(view));
    }
    document.push(asides.into_iter().map(|aside| Element::Sentence(aside.into())).collect());
}

/// What stands behind the arms.
#[derive(Clone, Copy)]
pub(super) enum Tail<'a> {
    None,
    /// A block for each arm.
    History,
    /// And each arm against the one before it, where there is room.
    HistoryAndSteps,
    /// The history as a drawing on this scale.
    Drawings(&'a Scale),
}

impl<'a> Tail<'a> {
    fn columns(self, view: &'a ArmsView) -> Vec<TableColumn<'a, Line>> {
        if let Tail::Drawings(scale) = self {
            return vec![TableColumn::drawing_cells("history", |line: &Line| {
                TableCell::from_svg(scale.svg(view, &view.rows[line.row]))
            })];
        }
        let history = TableColumn::word_texts("history", |line: &Line| {
            history::history_blocks(view, &view.rows[line.row]).into()
        });
        let history = history.with_legend(history::LEGEND);
        let steps = TableColumn::word_cells("against the arm before", |line: &Line| {
            words::steps_cell(&view.rows[line.row])
        });
        match self {
            Tail::History => vec![history],
            Tail::HistoryAndSteps => vec![history.as_dispensable(), steps.as_dispensable()],
            Tail::None | Tail::Drawings(_) => Vec::new(),
        }
    }

    /// What is said behind the medians of a group.
    fn of_group(self, view: &ArmsView, group: &Group) -> Vec<TableCell> {
        match self {
            Tail::None => Vec::new(),
            Tail::History | Tail::Drawings(_) => vec![TableCell::default()],
            Tail::HistoryAndSteps => vec![TableCell::default(), words::steps_of_group(view, group)],
        }
    }
}

impl Table {
    fn element(&self, view: &ArmsView, detail: ArmsTableDetail, tail: Tail<'_>) -> Element {
        let table = self.data_table(view, tail, |_, _, figure| match detail {
            ArmsTableDetail::Ratios => figure.cell(),
            ArmsTableDetail::Intervals => figure.cell_with_interval(),
        });
        Element::Table(table)
    }

    /// Loads down, arms across, the reference in front. `cell` is made of the figure of an arm.
    pub(super) fn data_table(
        &self,
        view: &ArmsView,
        tail: Tail<'_>,
        cell: impl Fn(&Line, usize, &Figure) -> TableCell + Copy,
    ) -> DataTable {
        let heads = view.column_heads();
        let corner = match self.clients {
            Some(one) => format!("{} at {}", self.unit, told::clients(one)).trim().to_owned(),
            None => self.unit.clone(),
        };
        let mut columns = vec![TableColumn::word_texts(corner, |line: &Line| (&line.load).into())];
        if self.clients.is_none() {
            columns.push(TableColumn::number_texts("clients", |line: &Line| {
                line.clients.to_string().into()
            }));
        }
        let reference = TableColumn::number_texts(heads[self.first].as_str(), |line: &Line| {
            (&line.reference).into()
        });
        columns.push(reference.of_arm(ColumnTone::Base));
        let leads = columns.len();
        let others = self.other_arms(view);
        columns.extend(others.iter().map(|&at| {
            let column = TableColumn::number_cells(heads[at].as_str(), move |line: &Line| {
                line.figures[at].as_ref().map_or(UNKNOWN.into(), |figure| cell(line, at, figure))
            });
            column.of_arm(ColumnTone::Test)
        }));
        columns.extend(tail.columns(view));
        let mut table = DataTable::new(&columns, &[]);
        for (part, group) in self.parts.iter().zip(&view.groups) {
            if let Some(called) = &part.called {
                let mut cells = vec![TableCell::from(called)];
                cells.resize(leads, TableCell::default());
                let medians = others.iter().map(|at| part.medians[*at].as_ref());
                cells.extend(medians.map(|median| median.map(Figure::cell).unwrap_or_default()));
                cells.extend(tail.of_group(view, group));
                table.add_group(cells);
            }
            table.add_rows(&columns, &part.lines);
        }
        table.titled_by_its_corner().divided_behind(leads)
    }
}

/// What speaks against something, the worst of it, and where the rest is said; or all of it.
fn footnotes(view: &ArmsView, parts: &[Section]) -> Vec<Element> {
    let is_brief = !parts.contains(&Section::Notes);
    let (kinds, left) = if is_brief { cautions(view) } else { (every_note(view), 0) };
    let mut notes = Vec::new();
    for NoteKind { at, note, others } in kinds {
        let more = match others {
            0 => String::new(),
            others => format!(" (and {others} like it)"),
        };
        let is_marked = !is_brief || note.more.is_some();
        notes.push(Footnote {
            number: is_marked.then_some(at + 1),
            severity: note.warning.severity,
            text: (note.display_text() + &more).into(),
            code: Text::default(),
        });
    }
    let rest = Element::Sentence(rest(view, parts, left).into());
    if notes.is_empty() { vec![rest] } else { vec![Element::Footnotes(notes), rest] }
}

/// A note below the table.
struct NoteKind<'a> {
    /// Its place among all notes.
    at: usize,
    note: &'a Note,
    /// How many more of its kind the run has.
    others: usize,
}

fn every_note(view: &ArmsView) -> Vec<NoteKind<'_>> {
    let all = view.notes.iter().enumerate();
    all.map(|(at, note)| NoteKind { at, note, others: 0 }).collect()
}

/// What blocks or endangers a verdict, one of each kind: what blocks first, then what is of the
/// whole run, then what most answers have; and how many kinds there are beside those.
fn cautions(view: &ArmsView) -> (Vec<NoteKind<'_>>, usize) {
    let mut kinds = every_note(view);
    kinds.retain_mut(|NoteKind { at, note, others }| {
        let like_it = alike(view, note);
        *others = like_it.len() - 1;
        !note.is_mere() && like_it[0] == *at
    });
    kinds.sort_by_key(|of| {
        let reach = of.note.more.unwrap_or(u32::MAX);
        (!of.note.is_blocking(), std::cmp::Reverse(reach))
    });
    let left = kinds.len().saturating_sub(TOLD_MOST);
    kinds.truncate(TOLD_MOST);
    (kinds, left)
}

/// The places of the notes of this kind, if it is of the whole run or of a pair of arms: no figure
/// of the table has its number. Else its own.
fn alike(view: &ArmsView, note: &Note) -> Vec<usize> {
    let all = view.notes.iter().enumerate();
    let alike = all.filter(|(_, other)| match note.more {
        Some(_) => std::ptr::eq(*other, note),
        None => {
            let (one, another) = (&note.warning, &other.warning);
            other.more.is_none() && (&one.code, one.severity) == (&another.code, another.severity)
        }
    });
    alike.map(|(at, _)| at).collect()
}

/// Where the rest is.
fn rest(view: &ArmsView, parts: &[Section], cautions_left: usize) -> String {
    let notes = view.notes.iter().filter(|note| note.is_mere()).count() as u64;
    let counts = [(cautions_left as u64, "more caution"), (notes, "note")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> =
        counts.map(|(count, what)| told::count_with_noun(count, what)).collect();
    let mut rest = Vec::new();
    if !parts.contains(&Section::Cost) {
        rest.push("--section cost: what operations cost".to_owned());
    }
    if !counts.is_empty() && !parts.contains(&Section::Notes) {
        rest.push(format!("--section notes: {}", counts.join(", ")));
    }
    if view.has_steps() && view.has_answers() && !is_everything(parts) {
        rest.push("--against before: each arm against the one before it".to_owned());
    }
    rest.push("--arm ARM: one arm in full".to_owned());
    format!("rest: dbdyno show {} with {}", view.head.run, rest.join("; "))
}
