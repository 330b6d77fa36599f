//! How fast tables are filled, beside `sysbench prepare` on the same server, in turn.
//!
//! ```text
//!   cargo bench -p dbdyno-lab --bench fill -- PRODUCT:VERSION [ROWS [ROUNDS]]
//! ```
//!
//! Both make one table of sysbench's shape with its secondary index; the time is from the first
//! connection to the last answer, the index included. Statistics are made by us and not by
//! sysbench.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its figures")]

use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dbdyno_load::{Connector, drop_tables, fill};
use dbdyno_model::{ArmSpec, Product, Target, Transport};
use dbdyno_sandbox::{Home, Options, Server};
use dbdyno_wire::Endpoint;
use dbdyno_workload::Tables;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let Some(target) = arguments.first() else {
        println!("fill: give PRODUCT:VERSION [ROWS [ROUNDS]]; see the top of this file");
        return;
    };
    let number = |index: usize, default: u64| {
        arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (rows, rounds) = (number(1, 1_000_000), number(2, 3));
    let spec: ArmSpec = target.parse().expect("a target");
    let Target::Release(product, version) = spec.target else { panic!("a release is needed") };
    let home = Home::open(None).expect("the home opens");
    let mut say = |text: &str| eprintln!("{text}");
    let release = dbdyno_sandbox::get(&home, product, &version, &mut say).expect("it is got");
    let server = Server::start(&home, &release, &Options::for_host(16_384), "fill", &mut say)
        .expect("it starts");
    let mut ratios = Vec::new();
    println!("{target} ({}), one table of {rows} rows", release.version);
    for round in 1..=rounds {
        let ours = ours(product, &server.endpoint(), rows);
        let theirs = sysbench(product, &server.endpoint(), rows);
        println!("round {round}: dbdyno {ours:.0} rows/s, sysbench prepare {theirs:.0} rows/s");
        ratios.push(ours / theirs);
    }
    ratios.sort_by(f64::total_cmp);
    let (low, high) = (ratios[0], ratios[ratios.len() - 1]);
    let middle = ratios[ratios.len() / 2];
    println!("dbdyno ÷ sysbench, round by round: {middle:.2} ({low:.2} … {high:.2})");
    server.stop().expect("it stops");
}

fn ours(product: Product, endpoint: &Endpoint, rows: u64) -> f64 {
    let dialect = product.dialect();
    let connector = match product {
        Product::MySql | Product::MariaDb => Connector::Mysql(endpoint.clone()),
        Product::Postgres => Connector::Postgres(endpoint.clone()),
    };
    let tables = Tables { count: 1, rows, seed: 1 };
    let rate = timed(rows, || {
        fill(&connector, dialect, &tables, &AtomicBool::new(false), &mut |_| {}).expect("it fills");
    });
    drop_tables(&connector, &[Tables::name(0)]).expect("tables can be dropped");
    rate
}

fn sysbench(product: Product, endpoint: &Endpoint, rows: u64) -> f64 {
    let Transport::Tcp(host, port) = &endpoint.transport else { panic!("a TCP endpoint") };
    let (driver, prefix) = match product {
        Product::MySql | Product::MariaDb => ("mysql", "--mysql"),
        Product::Postgres => ("pgsql", "--pgsql"),
    };
    let run = |command: &str| {
        let status = Command::new("sysbench")
            .arg("oltp_point_select")
            .arg(format!("--db-driver={driver}"))
            .arg(format!("{prefix}-host={host}"))
            .arg(format!("{prefix}-port={port}"))
            .arg(format!("{prefix}-user={}", endpoint.user))
            .arg(format!("{prefix}-password={}", endpoint.password.expose()))
            .arg(format!("{prefix}-db={}", endpoint.database))
            .args(["--tables=1", "--rand-type=uniform"])
            .arg(format!("--table-size={rows}"))
            .arg(command)
            .stdout(std::process::Stdio::null())
            .status()
            .expect("sysbench is installed (apt-get install sysbench)");
        assert!(status.success(), "sysbench {command} failed");
    };
    let rate = timed(rows, || run("prepare"));
    run("cleanup");
    rate
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
fn timed(rows: u64, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    rows as f64 / start.elapsed().as_secs_f64()
}
