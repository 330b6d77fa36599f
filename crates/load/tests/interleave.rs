//! Two arms in slices, against servers that note who asked them when.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dbdyno_load::{
    Connector, Kept, LoadError, Measured, Moment, RoundSpec, Slices, run_interleaved,
};
use dbdyno_model::{Arm, Dialect, PerArm, Processors};
use dbdyno_wire::mock::{Delay, EveryNth, Fixed, Login, MockServer, Protocol, Reply, Script, Turn};
use dbdyno_workload::{ReadyLoad, Tables, resolve};

const SLICES: Slices = Slices {
    count: 8,
    window: Duration::from_millis(4),
    lead_in: Duration::ZERO,
    first: Arm::Test,
};

struct Pair {
    servers: PerArm<MockServer>,
    load: ReadyLoad,
    /// Where connections are to stay.
    kept: Option<PerArm<Kept>>,
    stop: AtomicBool,
}

impl Pair {
    fn new(script: impl Fn(Arm) -> Arc<dyn Script>) -> Pair {
        let tables = Tables { count: 1, rows: 1000, seed: 1 };
        let load = resolve("point-query", tables).unwrap();
        let server =
            |arm| MockServer::start(Protocol::Mysql, Login::trust("bench"), script(arm)).unwrap();
        Pair {
            servers: PerArm::from_fn(server),
            load: ReadyLoad::compile(&load, Dialect::Mysql).unwrap(),
            kept: None,
            stop: AtomicBool::new(false),
        }
    }

    fn run(
        &self,
        clients: u32,
        slices: &Slices,
        observe: &mut dyn FnMut(Arm, Moment),
    ) -> Result<PerArm<Measured>, (Arm, LoadError)> {
        let connectors = PerArm::from_fn(|arm| Connector::Mysql(self.servers[arm].endpoint()));
        let spec = |arm| RoundSpec {
            load: &self.load,
            connector: &connectors[arm],
            clients,
            first_operation: 0,
            lead_in: Duration::ZERO,
            window: Duration::ZERO,
            think: None,
            slow: 0.0,
            processors: Processors::ANY,
            kept: self.kept.as_ref().map(|kept| &kept[arm]),
            stop: &self.stop,
        };
        run_interleaved(&PerArm::from_fn(spec), slices, observe)
    }
}

fn usual(_: Arm) -> Arc<dyn Script> {
    Arc::new(Fixed(Turn::point()))
}

/// Notes which arm is asked.
struct Noted {
    arm: Arm,
    order: Arc<Mutex<Vec<Arm>>>,
}

impl Script for Noted {
    fn turn(&self, _: u64, _: u64) -> Turn {
        self.order.lock().unwrap().push(self.arm);
        Turn::point()
    }
}

/// Nobody is asked in the other's slice: both servers together see as many changes of arm as there
/// are slices.
#[test]
fn arms_take_turns_and_never_work_at_once() {
    for clients in [1, 3] {
        let order = Arc::new(Mutex::new(Vec::new()));
        let noted = |arm| -> Arc<dyn Script> { Arc::new(Noted { arm, order: order.clone() }) };
        let mut moments = Vec::new();
        let pair = Pair::new(noted);
        let measured = pair
            .run(clients, &SLICES, &mut |arm, moment| {
                if !matches!(moment, Moment::Connecting(_)) {
                    moments.push((arm, moment));
                }
            })
            .unwrap();
        let mut turns = order.lock().unwrap().clone();
        turns.dedup();
        assert_eq!(turns.len(), 2 * SLICES.count as usize, "{clients} clients");
        assert_eq!(turns[0], SLICES.first);
        assert_eq!(
            moments,
            [
                (Arm::Base, Moment::Opened),
                (Arm::Test, Moment::Opened),
                (Arm::Base, Moment::Closed),
                (Arm::Test, Moment::Closed)
            ]
        );
        for arm in Arm::BOTH {
            let Measured { events, latency, wall_ns, observed_ns, usage, .. } = &measured[arm];
            let asked = pair.servers[arm].statements();
            assert!(*events <= asked, "{events} of {asked}");
            assert!(clients > 1 || *events == asked, "without lead-ins all events of one count");
            assert_eq!(latency.count(), *events);
            assert!(*wall_ns >= SLICES.count as u64 * SLICES.window.as_nanos() as u64);
            assert!(observed_ns >= wall_ns && usage.cpu_ns > 0);
        }
    }
}

#[test]
fn connections_of_each_arm_stay_where_they_are_to() {
    let pair = Pair { kept: Some(PerArm::from_fn(|_| Kept::default())), ..Pair::new(usual) };
    for _ in 0..3 {
        pair.run(2, &SLICES, &mut |_, _| {}).unwrap();
    }
    assert!(Arm::BOTH.into_iter().all(|arm| pair.servers[arm].connections() == 2));
}

/// What is asked before a slice opens is not counted.
#[test]
fn lead_ins_are_not_counted() {
    let pair = Pair::new(usual);
    let slices = Slices { lead_in: Duration::from_millis(20), ..SLICES };
    let measured = pair.run(1, &slices, &mut |_, _| {}).unwrap();
    for arm in Arm::BOTH {
        assert!(pair.servers[arm].statements() > measured[arm].events);
        assert!(measured[arm].observed_ns > measured[arm].wall_ns);
    }
}

/// Stalls on every second connection, so that of two clients one never does: clients that stalled
/// at the same time would leave nobody to go on.
struct OneStalls;

impl Script for OneStalls {
    fn turn(&self, connection: u64, _: u64) -> Turn {
        let is_slow = connection.is_multiple_of(2);
        let delay = if is_slow { Delay::Sleep(Duration::from_millis(30)) } else { Delay::None };
        Turn { delay, ..Turn::point() }
    }
}

/// Who waits for a slow answer waits beside as many others as before, whose events do not count.
#[test]
fn those_who_are_through_go_on_asking_until_all_are() {
    let script = |_| -> Arc<dyn Script> { Arc::new(OneStalls) };
    let pair = Pair::new(script);
    let measured = pair.run(2, &SLICES, &mut |_, _| {}).unwrap();
    for arm in Arm::BOTH {
        let (asked, counted) = (pair.servers[arm].statements(), measured[arm].events);
        assert!(asked > counted + 10, "{asked} asked, {counted} counted");
        assert_eq!(measured[arm].latency.count(), counted);
    }
}

/// An event that outlasts its slice by far is counted, with all of its time: the time of a client
/// is the sum of its latencies.
#[test]
fn a_stall_is_never_cut_off() {
    const STALL_NS: u64 = 30_000_000;
    // Whatever the machine does, each of the eight slices has one event.
    let n = NonZeroU64::new(5).unwrap();
    let stall = Delay::Sleep(Duration::from_nanos(STALL_NS));
    let script = |arm| -> Arc<dyn Script> {
        let rare = Turn { delay: stall, ..Turn::point() };
        match arm {
            Arm::Base => Arc::new(Fixed(Turn::point())),
            Arm::Test => Arc::new(EveryNth { n, usual: Turn::point(), rare }),
        }
    };
    let pair = Pair::new(script);
    let measured = pair.run(1, &SLICES, &mut |_, _| {}).unwrap();
    let stalls = measured.test.events / n.get();
    assert!(stalls > 0, "no stall in {} events", measured.test.events);
    assert!(measured.test.wall_ns >= stalls * STALL_NS);
    let above = |rank: u64| {
        let share = 1.0 - (rank as f64 - 0.5) / measured.test.events as f64;
        measured.test.latency.quantile_ns(share)
    };
    assert!(above(stalls) >= STALL_NS * 99 / 100, "a stall is missing");
    let sum = measured.test.latency.mean_ns() * measured.test.events as f64;
    let off = sum / measured.test.wall_ns as f64;
    assert!((0.99..1.01).contains(&off), "latencies make up {off} of the time");
}

/// The arm that failed is named, and the other one is not left waiting.
#[test]
fn a_failure_is_that_of_its_arm() {
    for failing in Arm::BOTH {
        let script = |arm| -> Arc<dyn Script> {
            let message = "gone".into();
            let error = Turn::now(Reply::Error { code: 1105, sqlstate: "HY000", message });
            let n = NonZeroU64::new(5).unwrap();
            if arm == failing {
                Arc::new(EveryNth { n, usual: Turn::point(), rare: error })
            } else {
                Arc::new(Fixed(Turn::point()))
            }
        };
        let (arm, error) = Pair::new(script).run(2, &SLICES, &mut |_, _| {}).unwrap_err();
        assert_eq!(arm, failing);
        assert!(matches!(error, LoadError::Wire(..)), "{error}");
    }
}

#[test]
fn a_stop_ends_both_arms_and_nothing_counts() {
    let pair = Pair::new(usual);
    let slices = Slices { count: 100_000, ..SLICES };
    let outcome = pair.run(2, &slices, &mut |_, moment| {
        if moment == Moment::Opened {
            pair.stop.store(true, Ordering::Relaxed);
        }
    });
    assert!(matches!(outcome.unwrap_err().1, LoadError::Interrupted));
}
