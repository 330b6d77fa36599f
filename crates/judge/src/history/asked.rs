//! What a user says about a file of figures beside what stands in it.

pub use super::cells::DecimalMark;

/// In which order the rows of a file were measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderAsked {
    /// As they stand.
    OldestFirst,
    /// The other way round.
    NewestFirst,
    /// By the times, versions or numbers of this column.
    Column(String),
}

/// What a user says about a file; nothing, by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileAsked {
    /// The order of the rows, where the file does not tell it.
    pub order: Option<OrderAsked>,
    /// Columns of which each combination of values is a series; found where it is `None`.
    pub by: Option<Vec<String>>,
    /// What stands before decimals.
    pub decimal: Option<DecimalMark>,
    /// Which of several tables, from 1.
    pub table: Option<usize>,
}
