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

use std::io;
use std::path::Path;

use dbdyno_host::{EndSignal, Host, Machine, kernel};
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

use crate::child::{UNPRIVILEGED, is_root};
use crate::clock::Deadline;

/// A process, told from any other that ever has the same pid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) pid: u32,
    start_ticks: u64,
    boot: String,
}

impl Identity {
    /// The process of a host that has this pid now.
    pub(crate) fn of_process(host: &dyn Host, pid: u32) -> Option<Identity> {
        let start_ticks = living_since(&host.kernel_text(&kernel::process_path(pid, "stat"))?)?;
        let boot = host.kernel_text(&kernel::proc_path("sys/kernel/random/boot_id"))?;
        Some(Identity { pid, start_ticks, boot: boot.trim().to_owned() })
    }

    /// This process, where it runs on that host.
    pub(crate) fn own_process(host: &dyn Host) -> Option<Identity> {
        Identity::of_process(host, host.own_pid()?)
    }

    /// Whether it still runs. A zombie does not.
    pub(crate) fn is_alive(&self, host: &dyn Host) -> bool {
        Identity::of_process(host, self.pid).as_ref() == Some(self)
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
    pub(crate) fn kill_and_wait(&self, host: &dyn Machine) {
        let deadline = Deadline::after_seconds(GONE_WITHIN_S);
        while self.is_alive(host) {
            self.kill(host);
            if !deadline.pause_to_the_end() {
                return;
            }
        }
    }

    /// Kills it if it still is the same process.
    pub(crate) fn kill(&self, host: &dyn Machine) {
        if self.is_alive(host) {
            // It may be gone by now; then there is nothing to do.
            let _ = host.signal_process(self.pid, EndSignal::Kill);
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
pub(crate) fn servers_in(host: &dyn Host, servers: &Path, sandbox: &Path) -> Vec<Identity> {
    let tools = servers.with_file_name("tools");
    processes_in(host, sandbox, |pid| {
        leads(host, pid, "exe", servers) || leads(host, pid, "exe", &tools)
    })
}

/// The processes that work inside a folder and are wanted.
fn processes_in(host: &dyn Host, folder: &Path, is_wanted: impl Fn(u32) -> bool) -> Vec<Identity> {
    let pids = host.numeric_names(&kernel::proc_path("")).unwrap_or_default().into_iter();
    pids.filter(|pid| leads(host, *pid, "cwd", folder) && is_wanted(*pid))
        .filter_map(|pid| Identity::of_process(host, pid))
        .collect()
}

/// Whether a link of a process leads into a folder.
fn leads(host: &dyn Host, pid: u32, name: &str, folder: &Path) -> bool {
    host.link_target(&kernel::process_path(pid, name)).is_ok_and(|path| path.starts_with(folder))
}

/// Whether a process runs as the account that servers have where root starts them: nothing else of
/// that account works in a sandbox.
fn is_of_servers(host: &dyn Host, pid: u32) -> bool {
    let owner = host.status(&kernel::process_path(pid, "")).map(|found| found.uid);
    is_root() && owner.is_ok_and(|owner| owner == UNPRIVILEGED)
}

/// Numbers of the processors that this process may use, in order.
pub fn allowed_processors() -> Vec<usize> {
    let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::count()).filter(|&number| allowed.is_set(number) == Ok(true)).collect()
}

/// Memory of a host, in MB; 0 where the kernel does not say.
pub(crate) fn memory_mb(host: &dyn Host) -> u64 {
    let text = host.kernel_text(&kernel::proc_path("meminfo")).unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kb = total.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kb.unwrap_or(0) / 1024
}

/// Lets every thread of these servers run on `processors` only. Threads and processes that they
/// make from now on inherit it; those that end meanwhile are passed over.
///
/// # Errors
/// The kernel's refusal for a thread that is still there.
pub(crate) fn keep_on(
    host: &dyn Machine,
    servers: &[Identity],
    processors: &[usize],
) -> io::Result<()> {
    for server in servers {
        let threads = host.numeric_names(&kernel::process_path(server.pid, "task"));
        for id in threads.unwrap_or_default() {
            match host.keep_on(id, processors) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error.into_source());
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Seconds that a killed process may take to be gone: its memory must be given back, its I/O end.
pub(crate) const GONE_WITHIN_S: u64 = 20;

/// Kills the servers from `servers` that work inside `sandbox`, and what else runs there with their
/// account, until there are none; returns the pids. The sandbox is a folder of ours.
pub(crate) fn kill_servers_in(host: &dyn Machine, servers: &Path, sandbox: &Path) -> Vec<u32> {
    let deadline = Deadline::after_seconds(GONE_WITHIN_S);
    let mut killed = Vec::new();
    loop {
        let mut found = servers_in(host, servers, sandbox);
        found.extend(processes_in(host, sandbox, |pid| is_of_servers(host, pid)));
        if found.is_empty() {
            return killed;
        }
        for server in found {
            server.kill(host);
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
    use dbdyno_host::ScriptedHost;

    use super::*;

    /// A process: what it is called, its state, when it began, what it runs and where it works.
    fn process(pid: u32, name: &str, state: char, start: u64, [exe, cwd]: [&str; 2]) -> String {
        format!(
            "@ /proc/{pid}/stat\n{pid} ({name}) {state} 1 5 5 0 -1 4194560 1 0 0 0 3 2 0 0 20 0 1 0 \
             {start} 1000 2\n@ /proc/{pid}/exe -> {exe}\n@ /proc/{pid}/cwd -> {cwd}\n\
             @ /proc/sys/kernel/random/boot_id\nfirst\n"
        )
    }

    #[test]
    fn start_time_is_found_behind_any_command_name_and_the_dead_have_none() {
        for (name, state, start) in [
            ("a) b", 'S', Some(987)),
            ("x (y 1 2", 'R', Some(987)),
            ("x", 'Z', None),
            ("x", 'X', None),
        ] {
            let host = ScriptedHost::new(&process(7, name, state, 987, ["/a", "/"]));
            let found = Identity::of_process(&host, 7).map(|identity| identity.start_ticks);
            assert_eq!(found, start, "{name} {state}");
        }
        let host = ScriptedHost::new("@ /proc/7/stat\n7 (x) S 1\n");
        assert_eq!(Identity::of_process(&host, 7), None);
    }

    #[test]
    fn an_identity_survives_its_file_and_tells_a_reused_pid_and_another_boot() {
        let host = ScriptedHost::new(&process(7, "dbdyno", 'S', 50, ["/a", "/"])).with_own_pid(7);
        let own = Identity::own_process(&host).unwrap();
        assert_eq!(own.to_line(), "7 50 first\n");
        assert_eq!(Identity::from_line(&own.to_line()), Some(own.clone()));
        assert!(own.is_alive(&host));
        host.add_places(&process(7, "sh", 'S', 51, ["/a", "/"]));
        assert!(!own.is_alive(&host));
        host.add_places(&process(7, "dbdyno", 'S', 50, ["/a", "/"]));
        assert!(own.is_alive(&host));
        host.add_places("@ /proc/sys/kernel/random/boot_id\nsecond\n");
        assert!(!own.is_alive(&host));
        for line in ["", "12", "12 x y", "0 5 b", "-1 5 b", "1 5 b", "12 5 b extra"] {
            assert_eq!(Identity::from_line(line), None, "{line:?}");
        }
    }

    #[test]
    fn servers_in_a_folder_are_those_that_run_from_the_home_and_work_there() {
        let works = |pid, exe, cwd| process(pid, "mysqld", 'S', 9, [exe, cwd]);
        let host = ScriptedHost::new(
            &[
                works(10, "/h/servers/mysql-8/bin/mysqld", "/h/run/base-1-0/s"),
                works(11, "/h/tools/valgrind/callgrind", "/h/run/base-1-0/s/data"),
                works(12, "/usr/bin/bash", "/h/run/base-1-0"),
                works(13, "/h/servers/mysql-8/bin/mysqld", "/h/run/test-1-1/s"),
            ]
            .concat(),
        );
        host.add_places("@ /proc/14/cwd !\n@ /proc/15/cwd -> /h/run/base-1-0");
        let found = servers_in(&host, Path::new("/h/servers"), Path::new("/h/run/base-1-0"));
        let pids: Vec<u32> = found.iter().map(|identity| identity.pid).collect();
        assert_eq!(pids, [10, 11]);
        let killed = kill_servers_in(&host, Path::new("/h/servers"), Path::new("/h/run/base-1-0"));
        assert_eq!(killed, [10, 11]);
        assert!(
            Identity::of_process(&host, 10).is_none() && Identity::of_process(&host, 13).is_some()
        );
    }

    #[test]
    fn the_memory_of_a_host_is_what_it_says_or_nothing() {
        let host = ScriptedHost::new("@ /proc/meminfo\nMemTotal:       394897820 kB\n");
        assert_eq!(memory_mb(&host), 385_642);
        assert_eq!(memory_mb(&ScriptedHost::default()), 0);
    }
}
