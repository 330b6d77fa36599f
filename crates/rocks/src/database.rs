//! An open database.
//!
//! All of it may be used from several threads at once, as RocksDB allows. Iterators live no longer
//! than a call: each walk makes one and ends it, as `db_bench` does for each seek, so that none
//! outlives the database or holds back what has been overwritten.

use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::path::Path;
use std::ptr;

use crate::api::{Batch, Db, FlushOptions, Iter, Options, ReadOptions, Slice, WriteOptions};
use crate::library::Library;

/// A database of RocksDB; dropping it closes it.
pub struct Database {
    library: &'static Library,
    db: *mut Db,
    reads: *mut ReadOptions,
    writes: *mut WriteOptions,
}

// SAFETY: a `rocksdb_t` may be used and closed by any thread, and options are only read after they
// have been made.
unsafe impl Send for Database {}
// SAFETY: RocksDB synchronises calls of several threads on one database by itself.
unsafe impl Sync for Database {}

/// What RocksDB answers instead of doing what it was asked, in its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RocksError(pub String);

impl fmt::Display for RocksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RocksError {}

/// What becomes of a write before it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    /// It is in memory only: it is lost if the process ends before it is flushed.
    Off,
    /// It is in the write-ahead log, as far as the operating system.
    Written,
    /// And the device has it.
    Synced,
}

/// Which way keys are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the first key that is not below to greater ones.
    Forwards,
    /// From the last key that is not above to smaller ones.
    Backwards,
}

impl Database {
    /// Opens the database in a directory, and makes it if it is not there. `options` are in the
    /// form of RocksDB's `GetOptionsFromString`: `write_buffer_size=1048576;compression=…`.
    ///
    /// # Errors
    /// An option that RocksDB does not know, or what is wrong with the directory.
    pub fn open(
        library: &'static Library,
        directory: &Path,
        options: &str,
        log: Log,
    ) -> Result<Database, RocksError> {
        let api = &library.api;
        let name = text(directory.as_os_str().as_encoded_bytes())?;
        let options = OpenOptions::parse(library, &format!("create_if_missing=true;{options}"))?;
        // SAFETY: options and name live until the call returns.
        let db = checked(library, |error| unsafe {
            (api.rocksdb_open)(options.made, name.as_ptr(), error)
        })?;
        // SAFETY: these make what they return; the options are ours alone while they are set.
        let (reads, writes) = unsafe {
            let writes = (api.rocksdb_writeoptions_create)();
            (api.rocksdb_writeoptions_disable_WAL)(writes, i32::from(log == Log::Off));
            (api.rocksdb_writeoptions_set_sync)(writes, u8::from(log == Log::Synced));
            ((api.rocksdb_readoptions_create)(), writes)
        };
        Ok(Database { library, db, reads, writes })
    }

    /// Writes a value under a key, whatever was there.
    ///
    /// # Errors
    /// RocksDB's refusal.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<(), RocksError> {
        let (k, v) = (chars(key), chars(value));
        // SAFETY: database and options are open; key and value are copied by the call.
        checked(self.library, |error| unsafe {
            let put = self.library.api.rocksdb_put;
            put(self.db, self.writes, k, key.len(), v, value.len(), error);
        })
    }

    /// Writes all of these or none.
    ///
    /// # Errors
    /// RocksDB's refusal.
    pub fn put_all<'a>(
        &self,
        pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    ) -> Result<(), RocksError> {
        let batch = WriteBatch::new(self.library);
        for (key, value) in pairs {
            // SAFETY: the batch is ours; it copies key and value.
            unsafe {
                let put = self.library.api.rocksdb_writebatch_put;
                put(batch.made, chars(key), key.len(), chars(value), value.len());
            }
        }
        self.write(&batch)
    }

    /// Takes away all keys from `from` to before `to`.
    ///
    /// # Errors
    /// RocksDB's refusal.
    pub fn delete_range(&self, from: &[u8], to: &[u8]) -> Result<(), RocksError> {
        let batch = WriteBatch::new(self.library);
        // SAFETY: the batch is ours; it copies the keys.
        unsafe {
            let delete = self.library.api.rocksdb_writebatch_delete_range;
            delete(batch.made, chars(from), from.len(), chars(to), to.len());
        }
        self.write(&batch)
    }

    fn write(&self, batch: &WriteBatch) -> Result<(), RocksError> {
        // SAFETY: database, options and batch are open.
        checked(self.library, |error| unsafe {
            (self.library.api.rocksdb_write)(self.db, self.writes, batch.made, error);
        })
    }

    /// Hands out the value under a key, if there is one, without copying it.
    ///
    /// # Errors
    /// RocksDB's refusal, a damaged file for example.
    pub fn get<T>(
        &self,
        key: &[u8],
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, RocksError> {
        let api = &self.library.api;
        // SAFETY: database and options are open; the key is only read.
        let slice = checked(self.library, |error| unsafe {
            (api.rocksdb_get_pinned)(self.db, self.reads, chars(key), key.len(), error)
        })?;
        if slice.is_null() {
            return Ok(None);
        }
        let pinned = Pinned { library: self.library, slice };
        let mut length = 0;
        // SAFETY: the slice stays until `pinned` is dropped.
        let value = unsafe { (api.rocksdb_pinnableslice_value)(pinned.slice, &raw mut length) };
        Ok(Some(take(bytes(&pinned, value, length))))
    }

    /// Shows keys and values from a key on, at most `most` of them, or as long as `visit` returns
    /// true.
    ///
    /// # Errors
    /// RocksDB's refusal, a damaged file for example.
    pub fn walk(
        &self,
        from: &[u8],
        direction: Direction,
        most: usize,
        mut visit: impl FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), RocksError> {
        let api = &self.library.api;
        // SAFETY: database and options are open; the cursor ends before this call does.
        let iterator = unsafe { (api.rocksdb_create_iterator)(self.db, self.reads) };
        let cursor = Cursor { library: self.library, iterator };
        let (seek, step) = match direction {
            Direction::Forwards => (api.rocksdb_iter_seek, api.rocksdb_iter_next),
            Direction::Backwards => (api.rocksdb_iter_seek_for_prev, api.rocksdb_iter_prev),
        };
        // SAFETY: the iterator is open; the key is only read.
        unsafe { seek(cursor.iterator, chars(from), from.len()) };
        for number in 0..most {
            let Some((key, value)) = cursor.entry() else { break };
            // The last one needs no step behind it.
            if !visit(key, value) || number + 1 == most {
                return Ok(());
            }
            // SAFETY: the iterator is valid, else there would be no entry; what was handed out of
            // it has gone out of use.
            unsafe { step(cursor.iterator) };
        }
        // SAFETY: the iterator is open.
        checked(self.library, |error| unsafe {
            (api.rocksdb_iter_get_error)(cursor.iterator, error);
        })
    }

    /// Writes what is in memory into files, and waits until they are there.
    ///
    /// # Errors
    /// RocksDB's refusal, a full disk for example.
    pub fn flush(&self) -> Result<(), RocksError> {
        let api = &self.library.api;
        // SAFETY: made, set, used and destroyed here; the database is open.
        unsafe {
            let options: *mut FlushOptions = (api.rocksdb_flushoptions_create)();
            (api.rocksdb_flushoptions_set_wait)(options, 1);
            let flushed = checked(self.library, |error| {
                (api.rocksdb_flush)(self.db, options, error);
            });
            (api.rocksdb_flushoptions_destroy)(options);
            flushed
        }
    }

    /// What RocksDB says of itself under a name such as `rocksdb.stats`; `None` if it does not know
    /// the name.
    pub fn property(&self, name: &str) -> Option<String> {
        let name = CString::new(name).ok()?;
        // SAFETY: the database is open; what comes back is null or a text that is ours to free.
        unsafe {
            let value = (self.library.api.rocksdb_property_value)(self.db, name.as_ptr());
            if value.is_null() { None } else { Some(owned(self.library, value)) }
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let api = &self.library.api;
        // SAFETY: made by `open`, and nobody has them any more: whatever comes from the database
        // borrows it.
        unsafe {
            (api.rocksdb_close)(self.db);
            (api.rocksdb_readoptions_destroy)(self.reads);
            (api.rocksdb_writeoptions_destroy)(self.writes);
        }
    }
}

struct OpenOptions {
    library: &'static Library,
    made: *mut Options,
}

impl OpenOptions {
    fn parse(library: &'static Library, options: &str) -> Result<OpenOptions, RocksError> {
        let api = &library.api;
        let options = text(options.as_bytes())?;
        // SAFETY: makes what it returns.
        let base = OpenOptions { library, made: unsafe { (api.rocksdb_options_create)() } };
        // SAFETY: as above.
        let parsed = OpenOptions { library, made: unsafe { (api.rocksdb_options_create)() } };
        // SAFETY: all three live until the call returns.
        checked(library, |error| unsafe {
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

struct WriteBatch {
    library: &'static Library,
    made: *mut Batch,
}

impl WriteBatch {
    fn new(library: &'static Library) -> WriteBatch {
        // SAFETY: makes what it returns.
        WriteBatch { library, made: unsafe { (library.api.rocksdb_writebatch_create)() } }
    }
}

impl Drop for WriteBatch {
    fn drop(&mut self) {
        // SAFETY: made by this type and written or given up.
        unsafe { (self.library.api.rocksdb_writebatch_destroy)(self.made) };
    }
}

struct Pinned {
    library: &'static Library,
    slice: *mut Slice,
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: returned by `rocksdb_get_pinned`, not null, and its bytes have gone out of use.
        unsafe { (self.library.api.rocksdb_pinnableslice_destroy)(self.slice) };
    }
}

struct Cursor {
    library: &'static Library,
    iterator: *mut Iter,
}

impl Cursor {
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
        // SAFETY: made by `walk`, and destroyed before the database is closed.
        unsafe { (self.library.api.rocksdb_iter_destroy)(self.iterator) };
    }
}

/// Calls with a place for an error, and returns what came of it.
fn checked<T>(
    library: &'static Library,
    call: impl FnOnce(*mut *mut c_char) -> T,
) -> Result<T, RocksError> {
    let mut error = ptr::null_mut();
    let result = call(&raw mut error);
    if error.is_null() {
        return Ok(result);
    }
    // SAFETY: RocksDB has put a text there, which is ours to free.
    Err(RocksError(unsafe { owned(library, error) }))
}

/// # Safety
/// `text` came from RocksDB, ends with a zero, and is freed by nobody else.
unsafe fn owned(library: &'static Library, text: *mut c_char) -> String {
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

fn chars(bytes: &[u8]) -> *const c_char {
    bytes.as_ptr().cast()
}

fn text(bytes: &[u8]) -> Result<CString, RocksError> {
    CString::new(bytes).map_err(|_| RocksError("a text with a zero in it".to_owned()))
}
