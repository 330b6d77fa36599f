//! Where rows go, and what is said back to whoever brings them.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::column::ResultColumn;
use crate::operand::Operand;

/// Where the rows of an answer go.
pub trait Sink {
    /// Rows with these columns follow; none may. Those of a statement that is executed again are
    /// the same, until it is planned anew.
    fn begin_rows(&mut self, columns: &Arc<[ResultColumn]>);
    /// The next value of a row.
    fn value(&mut self, value: &Operand<'_>);
    /// The row has all its values; whether more are taken.
    fn end_row(&mut self) -> ControlFlow<()>;
}

/// Whether more rows are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    More,
    Enough,
}
