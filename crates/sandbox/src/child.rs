//! Children: whose program gets what. How a program is started, `host` knows.
//!
//! ```text
//!             whose                     account             environment      terminal
//!   foreign   out of a package, folder  nobody, no groups,  empty            none: a session
//!             or archive; or a tool of  no capabilities,                     of its own
//!             the machine that opens    no new privileges
//!             what came out of one
//!   tool      the machine's, by name    ours                PATH only        out of reach
//!   client    the machine's, of a       ours                the user's:      out of reach
//!             registry                                      mirrors, proxies
//!   own       dbdyno itself             ours                empty            out of reach
//! ```
//!
//! `nobody` is for a dbdyno that root runs; an ordinary user's foreign programs are that user's.
//! None inherits a file but the three that it is given, and none leaves a core file.
//!
//! Children cannot outlive us:
//!
//! * Each has a process group of its own: Ctrl-C at the terminal is for dbdyno, not for its
//!   servers.
//! * Each has the parent-death signal set to SIGKILL. The kernel binds it to the *thread* that
//!   forked, so a server is forked by a thread that does nothing else and lives as long as the
//!   server ([`GuardedChild`]). Programs that run to their end are waited for by the thread that
//!   forked them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::ExitStatus;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use dbdyno_host::{
    HostsFile, Launch, Local, Machine, ProgramFate, ProgramLimits, ProgramRights, ProgramStream,
    RunningProgram, SharedMachine, TerminalSeat,
};
use dbdyno_model::foreign;

use crate::clock::Deadline;
use crate::error::SandboxError;

/// The unprivileged account under which servers run when dbdyno is uid 0: `nobody` and `nogroup`.
pub(crate) const UNPRIVILEGED: u32 = 65_534;
/// Where foreign programs find the programs of the machine that they start.
const FOREIGN_PATH: &str = "/usr/bin:/bin";
/// Whether servers must run as [`UNPRIVILEGED`].
pub(crate) fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// The account of foreign programs.
pub(crate) fn account_of_servers() -> u32 {
    if is_root() { UNPRIVILEGED } else { nix::unistd::geteuid().as_raw() }
}

/// All rights that an account can lack are taken.
fn no_rights() -> ProgramRights {
    ProgramRights::None(is_root().then_some(UNPRIVILEGED))
}

/// A program that is not the machine's own, or one that opens what is not: with the least rights
/// that there are. `work` is its directory.
pub(crate) fn foreign_program(program: &Path, work: &Path) -> Launch {
    let mut launch = Launch::new(program);
    launch.env("LC_ALL", "C").env("TZ", "UTC").env("HOME", work).env("PATH", FOREIGN_PATH);
    launch.current_dir(work).with_terminal_seat(TerminalSeat::Session).with_rights(no_rights());
    launch
}

/// A [`foreign_program()`] program with which the user speaks: on our terminal, and with its kind.
/// With root's terminal it starts nothing that could outlive it and read on, and it has no session
/// to which that terminal belongs, so that it cannot type there (TIOCSTI): Ctrl-C ends it with us.
pub(crate) fn foreign_on_terminal(program: &Path, work: &Path) -> Launch {
    let mut launch = Launch::new(program);
    launch.env("HOME", work).env("PATH", FOREIGN_PATH).current_dir(work);
    for name in ["TERM", "LANG", "LC_ALL", "COLUMNS", "LINES"] {
        if let Some(value) = std::env::var_os(name) {
            launch.env(name, value);
        }
    }
    launch
        .stdin(ProgramStream::Ours)
        .with_terminal_seat(TerminalSeat::Terminal)
        .with_rights(no_rights());
    if is_root() {
        launch.with_terminal_seat(TerminalSeat::Session);
        launch.with_limits(ProgramLimits { is_alone: true, ..ProgramLimits::default() });
    }
    launch
}

/// A program of the machine with which the user speaks, on our terminal.
pub(crate) fn tool_on_terminal(name: &'static str) -> Launch {
    let mut launch = Launch::new(name);
    launch
        .with_our_environment()
        .stdin(ProgramStream::Ours)
        .with_terminal_seat(TerminalSeat::Terminal);
    launch
}

/// A program of the machine, by its name.
pub(crate) fn machine_tool(name: &'static str) -> Launch {
    let mut launch = Launch::new(name);
    launch.env("LC_ALL", "C");
    if let Some(path) = std::env::var_os("PATH") {
        launch.env("PATH", path);
    }
    launch
}

/// The machine's client of a registry, as the user has it configured.
pub(crate) fn client(name: &'static str) -> Launch {
    let mut launch = Launch::new(name);
    launch.with_our_environment().env("LC_ALL", "C");
    launch
}

/// dbdyno itself, `program`, or what runs it: a program that is ours and has our rights.
pub(crate) fn own_program(program: &Path) -> Launch {
    let mut launch = Launch::new(program);
    launch.env("LC_ALL", "C").env("TZ", "UTC");
    launch
}

/// Has what is started be one thread that starts nothing, computes for `seconds` at most, and
/// writes no file larger than this.
pub(crate) fn limit_resources(launch: &mut Launch, seconds: u64, file_bytes: u64) {
    let (cpu_s, file_bytes) = (Some(seconds), Some(file_bytes));
    launch.with_limits(ProgramLimits { is_alone: true, cpu_s, file_bytes });
}

/// Makes what is started outlive us: a server in the background.
pub(crate) fn let_outlive(launch: &mut Launch) {
    launch.with_fate(ProgramFate::Outlives);
}

/// Gives what is started a view of its own of one file: it finds `hosts` in the place of
/// `/etc/hosts`, with the account that it has.
pub(crate) fn resolve_by(launch: &mut Launch, hosts: &Path) {
    let gid = if is_root() { UNPRIVILEGED } else { nix::unistd::getegid().as_raw() };
    launch.with_hosts(HostsFile { file: hosts.to_owned(), account: (account_of_servers(), gid) });
}

/// Starts what belongs to getting, unpacking and asking a release: it works on files that dbdyno
/// itself writes, and runs where dbdyno does.
pub(crate) fn start(launch: Launch) -> io::Result<Box<dyn RunningProgram>> {
    Local.start(launch).map_err(|error| error.into_source())
}

/// Whether [`resolve_by`] works on this machine.
///
/// # Errors
/// [`SandboxError::Unsuitable`] if the kernel forbids it.
pub(crate) fn can_resolve_by(hosts: &Path) -> Result<(), SandboxError> {
    let mut launch = foreign_program(Path::new("true"), Path::new("/"));
    resolve_by(&mut launch, hosts);
    let refused = match start(launch).and_then(|mut program| program.wait()) {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    Err(SandboxError::Unsuitable {
        what: "a delay between the members of a group".to_owned(),
        reason: format!(
            "each member needs a mount namespace of its own, which this kernel or container does \
             not let an ordinary account have ({refused}); allow user namespaces (sysctl \
             user.max_user_namespaces, kernel.unprivileged_userns_clone=1, \
             kernel.apparmor_restrict_unprivileged_userns=0), or leave out the delay"
        ),
    })
}

/// A child, and the thread whose life the kernel ties it to.
pub(crate) struct GuardedChild {
    pub(crate) child: Box<dyn RunningProgram>,
    release: Option<Sender<()>>,
    keeper: Option<JoinHandle<()>>,
}

impl GuardedChild {
    /// Starts it from a thread of its own.
    pub(crate) fn start(machine: &SharedMachine, launch: Launch) -> io::Result<GuardedChild> {
        let machine = machine.clone();
        let (born, birth) = channel();
        let (release, released) = channel::<()>();
        let keeper = std::thread::Builder::new().name("keeper".into()).spawn(move || {
            let _ = born.send(machine.start(launch).map_err(|error| error.into_source()));
            // Returns when the sender is dropped.
            let _ = released.recv();
        })?;
        let child = birth.recv().map_err(|_| io::Error::other("the keeper thread ended"))??;
        Ok(GuardedChild { child, release: Some(release), keeper: Some(keeper) })
    }
}

impl GuardedChild {
    /// Leaves the child, which must have been told to [`let_outlive`] us, to itself.
    pub(crate) fn let_go(self) {
        // Its `Drop` kills. The keeper thread waits until the program ends.
        std::mem::forget(self);
    }
}

impl Drop for GuardedChild {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        drop(self.release.take());
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
    }
}

/// Runs a program to its end, or kills it after `seconds`; then there is no status.
pub(crate) fn run_within(launch: Launch, seconds: u64) -> io::Result<Option<ExitStatus>> {
    let mut child = start(launch)?;
    let deadline = Deadline::after_seconds(seconds);
    let mut ended = child.has_ended();
    while !ended && deadline.pause() {
        ended = child.has_ended();
    }
    let status = child.end_group()?;
    Ok(ended.then_some(status))
}

/// The last lines of a text file, without what a terminal would obey.
pub(crate) fn last_lines(path: &Path, count: usize) -> Vec<String> {
    const TAIL_BYTES: u64 = 16 << 10;
    let mut bytes = Vec::new();
    if let Ok(mut file) = File::open(path) {
        let length = file.metadata().map_or(0, |data| data.len());
        let _ = file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)));
        let _ = file.take(TAIL_BYTES).read_to_end(&mut bytes);
    }
    let text = String::from_utf8_lossy(&bytes);
    let plain =
        |line: &str| line.chars().filter(|c| !foreign::is_nonprinting(*c)).collect::<String>();
    let lines: Vec<String> = text.lines().map(plain).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].to_vec()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use dbdyno_host::local_machine;

    use super::*;
    use crate::process::Identity;
    use crate::tool::run;

    #[test]
    fn a_kept_child_outlives_the_thread_that_asked_for_it() {
        let mut sleep = machine_tool("sleep");
        sleep.arg("600");
        let kept =
            std::thread::spawn(move || GuardedChild::start(&local_machine(), sleep).unwrap())
                .join()
                .unwrap();
        let identity = Identity::of_process(&Local, kept.child.pid()).unwrap();
        // A child forked by the thread that is gone would have been killed before `join` returned.
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(identity.is_alive(&Local));
        drop(kept);
        assert!(!identity.is_alive(&Local));
    }

    #[test]
    fn a_child_dies_with_the_thread_that_forked_it() {
        let spawn = || {
            let mut sleep = machine_tool("sleep");
            sleep.arg("600");
            let child = start(sleep).unwrap();
            let identity = Identity::of_process(&Local, child.pid()).unwrap();
            (child, identity)
        };
        let (mut child, identity) = std::thread::spawn(spawn).join().unwrap();
        let deadline = crate::clock::Deadline::after_seconds(10);
        while identity.is_alive(&Local) {
            assert!(deadline.pause(), "the parent-death signal did not come");
        }
        child.wait().unwrap();
    }

    /// What each kind of program is given, before any of it runs.
    #[test]
    fn each_kind_of_program_has_what_it_is_due_and_no_more() {
        let account = if is_root() { "Some(65534)" } else { "None" };
        let given = |launch: &Launch| format!("{launch:?}").replace('"', "");
        let work = Path::new("/w");
        let foreign_is = format!(
            "Launch {{ program: /s/x, arguments: [], variables: [HOME, LC_ALL, PATH, TZ], ours: \
             false, fate: EndsWithThread, seat: Session, rights: None({account}), limits: \
             ProgramLimits {{ is_alone: false, cpu_s: None, file_bytes: None }}, .. }}"
        );
        let mut asked = foreign_program(Path::new("/s/x"), work);
        assert_eq!(given(&asked), foreign_is);
        limit_resources(&mut asked, 30, 9);
        let limits = "is_alone: true, cpu_s: Some(30), file_bytes: Some(9)";
        assert!(given(&asked).contains(limits), "{asked:?}");
        for (launch, parts) in [
            (
                machine_tool("ls"),
                ["variables: [LC_ALL, PATH], ours: false", "seat: Apart, rights: Ours"],
            ),
            (client("npm"), ["variables: [LC_ALL], ours: true", "seat: Apart, rights: Ours"]),
            (
                own_program(work),
                ["variables: [LC_ALL, TZ], ours: false", "seat: Apart, rights: Ours"],
            ),
            (
                tool_on_terminal("psql"),
                ["variables: [], ours: true", "seat: Terminal, rights: Ours"],
            ),
        ] {
            let shown = given(&launch);
            assert!(parts.iter().all(|part| shown.contains(part)), "{shown}");
            assert!(shown.contains("fate: EndsWithThread"), "{shown}");
        }
        let shown = given(&foreign_on_terminal(Path::new("/s/psql"), work));
        let seat = if is_root() { "seat: Session" } else { "seat: Terminal" };
        let alone = if is_root() { "is_alone: true" } else { "is_alone: false" };
        let none = format!("rights: None({account})");
        assert!([seat, alone, &none].iter().all(|part| shown.contains(part)), "{shown}");
    }

    /// What a program sees of itself.
    fn status_of(mut command: Launch) -> String {
        command.arg("-c").arg(
            "cat /proc/self/status; ulimit -c; env; ls -l /proc/self/fd; cut -d' ' -f7 \
             /proc/self/stat",
        );
        String::from_utf8_lossy(&run(command, "sh").unwrap().stdout).into_owned()
    }

    #[test]
    fn a_foreign_program_has_no_rights_no_environment_and_no_files_of_ours() {
        // Given to us by whoever started us, as a shell does with `3<secret`.
        let secret = tempfile::NamedTempFile::new().unwrap();
        let inherited = nix::fcntl::fcntl(&secret, nix::fcntl::FcntlArg::F_DUPFD(100)).unwrap();
        let status = status_of(foreign_program(Path::new("sh"), Path::new("/")));
        // SAFETY: the number is that of the copy made above, which nobody else has.
        drop(unsafe { <std::os::fd::OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(inherited) });
        let has = |line: &str| status.lines().any(|known| known == line);
        assert!(has("NoNewPrivs:\t1") && has("CapPrm:\t0000000000000000"), "{status}");
        for set in ["CapInh", "CapEff", "CapAmb"] {
            assert!(has(&format!("{set}:\t0000000000000000")), "{set} in {status}");
        }
        assert!(!status.contains("CARGO") && has("PATH=/usr/bin:/bin"), "{status}");
        let file = secret.path().display().to_string();
        assert!(!status.contains(&file), "an inherited file in {status}");
        assert_eq!(status.lines().last(), Some("0"), "a terminal in {status}");
        if is_root() {
            assert!(has("Uid:\t65534\t65534\t65534\t65534"), "{status}");
            assert!(has("Gid:\t65534\t65534\t65534\t65534"), "{status}");
            assert!(has("Groups:\t ") || has("Groups:\t"), "{status}");
        }
    }

    #[test]
    fn a_tool_has_no_environment_but_where_tools_are() {
        let status = status_of(machine_tool("sh"));
        assert!(!status.contains("CARGO_") && status.contains("\nPATH="), "{status}");
    }

    #[test]
    fn the_end_of_a_log_is_clean_text() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, b"one\n\x1b[31mtwo\x07\n\n\xff three\n").unwrap();
        assert_eq!(last_lines(&path, 2), ["[31mtwo", "\u{fffd} three"]);
        assert!(last_lines(&dir.path().join("none"), 2).is_empty());
    }
}
