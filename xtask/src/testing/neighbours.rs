//! Work that never rests, beside the tests: a thread for each processor, as a neighbour on a shared
//! host would have.
//!
//! Threads and not processes: the scheduler gives both the same share, and these cannot outlive the
//! run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// All processors are kept busy until it goes.
pub(super) struct Busy {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    pub(super) fn start() -> Busy {
        let stop = Arc::new(AtomicBool::new(false));
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let threads = (0..processors).map(|_| spin_until(&stop)).collect();
        Busy { stop, threads }
    }
}

fn spin_until(stop: &Arc<AtomicBool>) -> JoinHandle<()> {
    let stop = Arc::clone(stop);
    thread::spawn(move || {
        while !stop.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    })
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    }
}
