//! Threads that all do the same for a while, and what they cost by the kernel's account.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

/// What threads cost, and how much they did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    pub turns: u64,
    pub cpu_ns: f64,
    pub voluntary: u64,
    pub involuntary: u64,
    pub seconds: f64,
}

fn spent(who: UsageWho) -> Cost {
    let usage = getrusage(who).expect("the kernel tells");
    Cost {
        turns: 0,
        cpu_ns: (usage.user_time().num_nanoseconds() + usage.system_time().num_nanoseconds())
            as f64,
        voluntary: usage.voluntary_context_switches() as u64,
        involuntary: usage.involuntary_context_switches() as u64,
        seconds: 0.0,
    }
}

impl Cost {
    /// What was spent since.
    fn since(self, before: Cost) -> Cost {
        Cost {
            cpu_ns: self.cpu_ns - before.cpu_ns,
            voluntary: self.voluntary - before.voluntary,
            involuntary: self.involuntary - before.involuntary,
            ..self
        }
    }
}

/// Lets threads take turns for so long. What it cost is that of the whole process: threads of the
/// log are part of the price.
pub(crate) fn run(threads: usize, window: Duration, turn: impl Fn() + Sync) -> Cost {
    let (stop, start) = (AtomicBool::new(false), Barrier::new(threads + 1));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    let mut turns = 0;
                    while !stop.load(Ordering::Relaxed) {
                        turn();
                        turns += 1;
                    }
                    turns
                })
            })
            .collect();
        let before = spent(UsageWho::RUSAGE_SELF);
        start.wait();
        let begun = Instant::now();
        std::thread::sleep(window);
        stop.store(true, Ordering::Relaxed);
        let turns = workers.into_iter().map(|worker| worker.join().expect("it ends")).sum();
        let seconds = begun.elapsed().as_secs_f64();
        Cost { turns, seconds, ..spent(UsageWho::RUSAGE_SELF).since(before) }
    })
}

/// The middle of some figures, the least and the most.
pub(crate) fn spread(mut figures: Vec<f64>, decimals: usize) -> String {
    figures.sort_by(f64::total_cmp);
    let [least, middle, most] =
        [0, figures.len() / 2, figures.len() - 1].map(|index| figures[index]);
    format!("{middle:.decimals$} ({least:.decimals$}–{most:.decimals$})")
}
