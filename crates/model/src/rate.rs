//! What a rate counts, and from when a latency does.
//!
//! ```text
//!   load           unit               of a round
//!   point-query    queries/s          statements
//!   scan, l.i0     rows/s             statements × rows of each
//!   tpcc           transactions/min   events: their statements differ in number
//! ```
//!
//! Shown rates, ratios and verdicts rest on the same figure. Where rows are a multiple of
//! statements the ratio is that of statements; TPC-C's is one of its own.

use crate::classes::ClassUnit;
use crate::round::Round;
use crate::words::words;

/// What the rate of a cell counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateUnit {
    /// Statements per second, BEGIN and COMMIT included.
    Queries,
    /// Rows per second that are scanned or inserted, this many for each statement.
    Rows(u64),
    /// Transactions per minute: events.
    Transactions,
}

impl RateUnit {
    /// `"queries/s"`, `"rows/s"` or `"transactions/min"`.
    pub fn name(self) -> &'static str {
        match self {
            RateUnit::Queries => "queries/s",
            RateUnit::Rows(_) => "rows/s",
            RateUnit::Transactions => "transactions/min",
        }
    }

    /// The name of the rate of a class under this unit: TPC-C's are transactions per minute, too.
    pub fn of_class(self, counted: ClassUnit) -> &'static str {
        match (self, counted) {
            (RateUnit::Transactions, ClassUnit::Events) => self.name(),
            (_, ClassUnit::Events) => "events/s",
            (_, ClassUnit::Statements) => "statements/s",
        }
    }

    /// Seconds of the time that a class is told by: a minute or a second.
    pub fn class_seconds(self) -> f64 {
        match self {
            RateUnit::Queries | RateUnit::Rows(_) => 1.0,
            RateUnit::Transactions => 60.0,
        }
    }

    /// The rate of a round.
    pub fn rate(self, round: &Round) -> f64 {
        match self {
            RateUnit::Queries => round.qps(),
            RateUnit::Rows(rows) => round.qps() * rows as f64,
            RateUnit::Transactions => round.tps() * 60.0,
        }
    }

    /// The rate of a round in each slot of its series.
    pub fn slot_rates(self, round: &Round) -> Vec<f64> {
        let per_second = 1e9 / round.series.slot_ns as f64;
        let statements = || round.series.statements.iter().map(|count| *count as f64 * per_second);
        match self {
            RateUnit::Queries => statements().collect(),
            RateUnit::Rows(rows) => statements().map(|rate| rate * rows as f64).collect(),
            RateUnit::Transactions => {
                let of_events: Vec<_> =
                    round.classes.iter().filter(|class| class.times.is_some()).collect();
                if of_events.is_empty() {
                    // Only statements are known by slot: events are taken to be spread as these.
                    let share = round.events as f64 / round.statements.max(1) as f64;
                    return statements().map(|rate| rate * share * 60.0).collect();
                }
                let slots = 0..round.series.statements.len();
                let count = |slot| -> u64 {
                    of_events.iter().filter_map(|class| class.slots.get(slot)).sum()
                };
                slots.map(|slot| count(slot) as f64 * per_second * 60.0).collect()
            }
        }
    }
}

words! {
    /// From when latencies count.
    Since {
        /// From sending.
        Sent = "sent",
        /// From the moment at which the event should have been sent: clients rest between events.
        Intended = "intended",
    }
}
