//! Where rows go, and what is said back to whoever brings them.

use crate::operand::Operand;

/// Where the rows of an answer go.
pub trait Sink {
    /// Rows with these columns follow; none may.
    fn begin(&mut self, columns: &[String]);
    /// The next value of a row.
    fn value(&mut self, value: &Operand<'_>);
    /// The row has all its values.
    fn end_row(&mut self);
}

/// Whether more rows are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    More,
    Enough,
}
