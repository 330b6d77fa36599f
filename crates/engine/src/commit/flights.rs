//! Which commits are between their record and their end.
//!
//! An entry is made before the record has a place, with a bound that is not above it, and taken
//! away at the end. Each thread has a list of its own, as long as there are lists.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ids::Lsn;
use crate::sync::Mutex;

const STRIPES: usize = 64;
const UNBROKEN: &str = "no thread panics with it";

pub(super) struct Flights {
    stripes: Box<[Stripe]>,
}

/// Two cache lines: processors fetch lines in pairs.
#[repr(align(128))]
struct Stripe(Mutex<Vec<Lsn>>);

/// An entry.
#[derive(Clone, Copy)]
pub(super) struct Flight {
    stripe: usize,
    bound: Lsn,
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static STRIPE: usize = NEXT.fetch_add(1, Ordering::Relaxed) % STRIPES;
}

impl Default for Flights {
    fn default() -> Flights {
        Flights { stripes: (0..STRIPES).map(|_| Stripe(Mutex::new(Vec::new()))).collect() }
    }
}

impl Flights {
    /// Enters a commit whose record will be at `bound` or behind.
    pub(super) fn begin_flight(&self, bound: Lsn) -> Flight {
        let stripe = STRIPE.with(|stripe| *stripe);
        self.stripes[stripe].0.lock().expect(UNBROKEN).push(bound);
        Flight { stripe, bound }
    }

    /// Takes an entry away.
    pub(super) fn end_flight(&self, flight: Flight) {
        let mut bounds = self.stripes[flight.stripe].0.lock().expect(UNBROKEN);
        let at = bounds.iter().position(|&bound| bound == flight.bound);
        bounds.swap_remove(at.expect("a flight ends once"));
    }

    /// The lowest bound of all.
    pub(crate) fn lowest_bound(&self) -> Option<Lsn> {
        self.stripes
            .iter()
            .filter_map(|stripe| stripe.0.lock().expect(UNBROKEN).iter().min().copied())
            .min()
    }
}
