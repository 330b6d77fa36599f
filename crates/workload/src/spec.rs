//! Names of loads with options: `read-only_range=1000?rand=zipfian&skew=0.9&trx=off`.
//!
//! The text of a spec is the identity of a load: it stands in tables, in the store and in the
//! command that repeats a run, and resolves to the same load everywhere. Options that are at their
//! default are best left out.

use std::fmt;

use crate::draw::Draw;

/// A name and options, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The name of the load.
    pub name: String,
    options: Vec<(String, String)>,
}

/// Why a spec does not name a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecError {
    /// No load has this name.
    UnknownLoad(String),
    /// The load does not take this option; with those that it takes.
    UnknownOption(String, Vec<&'static str>),
    /// An option has a value that it cannot have: option, value, what it takes.
    BadValue(String, String, String),
    /// A distribution of rows that there is not, or not with this parameter: a sentence.
    Draw(String),
    /// Two loads need different tables of one name: both loads, the name.
    Clash(String, String, String),
    /// Not of the form `NAME?OPTION=VALUE&…`.
    Malformed(String),
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::UnknownLoad(name) => {
                write!(f, "unknown load {name:?}; `dbdyno loads` names all")
            }
            SpecError::UnknownOption(option, known) if known.is_empty() => {
                write!(f, "unknown option {option:?}; this load has none")
            }
            SpecError::UnknownOption(option, known) => {
                write!(f, "unknown option {option:?}; this load takes {}", known.join(", "))
            }
            SpecError::BadValue(option, value, takes) => {
                write!(f, "{option}={value}: {option} takes {takes}")
            }
            SpecError::Draw(sentence) => f.write_str(sentence),
            SpecError::Clash(one, other, table) => write!(
                f,
                "{one} and {other} need different tables that are both called {table}; measure \
                 them one after the other"
            ),
            SpecError::Malformed(text) => write!(
                f,
                "{text:?} is not of the form NAME?OPTION=VALUE&OPTION=VALUE, for example \
                 read-only?rand=zipfian"
            ),
        }
    }
}

impl std::error::Error for SpecError {}

impl Spec {
    /// Takes a spec apart.
    ///
    /// # Errors
    /// [`SpecError::Malformed`]: an option without a value, or twice the same one.
    pub fn parse(text: &str) -> Result<Spec, SpecError> {
        let malformed = || SpecError::Malformed(text.to_owned());
        let (name, rest) = text.split_once('?').unwrap_or((text, ""));
        let mut options: Vec<(String, String)> = Vec::new();
        for option in rest.split('&').filter(|option| !option.is_empty()) {
            let (key, value) = option.split_once('=').ok_or_else(malformed)?;
            if key.is_empty() || value.is_empty() || options.iter().any(|(known, _)| known == key) {
                return Err(malformed());
            }
            options.push((key.to_owned(), value.to_owned()));
        }
        if name.is_empty() {
            return Err(malformed());
        }
        Ok(Spec { name: name.to_owned(), options })
    }

    /// The options, to be taken one by one.
    pub fn options(&self) -> SpecOptions {
        SpecOptions { left: self.options.clone(), known: Vec::new() }
    }

    /// The same spec with another option, unless it has that one already.
    #[must_use]
    pub fn with_default(mut self, option: &str, value: &str) -> Spec {
        if !self.options.iter().any(|(key, _)| key == option) {
            self.options.push((option.to_owned(), value.to_owned()));
        }
        self
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (index, (key, value)) in self.options.iter().enumerate() {
            write!(f, "{}{key}={value}", if index == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

/// The options of a spec that nobody has asked for yet.
#[derive(Clone, Debug)]
pub struct SpecOptions {
    left: Vec<(String, String)>,
    known: Vec<&'static str>,
}

impl SpecOptions {
    /// The value of an option, if it is there.
    pub fn take_text(&mut self, option: &'static str) -> Option<String> {
        self.known.push(option);
        let at = self.left.iter().position(|(key, _)| key == option)?;
        Some(self.left.remove(at).1)
    }

    /// A whole number from `low` to `high`, or the default.
    ///
    /// # Errors
    /// [`SpecError::BadValue`].
    pub(crate) fn take_number(
        &mut self,
        option: &'static str,
        default: u64,
        low: u64,
        high: u64,
    ) -> Result<u64, SpecError> {
        let Some(text) = self.take_text(option) else { return Ok(default) };
        match text.parse().ok().filter(|number| (low..=high).contains(number)) {
            Some(number) => Ok(number),
            None => {
                let takes = format!("a number from {low} to {high}");
                Err(SpecError::BadValue(option.to_owned(), text, takes))
            }
        }
    }

    /// A fraction, if the option is there.
    ///
    /// # Errors
    /// [`SpecError::BadValue`].
    pub(crate) fn take_fraction(&mut self, option: &'static str) -> Result<Option<f64>, SpecError> {
        let Some(text) = self.take_text(option) else { return Ok(None) };
        match text.parse().ok().filter(|number: &f64| number.is_finite()) {
            Some(number) => Ok(Some(number)),
            None => Err(SpecError::BadValue(option.to_owned(), text, "a number".to_owned())),
        }
    }

    /// One of these words, or the first of them.
    ///
    /// # Errors
    /// [`SpecError::BadValue`].
    pub(crate) fn take_one_of(
        &mut self,
        option: &'static str,
        words: &[&'static str],
    ) -> Result<&'static str, SpecError> {
        let Some(text) = self.take_text(option) else { return Ok(words[0]) };
        match words.iter().find(|&&word| word == text) {
            Some(word) => Ok(word),
            None => Err(SpecError::BadValue(option.to_owned(), text, words.join(" or "))),
        }
    }

    /// The distribution that the options `rand` and `skew` name, or the default.
    ///
    /// # Errors
    /// [`SpecError::Draw`], or [`SpecError::BadValue`] for a skew of nothing.
    pub(crate) fn draw(&mut self, default: Draw) -> Result<Draw, SpecError> {
        let name = self.take_text("rand");
        let skew = self.take_fraction("skew")?;
        let Some(name) = name else {
            return match (default, skew) {
                (default, None) => Ok(default),
                (Draw::Zipfian(_), Some(skew)) => named("zipfian", Some(skew)),
                (_, Some(skew)) => Err(SpecError::BadValue(
                    "skew".to_owned(),
                    skew.to_string(),
                    "a distribution beside it: rand=zipfian, pareto, hotspot or latest".to_owned(),
                )),
            };
        };
        named(&name, skew)
    }

    /// The options that were asked for, whether they are there or not.
    pub(crate) fn requested_names(&self) -> Vec<&'static str> {
        self.known.clone()
    }

    /// Nothing is left.
    ///
    /// # Errors
    /// [`SpecError::UnknownOption`].
    pub fn finish(self) -> Result<(), SpecError> {
        match self.left.into_iter().next() {
            Some((option, _)) => Err(SpecError::UnknownOption(option, self.known)),
            None => Ok(()),
        }
    }
}

fn named(name: &str, skew: Option<f64>) -> Result<Draw, SpecError> {
    Draw::from_name(name, skew).map_err(SpecError::Draw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_print_as_they_were_written() {
        for text in ["point-query", "read-only_range=10?rand=zipfian&skew=0.9"] {
            assert_eq!(Spec::parse(text).unwrap().to_string(), text);
        }
        let spec = Spec::parse("a?x=1").unwrap().with_default("x", "2").with_default("y", "3");
        assert_eq!(spec.to_string(), "a?x=1&y=3");
        for text in ["", "?a=1", "a?b", "a?b=", "a?b=1&b=2"] {
            assert!(matches!(Spec::parse(text), Err(SpecError::Malformed(_))), "{text}");
        }
    }

    #[test]
    fn options_are_taken_once_and_what_is_left_is_refused() {
        let mut options = Spec::parse("a?n=5&w=on&z=1").unwrap().options();
        assert_eq!(options.take_number("n", 1, 1, 9), Ok(5));
        assert_eq!(options.take_number("m", 7, 1, 9), Ok(7));
        assert_eq!(options.take_one_of("w", &["off", "on"]), Ok("on"));
        let error = options.finish().unwrap_err();
        assert_eq!(error.to_string(), "unknown option \"z\"; this load takes n, m, w");
        let mut options = Spec::parse("a?n=50&w=no").unwrap().options();
        let error = options.take_number("n", 1, 1, 9).unwrap_err();
        assert_eq!(error.to_string(), "n=50: n takes a number from 1 to 9");
        assert!(options.take_one_of("w", &["off", "on"]).is_err());
    }
}
