//! What can be wrong with numbers that were handed in.

use std::fmt;

/// Why nothing can be said. A wrong number is never returned in place of one of these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StatsError {
    /// There are no values.
    Empty,
    /// A value is infinite or not a number, e.g. the logarithm of a rate of zero.
    NotFinite {
        /// Its place.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A value of which the logarithm is needed is zero or negative.
    NotPositive {
        /// Its place.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A value is too far out to be what it should be, e.g. a rate where a logarithm was expected.
    OutOfRange {
        /// Its place.
        index: usize,
        /// The value.
        value: f64,
        /// The largest magnitude that is taken.
        limit: f64,
    },
    /// There are more values than are looked at together.
    TooMany {
        /// So many.
        count: usize,
        /// So many are taken.
        most: usize,
    },
    /// A time does not come after the one before it.
    NotInOrder {
        /// Its place.
        index: usize,
    },
    /// The confidence does not lie strictly between 0 and 1.
    Confidence(f64),
    /// The budget does not lie in 0 ≤ budget < 1.
    Budget(f64),
}

impl fmt::Display for StatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StatsError::Empty => write!(f, "no values to judge; measure at least one round"),
            StatsError::NotFinite { index, value } => write!(
                f,
                "value {index} is {value}, not a finite number; look for a round without events"
            ),
            StatsError::NotPositive { index, value } => write!(
                f,
                "value {index} is {value}, and only positive values have a logarithm; \
                 look for a round without events"
            ),
            StatsError::OutOfRange { index, value, limit } => write!(
                f,
                "value {index} is {value}, beyond ±{limit}; hand in logarithms where these are \
                 asked for"
            ),
            StatsError::TooMany { count, most } => write!(
                f,
                "there are {count} values, and at most {most} are judged together; hand in the \
                 latest of them"
            ),
            StatsError::NotInOrder { index } => write!(
                f,
                "value {index} is not later than the one before it; hand values in by their time"
            ),
            StatsError::Confidence(value) => {
                write!(f, "confidence {value} does not lie between 0 and 1; try 0.95")
            }
            StatsError::Budget(value) => {
                write!(f, "budget {value} does not lie between 0 and 1; try 0.02 for 2 %")
            }
        }
    }
}

impl std::error::Error for StatsError {}
