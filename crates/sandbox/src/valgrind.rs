//! Programs under callgrind, which counts what they execute.
//!
//! ```text
//!   Debian's package ─▶ HOME/tools/valgrind-SUITE       one .deb, unpacked, not installed
//!                              │
//!        valgrind's own binary ┴─ runs ─▶ mariadbd, postgres, dbdyno ──▶ out.PID, out.PID.1 …
//! ```
//!
//! The tool binary is static and is executed as it is, with the two variables that its launcher
//! would have set; so the package needs no libraries of its suite, and what runs is a direct child
//! of ours like any server, with the same parent-death signal.
//!
//! Nobody talks to a program that is being counted: valgrind's own way to do so (`vgdb`) stops a
//! server for good if it is interrupted, and does not reach a server whose threads are all asleep.
//! Instead callgrind is told *functions*: one inside of which it counts, and one after whose return
//! it writes what was counted since the last time. For a server with a thread for each connection
//! these are "carry out a command" and "the connection's state is destroyed"; so each connection
//! has a file of its own, and threads that work in the background are in none. Reading what the
//! client says is left out, because waiting for it is in there. PostgreSQL has a
//! process for each connection, which writes its file as it ends.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use dbdyno_host::{Launch, ProgramStream, local_machine};
use dbdyno_model::{Dialect, Product};

use crate::apt::Apt;
use crate::child::{self, GuardedChild};
use crate::clock::Deadline;
use crate::error::SandboxError;
use crate::home::{Home, create_private};
use crate::relocate;
use crate::space;
use crate::tool::{Allowance, run_with_allowance};

/// The suite whose valgrind is used, whatever the machine runs: counts of two machines are then
/// those of one tool. It is a stable one, so that they stay so.
const SUITE: &str = "trixie";
/// Packages that valgrind's asks for and that counting does without: its launcher, the debugger
/// and the symbols of a C library that is not the server's.
const ASSUMED: [&str; 6] = ["libc6", "libc6-dbg", "libgcc-s1", "gdb", "perl", "perl-base"];
/// Unpacked, in MB, and the package itself.
const NEEDED_MB: u64 = 120;
/// Seconds in which a question is answered, whatever it asks for: many operations of a large table.
const ANSWER_WITHIN_S: u64 = 24 * 3600;
/// Lines of a log that are repeated.
const LOG_LINES: usize = 12;

/// A valgrind that can be used.
#[derive(Clone, Debug)]
pub struct Valgrind {
    tool: PathBuf,
    launcher: PathBuf,
    library: PathBuf,
    /// Its version: `3.24.0`.
    pub version: String,
}

impl Valgrind {
    /// The valgrind of the home; got from Debian's packages if it is not there yet.
    ///
    /// # Errors
    /// [`SandboxError::NotReachable`], [`SandboxError::NoSpace`], [`SandboxError::MissingTool`],
    /// [`SandboxError::Damaged`] if it does not run here.
    pub fn get(home: &Home, progress: &mut dyn FnMut(&str)) -> Result<Valgrind, SandboxError> {
        let tree = home.dir().join("tools").join(format!("valgrind-{SUITE}"));
        if !tree.is_dir() {
            let _lock = home.lock(progress)?;
            if !tree.is_dir() {
                unpack(home, &tree, progress)?;
            }
        }
        Valgrind::in_tree(&tree)
    }

    fn in_tree(tree: &Path) -> Result<Valgrind, SandboxError> {
        let library = tree.join("usr/libexec/valgrind");
        let damaged =
            |detail: &str| SandboxError::Damaged { place: tree.into(), detail: detail.into() };
        let entries = fs::read_dir(&library).into_iter().flatten().flatten();
        let tool = entries.map(|entry| entry.path()).find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("callgrind-") && name.ends_with("-linux")
        });
        let tool = tool.ok_or_else(|| damaged("there is no callgrind in it"))?;
        let launcher = tree.join("usr/bin/valgrind.bin");
        let mut valgrind = Valgrind { tool, launcher, library, version: String::new() };
        let mut ask = child::foreign_program(&valgrind.tool, tree);
        valgrind.introduce(&mut ask);
        ask.arg("--version");
        let said = run_with_allowance(ask, Allowance::QUESTION);
        let said = said.map_err(SandboxError::io("run", &valgrind.tool))?;
        let said = said.filter(|said| said.status.success());
        let text =
            said.map(|said| String::from_utf8_lossy(&said.stdout).into_owned()).unwrap_or_default();
        match text.trim().strip_prefix("valgrind-") {
            Some(version) => valgrind.version = version.to_owned(),
            None => return Err(damaged(&format!("callgrind says {:?}", text.trim()))),
        }
        Ok(valgrind)
    }

    /// What the launcher would tell the tool.
    fn introduce(&self, command: &mut Launch) {
        command.env("VALGRIND_LIB", &self.library).env("VALGRIND_LAUNCHER", &self.launcher);
    }

    /// The same program with the same arguments, environment and directory, under callgrind, whose
    /// files go to `files`. What else was prepared of `program` is lost.
    pub(crate) fn wrap_program(
        &self,
        program: &Launch,
        files: &Path,
        marks: &[OsString],
        mut fresh: Launch,
    ) -> Launch {
        let out = format!("--callgrind-out-file={}/out.%p", files.display());
        fresh.args(["--tool=callgrind", "--vgdb=no", "--trace-children=yes", &out]);
        // Threads take turns fairly: a client that waits is not kept from the lock by a spinner.
        fresh.arg("--fair-sched=try").args(marks);
        fresh.arg(program.program()).args(program.arguments());
        for (name, value) in program.environment() {
            fresh.env(name, value);
        }
        self.introduce(&mut fresh);
        fresh
    }

    /// A command of valgrind's binary, for a server.
    pub(crate) fn around_server(&self, work: &Path) -> Launch {
        child::foreign_program(&self.tool, work)
    }

    /// A command of valgrind's binary, for dbdyno itself.
    fn around_own(&self) -> Launch {
        child::own_program(&self.tool)
    }
}

/// Functions that callgrind is told of, as patterns of their names.
pub struct CountMarks<'m> {
    /// What is executed inside of them is counted.
    pub counted: &'m str,
    /// A file is written after each return of one of them.
    pub written_after: &'m str,
}

/// A program that answers lines with lines, under callgrind.
pub struct CountedProgram {
    // Dropped first: its end must not meet a pipe that nobody reads.
    _kept: GuardedChild,
    input: Box<dyn Write + Send>,
    /// What it answers, line by line, until it ends.
    answers: Receiver<String>,
    complaints: PathBuf,
}

impl CountedProgram {
    /// Starts a program with `files` as the place of callgrind's files.
    ///
    /// # Errors
    /// [`SandboxError::Io`].
    pub fn start(
        valgrind: &Valgrind,
        program: &Path,
        arguments: &[OsString],
        files: &Path,
        marks: &CountMarks<'_>,
    ) -> Result<CountedProgram, SandboxError> {
        let mut asked = child::own_program(program);
        asked.args(arguments);
        let marks = [
            format!("--toggle-collect={}", marks.counted),
            format!("--dump-after={}", marks.written_after),
        ];
        let mut command =
            valgrind.wrap_program(&asked, files, &marks.map(OsString::from), valgrind.around_own());
        let complaints = files.join("log");
        let log = create_private(&complaints);
        let log = log.map_err(SandboxError::io("create", &complaints))?;
        command.stdin(ProgramStream::Pipe).stdout(ProgramStream::Pipe).stderr(log);
        let mut kept = GuardedChild::start(&local_machine(), command)
            .map_err(SandboxError::io("run", &valgrind.tool))?;
        let (input, output) = (kept.child.take_input(), kept.child.take_output());
        let (Some(input), Some(output)) = (input, output) else {
            unreachable!("both were asked for")
        };
        let (answer, answers) = channel();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(output).lines().map_while(Result::ok);
            // Until nobody asks any more.
            lines.try_for_each(|line| answer.send(line))
        });
        Ok(CountedProgram { _kept: kept, input, answers, complaints })
    }

    /// Gives it a line and waits for the one that it answers.
    ///
    /// # Errors
    /// [`SandboxError::StartFailed`] with the end of what it said, if it has ended, or if this
    /// process is to stop.
    pub fn exchange_lines(&mut self, line: &str) -> Result<String, SandboxError> {
        let asked = writeln!(self.input, "{line}").and_then(|()| self.input.flush());
        let deadline = Deadline::after_seconds(ANSWER_WITHIN_S);
        loop {
            match self.answers.try_recv() {
                Ok(answer) => return Ok(answer.trim_end().to_owned()),
                Err(TryRecvError::Empty) if asked.is_ok() && deadline.pause() => {}
                Err(_) => break,
            }
        }
        Err(SandboxError::StartFailed {
            what: "dbdyno under callgrind ended, or did not answer".to_owned(),
            log: child::last_lines(&self.complaints, LOG_LINES),
        })
    }
}

fn unpack(home: &Home, tree: &Path, progress: &mut dyn FnMut(&str)) -> Result<(), SandboxError> {
    space::require_free_space("getting valgrind", home.dir(), NEEDED_MB)?;
    let apt = Apt::open(home, SUITE, progress)?;
    progress("getting valgrind, which counts instructions");
    let debs = apt.packages_to_download("valgrind", &ASSUMED)?;
    let fresh = home.dir().join(format!("tools/.tmp-valgrind-{}", std::process::id()));
    let _ = fs::remove_dir_all(&fresh);
    relocate::unpack(&apt, "valgrind", &debs, &fresh, progress)?;
    relocate::flush(&fresh)?;
    fs::rename(&fresh, tree).map_err(SandboxError::io("rename", &fresh))
}

/// The functions of a server that callgrind is told: inside of which it counts, inside of which it
/// does not, and after which it writes. Parameters differ from release to release, and are left
/// open.
///
/// Entering and leaving one of the first two kinds turns counting over. What lies inside and is not
/// counted reads the client's next words, and goes to sleep if they are not there yet: how often is
/// a matter of the host, and was all that made one count of a server differ from the next.
pub(crate) fn callgrind_arguments(product: Product) -> Vec<OsString> {
    let marks: &[&str] = match product.dialect() {
        // A process for each connection, which enters this once and ends in it.
        Dialect::Postgres => &["--toggle-collect=PostgresMain", "--toggle-collect=secure_read"],
        _ => &[
            "--toggle-collect=do_command(*",
            "--toggle-collect=vio_read",
            // The same as C++, from MySQL 8.0 on.
            "--toggle-collect=vio_read(*",
            "--dump-after=THD::~THD()",
        ],
    };
    marks.iter().map(OsString::from).collect()
}

/// What a server is told so that it runs under valgrind and each connection has a thread of its
/// own, which is not kept for the next one; unknown words are passed over.
pub(crate) fn settings(product: Product) -> Vec<(String, String)> {
    let told: &[(&str, &str)] = match product.dialect() {
        // What autovacuum finds out has every connection throw away what it knew of the tables.
        Dialect::Postgres => &[("autovacuum", "off"), ("io_method", "sync")],
        _ => &[
            ("innodb_use_native_aio", "0"),
            ("thread_cache_size", "0"),
            // Some releases reserve terabytes of addresses, which valgrind does not have.
            ("loose_innodb_buffer_pool_size_max", "1G"),
        ],
    };
    told.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_wrapped_with_all_that_it_is_told() {
        let valgrind = Valgrind {
            tool: "/v/callgrind".into(),
            launcher: "/v/valgrind.bin".into(),
            library: "/v".into(),
            version: "3.24.0".into(),
        };
        let mut program = child::own_program(Path::new("/s/mysqld"));
        program.args(["--a", "b c"]).env("LD_LIBRARY_PATH", "/s/lib");
        let wrapped = valgrind.wrap_program(
            &program,
            Path::new("/w"),
            &callgrind_arguments(Product::MySql),
            valgrind.around_own(),
        );
        let words: Vec<_> = wrapped.arguments().iter().map(|word| word.to_string_lossy()).collect();
        assert_eq!(words[words.len() - 3..], ["/s/mysqld", "--a", "b c"]);
        assert!(words.iter().any(|word| word == "--callgrind-out-file=/w/out.%p"), "{words:?}");
        assert!(words.iter().any(|word| word == "--dump-after=THD::~THD()"), "{words:?}");
        let environment = wrapped.environment();
        for name in ["LD_LIBRARY_PATH", "VALGRIND_LIB", "VALGRIND_LAUNCHER"] {
            assert!(environment.contains_key(std::ffi::OsStr::new(name)), "{name}");
        }
    }
}
