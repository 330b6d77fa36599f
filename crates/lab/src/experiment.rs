//! Carrying out a plan.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use dbdyno_model::{Arm, Cell, PerArm, Plan, RunId, RunStatus, Severity, Target, Warning};
use dbdyno_sandbox::Home;
use dbdyno_store::{NewRun, Store};

use crate::error::LabError;
use crate::neighbours::Neighbours;
use crate::placement;
use crate::station::{SetUp, Station};
use crate::track::{Track, datasets_of};
use crate::watch::{Progress, Watch};

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
}

/// Carries out an experiment. The run is in the store, round by round, whatever happens; a request
/// to stop ends it early and is no error.
///
/// # Errors
/// Whatever was in the way. Servers are stopped and tables taken away in any case.
pub fn measure(lab: &mut Lab<'_>, order: &Order<'_>) -> Result<RunId, LabError> {
    let stations = set_up(lab, order.plan)?;
    let begun = begin(lab, order, &stations);
    let measured = begun.and_then(|run| {
        let outcome = measure_cells(lab, order.plan, &stations, &run);
        finish(lab, &run, outcome)
    });
    let PerArm { base, test } = stations;
    // Both are taken down before either's complaint is heard.
    let down = [test.take_down(Arm::Test), base.take_down(Arm::Base)];
    let run = measured?;
    down.into_iter().collect::<Result<(), _>>()?;
    Ok(run)
}

fn set_up(lab: &mut Lab<'_>, plan: &Plan) -> Result<PerArm<Station>, LabError> {
    let datasets = datasets_of(plan);
    let mut facts = dbdyno_probe::host_facts();
    facts.extend(dbdyno_probe::filesystem_facts(lab.home.dir()));
    let memory_mb = memory_mb(&facts);
    let setup = |arm: Arm| {
        let spec = &plan.arms[arm];
        SetUp { home: lab.home, arm, spec, datasets: &datasets, memory_mb, stop: lab.stop }
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
    for (name, value) in facts {
        base.environment.set(name.clone(), value.clone());
        test.environment.set(name, value);
    }
    Ok(PerArm { base, test })
}

fn begin(
    lab: &mut Lab<'_>,
    order: &Order<'_>,
    stations: &PerArm<Station>,
) -> Result<RunId, LabError> {
    let run = lab.store.begin(&NewRun {
        name: order.name,
        started_unix_ms: unix_ms(),
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
    for warning in placement::warnings(order.plan, stations) {
        lab.store.add_warning(&run, &warning)?;
    }
    lab.watch.progress(Progress::Begun(&run));
    Ok(run)
}

fn finish(
    lab: &mut Lab<'_>,
    run: &RunId,
    outcome: Result<(), LabError>,
) -> Result<RunId, LabError> {
    match outcome {
        Ok(()) => {
            lab.store.finish(run, RunStatus::Complete)?;
            Ok(run.clone())
        }
        Err(error) if error.is_interruption() => {
            lab.store.finish(run, RunStatus::Interrupted)?;
            Ok(run.clone())
        }
        Err(error) => Err(LabError::BrokeOff(run.clone(), Box::new(error))),
    }
}

fn measure_cells(
    lab: &mut Lab<'_>,
    plan: &Plan,
    stations: &PerArm<Station>,
    run: &RunId,
) -> Result<(), LabError> {
    let mut counter = Counter { done: 0, total: 2 * plan.pairs * plan.cells().len() as u32 };
    let mut neighbours = Neighbours::default();
    for cell in plan.cells() {
        let processor = placement::place(plan, cell.clients, stations)?;
        let tracks = PerArm::try_from_fn(|arm| {
            Track::prepare(plan, &cell, arm, &stations[arm], processor, lab.stop)
        })?;
        let pace = Pace::of(plan, tracks.base.warm_tps.min(tracks.test.warm_tps));
        if let Some(warning) = pace.warning(plan, &cell) {
            lab.watch.progress(Progress::Warning(&warning.text));
            lab.store.add_warning(run, &warning)?;
        }
        counter.total -= 2 * (plan.pairs - pace.pairs);
        for key in plan.rounds(&cell).into_iter().filter(|key| key.pair < pace.pairs) {
            lab.watch.progress(Progress::RoundBegins {
                done: counter.done,
                total: counter.total,
                left: (pace.window + Duration::from_nanos(plan.lead_in_ns))
                    * (counter.total - counter.done),
                load: &cell.load,
                clients: cell.clients,
            });
            let waiting = &stations[key.arm.other()];
            let round = tracks[key.arm].round(plan, &key, pace.window, waiting, &mut neighbours)?;
            lab.store.add_round(run, &round)?;
            counter.done += 1;
            lab.watch.progress(Progress::RoundDone(&round));
        }
    }
    for warning in neighbours.warnings() {
        lab.watch.progress(Progress::Warning(&warning.text));
        lab.store.add_warning(run, &warning)?;
    }
    Ok(())
}

/// How long the rounds of a cell are, and how many pairs there is time for.
struct Pace {
    window: Duration,
    pairs: u32,
}

/// A round with fewer events than this is a matter of luck.
const EVENTS_PER_ROUND: f64 = 10.0;
/// However slow the load, this many pairs are measured, if the plan has them.
const PAIRS_LEAST: u32 = 8;

impl Pace {
    /// The pace of the plan; where the slower arm does not get enough done in a round, rounds are
    /// longer and there are fewer of them, so that the time stays what was announced.
    fn of(plan: &Plan, tps: f64) -> Pace {
        let seconds = plan.round_ns as f64 / 1e9;
        let stretch = (EVENTS_PER_ROUND / (tps * seconds)).clamp(1.0, 1000.0);
        let fewer = (f64::from(plan.pairs) / stretch) as u32;
        Pace {
            window: Duration::from_nanos(plan.round_ns).mul_f64(stretch),
            pairs: fewer.max(PAIRS_LEAST).min(plan.pairs),
        }
    }

    fn warning(&self, plan: &Plan, cell: &Cell) -> Option<Warning> {
        (self.window > Duration::from_nanos(plan.round_ns)).then(|| {
            let text = format!(
                "{cell}: rounds take {:.1} s and there are {} pairs, because too few events are \
                 finished in {:.1} s",
                self.window.as_secs_f64(),
                self.pairs,
                plan.round_ns as f64 / 1e9
            );
            Warning::new(Severity::Note, "longer-rounds", text)
        })
    }
}

struct Counter {
    done: u32,
    total: u32,
}

/// Memory of the host; 2 GB, which every server can live with, where the host does not tell.
fn memory_mb(facts: &[(String, String)]) -> u64 {
    let memory = facts.iter().find(|(name, _)| name == "host.memory_kb");
    memory.and_then(|(_, kb)| kb.parse::<u64>().ok()).map_or(2048, |kb| kb / 1024)
}

#[expect(clippy::disallowed_methods, reason = "a run carries the time of day it began")]
fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}
