//! What a client counts, and the sum over clients.

use std::sync::Arc;
use std::time::Duration;

use dbdyno_model::{LatencyHistogram, Series};
use dbdyno_workload::Filing;

use crate::answer::EventAnswer;
use crate::book::{Book, Books};
use crate::error::LoadError;
use crate::round::{RoundMeasurement, SLOT};
use crate::time::duration_ns;
use crate::usage::ThreadUsage;

/// What one client counted in its window.
pub(crate) struct Tally {
    pub(crate) events: u64,
    /// See [`RoundMeasurement::edge_events`].
    pub(crate) edge_events: Option<f64>,
    pub(crate) answer: EventAnswer,
    pub(crate) latency: LatencyHistogram,
    pub(crate) usage: ThreadUsage,
    slots: Vec<u64>,
    /// Where events are counted by kind as well.
    book: Option<Arc<Book>>,
}

impl Tally {
    pub(crate) fn new(window: Duration, book: Option<Arc<Book>>) -> Tally {
        Tally {
            events: 0,
            edge_events: None,
            answer: EventAnswer::default(),
            latency: LatencyHistogram::new(),
            usage: ThreadUsage::default(),
            slots: vec![0; (window.as_nanos() / SLOT.as_nanos()) as usize],
            book,
        }
    }

    /// Counts an event that ended `since_open_ns` after the window opened.
    #[inline]
    pub(crate) fn count(&mut self, answer: &EventAnswer, latency_ns: u64, since_open_ns: u64) {
        self.events += 1;
        self.answer.statements += answer.statements;
        self.answer.rows_read += answer.rows_read;
        self.answer.rows_changed += answer.rows_changed;
        self.answer.retries += answer.retries;
        self.latency.record_latency(latency_ns);
        let slot = (since_open_ns / duration_ns(SLOT)) as usize;
        if let Some(sum) = self.slots.get_mut(slot) {
            *sum += answer.statements;
        }
        if let Some(book) = &self.book {
            book.count(answer.kind, latency_ns, slot);
        }
    }

    /// Counts by its kind the response time of an event that was meant for the window.
    #[inline]
    pub(crate) fn record_response(&self, kind: Option<u32>, response_ns: u64) {
        if let (Some(book), Some(kind)) = (&self.book, kind) {
            book.record_response(kind, response_ns);
        }
    }
}

/// What the ends of a window cut of a client's events.
///
/// ```text
///        open                          close
///   ──┬────┼────┬─────────┬─────────┬────┼────┬──
///     └────┴────┘                   └────┴────┘
///      counted as one                not counted, and a
///      and half of it is inside      half of it is inside
/// ```
///
/// Of one client that always asks, these two parts and what is whole between them fill the window,
/// so that a rate by parts has no steps. A client that rests has its steps in its rests. Where
/// there are several, the events that the close cuts end in a server that others have left, sooner
/// than they would have: their parts are too large, and whole events, whose phases are mixed there,
/// are right. An event that never ends has no part.
pub(crate) struct Edges {
    open_ns: u64,
    close_ns: u64,
    /// Parts inside, less what was counted of them.
    cut: f64,
    is_told: bool,
}

impl Edges {
    pub(crate) fn new(open_ns: u64, close_ns: u64, clients: u32) -> Edges {
        Edges { open_ns, close_ns, cut: 0.0, is_told: clients == 1 }
    }

    /// An event, of which there is nothing to be said where it lies between the ends.
    #[inline]
    pub(crate) fn note_event(&mut self, start_ns: u64, end_ns: u64) {
        let is_counted = end_ns >= self.open_ns && end_ns < self.close_ns;
        if !self.is_told || (is_counted && start_ns >= self.open_ns) || end_ns <= start_ns {
            return;
        }
        let inside = end_ns.min(self.close_ns).saturating_sub(start_ns.max(self.open_ns));
        self.cut += inside as f64 / (end_ns - start_ns) as f64 - f64::from(u8::from(is_counted));
    }

    /// The client does not ask for a while.
    pub(crate) fn note_rest(&mut self) {
        self.is_told = false;
    }

    /// What all parts are together, if they say anything.
    pub(crate) fn edge_events(&self) -> Option<f64> {
        self.is_told.then_some(self.cut)
    }
}

/// The sum over clients, and over their books by class.
///
/// # Errors
/// The error that stopped the others; [`LoadError::NothingFinished`] where nobody counted anything.
pub(crate) fn add_up(
    tallies: Vec<Result<Tally, LoadError>>,
    filing: &Filing,
    books: &Books,
    started_unix_ms: u64,
    observed_ns: u64,
    window: Duration,
) -> Result<RoundMeasurement, LoadError> {
    let mut measured = RoundMeasurement {
        started_unix_ms,
        wall_ns: duration_ns(window),
        observed_ns,
        events: 0,
        edge_events: None,
        answer: EventAnswer::default(),
        latency: LatencyHistogram::new(),
        series: Series { slot_ns: duration_ns(SLOT), statements: Vec::new() },
        classes: Vec::new(),
        usage: ThreadUsage::default(),
    };
    for tally in first_cause_first(tallies)? {
        measured.events += tally.events;
        // There is one where it is told.
        measured.edge_events = tally.edge_events;
        measured.answer.statements += tally.answer.statements;
        measured.answer.rows_read += tally.answer.rows_read;
        measured.answer.rows_changed += tally.answer.rows_changed;
        measured.answer.retries += tally.answer.retries;
        measured.latency.merge(&tally.latency);
        measured.series.statements.resize(tally.slots.len(), 0);
        for (sum, slot) in measured.series.statements.iter_mut().zip(&tally.slots) {
            *sum += slot;
        }
        measured.usage = measured.usage.plus(tally.usage);
    }
    assert_eq!(measured.latency.count(), measured.events, "an event without a latency");
    measured.classes = books.class_tallies(filing, measured.events, &measured.series);
    if measured.events == 0 { Err(LoadError::NothingFinished) } else { Ok(measured) }
}

/// All tallies, or the error that stopped the others, which then report an interruption.
pub(crate) fn first_cause_first<T>(
    tallies: Vec<Result<T, LoadError>>,
) -> Result<Vec<T>, LoadError> {
    let mut interrupted = None;
    let mut good = Vec::with_capacity(tallies.len());
    for tally in tallies {
        match tally {
            Ok(tally) => good.push(tally),
            Err(LoadError::Interrupted) => interrupted = Some(LoadError::Interrupted),
            Err(cause) => return Err(cause),
        }
    }
    interrupted.map_or(Ok(good), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events of equal length one after the other: whatever their phase, the parts inside make the
    /// window full, and whole events do not.
    #[test]
    fn counted_events_and_cut_ones_fill_the_window() {
        let (open_ns, close_ns) = (1_000, 11_000);
        for length in [7, 900, 1_001, 4_999, 10_000, 23_000] {
            for phase in [0, length / 3, length - 1] {
                let mut edges = Edges::new(open_ns, close_ns, 1);
                let (mut counted, mut start) = (0_u64, phase % open_ns);
                while start < close_ns {
                    let end = start + length;
                    edges.note_event(start, end);
                    counted += u64::from((open_ns..close_ns).contains(&end));
                    start = end;
                }
                let begun = (phase % open_ns).max(open_ns);
                let done = counted as f64 + edges.edge_events().unwrap();
                let truth = (close_ns - begun) as f64 / length as f64;
                assert!((done - truth).abs() < 1e-9, "{length} from {phase}: {done}, not {truth}");
            }
        }
    }

    #[test]
    fn of_rests_and_of_several_clients_nothing_is_told() {
        let mut edges = Edges::new(1_000, 2_000, 1);
        edges.note_event(500, 1_500);
        assert_eq!(edges.edge_events(), Some(-0.5));
        edges.note_rest();
        assert_eq!(edges.edge_events(), None);
        let mut one_of_two = Edges::new(1_000, 2_000, 2);
        one_of_two.note_event(500, 1_500);
        assert_eq!(one_of_two.edge_events(), None);
    }
}
