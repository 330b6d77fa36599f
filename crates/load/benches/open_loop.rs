//! Whether the open loop tells the truth: response times against those that the schedule and the
//! known service times give, through a stall of a second.
//!
//! ```text
//!   cargo bench -p dbdyno-load --bench open_loop [-- RATE CONNECTIONS SECONDS STALL_MS SERVICE_US]
//!   cargo bench -p dbdyno-load --bench open_loop -- \
//!       --against postgres://USER@HOST:PORT/DB RATE CONNECTIONS SECONDS ROWS
//! ```
//!
//! The server is the scripted mock in a process of its own, on TCP 127.0.0.1. Its service times and
//! the moment of its stall are scripted; the truth is an exact simulation of the queue that shares
//! no code with the generator. The distance between both is what sockets, wake-ups and the
//! generator add. Allowed are 1 % and 50 µs.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbdyno_load::arrival::Schedule;
use dbdyno_load::{Connector, OpenSpec, RoundSpec, run_open};
use dbdyno_model::{ArmSpec, Dialect, LatencyHistogram, Secret, Target, Transport, random};
use dbdyno_wire::Endpoint;
use dbdyno_wire::mock::{Delay, Login, MockServer, Protocol, Reply, Timed};
use dbdyno_workload::{ReadyLoad, Tables, resolve};

mod queue;
use queue::{Stall, simulate};

const SERVE: &str = "--serve";
const AGAINST: &str = "--against";
const LEAD_IN: Duration = Duration::from_millis(500);
const QUANTILES: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
];

/// What is run.
#[derive(Clone, Debug)]
struct Scenario {
    rate: String,
    connections: u32,
    seconds: u64,
    stall_ms: u64,
    /// Most of the service times, microseconds.
    service_us: u64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if arguments.first().is_some_and(|argument| argument == SERVE) {
        return serve(&arguments[1..]);
    }
    if let [flag, rest @ ..] = arguments.as_slice()
        && flag == AGAINST
    {
        return against(rest);
    }
    let scenario = |rate: &str, connections, seconds, stall_ms, service_us| Scenario {
        rate: rate.to_owned(),
        connections,
        seconds,
        stall_ms,
        service_us,
    };
    if let [rate, numbers @ ..] = arguments.as_slice() {
        let number = |index: usize, default: u64| {
            numbers.get(index).and_then(|text| text.parse().ok()).unwrap_or(default)
        };
        let service_us = number(3, 1000);
        run(&scenario(rate, number(0, 16) as u32, number(1, 10), number(2, 0), service_us));
        return;
    }
    for scenario in [
        scenario("1000", 16, 20, 0, 1000),
        scenario("poisson:1000", 16, 20, 0, 1000),
        scenario("poisson:1000", 16, 20, 1000, 1000),
        scenario("poisson:sine:1000+-500@5s", 16, 20, 1000, 1000),
        scenario("20000", 200, 10, 0, 3000),
        scenario("poisson:20000", 200, 10, 1000, 3000),
    ] {
        run(&scenario);
    }
}

/// Service time of statement `number`: most take `usual`, one in ten three times and one in a
/// hundred ten times as long.
fn service_us(number: u64, usual: u64) -> u64 {
    match random::mix(number) % 100 {
        0 => 10 * usual,
        1..=10 => 3 * usual,
        _ => usual,
    }
}

const SERVICES: u64 = 1 << 20;

fn run(scenario: &Scenario) {
    let window = Duration::from_secs(scenario.seconds);
    let arrivals = scenario.rate.parse().expect("a rate");
    let schedule = Schedule::new(&arrivals, 1, LEAD_IN.as_nanos() as u64, &[]);
    let mut times = schedule.clone();
    let intended: Vec<i64> = std::iter::from_fn(|| times.next_ns())
        .take_while(|&time| time < window.as_nanos() as i64)
        .collect();
    let first = intended.iter().filter(|&&time| time < 0).count();
    // In the third part of the window.
    let stall = (first + (intended.len() - first) / 3, scenario.stall_ms);
    let services: Vec<i64> = (0..intended.len() as u64)
        .map(|number| service_us(number % SERVICES, scenario.service_us) as i64 * 1000)
        .collect();
    let stalls = [Stall { event: stall.0, lasts_ns: stall.1 as i64 * 1_000_000 }];
    let truth = simulate(&intended, &services, scenario.connections as usize, &stalls);
    let mut response = LatencyHistogram::new();
    for visit in truth.iter().filter(|visit| visit.intended_ns >= 0) {
        response.record((visit.end_ns - visit.intended_ns) as u64);
    }

    let server = Server::start(scenario, stall.0);
    let tables = Tables { count: 1, rows: 1000, seed: 1 };
    let load = resolve("point-query", tables).expect("the load exists");
    let load = ReadyLoad::compile(&load, Dialect::Mysql).expect("it compiles");
    let round = RoundSpec {
        load: &load,
        connector: &Connector::Mysql(server.endpoint()),
        clients: scenario.connections,
        first_operation: 0,
        lead_in: LEAD_IN,
        window,
        think: Duration::ZERO,
        slow: 0.0,
        processor: None,
        stop: &AtomicBool::new(false),
    };
    let spec = OpenSpec { round, schedule, drain: Duration::from_secs(60) };
    let (measured, open) = run_open(&spec, &mut |_| {}).expect("the mock answers");
    let answered = server.stop();

    println!();
    println!(
        "--rate {}, {} connections, {} s, stall {} ms, service {} µs (10 %: ×3, 1 %: ×10)",
        scenario.rate,
        scenario.connections,
        scenario.seconds,
        scenario.stall_ms,
        scenario.service_us
    );
    println!(
        "{:>8} {:>12} {:>12} {:>10} {:>10}",
        "", "truth ms", "measured ms", "off µs", "allowed"
    );
    for (name, quantile) in QUANTILES {
        row(name, response.quantile_ns(quantile), open.response.quantile_ns(quantile));
    }
    row("max", response.max_ns(), open.response.max_ns());
    let meant = intended.len() - first;
    let ended = truth.iter().filter(|v| (0..window.as_nanos() as i64).contains(&v.end_ns)).count();
    let error = measured.events as f64 / ended as f64 - 1.0;
    println!(
        "   counts: meant {meant}, offered {}, unanswered {}; asked {}, server answered {answered}",
        open.offered,
        open.unanswered,
        intended.len(),
    );
    println!(
        "   rate: {:.2}/s answered in the window, truth {:.2}/s, error {:+.4} %",
        measured.events as f64 / window.as_secs_f64(),
        ended as f64 / window.as_secs_f64(),
        error * 100.0
    );
    let lag = |quantile| open.lag.quantile_ns(quantile) as f64 / 1e3;
    println!(
        "   generator: lag p50 {:.1} µs, p99 {:.1} µs, p99.9 {:.1} µs, max {:.1} µs; {:.1} µs of \
         CPU per event",
        lag(0.5),
        lag(0.99),
        lag(0.999),
        lag(1.0),
        measured.usage.cpu_ns as f64 / 1e3 / measured.events as f64
    );
}

/// Point selects on a server of PostgreSQL that has sysbench's table 1 of so many rows.
fn against(arguments: &[String]) {
    let [url, rate, connections, seconds, rows] = arguments else {
        panic!("--against URL RATE CONNECTIONS SECONDS ROWS");
    };
    let url: ArmSpec = url.parse().expect("a URL");
    let Target::Url(url) = url.target else { panic!("a URL of a running server") };
    let number = |text: &String| text.parse::<u64>().expect("a number");
    let endpoint = Endpoint {
        transport: url.transport,
        user: url.user,
        password: url.password.unwrap_or_default(),
        database: url.database,
    };
    let tables = Tables { count: 1, rows: number(rows), seed: 1 };
    let load = resolve("point-query", tables).expect("the load exists");
    let load = ReadyLoad::compile(&load, Dialect::Postgres).expect("it compiles");
    let round = RoundSpec {
        load: &load,
        connector: &Connector::Postgres(endpoint),
        clients: number(connections) as u32,
        first_operation: 0,
        lead_in: LEAD_IN,
        window: Duration::from_secs(number(seconds)),
        think: Duration::ZERO,
        slow: 0.0,
        processor: None,
        stop: &AtomicBool::new(false),
    };
    let arrivals = rate.parse().expect("a rate");
    let schedule = Schedule::new(&arrivals, 1, LEAD_IN.as_nanos() as u64, &[]);
    let spec = OpenSpec { round, schedule, drain: Duration::from_secs(60) };
    let (measured, open) = run_open(&spec, &mut |_| {}).expect("the server answers");
    println!(
        "--rate {rate}, {connections} connections, {seconds} s: {} events offered, {} answered in \
         the window, {} unanswered",
        open.offered, measured.events, open.unanswered
    );
    let shown = |name: &str, histogram: &LatencyHistogram| {
        let ms = |ns: u64| ns as f64 / 1e6;
        let mut line = format!("{name:>9}: mean {:.3} ms", histogram.mean_ns() / 1e6);
        for (quantile, share) in QUANTILES {
            line.push_str(&format!(", {quantile} {:.3}", ms(histogram.quantile_ns(share))));
        }
        println!("{line}, max {:.3}", ms(histogram.max_ns()));
    };
    shown("response", &open.response);
    shown("service", &measured.latency);
    shown("lag", &open.lag);
}

fn row(name: &str, truth_ns: u64, measured_ns: u64) {
    let off_us = (measured_ns as f64 - truth_ns as f64) / 1e3;
    let allowed_us = truth_ns as f64 / 1e5 + 50.0;
    println!(
        "{name:>8} {:>12.3} {:>12.3} {off_us:>+10.1} {allowed_us:>10.1} {}",
        truth_ns as f64 / 1e6,
        measured_ns as f64 / 1e6,
        if off_us.abs() <= allowed_us { "" } else { "too far" }
    );
}

/// The mock, in a process of its own.
struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    port: u16,
}

impl Server {
    fn start(scenario: &Scenario, stall_at: usize) -> Server {
        let program = std::env::current_exe().expect("this program has a path");
        let mut child = Command::new(program)
            .arg(SERVE)
            .arg(scenario.service_us.to_string())
            .arg(stall_at.to_string())
            .arg(scenario.stall_ms.to_string())
            .arg(scenario.connections.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started again");
        let stdin = child.stdin.take().expect("stdin is piped");
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("the mock names its port");
        Server { child, stdin, stdout, port: line.trim().parse().expect("a port") }
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint {
            transport: Transport::Tcp("127.0.0.1".into(), self.port),
            user: "bench".into(),
            password: Secret::default(),
            database: "sbtest".into(),
        }
    }

    /// Ends it; how many statements it has answered.
    fn stop(self) -> u64 {
        let Server { mut child, stdin, mut stdout, .. } = self;
        drop(stdin);
        let mut line = String::new();
        stdout.read_line(&mut line).expect("the mock tells its count");
        child.wait().expect("the mock ends");
        line.trim().parse().expect("a count")
    }
}

fn serve(arguments: &[String]) {
    let number = |index: usize| arguments[index].parse::<u64>().expect("a number");
    let (usual, stall_at, stall_ms, connections) = (number(0), number(1), number(2), number(3));
    // With many connections the processors never fall asleep, and spinning would fill them.
    let delay = |us| match connections {
        0..=32 => Delay::Exact(Duration::from_micros(us)),
        _ => Delay::Sleep(Duration::from_micros(us)),
    };
    let service = (0..SERVICES).map(|number| delay(service_us(number, usual))).collect();
    let stalls = vec![(stall_at, Duration::from_millis(stall_ms))];
    let reply = Reply::Rows { count: 1, width: 119 };
    let script = Arc::new(Timed::new(reply, service, stalls));
    let server =
        MockServer::start(Protocol::Mysql, Login::trust("bench"), script).expect("a port is free");
    let Transport::Tcp(_, port) = server.endpoint().transport else { unreachable!() };
    println!("{port}");
    let _ = std::io::stdin().read(&mut [0]);
    println!("{}", server.statements());
}
