//! How often verdicts are right: the same comparison many times over, with a seed of its own each.
//!
//! ```text
//!   cargo xtask calibrate measure BASE TEST [TEST…] TIMES [flags of `dbdyno compare`]
//!
//!   … mariadb:10.11 mariadb:10.11 20 --quick      A/A: is nothing called something?
//!   … sqlite: 'sqlite:?slow=5%' 10 --quick        planted: are 5 % found?
//!   … sqlite: sqlite: sqlite: sqlite: 50 --quick  A/A/A/A: each against the first
//! ```
//!
//! Each cell is a row of a file, added as soon as it is known; seeds that are there are not
//! measured again, so that a series may be stopped and gone on with. Nothing is asserted: the file
//! is the source of `docs/CALIBRATION.md`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

const COLUMNS: &str = "base,test,flags,seed,load,clients,rqps,rqps_low,rqps_high,pairs,\
                       pairs_dropped,detectable,verdict,seconds,base_label,test_label,host";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let times = arguments.iter().position(|argument| argument.parse::<u64>().is_ok());
    let Some((file, at)) = arguments.first().zip(times.filter(|at| *at > 2)) else {
        // `cargo bench` of the whole workspace comes by without arguments.
        println!("verdicts: give FILE.csv BASE TEST TIMES [flags]; see the top of this file");
        return;
    };
    let (arms, flags) = (&arguments[1..at], &arguments[at + 1..]);
    let times: u64 = arguments[at].parse().expect("TIMES is a number");
    let told = match arms.len() {
        2 => flags.join(" "),
        count => format!("{}; {count} arms", flags.join(" ")),
    };
    let known = fs::read_to_string(file).unwrap_or_default();
    if known.is_empty() {
        add(Path::new(file), COLUMNS);
    }
    let question = |test: &str| format!("{},{test},{told}", arms[0]);
    let is_known = |seed: u64| {
        let begin = format!("{},{seed},", question(&arms[1]));
        known.lines().any(|line| line.starts_with(&begin))
    };
    for seed in (1..=times).filter(|seed| !is_known(*seed)) {
        for (test, row) in compare(arms, flags, seed) {
            println!("{row}");
            add(Path::new(file), &format!("{},{seed},{row}", question(&arms[test])));
        }
    }
}

/// One comparison: for each arm beside the first, in each cell, which one it is and the columns
/// behind the seed.
fn compare(arms: &[String], flags: &[String], seed: u64) -> Vec<(usize, String)> {
    let began = now();
    let output = Command::new(env!("CARGO_BIN_EXE_dbdyno"))
        .arg("compare")
        .args(arms)
        .args(["--format", "json", "--seed", &seed.to_string()])
        .args(flags)
        .stderr(Stdio::inherit())
        .output()
        .expect("dbdyno starts");
    let seconds = began.elapsed().as_secs_f64();
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("no result for seed {seed}: {error}"));
    assert_eq!(result["status"], "complete", "seed {seed} was not finished");
    let cells = result["cells"].as_array().expect("cells");
    let seconds = seconds / cells.len() as f64;
    let of_arm = |cell: &Value, test: usize| match arms.len() {
        2 => (cell.clone(), [result["base"].clone(), result["test"].clone()]),
        _ => {
            let answer = cell["arms"][test]["answer"].clone();
            (answer, [result["arms"][0].clone(), result["arms"][test].clone()])
        }
    };
    let mut rows = Vec::new();
    for cell in cells {
        for test in 1..arms.len() {
            let (answer, labels) = of_arm(cell, test);
            rows.push((test, row(cell, &answer, seconds, &labels)));
        }
    }
    rows
}

fn row(cell: &Value, answer: &Value, seconds: f64, labels: &[Value; 2]) -> String {
    let number = |name: &str| answer[name].as_f64().map_or(String::new(), |n| format!("{n:.6}"));
    let text = |value: &Value| value.as_str().unwrap_or_default().replace(',', ";");
    let [base, test] = labels;
    [
        text(&cell["load"]),
        cell["clients"].to_string(),
        number("rqps"),
        number("rqps_low"),
        number("rqps_high"),
        answer["pairs"].to_string(),
        answer["pairs_dropped"].to_string(),
        number("detectable"),
        text(&answer["verdict"]),
        format!("{seconds:.0}"),
        text(&base["label"]),
        text(&test["label"]),
        host(),
    ]
    .join(",")
}

/// Number and kind of processors.
fn host() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let models: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map(|(_, model)| model)
        .collect();
    format!("{} × {}", models.len(), models.first().unwrap_or(&"?")).replace(',', ";")
}

fn add(file: &Path, line: &str) {
    let opened = OpenOptions::new().create(true).append(true).open(file);
    opened.and_then(|mut file| writeln!(file, "{line}")).expect("the file can be written");
}

#[expect(clippy::disallowed_methods, reason = "what a comparison costs in time is a result")]
fn now() -> Instant {
    Instant::now()
}
