//! The view model: all that any of the five shapes needs, and nothing that it does not.
//!
//! ```text
//!   Run, Comparison  ──►  View { summary: the JSON contract,  detail: what the page draws }
//!                            │            │
//!        text, Markdown, CSV ┘       json ┘        html: both, as tables and as one data block
//! ```
//!
//! The core types know nothing of serialisation; this mirror does. Its field names are the contract
//! with scripts that read the JSON. Every number in it is finite: what could not be observed, and
//! an interval that is not bounded, is `None` and becomes `null`.

mod audit;
mod counts;
mod curve;
mod detail;
mod doubt;
mod insert_benchmark;
mod mechanism;
mod metric;
mod summary;
mod values;

pub use audit::{AuditView, InequalityView};
pub use counts::{CountArmView, CountView, FunctionView};
pub use curve::{
    BandView, CostChangeView, CostPointView, CostView, CurveChangeView, CurvePointView, CurveView,
    IntervalView, LineView, UslView,
};
pub use detail::{CellDetail, Curve, Detail, Fact, PairView, RoundView, SlotsView};
pub use doubt::{DoubtView, FamilyView, LevelView, SpendView};
pub use insert_benchmark::{StepArmView, StepView};
pub(crate) use mechanism::MechanismView;
pub use metric::MetricView;
pub(crate) use summary::Effect;
pub use summary::{
    ArmView, CellView, ClassView, LabelView, LatencyView, ResponseRatio, SelfTestsView, Summary,
};
pub use values::{VerdictView, WarningView};

use dbdyno_model::{Comparison, RunPair};
use serde::Serialize;

/// A run and what follows from it, ready to be shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct View {
    /// The answer: what `--format json` prints.
    pub summary: Summary,
    /// What it rests on: rounds, pairs, latencies, environment, provenance.
    pub detail: Detail,
}

impl View {
    /// Mirrors two arms of a run and their comparison. Cells keep the order of the comparison.
    pub fn new(run: RunPair<'_>, comparison: &Comparison) -> View {
        View { summary: Summary::new(run.whole, comparison), detail: Detail::new(run, comparison) }
    }
}
