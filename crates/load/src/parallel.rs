//! Threads that wait for a server beside each other: to be let in, or to be let go.

use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use dbdyno_wire::Client;

/// Threads that connect or take leave. More of them than processors, since most of the time they
/// wait; not so many that a server's queue of those who knock runs over.
pub(crate) const CONNECTORS: u32 = 16;

/// How often an observer is told who has got in.
const TOLD_EVERY: Duration = Duration::from_millis(500);

/// Lets so many threads work, this one if it is only one; else `told` is called on it now and then
/// until they are done.
pub(crate) fn in_parallel<T: Send>(
    threads: u32,
    work: impl Fn(u32) -> T + Sync,
    mut told: impl FnMut(),
) -> Vec<T> {
    if threads == 1 {
        return vec![work(0)];
    }
    thread::scope(|scope| {
        let (done, all_done) = mpsc::channel::<()>();
        let work = &work;
        let spawn = |number| {
            let done = done.clone();
            scope.spawn(move || {
                let worked = work(number);
                drop(done);
                worked
            })
        };
        let handles: Vec<_> = (0..threads).map(spawn).collect();
        drop(done);
        // Nothing is ever sent: the channel ends when the last thread has dropped its sender.
        while all_done.recv_timeout(TOLD_EVERY) == Err(RecvTimeoutError::Timeout) {
            told();
        }
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Says goodbye for all, and waits until the server has let go: the next round needs the places.
pub(crate) fn close_clients(clients: Vec<Box<dyn Client>>) {
    let threads = CONNECTORS.min(clients.len() as u32);
    let left = Mutex::new(clients);
    in_parallel(
        threads,
        |_| {
            loop {
                let next = left.lock().expect("nobody panics with this lock").pop();
                let Some(client) = next else { return };
                client.close();
            }
        },
        || {},
    );
}
