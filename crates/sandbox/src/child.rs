//! Children that cannot outlive us.
//!
//! * Each has a process group of its own: Ctrl-C at the terminal is for dbdyno, not for its
//!   servers.
//! * Each has the parent-death signal set to SIGKILL. The kernel binds it to the *thread* that
//!   forked, so a server is forked by a thread that does nothing else and lives as long as the
//!   server ([`Kept`]). Programs that run to their end are waited for by the thread that forked
//!   them.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use nix::sys::signal::Signal;
use nix::sys::stat::{Mode, umask};
use nix::unistd::getppid;

use crate::clock::Deadline;
use crate::error::SandboxError;

/// The unprivileged account under which servers run when dbdyno is uid 0: `nobody` and `nogroup`.
pub(crate) const UNPRIVILEGED: u32 = 65_534;

/// Whether servers must run as [`UNPRIVILEGED`].
pub(crate) fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// A command that dies with the calling thread, has no input, and is out of the terminal's reach.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).process_group(0).env("LC_ALL", "C");
    let parent = nix::unistd::getpid();
    let prepare = move || {
        umask(Mode::from_bits_truncate(0o022));
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        // The parent may have died before the line above: then no signal will ever come.
        if getppid() != parent {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe));
        }
        Ok(())
    };
    // SAFETY: between fork and exec only umask, prctl and getppid are called, all
    // async-signal-safe; nothing is allocated, no lock is taken.
    unsafe { command.pre_exec(prepare) };
    command
}

/// A [`command`] with an empty environment and, under root, the unprivileged account.
pub(crate) fn server_command(program: &Path, home: &Path) -> Command {
    let mut command = command(program);
    command.env_clear().env("LC_ALL", "C").env("TZ", "UTC").env("HOME", home);
    command.env("PATH", "/usr/bin:/bin").current_dir(home);
    if is_root() {
        command.uid(UNPRIVILEGED).gid(UNPRIVILEGED);
    }
    command
}

/// Makes what `command` starts outlive us: a server in the background.
pub(crate) fn outlive(command: &mut Command) {
    let prepare = || nix::sys::prctl::set_pdeathsig(None).map_err(io::Error::from);
    // SAFETY: between fork and exec only prctl is called, which is async-signal-safe.
    unsafe { command.pre_exec(prepare) };
}

/// Gives what `command` starts a view of its own of one file: it finds `hosts` in the place of
/// `/etc/hosts`, and everybody else finds what was there. In a mount namespace, for which a user
/// namespace gives the right, with the same account in it.
pub(crate) fn resolve_by(command: &mut Command, hosts: &Path) -> Result<(), SandboxError> {
    let (uid, gid) = match is_root() {
        true => (UNPRIVILEGED, UNPRIVILEGED),
        false => (nix::unistd::geteuid().as_raw(), nix::unistd::getegid().as_raw()),
    };
    let path = |bytes: &[u8]| CString::new(bytes).map_err(|_| io::ErrorKind::InvalidInput.into());
    let hosts = path(hosts.as_os_str().as_bytes()).map_err(SandboxError::io("name", hosts))?;
    let maps = [
        (c"/proc/self/setgroups", "deny".to_owned()),
        (c"/proc/self/uid_map", format!("{uid} {uid} 1\n")),
        (c"/proc/self/gid_map", format!("{gid} {gid} 1\n")),
    ];
    let parent = nix::unistd::getpid();
    let prepare = move || -> io::Result<()> {
        use nix::libc::{CLONE_NEWNS, CLONE_NEWUSER, MS_BIND, O_WRONLY, close, mount, open, write};
        let check = |answer: i64| match answer {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(answer),
        };
        // Whoever has become another account may not write its own maps until it says this.
        nix::sys::prctl::set_dumpable(true)?;
        // SAFETY: calls of the system with strings that end in 0 and live as long as the closure.
        // Nothing is allocated and no lock is taken between fork and exec.
        unsafe {
            check(nix::libc::unshare(CLONE_NEWUSER | CLONE_NEWNS).into())?;
            for (file, text) in &maps {
                let file = check(open(file.as_ptr(), O_WRONLY).into())? as i32;
                check(write(file, text.as_ptr().cast(), text.len()) as i64)?;
                close(file);
            }
            let (none, place) = (std::ptr::null(), c"/etc/hosts".as_ptr());
            check(mount(hosts.as_ptr(), place, none, MS_BIND, none.cast()).into())?;
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

/// Whether [`resolve_by`] works on this machine.
///
/// # Errors
/// [`SandboxError::Unsuitable`] if the kernel forbids it.
pub(crate) fn can_resolve_by(hosts: &Path) -> Result<(), SandboxError> {
    let mut command = server_command(Path::new("true"), Path::new("/"));
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

/// Gives a path to the account under which servers run.
pub(crate) fn give_to_server(path: &Path) -> io::Result<()> {
    if is_root() {
        std::os::unix::fs::chown(path, Some(UNPRIVILEGED), Some(UNPRIVILEGED))?;
    }
    Ok(())
}

/// A directory that only the account of the servers may enter.
pub(crate) fn private_dir(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    fs::DirBuilder::new().mode(0o700).create(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    give_to_server(path)
}

/// A child, and the thread whose life the kernel ties it to.
pub(crate) struct Kept {
    pub(crate) child: Child,
    release: Option<Sender<()>>,
    keeper: Option<JoinHandle<()>>,
}

impl Kept {
    /// Forks `command` from a thread of its own.
    pub(crate) fn spawn(mut command: Command) -> io::Result<Kept> {
        let (born, birth) = channel();
        let (release, released) = channel::<()>();
        let keeper = std::thread::Builder::new().name("keeper".into()).spawn(move || {
            let _ = born.send(command.spawn());
            // Returns when the sender is dropped.
            let _ = released.recv();
        })?;
        let child = birth.recv().map_err(|_| io::Error::other("the keeper thread ended"))??;
        Ok(Kept { child, release: Some(release), keeper: Some(keeper) })
    }
}

impl Kept {
    /// Leaves the child, which must have been told to [`outlive`] us, to itself.
    pub(crate) fn let_go(self) {
        // Its `Drop` kills. The keeper thread waits until the program ends.
        std::mem::forget(self);
    }
}

impl Drop for Kept {
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
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if !deadline.pause() {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
    }
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
    let plain = |line: &str| line.chars().filter(|c| !c.is_control()).collect::<String>();
    let lines: Vec<String> = text.lines().map(plain).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Identity;

    #[test]
    fn a_kept_child_outlives_the_thread_that_asked_for_it() {
        let mut sleep = command("sleep");
        sleep.arg("600");
        let kept = std::thread::spawn(move || Kept::spawn(sleep).unwrap()).join().unwrap();
        let identity = Identity::of(kept.child.id().try_into().unwrap()).unwrap();
        // A child forked by the thread that is gone would have been killed before `join` returned.
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(identity.lives());
        drop(kept);
        assert!(!identity.lives());
    }

    #[test]
    fn a_child_dies_with_the_thread_that_forked_it() {
        let spawn = || {
            let child = command("sleep").arg("600").spawn().unwrap();
            let identity = Identity::of(child.id().try_into().unwrap()).unwrap();
            (child, identity)
        };
        let (mut child, identity) = std::thread::spawn(spawn).join().unwrap();
        let deadline = crate::clock::Deadline::after_seconds(10);
        while identity.lives() {
            assert!(deadline.pause(), "the parent-death signal did not come");
        }
        child.wait().unwrap();
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
