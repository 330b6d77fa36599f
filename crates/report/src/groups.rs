//! Cells in groups of loads that do the same kind of work, and the median of a group: of two arms
//! and of more.

use dbdyno_document::number::{self, GLUE};

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

/// What is in a group, and what that is called.
pub(crate) type NamedGroup<T> = (Option<String>, Vec<T>);

/// All of them in groups; all in one without a name where they are few or of one kind.
pub(crate) fn group_by_name<T>(
    all: Vec<T>,
    group_of: impl Fn(&T) -> Option<&str>,
) -> Vec<NamedGroup<T>> {
    let is_one_kind = all.iter().all(|one| group_of(one) == group_of(&all[0]));
    if all.len() <= UNGROUPED_MOST || is_one_kind {
        return vec![(None, all)];
    }
    let mut rest = all;
    let mut groups: Vec<NamedGroup<T>> = Vec::new();
    for (group, called) in GROUPS {
        let (own, others) = rest.into_iter().partition(|one| group_of(one) == Some(group));
        groups.push((Some(called.to_owned()), own));
        rest = others;
    }
    groups.push((Some("other loads".to_owned()), rest));
    groups.retain(|(_, members)| !members.is_empty());
    groups
}

/// The cells of two arms in groups.
pub(crate) fn of_cells(cells: Vec<&CellView>) -> Vec<NamedGroup<&CellView>> {
    group_by_name(cells, |cell| cell.group.as_deref())
}

/// The median of ratios; of an even number the geometric mean of the two in the middle, so that it
/// is turned over as they are.
pub(crate) fn median_of(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = ratios.collect();
    all.sort_by(f64::total_cmp);
    let (low, high) = (all.get((all.len().max(1) - 1) / 2)?, all.get(all.len() / 2)?);
    Some((low * high).sqrt())
}

/// The median change of cells that have an estimate, as text: `−5.0 %`.
pub(crate) fn median(cells: &[&CellView]) -> Option<String> {
    let usable = cells.iter().filter(|cell| !cell.is_blocked());
    let share = median_of(usable.filter_map(|cell| cell.effect().ratio))? - 1.0;
    Some(format!("{}{GLUE}%", number::format_signed(100.0 * share, 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_one_in_the_middle_or_between_two() {
        let of = |all: &[f64]| median_of(all.iter().copied());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[0.7]), Some(0.7));
        assert_eq!(of(&[1.3, 0.7, 0.9]), Some(0.9));
        let even = of(&[0.5, 2.0, 0.8, 1.25]).unwrap();
        assert!((even - 1.0).abs() < 1e-12, "{even}: turned over it is the same");
    }

    #[test]
    fn what_is_of_no_known_kind_comes_last() {
        let all: Vec<&str> = "write x point range point write y range point x".split(' ').collect();
        let kind = |one: &&str| GROUPS.iter().map(|(kind, _)| *kind).find(|kind| kind == one);
        let groups = group_by_name(all.clone(), |one| kind(one));
        let told: Vec<(&str, usize)> =
            groups.iter().map(|(called, own)| (called.as_deref().unwrap(), own.len())).collect();
        let expected =
            [("rows by key", 3), ("rows by range", 2), ("writes", 2), ("other loads", 3)];
        assert_eq!(told, expected);
        assert_eq!(group_by_name(all[..8].to_vec(), |one| kind(one)).len(), 1, "few stand in one");
        assert_eq!(
            group_by_name(vec!["write"; 12], |one| kind(one)).len(),
            1,
            "so do those of one kind"
        );
    }
}
