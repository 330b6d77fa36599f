//! The arms of an experiment: base, and up to eleven that are measured against it.
//!
//! ```text
//!   measured     base │ test │ test2 │ test3     all take turns in one block of rounds
//!   judged       base ◀─ test    base ◀─ test2   base ◀─ test3       each against base,
//!                        test ◀──────── test2 ◀──────── test3       and against the one before it
//! ```
//!
//! What is judged has two sides ([`Arm`]); what is measured may have more arms than that.

use std::fmt;
use std::ops::{Index, IndexMut};

use crate::arm::Arm;

/// Which arm of an experiment: 0 is base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArmIndex(pub u8);

impl ArmIndex {
    /// What all others are measured against.
    pub const BASE: ArmIndex = ArmIndex(0);
    /// The first arm that is measured against it.
    pub const TEST: ArmIndex = ArmIndex(1);
    /// An experiment has at most so many arms.
    pub const MOST: usize = 12;

    /// The arms of an experiment that has so many.
    pub fn all(count: usize) -> impl DoubleEndedIterator<Item = ArmIndex> + Clone {
        assert!(count <= ArmIndex::MOST, "an experiment of {count} arms");
        (0..count as u8).map(ArmIndex)
    }

    /// The side that it is on in a pair with base: that of its rounds in the store.
    pub fn pair_side(self) -> Arm {
        if self == ArmIndex::BASE { Arm::Base } else { Arm::Test }
    }

    /// Where it stands in the list of arms.
    pub fn position(self) -> usize {
        usize::from(self.0)
    }

    /// The arm with this name: `base`, `test`, `test2` and so on.
    pub fn from_name(name: &str) -> Option<ArmIndex> {
        ArmIndex::all(ArmIndex::MOST).find(|index| index.to_string() == name)
    }
}

impl From<Arm> for ArmIndex {
    fn from(arm: Arm) -> ArmIndex {
        match arm {
            Arm::Base => ArmIndex::BASE,
            Arm::Test => ArmIndex::TEST,
        }
    }
}

/// `base`, `test`, `test2`, …: the names in flags, JSON, store and report.
impl fmt::Display for ArmIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.pad("base"),
            1 => f.pad("test"),
            more => f.pad(&format!("test{more}")),
        }
    }
}

/// Two arms of an experiment, one judged against the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pairing {
    /// What the other one is judged against.
    pub base: ArmIndex,
    /// What is judged.
    pub test: ArmIndex,
}

impl Pairing {
    /// That of an experiment of two arms.
    pub const USUAL: Pairing = Pairing { base: ArmIndex::BASE, test: ArmIndex::TEST };

    /// The arm on this side.
    pub fn arm_on(self, side: Arm) -> ArmIndex {
        match side {
            Arm::Base => self.base,
            Arm::Test => self.test,
        }
    }
}

/// One value for each arm that takes part: all of them, or those that are left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arms<T> {
    /// In the order of arms.
    of: Vec<(ArmIndex, T)>,
}

impl<T> Arms<T> {
    /// Calls `make` for each of these arms, in their order.
    pub fn from_fn(
        arms: impl IntoIterator<Item = ArmIndex>,
        mut make: impl FnMut(ArmIndex) -> T,
    ) -> Arms<T> {
        Arms { of: arms.into_iter().map(|arm| (arm, make(arm))).collect() }
    }

    /// As [`Arms::from_fn`], stopping at the first error.
    ///
    /// # Errors
    /// The first one of `make`.
    pub fn try_from_fn<E>(
        arms: impl IntoIterator<Item = ArmIndex>,
        mut make: impl FnMut(ArmIndex) -> Result<T, E>,
    ) -> Result<Arms<T>, E> {
        let made = arms.into_iter().map(|arm| Ok((arm, make(arm)?)));
        Ok(Arms { of: made.collect::<Result<_, E>>()? })
    }

    /// How many take part.
    pub fn count(&self) -> usize {
        self.of.len()
    }

    /// Those that take part, in their order.
    pub fn indices(&self) -> std::vec::IntoIter<ArmIndex> {
        self.of.iter().map(|(arm, _)| *arm).collect::<Vec<_>>().into_iter()
    }

    /// The value of an arm, if it takes part.
    pub fn get(&self, arm: ArmIndex) -> Option<&T> {
        self.of.iter().find(|(of, _)| *of == arm).map(|(_, value)| value)
    }

    /// The value of an arm, if it takes part.
    pub fn get_mut(&mut self, arm: ArmIndex) -> Option<&mut T> {
        self.of.iter_mut().find(|(of, _)| *of == arm).map(|(_, value)| value)
    }

    /// Each arm with its value.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (ArmIndex, &T)> {
        self.of.iter().map(|(arm, value)| (*arm, value))
    }

    /// Each arm with its value.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (ArmIndex, &mut T)> {
        self.of.iter_mut().map(|(arm, value)| (*arm, value))
    }

    /// The values in the order of arms.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.of.iter().map(|(_, value)| value)
    }

    /// All arms but this one, with their values.
    pub fn all_except(&self, arm: ArmIndex) -> impl Iterator<Item = (ArmIndex, &T)> {
        self.iter().filter(move |(of, _)| *of != arm)
    }

    /// Applies `f` to each value.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> Arms<U> {
        Arms { of: self.of.into_iter().map(|(arm, value)| (arm, f(value))).collect() }
    }

    /// Takes an arm out.
    pub fn remove(&mut self, arm: ArmIndex) -> Option<T> {
        let at = self.of.iter().position(|(of, _)| *of == arm)?;
        Some(self.of.remove(at).1)
    }

    /// Adds an arm behind those that there are.
    pub fn push(&mut self, arm: ArmIndex, value: T) {
        assert!(self.of.last().is_none_or(|(last, _)| *last < arm), "{arm} is out of order");
        self.of.push((arm, value));
    }
}

/// Those of base, test, test2 and so on.
impl<T> FromIterator<T> for Arms<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Arms<T> {
        Arms { of: ArmIndex::all(ArmIndex::MOST).zip(values).collect() }
    }
}

/// Those of base and test.
impl<T> From<[T; 2]> for Arms<T> {
    fn from(two: [T; 2]) -> Arms<T> {
        two.into_iter().collect()
    }
}

impl<T> Default for Arms<T> {
    fn default() -> Arms<T> {
        Arms { of: Vec::new() }
    }
}

impl<T> IntoIterator for Arms<T> {
    type Item = (ArmIndex, T);
    type IntoIter = std::vec::IntoIter<(ArmIndex, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.of.into_iter()
    }
}

/// Of an arm that takes part.
impl<T> Index<ArmIndex> for Arms<T> {
    type Output = T;
    fn index(&self, arm: ArmIndex) -> &T {
        self.get(arm).unwrap_or_else(|| panic!("{arm} takes no part"))
    }
}

impl<T> IndexMut<ArmIndex> for Arms<T> {
    fn index_mut(&mut self, arm: ArmIndex) -> &mut T {
        self.get_mut(arm).unwrap_or_else(|| panic!("{arm} takes no part"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for arm in ArmIndex::all(ArmIndex::MOST) {
            assert_eq!(ArmIndex::from_name(&arm.to_string()), Some(arm));
        }
        for unknown in ["", "test0", "test1", "test12", "Base", "test02"] {
            assert_eq!(ArmIndex::from_name(unknown), None, "{unknown}");
        }
        for arm in Arm::BOTH {
            let index = ArmIndex::from(arm);
            assert_eq!((index.to_string(), index.pair_side()), (arm.name().to_owned(), arm));
        }
    }

    #[test]
    fn who_is_taken_out_takes_no_part() {
        let mut arms = Arms::from_fn(ArmIndex::all(4), |arm| arm.0 * 10);
        assert_eq!(arms.remove(ArmIndex(1)), Some(10));
        assert_eq!(arms.indices().as_slice(), [ArmIndex(0), ArmIndex(2), ArmIndex(3)]);
        assert_eq!((arms[ArmIndex(3)], arms.get(ArmIndex(1))), (30, None));
        let others: Vec<u8> = arms.all_except(ArmIndex(2)).map(|(_, value)| *value).collect();
        assert_eq!(others, [0, 30]);
    }
}
