//! A database with pessimistic transactions: RocksDB's `TransactionDB`.
//!
//! ```text
//!   TransactionDatabase ── get: what was committed last
//!      │
//!   Transaction ── begin ─► snapshot? ─► get · walk · get_for_update · put · delete ─► commit
//!      └── used again by the next begin ◄──────────────────────────────────────────── rollback
//! ```
//!
//! Reads of a transaction see what it wrote itself and, if it took a snapshot, else only what was
//! committed before that. Writes and locking reads lock a key and see what was committed last, as
//! in InnoDB at repeatable read: the snapshot is one of the database, and not the transaction's
//! own, with which RocksDB would refuse to write what changed since. Gaps are not locked.
//!
//! An iterator costs more than a seek, so a transaction with a snapshot keeps one until it writes.
//! Without a snapshot it would go on to see what was committed when it was made.

use std::path::Path;
use std::ptr;
use std::time::Duration;

use crate::api::{
    IndexedBatch, ReadOptions, Snapshot, TransactionApi, TransactionDb, TransactionOptions,
    WriteOptions,
};
use crate::database::WriteDurability;
use crate::held::{
    Cursor, OpenOptions, PinnedValue, RocksError, WalkDirection, c_string, call_checked, chars,
    take_string,
};
use crate::library::Library;

/// A database of RocksDB with transactions; dropping it closes it.
pub struct TransactionDatabase {
    library: &'static Library,
    api: &'static TransactionApi,
    db: *mut TransactionDb,
    /// Without a snapshot.
    reads: *mut ReadOptions,
    writes: *mut WriteOptions,
    transactions: *mut TransactionOptions,
}

// SAFETY: a `rocksdb_transactiondb_t` may be used and closed by any thread, and options are only
// read after they have been made.
unsafe impl Send for TransactionDatabase {}
// SAFETY: RocksDB synchronises calls of several threads on one database by itself.
unsafe impl Sync for TransactionDatabase {}

/// Parts of the table of locks, each with a latch and a condition of its own, on which all who wait
/// in it are woken; RocksDB's default is 16.
const LOCK_STRIPES: usize = 1_024;

/// Transactions of one client, one after the other. What is open when it is dropped is rolled back.
pub struct RocksTransaction<'d> {
    database: &'d TransactionDatabase,
    transaction: *mut crate::api::Transaction,
    /// What it is going to write, a part of it.
    batch: *mut IndexedBatch,
    /// With the snapshot, if there is one.
    reads: *mut ReadOptions,
    snapshot: *const Snapshot,
    /// Whether it was neither committed nor rolled back.
    open: bool,
    /// Open until the first write behind it, and not longer than the transaction.
    cursor: Option<Cursor>,
}

// SAFETY: a transaction and what belongs to it may go from one thread to another; they are used by
// one at a time, since every call takes it whole.
unsafe impl Send for RocksTransaction<'_> {}

impl TransactionDatabase {
    /// Opens the database in a directory, and makes it if it is not there: options as in
    /// [`crate::Database::open`]. A lock is waited for until `lock_wait` is over, in whole
    /// milliseconds; deadlocks are found.
    ///
    /// # Errors
    /// An option that RocksDB does not know, what is wrong with the directory, or a release without
    /// one of the functions.
    pub fn open(
        library: &'static Library,
        directory: &Path,
        options: &str,
        log: WriteDurability,
        lock_wait: Duration,
    ) -> Result<TransactionDatabase, RocksError> {
        let api = library.transactions.as_ref().map_err(|missing| RocksError(missing.clone()))?;
        let name = c_string(directory.as_os_str().as_encoded_bytes())?;
        let options = OpenOptions::parse(library, &format!("create_if_missing=true;{options}"))?;
        let wait_ms = i64::try_from(lock_wait.as_millis()).unwrap_or(i64::MAX);
        // SAFETY: all options are made here, live until the call returns, and are ours alone while
        // they are set.
        let (db, transactions) = unsafe {
            let own = (api.rocksdb_transactiondb_options_create)();
            (api.rocksdb_transactiondb_options_set_transaction_lock_timeout)(own, wait_ms);
            (api.rocksdb_transactiondb_options_set_num_stripes)(own, LOCK_STRIPES);
            let opened = call_checked(library, |error| {
                (api.rocksdb_transactiondb_open)(options.made, own, name.as_ptr(), error)
            });
            (api.rocksdb_transactiondb_options_destroy)(own);
            let db = opened?;
            let transactions = (api.rocksdb_transaction_options_create)();
            (api.rocksdb_transaction_options_set_deadlock_detect)(transactions, 1);
            (db, transactions)
        };
        // SAFETY: makes what it returns.
        let reads = unsafe { (library.api.rocksdb_readoptions_create)() };
        let writes = log.write_options(library);
        Ok(TransactionDatabase { library, api, db, reads, writes, transactions })
    }

    /// Hands out what was committed last under a key, if there is something, without copying it.
    ///
    /// # Errors
    /// RocksDB's refusal, a damaged file for example.
    pub fn get<T>(
        &self,
        key: &[u8],
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, RocksError> {
        let get = self.api.rocksdb_transactiondb_get_pinned;
        // SAFETY: database and options are open; the key is only read.
        let slice = call_checked(self.library, |error| unsafe {
            get(self.db, self.reads, chars(key), key.len(), error)
        })?;
        // SAFETY: RocksDB has just handed it out; it is gone before this call ends.
        Ok(unsafe { PinnedValue::from_slice(self.library, slice) }
            .map(|pinned| take(pinned.value())))
    }

    /// Transactions, for one client. The first is open.
    pub fn transaction(&self) -> RocksTransaction<'_> {
        let api = self.api;
        // SAFETY: database and options are open; the batch is a part of the transaction and only
        // what points to it is made.
        unsafe {
            let transaction = (api.rocksdb_transaction_begin)(
                self.db,
                self.writes,
                self.transactions,
                ptr::null_mut(),
            );
            RocksTransaction {
                database: self,
                transaction,
                batch: (api.rocksdb_transaction_get_writebatch_wi)(transaction),
                reads: (self.library.api.rocksdb_readoptions_create)(),
                snapshot: ptr::null(),
                open: true,
                cursor: None,
            }
        }
    }

    /// What RocksDB says of itself under a name such as `rocksdb.stats`; `None` if it does not know
    /// the name.
    pub fn property(&self, name: &str) -> Option<String> {
        let name = c_string(name.as_bytes()).ok()?;
        let property = self.api.rocksdb_transactiondb_property_value;
        // SAFETY: the database is open; what comes back is null or a text that is ours to free.
        unsafe {
            let value = property(self.db, name.as_ptr());
            if value.is_null() { None } else { Some(take_string(self.library, value)) }
        }
    }
}

impl Drop for TransactionDatabase {
    fn drop(&mut self) {
        let api = &self.library.api;
        // SAFETY: made by `open`, and nobody has them any more: transactions borrow the database.
        unsafe {
            (self.api.rocksdb_transactiondb_close)(self.db);
            (api.rocksdb_readoptions_destroy)(self.reads);
            (api.rocksdb_writeoptions_destroy)(self.writes);
            (self.api.rocksdb_transaction_options_destroy)(self.transactions);
        }
    }
}

impl RocksTransaction<'_> {
    /// Begins the next one. What is still open is rolled back.
    ///
    /// # Errors
    /// RocksDB's refusal to roll that back.
    pub fn begin(&mut self) -> Result<(), RocksError> {
        self.rollback()?;
        let TransactionDatabase { db, writes, transactions, .. } = *self.database;
        // SAFETY: the transaction has ended, so that it may be used again; it stays where it is,
        // and its batch as well.
        let same = unsafe {
            (self.api().rocksdb_transaction_begin)(db, writes, transactions, self.transaction)
        };
        assert_eq!(same, self.transaction, "RocksDB uses the transaction that it is given");
        self.open = true;
        Ok(())
    }

    /// Reads see from now on what is committed now, to the end of the transaction or the next call.
    pub fn take_snapshot(&mut self) {
        self.give_snapshot_back();
        let api = self.api();
        // SAFETY: the database is open; the snapshot lives until it is taken out of the options.
        unsafe {
            self.snapshot = (api.rocksdb_transactiondb_create_snapshot)(self.database.db);
            (api.rocksdb_readoptions_set_snapshot)(self.reads, self.snapshot);
        }
    }

    /// Hands out the value under a key as the transaction sees it, without copying it.
    ///
    /// # Errors
    /// RocksDB's refusal, a damaged file for example.
    pub fn get<T>(
        &mut self,
        key: &[u8],
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, RocksError> {
        let get = self.api().rocksdb_transaction_get_pinned;
        // SAFETY: transaction and options are open; the key is only read.
        let slice = call_checked(self.database.library, |error| unsafe {
            get(self.transaction, self.reads, chars(key), key.len(), error)
        })?;
        // SAFETY: RocksDB has just handed it out; it is gone before this call ends.
        Ok(unsafe { PinnedValue::from_slice(self.database.library, slice) }
            .map(|pinned| take(pinned.value())))
    }

    /// Locks a key, which need not be there, to the end of the transaction, and hands out the value
    /// that was committed last or that the transaction wrote itself.
    ///
    /// # Errors
    /// RocksDB's refusal; see [`RocksError::is_conflict`].
    pub fn get_for_update<T>(
        &mut self,
        key: &[u8],
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, RocksError> {
        const EXCLUSIVE: u8 = 1;
        let get = self.api().rocksdb_transaction_get_pinned_for_update;
        let newest = self.database.reads;
        // SAFETY: transaction and options are open; the key is only read.
        let slice = call_checked(self.database.library, |error| unsafe {
            get(self.transaction, newest, chars(key), key.len(), EXCLUSIVE, error)
        })?;
        // SAFETY: RocksDB has just handed it out; it is gone before this call ends.
        Ok(unsafe { PinnedValue::from_slice(self.database.library, slice) }
            .map(|pinned| take(pinned.value())))
    }

    /// Shows keys and values as the transaction sees them, from a key on, at most `most` of them,
    /// or as long as `visit` returns true.
    ///
    /// # Errors
    /// RocksDB's refusal, a damaged file for example.
    pub fn walk_entries(
        &mut self,
        from: &[u8],
        direction: WalkDirection,
        most: usize,
        visit: impl FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), RocksError> {
        if self.snapshot.is_null() {
            self.cursor = None;
        }
        let (library, api) = (self.database.library, self.api());
        let (transaction, reads) = (self.transaction, self.reads);
        let cursor = self.cursor.get_or_insert_with(|| {
            // SAFETY: transaction and options are open; the cursor ends before the transaction
            // does, its snapshot, and the options.
            unsafe {
                let create = api.rocksdb_transaction_create_iterator;
                Cursor::from_iterator(library, create(transaction, reads))
            }
        });
        cursor.walk_entries(from, direction, most, visit)
    }

    /// Locks a key and writes a value under it, whatever was there.
    ///
    /// # Errors
    /// RocksDB's refusal; see [`RocksError::is_conflict`].
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), RocksError> {
        self.cursor = None;
        let put = self.api().rocksdb_transaction_put;
        // SAFETY: the transaction is open; key and value are copied by the call.
        call_checked(self.database.library, |error| unsafe {
            put(self.transaction, chars(key), key.len(), chars(value), value.len(), error);
        })
    }

    /// Locks a key and takes it away, if it is there.
    ///
    /// # Errors
    /// RocksDB's refusal; see [`RocksError::is_conflict`].
    pub fn delete(&mut self, key: &[u8]) -> Result<(), RocksError> {
        self.cursor = None;
        let delete = self.api().rocksdb_transaction_delete;
        // SAFETY: the transaction is open; the key is copied by the call.
        call_checked(self.database.library, |error| unsafe {
            delete(self.transaction, chars(key), key.len(), error);
        })
    }

    /// As [`RocksTransaction::put`], without a lock: for keys that only who has locked another one
    /// writes, such as entries of an index that are not unique, and the row that they are of.
    pub fn put_unlocked(&mut self, key: &[u8], value: &[u8]) {
        self.cursor = None;
        let put = self.api().rocksdb_writebatch_wi_put;
        // SAFETY: the batch is a part of the transaction, which is open; it copies key and value.
        unsafe { put(self.batch, chars(key), key.len(), chars(value), value.len()) };
    }

    /// As [`RocksTransaction::delete`], without a lock.
    pub fn delete_unlocked(&mut self, key: &[u8]) {
        self.cursor = None;
        let delete = self.api().rocksdb_writebatch_wi_delete;
        // SAFETY: the batch is a part of the transaction, which is open; it copies the key.
        unsafe { delete(self.batch, chars(key), key.len()) };
    }

    /// Writes all or nothing of it, lets others see it and gives its locks back.
    ///
    /// # Errors
    /// RocksDB's refusal; the transaction stays open.
    pub fn commit(&mut self) -> Result<(), RocksError> {
        self.give_snapshot_back();
        // SAFETY: the transaction is there, open or ended, which RocksDB looks at itself.
        call_checked(self.database.library, |error| unsafe {
            (self.api().rocksdb_transaction_commit)(self.transaction, error);
        })?;
        self.open = false;
        Ok(())
    }

    /// Forgets what it wrote and gives its locks back.
    ///
    /// # Errors
    /// RocksDB's refusal; the transaction stays open.
    pub fn rollback(&mut self) -> Result<(), RocksError> {
        self.give_snapshot_back();
        if !self.open {
            return Ok(());
        }
        // SAFETY: the transaction is open.
        call_checked(self.database.library, |error| unsafe {
            (self.api().rocksdb_transaction_rollback)(self.transaction, error);
        })?;
        self.open = false;
        Ok(())
    }

    fn give_snapshot_back(&mut self) {
        self.cursor = None;
        if self.snapshot.is_null() {
            return;
        }
        let api = self.api();
        // SAFETY: the snapshot is one of this database; nothing reads with it any more.
        unsafe {
            (api.rocksdb_readoptions_set_snapshot)(self.reads, ptr::null());
            (api.rocksdb_transactiondb_release_snapshot)(self.database.db, self.snapshot);
        }
        self.snapshot = ptr::null();
    }

    fn api(&self) -> &'static TransactionApi {
        self.database.api
    }
}

impl Drop for RocksTransaction<'_> {
    fn drop(&mut self) {
        self.give_snapshot_back();
        let api = &self.database.library.api;
        // SAFETY: made by `transaction`, the database is open. The end of the transaction takes
        // its batch along; what pointed to it was allocated for us.
        unsafe {
            (api.rocksdb_free)(self.batch.cast());
            (self.api().rocksdb_transaction_destroy)(self.transaction);
            (api.rocksdb_readoptions_destroy)(self.reads);
        }
    }
}
