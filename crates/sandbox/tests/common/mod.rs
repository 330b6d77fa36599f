//! What tests with real servers have in common: the home that they share, and waiting.
#![expect(clippy::print_stdout, reason = "a test that downloads says what it waits for")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dbdyno_model::Product;
use dbdyno_sandbox::{Home, LaunchOptions, Release, get};
use dbdyno_wire::{Client, Endpoint};

const PATIENCE_POLLS: u32 = 15_000;

pub(crate) fn home_dir() -> PathBuf {
    let default = || {
        let uid = nix::unistd::geteuid();
        PathBuf::from(format!("/var/tmp/dbdyno-test-home-{uid}"))
    };
    std::env::var_os("DBDYNO_TEST_HOME").map_or_else(default, PathBuf::from)
}

/// The shared home, or nothing where servers cannot be had, for want of `tool`, and need not be.
pub(crate) fn home(tool: &str) -> Option<Home> {
    let missing = Command::new(tool).arg("--version").output().is_err();
    if missing && std::env::var_os("DBDYNO_REQUIRE_SERVERS").is_none() {
        println!("skipped: this machine has no {tool}");
        return None;
    }
    Some(Home::open(Some(&home_dir())).unwrap())
}

pub(crate) fn options() -> LaunchOptions {
    LaunchOptions { buffer_mb: 128, redo_mb: 64, tables_mb: 64, ..LaunchOptions::for_host(2_048) }
}

pub(crate) fn release(home: &Home, product: Product, version: &str) -> Release {
    get(home, product, version, &mut |step| println!("{step}")).unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) fn connect(product: Product, endpoint: &Endpoint) -> Box<dyn Client> {
    match product {
        Product::Postgres => {
            Box::new(dbdyno_wire::postgres::PostgresConnection::connect(endpoint).unwrap())
        }
        _ => Box::new(dbdyno_wire::mysql::MysqlConnection::connect(endpoint).unwrap()),
    }
}

pub(crate) fn single(client: &mut dyn Client, sql: &str) -> String {
    client.query(sql).unwrap().first_value().unwrap_or("NULL").to_owned()
}

/// Waits until `condition` holds; a limit, not a measurement.
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    for _ in 0..PATIENCE_POLLS {
        if condition() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("{what} did not come about");
}

/// Every process that works inside `dir`.
pub(crate) fn processes_in(dir: &Path) -> Vec<i32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(dir))
    })
    .collect()
}
