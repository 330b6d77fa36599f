//! The loads of a plan: those that come with dbdyno, and those whose text is in the plan.

use std::fmt;
use std::sync::Arc;

use dbdyno_model::{Cell, Dialect, Plan, Stage};

use crate::insert_benchmark::{BenchmarkStep, RolePart, Sizes, Work};
use crate::{Catalog, Custom, Dataset, Load, Tables};

/// Why the loads of a plan are none. A whole sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanLoadsError(pub String);

impl fmt::Display for PlanLoadsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PlanLoadsError {}

/// The loads that a plan can name.
///
/// # Errors
/// A file of the plan that is no load.
pub fn catalog_of(plan: &Plan) -> Result<Catalog, PlanLoadsError> {
    let mut catalog = Catalog::default();
    for file in &plan.question.files {
        let custom = Custom::parse(&file.file, &file.text);
        let custom = custom.map_err(|error| PlanLoadsError(error.to_string()))?;
        catalog.add_custom(custom).map_err(PlanLoadsError)?;
    }
    Ok(catalog)
}

/// The load with this label, of the catalogue of this plan.
///
/// # Errors
/// There is no such load.
pub fn resolve_in(catalog: &Catalog, plan: &Plan, label: &str) -> Result<Load, PlanLoadsError> {
    let load = catalog.resolve_load(label, tables_of(plan));
    load.map_err(|error| PlanLoadsError(format!("{label}: {error}")))
}

/// The load with this label.
///
/// # Errors
/// A file of the plan that is no load, or no such load.
pub fn planned_load(plan: &Plan, label: &str) -> Result<Load, PlanLoadsError> {
    resolve_in(&catalog_of(plan)?, plan, label)
}

/// Whether the text of this load is in the plan.
pub fn is_custom(plan: &Plan, label: &str) -> bool {
    catalog_of(plan).is_ok_and(|catalog| catalog.custom_of(label).is_some())
}

/// The tables of all loads of a plan, each set once.
///
/// # Errors
/// As [`planned_load`], and loads that need different tables of one name.
pub fn datasets_of(plan: &Plan) -> Result<Vec<Arc<dyn Dataset>>, PlanLoadsError> {
    let labels: Vec<&str> = plan.question.stages.iter().filter_map(Stage::load).collect();
    // The Insert Benchmark has tables for as many clients as the plan has, and runs by itself.
    if let Some(dataset) = labels.iter().find_map(|load| dataset_of_step(plan, load)) {
        return Ok(vec![dataset]);
    }
    let datasets = catalog_of(plan)?.datasets_of(labels, tables_of(plan));
    datasets.map_err(|error| PlanLoadsError(error.to_string()))
}

/// Whether the load of a cell changes rows.
pub fn cell_writes_rows(plan: &Plan, cell: &Cell) -> bool {
    planned_load(plan, &cell.load).is_ok_and(|load| load.writes_rows())
}

/// Whether all that a cell does to rows is reading them; a dialogue may do anything.
pub fn only_reads(plan: &Plan, cell: &Cell) -> bool {
    planned_load(plan, &cell.load).is_ok_and(|load| load.only_reads())
}

/// The step that a cell is, if it is one of the Insert Benchmark.
pub fn step_of(cell: &Cell) -> Option<(BenchmarkStep, Sizes)> {
    BenchmarkStep::find(&cell.load)?.ok()
}

/// Threads that a client has in a step on a server of this dialect.
pub fn threads_of_step(step: BenchmarkStep, sizes: &Sizes, dialect: Dialect) -> usize {
    match step.planned_work(sizes) {
        Work::Commits(_) => RolePart::step_roles(step, sizes, dialect).len(),
        Work::Indexes | Work::QueriesAtRate(_) => 1,
    }
}

/// Pairs of rounds of a cell that is a step; `None` for other loads.
pub fn pairs_of_step(plan: &Plan, cell: &Cell) -> Option<u32> {
    step_of(cell).map(|(step, sizes)| rounds_of_step(plan, step, &sizes))
}

/// Rounds of each arm in a step: chunks are not smaller than one commit, and indexes are made once.
pub fn rounds_of_step(plan: &Plan, step: BenchmarkStep, sizes: &Sizes) -> u32 {
    match step.planned_work(sizes) {
        Work::Commits(commits) => {
            u32::try_from(commits).unwrap_or(u32::MAX).min(plan.schedule.pairs)
        }
        Work::Indexes => 1,
        Work::QueriesAtRate(_) => plan.schedule.pairs,
    }
}

/// How long the arms of a plan answer queries in the steps of the Insert Benchmark, which have no
/// warm-up; `None` for other loads. What its other steps take is for the servers to say.
pub fn queries_ns(plan: &Plan) -> Option<u64> {
    let cells = plan.cells();
    let all: Option<u64> = cells
        .iter()
        .map(|cell| {
            let (step, sizes) = step_of(cell)?;
            Some(match step.planned_work(&sizes) {
                Work::QueriesAtRate(_) => u64::from(plan.schedule.pairs) * plan.schedule.round_ns,
                Work::Commits(_) | Work::Indexes => 0,
            })
        })
        .sum();
    all.map(|ns| plan.arms.count() as u64 * ns)
}

/// The tables of a step, for as many clients as the plan has; `None` for other loads.
pub fn dataset_of_step(plan: &Plan, load: &str) -> Option<Arc<dyn Dataset>> {
    let (step, sizes) = BenchmarkStep::find(load)?.ok()?;
    let clients = plan.question.clients.iter().copied().max().unwrap_or(1);
    Some(step.load(&sizes, clients, plan.question.seed).dataset)
}

/// sysbench's tables as a plan wants them.
fn tables_of(plan: &Plan) -> Tables {
    Tables { count: plan.question.tables, rows: plan.question.rows, seed: plan.question.seed }
}
