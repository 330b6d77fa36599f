//! What can be asked of a replica while it is at work.

use std::any::Any;
use std::sync::Arc;

use dbdyno_model::LatencyHistogram;

use super::compare::difference;
use super::progress::ReplicaProgress;
use super::window::Window;
use crate::engine::Engine;
use crate::error::Result;
use crate::ids::Lsn;

const UNBROKEN: &str = "no thread panics with it";

/// A source and the engine that follows it, for the question how far they are apart.
pub struct Following {
    pub(super) source: Arc<Engine>,
    engine: Arc<Engine>,
    pub(super) window: Arc<Window>,
    copied: Lsn,
}

/// A replica that has applied all, beside its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaComparison {
    /// Bytes of the source's log that it had yet to apply when it was asked.
    pub behind_bytes: u64,
    /// Where its rows are others when it has applied all; `None` if they are the same.
    pub difference: Option<String>,
}

impl Following {
    pub(super) fn new(
        source: Arc<Engine>,
        engine: Arc<Engine>,
        window: Arc<Window>,
        copied: Lsn,
    ) -> Following {
        Following { source, engine, window, copied }
    }

    /// Lets the source know of it.
    pub(super) fn register_with_source(self: &Arc<Following>) {
        let shown: Arc<dyn Any + Send + Sync> = self.clone();
        if let Some(kept) = &self.source.shared.follow {
            *kept.by.lock().expect(UNBROKEN) = Some(Arc::downgrade(&shown));
        }
    }

    /// The replica that follows an engine, while one is at work.
    pub fn of_source(source: &Engine) -> Option<Arc<Following>> {
        let kept = source.shared.follow.as_ref()?;
        let shown = kept.by.lock().expect(UNBROKEN).as_ref()?.upgrade()?;
        shown.downcast().ok()
    }

    /// The replica.
    pub fn replica_engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Returns when all that is durable on the source by now is visible here; how far that is.
    ///
    /// # Errors
    /// What ended the replica before.
    pub fn catch_up(&self) -> Result<Lsn> {
        let durable = self.source.shared.pipeline.durable_lsn();
        self.window.wait_for(durable)?;
        Ok(durable)
    }

    /// Lets it apply what is durable on the source, and holds the two against each other row by
    /// row. No transaction may have written and be open; one that commits meanwhile is noticed.
    ///
    /// # Errors
    /// What ended the replica before.
    pub fn compare_rows(&self) -> Result<ReplicaComparison> {
        let behind_bytes = self.behind_bytes();
        let place = self.catch_up()?;
        let difference = difference(&self.source, &self.engine).map(|what| {
            match self.source.shared.pipeline.end_lsn() > place {
                true => format!("{what}, or others wrote meanwhile: ask when nobody does"),
                false => what,
            }
        });
        Ok(ReplicaComparison { behind_bytes, difference })
    }

    /// Bytes of the source's log that are durable and not applied.
    pub fn behind_bytes(&self) -> u64 {
        let durable = self.source.shared.pipeline.durable_lsn();
        durable.0.saturating_sub(self.window.applied_lsn().0)
    }

    /// The lags since this was asked last; see [`ReplicaProgress`].
    pub fn take_lag(&self) -> LatencyHistogram {
        self.window.take_lag()
    }

    /// What it has done.
    pub fn progress(&self) -> ReplicaProgress {
        self.window.progress()
    }

    /// Whether it applies, and if not, why; in words.
    pub fn state_text(&self) -> String {
        match (self.window.is_stopped(), self.window.failure_text()) {
            (false, _) if self.window.applied_lsn() < self.copied => {
                "completing its copy".to_owned()
            }
            (false, _) => "applying".to_owned(),
            (true, None) => "ended".to_owned(),
            (true, Some(why)) => format!("ended: {why}"),
        }
    }
}
