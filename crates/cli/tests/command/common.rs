//! The command, run as a user runs it, in a home of its own.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use dbdyno_model::Run;
use dbdyno_store::Store;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// A limit for waiting, not a measurement: five minutes in steps of [`STEP`].
const PATIENCE_STEPS: u32 = 3_000;
const STEP: Duration = Duration::from_millis(100);

/// Flags of a run as short as it can be. What is tested here needs no steady rate.
pub(crate) const SHORT: [&str; 7] =
    ["--quick", "--seconds", "1", "--warm-up", "0.3", "--rows", "2000"];

/// The same where anything that was answered will do, however little: a window in which nothing was
/// is measured again, and longer.
pub(crate) const BRIEF: [&str; 7] =
    ["--quick", "--seconds", "0.4", "--warm-up", "0.1", "--rows", "2000"];

/// Held by every test that starts servers or measures in real time. There are as many as there are
/// processors: with more at once, one may wait for longer than a window is open, and then there is
/// nothing to judge.
pub(crate) struct Turn(());

/// Turns that are taken, and who waits for one.
static TURNS: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// Waits for a turn.
pub(crate) fn turn() -> Turn {
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let taken = TURNS.0.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = TURNS.1.wait_while(taken, |taken| *taken >= most);
    *waited.unwrap_or_else(PoisonError::into_inner) += 1;
    Turn(())
}

impl Drop for Turn {
    fn drop(&mut self) {
        *TURNS.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        TURNS.1.notify_one();
    }
}

/// Where servers, sandboxes and results of a test live.
pub(crate) struct Home {
    dir: PathBuf,
    _own: Option<tempfile::TempDir>,
}

/// How the command ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Home {
    /// An empty one, which servers under another account can enter, and whose path is short enough
    /// for the name of a unix socket.
    pub(crate) fn new() -> Home {
        let own = tempfile::Builder::new().prefix("dyno").tempdir_in("/var/tmp").unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(own.path(), mode).unwrap();
        Home { dir: own.path().to_owned(), _own: Some(own) }
    }

    /// One that stays, so that servers are downloaded once.
    pub(crate) fn at(dir: PathBuf) -> Home {
        Home { dir, _own: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.dir
    }

    /// What is in `run/`: the sandboxes of those that run, or were killed.
    pub(crate) fn sandboxes(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir.join("run")).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// The command with the user's own settings kept out.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dbdyno"));
        for variable in ["DBDYNO_STORE", "DBDYNO_MOCK_HALTS", "MYSQL_PWD", "PGPASSWORD"] {
            command.env_remove(variable);
        }
        for variable in ["PGPASSFILE", "MYSQL_TEST_LOGIN_FILE", "HOME"] {
            command.env_remove(variable);
        }
        for variable in ["PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGSERVICE", "PGOPTIONS"] {
            command.env_remove(variable);
        }
        for variable in ["PGSSLMODE", "MYSQL_HOST", "MYSQL_TCP_PORT", "MYSQL_UNIX_PORT"] {
            command.env_remove(variable);
        }
        // Beside other tests, what is put away after a stop takes as long as it takes.
        command.env("DBDYNO_STOP_WITHIN_S", "300");
        command.env("DBDYNO_HOME", &self.dir).stdin(Stdio::null()).args(args);
        command
    }

    pub(crate) fn dbdyno<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Done {
        finish(self.command(args))
    }

    /// Runs the command, which must end with `code`, and reads its JSON.
    pub(crate) fn json<S: AsRef<OsStr>>(
        &self,
        code: i32,
        args: impl IntoIterator<Item = S>,
    ) -> Value {
        let mut command = self.command(args);
        command.args(["--format", "json"]);
        let done = finish(command);
        assert_eq!(done.code, code, "{done:?}");
        serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:?}"))
    }

    /// Starts a command on models, which halt after so many measured rounds of both arms, and waits
    /// until they do.
    pub(crate) fn start_and_halt<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        rounds: u32,
    ) -> Child {
        let mut command = self.command(args);
        command.env("DBDYNO_MOCK_HALTS", rounds.to_string());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        self.wait_for_rounds(&mut child, &self.path().join("dbdyno.db"), rounds);
        child
    }

    /// The last run.
    pub(crate) fn last_run(&self) -> Run {
        let store = Store::open(&self.path().join("dbdyno.db")).unwrap();
        store.load(&store.resolve_run("@last").unwrap()).unwrap()
    }

    /// Starts the command and leaves it running.
    pub(crate) fn start<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Child {
        let mut command = self.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Waits until `child` has measured `rounds` rounds of the only run of `store`.
    pub(crate) fn wait_for_rounds(&self, child: &mut Child, store: &Path, rounds: u32) {
        eventually("a few rounds", || {
            if let Some(status) = child.try_wait().unwrap() {
                let mut err = String::new();
                child.stderr.take().map(|mut pipe| pipe.read_to_string(&mut err));
                panic!("{status} before a few rounds were measured: {err}");
            }
            // Asking earlier would make the store, and with it a home that is not dbdyno's.
            if !store.exists() {
                return false;
            }
            let runs = self.command(["runs"]).arg("--store").arg(store).output().unwrap();
            let runs = String::from_utf8(runs.stdout).unwrap();
            let done = runs.split_once('/').and_then(|(before, _)| before.split(' ').next_back());
            done.and_then(|done| done.parse().ok()).is_some_and(|done: u32| done >= rounds)
        });
    }
}

/// Runs a command to its end.
pub(crate) fn finish(mut command: Command) -> Done {
    done(command.output().unwrap())
}

/// Waits for the end of a child.
pub(crate) fn end(child: Child) -> Done {
    done(child.wait_with_output().unwrap())
}

fn done(output: std::process::Output) -> Done {
    Done {
        // What a shell says of a program that a signal ended.
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
}

/// Waits until `condition` holds.
pub(crate) fn eventually(what: &str, condition: impl FnMut() -> bool) {
    eventually_or(what, condition, String::new);
}

/// Waits until `condition` holds; `instead` says what is there if it never does.
pub(crate) fn eventually_or(
    what: &str,
    mut condition: impl FnMut() -> bool,
    instead: impl FnOnce() -> String,
) {
    for _ in 0..PATIENCE_STEPS {
        if condition() {
            return;
        }
        std::thread::sleep(STEP);
    }
    panic!("{what} did not come about; {}", instead());
}

/// Pairs of a cell that were measured: on a busy host some are not judged.
pub(crate) fn measured_pairs(cell: &Value) -> u64 {
    ["pairs", "pairs_dropped"].iter().filter_map(|name| cell[*name].as_u64()).sum()
}

/// Every process that works inside `dir`.
pub(crate) fn processes_in(dir: &Path) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let inside = |pid: &i32| {
        std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(dir))
    };
    pids.filter(inside).collect()
}

/// Says on stderr that a test did not test, and why.
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
pub(crate) fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}
