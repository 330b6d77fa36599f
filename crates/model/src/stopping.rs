//! When the measuring of a cell ends, and by which rule it is judged then.
//!
//! ```text
//!   fixed        ├──────────────────────────┤           all pairs, judged once
//!   decided      ├──┼──┼──┼──┼ slower                   judged after each start
//!   detect       ├──┼──┼──┼──┼──┼──┼ sharp enough       the same, and blind to the result
//! ```
//!
//! The rule is part of the plan and of the stored run. Whoever looks early and stops when the
//! answer pleases needs a wider interval than whoever looks once: a run that was begun under
//! *decided* is judged by that interval for ever, and a run that was begun under another rule never
//! turns into one that looks only once.

use std::fmt;
use std::str::FromStr;

/// When the measuring of a cell ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Stopping {
    /// When all pairs of the plan are measured.
    #[default]
    Fixed,
    /// As soon as the cell is decided, which is looked at after each start.
    Decided {
        /// Pairs in a start; where servers live once, in a stretch that is one value of the mean.
        pairs: u32,
        /// Up to this number of starts the chance to err is spent, but for a rest: more of them are
        /// allowed, and tell little.
        horizon: u32,
    },
    /// A run that was judged once and made longer because that did not decide it: looked at from
    /// then on, which may err a little more.
    Extended {
        /// As in [`Stopping::Decided`].
        pairs: u32,
        /// Starts that each cell had when it was judged, in the order of the plan; up to there it
        /// is judged as one that is not looked at. The last number holds for all cells after it.
        judged: Vec<u32>,
    },
    /// As [`Stopping::Decided`], and it also ends when a change as large as was asked for would
    /// have been found: for effects of which nobody knew beforehand how long they take.
    Detect {
        /// As in [`Stopping::Decided`].
        pairs: u32,
        /// As in [`Stopping::Decided`].
        horizon: u32,
        /// Change of rQPS that is to be found, as a share (0.01 = 1 %).
        effect: f64,
        /// The chance with which it is to be found.
        power: f64,
    },
    /// As soon as the ratio of each arm to base is known so well, whatever it is, which is looked
    /// at after each pair; at the latest when all pairs of the plan are measured.
    Known {
        /// Half of the interval, as a logarithm.
        half: f64,
    },
}

impl Stopping {
    /// Whether results may end it before all pairs of the plan are measured.
    pub fn is_by_results(&self) -> bool {
        *self != Stopping::Fixed
    }

    /// Where starts are looked at before the end: pairs between two looks, and the horizon.
    /// Of a run that was judged once, the most starts that a cell had then.
    pub fn look_schedule(&self) -> Option<(u32, u32)> {
        match self {
            Stopping::Fixed | Stopping::Known { .. } => None,
            Stopping::Extended { pairs, judged } => {
                Some((*pairs, judged.iter().copied().max().unwrap_or(0)))
            }
            Stopping::Decided { pairs, horizon } | Stopping::Detect { pairs, horizon, .. } => {
                Some((*pairs, *horizon))
            }
        }
    }

    /// Starts that the cell with this number had when it was judged once; 0 where it never was.
    pub fn judged_at(&self, cell: usize) -> u32 {
        match self {
            Stopping::Extended { judged, .. } => {
                judged.get(cell).or(judged.last()).copied().unwrap_or(0)
            }
            Stopping::Fixed
            | Stopping::Decided { .. }
            | Stopping::Detect { .. }
            | Stopping::Known { .. } => 0,
        }
    }
}

impl FromStr for Stopping {
    type Err = String;

    /// Reads the text of a store: `fixed`, `decided 18 48`, `extended 18 8,12`, `detect 18 48
    /// 0.01 0.8` or `known 0.05`.
    fn from_str(text: &str) -> Result<Stopping, String> {
        let wrong = || format!("{text:?} is no rule for stopping");
        let number = |text: &str| match text.parse() {
            Ok(number @ 1..) => Ok(number),
            _ => Err(wrong()),
        };
        let words: Vec<&str> = text.split(' ').collect();
        match *words.as_slice() {
            ["fixed"] => Ok(Stopping::Fixed),
            ["decided", pairs, horizon] => {
                Ok(Stopping::Decided { pairs: number(pairs)?, horizon: number(horizon)? })
            }
            ["extended", pairs, judged] => {
                let judged = judged
                    .split(',')
                    .map(|text| text.parse().map_err(|_| wrong()))
                    .collect::<Result<_, _>>()?;
                Ok(Stopping::Extended { pairs: number(pairs)?, judged })
            }
            ["detect", pairs, horizon, effect, power] => Ok(Stopping::Detect {
                pairs: number(pairs)?,
                horizon: number(horizon)?,
                effect: share(effect).ok_or_else(wrong)?,
                power: share(power).ok_or_else(wrong)?,
            }),
            ["known", half] => match half.parse::<f64>() {
                Ok(half) if half > 0.0 && half.is_finite() => Ok(Stopping::Known { half }),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        }
    }
}

/// A number between 0 and 1.
fn share(text: &str) -> Option<f64> {
    text.parse().ok().filter(|share| *share > 0.0 && *share < 1.0)
}

/// The text that [`Stopping::from_str`] reads.
impl fmt::Display for Stopping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopping::Fixed => f.write_str("fixed"),
            Stopping::Decided { pairs, horizon } => write!(f, "decided {pairs} {horizon}"),
            Stopping::Extended { pairs, judged } => {
                let judged: Vec<String> = judged.iter().map(u32::to_string).collect();
                write!(f, "extended {pairs} {}", judged.join(","))
            }
            Stopping::Detect { pairs, horizon, effect, power } => {
                write!(f, "detect {pairs} {horizon} {effect} {power}")
            }
            Stopping::Known { half } => write!(f, "known {half}"),
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
            Stopping::Detect { pairs: 8, horizon: 9, effect: 0.01, power: 0.95 },
            Stopping::Decided { pairs: 18, horizon: 48 },
            Stopping::Known { half: 0.097_3 },
            Stopping::Extended { pairs: 18, judged: vec![8] },
            Stopping::Extended { pairs: 18, judged: vec![8, 0, 12] },
        ] {
            assert_eq!(rule.to_string().parse(), Ok(rule));
        }
        for wrong in [
            "",
            "decided",
            "decided 0 8",
            "decided 8",
            "extended 8 ",
            "extended 8 1,x",
            "detect 8 9 1% 1",
            "detect 8 9 0.1 NaN",
            "known 0",
            "known inf",
            "known",
        ] {
            assert!(wrong.parse::<Stopping>().is_err(), "{wrong:?} was taken");
        }
    }
}
