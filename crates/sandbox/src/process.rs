//! Which process is it? A pid alone is not an answer, because pids are used again.
//!
//! ```text
//!   identity = pid + start time (field 22 of /proc/PID/stat) + boot
//! ```
//!
//! Servers of a sandbox are found in a second way that needs no record: the executable lies in our
//! `servers` directory, or the account is that of the servers, and the working directory in that
//! sandbox. It finds PostgreSQL's backends
//! too, which leave their parent's process group and may outlive it for as long as a statement
//! lasts.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::child::{UNPRIVILEGED, is_root};
use crate::clock::Deadline;

/// A process, told from any other that ever has the same pid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) pid: i32,
    start_ticks: u64,
    boot: String,
}

impl Identity {
    /// The process that has this pid now.
    pub(crate) fn of(pid: i32) -> Option<Identity> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let start_ticks = living_since(&stat)?;
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(Identity { pid, start_ticks, boot: boot.trim().to_owned() })
    }

    /// This process.
    pub(crate) fn own() -> Option<Identity> {
        Identity::of(std::process::id().try_into().ok()?)
    }

    /// Whether it still runs. A zombie does not.
    pub(crate) fn lives(&self) -> bool {
        Identity::of(self.pid).as_ref() == Some(self)
    }

    /// As it is written to a file.
    pub(crate) fn to_line(&self) -> String {
        format!("{} {} {}\n", self.pid, self.start_ticks, self.boot)
    }

    /// Reads what [`Identity::to_line`] wrote.
    pub(crate) fn from_line(line: &str) -> Option<Identity> {
        let mut words = line.split_whitespace();
        let pid = words.next()?.parse().ok().filter(|&pid| pid > 1)?;
        let start_ticks = words.next()?.parse().ok()?;
        let boot = words.next()?.to_owned();
        words.next().is_none().then_some(Identity { pid, start_ticks, boot })
    }

    /// Kills it if it still is the same process, and waits until it is gone.
    pub(crate) fn end(&self) {
        let deadline = Deadline::after_seconds(GONE_WITHIN_S);
        while self.lives() {
            self.kill();
            if !deadline.pause_to_the_end() {
                return;
            }
        }
    }

    /// Kills it if it still is the same process.
    pub(crate) fn kill(&self) {
        if self.lives() {
            // It may be gone by now; then there is nothing to do.
            let _ = kill(Pid::from_raw(self.pid), Signal::SIGKILL);
        }
    }
}

/// Field 22 of a `stat` line, unless the process is dead already (states Z and X). The second
/// field is the command in parentheses and may itself hold spaces and parentheses, so counting
/// starts behind the last one.
fn living_since(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let start = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X" | "x")).then_some(start)
}

/// The servers from `servers` that work inside `sandbox`; those that are counted there run in
/// valgrind's executable, which is among the tools beside `servers`.
pub(crate) fn servers_in(servers: &Path, sandbox: &Path) -> Vec<Identity> {
    let tools = servers.with_file_name("tools");
    processes_in(sandbox, |pid| leads(pid, "exe", servers) || leads(pid, "exe", &tools))
}

/// The processes that work inside a folder and are wanted.
fn processes_in(folder: &Path, is_wanted: impl Fn(i32) -> bool) -> Vec<Identity> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| leads(*pid, "cwd", folder) && is_wanted(*pid))
        .filter_map(Identity::of)
        .collect()
}

/// Whether a link of a process leads into a folder.
fn leads(pid: i32, name: &str, folder: &Path) -> bool {
    fs::read_link(format!("/proc/{pid}/{name}")).is_ok_and(|path| path.starts_with(folder))
}

/// Whether a process runs as the account that servers have where root starts them: nothing else of
/// that account works in a sandbox.
fn is_of_servers(pid: i32) -> bool {
    let owner = fs::metadata(format!("/proc/{pid}")).map(|found| found.uid());
    is_root() && owner.is_ok_and(|owner| owner == UNPRIVILEGED)
}

/// Numbers of the processors that this process may use, in order.
pub fn processors() -> Vec<usize> {
    let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::count()).filter(|&number| allowed.is_set(number) == Ok(true)).collect()
}

/// Memory of this machine, in MB; 0 where the kernel does not say.
pub fn memory_mb() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kb = total.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kb.unwrap_or(0) / 1024
}

/// Lets every thread of these servers run on `processors` only. Threads and processes that they
/// make from now on inherit it; those that end meanwhile are passed over.
///
/// # Errors
/// The kernel's refusal for a thread that is still there.
pub(crate) fn keep_on(servers: &[Identity], processors: &CpuSet) -> io::Result<()> {
    for server in servers {
        let Ok(threads) = fs::read_dir(format!("/proc/{}/task", server.pid)) else { continue };
        let ids = threads.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        for id in ids {
            match sched_setaffinity(Pid::from_raw(id), processors) {
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

/// Seconds that a killed process may take to be gone: its memory must be given back, its I/O end.
pub(crate) const GONE_WITHIN_S: u64 = 20;

/// Kills the servers from `servers` that work inside `sandbox`, and what else runs there with their
/// account, until there are none; returns the pids. The sandbox is a folder of ours.
pub(crate) fn kill_servers_in(servers: &Path, sandbox: &Path) -> Vec<i32> {
    let deadline = Deadline::after_seconds(GONE_WITHIN_S);
    let mut killed = Vec::new();
    loop {
        let mut found = servers_in(servers, sandbox);
        found.extend(processes_in(sandbox, is_of_servers));
        if found.is_empty() {
            return killed;
        }
        for server in found {
            server.kill();
            if !killed.contains(&server.pid) {
                killed.push(server.pid);
            }
        }
        if !deadline.pause_to_the_end() {
            return killed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_time_is_found_behind_any_command_name() {
        let rest = "S 1 5 5 0 -1 4194560 1 0 0 0 3 2 0 0 20 0 1 0 987654 1000 2";
        assert_eq!(living_since(&format!("7 (a) b) {rest}")), Some(987_654));
        assert_eq!(living_since(&format!("7 (x (y 1 2) {rest}")), Some(987_654));
        assert_eq!(living_since(&format!("7 (x) {}", rest.replacen('S', "Z", 1))), None);
        assert_eq!(living_since("7 (x) S 1"), None);
    }

    #[test]
    fn an_identity_survives_its_file_and_tells_a_reused_pid() {
        let own = Identity::own().unwrap();
        assert!(own.lives());
        assert_eq!(Identity::from_line(&own.to_line()), Some(own.clone()));
        let other = Identity { start_ticks: own.start_ticks + 1, ..own.clone() };
        assert!(!other.lives());
        let before_reboot = Identity { boot: "another".into(), ..own };
        assert!(!before_reboot.lives());
        for line in ["", "12", "12 x y", "0 5 b", "-1 5 b", "1 5 b", "12 5 b extra"] {
            assert_eq!(Identity::from_line(line), None, "{line:?}");
        }
    }

    #[test]
    fn a_zombie_is_dead() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id().try_into().unwrap();
        let deadline = Deadline::after_seconds(10);
        while Identity::of(pid).is_some() {
            assert!(deadline.pause(), "the zombie still counts as living");
        }
        child.wait().unwrap();
    }
}
