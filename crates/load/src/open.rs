//! The open loop: events have times of their own, and do not wait for the server.
//!
//! ```text
//!   intended   ▏    ▏    ▏    ▏    ▏    ▏       from the schedule; nothing moves them
//!   sent       ▏    ▏─stall──────▏▏▏▏   ▏
//!   answered    ▕    ────────────▕ ▕▕▕▕  ▕
//!                                               service time   answered − sent
//!                                               response time  answered − intended
//! ```
//!
//! A closed loop stops asking while the server stalls, and so hardly notices the stall. Here the
//! events that should have been sent meanwhile are late, and their response times say by how much.
//! What other generators get wrong is what this module is careful about:
//!
//! * The intended time comes from the schedule. A generator that is itself late is late against it,
//!   so its lateness is *in* the response time, and shown apart as *lag*.
//! * There is no queue that could overflow: late events stay where they are, in order.
//! * Nobody waits for a signal that could be lost: each connection takes the next event by itself,
//!   and sleeps until its time. Connections take events in the order in which they become free, so
//!   the whole is a queue with one line and as many counters as connections.
//! * Every event that was meant for the window counts, also when it is answered after its end.
//!   Draining has a limit; what is unanswered then counts with the time that it has waited so far,
//!   and the number of those is told.
//!
//! Event *k* asks the question of client `k mod clients`, whichever connection asks it: both arms
//! are asked the same in the same order. In a dialogue, which depends on answers, a connection asks
//! the questions of its own client.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use dbdyno_model::OpenLoop;

use crate::affinity::{parallel_threads, pin_to};
use crate::answer::EventAnswer;
use crate::background;
use crate::book::{self, Books};
use crate::brake::Brake;
use crate::connector::Connector;
use crate::crowd::open_sessions;
use crate::error::LoadError;
use crate::files;
use crate::patience;
use crate::round::{Moment, RoundMeasurement, RoundSpec};
use crate::session::ClientSession;
use crate::tally::first_cause_first;
use crate::time::{duration_ns, now, unix_ms, wait_until};

mod account;
mod feed;
mod modelled;
mod pace;
#[cfg(test)]
mod simulation;
mod spec;

pub use spec::OpenSpec;

use account::{Account, Times, conclude_round};
use feed::{Due, Feed};
use pace::{Clock, Monotonic};

/// Time for the threads to get ready before the first event.
const GET_READY: Duration = Duration::from_millis(20);
const GET_READY_PER_CLIENT: Duration = Duration::from_micros(200);

/// The times at which a client changes its ways, nanoseconds since the window opened.
#[derive(Clone, Copy, Debug)]
struct Limits {
    close_ns: i64,
    give_up_ns: i64,
}

/// Runs one round. `observe` is called on this thread at both moments of the window. The rates and
/// service times of [`RoundMeasurement`] are those of events that *ended* in the window, as in the
/// closed loop, so that they go with the cost between the two moments; [`OpenLoop`] has the events
/// that were *meant* for the window.
///
/// # Errors
/// Whatever stopped the load. Nothing of a failed round counts.
pub fn run_open(
    spec: &OpenSpec<'_>,
    observe: &mut dyn FnMut(Moment),
) -> Result<(RoundMeasurement, OpenLoop), LoadError> {
    if let Connector::Mock(arm) = spec.round.connector {
        return modelled::run(arm, spec, observe);
    }
    let run =
        |round: &RoundSpec<'_>, observe: &mut dyn FnMut(Moment)| run_alone(round, spec, observe);
    background::with_background(&spec.round, observe, run, |(measured, _)| measured)
}

fn run_alone(
    round: &RoundSpec<'_>,
    spec: &OpenSpec<'_>,
    observe: &mut dyn FnMut(Moment),
) -> Result<(RoundMeasurement, OpenLoop), LoadError> {
    files::raise_file_limit(round.clients)?;
    let anew = RoundSpec { kept: None, ..*round };
    let (sessions, filing) = (open_sessions(&anew, observe)?, round.load.filing());
    let times = book::Times::ServiceAndResponse;
    let books = Books::new(filing, times, round.window, sessions.len());
    let account =
        |(number, session)| (session, Account::new(round.window, books.of_client(number)));
    let mut sessions: Vec<_> = sessions.into_iter().enumerate().map(account).collect();
    let close_ns = duration_ns(round.window) as i64;
    let limits = Limits { close_ns, give_up_ns: close_ns + duration_ns(spec.drain) as i64 };
    let feed = Feed::new(spec.schedule.clone(), close_ns);
    let before = GET_READY + GET_READY_PER_CLIENT * round.clients + round.lead_in;
    let open = now() + before;
    let open_ns = pace::monotonic_ns() + duration_ns(before) as i64;
    let failed = AtomicBool::new(false);
    let stops = || round.stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
    let give_up = open + round.window + spec.drain;
    thread::scope(|scope| {
        let _watch =
            patience::watch_lock_waits(scope, round.connector, || stops() || now() >= give_up);
        let mut handles = Vec::with_capacity(sessions.len());
        for (session, account) in &mut sessions {
            let (feed, failed) = (&feed, &failed);
            handles.push(scope.spawn(move || {
                let done = drive(session, account, round, feed, open_ns, limits, failed);
                done.inspect_err(|_| failed.store(true, Ordering::Relaxed))
            }));
        }
        wait_until(open, round.stop, &failed);
        let started_unix_ms = unix_ms();
        let opened = now();
        observe(Moment::Opened);
        wait_until(open + round.window, round.stop, &failed);
        let observed_ns = duration_ns(now() - opened);
        observe(Moment::Closed);

        let mut done = Vec::with_capacity(handles.len());
        for handle in handles {
            done.push(handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        first_cause_first(done)?;
        // Where nothing was due the clients have not seen the request; but the window was cut.
        if round.stop.load(Ordering::Relaxed) {
            return Err(LoadError::Interrupted);
        }
        Ok((started_unix_ms, observed_ns))
    })
    .and_then(|(started_unix_ms, observed_ns)| {
        let accounts = sessions.into_iter().map(|(_, account)| account).collect();
        conclude_round(accounts, filing, &books, started_unix_ms, observed_ns, round.window)
    })
}

/// The life of one connection.
fn drive(
    session: &mut ClientSession<'_>,
    account: &mut Account,
    round: &RoundSpec<'_>,
    feed: &Feed,
    open_ns: i64,
    limits: Limits,
    failed: &AtomicBool,
) -> Result<(), LoadError> {
    pin_to(round.processors)?;
    let processors = parallel_threads(round.processors);
    let mut clock = Monotonic::new(open_ns, round.clients, processors);
    let mut asker = Asker { session, round };
    let brake = Brake::new(round.slow);
    serve(feed, &mut clock, &mut asker, brake, account, limits, || {
        round.stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed)
    })
}

/// To whom events are put, by their number.
trait Asks {
    /// Asks an event.
    fn ask_event(&mut self, number: u64) -> Result<EventAnswer, LoadError>;

    /// The kind of an event that will not be asked; `None` where only asking would tell.
    fn kind(&mut self, number: u64) -> Option<u32>;
}

/// A connection in a round.
struct Asker<'s, 'a, 'r> {
    session: &'s mut ClientSession<'a>,
    round: &'r RoundSpec<'r>,
}

impl Asker<'_, '_, '_> {
    /// Whose operation an event is, and which one.
    fn operation(&self, number: u64) -> (u32, u64) {
        let (first, clients) = (self.round.first_operation, u64::from(self.round.clients));
        match self.session.is_program() {
            true => ((number % clients) as u32, first + number / clients),
            false => (self.session.client_number(), first + number),
        }
    }
}

impl Asks for Asker<'_, '_, '_> {
    fn ask_event(&mut self, number: u64) -> Result<EventAnswer, LoadError> {
        let (client, operation) = self.operation(number);
        self.session.make_as(client, operation);
        self.session.ask_operation(operation)
    }

    fn kind(&mut self, number: u64) -> Option<u32> {
        let (client, operation) = self.operation(number);
        self.session.kind_of(client, operation)
    }
}

/// Takes events until none is left in the window. All accounting of time happens here.
fn serve(
    feed: &Feed,
    clock: &mut impl Clock,
    asks: &mut impl Asks,
    mut brake: Brake,
    account: &mut Account,
    limits: Limits,
    stopped: impl Fn() -> bool,
) -> Result<(), LoadError> {
    let mut free_ns = clock.now_ns();
    while let Some(Due { number, intended_ns }) = feed.claim_next() {
        if free_ns >= limits.give_up_ns {
            account.count_unanswered(asks.kind(number), intended_ns, limits.give_up_ns);
            continue;
        }
        if intended_ns >= 0 {
            account.look_at_open();
        }
        let sent_ns = clock.wait_until(intended_ns, &stopped);
        if stopped() {
            return Err(LoadError::Interrupted);
        }
        let answer = match asks.ask_event(number) {
            // Draining has ended, and what it waited for does not come.
            Err(LoadError::Interrupted) if !stopped() => {
                account.count_unanswered(asks.kind(number), intended_ns, limits.give_up_ns);
                free_ns = limits.give_up_ns;
                continue;
            }
            answer => answer?,
        };
        let answered_ns = clock.now_ns();
        let took_ns = (answered_ns - sent_ns) as u64;
        let spun_ns = brake.spin(took_ns, || (clock.now_ns() - answered_ns) as u64);
        let end_ns = answered_ns + spun_ns as i64;
        if end_ns >= limits.close_ns {
            account.look_at_close();
        }
        account.count_event(Times { intended_ns, free_ns, sent_ns, end_ns }, &answer);
        free_ns = end_ns;
    }
    account.look_at_close();
    Ok(())
}
