//! The accounting against a simulated kernel that knows the truth to the nanosecond.

use std::collections::BTreeMap;

use dbdyno_model::Cost;
use dbdyno_probe::account::{Process, ProcessTree};
use dbdyno_probe::parse::Io;
use proptest::prelude::*;

const TICK_NS: u64 = 10_000_000;
const ROOT: u32 = 1;

/// A process as the kernel knows it: all in nanoseconds and bytes.
#[derive(Clone, Default)]
struct Real {
    parent: u32,
    started: u64,
    user_ns: u64,
    kernel_ns: u64,
    reaped_user_ns: u64,
    reaped_kernel_ns: u64,
    io: Io,
    switches: u64,
}

#[derive(Clone, Default)]
struct Kernel {
    alive: BTreeMap<u32, Real>,
    used: Real,
    now: u64,
    reaped_in_window: bool,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Fork(usize),
    Use(usize, u64, u64),
    End(usize),
}

impl Kernel {
    fn new() -> Kernel {
        let mut kernel = Kernel::default();
        kernel.alive.insert(ROOT, Real::default());
        kernel
    }

    fn nth(&self, index: usize) -> u32 {
        *self.alive.keys().nth(index % self.alive.len()).unwrap()
    }

    fn step(&mut self, event: Event) {
        self.now += 1;
        match event {
            Event::Fork(index) => {
                let parent = self.nth(index);
                // The smallest free id, so that ids are given again at once.
                let pid = (ROOT..).find(|pid| !self.alive.contains_key(pid)).unwrap();
                let child = Real { parent, started: self.now, ..Real::default() };
                self.alive.insert(pid, child);
            }
            Event::Use(index, user_ns, kernel_ns) => {
                let pid = self.nth(index);
                for real in [self.alive.get_mut(&pid).unwrap(), &mut self.used] {
                    real.user_ns += user_ns;
                    real.kernel_ns += kernel_ns;
                    real.io.read_bytes += user_ns % 4096;
                    real.io.written_bytes += kernel_ns % 4096;
                    real.switches += user_ns % 7;
                }
            }
            Event::End(index) => self.end(index),
        }
    }

    fn end(&mut self, index: usize) {
        let pid = self.nth(index);
        let has_children = self.alive.values().any(|real| real.parent == pid);
        if pid == ROOT || has_children {
            return;
        }
        self.reaped_in_window = true;
        let gone = self.alive.remove(&pid).unwrap();
        let parent = self.alive.get_mut(&gone.parent).unwrap();
        parent.reaped_user_ns += gone.user_ns + gone.reaped_user_ns;
        parent.reaped_kernel_ns += gone.kernel_ns + gone.reaped_kernel_ns;
        parent.io.read_bytes += gone.io.read_bytes;
        parent.io.written_bytes += gone.io.written_bytes;
    }

    /// Processes that have reaped others, also where it was for less than a tick.
    fn reapers(&self) -> usize {
        let has_reaped = |real: &&Real| real.reaped_user_ns + real.reaped_kernel_ns > 0;
        self.alive.values().filter(has_reaped).count()
    }

    fn show(&self) -> ProcessTree {
        let show = |(&pid, real): (&u32, &Real)| {
            let process = Process {
                started_ticks: real.started,
                cpu_ns: real.user_ns + real.kernel_ns,
                user_ticks: real.user_ns / TICK_NS,
                kernel_ticks: real.kernel_ns / TICK_NS,
                reaped_user_ticks: real.reaped_user_ns / TICK_NS,
                reaped_kernel_ticks: real.reaped_kernel_ns / TICK_NS,
                io: Some(real.io),
                switches: Some(BTreeMap::from([(pid, real.switches)])),
            };
            (pid, process)
        };
        ProcessTree { tick_ns: TICK_NS, processes: self.alive.iter().map(show).collect() }
    }
}

fn event() -> impl Strategy<Value = Event> {
    let ns = || prop_oneof![0..30_000_000u64, 0..3_000_000_000u64];
    prop_oneof![
        any::<usize>().prop_map(Event::Fork),
        (any::<usize>(), ns(), ns())
            .prop_map(|(index, user, kernel)| { Event::Use(index, user, kernel) }),
        any::<usize>().prop_map(Event::End),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn nothing_is_lost_and_nothing_is_counted_twice(
        before in proptest::collection::vec(event(), 0..40),
        window in proptest::collection::vec(event(), 0..40),
    ) {
        let mut kernel = Kernel::new();
        before.into_iter().for_each(|event| kernel.step(event));
        let (first, reapers_before) = (kernel.show(), kernel.reapers());
        kernel.used = Real::default();
        kernel.reaped_in_window = false;
        window.into_iter().for_each(|event| kernel.step(event));
        let second = kernel.show();

        let cost = second.cost_since(&first);
        let truth_ns = kernel.used.user_ns + kernel.used.kernel_ns;
        let cpu_ns = cost.server_cpu_ns.unwrap();
        // Two ticks for each process that has reaped, at either end.
        let allowed_ns = if kernel.reaped_in_window {
            2 * TICK_NS * (1 + reapers_before + kernel.reapers()) as u64
        } else {
            0
        };
        prop_assert!(cpu_ns.abs_diff(truth_ns) <= allowed_ns, "{cpu_ns} is not {truth_ns}");
        let io = (cost.server_read_bytes.unwrap(), cost.server_written_bytes.unwrap());
        prop_assert_eq!(io, (kernel.used.io.read_bytes, kernel.used.io.written_bytes));
        let switches = cost.server_context_switches.unwrap();
        prop_assert!(switches <= kernel.used.switches);
        if !kernel.reaped_in_window {
            prop_assert_eq!(switches, kernel.used.switches);
            prop_assert_eq!(second.warnings_since(&first), []);
        }
        prop_assert!(cost.server_kernel_ns.is_none_or(|kernel_ns| kernel_ns <= cpu_ns));
    }
}

fn tree(processes: &[(u32, Process)]) -> ProcessTree {
    ProcessTree { tick_ns: TICK_NS, processes: processes.iter().cloned().collect() }
}

fn process(cpu_ns: u64) -> Process {
    Process {
        cpu_ns,
        io: Some(Io::default()),
        switches: Some(BTreeMap::new()),
        ..Process::default()
    }
}

#[test]
fn a_process_that_left_without_being_waited_for_makes_the_cost_unknown() {
    let first = tree(&[(1, process(0)), (2, process(5_000_000_000))]);
    let second = tree(&[(1, process(1_000_000_000))]);
    let cost = second.cost_since(&first);
    assert_eq!(cost.server_cpu_ns, None);
    assert_eq!((cost.server_read_bytes, cost.server_written_bytes), (None, None));
    let codes: Vec<_> = second.warnings_since(&first).into_iter().map(|one| one.code).collect();
    assert_eq!(codes, ["server-processes-left"]);
}

#[test]
fn the_kernel_part_is_the_share_of_the_ticks() {
    let ticks =
        |user_ticks, kernel_ticks, cpu_ns| Process { user_ticks, kernel_ticks, ..process(cpu_ns) };
    let first = tree(&[(1, ticks(100, 100, 2_000_000_000))]);
    let second = tree(&[(1, ticks(130, 110, 2_404_000_000))]);
    let cost = second.cost_since(&first);
    assert_eq!(cost.server_cpu_ns, Some(404_000_000));
    assert_eq!(cost.server_kernel_ns, Some(101_000_000));
    let third = tree(&[(1, ticks(130, 110, 2_405_000_000))]);
    assert_eq!(third.cost_since(&second).server_kernel_ns, None);
    assert_eq!(second.cost_since(&second).server_kernel_ns, Some(0));
}

#[test]
fn what_may_not_be_looked_at_is_none_and_not_zero() {
    let hidden = Process { io: None, switches: None, ..process(7) };
    let cost = tree(&[(1, hidden.clone())]).cost_since(&tree(&[(1, hidden)]));
    let expected = Cost { server_cpu_ns: Some(0), server_kernel_ns: Some(0), ..Cost::default() };
    assert_eq!(cost, expected);
}

#[test]
fn threads_that_ended_are_said_and_ids_given_again_are_not_mixed_up() {
    let threads = |threads: &[(u32, u64)]| Process {
        switches: Some(threads.iter().copied().collect()),
        ..process(0)
    };
    let first = tree(&[(1, threads(&[(1, 10), (2, 500), (3, 70)]))]);
    // 1 goes on, 2 ended and its id was given again, 3 ended, 4 is new.
    let second = tree(&[(1, threads(&[(1, 15), (2, 30), (4, 8)]))]);
    let cost = second.cost_since(&first);
    assert_eq!(cost.server_context_switches, Some(5 + 30 + 8));
    let warnings = second.warnings_since(&first);
    assert!(warnings[0].text.starts_with("2 of the server's threads"), "{warnings:?}");
}
