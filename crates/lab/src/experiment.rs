//! Carrying out a plan.

use std::sync::atomic::Ordering;

use dbdyno_judge::forecast::{RemainingWork, ending as over, extension_warning};
use dbdyno_load::LoadError;
use dbdyno_model::{
    ArmIndex, Arms, Counting, Environment, Plan, Run, RunId, RunStatus, Severity, Warning, Witness,
    mask_message,
};
use dbdyno_store::NewRun;

use crate::all_arms::{Ready, set_up};
use crate::arm::{Station, provenance};
use crate::beside::MeasuringSign;
use crate::capture::{self, Loan, STEP};
use crate::count;
use crate::doctor;
use crate::ending::Ending;
use crate::error::LabError;
use crate::host::{host_facts, memory_mb};
use crate::hypothesis;
use crate::laboratory::Lab;
use crate::placement;
use crate::polling::Polling;
use crate::resume::{self, Hold};
use crate::room;
use crate::self_test;
use crate::stages::Stages;
use crate::watch::Progress;
use dbdyno_workload::planned::datasets_of;

/// What is to be done, and what it is called.
pub struct ExperimentOrder<'a> {
    /// The experiment.
    pub plan: &'a Plan,
    /// A name for `@name`.
    pub name: Option<&'a str>,
    /// The command that repeats it, without passwords.
    pub command: &'a str,
    /// The version of dbdyno.
    pub tool_version: &'a str,
    /// Rules of the audit, by key, whose inequalities are what the user means to compare.
    pub varied: &'a [String],
    /// The run that it helps to explain, if it is a trial.
    pub trial_of: Option<TrialOf<'a>>,
}

/// What a trial is for.
#[derive(Clone, Copy)]
pub struct TrialOf<'a> {
    /// The run that it helps to explain.
    pub run: &'a RunId,
    /// In what its arms are looked at.
    pub witness: Witness,
}

/// Carries out an experiment. The run is in the store, round by round, whatever happens; a request
/// to stop ends it early and is no error.
///
/// # Errors
/// Whatever was in the way. Servers are stopped and tables taken away in any case.
pub fn run_experiment(lab: &mut Lab<'_>, order: &ExperimentOrder<'_>) -> Result<RunId, LabError> {
    let left = RemainingWork::of_run(order.plan, None);
    let cautions = cautions_beforehand(lab, order);
    let mut ready = set_up(lab, order.plan, &[])?;
    for warning in &cautions {
        lab.watch.report_progress(Progress::Warning(warning));
    }
    capture::look_for_causes(order.plan, &mut ready.stations, Loan::None)?;
    for name in order.varied {
        for (_, station) in ready.stations.iter_mut() {
            let fact = format!("{}{name}", dbdyno_audit::MEANT);
            station.environment.set(fact, "on purpose");
        }
    }
    let begun = begin(lab, order, &ready);
    conduct(lab, order.plan, ready, &left, None, begun)
}

/// What speaks against the host before servers of ours work on it. It is told before the first
/// round, so that a run can be stopped which is worth nothing, and is no warning of the run: what
/// becomes of the rounds is seen in them. Models have no host, and of a trial its run has told it.
fn cautions_beforehand(lab: &Lab<'_>, order: &ExperimentOrder<'_>) -> Vec<Warning> {
    if order.trial_of.is_some() || order.plan.arms.values().all(|arm| arm.is_mock()) {
        return Vec::new();
    }
    doctor::cautions_beforehand(&**lab.home.host())
}

/// Takes up a run that was interrupted or killed. What was measured is kept; see
/// [`mod@crate::resume`]. Passwords are not in the store: they must be in the plan of `run`.
///
/// # Errors
/// [`LabError::Unlike`] for a run that is complete, or whose servers have changed since;
/// [`LabError::Busy`] if it is being measured; [`LabError::Foreign`] if somebody else wrote it; or
/// whatever was in the way.
pub fn resume(lab: &mut Lab<'_>, run: &Run) -> Result<RunId, LabError> {
    lab.check_origin(&run.id)?;
    if run.status == RunStatus::Complete {
        let text = format!("run {} is complete; begin a new one: {}", run.id, run.command);
        return Err(LabError::Unlike(text));
    }
    take_on(lab, run, &RemainingWork::of_run(&run.plan, Some(run)), None)
}

/// Makes a run longer: `plan` is that of the run with more pairs, another rule or another limit, as
/// [`dbdyno_judge::forecast::extended_plan`] gives it. Cells that are decided stay as they are.
///
/// # Errors
/// As [`resume()`], for complete runs too.
pub fn extend(lab: &mut Lab<'_>, run: &Run, plan: Plan) -> Result<RunId, LabError> {
    let over = over::decided_cells(run)?;
    let news = extension_warning(run, &plan).filter(|warning| !run.warnings.contains(warning));
    let longer = Run { plan, ..run.clone() };
    let left = RemainingWork::without_cells(&longer.plan, Some(&longer), over);
    take_on(lab, &longer, &left, Some(&news))
}

/// Goes on with a run; `longer` where its plan is another one than is stored, with what is to be
/// said of that.
fn take_on(
    lab: &mut Lab<'_>,
    run: &Run,
    left: &RemainingWork,
    longer: Option<&Option<Warning>>,
) -> Result<RunId, LabError> {
    lab.check_origin(&run.id)?;
    let hold = Hold::on_run(&run.id)?;
    if left.rounds_left == 0 && longer.is_some() {
        return Ok(run.id.clone());
    }
    if left.rounds_left == 0 {
        lab.store.reopen_run(&run.id)?;
        let counted = count::carry_out(lab, &run.plan, &run.id);
        return finish(lab, &run.plan, &run.id, counted);
    }
    let mut ready = set_up(lab, &run.plan, &run.ended)?;
    capture::look_for_causes(&run.plan, &mut ready.stations, Loan::None)?;
    for (arm, station) in ready.stations.iter_mut() {
        let kept = [STEP, dbdyno_audit::MEANT];
        let facts = run.environment[arm].facts.iter();
        for (name, value) in facts.filter(|(name, _)| kept.iter().any(|k| name.starts_with(k))) {
            station.environment.set(name.clone(), value.clone());
        }
    }
    // Only now, when the servers are there: what was complete stays so if they are not.
    if let Some(news) = longer {
        lab.store.extend(&run.id, &run.plan)?;
        for warning in news.iter() {
            lab.store.add_warning(&run.id, warning)?;
        }
    }
    let begun = take_up(lab, run, &ready, left).map(|()| (run.id.clone(), hold));
    conduct(lab, &run.plan, ready, left, Some(run), begun)
}

/// Sets the arms of a plan up, looks at them and takes them down again: nothing is measured. Plans
/// are looked at under so many samples of the statistics, beside those that are there.
///
/// # Errors
/// Whatever was in the way. Servers are stopped and tables taken away in any case.
pub fn survey_arms(
    lab: &mut Lab<'_>,
    plan: &Plan,
    samples: u32,
) -> Result<Arms<Environment>, LabError> {
    let mut stations = set_up(lab, plan, &[])?.stations;
    capture::look_for_causes(plan, &mut stations, Loan::Taken)?;
    capture::look_for_flips(plan, &mut stations, samples, lab.stop)?;
    let facts = Arms::from_fn(stations.indices(), |arm| stations[arm].environment.clone());
    take_down(stations)?;
    if lab.stop.load(Ordering::Relaxed) {
        // What was asked last may have been cut off, and facts that are missing look like a
        // difference.
        let doing = "looking at the servers".to_owned();
        return Err(LabError::Load(ArmIndex::BASE, doing, LoadError::Interrupted));
    }
    Ok(facts)
}

/// Takes all arms down, the last one first: those that share tables before those whose they are.
///
/// # Errors
/// The first complaint, once all are down.
fn take_down(stations: Arms<Station>) -> Result<(), LabError> {
    let stations: Vec<_> = stations.into_iter().collect();
    let down = stations.into_iter().rev().map(|(arm, station)| station.take_down(arm));
    down.collect::<Vec<_>>().into_iter().collect()
}

/// Goes through the stages of a run that was begun, and takes the servers down.
fn conduct(
    lab: &mut Lab<'_>,
    plan: &Plan,
    ready: Ready,
    left: &RemainingWork,
    measured: Option<&Run>,
    begun: Result<(RunId, Hold), LabError>,
) -> Result<RunId, LabError> {
    let Ready { mut stations, ended } = ready;
    let driven = begun.map(|(run, hold)| {
        let outcome = match plan.question.counting {
            Counting::Only => Ok(()),
            Counting::No | Counting::Beside => {
                let mut ending = Ending::new(plan, measured, &lab.clock);
                ended.iter().for_each(|ended| ending.goes_on_without(ended));
                drive(lab, plan, &mut stations, &run, left, ending)
            }
        };
        (run, hold, outcome)
    });
    let down = take_down(stations);
    let (run, _hold, outcome) = driven?;
    let outcome = outcome.and_then(|()| count::carry_out(lab, plan, &run));
    let run = finish(lab, plan, &run, outcome)?;
    // Who cuts all connections off has a server complain, and keeps what was measured.
    match down {
        Err(_) if dbdyno_wire::is_all_cut() => Ok(run),
        down => down.map(|()| run),
    }
}

/// Goes through the stages.
fn drive(
    lab: &mut Lab<'_>,
    plan: &Plan,
    stations: &mut Arms<Station>,
    run: &RunId,
    left: &RemainingWork,
    ending: Ending,
) -> Result<(), LabError> {
    check(lab, plan, stations)?;
    let mut sign = MeasuringSign::set(lab, plan, run)?;
    let _polling = Polling::for_plan(plan)?;
    let outcome = Stages::new(lab, plan, stations, run, left, ending).carry_out();
    // Whoever began later measured beside these rounds as well.
    sign.as_mut().map_or(Ok(()), |sign| sign.tell_others(lab, run))?;
    outcome?;
    check(lab, plan, stations)
}

/// Asks all arms what must hold of their tables before and after, whatever the loads did.
fn check(lab: &mut Lab<'_>, plan: &Plan, stations: &Arms<Station>) -> Result<(), LabError> {
    let datasets = datasets_of(plan)?;
    stations
        .iter()
        .try_for_each(|(arm, station)| station.check_invariants(arm, &datasets, lab.watch))
}

fn begin(
    lab: &mut Lab<'_>,
    order: &ExperimentOrder<'_>,
    ready: &Ready,
) -> Result<(RunId, Hold), LabError> {
    let stations = &ready.stations;
    let run = lab.store.begin_run(&NewRun {
        name: order.name,
        started_unix_ms: lab.clock.unix_ms(),
        tool_version: order.tool_version,
        command: order.command,
        plan: order.plan,
    })?;
    if let Some(TrialOf { run: explained, witness }) = order.trial_of {
        lab.store.note_trial(explained, &run, witness)?;
    }
    for (arm, station) in stations.iter() {
        lab.store.set_environment(&run, arm, &station.environment)?;
    }
    for ended in &ready.ended {
        lab.end_arm(&run, ended)?;
    }
    let placed = placement::placement_warnings(order.plan, stations);
    for warning in at_the_beginning(lab, order.plan, stations) {
        if !placed.contains(&warning) {
            lab.watch.report_progress(Progress::Warning(&warning));
        }
        lab.store.add_warning(&run, &warning)?;
    }
    lab.watch.report_progress(Progress::Begun(&run));
    let hold = Hold::on_run(&run)?;
    Ok((run, hold))
}

/// What the reader of a run must know before anything is measured.
fn at_the_beginning(lab: &Lab<'_>, plan: &Plan, stations: &Arms<Station>) -> Vec<Warning> {
    let of_arms = stations.values().flat_map(|station| station.warnings.clone());
    let memory = room::memory_warning(memory_mb(&host_facts(lab)), plan);
    of_arms
        .chain(provenance::images(stations))
        .chain(placement::placement_warnings(plan, stations))
        .chain(provenance::provenance_warnings(plan, stations))
        .chain(hypothesis::hypothesis_warnings(plan))
        .chain(memory)
        .collect()
}

fn take_up(
    lab: &mut Lab<'_>,
    run: &Run,
    ready: &Ready,
    left: &RemainingWork,
) -> Result<(), LabError> {
    let stations = &ready.stations;
    let changed = resume::server_changes(run, stations)?;
    lab.store.reopen_run(&run.id)?;
    for (arm, station) in stations.iter() {
        if run.environment[arm].facts.is_empty() {
            lab.store.set_environment(&run.id, arm, &station.environment)?;
        }
    }
    for ended in &ready.ended {
        lab.end_arm(&run.id, ended)?;
    }
    let news = changed.into_iter().chain([left.resume_warning()]);
    let news = news.chain(at_the_beginning(lab, &run.plan, stations));
    for warning in news.filter(|warning| !run.warnings.contains(warning)) {
        lab.watch.report_progress(Progress::Warning(&warning));
        lab.store.add_warning(&run.id, &warning)?;
    }
    lab.watch.report_progress(Progress::Begun(&run.id));
    Ok(())
}

fn finish(
    lab: &mut Lab<'_>,
    plan: &Plan,
    run: &RunId,
    outcome: Result<(), LabError>,
) -> Result<RunId, LabError> {
    match outcome {
        Ok(()) => {
            lab.store.finish(run, RunStatus::Complete)?;
            self_test::note_self_test(lab.store, plan, run)?;
            Ok(run.clone())
        }
        Err(error) if error.is_interruption() => {
            lab.store.finish(run, RunStatus::Interrupted)?;
            Ok(run.clone())
        }
        Err(error) => {
            let why = mask_message(&error.to_string());
            let warning =
                Warning::new(Severity::Caution, Warning::BROKE_OFF, format!("it broke off: {why}"));
            // The store may be what failed.
            let _best_effort = lab.store.add_warning(run, &warning);
            Err(LabError::BrokeOff(run.clone(), Box::new(error)))
        }
    }
}
