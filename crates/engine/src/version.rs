//! Versions of a row, newest first.
//!
//! ```text
//!   leaf entry ─► writer 91, k=7 ─► writer 64, gone ─► writer 12, k=5 ─► nothing
//!                 not yet ended     committed           not needed any more
//! ```
//!
//! Every write puts a version in front; a delete is a version without a row. A reader takes the
//! first one whose writer its view sees. Whatever lies behind a version that every view sees is
//! never read again, which is what purge takes away.

use std::mem;

use crate::ids::TrxId;

/// A version, and those before it.
#[derive(Debug)]
pub struct RowVersion {
    /// The transaction that wrote it.
    pub writer: TrxId,
    /// The row; `None` where it was deleted.
    pub row: Option<Box<[u8]>>,
    older: Option<Box<RowVersion>>,
}

impl RowVersion {
    /// The first version of a row.
    pub fn new(writer: TrxId, row: Option<Box<[u8]>>) -> RowVersion {
        RowVersion { writer, row, older: None }
    }

    /// Puts a version in front.
    pub fn push(&mut self, writer: TrxId, row: Option<Box<[u8]>>) {
        let older = mem::replace(self, RowVersion::new(writer, row));
        self.older = Some(Box::new(older));
    }

    /// Takes the newest version away; `None` if it was the only one, which then stays.
    pub fn pop(&mut self) -> Option<RowVersion> {
        let mut older = self.older.take()?;
        mem::swap(self, &mut older);
        Some(mem::replace(&mut older, RowVersion::new(TrxId::NOBODY, None)))
    }

    /// The first version that is seen, and how many were passed by.
    #[inline]
    pub(crate) fn visible_version(
        &self,
        sees: impl Fn(TrxId) -> bool,
    ) -> (Option<&RowVersion>, u64) {
        let mut walked = 0;
        let mut at = Some(self);
        while let Some(version) = at {
            if sees(version.writer) {
                return (Some(version), walked);
            }
            walked += 1;
            at = version.older.as_deref();
        }
        (None, walked)
    }

    /// All versions, newest first.
    pub(crate) fn all_versions(&self) -> impl Iterator<Item = &RowVersion> {
        std::iter::successors(Some(self), |version| version.older.as_deref())
    }

    /// Cuts off what lies behind the newest version of a writer that all views see. Gives the
    /// versions cut off.
    pub(crate) fn cut_behind(&mut self, writer: TrxId) -> Option<Box<RowVersion>> {
        let mut at = self;
        while at.writer != writer {
            at = at.older.as_deref_mut()?;
        }
        at.older.take()
    }
}

impl Drop for RowVersion {
    /// One after the other: a long chain would else take a stack as long as itself.
    fn drop(&mut self) {
        let mut next = self.older.take();
        while let Some(mut version) = next {
            next = version.older.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(writers: &[u64]) -> RowVersion {
        let row = |writer: u64| Some(vec![writer as u8].into_boxed_slice());
        let mut chain = RowVersion::new(TrxId(writers[0]), row(writers[0]));
        writers[1..].iter().for_each(|&writer| chain.push(TrxId(writer), row(writer)));
        chain
    }

    #[test]
    fn a_reader_takes_the_first_that_it_sees() {
        let chain = chain(&[1, 5, 9]);
        let seen = |most: u64| {
            let (version, walked) = chain.visible_version(|writer| writer.0 <= most);
            (version.map(|version| version.writer.0), walked)
        };
        assert_eq!(seen(9), (Some(9), 0));
        assert_eq!(seen(8), (Some(5), 1));
        assert_eq!(seen(4), (Some(1), 2));
        assert_eq!(seen(0), (None, 3));
    }

    #[test]
    fn what_nobody_needs_is_cut_off_and_what_was_pushed_comes_off_again() {
        let mut chain = chain(&[1, 3, 5, 9]);
        assert!(chain.cut_behind(TrxId(1)).is_none(), "nothing is behind it");
        assert!(chain.cut_behind(TrxId(2)).is_none(), "it is not there any more");
        let cut: Vec<_> =
            chain.cut_behind(TrxId(5)).unwrap().all_versions().map(|v| v.writer.0).collect();
        assert_eq!(cut, [3, 1]);
        assert_eq!(chain.pop().unwrap().writer, TrxId(9));
        assert!(chain.pop().is_none());
        assert_eq!((chain.writer, chain.row.as_deref()), (TrxId(5), Some(&[5][..])));
    }

    #[test]
    fn a_long_chain_ends_without_a_deep_stack() {
        let mut chain = RowVersion::new(TrxId(0), None);
        (1..1_000_000).for_each(|writer| chain.push(TrxId(writer), None));
        assert_eq!(chain.all_versions().count(), 1_000_000);
        drop(chain);
        assert_eq!(size_of::<RowVersion>(), 32);
    }
}
