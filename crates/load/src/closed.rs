//! The closed loop: every client sends its next event when the last one is answered.
//!
//! ```text
//!   connect all │ lead-in … │ open ───────── window ───────── close │ join │ disconnect
//!                            ▲ observe(Opened)                ▲ observe(Closed)
//! ```
//!
//! An event belongs to the window if it *ends* in it. Sessions stay open until the observer has
//! seen the close, so that a server's per-connection processes are still there to be measured.
//! Some stay for the next round: [`crate::KeptConnections`].

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use nix::sys::prctl;

use crate::affinity::pin_to;
use crate::background;
use crate::book::{Book, Books, Times};
use crate::brake::Brake;
use crate::connector::Connector;
use crate::crowd::{keep_sessions, open_sessions};
use crate::error::LoadError;
use crate::files;
use crate::mock;
use crate::round::{Moment, RoundSpec};
use crate::session::ClientSession;
use crate::shards;
use crate::tally::{Edges, Tally};
use crate::time::{Clock, duration_ns};
use crate::usage::ThreadUsage;
use crate::window::{Window, conduct_round, is_to_stop};

pub use crate::round::{RoundMeasurement, SLOT};

/// Runs one round. `observe` is called on this thread at each [`Moment`].
///
/// # Errors
/// Whatever stopped the load, [`LoadError::Interrupted`] among it. Nothing of a failed round
/// counts.
pub fn run_round(
    spec: &RoundSpec<'_>,
    observe: &mut dyn FnMut(Moment),
) -> Result<RoundMeasurement, LoadError> {
    if let Connector::Mock(arm) = spec.connector {
        return mock::run_round(arm, spec, observe);
    }
    background::with_background(
        spec,
        observe,
        |spec, observe| {
            if shards::are_for(spec) {
                run_sharded(spec, observe)
            } else {
                run_threads(spec, observe)
            }
        },
        |measured| measured,
    )
}

/// Runs one round with a thread for each client, however many there are.
///
/// # Errors
/// Those of [`run_round`].
pub fn run_threads(
    spec: &RoundSpec<'_>,
    observe: &mut dyn FnMut(Moment),
) -> Result<RoundMeasurement, LoadError> {
    // The other arm's may stay, too.
    files::raise_file_limit(spec.clients * if spec.kept.is_some() { 2 } else { 1 })?;
    let mut sessions = open_sessions(spec, observe)?;
    if let Some(recording) = spec.record {
        sessions.iter_mut().for_each(|session| session.record_on(recording));
    }
    let books = Books::new(spec.load.filing(), Times::Service, spec.window, sessions.len());
    let mut parts: Vec<_> = sessions
        .into_iter()
        .enumerate()
        .map(|(client, session)| (session, books.of_client(client)))
        .collect();
    let measured =
        conduct_round(spec, &mut parts, &books, observe, |(session, book), window, failed| {
            drive(session, book.take(), spec, window, failed)
        })?;
    if let Some(recording) = spec.record {
        parts.iter_mut().for_each(|(session, _)| session.end_record(recording));
    }
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
) -> Result<RoundMeasurement, LoadError> {
    files::raise_file_limit(spec.clients)?;
    shards::run_round(spec, observe)
}

fn drive(
    session: &mut ClientSession<'_>,
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
    let clock = Clock::now();
    let (open_ns, close_ns) = (clock.at_ns(window.open), clock.at_ns(window.close));
    let mut edges = Edges::new(open_ns, close_ns, spec.clients);
    let mut start_ns = duration_ns(first_rest(session, spec));
    clock.wait_until(start_ns.min(close_ns), spec.stop, failed);
    loop {
        if is_to_stop(spec, failed) {
            return Err(LoadError::Interrupted);
        }
        if start_ns >= close_ns {
            break;
        }
        session.make_operation(operation);
        let answer = match session.ask_operation(operation) {
            // The window has closed, and what it waited for does not come.
            Err(LoadError::Interrupted) if !is_to_stop(spec, failed) => break,
            answer => answer?,
        };
        let answered_ns = clock.elapsed_ns();
        let end_ns =
            answered_ns + brake.spin(answered_ns - start_ns, || clock.elapsed_ns() - answered_ns);
        edges.note_event(start_ns, end_ns);
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
                thinking.pause(session.client_number(), operation - spec.first_operation)
            }),
        };
        start_ns = end_ns + duration_ns(pause);
        if !pause.is_zero() {
            edges.note_rest();
            // Latency counts from the intended start: a client that wakes late was kept waiting.
            clock.wait_until(start_ns.min(close_ns), spec.stop, failed);
        }
        operation += 1;
    }
    let usage = usage_at_open.map_or(ThreadUsage::default(), |open| ThreadUsage::now().since(open));
    tally.edge_events = edges.edge_events();
    // That was the cost of the events that were counted.
    tally.usage = match tally.edge_events {
        Some(cut) if tally.events > 0 => usage.scaled_by(1.0 + cut / tally.events as f64),
        _ => usage,
    };
    Ok(tally)
}

/// How long a client rests before its first operation.
fn first_rest(session: &mut ClientSession<'_>, spec: &RoundSpec<'_>) -> Duration {
    let phase = session.phase_us(spec.first_operation).map(Duration::from_micros);
    phase.unwrap_or_else(|| spec.first_rest(session.client_number()))
}
