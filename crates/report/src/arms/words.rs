//! What is said of several arms, in every shape.

use dbdyno_document::number::{self, GLUE};
use dbdyno_document::{ArmLabel, DataTable, TableCell};
use dbdyno_model::{CountVerdict, Reference, Verdict};

use super::figure::Figure;
use super::groups::{Group, Median};
use super::rows::Row;
use super::view::ArmsView;
use crate::view::{CellView, CountView};
use crate::words;

/// The verdicts in the order in which they are told.
const TOLD: [Verdict; 4] = [Verdict::Slower, Verdict::Faster, Verdict::Equal, Verdict::Undecided];

/// How much is said of signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signs {
    /// What each stands for.
    Alone,
    /// And how families and medians are made.
    WithMethod,
}

/// What the figures and the signs mean.
pub(super) fn sign_legend(view: &ArmsView, detail: Signs) -> String {
    let figures = match view.reference {
        Reference::Arm(arm) => format!("Of {arm} the rate, of the others rQPS against it"),
        Reference::Before => {
            "Of base the rate, of the others rQPS against the arm to its left".into()
        }
    };
    let signs = format!(
        "{figures}: ▼ slower, ▲ faster, = equal within the budget, ~ not decided, — not measured."
    );
    if detail == Signs::Alone {
        return signs;
    }
    let medians = if view.groups.len() > 1 { MEDIANS } else { "" };
    format!("{signs}{STEPS}{medians}")
}

/// What an arm against the one before it is.
const STEPS: &str =
    " Against the arm before: each arm against the one to its left, a family of its own.";
/// What the sign of a median means.
const MEDIANS: &str = " Of a group the median of its loads, with the sign that most of them have.";

/// The sentence above everything: how many cells of all arms are what.
pub(super) fn headline(view: &ArmsView) -> String {
    let cells: Vec<&CellView> = view.rows.iter().flat_map(Row::arm_answers).collect();
    let first = &view.arms[view.first()];
    if cells.is_empty() && !view.counts.is_empty() {
        let loads = words::count_with_noun(view.counts.len() as u64, "load");
        return format!("{} arms: instructions of {loads} were counted", view.arms.len());
    }
    if cells.is_empty() {
        return "nothing was compared: no cell was measured".to_owned();
    }
    let against = match view.reference {
        Reference::Arm(arm) => format!("against {arm} ({})", first.target),
        Reference::Before => "each against the one before it".to_owned(),
    };
    let others = words::count_with_noun(view.arms.len() as u64 - 1, "arm");
    format!("{others} {against}: {}{}", counts(&cells), whole(view))
}

/// What the last arm does of what the reference does, over all loads.
fn whole(view: &ArmsView) -> String {
    let all = view.all.as_ref().or(view.groups.first()).filter(|_| view.rows.len() > 1);
    let told = all.and_then(|all| {
        let last = all.fall.last?;
        let median = all.arms[last].answer.as_ref();
        let median = median.filter(|median| median.tally.has_typical_cell())?;
        Some(format!(
            "; {}: median {}",
            view.column_heads()[last],
            number::format_fixed(median.ratio, 2)
        ))
    });
    told.unwrap_or_default()
}

/// The arms with what they are called, and how many cells of each are what.
pub(super) fn arm_labels(view: &ArmsView) -> Vec<ArmLabel> {
    let mut labels = Vec::new();
    for arm in &view.arms {
        let is_base = arm.index == view.reference.first();
        let rows = view.rows.iter();
        let answers = rows.filter_map(|row| row.arms[arm.index.position()].answer.as_ref());
        let cells: Vec<&CellView> = answers.map(|answer| &answer.view).collect();
        let label = if is_base || !view.has_answers() {
            arm.label.clone()
        } else {
            format!("{}: {}", arm.label, counts(&cells))
        };
        let name = arm.index.to_string();
        labels.push(ArmLabel { name: name.into(), label: label.into(), is_base });
    }
    labels
}

fn counts(cells: &[&CellView]) -> String {
    let mut said: Vec<String> = Vec::new();
    for verdict in TOLD {
        let count = cells.iter().filter(|cell| cell.verdict.0 == verdict).count();
        if count > 0 {
            said.push(format!("{} in{GLUE}{count}", words::verdict_word(verdict)));
        }
    }
    if said.is_empty() {
        "nothing was measured".to_owned()
    } else {
        format!("{} of {}", said.join(", "), words::count_with_noun(cells.len() as u64, "cell"))
    }
}

/// How far the run got, if not to its end, and which arms ended before it.
pub(super) fn status(view: &ArmsView) -> Vec<String> {
    let run = match view.head.status.as_str() {
        "complete" => None,
        "interrupted" => Some("INTERRUPTED RUN: it was stopped".to_owned()),
        _ => Some("PARTIAL RUN: it did not reach its end".to_owned()),
    };
    let ended = view.arms.iter().filter_map(|arm| {
        let why = arm.ended.as_ref()?;
        Some(format!("ENDED: {} ({}) took no part to the end: {why}", arm.index, arm.target))
    });
    run.into_iter().chain(ended).collect()
}

/// `▼ 0.95  =  ~`: each arm against the one before it, with the ratio of what is decided.
pub(super) fn steps_cell(row: &Row) -> TableCell {
    let answers = row.arms.iter().skip(1).map(|arm| arm.step.as_ref());
    in_short(answers.map(|answer| answer.map(Figure::of_answer)))
}

/// The same of the medians of a group.
pub(super) fn steps_of_group(view: &ArmsView, group: &Group) -> TableCell {
    let medians = group.arms.iter().skip(1).map(|arm| arm.step.as_ref());
    in_short(medians.map(|median| Some(Figure::of_median(median?, view.better_direction()))))
}

fn in_short(figures: impl Iterator<Item = Option<Figure>>) -> TableCell {
    let mut cell = TableCell::from("");
    for (at, figure) in figures.enumerate() {
        let gap = if at == 0 { "" } else { "  " };
        let short = match figure {
            None => number::UNKNOWN.into(),
            Some(figure) => match figure.verdict {
                Some(Verdict::Slower | Verdict::Faster) => figure.cell(),
                _ => TableCell::tinted_text(figure.sign, figure.tint()),
            },
        };
        cell = cell.and_text(gap).and_cell(short);
    }
    cell
}

/// What the figures of most rows count.
pub(super) fn common_unit(view: &ArmsView) -> &'static str {
    let units = view.rows.iter().map(|row| row.unit).filter(|unit| !unit.is_empty());
    // The first of those that are equally many.
    let most =
        units.rev().max_by_key(|unit| view.rows.iter().filter(|row| row.unit == *unit).count());
    most.unwrap_or_default()
}

/// What the ratios are called.
pub(super) fn ratio_name(view: &ArmsView) -> &'static str {
    let measure = view.rows.iter().flat_map(Row::arm_answers).map(|of| of.measure).next();
    match measure {
        Some("response") => "Response times",
        Some("max_rate") => "Highest rates",
        _ => "rQPS",
    }
}

/// What the table of rates is called.
pub(super) fn title(view: &ArmsView) -> String {
    let against = match view.reference {
        Reference::Arm(arm) => format!("against {arm}"),
        Reference::Before => "each against the arm before it".to_owned(),
    };
    format!("{}, {against}", ratio_name(view))
}

/// Where a group starts to fall, and what it has lost in the end; nothing where no arm was measured
/// against another one.
pub(super) fn fall_sentence(view: &ArmsView, group: &Group) -> Option<String> {
    let heads = view.column_heads();
    let last = group.fall.last?;
    let starts = match (group.fall.with, group.fall.perhaps) {
        (Some(with), None) => format!("starts to fall with {}", fallen(view, group, with)?),
        (Some(with), Some(perhaps)) => {
            format!(
                "falls with {}; may have before, with {}",
                fallen(view, group, with)?,
                fallen(view, group, perhaps)?
            )
        }
        (None, Some(perhaps)) => {
            format!("may start to fall with {}", fallen(view, group, perhaps)?)
        }
        (None, None) if has_fallen(group.arms[last].answer.as_ref()) => {
            "no step falls by itself".to_owned()
        }
        (None, None) => "no step falls".to_owned(),
    };
    let is_told = group.fall.with == Some(last) && last == 1 && view.first() == 0;
    let whole = group.arms[last].answer.as_ref().filter(|_| !is_told);
    let whole = whole.filter(|_| view.reference != Reference::Before);
    Some(match whole {
        Some(median) if !median.tally.has_typical_cell() => {
            format!(
                "{starts}; {} against {}: {}",
                heads[last],
                heads[view.first()],
                support(median)
            )
        }
        Some(median) => {
            let against = &heads[view.first()];
            format!(
                "{starts}; {} {} {against} ({})",
                heads[last],
                whole_of(median),
                support(median)
            )
        }
        None => starts,
    })
}

/// `mysql:8.0 (median 0.88 against mysql:5.7, slower in all 3 cells)`
fn fallen(view: &ArmsView, group: &Group, at: usize) -> Option<String> {
    let heads = view.column_heads();
    let median = group.arms[at].step.as_ref()?;
    Some(format!(
        "{} (median {} against {}, {})",
        heads[at],
        number::format_fixed(median.ratio, 2),
        heads[at.saturating_sub(1)],
        support(median),
    ))
}

/// Whether most cells of a group are slower in the end.
fn has_fallen(median: Option<&Median>) -> bool {
    median.is_some_and(|median| median.verdict == Verdict::Slower)
}

/// `loses 27 points against`, by the median.
fn whole_of(median: &Median) -> String {
    let points = (100.0 * (median.gain - 1.0)).round();
    let count = words::count_with_noun(points.abs() as u64, "point");
    match points {
        ..0.0 => format!("loses {count} against"),
        0.0 => "is as fast to a point as".to_owned(),
        _ => format!("gains {count} against"),
    }
}

/// `slower in 7 of 9 cells, not decided in 2`.
fn support(median: &Median) -> String {
    let tally = median.tally;
    let told = [
        ("slower", tally.slower),
        ("faster", tally.faster),
        ("equal", tally.equal),
        ("not decided", tally.undecided),
    ];
    let told = told.into_iter().filter(|(_, count)| *count > 0);
    let told = told.map(|(word, count)| format!("{word} in{GLUE}{count}")).collect::<Vec<_>>();
    let cells = words::count_with_noun(tally.cells, "cell");
    match told.as_slice() {
        [only] if tally.cells > 1 => {
            let word = only.split(" in").next().unwrap_or_default();
            let all =
                if tally.cells == 2 { "both cells".to_owned() } else { format!("all {cells}") };
            format!("{word} in {all}")
        }
        _ => format!("{} of {cells}", told.join(", ")),
    }
}

/// Each group that falls or stays, with its sentence.
pub(super) fn fall_sentences(view: &ArmsView) -> Vec<(String, String)> {
    let falls = view.groups.iter().chain(&view.all).filter_map(|group| {
        let called = group.called.clone().unwrap_or_else(|| "all loads".to_owned());
        Some((called, fall_sentence(view, group)?))
    });
    falls.collect()
}

/// Where each of several groups starts to fall, in one sentence; none where there is one group.
pub(super) fn falls_in_short(view: &ArmsView) -> Option<String> {
    if view.groups.len() < 2 {
        return None;
    }
    let heads = view.column_heads();
    let told = view.groups.iter().chain(&view.all).filter_map(|group| {
        let called = group.called.clone().unwrap_or_else(|| "other loads".to_owned());
        group.fall.last?;
        Some(match (group.fall.with, group.fall.perhaps) {
            (Some(with), None) => format!("{called} with {}", heads[with]),
            (Some(with), Some(perhaps)) => {
                format!("{called} with {}, perhaps with {}", heads[with], heads[perhaps])
            }
            (None, Some(perhaps)) => format!("{called} perhaps with {}", heads[perhaps]),
            (None, None) => format!("{called} with no arm"),
        })
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// Of each load that was counted what the reference needs, and how many times that the others do;
/// nothing where none was counted.
pub(super) fn counts_table(view: &ArmsView) -> Option<DataTable> {
    if view.counts.is_empty() {
        return None;
    }
    let first = view.first();
    let others: Vec<usize> = (0..view.arms.len()).filter(|at| *at != first).collect();
    let heads = view.column_heads();
    let heads = std::iter::once(&first).chain(&others).map(|at| heads[*at].clone());
    let rows = view.counts.iter().map(|row| {
        let base = row.arms.first().and_then(|(_, count)| count.base.instructions_per_op);
        let mut cells: Vec<TableCell> =
            vec![base.map_or(number::UNKNOWN.to_owned(), number::three_digits).into()];
        for at in &others {
            let count = row.arms.iter().find(|(arm, _)| arm.position() == *at);
            let times = count.map_or(number::UNKNOWN.to_owned(), |(_, count)| times(count));
            cells.push(times.into());
        }
        (row.load.clone(), cells)
    });
    Some(DataTable::of_numbers("instructions/op", heads.collect::<Vec<String>>(), rows))
}

/// `×1.557 more`.
fn times(count: &CountView) -> String {
    let ratio = match (count.ratio, count.ratio_low, count.ratio_high) {
        (Some(ratio), Some(low), Some(high)) => number::ratio_between(ratio, low, high),
        (Some(ratio), ..) => format!("×{}", number::format_fixed(ratio, 3)),
        (None, ..) => return number::UNKNOWN.to_owned(),
    };
    match count.verdict {
        CountVerdict::Undecided => format!("~{GLUE}{ratio}"),
        told => format!("{ratio}{GLUE}{}", told.name()),
    }
}

/// The rate of an arm; with its unit where that is another one than `unit`.
pub(super) fn rate(row: &Row, at: usize, unit: &str) -> String {
    let did = row.arms[at].did.as_ref();
    let Some(rate) = did.and_then(|did| did.max_rate.or(did.rate)) else {
        return number::UNKNOWN.to_owned();
    };
    let rate = number::three_digits(rate);
    if row.unit.is_empty() || row.unit == unit { rate } else { format!("{rate}{GLUE}{}", row.unit) }
}
