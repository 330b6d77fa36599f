//! A server that stops for a second, as dbdyno, sysbench and pgbench report it.
//!
//! ```text
//!   cargo bench -p dbdyno-lab --bench against -- PRODUCT:VERSION \
//!       [RATE [CONNECTIONS [SECONDS [STALL_MS [ROUNDS [WHO]]]]]]
//!
//!   intended  ▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏▏    Poisson arrivals at RATE, each tool its own
//!   server    ────────SIGSTOP─┐     ┌SIGCONT────
//!   waiting           ▇▆▅▄▃▂▁ │     │            who comes at the beginning waits for all of it
//! ```
//!
//! The server is a real one of our own with one table of sysbench's shape; every tool asks point
//! selects on it with prepared statements, at the same rate, in turn. In the middle of each run all
//! processes of the server are stopped for STALL_MS. With WHO = client the tool itself is stopped:
//! events that were due meanwhile are as late as before, and a tool that stamps them when it gets
//! round to them does not know it.
//!
//! The truth is the exact simulation of the queue, with the capacity that the closed loop has just
//! shown: over twenty seeds, because each tool has arrivals of its own. sysbench's percentiles are
//! read from its histogram, pgbench's from its log of transactions.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its figures")]

use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use dbdyno_load::arrival::ArrivalSchedule;
use dbdyno_load::{Connector, OpenSpec, RoundSpec, fill_tables, run_open, run_round};
use dbdyno_model::{ArmSpec, Dialect, LatencyHistogram, Processors, Product, Target};
use dbdyno_sandbox::{Home, LaunchOptions, Server};
use dbdyno_workload::{ReadyLoad, Tables, resolve_load};

#[path = "../../load/benches/queue/mod.rs"]
mod queue;
#[path = "against_tools/mod.rs"]
mod tools;
use queue::{Stall, simulate};
use tools::Reported;

const ROWS: u64 = 100_000;
const SEEDS: u64 = 20;
/// What tools need to connect before they begin, about.
const SETTLED: Duration = Duration::from_millis(500);

/// Who is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The server with all of its processes.
    Server,
    /// The tool that asks it.
    Client,
}

/// What is run.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    who: Who,
    rate: u64,
    connections: u32,
    seconds: u64,
    stall: Duration,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let Some(target) = arguments.first() else {
        println!("against: give PRODUCT:VERSION [RATE …]; see the top of this file");
        return;
    };
    let number = |index: usize, default: u64| {
        arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let who = arguments.get(6).is_some_and(|word| word == "client");
    let scenario = Scenario {
        who: if who { Who::Client } else { Who::Server },
        rate: number(1, 1000),
        connections: number(2, 16) as u32,
        seconds: number(3, 30),
        stall: Duration::from_millis(number(4, 1000)),
    };
    let rounds = number(5, 2);
    let spec: ArmSpec = target.parse().expect("a target");
    let Target::Release(wanted) = spec.target else { panic!("a release is needed") };
    let (product, version) = (wanted.product, wanted.version);
    let home = Home::open(None).expect("the home opens");
    let mut say = |text: &str| eprintln!("{text}");
    let release = dbdyno_sandbox::get(&home, product, &version, &mut say).expect("it is got");
    let options = LaunchOptions::for_host(4_096).for_clients(scenario.connections);
    let server = Server::start(&home, &release, &options, "against", &mut say).expect("it starts");
    let endpoint = server.endpoint();
    let connector = match product {
        Product::MySql | Product::MariaDb => Connector::Mysql(endpoint.clone()),
        Product::Postgres => Connector::Postgres(endpoint.clone()),
    };
    let tables = Tables { count: 1, rows: ROWS, seed: 1 };
    let go_on = AtomicBool::new(false);
    fill_tables(&connector, product.dialect(), &tables, &go_on, &mut |_| {}).expect("it fills");
    println!("{target} ({}), {scenario:?}", release.version);
    print_truth(scenario, &connector, product.dialect());
    for round in 1..=rounds {
        println!(
            "round {round}                   events   mean ms    p50 ms    p99 ms  p99.9 ms    max ms"
        );
        for (name, reported) in dbdyno(scenario, &connector, product.dialect(), &server) {
            print_row(name, &reported);
        }
        let sysbench = tools::sysbench(scenario, product, &endpoint);
        if let Some(reported) = stalled(scenario, &server, sysbench) {
            print_row("sysbench --rate", &reported);
        }
        if product == Product::Postgres {
            let pgbench = tools::pgbench(scenario, &endpoint);
            if let Some(reported) = stalled(scenario, &server, pgbench) {
                print_row("pgbench --rate", &reported);
            }
        }
    }
    server.stop().expect("it stops");
}

/// Lets a tool run, and stops the server in the middle.
fn stalled(
    scenario: Scenario,
    server: &Server,
    tool: impl FnOnce() -> Option<Reported> + Send,
) -> Option<Reported> {
    thread::scope(|scope| {
        scope.spawn(|| stall(scenario, server, tools::running));
        tool()
    })
}

/// Stops the server in the middle, or the client, which may be this process: somebody else has to
/// wake it up again.
fn stall(scenario: Scenario, server: &Server, client: impl Fn() -> Vec<String>) {
    thread::sleep(SETTLED + Duration::from_secs(scenario.seconds) / 2);
    let processes = match scenario.who {
        Who::Server => processes_of(server.pid()),
        Who::Client => client(),
    };
    let seconds = scenario.stall.as_secs_f64();
    let script = format!("kill -STOP \"$@\"; sleep {seconds}; kill -CONT \"$@\"");
    // A process may have ended meanwhile.
    let _ = Command::new("sh").args(["-c", &script, "stall"]).args(processes).status();
}

/// A process and its children: PostgreSQL has one for each connection.
fn processes_of(pid: u32) -> Vec<String> {
    let children = Command::new("pgrep").args(["-P", &pid.to_string()]).output();
    let children = String::from_utf8(children.expect("pgrep is there").stdout).expect("numbers");
    let children = children.lines().map(str::to_owned);
    [pid.to_string()].into_iter().chain(children).collect()
}

fn load(dialect: Dialect) -> ReadyLoad {
    let load = resolve_load("point-query", Tables { count: 1, rows: ROWS, seed: 1 });
    ReadyLoad::compile(&load.expect("the load exists"), dialect).expect("it compiles")
}

/// Response times from the intended moment, and service times from sending.
fn dbdyno(
    scenario: Scenario,
    connector: &Connector,
    dialect: Dialect,
    server: &Server,
) -> [(&'static str, Reported); 2] {
    let (load, stop) = (load(dialect), AtomicBool::new(false));
    let round = RoundSpec {
        lead_in: SETTLED,
        window: Duration::from_secs(scenario.seconds),
        ..round(scenario, &load, connector, &stop)
    };
    let arrivals = format!("poisson:{}", scenario.rate).parse().expect("a rate");
    let schedule = ArrivalSchedule::new(&arrivals, 1, SETTLED.as_nanos() as u64, &[]);
    let spec = OpenSpec { round, schedule, drain: Duration::from_secs(60) };
    let (measured, open) = thread::scope(|scope| {
        scope.spawn(|| stall(scenario, server, || vec![std::process::id().to_string()]));
        run_open(&spec, &mut |_| {}).expect("the server answers")
    });
    [
        ("dbdyno --rate, response", Reported::of(&open.response)),
        ("dbdyno --rate, service", Reported::of(&measured.latency)),
    ]
}

fn round<'a>(
    scenario: Scenario,
    load: &'a ReadyLoad,
    connector: &'a Connector,
    stop: &'a AtomicBool,
) -> RoundSpec<'a> {
    RoundSpec {
        load,
        connector,
        clients: scenario.connections,
        first_operation: 0,
        lead_in: Duration::from_millis(200),
        window: Duration::from_secs(2),
        think: None,
        slow: 0.0,
        processors: Processors::ANY,
        kept: None,
        record: None,
        stop,
    }
}

/// What must be seen, from the exact simulation of the queue.
fn print_truth(scenario: Scenario, connector: &Connector, dialect: Dialect) {
    let (load, stop) = (load(dialect), AtomicBool::new(false));
    let spec = round(scenario, &load, connector, &stop);
    let closed = run_round(&spec, &mut |_| {}).expect("the server answers");
    let capacity = closed.events as f64 / spec.window.as_secs_f64();
    let service_ns = (f64::from(scenario.connections) / capacity * 1e9) as i64;
    let runs: Vec<Reported> = (1..=SEEDS).map(|seed| truth(scenario, service_ns, seed)).collect();
    let range = |pick: fn(&Reported) -> f64| {
        let values = runs.iter().map(pick);
        let low = values.clone().fold(f64::INFINITY, f64::min);
        format!("{low:.1} to {:.1}", values.fold(0.0, f64::max))
    };
    println!("the closed loop does {capacity:.0}/s; truth over {SEEDS} seeds of the schedule, ms:");
    println!(
        "  mean {}, p99 {}, p99.9 {}, max {}",
        range(|run| run.mean_ms),
        range(|run| run.p99_ms),
        range(|run| run.p999_ms),
        range(|run| run.max_ms)
    );
}

fn truth(scenario: Scenario, service_ns: i64, seed: u64) -> Reported {
    let arrivals = format!("poisson:{}", scenario.rate).parse().expect("a rate");
    let mut schedule = ArrivalSchedule::new(&arrivals, seed, 0, &[]);
    let end_ns = scenario.seconds as i64 * 1_000_000_000;
    let intended: Vec<i64> =
        std::iter::from_fn(|| schedule.next_ns()).take_while(|&time| time < end_ns).collect();
    let services = vec![service_ns; intended.len()];
    let event = intended.partition_point(|&time| time < end_ns / 2);
    let stalls = [Stall { event, lasts_ns: scenario.stall.as_nanos() as i64 }];
    let mut response = LatencyHistogram::new();
    for visit in simulate(&intended, &services, scenario.connections as usize, &stalls) {
        response.record_latency((visit.end_ns - visit.intended_ns) as u64);
    }
    Reported::of(&response)
}

fn print_row(name: &str, reported: &Reported) {
    println!(
        "{name:24} {:>9} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>9.3}{}",
        reported.events,
        reported.mean_ms,
        reported.p50_ms,
        reported.p99_ms,
        reported.p999_ms,
        reported.max_ms,
        reported.words
    );
}
