//! When events are meant to arrive: the text of `--rate`.
//!
//! ```text
//!   1000                            1 000 events per second, evenly spaced
//!   steps:1000,2000,4000@10s        each rate for 10 s; the last one stays      ▁▁▃▃▆▆
//!   ramp:100-5000@60s               from 100 to 5 000 in 60 s; the last stays   ▁▂▃▄▅▆
//!   sine:1000+-500@30s              1 000 ± 500, one turn in 30 s               ▄▆▄▂▄▆
//!   burst:1000,5000@1s/10s          5 000 for 1 s in the middle of every 10 s   ▂▇▂▂▇▂
//!   file:arrivals.txt               as recorded
//!   poisson:…                       any of the first five, at random instead of evenly
//! ```
//!
//! Rates are *events* per second, whole transactions for a load of transactions. Requests of people
//! who do not know of each other come as a Poisson process: `poisson:` is the honest choice for the
//! tail of response times, even spacing the one with the least noise.

use std::fmt;
use std::str::FromStr;

/// How events arrive: a rate that may change with time, and how events are spaced at that rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrivals {
    /// How events are spaced.
    pub spacing: Spacing,
    /// How many there are.
    pub shape: RateShape,
}

/// How events are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// As evenly as the rate allows.
    Even,
    /// As a Poisson process with that rate.
    Poisson,
}

/// Events per second as a function of the time since the window opened.
#[derive(Clone, Debug, PartialEq)]
pub enum RateShape {
    /// Always the same.
    Constant(f64),
    /// One rate after the other; the last one stays.
    Steps {
        /// The rates.
        rates: Vec<f64>,
        /// How long each is kept.
        each_ns: u64,
    },
    /// In a straight line from one rate to another, which stays.
    Ramp {
        /// The first rate.
        from: f64,
        /// The last rate.
        to: f64,
        /// How long it takes.
        over_ns: u64,
    },
    /// Around a mean, rising at first.
    Sine {
        /// The mean rate.
        mean: f64,
        /// The largest distance from it.
        swing: f64,
        /// Length of one turn.
        period_ns: u64,
    },
    /// A usual rate with a burst in the middle of each period.
    Burst {
        /// The usual rate.
        usual: f64,
        /// The rate of the burst.
        burst: f64,
        /// Length of the burst.
        length_ns: u64,
        /// Length of the period.
        every_ns: u64,
    },
    /// As written in the file of this name.
    Recorded(String),
}

/// The largest rate that is taken.
pub(crate) const RATE_MAX: f64 = 10_000_000.0;

/// What a rate looks like.
const USAGE: &str = "a rate is events per second, for example 1000, poisson:1000, \
     steps:1000,2000,4000@10s, ramp:100-5000@60s, sine:1000+-500@30s, burst:1000,5000@1s/10s or \
     file:arrivals.txt";

impl Arrivals {
    /// How long the shape takes until it repeats or stays as it is; `None` where the rate is always
    /// the same or only the file knows.
    pub fn takes_ns(&self) -> Option<u64> {
        match &self.shape {
            RateShape::Constant(_) | RateShape::Recorded(_) => None,
            RateShape::Steps { rates, each_ns } => Some(each_ns * rates.len() as u64),
            RateShape::Ramp { over_ns, .. } => Some(*over_ns),
            RateShape::Sine { period_ns, .. } => Some(*period_ns),
            RateShape::Burst { every_ns, .. } => Some(*every_ns),
        }
    }

    /// The same spacing at another constant rate.
    pub fn at_rate(&self, rate: f64) -> Arrivals {
        Arrivals { spacing: self.spacing, shape: RateShape::Constant(rate) }
    }
}

impl FromStr for Arrivals {
    type Err = String;

    /// Reads the text of `--rate`. The error is a sentence that says what would be right.
    fn from_str(text: &str) -> Result<Arrivals, String> {
        let text = text.trim();
        let (spacing, rest) = match text.strip_prefix("poisson:") {
            Some(rest) => (Spacing::Poisson, rest),
            None => (Spacing::Even, text),
        };
        let shape = shape(rest).map_err(|why| format!("{why}; {USAGE}"))?;
        if spacing == Spacing::Poisson && matches!(shape, RateShape::Recorded(_)) {
            return Err("recorded arrivals are what they are: write file:… without poisson:".into());
        }
        Ok(Arrivals { spacing, shape })
    }
}

fn shape(text: &str) -> Result<RateShape, String> {
    let Some((kind, rest)) = text.split_once(':') else {
        return some_rate(text).map(RateShape::Constant);
    };
    if kind == "file" {
        if rest.is_empty() {
            return Err("file: needs the name of a file".into());
        }
        return Ok(RateShape::Recorded(rest.to_owned()));
    }
    let timed = || {
        rest.split_once('@').ok_or_else(|| format!("{kind}: needs a time after an @, as in @10s"))
    };
    match kind {
        "steps" => {
            let (rates, each) = timed()?;
            let rates = rates.split(',').map(rate).collect::<Result<Vec<_>, _>>()?;
            if rates.iter().all(|&rate| rate == 0.0) {
                return Err("all steps are 0, so nothing would ever arrive".into());
            }
            Ok(RateShape::Steps { rates, each_ns: time_ns(each)? })
        }
        "ramp" => {
            let (rates, over) = timed()?;
            let (from, to) =
                rates.split_once('-').ok_or("ramp: needs two rates with a - between them")?;
            let (from, to) = (rate(from)?, rate(to)?);
            if from + to == 0.0 {
                return Err("a ramp from 0 to 0 brings no event".into());
            }
            Ok(RateShape::Ramp { from, to, over_ns: time_ns(over)? })
        }
        "sine" => {
            let (rates, period) = timed()?;
            let (mean, swing) =
                rates.split_once("+-").ok_or("sine: needs mean+-swing, as in 1000+-500")?;
            let (mean, swing) = (some_rate(mean)?, rate(swing)?);
            if swing > mean {
                return Err(format!("a swing of {swing} around {mean} would need negative rates"));
            }
            Ok(RateShape::Sine { mean, swing, period_ns: time_ns(period)? })
        }
        "burst" => {
            let (rates, times) = timed()?;
            let (usual, burst) =
                rates.split_once(',').ok_or("burst: needs two rates with a comma between them")?;
            let (length, every) =
                times.split_once('/').ok_or("burst: needs two times, as in @1s/10s")?;
            let (length_ns, every_ns) = (time_ns(length)?, time_ns(every)?);
            if length_ns >= every_ns {
                return Err(format!("a burst of {length} does not fit into {every}"));
            }
            let (usual, burst) = (rate(usual)?, some_rate(burst)?);
            Ok(RateShape::Burst { usual, burst, length_ns, every_ns })
        }
        _ => Err(format!("{kind:?} is no kind of rate")),
    }
}

/// A rate that may be 0.
fn rate(text: &str) -> Result<f64, String> {
    let rate = text.trim().parse::<f64>().ok();
    rate.filter(|rate| (0.0..=RATE_MAX).contains(rate))
        .ok_or_else(|| format!("{text:?} is no rate between 0 and {RATE_MAX}"))
}

fn some_rate(text: &str) -> Result<f64, String> {
    match rate(text)? {
        0.0 => Err("a rate of 0 brings no event".to_owned()),
        rate => Ok(rate),
    }
}

/// `10s`, `250ms` or `2m`, as nanoseconds; at most a day.
pub(crate) fn time_ns(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let unit_ns = match unit {
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        _ => return Err(format!("{text:?} is no time: write 10s, 250ms or 2m")),
    };
    let ns = number.parse::<f64>().map(|number| number * unit_ns).ok();
    match ns.filter(|ns| (1e6..=86_400e9).contains(ns)) {
        Some(ns) => Ok(ns.round() as u64),
        None => Err(format!("{text:?} is no time between 1ms and a day (1440m)")),
    }
}

/// A time in the form that is read, e.g. `10s`.
pub(crate) struct Time(pub u64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1_000_000_000 {
            write!(f, "{}ms", self.0 as f64 / 1e6)
        } else {
            write!(f, "{}s", self.0 as f64 / 1e9)
        }
    }
}

/// The text that [`Arrivals::from_str`] reads.
impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.spacing == Spacing::Poisson {
            f.write_str("poisson:")?;
        }
        match &self.shape {
            RateShape::Constant(rate) => write!(f, "{rate}"),
            RateShape::Steps { rates, each_ns } => {
                let rates: Vec<String> = rates.iter().map(f64::to_string).collect();
                write!(f, "steps:{}@{}", rates.join(","), Time(*each_ns))
            }
            RateShape::Ramp { from, to, over_ns } => {
                write!(f, "ramp:{from}-{to}@{}", Time(*over_ns))
            }
            RateShape::Sine { mean, swing, period_ns } => {
                write!(f, "sine:{mean}+-{swing}@{}", Time(*period_ns))
            }
            RateShape::Burst { usual, burst, length_ns, every_ns } => {
                write!(f, "burst:{usual},{burst}@{}/{}", Time(*length_ns), Time(*every_ns))
            }
            RateShape::Recorded(path) => write!(f, "file:{path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_comes_back_as_it_was_written() {
        for text in [
            "1000",
            "0.5",
            "poisson:20000",
            "steps:1000,2000,4000@10s",
            "ramp:100-5000@60s",
            "sine:1000+-500@30s",
            "poisson:sine:1000+-1000@1.5s",
            "burst:1000,5000@250ms/10s",
            "file:C:/a b@c.txt",
        ] {
            let arrivals: Arrivals = text.parse().unwrap();
            assert_eq!(arrivals.to_string(), text);
            assert_eq!(arrivals.to_string().parse::<Arrivals>().unwrap(), arrivals);
        }
        let minutes: Arrivals = " ramp:100-5000@2m ".parse().unwrap();
        assert_eq!(minutes.takes_ns(), Some(120_000_000_000));
    }

    #[test]
    fn wrong_rates_are_refused_with_what_to_try() {
        for (text, why) in [
            ("", "is no rate between"),
            ("0", "brings no event"),
            ("-5", "is no rate"),
            ("NaN", "is no rate"),
            ("1e99", "is no rate"),
            ("1000/s", "is no rate"),
            ("poison:1000", "\"poison\" is no kind of rate"),
            ("steps:1,2", "needs a time after an @"),
            ("steps:0,0@1s", "nothing would ever arrive"),
            ("ramp:100@60s", "two rates"),
            ("ramp:0-0@60s", "brings no event"),
            ("ramp:1-2@60", "is no time"),
            ("ramp:1-2@0s", "between 1ms and a day"),
            ("sine:1000+-1001@3s", "negative rates"),
            ("burst:1,2@10s/10s", "does not fit"),
            ("burst:1,2@10s", "two times"),
            ("file:", "name of a file"),
            ("poisson:file:x", "without poisson:"),
        ] {
            let error = text.parse::<Arrivals>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
            assert!(error.contains("for example") || error.contains("write file:"), "{error}");
        }
    }
}
