//! What the client itself costs: processor time per prepared point select against a null server,
//! beside a bare loop of writing and reading the same bytes, and beside sysbench.
//!
//! ```text
//!   cargo bench -p dbdyno-load --bench client_cost [-- CLIENTS [SECONDS [ROUNDS]]]
//! ```
//!
//! The null server is the scripted mock in a process of its own (this program, started again), on
//! TCP 127.0.0.1. Figures are microseconds per statement, median over rounds with minimum and
//! maximum; sysbench's are those that the kernel reports of its process when it has ended, so that
//! its start is in them: a run of some seconds makes that small.
//!
//! The kernel keeps the sum of a thread's time exactly and splits it into user and kernel time by
//! sampling at its tick, which is coarse at this size and charges even the bare loop with user
//! time that it does not have. So the client's own work is also given as the difference of two
//! exact sums: the client's total less that of the bare loop, over short rounds in random ABBA
//! order, with a 95 % interval.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod bare;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbdyno_load::{Connector, RoundSpec, run_round};
use dbdyno_model::{Dialect, Processors, Secret, Transport};
use dbdyno_wire::Endpoint;
use dbdyno_wire::mock::{FixedScript, Login, MockProtocol, MockServer, Turn};
use dbdyno_workload::{ReadyLoad, Tables, resolve_load};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

const SERVE: &str = "--serve";
const ROWS: u64 = 1000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if arguments.first().is_some_and(|argument| argument == SERVE) {
        return serve();
    }
    let number = |index: usize, default: u64| {
        arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (clients, seconds, rounds) = (number(0, 1), number(1, 3), number(2, 5));
    let (mut child, port) = start_server();
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for _ in 0..rounds {
        ours.push(dbdyno(port, clients as u32, Duration::from_secs(seconds)));
        theirs.extend(sysbench(port, clients, seconds));
    }
    let pairs = bare_pairs(port, clients as u32, rounds);
    child.kill().expect("the null server can be stopped");
    child.wait().expect("the null server ends");
    println!("{clients} connections, {rounds} rounds of {seconds} s, µs of CPU per point select");
    print_row("dbdyno", &ours);
    print_row("bare loop", &pairs.iter().map(|(_, bare)| *bare).collect::<Vec<_>>());
    print_above_bare(&pairs);
    if theirs.is_empty() {
        println!("sysbench: not on this machine (apt-get install sysbench)");
        return;
    }
    print_row("sysbench", &theirs);
    let ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(a, b)| a.total() / b.total()).collect();
    let [low, middle, high] = spread(ratios);
    println!("total, dbdyno ÷ sysbench, round by round: {middle:.2} ({low:.2} … {high:.2})");
}

/// Rounds of 0.2 s of dbdyno and of the bare loop, in random ABBA order: 20 pairs for each round
/// of the others.
fn bare_pairs(port: u16, clients: u32, rounds: u64) -> Vec<(Cost, Cost)> {
    const WINDOW: Duration = Duration::from_millis(200);
    let ours = || dbdyno(port, clients, WINDOW);
    let bare = || bare::measure(port, clients, WINDOW);
    let mut pairs = Vec::new();
    for block in 0..10 * rounds {
        for first in [true, false] {
            if first == (dbdyno_model::random::mix_bits(block).is_multiple_of(2)) {
                let cost = ours();
                pairs.push((cost, bare()));
            } else {
                let cost = bare();
                pairs.push((ours(), cost));
            }
        }
    }
    pairs
}

fn print_above_bare(pairs: &[(Cost, Cost)]) {
    let interval = |values: Vec<f64>| {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (mean, 1.98 * (variance / count).sqrt())
    };
    let (above, margin) =
        interval(pairs.iter().map(|(ours, bare)| ours.total() - bare.total()).collect());
    println!("above the bare loop: {above:.2} ± {margin:.2} µs ({} pairs)", pairs.len());
    let logs = pairs.iter().map(|(ours, bare)| (ours.total() / bare.total()).ln()).collect();
    let (log, margin) = interval(logs);
    println!(
        "total, dbdyno ÷ bare loop: {:.3} ({:.3} … {:.3})",
        log.exp(),
        (log - margin).exp(),
        (log + margin).exp()
    );
}

#[derive(Clone, Copy)]
struct Cost {
    user_us: f64,
    kernel_us: f64,
    per_second: f64,
}

impl Cost {
    fn total(&self) -> f64 {
        self.user_us + self.kernel_us
    }
}

fn serve() {
    let server = MockServer::start(
        MockProtocol::Mysql,
        Login::without_password("bench"),
        Arc::new(FixedScript(Turn::point_query())),
    )
    .expect("a port is free");
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

fn dbdyno(port: u16, clients: u32, window: Duration) -> Cost {
    let tables = Tables { count: 1, rows: ROWS, seed: 1 };
    let load = resolve_load("point-query", tables).expect("the load exists");
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
        lead_in: Duration::from_millis(100),
        window,
        think: None,
        slow: 0.0,
        processors: Processors::ANY,
        kept: None,
        record: None,
        stop: &AtomicBool::new(false),
    };
    let measured = run_round(&spec, &mut |_| {}).expect("the null server answers");
    let per_event = |ns: u64| ns as f64 / 1e3 / measured.events as f64;
    Cost {
        user_us: per_event(measured.usage.cpu_ns - measured.usage.kernel_ns),
        kernel_us: per_event(measured.usage.kernel_ns),
        per_second: measured.events as f64 / window.as_secs_f64(),
    }
}

fn sysbench(port: u16, clients: u64, seconds: u64) -> Option<Cost> {
    let children = || getrusage(UsageWho::RUSAGE_CHILDREN).expect("the kernel tells");
    let before = children();
    let output = Command::new("sysbench")
        .args(["oltp_point_select", "--mysql-host=127.0.0.1", "--mysql-user=bench"])
        .args(["--mysql-db=sbtest", "--tables=1", "--rand-type=uniform", "--db-driver=mysql"])
        .arg(format!("--mysql-port={port}"))
        .arg(format!("--table-size={ROWS}"))
        .arg(format!("--threads={clients}"))
        .arg(format!("--time={seconds}"))
        .arg("run")
        .output()
        .ok()?;
    let after = children();
    let text = String::from_utf8_lossy(&output.stdout);
    let queries = text.lines().find_map(|line| line.trim().strip_prefix("queries:"));
    let queries: f64 = queries?.split_whitespace().next()?.parse().ok()?;
    let us = |later: nix::sys::time::TimeVal, earlier: nix::sys::time::TimeVal| {
        (later - earlier).num_microseconds() as f64 / queries
    };
    Some(Cost {
        user_us: us(after.user_time(), before.user_time()),
        kernel_us: us(after.system_time(), before.system_time()),
        per_second: queries / seconds as f64,
    })
}

fn print_row(name: &str, costs: &[Cost]) {
    let shown = |pick: fn(&Cost) -> f64| {
        let [low, middle, high] = spread(costs.iter().map(pick).collect());
        format!("{middle:.2} ({low:.2} … {high:.2})")
    };
    println!(
        "{name:9} user {}   kernel {}   total {}   {:.0}/s",
        shown(|cost| cost.user_us),
        shown(|cost| cost.kernel_us),
        shown(Cost::total),
        spread(costs.iter().map(|cost| cost.per_second).collect())[1],
    );
}

/// Minimum, median, maximum.
fn spread(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [values[0], values[values.len() / 2], values[values.len() - 1]]
}
