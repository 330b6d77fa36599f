//! How often verdicts are right: the same comparison many times over, with a seed of its own each.
//!
//! ```text
//!   cargo xtask calibrate measure BASE TEST TIMES [flags of `dbdyno compare`]
//!
//!   … mariadb:10.11 mariadb:10.11 20 --quick      A/A: is nothing called something?
//!   … sqlite: 'sqlite:?slow=5%' 10 --quick        planted: are 5 % found?
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
    let [file, base, test, times, flags @ ..] = arguments.as_slice() else {
        // `cargo bench` of the whole workspace comes by without arguments.
        println!("verdicts: give FILE.csv BASE TEST TIMES [flags]; see the top of this file");
        return;
    };
    let times: u64 = times.parse().expect("TIMES is a number");
    let question = format!("{base},{test},{}", flags.join(" "));
    let known = fs::read_to_string(file).unwrap_or_default();
    if known.is_empty() {
        add(Path::new(file), COLUMNS);
    }
    let is_known = |seed: u64| {
        let begin = format!("{question},{seed},");
        known.lines().any(|line| line.starts_with(&begin))
    };
    for seed in (1..=times).filter(|seed| !is_known(*seed)) {
        for row in compare(base, test, flags, seed) {
            println!("{row}");
            add(Path::new(file), &format!("{question},{seed},{row}"));
        }
    }
}

/// One comparison: the columns of each cell behind the seed.
fn compare(base: &str, test: &str, flags: &[String], seed: u64) -> Vec<String> {
    let began = now();
    let output = Command::new(env!("CARGO_BIN_EXE_dbdyno"))
        .args(["compare", base, test, "--format", "json", "--seed", &seed.to_string()])
        .args(flags)
        .stderr(Stdio::inherit())
        .output()
        .expect("dbdyno starts");
    let seconds = began.elapsed().as_secs_f64();
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("no result for seed {seed}: {error}"));
    assert_eq!(result["status"], "complete", "seed {seed} was not finished");
    let cells = result["cells"].as_array().expect("cells");
    let of_cell = |cell: &Value| {
        let number = |name: &str| cell[name].as_f64().map_or(String::new(), |n| format!("{n:.6}"));
        let text = |value: &Value| value.as_str().unwrap_or_default().replace(',', ";");
        [
            text(&cell["load"]),
            cell["clients"].to_string(),
            number("rqps"),
            number("rqps_low"),
            number("rqps_high"),
            cell["pairs"].to_string(),
            cell["pairs_dropped"].to_string(),
            number("detectable"),
            text(&cell["verdict"]),
            format!("{:.0}", seconds / cells.len() as f64),
            text(&result["base"]["label"]),
            text(&result["test"]["label"]),
            host(),
        ]
        .join(",")
    };
    cells.iter().map(of_cell).collect()
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
