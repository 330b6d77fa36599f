//! When the measuring of a cell ends, and by which rule it is judged then.
//!
//! ```text
//!   fixed        ├──────────────────────────┤           all pairs, judged once
//!   detect       ├── pilot ──┤┄┄┄┄┄┄┄┄┄┄┄┤              as the pilot asks for
//!   decided      ├──┼──┼──┼──┼ slower                   judged after each life
//! ```
//!
//! The rule is part of the plan and of the stored run. Whoever looks early and stops when the
//! answer pleases needs a wider interval than whoever looks once: a run that was begun under
//! *decided* is judged by that interval for ever, and a run that was begun under another rule never
//! turns into one that looks only once.

use std::fmt;
use std::str::FromStr;

/// When the measuring of a cell ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Stopping {
    /// When all pairs of the plan are measured.
    #[default]
    Fixed,
    /// When there are as many lives as an effect needs. How many, is set once, from the noise of
    /// the first lives, whatever their mean is.
    Detect {
        /// Change of rQPS that is to be found, as a share (0.01 = 1 %).
        effect: f64,
        /// The chance with which it is to be found.
        power: f64,
    },
    /// As soon as the cell is decided, which is looked at after each life.
    Decided {
        /// Pairs in a life; where servers live once, in a stretch that is one value of the mean.
        pairs: u32,
        /// Up to this number of lives the chance to err is spent, but for a rest: more of them are
        /// allowed, and tell little.
        horizon: u32,
    },
}

impl Stopping {
    /// Whether results are looked at before the end, and may end it.
    pub fn is_sequential(self) -> bool {
        matches!(self, Stopping::Decided { .. })
    }
}

impl FromStr for Stopping {
    type Err = String;

    /// Reads the text of a store: `fixed`, `detect 0.01 0.8` or `decided 18 48`.
    fn from_str(text: &str) -> Result<Stopping, String> {
        let wrong = || format!("{text:?} is no rule for stopping");
        let share = |text: &str| {
            let share = text.parse::<f64>().ok();
            share.filter(|share| *share > 0.0 && *share < 1.0).ok_or_else(wrong)
        };
        let words: Vec<&str> = text.split(' ').collect();
        match *words.as_slice() {
            ["fixed"] => Ok(Stopping::Fixed),
            ["detect", effect, power] => {
                Ok(Stopping::Detect { effect: share(effect)?, power: share(power)? })
            }
            ["decided", pairs, horizon] => match (pairs.parse(), horizon.parse()) {
                (Ok(pairs @ 1..), Ok(horizon @ 1..)) => Ok(Stopping::Decided { pairs, horizon }),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        }
    }
}

/// The text that [`Stopping::from_str`] reads.
impl fmt::Display for Stopping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopping::Fixed => f.write_str("fixed"),
            Stopping::Detect { effect, power } => write!(f, "detect {effect} {power}"),
            Stopping::Decided { pairs, horizon } => write!(f, "decided {pairs} {horizon}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_store_is_read_back() {
        for rule in [
            Stopping::Fixed,
            Stopping::Detect { effect: 0.01, power: 0.95 },
            Stopping::Decided { pairs: 18, horizon: 48 },
        ] {
            assert_eq!(rule.to_string().parse(), Ok(rule));
        }
        for wrong in [
            "",
            "decided",
            "decided 0 8",
            "decided 8",
            "detect 1%",
            "detect 2 0.8",
            "detect 0.1 NaN",
        ] {
            assert!(wrong.parse::<Stopping>().is_err(), "{wrong:?} was taken");
        }
    }
}
