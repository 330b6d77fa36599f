//! The rate over client counts, as one object: which cells belong to a curve, and what is asked of
//! it.
//!
//! ```text
//!   cells of one load   1   2   4   8   16 clients      usl ──► λ, σ, κ, peak, what changed
//!                       │               └ blocked: left out, for its rate is not the server's
//!                       └ on one processor, the others on all: left out, for it is another machine
//! ```

use dbdyno_model::{
    Arm, CellComparison, CurveComparison, CurvePoint, Driving, Measure, PerArm, Plan, PointPlace,
    Round, Run, Severity, Warning, random,
};
use dbdyno_stats as stats;
use dbdyno_workload::Trend;

use crate::error::LabError;
use crate::insert_benchmark;
use crate::judge::{Replicates, judged_pairs, replicates};
use crate::loads;
use crate::saturation;
use crate::yardstick::Yardstick;

/// The curves of a run: one for each load that was measured at several client counts in the closed
/// loop, and leaves its tables as they are.
pub(crate) fn of_run(
    run: &Run,
    cells: &[CellComparison],
) -> Result<Vec<CurveComparison>, LabError> {
    if run.plan.driving != Driving::Closed {
        return Ok(Vec::new());
    }
    let mut curves = Vec::new();
    for label in run.plan.labels() {
        let own: Vec<&CellComparison> =
            cells.iter().filter(|cell| cell.cell.load == label).collect();
        if own.len() > 1 && keeps_its_tables(&run.plan, label) {
            curves.push(of_load(run, label, own)?);
        }
    }
    Ok(curves)
}

/// A rate over tables that grow from one client count to the next is no curve over clients.
fn keeps_its_tables(plan: &Plan, label: &str) -> bool {
    let is_step = insert_benchmark::dataset_of(plan, label).is_some();
    let steady = |trend| !matches!(trend, Trend::Grows | Trend::Shrinks);
    let load = loads::resolve(plan, label);
    !is_step && load.is_ok_and(|load| steady(load.trend) && !load.rests())
}

fn of_load(
    run: &Run,
    label: &str,
    mut cells: Vec<&CellComparison>,
) -> Result<CurveComparison, LabError> {
    cells.sort_by_key(|cell| cell.cell.clients);
    let (apart, mut warnings) = left_out(run, &cells);
    let is_fitted = |cell: &CellComparison| !apart.contains(&cell.cell.clients);
    let points = cells.iter().map(|cell| CurvePoint {
        clients: cell.cell.clients,
        rates: PerArm::from_fn(|arm| cell.arms[arm].rate),
        place: if is_fitted(cell) { PointPlace::Fitted } else { PointPlace::LeftOut },
    });
    let rounds: Vec<(f64, Vec<PerArm<&Round>>)> = cells
        .iter()
        .filter(|cell| is_fitted(cell))
        .map(|cell| (f64::from(cell.cell.clients), judged_pairs(run, &cell.cell).0))
        .collect();
    let yardstick = Yardstick::of(&run.plan, &cells[0].cell);
    let Replicates { points: logs, between_sd } =
        replicates(&run.plan.arms, &rounds, |round| Some(yardstick.rate(round)));
    let curves = stats::usl(&logs, between_sd, run.plan.budget)?;
    warnings.extend(curves.warnings);
    let mut fit = curves.fit;
    if let Some(fit) = &mut fit {
        stats::usl_bands(&logs, fit, random::key_of(label) ^ run.plan.seed)?;
    }
    Ok(CurveComparison {
        load: label.to_owned(),
        unit: yardstick.unit,
        points: points.collect(),
        fit,
        warnings,
    })
}

/// Client counts that have no part in the fit, and why.
fn left_out(run: &Run, cells: &[&CellComparison]) -> (Vec<u32>, Vec<Warning>) {
    let mut warnings = Vec::new();
    let blocked = |cell: &&&CellComparison| {
        let few = |warning: &Warning| warning.code == "few-rounds";
        let blocks = |warning: &&Warning| warning.severity == Severity::Blocks && !few(warning);
        cell.measure != Measure::Rate || cell.warnings.iter().any(|warning| blocks(&warning))
    };
    let mut apart: Vec<u32> = cells.iter().filter(blocked).map(|cell| cell.cell.clients).collect();
    if !apart.is_empty() {
        let counts: Vec<String> = apart.iter().map(u32::to_string).collect();
        let text = format!(
            "at {} clients there is no verdict, so the curve leaves these points out; see the \
             notes of these cells",
            counts.join(", ")
        );
        warnings.push(Warning::new(Severity::Note, "curve-blocked-points", text));
    }
    let embedded = Arm::BOTH.into_iter().all(|arm| run.plan.arms[arm].is_embedded());
    let together = |cell: &CellComparison| {
        saturation::placement(run, &cell.cell).is_some_and(|placement| placement.is_one_processor())
    };
    let is_mixed =
        cells.iter().any(|cell| together(cell)) && !cells.iter().all(|cell| together(cell));
    if is_mixed && !embedded && saturation::logical(run).is_some_and(|all| all > 1) {
        apart.extend(cells.iter().filter(|cell| together(cell)).map(|cell| cell.cell.clients));
        let text = "at 1 client, client and server shared one processor, and at the other counts \
                    they had all: that point belongs to another curve and is left out; --pin none \
                    or --pin split puts all counts on the same processors";
        warnings.push(Warning::new(Severity::Note, "curve-one-processor", text));
    }
    (apart, warnings)
}
