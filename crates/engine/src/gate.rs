//! The gate: how many statements work at the same time.
//!
//! ```text
//!              newcomers       whose transaction holds locks     one waits for a lock
//!   open       pass            pass                              –
//!   tickets    wait for room   pass at once, beyond M            keeps its place
//!   blind      wait for room   wait for room behind newcomers    keeps its place
//!   pool       wait for room   wait for room before newcomers    gives its place away, and takes
//!                                                                one again before newcomers
//! ```
//!
//! With many clients on few processors, each that works holds locks while it does not run. A gate
//! keeps the others outside, where they hold none. It has a hazard: when all that are inside wait
//! for a lock whose owner stands outside, none ever leaves. *Blind* shows it; it ends only when the
//! patience of one of them does. *Tickets* lets owners pass at once, so that M bounds newcomers and
//! not owners, as `thread_pool_max_transactions_limit` of MySQL Enterprise bounds transactions. To
//! let them go first is not enough: there may be no place to go to. *Pool* has none inside that
//! waits for a lock, as a pool of threads that is told of waits (`thd_wait_begin`).
//!
//! Places are handed over: one that leaves chooses the next and wakes that one alone.

use std::cell::Cell;
use std::collections::VecDeque;

use dbdyno_model::design::AdmissionGate as Rule;

use crate::meter::{Counter, Meter};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard};

#[cfg(all(test, not(feature = "loom")))]
mod tests;

/// By what right a session comes to the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A statement whose transaction holds no locks.
    OfNothing,
    /// One whose transaction holds some.
    OfLocks,
}

/// The gate of one engine.
#[derive(Debug)]
pub struct EngineGate {
    rule: Rule,
    room: Mutex<Room>,
    meter: Arc<Meter>,
}

/// The right to work; it ends when this is dropped.
#[derive(Debug)]
pub struct Pass<'a> {
    gate: &'a EngineGate,
    inside: Cell<bool>,
}

impl EngineGate {
    /// A gate that follows a rule, with no session inside.
    pub fn new(rule: Rule, meter: Arc<Meter>) -> EngineGate {
        let most = match rule {
            Rule::Open => u32::MAX,
            Rule::Tickets(most) | Rule::Blind(most) | Rule::Pool(most) => most,
        };
        let room = Room { most, inside: 0, first: VecDeque::new(), later: VecDeque::new() };
        EngineGate { rule, room: Mutex::new(room), meter }
    }

    /// Waits until there is room, or passes.
    pub fn acquire_pass(&self, owner: Owner) -> Pass<'_> {
        let right = match (self.rule, owner) {
            (Rule::Open, _) => return Pass { gate: self, inside: Cell::new(false) },
            (Rule::Tickets(_), Owner::OfLocks) => Right::AtOnce,
            (Rule::Pool(_), Owner::OfLocks) => Right::First,
            (Rule::Tickets(_) | Rule::Blind(_) | Rule::Pool(_), _) => Right::Later,
        };
        self.pass(right);
        Pass { gate: self, inside: Cell::new(true) }
    }

    fn pass(&self, right: Right) {
        let turn = self.room().come(right);
        if let Some(turn) = turn {
            self.meter.count(Counter::GateWaits);
            turn.sleep();
        }
    }

    fn leave(&self) {
        let next = self.room().leave();
        if let Some(turn) = next {
            turn.give();
        }
    }

    fn room(&self) -> MutexGuard<'_, Room> {
        self.room.lock().expect("nobody panics at the gate")
    }
}

impl Pass<'_> {
    /// Waits for a lock. Where the rule says so, another may work meanwhile, and this one waits for
    /// a place again when it has its lock.
    pub fn while_waiting<T>(&self, wait: impl FnOnce() -> T) -> T {
        if !matches!(self.gate.rule, Rule::Pool(_)) {
            return wait();
        }
        self.inside.set(false);
        self.gate.leave();
        let got = wait();
        self.gate.pass(Right::First);
        self.inside.set(true);
        got
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.inside.get() {
            self.gate.leave();
        }
    }
}

/// When a session may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Right {
    AtOnce,
    First,
    Later,
}

/// Sessions inside, and sessions that wait for a place.
#[derive(Debug)]
struct Room {
    most: u32,
    inside: u32,
    first: VecDeque<Arc<Turn>>,
    later: VecDeque<Arc<Turn>>,
}

impl Room {
    /// A session comes, and is inside or has to wait for its turn.
    fn come(&mut self, right: Right) -> Option<Arc<Turn>> {
        // A waiting session has none of its own right or better before it that could have passed:
        // as long as there is room, none waits.
        if right == Right::AtOnce || self.inside < self.most {
            self.inside += 1;
            return None;
        }
        let turn = Arc::new(Turn::default());
        let line = if right == Right::First { &mut self.first } else { &mut self.later };
        line.push_back(Arc::clone(&turn));
        Some(turn)
    }

    /// A session goes; whose turn it is then. That one is inside already.
    fn leave(&mut self) -> Option<Arc<Turn>> {
        self.inside -= 1;
        if self.inside >= self.most {
            return None;
        }
        let next = self.first.pop_front().or_else(|| self.later.pop_front());
        self.inside += u32::from(next.is_some());
        next
    }
}

/// On what one thread sleeps until it may pass.
#[derive(Debug, Default)]
struct Turn {
    given: Mutex<bool>,
    woken: Condvar,
}

impl Turn {
    fn sleep(&self) {
        let mut given = self.given.lock().expect("nobody panics at the gate");
        while !*given {
            given = self.woken.wait(given).expect("nobody panics at the gate");
        }
    }

    fn give(&self) {
        *self.given.lock().expect("nobody panics at the gate") = true;
        self.woken.notify_one();
    }
}
