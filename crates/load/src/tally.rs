//! What a client counts, and the sum over clients.

use std::sync::Arc;
use std::time::Duration;

use dbdyno_model::{LatencyHistogram, Series};
use dbdyno_workload::Filing;

use crate::book::{Book, Books};
use crate::closed::{Measured, SLOT, nanos};
use crate::error::LoadError;
use crate::session::Answer;
use crate::usage::ThreadUsage;

/// What one client counted in its window.
pub(crate) struct Tally {
    pub(crate) events: u64,
    pub(crate) answer: Answer,
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
            answer: Answer::default(),
            latency: LatencyHistogram::new(),
            usage: ThreadUsage::default(),
            slots: vec![0; (window.as_nanos() / SLOT.as_nanos()) as usize],
            book,
        }
    }

    /// Counts an event that ended `since_open_ns` after the window opened.
    #[inline]
    pub(crate) fn count(&mut self, answer: &Answer, latency_ns: u64, since_open_ns: u64) {
        self.events += 1;
        self.answer.statements += answer.statements;
        self.answer.rows_read += answer.rows_read;
        self.answer.rows_changed += answer.rows_changed;
        self.answer.retries += answer.retries;
        self.latency.record(latency_ns);
        let slot = (since_open_ns / nanos(SLOT)) as usize;
        if let Some(sum) = self.slots.get_mut(slot) {
            *sum += answer.statements;
        }
        if let Some(book) = &self.book {
            book.count(answer.kind, latency_ns, slot);
        }
    }

    /// Counts by its kind the response time of an event that was meant for the window.
    #[inline]
    pub(crate) fn respond(&self, kind: Option<u32>, response_ns: u64) {
        if let (Some(book), Some(kind)) = (&self.book, kind) {
            book.respond(kind, response_ns);
        }
    }
}

/// The sum over clients, and over their books by class.
///
/// # Errors
/// The error that stopped the others; [`LoadError::NothingFinished`] where nobody counted anything.
pub(crate) fn add_up(
    tallies: Vec<Result<Tally, LoadError>>,
    (filing, books): (&Filing, &Books),
    started_unix_ms: u64,
    observed_ns: u64,
    window: Duration,
) -> Result<Measured, LoadError> {
    let mut measured = Measured {
        started_unix_ms,
        wall_ns: nanos(window),
        observed_ns,
        events: 0,
        answer: Answer::default(),
        latency: LatencyHistogram::new(),
        series: Series { slot_ns: nanos(SLOT), statements: Vec::new() },
        classes: Vec::new(),
        usage: ThreadUsage::default(),
    };
    for tally in first_cause_first(tallies)? {
        measured.events += tally.events;
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
    measured.classes = books.classes(filing, measured.events, &measured.series);
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
