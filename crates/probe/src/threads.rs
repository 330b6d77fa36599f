//! Threads of our own process that an embedded engine keeps for itself.
//!
//! RocksDB flushes and compacts in threads called `rocksdb:low` and `rocksdb:high`. What they do is
//! work of the arm, and no client's: it is found by the name of the thread, and read from the same
//! files as a process's.

use std::collections::BTreeMap;
use std::path::Path;

use dbdyno_host::{Host, kernel};

use crate::parse::{self, Io, Switches};

/// What such threads had used at one moment, by thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadsSample(BTreeMap<u32, TaskUsage>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TaskUsage {
    cpu_ns: u64,
    switches: Switches,
    io: Io,
}

/// What they used between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadsCost {
    /// Processor time.
    pub cpu_ns: u64,
    /// Times that they gave their processor away, because they had to wait.
    pub voluntary_switches: u64,
    /// Times that their processor was taken from them.
    pub involuntary_switches: u64,
    /// Bytes that they caused to be fetched from storage.
    pub read_bytes: u64,
    /// Bytes that they caused to be sent to storage.
    pub written_bytes: u64,
}

impl ThreadsSample {
    /// Looks at the threads of this process whose names begin so. A thread that cannot be read has
    /// ended.
    pub fn with_name_prefix(host: &dyn Host, prefix: &str) -> ThreadsSample {
        let Some(pid) = host.own_pid() else { return ThreadsSample::default() };
        let tasks = kernel::process_path(pid, "task");
        let ids = host.numeric_names(&tasks).unwrap_or_default();
        let used = |id: u32| Some((id, usage(host, &tasks.join(id.to_string()), prefix)?));
        ThreadsSample(ids.into_iter().filter_map(used).collect())
    }

    /// What was used since `earlier`. What a thread used that has ended since is not known any
    /// more: RocksDB's stay.
    pub fn cost_since(&self, earlier: &ThreadsSample) -> ThreadsCost {
        let mut cost = ThreadsCost::default();
        for (id, now) in &self.0 {
            let then = earlier.0.get(id).copied().unwrap_or_default();
            cost.cpu_ns += now.cpu_ns.saturating_sub(then.cpu_ns);
            let grown = |count: fn(&Switches) -> u64| {
                count(&now.switches).saturating_sub(count(&then.switches))
            };
            cost.voluntary_switches += grown(|switches| switches.voluntary);
            cost.involuntary_switches += grown(|switches| switches.involuntary);
            cost.read_bytes += now.io.read_bytes.saturating_sub(then.io.read_bytes);
            cost.written_bytes += now.io.written_bytes.saturating_sub(then.io.written_bytes);
        }
        cost
    }
}

/// What the thread of this folder has used; `None` for one of another name.
fn usage(host: &dyn Host, task: &Path, prefix: &str) -> Option<TaskUsage> {
    if !host.kernel_text(&task.join("comm"))?.starts_with(prefix) {
        return None;
    }
    let schedule = host.kernel_text(&task.join("schedstat"))?;
    let cpu_ns = schedule.split_ascii_whitespace().next()?.parse().ok()?;
    let switches = parse::thread_switches(&host.kernel_file(&task.join("status")).ok()?)?;
    let io = host.kernel_file(&task.join("io")).ok().and_then(|text| parse::io(&text));
    Some(TaskUsage { cpu_ns, switches, io: io.unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use dbdyno_host::ScriptedHost;

    use super::*;

    /// The files of a thread: its name, processor time, switches of both kinds, bytes written.
    fn thread(id: u32, name: &str, [cpu_ns, gave, taken, written]: [u64; 4]) -> String {
        format!(
            "@ /proc/7/task/{id}/comm\n{name}\n@ /proc/7/task/{id}/schedstat\n{cpu_ns} 5 6\n\
             @ /proc/7/task/{id}/status\nvoluntary_ctxt_switches:\t{gave}\n\
             nonvoluntary_ctxt_switches:\t{taken}\n\
             @ /proc/7/task/{id}/io\nread_bytes: 0\nwrite_bytes: {written}\n"
        )
    }

    #[test]
    fn only_threads_of_the_name_are_counted() {
        let before =
            thread(7, "dbdyno", [900, 9, 9, 9]) + &thread(8, "rocksdb:low0", [50, 1, 2, 3]);
        let host = ScriptedHost::new(&before).with_own_pid(7);
        let earlier = ThreadsSample::with_name_prefix(&host, "rocksdb:");
        host.add_places(&thread(7, "dbdyno", [1_900, 99, 99, 99]));
        host.add_places(&thread(8, "rocksdb:low0", [80, 4, 3, 4_099]));
        host.add_places(&thread(9, "rocksdb:high0", [11, 1, 0, 0]));
        let cost = ThreadsCost {
            cpu_ns: 30 + 11,
            voluntary_switches: 3 + 1,
            involuntary_switches: 1,
            read_bytes: 0,
            written_bytes: 4_096,
        };
        assert_eq!(ThreadsSample::with_name_prefix(&host, "rocksdb:").cost_since(&earlier), cost);
        let none = ThreadsSample::with_name_prefix(&host, "nobody:");
        assert_eq!(none.cost_since(&ThreadsSample::default()), ThreadsCost::default());
    }

    #[test]
    fn a_thread_whose_traffic_may_not_be_seen_is_counted_without_it() {
        let host = ScriptedHost::new(&thread(8, "rocksdb:low0", [50, 1, 2, 3])).with_own_pid(7);
        host.add_places("@ /proc/7/task/8/io !");
        let cost = ThreadsSample::with_name_prefix(&host, "rocksdb:")
            .cost_since(&ThreadsSample::default());
        assert_eq!((cost.cpu_ns, cost.written_bytes), (50, 0));
        // Threads of ours are not looked for where we do not run.
        let elsewhere = ScriptedHost::new(&thread(8, "rocksdb:low0", [50, 1, 2, 3]));
        assert_eq!(
            ThreadsSample::with_name_prefix(&elsewhere, "rocksdb:"),
            ThreadsSample::default()
        );
    }
}
