//! Small protocols in all orders of their threads: the feature `loom`.
//!
//! loom tries another order where two accesses clash, and remembers of each atomic the last access
//! alone: if a thread loads what it is about to store, a load of the other before is forgotten, and
//! the store is never tried first. So all threads add to a [`Start`] before anything else. That is
//! a clash that loom sees; once each of them has been first, the clashes of loads with stores that
//! came before them lead to the rest.
//!
//! Each of these tests failed when its fault was planted: an end that raises `last` before it
//! writes its entry, a place of the ring that is cleared before the floor is raised, a view that is
//! opened without its barrier.

use std::sync::atomic::AtomicU64 as Cell;

use super::*;
use crate::sync::{in_every_order, thread};

fn all_orders(of: impl Fn() + Sync + Send + 'static) {
    in_every_order(3, of);
}

/// What all threads do first.
#[derive(Clone, Default)]
struct Start(Arc<AtomicU64>);

impl Start {
    fn pass(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

fn variant(view: design::View) -> Arc<TrxSys> {
    Arc::new(small(&Design { trx_shards: 1, ..arm(view, ViewClose::Unlatched) }))
}

fn views_agree(view: design::View) {
    all_orders(move || {
        let sys = variant(view);
        let (a, b) = (sys.begin_write(), sys.begin_write());
        let start = Start::default();
        let mut view = sys.new_view();
        let ends = [a, b].map(|trx| {
            let (sys, start) = (Arc::clone(&sys), start.clone());
            thread::spawn(move || {
                start.pass();
                sys.end_trx(trx)
            })
        });
        start.pass();
        let mut before = [false; 2];
        let mut answers = Vec::new();
        for _ in 0..2 {
            sys.open_view(None, &mut view);
            let seen = [a, b].map(|trx| sys.sees_writer(&view, trx));
            assert_eq!([a, b].map(|trx| sys.sees_writer(&view, trx)), seen, "the answer changed");
            assert!(before.iter().zip(seen).all(|(was, is)| is || !was), "seen, and then hidden");
            answers.push((view.csn(), seen));
            before = seen;
            sys.close_view(&mut view);
        }
        let csns = ends.map(|end| end.join().expect("ends well"));
        for (csn, seen) in answers {
            assert_eq!(csns.map(|ended| ended <= csn), seen, "views differ about the order");
        }
    });
}

#[test]
fn views_agree_on_one_order_of_ends_with_csn() {
    views_agree(design::View::Csn);
}

#[test]
fn views_agree_on_one_order_of_ends_with_hybrid() {
    views_agree(design::View::Hybrid);
}

fn no_view_is_missed(view: design::View) {
    all_orders(move || {
        let sys = variant(view);
        let (a, b) = (sys.begin_write(), sys.begin_write());
        sys.end_trx(a);
        let mut view = sys.new_view();
        // A view that was open before may be used again.
        sys.open_view(None, &mut view);
        sys.close_view(&mut view);
        let told = Arc::new((Cell::new(0), Cell::new(0)));
        let start = Start::default();
        let purger = {
            let (sys, told, start) = (Arc::clone(&sys), Arc::clone(&told), start.clone());
            thread::spawn(move || {
                start.pass();
                sys.end_trx(b);
                told.0.store(sys.settled_csn().0, Ordering::SeqCst);
                told.1.store(sys.horizon().0, Ordering::SeqCst);
            })
        };
        start.pass();
        sys.open_view(None, &mut view);
        let sees = sys.sees_writer(&view, b);
        purger.join().expect("ends well");
        let settled = told.0.load(Ordering::SeqCst);
        let horizon = told.1.load(Ordering::SeqCst);
        assert!(settled <= view.csn().0, "{settled} is settled, the view has {}", view.csn());
        assert!(sees || b.0 >= horizon, "{b} is hidden, the horizon is {horizon}");
        assert_eq!(sys.sees_writer(&view, b), sees, "the answer changed");
    });
}

#[test]
fn the_purger_misses_no_view_with_csn() {
    no_view_is_missed(design::View::Csn);
}

#[test]
fn the_purger_misses_no_view_with_cached() {
    no_view_is_missed(design::View::Cached);
}

#[test]
fn the_purger_misses_no_view_with_vector() {
    no_view_is_missed(design::View::Vector);
}

#[test]
fn no_new_id_is_taken_for_an_old_one() {
    all_orders(|| {
        let sys = variant(design::View::Csn);
        let [a, b, _] = [(); 3].map(|()| sys.begin_write());
        let (mut early, mut late) = (sys.new_view(), sys.new_view());
        sys.open_view(None, &mut early);
        sys.end_trx(a);
        sys.open_view(None, &mut late);
        let start = Start::default();
        let writer = {
            let (sys, start) = (Arc::clone(&sys), start.clone());
            thread::spawn(move || {
                start.pass();
                // The ring has four places: these take those of the first ids.
                let [c, d, e] = [(); 3].map(|()| sys.begin_write());
                sys.end_trx(d);
                sys.end_trx(b);
                (c, e)
            })
        };
        start.pass();
        for _ in 0..2 {
            assert!(
                !sys.sees_writer(&early, a) && sys.sees_writer(&late, a),
                "{a} ended in between"
            );
            assert!(!sys.sees_writer(&late, b), "{b} ended too late");
        }
        let (c, e) = writer.join().expect("ends well");
        assert!(!sys.sees_writer(&late, c) && !sys.sees_writer(&late, e));
        sys.close_view(&mut early);
        assert!(sys.sees_writer(&late, a) && !sys.sees_writer(&late, b));
    });
}
