//! The functions of `rocksdb/c.h` that are used, by name.
//!
//! ```text
//!   functions! { Api: rocksdb_open: fn(…) -> …; … }   ──▶  struct Api { rocksdb_open: …, … }
//!                                                         Api::find(symbol by name)
//! ```
//!
//! Types are those of the header of RocksDB 7.8: its structures are opaque, `unsigned char` is a
//! truth value, sizes are `size_t`. An `errptr` is set to a text that is to be freed, or left. What
//! transactions need is apart: releases before 7 have not all of it and can do without.

use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};

/// Something that only RocksDB looks into.
macro_rules! opaque {
    ($($name:ident)*) => {
        $(
            #[repr(C)]
            pub(crate) struct $name {
                _opaque: [u8; 0],
            }
        )*
    };
}

opaque! {
    Db Options ReadOptions WriteOptions FlushOptions Batch Iter Slice
    TransactionDb TransactionDbOptions TransactionOptions Transaction Snapshot IndexedBatch
}

macro_rules! functions {
    ($(#[$about:meta])* $api:ident:
     $($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        $(#[$about])*
        pub(crate) struct $api {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        $(#[$about])*
        impl $api {
            /// Finds all functions, or says which one is not there.
            ///
            /// # Safety
            /// What `find` returns for a name is null or the function of that name of RocksDB's C
            /// API, and stays where it is.
            pub(crate) unsafe fn find(
                mut find: impl FnMut(&CStr) -> *mut c_void,
            ) -> Result<$api, &'static str> {
                $(
                    let text = concat!(stringify!($name), "\0");
                    let name = CStr::from_bytes_with_nul(text.as_bytes());
                    let found = find(name.expect("a name has its zero at the end"));
                    if found.is_null() {
                        return Err(stringify!($name));
                    }
                    // SAFETY: not null, and by the caller's word the function of that name, whose
                    // type is the one declared here.
                    let $name = unsafe {
                        std::mem::transmute::<
                            *mut c_void,
                            unsafe extern "C" fn($($argument),*) $(-> $result)?,
                        >(found)
                    };
                )*
                Ok($api { $($name),* })
            }
        }
    };
}

type Text = *const c_char;
type Error = *mut *mut c_char;

functions! {
    #[expect(non_snake_case, reason = "disable_WAL is RocksDB's spelling")]
    Api:
    rocksdb_options_create: fn() -> *mut Options;
    rocksdb_options_destroy: fn(*mut Options);
    rocksdb_get_options_from_string: fn(*const Options, Text, *mut Options, Error);
    rocksdb_open: fn(*const Options, Text, Error) -> *mut Db;
    rocksdb_close: fn(*mut Db);
    rocksdb_put: fn(*mut Db, *const WriteOptions, Text, usize, Text, usize, Error);
    rocksdb_write: fn(*mut Db, *const WriteOptions, *mut Batch, Error);
    rocksdb_get_pinned: fn(*mut Db, *const ReadOptions, Text, usize, Error) -> *mut Slice;
    rocksdb_pinnableslice_value: fn(*const Slice, *mut usize) -> Text;
    rocksdb_pinnableslice_destroy: fn(*mut Slice);
    rocksdb_create_iterator: fn(*mut Db, *const ReadOptions) -> *mut Iter;
    rocksdb_iter_destroy: fn(*mut Iter);
    rocksdb_iter_valid: fn(*const Iter) -> c_uchar;
    rocksdb_iter_seek: fn(*mut Iter, Text, usize);
    rocksdb_iter_seek_for_prev: fn(*mut Iter, Text, usize);
    rocksdb_iter_next: fn(*mut Iter);
    rocksdb_iter_prev: fn(*mut Iter);
    rocksdb_iter_key: fn(*const Iter, *mut usize) -> Text;
    rocksdb_iter_value: fn(*const Iter, *mut usize) -> Text;
    rocksdb_iter_get_error: fn(*const Iter, Error);
    rocksdb_writebatch_create: fn() -> *mut Batch;
    rocksdb_writebatch_destroy: fn(*mut Batch);
    rocksdb_writebatch_put: fn(*mut Batch, Text, usize, Text, usize);
    rocksdb_writebatch_delete_range: fn(*mut Batch, Text, usize, Text, usize);
    rocksdb_readoptions_create: fn() -> *mut ReadOptions;
    rocksdb_readoptions_destroy: fn(*mut ReadOptions);
    rocksdb_writeoptions_create: fn() -> *mut WriteOptions;
    rocksdb_writeoptions_destroy: fn(*mut WriteOptions);
    rocksdb_writeoptions_set_sync: fn(*mut WriteOptions, c_uchar);
    rocksdb_writeoptions_disable_WAL: fn(*mut WriteOptions, c_int);
    rocksdb_flushoptions_create: fn() -> *mut FlushOptions;
    rocksdb_flushoptions_destroy: fn(*mut FlushOptions);
    rocksdb_flushoptions_set_wait: fn(*mut FlushOptions, c_uchar);
    rocksdb_flush: fn(*mut Db, *const FlushOptions, Error);
    rocksdb_compact_range: fn(*mut Db, Text, usize, Text, usize);
    rocksdb_property_value: fn(*mut Db, Text) -> *mut c_char;
    rocksdb_free: fn(*mut c_void);
}

functions! {
    TransactionApi:
    rocksdb_readoptions_set_snapshot: fn(*mut ReadOptions, *const Snapshot);
    rocksdb_transactiondb_options_create: fn() -> *mut TransactionDbOptions;
    rocksdb_transactiondb_options_destroy: fn(*mut TransactionDbOptions);
    rocksdb_transactiondb_options_set_transaction_lock_timeout:
        fn(*mut TransactionDbOptions, i64);
    rocksdb_transactiondb_options_set_num_stripes: fn(*mut TransactionDbOptions, usize);
    rocksdb_transactiondb_open:
        fn(*const Options, *const TransactionDbOptions, Text, Error) -> *mut TransactionDb;
    rocksdb_transactiondb_close: fn(*mut TransactionDb);
    rocksdb_transactiondb_get_pinned:
        fn(*mut TransactionDb, *const ReadOptions, Text, usize, Error) -> *mut Slice;
    rocksdb_transactiondb_property_value: fn(*mut TransactionDb, Text) -> *mut c_char;
    rocksdb_transactiondb_create_snapshot: fn(*mut TransactionDb) -> *const Snapshot;
    rocksdb_transactiondb_release_snapshot: fn(*mut TransactionDb, *const Snapshot);
    rocksdb_transaction_options_create: fn() -> *mut TransactionOptions;
    rocksdb_transaction_options_destroy: fn(*mut TransactionOptions);
    rocksdb_transaction_options_set_deadlock_detect: fn(*mut TransactionOptions, c_uchar);
    rocksdb_transaction_begin:
        fn(*mut TransactionDb, *const WriteOptions, *const TransactionOptions, *mut Transaction)
        -> *mut Transaction;
    rocksdb_transaction_commit: fn(*mut Transaction, Error);
    rocksdb_transaction_rollback: fn(*mut Transaction, Error);
    rocksdb_transaction_destroy: fn(*mut Transaction);
    rocksdb_transaction_get_pinned:
        fn(*mut Transaction, *const ReadOptions, Text, usize, Error) -> *mut Slice;
    rocksdb_transaction_get_pinned_for_update:
        fn(*mut Transaction, *const ReadOptions, Text, usize, c_uchar, Error) -> *mut Slice;
    rocksdb_transaction_put: fn(*mut Transaction, Text, usize, Text, usize, Error);
    rocksdb_transaction_delete: fn(*mut Transaction, Text, usize, Error);
    rocksdb_transaction_create_iterator: fn(*mut Transaction, *const ReadOptions) -> *mut Iter;
    rocksdb_transaction_get_writebatch_wi: fn(*mut Transaction) -> *mut IndexedBatch;
    rocksdb_writebatch_wi_put: fn(*mut IndexedBatch, Text, usize, Text, usize);
    rocksdb_writebatch_wi_delete: fn(*mut IndexedBatch, Text, usize);
}
