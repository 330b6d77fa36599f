//! Runs the checks one after another, and says at the end what failed and what took how long.
//!
//! ```text
//!   steps ──► processes ──► lines ─┬─► target/tests.log     everything
//!                                  ├─► libtest::Reader ──► terminal    what people look at
//!                                  │        └─► target/tests.tsv       seconds of each test
//!                                  └─► what failed, how long each step took
//! ```
//!
//! What fails ends nothing: a run of minutes that stops at the first failure tells the second one
//! minutes later. Seconds of tests come from the harness, which tells them to `RUSTC_BOOTSTRAP`
//! only; that is set where test programs start, not where they are built, so that nothing is built
//! anew for it.

mod faults;
mod libtest;
mod neighbours;
mod properties;
mod soak;
mod steps;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use libtest::{Reader, TestFailure, TestTime};
use steps::Step;

use crate::place::repository_folder;

/// Everything that `make test` stands for.
pub(crate) fn run_all() -> ExitCode {
    let steps = steps::all_steps();
    let is_built_once = !has_parts(&target());
    ended(run(&if is_built_once { steps::built_once(steps) } else { steps }))
}

/// What is quick: the form of the code, and the tests inside of the crates.
pub(crate) fn run_quick_check() -> ExitCode {
    ended(run(&steps::quick_steps()))
}

/// All property tests, each time with another seed, which is said.
pub(crate) fn run_properties(seeds: &str) -> ExitCode {
    let steps = seeds.parse().map_err(|_| format!("{seeds:?} is no number of seeds"));
    ended(steps.and_then(|seeds| run(&properties::property_steps(seeds)?)))
}

/// The tests that are left to the soak.
pub(crate) fn run_soak() -> ExitCode {
    ended(soak::soak_step().and_then(|step| run(&[step])))
}

/// Faults that tests must notice.
pub(crate) fn faults(word: &str) -> ExitCode {
    ended(faults::plant_faults(repository_folder(), &target(), word))
}

/// Every test so many times, on a host whose processors have other work to do: whatever fails rests
/// on time or luck.
pub(crate) fn repeat(times: &str) -> ExitCode {
    let times = times.parse().map_err(|_| format!("{times:?} is no number of runs"));
    ended(times.and_then(|times| {
        let _busy = neighbours::Busy::start();
        run(&steps::repeated_tests(times))
    }))
}

/// The tests of the last run that took longest.
pub(crate) fn show_slowest(count: &str) -> ExitCode {
    let table = count.parse().map_err(|_| format!("{count:?} is no number of tests"));
    let table = table.and_then(|count| Ok(slowest_of(&read_times()?, count)));
    ended(table.map(|table| {
        print!("{table}");
        true
    }))
}

fn ended(outcome: Result<bool, String>) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::from(2)
        }
    }
}

/// Where cargo builds, and where log and times go.
fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    repository_folder().join(target)
}

/// Whether parts of our crates are kept here, so that the next build is shorter. They make the
/// first one longer, and nobody who clones and tests has a next one.
fn has_parts(target: &Path) -> bool {
    let parts = std::fs::read_dir(target.join("debug/incremental")).into_iter().flatten().flatten();
    parts.into_iter().any(|part| part.file_name().to_string_lossy().starts_with("dbdyno"))
}

/// A step that has ended.
struct StepEnd<'a> {
    step: &'a Step,
    took: Duration,
    /// What failed in it.
    failed: Vec<TestFailure>,
}

fn run(steps: &[Step]) -> Result<bool, String> {
    let told = |error: std::io::Error| format!("{}: {error}", target().display());
    std::fs::create_dir_all(target()).map_err(told)?;
    let mut log = File::create(target().join("tests.log")).map_err(told)?;
    let (mut ended, mut timed) = (Vec::new(), Vec::new());
    for step in steps {
        let heading = format!("── {}: {}", step.name, step.command_line());
        println!("{heading}");
        writeln!(log, "{heading}").map_err(told)?;
        let began = now();
        let mut reader = Reader::default();
        let outcome = follow(step, &mut log, &mut reader);
        timed.append(&mut reader.timed);
        let mut failed = reader.failed;
        if let (Err(error), true) = (outcome, failed.is_empty()) {
            failed.push(TestFailure::new(error));
        }
        ended.push(StepEnd { step, took: now() - began, failed });
    }
    std::fs::write(target().join("tests.tsv"), table(&timed)).map_err(told)?;
    let summary = summary(&ended);
    print!("{summary}");
    write!(log, "{summary}").map_err(told)?;
    Ok(ended.iter().all(|step| step.failed.is_empty()))
}

#[expect(clippy::disallowed_methods, reason = "what took how long is the answer asked for")]
fn now() -> Instant {
    Instant::now()
}

/// Runs a step to its end; what it prints goes through one pipe, so that it stays in order.
fn follow(step: &Step, log: &mut File, reader: &mut Reader) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", step.program);
    let (output, input) = std::io::pipe().map_err(told)?;
    let mut command = Command::new(&step.program);
    command.args(&step.arguments).envs(step.environment.iter().cloned());
    command.current_dir(repository_folder());
    command.stdout(input.try_clone().map_err(told)?).stderr(input);
    let mut child = command.spawn().map_err(told)?;
    // Its ends of the pipe are closed here, or the output would never end.
    drop(command);
    let (mut output, mut line) = (BufReader::new(output), Vec::new());
    while output.read_until(b'\n', &mut line).map_err(told)? > 0 {
        log.write_all(&line).map_err(told)?;
        let text = String::from_utf8_lossy(&line);
        reader.read(text.trim_end_matches('\n'), &mut |line| println!("{line}"));
        line.clear();
    }
    let status = child.wait().map_err(told)?;
    if status.success() { Ok(()) } else { Err(status.to_string()) }
}

/// Seconds of each step, and what failed.
fn summary(ended: &[StepEnd]) -> String {
    let mut text = "\n".to_owned();
    for StepEnd { step, took, failed } in ended {
        let mark = if failed.is_empty() { "" } else { "   failed" };
        let _ = writeln!(text, "{:>8.1} s  {}{mark}", took.as_secs_f64(), step.name);
    }
    let count: usize = ended.iter().map(|step| step.failed.len()).sum();
    if count > 0 {
        let _ = writeln!(text, "\nfailed ({count}), all output is in target/tests.log:");
    }
    for StepEnd { step, failed, .. } in ended {
        for TestFailure { name, why } in failed {
            let _ = writeln!(text, "  {}: {name}", step.name);
            why.iter().for_each(|line| text += &format!("      {line}\n"));
        }
    }
    text
}

fn table(timed: &[TestTime]) -> String {
    timed
        .iter()
        .map(|timed| format!("{:.3}\t{}\t{}\n", timed.seconds, timed.binary, timed.test))
        .collect()
}

fn read_times() -> Result<Vec<TestTime>, String> {
    let path = target().join("tests.tsv");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("{}: {error}; run cargo xtask test first", path.display()))?;
    text.lines()
        .map(|line| test_time(line).ok_or_else(|| format!("{}: {line:?}", path.display())))
        .collect()
}

fn test_time(line: &str) -> Option<TestTime> {
    let mut parts = line.splitn(3, '\t');
    let seconds = parts.next()?.parse().ok()?;
    let (binary, test) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    Some(TestTime { binary, test, seconds })
}

fn slowest_of(timed: &[TestTime], count: usize) -> String {
    let sum = timed.iter().fold(0.0, |sum, timed| sum + timed.seconds);
    let mut order: Vec<&TestTime> = timed.iter().collect();
    order.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    let rows: String = order
        .iter()
        .take(count)
        .map(|timed| {
            let share = 100.0 * timed.seconds / sum.max(f64::MIN_POSITIVE);
            format!("{:>9.3} s {share:>5.1} %  {} {}\n", timed.seconds, timed.binary, timed.test)
        })
        .collect();
    format!("{rows}{sum:>9.3} s 100.0 %  {} tests\n", timed.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(binary: &str, test: &str, seconds: f64) -> TestTime {
        TestTime { binary: binary.into(), test: test.into(), seconds }
    }

    #[test]
    fn the_slowest_come_first_with_their_share() {
        let times = [timed("a", "one", 1.0), timed("b", "two", 2.5), timed("a", "three", 1.5)];
        assert_eq!(
            slowest_of(&times, 2),
            "    2.500 s  50.0 %  b two\n    1.500 s  30.0 %  a three\n    5.000 s 100.0 %  3 tests\n"
        );
        assert_eq!(slowest_of(&[], 2), "    0.000 s 100.0 %  0 tests\n");
    }

    #[test]
    fn a_summary_has_all_steps_and_all_failures() {
        let steps = steps::quick_steps();
        let ended = |step, failed: &[&str]| StepEnd {
            step,
            took: Duration::from_millis(61_040),
            failed: failed
                .iter()
                .map(|&name| TestFailure {
                    why: vec!["why".into()],
                    ..TestFailure::new(name.into())
                })
                .collect(),
        };
        let step = |name: &str| steps.iter().find(|step| step.name == name).unwrap();
        let text =
            summary(&[ended(step("format"), &[]), ended(step("clippy"), &["exit status: 1"])]);
        assert_eq!(
            text,
            "\n    61.0 s  format\n    61.0 s  clippy   failed\n\nfailed (1), all output is in \
             target/tests.log:\n  clippy: exit status: 1\n      why\n"
        );
    }

    /// That of this program is always there, for it is what looks.
    #[test]
    fn a_clone_in_which_nobody_has_built_has_no_parts() {
        let folder = std::env::temp_dir().join(format!("xtask-parts-{}", std::process::id()));
        let parts = folder.join("debug/incremental");
        assert!(!has_parts(&folder));
        std::fs::create_dir_all(parts.join("xtask-0a")).unwrap();
        assert!(!has_parts(&folder));
        std::fs::create_dir(parts.join("dbdyno_model-0b")).unwrap();
        assert!(has_parts(&folder));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// A step that fails and one that cannot be started end as failures, and nothing else does.
    #[test]
    fn what_cannot_run_has_failed() {
        let folder = std::env::temp_dir().join(format!("xtask-steps-{}", std::process::id()));
        let mut log = File::create(&folder).unwrap();
        let mut follow =
            |line: &[&str]| follow(&Step::new("s", line), &mut log, &mut Reader::default());
        assert_eq!(follow(&["true"]), Ok(()));
        assert_eq!(follow(&["false"]), Err("exit status: 1".to_owned()));
        assert!(follow(&["sh", "-c", "echo one; echo two >&2"]).is_ok());
        assert!(follow(&["no-such-program-as-this"]).is_err());
        assert_eq!(std::fs::read_to_string(&folder).unwrap(), "one\ntwo\n");
        std::fs::remove_file(&folder).unwrap();
    }

    /// Cargo sets it for everything that it runs.
    #[test]
    fn cases_of_properties_are_the_same_in_every_run() {
        let seed = std::env::var("PROPTEST_RNG_SEED").expect("it stands in .cargo/config.toml");
        assert!(seed.parse::<u64>().is_ok(), "{seed:?}");
    }
}
