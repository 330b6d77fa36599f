//! The gate by itself, and with locks behind it.

use std::time::Duration;

use dbdyno_model::Design;
use proptest::prelude::*;

use super::*;
use crate::error::{EngineError, Result};
use crate::ids::IndexId;
use crate::lock::{DeadlockWriter, Holding, LockKind, LockSys, LockTrx, Mode, Place};
use crate::sync::thread;

/// What a room does, told by lists: sessions inside, and those that wait, with their right.
#[derive(Default)]
struct Lists {
    inside: usize,
    waiting: Vec<(usize, Right)>,
}

impl Lists {
    fn leave(&mut self, most: usize) -> Option<usize> {
        self.inside -= 1;
        let first = self.waiting.iter().position(|(_, right)| *right == Right::First);
        let chosen = first.or_else(|| (!self.waiting.is_empty()).then_some(0))?;
        (self.inside < most).then(|| {
            self.inside += 1;
            self.waiting.remove(chosen).0
        })
    }
}

fn visits() -> impl Strategy<Value = Vec<Option<Right>>> {
    let right = prop_oneof![Just(Right::AtOnce), Just(Right::First), Just(Right::Later)];
    prop::collection::vec(prop::option::weighted(0.6, right), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_room_lets_in_whom_lists_would(most in 1u32..5, visits in visits()) {
        let mut room =
            Room { most, inside: 0, first: VecDeque::new(), later: VecDeque::new() };
        let mut lists = Lists::default();
        let mut turns: Vec<(usize, Arc<Turn>)> = Vec::new();
        for (visitor, visit) in visits.into_iter().enumerate() {
            match visit {
                Some(right) => {
                    let waits = right != Right::AtOnce && lists.inside >= most as usize;
                    let turn = room.come(right);
                    prop_assert_eq!(turn.is_some(), waits);
                    match turn {
                        Some(turn) => {
                            turns.push((visitor, turn));
                            lists.waiting.push((visitor, right));
                        }
                        None => lists.inside += 1,
                    }
                }
                None if lists.inside > 0 => {
                    let expected = lists.leave(most as usize);
                    let next = room.leave();
                    let named = next.map(|next| {
                        turns.iter().find(|(_, turn)| Arc::ptr_eq(turn, &next)).unwrap().0
                    });
                    prop_assert_eq!(named, expected);
                }
                None => {}
            }
            prop_assert_eq!(room.inside as usize, lists.inside);
        }
    }
}

/// Locks behind a gate.
struct Hotel {
    gate: EngineGate,
    locks: LockSys,
    meter: Arc<Meter>,
}

fn behind(rule: Rule, lock_wait: Duration) -> Hotel {
    let meter = Arc::new(Meter::default());
    let sink = Box::new(std::io::sink());
    let design = Design { lock_wait, ..Design::default() };
    let locks = LockSys::new(&design, Arc::clone(&meter), DeadlockWriter::new(sink), None);
    Hotel { gate: EngineGate::new(rule, Arc::clone(&meter)), locks, meter }
}

impl Hotel {
    /// A statement that writes one row.
    fn write(&self, trx: &Arc<LockTrx>) -> Result<Holding> {
        let owner = if trx.holds_locks() { Owner::OfLocks } else { Owner::OfNothing };
        let pass = self.gate.acquire_pass(owner);
        let (index, place) = (IndexId(1), Place::Key(b"hot"));
        let free = self.locks.try_lock(trx, index, place, LockKind::Record, Mode::Exclusive);
        free.or_else(|_| {
            pass.while_waiting(|| {
                self.locks.lock(trx, index, place, LockKind::Record, Mode::Exclusive)
            })
        })
    }

    /// One that has a lock does its next statement while another is inside and waits for that
    /// lock: what the other one gets.
    fn hazard(&self) -> Result<Holding> {
        let [owner, other] = [self.locks.begin_transaction(), self.locks.begin_transaction()];
        self.write(&owner).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| self.write(&other));
            while !other.is_waiting() {
                assert!(!waiting.is_finished(), "it has given up");
                thread::yield_now();
            }
            assert_eq!(self.write(&owner).unwrap(), Holding::Before);
            self.locks.release_all(&owner);
            waiting.join().unwrap()
        })
    }
}

#[test]
fn a_blind_gate_keeps_the_owner_outside_until_patience_ends() {
    let place = behind(Rule::Blind(1), Duration::from_secs(1));
    let error = place.hazard().unwrap_err();
    assert!(matches!(error, EngineError::LockWaitTimeout));
    assert_eq!(place.meter.current_counts().count_of(Counter::GateWaits), 1);
}

#[test]
fn tickets_and_pools_let_the_owner_pass() {
    for (rule, gate_waits) in [(Rule::Open, 0), (Rule::Tickets(1), 0), (Rule::Pool(1), 0)] {
        let place = behind(rule, Duration::from_secs(60));
        assert_eq!(place.hazard().unwrap(), Holding::Fresh, "{rule}");
        assert_eq!(place.meter.current_counts().count_of(Counter::GateWaits), gate_waits, "{rule}");
    }
}

#[test]
fn no_more_newcomers_work_than_there_is_room_for() {
    for rule in [Rule::Tickets(3), Rule::Blind(3), Rule::Pool(3)] {
        let gate = EngineGate::new(rule, Arc::new(Meter::default()));
        let inside = std::sync::atomic::AtomicU32::new(0);
        let order = std::sync::atomic::Ordering::SeqCst;
        thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let pass = gate.acquire_pass(Owner::OfNothing);
                        assert!(inside.fetch_add(1, order) < 3, "{rule}");
                        thread::yield_now();
                        inside.fetch_sub(1, order);
                        pass.while_waiting(thread::yield_now);
                    }
                });
            }
        });
        assert_eq!(gate.room().inside, 0, "{rule}");
    }
}
