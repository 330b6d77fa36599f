//! What it costs to apply a transaction on a replica: by one thread, and by several.
//!
//! ```text
//!   cargo bench -p dbdyno-engine --bench replicas [-- TRANSACTIONS [ROUNDS]]
//!
//!   source    100,000 rows ─ copy ─ TRANSACTIONS updates ─ closed ─► one for each way to apply
//!   replica   the copy ─► all transactions of the log, again for each round and each way
//! ```
//!
//! Processor time is that of the whole process from the start of the replica until it has applied
//! all: the feeder, the workers and the replica's log. It is what to compare where the host has
//! other things to do as well, and the time that went by is what to expect of a quiet one. The ways
//! take turns; a ratio is one of a round. The median of seven ratios lies between the least and the
//! most of them with 98 %. Nothing is synced (`device=none`), but records are written to files.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use dbdyno_engine::disk::RealDisk;
use dbdyno_engine::follow::{difference, prepare};
use dbdyno_engine::{Datum, Engine, EngineOptions, Replica, Upkeep};
use dbdyno_model::Design;
use dbdyno_model::random::stream;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use tempfile::TempDir;

mod sbtest;

use sbtest::{C, set};

const ROWS: i64 = 100_000;
/// The first one is what the others are held against.
const WAYS: [&str; 4] = ["serial", "lwm:4", "dag:4", "dag:4&apply_order=kept"];

fn design(more: &str) -> Design {
    format!("device=none&depend=dag&{more}").parse().expect("a design")
}

fn open(directory: &Path, design: &Design, upkeep: Upkeep) -> Arc<Engine> {
    let disk = Arc::new(RealDisk::open(directory).expect("a directory"));
    let options = EngineOptions { upkeep, ..EngineOptions::default() };
    Arc::new(Engine::open(disk, design, options).expect("it opens"))
}

/// All files of a directory in another one.
fn twin(of: &Path) -> TempDir {
    let twin = tempfile::tempdir().expect("a directory");
    for entry in std::fs::read_dir(of).expect("it is there") {
        let entry = entry.expect("it is read");
        let into = twin.path().join(entry.file_name());
        std::fs::copy(entry.path(), into).expect("there is room");
    }
    twin
}

/// A source after its transactions, and a copy that was taken before them.
fn written(transactions: u64, rows: u64) -> (TempDir, TempDir) {
    let [source, copy] = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let engine = open(source.path(), &design("topology=replica:1"), Upkeep::OnDemand);
    let table = sbtest::filled(&engine, ROWS);
    let disk = RealDisk::open(copy.path()).expect("a directory");
    prepare(&engine, Arc::new(disk)).expect("it is copied");
    let mut session = engine.session();
    for number in 0..transactions {
        let mut random = stream(&[rows, number]);
        // Another one than before: what stays as it is, is not written.
        let text = format!("{number:0120}");
        session.begin(None).expect("it begins");
        for _ in 0..rows {
            let id = 1 + random.next_below(ROWS as u64) as i64;
            let done = session.statement(|it| set(it, &table, id, C, Datum::Text(text.as_bytes())));
            done.expect("nobody else is there");
        }
        session.commit().expect("it commits");
    }
    engine.flush().expect("the disk is there");
    (source, copy)
}

fn spent_ns() -> i64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the kernel tells");
    usage.user_time().num_nanoseconds() + usage.system_time().num_nanoseconds()
}

/// µs of processors and of the clock for each transaction.
fn apply(source: &Arc<Engine>, copy: &Path, transactions: u64) -> [f64; 2] {
    let directory = twin(copy);
    let engine = open(directory.path(), &design(""), Upkeep::Background);
    let (begun, before_ns) = (Instant::now(), spent_ns());
    let replica = Replica::start(source.clone(), engine.clone(), None).expect("it follows");
    replica.catch_up().expect("it applies all");
    let (spent_ns, took) = (spent_ns() - before_ns, begun.elapsed());
    assert_eq!(replica.progress().applied, transactions);
    replica.stop().expect("it ends");
    assert_eq!(difference(source, &engine), None);
    [spent_ns as f64 / 1e3, took.as_secs_f64() * 1e6].map(|us| us / transactions as f64)
}

/// The middle of some figures, the least and the most.
fn spread(mut figures: Vec<f64>) -> String {
    figures.sort_by(f64::total_cmp);
    let [least, middle, most] =
        [0, figures.len() / 2, figures.len() - 1].map(|index| figures[index]);
    format!("{middle:.2} ({least:.2} to {most:.2})")
}

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let (transactions, rounds) = (numbers.next().unwrap_or(20_000), numbers.next().unwrap_or(7));
    for rows in [1, 20] {
        let (source, copy) = written(transactions, rows);
        let twins = WAYS.map(|_| twin(source.path()));
        let sources: Vec<_> = WAYS
            .iter()
            .zip(&twins)
            .map(|(way, twin)| {
                let design = design(&format!("topology=replica:1&apply={way}"));
                open(twin.path(), &design, Upkeep::OnDemand)
            })
            .collect();
        let mut figures = vec![Vec::new(); WAYS.len()];
        for round in 0..rounds as usize {
            for turn in 0..WAYS.len() {
                // Each way is as often early as late.
                let way = if round % 2 == 0 { turn } else { WAYS.len() - 1 - turn };
                figures[way].push(apply(&sources[way], copy.path(), transactions));
            }
        }
        println!("{transactions} transactions of {rows} rows, {ROWS} keys, {rounds} rounds");
        for (way, name) in WAYS.iter().enumerate() {
            let of = |what: usize| figures[way].iter().map(move |us| us[what]);
            let to = |what: usize| {
                spread(of(what).zip(&figures[0]).map(|(us, first)| us / first[what]).collect())
            };
            println!(
                "  {name:<24} {:>26} µs CPU  {:>22} of serial   {:>26} µs  {:>22}",
                spread(of(0).collect()),
                to(0),
                spread(of(1).collect()),
                to(1),
            );
        }
    }
}
