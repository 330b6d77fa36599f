//! Carrying out a plan.

use dbdyno_forecast::{Remaining, ending as over, extension_warning};
use dbdyno_model::{Arm, Counting, Environment, PerArm, Plan, Run, RunId, RunStatus, Warning};
use dbdyno_store::NewRun;

use crate::arm::{Station, provenance};
use crate::both_arms::set_up;
use crate::capture::STEP;
use crate::count;
use crate::ending::Ending;
use crate::error::LabError;
use crate::hypothesis;
use crate::laboratory::Lab;
use crate::placement;
use crate::resume::{self, Hold};
use crate::self_test;
use crate::stages::Stages;
use crate::watch::Progress;
use dbdyno_workload::planned::datasets_of;

/// What is to be done, and what it is called.
pub struct Order<'a> {
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
}

/// Carries out an experiment. The run is in the store, round by round, whatever happens; a request
/// to stop ends it early and is no error.
///
/// # Errors
/// Whatever was in the way. Servers are stopped and tables taken away in any case.
pub fn measure(lab: &mut Lab<'_>, order: &Order<'_>) -> Result<RunId, LabError> {
    let left = Remaining::of(order.plan, None);
    let mut stations = set_up(lab, order.plan)?;
    for name in order.varied {
        for arm in Arm::BOTH {
            let fact = format!("{}{name}", dbdyno_audit::MEANT);
            stations[arm].environment.set(fact, "on purpose");
        }
    }
    let begun = begin(lab, order, &stations);
    conduct(lab, order.plan, stations, &left, (None, begun))
}

/// Takes up a run that was interrupted or killed. What was measured is kept; see
/// [`mod@crate::resume`]. Passwords are not in the store: they must be in the plan of `run`.
///
/// # Errors
/// [`LabError::Unlike`] for a run that is complete, or whose servers have changed since;
/// [`LabError::Busy`] if it is being measured; or whatever was in the way.
pub fn resume(lab: &mut Lab<'_>, run: &Run) -> Result<RunId, LabError> {
    if run.status == RunStatus::Complete {
        let text = format!("run {} is complete; begin a new one: {}", run.id, run.command);
        return Err(LabError::Unlike(text));
    }
    take_on(lab, run, &Remaining::of(&run.plan, Some(run)), None)
}

/// Makes a run longer: `plan` is that of the run with more pairs, another rule or another limit, as
/// [`dbdyno_forecast::extended`] gives it. Cells that are decided stay as they are.
///
/// # Errors
/// As [`resume()`], for complete runs too.
pub fn extend(lab: &mut Lab<'_>, run: &Run, plan: Plan) -> Result<RunId, LabError> {
    let over = over::decided(run)?;
    let news = extension_warning(run, &plan).filter(|warning| !run.warnings.contains(warning));
    let longer = Run { plan, ..run.clone() };
    let left = Remaining::without(&longer.plan, Some(&longer), over);
    take_on(lab, &longer, &left, Some(&news))
}

/// Goes on with a run; `longer` where its plan is another one than is stored, with what is to be
/// said of that.
fn take_on(
    lab: &mut Lab<'_>,
    run: &Run,
    left: &Remaining,
    longer: Option<&Option<Warning>>,
) -> Result<RunId, LabError> {
    let hold = Hold::take(&run.id)?;
    if left.rounds_left == 0 && longer.is_some() {
        return Ok(run.id.clone());
    }
    if left.rounds_left == 0 {
        lab.store.reopen(&run.id)?;
        let counted = count::carry_out(lab, &run.plan, &run.id);
        return finish(lab, (&run.plan, &run.id), counted);
    }
    let mut stations = set_up(lab, &run.plan)?;
    for arm in Arm::BOTH {
        let kept = [STEP, dbdyno_audit::MEANT];
        let facts = run.environment[arm].facts.iter();
        for (name, value) in facts.filter(|(name, _)| kept.iter().any(|k| name.starts_with(k))) {
            stations[arm].environment.set(name.clone(), value.clone());
        }
    }
    // Only now, when the servers are there: what was complete stays so if they are not.
    if let Some(news) = longer {
        lab.store.extend(&run.id, &run.plan)?;
        for warning in news.iter() {
            lab.store.add_warning(&run.id, warning)?;
        }
    }
    let begun = take_up(lab, run, &stations, left).map(|()| (run.id.clone(), hold));
    conduct(lab, &run.plan, stations, left, (Some(run), begun))
}

/// Sets both arms of a plan up, looks at them and takes them down again: nothing is measured.
///
/// # Errors
/// Whatever was in the way. Servers are stopped and tables taken away in any case.
pub fn survey(lab: &mut Lab<'_>, plan: &Plan) -> Result<PerArm<Environment>, LabError> {
    let PerArm { base, test } = set_up(lab, plan)?;
    let facts = PerArm { base: base.environment.clone(), test: test.environment.clone() };
    let down = [test.take_down(Arm::Test), base.take_down(Arm::Base)];
    down.into_iter().collect::<Result<(), _>>()?;
    Ok(facts)
}

/// Goes through the stages of a run that was begun, and takes the servers down.
fn conduct(
    lab: &mut Lab<'_>,
    plan: &Plan,
    mut stations: PerArm<Station>,
    left: &Remaining,
    (measured, begun): (Option<&Run>, Result<(RunId, Hold), LabError>),
) -> Result<RunId, LabError> {
    let driven = begun.map(|(run, hold)| {
        let outcome = match plan.counting {
            Counting::Only => Ok(()),
            Counting::No | Counting::Beside => {
                let ending = Ending::new(plan, measured, &lab.clock);
                drive(lab, plan, &mut stations, &run, (left, ending))
            }
        };
        (run, hold, outcome)
    });
    let PerArm { base, test } = stations;
    // Both are taken down before either's complaint is heard.
    let down = [test.take_down(Arm::Test), base.take_down(Arm::Base)];
    let (run, _hold, outcome) = driven?;
    let outcome = outcome.and_then(|()| count::carry_out(lab, plan, &run));
    let run = finish(lab, (plan, &run), outcome)?;
    down.into_iter().collect::<Result<(), _>>()?;
    Ok(run)
}

/// Goes through the stages.
fn drive(
    lab: &mut Lab<'_>,
    plan: &Plan,
    stations: &mut PerArm<Station>,
    run: &RunId,
    (left, ending): (&Remaining, Ending),
) -> Result<(), LabError> {
    check(lab, plan, stations)?;
    Stages::new(lab, plan, stations, run, left, ending).carry_out()?;
    check(lab, plan, stations)
}

/// Asks both arms what must hold of their tables before and after, whatever the loads did.
fn check(lab: &mut Lab<'_>, plan: &Plan, stations: &PerArm<Station>) -> Result<(), LabError> {
    let datasets = datasets_of(plan)?;
    Arm::BOTH.into_iter().try_for_each(|arm| stations[arm].check(arm, &datasets, lab.watch))
}

fn begin(
    lab: &mut Lab<'_>,
    order: &Order<'_>,
    stations: &PerArm<Station>,
) -> Result<(RunId, Hold), LabError> {
    let run = lab.store.begin(&NewRun {
        name: order.name,
        started_unix_ms: lab.clock.unix_ms(),
        tool_version: order.tool_version,
        command: order.command,
        plan: order.plan,
    })?;
    for arm in Arm::BOTH {
        lab.store.set_environment(&run, arm, &stations[arm].environment)?;
        for warning in &stations[arm].warnings {
            lab.watch.progress(Progress::Warning(&warning.text));
            lab.store.add_warning(&run, warning)?;
        }
    }
    for warning in provenance::images(stations) {
        lab.watch.progress(Progress::Warning(&warning.text));
        lab.store.add_warning(&run, &warning)?;
    }
    for warning in placement::warnings(order.plan, stations) {
        lab.store.add_warning(&run, &warning)?;
    }
    let built = provenance::warning(&order.plan.arms, stations);
    for warning in built.into_iter().chain(hypothesis::warning(&order.plan.arms)) {
        lab.watch.progress(Progress::Warning(&warning.text));
        lab.store.add_warning(&run, &warning)?;
    }
    lab.watch.progress(Progress::Begun(&run));
    let hold = Hold::take(&run)?;
    Ok((run, hold))
}

fn take_up(
    lab: &mut Lab<'_>,
    run: &Run,
    stations: &PerArm<Station>,
    left: &Remaining,
) -> Result<(), LabError> {
    let now = PerArm::from_fn(|arm| &stations[arm].environment);
    let changed = resume::changes(&run.environment, &now)?;
    lab.store.reopen(&run.id)?;
    for arm in Arm::BOTH {
        if run.environment[arm].facts.is_empty() {
            lab.store.set_environment(&run.id, arm, &stations[arm].environment)?;
        }
    }
    let of_arms = Arm::BOTH.into_iter().flat_map(|arm| stations[arm].warnings.clone());
    let placed = placement::warnings(&run.plan, stations);
    let built = provenance::warning(&run.plan.arms, stations);
    let asked = hypothesis::warning(&run.plan.arms);
    let news = changed.into_iter().chain([left.warning()]).chain(of_arms).chain(placed);
    let news = news.chain(built).chain(asked);
    for warning in news.filter(|warning| !run.warnings.contains(warning)) {
        lab.watch.progress(Progress::Warning(&warning.text));
        lab.store.add_warning(&run.id, &warning)?;
    }
    lab.watch.progress(Progress::Begun(&run.id));
    Ok(())
}

fn finish(
    lab: &mut Lab<'_>,
    (plan, run): (&Plan, &RunId),
    outcome: Result<(), LabError>,
) -> Result<RunId, LabError> {
    match outcome {
        Ok(()) => {
            lab.store.finish(run, RunStatus::Complete)?;
            self_test::note(lab.store, plan, run)?;
            Ok(run.clone())
        }
        Err(error) if error.is_interruption() => {
            lab.store.finish(run, RunStatus::Interrupted)?;
            Ok(run.clone())
        }
        Err(error) => Err(LabError::BrokeOff(run.clone(), Box::new(error))),
    }
}
