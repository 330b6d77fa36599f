//! Carrying out a plan.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use dbdyno_load::closed::Measured;
use dbdyno_load::{Connector, LoadError, Moment, RoundSpec, run_round};
use dbdyno_model::{Arm, Cell, Cost, PerArm, Plan, Round, RoundKey, RunId, RunStatus, Target};
use dbdyno_sandbox::Home;
use dbdyno_store::{NewRun, Store};
use dbdyno_workload::{Load, Program, Tables};

use crate::error::LabError;
use crate::neighbours::{Look, Neighbours};
use crate::station::{SetUp, Station};
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

/// Operations of the warm-up are numbered from here, out of reach of those that are measured.
const WARM_UP_OPERATION: u64 = 1 << 62;
/// Every pair has this many operations to itself; both of its rounds start at the same one.
const OPERATIONS_PER_PAIR: u64 = 1 << 32;
/// How long a load is run against nothing to learn what asking costs. On a host with much else to
/// do even this may pass without a turn of ours; then it is tried again, twice as long each time.
const NULL_WINDOW: Duration = Duration::from_millis(200);
const NULL_TRIES: u32 = 6;

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
    let tables = tables_of(plan);
    let mut facts = dbdyno_probe::host_facts();
    facts.extend(dbdyno_probe::filesystem_facts(lab.home.dir()));
    let memory_mb = memory_mb(&facts);
    let setup = |arm: Arm| {
        let spec = &plan.arms[arm];
        SetUp { home: lab.home, arm, spec, tables, memory_mb, stop: lab.stop }
    };
    let mut base = Station::set_up(&setup(Arm::Base), lab.watch)?;
    let same_server = matches!(plan.arms.base.target, Target::Url(_))
        && plan.arms.base.target == plan.arms.test.target;
    let mut test = if same_server {
        base.share(&setup(Arm::Test))
    } else {
        Station::set_up(&setup(Arm::Test), lab.watch)?
    };
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
        let tracks =
            PerArm::try_from_fn(|arm| Track::prepare(lab, plan, &cell, arm, &stations[arm]))?;
        for key in plan.rounds(&cell) {
            lab.watch.progress(Progress::RoundBegins {
                done: counter.done,
                total: counter.total,
                left: Duration::from_nanos(plan.round_ns + plan.lead_in_ns)
                    * (counter.total - counter.done),
                load: &cell.load,
                clients: cell.clients,
            });
            let waiting = &stations[key.arm.other()];
            let round = tracks[key.arm].round(lab, plan, &key, waiting, &mut neighbours)?;
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

struct Counter {
    done: u32,
    total: u32,
}

/// One arm under one cell: the load made ready, the server warm.
struct Track<'a> {
    station: &'a Station,
    program: Program,
    slow: f64,
    /// For an embedded arm: what asking costs by itself, nanoseconds of processor time per event.
    asking_ns_per_event: Option<f64>,
}

impl<'a> Track<'a> {
    fn prepare(
        lab: &Lab<'_>,
        plan: &Plan,
        cell: &Cell,
        arm: Arm,
        station: &'a Station,
    ) -> Result<Track<'a>, LabError> {
        let load = Load::find(&cell.load).expect("loads are checked before a plan is made");
        let program = Program::compile(load, station.dialect, tables_of(plan))
            .expect("the templates of the catalog parse; a test compiles all of them");
        let slow = plan.arms[arm].slow;
        let mut track = Track { station, program, slow, asking_ns_per_event: None };
        let failed = |doing: &str, error| {
            LabError::Load(
                arm,
                format!("{doing} {} with {} clients", cell.load, cell.clients),
                error,
            )
        };
        if station.connector.is_embedded() {
            let asking = track
                .ask_nothing(lab.stop)
                .map_err(|error| failed("measuring the cost of asking", error))?;
            track.asking_ns_per_event = Some(asking);
        }
        let warm_up = track.spec(&station.connector, cell.clients, WARM_UP_OPERATION, lab.stop);
        let window = Duration::from_nanos(plan.warm_up_ns);
        let warm_up = RoundSpec { window, lead_in: Duration::ZERO, ..warm_up };
        match run_round(&warm_up, &mut |_| {}) {
            Ok(_) | Err(LoadError::NothingFinished) => Ok(track),
            Err(error) => Err(failed("warming up", error)),
        }
    }

    /// What asking costs when nothing answers: nanoseconds of processor time per event.
    fn ask_nothing(&self, stop: &AtomicBool) -> Result<f64, LoadError> {
        let spec = self.spec(&Connector::Null, 1, WARM_UP_OPERATION, stop);
        let mut outcome = Err(LoadError::NothingFinished);
        for attempt in 0..NULL_TRIES {
            let window = NULL_WINDOW * 2_u32.pow(attempt);
            outcome = run_round(&RoundSpec { window, slow: 0.0, ..spec }, &mut |_| {});
            if !matches!(outcome, Err(LoadError::NothingFinished)) {
                break;
            }
        }
        outcome.map(|asked| asked.usage.cpu_ns as f64 / asked.events as f64)
    }

    fn spec<'b>(
        &'b self,
        connector: &'b Connector,
        clients: u32,
        first_operation: u64,
        stop: &'b AtomicBool,
    ) -> RoundSpec<'b> {
        RoundSpec {
            program: &self.program,
            connector,
            clients,
            first_operation,
            lead_in: Duration::ZERO,
            window: Duration::ZERO,
            slow: self.slow,
            stop,
        }
    }

    fn round(
        &self,
        lab: &Lab<'_>,
        plan: &Plan,
        key: &RoundKey,
        waiting: &Station,
        neighbours: &mut Neighbours,
    ) -> Result<Round, LabError> {
        let first_operation = u64::from(key.pair) * OPERATIONS_PER_PAIR;
        let clients = key.cell.clients;
        let spec = self.spec(&self.station.connector, clients, first_operation, lab.stop);
        let spec = RoundSpec {
            lead_in: Duration::from_nanos(plan.lead_in_ns),
            window: Duration::from_nanos(plan.round_ns),
            ..spec
        };
        let mut looks = Vec::with_capacity(2);
        let mut look = |_: Moment| {
            looks.push(Look::take(self.station.probe.as_ref(), waiting.probe.as_ref()));
        };
        let measured = run_round(&spec, &mut look).map_err(|error| {
            let doing = format!("{} with {clients} clients", key.cell.load);
            LabError::Load(key.arm, doing, error)
        })?;
        let cost = self.cost(&measured, &looks);
        neighbours.add(&looks);
        Ok(Round {
            key: key.clone(),
            started_unix_ms: measured.started_unix_ms,
            wall_ns: measured.wall_ns,
            events: measured.events,
            statements: measured.answer.statements,
            rows_read: measured.answer.rows_read,
            rows_changed: measured.answer.rows_changed,
            retries: measured.retries,
            latency: measured.latency,
            series: measured.series,
            cost,
        })
    }

    fn cost(&self, measured: &Measured, looks: &[Look]) -> Cost {
        let usage = measured.usage;
        if let Some(asking_ns) = self.asking_ns_per_event {
            let client_ns = ((asking_ns * measured.events as f64) as u64).min(usage.cpu_ns);
            return Cost {
                server_cpu_ns: Some(usage.cpu_ns - client_ns),
                server_kernel_ns: Some(usage.kernel_ns),
                client_cpu_ns: Some(client_ns),
                client_kernel_ns: Some(0),
                server_context_switches: Some(usage.context_switches),
                server_read_bytes: Some(usage.read_bytes),
                server_written_bytes: Some(usage.written_bytes),
                ..Cost::default()
            };
        }
        let server = match looks {
            [Look { server: Some(opened), .. }, Look { server: Some(closed), .. }] => {
                in_window(closed.cost_since(opened), measured)
            }
            _ => Cost::default(),
        };
        Cost {
            client_cpu_ns: Some(usage.cpu_ns),
            client_kernel_ns: Some(usage.kernel_ns),
            client_context_switches: Some(usage.context_switches),
            ..server
        }
    }
}

/// The looks come a little after the window's ends when the host is busy; the rate being steady,
/// the cost of the window is that share of the cost between the looks.
fn in_window(cost: Cost, measured: &Measured) -> Cost {
    let share = measured.wall_ns as f64 / measured.observed_ns.max(1) as f64;
    let scaled = |value: Option<u64>| value.map(|value| (value as f64 * share).round() as u64);
    Cost {
        server_cpu_ns: scaled(cost.server_cpu_ns),
        server_kernel_ns: scaled(cost.server_kernel_ns),
        server_context_switches: scaled(cost.server_context_switches),
        server_read_bytes: scaled(cost.server_read_bytes),
        server_written_bytes: scaled(cost.server_written_bytes),
        ..cost
    }
}

/// Memory of the host; 2 GB, which every server can live with, where the host does not tell.
fn memory_mb(facts: &[(String, String)]) -> u64 {
    let memory = facts.iter().find(|(name, _)| name == "host.memory_kb");
    memory.and_then(|(_, kb)| kb.parse::<u64>().ok()).map_or(2048, |kb| kb / 1024)
}

fn tables_of(plan: &Plan) -> Tables {
    Tables { count: plan.tables, rows: plan.rows, seed: plan.seed }
}

#[expect(clippy::disallowed_methods, reason = "a run carries the time of day it began")]
fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}
