//! The reference engine in a process of its own: this program, started again to serve it.
//!
//! ```text
//!   run/NAME-PID-N/ ── dbdyno engine serve --data … ──▶ prints its URL ──▶ EngineServer
//!        ▲                                                                    │
//!        └── SIGTERM: what was committed is durable ◀── restart, stop ────────┘
//! ```
//!
//! It dies with us as all servers do, and whoever wants to log in has to know its random password.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::ExitStatus;

use dbdyno_host::{EndSignal, ProgramStream, SharedMachine};
use dbdyno_model::{ArmSpec, Design, Secret, Target, Transport};
use dbdyno_wire::{Endpoint, Security};

use crate::bootstrap::{DATABASE, USER, random_password};
use crate::child::{self, GuardedChild};
use crate::claim::Scratch;
use crate::clock::Deadline;
use crate::error::SandboxError;
use crate::home::{Home, create_private};
use crate::process::{Identity, keep_on};

/// Seconds for a clean end, which flushes the log.
const STOP_WITHIN_S: u64 = 60;
const LOG_LINES: usize = 12;

/// A server of the reference engine that runs. Dropping it kills it and removes its directory.
pub struct EngineServer {
    // Fields are dropped in this order: the process before the directory.
    kept: Option<GuardedChild>,
    machine: SharedMachine,
    what: String,
    design: String,
    password: Secret,
    port: u16,
    scratch: Scratch,
}

impl EngineServer {
    /// Starts one of this design on no tables and a free port of 127.0.0.1. `name` tells it from
    /// others of this process.
    ///
    /// # Errors
    /// [`SandboxError::StartFailed`] with what it said, [`SandboxError::Io`].
    pub fn start(
        home: &Home,
        design: &Design,
        name: &str,
        progress: &mut dyn FnMut(&str),
    ) -> Result<EngineServer, SandboxError> {
        let scratch = home.create_scratch(name, progress)?;
        let spec = ArmSpec {
            target: Target::Engine(*design),
            slow: 0.0,
            record: dbdyno_model::TransactionRecording::default(),
            begin: dbdyno_model::Begin::default(),
        };
        let mut server = EngineServer {
            kept: None,
            machine: home.machine().clone(),
            what: format!("{spec} ({name})"),
            design: spec.to_string(),
            password: Secret::new(random_password()?),
            port: 0,
            scratch,
        };
        server.launch()?;
        Ok(server)
    }

    /// Where it listens, and the account to use.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint {
            transport: Transport::Tcp("127.0.0.1".to_owned(), self.port),
            user: USER.to_owned(),
            password: self.password.clone(),
            database: DATABASE.to_owned(),
            security: Security::without_tls(),
        }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.kept.as_ref().map_or(0, |kept| kept.child.pid())
    }

    /// Keeps all its threads, and those that it makes from now on, on these processors.
    ///
    /// # Errors
    /// [`SandboxError::Io`] if the kernel refuses one of the processors.
    pub fn pin_to_processors(&self, processors: &[usize]) -> Result<(), SandboxError> {
        let place = || -> std::io::Result<()> {
            let identity: Vec<_> =
                Identity::of_process(&*self.machine, self.pid()).into_iter().collect();
            // Twice, because a thread may have been made by one that had not had its turn.
            keep_on(&*self.machine, &identity, processors)?;
            keep_on(&*self.machine, &identity, processors)
        };
        place().map_err(SandboxError::io("place on processors", self.scratch.path()))
    }

    /// Ends it as a user would and starts it again on the same tables, on another port.
    ///
    /// # Errors
    /// Those of [`EngineServer::start`] and [`EngineServer::stop`]; it is down then.
    pub fn restart(&mut self) -> Result<(), SandboxError> {
        self.end()?;
        self.launch()
    }

    /// Ends it as a user would, and removes its directory.
    ///
    /// # Errors
    /// [`SandboxError::StopFailed`] if it had ended by itself, or had to be killed.
    pub fn stop(mut self) -> Result<(), SandboxError> {
        self.end()
    }

    fn launch(&mut self) -> Result<(), SandboxError> {
        let program = std::env::current_exe().map_err(SandboxError::spawn("dbdyno"))?;
        let log = self.log();
        let file = create_private(&log).map_err(SandboxError::io("create", &log))?;
        let mut command = child::own_program(&program);
        command.env("DBDYNO_ENGINE_PASSWORD", self.password.expose());
        command.args(["engine", "serve", "--listen", "127.0.0.1:0", "--user", USER]);
        command.args(["--database", DATABASE, "--design", &self.design]);
        command.arg("--data").arg(self.scratch.path().join("data"));
        command.stdout(ProgramStream::Pipe).stderr(file);
        let shown = program.display().to_string();
        let mut kept =
            GuardedChild::start(&self.machine, command).map_err(SandboxError::spawn(&shown))?;
        let mut line = String::new();
        if let Some(stdout) = kept.child.take_output() {
            // Without the line it has ended, or said something else; either is told below.
            let _ = BufReader::new(stdout).read_line(&mut line);
        }
        self.kept = Some(kept);
        let port = line.trim().rsplit_once('/').and_then(|(url, _)| url.rsplit_once(':'));
        let port = port.and_then(|(_, port)| port.parse().ok());
        self.port = port.ok_or_else(|| self.failed("did not begin to serve"))?;
        Ok(())
    }

    fn end(&mut self) -> Result<(), SandboxError> {
        let ended = self.shut_down();
        drop(self.kept.take());
        let how = match ended {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => format!("ended with {status}"),
            Ok(None) => format!("did not end within {STOP_WITHIN_S} s and was killed"),
            Err(error) => format!("could not be waited for: {error}"),
        };
        let log = child::last_lines(&self.log(), LOG_LINES);
        Err(SandboxError::StopFailed { what: format!("{} {how}", self.what), log })
    }

    fn shut_down(&mut self) -> std::io::Result<Option<ExitStatus>> {
        let Some(kept) = &mut self.kept else { return Ok(None) };
        if let Some(status) = kept.child.try_wait()? {
            return Ok(Some(status));
        }
        kept.child.send_signal(EndSignal::Terminate)?;
        let deadline = Deadline::after_seconds(STOP_WITHIN_S);
        while deadline.pause() {
            if let Some(status) = kept.child.try_wait()? {
                return Ok(Some(status));
            }
        }
        Ok(None)
    }

    fn log(&self) -> PathBuf {
        self.scratch.path().join("log")
    }

    fn failed(&self, how: &str) -> SandboxError {
        let log = child::last_lines(&self.log(), LOG_LINES);
        SandboxError::StartFailed { what: format!("{} {how}", self.what), log }
    }
}

impl std::fmt::Debug for EngineServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, pid {}, port {}", self.what, self.pid(), self.port)
    }
}
