//! How servers isolate transactions, looked at: cases that have a name, and small interleavings.
//!
//! ```text
//!   target ─▶ set up as for a comparison ─▶ level by level ─┬─ cases           a table of 3 rows
//!                                                           ├─ interleavings   two rows for each
//!                                                           ├─ random          a row for each key
//!                                                           │    └─ witness, replay:
//!                                                           │       its anomalies, played again
//!                                                           └─ closed_loop,    a load, recorded;
//!                                                              online          judged meanwhile
//! ```
//!
//! Nothing is measured here: what counts is the order of statements, and who waits is asked of the
//! server (`steps`). On a server that is not ours the tables are marked and taken away as those of
//! a load are.

mod bench;
mod cases;
mod closed_loop;
mod in_process;
mod interleavings;
mod online;
mod random;
mod random_load;
mod replay;
mod row_log;
mod scripts;
mod steps;
mod tables;
mod witness;
mod words;

use std::sync::Arc;

use dbdyno_cases::{Interleaving, InterleavingSize};
use dbdyno_lab::{LabError, Restores, SetUp, Station, open_station};
use dbdyno_load::Clock;
use dbdyno_model::isolation::{IsolationLevel, IsolationTold, LevelTold};
use dbdyno_model::{ArmSpec, Arms, Product, ReleaseSpec, Setting, Switch, Target};
use dbdyno_workload::Dataset;
use dbdyno_workload::versioned::VersionedRowKind as Rows;

use bench::{ARM, Bench};
pub use bench::{IsolationLab, IsolationQuestion};
pub use online::OnlineTold;
pub use random::{LevelRecord, PromiseScope};
pub use random_load::{AskingLimit, RandomLoad, RandomLoadKind, Threads};
pub use replay::{AnomalyWitness, WitnessReplay};
pub use row_log::RowLog;
pub use scripts::ScheduleReplies;
use tables::Tables;
pub use witness::{Origin, anomaly_file_name, refine_anomaly_name, witness_stories};
use words::Words;

/// Sessions that are connected at a time, and whoever asks who waits.
const CLIENTS: u32 = 8;

/// Sets a server up, asks it, and takes it down.
///
/// # Errors
/// A server that cannot be had, that breaks, or that does not tell who waits.
pub fn isolation(
    lab: &mut IsolationLab<'_>,
    question: &IsolationQuestion<'_>,
) -> Result<IsolationTold, LabError> {
    let spec = telling(question.spec);
    at_station(lab, &spec, CLIENTS, |lab, station, clock| asked(lab, question, station, clock))
}

/// A server whose clients recorded what they did.
#[derive(Debug)]
pub struct RecordedOf<T> {
    /// Its version, as it says it.
    pub version: String,
    /// Level by level, what was made of the history, and its witnesses as they were played again.
    pub levels: Vec<(T, Vec<WitnessReplay>)>,
    /// Whether it was interrupted.
    pub is_cut_short: bool,
}

/// Whoever judges what was recorded: what he makes of it, and what is played again.
pub type Judge<'a, T> = &'a mut dyn FnMut(LevelRecord) -> (T, Vec<AnomalyWitness>);

/// Sets a server up, drives random transactions at each of `levels` that it has, lets `judge` look
/// at what was recorded, plays the witnesses again `runs` times, and takes it down.
///
/// # Errors
/// Those of [`isolation`].
pub fn random_transactions<T>(
    lab: &mut IsolationLab<'_>,
    spec: &ArmSpec,
    levels: &[IsolationLevel],
    load: RandomLoad,
    runs: u32,
    judge: Judge<'_, T>,
) -> Result<RecordedOf<T>, LabError> {
    let clients = load.clients.max(CLIENTS);
    let spec = &telling(spec);
    at_station(lab, spec, clients, |lab, station, clock| {
        let server = |error| LabError::Server(ARM, spec.to_string(), error);
        if load.reads_log
            && let Some(why) = row_log::why_no_log(&station.connector).map_err(server)?
        {
            return Err(LabError::Loads(why));
        }
        let mut bench = bench(lab, station, clock, spec, levels)?;
        let mut all = Vec::new();
        for &level in levels {
            if bench.is_stopped() {
                break;
            }
            if !bench.words.has_level(level) {
                continue;
            }
            let recordings = match load.kind {
                RandomLoadKind::Rows => bench.record_level(level, load).map_err(server)?,
                RandomLoadKind::Load(shape) => {
                    let driven = bench.prepare_load(level, load, shape)?;
                    let recorded = bench.closed_loop(level, load, &driven)?;
                    driven.drop_tables()?;
                    vec![recorded]
                }
            };
            for recorded in recordings {
                let (told, witnesses) = judge(recorded);
                let witnesses = if runs == 0 { Vec::new() } else { witnesses };
                let replayed = bench.replay(level, &witnesses, runs).map_err(server)?;
                all.push((told, replayed));
            }
        }
        let version = station.environment.get("server.version").to_owned();
        Ok(RecordedOf { version, levels: all, is_cut_short: bench.is_stopped() })
    })
}

/// A server whose transactions were judged while they went on.
#[derive(Debug)]
pub struct OnlineOf {
    /// Its version, as it says it.
    pub version: String,
    /// Level by level.
    pub levels: Vec<OnlineTold>,
    /// Whether it was interrupted.
    pub is_cut_short: bool,
}

/// Sets a server up, drives a load of this shape at each of `levels` that it has, judges it
/// meanwhile, and takes the server down.
///
/// # Errors
/// Those of [`isolation`].
pub fn online_transactions(
    lab: &mut IsolationLab<'_>,
    spec: &ArmSpec,
    levels: &[IsolationLevel],
    load: RandomLoad,
    shape: Rows,
) -> Result<OnlineOf, LabError> {
    let clients = load.clients.max(CLIENTS);
    at_station(lab, &telling(spec), clients, |lab, station, clock| {
        let mut bench = bench(lab, station, clock, spec, levels)?;
        let mut all = Vec::new();
        for &level in levels {
            if bench.is_stopped() {
                break;
            }
            if bench.words.has_level(level) {
                let driven = bench.prepare_load(level, load, shape)?;
                all.push(bench.judge_online(level, load, &driven)?);
                driven.drop_tables()?;
            }
        }
        let version = station.environment.get("server.version").to_owned();
        Ok(OnlineOf { version, levels: all, is_cut_short: bench.is_stopped() })
    })
}

/// A server that has played given schedules.
#[derive(Debug)]
pub struct ScriptsOf {
    /// Its version, as it says it.
    pub version: String,
    /// Schedule by schedule; fewer if it was interrupted.
    pub served: Vec<ScheduleReplies>,
}

/// Sets a server up, plays schedules at a level, and takes it down.
///
/// # Errors
/// Those of [`isolation`].
pub fn play_schedules(
    lab: &mut IsolationLab<'_>,
    spec: &ArmSpec,
    level: IsolationLevel,
    shape: InterleavingSize,
    schedules: &[Interleaving],
) -> Result<ScriptsOf, LabError> {
    let spec = telling(spec);
    at_station(lab, &spec, CLIENTS, |lab, station, clock| {
        let mut bench = bench(lab, station, clock, &spec, &[level]).map_err(|error| match error {
            LabError::Loads(_) => LabError::Loads(format!(
                "it does not have the level {level}, at which this is to be played; name another \
                 server"
            )),
            other => other,
        })?;
        let served = bench
            .play_scripts(level, shape, schedules)
            .map_err(|error| LabError::Server(ARM, spec.to_string(), error))?;
        let version = station.environment.get("server.version").to_owned();
        Ok(ScriptsOf { version, served })
    })
}

/// Sets a server up, lets `ask` talk to it, and takes it down.
fn at_station<T>(
    lab: &mut IsolationLab<'_>,
    spec: &ArmSpec,
    clients: u32,
    ask: impl FnOnce(&mut IsolationLab<'_>, &Station, &Clock) -> Result<T, LabError>,
) -> Result<T, LabError> {
    if matches!(spec.target, Target::Rocksdb(_) | Target::Mock(_)) {
        let text = "isolation is tested with SQL statements, which this arm does not accept; name \
                    mysql:, mariadb:, postgres:, sqlite:, engine: or a URL";
        return Err(LabError::Loads(text.to_owned()));
    }
    let clock = Clock::system();
    let tables: [Arc<dyn Dataset>; 1] = [Arc::new(Tables)];
    let setup = SetUp {
        home: lab.home,
        arm: ARM,
        spec,
        datasets: &tables,
        memory_mb: lab.home.memory_mb(),
        clients,
        restores: Restores::No,
        stop: lab.stop,
        clock: &clock,
    };
    let station = open_station(&setup, &Arms::from_fn([], |_| unreachable!()), lab.watch)?;
    let told = ask(lab, &station, &clock);
    let down = station.take_down(ARM);
    let told = told?;
    down.map(|()| told)
}

/// MySQL from 8.0 on tells for whom a session waits only with its performance schema.
fn telling(spec: &ArmSpec) -> ArmSpec {
    let mut spec = spec.clone();
    if let Target::Release(ReleaseSpec { product: Product::MySql, settings, .. }) = &mut spec.target
        && !settings.iter().any(|setting| matches!(setting, Setting::Pfs(_)))
    {
        settings.push(Setting::Pfs(Switch::On));
    }
    spec
}

fn asked(
    lab: &mut IsolationLab<'_>,
    question: &IsolationQuestion<'_>,
    station: &Station,
    clock: &Clock,
) -> Result<IsolationTold, LabError> {
    let server = |error| LabError::Server(ARM, question.spec.to_string(), error);
    let mut bench = bench(lab, station, clock, question.spec, question.levels)?;
    let mut levels = Vec::new();
    for &level in question.levels {
        if bench.is_stopped() {
            break;
        }
        if !bench.words.has_level(level) {
            continue;
        }
        let cases = bench.play_cases(level, question.cases).map_err(server)?;
        let shapes = bench.play_shapes(level, question).map_err(server)?;
        levels.push(LevelTold { level, cases, shapes });
    }
    Ok(IsolationTold {
        target: question.spec.to_string(),
        version: station.environment.get("server.version").to_owned(),
        family: bench.words.family.name().to_owned(),
        levels,
        is_cut_short: bench.is_stopped(),
    })
}

/// The server as it is asked; it must have one of these levels.
fn bench<'a, 'b>(
    lab: &'a mut IsolationLab<'b>,
    station: &'a Station,
    clock: &'a Clock,
    spec: &ArmSpec,
    levels: &[IsolationLevel],
) -> Result<Bench<'a, 'b>, LabError> {
    let words = station.connector.connect().and_then(|mut client| {
        let words = Words::of_server(&mut *client, station.dialect)?;
        client.close();
        Ok(words)
    });
    let words = words.map_err(|error| LabError::Server(ARM, spec.to_string(), error))?;
    if !levels.iter().any(|level| words.has_level(*level)) {
        let text = "it has none of these levels; leave out --level to play all that it has";
        return Err(LabError::Loads(text.to_owned()));
    }
    Ok(Bench { lab, station, words, clock })
}
