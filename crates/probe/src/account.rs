//! How the time of a tree of processes is counted, once and only once.
//!
//! ```text
//!             first sample                         second sample
//!   root      ═════╪══════════════════════════════════╪═══   own clock, to the nanosecond
//!   stays     ═════╪══════════════════════════════════╪═══   own clock
//!   comes          │         ╔════════════════════════╪═══   own clock, all of it
//!   goes      ═════╪══════╗  │                        │
//!                  │      ╚═▶ waited for: what it used in its whole life is added
//!   flits          │   ╔══╗         to its parent's count of reaped children
//!                  │   ╚══╩═▶ the same                │
//!
//!   used  =  Σ stays, comes: clock now − clock then (0 if it had not begun)
//!          + Σ growth of the count of reaped children
//!          − Σ what those that went had on clock and count at the first sample
//! ```
//!
//! A process moves its total to its parent when it is waited for; nothing is lost and nothing is
//! counted twice, so the difference of the sums is what was used in between. The only case in which
//! the sums do not hold is a process that leaves the tree without being waited for (its parent died
//! first, or ignores its children): then more went than came back, and the cost is *not observable*
//! instead of too small. (That is noticed if what went is more than the uncertainty below; one that
//! was born *and* left between the samples leaves no trace.)
//!
//! *Precision.* The clocks are exact. The count of reaped children is kept in nanoseconds but shown
//! in ticks (10 ms), user and kernel cut off separately: a window in which children were reaped is
//! off by less than two ticks for each process that reaped some; a window without is exact. The
//! split into user and kernel comes from the ticks of all processes, applied to the exact sum.
//!
//! *Storage traffic* is added to the parent in the same way, by the kernel and exactly: the
//! difference of the sums over the tree is right as it is. *Context switches* are counted by thread
//! and go with the thread: those of threads that ended in the window are missing, and
//! [`ProcessTree::warnings_since`] says how many threads that were.

use std::collections::BTreeMap;

use dbdyno_model::{Cost, Severity, Warning};

use crate::parse::Io;

/// One process as it was when it was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// When it began, in ticks since boot: tells it from a later one with the same id.
    pub started_ticks: u64,
    /// Its processor clock: all its threads, also those that ended.
    pub cpu_ns: u64,
    /// Time in user mode.
    pub user_ticks: u64,
    /// Time in the kernel.
    pub kernel_ticks: u64,
    /// Time in user mode of children that were waited for.
    pub reaped_user_ticks: u64,
    /// Time in the kernel of children that were waited for.
    pub reaped_kernel_ticks: u64,
    /// Storage traffic, children that were waited for included; `None` if we may not look.
    pub io: Option<Io>,
    /// Context switches of each thread that is alive; `None` if we may not look.
    pub switches: Option<BTreeMap<u32, u64>>,
}

/// A tree of processes at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessTree {
    /// Length of a tick.
    pub tick_ns: u64,
    /// By process id.
    pub processes: BTreeMap<u32, Process>,
}

/// Processor time between two looks at a tree.
struct Cpu {
    /// `None`: processes left the tree, so that the sum is not known.
    total_ns: Option<u64>,
    kernel_ns: Option<u64>,
}

impl ProcessTree {
    /// What the tree used since `earlier`: the `server_*` fields; the others are `None`.
    pub fn cost_since(&self, earlier: &ProcessTree) -> Cost {
        let cpu = self.cpu_since(earlier);
        let io = cpu.total_ns.and_then(|_| self.io_since(earlier));
        Cost {
            server_cpu_ns: cpu.total_ns,
            server_kernel_ns: cpu.kernel_ns,
            server_context_switches: self.switches_since(earlier).map(|(switches, _)| switches),
            server_read_bytes: io.map(|io| io.read_bytes),
            server_written_bytes: io.map(|io| io.written_bytes),
            ..Cost::default()
        }
    }

    /// What the reader of [`ProcessTree::cost_since`] must know.
    pub fn warnings_since(&self, earlier: &ProcessTree) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.cpu_since(earlier).total_ns.is_none() {
            warnings.push(Warning::new(
                Severity::Caution,
                "server-processes-left",
                "Processes of the server left it without being waited for; processor time and \
                 storage traffic of the server are not known for this round.",
            ));
        }
        if let Some((_, ended @ 1..)) = self.switches_since(earlier) {
            let text = format!(
                "{ended} of the server's threads ended in a round and took their count of context \
                 switches along; that figure is a little too low."
            );
            warnings.push(Warning::new(Severity::Note, "server-threads-ended", text));
        }
        warnings
    }

    /// The process of this id, if it is the same one as `process`.
    fn same(&self, pid: u32, process: &Process) -> Option<&Process> {
        self.processes.get(&pid).filter(|found| found.started_ticks == process.started_ticks)
    }

    fn cpu_since(&self, earlier: &ProcessTree) -> Cpu {
        let mut alive_ns = 0u64;
        let mut reaped_ticks = 0u64;
        let mut reapers = 1u64;
        for (&pid, now) in &self.processes {
            let then = earlier.same(pid, now);
            alive_ns += now.cpu_ns.saturating_sub(then.map_or(0, |then| then.cpu_ns));
            let reaped =
                |process: &Process| process.reaped_user_ticks + process.reaped_kernel_ticks;
            reaped_ticks += reaped(now).saturating_sub(then.map_or(0, reaped));
            reapers += u64::from(reaped(now) > 0);
        }
        let mut gone_ns = 0u64;
        for (&pid, then) in &earlier.processes {
            if self.same(pid, then).is_none() {
                let reaped = then.reaped_user_ticks + then.reaped_kernel_ticks;
                gone_ns += then.cpu_ns + reaped * self.tick_ns;
            }
        }
        let returned_ns = reaped_ticks * self.tick_ns;
        let uncertain_ns = 2 * reapers * self.tick_ns;
        if gone_ns > returned_ns + uncertain_ns {
            return Cpu { total_ns: None, kernel_ns: None };
        }
        let total_ns = alive_ns + returned_ns.saturating_sub(gone_ns);
        Cpu { total_ns: Some(total_ns), kernel_ns: self.kernel_share_since(earlier, total_ns) }
    }

    /// The part of `total_ns` in the kernel; `None` if not even one tick has passed to tell by.
    fn kernel_share_since(&self, earlier: &ProcessTree, total_ns: u64) -> Option<u64> {
        let sum = |tree: &ProcessTree, ticks: fn(&Process) -> u64| {
            tree.processes.values().map(ticks).sum()
        };
        let grown = |ticks: fn(&Process) -> u64| {
            let (now, then): (u64, u64) = (sum(self, ticks), sum(earlier, ticks));
            now.saturating_sub(then)
        };
        let user = grown(|process| process.user_ticks + process.reaped_user_ticks);
        let kernel = grown(|process| process.kernel_ticks + process.reaped_kernel_ticks);
        if user + kernel == 0 {
            return (total_ns == 0).then_some(0);
        }
        let share = u128::from(total_ns) * u128::from(kernel) / u128::from(user + kernel);
        u64::try_from(share).ok()
    }

    fn io_since(&self, earlier: &ProcessTree) -> Option<Io> {
        let sum = |tree: &ProcessTree| {
            tree.processes.values().try_fold(Io::default(), |sum, one| {
                let io = one.io?;
                Some(Io {
                    read_bytes: sum.read_bytes.checked_add(io.read_bytes)?,
                    written_bytes: sum.written_bytes.checked_add(io.written_bytes)?,
                })
            })
        };
        let (now, then) = (sum(self)?, sum(earlier)?);
        Some(Io {
            read_bytes: now.read_bytes.checked_sub(then.read_bytes)?,
            written_bytes: now.written_bytes.checked_sub(then.written_bytes)?,
        })
    }

    /// Context switches, and the number of threads that ended and took theirs with them.
    fn switches_since(&self, earlier: &ProcessTree) -> Option<(u64, u64)> {
        let mut switches = 0;
        let mut met = 0;
        for (&pid, now) in &self.processes {
            let then = match earlier.same(pid, now) {
                Some(then) => Some(then.switches.as_ref()?),
                None => None,
            };
            for (tid, &count) in now.switches.as_ref()? {
                // A smaller count is another thread with the same id: all of it is new.
                match then.and_then(|then| then.get(tid)) {
                    Some(&before) if before <= count => {
                        switches += count - before;
                        met += 1;
                    }
                    _ => switches += count,
                }
            }
        }
        let known: usize = earlier
            .processes
            .values()
            .map(|one| one.switches.as_ref().map_or(0, BTreeMap::len))
            .sum();
        Some((switches, (known as u64).saturating_sub(met)))
    }
}
