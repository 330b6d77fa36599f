//! What the sessions of an engine share, and its keeper.
//!
//! ```text
//!   session ─┐
//!   session ─┼── Shared: tables · views · locks · gate · pipeline ─► log ─► disk
//!   keeper ──┘           └── made, filled and taken away by `definition`, `purge`, `checkpoint`
//! ```

use std::any::Any;
use std::sync::{Arc, Weak};

use dbdyno_model::Design;

use crate::catalog::Catalog;
use crate::commit::Pipeline;
use crate::disk::Disk;
use crate::gate::EngineGate;
use crate::ids::TrxId;
use crate::latch::ClockFunction;
use crate::lock::LockSys;
use crate::meter::Meter;
use crate::purge::queue::Purge;
use crate::snapshot::TrxSys;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering};

/// All of it.
pub(crate) struct EngineCore {
    pub design: Design,
    pub meter: Arc<Meter>,
    pub trx: TrxSys,
    pub locks: LockSys,
    pub gate: EngineGate,
    pub pipeline: Pipeline,
    pub disk: Arc<dyn Disk>,
    pub catalog: Arc<Catalog>,
    pub purge: Purge,
    /// Where the last checkpoint begins; locked while one is taken.
    pub checkpoint: Mutex<u64>,
    pub checkpoint_bytes: u64,
    /// What is kept for replicas, where there are any.
    pub follow: Option<ReplicaRetention>,
    /// Every view sees all writers below, as was known when purge was last at work.
    pub horizon: AtomicU64,
}

/// What is kept for replicas.
pub(crate) struct ReplicaRetention {
    /// Tells when transactions begin to commit.
    pub clock: Option<ClockFunction>,
    /// The log is kept from this place on.
    pub from: AtomicU64,
    /// The follower, while there is one: `follow`, which lies above, knows what it is.
    pub by: Mutex<Option<Weak<dyn Any + Send + Sync>>>,
}

impl EngineCore {
    /// Every view, open or to come, sees all writers below; what was known a moment ago.
    #[inline]
    pub(crate) fn horizon(&self) -> TrxId {
        TrxId(self.horizon.load(Ordering::Acquire))
    }

    /// Looks again.
    pub(crate) fn move_horizon(&self) {
        self.horizon.fetch_max(self.trx.horizon().0, Ordering::AcqRel);
    }
}
