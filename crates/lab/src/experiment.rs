//! Carrying out a plan.

use dbdyno_forecast::{Remaining, ending as over, extension_warning};
use dbdyno_load::{Clock, VirtualClock, mock};
use dbdyno_model::{
    Arm, ArmSpec, Counting, Environment, ImageUse, PerArm, Plan, Run, RunId, RunStatus, Stage,
    Target, Warning,
};
use dbdyno_sandbox::Home;
use dbdyno_store::{NewRun, Store};
use std::sync::atomic::AtomicBool;

use crate::capture::{self, STEP};
use crate::count;
use crate::course::Course;
use crate::ending::Ending;
use crate::error::LabError;
use crate::hypothesis;
use crate::image;
use crate::placement;
use crate::provenance;
use crate::resume::{self, Hold};
use crate::self_test;
use crate::station::{Restores, SetUp, Station};
use crate::upgrade;
use crate::watch::{Progress, Watch};
use dbdyno_judge::cautions::saturation;
use dbdyno_workload::planned::datasets_of;

/// The place where experiments are carried out.
pub struct Lab<'a> {
    /// Where sandboxes live.
    pub home: &'a Home,
    /// Where results go.
    pub store: &'a mut Store,
    /// Set from outside to stop; what was measured until then is kept.
    pub stop: &'a AtomicBool,
    /// Who listens.
    pub watch: &'a mut dyn Watch,
    /// What time it is: see [`clock_of`].
    pub clock: Clock,
}

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

/// The first day of virtual time: 2026-01-01.
const VIRTUAL_UNIX_MS: u64 = 1_767_225_600_000;
const DAY_MS: u64 = 86_400_000;

/// The clock of an experiment with these arms, whose results go to this store. That of models goes
/// on where it was when the store was last written to, a day later, and halts after so many rounds.
///
/// # Errors
/// A store that cannot be read.
pub fn clock_of(
    arms: &PerArm<ArmSpec>,
    store: &Store,
    halts: Option<u64>,
) -> Result<Clock, LabError> {
    if !Arm::BOTH.into_iter().any(|arm| arms[arm].is_mock()) {
        return Ok(Clock::system());
    }
    let after = store.last_started_unix_ms()?.map_or(0, |last| last + DAY_MS);
    Ok(Clock::Virtual(VirtualClock::halting(after.max(VIRTUAL_UNIX_MS), halts)))
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
/// [`crate::extended`] gives it. Cells that are decided stay as they are.
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
    Course::new(lab, plan, stations, run, left, ending).carry_out()?;
    check(lab, plan, stations)
}

/// Asks both arms what must hold of their tables before and after, whatever the loads did.
fn check(lab: &mut Lab<'_>, plan: &Plan, stations: &PerArm<Station>) -> Result<(), LabError> {
    let datasets = datasets_of(plan)?;
    Arm::BOTH.into_iter().try_for_each(|arm| stations[arm].check(arm, &datasets, lab.watch))
}

fn set_up(lab: &mut Lab<'_>, plan: &Plan) -> Result<PerArm<Station>, LabError> {
    crate::loads::check(plan)?;
    upgrade::check(lab.home, plan)?;
    let datasets = datasets_of(plan)?;
    let clock = lab.clock.clone();
    let facts = host_facts(lab);
    let memory_mb = memory_mb(&facts);
    let clients = plan.clients.iter().copied().max().unwrap_or(1);
    let wants_back = plan.stages.contains(&Stage::Restore);
    let restores = if wants_back { Restores::Yes } else { Restores::No };
    let setup = |arm: Arm| {
        let spec = &plan.arms[arm];
        let (home, stop, clock) = (lab.home, lab.stop, &clock);
        SetUp { home, arm, spec, datasets: &datasets, memory_mb, clients, restores, stop, clock }
    };
    // Both are opened before either is filled, which takes long: what is wrong shows early.
    let mut base = Station::open(&setup(Arm::Base), None, lab.watch)?;
    let same_server = matches!(plan.arms.base.target, Target::Url(_))
        && plan.arms.base.target == plan.arms.test.target;
    let mut test = if same_server {
        base.share(&setup(Arm::Test))
    } else {
        Station::open(&setup(Arm::Test), Some(&base), lab.watch)?
    };
    base.fill(&setup(Arm::Base), lab.watch)?;
    test.fill(&setup(Arm::Test), lab.watch)?;
    base.note_delay();
    test.note_delay();
    for (name, value) in facts {
        base.environment.set(name.clone(), value.clone());
        test.environment.set(name, value);
    }
    let mut stations = PerArm { base, test };
    capture::full(plan, &mut stations)?;
    Ok(stations)
}

/// Sets both arms up once more in place of what they were, empty, and fills their tables, from no
/// image. What is known of the arms stays.
///
/// # Errors
/// Whatever was in the way.
pub(crate) fn reload(
    lab: &mut Lab<'_>,
    plan: &Plan,
    stations: &mut PerArm<Station>,
) -> Result<(), LabError> {
    let datasets = datasets_of(plan)?;
    let memory_mb = memory_mb(&dbdyno_probe::host_facts());
    let clients = plan.clients.iter().copied().max().unwrap_or(1);
    for arm in Arm::BOTH {
        let mut spec = plan.arms[arm].clone();
        spec.begin.image = ImageUse::None;
        let (home, stop, clock) = (lab.home, lab.stop, &lab.clock);
        let setup = SetUp {
            home,
            arm,
            spec: &spec,
            datasets: &datasets,
            memory_mb,
            clients,
            restores: Restores::No,
            stop,
            clock,
        };
        let mut anew = Station::open(&setup, None, lab.watch)?;
        std::mem::swap(&mut anew.environment, &mut stations[arm].environment);
        std::mem::replace(&mut stations[arm], anew).take_down(arm)?;
        stations[arm].fill(&setup, lab.watch)?;
    }
    Ok(())
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
    for warning in image::warnings(stations) {
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

/// What is true of the host; of that of models, which is the same everywhere, what is asked for.
fn host_facts(lab: &Lab<'_>) -> Vec<(String, String)> {
    if let Clock::Virtual(_) = lab.clock {
        let processors = mock::PROCESSORS.to_string();
        let told = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        return vec![
            told("host.cpu.model", "a model"),
            told("host.cpu.logical", &processors),
            told("host.memory_kb", "8388608"),
            told(saturation::PROCESSORS, &processors),
        ];
    }
    let mut facts = dbdyno_probe::host_facts();
    facts.extend(dbdyno_probe::filesystem_facts(lab.home.dir()));
    let processors = dbdyno_sandbox::processors().len().to_string();
    facts.push((saturation::PROCESSORS.to_owned(), processors));
    facts
}

/// Memory of the host; 2 GB, which every server can live with, where the host does not tell.
fn memory_mb(facts: &[(String, String)]) -> u64 {
    let memory = facts.iter().find(|(name, _)| name == "host.memory_kb");
    memory.and_then(|(_, kb)| kb.parse::<u64>().ok()).map_or(2048, |kb| kb / 1024)
}
