//! What rows are whose versions are told, and how much is asked of them.

/// Elements that a list keeps.
pub const WINDOW: usize = 32;
/// Operations of a transaction at most.
pub(crate) const SIZE_MOST: usize = 16;
/// One transaction of so many is rolled back on purpose.
pub(crate) const ROLLBACKS_ONE_IN: u64 = 32;

/// What the rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A value that is replaced.
    Register,
    /// A text to which elements are appended.
    List,
    /// A number to which distinct amounts are added.
    Counter,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Shape; 3] = [Shape::Register, Shape::List, Shape::Counter];

    /// The load's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Shape::Register => "register",
            Shape::List => "list-append",
            Shape::Counter => "counter",
        }
    }

    /// Its table.
    #[must_use]
    pub fn table(self) -> &'static str {
        match self {
            Shape::Register => "registers",
            Shape::List => "lists",
            Shape::Counter => "counters",
        }
    }
}
