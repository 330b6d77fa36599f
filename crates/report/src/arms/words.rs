//! What is said of several arms, in every shape.

use dbdyno_model::{ArmIndex, CountVerdict, Reference, Verdict};

use super::{Answer, ArmHead, ArmsView, CountRow, Row};
use crate::number::{self, GLUE};
use crate::rows;
use crate::view::{CellView, CountView};
use crate::words;

/// The verdicts in the order in which they are told.
const TOLD: [Verdict; 4] = [Verdict::Slower, Verdict::Faster, Verdict::Equal, Verdict::Undecided];

/// What the figures and the signs mean.
pub(super) fn signs(view: &ArmsView) -> String {
    let figures = match view.reference {
        Reference::Arm(arm) => format!("Of {arm} the rate, of the others rQPS against it"),
        Reference::Before => {
            "Of base the rate, of the others rQPS against the arm to its left".into()
        }
    };
    format!(
        "{figures}: ▼ slower, ▲ faster, = equal within the budget, ~ not decided, — not measured. \
         Against the arm before: each arm against the one to its left, a family of its own."
    )
}

/// The sign of a verdict.
pub(super) fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "▼",
        Verdict::Faster => "▲",
        Verdict::Equal => "=",
        Verdict::Undecided => "~",
    }
}

/// The sentence above everything: how many cells of all arms are what.
pub(super) fn headline(view: &ArmsView) -> String {
    let cells: Vec<&CellView> = view.rows.iter().flat_map(Row::answers).collect();
    let first = &view.arms[view.first()];
    if cells.is_empty() && !view.counts.is_empty() {
        let loads = words::plural(view.counts.len() as u64, "load");
        return format!("{} arms: instructions of {loads} were counted", view.arms.len());
    }
    if cells.is_empty() {
        return "nothing was compared: no cell was measured".to_owned();
    }
    let against = match view.reference {
        Reference::Arm(arm) => format!("against {arm} ({})", first.target),
        Reference::Before => "each against the one before it".to_owned(),
    };
    format!("{} arms {against}: {}", view.arms.len() - 1, counts(&cells))
}

/// What is said of each arm beside the reference: its name, and how many of its cells are what.
pub(super) fn of_arms(view: &ArmsView) -> Vec<(&ArmHead, String)> {
    if view.rows.iter().all(|row| row.answers().next().is_none()) {
        return Vec::new();
    }
    let others = view.arms.iter().filter(|arm| arm.index != view.reference.first());
    let of_arm = |arm: &ArmHead| {
        let answer = |row: &Row| Some(row.arms[arm.index.position()].answer.as_ref()?.view.clone());
        let cells: Vec<CellView> = view.rows.iter().filter_map(answer).collect();
        counts(&cells.iter().collect::<Vec<_>>())
    };
    others.map(|arm| (arm, of_arm(arm))).collect()
}

fn counts(cells: &[&CellView]) -> String {
    let of = |verdict| cells.iter().filter(|cell| cell.verdict.0 == verdict).count() as u64;
    let said = TOLD.into_iter().map(|verdict| (verdict, of(verdict))).filter(|(_, n)| *n > 0);
    let said: Vec<String> =
        said.map(|(verdict, count)| format!("{} in{GLUE}{count}", words::word(verdict))).collect();
    match said.is_empty() {
        true => "nothing was measured".to_owned(),
        false => format!("{} of {}", said.join(", "), words::plural(cells.len() as u64, "cell")),
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

/// `▼ 0.951`, or `▼ 0.951 (0.944 to 0.958)`.
pub(super) fn ratio(answer: &Answer, has_interval: bool) -> String {
    let view = &answer.view;
    let number = rows::rqps(view);
    let effect = view.effect();
    let text = format!("{}{GLUE}{number}", sign(view.verdict.0));
    match (effect.low, effect.high) {
        (Some(low), Some(high)) if has_interval => {
            let decimals = number.split_once('.').map_or(0, |(_, digits)| digits.len() as i32);
            let bound = |bound: f64| number::fixed(bound, decimals);
            format!("{text} ({}{GLUE}to{GLUE}{})", bound(low), bound(high))
        }
        _ => text,
    }
}

/// `▼ 0.95 = ~`: each arm against the one before it, with the ratio of what is decided.
pub(super) fn steps(row: &Row) -> String {
    let step = |answer: &Answer| match answer.view.verdict.0 {
        Verdict::Slower | Verdict::Faster => ratio(answer, false),
        other => sign(other).to_owned(),
    };
    let arms = row.arms.iter().skip(1);
    let steps = arms.map(|arm| arm.step.as_ref().map_or(number::UNKNOWN.to_owned(), step));
    steps.collect::<Vec<_>>().join("  ")
}

/// What stands above counts.
pub(super) const COUNTS: &str = "instructions/op";

/// The head of the table of counts, and its rows: the load, what the reference needs, and of each
/// other arm how many times that. Empty where nothing was counted.
pub(super) fn counted(view: &ArmsView) -> Vec<Vec<String>> {
    if view.counts.is_empty() {
        return Vec::new();
    }
    let others = view.arms.iter().filter(|arm| arm.index != view.reference.first());
    let others: Vec<_> = others.map(|arm| arm.index).collect();
    let heads = view.heads();
    let head = [COUNTS.to_owned(), heads[view.first()].clone()];
    let head = head.into_iter().chain(others.iter().map(|arm| heads[arm.position()].clone()));
    let row = |row: &CountRow| {
        let base = row.arms.first().and_then(|(_, count)| count.base.instructions_per_op);
        let base = base.map_or(number::UNKNOWN.to_owned(), number::three_digits);
        let of = |arm: &ArmIndex| {
            let count = row.arms.iter().find(|(of, _)| of == arm).map(|(_, count)| count);
            count.map_or(number::UNKNOWN.to_owned(), times)
        };
        [row.load.clone(), base].into_iter().chain(others.iter().map(of)).collect()
    };
    std::iter::once(head.collect()).chain(view.counts.iter().map(row)).collect()
}

/// `×1.557 more`.
fn times(count: &CountView) -> String {
    let ratio = match (count.ratio, count.ratio_low, count.ratio_high) {
        (Some(ratio), Some(low), Some(high)) => number::ratio_between(ratio, low, high),
        (Some(ratio), ..) => format!("×{}", number::fixed(ratio, 3)),
        (None, ..) => return number::UNKNOWN.to_owned(),
    };
    match count.verdict {
        CountVerdict::Undecided => format!("~{GLUE}{ratio}"),
        told => format!("{ratio}{GLUE}{}", told.name()),
    }
}

/// The rate of the reference.
pub(super) fn rate(row: &Row, at: usize) -> String {
    let did = row.arms[at].did.as_ref();
    let rate = did.and_then(|did| did.max_rate.or(did.rate));
    rate.map_or(number::UNKNOWN.to_owned(), number::three_digits)
}

impl Row {
    /// What was found of each arm against the reference.
    pub(super) fn answers(&self) -> impl Iterator<Item = &CellView> {
        self.arms.iter().filter_map(|arm| arm.answer.as_ref()).map(|answer| &answer.view)
    }
}
