//! What dbdyno's own process and threads use. They run on this machine, whichever is looked at.

use std::fs::File;
use std::io::Read as _;

use nix::time::{ClockId, clock_gettime};

/// Processor time of the calling thread, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

/// Processor time of the calling process with all its threads, those that ended too, in
/// nanoseconds.
pub fn process_cpu_ns() -> u64 {
    read(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// Time in which the calling thread could have run and waited for a processor, in nanoseconds:
/// the second number of `/proc/thread-self/schedstat`. Without the heap: clients ask on the hot
/// path, once a round.
pub fn thread_run_delay_ns() -> Option<u64> {
    let mut text = [0; 80];
    let length = File::open("/proc/thread-self/schedstat").ok()?.read(&mut text).ok()?;
    let mut numbers = std::str::from_utf8(&text[..length]).ok()?.split_ascii_whitespace();
    numbers.nth(1)?.parse().ok()
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock).expect("Linux has had these clocks since 2.6.12");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_of_this_process_go_on_and_its_waits_are_told() {
        let (thread_ns, process_ns) = (thread_cpu_ns(), process_cpu_ns());
        let sum = (0..1_000_000u64).fold(0, |sum: u64, value| sum.wrapping_mul(31) ^ value);
        std::hint::black_box(sum);
        assert!(thread_cpu_ns() > thread_ns && process_cpu_ns() > process_ns);
        assert!(thread_run_delay_ns().is_some(), "this kernel tells how long threads wait");
    }
}
