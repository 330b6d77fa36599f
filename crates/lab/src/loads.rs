//! The loads of a plan: those that come with dbdyno, and those whose text is in the plan.

use std::sync::Arc;

use dbdyno_model::{Arm, Cell, Driving, ImageUse, PerArm, Plan, Stage, Target};
use dbdyno_workload::insert_benchmark::Step;
use dbdyno_workload::{Catalog, Content, Custom, Dataset, Load, Tables, explain};

use crate::error::LabError;
use crate::insert_benchmark;

/// Looks whether all loads of a plan can be asked of both of its arms, before anything is started.
///
/// # Errors
/// [`LabError::Loads`]: a file that is no load, a load that does not speak the dialect of an arm or
/// finds no tables there, or two loads that need different tables of one name.
pub fn check(plan: &Plan) -> Result<(), LabError> {
    let catalog = catalog_of(plan)?;
    datasets_of(plan)?;
    check_restoring(plan)?;
    crate::count::check(plan)?;
    check_mocks(plan)?;
    for label in plan.stages.iter().filter_map(Stage::load) {
        let load = resolve_in(&catalog, plan, label)?;
        check_driving(plan, label, &load)?;
        check_answers(plan, label, &load)?;
        for arm in Arm::BOTH {
            let spec = &plan.arms[arm];
            if !load.speaks(spec.dialect()) {
                let names = explain::DIALECTS.iter().filter(|(known, _)| load.speaks(*known));
                let names: Vec<&str> = names.map(|(_, name)| *name).collect();
                let advice = match catalog.custom_of(label) {
                    Some(_) => "add it to the file",
                    None => "`dbdyno loads` names the others",
                };
                return Err(LabError::Loads(format!(
                    "{label} has no statements for {arm} ({spec}), only for {}; {advice}",
                    names.join(" and ")
                )));
            }
            let is_ours = !matches!(spec.target, Target::Url(_));
            if is_ours && catalog.custom_of(label).is_some_and(Custom::asks_what_is_there) {
                return Err(LabError::Loads(format!(
                    "{label} asks tables that are there already (tables = \"none\"), and {spec} \
                     begins empty; name a running server by its URL"
                )));
            }
        }
    }
    Ok(())
}

/// Models live in a time of their own.
fn check_mocks(plan: &Plan) -> Result<(), LabError> {
    let PerArm { base, test } = &plan.arms;
    if base.is_mock() == test.is_mock() {
        return Ok(());
    }
    Err(LabError::Loads(format!(
        "{base} and {test} cannot take turns: a model lives in virtual time; compare it with another \
         model"
    )))
}

/// A model answers what asks for nothing but an answer.
fn check_answers(plan: &Plan, label: &str, load: &Load) -> Result<(), LabError> {
    let is_talk = matches!(load.content, Content::Dialogue(_)) || Step::find(label).is_some();
    if !plan.arms.base.is_mock() || !is_talk {
        return Ok(());
    }
    Err(LabError::Loads(format!(
        "{label} goes on by what it is answered, and a model answers the same to everything; choose \
         a load of sysbench"
    )))
}

/// Tables can be had back only where a server of ours has an image of them.
fn check_restoring(plan: &Plan) -> Result<(), LabError> {
    if !plan.stages.contains(&Stage::Restore) {
        return Ok(());
    }
    for arm in Arm::BOTH {
        let spec = &plan.arms[arm];
        let is_alone = spec.begin.topology.is_none();
        let has_image = spec.begin.image != ImageUse::None;
        if !matches!(spec.target, Target::Release(_)) || !is_alone || !has_image {
            return Err(LabError::Loads(format!(
                "`restore` starts a server on an image of its tables, and {arm} ({spec}) has none; \
                 it is for releases that dbdyno starts, such as mariadb:10.11, without topology= \
                 and without image=none"
            )));
        }
    }
    Ok(())
}

/// Whether a load leaves it to the plan when its clients ask.
fn check_driving(plan: &Plan, label: &str, load: &Load) -> Result<(), LabError> {
    if plan.driving != Driving::Closed && Step::find(label).is_some() {
        return Err(LabError::Loads(format!(
            "{label}: the steps of the Insert Benchmark have paces of their own; leave --think, \
             --rate and --find-max out, or choose another load"
        )));
    }
    if plan.driving.think().is_some() && matches!(load.content, Content::Dialogue(_)) {
        return Err(LabError::Loads(format!(
            "{label} has pauses of its own, those of TPC-C with ?think=on; leave --think out, or \
             choose another load"
        )));
    }
    Ok(())
}

fn catalog_of(plan: &Plan) -> Result<Catalog, LabError> {
    let mut catalog = Catalog::default();
    for file in &plan.files {
        let custom = Custom::parse(&file.file, &file.text);
        let custom = custom.map_err(|error| LabError::Loads(error.to_string()))?;
        catalog.add(custom).map_err(LabError::Loads)?;
    }
    Ok(catalog)
}

fn resolve_in(catalog: &Catalog, plan: &Plan, label: &str) -> Result<Load, LabError> {
    let load = catalog.resolve(label, tables_of(plan));
    load.map_err(|error| LabError::Loads(format!("{label}: {error}")))
}

/// The load with this label.
pub(crate) fn resolve(plan: &Plan, label: &str) -> Result<Load, LabError> {
    resolve_in(&catalog_of(plan)?, plan, label)
}

/// Whether the text of this load is in the plan.
pub(crate) fn is_custom(plan: &Plan, label: &str) -> bool {
    catalog_of(plan).is_ok_and(|catalog| catalog.custom_of(label).is_some())
}

/// The tables of all loads of a plan, each set once.
pub(crate) fn datasets_of(plan: &Plan) -> Result<Vec<Arc<dyn Dataset>>, LabError> {
    let labels: Vec<&str> = plan.stages.iter().filter_map(Stage::load).collect();
    // The Insert Benchmark has tables for as many clients as the plan has, and runs by itself.
    if let Some(dataset) = labels.iter().find_map(|load| insert_benchmark::dataset_of(plan, load)) {
        return Ok(vec![dataset]);
    }
    let datasets = catalog_of(plan)?.datasets(labels, tables_of(plan));
    datasets.map_err(|error| LabError::Loads(error.to_string()))
}

/// Whether the load of a cell changes rows.
pub(crate) fn writes(plan: &Plan, cell: &Cell) -> bool {
    resolve(plan, &cell.load).is_ok_and(|load| load.writes())
}

/// Whether all that a cell does to rows is reading them; a dialogue may do anything.
pub(crate) fn only_reads(plan: &Plan, cell: &Cell) -> bool {
    resolve(plan, &cell.load).is_ok_and(|load| load.only_reads())
}

/// sysbench's tables as a plan wants them.
fn tables_of(plan: &Plan) -> Tables {
    Tables { count: plan.tables, rows: plan.rows, seed: plan.seed }
}
