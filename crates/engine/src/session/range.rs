//! Which part of an index is read, and how far it was.
//!
//! ```text
//!   from  Included (5)     ≥ all keys that begin with 5      Excluded (5)   > all of them
//!   to    Included (5, 7)  ≤ all keys that begin with 5, 7   Excluded       < all of them
//! ```
//!
//! Bounds are values of the first columns of an index, as many as are known. In bytes each is a
//! place between two keys, so that a range is `[begin, end)`.

use std::ops::{Bound, ControlFlow};

use super::intent::{Fields, Intent};
use crate::ids::TrxId;
use crate::index::IndexTree;
use crate::key;
use crate::value::Datum;

/// A part of an index, by values of its first columns.
#[derive(Clone, Copy, Debug)]
pub struct Range<'a> {
    /// Where it begins.
    pub from: Bound<&'a [Datum<'a>]>,
    /// Where it ends.
    pub to: Bound<&'a [Datum<'a>]>,
}

/// In which order keys are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanDirection {
    /// The least first.
    Up,
    /// The greatest first.
    Down,
}

/// By which index rows are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// The primary key.
    Primary,
    /// A secondary index, by its place in the table.
    Secondary(usize),
}

/// What is read.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'a> {
    /// By which index.
    pub path: Path,
    /// Which part of it.
    pub range: Range<'a>,
    /// In which order.
    pub direction: ScanDirection,
    /// What is to be done with the rows.
    pub intent: Intent,
    /// Which columns are wanted.
    pub fields: Fields,
}

impl<'a> Range<'a> {
    /// Everything.
    pub const ALL: Range<'static> = Range { from: Bound::Unbounded, to: Bound::Unbounded };

    /// All keys that begin with these values.
    pub fn of_prefix(values: &'a [Datum<'a>]) -> Range<'a> {
        Range { from: Bound::Included(values), to: Bound::Included(values) }
    }

    /// Whether it is all keys that begin with certain values: how many values.
    pub(super) fn equal_values(&self) -> Option<usize> {
        match (self.from, self.to) {
            (Bound::Included(from), Bound::Included(to)) if from == to => Some(from.len()),
            _ => None,
        }
    }
}

impl Scan<'_> {
    /// Whole rows of an index, all of them and in its order, by a consistent read.
    pub fn whole_index(path: Path) -> Scan<'static> {
        let (direction, intent, fields) = (ScanDirection::Up, Intent::Read, Fields::All);
        Scan { path, range: Range::ALL, direction, intent, fields }
    }
}

/// What of a range is still to be read.
pub(super) struct Cursor {
    /// The least key that is still to be read.
    pub begin: Vec<u8>,
    /// The least key that is not.
    pub end: Option<Vec<u8>>,
    direction: ScanDirection,
    pub ended: bool,
}

impl Cursor {
    pub(super) fn new(range: &Range<'_>, direction: ScanDirection) -> Cursor {
        let begin = match range.from {
            Bound::Unbounded => Vec::new(),
            Bound::Included(values) => key_of(values),
            Bound::Excluded(values) => key_behind(values),
        };
        let end = match range.to {
            Bound::Unbounded => None,
            Bound::Included(values) => Some(key_behind(values)).filter(|key| !key.is_empty()),
            Bound::Excluded(values) => Some(key_of(values)),
        };
        // Behind all keys there is none.
        let behind_all = matches!(range.from, Bound::Excluded(_)) && begin.is_empty();
        let ended = behind_all || end.as_ref().is_some_and(|end| *end <= begin);
        Cursor { begin, end, direction, ended }
    }

    /// Whether a key is not beyond where the cursor ends, in the direction in which it reads.
    #[inline]
    pub(super) fn is_before_end(&self, key: &[u8]) -> bool {
        match self.direction {
            ScanDirection::Up => self.end.as_deref().is_none_or(|end| key < end),
            ScanDirection::Down => key >= &self.begin[..],
        }
    }

    /// Shows what comes next, at most one leaf of it. The key at which `look` breaks off counts as
    /// read.
    pub(super) fn read<V>(
        &mut self,
        tree: &IndexTree<V>,
        mut look: impl FnMut(&[u8], &V, TrxId) -> ControlFlow<()>,
    ) {
        let mut broke: Option<Vec<u8>> = None;
        let look = |key: &[u8], value: &V, stamp: TrxId| {
            let flow = look(key, value, stamp);
            if flow.is_break() {
                broke = Some(key.to_vec());
            }
            flow
        };
        let end = self.end.as_deref();
        let next = match self.direction {
            ScanDirection::Up => tree.read_on(&self.begin, end, look),
            ScanDirection::Down => tree.read_back(&self.begin, end, look),
        };
        match (broke, next) {
            (Some(key), _) => self.advance_past(&key),
            (None, Some(next)) => self.go_on_at(next.bytes()),
            (None, None) => self.ended = true,
        }
    }

    /// A key was read.
    pub(super) fn advance_past(&mut self, key: &[u8]) {
        self.go_on_at(key);
        if self.direction == ScanDirection::Up {
            self.begin.push(0);
        }
    }

    fn go_on_at(&mut self, place: &[u8]) {
        let edge = match self.direction {
            ScanDirection::Up => &mut self.begin,
            ScanDirection::Down => self.end.get_or_insert_default(),
        };
        edge.clear();
        edge.extend_from_slice(place);
    }
}

fn key_of(values: &[Datum<'_>]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(24);
    values.iter().for_each(|&value| key::push(&mut bytes, value));
    bytes
}

/// The least key behind all that begin with these values; empty if there is none.
fn key_behind(values: &[Datum<'_>]) -> Vec<u8> {
    let mut bytes = key_of(values);
    key::after_all(&mut bytes);
    bytes
}
