//! How often whole runs are right: the command itself, thousands of times, on models in virtual
//! time, from the plan to the JSON that a script reads.
//!
//! ```text
//!   cargo xtask calibrate runs [SHARE [ROWS]]   SHARE of the runs, for a first look: 0.01;
//!                                               only ROWS, such as 15-17, the others stay
//! ```
//!
//! The statistics are counted elsewhere, by themselves. What is counted here is everything between
//! them and the answer: plans, restarts, looks, limits, slices, the sieve of pairs, the family of
//! cells. Each run has a seed of its own, which is the number of the run, so that the counts change
//! when the product does, and never by chance.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its figures")]

use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use serde_json::Value;

/// As a quiet host was seen: rounds vary by 2 %, starts by 1.5 %.
const QUIET: &str = "mock:?noise=0.02&restarts=0.015";
/// As a shared one was seen: it wanders by 5 %, slowly, and has a slow round now and then.
const SHARED: &str = "mock:?noise=0.02&restarts=0.015&host=0.05&ar=0.9&spikes=0.02&spike=0.3";
/// Whose tables come to lie differently in each filling, and which a neighbour takes time from.
const STOLEN: &str = "mock:?noise=0.02&restarts=0.015&steal=0.03&stolen=0.5";
/// That slows down by a tenth in ten minutes.
/// Whose starts differ between two arms by as much as is assumed where servers are started once:
/// 1.5 %, which is 1.06 % of each.
const ONCE: &str = "mock:?noise=0.02&restarts=0.0106";
const DRIFTING: &str = "mock:?noise=0.02&restarts=0.015&drift=-0.01&host=0.03&ar=0.95";

/// What is run so many times.
struct Series {
    host: &'static str,
    base: &'static str,
    /// Base and those that are measured against it.
    arms: usize,
    /// What one of them loses, as behind `slow=`: test, or of more than two the third.
    lost_percent: f64,
    flags: &'static str,
    runs: u64,
}

const fn series(
    host: &'static str,
    base: &'static str,
    lost_percent: f64,
    flags: &'static str,
    runs: u64,
) -> Series {
    Series { host, base, arms: 2, lost_percent, flags, runs }
}

/// Of so many arms.
const fn of_arms(arms: usize, lost_percent: f64, flags: &'static str, runs: u64) -> Series {
    Series { arms, ..series("quiet", QUIET, lost_percent, flags, runs) }
}

const SERIES: [Series; 18] = [
    series("quiet", QUIET, 0.0, "--quick", 4_000),
    series("shared", SHARED, 0.0, "--quick", 2_000),
    series("stolen", STOLEN, 0.0, "--quick", 2_000),
    series("drifting", DRIFTING, 0.0, "--quick", 2_000),
    series("quiet", QUIET, 0.0, "", 2_000),
    series("shared", SHARED, 0.0, "", 1_000),
    series("quiet", QUIET, 0.0, "--until decided --limit 10m", 2_000),
    series("shared", SHARED, 0.0, "--until decided --limit 10m", 1_000),
    series("once", ONCE, 0.0, "--quick --restarts 0", 1_000),
    series("once", ONCE, 0.0, "--quick --load sysbench-32", 100),
    series("quiet", QUIET, 2.0, "--quick", 1_000),
    series("quiet", QUIET, 5.0, "--quick", 1_000),
    series("quiet", QUIET, 2.0, "--detect 2% --until decided --limit 10m", 1_000),
    series("shared", SHARED, 5.0, "--detect 5% --until decided --limit 10m", 1_000),
    of_arms(4, 0.0, "--quick", 1_000),
    of_arms(8, 0.0, "--quick", 500),
    of_arms(4, 2.0, "--quick", 1_000),
    of_arms(8, 2.0, "--quick", 500),
];

/// What was concluded of all cells of a series.
#[derive(Default)]
struct Counts {
    cells: u64,
    slower: u64,
    faster: u64,
    equal: u64,
    undecided: u64,
    /// Cells with an interval, and those of them whose interval holds the truth.
    intervals: u64,
    held: u64,
    pairs: u64,
    /// Runs in which an arm that loses nothing was called slower or faster, in one cell at least.
    runs_wrong: u64,
}

/// What was concluded of the arm that loses something, and of those that do not.
#[derive(Default)]
struct Both {
    planted: Counts,
    equal: Counts,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let Some(share) = arguments.first().and_then(|share| share.parse::<f64>().ok()) else {
        // `cargo bench` of the whole workspace comes by without arguments.
        println!("whole_runs: give the share of the runs; see the top of this file");
        return;
    };
    let (first, last) = match arguments.get(1).and_then(|rows| rows.split_once('-')) {
        Some((first, last)) => (number(first), number(last)),
        None => (1, SERIES.len()),
    };
    println!(
        "series,host,words,arms,of,lost_percent,flags,runs,cells,slower,faster,equal,undecided,\
         intervals,held,pairs,runs_wrong"
    );
    for (index, series) in
        SERIES.iter().enumerate().filter(|(at, _)| (first..=last).contains(&(at + 1)))
    {
        let runs = ((series.runs as f64 * share) as u64).max(1);
        eprintln!("{} {} {} % {runs} runs", series.host, series.flags, series.lost_percent);
        let Both { planted, equal } = counted(series, runs);
        if series.lost_percent > 0.0 {
            row(index + 1, series, "the one that loses", series.lost_percent, runs, &planted);
        }
        if equal.cells > 0 {
            let of = if series.lost_percent > 0.0 { "the others" } else { "all" };
            row(index + 1, series, of, 0.0, runs, &equal);
        }
    }
}

fn number(text: &str) -> usize {
    text.parse().expect("rows are numbers, such as 15-17")
}

fn row(number: usize, series: &Series, of: &str, lost_percent: f64, runs: u64, counts: &Counts) {
    let Series { host, base, arms, flags, .. } = series;
    let Counts { cells, slower, faster, equal, undecided, intervals, held, pairs, runs_wrong } =
        counts;
    println!(
        "{number},{host},{base},{arms},{of},{lost_percent},{flags},{runs},{cells},{slower},{faster},\
         {equal},{undecided},{intervals},{held},{pairs},{runs_wrong}"
    );
}

/// Runs a series on all processors.
fn counted(series: &Series, runs: u64) -> Both {
    let (next, counts) = (AtomicU64::new(1), Mutex::new(Both::default()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > runs {
                        return;
                    }
                    let result = run(series, seed);
                    let mut counts = counts.lock().expect("a run that is counted does not panic");
                    counts.add(&result, series);
                }
            });
        }
    });
    counts.into_inner().expect("all runs are counted")
}

fn run(series: &Series, seed: u64) -> Value {
    let home = tempfile::tempdir().expect("a folder");
    let base = format!("{}&seed={seed}", series.base);
    let arm = |at: usize| match at == series.planted() {
        true => format!("{base}&slow={}%", series.lost_percent),
        false => base.clone(),
    };
    let output = Command::new(env!("CARGO_BIN_EXE_dbdyno"))
        .arg("compare")
        .args((0..series.arms).map(arm))
        .args(["--format", "json", "--rows", "2000"])
        .args(["--seed", &seed.to_string()])
        .args(series.flags.split_whitespace())
        .env("DBDYNO_HOME", home.path())
        .env_remove("DBDYNO_STORE")
        .stderr(Stdio::null())
        .output()
        .expect("dbdyno starts");
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("no result of {base} {}: {error}", series.flags));
    assert_eq!(result["status"], "complete", "{base} {}", series.flags);
    result
}

impl Series {
    /// Which arm loses something; none where nothing is lost.
    fn planted(&self) -> usize {
        match (self.lost_percent > 0.0, self.arms) {
            (false, _) => self.arms,
            (true, 2) => 1,
            (true, _) => 2,
        }
    }
}

impl Both {
    /// Adds the answers of a run: those of schema 1, or of schema 2.
    fn add(&mut self, run: &Value, series: &Series) {
        let mut is_wrong = false;
        for cell in run["cells"].as_array().expect("cells") {
            for arm in 1..series.arms {
                let answer = match series.arms {
                    2 => cell,
                    _ => &cell["arms"][arm]["answer"],
                };
                if arm == series.planted() {
                    self.planted.add(answer, series.lost_percent);
                } else {
                    self.equal.add(answer, 0.0);
                    is_wrong |= ["slower", "faster"].iter().any(|told| answer["verdict"] == *told);
                }
            }
        }
        self.equal.runs_wrong += u64::from(is_wrong);
    }
}

impl Counts {
    fn add(&mut self, cell: &Value, lost_percent: f64) {
        self.cells += 1;
        match cell["verdict"].as_str() {
            Some("slower") => self.slower += 1,
            Some("faster") => self.faster += 1,
            Some("equal") => self.equal += 1,
            _ => self.undecided += 1,
        }
        let truth = 1.0 - lost_percent / 100.0;
        if let (Some(low), Some(high)) = (cell["rqps_low"].as_f64(), cell["rqps_high"].as_f64()) {
            self.intervals += 1;
            self.held += u64::from(low <= truth && truth <= high);
        }
        self.pairs += cell["pairs"].as_u64().unwrap_or(0);
    }
}
