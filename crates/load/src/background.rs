//! Who is at work beside the clients of a round: `db_bench`'s writer in its loads `…whilewriting`.
//!
//! ```text
//!   clients      │ lead-in … │◀──────── window ────────▶│      counted: the rate of the load
//!   background   ▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏       a class of its own
//!                 event k is meant for k ÷ rate
//! ```
//!
//! It has a connection and a thread of its own and times that nothing moves: when the server is
//! late, it catches up, so that the rate is held on the average of any second. What is more than a
//! second late is given up, and the rate that was achieved is below the one that was asked for; the
//! lab says so. Its events count in no rate and no latency but those of its class. Its processor
//! time is part of the round's, as that of its work in a server is.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dbdyno_model::{ClassTally, ClassTimes, LatencyHistogram};
use dbdyno_workload::ready::Beside;
use nix::sys::prctl;

use dbdyno_model::classes::BACKGROUND;

use crate::affinity::pin_to;
use crate::error::LoadError;
use crate::patience;
use crate::round::{Moment, RoundMeasurement, RoundSpec, SLOT};
use crate::session::ClientSession;
use crate::time::{duration_ns, now, wait_until};
use crate::usage::ThreadUsage;

/// What is later than this is given up.
const LATE_MOST: Duration = Duration::from_secs(1);

/// The window, as it comes to be.
#[derive(Default)]
struct Window {
    opened: OnceLock<Instant>,
    closed: OnceLock<Instant>,
}

/// What the background did in the window.
struct BackgroundWork {
    class: ClassTally,
    usage: ThreadUsage,
}

/// Runs a round with its background, if it has one.
///
/// # Errors
/// Those of `run`, or what stopped the background.
pub(crate) fn with_background<T>(
    spec: &RoundSpec<'_>,
    observe: &mut dyn FnMut(Moment),
    run: impl FnOnce(&RoundSpec<'_>, &mut dyn FnMut(Moment)) -> Result<T, LoadError>,
    measured: impl FnOnce(&mut T) -> &mut RoundMeasurement,
) -> Result<T, LoadError> {
    let Some(beside) = spec.load.background() else { return run(spec, observe) };
    let mut session = ClientSession::open(spec.connector, &beside.load, spec.clients)?;
    session.client().set_patience(patience::of_round(spec.lead_in + spec.window));
    let (window, stop, done) = (Window::default(), AtomicBool::new(false), AtomicBool::new(false));
    let within = RoundSpec { stop: &stop, ..*spec };
    let (ran, beside) = thread::scope(|scope| {
        let _watch =
            patience::watch_lock_waits(scope, spec.connector, || spec.stop.load(Ordering::Relaxed));
        let background = scope.spawn(|| {
            let done = drive(&mut session, spec, beside, &window, &done);
            done.inspect_err(|_| stop.store(true, Ordering::Relaxed))
        });
        let mut look = |moment| {
            match moment {
                Moment::Opened => _ = window.opened.set(now()),
                Moment::Closed => _ = window.closed.set(now()),
                Moment::Connecting(_) => {}
            }
            observe(moment);
        };
        let ran = run(&within, &mut look);
        done.store(true, Ordering::Relaxed);
        (ran, background.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    match (ran, beside) {
        (Ok(mut ran), Ok(done)) => {
            let measured = measured(&mut ran);
            measured.usage = measured.usage.plus(done.usage);
            measured.classes.push(done.class);
            Ok(ran)
        }
        // Whoever failed first made the other one stop.
        (Err(LoadError::Interrupted) | Ok(_), Err(error)) | (Err(error), _) => Err(error),
    }
}

fn drive(
    session: &mut ClientSession<'_>,
    spec: &RoundSpec<'_>,
    beside: &Beside,
    window: &Window,
    done: &AtomicBool,
) -> Result<BackgroundWork, LoadError> {
    // On the one processor of a single client it would be that client which is measured.
    if spec.processors.count() > 1 {
        pin_to(spec.processors)?;
    }
    // The kernel may wake us 50 µs late on purpose: a quarter of the pause of 5,000 a second.
    let _ = prctl::set_timerslack(1);
    let every = Duration::from_secs(1) / u32::try_from(beside.per_second).unwrap_or(u32::MAX);
    let slots = (spec.window.as_nanos() / SLOT.as_nanos()) as usize;
    let mut class =
        ClassTally { name: BACKGROUND.to_owned(), count: 0, slots: vec![0; slots], times: None };
    let mut latency = LatencyHistogram::new();
    let (mut at_open, mut at_close) = (None, None);
    let mut operation = spec.first_operation;
    let mut due = now();
    while !done.load(Ordering::Relaxed) {
        if spec.stop.load(Ordering::Relaxed) {
            return Err(LoadError::Interrupted);
        }
        session.make_operation(operation);
        let begin = now();
        match session.ask_operation(operation) {
            // The window has closed, and what it waited for does not come.
            Err(LoadError::Interrupted) if !spec.stop.load(Ordering::Relaxed) => break,
            answer => answer?,
        };
        operation += 1;
        let end = now();
        if window.closed.get().is_some() {
            at_close.get_or_insert_with(ThreadUsage::now);
        } else if let Some(opened) = window.opened.get() {
            at_open.get_or_insert_with(ThreadUsage::now);
            let since = end.saturating_duration_since(*opened);
            class.count += 1;
            latency.record_latency(duration_ns(end.saturating_duration_since(begin)));
            if let Some(slot) = class.slots.get_mut((since.as_nanos() / SLOT.as_nanos()) as usize) {
                *slot += 1;
            }
        }
        due = (due + every).max(end.checked_sub(LATE_MOST).unwrap_or(end));
        wait_until(due, spec.stop, done);
    }
    let at_close = at_close.unwrap_or_else(ThreadUsage::now);
    let usage = at_open.map_or(ThreadUsage::default(), |open| at_close.since(open));
    class.times = Some(ClassTimes { latency, response: None });
    Ok(BackgroundWork { class, usage })
}
