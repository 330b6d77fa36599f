//! A run of more than two arms: loads down, arms across.
//!
//! ```text
//!   ArmsComparison ──▶ ArmsView ──▶ text, markdown, csv, json, page
//!                        │
//!                        └ rows: of each cell what every arm did, its answer against the reference
//!                                (base as a rule), and its answer against the arm before it
//! ```
//!
//! An answer is that of a run of two arms; [`crate::View`] shows one of these pairs in full.

mod csv;
mod json;
mod markdown;
mod page;
mod text;
mod words;

pub use csv::arms_csv;
pub use json::arms_json;
pub use markdown::arms_markdown;
pub use page::arms_html;
pub use text::{Detail as ArmsDetail, arms_text};

use dbdyno_model::{
    ArmIndex, ArmsComparison, Cell, PairComparison, Pairing, Reference, Run, Severity,
};

use crate::layout;
use crate::view::{ArmView, CellView, CountView, Summary, WarningView};

/// A run of several arms and what follows from it, ready to be shown.
pub struct ArmsView {
    /// What is true of the whole: that of the first pair.
    head: Summary,
    arms: Vec<ArmHead>,
    reference: Reference,
    rows: Vec<Row>,
    /// Instructions per operation, of the loads that were counted.
    counts: Vec<CountRow>,
    /// What the reader must know: of the whole run and of pairs each once, of cells each kind once.
    notes: Vec<Note>,
    /// How many of them are of the whole run; they come first.
    of_run: usize,
}

/// What an arm is called.
struct ArmHead {
    index: ArmIndex,
    /// As the user wrote it.
    target: String,
    /// With what it turned out to be.
    label: String,
    /// Why it ended before the run did.
    ended: Option<String>,
}

/// One load at one client count.
struct Row {
    cell: Cell,
    /// What the rates count; empty where nothing was measured.
    unit: &'static str,
    /// One for each arm, in their order.
    arms: Vec<ArmCell>,
}

/// Instructions of one load.
struct CountRow {
    load: String,
    /// Each arm beside the reference, against it.
    arms: Vec<(ArmIndex, CountView)>,
}

/// What is known of an arm in a cell.
#[derive(Default)]
struct ArmCell {
    /// What it did.
    did: Option<ArmView>,
    /// Against the reference; none of the reference itself.
    answer: Option<Answer>,
    /// Against the arm before it; none of base.
    step: Option<Answer>,
}

/// A footnote.
struct Note {
    warning: WarningView,
    /// In how many answers more there is something of its kind; for those that are of a cell.
    more: Option<u32>,
}

impl Note {
    /// The words of the first of its kind, and how often there is another one.
    fn text(&self) -> String {
        match self.more {
            None | Some(0) => self.warning.text.clone(),
            Some(more) => format!(
                "{}; something of the kind stands in {more} more (--arm ARM shows each)",
                self.warning.text.trim_end_matches('.')
            ),
        }
    }
}

/// What was found between two arms in a cell.
struct Answer {
    /// Against which arm.
    against: ArmIndex,
    view: CellView,
    /// Numbers of its notes, from 0.
    notes: Vec<usize>,
    /// Those of them that stand beside its figure: what speaks against it, and no mere note, which
    /// most answers have.
    marks: Vec<usize>,
}

impl ArmsView {
    /// Mirrors a run and its comparison.
    pub fn new(run: &Run, comparison: &ArmsComparison) -> ArmsView {
        let of_pair = |pair: &PairComparison| Summary::new(run, &pair.comparison);
        let pairs: Vec<(Pairing, Summary)> =
            comparison.pairs.iter().map(|pair| (pair.pairing, of_pair(pair))).collect();
        let steps: Vec<(Pairing, Summary)> =
            comparison.steps.iter().map(|pair| (pair.pairing, of_pair(pair))).collect();
        let mut notes: Vec<Note> = Vec::new();
        for warning in &comparison.warnings {
            add_once(&mut notes, WarningView::new(warning));
        }
        let of_run = notes.len();
        for (pairing, summary) in &pairs {
            for warning in &summary.warnings {
                if !notes.iter().any(|note| note.warning == *warning) {
                    add_once(&mut notes, named(warning.clone(), *pairing));
                }
            }
        }
        let rows = comparison.cells.iter().map(|cell| {
            let arm = |index: ArmIndex| arm_cell(cell, index, (&pairs, &steps), &mut notes);
            Row::new(cell, run.plan.indices().map(arm).collect())
        });
        let rows = rows.collect();
        let counts = counts(&pairs);
        let arms = run.plan.indices().zip(&comparison.labels).map(|(index, label)| ArmHead {
            index,
            target: layout::printable(&run.plan.spec(index).to_string()),
            label: layout::printable(label),
            ended: comparison
                .ended
                .iter()
                .find(|ended| ended.arm == index)
                .map(|ended| layout::printable(&ended.why)),
        });
        ArmsView {
            arms: arms.collect(),
            head: pairs.into_iter().next().expect("there are two arms at least").1,
            reference: comparison.reference,
            rows,
            counts,
            notes,
            of_run,
        }
    }

    /// The warnings of the whole run and of pairs of arms.
    fn of_whole(&self) -> impl Iterator<Item = &WarningView> {
        self.notes.iter().filter(|note| note.more.is_none()).map(|note| &note.warning)
    }

    /// Where the arm stands that is judged against no other one.
    fn first(&self) -> usize {
        self.reference.first().position()
    }

    /// The heads of columns: what the user wrote, where that is short enough for all of them.
    fn heads(&self) -> Vec<String> {
        const LONGEST: usize = 18;
        let are_short = self.arms.iter().all(|arm| arm.target.chars().count() <= LONGEST);
        let is_alone = |arm: &ArmHead| {
            self.arms.iter().filter(|other| other.target == arm.target).count() == 1
        };
        let are_told_apart = self.arms.iter().all(is_alone);
        let head = |arm: &ArmHead| match are_short && are_told_apart {
            true => arm.target.clone(),
            false => arm.index.to_string(),
        };
        self.arms.iter().map(head).collect()
    }
}

impl Row {
    fn new(cell: &Cell, arms: Vec<ArmCell>) -> Row {
        let answer = arms.iter().find_map(|arm| arm.answer.as_ref());
        let unit = answer.map_or("", |answer| match answer.view.measure {
            "max_rate" => "events/s at the limit",
            _ => answer.view.unit,
        });
        Row { cell: cell.clone(), unit, arms }
    }

    /// Whether it stands under another head than the row before it. What was not measured has no
    /// unit, and stands where it is.
    fn begins(&self, before: Option<&str>) -> bool {
        before.is_none_or(|before| before != self.unit && !self.unit.is_empty())
    }
}

/// What was counted, load by load.
fn counts(pairs: &Summaries) -> Vec<CountRow> {
    let mut rows: Vec<CountRow> = Vec::new();
    for (pairing, summary) in pairs {
        for count in &summary.counts {
            let at = rows.iter().position(|row| row.load == count.load).unwrap_or_else(|| {
                rows.push(CountRow { load: count.load.clone(), arms: Vec::new() });
                rows.len() - 1
            });
            rows[at].arms.push((pairing.test, count.clone()));
        }
    }
    rows
}

type Summaries = [(Pairing, Summary)];

fn arm_cell(
    cell: &Cell,
    arm: ArmIndex,
    (pairs, steps): (&Summaries, &Summaries),
    notes: &mut Vec<Note>,
) -> ArmCell {
    let is_here = |view: &&CellView| view.load == cell.load && view.clients == cell.clients;
    let of = |summaries: &Summaries| {
        let (pairing, summary) = summaries.iter().find(|(pairing, _)| pairing.test == arm)?;
        Some((*pairing, summary.cells.iter().find(is_here)?.clone()))
    };
    let mut answer = |(pairing, view): (Pairing, CellView)| {
        let of_cell = view.warnings.iter().cloned();
        let mut of_answer: Vec<usize> =
            of_cell.map(|warning| add_kind(notes, named(warning, pairing))).collect();
        of_answer.sort_unstable();
        of_answer.dedup();
        let is_mark = |note: &&usize| notes[**note].warning.severity != Severity::Note.name();
        let marks = of_answer.iter().filter(is_mark).copied().collect();
        Answer { against: pairing.base, view, notes: of_answer, marks }
    };
    let (against, step) = (of(pairs), of(steps));
    // The reference stands on the other side of all pairs.
    let is_base = |(pairing, _): &&(Pairing, Summary)| pairing.base == arm;
    let as_base = pairs
        .iter()
        .filter(is_base)
        .find_map(|(_, summary)| summary.cells.iter().find(is_here))
        .map(|view| view.base.clone());
    ArmCell {
        did: against.as_ref().map(|(_, view)| view.test.clone()).or(as_base),
        answer: against.map(&mut answer),
        step: step.map(answer),
    }
}

/// Adds a warning of the whole if it is new.
fn add_once(notes: &mut Vec<Note>, warning: WarningView) {
    if !notes.iter().any(|note| note.warning == warning) {
        let text = layout::printable(&warning.text);
        notes.push(Note { warning: WarningView { text, ..warning }, more: None });
    }
}

/// The number of the note for a warning of a cell, which is added if it is the first of its kind.
fn add_kind(notes: &mut Vec<Note>, warning: WarningView) -> usize {
    let is_alike = |note: &Note| {
        let (one, other) = (&note.warning, &warning);
        note.more.is_some() && one.code == other.code && one.severity == other.severity
    };
    if let Some(at) = notes.iter().position(is_alike) {
        if notes[at].warning.text != warning.text {
            notes[at].more = notes[at].more.map(|more| more + 1);
        }
        return at;
    }
    let text = layout::printable(&warning.text);
    notes.push(Note { warning: WarningView { text, ..warning }, more: Some(0) });
    notes.len() - 1
}

/// A warning of a pair, in which its arms are called base and test, with their names.
fn named(warning: WarningView, pairing: Pairing) -> WarningView {
    if pairing == Pairing::USUAL {
        return warning;
    }
    let Pairing { base, test } = pairing;
    let text = match (warning.text.strip_prefix("base: "), warning.text.strip_prefix("test: ")) {
        (Some(rest), _) => format!("{base}: {rest}"),
        (_, Some(rest)) => format!("{test}: {rest}"),
        _ => format!("{test} as test, {base} as base: {}", warning.text),
    };
    WarningView { text, ..warning }
}
