//! A server's processes, looked at from outside.
//!
//! The tree is found by the parent ids of all processes, then read from the root downwards. That
//! order matters: a parent's count of reaped children is read *before* its children, so that a
//! child seen alive is not in the count as well. A process that ends between the finding and the
//! reading may be in neither, and the whole look is taken again.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use dbdyno_host::{Host, SharedHost, kernel, own};
use dbdyno_model::{Cost, Transport, Warning};

use crate::account::{Process, ProcessTree};
use crate::error::NotObservable;
use crate::locate;
use crate::parse::{self, Stat};
use crate::processes::{all_processes, read_stat};

/// Looks that are taken before one with a process missing is taken as it is. Only a server whose
/// processes end by the hundred each second gets there, and what each of them used is small.
const LOOKS: usize = 8;

/// A server's process and all below it: `mariadbd`, or the postmaster with its backends.
#[derive(Clone, Debug)]
pub struct ServerProbe {
    host: SharedHost,
    root: u32,
    /// `None` if there was no such process when the probe was made.
    started_ticks: Option<u64>,
}

/// What a server's processes had used at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSample {
    tree: ProcessTree,
    /// Processor time that the looking took, of the thread that looked. The server does not notice.
    pub probe_cpu_ns: u64,
}

impl ServerProbe {
    /// The process `pid` of a host and all below it. If there is no such process, sampling says
    /// so.
    pub fn of_process(host: &SharedHost, pid: u32) -> ServerProbe {
        let started_ticks = read_stat(&**host, pid).map(|stat| stat.started_ticks);
        ServerProbe { host: host.clone(), root: pid, started_ticks }
    }

    /// The server that listens on `transport`, if it runs on this host.
    ///
    /// # Errors
    /// Another host, nobody listens, no permission to see who does, or a program that only passes
    /// the traffic on.
    pub fn locate(host: &SharedHost, transport: &Transport) -> Result<ServerProbe, NotObservable> {
        let root = locate::find_listener(&**host, transport)?;
        Ok(ServerProbe::of_process(host, root))
    }

    /// The host that it runs on.
    pub(crate) fn host(&self) -> &dyn Host {
        &*self.host
    }

    /// The process id of the root.
    pub fn root_pid(&self) -> u32 {
        self.root
    }

    /// Looks at all processes of the server.
    ///
    /// # Errors
    /// [`NotObservable::ServerDied`] when the root is gone, or `/proc` cannot be read.
    pub fn sample(&self) -> Result<ServerSample, NotObservable> {
        let began_ns = own::thread_cpu_ns();
        let mut looks = 0;
        let tree = loop {
            looks += 1;
            let (tree, missing) = self.look()?;
            if missing == 0 || looks == LOOKS {
                break tree;
            }
        };
        Ok(ServerSample { tree, probe_cpu_ns: own::thread_cpu_ns() - began_ns })
    }

    /// Ids of the server's processes, the root first.
    pub(crate) fn process_ids(&self) -> Result<Vec<u32>, NotObservable> {
        Ok(descendants(self.root, &all_processes(self.host())?))
    }

    /// One look: the tree, and how many of its processes ended while it was taken.
    fn look(&self) -> Result<(ProcessTree, usize), NotObservable> {
        let found = self.process_ids()?;
        let mut tree = ProcessTree { tick_ns: self.host.tick_ns(), processes: BTreeMap::new() };
        let mut missing = 0;
        for pid in found {
            match read_process(self.host(), pid) {
                Some(process) => {
                    tree.processes.insert(pid, process);
                }
                None => missing += 1,
            }
        }
        let root = tree.processes.get(&self.root);
        if root.is_none() || root.map(|root| root.started_ticks) != self.started_ticks {
            return Err(NotObservable::ServerDied(self.root));
        }
        if read_stat(self.host(), self.root).is_none_or(|stat| matches!(stat.state, b'Z' | b'X')) {
            return Err(NotObservable::ServerDied(self.root));
        }
        Ok((tree, missing))
    }
}

impl ServerSample {
    /// What a server would show that is a model, and has used so much processor time since it
    /// began.
    pub fn of_model(cpu_ns: u64) -> ServerSample {
        let process = Process { cpu_ns, ..Process::default() };
        let processes = BTreeMap::from([(1, process)]);
        ServerSample { tree: ProcessTree { tick_ns: 1, processes }, probe_cpu_ns: 0 }
    }

    /// What the server used since `earlier`, a sample of the same probe: the `server_*` fields of
    /// the cost; `None` where it is not known.
    pub fn cost_since(&self, earlier: &ServerSample) -> Cost {
        self.tree.cost_since(&earlier.tree)
    }

    /// What the reader of [`ServerSample::cost_since`] must know.
    pub fn warnings_since(&self, earlier: &ServerSample) -> Vec<Warning> {
        self.tree.warnings_since(&earlier.tree)
    }

    /// Number of processes seen.
    pub fn process_count(&self) -> usize {
        self.tree.processes.len()
    }
}

/// `root` and all below it, parents before children.
fn descendants(root: u32, all: &[Stat]) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for stat in all {
        children.entry(stat.ppid).or_default().push(stat.pid);
    }
    let mut found = vec![root];
    let mut next = 0;
    while next < found.len() {
        // Taken out, so that not even a false table of parents goes round in circles.
        let below = children.remove(&found[next]).unwrap_or_default();
        found.extend(below.into_iter().filter(|&pid| pid != root));
        next += 1;
    }
    found
}

/// `None` if the process is gone, or goes while it is being read.
fn read_process(host: &dyn Host, pid: u32) -> Option<Process> {
    let stat = read_stat(host, pid)?;
    let cpu_ns = host.cpu_ns(pid)?;
    let io = match host.kernel_file(&kernel::process_path(pid, "io")) {
        Ok(text) => parse::io(&text),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => None,
        Err(_) => return None,
    };
    Some(Process {
        started_ticks: stat.started_ticks,
        cpu_ns,
        user_ticks: stat.user_ticks,
        kernel_ticks: stat.kernel_ticks,
        reaped_user_ticks: stat.reaped_user_ticks,
        reaped_kernel_ticks: stat.reaped_kernel_ticks,
        io,
        switches: read_switches(host, pid),
    })
}

/// Threads that end while the list is read are left out, like those that ended before.
fn read_switches(host: &dyn Host, pid: u32) -> Option<BTreeMap<u32, u64>> {
    let mut switches = BTreeMap::new();
    for tid in host.numeric_names(&kernel::process_path(pid, "task")).ok()? {
        match host.kernel_file(&kernel::process_path(pid, &format!("task/{tid}/status"))) {
            Ok(status) => {
                switches.insert(tid, parse::context_switches(&status)?);
            }
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return None,
            Err(_) => {}
        }
    }
    Some(switches)
}

#[cfg(test)]
mod tests {
    use dbdyno_host::local_host;

    use super::*;

    fn stat(pid: u32, ppid: u32) -> Stat {
        Stat {
            pid,
            comm: Vec::new(),
            state: b'S',
            ppid,
            user_ticks: 0,
            kernel_ticks: 0,
            reaped_user_ticks: 0,
            reaped_kernel_ticks: 0,
            started_ticks: 0,
        }
    }

    #[test]
    fn parents_come_before_children_whatever_their_ids() {
        let all = [stat(2, 9), stat(9, 5), stat(5, 1), stat(3, 2), stat(4, 1)];
        assert_eq!(descendants(5, &all), [5, 9, 2, 3]);
        assert_eq!(descendants(4, &all), [4]);
        let circle = [stat(5, 6), stat(6, 5)];
        assert_eq!(descendants(5, &circle), [5, 6]);
    }

    #[test]
    fn a_process_that_never_was_is_a_dead_server() {
        // Above the largest id that Linux gives (PID_MAX_LIMIT, 2^22).
        let probe = ServerProbe::of_process(&local_host(), 1 << 23);
        assert_eq!(probe.sample().unwrap_err(), NotObservable::ServerDied(1 << 23));
    }
}
