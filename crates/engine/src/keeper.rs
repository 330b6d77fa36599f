//! The thread that keeps an engine in order: it purges, and takes checkpoints when they are due.
//!
//! It looks every few milliseconds, so that what is not needed does not lie about for long: a hot
//! row gets longer with every commit. When a checkpoint fails, the log goes on growing and the
//! next look tries again; commits meet the disk themselves.

use std::sync::Arc;
use std::time::Duration;

use crate::options::Upkeep;
use crate::shared::EngineCore;
use crate::sync::thread::{self, JoinHandle};
use crate::sync::{Condvar, Mutex};

/// Between two looks.
const REST: Duration = Duration::from_millis(5);

/// The thread, if there is one.
pub(crate) struct Keeper {
    bell: Arc<Bell>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Bell {
    stop: Mutex<bool>,
    rung: Condvar,
}

impl Keeper {
    /// Starts it, if that is wanted.
    pub(crate) fn start(shared: &Arc<EngineCore>, upkeep: Upkeep) -> Keeper {
        let bell = Arc::new(Bell::default());
        let thread = (upkeep == Upkeep::Background).then(|| {
            let (shared, bell) = (shared.clone(), bell.clone());
            let keeper = thread::Builder::new().name("engine:keeper".to_owned());
            let keeper = keeper.spawn(move || keep(&shared, &bell));
            keeper.expect("a process can have one thread more")
        });
        Keeper { bell, thread }
    }

    /// Ends it and waits for its end.
    pub(crate) fn stop(&mut self) {
        *self.bell.stop.lock().expect("no panic before") = true;
        self.bell.rung.notify_all();
        if let Some(thread) = self.thread.take() {
            // It panicked over a broken invariant: so does the thread that waits for it.
            thread.join().expect("the keeper ends in peace");
        }
    }
}

fn keep(shared: &EngineCore, bell: &Bell) {
    let mut stop = bell.stop.lock().expect("no panic before");
    while !*stop {
        drop(stop);
        shared.purge_all();
        let _tried_again_later = shared.checkpoint_if_due();
        stop = bell.stop.lock().expect("no panic before");
        if !*stop {
            stop = bell.rung.wait_timeout(stop, REST).expect("no panic before").0;
        }
    }
}
