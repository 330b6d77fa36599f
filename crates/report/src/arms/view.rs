//! The view of several arms: what is known of each row, in groups, with footnotes.

use dbdyno_document::layout;
use dbdyno_model::{
    ArmIndex, ArmsComparison, Cell, CellComparison, PairComparison, Pairing, Reference, Run,
    RunPair, Severity, VerdictMeasure,
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
    pub(super) fn display_text(&self) -> String {
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
        ArmsView::of(run, run.plan.arms.indices().as_slice(), comparison)
    }

    /// Mirrors two arms of a run as if it had no others: they are base and test.
    pub fn of_pair(run: RunPair<'_>, comparison: &ArmsComparison) -> ArmsView {
        ArmsView::of(run.whole, &[run.pairing.base, run.pairing.test], comparison)
    }

    /// Mirrors these arms of a run. In the view they are numbered as in this list.
    fn of(run: &Run, arms_of_run: &[ArmIndex], comparison: &ArmsComparison) -> ArmsView {
        let [pairs, steps] =
            [&comparison.pairs, &comparison.steps].map(|pairs| summaries(run, pairs));
        let mut notes: Vec<Note> = Vec::new();
        for warning in &comparison.warnings {
            add_once(&mut notes, WarningView::new(warning));
        }
        notes.iter_mut().for_each(|note| note.is_of_run = true);
        let rounds = Rounds::from_run(run, arms_of_run);
        for (pairing, summary) in &pairs {
            for warning in &summary.warnings {
                if !notes.iter().any(|note| note.warning == *warning) {
                    add_once(&mut notes, named(warning.clone(), *pairing));
                }
            }
        }
        let sources = Sources { pairs: &pairs, steps: &steps, rounds: &rounds };
        let mut rows: Vec<Row> = Vec::new();
        for (place, cell) in comparison.cells.iter().enumerate() {
            let mut arms = Vec::new();
            for arm in ArmIndex::all(arms_of_run.len()) {
                arms.push(sources.arm_cell(
                    arm,
                    cell,
                    comparison.against_reference(arm, cell),
                    &mut notes,
                ));
            }
            let is_on_one_processor = comparison.one_processor.contains(cell);
            rows.push(Row { place, is_on_one_processor, ..Row::new(cell, arms) });
        }
        let notes = in_order_of_weight(notes, &mut rows);
        let (rows, groups) = groups::group_rows(rows);
        let all = (groups.len() > 1).then(|| Group::of_all(&rows));
        let counts = counts(&pairs);
        let heads = ArmIndex::all(arms_of_run.len()).zip(arms_of_run).zip(&comparison.labels);
        let arms = heads.map(|((index, arm), label)| ArmHead {
            index,
            target: layout::printable_line(&run.plan.arms[*arm].to_string()),
            label: layout::printable_line(label),
            ended: comparison
                .ended
                .iter()
                .find(|ended| ended.arm == *arm)
                .map(|ended| layout::printable_line(&ended.why)),
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
    pub fn with_cell_order(self, order: CellOrder) -> ArmsView {
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
        self.rows.iter().any(|row| row.arm_answers().next().is_some())
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
    pub(super) fn better_direction(&self) -> Better {
        if self.rows.iter().any(|row| row.arm_answers().any(|view| view.response_ratio.is_some())) {
            Better::Less
        } else {
            Better::More
        }
    }

    /// The heads of columns: what the user wrote, without the options that all arms have, where
    /// that is short enough for all of them and tells them apart.
    pub(super) fn column_heads(&self) -> Vec<String> {
        const LONGEST: usize = 18;
        let targets: Vec<&str> = self.arms.iter().map(|arm| arm.target.as_str()).collect();
        let short = without_common_options(&targets);
        let is_told_apart = short.iter().all(|head| {
            let is_alone = short.iter().filter(|other| *other == head).count() == 1;
            head.chars().count() <= LONGEST && is_alone
        });
        if is_told_apart {
            short
        } else {
            self.arms.iter().map(|arm| arm.index.to_string()).collect()
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
    let all: Vec<Vec<&str>> = targets.iter().map(|target| options(target)).collect();
    let mut short = Vec::new();
    for (target, own) in targets.iter().zip(&all) {
        let own = own.iter().filter(|option| !all.iter().all(|other| other.contains(option)));
        let own: Vec<&str> = own.copied().collect();
        let name = target.split('?').next().unwrap_or_default();
        short.push(if own.is_empty() {
            name.to_owned()
        } else {
            format!("{name}?{}", own.join("&"))
        });
    }
    short
}

fn options(target: &str) -> Vec<&str> {
    let options = target.split_once('?').map_or("", |(_, options)| options);
    options.split('&').filter(|one| !one.is_empty()).collect()
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

fn summaries(run: &Run, pairs: &[PairComparison]) -> Vec<(Pairing, Summary)> {
    pairs.iter().map(|pair| (pair.pairing, Summary::new(run, &pair.comparison))).collect()
}

/// What is known of arms: of pairs with the reference and with the arm before, and their rounds.
struct Sources<'a> {
    pairs: &'a Summaries,
    steps: &'a Summaries,
    rounds: &'a Rounds<'a>,
}

impl Sources<'_> {
    /// What is known of an arm in a cell; its ratios where the verdict rests on rates.
    fn arm_cell(
        &self,
        arm: ArmIndex,
        cell: &Cell,
        comparison: Option<&CellComparison>,
        notes: &mut Vec<Note>,
    ) -> ArmCell {
        let against = of_arm(self.pairs, arm, cell);
        // The reference stands on the other side of all pairs.
        let mut as_base = self.pairs.iter().filter(|(pairing, _)| pairing.base == arm);
        let as_base = as_base.find_map(|(_, summary)| view_of(summary, cell));
        let did = against.map(|(_, view)| &view.test).or(as_base.map(|view| &view.base));
        let mut answer = against.map(|(pairing, view)| answer(pairing, view, notes));
        let by_rate = comparison.filter(|of| of.measure == VerdictMeasure::Rate);
        if let (Some(answer), Some(of)) = (&mut answer, by_rate) {
            let pairing = Pairing { base: answer.against, test: arm };
            answer.ratios = self.rounds.ratios(pairing, cell, of.unit);
        }
        let step = of_arm(self.steps, arm, cell);
        let step = step.map(|(pairing, view)| self::answer(pairing, view, notes));
        ArmCell { did: did.cloned(), answer, step }
    }
}

/// What a pair with this arm as test has in a cell.
fn of_arm<'a>(
    summaries: &'a Summaries,
    arm: ArmIndex,
    cell: &Cell,
) -> Option<(Pairing, &'a CellView)> {
    let (pairing, summary) = summaries.iter().find(|(pairing, _)| pairing.test == arm)?;
    Some((*pairing, view_of(summary, cell)?))
}

fn view_of<'a>(summary: &'a Summary, cell: &Cell) -> Option<&'a CellView> {
    summary.cells.iter().find(|view| view.load == cell.load && view.clients == cell.clients)
}

/// What was found between two arms, whose notes are added to these.
fn answer(pairing: Pairing, view: &CellView, notes: &mut Vec<Note>) -> Answer {
    let warnings = view.warnings.iter().cloned();
    let own = warnings.map(|warning| add_kind(notes, named(warning, pairing)));
    let mut own: Vec<usize> = own.collect();
    own.sort_unstable();
    own.dedup();
    let marks = own.iter().filter(|note| !notes[**note].is_mere()).copied().collect();
    Answer { against: pairing.base, view: view.clone(), ratios: Vec::new(), notes: own, marks }
}

/// Adds a warning of the whole if it is new.
fn add_once(notes: &mut Vec<Note>, warning: WarningView) {
    if !notes.iter().any(|note| note.warning == warning) {
        let text = layout::printable_line(&warning.text);
        notes.push(Note { warning: WarningView { text, ..warning }, more: None, is_of_run: false });
    }
}

/// The number of the note for a warning of a cell, which is added if it is the first of its kind.
fn add_kind(notes: &mut Vec<Note>, warning: WarningView) -> usize {
    let alike = notes.iter().position(|note| {
        let (one, other) = (&note.warning, &warning);
        note.more.is_some() && one.code == other.code && one.severity == other.severity
    });
    if let Some(at) = alike {
        if notes[at].warning.text != warning.text {
            notes[at].more = notes[at].more.map(|more| more + 1);
        }
        return at;
    }
    let text = layout::printable_line(&warning.text);
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
