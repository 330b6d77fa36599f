//! Footnotes: every warning once, with a number, wherever it applies.
//!
//! The same warning in thirty cells is one footnote with thirty marks. Numbers go by first
//! appearance: warnings of the whole run first, then cell by cell.

use crate::view::{CellView, Summary, WarningView};

/// All footnotes of a report, numbered from 1.
pub(crate) struct Notes<'a> {
    list: Vec<&'a WarningView>,
}

impl<'a> Notes<'a> {
    pub(crate) fn new(summary: &'a Summary) -> Notes<'a> {
        let mut notes = Notes { list: Vec::new() };
        let of_cells = summary.cells.iter().flat_map(|cell| &cell.warnings);
        for warning in summary.warnings.iter().chain(of_cells) {
            if !notes.list.contains(&warning) {
                notes.list.push(warning);
            }
        }
        notes
    }

    /// Number and warning, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &'a WarningView)> {
        self.list.iter().enumerate().map(|(at, &warning)| (at + 1, warning))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The numbers of the warnings of a cell, ascending.
    pub(crate) fn of_cell(&self, cell: &CellView) -> Vec<usize> {
        self.iter()
            .filter(|(_, warning)| cell.warnings.contains(warning))
            .map(|(number, _)| number)
            .collect()
    }

    /// The numbers of the warnings of the whole run, ascending.
    pub(crate) fn of_run(&self, summary: &Summary) -> Vec<usize> {
        self.iter()
            .filter(|(_, warning)| summary.warnings.contains(warning))
            .map(|(number, _)| number)
            .collect()
    }
}
