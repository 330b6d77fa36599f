//! `perf record` beside what is measured.
//!
//! The software clock is sampled on all processors: virtual machines have no counters, and sampling
//! one process costs it more than sampling all of them does.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use dbdyno_host::{EndSignal, ProgramStream, RunningProgram};
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::child;
use crate::home::create_private;

/// Samples of each processor in a second. Not a round number, so that nothing that happens a
/// thousand times a second is met always or never.
const SAMPLES_PER_S: u32 = 997;
/// How long it may take to begin: it looks at all processes of the host first.
const PATIENCE: Duration = Duration::from_secs(60);
const BREATH: Duration = Duration::from_millis(5);

/// When a stack is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Events {
    /// So often in a second of processor time: where processors are.
    Clock,
    /// Whenever a thread lets its processor go, and when it has one again: where threads wait.
    Switches,
}

impl Events {
    fn words(self) -> Vec<String> {
        let text = match self {
            Events::Clock => format!("-e cpu-clock -F {SAMPLES_PER_S}"),
            // The pages that events are handed over in must not run full.
            Events::Switches => "-e context-switches -c 1 --switch-events -m 8M".to_owned(),
        };
        text.split(' ').map(str::to_owned).collect()
    }
}

/// `perf record`, ready or at work until it is finished or dropped.
#[derive(Debug)]
pub struct Recorder {
    child: Box<dyn RunningProgram>,
    file: PathBuf,
    complaints: PathBuf,
    orders: File,
    answers: File,
}

impl Recorder {
    /// Makes ready to sample all processors into a file of this directory.
    ///
    /// # Errors
    /// What is in the way, and what helps: there is no `perf`, or it may not.
    pub fn start(directory: &Path, events: Events) -> Result<Recorder, String> {
        let (control, orders) = fifo(&directory.join("control"))?;
        let (answer, answers) = fifo(&directory.join("answer"))?;
        let file = directory.join("perf.data");
        let complaints = directory.join("complaints");
        let stderr = create_private(&complaints)
            .map_err(|error| format!("{}: {error}", complaints.display()))?;
        // Time since 1970, as rounds have it; build ids are not needed of files of this host.
        let mut perf = child::machine_tool("perf");
        perf.args(["record", "--quiet", "-a", "-g", "-N", "-B", "-k", "realtime", "-D", "-1"])
            .args(events.words())
            .arg("--control")
            .arg(format!("fifo:{control},{answer}"))
            .arg("-o")
            .arg(&file)
            .stdout(ProgramStream::None)
            .stderr(stderr);
        let child = child::start(perf).map_err(|error| match error.kind() {
            ErrorKind::NotFound => "there is no `perf` on this host; install it (Debian: \
                                        linux-perf, Ubuntu: linux-tools-generic)"
                .to_owned(),
            _ => format!("perf: {error}"),
        })?;
        let mut recorder = Recorder { child, file, complaints, orders, answers };
        recorder.order("ping")?;
        Ok(recorder)
    }

    /// Begins to sample.
    ///
    /// # Errors
    /// The reason why `perf` does not.
    pub fn begin_sampling(&mut self) -> Result<(), String> {
        self.order("enable")
    }

    /// Gives an order and waits until it is carried out.
    fn order(&mut self, order: &str) -> Result<(), String> {
        let told = self.orders.write_all(format!("{order}\n").as_bytes());
        told.map_err(|error| format!("perf: {error}"))?;
        let mut answer = [0; 16];
        for _ in 0..PATIENCE.as_millis() / BREATH.as_millis() {
            match self.answers.read(&mut answer) {
                Ok(bytes) if answer[..bytes].windows(3).any(|word| word == b"ack") => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(format!("perf: {error}")),
            }
            if self.child.try_wait().is_ok_and(|status| status.is_some()) {
                return Err(self.why_it_ended());
            }
            thread::sleep(BREATH);
        }
        Err(format!("perf record does not answer within {} s", PATIENCE.as_secs()))
    }

    fn why_it_ended(&self) -> String {
        let said = std::fs::read_to_string(&self.complaints).unwrap_or_default();
        let said = said.lines().map(str::trim).find(|line| !line.is_empty());
        format!(
            "perf record: {}; sampling all processors needs root, CAP_PERFMON, or \
             kernel.perf_event_paranoid = -1",
            said.unwrap_or("it ended without a word")
        )
    }

    /// Ends sampling; where the samples are.
    ///
    /// # Errors
    /// A file that `perf` did not write to its end.
    pub fn finish(mut self) -> Result<PathBuf, String> {
        self.interrupt();
        let status = self.child.wait().map_err(|error| format!("perf record: {error}"))?;
        let is_there = std::fs::metadata(&self.file).is_ok_and(|file| file.len() > 0);
        if !is_there {
            return Err(format!("perf record ended with {status} and wrote nothing"));
        }
        Ok(self.file.clone())
    }

    /// It writes what it has and ends.
    fn interrupt(&mut self) {
        let _gone = self.child.send_signal(EndSignal::Interrupt);
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.interrupt();
            let _ended = self.child.wait();
        }
    }
}

/// A pipe with a name, whose reader or writer is still to come, as `perf` is to be told it.
fn fifo(path: &Path) -> Result<(String, File), String> {
    let shown = path.display();
    mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR).map_err(|error| format!("{shown}: {error}"))?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(OFlag::O_NONBLOCK.bits());
    let file = options.open(path).map_err(|error| format!("{shown}: {error}"))?;
    Ok((shown.to_string(), file))
}
