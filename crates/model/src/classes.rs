//! What each class did in a round: TPC-C's transactions, the statements of sysbench's mixes.
//!
//! ```text
//!   event              class of …        count, series      latency, response time
//!   TPC-C transaction  the event         of events          of its events
//!   one statement      the event         of events          of its events
//!   read-write         each statement    of statements      none: a clock read for each statement
//!                                                           would be paid by what is measured
//! ```
//!
//! Which of the two it is, is a matter of the load and the same in all rounds: where all statements
//! of an event, BEGIN and COMMIT aside, are of one class, the event is of that class, and has its
//! latency; elsewhere statements are counted by class, and latency stays that of whole events. A
//! load with one class has no classes here, for the round itself says all of it.
//!
//! In the Insert Benchmark a class is what one of a client's threads does. Those in the background
//! are classes, too, although the events of the round are those of the foreground only.

use crate::histogram::LatencyHistogram;
use crate::series::sum_slots;
use crate::words::words;

/// The class of the events of a background: work beside the clients of a load.
pub const BACKGROUND: &str = "background";

words! {
    /// What is counted under the name of a class.
    ClassUnit {
        /// Whole events.
        Events = "events",
        /// Statements, BEGIN and COMMIT among them.
        Statements = "statements",
    }
}

/// One class in one round.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassTally {
    /// The name of the class, which no other class of the round has.
    pub name: String,
    /// How often it came: events that ended in the window, or statements of such events.
    pub count: u64,
    /// The same in the slots of the round's [`crate::Series`].
    pub slots: Vec<u64>,
    /// Of classes of events, how long they took; `None` for classes of statements.
    pub times: Option<ClassTimes>,
}

/// How long the events of a class took.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassTimes {
    /// Latencies, as those of the round.
    pub latency: LatencyHistogram,
    /// In the open loop, response times of what was meant for the window, as those of
    /// [`crate::OpenLoop`]. An event that was given up is among them if its class was known
    /// without asking it.
    pub response: Option<LatencyHistogram>,
}

impl ClassTally {
    /// The same in slots that are so many times as long, as [`crate::Series::with_longer_slots`].
    pub fn with_longer_slots(self, slots: u32) -> ClassTally {
        ClassTally { slots: sum_slots(&self.slots, slots), ..self }
    }

    /// What its count counts.
    pub fn count_unit(&self) -> ClassUnit {
        match self.times {
            Some(_) => ClassUnit::Events,
            None => ClassUnit::Statements,
        }
    }
}
