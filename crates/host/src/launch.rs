//! A program as it is to be started: what it is told, what it may, and what it may not.
//!
//! ```text
//!   Launch ── which program, arguments, environment, directory, three streams
//!          ├─ fate     ends with the thread that started it, or outlives us
//!          ├─ seat     the terminal, out of its reach, or a session of its own without one
//!          ├─ rights   ours, or none: account, capabilities, privileges, core files
//!          ├─ limits   of processor time, of files that it writes, of processes
//!          └─ ground   control groups that it lives in, and what it finds as /etc/hosts
//! ```
//!
//! It is data: who prepares one touches nothing of the machine, and what a program is given can be
//! read before it runs. Whatever it is, it inherits no file but its three streams, and makes files
//! that others cannot write.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A program as it is to be started. As it is made it has no environment, no input, and what it
/// says is ours to hear on our own streams; it ends with us and is out of the terminal's reach.
pub struct Launch {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    pub(crate) has_our_environment: bool,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) input: ProgramStream,
    pub(crate) output: ProgramStream,
    pub(crate) errors: ProgramStream,
    pub(crate) fate: ProgramFate,
    pub(crate) seat: TerminalSeat,
    pub(crate) rights: ProgramRights,
    pub(crate) limits: ProgramLimits,
    /// Files `cgroup.procs` of the groups that it lives in.
    pub(crate) groups: Vec<File>,
    /// What it finds in the place of `/etc/hosts`.
    pub(crate) hosts: Option<HostsFile>,
}

/// One of the three streams of a program.
#[derive(Debug, Default)]
pub enum ProgramStream {
    /// Nothing comes, and nothing is kept.
    #[default]
    None,
    /// Ours: the terminal, as a rule.
    Ours,
    /// The other end is with the [`RunningProgram`](crate::RunningProgram) program.
    Pipe,
    /// A file.
    File(File),
}

/// What becomes of a program when we end, however we end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramFate {
    /// It is killed when the thread ends that started it.
    EndsWithThread,
    /// It goes on.
    Outlives,
}

/// Where a program is towards the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalSeat {
    /// On it, as we are.
    Terminal,
    /// In a process group of its own: what is typed is not for it.
    Apart,
    /// In a session of its own, which has no terminal into which it could type (TIOCSTI).
    Session,
}

/// In whose name a program acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramRights {
    /// In ours, with all that we may.
    Ours,
    /// Without capabilities, new privileges and core files; as this account, and without other
    /// groups, where one is named.
    None(Option<u32>),
}

/// To what the kernel holds a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramLimits {
    /// It is one thread, and starts nothing.
    pub is_alone: bool,
    /// Seconds of processor time.
    pub cpu_s: Option<u64>,
    /// Bytes of each file that it writes.
    pub file_bytes: Option<u64>,
}

/// A view of its own of one file: the program finds this in the place of `/etc/hosts`, and
/// everybody else finds what was there. In a mount namespace, for which a user namespace gives the
/// right, with the same account in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostsFile {
    /// What it finds.
    pub file: PathBuf,
    /// The account and the group that it has inside and outside.
    pub account: (u32, u32),
}

impl Launch {
    /// Of this program, by its path or by a name that the machine looks up.
    pub fn new(program: impl AsRef<OsStr>) -> Launch {
        Launch {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            has_our_environment: false,
            directory: None,
            input: ProgramStream::None,
            output: ProgramStream::Ours,
            errors: ProgramStream::Ours,
            fate: ProgramFate::EndsWithThread,
            seat: TerminalSeat::Apart,
            rights: ProgramRights::Ours,
            limits: ProgramLimits::default(),
            groups: Vec::new(),
            hosts: None,
        }
    }

    /// Adds an argument.
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Launch {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(&mut self, arguments: impl IntoIterator<Item = A>) -> &mut Launch {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Has it find a variable in its environment.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Launch {
        self.environment.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Has it find our environment beside its own.
    pub fn with_our_environment(&mut self) -> &mut Launch {
        self.has_our_environment = true;
        self
    }

    /// Has it begin in this directory; without one, in ours.
    pub fn current_dir(&mut self, directory: impl AsRef<Path>) -> &mut Launch {
        self.directory = Some(directory.as_ref().to_owned());
        self
    }

    /// Where it reads from.
    pub fn stdin(&mut self, stream: impl Into<ProgramStream>) -> &mut Launch {
        self.input = stream.into();
        self
    }

    /// Where what it says goes.
    pub fn stdout(&mut self, stream: impl Into<ProgramStream>) -> &mut Launch {
        self.output = stream.into();
        self
    }

    /// Where its complaints go.
    pub fn stderr(&mut self, stream: impl Into<ProgramStream>) -> &mut Launch {
        self.errors = stream.into();
        self
    }

    /// What becomes of it when we end.
    pub fn with_fate(&mut self, fate: ProgramFate) -> &mut Launch {
        self.fate = fate;
        self
    }

    /// Where it is towards the terminal.
    pub fn with_terminal_seat(&mut self, seat: TerminalSeat) -> &mut Launch {
        self.seat = seat;
        self
    }

    /// In whose name it acts.
    pub fn with_rights(&mut self, rights: ProgramRights) -> &mut Launch {
        self.rights = rights;
        self
    }

    /// To what it is held.
    pub fn with_limits(&mut self, limits: ProgramLimits) -> &mut Launch {
        self.limits = limits;
        self
    }

    /// Has it live in a control group from its first instruction on. The file is its
    /// `cgroup.procs`, which was opened while there was the right to.
    pub fn in_group(&mut self, processes: File) -> &mut Launch {
        self.groups.push(processes);
        self
    }

    /// Has it find this as `/etc/hosts`.
    pub fn with_hosts(&mut self, hosts: HostsFile) -> &mut Launch {
        self.hosts = Some(hosts);
        self
    }

    /// The program.
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// Its arguments.
    pub fn arguments(&self) -> &[OsString] {
        &self.arguments
    }

    /// Its own variables.
    pub fn environment(&self) -> &BTreeMap<OsString, OsString> {
        &self.environment
    }
}

impl From<File> for ProgramStream {
    fn from(file: File) -> ProgramStream {
        ProgramStream::File(file)
    }
}

/// Without the values of variables, which may be passwords.
impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch")
            .field("program", &self.program)
            .field("arguments", &self.arguments)
            .field("variables", &self.environment.keys())
            .field("ours", &self.has_our_environment)
            .field("fate", &self.fate)
            .field("seat", &self.seat)
            .field("rights", &self.rights)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_shows_no_value_of_its_environment() {
        let mut launch = Launch::new("psql");
        launch.arg("-h").env("PGPASSWORD", "s3cret");
        let shown = format!("{launch:?}");
        assert!(shown.contains("PGPASSWORD") && !shown.contains("s3cret"), "{shown}");
    }
}
