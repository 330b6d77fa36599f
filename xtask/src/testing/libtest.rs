//! What `cargo test` says, line by line, without a process and without a clock.
//!
//! ```text
//!      Running tests/command/main.rs (target/debug/deps/command-5a…)     binary
//!   test audit::what_differs ... ok <22.986s>                            a time
//!   test runs::listed ... FAILED <0.013s>                                a failure
//!   failures:
//!   ---- runs::listed stdout ----                                        its output, cut
//!   test result: FAILED. 1 passed; 1 failed; …
//!   error: test failed, to rerun pass `-p dbdyno --test command`         or, without a result:
//!     process didn't exit successfully: `…` (signal: 6, SIGABRT: …)      it was killed
//! ```
//!
//! A run prints what people look at: tests, summaries, and of each failure as much as fits on a
//! screen. Tests that print on their own, past the capture of the harness, do so in between; if
//! their binary is killed, the last of it is all there is to go by.

use std::collections::VecDeque;

/// Lines of output that are shown of one failed test.
const SHOWN: usize = 60;

/// Lines of a panic, its place included, that a summary repeats.
const REPEATED: usize = 4;

/// Characters of each of them.
const WIDTH: usize = 400;

/// One test that ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TestTime {
    pub binary: String,
    pub test: String,
    pub seconds: f64,
}

/// A test, behind its binary, or a binary that was killed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TestFailure {
    pub name: String,
    /// The first lines of its panic, with its place: where a log is cut in its middle, as that of a
    /// host which runs the tests for others, its end still says why.
    pub why: Vec<String>,
}

impl TestFailure {
    pub(super) fn new(name: String) -> Self {
        Self { name, why: Vec::new() }
    }
}

/// What a run of tests has said so far.
#[derive(Debug, Default)]
pub(super) struct Reader {
    binary: String,
    place: Place,
    /// What the binary printed that is nothing of the harness.
    stray: VecDeque<String>,
    /// Failures of the binary so far.
    failures: usize,
    /// Those with a time, in the order of their end.
    pub timed: Vec<TestTime>,
    pub failed: Vec<TestFailure>,
}

#[derive(Debug, Default, PartialEq)]
enum Place {
    /// Cargo builds, or sums up.
    #[default]
    Outside,
    /// Tests run.
    Tests,
    /// The outputs of those that failed.
    Output(Output),
    /// A binary has failed, and cargo says how.
    Cause,
}

/// The output of one failed test.
#[derive(Debug, Default, PartialEq)]
struct Output {
    test: String,
    /// Lines so far.
    seen: usize,
    /// A panic has begun.
    has_panicked: bool,
}

impl Reader {
    /// Reads a line and shows what people look at of it.
    pub(super) fn read(&mut self, line: &str, show: &mut dyn FnMut(&str)) {
        if let Some(binary) = binary(line) {
            self.leave_output(show);
            *self = Reader {
                binary,
                place: Place::Tests,
                timed: std::mem::take(&mut self.timed),
                failed: std::mem::take(&mut self.failed),
                ..Reader::default()
            };
            return show(line);
        }
        if let Some(place) = turn(line) {
            self.leave_output(show);
            self.place = place;
            return show(line);
        }
        match &mut self.place {
            Place::Outside => show(line),
            Place::Cause => self.cause(line, show),
            Place::Tests if line == "failures:" => self.place = Place::Output(Output::default()),
            Place::Tests => self.test(line, show),
            Place::Output(_) if line == "failures:" => {
                self.leave_output(show);
                self.place = Place::Tests;
            }
            Place::Output(output) => match heading(line) {
                Some(test) => {
                    self.leave_output(show);
                    self.place = Place::Output(Output { test: test.into(), ..Output::default() });
                    show(line);
                }
                None => {
                    output.seen += 1;
                    if output.seen <= SHOWN {
                        show(line);
                    }
                    self.panic(line);
                }
            },
        }
    }

    /// Keeps the beginning of a panic for the summary.
    fn panic(&mut self, line: &str) {
        let Place::Output(output) = &mut self.place else { return };
        output.has_panicked |= line.contains("panicked at ");
        let name = format!("{}: {}", self.binary, output.test);
        let failed = self.failed.iter_mut().rfind(|failed| failed.name == name);
        if let Some(failed) = failed
            && output.has_panicked
            && failed.why.len() < REPEATED
            && !line.is_empty()
        {
            failed.why.push(line.chars().take(WIDTH).collect());
        }
    }

    /// Ends the output of a failed test.
    fn leave_output(&mut self, show: &mut dyn FnMut(&str)) {
        if let Place::Output(Output { seen, .. }) = self.place
            && seen > SHOWN
        {
            show(&format!("… and {} lines more, in target/tests.log", seen - SHOWN));
        }
    }

    fn test(&mut self, line: &str, show: &mut dyn FnMut(&str)) {
        let Some((test, outcome, seconds)) = ended(line) else {
            if line.starts_with("test ") || line.starts_with("running ") {
                return show(line);
            }
            // Below the outputs of failures their names are repeated.
            if !line.is_empty() && self.failures == 0 {
                self.stray.push_back(line.to_owned());
                if self.stray.len() > SHOWN {
                    self.stray.pop_front();
                }
            }
            return;
        };
        show(line);
        if outcome == "FAILED" {
            self.failures += 1;
            self.failed.push(TestFailure::new(format!("{}: {test}", self.binary)));
        }
        if let Some(seconds) = seconds {
            let (binary, test) = (self.binary.clone(), test.to_owned());
            self.timed.push(TestTime { binary, test, seconds });
        }
    }

    /// A binary without a failed test has not come to its end.
    fn cause(&mut self, line: &str, show: &mut dyn FnMut(&str)) {
        let Some(how) = line.trim().strip_prefix("process didn't exit successfully: ") else {
            return;
        };
        if self.failures == 0 {
            self.stray.iter().for_each(|line| show(line));
            let how = how.rsplit_once("` (").map_or(how, |(_, how)| how.trim_end_matches(')'));
            let name = format!("{}: did not come to its end: {how}", self.binary);
            self.failed.push(TestFailure::new(name));
        }
        show(line);
    }
}

/// `Running unittests src/lib.rs (target/debug/deps/dbdyno_model-0123)`, `Doc-tests dbdyno_model`.
fn binary(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(library) = line.strip_prefix("Doc-tests ") {
        return Some(format!("doc {library}"));
    }
    let (_, path) = line.strip_prefix("Running ")?.rsplit_once(" (")?;
    let file = path.strip_suffix(')')?.rsplit('/').next()?;
    Some(file.rsplit_once('-').map_or(file, |(name, _)| name).to_owned())
}

/// Where a line leads that is never a test's own.
fn turn(line: &str) -> Option<Place> {
    if line.starts_with("test result: ") {
        return Some(Place::Tests);
    }
    let error = line.strip_prefix("error: ")?;
    if error.starts_with("test failed, to rerun") || error.starts_with("doctest failed, to") {
        return Some(Place::Cause);
    }
    let is_sum = error.ends_with(" target failed:") || error.ends_with(" targets failed:");
    is_sum.then_some(Place::Outside)
}

/// The name in `---- NAME stdout ----`.
fn heading(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// `test NAME ... ok <1.234s>`: the name, the outcome, the seconds if they are said.
fn ended(line: &str) -> Option<(&str, &str, Option<f64>)> {
    let (test, outcome) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let test = test.strip_suffix(" - should panic").unwrap_or(test);
    let (outcome, time) = outcome.split_once(" <").unwrap_or((outcome, ""));
    let outcome = outcome.split(',').next()?;
    let seconds = time.strip_suffix("s>").and_then(|seconds| seconds.parse().ok());
    ["ok", "FAILED", "ignored"].contains(&outcome).then_some((test, outcome, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown of a text, and what is known after it.
    fn read(text: &str) -> (String, Reader) {
        let (mut shown, mut reader) = (String::new(), Reader::default());
        for line in text.lines() {
            reader.read(line, &mut |line| shown += &format!("{line}\n"));
        }
        (shown, reader)
    }

    fn names(reader: &Reader) -> Vec<&str> {
        reader.failed.iter().map(|failed| &*failed.name).collect()
    }

    /// Printed by cargo 1.95.
    const RUN: &str = include_str!("libtest.txt");

    #[test]
    fn a_real_run_is_understood() {
        let (shown, reader) = read(RUN);
        let failed = [
            "lt: tests::error",
            "lt: tests::wrong",
            "lt: tests::wrong_too",
            "killed: did not come to its end: signal: 6, SIGABRT: process abort signal",
            "doc lt: src/lib.rs - d (line 10)",
        ];
        assert_eq!(names(&reader), failed);
        let whys: Vec<_> = reader.failed.iter().map(|failed| failed.why.join("|")).collect();
        let wrong = "thread 'tests::wrong' (10936) panicked at src/lib.rs:6:62:|\
                     assertion `left == right` failed: no|  left: 1| right: 2";
        let wrong_too = "thread 'tests::wrong_too' (10937) panicked at src/lib.rs:7:44:|\
                         called `Result::unwrap()` on an `Err` value: \"e\"";
        assert_eq!(whys, ["", wrong, wrong_too, "", ""]);
        let times: Vec<_> =
            reader.timed.iter().map(|timed| (timed.seconds, &*timed.test)).collect();
        let (quick, fine) = ((0.0, "quick"), (22.986, "fine"));
        assert_eq!(times.len(), 7);
        assert_eq!(times[3], (1.5, "tests::panics"));
        assert_eq!(times[5..], [quick, fine]);
        assert_eq!(reader.timed[6].binary, "zfine");
        let kept = |line: &&str| !line.is_empty() && !line.starts_with("failures:");
        let repeated = ["    tests::error", "    tests::wrong", "    tests::wrong_too"];
        let left = RUN.lines().filter(kept).filter(|line| {
            let of_doctests =
                ["    src/", "all doctests"].iter().any(|text| line.starts_with(text));
            !repeated.contains(line) && !of_doctests && *line != "Caused by:"
        });
        let shown: Vec<_> = shown.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(shown, left.collect::<Vec<_>>(), "all else is shown");
    }

    #[test]
    fn a_long_output_is_cut_and_the_next_is_not() {
        let long: String = (0..1_000).map(|number| format!("line {number}\n")).collect();
        let text = format!(
            "     Running tests/a.rs (target/debug/deps/a-0)\n\nrunning 2 tests\n\
             test one ... FAILED <1.000s>\ntest two ... FAILED <1.000s>\n\nfailures:\n\n\
             ---- one stdout ----\n{long}\n---- two stdout ----\nshort\n\n\nfailures:\n    \
             one\n    two\n\ntest result: FAILED. 0 passed; 2 failed; finished in 1.00s\n"
        );
        let (shown, reader) = read(&text);
        assert_eq!(names(&reader), ["a: one", "a: two"]);
        assert!(shown.contains("line 59\n… and 941 lines more, in target/tests.log\n---- two"));
        assert!(shown.contains("short\n\n\ntest result: FAILED. 0 passed; 2 failed;"), "{shown}");
    }

    #[test]
    fn what_was_printed_last_by_one_that_was_killed_is_shown() {
        let talk: String = (0..100).map(|number| format!("error: word {number}\n")).collect();
        let text = format!(
            "     Running tests/a.rs (target/debug/deps/a-0)\n\nrunning 1 test\n{talk}\
             thread 'deep' has overflowed its stack\nerror: test failed, to rerun pass `-p a`\n\n\
             Caused by:\n  process didn't exit successfully: `a` (signal: 11, SIGSEGV: invalid \
             memory reference)\n"
        );
        let (shown, reader) = read(&text);
        let said = "a: did not come to its end: signal: 11, SIGSEGV: invalid memory reference";
        assert_eq!(names(&reader), [said]);
        assert!(!shown.contains("word 40\n") && shown.contains("word 41\n"), "{shown}");
        assert!(shown.contains("overflowed its stack"));
    }
}
