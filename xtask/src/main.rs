//! Tasks of this repository.
//!
//! `cargo xtask tidy` checks the rules of `docs/STYLE.md` that a program can check. It is a test as
//! well: `cargo test -p xtask`. `cargo xtask test` is what `make test` runs; it lists
//! at the end what failed. `cargo xtask servers` gets, starts and stops every server of the
//! catalogue and writes `docs/SERVERS.md`; the program is a benchmark of the crate `sandbox`.
//! `cargo xtask calibrate` counts how often verdicts are right and writes `docs/CALIBRATION.md`;
//! the programs are benchmarks of the crates `stats`, for what is simulated, and `dbdyno`.
//! `cargo xtask third-parties` checks what others have made, and writes their notices.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the program of this repository")]

mod place;
mod testing;
mod third_party;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use place::repository_folder;

const USAGE: &str = "\
usage: cargo xtask tidy                check the rules of docs/STYLE.md
       cargo xtask counted             where those are broken that may be for now
       cargo xtask third-parties       check licences and sources of dependencies by deny.toml
       cargo xtask third-parties FILE  write their notices
       cargo xtask test                run every check and every test; list what failed
       cargo xtask check               of these, what takes a few minutes
       cargo xtask soak                run the tests that are left to make soak
       cargo xtask repeat TIMES        run every test so many times on a busy host
       cargo xtask faults [WORD]       plant faults that the tests of whole runs must notice
       cargo xtask properties SEEDS    run the property tests with so many fresh seeds
       cargo xtask slowest [N]         the slowest tests of the last run
       cargo xtask servers [TARGET…]   try every server and write docs/SERVERS.md
       cargo xtask calibrate           count how often verdicts are right, write docs/CALIBRATION.md
       cargo xtask calibrate runs [SHARE [ROWS]]
                                       and whole runs on models, half an hour; or a share of them
       cargo xtask calibrate measure BASE TEST [TEST…] TIMES [flags of `dbdyno compare`]
                                       and add comparisons on real servers to it";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["counted"] => report(tidy::counted_violations(repository_folder())),
        ["tidy"] => report(tidy::check_repository(repository_folder())),
        ["third-parties"] => third_parties(third_party::check_packages()),
        ["third-parties", path] => {
            third_parties(third_party::write_notices(Path::new(path)).map(|count| {
                println!("{count} packages in {path}");
                Vec::new()
            }))
        }
        ["test"] => testing::run_all(),
        ["check"] => testing::run_quick_check(),
        ["soak"] => testing::run_soak(),
        ["faults"] => testing::faults(""),
        ["faults", word] => testing::faults(word),
        ["repeat", times] => testing::repeat(times),
        ["properties", seeds] => testing::run_properties(seeds),
        ["slowest"] => testing::show_slowest("20"),
        ["slowest", count] => testing::show_slowest(count),
        ["servers", ..] => servers(&arguments[1..]),
        ["calibrate"] => told(&calibrated(&[])),
        ["calibrate", "runs"] => whole_runs(&["1"]),
        ["calibrate", "runs", ref share @ ..] => whole_runs(share),
        ["calibrate", "measure", _, _, _, ..] => {
            match bench("dbdyno", "verdicts", &measured(&arguments[2..])).status() {
                Ok(status) if status.success() => told(&calibration_of_servers()),
                _ => ExitCode::FAILURE,
            }
        }
        ["--help" | "-h" | "help"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn servers(targets: &[String]) -> ExitCode {
    let status = bench("dbdyno-sandbox", "servers", targets).status();
    if status.is_ok_and(|status| status.success()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The folder of what was measured on real servers.
const CALIBRATION: &str = "docs/calibration";

/// The arguments of a series of comparisons: the file, and what is compared.
fn measured(comparison: &[String]) -> Vec<String> {
    let file = repository_folder().join(CALIBRATION).join("measured.csv");
    [&[file.to_string_lossy().into_owned()], comparison].concat()
}

/// Counts whole runs on models, keeps the counts, and writes their section.
fn whole_runs(arguments: &[&str]) -> ExitCode {
    let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
    let output = bench("dbdyno", "whole_runs", &arguments).stderr(Stdio::inherit()).output();
    let file = repository_folder().join(CALIBRATION).join("whole_runs.csv");
    match output {
        Ok(output) if output.status.success() => {
            let before = std::fs::read_to_string(&file).unwrap_or_default();
            let rows = renewed(&before, &String::from_utf8_lossy(&output.stdout));
            let written = std::fs::write(&file, rows);
            let page = written.map_err(|error| format!("{}: {error}", file.display()));
            told(&page.and_then(|()| calibration_of_servers()))
        }
        _ => ExitCode::FAILURE,
    }
}

/// The rows of series that were counted anew in place of those of the same number.
fn renewed(before: &str, counted: &str) -> String {
    let is_new =
        |line: &&str| counted.lines().any(|new| series_of_line(new) == series_of_line(line));
    let kept = before.lines().skip(1).filter(|line| !is_new(line));
    let mut rows: Vec<&str> = kept.chain(counted.lines().skip(1)).collect();
    rows.sort_by_key(|line| series_of_line(line));
    let head = counted.lines().next().unwrap_or_default();
    std::iter::once(head).chain(rows).flat_map(|line| [line, "\n"]).collect()
}

fn series_of_line(line: &str) -> Option<u32> {
    line.split(',').next().and_then(|number| number.parse::<u32>().ok())
}

/// The page that says how often verdicts are right.
fn page() -> PathBuf {
    repository_folder().join("docs/CALIBRATION.md")
}

/// Counts how often verdicts are right; all of the page, or the part of this name.
fn calibrated(part: &[String]) -> Result<String, String> {
    let folder = repository_folder().join(CALIBRATION).to_string_lossy().into_owned();
    let arguments = [&[folder], part].concat();
    let output = bench("dbdyno-stats", "calibrate", &arguments).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| error.to_string())?;
    if output.status.success() {
        String::from_utf8(output.stdout).map_err(|error| error.to_string())
    } else {
        Err("the program that counts has failed".to_owned())
    }
}

/// The page with its last sections, about whole runs and real servers, made anew: what is simulated
/// of the statistics takes minutes, and does not change when something is measured.
fn calibration_of_servers() -> Result<String, String> {
    let sections = calibrated(&["measured".to_owned()])?;
    let heading = sections.lines().next().unwrap_or_default();
    let page = std::fs::read_to_string(page()).map_err(|error| error.to_string())?;
    let (simulated, _) = page.split_once(heading).ok_or_else(|| {
        format!("docs/CALIBRATION.md has no {heading:?}: run cargo xtask calibrate")
    })?;
    Ok(simulated.to_owned() + &sections)
}

/// Writes the page.
fn told(text: &Result<String, String>) -> ExitCode {
    let written = text.as_ref().map_err(String::clone).and_then(|text| {
        std::fs::write(page(), text).map_err(|error| format!("{}: {error}", page().display()))
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("calibrate: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A benchmark of this repository.
fn bench(package: &str, name: &str, arguments: &[String]) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["bench", "--quiet", "--package", package, "--bench", name, "--"]);
    cargo.args(arguments).current_dir(repository_folder());
    cargo
}

/// Says what speaks against dependencies.
fn third_parties(outcome: Result<Vec<String>, String>) -> ExitCode {
    match outcome {
        Ok(found) if found.is_empty() => ExitCode::SUCCESS,
        Ok(found) => {
            found.iter().for_each(|sentence| println!("{sentence}"));
            eprintln!("third parties: see deny.toml, which says what is allowed");
            ExitCode::FAILURE
        }
        Err(message) => {
            eprintln!("third parties: {message}");
            ExitCode::from(2)
        }
    }
}

fn report(outcome: Result<Vec<tidy::Violation>, String>) -> ExitCode {
    match outcome {
        Ok(violations) if violations.is_empty() => ExitCode::SUCCESS,
        Ok(violations) => {
            for violation in &violations {
                println!("{violation}");
            }
            eprintln!("tidy: {} to mend", violations.len());
            ExitCode::FAILURE
        }
        Err(message) => {
            eprintln!("tidy: {message}");
            ExitCode::from(2)
        }
    }
}
