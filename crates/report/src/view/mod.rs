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

use dbdyno_document::layout;
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

    /// The same view with every text from outside made safe to print (see `layout`). JSON and CSV
    /// do without: programs get what was recorded.
    pub(crate) fn to_printable(&self) -> View {
        let mut view = self.clone();
        let summary = &mut view.summary;
        let of_cells = summary.cells.iter_mut().flat_map(|cell| &mut cell.warnings);
        for warning in summary.warnings.iter_mut().chain(of_cells) {
            clean(&mut warning.text);
            clean(&mut warning.code);
        }
        for cell in &mut summary.cells {
            clean(&mut cell.load);
            let classes = cell.base.classes.iter_mut().chain(&mut cell.test.classes);
            classes.for_each(|class| clean(&mut class.class));
        }
        for curve in &mut summary.curves {
            clean(&mut curve.load);
            curve.warnings.iter_mut().for_each(|warning| clean(&mut warning.text));
        }
        for cost in &mut summary.costs {
            clean(&mut cost.loads);
            cost.points.iter_mut().for_each(|point| clean(&mut point.load));
            cost.warnings.iter_mut().for_each(|warning| clean(&mut warning.text));
        }
        for count in &mut summary.counts {
            clean(&mut count.load);
            count.together.iter_mut().for_each(clean);
            count.warnings.iter_mut().for_each(|warning| clean(&mut warning.text));
            for one in &mut count.functions {
                one.function.iter_mut().for_each(clean);
                clean(&mut one.object);
            }
        }
        summary.mechanisms.iter_mut().for_each(|figure| clean(&mut figure.load));
        for step in &mut summary.insert_benchmark {
            clean(&mut step.base.tag);
            clean(&mut step.test.tag);
        }
        for text in [
            &mut summary.tool_version,
            &mut summary.run,
            &mut summary.command,
            &mut summary.base.label,
            &mut summary.test.label,
        ] {
            clean(text);
        }
        summary.name.iter_mut().for_each(clean);
        for cell in &mut view.detail.cells {
            cell.classes.iter_mut().for_each(clean);
        }
        for fact in &mut view.detail.facts {
            clean(&mut fact.name);
            fact.base.iter_mut().chain(&mut fact.test).for_each(clean);
        }
        for one in &mut view.summary.audit.unequal {
            clean(&mut one.name);
            one.base.iter_mut().chain(&mut one.test).for_each(clean);
        }
        for (_, value) in &mut view.detail.plan {
            clean(value);
        }
        view
    }
}

fn clean(text: &mut String) {
    *text = layout::printable_line(text);
}
