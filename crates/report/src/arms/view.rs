//! The view of several arms: what is known of each row, in groups, with footnotes.

use dbdyno_document::layout;
use dbdyno_model::{
    ArmIndex, ArmsComparison, Cell, CellComparison, PairComparison, Pairing, Reference, Run,
    Severity, VerdictMeasure,
};

use super::figure::Better;
use super::groups::{self, Group};
use super::rounds::Rounds;
use super::rows::{Answer, ArmCell, Row};
use crate::comparison::CellOrder;
use crate::view::{CellView, CountView, Summary, WarningView};

/// A run of several arms and what follows from it, ready to be shown.
pub struct ArmsView {
    /// What is true of the whole: that of the first pair.
    pub(super) head: Summary,
    pub(super) arms: Vec<ArmHead>,
    pub(super) reference: Reference,
    /// In the order of groups.
    pub(super) rows: Vec<Row>,
    /// Rows that follow each other; one group without a name where they are few.
    pub(super) groups: Vec<Group>,
    /// All rows as one group; none where that is the only one.
    pub(super) all: Option<Group>,
    /// Instructions per operation, of the loads that were counted.
    pub(super) counts: Vec<CountRow>,
    /// What the reader must know: of the whole run and of pairs each once, of cells each kind once.
    /// Those that stand beside figures come first.
    pub(super) notes: Vec<Note>,
}

/// What an arm is called.
pub(super) struct ArmHead {
    pub(super) index: ArmIndex,
    /// As the user wrote it.
    pub(super) target: String,
    /// With what it turned out to be.
    pub(super) label: String,
    /// Why it ended before the run did.
    pub(super) ended: Option<String>,
}

/// Instructions of one load.
pub(super) struct CountRow {
    pub(super) load: String,
    /// Each arm beside the reference, against it.
    pub(super) arms: Vec<(ArmIndex, CountView)>,
}

/// A footnote.
pub(super) struct Note {
    pub(super) warning: WarningView,
    /// In how many answers more there is something of its kind; for those that are of a cell.
    pub(super) more: Option<u32>,
    /// Whether it is of the whole run.
    pub(super) is_of_run: bool,
}

impl Note {
    /// Whether it only says how something was done.
    pub(super) fn is_mere(&self) -> bool {
        self.warning.severity == Severity::Note.name()
    }

    pub(super) fn is_blocking(&self) -> bool {
        self.warning.severity == Severity::Blocks.name()
    }

    /// The words of the first of its kind, and how often there is another one.
    pub(super) fn text(&self) -> String {
        match self.more {
            None | Some(0) => self.warning.text.clone(),
            Some(more) => format!(
                "{}; something of the kind stands in {more} more (`dbdyno show --arm ARM` shows each)",
                self.warning.text.trim_end_matches('.')
            ),
        }
    }
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
        notes.iter_mut().for_each(|note| note.is_of_run = true);
        let rounds = Rounds::of(run);
        for (pairing, summary) in &pairs {
            for warning in &summary.warnings {
                if !notes.iter().any(|note| note.warning == *warning) {
                    add_once(&mut notes, named(warning.clone(), *pairing));
                }
            }
        }
        let rows = comparison.cells.iter().enumerate().map(|(place, cell)| {
            let arm = |index: ArmIndex| {
                let of = (comparison.of(index, cell), &rounds);
                arm_cell((cell, of), index, (&pairs, &steps), &mut notes)
            };
            let is_on_one_processor = comparison.one_processor.contains(cell);
            Row {
                place,
                is_on_one_processor,
                ..Row::new(cell, run.plan.indices().map(arm).collect())
            }
        });
        let mut rows: Vec<Row> = rows.collect();
        let notes = in_order_of_weight(notes, &mut rows);
        let (rows, groups) = groups::of(rows);
        let all = (groups.len() > 1).then(|| Group::of_all(&rows));
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
            groups,
            all,
            counts,
            notes,
        }
    }

    /// The same in another order: with [`CellOrder::WorstFirst`] a group begins with the row of
    /// which any arm has lost most against the reference, and groups follow each other by their
    /// first row. For tables that people read; CSV and JSON have the order of the plan.
    pub fn sorted(self, order: CellOrder) -> ArmsView {
        match order {
            CellOrder::Groups => self,
            CellOrder::WorstFirst => {
                let (rows, groups) = groups::worst_first(self.rows, self.groups);
                ArmsView { rows, groups, ..self }
            }
        }
    }

    /// The warnings of the whole run and of pairs of arms.
    pub(super) fn of_whole(&self) -> impl Iterator<Item = &WarningView> {
        self.notes.iter().filter(|note| note.more.is_none()).map(|note| &note.warning)
    }

    /// The rows in the order of the plan.
    pub(super) fn in_order(&self) -> impl Iterator<Item = &Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by_key(|row| row.place);
        rows.into_iter()
    }

    /// Whether anything was found of any arm against another one.
    pub(super) fn has_answers(&self) -> bool {
        self.rows.iter().any(|row| row.answers().next().is_some())
    }

    /// Where the arm stands that is judged against no other one.
    pub(super) fn first(&self) -> usize {
        self.reference.first().position()
    }

    /// Whether arms are also shown against the arm before, apart from the reference.
    pub(super) fn has_steps(&self) -> bool {
        self.arms.len() > 2 && self.reference != Reference::Before
    }

    /// Which direction of the ratios is the good one.
    pub(super) fn better(&self) -> Better {
        if self.rows.iter().any(|row| row.answers().any(|view| view.response_ratio.is_some())) {
            Better::Less
        } else {
            Better::More
        }
    }

    /// The heads of columns: what the user wrote, without the options that all arms have, where
    /// that is short enough for all of them and tells them apart.
    pub(super) fn heads(&self) -> Vec<String> {
        const LONGEST: usize = 18;
        let targets: Vec<&str> = self.arms.iter().map(|arm| arm.target.as_str()).collect();
        let short = without_common_options(&targets);
        let is_alone = |head: &String| short.iter().filter(|other| *other == head).count() == 1;
        match short.iter().all(|head| head.chars().count() <= LONGEST && is_alone(head)) {
            true => short,
            false => self.arms.iter().map(|arm| arm.index.to_string()).collect(),
        }
    }
}

/// Notes in the order in which they are read: what speaks against single figures, which have its
/// number, what speaks against the whole, and mere notes. Answers get the new numbers.
fn in_order_of_weight(notes: Vec<Note>, rows: &mut [Row]) -> Vec<Note> {
    let mut order: Vec<usize> = (0..notes.len()).collect();
    order.sort_by_key(|&at| (notes[at].is_mere(), notes[at].more.is_none()));
    let mut number = vec![0; notes.len()];
    order.iter().enumerate().for_each(|(new, &old)| number[old] = new);
    let arms = rows.iter_mut().flat_map(|row| &mut row.arms);
    for answer in arms.flat_map(|arm| arm.answer.iter_mut().chain(&mut arm.step)) {
        for numbers in [&mut answer.notes, &mut answer.marks] {
            numbers.iter_mut().for_each(|note| *note = number[*note]);
            numbers.sort_unstable();
        }
    }
    let mut notes: Vec<Option<Note>> = notes.into_iter().map(Some).collect();
    order.into_iter().filter_map(|old| notes[old].take()).collect()
}

/// Targets without the options that all of them have.
fn without_common_options(targets: &[&str]) -> Vec<String> {
    let options = |target: &str| -> Vec<String> {
        let options = target.split_once('?').map_or("", |(_, options)| options);
        options.split('&').filter(|one| !one.is_empty()).map(str::to_owned).collect()
    };
    let all: Vec<Vec<String>> = targets.iter().map(|target| options(target)).collect();
    let is_common = |option: &&String| all.iter().all(|own| own.contains(option));
    let short = targets.iter().zip(&all).map(|(target, options)| {
        let own: Vec<&str> =
            options.iter().filter(|one| !is_common(one)).map(String::as_str).collect();
        let name = target.split('?').next().unwrap_or_default();
        if own.is_empty() { name.to_owned() } else { format!("{name}?{}", own.join("&")) }
    });
    short.collect()
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

/// What is known of an arm in a cell; its ratios where the verdict rests on rates.
fn arm_cell(
    (cell, (found, rounds)): (&Cell, (Option<&CellComparison>, &Rounds<'_>)),
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
        let marks = of_answer
            .iter()
            .filter(|note| notes[**note].warning.severity != Severity::Note.name())
            .copied()
            .collect();
        Answer { against: pairing.base, view, ratios: Vec::new(), notes: of_answer, marks }
    };
    let (against, step) = (of(pairs), of(steps));
    // The reference stands on the other side of all pairs.
    let is_base = |(pairing, _): &&(Pairing, Summary)| pairing.base == arm;
    let as_base = pairs
        .iter()
        .filter(is_base)
        .find_map(|(_, summary)| summary.cells.iter().find(is_here))
        .map(|view| view.base.clone());
    let did = against.as_ref().map(|(_, view)| view.test.clone()).or(as_base);
    let ratios = |answer: Answer| {
        let Some(of) = found.filter(|of| of.measure == VerdictMeasure::Rate) else { return answer };
        let pairing = Pairing { base: answer.against, test: arm };
        Answer { ratios: rounds.ratios(pairing, cell, of.unit), ..answer }
    };
    let of_reference = against.map(&mut answer).map(ratios);
    ArmCell { did, answer: of_reference, step: step.map(answer) }
}

/// Adds a warning of the whole if it is new.
fn add_once(notes: &mut Vec<Note>, warning: WarningView) {
    if !notes.iter().any(|note| note.warning == warning) {
        let text = layout::printable(&warning.text);
        notes.push(Note { warning: WarningView { text, ..warning }, more: None, is_of_run: false });
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
    notes.push(Note { warning: WarningView { text, ..warning }, more: Some(0), is_of_run: false });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_arms_have_in_common_is_left_out_of_their_names() {
        let short = |targets: &[&str]| without_common_options(targets);
        assert_eq!(
            short(&["mysql:5.6?preset=a", "mysql:8.0?preset=a"]),
            ["mysql:5.6", "mysql:8.0"]
        );
        assert_eq!(
            short(&["m:1?a=1&b=2", "m:1?b=2&a=2", "m:1?b=2"]),
            ["m:1?a=1", "m:1?a=2", "m:1"]
        );
        assert_eq!(short(&["sqlite:", "sqlite:?x=1"]), ["sqlite:", "sqlite:?x=1"]);
    }
}
