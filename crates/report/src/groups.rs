//! Cells in groups of loads that do the same kind of work, each with its median.

use crate::number::{self, GLUE};
use crate::view::CellView;

/// Beyond so many cells loads stand in groups.
pub(crate) const UNGROUPED_MOST: usize = 8;
/// Groups of loads, and how they are called.
const GROUPS: [(&str, &str); 4] = [
    ("point", "rows by key"),
    ("range", "rows by range"),
    ("range-aggregate", "ranges, counted, summed or sorted"),
    ("write", "writes"),
];

/// Cells of a group, and what it is called.
pub(crate) type Named<'a> = (Option<String>, Vec<&'a CellView>);

/// The cells in groups; all in one without a name where they are few or of one kind.
pub(crate) fn of(cells: Vec<&CellView>) -> Vec<Named<'_>> {
    if cells.len() <= UNGROUPED_MOST || cells.iter().all(|cell| cell.group == cells[0].group) {
        return vec![(None, cells)];
    }
    let mut groups: Vec<Named<'_>> = Vec::new();
    for (group, called) in GROUPS {
        let own = cells.iter().filter(|cell| cell.group.as_deref() == Some(group));
        groups.push((Some(called.to_owned()), own.copied().collect()));
    }
    let known =
        |cell: &CellView| GROUPS.iter().any(|(group, _)| cell.group.as_deref() == Some(group));
    let others = cells.into_iter().filter(|cell| !known(cell)).collect();
    groups.push((Some("other loads".to_owned()), others));
    groups.retain(|(_, cells)| !cells.is_empty());
    groups
}

/// The median change of cells that have an estimate, as text: `−5.0 %`.
pub(crate) fn median(cells: &[&CellView]) -> Option<String> {
    let usable = cells.iter().filter(|cell| !cell.is_blocked());
    let mut all: Vec<f64> = usable.filter_map(|cell| cell.effect().ratio).collect();
    all.sort_by(f64::total_cmp);
    let (low, high) = (all.get((all.len().max(1) - 1) / 2)?, all.get(all.len() / 2)?);
    let share = (low * high).sqrt() - 1.0;
    Some(format!("{}{GLUE}%", number::signed(100.0 * share, 1)))
}
