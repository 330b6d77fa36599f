//! A [`Launch`] carried out on this machine. No other file makes a `Command`, so that no program
//! gets more than it is due.
//!
//! ```text
//!   fork ─ account, directory ─ umask, files ─ session ─ rights ─ limits ─ fate ─ groups ─ hosts
//!        ─ exec                 └──────────── between fork and exec, in this order ────────────┘
//! ```
//!
//! What fails on the way fails as a whole: then nothing of the program has run. The parent-death
//! signal is bound by the kernel to the *thread* that forked: a program that is to live as long as
//! we do is started by a thread that does, too.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use nix::errno::Errno;
use nix::libc::c_char;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::stat::{Mode, umask};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getppid};

use crate::launch::{
    HostsFile, Launch, ProgramFate, ProgramLimits, ProgramRights, ProgramStream, TerminalSeat,
};
use crate::machine::{EndSignal, RunningProgram};

/// Starts a program on this machine.
pub(crate) fn start(launch: Launch) -> io::Result<Box<dyn RunningProgram>> {
    let mut command = Command::new(&launch.program);
    command.args(&launch.arguments);
    if !launch.has_our_environment {
        command.env_clear();
    }
    command.envs(&launch.environment);
    if let Some(directory) = &launch.directory {
        command.current_dir(directory);
    }
    command.stdin(launch.input).stdout(launch.output).stderr(launch.errors);
    if launch.seat == TerminalSeat::Apart {
        command.process_group(0);
    }
    if let ProgramRights::None(Some(account)) = launch.rights {
        command.uid(account).gid(account);
    }
    let steps = Steps {
        parent: nix::unistd::getpid(),
        seat: launch.seat,
        rights: launch.rights,
        limits: launch.limits,
        fate: launch.fate,
        groups: launch.groups,
        hosts: launch.hosts.map(OwnHosts::of).transpose()?,
    };
    // SAFETY: see `Steps::take`.
    unsafe { command.pre_exec(move || steps.take()) };
    Ok(Box::new(LocalProgram(command.spawn()?)))
}

impl From<ProgramStream> for Stdio {
    fn from(stream: ProgramStream) -> Stdio {
        match stream {
            ProgramStream::None => Stdio::null(),
            ProgramStream::Ours => Stdio::inherit(),
            ProgramStream::Pipe => Stdio::piped(),
            ProgramStream::File(file) => file.into(),
        }
    }
}

/// What a child does with itself before it becomes the program.
struct Steps {
    parent: Pid,
    seat: TerminalSeat,
    rights: ProgramRights,
    limits: ProgramLimits,
    fate: ProgramFate,
    groups: Vec<File>,
    hosts: Option<OwnHosts>,
}

impl Steps {
    /// Between fork and exec: only calls of the system are made, which are async-signal-safe;
    /// nothing is allocated, no lock is taken.
    fn take(&self) -> io::Result<()> {
        umask(Mode::from_bits_truncate(0o022));
        close_on_exec();
        self.tie()?;
        if self.seat == TerminalSeat::Session {
            nix::unistd::setsid()?;
        }
        if let ProgramRights::None(account) = self.rights {
            give_up(account)?;
        }
        self.limit()?;
        if self.fate == ProgramFate::Outlives {
            nix::sys::prctl::set_pdeathsig(None)?;
        }
        for group in &self.groups {
            nix::unistd::write(group, b"0")?;
        }
        if let Some(hosts) = &self.hosts {
            hosts.mount()?;
            // Other rights may have cost it the signal.
            self.tie()?;
        }
        Ok(())
    }

    /// Ends with its parent.
    fn tie(&self) -> io::Result<()> {
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
        // The parent may have died before the line above: then no signal will ever come.
        if getppid() != self.parent {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe));
        }
        Ok(())
    }

    fn limit(&self) -> io::Result<()> {
        if self.limits.is_alone {
            setrlimit(Resource::RLIMIT_NPROC, 1, 1)?;
        }
        if let Some(seconds) = self.limits.cpu_s {
            setrlimit(Resource::RLIMIT_CPU, seconds, seconds)?;
        }
        if let Some(bytes) = self.limits.file_bytes {
            setrlimit(Resource::RLIMIT_FSIZE, bytes, bytes)?;
        }
        Ok(())
    }
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

/// Takes all rights that an account can lack. One that it was to become has been taken already.
fn give_up(account: Option<u32>) -> io::Result<()> {
    // `Command` leaves the groups of root behind if the real account is root, too.
    // SAFETY: with the length 0 nothing is written.
    if account.is_some() && unsafe { nix::libc::getgroups(0, std::ptr::null_mut()) } != 0 {
        return Err(io::Error::from(io::ErrorKind::PermissionDenied));
    }
    nix::sys::prctl::set_no_new_privs()?;
    drop_capabilities()?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0).map_err(io::Error::from)
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

/// A view of its own of `/etc/hosts`, with the texts that the kernel is told.
struct OwnHosts {
    file: CString,
    maps: [(&'static std::ffi::CStr, String); 3],
}

impl OwnHosts {
    fn of(hosts: HostsFile) -> io::Result<OwnHosts> {
        let (uid, gid) = hosts.account;
        let maps = [
            (c"/proc/self/setgroups", "deny".to_owned()),
            (c"/proc/self/uid_map", format!("{uid} {uid} 1\n")),
            (c"/proc/self/gid_map", format!("{gid} {gid} 1\n")),
        ];
        Ok(OwnHosts { file: CString::new(hosts.file.as_os_str().as_bytes())?, maps })
    }

    fn mount(&self) -> io::Result<()> {
        use nix::libc::{CLONE_NEWNS, CLONE_NEWUSER, MS_BIND, O_WRONLY, close, mount, open, write};
        // Whoever has become another account may not write its own maps until it says this.
        nix::sys::prctl::set_dumpable(true)?;
        // SAFETY: calls of the system with strings that end in 0 and live as long as we do.
        unsafe {
            answered(nix::libc::unshare(CLONE_NEWUSER | CLONE_NEWNS).into())?;
            for (file, text) in &self.maps {
                let file = answered(open(file.as_ptr(), O_WRONLY).into())? as i32;
                answered(write(file, text.as_ptr().cast(), text.len()) as i64)?;
                close(file);
            }
            let (none, place): (*const c_char, _) = (std::ptr::null(), c"/etc/hosts".as_ptr());
            answered(mount(self.file.as_ptr(), place, none, MS_BIND, none.cast()).into())?;
        }
        Ok(())
    }
}

/// Sends a process a signal.
pub(crate) fn signal_process(pid: u32, signal: EndSignal) -> io::Result<()> {
    kill(number(pid)?, signal_of(signal)).map_err(missing)
}

/// Lets a thread run on these processors only.
pub(crate) fn keep_on(thread: u32, processors: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    processors.iter().try_for_each(|&processor| set.set(processor))?;
    sched_setaffinity(number(thread)?, &set).map_err(missing)
}

/// A number of a process, and of no group of them.
fn number(pid: u32) -> io::Result<Pid> {
    let number = i32::try_from(pid).ok().filter(|number| *number > 0);
    number.map(Pid::from_raw).ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn signal_of(signal: EndSignal) -> Signal {
    match signal {
        EndSignal::Interrupt => Signal::SIGINT,
        EndSignal::Terminate => Signal::SIGTERM,
        EndSignal::Kill => Signal::SIGKILL,
    }
}

/// ESRCH has no kind of its own.
fn missing(error: Errno) -> io::Error {
    if error == Errno::ESRCH { io::ErrorKind::NotFound.into() } else { error.into() }
}

/// What a call of the system answered, or why it failed.
fn answered(answer: i64) -> io::Result<i64> {
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// A child of this process.
#[derive(Debug)]
struct LocalProgram(Child);

impl LocalProgram {
    fn number(&self) -> Pid {
        Pid::from_raw(self.0.id().try_into().expect("the kernel's numbers fit"))
    }
}

impl RunningProgram for LocalProgram {
    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn take_input(&mut self) -> Option<Box<dyn Write + Send>> {
        Some(Box::new(self.0.stdin.take()?))
    }

    fn take_output(&mut self) -> Option<Box<dyn Read + Send>> {
        Some(Box::new(self.0.stdout.take()?))
    }

    fn take_errors(&mut self) -> Option<Box<dyn Read + Send>> {
        Some(Box::new(self.0.stderr.take()?))
    }

    fn has_ended(&self) -> bool {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        !matches!(waitid(Id::Pid(self.number()), flags), Ok(WaitStatus::StillAlive))
    }

    fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }

    fn wait(&mut self) -> io::Result<ExitStatus> {
        self.0.wait()
    }

    fn send_signal(&mut self, signal: EndSignal) -> io::Result<()> {
        // Who was waited for may have given its number to somebody else.
        if self.0.try_wait()?.is_some() {
            return Ok(());
        }
        kill(self.number(), signal_of(signal)).map_err(io::Error::from)
    }

    fn kill(&mut self) -> io::Result<()> {
        self.0.kill()
    }

    fn end_group(&mut self) -> io::Result<ExitStatus> {
        // Gone already: then there is nobody to kill.
        let _ = killpg(self.number(), Signal::SIGKILL);
        self.0.kill()?;
        self.0.wait()
    }
}
