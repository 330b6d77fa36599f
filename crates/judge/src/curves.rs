//! The rate over client counts, as one object: which cells belong to a curve, and what is asked of
//! it.
//!
//! ```text
//!   cells of one load   1   2   4   8   16 clients      usl ──► λ, σ, κ, peak, what changed
//!                       │               └ blocked: left out, for its rate is not the server's
//!                       └ on one processor, the others on all: left out, for it is another machine
//! ```

use dbdyno_model::{
    Arm, CellComparison, CurveComparison, CurvePoint, Driving, PerArm, Plan, PointPlace, Round,
    RunPair, Severity, VerdictMeasure, Warning,
};
use dbdyno_stats as stats;
use dbdyno_workload::Trend;

use crate::cautions::saturation;
use crate::error::JudgeError;
use crate::judged::judged_pairs;
use crate::rate_unit::CellUnits;
use crate::replicates::{Replicates, figure_replicates};
use dbdyno_workload::planned;

/// The curves of a run: one for each load that was measured at several client counts in the closed
/// loop, and leaves its tables as they are.
pub(crate) fn client_curves(
    run: RunPair<'_>,
    cells: &[CellComparison],
) -> Result<Vec<CurveComparison>, JudgeError> {
    if run.plan().question.driving != Driving::Closed {
        return Ok(Vec::new());
    }
    let mut curves = Vec::new();
    for label in run.plan().labels() {
        let own: Vec<&CellComparison> =
            cells.iter().filter(|cell| cell.cell.load == label).collect();
        if own.len() > 1 && keeps_its_tables(run.plan(), label) {
            curves.push(of_load(run, label, own)?);
        }
    }
    Ok(curves)
}

/// A rate over tables that grow from one client count to the next is no curve over clients.
fn keeps_its_tables(plan: &Plan, label: &str) -> bool {
    let is_step = planned::dataset_of_step(plan, label).is_some();
    let steady = |trend| !matches!(trend, Trend::Grows | Trend::Shrinks);
    let load = planned::planned_load(plan, label);
    !is_step && load.is_ok_and(|load| steady(load.trend) && !load.rests_between_events())
}

fn of_load(
    run: RunPair<'_>,
    label: &str,
    mut cells: Vec<&CellComparison>,
) -> Result<CurveComparison, JudgeError> {
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
    let units = CellUnits::of_cell(run.plan(), &cells[0].cell);
    let Replicates { points: logs, between_sd } =
        figure_replicates(&rounds, |round| Some(units.rate(round)));
    let curves = stats::fit_usl(&logs, between_sd, run.plan().rule.budget)?;
    warnings.extend(curves.warnings);
    Ok(CurveComparison {
        load: label.to_owned(),
        unit: units.unit,
        points: points.collect(),
        fit: curves.fit,
        warnings,
    })
}

/// Client counts that have no part in the fit, and why.
fn left_out(run: RunPair<'_>, cells: &[&CellComparison]) -> (Vec<u32>, Vec<Warning>) {
    let mut warnings = Vec::new();
    let blocked = cells.iter().filter(|cell| is_blocked(cell));
    let mut apart: Vec<u32> = blocked.map(|cell| cell.cell.clients).collect();
    if !apart.is_empty() {
        let counts: Vec<String> = apart.iter().map(u32::to_string).collect();
        let text = format!(
            "at {} clients there is no verdict, so the curve leaves these points out; see the \
             notes of these cells",
            counts.join(", ")
        );
        warnings.push(Warning::new(Severity::Note, "curve-blocked-points", text));
    }
    let embedded = Arm::BOTH.into_iter().all(|arm| run.spec_on(arm).is_embedded());
    let together = |cell: &CellComparison| {
        saturation::cell_placement(run, &cell.cell)
            .is_some_and(|placement| placement.is_one_processor())
    };
    let is_mixed =
        cells.iter().any(|cell| together(cell)) && !cells.iter().all(|cell| together(cell));
    if is_mixed && !embedded && saturation::logical_processors(run).is_some_and(|all| all > 1) {
        apart.extend(cells.iter().filter(|cell| together(cell)).map(|cell| cell.cell.clients));
        let text = "at 1 client, client and server shared one processor, and at the other counts \
                    they had all: that point belongs to another curve and is left out; --pin none \
                    or --pin split puts all counts on the same processors";
        warnings.push(Warning::new(Severity::Note, "curve-one-processor", text));
    }
    (apart, warnings)
}

/// Whether a cell has no rate that is judged; that it has few rounds does not matter to a curve.
fn is_blocked(cell: &CellComparison) -> bool {
    let blocks =
        |warning: &Warning| warning.severity == Severity::Blocks && warning.code != "few-rounds";
    cell.measure != VerdictMeasure::Rate || cell.warnings.iter().any(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{ArmIndex, CurveQuestion, Run, Verdict};

    use crate::sample::{WALL_NS, of_cells, set_events};

    const CLIENTS: [u32; 5] = [1, 2, 4, 8, 16];

    /// A run on these targets whose arms follow the law; contention is three times as much on test.
    fn run(label: &str, targets: &str) -> Run {
        of_cells(8, &[label], targets, &CLIENTS, |round: &mut Round| {
            let clients = f64::from(round.key.cell.clients);
            let sigma = if round.key.arm == ArmIndex::TEST { 0.15 } else { 0.05 };
            let rate =
                clients / (1.0 + sigma * (clients - 1.0) + 0.002 * clients * (clients - 1.0));
            // Both rounds of a pair meet the same host.
            let noise = f64::from((round.key.pair * 7 + round.key.cell.clients) % 5) - 2.0;
            let own = f64::from((round.key.pair * 3 + round.key.cell.clients) % 4) - 1.5;
            let arm = if round.key.arm == ArmIndex::TEST { own } else { -own };
            set_events(round, 4_000.0 * rate * (1.0 + 0.004 * noise + 0.0005 * arm));
            round.start = round.key.pair;
        })
    }

    fn only_curve(run: &Run) -> CurveComparison {
        let mut curves = crate::compare_run(run.first_pair()).unwrap().curves;
        assert_eq!(curves.len(), 1);
        curves.remove(0)
    }

    fn left_out(curve: &CurveComparison) -> Vec<u32> {
        let apart = curve.points.iter().filter(|point| point.place == PointPlace::LeftOut);
        apart.map(|point| point.clients).collect()
    }

    fn codes(curve: &CurveComparison) -> Vec<&str> {
        curve.warnings.iter().map(|warning| &*warning.code).collect()
    }

    #[test]
    fn client_counts_of_a_load_become_a_curve_that_names_what_changed() {
        let curve = only_curve(&run("point-query", "sqlite:"));
        assert_eq!((left_out(&curve), codes(&curve)), (vec![], vec![]));
        let fit = curve.fit.unwrap();
        for (arm, sigma) in [(Arm::Base, 0.05), (Arm::Test, 0.15)] {
            let found = fit.arms[arm].sigma;
            assert!(found.low <= sigma && sigma <= found.high, "{found:?} of {sigma}");
            assert_eq!(fit.arms[arm].band.len(), 32);
        }
        let verdict = |question| {
            fit.changes.iter().find(|change| change.question == question).unwrap().verdict
        };
        assert_eq!(verdict(CurveQuestion::SingleClient), Verdict::Equal);
        assert_eq!(verdict(CurveQuestion::Contention), Verdict::Slower);
    }

    #[test]
    fn one_client_on_one_processor_is_no_part_of_the_others_curve() {
        let mut on_one = run("point-query", "mariadb:10.11");
        on_one.plan.quiet.pin = dbdyno_model::Pin::Auto;
        let curve = only_curve(&on_one);
        assert_eq!((left_out(&curve), codes(&curve)), (vec![1], vec!["curve-one-processor"]));
        assert!(curve.fit.is_some(), "four are left");
        assert!(left_out(&only_curve(&run("point-query", "mariadb:10.11"))).is_empty());
    }

    #[test]
    fn a_point_without_a_verdict_is_left_out() {
        let mut saturated = run("point-query", "mysql://u@h/d");
        for round in saturated.rounds.iter_mut().filter(|round| round.key.cell.clients == 16) {
            round.cost.client_cpu_ns = Some(4 * WALL_NS);
        }
        let curve = only_curve(&saturated);
        assert_eq!((left_out(&curve), codes(&curve)), (vec![16], vec!["curve-blocked-points"]));
        for round in saturated.rounds.iter_mut().filter(|round| round.key.cell.clients > 2) {
            round.cost.client_cpu_ns = Some(4 * WALL_NS);
        }
        let curve = only_curve(&saturated);
        assert!(curve.fit.is_none() && codes(&curve).contains(&"curve-few-counts"), "{curve:?}");
    }

    #[test]
    fn rates_over_tables_that_change_are_no_curve() {
        assert!(
            crate::compare_run(run("insert", "sqlite:").first_pair()).unwrap().curves.is_empty()
        );
        assert_eq!(
            crate::compare_run(run("insert?refill=on", "sqlite:").first_pair())
                .unwrap()
                .curves
                .len(),
            1
        );
        let mut open = run("point-query", "sqlite:");
        open.plan.question.driving = "think 10ms".parse().unwrap();
        assert!(
            client_curves(open.first_pair(), &crate::compare_run(open.first_pair()).unwrap().cells)
                .unwrap()
                .is_empty()
        );
    }
}
