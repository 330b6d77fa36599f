//! How large an Insert Benchmark is: `nr1=500000&nr2=100000&deletes=off`.

use std::fmt;

use crate::spec::{SpecError, SpecOptions};

/// Whether rows are deleted as fast as they are inserted, from `l.i1` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deletes {
    /// One deleted for each inserted: tables keep their size.
    On,
    /// Tables grow.
    Off,
}

/// Sizes. The defaults take a quarter of an hour; Callaghan's own begin at ten million rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sizes {
    /// Rows of each client in `l.i0`.
    pub nr1: u64,
    /// Rows of each client in `l.i1` and `l.i2` together.
    pub nr2: u64,
    /// Whether rows are deleted.
    pub deletes: Deletes,
    /// Length of each query step on each arm, seconds. Not part of a step's name: a plan keeps the
    /// length of its rounds.
    pub seconds: u64,
    /// Rows per second and client that are inserted (and deleted) beside the queries, one pair of
    /// query steps for each. Not part of a step's name, which says its own.
    pub rates: Vec<u32>,
}

const NR1: u64 = 500_000;
const NR2: u64 = 100_000;
const ROWS_LEAST: u64 = 100;
const ROWS_MOST: u64 = 10_000_000_000;
const SECONDS: u64 = 60;
const SECONDS_MOST: u64 = 86_400;

impl Sizes {
    /// Takes the sizes of one step from the options of its name.
    ///
    /// # Errors
    /// A value that cannot be.
    pub fn of_step(options: &mut SpecOptions) -> Result<Sizes, SpecError> {
        Ok(Sizes {
            nr1: options.take_number("nr1", NR1, ROWS_LEAST, ROWS_MOST)?,
            nr2: options.take_number("nr2", NR2, ROWS_LEAST, ROWS_MOST)?,
            deletes: match options.take_one_of("deletes", &["on", "off"])? {
                "off" => Deletes::Off,
                _ => Deletes::On,
            },
            seconds: SECONDS,
            rates: vec![100, 500, 1000],
        })
    }

    /// Takes the sizes of the whole from the options of its name.
    ///
    /// # Errors
    /// A value that cannot be.
    pub fn of_whole(options: &mut SpecOptions) -> Result<Sizes, SpecError> {
        let sizes = Sizes::of_step(options)?;
        let seconds = options.take_number("seconds", SECONDS, 1, SECONDS_MOST)?;
        let rates = match options.take_text("rates") {
            Some(text) => rates(&text).ok_or_else(|| {
                let takes = "different whole numbers, for example 100-500-1000";
                SpecError::BadValue("rates".to_owned(), text, takes.to_owned())
            })?,
            None => sizes.rates,
        };
        Ok(Sizes { seconds, rates, ..sizes })
    }
}

fn rates(text: &str) -> Option<Vec<u32>> {
    let mut rates = Vec::new();
    for text in text.split('-') {
        let rate = text.parse().ok().filter(|rate| *rate > 0 && !rates.contains(rate))?;
        rates.push(rate);
    }
    Some(rates)
}

/// What a step's name carries, those at their default left out: `?nr1=5000&deletes=off`, or
/// nothing.
impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = '?';
        let mut write = |name: &str, value: &str| {
            let written = write!(f, "{separator}{name}={value}");
            separator = '&';
            written
        };
        if self.nr1 != NR1 {
            write("nr1", &self.nr1.to_string())?;
        }
        if self.nr2 != NR2 {
            write("nr2", &self.nr2.to_string())?;
        }
        if self.deletes == Deletes::Off {
            write("deletes", "off")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Spec;

    fn whole(text: &str) -> Result<Sizes, SpecError> {
        let mut options = Spec::parse(&format!("x{text}"))?.options();
        let sizes = Sizes::of_whole(&mut options)?;
        options.finish()?;
        Ok(sizes)
    }

    #[test]
    fn what_is_shown_parses_to_the_same_and_defaults_are_not_shown() {
        assert_eq!(whole("").unwrap().to_string(), "");
        let sizes = whole("?deletes=off&nr2=300&nr1=1000").unwrap();
        assert_eq!((sizes.nr1, sizes.nr2, sizes.deletes), (1000, 300, Deletes::Off));
        assert_eq!(sizes.to_string(), "?nr1=1000&nr2=300&deletes=off");
        assert_eq!(whole(&sizes.to_string()).unwrap(), sizes);
        let sizes = whole("?rates=7-9&seconds=3").unwrap();
        assert_eq!((sizes.rates, sizes.seconds), (vec![7, 9], 3));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_what_can() {
        for (wrong, hint) in [
            ("?nr3=1", "nr1"),
            ("?nr1=99", "100 to"),
            ("?deletes=maybe", "on or off"),
            ("?rates=5-5", "different"),
            ("?rates=0", "100-500-1000"),
        ] {
            let error = whole(wrong).unwrap_err().to_string();
            assert!(error.contains(hint), "{wrong}: {error}");
        }
    }
}
