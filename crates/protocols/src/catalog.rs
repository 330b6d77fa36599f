//! Protocols by name.

use dbdyno_cases::Shape;
use dbdyno_check::Level;

use crate::judged::{Judged, judge};
use crate::rules::{Entry, ONE_SERVER};
use crate::single::{Names, Single};

/// A protocol with a name, and a fault in it or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    entry: Entry,
    fault: Option<usize>,
}

impl Named {
    /// All protocols, without faults.
    pub fn all() -> impl Iterator<Item = Named> {
        ONE_SERVER.into_iter().map(|entry| Named { entry, fault: None })
    }

    /// The protocol of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Named> {
        Named::all().find(|one| one.name() == name)
    }

    /// With the fault of this name.
    #[must_use]
    pub fn with_fault(self, name: &str) -> Option<Named> {
        let fault = self.faults().position(|(known, _)| known == name)?;
        Some(Named { fault: Some(fault), ..self })
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.entry.name
    }

    /// What it does.
    #[must_use]
    pub fn about(self) -> &'static str {
        self.entry.about
    }

    /// The level that it promises.
    #[must_use]
    pub fn level(self) -> Level {
        self.entry.level
    }

    /// Names of faults that can be planted, and what is wrong then.
    pub fn faults(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.entry.faults.iter().map(|fault| (fault.name, fault.about))
    }

    /// The name of the fault, and what is wrong.
    #[must_use]
    pub fn fault(self) -> Option<(&'static str, &'static str)> {
        self.faults().nth(self.fault?)
    }

    /// As a state machine of one server.
    #[must_use]
    pub fn single(self, shape: Shape, names: Names) -> Single {
        let rules = match self.fault {
            Some(fault) => self.entry.faults[fault].rules,
            None => self.entry.rules,
        };
        Single { rules, shape, names }
    }

    /// Explores it, at most `most` states, and judges what it lets through by `level`.
    #[must_use]
    pub fn judge(self, shape: Shape, names: Names, level: Level, most: usize) -> Judged {
        judge(&self.single(shape, names), level, most)
    }
}
