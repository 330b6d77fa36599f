//! The tables that every form of a comparison of two arms has beside those of rates and costs: a
//! table that the terminal, Markdown and the page are to show is added here, once.

use dbdyno_document::DataTable;

use crate::view::View;
use crate::{counts, insert_benchmark, mechanisms};

/// Those of the Insert Benchmark, what engines did, and what was counted, in this order.
pub(crate) fn all_tables(view: &View) -> Vec<DataTable> {
    let mut tables = insert_benchmark::step_tables(view);
    tables.extend(mechanisms::mechanism_tables(view));
    tables.extend(counts::count_tables(view));
    tables
}
