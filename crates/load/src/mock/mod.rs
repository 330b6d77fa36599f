//! An arm that is a model: a seed says how fast it is, and virtual time passes by its answers.
//!
//! ```text
//!   MockModel ─▶ MockArm ── Speed of a round ──▶ rounds: closed loop, its slices, open loop;
//!                  │                                     tallies, books, edges as elsewhere
//!                  └── what /proc and canaries would show: HostState, UsedByMock
//! ```
//!
//! What is asked is what a server would be asked; what is answered is one row. Only time is made
//! up, so that everything above the clients works as with a server: stages, starts, looks, stores,
//! judgement, reports. What the words mean stands in [`dbdyno_model::mock`].

mod client;
mod rounds;
mod speed;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use dbdyno_model::{ArmIndex, MockModel};
use dbdyno_wire::WireError;
use dbdyno_workload::ReadyLoad;

use crate::clock::VirtualClock;
use crate::error::LoadError;
use crate::time::{STOP_CHECK, duration_ns};
use crate::usage::ThreadUsage;

pub(crate) use client::MockClient;
pub(crate) use rounds::{mock_arms, run_interleaved, run_round};
pub(crate) use speed::Speed;
use speed::{Host, MockRound, Start};

/// Processors of the host that there is not.
pub const PROCESSORS: u64 = 2;
/// What a filling takes for each row.
const ROW: Duration = Duration::from_micros(1);

/// An open arm. Clones are the same arm.
#[derive(Clone, Debug)]
pub struct MockArm(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    model: MockModel,
    arm: ArmIndex,
    clock: VirtualClock,
    /// Which of the arms that were opened under this clock it is.
    opening: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    host: Host,
    starts: u64,
    rounds: u64,
    /// How long it was asked since it was started.
    asked_ns: u64,
    /// Rows of an event of the round.
    rows: f64,
    /// When its memory was fetched.
    fetched: Option<Duration>,
    used: UsedByMock,
}

/// What the arm and its clients have used since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UsedByMock {
    /// Processor time of the server.
    pub server_cpu_ns: u64,
    /// Processor time of the clients.
    pub client_cpu_ns: u64,
    /// What the hypervisor gave to others.
    pub steal_ns: u64,
}

/// The host at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostState {
    /// How much longer than usual work takes.
    pub slowness: f64,
}

impl MockArm {
    /// What its clients have used between two looks, in a round of so many that took so long.
    pub(crate) fn usage_since(
        &self,
        opened: UsedByMock,
        clients: u32,
        wall: Duration,
    ) -> ThreadUsage {
        let waited_ns = self.0.model.lag * duration_ns(wall) as f64 * f64::from(clients);
        ThreadUsage {
            cpu_ns: self.total_usage().client_cpu_ns - opened.client_cpu_ns,
            run_delay_ns: waited_ns as u64,
            ..ThreadUsage::default()
        }
    }

    /// Opens an arm with empty tables.
    pub fn open(model: MockModel, arm: ArmIndex, clock: VirtualClock) -> MockArm {
        let opening = clock.next_opening();
        clock.advance_by(Duration::from_secs_f64(model.start_s));
        let state = State {
            host: Host::new(&model, clock.noise_seed()),
            starts: 0,
            rounds: 0,
            asked_ns: 0,
            rows: 0.0,
            fetched: None,
            used: UsedByMock::default(),
        };
        MockArm(Arc::new(Inner { model, arm, clock, opening, state: Mutex::new(state) }))
    }

    /// The clock that it moves on.
    pub fn clock(&self) -> &VirtualClock {
        &self.0.clock
    }

    /// Starts it again on its tables.
    pub fn restart(&self) {
        let mut state = self.state();
        state.starts += 1;
        state.asked_ns = 0;
        self.0.clock.advance_by(Duration::from_secs_f64(self.0.model.start_s));
    }

    /// What was used so far.
    pub fn total_usage(&self) -> UsedByMock {
        self.state().used
    }

    /// The host now.
    pub fn host(&self) -> HostState {
        let now_ns = self.0.clock.now_ns();
        let mut state = self.state();
        HostState { slowness: (-state.host.ln_rate(now_ns)).exp() }
    }

    /// Share of its memory that the host has taken away by now.
    pub fn memory_away(&self) -> f64 {
        self.away(&self.state())
    }

    /// A byte of each of its pages is read.
    pub fn fetch_memory(&self) {
        self.state().fetched = Some(self.0.clock.now());
    }

    fn away(&self, state: &State) -> f64 {
        if state.fetched.is_none_or(|at| self.0.clock.now().saturating_sub(at) > RESTS) {
            self.0.model.away
        } else {
            0.0
        }
    }

    /// So many rows are written.
    pub(crate) fn fill_rows(&self, rows: u64) {
        self.0.clock.advance_by(ROW.saturating_mul(u32::try_from(rows).unwrap_or(u32::MAX)));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How fast it is in a round of so many clients and this load that begins now, slowed by this
    /// share. Rounds with a lead-in are those that are measured.
    pub(crate) fn round_speed(
        &self,
        load: &ReadyLoad,
        clients: u32,
        slow: f64,
        lead_in: Duration,
    ) -> Speed {
        let mut state = self.state();
        state.rows = load.rows();
        let Inner { model, arm, clock, opening, .. } = &*self.0;
        state.rounds += 1;
        if !lead_in.is_zero() {
            clock.round();
        }
        let start = Start {
            arm: *arm,
            noise_seed: clock.noise_seed(),
            opening: *opening,
            start: state.starts,
            round: state.rounds,
        };
        let away_us = self.away(&state) * model.away_us;
        let rows_s = (state.rows * model.row_us + away_us + model.sync_us) * 1e-6;
        let (begins_ns, asked_ns) = (clock.now_ns(), state.asked_ns);
        Speed::new(model, start, MockRound { clients, slow, rows_s, begins_ns, asked_ns })
    }

    /// It has been asked for so long, and this many events were answered meanwhile.
    pub(crate) fn record_events(&self, from_ns: u64, time_ns: u64, events: u64) {
        let mut state = self.state();
        state.asked_ns += time_ns;
        let MockModel { cpu_us, row_us, client_us, .. } = self.0.model;
        let per_event = |us: f64| (us * 1e3 * events as f64) as u64;
        state.used.server_cpu_ns += per_event(cpu_us + row_us * state.rows);
        state.used.client_cpu_ns += per_event(client_us);
        state.used.steal_ns += state.host.stolen_ns(from_ns, time_ns) * PROCESSORS;
        self.0.clock.advance_by(Duration::from_nanos(time_ns));
    }

    /// What an event takes that begins at this moment.
    pub(crate) fn event_ns(&self, speed: &mut Speed, at_ns: u64) -> u64 {
        speed.event_ns(at_ns, &mut self.state().host)
    }

    /// Lets clients connect.
    ///
    /// # Errors
    /// [`LoadError::Interrupted`], or that it has died.
    pub(crate) fn accept_clients(&self, stop: &AtomicBool) -> Result<(), LoadError> {
        self.halt(stop)?;
        self.0.clock.advance_by(CONNECTING);
        let dies_s = self.0.model.dies_s;
        if dies_s > 0.0 && self.0.clock.now().as_secs_f64() > dies_s {
            let gone = std::io::Error::other(format!("a model that was to die after {dies_s} s"));
            return Err(LoadError::Wire(WireError::Broken(gone), None));
        }
        Ok(())
    }

    /// Does not answer any more where the clock has halted.
    fn halt(&self, stop: &AtomicBool) -> Result<(), LoadError> {
        while self.0.clock.has_halted() && !stop.load(Ordering::Relaxed) {
            thread::sleep(STOP_CHECK);
        }
        if stop.load(Ordering::Relaxed) { Err(LoadError::Interrupted) } else { Ok(()) }
    }
}

/// For how long memory rests before the host takes it away.
const RESTS: Duration = Duration::from_secs(15);
/// What passes before clients are connected.
const CONNECTING: Duration = Duration::from_millis(1);
