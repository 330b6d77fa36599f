//! The two arms of every experiment.

use std::fmt;
use std::ops::{Index, IndexMut};

/// One side of a comparison. `Base` is what the other one is measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Arm {
    /// The reference: the old version, the present configuration.
    Base,
    /// The candidate: the new version, the changed configuration.
    Test,
}

impl Arm {
    /// Both arms, base first.
    pub const BOTH: [Arm; 2] = [Arm::Base, Arm::Test];

    /// `"base"` or `"test"`, the spelling used in flags, JSON, store and report.
    pub fn name(self) -> &'static str {
        match self {
            Arm::Base => "base",
            Arm::Test => "test",
        }
    }

    /// The arm with this [`Arm::name`].
    pub fn from_name(name: &str) -> Option<Arm> {
        Arm::BOTH.into_iter().find(|arm| arm.name() == name)
    }

    /// The opposite arm.
    pub fn other_side(self) -> Arm {
        match self {
            Arm::Base => Arm::Test,
            Arm::Test => Arm::Base,
        }
    }
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One value for each arm, indexed by [`Arm`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerArm<T> {
    /// The value of the base arm.
    pub base: T,
    /// The value of the test arm.
    pub test: T,
}

impl<T> PerArm<T> {
    /// Calls `make` for each arm, base first.
    pub fn from_fn(mut make: impl FnMut(Arm) -> T) -> Self {
        PerArm { base: make(Arm::Base), test: make(Arm::Test) }
    }

    /// Like [`PerArm::from_fn`], stopping at the first error.
    pub fn try_from_fn<E>(mut make: impl FnMut(Arm) -> Result<T, E>) -> Result<Self, E> {
        Ok(PerArm { base: make(Arm::Base)?, test: make(Arm::Test)? })
    }

    /// Applies `f` to both values.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> PerArm<U> {
        PerArm { base: f(self.base), test: f(self.test) }
    }

    /// Both values, base first.
    pub fn values(self) -> impl Iterator<Item = T> {
        [self.base, self.test].into_iter()
    }

    /// Borrows both values.
    pub fn as_ref(&self) -> PerArm<&T> {
        PerArm { base: &self.base, test: &self.test }
    }
}

impl<T> Index<Arm> for PerArm<T> {
    type Output = T;
    fn index(&self, arm: Arm) -> &T {
        match arm {
            Arm::Base => &self.base,
            Arm::Test => &self.test,
        }
    }
}

impl<T> IndexMut<Arm> for PerArm<T> {
    fn index_mut(&mut self, arm: Arm) -> &mut T {
        match arm {
            Arm::Base => &mut self.base,
            Arm::Test => &mut self.test,
        }
    }
}
