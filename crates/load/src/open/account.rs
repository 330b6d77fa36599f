//! What one connection counts, and what follows of all of them.

use std::sync::Arc;
use std::time::Duration;

use dbdyno_model::OpenLoop;
use dbdyno_workload::Filing;

use crate::answer::EventAnswer;
use crate::book::{Book, Books};
use crate::error::LoadError;
use crate::round::RoundMeasurement;
use crate::tally::{Tally, add_up};
use crate::time::duration_ns;
use crate::usage::ThreadUsage;

/// The four moments of an event, nanoseconds since the window opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// When it should have been sent.
    pub intended_ns: i64,
    /// Since when the connection that sent it had nothing else to do.
    pub free_ns: i64,
    /// When it was sent.
    pub sent_ns: i64,
    /// When its answer was there.
    pub end_ns: i64,
}

/// Counts and histograms of one connection; all memory is taken when it is made.
pub(super) struct Account {
    window_ns: i64,
    /// Of events that ended in the window.
    tally: Tally,
    /// Of events that were meant for the window.
    open: OpenLoop,
    usage_at_open: Option<ThreadUsage>,
    usage_at_close: Option<ThreadUsage>,
}

impl Account {
    pub(super) fn new(window: Duration, book: Option<Arc<Book>>) -> Account {
        Account {
            window_ns: duration_ns(window) as i64,
            tally: Tally::new(window, book),
            open: OpenLoop::default(),
            usage_at_open: None,
            usage_at_close: None,
        }
    }

    /// The first event of the window is about to be waited for: what the thread costs counts from
    /// here.
    pub(super) fn look_at_open(&mut self) {
        self.usage_at_open.get_or_insert_with(ThreadUsage::now);
    }

    /// The window is over for this connection: what the thread costs counts no more.
    pub(super) fn look_at_close(&mut self) {
        self.usage_at_close.get_or_insert_with(ThreadUsage::now);
    }

    /// Counts an event that was answered.
    #[inline]
    pub(super) fn count_event(&mut self, times: Times, answer: &EventAnswer) {
        let Times { intended_ns, free_ns, sent_ns, end_ns } = times;
        let window = 0..self.window_ns;
        if window.contains(&intended_ns) {
            self.open.offered += 1;
            let response_ns = (end_ns - intended_ns) as u64;
            self.open.response.record_latency(response_ns);
            self.tally.record_response(Some(answer.kind), response_ns);
            self.open.lag.record_latency((sent_ns - intended_ns.max(free_ns)) as u64);
        }
        if window.contains(&end_ns) {
            self.tally.count(answer, (end_ns - sent_ns) as u64, end_ns as u64);
        }
    }

    /// Counts an event for which nobody came until `give_up_ns`; its kind where that is known.
    pub(super) fn count_unanswered(
        &mut self,
        kind: Option<u32>,
        intended_ns: i64,
        give_up_ns: i64,
    ) {
        if (0..self.window_ns).contains(&intended_ns) {
            let waited_ns = (give_up_ns - intended_ns) as u64;
            self.open.offered += 1;
            self.open.unanswered += 1;
            self.open.response.record_latency(waited_ns);
            self.tally.record_response(kind, waited_ns);
        }
    }
}

/// The round of all connections. `observed_ns` is the time between the two looks of the observer.
///
/// # Errors
/// [`LoadError::NothingFinished`].
pub(super) fn conclude_round(
    accounts: Vec<Account>,
    filing: &Filing,
    books: &Books,
    started_unix_ms: u64,
    observed_ns: u64,
    window: Duration,
) -> Result<(RoundMeasurement, OpenLoop), LoadError> {
    let mut open = OpenLoop::default();
    let mut tallies = Vec::with_capacity(accounts.len());
    for mut account in accounts {
        open.merge(&account.open);
        if let (Some(opened), Some(closed)) = (account.usage_at_open, account.usage_at_close) {
            account.tally.usage = closed.since(opened);
        }
        tallies.push(Ok(account.tally));
    }
    assert_eq!(open.response.count(), open.offered, "an event without a response time");
    if open.offered == 0 {
        return Err(LoadError::NothingFinished);
    }
    let measured = add_up(tallies, filing, books, started_unix_ms, observed_ns, window)?;
    Ok((measured, open))
}
