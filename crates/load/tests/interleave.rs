//! Arms in slices, against servers that note who asked them when.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dbdyno_load::{
    Connector, KeptConnections, LoadError, Moment, RoundMeasurement, RoundSpec, Slices,
    run_interleaved,
};
use dbdyno_model::{ArmIndex, Arms, Dialect, Processors};
use dbdyno_wire::mock::{
    EveryNth, FixedScript, Login, MockProtocol, MockReply, MockServer, Script, ServiceTime, Turn,
};
use dbdyno_workload::{ReadyLoad, Tables, resolve_load};

const BASE: ArmIndex = ArmIndex::BASE;
const TEST: ArmIndex = ArmIndex::TEST;
const BOTH: [ArmIndex; 2] = [BASE, TEST];

/// Eight slices of the arms in this order.
fn slices(order: &[ArmIndex]) -> Slices {
    Slices {
        count: 8,
        window: Duration::from_millis(4),
        lead_in: Duration::ZERO,
        order: order.to_vec(),
    }
}

fn of_two() -> Slices {
    slices(&[TEST, BASE])
}

struct Servers {
    of: Arms<MockServer>,
    load: ReadyLoad,
    /// Where connections are to stay.
    kept: Option<Arms<KeptConnections>>,
    stop: AtomicBool,
}

impl Servers {
    /// Those of two arms.
    fn two(script: impl Fn(ArmIndex) -> Arc<dyn Script>) -> Servers {
        Servers::new(2, script)
    }

    fn new(count: usize, script: impl Fn(ArmIndex) -> Arc<dyn Script>) -> Servers {
        let tables = Tables { count: 1, rows: 1000, seed: 1 };
        let load = resolve_load("point-query", tables).unwrap();
        let server = |arm| {
            MockServer::start(MockProtocol::Mysql, Login::without_password("bench"), script(arm))
                .unwrap()
        };
        Servers {
            of: Arms::from_fn(ArmIndex::all(count), server),
            load: ReadyLoad::compile(&load, Dialect::Mysql).unwrap(),
            kept: None,
            stop: AtomicBool::new(false),
        }
    }

    fn run(
        &self,
        clients: u32,
        slices: &Slices,
        observe: &mut dyn FnMut(ArmIndex, Moment),
    ) -> Result<Arms<RoundMeasurement>, (ArmIndex, LoadError)> {
        let arms = self.of.indices();
        let connectors =
            Arms::from_fn(arms.clone(), |arm| Connector::Mysql(self.of[arm].endpoint()));
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
            record: None,
            stop: &self.stop,
        };
        run_interleaved(&Arms::from_fn(arms, spec), slices, observe)
    }
}

fn usual(_: ArmIndex) -> Arc<dyn Script> {
    Arc::new(FixedScript(Turn::point_query()))
}

/// Notes which arm is asked.
struct Noted {
    arm: ArmIndex,
    order: Arc<Mutex<Vec<ArmIndex>>>,
}

impl Script for Noted {
    fn statement_turn(&self, _: u64, _: u64) -> Turn {
        self.order.lock().unwrap().push(self.arm);
        Turn::point_query()
    }
}

/// Nobody is asked in another's slice: the servers together see as many changes of arm as there
/// are slices, in the order of arms that was asked for.
#[test]
fn arms_take_turns_and_never_work_at_once() {
    let orders: [&[ArmIndex]; 3] = [
        &[TEST, BASE],
        &[ArmIndex(2), BASE, TEST],
        &[TEST, ArmIndex(4), ArmIndex(2), BASE, ArmIndex(3)],
    ];
    for (clients, order) in [1, 3].into_iter().flat_map(|clients| orders.map(|o| (clients, o))) {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = |arm| -> Arc<dyn Script> { Arc::new(Noted { arm, order: asked.clone() }) };
        let mut moments = Vec::new();
        let (servers, slices) = (Servers::new(order.len(), noted), slices(order));
        let measured = servers
            .run(clients, &slices, &mut |arm, moment| {
                if !matches!(moment, Moment::Connecting(_)) {
                    moments.push((arm, moment));
                }
            })
            .unwrap();
        let mut turns = asked.lock().unwrap().clone();
        turns.dedup();
        let expected: Vec<_> = (0..slices.count).flat_map(|_| order.iter().copied()).collect();
        assert_eq!(turns, expected, "{clients} clients");
        let arms = ArmIndex::all(order.len());
        let looks = [Moment::Opened, Moment::Closed].into_iter();
        let looks = looks.flat_map(|moment| arms.clone().map(move |arm| (arm, moment)));
        assert_eq!(moments, looks.collect::<Vec<_>>());
        for arm in arms {
            let RoundMeasurement { events, latency, wall_ns, observed_ns, usage, .. } =
                &measured[arm];
            let asked = servers.of[arm].statements();
            assert!(*events <= asked, "{events} of {asked}");
            assert!(clients > 1 || *events == asked, "without lead-ins all events of one count");
            assert_eq!(latency.count(), *events);
            assert!(*wall_ns >= u64::from(slices.count) * slices.window.as_nanos() as u64);
            assert!(observed_ns >= wall_ns && usage.cpu_ns > 0);
        }
    }
}

#[test]
fn connections_of_each_arm_stay_where_they_are_to() {
    let kept = Arms::from_fn(BOTH, |_| KeptConnections::default());
    let servers = Servers { kept: Some(kept), ..Servers::two(usual) };
    for _ in 0..3 {
        servers.run(2, &of_two(), &mut |_, _| {}).unwrap();
    }
    assert!(BOTH.into_iter().all(|arm| servers.of[arm].connection_count() == 2));
}

/// What is asked before a slice opens is not counted.
#[test]
fn lead_ins_are_not_counted() {
    let servers = Servers::two(usual);
    let slices = Slices { lead_in: Duration::from_millis(20), ..of_two() };
    let measured = servers.run(1, &slices, &mut |_, _| {}).unwrap();
    for arm in BOTH {
        assert!(servers.of[arm].statements() > measured[arm].events);
        assert!(measured[arm].observed_ns > measured[arm].wall_ns);
    }
}

/// Stalls on every second connection, so that of two clients one never does: clients that stalled
/// at the same time would leave nobody to go on.
struct OneStalls;

impl Script for OneStalls {
    fn statement_turn(&self, connection: u64, _: u64) -> Turn {
        let is_slow = connection.is_multiple_of(2);
        let delay =
            if is_slow { ServiceTime::Sleep(Duration::from_millis(30)) } else { ServiceTime::None };
        Turn { delay, ..Turn::point_query() }
    }
}

/// Who waits for a slow answer waits beside as many others as before, whose events do not count.
#[test]
fn those_who_are_through_go_on_asking_until_all_are() {
    let script = |_| -> Arc<dyn Script> { Arc::new(OneStalls) };
    let servers = Servers::two(script);
    let measured = servers.run(2, &of_two(), &mut |_, _| {}).unwrap();
    for arm in BOTH {
        let (asked, counted) = (servers.of[arm].statements(), measured[arm].events);
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
    let stall = ServiceTime::Sleep(Duration::from_nanos(STALL_NS));
    let script = |arm| -> Arc<dyn Script> {
        let rare = Turn { delay: stall, ..Turn::point_query() };
        match arm {
            TEST => Arc::new(EveryNth { n, usual: Turn::point_query(), rare }),
            _ => Arc::new(FixedScript(Turn::point_query())),
        }
    };
    let servers = Servers::two(script);
    let measured = servers.run(1, &of_two(), &mut |_, _| {}).unwrap();
    let stalls = measured[TEST].events / n.get();
    assert!(stalls > 0, "no stall in {} events", measured[TEST].events);
    assert!(measured[TEST].wall_ns >= stalls * STALL_NS);
    let above = |rank: u64| {
        let share = 1.0 - (rank as f64 - 0.5) / measured[TEST].events as f64;
        measured[TEST].latency.quantile_ns(share)
    };
    assert!(above(stalls) >= STALL_NS * 99 / 100, "a stall is missing");
    let sum = measured[TEST].latency.mean_ns() * measured[TEST].events as f64;
    let off = sum / measured[TEST].wall_ns as f64;
    assert!((0.99..1.01).contains(&off), "latencies make up {off} of the time");
}

/// The arm that failed is named, and the others are not left waiting.
#[test]
fn a_failure_is_that_of_its_arm() {
    for failing in ArmIndex::all(3) {
        let script = |arm| -> Arc<dyn Script> {
            let message = "gone".into();
            let error = Turn::now(MockReply::Error { code: 1105, sqlstate: "HY000", message });
            let n = NonZeroU64::new(5).unwrap();
            if arm == failing {
                Arc::new(EveryNth { n, usual: Turn::point_query(), rare: error })
            } else {
                Arc::new(FixedScript(Turn::point_query()))
            }
        };
        let (arm, error) = Servers::new(3, script)
            .run(2, &slices(&[BASE, ArmIndex(2), TEST]), &mut |_, _| {})
            .unwrap_err();
        assert_eq!(arm, failing);
        assert!(matches!(error, LoadError::Wire(..)), "{error}");
    }
}

#[test]
fn a_stop_ends_both_arms_and_nothing_counts() {
    let servers = Servers::two(usual);
    let slices = Slices { count: 100_000, ..of_two() };
    let outcome = servers.run(2, &slices, &mut |_, moment| {
        if moment == Moment::Opened {
            servers.stop.store(true, Ordering::Relaxed);
        }
    });
    assert!(matches!(outcome.unwrap_err().1, LoadError::Interrupted));
}
