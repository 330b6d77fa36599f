//! More clients than threads, against a server whose behaviour is known beforehand. Nothing here
//! asserts how long something takes; see `closed.rs`.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dbdyno_load::{Connector, LoadError, Moment, RoundMeasurement, RoundSpec, Thinking, run_round};
use dbdyno_model::{Dialect, Processors, Think};
use dbdyno_wire::WireError;
use dbdyno_wire::mock::{
    EveryNth, FixedScript, Login, MockProtocol, MockReply, MockServer, Script, ServiceTime, Turn,
};
use dbdyno_workload::{ReadyLoad, Tables, resolve_load};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

const TABLES: Tables = Tables { count: 1, rows: 1000, seed: 1 };
const WINDOW: Duration = Duration::from_millis(300);
/// With hundreds of clients on a busy machine each must get its turn.
const LONG: Duration = Duration::from_secs(2);
const BOTH: [MockProtocol; 2] = [MockProtocol::Mysql, MockProtocol::Postgres];
/// Just enough not to get a thread each.
const MANY: u32 = dbdyno_model::plan::THREADS_MAX + 20;

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
        let load = ReadyLoad::compile(&resolve_load(load, TABLES).unwrap(), dialect).unwrap();
        Bench { server, connector, load, stop: AtomicBool::new(false) }
    }

    fn spec(&self, clients: u32) -> RoundSpec<'_> {
        RoundSpec {
            load: &self.load,
            connector: &self.connector,
            clients,
            first_operation: 0,
            lead_in: Duration::ZERO,
            window: WINDOW,
            think: None,
            slow: 0.0,
            processors: Processors::ANY,
            kept: None,
            record: None,
            stop: &self.stop,
        }
    }

    fn round(&self, clients: u32) -> Result<RoundMeasurement, LoadError> {
        run_round(&RoundSpec { window: LONG, ..self.spec(clients) }, &mut |_| {})
    }
}

/// Every client's last event ends after the close and is answered all the same: the mock has
/// answered exactly that much more than was counted.
#[test]
fn counts_are_exact_with_two_thousand_clients() {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    // Server and clients are one process here.
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
    let clients = 2000;
    for protocol in BOTH {
        let bench = Bench::new(protocol, "point-query", FixedScript(Turn::point_query()));
        let spec = RoundSpec { window: LONG, ..bench.spec(clients) };
        let mut seen = Vec::new();
        let look = |moment| match moment {
            Moment::Connecting(inside) => assert!(inside < clients),
            _ => seen.push((moment, bench.server.connection_count())),
        };
        let measured = run_round(&spec, &mut { look }).unwrap();
        assert_eq!(measured.events + u64::from(clients), bench.server.statements());
        assert_eq!(measured.answer.statements, measured.events);
        assert_eq!(measured.answer.rows_read, measured.events);
        assert_eq!(measured.latency.count(), measured.events);
        assert_eq!(measured.series.statements.iter().sum::<u64>(), measured.events);
        assert_eq!(seen, [(Moment::Opened, 2000), (Moment::Closed, 2000)]);
        assert!(measured.usage.cpu_ns > 0);
    }
}

#[test]
fn transactions_are_asked_statement_by_statement_and_again_after_a_deadlock() {
    for (protocol, code, sqlstate) in
        [(MockProtocol::Mysql, 1213, "40001"), (MockProtocol::Postgres, 0, "40P01")]
    {
        let plain =
            Bench::new(protocol, "update-nonindex", FixedScript(Turn::now(MockReply::Affected(1))));
        let measured = plain.round(MANY).unwrap();
        assert_eq!(measured.events + u64::from(MANY), plain.server.statements());
        assert_eq!((measured.answer.retries, measured.answer.rows_changed), (0, measured.events));

        let reply = MockReply::Error { code, sqlstate, message: "deadlock".into() };
        let n = NonZeroU64::new(3).unwrap();
        let script = EveryNth { n, usual: Turn::point_query(), rare: Turn::now(reply) };
        let bench = Bench::new(protocol, "point-query", script);
        let measured = bench.round(MANY).unwrap();
        // Each refusal was followed by a ROLLBACK, and each third statement of a client was one.
        let (statements, refusals) = (bench.server.statements(), bench.server.control_count());
        let last = statements - refusals - measured.events;
        assert_eq!(last, u64::from(MANY), "one event of each client ends after the close");
        assert!(measured.answer.retries <= refusals && refusals - measured.answer.retries <= last);
        assert!(refusals <= statements / 3 && refusals + last >= statements / 3);
    }
}

/// A write-only transaction: BEGIN, two updates, DELETE and INSERT, COMMIT.
#[test]
fn transactions_go_statement_by_statement_and_their_controls_count() {
    for protocol in BOTH {
        let one = FixedScript(Turn::now(MockReply::Affected(1)));
        let bench = Bench::new(protocol, "write-only", one);
        let measured = bench.round(MANY).unwrap();
        let events = measured.events + u64::from(MANY);
        assert_eq!(
            (bench.server.statements(), bench.server.control_count()),
            (4 * events, 2 * events)
        );
        assert_eq!(measured.answer.statements, 6 * measured.events);
        assert_eq!(measured.answer.rows_changed, 4 * measured.events);
    }
}

#[test]
fn refusals_and_cuts_end_the_round() {
    for protocol in BOTH {
        let syntax = MockReply::Error { code: 1064, sqlstate: "42000", message: "no".into() };
        let error = Bench::new(protocol, "point-query", FixedScript(Turn::now(syntax)))
            .round(MANY)
            .unwrap_err();
        assert!(
            matches!(&error, LoadError::Wire(WireError::Server(_), Some(sql)) if
            sql.starts_with("SELECT c FROM sbtest1")),
            "{error}"
        );
        let n = NonZeroU64::new(5).unwrap();
        let cut = EveryNth { n, usual: Turn::point_query(), rare: Turn::now(MockReply::Cut) };
        let error = Bench::new(protocol, "point-query", cut).round(MANY).unwrap_err();
        assert!(matches!(&error, LoadError::Wire(error, _) if error.is_fatal()), "{error}");
    }
}

#[test]
fn a_round_can_be_stopped() {
    let bench = Bench::new(MockProtocol::Mysql, "point-query", FixedScript(Turn::point_query()));
    bench.stop.store(true, Ordering::Relaxed);
    assert!(matches!(bench.round(MANY), Err(LoadError::Interrupted)));
}

/// Who thinks for longer than the window asks at most once in it, with a thread of its own or not.
#[test]
fn clients_that_think_are_mostly_idle() {
    for protocol in BOTH {
        for clients in [20, 2 * MANY] {
            let bench = Bench::new(protocol, "point-query", FixedScript(Turn::point_query()));
            let think = Think { least_ns: 1_200_000_000, most_ns: 1_200_000_000 };
            let spec =
                RoundSpec { think: Some(Thinking { think, seed: 1 }), ..bench.spec(clients) };
            let measured = run_round(&spec, &mut |_| {}).unwrap();
            // First events are spread over one time of thinking, of which the window is a quarter.
            assert!(measured.events <= u64::from(clients.div_ceil(4)), "{}", measured.events);
            let answered = bench.server.statements();
            assert!(answered >= measured.events && answered <= u64::from(clients.div_ceil(4)));
        }
    }
}

/// Oracle: the pauses added up. Answers take time on top, so that no more events fit into the
/// window; on a busy machine far fewer do.
#[test]
fn clients_that_think_ask_when_the_seed_says() {
    let thinking = Thinking { think: "100ms..300ms".parse().unwrap(), seed: 11 };
    for clients in [20, MANY] {
        let bench =
            Bench::new(MockProtocol::Mysql, "point-query", FixedScript(Turn::point_query()));
        let spec = RoundSpec { think: Some(thinking), window: LONG, ..bench.spec(clients) };
        let measured = run_round(&spec, &mut |_| {}).unwrap();
        let events_of = |client: u32| {
            let mut time_ns = thinking.think.first_ns(thinking.seed, client, clients);
            let pauses = (0..).take_while(|&number| {
                let is_inside = u128::from(time_ns) < LONG.as_nanos();
                time_ns += thinking.think.pause_ns(thinking.seed, client, number);
                is_inside
            });
            pauses.count() as u64
        };
        let most: u64 = (0..clients).map(events_of).sum();
        assert!(measured.events <= most && measured.events > most / 10, "{clients}: {most}");
    }
}

#[test]
fn slowing_on_purpose_draws_out_every_event() {
    let turn = Turn { delay: ServiceTime::Sleep(Duration::from_millis(20)), ..Turn::point_query() };
    let bench = Bench::new(MockProtocol::Mysql, "point-query", FixedScript(turn));
    let spec = RoundSpec { slow: 0.5, ..bench.spec(MANY) };
    let measured = run_round(&spec, &mut |_| {}).unwrap();
    assert!(measured.latency.mean_ns() >= 35_000_000.0, "20 ms at half the rate take 40 ms");
}
