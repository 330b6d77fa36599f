//! Curves over clients and costs over rows, in the words of the JSON contract.

use dbdyno_model::{
    Arm, BandPoint, CostChange, CostComparison, CostLine, CurveChange, CurveComparison, Interval,
    PerArm, PointPlace, UslCurve,
};
use serde::Serialize;

use super::values::if_finite;
use super::values::{VerdictView, WarningView};

/// The rate over clients under one load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurveView {
    /// Name of the load.
    pub load: String,
    /// What the rates count.
    pub unit: &'static str,
    /// What was measured, by clients.
    pub points: Vec<CurvePointView>,
    /// The curve of the reference arm; `None`: too few points.
    pub base: Option<UslView>,
    /// That of the arm under test.
    pub test: Option<UslView>,
    /// The five answers; empty where the law does not describe the points.
    pub changes: Vec<CurveChangeView>,
    /// What the reader of the curves must know.
    pub warnings: Vec<WarningView>,
}

/// A value with its 95 % interval; `None`: not bounded, or beyond what was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct IntervalView {
    /// The estimate.
    pub value: Option<f64>,
    /// Its lower end.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
}

/// What was measured at one client count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurvePointView {
    /// Number of clients.
    pub clients: u32,
    /// Whether the fit rests on it.
    pub fitted: bool,
    /// The rate of the reference arm.
    pub base: IntervalView,
    /// That of the arm under test.
    pub test: IntervalView,
}

/// The curve of one arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UslView {
    /// λ, the rate of one client.
    pub lambda: IntervalView,
    /// σ, contention.
    pub sigma: IntervalView,
    /// κ, coherency.
    pub kappa: IntervalView,
    /// The number of clients with the highest rate.
    pub peak_clients: IntervalView,
    /// That rate.
    pub peak_rate: IntervalView,
    /// The largest distance of a point from the curve, as a share.
    pub misfit: Option<f64>,
    /// The curve with its band, up to twice the largest number of clients.
    pub band: Vec<BandView>,
}

/// The curve at one place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BandView {
    /// Number of clients.
    pub clients: f64,
    /// The rate.
    pub rate: IntervalView,
}

/// The answer to one question about two curves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurveChangeView {
    /// `single_client`, `contention`, `coherency`, `peak_rate` or `peak_clients`.
    pub question: &'static str,
    /// Test ÷ base.
    pub effect: IntervalView,
    /// The answer.
    pub verdict: VerdictView,
}

/// Cost over rows, of loads that differ in nothing else.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostView {
    /// What the loads have in common.
    pub loads: String,
    /// Number of clients.
    pub clients: u32,
    /// `server_cpu` or `elapsed`, microseconds per event.
    pub measure: &'static str,
    /// What was measured, by rows.
    pub points: Vec<CostPointView>,
    /// The line of the reference arm; `None`: too few sizes.
    pub base: Option<LineView>,
    /// That of the arm under test.
    pub test: Option<LineView>,
    /// What became of the fixed cost; `None` where the points lie on no lines.
    pub fixed: Option<CostChangeView>,
    /// What became of the cost per row.
    pub per_row: Option<CostChangeView>,
    /// What the reader must know.
    pub warnings: Vec<WarningView>,
}

/// What was measured at one number of rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostPointView {
    /// Name of the load.
    pub load: String,
    /// Rows that an event works through.
    pub rows: f64,
    /// Microseconds per event, reference arm.
    pub base: IntervalView,
    /// Arm under test.
    pub test: IntervalView,
}

/// The line of one arm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LineView {
    /// Microseconds per event, whatever it reads.
    pub fixed_us: IntervalView,
    /// Microseconds for each row.
    pub per_row_us: IntervalView,
    /// The largest distance of a point from the line, as a share.
    pub misfit: Option<f64>,
}

/// What became of a part of the cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CostChangeView {
    /// Test ÷ base: above 1 the test arm costs more.
    pub ratio: IntervalView,
    /// The answer.
    pub verdict: VerdictView,
}

impl IntervalView {
    pub(crate) fn new(interval: Interval) -> IntervalView {
        let Interval { estimate, low, high } = interval;
        IntervalView { value: if_finite(estimate), low: if_finite(low), high: if_finite(high) }
    }
}

impl CurveView {
    pub(super) fn new(curve: &CurveComparison) -> CurveView {
        let arm = |arm: Arm| curve.fit.as_ref().map(|fit| UslView::new(&fit.arms[arm]));
        let changes = curve.fit.iter().flat_map(|fit| &fit.changes);
        let points = curve.points.iter().map(|point| CurvePointView {
            clients: point.clients,
            fitted: point.place == PointPlace::Fitted,
            base: IntervalView::new(point.rates.base),
            test: IntervalView::new(point.rates.test),
        });
        CurveView {
            load: curve.load.clone(),
            unit: curve.unit.name(),
            points: points.collect(),
            base: arm(Arm::Base),
            test: arm(Arm::Test),
            changes: changes.map(CurveChangeView::new).collect(),
            warnings: curve.warnings.iter().map(WarningView::new).collect(),
        }
    }

    /// The largest number of clients that the fit rests on.
    pub(crate) fn most_clients(&self) -> u32 {
        let fitted = self.points.iter().filter(|point| point.fitted);
        fitted.map(|point| point.clients).max().unwrap_or(0)
    }
}

impl UslView {
    fn new(curve: &UslCurve) -> UslView {
        UslView {
            lambda: IntervalView::new(curve.lambda),
            sigma: IntervalView::new(curve.sigma),
            kappa: IntervalView::new(curve.kappa),
            peak_clients: IntervalView::new(curve.peak_clients),
            peak_rate: IntervalView::new(curve.peak_rate),
            misfit: if_finite(curve.misfit),
            band: curve
                .band
                .iter()
                .map(|&BandPoint { clients, rate }| BandView {
                    clients,
                    rate: IntervalView::new(rate),
                })
                .collect(),
        }
    }
}

impl CurveChangeView {
    fn new(change: &CurveChange) -> CurveChangeView {
        CurveChangeView {
            question: change.question.name(),
            effect: IntervalView::new(change.effect),
            verdict: VerdictView(change.verdict),
        }
    }
}

impl CostView {
    pub(super) fn new(cost: &CostComparison) -> CostView {
        let line = |arm: Arm| cost.fit.as_ref().map(|fit| LineView::new(&fit.arms[arm]));
        let changes = cost.fit.as_ref().and_then(|fit| fit.changes);
        let points = cost.points.iter().map(|point| {
            let PerArm { base, test } = point.cost_us.map(IntervalView::new);
            CostPointView { load: point.load.clone(), rows: point.rows, base, test }
        });
        CostView {
            loads: cost.loads.clone(),
            clients: cost.clients,
            measure: cost.measure.name(),
            points: points.collect(),
            base: line(Arm::Base),
            test: line(Arm::Test),
            fixed: changes.map(|changes| CostChangeView::new(changes.fixed)),
            per_row: changes.map(|changes| CostChangeView::new(changes.per_row)),
            warnings: cost.warnings.iter().map(WarningView::new).collect(),
        }
    }
}

impl LineView {
    fn new(line: &CostLine) -> LineView {
        LineView {
            fixed_us: IntervalView::new(line.fixed_us),
            per_row_us: IntervalView::new(line.per_row_us),
            misfit: if_finite(line.misfit),
        }
    }
}

impl CostChangeView {
    fn new(change: CostChange) -> CostChangeView {
        CostChangeView {
            ratio: IntervalView::new(change.ratio),
            verdict: VerdictView(change.verdict),
        }
    }
}
