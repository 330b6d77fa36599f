//! All rounds of a block at once, in slices of some milliseconds that take turns.
//!
//! ```text
//!   base  ▏lead-in▏          ▏·▓▓▓▓▓▓▏         ▏·▓▓▓▓▓▓▏         …
//!   test           ▏lead-in▏          ▏·▓▓▓▓▓▓▏         ▏·▓▓▓▓▓▓▏…
//!                             · the slice's own lead-in, not counted: caches are another arm's
//! ```
//!
//! A shared host is as fast as its neighbours let it be, and that changes within tenths of a
//! second: whoever runs on the other thread of a core takes up to half of what it can do. Rounds
//! that follow each other meet different hosts; slices of ten milliseconds meet the same one
//! (`docs/journal/2026-11-22-slices.md`). It is what Abedi and Brecht call interleaved trials
//! ("Conducting Repeatable Experiments in Highly Variable Cloud Computing Environments", ICPE
//! 2017), at the scale on which the host varies.
//!
//! Slices are handed over when the last client has the answer to its last event, so that no arm
//! works in another's time. A client counts from the end of one event to the end of another: the
//! event under way when the slice has been long enough is waited for and counted with all the time
//! that it takes, so that no stall is cut off; and as the number of events is decided by nothing
//! that comes after, events over time is the rate (Wald's identity). A client that has counted its
//! last event goes on asking until all have: who still waits for a slow answer waits for it beside
//! as many others as before.
//!
//! What an arm does when nobody asks, it does in the slices of others. Loads that change rows are
//! not interleaved: who puts off work would have it paid by the other.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use dbdyno_model::{ArmIndex, Arms};

use crate::affinity::pin_to;
use crate::answer::EventAnswer;
use crate::book::{Book, Books, Times};
use crate::brake::Brake;
use crate::crowd::{keep_sessions, open_sessions};
use crate::error::LoadError;
use crate::files;
use crate::mock;
use crate::patience;
use crate::round::{Moment, RoundMeasurement, RoundSpec};
use crate::session::ClientSession;
use crate::slices::Slices;
use crate::tally::{Tally, add_up};
use crate::time::{Clock, STOP_CHECK, duration_ns, now, unix_ms};
use crate::usage::ThreadUsage;

/// Runs the rounds of all arms in slices. Of a [`RoundSpec`] the length of the window, what
/// clients rest and a load's background mean nothing here. `observe` is called on this thread, for
/// one arm after the other.
///
/// # Errors
/// Whatever stopped the load of an arm, [`LoadError::Interrupted`] among it. Nothing of any round
/// counts then.
pub fn run_interleaved(
    specs: &Arms<RoundSpec<'_>>,
    slices: &Slices,
    observe: &mut dyn FnMut(ArmIndex, Moment),
) -> Result<Arms<RoundMeasurement>, (ArmIndex, LoadError)> {
    if let Some(mocks) = mock::mock_arms(specs) {
        return mock::run_interleaved(&mocks, specs, slices, observe);
    }
    let first = slices.arm_of(0);
    let total = slices.window * slices.count;
    let clients = specs.values().map(|spec| spec.clients).sum();
    files::raise_file_limit(clients).map_err(|error| (first, error))?;
    let mut sessions = Arms::try_from_fn(specs.indices(), |arm| {
        open_sessions(&specs[arm], &mut |moment| observe(arm, moment)).map_err(|error| (arm, error))
    })?;
    // Each arm also waits for the turns of the others.
    let length = (slices.lead_in + slices.window) * slices.total_turns();
    let all = sessions.iter_mut().flat_map(|(_, sessions)| sessions);
    all.for_each(|session| session.client().set_patience(patience::of_round(length)));
    let books = Arms::from_fn(specs.indices(), |arm| {
        Books::new(specs[arm].load.filing(), Times::Service, total, specs[arm].clients as usize)
    });
    let relay =
        Relay::new(slices, Arms::from_fn(specs.indices(), |arm| Waiting::of(specs[arm].clients)));
    let measured = thread::scope(|scope| {
        // A thread that cannot be had is no reason for the others to wait for it.
        let _presence = Presence(&relay);
        let mut handles = Arms::from_fn(specs.indices(), |_| Vec::new());
        for (arm, sessions) in sessions.iter_mut() {
            for (client, session) in sessions.iter_mut().enumerate() {
                let runner = Runner { arm, spec: &specs[arm], slices, relay: &relay };
                let book = books[arm].of_client(client);
                handles[arm].push(scope.spawn(move || runner.run(session, book)));
            }
        }
        let stop = specs[first].stop;
        relay.run_until(slices.lead_ins(), stop);
        let started_unix_ms = unix_ms();
        specs.iter().for_each(|(arm, _)| observe(arm, Moment::Opened));
        relay.run_until(slices.total_turns(), stop);
        specs.iter().for_each(|(arm, _)| observe(arm, Moment::Closed));
        relay.end();
        let done = handles.map(|handles| {
            handles
                .into_iter()
                .map(|handle| {
                    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect::<Vec<_>>()
        });
        sum(specs, done, &books, started_unix_ms)
    })?;
    for (arm, sessions) in sessions {
        keep_sessions(&specs[arm], sessions);
    }
    Ok(measured)
}

/// What a client did.
struct ClientWork {
    tally: Tally,
    /// Time in which its events count.
    counted_ns: u64,
    /// Time in which it was at work, between the looks of the observer.
    at_work_ns: u64,
}

fn sum(
    specs: &Arms<RoundSpec<'_>>,
    mut done: Arms<Vec<Result<ClientWork, LoadError>>>,
    books: &Arms<Books>,
    started_unix_ms: u64,
) -> Result<Arms<RoundMeasurement>, (ArmIndex, LoadError)> {
    // What stopped one arm has interrupted the others.
    let is_cause = |arm: &ArmIndex| {
        done[*arm]
            .iter()
            .any(|done| done.as_ref().is_err_and(|error| !matches!(error, LoadError::Interrupted)))
    };
    let cause = specs.indices().find(is_cause);
    let mut sum = |arm: ArmIndex| {
        let clients = u64::from(specs[arm].clients.max(1));
        let of_all =
            |ns: fn(&ClientWork) -> u64| done[arm].iter().flatten().map(ns).sum::<u64>() / clients;
        let wall = Duration::from_nanos(of_all(|done| done.counted_ns));
        let observed_ns = of_all(|done| done.at_work_ns);
        let tallies = std::mem::take(&mut done[arm]).into_iter().map(|done| Ok(done?.tally));
        let (filing, books) = (specs[arm].load.filing(), &books[arm]);
        let measured = add_up(tallies.collect(), filing, books, started_unix_ms, observed_ns, wall);
        measured.map_err(|error| (arm, error))
    };
    if let Some(arm) = cause {
        sum(arm)?;
    }
    Arms::try_from_fn(specs.indices(), sum)
}

/// Whose turn it is.
struct Relay<'a> {
    slices: &'a Slices,
    /// The clients of each arm.
    arms: Arms<Waiting>,
    state: Mutex<State>,
    /// Waited on by who conducts.
    pause: Condvar,
    /// Clients whose counted time of this turn is not over; less than 0 where nobody has another
    /// turn.
    counting: AtomicI64,
}

/// The clients of an arm.
struct Waiting {
    clients: u32,
    /// Waited on by them.
    turn: Condvar,
}

impl Waiting {
    fn of(clients: u32) -> Waiting {
        Waiting { clients, turn: Condvar::new() }
    }
}

struct State {
    turn: u32,
    begun: Instant,
    /// Turns before this one may be run.
    until: u32,
    /// Clients that have not finished this turn.
    at_work: u32,
    has_ended: bool,
}

/// A client's turn.
struct Turn {
    number: u32,
    begun: Instant,
}

impl Relay<'_> {
    fn new(slices: &Slices, arms: Arms<Waiting>) -> Relay<'_> {
        let at_work = arms[slices.arm_of(0)].clients;
        let state = State { turn: 0, begun: now(), until: 0, at_work, has_ended: false };
        Relay {
            slices,
            arms,
            state: Mutex::new(state),
            pause: Condvar::new(),
            counting: AtomicI64::new(i64::from(at_work)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the turns before this one be run, and waits for their end.
    fn run_until(&self, turn: u32, stop: &AtomicBool) {
        let mut state = self.state();
        state.until = turn;
        state.begun = now();
        self.arms[self.slices.arm_of(state.turn)].turn.notify_all();
        while state.turn < turn && !state.has_ended {
            if stop.load(Ordering::Relaxed) {
                drop(state);
                return self.end();
            }
            state = wait(&self.pause, state);
        }
    }

    /// Nobody has another turn.
    fn end(&self) {
        self.state().has_ended = true;
        self.counting.store(i64::MIN / 2, Ordering::Relaxed);
        self.arms.values().for_each(|waiting| waiting.turn.notify_all());
        self.pause.notify_all();
    }

    /// The next turn of a client of this arm that has had all before `after`; `None` where there is
    /// none.
    fn take(&self, arm: ArmIndex, after: u32) -> Option<Turn> {
        let mut state = self.state();
        loop {
            if state.has_ended {
                return None;
            }
            let is_due = state.turn >= after && state.turn < state.until;
            if is_due && self.slices.arm_of(state.turn) == arm {
                return Some(Turn { number: state.turn, begun: state.begun });
            }
            state = wait(&self.arms[arm].turn, state);
        }
    }

    /// A client has counted its last event of this turn.
    fn stop_counting(&self) {
        self.counting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether another client of this turn still counts.
    fn is_counting(&self) -> bool {
        self.counting.load(Ordering::Relaxed) > 0
    }

    /// A client has finished its turn; the last one hands over.
    fn finish(&self) {
        let mut state = self.state();
        state.at_work -= 1;
        if state.at_work > 0 {
            return;
        }
        state.turn += 1;
        let next = self.slices.arm_of(state.turn);
        state.at_work = self.arms[next].clients;
        if !state.has_ended {
            self.counting.store(i64::from(state.at_work), Ordering::Relaxed);
        }
        state.begun = now();
        if state.turn < state.until {
            self.arms[next].turn.notify_all();
        } else {
            self.pause.notify_all();
        }
    }
}

/// Held by a client while it has turns, and by who conducts: where one falls over, nobody waits
/// for it.
struct Presence<'a>(&'a Relay<'a>);

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end();
        }
    }
}

/// Woken in any case after a while, to see whether the round is to stop.
fn wait<'a>(condition: &Condvar, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
    condition.wait_timeout(state, STOP_CHECK).unwrap_or_else(PoisonError::into_inner).0
}

/// What a client of an arm goes by.
struct Runner<'a> {
    arm: ArmIndex,
    spec: &'a RoundSpec<'a>,
    slices: &'a Slices,
    relay: &'a Relay<'a>,
}

/// A client that asks.
struct Asker<'a, 's> {
    session: &'a mut ClientSession<'s>,
    operation: u64,
    brake: Brake,
    clock: Clock,
}

impl Asker<'_, '_> {
    /// Carries out the next event; returns what it did and when it was over.
    #[inline]
    fn event(&mut self, start_ns: u64) -> Result<(EventAnswer, u64), LoadError> {
        self.session.make_operation(self.operation);
        let answer = self.session.ask_operation(self.operation)?;
        self.operation += 1;
        let answered_ns = self.clock.elapsed_ns();
        let clock = &self.clock;
        let spun_ns = self.brake.spin(answered_ns - start_ns, || clock.elapsed_ns() - answered_ns);
        Ok((answer, answered_ns + spun_ns))
    }
}

impl Runner<'_> {
    /// Takes all turns of a client. Where it fails, nobody has another one.
    fn run(
        &self,
        session: &mut ClientSession<'_>,
        book: Option<Arc<Book>>,
    ) -> Result<ClientWork, LoadError> {
        let _presence = Presence(self.relay);
        let total = self.slices.window * self.slices.count;
        let mut done = ClientWork { tally: Tally::new(total, book), counted_ns: 0, at_work_ns: 0 };
        let brake = Brake::new(self.spec.slow);
        let operation = self.spec.first_operation;
        let mut asker = Asker { session, operation, brake, clock: Clock::now() };
        let outcome = pin_to(self.spec.processors).and_then(|()| {
            let mut next = 0;
            while let Some(turn) = self.relay.take(self.arm, next) {
                self.turn(&mut asker, &turn, &mut done)?;
                next = turn.number + 1;
                self.relay.finish();
            }
            Ok(next)
        });
        let next = outcome.inspect_err(|_| self.relay.end())?;
        // Its last turn is one of the last of all, in which each arm has one.
        if next + self.slices.lead_ins() <= self.slices.total_turns() {
            Err(LoadError::Interrupted)
        } else {
            Ok(done)
        }
    }

    fn turn(
        &self,
        asker: &mut Asker<'_, '_>,
        turn: &Turn,
        done: &mut ClientWork,
    ) -> Result<(), LoadError> {
        let begun_ns = asker.clock.elapsed_ns();
        let counts = turn.number >= self.slices.lead_ins();
        let lead_in = if counts { self.slices.lead_in } else { self.spec.lead_in };
        let open_ns = asker.clock.at_ns(turn.begun + lead_in);
        let mut start_ns = begun_ns;
        while start_ns < open_ns {
            start_ns = self.event(asker, start_ns)?.1;
        }
        if !counts {
            return Ok(());
        }
        let before = ThreadUsage::now();
        let opened_ns = asker.clock.elapsed_ns();
        let close_ns = opened_ns + duration_ns(self.slices.window);
        start_ns = opened_ns;
        while start_ns < close_ns {
            let (answer, end_ns) = self.event(asker, start_ns)?;
            let since_open_ns = done.counted_ns + (end_ns - opened_ns);
            done.tally.count(&answer, end_ns - start_ns, since_open_ns);
            start_ns = end_ns;
        }
        done.counted_ns += start_ns - opened_ns;
        done.tally.usage = done.tally.usage.plus(ThreadUsage::now().since(before));
        self.relay.stop_counting();
        while self.relay.is_counting() {
            start_ns = self.event(asker, start_ns)?.1;
        }
        done.at_work_ns += start_ns - begun_ns;
        Ok(())
    }

    #[inline]
    fn event(
        &self,
        asker: &mut Asker<'_, '_>,
        start_ns: u64,
    ) -> Result<(EventAnswer, u64), LoadError> {
        if self.spec.stop.load(Ordering::Relaxed) {
            return Err(LoadError::Interrupted);
        }
        asker.event(start_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_a_client_that_fell_over() {
        let slices = Slices {
            count: 1,
            window: Duration::from_millis(1),
            lead_in: Duration::ZERO,
            order: vec![ArmIndex::BASE, ArmIndex::TEST],
        };
        let arms = Arms::from_fn(ArmIndex::all(2), |_| Waiting::of(1));
        let relay = Relay::new(&slices, arms);
        let stop = AtomicBool::new(false);
        let fallen = thread::scope(|scope| {
            let base = scope.spawn(|| {
                let _presence = Presence(&relay);
                relay.take(ArmIndex::BASE, 0).expect("the first turn is its");
                panic!("a broken invariant");
            });
            let test = scope.spawn(|| relay.take(ArmIndex::TEST, 0).is_none());
            relay.run_until(slices.total_turns(), &stop);
            assert!(test.join().unwrap(), "there is no turn after it");
            base.join().is_err()
        });
        assert!(fallen);
    }
}
