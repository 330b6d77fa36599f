//! Writers, readers and a purger at once.
//!
//! A ledger beside the system says of each id what surely was before and after a view was opened:
//!
//! ```text
//!   unknown, active ──► ending ──► ended as csn
//!   hidden              either     seen if it stood there before the view was opened
//! ```
//!
//! With the feature `shuttle` the orders of threads are random and can be repeated.

use std::sync::atomic::AtomicU64 as Cell;

use super::*;
use crate::sync::thread;

const BEGUN: u64 = 1;
const ENDING: u64 = 2;
const ENDED: u64 = 3;

const WRITERS: u64 = 2;
const READERS: u64 = 2;
const TRANSACTIONS: u64 = if cfg!(feature = "shuttle") { 8 } else { 4_000 };
const READS: u64 = if cfg!(feature = "shuttle") { 3 } else { 400 };
/// Each so many transactions one stays active until the end of its writer.
const IDLE_EACH: u64 = if cfg!(feature = "shuttle") { 3 } else { 500 };
/// A reader asks for so many of the newest ids.
const ASKED: usize = 300;

struct Ledger(Vec<Cell>);

impl Ledger {
    fn set(&self, trx: TrxId, state: u64) {
        self.0[trx.0 as usize].store(state, Ordering::SeqCst);
    }

    fn states(&self, ids: &[usize]) -> Vec<u64> {
        ids.iter().map(|id| self.0[*id].load(Ordering::SeqCst)).collect()
    }

    fn newest(&self) -> usize {
        self.0
            .iter()
            .skip(1)
            .position(|cell| cell.load(Ordering::SeqCst) == 0)
            .map_or(self.0.len(), |place| place + 1)
    }
}

fn write(sys: &TrxSys, ledger: &Ledger) {
    let mut idle = Vec::new();
    let end = |trx| {
        ledger.set(trx, ENDING);
        let csn = sys.end_trx(trx);
        ledger.set(trx, ENDED + csn.0);
        assert!(!sys.is_active(trx));
    };
    for turn in 0..TRANSACTIONS {
        let trx = sys.begin_write();
        ledger.set(trx, BEGUN);
        assert!(sys.is_active(trx));
        if turn % IDLE_EACH == 0 {
            idle.push(trx);
        } else {
            end(trx);
        }
    }
    idle.into_iter().for_each(end);
}

fn read(sys: &TrxSys, ledger: &Ledger) {
    let mut view = sys.new_view();
    for _ in 0..READS {
        let newest = ledger.newest();
        let ids = (1..20).chain(newest.saturating_sub(ASKED).max(20)..newest + 3);
        let ids: Vec<usize> = ids.filter(|id| *id < ledger.0.len()).collect();
        let before = ledger.states(&ids);
        sys.open_view(None, &mut view);
        let after = ledger.states(&ids);
        let mut answers = Vec::new();
        for ((id, before), after) in ids.into_iter().zip(before).zip(after) {
            // Only one that began can have written anything.
            if after >= BEGUN {
                let sees = sys.sees_writer(&view, TrxId(id as u64));
                assert!(sees || before < ENDED, "{id} had ended and is hidden");
                assert!(!sees || after >= ENDING, "{id} had not ended and is seen");
                answers.push((id, sees));
            }
        }
        thread::yield_now();
        let horizon = sys.horizon().0 as usize;
        let settled = sys.settled_csn();
        assert!(settled <= view.csn(), "{settled} is settled, and a view has {}", view.csn());
        for (id, sees) in answers {
            let now = ledger.0[id].load(Ordering::SeqCst);
            assert_eq!(sys.sees_writer(&view, TrxId(id as u64)), sees, "{id}: the answer changed");
            assert!(sees || id >= horizon, "{id} is hidden, and the horizon is {horizon}");
            if let Some(csn) = now.checked_sub(ENDED) {
                assert_eq!(sees, csn <= view.csn().0, "{id} ended as {csn}: {}", view.csn());
            }
        }
        sys.close_view(&mut view);
    }
}

fn purge(sys: &TrxSys) {
    let (mut horizon, mut settled) = (TrxId(0), Csn(0));
    for _ in 0..READS {
        let now = (sys.horizon(), sys.settled_csn());
        assert!(now.0 >= horizon && now.1 >= settled, "{now:?} after {horizon}, {settled}");
        (horizon, settled) = now;
        thread::yield_now();
    }
}

fn at_once(design: &Design) {
    let sys = Arc::new(small(design));
    let ids = WRITERS * TRANSACTIONS + 1;
    let ledger = Arc::new(Ledger((0..ids).map(|_| Cell::new(0)).collect()));
    let start = |work: fn(&TrxSys, &Ledger)| {
        let (sys, ledger) = (Arc::clone(&sys), Arc::clone(&ledger));
        thread::spawn(move || work(&sys, &ledger))
    };
    let writers = (0..WRITERS).map(|_| start(write));
    let readers = (0..READERS).map(|_| start(read));
    let threads: Vec<_> = writers.chain(readers).chain([start(|sys, _| purge(sys))]).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no thread panics"));
    assert_eq!(sys.horizon(), TrxId(ids), "{design:?}");
    assert_eq!(sys.settled_csn(), Csn(ids - 1), "{design:?}");
}

#[test]
fn a_view_sees_what_ended_before_it_and_nothing_else() {
    for design in designs() {
        #[cfg(not(feature = "shuttle"))]
        at_once(&design);
        #[cfg(feature = "shuttle")]
        shuttle::check_random(move || at_once(&design), 200);
    }
}
