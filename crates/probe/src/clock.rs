//! Processor clocks, which tick while a thread runs, and one that always ticks. None tells the time
//! of day.

use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::{Pid, SysconfVar, sysconf};

/// Processor time of the calling thread, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    own(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

/// Processor time of the calling process with all its threads, those that ended too, in
/// nanoseconds.
pub fn process_cpu_ns() -> u64 {
    own(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// Nanoseconds since some moment, to time what may put the calling thread to sleep.
pub(crate) fn monotonic_ns() -> u64 {
    own(ClockId::CLOCK_MONOTONIC)
}

fn own(clock: ClockId) -> u64 {
    read(clock).expect("Linux has had these clocks since 2.6.12")
}

/// Processor time of another process with all its threads, those that ended too; `None` when
/// there is no such process.
pub(crate) fn other_cpu_ns(pid: u32) -> Option<u64> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?);
    read(clock_getcpuclockid(pid).ok()?)
}

fn read(clock: ClockId) -> Option<u64> {
    let time = clock_gettime(clock).ok()?;
    let seconds = u64::try_from(time.tv_sec()).ok()?;
    Some(seconds * 1_000_000_000 + u64::try_from(time.tv_nsec()).ok()?)
}

/// Length of the tick in which `/proc` counts processor time, in nanoseconds.
pub(crate) fn tick_ns() -> u64 {
    let ticks_per_s = sysconf(SysconfVar::CLK_TCK).ok().flatten();
    1_000_000_000 / ticks_per_s.map_or(100, |ticks| ticks.max(1) as u64)
}
