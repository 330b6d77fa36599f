//! Counting instructions per operation, after the measuring of rates.
//!
//! ```text
//!   all arms: started on small tables ── filled ── started again under callgrind
//!   for each load   a few operations of base ──▶ how many a session has
//!                   sessions of all arms until they need what they needed before
//!                   5 × ( short session, long session ), operations and order the same for all
//!                        long − short = the operations between them, and nothing else
//! ```
//!
//! What a session costs by itself, connecting and preparing, is in both and falls out. What a
//! server does in the background is in other threads or processes and never in: see
//! `sandbox::valgrind`. Every session asks operations that nobody has asked before, so that writes
//! meet the rows that they expect; the interval is that over the five repetitions.
//!
//! An arm in our own threads cannot be started again under callgrind; instead a dbdyno is, for each
//! load, which opens the tables that are filled: see `embedded`.
//!
//! The kernel's instructions are not counted, nor is waiting: that is what the rate shows. A server
//! that waits for its client's next words does so in its own code, too, as often as the host lets
//! it; this is left out (see `sandbox::valgrind`), and then two counts of one server differ by
//! thousandths of a percent.

mod callgrind;
mod embedded;
mod small;
mod witness;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dbdyno_load::Connector;
use dbdyno_model::{
    ArmIndex, Arms, CallCount, CountSample, Counting, Dialect, FunctionCount, Plan, Run, RunCounts,
    RunId, Severity, Target, Warning,
};
use dbdyno_sandbox::{CountMarks, CountedProgram, Scratch, Valgrind};
use dbdyno_workload::{Dataset, ReadyLoad};

use callgrind::Functions;
use embedded::Tables;
pub use embedded::{Answerer, ready_embedded};
pub use small::ROWS_MOST;
use small::{ready_small_load, small_plan};
use witness::{CountSource, Session, Witness};

use crate::arm::{Restores, SetUp, Station, open_station};
use crate::error::LabError;
use crate::laboratory::Lab;
use crate::watch::{Progress, stages};
use dbdyno_workload::planned::datasets_of;

/// Memory for which servers are set up: buffers of a host of this size hold these tables.
const MEMORY_MB: u64 = 2_048;
/// Repetitions. With five of a spread of 0.1 % the 95 % interval is ±0.12 %.
pub(crate) const REPEATS: u32 = 5;
/// Events by which the base arm tells how large an event is.
const PILOT: u64 = 8;
/// Instructions that short and long sessions are meant to have, in millions, and bounds for their
/// events.
const SHORT_M: u64 = 10;
const LONG_M: u64 = 100;
const SHORT_EVENTS: RangeInclusive<u64> = 8..=200;
const LONG_EVENTS: RangeInclusive<u64> = 16..=1_000;
/// Sessions that warm an arm up, at most, and the share by which two of them may differ.
const WARM_UPS: u32 = 8;
const STEADY: f64 = 0.003;
/// Functions with less than this share of an arm's instructions are not kept.
const KEPT_SHARE: f64 = 1e-4;
/// Number of the first operation.
const FIRST: u64 = 1 << 60;

/// Counts what the plan wants counted and the run does not have yet.
///
/// # Errors
/// Whatever was in the way; what was counted until then is stored.
pub(crate) fn carry_out(lab: &mut Lab<'_>, plan: &Plan, run: &RunId) -> Result<(), LabError> {
    if plan.question.counting == Counting::No {
        return Ok(());
    }
    let Run { counts: stored, ended, .. } = lab.store.load(run)?;
    let labels = plan.labels().into_iter().map(str::to_owned);
    let arms = || plan.arms.indices().filter(|arm| !ended.iter().any(|ended| ended.arm == *arm));
    let left: Vec<String> =
        labels.filter(|label| arms().any(|arm| !stored.has_sample(label, arm))).collect();
    if left.is_empty() {
        return Ok(());
    }
    let valgrind = Valgrind::get(lab.home, &mut stages(lab.watch, ArmIndex::BASE));
    let valgrind = valgrind.map_err(|error| LabError::Sandbox(ArmIndex::BASE, error))?;
    let small = small_plan(plan);
    note(lab, run, &small, &valgrind)?;
    let datasets = datasets_of(&small)?;
    let all: Vec<ArmIndex> = arms().collect();
    let mut counted = Arms::default();
    // Servers start slowly under callgrind: each does while the next ones are filled.
    for &arm in &all {
        match CountedArm::begin(lab, &small, run, arm, &datasets, &valgrind, &left) {
            Ok(begun) => counted.push(arm, begun),
            Err(error) => {
                let others = counted.count() + all.iter().filter(|other| **other > arm).count();
                lab.end_arm(run, &error.ends_an_arm(others)?)?;
            }
        }
    }
    for arm in counted.indices() {
        if let Err(error) = counted[arm].ready(lab, &datasets) {
            lab.end_arm(run, &error.ends_an_arm(counted.count() - 1)?)?;
            counted.remove(arm);
        }
    }
    let mut turn = Turn::new(left.len() as u32, counted.count() as u32, repeats(plan));
    let mut next = FIRST;
    for label in &left {
        let counts = count(lab, plan, &mut counted, label, &mut next, &mut turn)?;
        lab.store.add_counts(run, &counts)?;
    }
    Ok(())
}

fn note(lab: &mut Lab<'_>, run: &RunId, small: &Plan, valgrind: &Valgrind) -> Result<(), LabError> {
    let mut text = format!(
        "instructions were counted on tables of {} rows under callgrind (valgrind {}), in user \
         space, with one client; valgrind offers programs fewer vector instructions than this \
         processor has",
        small.question.rows, valgrind.version
    );
    let mut targets = small.arms.values().map(|spec| &spec.target);
    if targets.clone().any(|target| matches!(target, Target::Sqlite(_) | Target::Engine(_))) {
        text.push_str("; what the client itself needs to ask SQLite or the engine is taken off");
    }
    if targets.any(|target| matches!(target, Target::Engine(_))) {
        text.push_str(
            "; of the engine the thread of its client is counted, and none of those in which it \
             purges, takes checkpoints and, with log=linked, writes the log",
        );
        if cfg!(debug_assertions) {
            text.push_str("; the engine is part of this dbdyno, which is a debug build");
        }
    }
    let warning = Warning::new(Severity::Note, "counted", text);
    if !lab.store.load(run)?.warnings.contains(&warning) {
        lab.store.add_warning(run, &warning)?;
    }
    Ok(())
}

/// One arm, ready to be counted.
struct CountedArm<'a> {
    // Dropped in this order: who is asked, before what he is asked of.
    witness: Witness<'a>,
    station: Station,
    _scratch: Scratch,
    dialect: Dialect,
}

impl<'a> CountedArm<'a> {
    fn begin(
        lab: &mut Lab<'a>,
        small: &Plan,
        run: &RunId,
        arm: ArmIndex,
        datasets: &[Arc<dyn Dataset>],
        valgrind: &Valgrind,
        labels: &[String],
    ) -> Result<CountedArm<'a>, LabError> {
        let setup = SetUp {
            home: lab.home,
            arm,
            spec: &small.arms[arm],
            datasets,
            memory_mb: MEMORY_MB,
            clients: 1,
            restores: Restores::No,
            stop: lab.stop,
            clock: &lab.clock,
        };
        let mut station = open_station(&setup, &Arms::default(), lab.watch)?;
        station.ensure_filled(&setup, lab.watch)?;
        let scratch = lab.home.create_scratch("counted", &mut stages(lab.watch, arm));
        let scratch = scratch.map_err(|error| LabError::Sandbox(arm, error))?;
        let stage = "starting again under callgrind, which counts instructions";
        lab.watch.report_progress(Progress::Stage(arm, stage));
        let (files, asked) = match left_by(&mut station) {
            Some(tables) => {
                let place = Place { store: lab.store.path(), run, arm, tables };
                let programs = place.programs(valgrind, scratch.path(), labels)?;
                (scratch.path().to_owned(), CountSource::Programs(programs))
            }
            None => {
                let files = station.begin_counted(arm, valgrind)?;
                (files, CountSource::Server(Connector::Null, station.dialect))
            }
        };
        let dialect = station.dialect;
        let witness = Witness { arm, files, asked, stop: lab.stop, seen: BTreeSet::new() };
        Ok(CountedArm { witness, station, _scratch: scratch, dialect })
    }

    /// Waits until it can be asked.
    fn ready(&mut self, lab: &mut Lab<'_>, datasets: &[Arc<dyn Dataset>]) -> Result<(), LabError> {
        let arm = self.witness.arm;
        if let CountSource::Server(connector, _) = &mut self.witness.asked {
            let stage = "waiting until it answers under callgrind";
            lab.watch.report_progress(Progress::Stage(arm, stage));
            self.station.await_counted(arm, datasets)?;
            *connector = self.station.connector.clone();
        }
        Ok(())
    }
}

/// The tables of an arm that lives in the threads of who asks it; `None` for a server. An engine is
/// closed, so that its files are whole and its directory is free.
fn left_by(station: &mut Station) -> Option<Tables> {
    match &station.connector {
        Connector::Sqlite(file) => Some(Tables::Shared(file.path.clone())),
        Connector::Engine(engine) => {
            let tables = Tables::Single(engine.directory().to_owned());
            // The clients that filled it are gone: this is the last who has it.
            station.connector = Connector::Null;
            Some(tables)
        }
        _ => None,
    }
}

/// Where a dbdyno that is counted finds what it is to ask.
struct Place<'a> {
    store: &'a std::path::Path,
    run: &'a RunId,
    arm: ArmIndex,
    tables: Tables,
}

impl Place<'_> {
    /// Starts one for each load.
    fn programs(
        &self,
        valgrind: &Valgrind,
        files: &std::path::Path,
        labels: &[String],
    ) -> Result<BTreeMap<String, CountedProgram>, LabError> {
        let own = std::env::current_exe();
        let own: PathBuf =
            own.map_err(|error| LabError::Counting(self.arm, format!("our own file: {error}")))?;
        let start = |(index, label): (usize, &String)| {
            let tables = self.tables.for_load(index, files).map_err(|error| {
                let text = format!(
                    "the tables cannot be copied: {error}; make room on that disk, or give a \
                     --home on a larger one"
                );
                LabError::Counting(self.arm, text)
            })?;
            let words: [OsString; 7] = [
                "--store".into(),
                self.store.into(),
                "counted".into(),
                self.run.0.clone().into(),
                self.arm.to_string().into(),
                label.into(),
                tables.into(),
            ];
            let marks = CountMarks { counted: embedded::SECTION, written_after: embedded::FILE };
            let program = CountedProgram::start(valgrind, &own, &words, files, &marks);
            let program = program.map_err(|error| LabError::Sandbox(self.arm, error))?;
            Ok((label.clone(), program))
        };
        labels.iter().enumerate().map(start).collect()
    }
}

/// How far counting has come, for people.
struct Turn {
    began: Instant,
    done: u32,
    arms: u32,
    total: u32,
}

/// Sessions of each arm that tell how large an event is.
const PILOTS: u32 = 2;

impl Turn {
    #[expect(clippy::disallowed_methods, reason = "a wait of this length is announced")]
    fn new(loads: u32, arms: u32, repeats: u32) -> Turn {
        // Pilots, two warm-ups, and the repetitions.
        let sessions = PILOTS + 2 + 2 * repeats;
        Turn { began: Instant::now(), done: 0, arms, total: loads * arms * sessions }
    }

    #[expect(clippy::disallowed_methods, reason = "a wait of this length is announced")]
    fn next(&mut self, lab: &mut Lab<'_>, arm: ArmIndex, label: &str) {
        let spent = Instant::now() - self.began;
        let left = spent.checked_div(self.done).unwrap_or(Duration::ZERO)
            * self.total.saturating_sub(self.done);
        self.done += 1;
        // A load that takes long to warm up has more sessions than were foreseen.
        self.total = self.total.max(self.done);
        let mut text = format!("counting instructions of {label} ({}/{})", self.done, self.total);
        // The first sessions wait for the start of those who answer.
        if self.done > PILOTS * self.arms && left.as_secs() > 0 {
            text.push_str(&format!(", about {} s left", left.as_secs()));
        }
        lab.watch.report_progress(Progress::Stage(arm, &text));
    }
}

/// Counts one load in all arms.
fn count(
    lab: &mut Lab<'_>,
    plan: &Plan,
    counted: &mut Arms<CountedArm<'_>>,
    label: &str,
    next: &mut u64,
    turn: &mut Turn,
) -> Result<RunCounts, LabError> {
    let arms = counted.indices();
    let loads =
        Arms::try_from_fn(arms.clone(), |arm| ready_small_load(plan, counted[arm].dialect, label))?;
    let at_once = dbdyno_sandbox::allowed_processors().len().max(1);
    let mut all = |lab: &mut Lab<'_>, events: u64| {
        let first = *next;
        *next += events;
        let mut sessions = Arms::default();
        let mut waiting: Vec<(ArmIndex, &mut CountedArm<'_>)> = counted.iter_mut().collect();
        // What is counted does not depend on who else works meanwhile.
        for together in waiting.chunks_mut(at_once) {
            together.iter().for_each(|(arm, _)| turn.next(lab, *arm, label));
            for (arm, session) in asked(together, label, &loads, first, events) {
                sessions.push(arm, session?);
            }
        }
        Ok::<_, LabError>(sessions)
    };
    // A session by itself may need more than many events: its difference to a longer one counts.
    let (less, more) = (all(lab, PILOT)?, all(lab, 2 * PILOT)?);
    let first = arms.as_slice()[0];
    let grown = more[first].profile.total.saturating_sub(less[first].profile.total);
    let per_event = (grown / PILOT).max(1);
    let short = events_of(SHORT_M, per_event, SHORT_EVENTS);
    let long = events_of(LONG_M, per_event, LONG_EVENTS);
    warm(|| all(lab, short + long))?;
    let mut repeated: Arms<Vec<(Session, Session)>> = Arms::from_fn(arms.clone(), |_| Vec::new());
    for repeat in 0..repeats(plan) {
        let (shorts, longs) = match repeat % 2 {
            0 => {
                let shorts = all(lab, short)?;
                (shorts, all(lab, short + long)?)
            }
            _ => {
                let longs = all(lab, short + long)?;
                (all(lab, short)?, longs)
            }
        };
        for ((arm, short), (_, long)) in shorts.into_iter().zip(longs) {
            repeated[arm].push((short, long));
        }
    }
    let mut counts = RunCounts::default();
    for (arm, of_arm) in repeated.iter() {
        add(&mut counts, label, arm, of_arm)?;
    }
    Ok(counts)
}

/// Events that execute so many millions of instructions, within bounds.
fn events_of(millions: u64, per_event: u64, bounds: RangeInclusive<u64>) -> u64 {
    (millions * 1_000_000 / per_event).clamp(*bounds.start(), *bounds.end())
}

/// Asks several arms the same operations, all at once.
fn asked(
    arms: &mut [(ArmIndex, &mut CountedArm<'_>)],
    label: &str,
    loads: &Arms<ReadyLoad>,
    first: u64,
    events: u64,
) -> Vec<(ArmIndex, Result<Session, LabError>)> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = arms
            .iter_mut()
            .map(|(arm, counted)| {
                let (arm, witness) = (*arm, &mut counted.witness);
                (arm, scope.spawn(move || witness.session(label, &loads[arm], first, events)))
            })
            .collect();
        let joined = threads.into_iter().map(|(arm, thread)| {
            let session = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (arm, session)
        });
        joined.collect()
    })
}

/// How often the sessions of a load are repeated.
fn repeats(plan: &Plan) -> u32 {
    match plan.question.counting {
        Counting::Only if plan.schedule.pairs > 0 => plan.schedule.pairs,
        _ => REPEATS,
    }
}

/// Repeats sessions until all arms need what they needed before.
fn warm(mut session: impl FnMut() -> Result<Arms<Session>, LabError>) -> Result<(), LabError> {
    let mut before = session()?;
    for _ in 1..WARM_UPS {
        let now = session()?;
        let is_steady = now.iter().all(|(arm, now)| {
            let (before, now) = (before[arm].profile.total as f64, now.profile.total as f64);
            (now / before - 1.0).abs() < STEADY
        });
        if is_steady {
            break;
        }
        before = now;
    }
    Ok(())
}

/// Adds what the repetitions of an arm say.
fn add(
    counts: &mut RunCounts,
    label: &str,
    arm: ArmIndex,
    repeats: &[(Session, Session)],
) -> Result<(), LabError> {
    let mut functions: BTreeMap<(String, String), (i64, i64)> = BTreeMap::new();
    let mut calls: BTreeMap<(String, String), i64> = BTreeMap::new();
    let (mut statements, mut instructions) = (0, 0);
    for (repeat, (short, long)) in (0_u32..).zip(repeats) {
        let operations = long.statements.saturating_sub(short.statements);
        let more = long.profile.total.saturating_sub(short.profile.total);
        if operations == 0 || more == 0 {
            let text = format!("{label}: a long session needed no more than a short one");
            return Err(LabError::Counting(arm, text));
        }
        counts.samples.push(CountSample {
            load: label.to_owned(),
            arm,
            repeat,
            operations,
            instructions: more,
        });
        statements += operations;
        instructions += more;
        tally(&mut functions, &long.profile.functions, 1);
        tally(&mut functions, &short.profile.functions, -1);
        for (profile, sign) in [(&long.profile, 1), (&short.profile, -1)] {
            for (call, cost) in &profile.calls {
                let sum = calls.entry(call.clone()).or_default();
                *sum = sum.saturating_add(sign * i64::try_from(*cost).unwrap_or(i64::MAX));
            }
        }
    }
    let per_op = |count: i64| count.max(0) as f64 / statements as f64;
    let least = KEPT_SHARE * instructions as f64;
    let kept = functions.into_iter().filter(|(_, (own, _))| *own as f64 >= least);
    counts.functions.extend(kept.map(|((object, name), (own, inclusive))| FunctionCount {
        load: label.to_owned(),
        arm,
        name,
        object,
        own_per_op: per_op(own),
        inclusive_per_op: per_op(inclusive),
    }));
    let kept = calls.into_iter().filter(|(_, cost)| *cost as f64 >= least);
    counts.calls.extend(kept.map(|((caller, callee), cost)| CallCount {
        load: label.to_owned(),
        arm,
        caller,
        callee,
        inclusive_per_op: per_op(cost),
    }));
    Ok(())
}

fn tally(sums: &mut BTreeMap<(String, String), (i64, i64)>, functions: &Functions, sign: i64) {
    for (name, cost) in functions {
        let sum = sums.entry(name.clone()).or_default();
        sum.0 = sum.0.saturating_add(sign * i64::try_from(cost.own).unwrap_or(i64::MAX));
        let inclusive = i64::try_from(cost.inclusive).unwrap_or(i64::MAX);
        sum.1 = sum.1.saturating_add(sign * inclusive);
    }
}
