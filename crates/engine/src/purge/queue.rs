//! What is to be purged, in the order of commits.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::ids::{Csn, TrxId};
use crate::key::Key;
use crate::sync::{Mutex, MutexGuard};
use crate::table::Table;

/// Transactions that are purged together.
const BATCH: usize = 1_024;

/// All that ended and left something behind.
#[derive(Default)]
pub(crate) struct Purge {
    queue: Mutex<VecDeque<EndedTransaction>>,
    /// Held while a thread purges.
    working: Mutex<()>,
}

/// A transaction that ended, and what it wrote over.
pub(crate) struct EndedTransaction {
    /// When.
    pub csn: Csn,
    /// Table, key, and the writer behind whose version nothing is needed.
    pub wrote: Vec<(Arc<Table>, Key, TrxId)>,
}

impl Purge {
    /// Notes what a transaction wrote over.
    pub(crate) fn push(&self, ended: EndedTransaction) {
        self.queue.lock().expect("no panic before").push_back(ended);
    }

    /// Transactions that wait to be purged.
    pub(crate) fn len(&self) -> usize {
        self.queue.lock().expect("no panic before").len()
    }

    /// No thread purges while this is held.
    pub(crate) fn stop(&self) -> MutexGuard<'_, ()> {
        self.working.lock().expect("no panic before")
    }

    /// The next transactions that all views see, in the order of their ends.
    pub(super) fn next(&self, settled: Csn) -> Vec<EndedTransaction> {
        let mut queue = self.queue.lock().expect("no panic before");
        let many = queue.iter().take(BATCH).take_while(|ended| ended.csn <= settled).count();
        queue.drain(..many).collect()
    }
}
