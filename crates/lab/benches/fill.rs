//! How fast tables are filled, beside the tools that people fill them with: `sysbench prepare`, and
//! on PostgreSQL `pgbench -i`. Same server, same shape of table, in turn.
//!
//! ```text
//!   cargo bench -p dbdyno-lab --bench fill -- PRODUCT:VERSION [ROWS [ROUNDS]]
//! ```
//!
//! The time is from the first connection to the last answer, indexes included. Statistics are made
//! by us and by pgbench, and not by sysbench. ROWS is a multiple of 100 000, pgbench's unit.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its figures")]

use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dbdyno_load::{Connector, drop_tables, fill_tables};
use dbdyno_model::{ArmSpec, Product, Target, Transport};
use dbdyno_sandbox::{Home, LaunchOptions, Server};
use dbdyno_wire::Endpoint;
use dbdyno_workload::{Catalog, Custom, Dataset, Tables};

/// The largest of pgbench's tables; the others have a row for each 10 000 of its rows.
const PGBENCH: &str = r#"
name = "pgbench"
group = "point"

[[table]]
name = "pgbench_accounts"
create = """
CREATE TABLE pgbench_accounts (aid INT NOT NULL, bid INT, abalance INT, filler CHAR(84)) \
WITH (fillfactor=100)"""
after = ["ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid)"]
columns = { aid = "{row}", bid = "{int 1..10}", abalance = "0", filler = "" }

[[step]]
sql = "SELECT abalance FROM pgbench_accounts WHERE aid = {id}"
rows = 1
"#;

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
    let Target::Release(wanted) = spec.target else { panic!("a release is needed") };
    let (product, version) = (wanted.product, wanted.version);
    let home = Home::open(None).expect("the home opens");
    let mut say = |text: &str| eprintln!("{text}");
    let release = dbdyno_sandbox::get(&home, product, &version, &mut say).expect("it is got");
    let server = Server::start(&home, &release, &LaunchOptions::for_host(16_384), "fill", &mut say)
        .expect("it starts");
    println!("{target} ({}), one table of {rows} rows", release.version);
    let (endpoint, tables) = (server.endpoint(), Tables { count: 1, rows, seed: 1 });
    let ours = |dataset: &dyn Dataset| ours(product, &endpoint, dataset, rows);
    compare("sysbench prepare", rounds, || ours(&tables), || sysbench(product, &endpoint, rows));
    if product == Product::Postgres {
        let mut catalog = Catalog::default();
        catalog
            .add_custom(Custom::parse("pgbench", PGBENCH).expect("a load"))
            .expect("its name is free");
        let dataset = catalog.resolve_load("pgbench", tables).expect("it is there").dataset;
        compare("pgbench -i", rounds, || ours(&*dataset), || pgbench(&endpoint, rows));
    }
    server.stop().expect("it stops");
}

/// We and the peer in turn, ABBA, so that a drift of the machine weighs on neither.
fn compare(peer: &str, rounds: u64, ours: impl Fn() -> f64, theirs: impl Fn() -> f64) {
    let mut ratios = Vec::new();
    for round in 1..=rounds {
        let (ours, theirs) = if round % 2 == 1 {
            (ours(), theirs())
        } else {
            let theirs = theirs();
            (ours(), theirs)
        };
        println!("round {round}: dbdyno {ours:.0} rows/s, {peer} {theirs:.0} rows/s");
        ratios.push(ours / theirs);
    }
    ratios.sort_by(f64::total_cmp);
    let (low, high) = (ratios[0], ratios[ratios.len() - 1]);
    let middle = ratios[ratios.len() / 2];
    println!("dbdyno ÷ {peer}, round by round: {middle:.2} ({low:.2} … {high:.2})");
}

fn ours(product: Product, endpoint: &Endpoint, dataset: &dyn Dataset, rows: u64) -> f64 {
    let dialect = product.dialect();
    let connector = match product {
        Product::MySql | Product::MariaDb => Connector::Mysql(endpoint.clone()),
        Product::Postgres => Connector::Postgres(endpoint.clone()),
    };
    let rate = timed(rows, || {
        fill_tables(&connector, dialect, dataset, &AtomicBool::new(false), &mut |_| {})
            .expect("it fills");
    });
    let names: Vec<String> = dataset.tables(dialect).into_iter().map(|t| t.name).collect();
    drop_tables(&connector, &names).expect("tables can be dropped");
    rate
}

fn sysbench(product: Product, endpoint: &Endpoint, rows: u64) -> f64 {
    let (host, port) = address(endpoint);
    let (driver, prefix) = match product {
        Product::MySql | Product::MariaDb => ("mysql", "--mysql"),
        Product::Postgres => ("pgsql", "--pgsql"),
    };
    let command = |step: &str| {
        let mut command = Command::new("sysbench");
        command
            .arg("oltp_point_select")
            .arg(format!("--db-driver={driver}"))
            .arg(format!("{prefix}-host={host}"))
            .arg(format!("{prefix}-port={port}"))
            .arg(format!("{prefix}-user={}", endpoint.user))
            .arg(format!("{prefix}-password={}", endpoint.password.expose()))
            .arg(format!("{prefix}-db={}", endpoint.database))
            .args(["--tables=1", "--rand-type=uniform"])
            .arg(format!("--table-size={rows}"))
            .arg(step);
        command
    };
    let rate = timed(rows, || run(command("prepare")));
    run(command("cleanup"));
    rate
}

fn pgbench(endpoint: &Endpoint, rows: u64) -> f64 {
    let command = |steps: &str| {
        let (host, port) = address(endpoint);
        let mut command = Command::new("pgbench");
        command
            .args(["-i", "-q", "-I", steps, "-h", host])
            .arg(format!("--port={port}"))
            .arg(format!("--username={}", endpoint.user))
            .arg(format!("--scale={}", rows.div_ceil(100_000)))
            .arg(&endpoint.database)
            .env("PGPASSWORD", endpoint.password.expose());
        command
    };
    let rate = timed(rows, || run(command("dtgvp")));
    run(command("d"));
    rate
}

fn address(endpoint: &Endpoint) -> (&str, u16) {
    let Transport::Tcp(host, port) = &endpoint.transport else { panic!("a TCP endpoint") };
    (host, *port)
}

/// Its name without its arguments is what a failure may show.
fn run(mut command: Command) {
    let program = command.get_program().to_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|_| panic!("{program:?} is missing; run tools/setup bench"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program:?} failed: {said}");
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
fn timed(rows: u64, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    rows as f64 / start.elapsed().as_secs_f64()
}
