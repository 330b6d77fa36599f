//! What RocksDB hands out and gets back: options, pinned values, iterators, texts of errors.
//!
//! ```text
//!   call(…, errptr) ── checked ──▶ Ok(what came)  │  Err(text, freed)
//!   Pinned, Cursor, OpenOptions ── dropped ──▶ destroyed, once
//! ```

use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::ptr;

use crate::api::{Iter, Options, Slice};
use crate::library::Library;

/// What RocksDB answers instead of doing what it was asked, in its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RocksError(pub String);

impl fmt::Display for RocksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RocksError {}

impl RocksError {
    /// Whether others were in the way, so that the transaction may be tried again: a deadlock, a
    /// lock that was not to be had in time, or a row that changed meanwhile.
    pub fn is_conflict(&self) -> bool {
        // The words of `Status::ToString` for Busy, TimedOut and TryAgain.
        let words = ["Resource busy", "Operation timed out", "Operation failed. Try again"];
        words.iter().any(|word| self.0.starts_with(word))
    }
}

/// Which way keys are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkDirection {
    /// From the first key that is not below to greater ones.
    Forwards,
    /// From the last key that is not above to smaller ones.
    Backwards,
}

/// Options, read from a text.
pub(crate) struct OpenOptions {
    library: &'static Library,
    pub made: *mut Options,
}

impl OpenOptions {
    pub(crate) fn parse(
        library: &'static Library,
        options: &str,
    ) -> Result<OpenOptions, RocksError> {
        let api = &library.api;
        let options = c_string(options.as_bytes())?;
        // SAFETY: makes what it returns.
        let base = OpenOptions { library, made: unsafe { (api.rocksdb_options_create)() } };
        // SAFETY: as above.
        let parsed = OpenOptions { library, made: unsafe { (api.rocksdb_options_create)() } };
        // SAFETY: all three live until the call returns.
        call_checked(library, |error| unsafe {
            let parse = api.rocksdb_get_options_from_string;
            parse(base.made, options.as_ptr(), parsed.made, error);
        })?;
        Ok(parsed)
    }
}

impl Drop for OpenOptions {
    fn drop(&mut self) {
        // SAFETY: made by this type, and a database keeps a copy.
        unsafe { (self.library.api.rocksdb_options_destroy)(self.made) };
    }
}

/// A value that RocksDB keeps in place.
pub(crate) struct PinnedValue {
    library: &'static Library,
    slice: *mut Slice,
}

impl PinnedValue {
    /// What a read handed out; `None` where there was nothing.
    ///
    /// # Safety
    /// `slice` is null, or was just handed out and nobody else has it; its database stays open as
    /// long as this lives.
    pub(crate) unsafe fn from_slice(
        library: &'static Library,
        slice: *mut Slice,
    ) -> Option<PinnedValue> {
        (!slice.is_null()).then_some(PinnedValue { library, slice })
    }

    pub(crate) fn value(&self) -> &[u8] {
        let mut length = 0;
        let value = self.library.api.rocksdb_pinnableslice_value;
        // SAFETY: the slice stays until this is dropped.
        let start = unsafe { value(self.slice, &raw mut length) };
        bytes(self, start, length)
    }
}

impl Drop for PinnedValue {
    fn drop(&mut self) {
        // SAFETY: handed out by a read, not null, and its bytes have gone out of use.
        unsafe { (self.library.api.rocksdb_pinnableslice_destroy)(self.slice) };
    }
}

/// A place among keys.
pub(crate) struct Cursor {
    library: &'static Library,
    iterator: *mut Iter,
}

impl Cursor {
    /// # Safety
    /// The iterator was just made and nobody else has it; its database, and its transaction if it
    /// has one, live longer than this.
    pub(crate) unsafe fn from_iterator(library: &'static Library, iterator: *mut Iter) -> Cursor {
        Cursor { library, iterator }
    }

    /// Shows keys and values from a key on, at most `most` of them, or as long as `visit` returns
    /// true.
    pub(crate) fn walk_entries(
        &mut self,
        from: &[u8],
        direction: WalkDirection,
        most: usize,
        mut visit: impl FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), RocksError> {
        let api = &self.library.api;
        let (seek, step) = match direction {
            WalkDirection::Forwards => (api.rocksdb_iter_seek, api.rocksdb_iter_next),
            WalkDirection::Backwards => (api.rocksdb_iter_seek_for_prev, api.rocksdb_iter_prev),
        };
        // SAFETY: the iterator is open; the key is only read.
        unsafe { seek(self.iterator, chars(from), from.len()) };
        for number in 0..most {
            let Some((key, value)) = self.entry() else { break };
            // The last one needs no step behind it.
            if !visit(key, value) || number + 1 == most {
                return Ok(());
            }
            // SAFETY: the iterator is valid, else there would be no entry; what was handed out of
            // it has gone out of use.
            unsafe { step(self.iterator) };
        }
        // SAFETY: the iterator is open.
        call_checked(self.library, |error| unsafe {
            (api.rocksdb_iter_get_error)(self.iterator, error);
        })
    }

    /// The key and the value where it stands; `None` beside the ends.
    fn entry(&self) -> Option<(&[u8], &[u8])> {
        let api = &self.library.api;
        // SAFETY: the iterator is open; key and value are asked for only where it is valid, and
        // stay until it is moved, which takes it out of this borrow's reach.
        unsafe {
            if (api.rocksdb_iter_valid)(self.iterator) == 0 {
                return None;
            }
            let (mut keys, mut values) = (0, 0);
            let key = (api.rocksdb_iter_key)(self.iterator, &raw mut keys);
            let value = (api.rocksdb_iter_value)(self.iterator, &raw mut values);
            Some((bytes(self, key, keys), bytes(self, value, values)))
        }
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        // SAFETY: by the word of who made this, it is destroyed before the database is closed.
        unsafe { (self.library.api.rocksdb_iter_destroy)(self.iterator) };
    }
}

/// Calls with a place for an error, and returns what came of it.
pub(crate) fn call_checked<T>(
    library: &'static Library,
    call: impl FnOnce(*mut *mut c_char) -> T,
) -> Result<T, RocksError> {
    let mut error = ptr::null_mut();
    let result = call(&raw mut error);
    if error.is_null() {
        return Ok(result);
    }
    // SAFETY: RocksDB has put a text there, which is ours to free.
    Err(RocksError(unsafe { take_string(library, error) }))
}

/// # Safety
/// `text` came from RocksDB, ends with a zero, and is freed by nobody else.
pub(crate) unsafe fn take_string(library: &'static Library, text: *mut c_char) -> String {
    // SAFETY: by the caller's word.
    unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        (library.api.rocksdb_free)(text.cast());
        copy
    }
}

/// Bytes that `_owner` keeps.
fn bytes<O>(_owner: &O, start: *const c_char, length: usize) -> &[u8] {
    if length == 0 {
        return &[];
    }
    // SAFETY: RocksDB hands out this many bytes, and they stay as long as their owner is borrowed.
    unsafe { std::slice::from_raw_parts(start.cast(), length) }
}

pub(crate) fn chars(bytes: &[u8]) -> *const c_char {
    bytes.as_ptr().cast()
}

pub(crate) fn c_string(bytes: &[u8]) -> Result<CString, RocksError> {
    CString::new(bytes).map_err(|_| RocksError("a text with a zero in it".to_owned()))
}
