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

use dbdyno_model::{ArmIndex, ArmsComparison, Cell, PairComparison, Pairing, Reference, Run};

use crate::layout;
use crate::view::{ArmView, CellView, Summary, WarningView};

/// A run of several arms and what follows from it, ready to be shown.
pub struct ArmsView {
    /// What is true of the whole: that of the first pair.
    head: Summary,
    arms: Vec<ArmHead>,
    reference: Reference,
    rows: Vec<Row>,
    /// Each warning once, with the arms that it is of.
    notes: Vec<WarningView>,
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

/// What was found between two arms in a cell.
struct Answer {
    /// Against which arm.
    against: ArmIndex,
    view: CellView,
    /// Numbers of its notes, from 0.
    notes: Vec<usize>,
}

impl ArmsView {
    /// Mirrors a run and its comparison.
    pub fn new(run: &Run, comparison: &ArmsComparison) -> ArmsView {
        let of_pair = |pair: &PairComparison| Summary::new(run, &pair.comparison);
        let pairs: Vec<(Pairing, Summary)> =
            comparison.pairs.iter().map(|pair| (pair.pairing, of_pair(pair))).collect();
        let steps: Vec<(Pairing, Summary)> =
            comparison.steps.iter().map(|pair| (pair.pairing, of_pair(pair))).collect();
        let mut notes: Vec<WarningView> = Vec::new();
        for warning in &comparison.warnings {
            add(&mut notes, WarningView::new(warning));
        }
        let of_run = notes.len();
        for (pairing, summary) in &pairs {
            let known = |warning: &&WarningView| !notes.contains(warning);
            let new: Vec<_> = summary.warnings.iter().filter(known).cloned().collect();
            for warning in new {
                add(&mut notes, named(warning, *pairing));
            }
        }
        let rows = comparison.cells.iter().map(|cell| {
            let arm = |index: ArmIndex| arm_cell(cell, index, (&pairs, &steps), &mut notes);
            Row::new(cell, run.plan.indices().map(arm).collect())
        });
        let rows = rows.collect();
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
            notes,
            of_run,
        }
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
        let answers = arms.iter().find_map(|arm| arm.answer.as_ref());
        Row { cell: cell.clone(), unit: answers.map_or("", |answer| answer.view.unit), arms }
    }
}

type Summaries = [(Pairing, Summary)];

fn arm_cell(
    cell: &Cell,
    arm: ArmIndex,
    (pairs, steps): (&Summaries, &Summaries),
    notes: &mut Vec<WarningView>,
) -> ArmCell {
    let is_here = |view: &&CellView| view.load == cell.load && view.clients == cell.clients;
    let of = |summaries: &Summaries| {
        let (pairing, summary) = summaries.iter().find(|(pairing, _)| pairing.test == arm)?;
        Some((*pairing, summary.cells.iter().find(is_here)?.clone()))
    };
    let mut answer = |(pairing, view): (Pairing, CellView)| {
        let of_cell = view.warnings.iter().cloned();
        let notes = of_cell.map(|warning| add(notes, named(warning, pairing))).collect();
        Answer { against: pairing.base, view, notes }
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

/// The number of a warning, which is added if it is new.
fn add(notes: &mut Vec<WarningView>, warning: WarningView) -> usize {
    let known = notes.iter().position(|one| *one == warning);
    known.unwrap_or_else(|| {
        notes.push(WarningView { text: layout::printable(&warning.text), ..warning });
        notes.len() - 1
    })
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
