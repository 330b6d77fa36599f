//! Children: how a program is started, by whose program it is. No other file makes a `Command`, so
//! that no program gets more than it is due.
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

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use dbdyno_model::foreign;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, killpg};
use nix::sys::stat::{Mode, umask};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getppid};

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

/// A program that is not the machine's own, or one that opens what is not: with the least rights
/// that there are. `work` is its directory.
pub(crate) fn foreign(program: &Path, work: &Path) -> Command {
    let mut command = tied(program);
    command.env_clear().env("LC_ALL", "C").env("TZ", "UTC").env("HOME", work);
    command.env("PATH", FOREIGN_PATH).current_dir(work).stdin(Stdio::null());
    // A session of its own has no terminal into which it could type (TIOCSTI).
    let leave = || nix::unistd::setsid().map(drop).map_err(io::Error::from);
    // SAFETY: between fork and exec only setsid is called, which is async-signal-safe.
    unsafe { command.pre_exec(leave) };
    confined(command)
}

/// A [`foreign()`] program with which the user speaks: on our terminal, and with its kind. With
/// root's terminal it starts nothing that could outlive it and read on, and it has no session to
/// which that terminal belongs, so that it cannot type there (TIOCSTI): Ctrl-C ends it with us.
pub(crate) fn foreign_on_terminal(program: &Path, work: &Path) -> Command {
    let mut command = tied(program);
    command.env_clear().env("HOME", work).env("PATH", FOREIGN_PATH).current_dir(work);
    let kept = ["TERM", "LANG", "LC_ALL", "COLUMNS", "LINES"];
    command.envs(kept.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    if is_root() {
        let leave = || {
            nix::unistd::setsid()?;
            setrlimit(Resource::RLIMIT_NPROC, 1, 1).map_err(io::Error::from)
        };
        // SAFETY: between fork and exec only setsid and setrlimit are called, both of them calls of
        // the system.
        unsafe { command.pre_exec(leave) };
    }
    confined(command)
}

/// A program of the machine with which the user speaks, on our terminal.
pub(crate) fn tool_on_terminal(name: &'static str) -> Command {
    tied(name)
}

/// A program of the machine, by its name.
pub(crate) fn tool(name: &'static str) -> Command {
    let mut command = beside(name);
    command.env_clear().env("LC_ALL", "C");
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command
}

/// The machine's client of a registry, as the user has it configured.
pub(crate) fn client(name: &'static str) -> Command {
    let mut command = beside(name);
    command.env("LC_ALL", "C");
    command
}

/// dbdyno itself, `program`, or what runs it: a program that is ours and has our rights.
pub(crate) fn own(program: &Path) -> Command {
    let mut command = beside(program);
    command.env_clear().env("LC_ALL", "C").env("TZ", "UTC");
    command
}

/// Has no input, and is out of the terminal's reach.
fn beside(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = tied(program);
    command.stdin(Stdio::null()).process_group(0);
    command
}

/// Dies with the calling thread, and inherits no file.
fn tied(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    let parent = nix::unistd::getpid();
    let prepare = move || {
        umask(Mode::from_bits_truncate(0o022));
        close_on_exec();
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        // The parent may have died before the line above: then no signal will ever come.
        if getppid() != parent {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe));
        }
        Ok(())
    };
    // SAFETY: between fork and exec only umask, close_range, fcntl, prctl and getppid are called,
    // all async-signal-safe; nothing is allocated, no lock is taken.
    unsafe { command.pre_exec(prepare) };
    command
}

/// Our own files are closed anyway; these are those that we were given ourselves.
fn close_on_exec() {
    use nix::libc::{CLOSE_RANGE_CLOEXEC, F_SETFD, FD_CLOEXEC, SYS_close_range, c_uint, fcntl};
    // SAFETY: calls of the system that take numbers.
    unsafe {
        let (first, last) = (3 as c_uint, c_uint::MAX);
        if nix::libc::syscall(SYS_close_range, first, last, CLOSE_RANGE_CLOEXEC) != 0 {
            // Linux before 5.11; numbers above these are not seen in practice.
            for number in 3..4096 {
                fcntl(number, F_SETFD, FD_CLOEXEC);
            }
        }
    }
}

/// Takes all rights from what `command` starts that an account can lack.
fn confined(mut command: Command) -> Command {
    if is_root() {
        command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
    }
    let as_root = is_root();
    let give_up = move || {
        // `Command` leaves the groups of root behind if the real account is root, too.
        // SAFETY: with the length 0 nothing is written.
        if as_root && unsafe { nix::libc::getgroups(0, std::ptr::null_mut()) } != 0 {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        nix::sys::prctl::set_no_new_privs()?;
        drop_capabilities()?;
        setrlimit(Resource::RLIMIT_CORE, 0, 0).map_err(io::Error::from)
    };
    // SAFETY: between fork and exec only getgroups, prctl, capset and setrlimit are called, all of
    // them calls of the system; nothing is allocated.
    unsafe { command.pre_exec(give_up) };
    command
}

/// Leaves no capability, of none of the sets that a program can begin with. What bounds them stays;
/// without new privileges nothing reaches it.
fn drop_capabilities() -> io::Result<()> {
    use nix::libc::{PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, SYS_capset, prctl, syscall};
    /// `_LINUX_CAPABILITY_VERSION_3` of `linux/capability.h`: two words for each of three sets.
    const HEADER: [u32; 2] = [0x2008_0522, 0];
    const NONE: [u32; 6] = [0; 6];
    // SAFETY: the kernel reads two arrays that live as long as the program.
    unsafe {
        // Kernels before 4.3 have no such set.
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        match syscall(SYS_capset, HEADER.as_ptr(), NONE.as_ptr()) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Has what `command` starts be one thread that starts nothing, computes for `seconds` at most, and
/// writes no file larger than this.
pub(crate) fn limit(command: &mut Command, seconds: u64, file_bytes: u64) {
    let limit = move || {
        setrlimit(Resource::RLIMIT_NPROC, 1, 1)?;
        setrlimit(Resource::RLIMIT_CPU, seconds, seconds)?;
        setrlimit(Resource::RLIMIT_FSIZE, file_bytes, file_bytes)?;
        Ok(())
    };
    // SAFETY: between fork and exec only setrlimit is called, which is a call of the system.
    unsafe { command.pre_exec(limit) };
}

/// Makes what `command` starts outlive us: a server in the background.
pub(crate) fn outlive(command: &mut Command) {
    // SAFETY: between fork and exec only prctl is called, which is async-signal-safe.
    unsafe { command.pre_exec(|| nix::sys::prctl::set_pdeathsig(None).map_err(io::Error::from)) };
}

/// Gives what `command` starts a view of its own of one file: it finds `hosts` in the place of
/// `/etc/hosts`, and everybody else finds what was there. In a mount namespace, for which a user
/// namespace gives the right, with the same account in it.
pub(crate) fn resolve_by(command: &mut Command, hosts: &Path) -> Result<(), SandboxError> {
    let uid = account_of_servers();
    let gid = if is_root() { UNPRIVILEGED } else { nix::unistd::getegid().as_raw() };
    let hosts = CString::new(hosts.as_os_str().as_bytes())
        .map_err(|_| SandboxError::io("name", hosts)(io::ErrorKind::InvalidInput.into()))?;
    let maps = [
        (c"/proc/self/setgroups", "deny".to_owned()),
        (c"/proc/self/uid_map", format!("{uid} {uid} 1\n")),
        (c"/proc/self/gid_map", format!("{gid} {gid} 1\n")),
    ];
    let parent = nix::unistd::getpid();
    let prepare = move || -> io::Result<()> {
        use nix::libc::{CLONE_NEWNS, CLONE_NEWUSER, MS_BIND, O_WRONLY, close, mount, open, write};
        // Whoever has become another account may not write its own maps until it says this.
        nix::sys::prctl::set_dumpable(true)?;
        // SAFETY: calls of the system with strings that end in 0 and live as long as the closure.
        // Nothing is allocated and no lock is taken between fork and exec.
        unsafe {
            answered(nix::libc::unshare(CLONE_NEWUSER | CLONE_NEWNS).into())?;
            for (file, text) in &maps {
                let file = answered(open(file.as_ptr(), O_WRONLY).into())? as i32;
                answered(write(file, text.as_ptr().cast(), text.len()) as i64)?;
                close(file);
            }
            let (none, place) = (std::ptr::null(), c"/etc/hosts".as_ptr());
            answered(mount(hosts.as_ptr(), place, none, MS_BIND, none.cast()).into())?;
        }
        // Other rights may have cost it the signal.
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        if getppid() != parent {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe));
        }
        Ok(())
    };
    // SAFETY: see the closure.
    unsafe { command.pre_exec(prepare) };
    Ok(())
}

/// What a call of the system answered, or why it failed.
fn answered(answer: i64) -> io::Result<i64> {
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// Whether [`resolve_by`] works on this machine.
///
/// # Errors
/// [`SandboxError::Unsuitable`] if the kernel forbids it.
pub(crate) fn can_resolve_by(hosts: &Path) -> Result<(), SandboxError> {
    let mut command = foreign(Path::new("true"), Path::new("/"));
    resolve_by(&mut command, hosts)?;
    let refused = match command.status() {
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
    pub(crate) child: Child,
    release: Option<Sender<()>>,
    keeper: Option<JoinHandle<()>>,
}

impl GuardedChild {
    /// Forks `command` from a thread of its own.
    pub(crate) fn spawn(mut command: Command) -> io::Result<GuardedChild> {
        let (born, birth) = channel();
        let (release, released) = channel::<()>();
        let keeper = std::thread::Builder::new().name("keeper".into()).spawn(move || {
            let _ = born.send(command.spawn());
            // Returns when the sender is dropped.
            let _ = released.recv();
        })?;
        let child = birth.recv().map_err(|_| io::Error::other("the keeper thread ended"))??;
        Ok(GuardedChild { child, release: Some(release), keeper: Some(keeper) })
    }
}

impl GuardedChild {
    /// Leaves the child, which must have been told to [`outlive`] us, to itself.
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
pub(crate) fn run_within(mut command: Command, seconds: u64) -> io::Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    let deadline = Deadline::after_seconds(seconds);
    let mut ended = has_ended(&child);
    while !ended && deadline.pause() {
        ended = has_ended(&child);
    }
    let status = end_group(&mut child)?;
    Ok(ended.then_some(status))
}

/// Whether a child has ended. It stays, and keeps its number, until it is waited for.
pub(crate) fn has_ended(child: &Child) -> bool {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    let status = waitid(Id::Pid(pid_of(child)), flags);
    !matches!(status, Ok(WaitStatus::StillAlive))
}

/// Kills a child that has not ended and all of its process group; how the child ended.
pub(crate) fn end_group(child: &mut Child) -> io::Result<ExitStatus> {
    // Gone already: then there is nobody to kill.
    let _ = killpg(pid_of(child), Signal::SIGKILL);
    child.kill()?;
    child.wait()
}

fn pid_of(child: &Child) -> Pid {
    Pid::from_raw(child.id().try_into().expect("the kernel's numbers fit"))
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
    let plain = |line: &str| line.chars().filter(|c| !foreign::steers(*c)).collect::<String>();
    let lines: Vec<String> = text.lines().map(plain).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].to_vec()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use dbdyno_host::Local;

    use super::*;
    use crate::process::Identity;

    #[test]
    fn a_kept_child_outlives_the_thread_that_asked_for_it() {
        let mut sleep = tool("sleep");
        sleep.arg("600");
        let kept = std::thread::spawn(move || GuardedChild::spawn(sleep).unwrap()).join().unwrap();
        let identity = Identity::of(&Local, kept.child.id()).unwrap();
        // A child forked by the thread that is gone would have been killed before `join` returned.
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(identity.lives(&Local));
        drop(kept);
        assert!(!identity.lives(&Local));
    }

    #[test]
    fn a_child_dies_with_the_thread_that_forked_it() {
        let spawn = || {
            let child = tool("sleep").arg("600").spawn().unwrap();
            let identity = Identity::of(&Local, child.id()).unwrap();
            (child, identity)
        };
        let (mut child, identity) = std::thread::spawn(spawn).join().unwrap();
        let deadline = crate::clock::Deadline::after_seconds(10);
        while identity.lives(&Local) {
            assert!(deadline.pause(), "the parent-death signal did not come");
        }
        child.wait().unwrap();
    }

    /// What a program sees of itself.
    fn status_of(mut command: Command) -> String {
        command.arg("-c").arg(
            "cat /proc/self/status; ulimit -c; env; ls -l /proc/self/fd; cut -d' ' -f7 \
             /proc/self/stat",
        );
        String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
    }

    #[test]
    fn a_foreign_program_has_no_rights_no_environment_and_no_files_of_ours() {
        // Given to us by whoever started us, as a shell does with `3<secret`.
        let secret = tempfile::NamedTempFile::new().unwrap();
        let inherited = nix::fcntl::fcntl(&secret, nix::fcntl::FcntlArg::F_DUPFD(100)).unwrap();
        let status = status_of(foreign(Path::new("sh"), Path::new("/")));
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
        let status = status_of(tool("sh"));
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
