//! Over a statement while it is executed: whether it is to end, and how much it keeps.

use std::cell::Cell;
use std::time::Duration;

use crate::error::{Result, SqlError};
use crate::host::SessionHost;

/// A statement while it is executed.
pub(crate) struct StatementWatch<'a> {
    host: Option<&'a dyn SessionHost>,
    reads_only: bool,
    /// Rows that were looked at.
    rows: Cell<u32>,
    /// Bytes that are kept of them.
    kept: Cell<u64>,
}

/// The host is asked once in so many rows.
const ROWS_BETWEEN: u32 = 1_024;
/// What may be kept of rows at a time: they are ordered, grouped, or read once more.
pub(crate) const KEPT_BYTES_MOST: u64 = 1 << 30;
/// A nap ends so often, to see whether it is to go on.
const NAP: Duration = Duration::from_millis(20);

impl<'a> StatementWatch<'a> {
    pub(crate) fn new(host: Option<&'a dyn SessionHost>, reads_only: bool) -> StatementWatch<'a> {
        StatementWatch { host, reads_only, rows: Cell::new(0), kept: Cell::new(0) }
    }

    /// Whether it is a question.
    pub(crate) fn reads_only(&self) -> bool {
        self.reads_only
    }

    /// The server around the session.
    pub(crate) fn host(&self) -> Option<&'a dyn SessionHost> {
        self.host
    }

    /// A row is looked at.
    #[inline]
    pub(crate) fn pass_row(&self) -> Result<()> {
        let rows = self.rows.get().wrapping_add(1);
        self.rows.set(rows);
        if rows.is_multiple_of(ROWS_BETWEEN) { self.see() } else { Ok(()) }
    }

    /// So many bytes more are kept.
    #[inline]
    pub(crate) fn keep_bytes(&self, bytes: usize) -> Result<()> {
        let kept = self.kept.get() + bytes as u64;
        self.kept.set(kept);
        if kept > KEPT_BYTES_MOST { Err(SqlError::TooMuchKept(KEPT_BYTES_MOST)) } else { Ok(()) }
    }

    /// How many bytes are kept.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.kept.get()
    }

    /// Of what was kept no more is left than so many bytes.
    pub(crate) fn release_all_but(&self, bytes: u64) {
        self.kept.set(self.kept.get().min(bytes));
    }

    /// So many bytes are kept no more.
    #[inline]
    pub(crate) fn release_bytes(&self, bytes: usize) {
        self.kept.set(self.kept.get().saturating_sub(bytes as u64));
    }

    /// Sleeps, unless the statement is to end.
    pub(crate) fn sleep(&self, time: Duration) -> Result<()> {
        let mut left = time;
        while self.host.is_some() && left > NAP {
            std::thread::sleep(NAP);
            left -= NAP;
            self.see()?;
        }
        std::thread::sleep(left);
        self.see()
    }

    #[cold]
    fn see(&self) -> Result<()> {
        match self.host.and_then(|host| host.stop(self.reads_only)) {
            Some(stop) => Err(SqlError::Stopped(stop)),
            None => Ok(()),
        }
    }
}
