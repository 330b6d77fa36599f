//! An open database.
//!
//! All of it may be used from several threads at once, as RocksDB allows. Iterators live no longer
//! than a call: each walk makes one and ends it, as `db_bench` does for each seek, so that none
//! outlives the database or holds back what has been overwritten.

use std::ffi::CString;
use std::path::Path;
use std::ptr;

use crate::api::{Batch, Db, FlushOptions, ReadOptions, WriteOptions};
use crate::held::{
    Cursor, OpenOptions, PinnedValue, RocksError, WalkDirection, c_string, call_checked, chars,
    take_string,
};
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

/// What becomes of a write before it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteDurability {
    /// It is in memory only: it is lost if the process ends before it is flushed.
    Off,
    /// It is in the write-ahead log, as far as the operating system.
    Written,
    /// And the device has it.
    Synced,
}

impl WriteDurability {
    /// Options of writes, which are the caller's to destroy.
    pub(crate) fn write_options(self, library: &'static Library) -> *mut WriteOptions {
        let api = &library.api;
        // SAFETY: made here, and ours alone while they are set.
        unsafe {
            let writes = (api.rocksdb_writeoptions_create)();
            (api.rocksdb_writeoptions_disable_WAL)(writes, i32::from(self == WriteDurability::Off));
            (api.rocksdb_writeoptions_set_sync)(writes, u8::from(self == WriteDurability::Synced));
            writes
        }
    }
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
        log: WriteDurability,
    ) -> Result<Database, RocksError> {
        let api = &library.api;
        let name = c_string(directory.as_os_str().as_encoded_bytes())?;
        let options = OpenOptions::parse(library, &format!("create_if_missing=true;{options}"))?;
        // SAFETY: options and name live until the call returns.
        let db = call_checked(library, |error| unsafe {
            (api.rocksdb_open)(options.made, name.as_ptr(), error)
        })?;
        // SAFETY: makes what it returns.
        let reads = unsafe { (api.rocksdb_readoptions_create)() };
        Ok(Database { library, db, reads, writes: log.write_options(library) })
    }

    /// Writes a value under a key, whatever was there.
    ///
    /// # Errors
    /// RocksDB's refusal.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<(), RocksError> {
        let (k, v) = (chars(key), chars(value));
        // SAFETY: database and options are open; key and value are copied by the call.
        call_checked(self.library, |error| unsafe {
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
        call_checked(self.library, |error| unsafe {
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
        let slice = call_checked(self.library, |error| unsafe {
            (api.rocksdb_get_pinned)(self.db, self.reads, chars(key), key.len(), error)
        })?;
        // SAFETY: RocksDB has just handed it out.
        Ok(unsafe { PinnedValue::from_slice(self.library, slice) }
            .map(|pinned| take(pinned.value())))
    }

    /// Shows keys and values from a key on, at most `most` of them, or as long as `visit` returns
    /// true.
    ///
    /// # Errors
    /// RocksDB's refusal, a damaged file for example.
    pub fn walk_entries(
        &self,
        from: &[u8],
        direction: WalkDirection,
        most: usize,
        visit: impl FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), RocksError> {
        // SAFETY: database and options are open; the cursor ends before this call does.
        let iterator = unsafe { (self.library.api.rocksdb_create_iterator)(self.db, self.reads) };
        // SAFETY: it was just made.
        let mut cursor = unsafe { Cursor::from_iterator(self.library, iterator) };
        cursor.walk_entries(from, direction, most, visit)
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
            let flushed = call_checked(self.library, |error| {
                (api.rocksdb_flush)(self.db, options, error);
            });
            (api.rocksdb_flushoptions_destroy)(options);
            flushed
        }
    }

    /// Writes all files anew, into the last level, and waits until they are there.
    pub fn compact(&self) {
        // SAFETY: the database is open; null is the beginning, and the end.
        unsafe {
            (self.library.api.rocksdb_compact_range)(self.db, ptr::null(), 0, ptr::null(), 0);
        }
    }

    /// What RocksDB says of itself under a name such as `rocksdb.stats`; `None` if it does not know
    /// the name.
    pub fn property(&self, name: &str) -> Option<String> {
        let name = CString::new(name).ok()?;
        // SAFETY: the database is open; what comes back is null or a text that is ours to free.
        unsafe {
            let value = (self.library.api.rocksdb_property_value)(self.db, name.as_ptr());
            if value.is_null() { None } else { Some(take_string(self.library, value)) }
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
