//! The closed loop: every client sends its next event when the last one is answered.
//!
//! ```text
//!   connect all │ lead-in … │ open ───────── window ───────── close │ join │ disconnect
//!                            ▲ observe(Opened)                ▲ observe(Closed)
//! ```
//!
//! An event belongs to the window if it *ends* in it. Sessions stay open until the observer has
//! seen the close, so that a server's per-connection processes are still there to be measured.
//! Some stay for the next round: [`Kept`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use dbdyno_model::{ClassTally, LatencyHistogram, Processors, Series, Think};
use dbdyno_workload::ReadyLoad;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::prctl;
use nix::unistd::Pid;

use crate::beside;
use crate::book::{Book, Books, Times};
use crate::brake::Brake;
use crate::connector::Connector;
use crate::crowd;
use crate::error::LoadError;
use crate::files;
use crate::kept::Kept;
use crate::mock;
use crate::patience;
use crate::session::{Answer, Session};
use crate::shards;
use crate::tally::{Edges, Tally, add_up};
use crate::usage::ThreadUsage;

/// One round to run.
#[derive(Clone, Copy)]
pub struct RoundSpec<'a> {
    /// What to ask.
    pub load: &'a ReadyLoad,
    /// Whom to ask.
    pub connector: &'a Connector,
    /// Number of clients, each with a connection: and each with a thread, up to
    /// [`dbdyno_model::plan::THREADS_MAX`].
    pub clients: u32,
    /// Number of every client's first operation.
    pub first_operation: u64,
    /// Load before the window opens.
    pub lead_in: Duration,
    /// Length of the window.
    pub window: Duration,
    /// What a client rests between the answer to an event and the next event, unless the load has
    /// pauses of its own. In the closed loop only.
    pub think: Option<Thinking>,
    /// Share of the rate that is taken away on purpose; see `ArmSpec::slow`.
    pub slow: f64,
    /// On which all clients run.
    pub processors: Processors,
    /// Connections of the same clients, load and server that are taken up, and those of this round
    /// left for the next one; `None` where each round connects anew. Clients that share threads
    /// always do, and so do the open loop, embedded arms and a load's background.
    pub kept: Option<&'a Kept>,
    /// Set from outside to stop early.
    pub stop: &'a AtomicBool,
}

/// What clients rest, drawn from a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thinking {
    /// How long.
    pub think: Think,
    /// The same for rounds in which clients are to rest alike.
    pub seed: u64,
}

impl Thinking {
    /// The rest after event `number`, from 0, of a client in its round.
    pub(crate) fn pause(&self, client: u32, number: u64) -> Duration {
        Duration::from_nanos(self.think.pause_ns(self.seed, client, number))
    }
}

/// The moments of which an observer is told, and looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// So many clients have got in, and the others have not yet: told now and then where connecting
    /// takes long.
    Connecting(u32),
    /// The window has opened.
    Opened,
    /// The window has closed; all connections are still there.
    Closed,
}

/// What the clients saw between open and close.
#[derive(Clone, Debug)]
pub struct Measured {
    /// When the window opened, milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Length of the window.
    pub wall_ns: u64,
    /// Time between the two looks of the observer: the window, and how late the looks were.
    pub observed_ns: u64,
    /// Events that ended in the window.
    pub events: u64,
    /// What the parts of events inside the window are more than those, see
    /// [`dbdyno_model::Round::done_events`]; `None` where there are several clients, or they rest.
    pub edge_events: Option<f64>,
    /// What their statements did.
    pub answer: Answer,
    /// Latency of each event.
    pub latency: LatencyHistogram,
    /// Statements in slots of [`SLOT`].
    pub series: Series,
    /// By class, unless there is one only.
    pub classes: Vec<ClassTally>,
    /// What the client threads cost.
    pub usage: ThreadUsage,
}

/// Resolution of the series within a round.
pub const SLOT: Duration = Duration::from_millis(25);

/// How often a waiting round looks whether it is to stop.
pub(crate) const STOP_CHECK: Duration = Duration::from_millis(50);

/// Runs one round. `observe` is called on this thread at each [`Moment`].
///
/// # Errors
/// Whatever stopped the load, [`LoadError::Interrupted`] among it. Nothing of a failed round
/// counts.
pub fn run_round(
    spec: &RoundSpec<'_>,
    observe: &mut dyn FnMut(Moment),
) -> Result<Measured, LoadError> {
    if let Connector::Mock(arm) = spec.connector {
        return mock::run_round(arm, spec, observe);
    }
    let run = |spec: &RoundSpec<'_>, observe: &mut dyn FnMut(Moment)| {
        if shards::are_for(spec) { run_sharded(spec, observe) } else { run_threads(spec, observe) }
    };
    beside::with_background(spec, observe, run, |measured| measured)
}

/// Runs one round with a thread for each client, however many there are.
///
/// # Errors
/// Those of [`run_round`].
pub fn run_threads(
    spec: &RoundSpec<'_>,
    observe: &mut dyn FnMut(Moment),
) -> Result<Measured, LoadError> {
    // The other arm's may stay, too.
    files::allow(spec.clients * if spec.kept.is_some() { 2 } else { 1 })?;
    let sessions = open_sessions(spec, observe)?;
    let books = Books::new(spec.load.filing(), Times::Service, spec.window, sessions.len());
    let part = |(client, session)| (session, books.of(client));
    let mut parts: Vec<_> = sessions.into_iter().enumerate().map(part).collect();
    let measured =
        conduct(spec, &mut parts, &books, observe, |(session, book), window, failed| {
            drive(session, book.take(), spec, window, failed)
        })?;
    keep_sessions(spec, parts.into_iter().map(|(session, _)| session));
    Ok(measured)
}

/// Runs one round with a thread for each processor, however few clients there are.
///
/// # Errors
/// Those of [`run_round`].
///
/// # Panics
/// With an embedded arm, which has no sockets, and with a dialogue, whose partner waits for its
/// answers.
pub fn run_sharded(
    spec: &RoundSpec<'_>,
    observe: &mut dyn FnMut(Moment),
) -> Result<Measured, LoadError> {
    files::allow(spec.clients)?;
    shards::run_round(spec, observe)
}

/// Connects all clients of a round that are not connected, in the order of their numbers.
pub(crate) fn open_sessions<'a>(
    spec: &RoundSpec<'a>,
    observe: &mut dyn FnMut(Moment),
) -> Result<Vec<Session<'a>>, LoadError> {
    let open = |number| match spec.kept.and_then(|kept| kept.take(number)) {
        Some(seat) => Ok(Session::resume(seat, spec.connector, spec.load, number)),
        None => Session::open(spec.connector, spec.load, number),
    };
    crowd::connect(spec, open, Session::client, observe)
}

/// Leaves the connections of a round that nothing stopped to the next one, where they are to stay.
pub(crate) fn keep_sessions<'a>(
    spec: &RoundSpec<'_>,
    sessions: impl IntoIterator<Item = Session<'a>>,
) {
    // Waits of embedded arms can be cut off, and their connections cost nothing to make.
    let Some(kept) = spec.kept.filter(|_| !spec.connector.is_embedded()) else { return };
    for session in sessions {
        kept.put(session.number(), session.leave());
    }
}

/// Gives each part of a round a thread, opens and closes the window, and adds up.
pub(crate) fn conduct<P: Send>(
    spec: &RoundSpec<'_>,
    parts: &mut [P],
    books: &Books,
    observe: &mut dyn FnMut(Moment),
    drive: impl Fn(&mut P, &Window, &AtomicBool) -> Result<Tally, LoadError> + Sync,
) -> Result<Measured, LoadError> {
    let open = now() + spec.lead_in;
    let window = Window { open, close: open + spec.window };
    let failed = AtomicBool::new(false);
    let (stops, late) = (|| is_to_stop(spec, &failed), window.close + patience::AFTER_CLOSE);
    thread::scope(|scope| {
        let _watch = patience::watch(scope, spec.connector, || stops() || now() >= late);
        let mut handles = Vec::with_capacity(parts.len());
        for part in parts {
            let (drive, window, failed) = (&drive, &window, &failed);
            handles.push(scope.spawn(move || {
                let tally = drive(part, window, failed);
                tally.inspect_err(|_| failed.store(true, Ordering::Relaxed))
            }));
        }
        wait_until(window.open, spec.stop, &failed);
        let started_unix_ms = unix_ms();
        let opened = now();
        observe(Moment::Opened);
        wait_until(window.close, spec.stop, &failed);
        let observed_ns = nanos(now() - opened);
        observe(Moment::Closed);

        let mut tallies = Vec::with_capacity(handles.len());
        for handle in handles {
            tallies.push(handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        add_up(tallies, (spec.load.filing(), books), started_unix_ms, observed_ns, spec.window)
    })
}

fn is_to_stop(spec: &RoundSpec<'_>, failed: &AtomicBool) -> bool {
    spec.stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed)
}

/// When events count.
pub(crate) struct Window {
    pub(crate) open: Instant,
    pub(crate) close: Instant,
}

/// Clients that think do not all begin at once, but as if they had been at it for long.
pub(crate) fn first_rest(spec: &RoundSpec<'_>, client: u32) -> Duration {
    let rest = |Thinking { think, seed }| think.first_ns(seed, client, spec.clients);
    Duration::from_nanos(spec.think.map_or(0, rest))
}

fn drive(
    session: &mut Session<'_>,
    book: Option<Arc<Book>>,
    spec: &RoundSpec<'_>,
    window: &Window,
    failed: &AtomicBool,
) -> Result<Tally, LoadError> {
    pin_to(spec.processors)?;
    if spec.think.is_some() {
        // The kernel may wake us 50 µs late on purpose, which would be part of every latency.
        let _ = prctl::set_timerslack(1);
    }
    let mut tally = Tally::new(spec.window, book);
    let mut usage_at_open = None;
    let mut operation = spec.first_operation;
    let mut brake = Brake::new(spec.slow);
    let rest = session.phase_us(operation).map(Duration::from_micros);
    let clock = Clock::now();
    let (open_ns, close_ns) = (clock.at_ns(window.open), clock.at_ns(window.close));
    let mut edges = Edges::new(open_ns, close_ns, spec.clients);
    let mut start_ns = nanos(rest.unwrap_or_else(|| first_rest(spec, session.number())));
    clock.wait_until(start_ns.min(close_ns), spec.stop, failed);
    loop {
        if is_to_stop(spec, failed) {
            return Err(LoadError::Interrupted);
        }
        if start_ns >= close_ns {
            break;
        }
        session.make(operation);
        let answer = match session.ask(operation) {
            // The window has closed, and what it waited for does not come.
            Err(LoadError::Interrupted) if !is_to_stop(spec, failed) => break,
            answer => answer?,
        };
        let answered_ns = clock.ns();
        let end_ns = answered_ns + brake.spin(answered_ns - start_ns, || clock.ns() - answered_ns);
        edges.event(start_ns, end_ns);
        if end_ns >= close_ns {
            break;
        }
        if end_ns >= open_ns {
            // The event that crosses the opening is counted and its cost is not; with the one that
            // crosses the closing it is the other way round.
            usage_at_open.get_or_insert_with(ThreadUsage::now);
            tally.count(&answer, end_ns - start_ns, end_ns - open_ns);
        }
        let pause = match session.pause_us(operation) {
            Some(us) => Duration::from_micros(us),
            None => spec.think.map_or(Duration::ZERO, |thinking| {
                thinking.pause(session.number(), operation - spec.first_operation)
            }),
        };
        start_ns = end_ns + nanos(pause);
        if !pause.is_zero() {
            edges.rest();
            // Latency counts from the intended start: a client that wakes late was kept waiting.
            clock.wait_until(start_ns.min(close_ns), spec.stop, failed);
        }
        operation += 1;
    }
    let usage = usage_at_open.map_or(ThreadUsage::default(), |open| ThreadUsage::now().since(open));
    tally.edge_events = edges.told();
    // That was the cost of the events that were counted.
    tally.usage = match tally.edge_events {
        Some(cut) if tally.events > 0 => usage.times(1.0 + cut / tally.events as f64),
        _ => usage,
    };
    Ok(tally)
}

/// A thread's clock: nanoseconds since it was made, because subtracting moments from each other for
/// every event would cost a tenth of what the client does for it.
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    pub(crate) fn now() -> Clock {
        Clock { origin: now() }
    }

    #[inline]
    pub(crate) fn ns(&self) -> u64 {
        nanos(now() - self.origin)
    }

    /// A moment on this clock; what was before it is 0.
    pub(crate) fn at_ns(&self, moment: Instant) -> u64 {
        nanos(moment.saturating_duration_since(self.origin))
    }

    fn wait_until(&self, moment_ns: u64, stop: &AtomicBool, failed: &AtomicBool) {
        wait_until(self.origin + Duration::from_nanos(moment_ns), stop, failed);
    }
}

/// Keeps the calling thread on these processors.
///
/// # Errors
/// [`LoadError::Placement`] if the kernel refuses.
pub fn pin_to(processors: Processors) -> Result<(), LoadError> {
    if processors.is_any() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    processors
        .numbers()
        .try_for_each(|processor| set.set(processor))
        .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set))
        .map_err(|error| LoadError::Placement(processors, error.into()))
}

/// Threads that can run at the same time on these processors.
pub(crate) fn parallelism(processors: Processors) -> usize {
    match processors.count() {
        0 => thread::available_parallelism().map_or(1, usize::from),
        count => count,
    }
}

pub(crate) fn wait_until(moment: Instant, stop: &AtomicBool, failed: &AtomicBool) {
    loop {
        let left = moment.saturating_duration_since(now());
        if left.is_zero() || stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed) {
            return;
        }
        thread::sleep(left.min(STOP_CHECK));
    }
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    let seconds = duration.as_secs().saturating_mul(1_000_000_000);
    seconds.saturating_add(u64::from(duration.subsec_nanos()))
}

#[inline]
#[expect(clippy::disallowed_methods, reason = "the load generator owns the monotonic clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "a round carries the time of day it began")]
pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}
