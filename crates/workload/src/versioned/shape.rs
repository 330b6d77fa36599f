//! What rows are whose versions are told, and how much is asked of them.

/// Elements that a list keeps.
pub const WINDOW: usize = 32;
/// Operations of a transaction at most.
pub(crate) const SIZE_MOST: usize = 16;
/// One transaction of so many is rolled back on purpose.
pub(crate) const ROLLBACKS_ONE_IN: u64 = 32;

/// What the rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionedRowKind {
    /// A value that is replaced.
    Register,
    /// A text to which elements are appended.
    List,
    /// A number to which distinct amounts are added.
    Counter,
}

impl VersionedRowKind {
    /// All shapes.
    pub const ALL: [VersionedRowKind; 3] =
        [VersionedRowKind::Register, VersionedRowKind::List, VersionedRowKind::Counter];

    /// The load's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            VersionedRowKind::Register => "register",
            VersionedRowKind::List => "list-append",
            VersionedRowKind::Counter => "counter",
        }
    }

    /// Its table.
    #[must_use]
    pub fn table(self) -> &'static str {
        match self {
            VersionedRowKind::Register => "registers",
            VersionedRowKind::List => "lists",
            VersionedRowKind::Counter => "counters",
        }
    }
}
