//! Whether the loads of a plan can be asked of its arms.

use dbdyno_model::{
    ArmIndex, Cell, Counting, Driving, ImageUse, Plan, Stage, Target, TransactionRecording,
};
use dbdyno_workload::insert_benchmark::BenchmarkStep;
use dbdyno_workload::planned::{catalog_of, datasets_of, resolve_in, step_of};
use dbdyno_workload::versioned::VersionedRowKind;
use dbdyno_workload::{Content, Custom, Load, explain};

use crate::error::LabError;
use crate::polling::Polling;

/// Looks whether all loads of a plan can be asked of both of its arms, before anything is started.
///
/// # Errors
/// [`LabError::Loads`]: a file that is no load, a load that does not speak the dialect of an arm or
/// finds no tables there, or two loads that need different tables of one name.
pub fn check_plan(plan: &Plan) -> Result<(), LabError> {
    let catalog = catalog_of(plan)?;
    datasets_of(plan)?;
    check_restoring(plan)?;
    check_counting(plan)?;
    check_mocks(plan)?;
    Polling::for_plan(plan)?;
    for label in plan.question.stages.iter().filter_map(Stage::load) {
        let load = resolve_in(&catalog, plan, label)?;
        check_driving(plan, label, &load)?;
        check_answers(plan, label, &load)?;
        check_recording(plan, label, &load)?;
        for (arm, spec) in plan.arms.iter() {
            if !load.supports_dialect(spec.dialect()) {
                let names =
                    explain::DIALECTS.iter().filter(|(known, _)| load.supports_dialect(*known));
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
    let base = &plan.arms[ArmIndex::BASE];
    let Some(test) = plan.arms.values().find(|arm| arm.is_mock() != base.is_mock()) else {
        return Ok(());
    };
    Err(LabError::Loads(format!(
        "{base} and {test} cannot take turns: a model runs in virtual time; compare it with \
         another model"
    )))
}

/// A model answers what asks for nothing but an answer.
fn check_answers(plan: &Plan, label: &str, load: &Load) -> Result<(), LabError> {
    let is_talk =
        matches!(load.content, Content::Dialogue(_)) || BenchmarkStep::find(label).is_some();
    if !plan.arms[ArmIndex::BASE].is_mock() || !is_talk {
        return Ok(());
    }
    Err(LabError::Loads(format!(
        "{label} goes on by what it is answered, and a model answers the same to everything; choose \
         a load of sysbench"
    )))
}

/// What rows do not tell cannot be recorded, and who shares a thread does not record.
fn check_recording(plan: &Plan, label: &str, load: &Load) -> Result<(), LabError> {
    let mut arms = plan.arms.iter();
    let Some((arm, _)) = arms.find(|(_, spec)| spec.record == TransactionRecording::On) else {
        return Ok(());
    };
    let refuse = |why: &str| Err(LabError::Loads(format!("{arm} is to be recorded, and {why}")));
    if !load.tells_versions() {
        let names = VersionedRowKind::ALL.map(VersionedRowKind::name).join(", ");
        return refuse(&format!(
            "the rows of {label} do not carry their versions; those of {names} do"
        ));
    }
    if !matches!(plan.question.driving, Driving::Closed | Driving::Thinking(_)) {
        return refuse("clients record in the closed loop only; leave --rate and --find-max out");
    }
    Ok(())
}

/// Tables can be had back only where a server of ours has an image of them.
fn check_restoring(plan: &Plan) -> Result<(), LabError> {
    if !plan.question.stages.contains(&Stage::Restore) {
        return Ok(());
    }
    for (arm, spec) in plan.arms.iter() {
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
    if plan.question.driving != Driving::Closed && BenchmarkStep::find(label).is_some() {
        return Err(LabError::Loads(format!(
            "{label}: the steps of the Insert Benchmark have paces of their own; leave --think, \
             --rate and --find-max out, or choose another load"
        )));
    }
    if plan.question.driving.think_time().is_some() && matches!(load.content, Content::Dialogue(_))
    {
        return Err(LabError::Loads(format!(
            "{label} has its own think times, those of TPC-C with ?think=on; leave --think out, or \
             choose another load"
        )));
    }
    Ok(())
}

/// Looks whether what a plan wants counted can be.
///
/// # Errors
/// [`LabError::Loads`] that says what cannot, and what can.
fn check_counting(plan: &Plan) -> Result<(), LabError> {
    if plan.question.counting == Counting::No {
        return Ok(());
    }
    let refuse = |text: String| Err(LabError::Loads(text));
    for (arm, spec) in plan.arms.iter() {
        let why = match &spec.target {
            Target::Url(_) => {
                "runs already, and callgrind must start it; name a release such as \
                               mariadb:10.11"
            }
            Target::Rocksdb(_) => {
                "rewrites its files in threads of its own, under callgrind at other moments than \
                 without, and what it needs for an answer depends on them; name another target"
            }
            Target::Mock(_) => "is a model and has no instructions; name another target",
            Target::Release(_) | Target::Sqlite(_) | Target::Engine(_) => continue,
        };
        return refuse(format!("--count: {arm} ({spec}) {why}, or leave --count out"));
    }
    match plan.labels().into_iter().find(|label| is_step(label)) {
        Some(label) => refuse(format!(
            "--count: {label} is a step of the Insert Benchmark, whose clients are not counted; \
             leave --count out, or choose loads such as point-query"
        )),
        None => Ok(()),
    }
}

fn is_step(label: &str) -> bool {
    let cell = Cell { load: label.to_owned(), clients: 1 };
    step_of(&cell).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_judge::sample;

    #[test]
    fn what_cannot_be_counted_is_refused_with_the_reason() {
        for (target, reason) in [
            ("sqlite:", None),
            ("engine:", None),
            ("engine:?view=csn&device=8ms", None),
            ("mariadb:10.11", None),
            ("rocksdb:", Some("threads of its own")),
            ("mysql://u@h/d", Some("runs already")),
        ] {
            let mut plan = sample::point_queries("sqlite:", 1, |_| {}).plan;
            plan.arms[ArmIndex::TEST] = target.parse().unwrap();
            assert!(check_counting(&plan).is_ok(), "{target}: nothing is to be counted");
            plan.question.counting = Counting::Only;
            let said = check_counting(&plan).err().map(|error| error.to_string());
            let is_right = match (&said, reason) {
                (Some(said), Some(reason)) => said.contains(reason),
                (said, reason) => said.is_none() && reason.is_none(),
            };
            assert!(is_right, "{target}: {said:?}");
        }
    }
}
