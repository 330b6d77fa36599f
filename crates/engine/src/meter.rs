//! What the mechanisms did, counted.
//!
//! ```text
//!   thread ──► its stripe: one cache line pair or more ──┐
//!   thread ──► its stripe                                ├──► Counts, the sum, when asked
//!   thread ──► its stripe                                ┘
//! ```
//!
//! Counts are results of their own: they repeat where times do not. A counter that all threads add
//! to would be a latch itself, so each thread adds to a stripe of its own, as long as there are
//! stripes; a sum that is taken while threads work may lack what they are just doing.

use std::array;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// One thing that is counted.
macro_rules! counters {
    ($($(#[$about:meta])* $variant:ident = $name:literal,)+) => {
        /// What is counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Counter { $($(#[$about])* $variant,)+ }

        impl Counter {
            /// All of them, in the order in which they are shown.
            pub const ALL: &[Counter] = &[$(Counter::$variant,)+];

            /// Its name, with the unit at the end where it is not a plain number.
            pub const fn name(self) -> &'static str {
                match self { $(Counter::$variant => $name,)+ }
            }
        }
    };
}

counters! {
    /// Statements, whatever became of them.
    Statements = "statements",
    /// Transactions that wrote and are durable.
    Commits = "commits",
    /// Transactions that wrote and were rolled back, for whatever reason.
    Rollbacks = "rollbacks",
    /// Times that a thread which slept until its commit was done was woken.
    Activations = "activations",
    /// Times that it was woken and its commit was done.
    UsefulActivations = "useful_activations",
    /// Groups of commits that shared a sync.
    Groups = "groups",
    /// Commits in them.
    Grouped = "grouped_commits",
    /// Bytes of log records.
    Logged = "logged_bytes",
    /// Syncs of the log.
    Syncs = "syncs",
    /// Times that the latch over the log buffer was taken, or space reserved without one.
    LogReservations = "log_reservations",
    /// Times that a thread had to wait for room in the log buffer.
    LogFull = "log_full_waits",
    /// Views that were opened.
    Views = "views",
    /// Views that were reused as they were.
    ViewsReused = "views_reused",
    /// Bytes that were copied into views.
    ViewBytes = "view_copied_bytes",
    /// Times that the latch of the transaction system was taken.
    TrxLatches = "trx_latches",
    /// Time for which it was held, ns; only where times are metered.
    TrxLatchHeld = "trx_latch_held_ns",
    /// Ids that were moved from the bitmap to the vector of long ones.
    Demotions = "demotions",
    /// Versions that a read had to walk past.
    VersionsWalked = "versions_walked",
    /// Versions that were taken away since no view needs them.
    VersionsPurged = "versions_purged",
    /// Locks that were asked for and not held before.
    LockRequests = "lock_requests",
    /// Those that had to wait.
    LockWaits = "lock_waits",
    /// Waiters that stood before them in all, themselves included.
    LockWaitDepth = "lock_wait_depth_sum",
    /// Times that a latch of the lock table was taken.
    LockLatches = "lock_latches",
    /// Time for which these latches were held, ns, summed; only where times are metered.
    LockLatchHeld = "lock_latch_held_ns",
    /// Locks that were not to be had in time.
    LockTimeouts = "lock_timeouts",
    /// Deadlocks.
    Deadlocks = "deadlocks",
    /// Bytes that were written about deadlocks.
    DeadlockBytes = "deadlock_printed_bytes",
    /// Times that a session had to wait at the gate.
    GateWaits = "gate_waits",
    /// Rows of transactions whose dependencies were determined.
    TrackedRows = "tracked_rows",
    /// Time for which dependencies were determined, ns; only where times are metered.
    TrackTime = "track_ns",
    /// Transactions that a replica of 64 threads would begin, each of one step.
    ApplyUnits = "apply_units",
    /// Steps that a replica of 64 threads would take for them.
    ApplySteps = "apply_steps",
    /// Transactions that a replica has applied.
    Replicated = "replicated",
    /// Sum over these of the time from the beginning of the commit to the end of applying, ns.
    ReplicaLag = "replica_lag_ns_sum",
}

const COUNTERS: usize = Counter::ALL.len();
const STRIPES: usize = 64;

/// The counters of one engine.
#[derive(Debug)]
pub struct Meter {
    stripes: Box<[Stripe]>,
}

/// Two cache lines: processors fetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Stripe([AtomicU64; COUNTERS]);

/// The counters at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterCounts([u64; COUNTERS]);

static NEXT_STRIPE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static STRIPE: usize = NEXT_STRIPE.fetch_add(1, Ordering::Relaxed) % STRIPES;
}

impl Default for Meter {
    fn default() -> Meter {
        Meter {
            stripes: (0..STRIPES).map(|_| Stripe(array::from_fn(|_| AtomicU64::new(0)))).collect(),
        }
    }
}

impl Meter {
    /// One more.
    #[inline]
    pub fn count(&self, counter: Counter) {
        self.add(counter, 1);
    }

    /// So many more.
    #[inline]
    pub fn add(&self, counter: Counter, many: u64) {
        let stripe = STRIPE.with(|stripe| *stripe);
        self.stripes[stripe].0[counter as usize].fetch_add(many, Ordering::Relaxed);
    }

    /// All counters, now.
    pub fn current_counts(&self) -> MeterCounts {
        MeterCounts(array::from_fn(|counter| {
            self.stripes.iter().map(|stripe| stripe.0[counter].load(Ordering::Relaxed)).sum()
        }))
    }
}

impl MeterCounts {
    /// One of them.
    pub fn count_of(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }

    /// What was counted since an earlier time.
    #[must_use]
    pub fn since(&self, earlier: &MeterCounts) -> MeterCounts {
        MeterCounts(array::from_fn(|counter| self.0[counter].saturating_sub(earlier.0[counter])))
    }

    /// All of them with their names.
    pub fn named_counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Counter::ALL.iter().map(|&counter| (counter.name(), self.count_of(counter)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_count_is_summed() {
        let meter = Meter::default();
        let before = meter.current_counts();
        std::thread::scope(|scope| {
            for _ in 0..2 * STRIPES {
                scope.spawn(|| {
                    meter.count(Counter::Commits);
                    meter.add(Counter::Logged, 100);
                });
            }
        });
        let counted = meter.current_counts().since(&before);
        assert_eq!(counted.count_of(Counter::Commits), 2 * STRIPES as u64);
        assert_eq!(counted.count_of(Counter::Logged), 200 * STRIPES as u64);
        let named = counted.named_counts().find(|(name, _)| *name == "logged_bytes");
        assert_eq!(named, Some(("logged_bytes", 200 * STRIPES as u64)));
    }
}
