//! How clients are driven: who decides when the next event is sent.

use std::fmt;
use std::str::FromStr;

use crate::arrivals::Arrivals;
use crate::histogram::LatencyHistogram;
use crate::think::Think;

/// Who decides when the next event is sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Driving {
    /// The server: each client sends its next event when the last one is answered.
    #[default]
    Closed,
    /// The server and the client: it rests after each answer.
    Thinking(Think),
    /// A schedule, whatever the server does.
    Open(Arrivals),
    /// A schedule whose rate is raised for as long as a condition holds: which rate is the highest?
    Search(Slo),
}

/// In a search for the highest rate each search has so many numbers of pairs to itself, one for
/// each of its steps.
pub const SEARCH_STEPS: u32 = 16;

/// Steps that a search usually takes.
const SEARCH_STEPS_USUAL: u64 = 7;

impl Driving {
    /// About how many rounds of one arm belong to a pair.
    pub fn rounds_in_pair(&self) -> u64 {
        match self {
            Driving::Closed | Driving::Thinking(_) | Driving::Open(_) => 1,
            Driving::Search(_) => SEARCH_STEPS_USUAL,
        }
    }

    /// The pair to which a round with this number belongs: its search, or the number itself.
    pub fn pair_of(&self, number: u32) -> u32 {
        match self {
            Driving::Closed | Driving::Thinking(_) | Driving::Open(_) => number,
            Driving::Search(_) => number / SEARCH_STEPS,
        }
    }

    /// What clients rest between two events, if that is part of the plan.
    pub fn think_time(&self) -> Option<Think> {
        match self {
            Driving::Thinking(think) => Some(*think),
            Driving::Closed | Driving::Open(_) | Driving::Search(_) => None,
        }
    }

    /// Whether events have times of their own, whatever the server does.
    pub fn is_open(&self) -> bool {
        matches!(self, Driving::Open(_) | Driving::Search(_))
    }
}

/// `closed`, `think 10s`, `rate 1000` or `find-max p99 < 10ms`: the form that is stored.
impl fmt::Display for Driving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Driving::Closed => f.write_str("closed"),
            Driving::Thinking(think) => write!(f, "think {think}"),
            Driving::Open(arrivals) => write!(f, "rate {arrivals}"),
            Driving::Search(slo) => write!(f, "find-max {slo}"),
        }
    }
}

impl FromStr for Driving {
    type Err = String;

    fn from_str(text: &str) -> Result<Driving, String> {
        match text.split_once(' ') {
            None if text == "closed" => Ok(Driving::Closed),
            Some(("think", think)) => think.parse().map(Driving::Thinking),
            Some(("rate", arrivals)) => arrivals.parse().map(Driving::Open),
            Some(("find-max", slo)) => slo.parse().map(Driving::Search),
            _ => Err(format!("unknown way of driving {text:?}")),
        }
    }
}

/// A condition on response times: `p99 < 10ms`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slo {
    /// The quantile in per cent, 99 for p99.
    pub percent: f64,
    /// What it has to stay below, nanoseconds.
    pub below_ns: u64,
}

impl Slo {
    /// Whether response times satisfy it.
    pub fn holds_for(self, response: &LatencyHistogram) -> bool {
        response.quantile_ns(self.percent / 100.0) < self.below_ns
    }
}

impl FromStr for Slo {
    type Err = String;

    /// Parses `p99 < 10ms` (spaces are optional). The error says what a condition looks like.
    fn from_str(text: &str) -> Result<Slo, String> {
        let usage = || {
            format!(
                "{text:?} is no condition on response times; write for example 'p99 < 10ms', \
                 'p50 < 500us' or 'p99.9 < 1s'"
            )
        };
        let (quantile, time) = text.split_once('<').ok_or_else(usage)?;
        let percent = quantile.trim().strip_prefix('p').ok_or_else(usage)?;
        let percent: f64 = percent.parse().map_err(|_| usage())?;
        let time = time.trim();
        let unit_at = time.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(usage)?;
        let (number, unit) = time.split_at(unit_at);
        let unit_ns = match unit {
            "us" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            _ => return Err(usage()),
        };
        let below_ns = number.trim().parse::<f64>().map_err(|_| usage())? * unit_ns;
        if !(1.0..100.0).contains(&percent) || !(1e3..=600e9).contains(&below_ns) {
            return Err(usage());
        }
        Ok(Slo { percent, below_ns: below_ns.round() as u64 })
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.below_ns as f64;
        let (number, unit) = match self.below_ns {
            0..1_000_000 => (ns / 1e3, "us"),
            1_000_000..1_000_000_000 => (ns / 1e6, "ms"),
            _ => (ns / 1e9, "s"),
        };
        write!(f, "p{} < {number}{unit}", self.percent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_of_driving_come_back_from_their_text() {
        for text in [
            "closed",
            "think 8s..12s",
            "rate poisson:1000",
            "find-max p99 < 10ms",
            "find-max p99.9 < 1.5s",
        ] {
            assert_eq!(text.parse::<Driving>().unwrap().to_string(), text);
        }
        assert!("open".parse::<Driving>().is_err() && "rate fast".parse::<Driving>().is_err());
    }

    #[test]
    fn conditions_parse_or_explain() {
        assert_eq!("p99<10ms".parse(), Ok(Slo { percent: 99.0, below_ns: 10_000_000 }));
        assert_eq!(" p50 < 250us ".parse(), Ok(Slo { percent: 50.0, below_ns: 250_000 }));
        for wrong in ["", "p99", "p99 < 10", "p99 > 10ms", "99 < 10ms", "p100 < 1s", "p99 < 0ms"] {
            let error = wrong.parse::<Slo>().unwrap_err();
            assert!(error.contains("'p99 < 10ms'"), "{error}");
        }
    }

    #[test]
    fn a_condition_looks_at_its_quantile() {
        let mut response = LatencyHistogram::new();
        (0..1000).for_each(|event| {
            response.record_latency(if event < 985 { 1_000_000 } else { 50_000_000 })
        });
        assert!(!Slo { percent: 99.0, below_ns: 10_000_000 }.holds_for(&response));
        assert!(Slo { percent: 98.0, below_ns: 10_000_000 }.holds_for(&response));
    }
}
