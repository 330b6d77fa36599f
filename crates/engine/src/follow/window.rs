//! The window: transactions that have been read and are not applied, under one mutex.
//!
//! ```text
//!   feeder ── arrived ──► [ low │ ▒ █ ▒ ░ ░ ▒ ░ … ]      █ applied  ▒ in hand  ░ waits
//!   worker ── take ◄──── executed ──► its turn ── committed ──►
//! ```
//!
//! The machine says which transaction is next ([`Applier`]); its worker is woken then.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use dbdyno_model::{Design, LatencyHistogram};
use dbdyno_replica::apply::{ApplyAction, ApplyEvent};
use dbdyno_replica::{Applier, Dependencies, Sequence};

use super::position::StoredPosition;
use super::progress::ReplicaProgress;
use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::ids::Lsn;
use crate::meter::Counter;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Condvar, Mutex, MutexGuard};

/// Transactions that have arrived and are not applied, at most, and bytes of their records.
const TRANSACTIONS_MOST: usize = 1 << 12;
const BYTES_MOST: usize = 64 << 20;

const UNBROKEN: &str = "no thread panics with it";

/// A transaction, or DDL.
pub(super) struct Task {
    /// Its record in the source's log.
    pub(super) record: Box<[u8]>,
    /// When it began to commit there.
    pub(super) began_ns: u64,
    /// The place behind the record.
    pub(super) end: Lsn,
}

/// A transaction in the hands of a worker.
pub(super) struct WorkerTransaction {
    pub(super) sequence: Sequence,
    pub(super) task: Task,
    /// All up to this one are applied.
    pub(super) low: Sequence,
    /// Where the record of `low` ends.
    pub(super) place: Lsn,
}

pub(super) struct Window {
    state: Mutex<State>,
    /// There is something to execute, for workers.
    work: Condvar,
    /// A transaction may commit, for workers.
    turn: Condvar,
    /// There is room, for the feeder.
    room: Condvar,
    /// More is applied, for sessions that wait for it.
    moved: Condvar,
    stopped: AtomicBool,
    source: Arc<Engine>,
}

struct State {
    applier: Applier,
    actions: Vec<ApplyAction>,
    /// What was applied before the replica was started, of those to come.
    known: BTreeSet<Sequence>,
    waiting: HashMap<Sequence, Task>,
    bytes: usize,
    execute: VecDeque<Sequence>,
    /// Transactions that may commit and whose workers were not told yet.
    commit: Vec<Sequence>,
    /// Where the records behind the low-water mark end.
    ends: VecDeque<Lsn>,
    low: Sequence,
    place: Lsn,
    /// The last place behind the low-water mark that is durable here.
    noted: Lsn,
    progress: ReplicaProgress,
    failed: Option<EngineError>,
}

impl Window {
    pub(super) fn new(design: &Design, source: &Arc<Engine>, found: &StoredPosition) -> Window {
        let state = State {
            applier: Applier::new(design.apply, design.apply_order, found.low),
            actions: Vec::new(),
            known: found.above.clone(),
            waiting: HashMap::new(),
            bytes: 0,
            execute: VecDeque::new(),
            commit: Vec::new(),
            ends: VecDeque::new(),
            low: found.low,
            place: found.place,
            noted: found.place,
            progress: ReplicaProgress { applied: 0, again: 0, lag: LatencyHistogram::new() },
            failed: None,
        };
        let window = Window {
            state: Mutex::new(state),
            work: Condvar::new(),
            turn: Condvar::new(),
            room: Condvar::new(),
            moved: Condvar::new(),
            stopped: AtomicBool::new(false),
            source: source.clone(),
        };
        window.keep_log_from(found.place);
        window
    }

    /// The next transaction, when there is room; false if it is stopped.
    pub(super) fn enqueue_transaction(&self, dependencies: Dependencies<'_>, task: Task) -> bool {
        let is_full = |state: &mut State| {
            let most = state.ends.len() >= TRANSACTIONS_MOST || state.bytes >= BYTES_MOST;
            most && !self.is_stopped()
        };
        let state = self.state();
        let mut state = sleep_while(&self.room, state, is_full);
        if self.is_stopped() {
            return false;
        }
        state.ends.push_back(task.end);
        let sequence = dependencies.sequence;
        if state.known.remove(&sequence) {
            self.step(&mut state, ApplyEvent::Known(sequence));
            self.move_low(&mut state);
            return true;
        }
        state.bytes += task.record.len();
        state.waiting.insert(sequence, task);
        self.step(&mut state, ApplyEvent::Arrived(dependencies));
        true
    }

    /// Something to execute; `None` when it is stopped.
    pub(super) fn take_transaction(&self) -> Option<WorkerTransaction> {
        let mut state = sleep_while(&self.work, self.state(), |state| {
            state.execute.is_empty() && !self.is_stopped()
        });
        if self.is_stopped() {
            return None;
        }
        let sequence = state.execute.pop_front().expect("there is one");
        let task = state.waiting.remove(&sequence).expect("who is executed has arrived");
        state.bytes -= task.record.len();
        Some(WorkerTransaction { sequence, task, low: state.low, place: state.place })
    }

    /// It has been executed: returns when it may commit; false when it is stopped.
    pub(super) fn await_commit_turn(&self, sequence: Sequence) -> bool {
        let mut state = self.state();
        self.step(&mut state, ApplyEvent::Executed(sequence));
        let mut state = sleep_while(&self.turn, state, |state| {
            !state.commit.contains(&sequence) && !self.is_stopped()
        });
        state.commit.retain(|&may| may != sequence);
        !self.is_stopped()
    }

    /// It is durable and visible, so long after it began to commit on the source.
    pub(super) fn record_commit(&self, taken: &WorkerTransaction, lag_ns: Option<u64>) {
        let mut state = self.state();
        let sequence = taken.sequence;
        // After a crash the replica goes on from the last place that it has noted, not from where
        // it was: so that is what the source has to keep.
        state.noted = state.noted.max(taken.place);
        self.keep_log_from(state.noted);
        state.progress.applied += 1;
        let meter = &self.source.shared.meter;
        meter.count(Counter::Replicated);
        if let Some(lag_ns) = lag_ns {
            state.progress.lag.record_latency(lag_ns);
            meter.add(Counter::ReplicaLag, lag_ns);
        }
        self.step(&mut state, ApplyEvent::Committed(sequence));
        self.move_low(&mut state);
    }

    /// A worker begins a transaction once more.
    pub(super) fn count_retry(&self) {
        self.state().progress.again += 1;
    }

    /// All up to this one are applied.
    pub(super) fn applied_sequence(&self) -> Sequence {
        self.state().low
    }

    /// Returns when all before this place of the log is applied.
    pub(super) fn wait_for(&self, place: Lsn) -> Result<()> {
        let mut state = sleep_while(&self.moved, self.state(), |state| {
            state.place < place && !self.is_stopped()
        });
        if state.place >= place {
            return Ok(());
        }
        Err(state.failed.take().unwrap_or(EngineError::Interrupted))
    }

    pub(super) fn progress(&self) -> ReplicaProgress {
        self.state().progress.clone()
    }

    /// Lags since this was asked last.
    pub(super) fn take_lag(&self) -> LatencyHistogram {
        std::mem::take(&mut self.state().progress.lag)
    }

    /// All before this place of the log is applied.
    pub(super) fn applied_lsn(&self) -> Lsn {
        self.state().place
    }

    /// What has ended it, if that was not told before.
    pub(super) fn take_failure(&self) -> Option<EngineError> {
        self.state().failed.take()
    }

    /// The same in words, as long as it was not told.
    pub(super) fn failure_text(&self) -> Option<String> {
        self.state().failed.as_ref().map(EngineError::to_string)
    }

    /// Ends it for a reason.
    pub(super) fn fail_with(&self, error: EngineError) {
        self.state().failed.get_or_insert(error);
        self.stop();
    }

    /// Ends it: all that wait here return.
    pub(super) fn stop(&self) {
        let state = self.state();
        self.stopped.store(true, Ordering::Release);
        drop(state);
        for waiting in [&self.work, &self.turn, &self.room, &self.moved] {
            waiting.notify_all();
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect(UNBROKEN)
    }

    fn step(&self, state: &mut State, event: ApplyEvent<'_>) {
        let State { applier, actions, execute, commit, .. } = state;
        applier.handle_event(event, actions);
        for action in actions.drain(..) {
            match action {
                ApplyAction::Execute(sequence) => {
                    execute.push_back(sequence);
                    self.work.notify_one();
                }
                ApplyAction::Commit(sequence) => {
                    commit.push(sequence);
                    self.turn.notify_all();
                }
            }
        }
    }

    fn move_low(&self, state: &mut State) {
        let low = state.applier.low_water_mark();
        if low == state.low {
            return;
        }
        while state.low < low {
            state.low = state.low.next();
            state.place = state.ends.pop_front().expect("it has arrived");
        }
        self.room.notify_one();
        self.moved.notify_all();
    }

    /// The source may give back what is before.
    fn keep_log_from(&self, place: Lsn) {
        if let Some(kept) = &self.source.shared.follow {
            kept.from.store(place.0, Ordering::Release);
        }
    }
}

/// Sleeps on a condition while `waiting` holds.
fn sleep_while<'a>(
    condition: &Condvar,
    mut state: MutexGuard<'a, State>,
    mut waiting: impl FnMut(&mut State) -> bool,
) -> MutexGuard<'a, State> {
    while waiting(&mut state) {
        state = condition.wait(state).expect(UNBROKEN);
    }
    state
}
