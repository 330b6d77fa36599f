//! Crews: for each client one that inserts, one that deletes and one that queries, on connections
//! that live as long as a step does.
//!
//! ```text
//!   fixed amount   inserter ─▶─▶─▶─▶─▶│ as fast as it goes       (l.i0, l.i1, l.i2)
//!                     │ at most 8 statements ahead
//!                  deleter  ─▶─▶─▶─▶─▶│ one for each insert
//!
//!   fixed time     inserter ─▶  ─▶  ─▶  ─▶  by the schedule     (qrN, qpN)
//!                  deleter   ─▶  ─▶  ─▶  ─▶
//!                  querier  ▶▶▶▶▶▶▶▶▶▶▶▶▶▶▶ as fast as it goes
//!                           lead-in │◀──── window ────▶│
//! ```
//!
//! The connections stay open from round to round: a new one would make PostgreSQL throw away the
//! ids that it has set aside for the old one, a thousand at a time, and point queries would look
//! for rows that never were. On SQLite, which has one writer, the inserter deletes as well.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use dbdyno_model::{ClassTally, ClassTimes, LatencyHistogram, Processors, Series};
use dbdyno_wire::{Client, Patience};
use dbdyno_workload::ReadyLoad;
use dbdyno_workload::insert_benchmark::{Class, ConnectionRole};

use crate::affinity::pin_to;
use crate::answer::EventAnswer;
use crate::brake::Brake;
use crate::connector::Connector;
use crate::error::LoadError;
use crate::patience::{self, Watch};
use crate::round::Moment;
use crate::schedule::CommitSchedule;
use crate::session::ClientSession;
use crate::tally::first_cause_first;
use crate::time::{duration_ns, now, unix_ms, wait_until};
use crate::usage::ThreadUsage;

/// How far inserts may be ahead of deletes, in statements: the length of Callaghan's queue.
const AHEAD_MOST: usize = 8;
/// How often a writer that waits looks whether it is to stop.
const STOP_CHECK: Duration = Duration::from_millis(50);
/// Resolution of the series within a step, which may take hours.
const SLOT: Duration = Duration::from_millis(100);
/// Room for the slots of ten minutes; more is made when it is needed.
const SLOTS: usize = 6000;

/// What all rounds of a step have in common.
#[derive(Clone, Copy)]
pub struct Conditions<'a> {
    /// Share of the rate that is taken away on purpose; see `ArmSpec::slow`.
    pub slow: f64,
    /// On which all clients run.
    pub processors: Processors,
    /// Set from outside to stop early.
    pub stop: &'a AtomicBool,
}

/// A round of fixed time.
#[derive(Clone, Copy, Debug)]
pub struct TimedRound {
    /// Rows that each client inserts in a second.
    pub rate: u32,
    /// Rows of one insert.
    pub rows_per_commit: u64,
    /// Number of every client's first query.
    pub first_query: u64,
    /// Load before the window opens.
    pub lead_in: Duration,
    /// Length of the window.
    pub window: Duration,
}

/// Turns of one class that ended in the window; of [`Class::GetMin`] all of the round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// How many.
    pub count: u64,
    /// How long all of them took.
    pub ns: u64,
    /// How long the slowest took.
    pub ns_max: u64,
}

/// What a round did.
#[derive(Clone, Debug)]
pub struct CrewMeasured {
    /// When the window opened, milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Length of the window.
    pub wall_ns: u64,
    /// Time between the two looks of the observer.
    pub observed_ns: u64,
    /// Turns by [`Class`].
    pub turns: [Turns; Class::ALL.len()],
    /// Rows of inserts that were due in the window, in rounds of fixed time.
    pub rows_due: Option<u64>,
    /// Rows returned.
    pub rows_read: u64,
    /// Rows changed.
    pub rows_changed: u64,
    /// Turns asked again.
    pub retries: u64,
    /// Latency of each insert in a round of fixed amount, of each query in one of fixed time.
    pub latency: LatencyHistogram,
    /// The same turns in slots.
    pub series: Series,
    /// Inserts, deletes and queries apart, those of the background among them; empty where there
    /// is one of them only.
    pub classes: Vec<ClassTally>,
    /// What the client threads cost.
    pub usage: ThreadUsage,
    /// Processor time of the thread that had most of it.
    pub busiest_ns: u64,
}

impl CrewMeasured {
    /// The turns of a class.
    pub fn turns_of(&self, class: Class) -> Turns {
        self.turns[class as usize]
    }
}

/// All clients of a step with their connections.
pub struct Crew<'a> {
    connector: &'a Connector,
    lanes: Vec<ClientLanes<'a>>,
}

struct ClientLanes<'a> {
    /// Number of its next insert, across rounds.
    next_commit: u64,
    inserter: Lane<'a>,
    deleter: Option<Lane<'a>>,
    querier: Option<Lane<'a>>,
}

struct Lane<'a> {
    session: ClientSession<'a>,
    role: ConnectionRole,
}

impl<'a> Crew<'a> {
    /// Connects for each client one session for each role; client *i* goes on with insert number
    /// `next_commits[i]`. One of the roles inserts.
    ///
    /// # Errors
    /// No connection, or a statement that the server refuses to prepare.
    pub fn open(
        connector: &'a Connector,
        scripts: &'a [(ConnectionRole, ReadyLoad)],
        next_commits: &[u64],
    ) -> Result<Crew<'a>, LoadError> {
        let mut lanes = Vec::with_capacity(next_commits.len());
        for (client, &next_commit) in next_commits.iter().enumerate() {
            let open = |wanted: &[ConnectionRole]| -> Result<Option<Lane<'a>>, LoadError> {
                let found = scripts.iter().find(|(role, _)| wanted.contains(role));
                let Some((role, script)) = found else { return Ok(None) };
                let session = ClientSession::open(connector, script, client as u32)?;
                Ok(Some(Lane { session, role: *role }))
            };
            let inserter = open(&[ConnectionRole::Inserts, ConnectionRole::InsertsAndDeletes])?;
            lanes.push(ClientLanes {
                next_commit,
                inserter: inserter.expect("every step has somebody who inserts"),
                deleter: open(&[ConnectionRole::Deletes])?,
                querier: open(&[ConnectionRole::Queries])?,
            });
        }
        Ok(Crew { connector, lanes })
    }

    /// For each client the number of its next insert.
    pub fn next_commits(&self) -> Vec<u64> {
        self.lanes.iter().map(|lanes| lanes.next_commit).collect()
    }

    /// From now on answers to all clients are waited for so long.
    fn set_patience(&mut self, patience: Patience) {
        for lanes in &mut self.lanes {
            let others = [lanes.deleter.as_mut(), lanes.querier.as_mut()];
            for lane in others.into_iter().flatten().chain([&mut lanes.inserter]) {
                lane.session.client().set_patience(patience);
            }
        }
    }

    /// Lets every client make `commits` inserts (and deletes) as fast as the server takes them.
    /// `observe` is called on this thread before the first and after the last.
    ///
    /// # Errors
    /// Whatever stopped a client, [`LoadError::Interrupted`] among it.
    pub fn run_commits(
        &mut self,
        commits: u64,
        conditions: &Conditions<'_>,
        observe: &mut dyn FnMut(Moment),
    ) -> Result<CrewMeasured, LoadError> {
        self.set_patience(Patience::Whole(patience::OF_AMOUNT));
        let failed = AtomicBool::new(false);
        let started_unix_ms = unix_ms();
        observe(Moment::Opened);
        let opened = now();
        let window = Window { begin: opened, open: opened, close: None };
        let shift = Shift { conditions, window: &window, failed: &failed };
        let connector = self.connector;
        let tallies = thread::scope(|scope| {
            let _watch = shift.watch(scope, connector);
            let mut handles = Vec::new();
            for lanes in &mut self.lanes {
                let first = lanes.next_commit;
                lanes.next_commit += commits;
                let (sender, receiver) = sync_channel(AHEAD_MOST);
                let tokens = lanes.deleter.is_some().then_some(sender);
                let inserter = &mut lanes.inserter;
                handles.push(scope.spawn(move || {
                    let pace = Pace::Unthrottled(commits);
                    shift.guarded(|| insert(&shift, inserter, first, pace, tokens))
                }));
                if let Some(deleter) = &mut lanes.deleter {
                    handles.push(
                        scope.spawn(move || shift.guarded(|| delete(&shift, deleter, &receiver))),
                    );
                }
            }
            joined(handles)
        });
        let wall_ns = duration_ns(now() - opened);
        observe(Moment::Closed);
        let tallies = first_cause_first(tallies)?;
        add_up(tallies, Class::Insert, started_unix_ms, wall_ns, duration_ns(now() - opened))
    }

    /// Lets every client insert and delete by the schedule and query without a limit. `observe` is
    /// called on this thread when the window opens and closes.
    ///
    /// # Errors
    /// Whatever stopped a client, [`LoadError::Interrupted`] among it.
    pub fn run_timed(
        &mut self,
        timed: &TimedRound,
        conditions: &Conditions<'_>,
        observe: &mut dyn FnMut(Moment),
    ) -> Result<CrewMeasured, LoadError> {
        self.set_patience(patience::of_round(timed.lead_in + timed.window));
        let failed = AtomicBool::new(false);
        let begin = now();
        let (open, clients) = (begin + timed.lead_in, self.lanes.len() as u32);
        let close = open + timed.window;
        let window = Window { begin, open, close: Some(close) };
        let shift = Shift { conditions, window: &window, failed: &failed };
        let connector = self.connector;
        let mut rows_due = 0;
        let (tallies, started_unix_ms, observed_ns) = thread::scope(|scope| {
            let _watch = shift.watch(scope, connector);
            let mut handles = Vec::new();
            for (client, lanes) in self.lanes.iter_mut().enumerate() {
                let TimedRound { rate, rows_per_commit, .. } = *timed;
                let schedule =
                    CommitSchedule { rows_per_commit, rate, client: client as u32, clients };
                rows_due += schedule.rows_due(timed.lead_in, timed.lead_in + timed.window);
                let first = lanes.next_commit;
                let (sender, receiver) = sync_channel(AHEAD_MOST);
                let tokens = lanes.deleter.is_some().then_some(sender);
                let (inserter, next) = (&mut lanes.inserter, &mut lanes.next_commit);
                handles.push(scope.spawn(move || {
                    let pace = Pace::Schedule(schedule, next);
                    shift.guarded(|| insert(&shift, inserter, first, pace, tokens))
                }));
                if let Some(deleter) = &mut lanes.deleter {
                    handles.push(
                        scope.spawn(move || shift.guarded(|| delete(&shift, deleter, &receiver))),
                    );
                }
                if let Some(querier) = &mut lanes.querier {
                    handles.push(scope.spawn(move || {
                        shift.guarded(|| query(&shift, querier, timed.first_query))
                    }));
                }
            }
            wait_until(open, conditions.stop, &failed);
            let (started_unix_ms, opened) = (unix_ms(), now());
            observe(Moment::Opened);
            wait_until(close, conditions.stop, &failed);
            let observed_ns = duration_ns(now() - opened);
            observe(Moment::Closed);
            (joined(handles), started_unix_ms, observed_ns)
        });
        self.set_patience(Patience::QUESTION);
        let tallies = first_cause_first(tallies)?;
        let wall_ns = duration_ns(timed.window);
        let measured = add_up(tallies, Class::Query, started_unix_ms, wall_ns, observed_ns)?;
        Ok(CrewMeasured { rows_due: Some(rows_due), ..measured })
    }

    /// Lets every client make one insert and then execute its `scripts`; all clients at once. An
    /// event is one client's part.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn run_scripts(
        &mut self,
        scripts: &[Vec<String>],
        conditions: &Conditions<'_>,
        observe: &mut dyn FnMut(Moment),
    ) -> Result<CrewMeasured, LoadError> {
        self.set_patience(Patience::WORK);
        let failed = AtomicBool::new(false);
        let mut clients = Vec::with_capacity(scripts.len());
        for _ in scripts {
            clients.push(self.connector.connect_for_work()?);
        }
        let started_unix_ms = unix_ms();
        observe(Moment::Opened);
        let opened = now();
        let window = Window { begin: opened, open: opened, close: None };
        let shift = Shift { conditions, window: &window, failed: &failed };
        let connector = self.connector;
        let tallies = thread::scope(|scope| {
            let _watch = shift.watch(scope, connector);
            let mut handles = Vec::new();
            for ((lanes, script), client) in self.lanes.iter_mut().zip(scripts).zip(clients) {
                let commit = lanes.next_commit;
                lanes.next_commit += 1;
                let lane = &mut lanes.inserter;
                handles.push(scope.spawn(move || {
                    shift.guarded(|| execute(&shift, lane, commit, client, script))
                }));
            }
            joined(handles)
        });
        let wall_ns = duration_ns(now() - opened);
        observe(Moment::Closed);
        let tallies = first_cause_first(tallies)?;
        add_up(tallies, Class::Insert, started_unix_ms, wall_ns, duration_ns(now() - opened))
    }
}

/// When turns count.
struct Window {
    begin: Instant,
    open: Instant,
    /// `None`: all turns from `open` on count.
    close: Option<Instant>,
}

impl Window {
    fn is_over(&self, moment: Instant) -> bool {
        self.close.is_some_and(|close| moment >= close)
    }
}

/// What every thread of a round needs to know.
#[derive(Clone, Copy)]
struct Shift<'a> {
    conditions: &'a Conditions<'a>,
    window: &'a Window,
    failed: &'a AtomicBool,
}

impl Shift<'_> {
    fn stops(&self) -> bool {
        self.conditions.stop.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed)
    }

    /// Sees to it that nobody waits for locks when all are to stop. A round that ends as it should
    /// leaves its clients the time for it: their connections stay, and their tables.
    fn watch<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        connector: &'scope Connector,
    ) -> Option<Watch>
    where
        Self: 'scope,
    {
        patience::watch_lock_waits(scope, connector, move || self.stops())
    }

    /// Does a thread's part; where it fails, all others end, too.
    fn guarded(&self, part: impl FnOnce() -> Result<Tally, LoadError>) -> Result<Tally, LoadError> {
        let pinned = pin_to(self.conditions.processors);
        let outcome = pinned.and_then(|()| part());
        if outcome.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        outcome
    }

    /// Waits for a moment.
    fn wait_for(&self, moment: Instant) -> Result<(), LoadError> {
        loop {
            if self.stops() {
                return Err(LoadError::Interrupted);
            }
            let left = moment.saturating_duration_since(now());
            if left.is_zero() {
                return Ok(());
            }
            thread::sleep(left.min(STOP_CHECK));
        }
    }
}

/// What one thread counted.
struct Tally {
    turns: [Turns; Class::ALL.len()],
    /// Of classes whose turns are kept one by one.
    pages: [Option<Page>; Class::ALL.len()],
    rows_read: u64,
    rows_changed: u64,
    retries: u64,
    usage_at_open: Option<ThreadUsage>,
    usage: ThreadUsage,
}

/// Turns of one class, one by one.
struct Page {
    latency: LatencyHistogram,
    slots: Vec<u64>,
}

impl Page {
    fn new() -> Page {
        Page { latency: LatencyHistogram::new(), slots: Vec::with_capacity(SLOTS) }
    }

    fn count(&mut self, latency_ns: u64, slot: usize) {
        self.latency.record_latency(latency_ns);
        if slot >= self.slots.len() {
            self.slots.resize(slot + 1, 0);
        }
        self.slots[slot] += 1;
    }
}

impl Tally {
    /// That of a thread with this role.
    fn new(role: ConnectionRole) -> Tally {
        let keeps = |class: Class| match class {
            Class::Insert => {
                matches!(role, ConnectionRole::Inserts | ConnectionRole::InsertsAndDeletes)
            }
            Class::Delete => {
                matches!(role, ConnectionRole::Deletes | ConnectionRole::InsertsAndDeletes)
            }
            Class::Query => role == ConnectionRole::Queries,
            Class::GetMin | Class::GetMax => false,
        };
        Tally {
            turns: Default::default(),
            pages: Class::ALL.map(|class| keeps(class).then(Page::new)),
            rows_read: 0,
            rows_changed: 0,
            retries: 0,
            usage_at_open: None,
            usage: ThreadUsage::default(),
        }
    }

    fn count(&mut self, window: &Window, turn: &Turn) {
        // Looking for the first row is rare, and dearest at the beginning: all of it counts.
        let outside = turn.end < window.open || window.is_over(turn.end);
        if outside && turn.class != Class::GetMin {
            return;
        }
        self.usage_at_open.get_or_insert_with(ThreadUsage::now);
        let ns = duration_ns(turn.end - turn.start);
        let turns = &mut self.turns[turn.class as usize];
        turns.count += 1;
        turns.ns += ns;
        turns.ns_max = turns.ns_max.max(ns);
        self.rows_read += turn.answer.rows_read;
        self.rows_changed += turn.answer.rows_changed;
        self.retries += turn.answer.retries;
        if let Some(page) = &mut self.pages[turn.class as usize] {
            page.count(ns, (duration_ns(turn.end - window.open) / duration_ns(SLOT)) as usize);
        }
    }

    fn finish(mut self) -> Tally {
        if let Some(open) = self.usage_at_open {
            self.usage = ThreadUsage::now().since(open);
        }
        self
    }
}

struct Turn {
    class: Class,
    start: Instant,
    end: Instant,
    answer: EventAnswer,
}

impl Lane<'_> {
    fn turn(&mut self, operation: u64, brake: &mut Brake) -> Result<Turn, LoadError> {
        let start = now();
        let answer = self.session.ask_operation(operation)?;
        let class = Class::ALL[answer.kind as usize];
        let answered = now();
        let spun_ns = brake.spin(duration_ns(answered - start), || duration_ns(now() - answered));
        Ok(Turn { class, start, end: answered + Duration::from_nanos(spun_ns), answer })
    }

    /// One delete, and the search for the first row where it is due.
    fn delete(
        &mut self,
        window: &Window,
        brake: &mut Brake,
        tally: &mut Tally,
    ) -> Result<(), LoadError> {
        loop {
            let turn = self.turn(0, brake)?;
            tally.count(window, &turn);
            if turn.class == Class::Delete {
                return Ok(());
            }
        }
    }
}

/// How an inserter goes.
enum Pace<'a> {
    /// So many inserts without a pause.
    Unthrottled(u64),
    /// By the schedule until the window closes; where the next round goes on.
    Schedule(CommitSchedule, &'a mut u64),
}

fn insert(
    shift: &Shift<'_>,
    lane: &mut Lane<'_>,
    first: u64,
    mut pace: Pace<'_>,
    tokens: Option<SyncSender<()>>,
) -> Result<Tally, LoadError> {
    let slow = match pace {
        Pace::Unthrottled(_) => shift.conditions.slow,
        // Spinning takes a processor away from the queries, and the rate stays what it is.
        Pace::Schedule(..) => 0.0,
    };
    let mut brake = Brake::new(slow);
    let mut tally = Tally::new(lane.role);
    for commit in first.. {
        match &mut pace {
            Pace::Unthrottled(commits) if commit == first + *commits => break,
            Pace::Unthrottled(_) => {}
            Pace::Schedule(schedule, next) => {
                **next = commit;
                let due = shift.window.begin + schedule.due_time(commit - first);
                if shift.window.is_over(due) || shift.window.is_over(now()) {
                    break;
                }
                shift.wait_for(due)?;
            }
        }
        if shift.stops() {
            return Err(LoadError::Interrupted);
        }
        tally.count(shift.window, &lane.turn(commit, &mut brake)?);
        if lane.role == ConnectionRole::InsertsAndDeletes {
            lane.delete(shift.window, &mut brake, &mut tally)?;
        }
        // A deleter that is gone has said why.
        if tokens.as_ref().is_some_and(|tokens| tokens.send(()).is_err()) {
            return Err(LoadError::Interrupted);
        }
    }
    Ok(tally.finish())
}

fn delete(
    shift: &Shift<'_>,
    lane: &mut Lane<'_>,
    tokens: &Receiver<()>,
) -> Result<Tally, LoadError> {
    let mut tally = Tally::new(lane.role);
    // The inserter sets the pace; what slows it slows the deleter.
    let mut brake = Brake::new(0.0);
    while tokens.recv().is_ok() {
        if shift.stops() {
            return Err(LoadError::Interrupted);
        }
        lane.delete(shift.window, &mut brake, &mut tally)?;
    }
    Ok(tally.finish())
}

fn query(shift: &Shift<'_>, lane: &mut Lane<'_>, first: u64) -> Result<Tally, LoadError> {
    let mut tally = Tally::new(lane.role);
    let mut brake = Brake::new(shift.conditions.slow);
    let mut operation = first;
    loop {
        if shift.stops() {
            return Err(LoadError::Interrupted);
        }
        let turn = lane.turn(operation, &mut brake)?;
        if shift.window.is_over(turn.end) {
            return Ok(tally.finish());
        }
        operation += u64::from(turn.class == Class::Query);
        tally.count(shift.window, &turn);
    }
}

fn execute(
    shift: &Shift<'_>,
    lane: &mut Lane<'_>,
    commit: u64,
    mut client: Box<dyn Client>,
    script: &[String],
) -> Result<Tally, LoadError> {
    let mut tally = Tally::new(lane.role);
    tally.usage_at_open = Some(ThreadUsage::now());
    let mut turn = lane.turn(commit, &mut Brake::new(0.0))?;
    for sql in script {
        if shift.stops() {
            return Err(LoadError::Interrupted);
        }
        client.query(sql).map_err(|error| LoadError::of_statement(error, || sql.clone()))?;
    }
    client.close();
    let slow = shift.conditions.slow;
    // Seconds are slept, not spun, away.
    thread::sleep((now() - turn.start).mul_f64(slow / (1.0 - slow)));
    turn.end = now();
    tally.count(shift.window, &turn);
    Ok(tally.finish())
}

type Handle<'scope> = thread::ScopedJoinHandle<'scope, Result<Tally, LoadError>>;

fn joined(handles: Vec<Handle<'_>>) -> Vec<Result<Tally, LoadError>> {
    let join =
        |handle: Handle<'_>| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    handles.into_iter().map(join).collect()
}

/// The sum over threads; latency and series are those of the class that the step is about.
fn add_up(
    tallies: Vec<Tally>,
    about: Class,
    started_unix_ms: u64,
    wall_ns: u64,
    observed_ns: u64,
) -> Result<CrewMeasured, LoadError> {
    let mut measured = CrewMeasured {
        started_unix_ms,
        wall_ns,
        observed_ns,
        turns: Default::default(),
        rows_due: None,
        rows_read: 0,
        rows_changed: 0,
        retries: 0,
        latency: LatencyHistogram::new(),
        series: Series { slot_ns: duration_ns(SLOT), statements: Vec::new() },
        classes: Vec::new(),
        usage: ThreadUsage::default(),
        busiest_ns: 0,
    };
    // Only whole slots are kept.
    let slots = (wall_ns / duration_ns(SLOT)) as usize;
    let mut pages: [Option<Page>; Class::ALL.len()] = Default::default();
    for tally in tallies {
        for (sum, turns) in measured.turns.iter_mut().zip(&tally.turns) {
            sum.count += turns.count;
            sum.ns += turns.ns;
            sum.ns_max = sum.ns_max.max(turns.ns_max);
        }
        measured.rows_read += tally.rows_read;
        measured.rows_changed += tally.rows_changed;
        measured.retries += tally.retries;
        for (sum, page) in pages.iter_mut().zip(tally.pages) {
            let Some(mut page) = page else { continue };
            page.slots.resize(slots, 0);
            match sum {
                Some(sum) => sum.add(&page),
                None => *sum = Some(page),
            }
        }
        measured.usage = measured.usage.plus(tally.usage);
        measured.busiest_ns = measured.busiest_ns.max(tally.usage.cpu_ns);
    }
    if measured.turns_of(about).count == 0 {
        return Err(LoadError::NothingFinished);
    }
    if let Some(page) = &pages[about as usize] {
        measured.latency.merge(&page.latency);
        measured.series.statements.clone_from(&page.slots);
    }
    measured.classes = classes(pages);
    Ok(measured)
}

impl Page {
    fn add(&mut self, other: &Page) {
        self.latency.merge(&other.latency);
        for (sum, slot) in self.slots.iter_mut().zip(&other.slots) {
            *sum += slot;
        }
    }
}

fn classes(pages: [Option<Page>; Class::ALL.len()]) -> Vec<ClassTally> {
    let filed = Class::ALL.into_iter().zip(pages).filter_map(|(class, page)| {
        let Page { latency, slots } = page?;
        let (name, count) = (class.name().to_owned(), latency.count());
        Some(ClassTally { name, count, slots, times: Some(ClassTimes { latency, response: None }) })
    });
    let filed: Vec<ClassTally> = filed.collect();
    if filed.len() > 1 { filed } else { Vec::new() }
}
