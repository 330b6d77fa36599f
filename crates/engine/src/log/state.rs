//! What all parts of a log know: how far it is durable, and whether it failed.

use std::sync::{Arc, OnceLock};

use crate::error::{EngineError, Result};
use crate::ids::Lsn;
use crate::meter::Meter;
use crate::sync::WakeEvent;
use crate::sync::atomic::{AtomicU64, Ordering};

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// Its first byte.
    pub start: Lsn,
    /// The byte behind it.
    pub end: Lsn,
}

/// What all parts of a log know.
pub(super) struct LogState {
    durable: AtomicU64,
    /// Whether what is durable is so when the machine stops: whether the device is the disk.
    stamps: bool,
    /// Told when more is durable.
    pub(super) news: WakeEvent,
    failure: OnceLock<Failure>,
    pub(super) meter: Arc<Meter>,
}

struct Failure {
    what: &'static str,
    kind: std::io::ErrorKind,
    said: String,
}

impl LogState {
    /// Of a log that is durable up to here; `stamps` where that is so when the machine stops.
    pub(super) fn new(durable: u64, stamps: bool, meter: Arc<Meter>) -> LogState {
        let (durable, failure) = (AtomicU64::new(durable), OnceLock::new());
        LogState { durable, stamps, news: WakeEvent::default(), failure, meter }
    }

    pub(super) fn durable_end(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    /// All before this place is durable from now on.
    pub(super) fn is_durable(&self, end: u64) {
        self.durable.store(end, Ordering::Release);
        self.news.wake_sleepers();
    }

    /// What a record that is made now says of how far the log is durable.
    pub(super) fn durability_stamp(&self) -> u64 {
        if self.stamps { self.durable.load(Ordering::Relaxed) } else { 0 }
    }

    pub(super) fn check_writable(&self) -> Result<()> {
        self.failure.get().map_or(Ok(()), |failure| Err(failure.error()))
    }

    /// Poisons the log with the first failure.
    pub(super) fn poison(&self, error: EngineError) -> EngineError {
        if let EngineError::Disk(what, error) = &error {
            let (kind, said) = (error.kind(), error.to_string());
            self.failure.get_or_init(|| Failure { what, kind, said });
        }
        error
    }
}

impl Failure {
    fn error(&self) -> EngineError {
        EngineError::Disk(self.what, std::io::Error::new(self.kind, self.said.clone()))
    }
}
