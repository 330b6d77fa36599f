//! How often verdicts are right: the same comparison many times over, with a seed of its own each.
//!
//! ```text
//!   cargo bench -p dbdyno --bench verdicts -- BASE TEST TIMES [flags of `dbdyno compare`]
//!
//!   … -- mariadb:10.11 mariadb:10.11 20 --quick     A/A: is nothing called something?
//!   … -- sqlite: 'sqlite:?slow=5%' 10 --quick     planted: are 5 % found?
//! ```
//!
//! One line for each comparison, and a tally. Nothing is asserted: the figures go into `docs/`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use serde_json::Value;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let [base, test, times, flags @ ..] = arguments.as_slice() else {
        // `cargo bench` of the whole workspace comes by without arguments.
        println!("verdicts: give BASE TEST TIMES [flags]; see the top of this file");
        return;
    };
    let times: u64 = times.parse().expect("TIMES is a number");
    let mut tally: BTreeMap<String, u32> = BTreeMap::new();
    println!("| seed | load | clients | rQPS | 95 % interval | pairs | finds | verdict |");
    println!("|---|---|---|---|---|---|---|---|");
    for seed in 1..=times {
        let output = Command::new(env!("CARGO_BIN_EXE_dbdyno"))
            .args(["compare", base, test, "--format", "json", "--seed", &seed.to_string()])
            .args(flags)
            .stderr(Stdio::inherit())
            .output()
            .expect("dbdyno starts");
        let result: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("no result for seed {seed}: {error}"));
        for cell in result["cells"].as_array().expect("cells") {
            let verdict = cell["verdict"].as_str().expect("a verdict");
            println!(
                "| {seed} | {} | {} | {:.4} | {:.4} … {:.4} | {} | {:.1} % | {verdict} |",
                cell["load"].as_str().expect("a load"),
                cell["clients"],
                cell["rqps"].as_f64().expect("rqps"),
                cell["rqps_low"].as_f64().unwrap_or(f64::NEG_INFINITY),
                cell["rqps_high"].as_f64().unwrap_or(f64::INFINITY),
                cell["pairs"],
                100.0 * cell["detectable"].as_f64().unwrap_or(f64::NAN),
            );
            *tally.entry(verdict.to_owned()).or_default() += 1;
        }
    }
    println!("\n{base} against {test}, {times} times: {tally:?}");
}
