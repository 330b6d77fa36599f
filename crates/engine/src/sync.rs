//! What threads share, under one name for three worlds.
//!
//! ```text
//!   cargo build                                   std
//!   RUSTFLAGS='--cfg loom'    cargo test …        loom: every order of a small protocol
//!   RUSTFLAGS='--cfg shuttle' cargo test …        shuttle: many random orders of a large one
//! ```
//!
//! Whatever of the engine takes part in a protocol between threads takes its mutexes, conditions
//! and atomics from here, and nothing else of the engine uses `std::sync` for more than `Arc`.
//! A poisoned mutex means that a thread panicked over a broken invariant; everyone else follows.

#[cfg(loom)]
pub use loom::sync::atomic;
#[cfg(loom)]
pub use loom::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(loom)]
pub use loom::thread;

#[cfg(shuttle)]
pub use shuttle::sync::atomic;
#[cfg(shuttle)]
pub use shuttle::sync::{
    Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
#[cfg(shuttle)]
pub use shuttle::thread;

#[cfg(not(any(loom, shuttle)))]
pub use std::sync::atomic;
#[cfg(not(any(loom, shuttle)))]
pub use std::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(not(any(loom, shuttle)))]
pub use std::thread;
