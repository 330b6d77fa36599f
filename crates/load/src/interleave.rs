//! Both rounds of a pair at once, in slices of some milliseconds that take turns.
//!
//! ```text
//!   base  ▏lead-in▏          ▏·▓▓▓▓▓▓▏         ▏·▓▓▓▓▓▓▏         …
//!   test           ▏lead-in▏          ▏·▓▓▓▓▓▓▏         ▏·▓▓▓▓▓▓▏…
//!                             · the slice's own lead-in, not counted: caches are the other arm's
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
//! works in the other's time. A client counts from the end of one event to the end of another: the
//! event under way when the slice has been long enough is waited for and counted with all the time
//! that it takes, so that no stall is cut off; and as the number of events is decided by nothing
//! that comes after, events over time is the rate (Wald's identity). A client that has counted its
//! last event goes on asking until all have: who still waits for a slow answer waits for it beside
//! as many others as before.
//!
//! What an arm does when nobody asks, it does in the other's slices. Loads that change rows are
//! not interleaved: who puts off work would have it paid by the other.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use dbdyno_model::{Arm, PerArm};

use crate::affinity::pin_to;
use crate::answer::Answer;
use crate::book::{Book, Books, Times};
use crate::brake::Brake;
use crate::connector::Connector;
use crate::crowd::{keep_sessions, open_sessions};
use crate::error::LoadError;
use crate::files;
use crate::mock;
use crate::round::{Measured, Moment, RoundSpec};
use crate::session::Session;
use crate::slices::Slices;
use crate::tally::{Tally, add_up};
use crate::time::{Clock, STOP_CHECK, nanos, now, unix_ms};
use crate::usage::ThreadUsage;

/// Runs the rounds of both arms in slices. Of a [`RoundSpec`] the length of the window, what
/// clients rest and a load's background mean nothing here. `observe` is called on this thread, for
/// one arm after the other.
///
/// # Errors
/// Whatever stopped the load of an arm, [`LoadError::Interrupted`] among it. Nothing of either
/// round counts then.
pub fn run_interleaved(
    specs: &PerArm<RoundSpec<'_>>,
    slices: &Slices,
    observe: &mut dyn FnMut(Arm, Moment),
) -> Result<PerArm<Measured>, (Arm, LoadError)> {
    if let (Connector::Mock(base), Connector::Mock(test)) =
        (specs.base.connector, specs.test.connector)
    {
        return mock::run_interleaved(&PerArm { base, test }, specs, slices, observe);
    }
    let total = slices.window * slices.count;
    files::allow(specs.base.clients + specs.test.clients).map_err(|error| (slices.first, error))?;
    let mut sessions = PerArm::try_from_fn(|arm| {
        open_sessions(&specs[arm], &mut |moment| observe(arm, moment)).map_err(|error| (arm, error))
    })?;
    let of_round = |arm: Arm| {
        Books::new(specs[arm].load.filing(), Times::Service, total, specs[arm].clients as usize)
    };
    let books = PerArm::from_fn(of_round);
    let relay = Relay::new(slices, PerArm::from_fn(|arm| specs[arm].clients));
    let measured = thread::scope(|scope| {
        // A thread that cannot be had is no reason for the others to wait for it.
        let _presence = Presence(&relay);
        let mut handles = PerArm::from_fn(|_| Vec::new());
        let PerArm { base, test } = &mut sessions;
        for (arm, sessions) in [(Arm::Base, base), (Arm::Test, test)] {
            for (client, session) in sessions.iter_mut().enumerate() {
                let runner = Runner { arm, spec: &specs[arm], slices, relay: &relay };
                let book = books[arm].of(client);
                handles[arm].push(scope.spawn(move || runner.run(session, book)));
            }
        }
        relay.run_until(Slices::LEAD_INS, specs.base.stop);
        let started_unix_ms = unix_ms();
        Arm::BOTH.into_iter().for_each(|arm| observe(arm, Moment::Opened));
        relay.run_until(slices.turns(), specs.base.stop);
        Arm::BOTH.into_iter().for_each(|arm| observe(arm, Moment::Closed));
        relay.end();
        let join = |handle: thread::ScopedJoinHandle<'_, _>| {
            handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let done = PerArm {
            base: handles.base.into_iter().map(join).collect::<Vec<_>>(),
            test: handles.test.into_iter().map(join).collect::<Vec<_>>(),
        };
        sum(specs, done, &books, started_unix_ms)
    })?;
    let PerArm { base, test } = sessions;
    keep_sessions(&specs.base, base);
    keep_sessions(&specs.test, test);
    Ok(measured)
}

/// What a client did.
struct Done {
    tally: Tally,
    /// Time in which its events count.
    counted_ns: u64,
    /// Time in which it was at work, between the looks of the observer.
    at_work_ns: u64,
}

fn sum(
    specs: &PerArm<RoundSpec<'_>>,
    mut done: PerArm<Vec<Result<Done, LoadError>>>,
    books: &PerArm<Books>,
    started_unix_ms: u64,
) -> Result<PerArm<Measured>, (Arm, LoadError)> {
    // What stopped one arm has interrupted the other.
    let is_cause = |arm: &Arm| {
        let is_cause = |error: &LoadError| !matches!(error, LoadError::Interrupted);
        done[*arm].iter().any(|done| done.as_ref().is_err_and(is_cause))
    };
    let order = match Arm::BOTH.into_iter().find(is_cause) {
        Some(Arm::Test) => [Arm::Test, Arm::Base],
        Some(Arm::Base) | None => Arm::BOTH,
    };
    let mut sums = PerArm::from_fn(|_| None);
    for arm in order {
        let clients = u64::from(specs[arm].clients.max(1));
        let of_all =
            |ns: fn(&Done) -> u64| done[arm].iter().flatten().map(ns).sum::<u64>() / clients;
        let wall = Duration::from_nanos(of_all(|done| done.counted_ns));
        let observed_ns = of_all(|done| done.at_work_ns);
        let tallies = std::mem::take(&mut done[arm]).into_iter().map(|done| Ok(done?.tally));
        let filing = (specs[arm].load.filing(), &books[arm]);
        let measured = add_up(tallies.collect(), filing, started_unix_ms, observed_ns, wall);
        sums[arm] = Some(measured.map_err(|error| (arm, error))?);
    }
    Ok(sums.map(|sum| sum.expect("both arms are in the order")))
}

/// Whose turn it is.
struct Relay<'a> {
    slices: &'a Slices,
    clients: PerArm<u32>,
    state: Mutex<State>,
    /// Waited on by the clients of each arm, and by who conducts.
    turn_of: PerArm<Condvar>,
    pause: Condvar,
    /// Clients whose counted time of this turn is not over; less than 0 where nobody has another
    /// turn.
    counting: AtomicI64,
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
    fn new(slices: &Slices, clients: PerArm<u32>) -> Relay<'_> {
        let at_work = clients[slices.arm_of(0)];
        let state = State { turn: 0, begun: now(), until: 0, at_work, has_ended: false };
        Relay {
            slices,
            clients,
            state: Mutex::new(state),
            turn_of: PerArm::from_fn(|_| Condvar::new()),
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
        self.turn_of[self.slices.arm_of(state.turn)].notify_all();
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
        Arm::BOTH.into_iter().for_each(|arm| self.turn_of[arm].notify_all());
        self.pause.notify_all();
    }

    /// The next turn of a client of this arm that has had all before `after`; `None` where there is
    /// none.
    fn take(&self, arm: Arm, after: u32) -> Option<Turn> {
        let mut state = self.state();
        loop {
            if state.has_ended {
                return None;
            }
            let is_due = state.turn >= after && state.turn < state.until;
            if is_due && self.slices.arm_of(state.turn) == arm {
                return Some(Turn { number: state.turn, begun: state.begun });
            }
            state = wait(&self.turn_of[arm], state);
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
        state.at_work = self.clients[next];
        if !state.has_ended {
            self.counting.store(i64::from(state.at_work), Ordering::Relaxed);
        }
        state.begun = now();
        if state.turn < state.until {
            self.turn_of[next].notify_all();
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
    arm: Arm,
    spec: &'a RoundSpec<'a>,
    slices: &'a Slices,
    relay: &'a Relay<'a>,
}

/// A client that asks.
struct Asker<'a, 's> {
    session: &'a mut Session<'s>,
    operation: u64,
    brake: Brake,
    clock: Clock,
}

impl Asker<'_, '_> {
    /// Carries out the next event; returns what it did and when it was over.
    #[inline]
    fn event(&mut self, start_ns: u64) -> Result<(Answer, u64), LoadError> {
        self.session.make(self.operation);
        let answer = self.session.ask(self.operation)?;
        self.operation += 1;
        let answered_ns = self.clock.ns();
        let clock = &self.clock;
        let spun_ns = self.brake.spin(answered_ns - start_ns, || clock.ns() - answered_ns);
        Ok((answer, answered_ns + spun_ns))
    }
}

impl Runner<'_> {
    /// Takes all turns of a client. Where it fails, nobody has another one.
    fn run(&self, session: &mut Session<'_>, book: Option<Arc<Book>>) -> Result<Done, LoadError> {
        let _presence = Presence(self.relay);
        let total = self.slices.window * self.slices.count;
        let mut done = Done { tally: Tally::new(total, book), counted_ns: 0, at_work_ns: 0 };
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
        // Its last turn is one of the last two of all.
        if next + 1 < self.slices.turns() { Err(LoadError::Interrupted) } else { Ok(done) }
    }

    fn turn(
        &self,
        asker: &mut Asker<'_, '_>,
        turn: &Turn,
        done: &mut Done,
    ) -> Result<(), LoadError> {
        let begun_ns = asker.clock.ns();
        let counts = turn.number >= Slices::LEAD_INS;
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
        let opened_ns = asker.clock.ns();
        let close_ns = opened_ns + nanos(self.slices.window);
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
    fn event(&self, asker: &mut Asker<'_, '_>, start_ns: u64) -> Result<(Answer, u64), LoadError> {
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
            first: Arm::Base,
        };
        let relay = Relay::new(&slices, PerArm { base: 1, test: 1 });
        let stop = AtomicBool::new(false);
        let fallen = thread::scope(|scope| {
            let base = scope.spawn(|| {
                let _presence = Presence(&relay);
                relay.take(Arm::Base, 0).expect("the first turn is its");
                panic!("a broken invariant");
            });
            let test = scope.spawn(|| relay.take(Arm::Test, 0).is_none());
            relay.run_until(slices.turns(), &stop);
            assert!(test.join().unwrap(), "there is no turn after it");
            base.join().is_err()
        });
        assert!(fallen);
    }
}
