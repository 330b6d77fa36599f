//! Programs that we run to their end, and what they complain of.
//!
//! A foreign program is given a time and room for its answer; what exceeds them ends it. Any
//! program ends when this process is to stop.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use dbdyno_host::{Launch, ProgramStream, RunningProgram};

use crate::child;
use crate::clock::Deadline;
use crate::error::SandboxError;

/// Characters of a complaint that are repeated.
const COMPLAINT: usize = 400;
/// How long a pipe may stay open after the end of the program: somebody else has it then.
const SILENCE: Duration = Duration::from_secs(5);

/// Seconds for what takes as long as a network or a disk takes.
const PATIENCE_S: u64 = 24 * 3600;
/// What is read of each output of a program of the machine.
const OUTPUT_BYTES: u64 = 256 << 20;

/// Runs a program to its end.
///
/// # Errors
/// [`SandboxError::Io`] if it cannot be started, or does not end while there is time.
pub(crate) fn run(launch: Launch, tool: &str) -> Result<Output, SandboxError> {
    let failed = SandboxError::spawn(tool);
    let ran = piped(launch, OUTPUT_BYTES).and_then(|spoken| spoken.until_its_end(PATIENCE_S));
    match ran {
        Ok(Some(output)) => Ok(output),
        Ok(None) => Err(failed(io::Error::from(io::ErrorKind::Interrupted))),
        Err(error) => Err(failed(error)),
    }
}

/// What a foreign program may take to answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    /// Of time, and of processor time.
    pub(crate) seconds: u64,
    /// Of each of its two outputs; what comes after them is not read.
    pub(crate) output_bytes: u64,
    /// Of each file that it writes.
    pub(crate) file_bytes: u64,
}

impl Allowance {
    /// For a question that is answered at once, on a machine that has other work.
    pub(crate) const QUESTION: Allowance =
        Allowance { seconds: 30, output_bytes: 64 << 10, file_bytes: 1 << 20 };
    /// For making a new executable out of another.
    pub(crate) const WORK: Allowance =
        Allowance { seconds: 300, output_bytes: 64 << 10, file_bytes: 8 << 30 };
}

/// Runs a foreign program, which starts no other, to its end or to that of its allowance; then
/// there is no answer.
pub(crate) fn run_with_allowance(
    mut launch: Launch,
    allowance: Allowance,
) -> io::Result<Option<Output>> {
    child::limit_resources(&mut launch, allowance.seconds, allowance.file_bytes);
    piped(launch, allowance.output_bytes)?.until_its_end(allowance.seconds)
}

/// A program that runs, and what is heard of it.
struct ToolProcess {
    child: Box<dyn RunningProgram>,
    stdout: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
}

/// Starts a program, of each of whose outputs so many bytes are heard.
fn piped(mut launch: Launch, most: u64) -> io::Result<ToolProcess> {
    launch.stdout(ProgramStream::Pipe).stderr(ProgramStream::Pipe);
    let mut child = child::start(launch)?;
    let (stdout, stderr) = (listen(child.take_output(), most), listen(child.take_errors(), most));
    Ok(ToolProcess { child, stdout, stderr })
}

impl ToolProcess {
    /// Waits for its end; without an output if it had to be killed.
    fn until_its_end(mut self, seconds: u64) -> io::Result<Option<Output>> {
        let deadline = Deadline::after_seconds(seconds);
        let mut has_ended = self.child.has_ended();
        while !has_ended && deadline.pause() {
            has_ended = self.child.has_ended();
        }
        let status = self.child.end_group()?;
        let (stdout, stderr) = (next_message(self.stdout), next_message(self.stderr));
        Ok(has_ended.then_some(Output { status, stdout, stderr }))
    }
}

fn next_message(of: Receiver<Vec<u8>>) -> Vec<u8> {
    of.recv_timeout(SILENCE).unwrap_or_default()
}

/// Hears what comes out of a pipe, and lets go of it after `most` bytes.
fn listen(pipe: Option<impl Read + Send + 'static>, most: u64) -> Receiver<Vec<u8>> {
    let (tell, heard) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error was said all the same.
        let _torn = pipe.map(|pipe| pipe.take(most).read_to_end(&mut bytes));
        let _nobody_waits = tell.send(bytes);
    });
    heard
}

/// Runs a program of the machine that must succeed; if it does not, `place` is what is wrong.
pub(crate) fn run_successfully<A: AsRef<OsStr>>(
    tool: &'static str,
    arguments: impl IntoIterator<Item = A>,
    place: &Path,
) -> Result<Output, SandboxError> {
    let mut launch = child::machine_tool(tool);
    launch.args(arguments);
    let output = run(launch, tool)?;
    if output.status.success() {
        return Ok(output);
    }
    let detail = format!("{tool}: {}", error_summary(&output, &[]));
    Err(SandboxError::Damaged { place: place.to_owned(), detail })
}

/// What a program complained of, in a line, without the account of a mirror or proxy: the first
/// lines that begin with one of `marks`, else the last one.
pub(crate) fn error_summary(output: &Output, marks: &[&str]) -> String {
    let text = String::from_utf8_lossy(if output.stderr.trim_ascii().is_empty() {
        &output.stdout
    } else {
        &output.stderr
    });
    let mut lines: Vec<&str> =
        text.lines().filter(|line| marks.iter().any(|mark| line.starts_with(mark))).collect();
    lines.truncate(3);
    if lines.is_empty() {
        lines.extend(text.lines().rfind(|line| !line.trim().is_empty()));
    }
    let text: String = lines.join(" ").chars().filter(|c| !c.is_control()).collect();
    match text.trim() {
        "" => output.status.to_string(),
        text => without_accounts(text).chars().take(COMPLAINT).collect(),
    }
}

/// Replaces `//user:password@` by `//`.
fn without_accounts(text: &str) -> String {
    let mut parts = text.split("//");
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let authority = part.find(['/', ' ', '\'', '"']).unwrap_or(part.len());
        let host = part[..authority].rfind('@').map_or(0, |at| at + 1);
        clean.push_str("//");
        clean.push_str(&part[host..]);
    }
    clean
}

/// SHA-256 of files, in their order, as hexadecimal digits.
pub(crate) fn sha256(files: &[PathBuf]) -> Result<Vec<String>, SandboxError> {
    let Some(first) = files.first() else { return Ok(Vec::new()) };
    // Without file names in the output, which may be escaped.
    let sum = |file: &PathBuf| {
        let output = run_successfully("sha256sum", ["--zero".as_ref(), file.as_os_str()], first)?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.chars().take_while(char::is_ascii_hexdigit).collect())
    };
    files.iter().map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_do_not_show_the_account_of_a_mirror() {
        let text = "E: Failed to fetch https://bob:s3cret@m.example/debian/dists http://p@q/x//y";
        let clean = without_accounts(text);
        assert_eq!(clean, "E: Failed to fetch https://m.example/debian/dists http://q/x//y");
    }

    #[test]
    fn a_complaint_is_the_marked_lines_or_the_last_one() {
        let said = |script: &str, marks: &[&str]| {
            let mut shell = child::machine_tool("sh");
            shell.args(["-c", script]);
            error_summary(&run(shell, "sh").unwrap(), marks)
        };
        assert_eq!(said("echo talk >&2; echo E: broken >&2; echo end >&2", &["E:"]), "E: broken");
        assert_eq!(said("echo one >&2; echo two >&2; echo >&2", &["E:"]), "two");
        assert_eq!(said("echo out", &[]), "out");
        assert_eq!(said("exit 3", &[]), "exit status: 3");
    }

    fn foreign(script: &str) -> Launch {
        let mut shell = child::foreign_program(Path::new("sh"), Path::new("/"));
        shell.args(["-c", script]);
        shell
    }

    #[test]
    fn an_answer_has_an_end_in_time_and_in_length() {
        let allowance = Allowance { seconds: 1, output_bytes: 4, file_bytes: 1 };
        let said = run_with_allowance(foreign("exec sleep 600"), allowance).unwrap();
        assert!(said.is_none(), "{said:?}");
        let allowance = Allowance { seconds: 600, ..allowance };
        let said = run_with_allowance(foreign("while :; do echo endless; done"), allowance)
            .unwrap()
            .unwrap();
        assert_eq!(said.stdout, b"endl");
        assert!(!said.status.success());
    }

    #[test]
    fn who_answers_starts_nothing_and_writes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        crate::home::set_mode(dir.path(), 0o777).unwrap();
        let file = dir.path().join("x").display().to_string();
        let script = format!("(sleep 600 & echo started) ; yes > {file}");
        let said = run_with_allowance(foreign(&script), Allowance::QUESTION).unwrap().unwrap();
        assert!(!String::from_utf8_lossy(&said.stdout).contains("started"), "{said:?}");
        let written = std::fs::metadata(&file).map_or(0, |file| file.len());
        assert!(written <= Allowance::QUESTION.file_bytes, "{written}");
    }

    #[test]
    fn the_sum_is_that_of_the_standard() {
        // FIPS 180-4's example: SHA-256 of the three bytes "abc".
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a b");
        std::fs::write(&file, "abc").unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&[file]).unwrap(), [abc]);
        assert!(sha256(&[dir.path().join("none")]).is_err());
    }
}
