//! What E-divisive finds beside each shift.
//!
//! ```text
//!   shifts           31                  88      a place belongs to the shift that is nearest
//!   E-divisive     30   38         74      90
//!                  │    └──────────┤       └─ beside 88, the nearest of its own
//!                  └─ beside 31    └───────── beside none: told in a sentence
//! ```

use dbdyno_model::HistorySeries;

/// For each shift, of the places of E-divisive that are nearer to it than to any other shift, the
/// nearest.
pub(super) fn nearest_places(series: &HistorySeries) -> Vec<Option<usize>> {
    let firsts: Vec<usize> = series.changes.shifts.iter().map(|shift| shift.first).collect();
    let mut beside: Vec<Option<usize>> = vec![None; firsts.len()];
    for &place in theirs(series) {
        let Some(own) = (0..firsts.len()).min_by_key(|at| firsts[*at].abs_diff(place)) else {
            break;
        };
        let distance = beside[own].map(|other| firsts[own].abs_diff(other));
        if distance.is_none_or(|distance| firsts[own].abs_diff(place) < distance) {
            beside[own] = Some(place);
        }
    }
    beside
}

/// Places of E-divisive that stand beside no shift.
pub(super) fn unmatched_places(series: &HistorySeries) -> Vec<usize> {
    let beside = nearest_places(series);
    theirs(series).iter().copied().filter(|place| !beside.contains(&Some(*place))).collect()
}

fn theirs(series: &HistorySeries) -> &[usize] {
    series.e_divisive.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::sample;

    #[test]
    fn a_place_stands_beside_one_shift_or_none() {
        let of = |firsts: &[usize], theirs: &[usize]| {
            let series = sample::series(100, firsts, Some(theirs));
            (nearest_places(&series), unmatched_places(&series))
        };
        assert_eq!(of(&[31, 88], &[30, 38, 74, 90]), (vec![Some(30), Some(90)], vec![38, 74]));
        assert_eq!(of(&[31, 88], &[40]), (vec![Some(40), None], vec![]), "beside one only");
        assert_eq!(of(&[31], &[]), (vec![None], vec![]));
        assert_eq!(of(&[], &[50]), (vec![], vec![50]));
    }

    #[test]
    fn what_was_not_asked_stands_nowhere() {
        let series = sample::series(100, &[31], None);
        assert_eq!((nearest_places(&series), unmatched_places(&series)), (vec![None], vec![]));
    }
}
