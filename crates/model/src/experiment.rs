//! An experiment that was written down before it was run: a question, and what is expected.
//!
//! ```text
//!   [[expect]]
//!   what = "activations / commits"     a figure of each round
//!   sign = "less"                      test against base: more, less, or equal
//! ```
//!
//! Who looks at results first can explain any of them. A sign that was expected, and why, stands
//! in the file from before; what was found is held against it.

use std::fmt;

use crate::plan::Cell;
use crate::verdict::Interval;
use crate::words::words;

/// A figure of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoundFigure {
    /// What the load counts, per second.
    Rate,
    /// Processor time of the server for each statement.
    ServerCpu,
    /// Context switches of the server for each statement.
    Switches,
    /// The 99th percentile of latency.
    P99,
    /// How often events were asked again, for each event.
    Retries,
    /// One reading for each of another one, or for each statement.
    Counter(String, Option<String>),
}

impl RoundFigure {
    /// Reads a figure: `rate`, `cpu/o`, `cs/o`, `p99`, `retries`, `NAME` or `NAME / NAME`.
    pub fn read(text: &str) -> RoundFigure {
        let name = |text: &str| text.trim().to_owned();
        match text.trim() {
            "rate" => RoundFigure::Rate,
            "cpu/o" => RoundFigure::ServerCpu,
            "cs/o" => RoundFigure::Switches,
            "p99" => RoundFigure::P99,
            "retries" => RoundFigure::Retries,
            other => match other.split_once(" / ") {
                Some((one, each)) => RoundFigure::Counter(name(one), Some(name(each))),
                None => RoundFigure::Counter(name(other), None),
            },
        }
    }
}

impl fmt::Display for RoundFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RoundFigure::Rate => f.write_str("rate"),
            RoundFigure::ServerCpu => f.write_str("cpu/o"),
            RoundFigure::Switches => f.write_str("cs/o"),
            RoundFigure::P99 => f.write_str("p99"),
            RoundFigure::Retries => f.write_str("retries"),
            RoundFigure::Counter(one, Some(each)) => write!(f, "{one} / {each}"),
            RoundFigure::Counter(one, None) => f.write_str(one),
        }
    }
}

words! {
    /// How the test arm's figure stands to the base arm's.
    Sign {
        /// It is larger.
        More = "more",
        /// It is smaller.
        Less = "less",
        /// It is the same, within the budget.
        Equal = "equal",
    }
}

/// What is expected of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Which figure.
    pub figure: RoundFigure,
    /// How it is expected to differ.
    pub sign: Sign,
    /// Why.
    pub why: String,
}

/// What was found of a figure in a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureOutcome {
    /// Of what.
    pub figure: RoundFigure,
    /// Where.
    pub cell: Cell,
    /// The figure's mean over the rounds of base and test; `None` where it was not observed.
    pub base: Option<f64>,
    /// The same of the test arm.
    pub test: Option<f64>,
    /// Test ÷ base with its 95 % interval; `None` where one of them is zero, or there are too few
    /// pairs.
    pub ratio: Option<Interval>,
    /// The sign that was proved, if any was.
    pub sign: Option<Sign>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_their_text() {
        for text in ["rate", "cpu/o", "cs/o", "p99", "retries", "syncs", "activations / commits"] {
            assert_eq!(RoundFigure::read(text).to_string(), text);
        }
        let counter = RoundFigure::Counter("a".to_owned(), Some("b".to_owned()));
        assert_eq!(RoundFigure::read(" a / b "), counter);
    }

    #[test]
    fn signs_are_their_words() {
        for sign in Sign::ALL {
            assert_eq!(Sign::named(sign.name()), Some(sign));
        }
        assert_eq!(Sign::named("better"), None);
    }
}
