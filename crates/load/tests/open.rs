//! The open loop against a server whose behaviour is known beforehand.
//!
//! What the driver makes of its clock is proved in simulated time, beside it. Here are the threads,
//! the sockets and the real clock: counts are exact, and what is known of times are lower bounds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dbdyno_load::arrival::ArrivalSchedule;
use dbdyno_load::{Connector, LoadError, Moment, OpenSpec, RoundMeasurement, RoundSpec, run_open};
use dbdyno_model::{Dialect, OpenLoop, Processors};
use dbdyno_wire::WireError;
use dbdyno_wire::mock::{Login, MockProtocol, MockReply, MockServer, ServiceTime, TimedScript};
use dbdyno_workload::{ReadyLoad, Tables, resolve_load};

const BOTH: [MockProtocol; 2] = [MockProtocol::Mysql, MockProtocol::Postgres];
const WINDOW: Duration = Duration::from_millis(400);
const LEAD_IN: Duration = Duration::from_millis(100);

struct Bench {
    server: MockServer,
    connector: Connector,
    load: ReadyLoad,
    stop: AtomicBool,
}

impl Bench {
    fn new(
        protocol: MockProtocol,
        reply: MockReply,
        service: Duration,
        stall: (u64, Duration),
    ) -> Bench {
        let script = TimedScript::new(reply, vec![ServiceTime::Sleep(service)], vec![stall]);
        let server =
            MockServer::start(protocol, Login::without_password("bench"), Arc::new(script))
                .unwrap();
        let (connector, dialect) = match protocol {
            MockProtocol::Mysql => (Connector::Mysql(server.endpoint()), Dialect::Mysql),
            MockProtocol::Postgres => (Connector::Postgres(server.endpoint()), Dialect::Postgres),
        };
        let tables = Tables { count: 1, rows: 1000, seed: 1 };
        let load =
            ReadyLoad::compile(&resolve_load("point-query", tables).unwrap(), dialect).unwrap();
        Bench { server, connector, load, stop: AtomicBool::new(false) }
    }

    fn run(
        &self,
        rate: &str,
        clients: u32,
        drain: Duration,
    ) -> Result<(RoundMeasurement, OpenLoop), LoadError> {
        let round = RoundSpec {
            load: &self.load,
            connector: &self.connector,
            clients,
            first_operation: 0,
            lead_in: LEAD_IN,
            window: WINDOW,
            think: None,
            slow: 0.0,
            processors: Processors::ANY,
            kept: None,
            record: None,
            stop: &self.stop,
        };
        let schedule =
            ArrivalSchedule::new(&rate.parse().unwrap(), 5, LEAD_IN.as_nanos() as u64, &[]);
        let mut seen = Vec::new();
        let outcome = run_open(&OpenSpec { round, schedule, drain }, &mut |moment| {
            if !matches!(moment, Moment::Connecting(_)) {
                seen.push((moment, self.server.connection_count()));
            }
        });
        let connections = u64::from(clients);
        if self.stop.load(Ordering::Relaxed) {
            assert_eq!(seen, [], "who is to stop does not begin");
        } else {
            assert_eq!(seen, [(Moment::Opened, connections), (Moment::Closed, connections)]);
        }
        outcome
    }
}

fn point() -> MockReply {
    MockReply::Rows { count: 1, width: 119 }
}

const NO_STALL: (u64, Duration) = (u64::MAX, Duration::ZERO);
const LONG: Duration = Duration::from_secs(3600);

/// However late on a busy machine: every event of the schedule is asked once, and counted once.
#[test]
fn every_event_is_asked_and_counted_once() {
    for protocol in BOTH {
        let bench = Bench::new(protocol, point(), Duration::from_millis(1), NO_STALL);
        let (measured, open) = bench.run("1000", 3, LONG).unwrap();
        assert_eq!((open.offered, open.unanswered), (400, 0));
        assert_eq!(open.response.count(), 400);
        assert_eq!(open.lag.count(), 400);
        assert_eq!(bench.server.statements(), 500, "with those of the lead-in");
        assert!(measured.events <= 500 && measured.latency.count() == measured.events);
        assert!(open.response.quantile_ns(0.0) >= 999_000, "faster than the server");
        assert!(measured.usage.cpu_ns > 0);
    }
}

/// A stall of 300 ms in the middle of the window: an event that was meant for its beginning waited
/// for at least its length, and of the 300 events that were meant for it, half waited for at least
/// half of it. In the closed loop one event for each connection would have waited.
#[test]
fn everybody_who_came_during_a_stall_has_waited() {
    for protocol in BOTH {
        let stall = (200, Duration::from_millis(300));
        let bench = Bench::new(protocol, point(), Duration::from_micros(100), stall);
        let (measured, open) = bench.run("1000", 4, LONG).unwrap();
        assert_eq!((open.offered, open.unanswered), (400, 0));
        assert!(open.response.max_ns() >= 299_000_000, "{}", open.response.max_ns());
        let half = 1.0 - 140.0 / 400.0;
        assert!(open.response.quantile_ns(half) >= 149_000_000, "late events are missing");
        assert!(measured.latency.quantile_ns(0.5) < open.response.quantile_ns(half));
    }
}

#[test]
fn what_a_slow_server_leaves_is_told() {
    let bench = Bench::new(MockProtocol::Mysql, point(), Duration::from_millis(20), NO_STALL);
    let (_, open) = bench.run("1000", 2, Duration::ZERO).unwrap();
    assert_eq!(open.offered, 400);
    assert_eq!(open.response.count(), 400);
    assert!(open.unanswered >= 340, "two connections answer a hundred events in a second");
}

#[test]
fn errors_and_requests_to_stop_end_the_round() {
    let syntax = MockReply::Error { code: 1064, sqlstate: "42000", message: "no".into() };
    let refused = Bench::new(MockProtocol::Mysql, syntax, Duration::ZERO, NO_STALL);
    let error = refused.run("1000", 2, LONG).unwrap_err();
    assert!(matches!(&error, LoadError::Wire(WireError::Server(_), Some(_))), "{error}");

    let stopped = Bench::new(MockProtocol::Mysql, point(), Duration::ZERO, NO_STALL);
    stopped.stop.store(true, Ordering::Relaxed);
    assert!(matches!(stopped.run("0.5", 2, LONG), Err(LoadError::Interrupted)));

    let idle = Bench::new(MockProtocol::Mysql, point(), Duration::ZERO, NO_STALL);
    assert!(matches!(idle.run("0.5", 2, LONG), Err(LoadError::NothingFinished)));
}
