//! What the server itself saw, and how late the machine wakes anybody up.
//!
//! ```text
//!   intended ─────── sent ── arrived ───── service ───── ended ── answer read
//!      │ generator, host │    │ host, server's wake-up     │  host, generator │
//!      └── schedule      └────┴── witness: both moments ───┘                  └── measured
//! ```
//!
//! The generator and the witness read one clock, so that what the generator reports can be held
//! against what really happened, also where the host was late and the schedule's truth did not come
//! about. The sleeper does nothing but sleep and look at the clock: what it is late by is nobody's
//! but the host's.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dbdyno_model::LatencyHistogram;
use dbdyno_wire::mock::{SPIN_TAIL, Script, ServiceTime, TimedScript, Turn};
use nix::sys::prctl;
use nix::sys::time::{TimeSpec, TimeValLike as _};
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};

/// A server that keeps its service times by itself and writes down when each statement came and
/// when its answer was ready.
pub(crate) struct Witness {
    timed: TimedScript,
    seen: Vec<(AtomicI64, AtomicI64)>,
    next: AtomicUsize,
}

/// One statement as the server saw it, nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub arrived_ns: i64,
    pub ended_ns: i64,
}

impl Witness {
    /// A witness of at most so many statements.
    pub(crate) fn new(timed: TimedScript, most: usize) -> Witness {
        let seen = (0..most).map(|_| Default::default()).collect();
        Witness { timed, seen, next: AtomicUsize::new(0) }
    }

    /// Writes what was seen, in the order of arrival.
    pub(crate) fn tell(&self, to: &mut impl Write) -> io::Result<()> {
        let count = self.next.load(Ordering::Acquire).min(self.seen.len());
        to.write_all(&(count as u64).to_le_bytes())?;
        for (arrived, ended) in &self.seen[..count] {
            to.write_all(&arrived.load(Ordering::Acquire).to_le_bytes())?;
            to.write_all(&ended.load(Ordering::Acquire).to_le_bytes())?;
        }
        to.flush()
    }
}

/// Reads what [`Witness::tell`] wrote.
pub(crate) fn read(from: &mut impl Read) -> io::Result<Vec<Seen>> {
    let mut number = || {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes).map(|()| i64::from_le_bytes(bytes))
    };
    let count = number()?;
    let mut seen = (0..count)
        .map(|_| Ok(Seen { arrived_ns: number()?, ended_ns: number()? }))
        .collect::<io::Result<Vec<Seen>>>()?;
    seen.sort_unstable_by_key(|seen| seen.arrived_ns);
    Ok(seen)
}

impl Script for Witness {
    fn statement_turn(&self, connection: u64, statement: u64) -> Turn {
        let arrived_ns = monotonic_ns();
        let number = self.next.fetch_add(1, Ordering::AcqRel);
        let Turn { delay, reply } = self.timed.statement_turn(connection, statement);
        let (sleep, until) = match delay {
            ServiceTime::None => (Duration::ZERO, Duration::ZERO),
            ServiceTime::Sleep(time) => (time, time),
            ServiceTime::Exact(time) => (time.saturating_sub(SPIN_TAIL), time),
            ServiceTime::Spin(time) => (Duration::ZERO, time),
        };
        if !sleep.is_zero() {
            sleep_until(arrived_ns + sleep.as_nanos() as i64);
        }
        while monotonic_ns() < arrived_ns + until.as_nanos() as i64 {
            std::hint::spin_loop();
        }
        if let Some((arrived, ended)) = self.seen.get(number) {
            arrived.store(arrived_ns, Ordering::Release);
            ended.store(monotonic_ns(), Ordering::Release);
        }
        Turn { delay: ServiceTime::None, reply }
    }
}

/// A thread that sleeps for a millisecond again and again.
pub(crate) struct Sleeper {
    over: Arc<AtomicBool>,
    thread: JoinHandle<LatencyHistogram>,
}

impl Sleeper {
    pub(crate) fn start() -> Sleeper {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let thread = thread::spawn(move || {
            prctl::set_timerslack(1).expect("the kernel wakes on time");
            let mut late = LatencyHistogram::new();
            let mut due = monotonic_ns();
            while !seen.load(Ordering::Relaxed) {
                due = due.max(monotonic_ns()) + 1_000_000;
                sleep_until(due);
                late.record_latency((monotonic_ns() - due).max(0) as u64);
            }
            late
        });
        Sleeper { over, thread }
    }

    /// By how much it was late.
    pub(crate) fn stop(self) -> LatencyHistogram {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().expect("it only sleeps")
    }
}

fn monotonic_ns() -> i64 {
    clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has this clock").num_nanoseconds()
}

fn sleep_until(moment_ns: i64) {
    let time = TimeSpec::nanoseconds(moment_ns);
    // A signal ends the sleep early; who is exact looks at the clock.
    let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &time);
}
