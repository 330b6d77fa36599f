//! Loads in groups: the median of each arm, and where it starts to fall.
//!
//! ```text
//!   rows by key    base ── test 0.99 ── test2 0.91 ── test3 0.97    each against the arm before
//!                                         └ the first step that falls
//! ```
//!
//! A step falls where most cells of the group are proved slower, which is to say that the cell in
//! the middle is; or where the median has lost more than five points and most cells are
//! decided. Where it has lost as much and most are not, it may have fallen. Points, which
//! Callaghan calls basis points, and medians over the loads of a group, are those of his tables.

use dbdyno_model::Verdict;

use super::rows::{Answer, Row};
use crate::groups;

/// A median at or below this has fallen: five points.
const FALLEN: f64 = 0.95;

/// Rows that follow each other.
pub(super) struct Group {
    /// What it is called; nothing where it is the only one.
    pub(super) called: Option<String>,
    /// The name of the group in JSON; none for loads that are in no group, or in several.
    pub(super) name: Option<String>,
    /// Its rows: the first, and the one behind the last.
    pub(super) rows: std::ops::Range<usize>,
    /// One for each arm, in their order; none where there are no rows.
    pub(super) arms: Vec<Medians>,
    pub(super) fall: Fall,
}

/// The medians of an arm in a group.
pub(super) struct Medians {
    /// Against the reference.
    pub(super) answer: Option<Median>,
    /// Against the arm before it.
    pub(super) step: Option<Median>,
}

/// The median of cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Median {
    /// Of the ratios that verdicts rest on.
    pub(super) ratio: f64,
    /// The same as a ratio of rates, where more is better.
    pub(super) gain: f64,
    /// What most cells are; undecided where no verdict is that of most.
    pub(super) verdict: Verdict,
    pub(super) tally: Tally,
}

/// How many cells have an estimate, and how many of them are what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) cells: u64,
    pub(super) slower: u64,
    pub(super) equal: u64,
    pub(super) faster: u64,
    pub(super) undecided: u64,
}

/// Where a group starts to fall, by places of arms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fall {
    /// The first arm that has fallen against the arm before it.
    pub(super) with: Option<usize>,
    /// The first arm before that one which may have.
    pub(super) perhaps: Option<usize>,
    /// The last arm of which anything is known against the reference.
    pub(super) last: Option<usize>,
}

/// What a step of a group is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Falls,
    Perhaps,
    Stays,
}

/// Rows in the order of groups, and the groups.
pub(super) fn group_rows(rows: Vec<Row>) -> (Vec<Row>, Vec<Group>) {
    let named = groups::group_by_name(rows, |row| row.group.as_deref());
    let (mut rows, mut groups) = (Vec::new(), Vec::new());
    for (called, members) in named {
        let from = rows.len();
        rows.extend(members);
        groups.push(Group::new(called, &rows, from..rows.len()));
    }
    (rows, groups)
}

/// Rows and groups, those that have lost most in front.
pub(super) fn worst_first(rows: Vec<Row>, groups: Vec<Group>) -> (Vec<Row>, Vec<Group>) {
    let mut rest = rows.into_iter();
    let with_rows = groups.into_iter().map(|group| {
        let mut own: Vec<Row> = rest.by_ref().take(group.rows.len()).collect();
        own.sort_by(|a, b| a.least_gain().total_cmp(&b.least_gain()));
        (group, own)
    });
    let mut with_rows: Vec<(Group, Vec<Row>)> = with_rows.collect();
    with_rows.sort_by(|(_, a), (_, b)| {
        let [a, b] = [a, b].map(|own| own.first().map_or(f64::INFINITY, Row::least_gain));
        a.total_cmp(&b)
    });
    let (mut rows, mut groups) = (Vec::new(), Vec::new());
    for (group, own) in with_rows {
        let from = rows.len();
        rows.extend(own);
        groups.push(Group { rows: from..rows.len(), ..group });
    }
    (rows, groups)
}

impl Group {
    /// All rows as one.
    pub(super) fn of_all(rows: &[Row]) -> Group {
        Group::new(Some("all loads".to_owned()), rows, 0..rows.len())
    }

    fn new(called: Option<String>, rows: &[Row], range: std::ops::Range<usize>) -> Group {
        let own = &rows[range.clone()];
        let count = own.first().map_or(0, |row| row.arms.len());
        let arms = (0..count).map(|at| Medians {
            answer: Median::of(own.iter().filter_map(|row| row.arms[at].answer.as_ref())),
            step: Median::of(own.iter().filter_map(|row| row.arms[at].step.as_ref())),
        });
        let arms: Vec<Medians> = arms.collect();
        let first = own.first().and_then(|row| row.group.clone());
        let is_one = own.iter().all(|row| row.group == first);
        let fall = Fall::of(&arms);
        Group { called, name: first.filter(|_| is_one), rows: range, arms, fall }
    }
}

/// The median of ratios, and what most of them are; no verdict where one of them has none.
pub(super) fn median_ratio(
    all: impl Iterator<Item = (f64, Option<Verdict>)>,
) -> Option<(f64, Option<Verdict>)> {
    let (mut ratios, mut tally, mut is_judged) = (Vec::new(), Tally::default(), true);
    for (ratio, verdict) in all {
        ratios.push(ratio);
        is_judged &= verdict.is_some();
        tally.add(verdict.unwrap_or(Verdict::Undecided));
    }
    let ratio = groups::median_of(ratios.into_iter())?;
    Some((ratio, is_judged.then(|| tally.of_most())))
}

impl Median {
    fn of<'a>(answers: impl Iterator<Item = &'a Answer>) -> Option<Median> {
        let usable = answers.map(|answer| &answer.view).filter(|view| !view.is_blocked());
        let (mut ratios, mut tally, mut is_time) = (Vec::new(), Tally::default(), false);
        for view in usable {
            let Some(ratio) = view.effect().ratio else { continue };
            ratios.push(ratio);
            is_time = view.response_ratio.is_some();
            tally.add(view.verdict.0);
        }
        let ratio = groups::median_of(ratios.into_iter())?;
        let gain = if is_time { 1.0 / ratio } else { ratio };
        Some(Median { ratio, gain, verdict: tally.of_most(), tally })
    }

    fn step(&self) -> Step {
        let is_lower = self.gain <= FALLEN;
        match self.verdict {
            Verdict::Slower => Step::Falls,
            _ if is_lower && self.tally.is_most(self.tally.cells - self.tally.undecided) => {
                Step::Falls
            }
            _ if is_lower => Step::Perhaps,
            _ => Step::Stays,
        }
    }
}

impl Tally {
    fn add(&mut self, verdict: Verdict) {
        self.cells += 1;
        *match verdict {
            Verdict::Slower => &mut self.slower,
            Verdict::Equal => &mut self.equal,
            Verdict::Faster => &mut self.faster,
            Verdict::Undecided => &mut self.undecided,
        } += 1;
    }

    /// Whether the cell in the middle says something of all: there is one, and most are decided.
    /// Two cells have none, unless both are decided.
    pub(super) fn has_typical_cell(&self) -> bool {
        self.undecided == 0 || (self.cells > 2 && 2 * self.undecided < self.cells)
    }

    fn is_most(&self, count: u64) -> bool {
        2 * count > self.cells
    }

    fn of_most(&self) -> Verdict {
        let each = [
            (Verdict::Slower, self.slower),
            (Verdict::Equal, self.equal),
            (Verdict::Faster, self.faster),
        ];
        let most = each.into_iter().find(|(_, count)| self.is_most(*count));
        most.map_or(Verdict::Undecided, |(verdict, _)| verdict)
    }
}

impl Fall {
    fn of(arms: &[Medians]) -> Fall {
        let steps: Vec<(usize, Step)> = arms
            .iter()
            .enumerate()
            .filter_map(|(at, arm)| Some((at, arm.step.as_ref()?.step())))
            .collect();
        let [with, perhaps] = [Step::Falls, Step::Perhaps].map(|of| {
            let first = steps.iter().find(|(_, step)| *step == of);
            first.map(|(at, _)| *at)
        });
        Fall {
            with,
            perhaps: perhaps.filter(|at| with.is_none_or(|with| *at < with)),
            last: (0..arms.len()).rev().find(|at| arms[*at].answer.is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally([slower, equal, faster, undecided]: [u64; 4]) -> Tally {
        Tally { cells: slower + equal + faster + undecided, slower, equal, faster, undecided }
    }

    fn median(gain: f64, counts: [u64; 4]) -> Median {
        let tally = tally(counts);
        Median { ratio: gain, gain, verdict: tally.of_most(), tally }
    }

    #[test]
    fn a_step_falls_with_proof_and_may_fall_without() {
        for (gain, counts, expected) in [
            (0.98, [5, 4, 0, 0], Step::Falls), // most are proved slower, by however little
            (0.98, [4, 4, 0, 0], Step::Stays), // half is not most
            (0.94, [3, 1, 1, 4], Step::Falls), // five of nine are decided
            (0.95, [3, 1, 1, 4], Step::Falls), // five points are beyond
            (0.951, [3, 1, 1, 4], Step::Stays), // and less is not
            (0.80, [2, 1, 1, 4], Step::Perhaps), // half is decided
            (0.80, [0, 0, 0, 3], Step::Perhaps),
            (1.20, [0, 0, 5, 0], Step::Stays),
        ] {
            assert_eq!(median(gain, counts).step(), expected, "{gain} {counts:?}");
        }
    }

    #[test]
    fn the_first_step_that_falls_is_told_and_what_may_have_fallen_before() {
        let of = |steps: &[Option<Median>]| {
            let arm = |step: &Option<Median>| Medians { answer: *step, step: *step };
            Fall::of(&steps.iter().map(arm).collect::<Vec<_>>())
        };
        let stays = Some(median(1.0, [0, 3, 0, 0]));
        let perhaps = Some(median(0.9, [0, 0, 0, 3]));
        let falls = Some(median(0.9, [3, 0, 0, 0]));
        let told = |with, perhaps, last| Fall { with, perhaps, last };
        assert_eq!(of(&[None, stays, falls, falls]), told(Some(2), None, Some(3)));
        assert_eq!(of(&[None, perhaps, falls, None]), told(Some(2), Some(1), Some(2)));
        assert_eq!(of(&[None, falls, perhaps]), told(Some(1), None, Some(2)));
        assert_eq!(of(&[None, stays, perhaps]), told(None, Some(2), Some(2)));
        assert_eq!(of(&[None, stays]), told(None, None, Some(1)));
        assert_eq!(of(&[None, None]), Fall::default());
    }
}
