//! The generator against a server whose behaviour is known beforehand.
//!
//! Nothing here asserts how long something takes: a delay that the mock keeps is a *lower* bound of
//! latency and an *upper* bound of rate, on however busy a machine.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dbdyno_load::{
    Connector, KeptConnections, LoadError, Moment, RoundMeasurement, RoundSpec, run_round,
};
use dbdyno_model::{Dialect, Processors};
use dbdyno_wire::WireError;
use dbdyno_wire::mock::{
    EveryNth, FixedScript, Login, MockProtocol, MockReply, MockServer, Script, ServiceTime, Turn,
};
use dbdyno_workload::{ReadyLoad, Tables, resolve_load};

const TABLES: Tables = Tables { count: 1, rows: 1000, seed: 1 };

fn ready(load: &str, dialect: Dialect) -> ReadyLoad {
    ReadyLoad::compile(&resolve_load(load, TABLES).unwrap(), dialect).unwrap()
}

struct Bench {
    server: MockServer,
    connector: Connector,
    load: ReadyLoad,
    stop: AtomicBool,
}

impl Bench {
    fn new(protocol: MockProtocol, load: &str, script: impl Script + 'static) -> Bench {
        let server =
            MockServer::start(protocol, Login::without_password("bench"), Arc::new(script))
                .unwrap();
        let (connector, dialect) = match protocol {
            MockProtocol::Mysql => (Connector::Mysql(server.endpoint()), Dialect::Mysql),
            MockProtocol::Postgres => (Connector::Postgres(server.endpoint()), Dialect::Postgres),
        };
        let load = ready(load, dialect);
        Bench { server, connector, load, stop: AtomicBool::new(false) }
    }

    fn spec(&self, clients: u32, window: Duration) -> RoundSpec<'_> {
        RoundSpec {
            load: &self.load,
            connector: &self.connector,
            clients,
            first_operation: 0,
            lead_in: Duration::ZERO,
            window,
            think: None,
            slow: 0.0,
            processors: Processors::ANY,
            kept: None,
            record: None,
            stop: &self.stop,
        }
    }

    fn round(&self, clients: u32, window: Duration) -> Result<RoundMeasurement, LoadError> {
        run_round(&self.spec(clients, window), &mut |_| {})
    }
}

const WINDOW: Duration = Duration::from_millis(300);
/// Of a round that an error ends, however late on a busy machine.
const UNTIL_IT_FAILS: Duration = Duration::from_secs(60);
const BOTH: [MockProtocol; 2] = [MockProtocol::Mysql, MockProtocol::Postgres];

fn point() -> Turn {
    Turn::point_query()
}

fn slow_point(millis: u64) -> Turn {
    Turn { delay: ServiceTime::Sleep(Duration::from_millis(millis)), ..Turn::point_query() }
}

/// Without a lead-in every event but the last one of each client ends inside the window, so the
/// mock has answered exactly that much more than was counted.
#[test]
fn counts_are_exact() {
    for protocol in BOTH {
        let bench = Bench::new(protocol, "point-query", FixedScript(point()));
        let clients = 3;
        let measured = bench.round(clients, WINDOW).unwrap();
        assert_eq!(measured.events + u64::from(clients), bench.server.statements());
        assert_eq!(measured.answer.statements, measured.events);
        assert_eq!(measured.answer.rows_read, measured.events);
        assert_eq!(measured.latency.count(), measured.events);
        assert_eq!(measured.series.statements.iter().sum::<u64>(), measured.events);
        assert_eq!(measured.series.statements.len(), 12, "slots of 25 ms");
        assert_eq!(bench.server.connection_count(), u64::from(clients));
        assert!(measured.usage.cpu_ns > 0 && measured.observed_ns > 0);
    }
}

/// One statement in ten takes 20 ms, the others 1 ms.
#[test]
fn percentiles_and_rates_keep_to_the_known_service_times() {
    for protocol in BOTH {
        let n = NonZeroU64::new(10).unwrap();
        let script = EveryNth { n, usual: slow_point(1), rare: slow_point(20) };
        let bench = Bench::new(protocol, "point-query", script);
        let clients = 2;
        let measured = bench.round(clients, 5 * WINDOW).unwrap();
        assert!(measured.latency.quantile_ns(0.001) >= 999_000, "faster than the server");
        // Who asked so many may have had one stall less than a tenth of them says.
        let slow = (measured.events / 10).saturating_sub(u64::from(clients));
        assert!(slow > 0, "not one stall in {} events", measured.events);
        let rank = 1.0 - 0.5 * slow as f64 / measured.events as f64;
        assert!(measured.latency.quantile_ns(rank) >= 19_980_000, "a stall is missing");
        let most = f64::from(clients) * 5.0 * WINDOW.as_secs_f64() / 0.001;
        assert!((measured.events as f64) <= most, "more events than the server can answer");
    }
}

#[test]
fn what_was_rolled_back_for_others_is_asked_again_and_counted() {
    let deadlock = |protocol| match protocol {
        MockProtocol::Mysql => (1213, "40001"),
        MockProtocol::Postgres => (0, "40P01"),
    };
    for protocol in BOTH {
        let (code, sqlstate) = deadlock(protocol);
        let reply = MockReply::Error { code, sqlstate, message: "deadlock".into() };
        let n = NonZeroU64::new(10).unwrap();
        let script = EveryNth { n, usual: point(), rare: Turn::now(reply) };
        let bench = Bench::new(protocol, "point-query", script);
        let measured = bench.round(1, WINDOW).unwrap();
        let answered = bench.server.statements();
        let last = answered - measured.events - measured.answer.retries;
        assert!((1..=2).contains(&last), "{last} executions are neither events nor retries");
        assert!(measured.answer.retries.abs_diff(answered / 10) <= 1);
    }
}

/// A round of three seconds went on for half an hour.
#[test]
fn what_is_rolled_back_without_end_ends_the_round() {
    let reply = MockReply::Error { code: 1213, sqlstate: "40001", message: "deadlock".into() };
    let bench = Bench::new(MockProtocol::Mysql, "update-nonindex", FixedScript(Turn::now(reply)));
    let error = bench.round(2, UNTIL_IT_FAILS).unwrap_err();
    assert!(matches!(error, LoadError::RolledBack(10_000)), "{error}");
}

#[test]
fn refusals_cuts_and_wrong_answers_end_the_round() {
    for protocol in BOTH {
        let syntax = MockReply::Error { code: 1064, sqlstate: "42000", message: "no".into() };
        let refused = Bench::new(protocol, "point-query", FixedScript(Turn::now(syntax)));
        let error = refused.round(2, WINDOW).unwrap_err();
        assert!(
            matches!(&error, LoadError::Wire(WireError::Server(_), Some(sql)) if
            sql.starts_with("SELECT c FROM sbtest1")),
            "{error}"
        );

        let n = NonZeroU64::new(50).unwrap();
        let cut = EveryNth { n, usual: point(), rare: Turn::now(MockReply::Cut) };
        let error = Bench::new(protocol, "point-query", cut).round(2, UNTIL_IT_FAILS).unwrap_err();
        assert!(matches!(&error, LoadError::Wire(error, _) if error.is_fatal()), "{error}");

        let two_rows = Turn::now(MockReply::Rows { count: 2, width: 119 });
        let n = NonZeroU64::new(50).unwrap();
        let wrong = EveryNth { n, usual: point(), rare: two_rows };
        let error =
            Bench::new(protocol, "point-query", wrong).round(1, UNTIL_IT_FAILS).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("returned 2 rows, right is 1"), "{text}");

        let nothing = FixedScript(Turn::now(MockReply::Affected(0)));
        let error = Bench::new(protocol, "update-nonindex", nothing).round(1, WINDOW).unwrap_err();
        assert!(error.to_string().contains("changed 0 rows"), "{error}");
    }
}

#[test]
fn a_round_can_be_stopped_and_a_slow_one_says_so() {
    let bench = Bench::new(MockProtocol::Mysql, "point-query", FixedScript(point()));
    bench.stop.store(true, Ordering::Relaxed);
    assert!(matches!(bench.round(2, Duration::from_secs(3600)), Err(LoadError::Interrupted)));

    let bench = Bench::new(MockProtocol::Mysql, "point-query", FixedScript(slow_point(400)));
    assert!(matches!(bench.round(1, Duration::from_millis(50)), Err(LoadError::NothingFinished)));
}

#[test]
fn connections_that_stay_are_taken_up_by_the_next_round() {
    for protocol in BOTH {
        let bench = Bench::new(protocol, "point-query", FixedScript(point()));
        let kept = KeptConnections::default();
        let round = |clients| {
            let spec = RoundSpec { kept: Some(&kept), ..bench.spec(clients, WINDOW) };
            run_round(&spec, &mut |_| {}).unwrap().events
        };
        let counted = round(2) + round(3) + round(1) + round(3);
        assert_eq!(bench.server.connection_count(), 3, "as many as there ever were clients");
        // Of each client in each round, the event that crosses the close.
        assert_eq!(counted + 9, bench.server.statements());
        drop(kept);
        bench.round(2, WINDOW).unwrap();
        assert_eq!(bench.server.connection_count(), 5);
    }
}

#[test]
fn connections_of_a_round_that_failed_do_not_stay() {
    for protocol in BOTH {
        let n = NonZeroU64::new(50).unwrap();
        let rare = Turn::now(MockReply::Rows { count: 2, width: 119 });
        let bench = Bench::new(protocol, "point-query", EveryNth { n, usual: point(), rare });
        let kept = KeptConnections::default();
        let spec = RoundSpec { kept: Some(&kept), ..bench.spec(2, UNTIL_IT_FAILS) };
        for connections in [2, 4] {
            run_round(&spec, &mut |_| {}).unwrap_err();
            assert_eq!(bench.server.connection_count(), connections);
        }
    }
}

/// The anchor of the whole instrument: an arm slowed on purpose is slower by what was asked for.
/// What one event is spun too long is credited to the next ones, so that the mean is bounded.
#[test]
fn slowing_on_purpose_draws_out_every_event() {
    let bench = Bench::new(MockProtocol::Mysql, "point-query", FixedScript(slow_point(2)));
    let spec = RoundSpec { slow: 0.5, ..bench.spec(1, WINDOW) };
    let measured = run_round(&spec, &mut |_| {}).unwrap();
    assert!(measured.latency.mean_ns() >= 3_900_000.0, "2 ms at half the rate take 4 ms");
}

#[test]
fn the_observer_sees_all_connections_at_both_moments() {
    let bench = Bench::new(MockProtocol::Postgres, "point-query", FixedScript(point()));
    let spec = RoundSpec { lead_in: Duration::from_millis(20), ..bench.spec(4, WINDOW) };
    let mut seen = Vec::new();
    let mut look = |moment| {
        if !matches!(moment, Moment::Connecting(_)) {
            seen.push((moment, bench.server.connection_count()));
        }
    };
    run_round(&spec, &mut look).unwrap();
    assert_eq!(seen, [(Moment::Opened, 4), (Moment::Closed, 4)]);
}

#[test]
fn asking_nothing_costs_something() {
    let load = ready("point-query", Dialect::Sqlite);
    let spec = RoundSpec {
        load: &load,
        connector: &Connector::Null,
        clients: 1,
        first_operation: 0,
        lead_in: Duration::ZERO,
        window: WINDOW,
        think: None,
        slow: 0.0,
        processors: Processors::ANY,
        kept: None,
        record: None,
        stop: &AtomicBool::new(false),
    };
    let measured = run_round(&spec, &mut |_| {}).unwrap();
    assert!(measured.usage.cpu_ns > 0 && measured.events > 0);
}
