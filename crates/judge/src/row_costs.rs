//! Fixed cost and cost per row: which cells of a run differ in nothing but the number of rows.
//!
//! ```text
//!   random-points_range=10     10 rows ┐
//!   random-points             100 rows ├─ one shape ─► cost = a + b·rows ─► which of the two
//!   random-points_range=1000 1000 rows ┘
//!   points-covered-pk         100 rows    another shape
//! ```
//!
//! Cost is per *event*, so that loads with several statements in an event are told like those with
//! one: processor time of the server, and latency, which in the closed loop is all of the time that
//! an event takes.

use dbdyno_model::{
    Arm, Cell, CellComparison, CostComparison, CostMeasure, CostPoint, Driving, Interval, PerArm,
    Plan, Round, RunPair, Severity, Warning,
};
use dbdyno_stats as stats;
use dbdyno_workload::{Span, load_span};

use crate::error::JudgeError;
use crate::judged::judged_pairs;
use crate::replicates::{Replicates, figure_replicates};
use crate::variance::mean_of_rounds;
use dbdyno_workload::planned;

/// What is put on a line, and what is called by the same name.
type Figure = fn(&Round) -> Option<f64>;

const MEASURES: [(CostMeasure, Figure); 2] = [
    (CostMeasure::ServerCpu, |round| {
        Some(round.cost.server_cpu_ns? as f64 / 1e3 / round.done_events())
    }),
    (CostMeasure::Elapsed, |round| Some(round.latency.mean_ns() / 1e3)),
];

/// Cells of one shape at one client count.
struct Series<'a> {
    shape: String,
    cells: Vec<(f64, &'a CellComparison)>,
}

/// The lines of a run: one for each shape of load that was measured with several numbers of rows in
/// the closed loop.
pub(crate) fn cost_lines(
    run: RunPair<'_>,
    cells: &[CellComparison],
) -> Result<Vec<CostComparison>, JudgeError> {
    if run.plan().question.driving != Driving::Closed {
        return Ok(Vec::new());
    }
    let mut all: Vec<Series<'_>> = Vec::new();
    for cell in cells {
        let Some(Span { shape, rows }) = span_of(run.plan(), &cell.cell) else { continue };
        let blocks = |warning: &Warning| warning.severity == Severity::Blocks;
        if cell.warnings.iter().any(|warning| blocks(warning) && warning.code != "few-rounds") {
            continue;
        }
        let shape = format!("{shape} {}", cell.cell.clients);
        match all.iter_mut().find(|series| series.shape == shape) {
            // The same load under two names is measured twice; the first one counts.
            Some(series) if series.cells.iter().any(|(other, _)| *other == rows) => {}
            Some(series) => series.cells.push((rows, cell)),
            None => all.push(Series { shape, cells: vec![(rows, cell)] }),
        }
    }
    let mut costs = Vec::new();
    for series in all.iter_mut().filter(|series| series.cells.len() > 1) {
        series.cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        costs.extend(of_series(run, series)?);
    }
    Ok(costs)
}

fn span_of(plan: &Plan, cell: &Cell) -> Option<Span> {
    if planned::step_of(cell).is_some() {
        return None;
    }
    let load = planned::planned_load(plan, &cell.load).ok()?;
    // The tables of a custom load are its own.
    let rows = (!planned::is_custom(plan, &cell.load)).then_some(plan.question.rows);
    let mut span = load_span(&load, rows)?;
    // The same load before and after writes meets two different databases.
    if cell.load.contains(".pre") {
        span.shape.push_str(" .pre");
    }
    Some(span)
}

fn of_series(run: RunPair<'_>, series: &Series<'_>) -> Result<Vec<CostComparison>, JudgeError> {
    let rounds: Vec<(f64, Vec<PerArm<&Round>>)> =
        series.cells.iter().map(|(rows, cell)| (*rows, judged_pairs(run, &cell.cell).0)).collect();
    let seen = MEASURES.into_iter().filter(|(_, figure)| {
        let is_seen = |round| figure(round).is_some_and(|cost| cost > 0.0);
        let mut all = rounds.iter().flat_map(|(_, pairs)| pairs);
        all.all(|pair| is_seen(pair.base) && is_seen(pair.test))
    });
    let measures: Vec<(CostMeasure, Figure)> = seen.collect();
    let (mut logs, mut known_sd) = (Vec::new(), 0.0_f64);
    for (_, figure) in &measures {
        let Replicates { points, between_sd } = figure_replicates(&rounds, figure);
        known_sd = known_sd.max(between_sd);
        logs.push(points);
    }
    let fits = stats::row_costs(&logs, known_sd, run.plan().rule.budget)?;
    let mut costs = Vec::with_capacity(measures.len());
    for ((measure, figure), fit) in measures.into_iter().zip(fits) {
        let points = series.cells.iter().zip(&rounds).map(|((rows, cell), (_, pairs))| {
            let cost_us = PerArm::try_from_fn(|arm| mean(pairs, arm, figure))?;
            Ok(CostPoint { load: cell.cell.load.clone(), rows: *rows, cost_us })
        });
        let points: Result<Vec<CostPoint>, JudgeError> = points.collect();
        let first = &series.cells[0].1.cell;
        costs.push(CostComparison {
            loads: name_of(&first.load),
            clients: first.clients,
            measure,
            points: points?,
            fit: fit.fit,
            warnings: fit.warnings,
        });
    }
    Ok(costs)
}

fn mean(pairs: &[PerArm<&Round>], arm: Arm, figure: Figure) -> Result<Interval, JudgeError> {
    let rounds = pairs.iter().map(|pair| pair[arm]);
    let rounds: Vec<&Round> = rounds.filter(|round| figure(round).is_some()).collect();
    Ok(mean_of_rounds(&rounds, |round| figure(round).unwrap_or(f64::NAN))?)
}

/// A label without its number of rows.
fn name_of(label: &str) -> String {
    let plain = label.split(['?']).next().unwrap_or(label);
    plain.split("_range=").next().unwrap_or(plain).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{ArmIndex, Run, Verdict};

    use crate::sample::{of_cells, set_events};

    const LOADS: [&str; 5] = [
        "random-points_range=1000",
        "random-points_range=10",
        "random-points",
        "points-covered-pk",
        "point-query",
    ];

    /// Costs of 50 µs and 0.3 µs a row; on test the first part is so many µs.
    fn run(loads: &[&str], fixed_us: f64) -> Run {
        of_cells(8, loads, "sqlite:", &[1], |round: &mut Round| {
            let rows = match round.key.cell.load.as_str() {
                "random-points_range=1000" => 1000.0,
                "random-points_range=10" => 10.0,
                _ => 100.0,
            };
            let fixed = if round.key.arm == ArmIndex::TEST { fixed_us } else { 50.0 };
            let noise = f64::from((round.key.pair * 7 + rows as u32) % 5) - 2.0;
            let us = (fixed + 0.3 * rows) * (1.0 + 0.004 * noise);
            set_events(round, 80_000.0 / us);
            round.start = round.key.pair;
            round.cost.server_cpu_ns = Some((us * 1e3 * round.events as f64) as u64);
        })
    }

    #[test]
    fn loads_that_differ_in_rows_alone_become_a_line_that_names_what_changed() {
        let costs = crate::compare_run(run(&LOADS, 59.0).first_pair()).unwrap().costs;
        let told: Vec<(&str, CostMeasure)> =
            costs.iter().map(|cost| (&*cost.loads, cost.measure)).collect();
        assert_eq!(
            told,
            [("random-points", CostMeasure::ServerCpu), ("random-points", CostMeasure::Elapsed)]
        );
        let rows: Vec<f64> = costs[0].points.iter().map(|point| point.rows).collect();
        assert_eq!(rows, [10.0, 100.0, 1000.0]);
        let changes = costs[0].fit.as_ref().unwrap().changes.unwrap();
        assert_eq!(changes.fixed.verdict, Verdict::Slower, "{changes:?}");
        assert!((changes.fixed.ratio.estimate - 1.18).abs() < 0.01, "{changes:?}");
        assert_eq!(changes.per_row.verdict, Verdict::Equal, "{changes:?}");
    }

    #[test]
    fn two_sizes_say_what_is_missing_and_one_says_nothing() {
        let costs = crate::compare_run(run(&LOADS[..2], 59.0).first_pair()).unwrap().costs;
        assert_eq!(costs.len(), 2);
        assert!(costs.iter().all(|cost| cost.warnings[0].code == "cost-few-sizes"));
        assert!(crate::compare_run(run(&LOADS[2..], 59.0).first_pair()).unwrap().costs.is_empty());
    }

    #[test]
    fn names_lose_their_rows() {
        for (label, name) in [
            ("random-points_range=10", "random-points"),
            ("read-only?range=10", "read-only"),
            ("join", "join"),
        ] {
            assert_eq!(name_of(label), name);
        }
    }
}
