//! What else the host was doing.
//!
//! ```text
//!   all processors │██ servers ██│█ ourselves █│▒ foreign ▒│░ steal ░│        idle         │
//!                  └───────────── busy ────────────────────┘
//! ```
//!
//! Only good for a warning: the host counts in ticks, and by looking at what runs when the tick
//! comes; servers and we are counted to the nanosecond. Foreign time is the difference of the two
//! and can be off by a few hundredths of a processor; it is never below zero.

use dbdyno_host::{Host, kernel, own};

use crate::error::NotObservable;
use crate::parse::{self, HostTicks};

/// What all processors, and we among them, had done at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostSample {
    ticks: HostTicks,
    tick_ns: u64,
    own_cpu_ns: u64,
}

/// Shares of all processors' time between two samples, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostShares {
    /// At work, interrupts included; steal and idle not.
    pub busy: f64,
    /// Taken by the hypervisor for others while there was work here.
    pub steal: f64,
    /// At work for neither the servers nor this process.
    pub foreign: f64,
}

impl HostSample {
    /// Looks at `/proc/stat` and, where we run there, at our own clock.
    ///
    /// # Errors
    /// [`NotObservable::Proc`].
    pub fn read(host: &dyn Host) -> Result<HostSample, NotObservable> {
        let path = kernel::proc_path("stat");
        let text = host.kernel_file(&path)?;
        let ticks = parse::host_ticks(&text).ok_or_else(|| {
            NotObservable::Proc(path.display().to_string(), "no line \"cpu\"".to_owned())
        })?;
        let own_cpu_ns = host.own_pid().map_or(0, |_| own::process_cpu_ns());
        Ok(HostSample { ticks, tick_ns: host.tick_ns(), own_cpu_ns })
    }

    /// What a host would show that is a model: what we have used, what all have, what the
    /// hypervisor gave to others, and the time of all processors, in nanoseconds.
    pub fn of_model(own_ns: u64, busy_ns: u64, steal_ns: u64, all_ns: u64) -> HostSample {
        let ticks = HostTicks { busy: busy_ns, steal: steal_ns, total: all_ns };
        HostSample { ticks, tick_ns: 1, own_cpu_ns: own_ns }
    }

    /// Shares since `earlier`. `servers_cpu_ns` is what all our servers used in the same time, the
    /// one that had to wait included. `None` if not one tick has passed.
    pub fn shares_since(&self, earlier: &HostSample, servers_cpu_ns: u64) -> Option<HostShares> {
        let grown = |ticks: fn(&HostTicks) -> u64| {
            ticks(&self.ticks).saturating_sub(ticks(&earlier.ticks)) as f64
        };
        let total = grown(|ticks| ticks.total);
        if total == 0.0 {
            return None;
        }
        let ours_ns = self.own_cpu_ns.saturating_sub(earlier.own_cpu_ns) + servers_cpu_ns;
        let busy = grown(|ticks| ticks.busy) / total;
        let ours = ours_ns as f64 / self.tick_ns as f64 / total;
        Some(HostShares {
            busy,
            steal: grown(|ticks| ticks.steal) / total,
            foreign: (busy - ours).max(0.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(busy: u64, steal: u64, total: u64, own_cpu_ns: u64) -> HostSample {
        HostSample { ticks: HostTicks { busy, steal, total }, tick_ns: 10_000_000, own_cpu_ns }
    }

    #[test]
    fn what_is_not_ours_is_foreign() {
        let earlier = sample(1000, 10, 5000, 7);
        // 4 s of processors: 2 s busy, 0.2 s stolen; ours 0.5 s, the servers' 1 s.
        let later = sample(1200, 30, 5400, 500_000_007);
        let shares = later.shares_since(&earlier, 1_000_000_000).unwrap();
        assert_eq!((shares.busy, shares.steal), (0.5, 0.05));
        assert!((shares.foreign - 0.125).abs() < 1e-12, "{shares:?}");
        let shares = later.shares_since(&earlier, 9_000_000_000).unwrap();
        assert_eq!(shares.foreign, 0.0);
        assert_eq!(earlier.shares_since(&earlier, 0), None);
    }
}
