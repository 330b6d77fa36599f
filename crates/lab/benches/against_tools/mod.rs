//! The other tools: their commands, and what their output says.

use std::process::Command;

use dbdyno_model::{LatencyHistogram, Product, Transport};
use dbdyno_wire::Endpoint;

use crate::{ROWS, Scenario};

/// What a tool says of a run.
#[derive(Clone, Debug)]
pub(crate) struct Reported {
    pub events: u64,
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub p999_ms: f64,
    pub max_ms: f64,
    /// What it prints by itself.
    pub words: String,
}

impl Reported {
    pub(crate) fn of(histogram: &LatencyHistogram) -> Reported {
        let at = |quantile| histogram.quantile_ns(quantile) as f64 / 1e6;
        Reported {
            events: histogram.count(),
            mean_ms: histogram.mean_ns() / 1e6,
            p50_ms: at(0.5),
            p99_ms: at(0.99),
            p999_ms: at(0.999),
            max_ms: histogram.max_ns() as f64 / 1e6,
            words: String::new(),
        }
    }

    /// Of values in order, each so many times.
    fn of_values(values: &[(f64, u64)], mean_ms: f64, max_ms: f64, words: String) -> Reported {
        let events: u64 = values.iter().map(|(_, count)| count).sum();
        let at = |quantile: f64| {
            let rank = (quantile * events as f64).ceil() as u64;
            let mut below = 0;
            let found = values.iter().find(|(_, count)| {
                below += count;
                below >= rank
            });
            found.map_or(f64::NAN, |(value, _)| *value)
        };
        let (p50_ms, p99_ms, p999_ms) = (at(0.5), at(0.99), at(0.999));
        Reported { events, mean_ms, p50_ms, p99_ms, p999_ms, max_ms, words }
    }
}

/// The process of the tool that runs.
pub(crate) fn running() -> Vec<String> {
    let own = std::process::id().to_string();
    let found = Command::new("pgrep").args(["-P", &own, "-x", "sysbench|pgbench"]).output();
    let found = String::from_utf8(found.expect("pgrep is there").stdout).expect("numbers");
    found.lines().map(str::to_owned).collect()
}

fn place(endpoint: &Endpoint) -> (&str, u16) {
    let Transport::Tcp(host, port) = &endpoint.transport else { panic!("a TCP endpoint") };
    (host, *port)
}

/// sysbench with its histogram; nothing where it is not installed.
pub(crate) fn sysbench(
    scenario: Scenario,
    product: Product,
    endpoint: &Endpoint,
) -> impl FnOnce() -> Option<Reported> + Send {
    let (host, port) = place(endpoint);
    let (driver, prefix) = match product {
        Product::MySql | Product::MariaDb => ("mysql", "--mysql"),
        Product::Postgres => ("pgsql", "--pgsql"),
    };
    let mut command = Command::new("sysbench");
    command
        .args(["oltp_point_select", "--tables=1", "--rand-type=uniform", "--histogram"])
        .args(["--percentile=99", &format!("--table-size={ROWS}")])
        .arg(format!("--db-driver={driver}"))
        .arg(format!("{prefix}-host={host}"))
        .arg(format!("{prefix}-port={port}"))
        .arg(format!("{prefix}-user={}", endpoint.user))
        .arg(format!("{prefix}-password={}", endpoint.password.expose()))
        .arg(format!("{prefix}-db={}", endpoint.database))
        .arg(format!("--threads={}", scenario.connections))
        .arg(format!("--rate={}", scenario.rate))
        .arg(format!("--time={}", scenario.seconds))
        .arg("run");
    move || {
        let output = command.output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "sysbench failed: {text}");
        let value = |name: &str| -> f64 {
            let line = text.lines().find_map(|line| line.trim().strip_prefix(name));
            line.and_then(|rest| rest.trim().parse().ok()).unwrap_or(f64::NAN)
        };
        let words =
            format!("   it says p99 {} ms, max {} ms", value("99th percentile:"), value("max:"));
        Some(Reported::of_values(&buckets(&text), value("avg:"), value("max:"), words))
    }
}

/// `       0.086 |**** 1234`
fn buckets(text: &str) -> Vec<(f64, u64)> {
    let bucket = |line: &str| {
        let (value, rest) = line.split_once('|')?;
        let count = rest.trim_start_matches('*').trim().parse().ok()?;
        Some((value.trim().parse().ok()?, count))
    };
    text.lines().filter_map(bucket).collect()
}

/// pgbench with its log of transactions; nothing where it is not installed.
pub(crate) fn pgbench(
    scenario: Scenario,
    endpoint: &Endpoint,
) -> impl FnOnce() -> Option<Reported> + Send {
    let (host, port) = place(endpoint);
    let dir = tempfile::tempdir().expect("a directory for its log");
    let script = dir.path().join("point.sql");
    let sql = format!("\\set id random(1, {ROWS})\nSELECT c FROM sbtest1 WHERE id = :id;\n");
    std::fs::write(&script, sql).expect("the script can be written");
    let mut command = Command::new("pgbench");
    command
        .args(["-n", "-M", "prepared", "-l", "-j", "2"])
        .args(["-h", host, "-p", &port.to_string(), "-U", &endpoint.user])
        .args(["-c", &scenario.connections.to_string(), "-T", &scenario.seconds.to_string()])
        .args(["-R", &scenario.rate.to_string()])
        .arg("-f")
        .arg(&script)
        .arg(&endpoint.database)
        .env("PGPASSWORD", endpoint.password.expose())
        .current_dir(dir.path());
    move || {
        let output = command.output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "pgbench failed: {error}");
        let says = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name));
            line.unwrap_or_default().to_owned()
        };
        let words = format!("   it says {}; {}", says("latency average"), says("rate limit"));
        let mut times: Vec<(f64, u64)> = Vec::new();
        for file in std::fs::read_dir(dir.path()).expect("its directory").flatten() {
            if file.file_name().to_string_lossy().starts_with("pgbench_log") {
                let log = std::fs::read_to_string(file.path()).expect("its log");
                let us = log.lines().filter_map(|line| line.split(' ').nth(2)?.parse::<f64>().ok());
                times.extend(us.map(|us| (us / 1e3, 1)));
            }
        }
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mean = times.iter().map(|(ms, _)| ms).sum::<f64>() / times.len().max(1) as f64;
        let max = times.last().map_or(f64::NAN, |(ms, _)| *ms);
        Some(Reported::of_values(&times, mean, max, words))
    }
}
