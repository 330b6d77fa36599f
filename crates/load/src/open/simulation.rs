//! The driver in simulated time, against the exact simulation of the queue.
//!
//! Real threads run the real loop, one at a time: whoever sleeps hands over to the thread with the
//! earliest alarm, and the clock jumps there. So the figures must agree to the nanosecond.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use super::account::{Account, conclude_round};
use super::feed::Feed;
use super::pace::Clock;
use super::{Asks, Limits, serve};
use crate::answer::EventAnswer;
use crate::arrival::ArrivalSchedule;
use crate::book::{self, Books};
use crate::brake::Brake;
use crate::error::LoadError;
use crate::round::RoundMeasurement;
use dbdyno_model::{LatencyHistogram, OpenLoop};
use dbdyno_workload::Filing;

#[path = "../../benches/queue/mod.rs"]
mod queue;
use queue::{Stall, Visit, simulate};

const MS: i64 = 1_000_000;

/// Time as all threads share it.
struct Time {
    state: Mutex<State>,
    turned: Condvar,
}

struct State {
    now_ns: i64,
    awake: usize,
    alarms: BTreeSet<(i64, usize)>,
    turn: Option<usize>,
}

impl State {
    fn hand_over(&mut self) {
        self.awake -= 1;
        if self.awake > 0 {
            return;
        }
        if let Some((at_ns, thread)) = self.alarms.pop_first() {
            self.now_ns = self.now_ns.max(at_ns);
            self.turn = Some(thread);
            self.awake = 1;
        }
    }
}

/// Time as one thread sees it.
#[derive(Clone)]
struct Simulated {
    time: Arc<Time>,
    thread: usize,
}

impl Simulated {
    fn sleep_until(&self, at_ns: i64) {
        let mut state = self.time.state.lock().unwrap();
        state.alarms.insert((at_ns, self.thread));
        state.hand_over();
        self.time.turned.notify_all();
        while state.turn != Some(self.thread) {
            state = self.time.turned.wait(state).unwrap();
        }
        state.turn = None;
    }

    fn leave(&self) {
        self.time.state.lock().unwrap().hand_over();
        self.time.turned.notify_all();
    }

    fn now(&self) -> i64 {
        self.time.state.lock().unwrap().now_ns
    }
}

impl Clock for Simulated {
    fn now_ns(&mut self) -> i64 {
        self.now()
    }

    fn wait_until(&mut self, moment_ns: i64, _stop: impl Fn() -> bool) -> i64 {
        if moment_ns > self.now() {
            self.sleep_until(moment_ns);
        }
        self.now()
    }
}

/// A server that files its events under two classes, by their number.
struct Simulation<F>(F);

impl<F: FnMut(u64) -> Result<EventAnswer, LoadError>> Asks for Simulation<F> {
    fn ask_event(&mut self, number: u64) -> Result<EventAnswer, LoadError> {
        (self.0)(number)
    }

    fn kind(&mut self, number: u64) -> Option<u32> {
        Some(kind_of(number))
    }
}

fn kind_of(number: u64) -> u32 {
    (number % 2) as u32
}

fn filing() -> Filing {
    Filing::Events(vec!["even".to_owned(), "odd".to_owned()])
}

/// What is counted, of all events and of those of each class.
#[derive(Debug, Default, PartialEq)]
struct Truth {
    open: OpenLoop,
    service: LatencyHistogram,
    by_class: [ByClass; 2],
}

#[derive(Debug, Default, PartialEq)]
struct ByClass {
    service: LatencyHistogram,
    response: LatencyHistogram,
}

struct Case {
    rate: &'static str,
    clients: usize,
    window_ns: i64,
    drain_ns: i64,
    service_ns: fn(u64) -> i64,
    stalls: Vec<Stall>,
}

impl Case {
    fn schedule(&self) -> ArrivalSchedule {
        ArrivalSchedule::new(&self.rate.parse().unwrap(), 11, 300 * MS as u64, &[])
    }

    fn window(&self) -> Duration {
        Duration::from_nanos(self.window_ns as u64)
    }

    /// What the driver counts.
    fn driven(&self) -> (RoundMeasurement, OpenLoop) {
        let feed = Feed::new(self.schedule(), self.window_ns);
        let limits =
            Limits { close_ns: self.window_ns, give_up_ns: self.window_ns + self.drain_ns };
        let state = State {
            now_ns: i64::MIN / 2,
            awake: self.clients,
            alarms: BTreeSet::new(),
            turn: None,
        };
        let time = Arc::new(Time { state: Mutex::new(state), turned: Condvar::new() });
        let closed_until = Mutex::new(i64::MIN);
        let filing = filing();
        let times = book::Times::ServiceAndResponse;
        let books = Books::new(&filing, times, self.window(), self.clients);
        let client = |thread: usize| {
            let mut clock = Simulated { time: Arc::clone(&time), thread };
            let server = clock.clone();
            let mut account = Account::new(self.window(), books.of_client(thread));
            // All are asleep before the first one begins.
            clock.sleep_until(-1_000 * MS + thread as i64);
            let ask = |number: u64| -> Result<EventAnswer, LoadError> {
                let now = server.now();
                let begins = {
                    let mut closed = closed_until.lock().unwrap();
                    for stall in self.stalls.iter().filter(|s| s.event as u64 == number) {
                        *closed = (*closed).max(now + stall.lasts_ns);
                    }
                    now.max(*closed)
                };
                server.sleep_until(begins + (self.service_ns)(number));
                let kind = kind_of(number);
                Ok(EventAnswer { statements: 3, rows_read: 2, kind, ..EventAnswer::default() })
            };
            let brake = Brake::new(0.0);
            let mut asks = Simulation(ask);
            serve(&feed, &mut clock, &mut asks, brake, &mut account, limits, || false).unwrap();
            clock.leave();
            account
        };
        let accounts = thread::scope(|scope| {
            let client = &client;
            let threads: Vec<_> =
                (0..self.clients).map(|number| scope.spawn(move || client(number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        conclude_round(accounts, &filing, &books, 0, 1, self.window()).unwrap()
    }

    /// What it must count.
    fn truth(&self) -> Truth {
        let mut schedule = self.schedule();
        let times: Vec<i64> = std::iter::from_fn(|| schedule.next_ns())
            .take_while(|&time| time < self.window_ns)
            .collect();
        let services: Vec<i64> = (0..times.len() as u64).map(self.service_ns).collect();
        let give_up_ns = self.window_ns + self.drain_ns;
        let Truth { mut open, mut service, mut by_class } = Truth::default();
        let visits = simulate(&times, &services, self.clients, &self.stalls);
        for (number, visit) in visits.into_iter().enumerate() {
            let class = &mut by_class[kind_of(number as u64) as usize];
            let Visit { intended_ns, sent_ns, end_ns } = visit;
            if intended_ns >= 0 {
                open.offered += 1;
                let response_ns = if sent_ns >= give_up_ns {
                    open.unanswered += 1;
                    (give_up_ns - intended_ns) as u64
                } else {
                    open.lag.record_latency(0);
                    (end_ns - intended_ns) as u64
                };
                open.response.record_latency(response_ns);
                class.response.record_latency(response_ns);
            }
            if (0..self.window_ns).contains(&end_ns) {
                service.record_latency((end_ns - sent_ns) as u64);
                class.service.record_latency((end_ns - sent_ns) as u64);
            }
        }
        Truth { open, service, by_class }
    }

    fn check(&self) -> OpenLoop {
        let (measured, driven) = self.driven();
        let Truth { open, service, by_class } = self.truth();
        assert_eq!(driven, open, "{} with {} clients", self.rate, self.clients);
        assert_eq!(measured.latency, service);
        assert_eq!(measured.events, service.count());
        assert_eq!(measured.answer.statements, 3 * measured.events);
        let in_slots = measured.series.statements.iter().sum::<u64>();
        assert_eq!(in_slots, measured.answer.statements, "whole slots fill these windows");
        for (class, truth) in measured.classes.iter().zip(by_class) {
            let times = class.times.as_ref().unwrap();
            assert_eq!(times.latency, truth.service, "{}", class.name);
            assert_eq!(times.response.as_ref(), Some(&truth.response), "{}", class.name);
            assert_eq!(class.count, truth.service.count());
            assert_eq!(class.slots.iter().sum::<u64>(), class.count);
        }
        assert_eq!(measured.classes.len(), 2);
        open
    }
}

/// Between 0.3 and 2.3 ms, never twice the same time of day.
fn some_service_ns(number: u64) -> i64 {
    300_001 + (dbdyno_model::random::mix_bits(number) % 2_000_003) as i64
}

#[test]
fn response_times_are_those_of_the_queue_to_the_nanosecond() {
    for rate in ["1500", "poisson:1500", "poisson:burst:700,3000@300ms/1s", "ramp:100-2000@2s"] {
        for clients in [1, 3, 16] {
            let case = Case {
                rate,
                clients,
                window_ns: 2_000 * MS,
                drain_ns: 60_000 * MS,
                service_ns: some_service_ns,
                stalls: vec![],
            };
            assert_eq!(case.check().unanswered, 0);
        }
    }
}

/// The proof of the pudding: after a second in which nothing is answered, a closed loop has a few
/// long latencies; here a third of all events has waited for long.
#[test]
fn a_stall_of_a_second_is_seen_in_full() {
    let case = Case {
        rate: "poisson:1000",
        clients: 8,
        window_ns: 3_000 * MS,
        drain_ns: 10_000 * MS,
        service_ns: some_service_ns,
        stalls: vec![Stall { event: 1100, lasts_ns: 1_000 * MS }],
    };
    let open = case.check();
    assert!(open.response.max_ns() > 990_000_000);
    assert!(open.response.quantile_ns(0.75) > 100_000_000, "late events were left out");
}

/// The stall reaches over the end of the window: what was meant for the window and is answered
/// after it counts.
#[test]
fn what_is_answered_after_the_window_counts_in_full() {
    let case = Case {
        rate: "1000",
        clients: 4,
        window_ns: 1_000 * MS,
        drain_ns: 10_000 * MS,
        service_ns: some_service_ns,
        stalls: vec![Stall { event: 900, lasts_ns: 2_000 * MS }],
    };
    let open = case.check();
    assert_eq!((open.offered, open.unanswered), (1000, 0));
    assert!(open.response.max_ns() > 1_990_000_000);
}

/// Two connections and 5 ms: four hundred events per second are all that can be done of a thousand.
#[test]
fn what_is_given_up_counts_with_the_time_it_has_waited() {
    let case = Case {
        rate: "poisson:1000",
        clients: 2,
        window_ns: 1_000 * MS,
        drain_ns: 200 * MS,
        service_ns: |number| 5 * MS + number as i64 % 7,
        stalls: vec![],
    };
    let open = case.check();
    assert!(open.unanswered > 300, "{}", open.unanswered);
    assert_eq!(open.response.count(), open.offered);
}
