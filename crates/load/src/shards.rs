//! Thousands of clients on as many threads as there are processors.
//!
//! ```text
//!             ┌────────────── shard: one thread, some thousand clients ──────────────┐
//!   sockets ──▶ epoll ─ readable ─▶ client 17: take the answer, check it, send the next
//!             │ heap  ─ time is up ▶ client 42: has thought enough, sends its next event
//!             └───────────────────────────────────────────────────────────────────────┘
//!
//!   resting ──send──▶ asking ──last answer──▶ (braking ──▶) resting, or asking the next at once
//!                       │ ▲
//!              deadlock ▼ │ answered
//!                   rolling back
//! ```
//!
//! A client does what a [`crate::session::ClientSession`] does with a program, one statement at a
//! time; what it asks and what is right is the same code. It is still a closed loop: an event is
//! sent when the one before is answered and thought about. Latency includes the time that an answer
//! waits for its shard to come round; with a thread each it waits for the scheduler instead.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dbdyno_wire::{Client, StatementCounts};
use dbdyno_workload::ready::EventSource;
use dbdyno_workload::{Call, Event, Program, ReadyLoad, StatementKind};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use dbdyno_model::plan::THREADS_MAX;

use crate::affinity::{parallel_threads, pin_to};
use crate::answer::{
    EventAnswer, Setback, classify_error, count_retry, is_right, rollback_error, wrong_result_error,
};
use crate::asking::{EventArgs, ROLLBACK};
use crate::book::{Book, Books, Times};
use crate::crowd::{Member, connect_members};
use crate::error::LoadError;
use crate::parallel::close_clients;
use crate::round::{Moment, RoundMeasurement, RoundSpec};
use crate::tally::Tally;
use crate::time::{STOP_CHECK, duration_ns, now};
use crate::usage::ThreadUsage;
use crate::window::{Window, conduct_round};

/// Sockets that are looked at between two looks at the clock.
const BATCH: usize = 64;

/// What the timer is called among the sockets.
const TIMER: u64 = u64::MAX;

/// Whether a round has more clients than threads: never with an embedded arm, which has no sockets,
/// nor with a dialogue, whose partner waits for its answers.
pub(crate) fn are_for(spec: &RoundSpec<'_>) -> bool {
    spec.clients > THREADS_MAX && !spec.connector.is_embedded() && program(spec).is_some()
}

fn program<'a>(spec: &RoundSpec<'a>) -> Option<&'a Program> {
    match spec.load.event_source() {
        EventSource::Program(program) => Some(program),
        EventSource::Dialogue(..) => None,
    }
}

/// Runs one round with all clients spread over shards.
///
/// # Errors
/// Those of [`crate::closed::run_round`].
pub(crate) fn run_round(
    spec: &RoundSpec<'_>,
    observe: &mut dyn FnMut(Moment),
) -> Result<RoundMeasurement, LoadError> {
    let count = parallel_threads(spec.processors);
    let mut parts: Vec<Vec<Member>> = (0..count).map(|_| Vec::new()).collect();
    for member in connect_members(spec, observe)? {
        parts[member.number as usize % count].push(member);
    }
    let books = Books::new(spec.load.filing(), Times::Service, spec.window, count);
    let shard = |(number, members)| Shard::new(spec, members, books.of_client(number));
    let mut shards = parts.into_iter().enumerate().map(shard).collect::<Result<Vec<_>, _>>()?;
    let measured = conduct_round(spec, &mut shards, &books, observe, Shard::run)?;
    let askers = shards.into_iter().flat_map(|shard| shard.clients);
    close_clients(askers.map(|asker| asker.member.client as Box<dyn Client>).collect());
    Ok(measured)
}

/// Some of the clients, and the thread that serves them.
struct Shard<'a> {
    spec: &'a RoundSpec<'a>,
    program: &'a Program,
    epoll: Epoll,
    clients: Vec<Asker>,
    /// When whose time is up. A client that was woken before leaves its entry behind.
    due: BinaryHeap<Reverse<(Instant, usize)>>,
    timer: TimerFd,
    /// What the timer is set to.
    armed: Option<Instant>,
    /// Clients that wait for an answer, or are slowed before it counts.
    busy: usize,
    tally: Tally,
    usage_at_open: Option<ThreadUsage>,
    /// A text statement with its parameters written into it.
    sql: String,
}

/// One client.
struct Asker {
    member: Member,
    event: Event,
    operation: u64,
    /// The call of the event that is asked.
    call: usize,
    answer: EventAnswer,
    /// When the event was due, which is when its first statement was sent, or a little earlier.
    start: Instant,
    stage: Stage,
    /// Time that it must be slower yet; see `ArmSpec::slow`. Negative: it was too slow before.
    owed_ns: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Thinks until then.
    Resting(Instant),
    /// Waits for the answer to a call.
    Asking,
    /// Waits for the answer to a ROLLBACK, to ask the event again.
    RollingBack,
    /// Has its answer since the first moment and is slowed on purpose until the second.
    Braking(Instant, Instant),
    /// Asks nothing: the window has closed, or its first event is not due yet.
    Over,
}

/// What an answer led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Continuation {
    /// It is not whole, or the event goes on.
    More,
    /// It was the last of the event.
    Last,
}

impl<'a> Shard<'a> {
    fn new(
        spec: &'a RoundSpec<'a>,
        members: Vec<Member>,
        book: Option<Arc<Book>>,
    ) -> Result<Shard<'a>, LoadError> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(LoadError::of_polling)?;
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags).map_err(LoadError::of_polling)?;
        let add = |socket: BorrowedFd<'_>, name| {
            let event = EpollEvent::new(EpollFlags::EPOLLIN, name);
            epoll.add(socket, event).map_err(LoadError::of_polling)
        };
        add(timer.as_fd(), TIMER)?;
        let begin = now();
        let due = BinaryHeap::with_capacity(2 * members.len());
        let mut clients = Vec::with_capacity(members.len());
        for (index, member) in members.into_iter().enumerate() {
            add(member.client.socket(), index as u64)?;
            clients.push(Asker {
                member,
                event: Event::default(),
                operation: spec.first_operation,
                call: 0,
                answer: EventAnswer::default(),
                start: begin,
                stage: Stage::Over,
                owed_ns: 0.0,
            });
        }
        Ok(Shard {
            spec,
            program: program(spec).expect("shards are for programs"),
            epoll,
            clients,
            due,
            timer,
            armed: None,
            busy: 0,
            tally: Tally::new(spec.window, book),
            usage_at_open: None,
            sql: String::new(),
        })
    }

    fn run(&mut self, window: &Window, failed: &AtomicBool) -> Result<Tally, LoadError> {
        pin_to(self.spec.processors)?;
        self.start();
        let mut ready = [EpollEvent::empty(); BATCH];
        loop {
            if self.spec.stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed) {
                return Err(LoadError::Interrupted);
            }
            let time = now();
            self.wake(time, window)?;
            if time >= window.close && self.busy == 0 {
                break;
            }
            self.arm(time)?;
            let count = match self.epoll.wait(&mut ready, patience(time, window)) {
                Ok(count) => count,
                Err(Errno::EINTR) => 0,
                Err(error) => return Err(LoadError::of_polling(error)),
            };
            for event in &ready[..count] {
                if event.data() != TIMER {
                    self.hear(event.data() as usize, window)?;
                }
            }
        }
        self.tally.usage =
            self.usage_at_open.map(|open| ThreadUsage::now().since(open)).unwrap_or_default();
        Ok(std::mem::replace(&mut self.tally, Tally::new(self.spec.window, None)))
    }

    /// Says when each client's first event is due.
    fn start(&mut self) {
        let begin = now();
        for (index, asker) in self.clients.iter_mut().enumerate() {
            let first = begin + self.spec.first_rest(asker.member.number);
            asker.stage = Stage::Resting(first);
            self.due.push(Reverse((first, index)));
        }
    }

    /// Sets the timer to the next moment at which somebody's time is up.
    fn arm(&mut self, time: Instant) -> Result<(), LoadError> {
        let next = self.due.peek().map(|Reverse((due, _))| *due);
        if next == self.armed {
            return Ok(());
        }
        self.armed = next;
        let set = match next {
            None => self.timer.unset(),
            Some(due) => {
                // Zero would switch it off.
                let left = due.saturating_duration_since(time).max(Duration::from_nanos(1));
                let once = Expiration::OneShot(TimeSpec::from_duration(left));
                self.timer.set(once, TimerSetTimeFlags::empty())
            }
        };
        set.map_err(LoadError::of_polling)
    }

    /// Sees to those whose time is up.
    fn wake(&mut self, time: Instant, window: &Window) -> Result<(), LoadError> {
        while let Some(&Reverse((due, index))) = self.due.peek()
            && due <= time
        {
            self.due.pop();
            match self.clients[index].stage {
                // Latency counts from the intended start: who wakes late was kept waiting.
                Stage::Resting(until) if until == due => self.begin(index, due, window)?,
                Stage::Braking(end, until) if until == due => {
                    self.clients[index].owed_ns -= duration_ns(time - end) as f64;
                    self.finish(index, time, window)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Sends the first call of the next event.
    fn begin(&mut self, index: usize, start: Instant, window: &Window) -> Result<(), LoadError> {
        let asker = &mut self.clients[index];
        if start >= window.close {
            asker.stage = Stage::Over;
            return Ok(());
        }
        self.program.fill_event(asker.member.number, asker.operation, &mut asker.event);
        asker.operation += 1;
        asker.start = start;
        asker.answer.retries = 0;
        self.busy += 1;
        asker.ask_all(self.spec.load, &mut self.sql)
    }

    fn hear(&mut self, index: usize, window: &Window) -> Result<(), LoadError> {
        match self.clients[index].stage {
            Stage::Asking | Stage::RollingBack => {}
            // Nothing was asked, so the server has ended the connection; asking brings out why.
            Stage::Resting(_) => self.begin(index, now(), window)?,
            Stage::Braking(..) | Stage::Over => return self.deaf(index),
        }
        if self.clients[index].stage == Stage::Over {
            return self.deaf(index);
        }
        if self.clients[index].hear(self.spec.load, &mut self.sql)? == Continuation::More {
            return Ok(());
        }
        let end = now();
        let asker = &mut self.clients[index];
        if self.spec.slow > 0.0 {
            let extra = self.spec.slow / (1.0 - self.spec.slow);
            asker.owed_ns += duration_ns(end - asker.start) as f64 * extra;
            if asker.owed_ns > 0.0 {
                let until = end + Duration::from_nanos(asker.owed_ns as u64);
                asker.stage = Stage::Braking(end, until);
                self.due.push(Reverse((until, index)));
                return Ok(());
            }
        }
        self.finish(index, end, window)
    }

    /// Listens no more to a client that has nothing to hear: the server has ended its connection.
    /// Its next question, if there is one, finds out why.
    #[cold]
    fn deaf(&mut self, index: usize) -> Result<(), LoadError> {
        let socket = self.clients[index].member.client.socket();
        self.epoll.delete(socket).map_err(LoadError::of_polling)
    }

    /// Counts an event and sees to the next.
    fn finish(&mut self, index: usize, end: Instant, window: &Window) -> Result<(), LoadError> {
        let asker = &mut self.clients[index];
        self.busy -= 1;
        if end >= window.open && end < window.close {
            self.usage_at_open.get_or_insert_with(ThreadUsage::now);
            let took_ns = duration_ns(end - asker.start);
            self.tally.count(&asker.answer, took_ns, duration_ns(end - window.open));
        }
        let Some(thinking) = self.spec.think else { return self.begin(index, end, window) };
        let number = asker.operation - 1 - self.spec.first_operation;
        let until = end + thinking.pause(asker.member.number, number);
        asker.stage = Stage::Resting(until);
        self.due.push(Reverse((until, index)));
        Ok(())
    }
}

/// How long to listen before looking whether to stop, or whether the window has closed.
fn patience(time: Instant, window: &Window) -> EpollTimeout {
    let mut wait = STOP_CHECK;
    if time < window.close {
        wait = wait.min(window.close - time);
    }
    let millis = duration_ns(wait).div_ceil(1_000_000);
    u16::try_from(millis).map_or(EpollTimeout::MAX, EpollTimeout::from)
}

impl Asker {
    /// Asks an event from its beginning.
    fn ask_all(&mut self, load: &ReadyLoad, sql: &mut String) -> Result<(), LoadError> {
        self.call = 0;
        self.answer =
            EventAnswer { retries: self.answer.retries, ..EventAnswer::for_event(&self.event) };
        self.stage = Stage::Asking;
        self.ask(load, sql)
    }

    fn current(&self) -> &Call {
        &self.event.calls[self.call]
    }

    /// Sends the current call.
    #[inline]
    fn ask(&mut self, load: &ReadyLoad, sql: &mut String) -> Result<(), LoadError> {
        let call = &self.event.calls[self.call];
        let statement = &load.statements()[call.statement as usize];
        let client = &mut self.member.client;
        let sent = match (self.member.prepared[call.statement as usize], statement.kind) {
            (Some(id), _) => client.send_execute(id, &EventArgs::new(&self.event, call)),
            (None, StatementKind::Text) => {
                self.event.write_sql(call, statement, sql);
                client.send_run(sql)
            }
            (None, _) => client.send_run(&statement.sql),
        };
        sent.map_err(|error| LoadError::Wire(error, Some(statement.sql.clone())))
    }

    /// Takes what has come, and asks on.
    #[inline]
    fn hear(&mut self, load: &ReadyLoad, sql: &mut String) -> Result<Continuation, LoadError> {
        let received = match self.member.client.receive() {
            Ok(None) => return Ok(Continuation::More),
            Ok(Some(outcome)) => Ok(outcome),
            Err(error) => Err(error),
        };
        if self.stage == Stage::RollingBack {
            received.map_err(rollback_error)?;
            return self.ask_all(load, sql).map(|()| Continuation::More);
        }
        match received {
            Ok(outcome) => {
                if !is_right(self.current(), outcome) {
                    return Err(self.wrong(load, outcome));
                }
                self.answer.count(outcome);
                self.call += 1;
                if self.call == self.event.calls.len() {
                    return Ok(Continuation::Last);
                }
                self.ask(load, sql)?;
            }
            Err(error) => {
                let statements = self.event.calls.len();
                match classify_error(load, error, self.current().statement, statements) {
                    Setback::Failed(error) => return Err(error),
                    Setback::AskAgain => {
                        count_retry(&mut self.answer.retries)?;
                        self.stage = Stage::RollingBack;
                        self.member.client.send_run(ROLLBACK)?;
                    }
                }
            }
        }
        Ok(Continuation::More)
    }

    /// What a wrong answer to the current call means. Whoever shares this thread waits meanwhile:
    /// the round is over.
    #[cold]
    fn wrong(&mut self, load: &ReadyLoad, outcome: StatementCounts) -> LoadError {
        let Member { client, prepared, .. } = &mut self.member;
        let call = &self.event.calls[self.call];
        wrong_result_error(&mut **client, prepared, load, &self.event, call, outcome)
    }
}
