//! What the interval of a cell rests on, and where its doubt comes from.

use dbdyno_model::{CellComparison, LevelShare, Spend, TestFamily};
use serde::Serialize;

use super::values::if_finite;

/// The cells whose q-values belong together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FamilyView {
    /// Cells that are judged.
    pub cells: u32,
    /// What is judged of them beside their rates, a family of its own under the same rule.
    pub metrics: u32,
    /// How q-values follow from p-values: `benjamini-hochberg`.
    pub rule: &'static str,
    /// A cell or a metric that is told has at most this p-value.
    pub p_at_most: f64,
    /// And at most this q-value.
    pub q_at_most: f64,
}

impl FamilyView {
    pub(super) fn new(family: &TestFamily) -> FamilyView {
        FamilyView {
            cells: family.cells,
            metrics: family.metrics,
            rule: "benjamini-hochberg",
            p_at_most: family.p_at_most,
            q_at_most: family.q_at_most,
        }
    }
}

/// What an interval rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DoubtView {
    /// Which interval: `t`, `robust`, `bca`, `hodges-lehmann` or `sequence`; of stored runs
    /// `welch` or `fieller`.
    pub interval: &'static str,
    /// Why that one.
    pub interval_why: String,
    /// What was repeated: `pair`, `start` or `filling`.
    pub replicates: &'static str,
    /// How many of them there are.
    pub replicate_count: u32,
    /// Two-sided p-value of "the arms are equal".
    pub p_value: Option<f64>,
    /// The same among all cells; `None` for a cell that is not judged.
    pub q_value: Option<f64>,
    /// The levels, the lowest first.
    pub levels: Vec<LevelView>,
    /// What a minute more would bring, the best first.
    pub next_minute: Vec<SpendView>,
    /// What a single run of each arm could have claimed.
    pub single_runs: Option<SingleRunsView>,
}

/// The least and the largest rQPS of one run of test against one run of base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SingleRunsView {
    /// Runs of each arm.
    pub runs: u32,
    /// What a run is: `life` (a start of the servers) or `pair` (a round).
    pub level: &'static str,
    /// The least that one comparison finds.
    pub low: Option<f64>,
    /// The largest.
    pub high: Option<f64>,
}

/// One level of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelView {
    /// `pair`, `start` or `filling`.
    pub level: &'static str,
    /// How many within one of the level above; of the highest, in all.
    pub count: Option<f64>,
    /// Standard deviation of one by itself, of log-ratios.
    pub sd: Option<f64>,
    /// Share in the variance of the result.
    pub share: Option<f64>,
    /// Time that one more costs by itself.
    pub seconds: Option<f64>,
    /// The best number within one of the level above.
    pub best: Option<u32>,
    /// Whether the spread was assumed.
    pub assumed: bool,
}

/// A way to spend a minute.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpendView {
    /// On more of this level.
    pub level: &'static str,
    /// By how much the interval would narrow, as a share.
    pub narrows: Option<f64>,
}

impl DoubtView {
    pub(super) fn new(cell: &CellComparison) -> DoubtView {
        let levels = cell.levels.as_ref();
        DoubtView {
            interval: cell.basis.interval.name(),
            interval_why: cell.basis.why.clone(),
            replicates: cell.basis.replicates.name(),
            replicate_count: cell.basis.count,
            p_value: if_finite(cell.p_value),
            q_value: cell.q_value.and_then(if_finite),
            levels: levels.map_or_else(Vec::new, |levels| levels.parts.iter().map(level).collect()),
            next_minute: levels
                .map_or_else(Vec::new, |levels| levels.spend.iter().map(spend).collect()),
            single_runs: cell.single_runs.map(|single| SingleRunsView {
                runs: single.runs,
                level: single.level.name(),
                low: if_finite(single.low),
                high: if_finite(single.high),
            }),
        }
    }
}

fn level(part: &LevelShare) -> LevelView {
    LevelView {
        level: part.level.name(),
        count: if_finite(part.count),
        sd: if_finite(part.sd),
        share: if_finite(part.share),
        seconds: part.seconds.and_then(if_finite),
        best: part.best,
        assumed: part.is_assumed,
    }
}

fn spend(spend: &Spend) -> SpendView {
    SpendView { level: spend.level.name(), narrows: if_finite(spend.narrows) }
}
