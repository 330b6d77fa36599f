//! Active ids as a sorted vector, copied whole and searched by halves: InnoDB's view.
//!
//! ```text
//!   active   3 17 18 40 41 ──copy, 8 bytes each──► view   3 17 18 40 41
//!                                                            18? by halves: there, not seen
//! ```
//!
//! A view costs as much as there are writers, however little is read by it; an end moves whatever
//! stands behind it. The other variants are measured against this one, and tested against it.

use super::active::ActiveSet;
use super::view::ReadView;

/// Sorted ids.
#[derive(Debug, Default)]
pub(super) struct Vector {
    ids: Vec<u64>,
}

impl ActiveSet for Vector {
    fn insert_id(&mut self, id: u64) {
        debug_assert!(self.ids.last().is_none_or(|last| *last < id), "ids grow");
        self.ids.push(id);
    }

    fn remove_id(&mut self, id: u64) {
        let place = self.ids.binary_search(&id).expect("who ends was active");
        self.ids.remove(place);
    }

    fn lowest_id(&self) -> Option<u64> {
        self.ids.first().copied()
    }

    #[inline]
    fn copy(&self, view: &mut ReadView) -> usize {
        view.copy.clear();
        view.copy.extend_from_slice(&self.ids);
        size_of_val(self.ids.as_slice())
    }

    fn take_move_count(&mut self) -> u64 {
        0
    }

    #[inline]
    fn sees_writer(view: &ReadView, writer: u64) -> bool {
        if writer < view.low || writer == view.own {
            true
        } else if writer >= view.high {
            false
        } else {
            view.copy.binary_search(&writer).is_err()
        }
    }
}
