//! Whether the open loop tells the truth: response times against those that the schedule and the
//! known service times give, through a stall of a second.
//!
//! ```text
//!   cargo bench -p dbdyno-load --bench open_loop [-- RATE CONNECTIONS SECONDS STALL_MS SERVICE_US]
//! ```
//!
//! The server is the scripted mock in a process of its own, on TCP 127.0.0.1. Its service times and
//! the moment of its stall are scripted; the truth is an exact simulation of the queue that shares
//! no code with the generator. The distance between both is what sockets, wake-ups and the
//! generator add. Allowed are 1 % and 50 µs.
//!
//! Where host and server were late themselves, the schedule's truth did not come about. So the
//! server is a witness, too: it writes down when each statement came and when its answer was ready,
//! by the generator's own clock. The time from the intended moment to the answer, as the server saw
//! it, is shown beside; what the generator reports beyond that is its own error and the way of the
//! answer. How late a thread is woken up that only sleeps and looks at the clock is shown below.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbdyno_load::arrival::ArrivalSchedule;
use dbdyno_load::{Connector, OpenSpec, RoundMeasurement, RoundSpec, run_open};
use dbdyno_model::{Dialect, LatencyHistogram, OpenLoop, Processors, Secret, Transport, random};
use dbdyno_wire::Endpoint;
use dbdyno_wire::mock::{
    Login, MockProtocol, MockReply, MockServer, Script, ServiceTime, TimedScript,
};
use dbdyno_workload::{ReadyLoad, Tables, resolve_load};

mod queue;
mod witness;
use queue::{Stall, simulate};
use witness::{Seen, Sleeper, Witness};

const SERVE: &str = "--serve";
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

impl Scenario {
    fn window(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if arguments.first().is_some_and(|argument| argument == SERVE) {
        return serve(&arguments[1..]);
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

/// Service time of statement `number`: most take `usual`, 14 % three times and 2 % ten times as
/// long. None of [`QUANTILES`] stands where one ends and the next begins: there a percentile jumps
/// when a single event is late, and says nothing.
fn service_us(number: u64, usual: u64) -> u64 {
    match random::mix_bits(number) % 100 {
        0..=1 => 10 * usual,
        2..=15 => 3 * usual,
        _ => usual,
    }
}

const SERVICES: u64 = 1 << 20;

/// The truth about a scenario.
struct Truth {
    schedule: ArrivalSchedule,
    /// The intended times of all events.
    intended_ns: Vec<i64>,
    /// Number of events of the lead-in.
    first: usize,
    /// The event with which the stall begins.
    stall_at: usize,
    response: LatencyHistogram,
    /// Events that end in the window.
    ended: usize,
}

impl Truth {
    fn of(scenario: &Scenario) -> Truth {
        let window_ns = scenario.window().as_nanos() as i64;
        let arrivals = scenario.rate.parse().expect("a rate");
        let schedule = ArrivalSchedule::new(&arrivals, 1, LEAD_IN.as_nanos() as u64, &[]);
        let mut times = schedule.clone();
        let intended_ns: Vec<i64> =
            std::iter::from_fn(|| times.next_ns()).take_while(|&time| time < window_ns).collect();
        let first = intended_ns.iter().filter(|&&time| time < 0).count();
        // In the third part of the window.
        let stall_at = first + (intended_ns.len() - first) / 3;
        let services: Vec<i64> = (0..intended_ns.len() as u64)
            .map(|number| service_us(number % SERVICES, scenario.service_us) as i64 * 1000)
            .collect();
        let stalls = [Stall { event: stall_at, lasts_ns: scenario.stall_ms as i64 * 1_000_000 }];
        let visits = simulate(&intended_ns, &services, scenario.connections as usize, &stalls);
        let mut response = LatencyHistogram::new();
        for visit in visits.iter().filter(|visit| visit.intended_ns >= 0) {
            response.record_latency((visit.end_ns - visit.intended_ns) as u64);
        }
        let ended = visits.iter().filter(|visit| (0..window_ns).contains(&visit.end_ns)).count();
        Truth { schedule, intended_ns, first, stall_at, response, ended }
    }

    /// Response times as the server saw them. When the window opened on its clock is not known; no
    /// event arrives before it was meant to, and the promptest arrived then.
    fn witnessed(&self, seen: &[Seen]) -> LatencyHistogram {
        let pairs = || seen.iter().zip(&self.intended_ns);
        let open_ns = pairs().map(|(seen, intended_ns)| seen.arrived_ns - intended_ns).min();
        let mut response = LatencyHistogram::new();
        for (seen, intended_ns) in pairs().filter(|(_, intended_ns)| **intended_ns >= 0) {
            let took_ns = seen.ended_ns - intended_ns - open_ns.expect("there are events");
            response.record_latency(took_ns as u64);
        }
        response
    }
}

fn run(scenario: &Scenario) {
    let truth = Truth::of(scenario);
    let server = Server::start(scenario, &truth);
    let tables = Tables { count: 1, rows: 1000, seed: 1 };
    let load = resolve_load("point-query", tables).expect("the load exists");
    let load = ReadyLoad::compile(&load, Dialect::Mysql).expect("it compiles");
    let round = RoundSpec {
        load: &load,
        connector: &Connector::Mysql(server.endpoint()),
        clients: scenario.connections,
        first_operation: 0,
        lead_in: LEAD_IN,
        window: scenario.window(),
        think: None,
        slow: 0.0,
        processors: Processors::ANY,
        kept: None,
        record: None,
        stop: &AtomicBool::new(false),
    };
    let schedule = truth.schedule.clone();
    let spec = OpenSpec { round, schedule, drain: Duration::from_secs(60) };
    let sleeper = Sleeper::start();
    let (measured, open) = run_open(&spec, &mut |_| {}).expect("the mock answers");
    let late = sleeper.stop();
    let seen = server.stop();
    print(scenario, &truth, &measured, &open, &seen, &late);
}

fn print(
    scenario: &Scenario,
    truth: &Truth,
    measured: &RoundMeasurement,
    open: &OpenLoop,
    seen: &[Seen],
    late: &LatencyHistogram,
) {
    println!();
    println!(
        "--rate {}, {} connections, {} s, stall {} ms, service {} µs (14 %: ×3, 2 %: ×10)",
        scenario.rate,
        scenario.connections,
        scenario.seconds,
        scenario.stall_ms,
        scenario.service_us
    );
    println!(
        "{:>8} {:>12} {:>12} {:>10} {:>10} {:>12} {:>10}",
        "", "truth ms", "measured ms", "off µs", "allowed", "server saw", "off it µs"
    );
    let witnessed = truth.witnessed(seen);
    let of = |histogram: &LatencyHistogram, quantile| histogram.quantile_ns(quantile);
    for (name, quantile) in QUANTILES.into_iter().chain([("max", 1.0)]) {
        let values = [&truth.response, &open.response, &witnessed, late].map(|h| of(h, quantile));
        row(name, values);
    }
    let seconds = scenario.seconds as f64;
    println!(
        "   counts: meant {}, offered {}, unanswered {}; asked {}, server answered {}",
        truth.intended_ns.len() - truth.first,
        open.offered,
        open.unanswered,
        truth.intended_ns.len(),
        seen.len(),
    );
    println!(
        "   rate: {:.2}/s answered in the window, truth {:.2}/s, error {:+.4} %",
        measured.events as f64 / seconds,
        truth.ended as f64 / seconds,
        (measured.events as f64 / truth.ended as f64 - 1.0) * 100.0
    );
    println!(
        "   generator: lag {}; {:.1} µs of CPU per event",
        tail(&open.lag),
        measured.usage.cpu_ns as f64 / 1e3 / measured.events as f64
    );
    println!("   bare sleep: late {}", tail(late));
}

/// `p50 1.2 µs, p99 …`.
fn tail(late: &LatencyHistogram) -> String {
    let at = |(name, quantile): (&str, f64)| {
        format!("{name} {:.1}", late.quantile_ns(quantile) as f64 / 1e3)
    };
    let parts: Vec<String> = QUANTILES.into_iter().chain([("max", 1.0)]).map(at).collect();
    format!("{} µs", parts.join(", "))
}

/// *Host late*: the answer was ready that late, as the server saw it. *Woken late*: what is
/// reported beyond that is no more than a bare sleep is late in the same run.
fn row(name: &str, [truth_ns, measured_ns, witnessed_ns, late_ns]: [u64; 4]) {
    let off_us = |from_ns: u64| (measured_ns as f64 - from_ns as f64) / 1e3;
    let allowed_us = truth_ns as f64 / 1e5 + 50.0;
    println!(
        "{name:>8} {:>12.3} {:>12.3} {:>+10.1} {allowed_us:>10.1} {:>12.3} {:>+10.1} {}",
        truth_ns as f64 / 1e6,
        measured_ns as f64 / 1e6,
        off_us(truth_ns),
        witnessed_ns as f64 / 1e6,
        off_us(witnessed_ns),
        match (off_us(truth_ns).abs(), off_us(witnessed_ns).abs()) {
            (off_us, _) if off_us <= allowed_us => "",
            (_, off_us) if off_us <= allowed_us => "host late",
            (_, off_us) if off_us <= allowed_us + late_ns as f64 / 1e3 => "woken late",
            _ => "too far",
        }
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
    fn start(scenario: &Scenario, truth: &Truth) -> Server {
        let program = std::env::current_exe().expect("this program has a path");
        let mut child = Command::new(program)
            .arg(SERVE)
            .arg(scenario.service_us.to_string())
            .arg(truth.stall_at.to_string())
            .arg(scenario.stall_ms.to_string())
            .arg(scenario.connections.to_string())
            .arg(truth.intended_ns.len().to_string())
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
            security: dbdyno_wire::Security::without_tls(),
        }
    }

    /// Ends it; what it has seen.
    fn stop(self) -> Vec<Seen> {
        let Server { mut child, stdin, mut stdout, .. } = self;
        drop(stdin);
        let seen = witness::read(&mut stdout).expect("the mock tells what it has seen");
        child.wait().expect("the mock ends");
        seen
    }
}

fn serve(arguments: &[String]) {
    let number = |index: usize| arguments[index].parse::<u64>().expect("a number");
    let (usual, stall_at, stall_ms, connections) = (number(0), number(1), number(2), number(3));
    // With many connections the processors never fall asleep, and spinning would fill them.
    let delay = |us| match connections {
        0..=32 => ServiceTime::Exact(Duration::from_micros(us)),
        _ => ServiceTime::Sleep(Duration::from_micros(us)),
    };
    let service = (0..SERVICES).map(|number| delay(service_us(number, usual))).collect();
    let stalls = vec![(stall_at, Duration::from_millis(stall_ms))];
    let reply = MockReply::Rows { count: 1, width: 119 };
    let timed = TimedScript::new(reply, service, stalls);
    // Some more, so that too many would show.
    let witness = Arc::new(Witness::new(timed, 2 * number(4) as usize));
    let script = Arc::clone(&witness) as Arc<dyn Script>;
    let server = MockServer::start(MockProtocol::Mysql, Login::without_password("bench"), script);
    let server = server.expect("a port is free");
    let Transport::Tcp(_, port) = server.endpoint().transport else { unreachable!() };
    println!("{port}");
    let _ = io::stdin().read(&mut [0]);
    let told = witness.tell(&mut io::BufWriter::new(io::stdout()));
    told.expect("the benchmark reads to the end");
}
