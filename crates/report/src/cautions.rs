//! What blocks or endangers a verdict, one line of each kind, the worst first.
//!
//! The same caution in thirty cells is one line that names the first of them and counts the others.

use crate::view::{CellView, Summary, WarningView};
use crate::words;

/// So many are told where the answer stands; the others stand among the notes.
pub(crate) const TOLD_MOST: usize = 3;

/// What blocks or endangers a verdict, one of each kind: what blocks first, then what is of the
/// whole run, then what most cells have.
pub(crate) fn find_doubts(summary: &Summary) -> Vec<Doubt<'_>> {
    let mut all: Vec<Doubt<'_>> = Vec::new();
    for warning in summary.warnings.iter().filter(is_doubt) {
        match all.iter_mut().find(|doubt| doubt.is_of_kind(warning)) {
            Some(doubt) => doubt.others += 1,
            None => all.push(Doubt { warning, cells: Vec::new(), others: 0 }),
        }
    }
    for cell in &summary.cells {
        for warning in cell.warnings.iter().filter(is_doubt) {
            let mut of_cells = all.iter_mut().filter(|doubt| !doubt.cells.is_empty());
            match of_cells.find(|doubt| doubt.is_of_kind(warning)) {
                Some(doubt) if doubt.cells.last().is_some_and(|last| std::ptr::eq(*last, cell)) => {
                }
                Some(doubt) => doubt.cells.push(cell),
                None => all.push(Doubt { warning, cells: vec![cell], others: 0 }),
            }
        }
    }
    all.sort_by_key(|doubt| {
        let own = doubt.cells.len();
        let reach = if own == 0 { summary.cells.len() } else { own };
        (!doubt.is_blocking(), std::cmp::Reverse(reach))
    });
    all
}

/// What warnings of one kind say, and where.
pub(crate) struct Doubt<'a> {
    /// The first of them.
    warning: &'a WarningView,
    /// The cells that have one; none: it is of the run.
    cells: Vec<&'a CellView>,
    /// How many more of its kind the run has.
    others: usize,
}

impl Doubt<'_> {
    fn is_of_kind(&self, warning: &WarningView) -> bool {
        (&self.warning.code, &self.warning.severity) == (&warning.code, &warning.severity)
    }

    pub(crate) fn severity_word(&self) -> &'static str {
        self.warning.severity
    }

    fn is_blocking(&self) -> bool {
        is_blocking(self.warning)
    }

    pub(crate) fn display_text(&self, cells: usize) -> String {
        let text = &self.warning.text;
        let Some(first) = self.cells.first().filter(|_| cells > 1) else {
            return match self.others {
                0 => text.clone(),
                others => format!("{text} (and {others} like it)"),
            };
        };
        let place = if text.contains(&first.load) {
            String::new()
        } else {
            format!("{}: ", words::cell_place(first))
        };
        let more = match self.cells.len() - 1 {
            0 => String::new(),
            others => format!(" (and {} like it)", words::count_with_noun(others as u64, "cell")),
        };
        format!("{place}{text}{more}")
    }
}

fn is_blocking(warning: &WarningView) -> bool {
    warning.severity == "blocks"
}

pub(crate) fn is_doubt(warning: &&WarningView) -> bool {
    is_blocking(warning) || warning.severity == "caution"
}
