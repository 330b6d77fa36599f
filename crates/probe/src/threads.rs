//! Threads of our own process that an embedded engine keeps for itself.
//!
//! RocksDB flushes and compacts in threads called `rocksdb:low` and `rocksdb:high`. What they do is
//! work of the arm, and no client's: it is found by the name of the thread, and read from the same
//! files as a process's.

use std::collections::BTreeMap;
use std::fs;

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
    pub fn named(prefix: &str) -> ThreadsSample {
        let entries = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let used = |entry: fs::DirEntry| {
            let (id, path) = (entry.file_name().to_str()?.parse().ok()?, entry.path());
            let name = fs::read_to_string(path.join("comm")).ok()?;
            if !name.starts_with(prefix) {
                return None;
            }
            let schedule = fs::read_to_string(path.join("schedstat")).ok()?;
            let cpu_ns = schedule.split_ascii_whitespace().next()?.parse().ok()?;
            let status = fs::read(path.join("status")).ok()?;
            let switches = parse::switches(&status)?;
            let io = fs::read(path.join("io")).ok().and_then(|text| parse::io(&text));
            Some((id, TaskUsage { cpu_ns, switches, io: io.unwrap_or_default() }))
        };
        ThreadsSample(entries.filter_map(used).collect())
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn only_threads_of_the_name_are_counted() {
        let (go, wait) = mpsc::channel::<()>();
        let (told, done) = mpsc::channel();
        let work = move || {
            for () in wait {
                let sum = (0..5_000_000u64).fold(0, |sum: u64, value| sum.wrapping_mul(31) ^ value);
                std::hint::black_box(sum);
                thread::sleep(Duration::from_millis(1));
                told.send(()).unwrap();
            }
        };
        let worker = thread::Builder::new().name("probed:low0".to_owned()).spawn(work).unwrap();
        let turn = || {
            go.send(()).unwrap();
            done.recv().unwrap();
        };
        turn();
        let (before, nobody) = (ThreadsSample::named("probed:"), ThreadsSample::named("nobody:"));
        turn();
        let cost = ThreadsSample::named("probed:").cost_since(&before);
        assert!(cost.cpu_ns > 0, "{cost:?}");
        assert!(cost.voluntary_switches > 0, "it slept: {cost:?}");
        assert_eq!(ThreadsSample::named("nobody:").cost_since(&nobody), ThreadsCost::default());
        drop(go);
        worker.join().unwrap();
    }
}
