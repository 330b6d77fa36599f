//! What threads share, under one name for three worlds.
//!
//! ```text
//!   cargo build                        std
//!   cargo test --features loom …       loom: every order of a small protocol
//!   cargo test --features shuttle …    shuttle: many random orders of a large one
//! ```
//!
//! Whatever of the engine takes part in a protocol between threads takes its mutexes, conditions
//! and atomics from here, and nothing else of the engine uses `std::sync` for more than `Arc`.
//! A poisoned mutex means that a thread panicked over a broken invariant; everyone else follows.

#[cfg(all(feature = "loom", feature = "shuttle"))]
compile_error!("loom and shuttle are worlds of their own: take one of them");

mod event;
mod word;

use std::time::Duration;

pub use event::WakeEvent;
/// The same in all worlds: sharing it is no protocol, and loom's takes no unsized value.
pub use std::sync::Arc;
pub use word::Word;

#[cfg(feature = "loom")]
pub use loom::sync::atomic;
#[cfg(feature = "loom")]
pub use loom::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(feature = "loom")]
pub use loom::thread;

#[cfg(feature = "shuttle")]
pub use shuttle::sync::atomic;
#[cfg(feature = "shuttle")]
pub use shuttle::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(feature = "shuttle")]
pub use shuttle::thread;

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub use std::sync::atomic;
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub use std::sync::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub use std::thread;

/// Sleeps on a condition while `waiting` holds, or as long as `patience`. Loom and shuttle have no
/// time: there no patience ends.
#[cfg(not(feature = "loom"))]
pub fn wait_while<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    patience: Duration,
    waiting: impl FnMut(&mut T) -> bool,
) -> MutexGuard<'a, T> {
    condition.wait_timeout_while(guard, patience, waiting).expect(POISONED).0
}

/// The same for loom.
#[cfg(feature = "loom")]
pub fn wait_while<'a, T>(
    condition: &Condvar,
    mut guard: MutexGuard<'a, T>,
    _patience: Duration,
    mut waiting: impl FnMut(&mut T) -> bool,
) -> MutexGuard<'a, T> {
    while waiting(&mut guard) {
        guard = condition.wait(guard).expect(POISONED);
    }
    guard
}

/// Runs it in every order in which a thread is interrupted so many times against its will; with
/// `SOAK_SEED` in the environment, once more than that.
#[cfg(all(feature = "loom", test))]
pub(crate) fn in_every_order(interruptions: usize, of: impl Fn() + Sync + Send + 'static) {
    let more = usize::from(std::env::var_os("SOAK_SEED").is_some());
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(interruptions + more);
    builder.check(of);
}

const POISONED: &str = "nobody panics who holds what is waited for";
