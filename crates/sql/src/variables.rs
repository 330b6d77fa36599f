//! Variables of a session: what clients set when they connect, and what they ask for.
//!
//! ```text
//!   Known, shared by all sessions     name, value at first, what it takes
//!   Variables of one session          what was set ─► else the value at first
//! ```
//!
//! A variable is known or it is refused, and so is each value: who sets `sql_mode` to something
//! that would change what statements mean is told so. What a variable is for is the affair of
//! whoever made the list; the isolation level and `autocommit` are the session's own and in none.

use std::sync::Arc;

use crate::error::{Result, SqlError};
use crate::operand::Operand;

/// A variable that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownVariable {
    /// Its name, in small letters. One that ends with `()` is what a function tells, and no list
    /// shows it.
    pub name: &'static str,
    /// Its value at first.
    pub value: String,
    /// What it can be set to.
    pub takes: Takes,
}

/// What a variable can be set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it is read only.
    Nothing,
    /// A whole number that is not negative.
    Number,
    /// ON or OFF, shown in lists as such and else as 1 and 0.
    Switch,
    /// Any text.
    Text,
    /// One of these words, or NULL where the empty word is among them.
    OneOf(&'static [&'static str]),
    /// Any of these words, with commas between them.
    AnyOf(&'static [&'static str]),
}

/// The variables of one session.
#[derive(Clone, Debug)]
pub struct Variables {
    known: Arc<[KnownVariable]>,
    /// What they are at first in this session and not in others, by number.
    told: Vec<(usize, String)>,
    /// What was set, by number.
    set: Vec<(usize, String)>,
    changes: u64,
    /// What `SHOW STATUS` tells of this session, besides what the engine counts.
    status: Vec<(&'static str, String)>,
}

impl Variables {
    /// A session that has set none of them yet.
    pub fn new(known: Arc<[KnownVariable]>) -> Variables {
        Variables { known, told: Vec::new(), set: Vec::new(), changes: 0, status: Vec::new() }
    }

    /// The value of a variable, as text.
    pub fn value_text(&self, name: &str) -> Option<&str> {
        self.find(name).map(|number| self.text_of(number))
    }

    /// Says what a variable is at first in this session: `connection_id()` is another in each.
    ///
    /// # Panics
    /// If there is no variable of this name.
    pub fn set_initial(&mut self, name: &str, value: String) {
        let number = self.find(name).expect("who tells a variable has put it into the list");
        self.told.retain(|(known, _)| *known != number);
        self.told.push((number, value));
    }

    /// Adds what `SHOW STATUS` tells of this session: a name that the engine does not count by.
    pub fn tell_status(&mut self, name: &'static str, value: String) {
        self.status.push((name, value));
    }

    pub(crate) fn status(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.status.iter().cloned()
    }

    /// Another number whenever a variable was set.
    #[inline]
    pub fn change_count(&self) -> u64 {
        self.changes
    }

    /// Forgets what was set.
    pub(crate) fn reset(&mut self) {
        self.set.clear();
        self.changes += 1;
    }

    /// The value of a variable, as a question for it is answered.
    pub(crate) fn value(&self, name: &str) -> Result<Operand<'static>> {
        let number = self.find(name).ok_or_else(|| SqlError::NoVariable(name.to_owned()))?;
        let (text, takes) = (self.text_of(number), self.known[number].takes);
        Ok(match text.parse() {
            _ if takes == Takes::Switch => Operand::Int(i64::from(text == "ON")),
            _ if text.is_empty() && takes.is_nullable() => Operand::Null,
            Ok(number) if matches!(takes, Takes::Number | Takes::Nothing) => Operand::Int(number),
            _ => Operand::of_text(text.as_bytes()).into_owned(),
        })
    }

    /// Sets a variable.
    pub(crate) fn set(&mut self, name: &str, value: &Operand<'_>) -> Result<()> {
        let number = self.find(name).ok_or_else(|| SqlError::NoVariable(name.to_owned()))?;
        let known = &self.known[number];
        let shown = value.to_string();
        if shown.eq_ignore_ascii_case("DEFAULT") {
            self.set.retain(|(known, _)| *known != number);
            self.changes += 1;
            return Ok(());
        }
        let refused = || SqlError::VariableValue(name.to_owned(), shown.clone());
        let value = match known.takes {
            Takes::Nothing => return Err(SqlError::ReadOnly(name.to_owned())),
            Takes::Number => shown.parse::<u64>().map_err(|_| refused())?.to_string(),
            Takes::Switch => match parse_switch(&shown) {
                Some(true) => "ON".to_owned(),
                Some(false) => "OFF".to_owned(),
                None => return Err(refused()),
            },
            Takes::Text => shown.clone(),
            Takes::OneOf(words) => word_of(words, &shown).ok_or_else(refused)?.to_owned(),
            Takes::AnyOf(words) => {
                let parts = shown.split(',').map(str::trim).filter(|part| !part.is_empty());
                let mut kept: Vec<&str> = Vec::new();
                for part in parts {
                    let word = word_of(words, part).ok_or_else(refused)?;
                    if !kept.contains(&word) {
                        kept.push(word);
                    }
                }
                kept.join(",")
            }
        };
        self.put(number, value);
        Ok(())
    }

    /// Names and values as lists show them, in order.
    pub(crate) fn names_and_values(&self) -> Vec<(&'static str, String)> {
        let numbered =
            self.known.iter().enumerate().filter(|(_, known)| !known.name.ends_with("()"));
        let mut all: Vec<_> =
            numbered.map(|(number, known)| (known.name, self.text_of(number).to_owned())).collect();
        all.sort_unstable();
        all
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.known.iter().position(|known| known.name.eq_ignore_ascii_case(name))
    }

    fn text_of(&self, number: usize) -> &str {
        let mut own = self.set.iter().chain(&self.told);
        let own = own.find(|(known, _)| *known == number);
        own.map_or(&self.known[number].value, |(_, value)| value)
    }

    fn put(&mut self, number: usize, value: String) {
        self.changes += 1;
        match self.set.iter_mut().find(|(known, _)| *known == number) {
            Some((_, known)) => *known = value,
            None => self.set.push((number, value)),
        }
    }
}

impl Takes {
    fn is_nullable(self) -> bool {
        matches!(self, Takes::OneOf(words) if words.contains(&""))
    }
}

/// ON and OFF, in all the ways in which they are written.
pub(crate) fn parse_switch(text: &str) -> Option<bool> {
    match text.to_ascii_uppercase().as_str() {
        "1" | "ON" | "TRUE" => Some(true),
        "0" | "OFF" | "FALSE" => Some(false),
        _ => None,
    }
}

fn word_of(words: &[&'static str], text: &str) -> Option<&'static str> {
    words.iter().copied().find(|word| word.eq_ignore_ascii_case(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        let known =
            |name, value: &str, takes| KnownVariable { name, value: value.to_owned(), takes };
        Variables::new(Arc::new([
            known("wait", "28800", Takes::Number),
            known("unique_checks", "ON", Takes::Switch),
            known("mode", "A,B", Takes::AnyOf(&["A", "B", "C"])),
            known("results", "latin1", Takes::OneOf(&["latin1", "utf8mb4", ""])),
            known("license", "MIT", Takes::Nothing),
            known("connection_id()", "0", Takes::Nothing),
        ]))
    }

    #[test]
    fn values_are_taken_or_refused() {
        let mut all = variables();
        let mut set = |name: &str, value: &str| {
            let done = all.set(name, &Operand::of_text(value.as_bytes()));
            done.map(|()| all.value(name).unwrap().to_string()).map_err(|error| error.code())
        };
        assert_eq!(set("wait", "60").as_deref(), Ok("60"));
        assert_eq!(set("wait", "soon"), Err(1231));
        assert_eq!(set("UNIQUE_CHECKS", "off").as_deref(), Ok("0"));
        assert_eq!(set("mode", "a, c,A").as_deref(), Ok("A,C"));
        assert_eq!(set("mode", "ANSI_QUOTES"), Err(1231));
        assert_eq!(set("mode", "DEFAULT").as_deref(), Ok("A,B"));
        assert_eq!(set("results", "utf8mb4").as_deref(), Ok("utf8mb4"));
        assert_eq!(set("license", "GPL"), Err(1238));
        assert_eq!(set("nothing", "1"), Err(1193));
        all.set("results", &Operand::Null).unwrap();
        assert!(all.value("results").unwrap().is_null());
    }

    #[test]
    fn lists_show_variables_and_not_functions() {
        let mut all = variables();
        all.set_initial("connection_id()", "7".to_owned());
        all.set("wait", &Operand::Int(1)).unwrap();
        let names: Vec<_> = all.names_and_values().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["license", "mode", "results", "unique_checks", "wait"]);
        assert_eq!(all.value("connection_id()").unwrap(), Operand::Int(7));
        all.reset();
        assert_eq!(
            (all.value_text("wait"), all.value_text("connection_id()")),
            (Some("28800"), Some("7"))
        );
    }
}
