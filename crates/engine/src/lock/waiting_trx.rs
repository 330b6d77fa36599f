//! A transaction that waits, in the wait in which it was met: it may wait for something else by
//! now.

use super::address::Address;
use super::transaction::{LockTrx, State};
use crate::sync::Arc;

/// A transaction on a cycle, in the wait in which it was met.
#[derive(Clone)]
pub(super) struct WaitingTrx {
    pub(super) trx: Arc<LockTrx>,
    pub(super) round: u64,
}

impl WaitingTrx {
    /// A transaction in its wait, if it waits.
    pub(super) fn that_waits(trx: &Arc<LockTrx>) -> Option<WaitingTrx> {
        let wait = *trx.wait();
        let waits = matches!(wait.state, State::Waiting(_));
        waits.then(|| WaitingTrx { trx: Arc::clone(trx), round: wait.round })
    }

    pub(super) fn is_same(&self, other: &WaitingTrx) -> bool {
        self.trx.is_same(&other.trx) && self.round == other.round
    }

    pub(super) fn still_waits(&self) -> bool {
        self.waits_at().is_some()
    }

    pub(super) fn waits_at(&self) -> Option<Address> {
        let wait = self.trx.wait();
        match wait.state {
            State::Waiting(at) if wait.round == self.round => Some(at),
            _ => None,
        }
    }
}
