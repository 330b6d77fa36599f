//! What many clients cost: a thread each against a thread for each processor, in turn.
//!
//! ```text
//!   cargo bench -p dbdyno-load --bench crowds [-- SECONDS [ROUNDS [CLIENTS…]]]
//! ```
//!
//! Against the null server, the scripted mock in a process of its own (this program, started
//! again), on TCP 127.0.0.1. Twice for each number of clients: asking as fast as answers come, and
//! thinking so that all together ask [`THINKING_RATE`] times a second. Figures are the processor
//! time of the client's threads per prepared point select, the rate and the latency: medians over
//! rounds with minimum and maximum. The null server has a thread for each connection in any case,
//! so that the rate is that of the whole machine.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbdyno_load::closed::{run_sharded, run_threads};
use dbdyno_load::{Connector, LoadError, Moment, RoundMeasurement, RoundSpec, Thinking};
use dbdyno_model::{Dialect, Processors, Secret, Think, Transport};
use dbdyno_wire::Endpoint;
use dbdyno_wire::mock::{FixedScript, Login, MockProtocol, MockServer, Turn};
use dbdyno_workload::{ReadyLoad, Tables, resolve_load};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

const SERVE: &str = "--serve";
/// Events per second of clients that think, all together.
const THINKING_RATE: u64 = 2_000;

type Run = fn(&RoundSpec<'_>, &mut dyn FnMut(Moment)) -> Result<RoundMeasurement, LoadError>;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if arguments.first().is_some_and(|argument| argument == SERVE) {
        return serve();
    }
    let numbers: Vec<u64> = arguments.iter().filter_map(|text| text.parse().ok()).collect();
    let seconds = Duration::from_secs(numbers.first().copied().unwrap_or(3));
    let rounds = numbers.get(1).copied().unwrap_or(5);
    let clients = match numbers.get(2..) {
        Some(counts @ [_, ..]) => counts.to_vec(),
        _ => vec![64, 256, 1000, 4000],
    };
    let (mut child, port) = start_server();
    println!("{rounds} rounds of {seconds:?} each, in turn: median (minimum … maximum)");
    for clients in clients {
        for thinks in [false, true] {
            compare(port, clients as u32, thinks, seconds, rounds);
        }
    }
    child.kill().expect("the null server can be stopped");
    child.wait().expect("the null server ends");
}

fn compare(port: u16, clients: u32, thinks: bool, seconds: Duration, rounds: u64) {
    let ways: [(&str, Run); 2] = [("threads", run_threads), ("shards", run_sharded)];
    let pause_ns = u64::from(clients) * 1_000_000_000 / THINKING_RATE;
    let think = thinks.then_some(Think { least_ns: pause_ns / 2, most_ns: pause_ns * 3 / 2 });
    let mut seen = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        for way in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
            seen[way].push(measure(ways[way].1, port, clients, think, seconds));
        }
    }
    match think {
        None => println!("{clients} clients, as fast as answers come"),
        Some(think) => println!("{clients} clients that think {think}"),
    }
    for ((name, _), seen) in ways.iter().zip(&seen) {
        let of = |pick: fn(&Seen) -> f64| spread(seen.iter().map(pick).collect());
        println!(
            "  {name:8} {} µs of CPU/statement   {} statements/s   p50 {} µs   p99 {} µs",
            shown(of(|seen| seen.cost_us), 2),
            shown(of(|seen| seen.rate), 0),
            shown(of(|seen| seen.p50_us), 0),
            shown(of(|seen| seen.p99_us), 0),
        );
    }
}

/// What a round was like.
struct Seen {
    cost_us: f64,
    rate: f64,
    p50_us: f64,
    p99_us: f64,
}

fn measure(run: Run, port: u16, clients: u32, think: Option<Think>, window: Duration) -> Seen {
    let load =
        resolve_load("point-query", Tables { count: 1, rows: 1000, seed: 1 }).expect("a load");
    let load = ReadyLoad::compile(&load, Dialect::Mysql).expect("it compiles");
    let endpoint = Endpoint {
        transport: Transport::Tcp("127.0.0.1".into(), port),
        user: "bench".into(),
        password: Secret::default(),
        database: "sbtest".into(),
        security: dbdyno_wire::Security::without_tls(),
    };
    let spec = RoundSpec {
        load: &load,
        connector: &Connector::Mysql(endpoint),
        clients,
        first_operation: 0,
        lead_in: Duration::from_millis(500),
        window,
        think: think.map(|think| Thinking { think, seed: 1 }),
        slow: 0.0,
        processors: Processors::ANY,
        kept: None,
        record: None,
        stop: &AtomicBool::new(false),
    };
    let measured = run(&spec, &mut |_| {}).expect("the null server answers");
    let events = measured.events as f64;
    Seen {
        cost_us: measured.usage.cpu_ns as f64 / 1e3 / events,
        rate: events / window.as_secs_f64(),
        p50_us: measured.latency.quantile_ns(0.5) as f64 / 1e3,
        p99_us: measured.latency.quantile_ns(0.99) as f64 / 1e3,
    }
}

fn serve() {
    // A connection is two handles here.
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard).expect("up to the hard limit");
    }
    let script = Arc::new(FixedScript(Turn::point_query()));
    let server = MockServer::start(MockProtocol::Mysql, Login::without_password("bench"), script);
    let server = server.expect("a port is free");
    let Transport::Tcp(_, port) = server.endpoint().transport else { unreachable!() };
    println!("{port}");
    std::thread::park();
}

fn start_server() -> (Child, u16) {
    let program = std::env::current_exe().expect("this program has a path");
    let mut child = Command::new(program)
        .arg(SERVE)
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program can be started again");
    let mut line = String::new();
    let stdout = child.stdout.take().expect("stdout is piped");
    BufReader::new(stdout).read_line(&mut line).expect("the null server names its port");
    (child, line.trim().parse().expect("a port"))
}

fn shown([low, middle, high]: [f64; 3], decimals: usize) -> String {
    format!("{middle:.decimals$} ({low:.decimals$} … {high:.decimals$})")
}

/// Minimum, median, maximum.
fn spread(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [values[0], values[values.len() / 2], values[values.len() - 1]]
}
