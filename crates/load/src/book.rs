//! What is counted by kind of event while a round runs, and the classes that it makes.
//!
//! ```text
//!   client 0 ─┐
//!   client 8 ─┴▶ Book 0   kind 0: latency, response time, slots
//!   client 1 ─┐           kind 1: …
//!   client 9 ─┴▶ Book 1   …                                 sum ──▶ ClassTally for each class
//! ```
//!
//! A client with a book of its own would take a megabyte, and of clients that think there are
//! thousands. So a few of them share one, without a lock: every count is an atomic number. Loads
//! with one kind of event have no books.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dbdyno_model::{ClassTally, ClassTimes, LatencyHistogram, Series, SharedHistogram};
use dbdyno_workload::Filing;

use crate::round::SLOT;

/// Books of a round at most: clients that are at work at once seldom meet in one.
const BOOKS_MOST: usize = 8;

/// What is known of a round by kind of event. All memory is taken when it is made.
pub(crate) struct Book {
    pages: Vec<Page>,
}

/// One kind.
struct Page {
    count: AtomicU64,
    slots: Vec<AtomicU64>,
    /// Where events have classes.
    latency: Option<SharedHistogram>,
    /// In the open loop as well.
    response: Option<SharedHistogram>,
}

/// What a round wants to know of the classes of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Times {
    /// How long they took.
    Service,
    /// And how long after they were meant they were answered.
    ServiceAndResponse,
}

impl Book {
    fn new(filing: &Filing, times: Times, slots: usize) -> Book {
        let of_events = matches!(filing, Filing::Events(_));
        Book {
            pages: (0..filing.kind_count())
                .map(|_| Page {
                    count: AtomicU64::new(0),
                    slots: (0..slots).map(|_| AtomicU64::new(0)).collect(),
                    latency: wanted_histogram(of_events),
                    response: wanted_histogram(of_events && times == Times::ServiceAndResponse),
                })
                .collect(),
        }
    }

    /// Counts an event that ended in the window, in this slot of it.
    #[inline]
    pub(crate) fn count(&self, kind: u32, latency_ns: u64, slot: usize) {
        let page = &self.pages[kind as usize];
        page.count.fetch_add(1, Ordering::Relaxed);
        if let Some(latency) = &page.latency {
            latency.record_latency(latency_ns);
        }
        if let Some(slot) = page.slots.get(slot) {
            slot.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts the response time of an event that was meant for the window.
    #[inline]
    pub(crate) fn record_response(&self, kind: u32, response_ns: u64) {
        if let Some(response) = &self.pages[kind as usize].response {
            response.record_latency(response_ns);
        }
    }
}

fn wanted_histogram(wanted: bool) -> Option<SharedHistogram> {
    wanted.then(SharedHistogram::new)
}

/// All books of a round.
pub(crate) struct Books {
    books: Vec<Arc<Book>>,
}

impl Books {
    /// Books for a load, one for some clients.
    pub(crate) fn new(filing: &Filing, times: Times, window: Duration, clients: usize) -> Books {
        let count = match filing.kind_count() {
            1 => 0,
            _ => clients.clamp(1, BOOKS_MOST),
        };
        let slots = (window.as_nanos() / SLOT.as_nanos()) as usize;
        Books { books: (0..count).map(|_| Arc::new(Book::new(filing, times, slots))).collect() }
    }

    /// The book of a client; `None` where all events are of one kind.
    pub(crate) fn of_client(&self, client: usize) -> Option<Arc<Book>> {
        let index = client.checked_rem(self.books.len())?;
        Some(Arc::clone(&self.books[index]))
    }

    /// What each class did, when all clients are done. `events` ended in the window, and their
    /// statements in the slots of `series`.
    pub(crate) fn class_tallies(
        &self,
        filing: &Filing,
        events: u64,
        series: &Series,
    ) -> Vec<ClassTally> {
        match filing {
            Filing::Whole => Vec::new(),
            Filing::Events(classes) => {
                classes.iter().enumerate().map(|(kind, name)| self.of_events(kind, name)).collect()
            }
            Filing::Statements { classes, per_event } => {
                let kinds = self.kinds(events, series, per_event);
                classes
                    .iter()
                    .enumerate()
                    .map(|(class, name)| {
                        let per_event: Vec<u64> =
                            per_event.iter().map(|kind| kind[class]).collect();
                        of_statements(name, &kinds, &per_event, series)
                    })
                    .collect()
            }
        }
    }

    fn sum(&self, count: impl Fn(&Book) -> &AtomicU64) -> u64 {
        self.books.iter().map(|book| count(book).load(Ordering::Relaxed)).sum()
    }

    fn count(&self, kind: usize) -> u64 {
        self.sum(|book| &book.pages[kind].count)
    }

    fn slots(&self, kind: usize) -> Vec<u64> {
        let slots = self.books.first().map_or(0, |book| book.pages[kind].slots.len());
        (0..slots).map(|slot| self.sum(|book| &book.pages[kind].slots[slot])).collect()
    }

    fn of_events(&self, kind: usize, name: &str) -> ClassTally {
        let histogram = |pick: fn(&Page) -> Option<&SharedHistogram>| {
            let mut found = self.books.iter().filter_map(|book| pick(&book.pages[kind]));
            let first: LatencyHistogram = found.next()?.sum();
            Some(found.fold(first, |mut sum, next| {
                sum.merge(&next.sum());
                sum
            }))
        };
        let latency = histogram(|page| page.latency.as_ref()).unwrap_or_default();
        let response = histogram(|page| page.response.as_ref());
        ClassTally {
            name: name.to_owned(),
            count: self.count(kind),
            slots: self.slots(kind),
            times: Some(ClassTimes { latency, response }),
        }
    }

    /// By kind: how many events, and in which slots. Where there is one kind, the round itself says
    /// it.
    fn kinds(&self, events: u64, series: &Series, per_event: &[Vec<u64>]) -> Vec<(u64, Vec<u64>)> {
        if let [only] = per_event {
            let statements: u64 = only.iter().sum();
            let slots = series.statements.iter().map(|count| count / statements.max(1));
            return vec![(events, slots.collect())];
        }
        (0..per_event.len()).map(|kind| (self.count(kind), self.slots(kind))).collect()
    }
}

fn of_statements(
    name: &str,
    kinds: &[(u64, Vec<u64>)],
    per_event: &[u64],
    series: &Series,
) -> ClassTally {
    let mut class = ClassTally {
        name: name.to_owned(),
        count: 0,
        slots: vec![0; series.statements.len()],
        times: None,
    };
    for ((events, slots), statements) in kinds.iter().zip(per_event) {
        class.count += events * statements;
        for (sum, slot) in class.slots.iter_mut().zip(slots) {
            *sum += slot * statements;
        }
    }
    class
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::duration_ns;

    fn series(statements: &[u64]) -> Series {
        Series { slot_ns: duration_ns(SLOT), statements: statements.to_vec() }
    }

    fn classes(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn events_are_filed_with_their_times_whoever_counted_them() {
        let filing = Filing::Events(classes(&["new", "paid"]));
        let books = Books::new(&filing, Times::ServiceAndResponse, SLOT * 3, 20);
        for client in 0..20 {
            let book = books.of_client(client).unwrap();
            book.count(client as u32 % 2, 1_000, client % 4);
            book.record_response(1, 9_000);
        }
        let filed = books.class_tallies(&filing, 20, &series(&[0, 0, 0]));
        assert_eq!(filed.iter().map(|class| class.count).collect::<Vec<_>>(), [10, 10]);
        // Of the slots, the fourth is not whole.
        assert_eq!((&*filed[0].slots, &*filed[1].slots), (&[5, 0, 5][..], &[0, 5, 0][..]));
        let times = |class: usize| filed[class].times.as_ref().unwrap();
        assert_eq!((times(0).latency.count(), times(1).latency.count()), (10, 10));
        let responses = [0, 1].map(|class| times(class).response.as_ref().unwrap().count());
        assert_eq!(responses, [0, 20]);
    }

    #[test]
    fn statements_follow_from_the_kinds_of_events() {
        let per_event = vec![vec![1, 10, 0], vec![1, 0, 2]];
        let filing = Filing::Statements { classes: classes(&["begin", "point", "put"]), per_event };
        let books = Books::new(&filing, Times::Service, SLOT * 2, 1);
        let book = books.of_client(0).unwrap();
        for (kind, slot) in [(0, 0), (0, 1), (1, 1), (1, 1)] {
            book.count(kind, 5, slot);
        }
        let filed = books.class_tallies(&filing, 4, &series(&[11, 17]));
        let told: Vec<_> = filed.iter().map(|class| (class.count, class.slots.clone())).collect();
        assert_eq!(told, [(4, vec![1, 3]), (20, vec![10, 10]), (4, vec![0, 4])]);
        assert!(filed.iter().all(|class| class.times.is_none()));
    }

    #[test]
    fn loads_with_one_kind_of_event_need_no_book() {
        let filing =
            Filing::Statements { classes: classes(&["a", "b"]), per_event: vec![vec![3, 1]] };
        let books = Books::new(&filing, Times::Service, SLOT * 2, 4);
        assert!(books.of_client(3).is_none());
        let filed = books.class_tallies(&filing, 6, &series(&[8, 12]));
        let told: Vec<_> = filed.iter().map(|class| (class.count, class.slots.clone())).collect();
        assert_eq!(told, [(18, vec![6, 9]), (6, vec![2, 3])]);
        let books = Books::new(&Filing::Whole, Times::Service, SLOT, 4);
        assert!(books.of_client(0).is_none());
        assert_eq!(books.class_tallies(&Filing::Whole, 6, &series(&[6])), []);
    }
}
