//! What the calling thread itself has cost so far.

use dbdyno_host::own;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// Resources used by a thread since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// Processor time, exact.
    pub cpu_ns: u64,
    /// The part of it spent in the kernel, which the kernel splits by sampling.
    pub kernel_ns: u64,
    /// Times that it gave its processor away, because it had to wait.
    pub voluntary_switches: u64,
    /// Times that its processor was taken from it.
    pub involuntary_switches: u64,
    /// Time in which the thread could have run and waited for a processor; 0 where the kernel does
    /// not tell.
    pub run_delay_ns: u64,
    /// Bytes read from storage, in whole blocks of 512.
    pub read_bytes: u64,
    /// Bytes written towards storage, in whole blocks of 512.
    pub written_bytes: u64,
}

/// The unit in which the kernel reports a thread's traffic with storage.
const BLOCK_BYTES: u64 = 512;

impl ThreadUsage {
    /// The usage of the calling thread. Costs about a microsecond; nothing where the kernel does
    /// not tell, which Linux always does.
    pub fn now() -> ThreadUsage {
        let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else {
            return ThreadUsage::default();
        };
        let kernel_ns = usage.system_time().num_nanoseconds().max(0) as u64;
        let user_ns = usage.user_time().num_nanoseconds().max(0) as u64;
        // What getrusage adds up is as old as the last tick, up to 4 ms; the clock is not.
        ThreadUsage {
            cpu_ns: own::thread_cpu_ns().max(kernel_ns + user_ns),
            kernel_ns,
            voluntary_switches: usage.voluntary_context_switches().max(0) as u64,
            involuntary_switches: usage.involuntary_context_switches().max(0) as u64,
            run_delay_ns: own::thread_run_delay_ns().unwrap_or(0),
            read_bytes: usage.block_reads().max(0) as u64 * BLOCK_BYTES,
            written_bytes: usage.block_writes().max(0) as u64 * BLOCK_BYTES,
        }
    }

    /// What was used since `earlier`.
    pub fn since(self, earlier: ThreadUsage) -> ThreadUsage {
        let of = |count: fn(&ThreadUsage) -> u64| count(&self).saturating_sub(count(&earlier));
        ThreadUsage {
            cpu_ns: of(|usage| usage.cpu_ns),
            kernel_ns: of(|usage| usage.kernel_ns),
            voluntary_switches: of(|usage| usage.voluntary_switches),
            involuntary_switches: of(|usage| usage.involuntary_switches),
            run_delay_ns: of(|usage| usage.run_delay_ns),
            read_bytes: of(|usage| usage.read_bytes),
            written_bytes: of(|usage| usage.written_bytes),
        }
    }

    /// Context switches, voluntary and not.
    pub fn context_switches(&self) -> u64 {
        self.voluntary_switches + self.involuntary_switches
    }

    /// So many times this usage.
    pub(crate) fn scaled_by(self, share: f64) -> ThreadUsage {
        let of = |count: u64| (count as f64 * share).round() as u64;
        ThreadUsage {
            cpu_ns: of(self.cpu_ns),
            kernel_ns: of(self.kernel_ns),
            voluntary_switches: of(self.voluntary_switches),
            involuntary_switches: of(self.involuntary_switches),
            run_delay_ns: of(self.run_delay_ns),
            read_bytes: of(self.read_bytes),
            written_bytes: of(self.written_bytes),
        }
    }

    /// The sum of two usages.
    pub fn plus(self, other: ThreadUsage) -> ThreadUsage {
        ThreadUsage {
            cpu_ns: self.cpu_ns + other.cpu_ns,
            kernel_ns: self.kernel_ns + other.kernel_ns,
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
            run_delay_ns: self.run_delay_ns + other.run_delay_ns,
            read_bytes: self.read_bytes + other.read_bytes,
            written_bytes: self.written_bytes + other.written_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_only_grows() {
        let before = ThreadUsage::now();
        let sum = (0..1_000_000u64).fold(0, |sum: u64, value| sum.wrapping_mul(31) ^ value);
        std::hint::black_box(sum);
        let after = ThreadUsage::now();
        assert!(after.cpu_ns > before.cpu_ns && after.run_delay_ns >= before.run_delay_ns);
        std::thread::sleep(std::time::Duration::from_millis(1));
        let slept = ThreadUsage::now().since(after);
        assert!(slept.voluntary_switches > 0, "who sleeps gives its processor away");
        assert_eq!(slept.plus(slept).context_switches(), 2 * slept.context_switches());
    }
}
