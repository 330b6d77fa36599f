//! The side of RocksDB: keys and rows as bytes, entries of indexes written beside the row.
//!
//! ```text
//!   sbtest   00 00 00 01 │ id              ─►  k 4, c 120, pad 60
//!   index k  00 00 00 02 │ k │ id          ─►  nothing
//!   …        a number for each table and index, as MyRocks has it; numbers with the big end first
//! ```
//!
//! As MyRocks does, entries of indexes that are not unique are written without a lock of their own:
//! who writes one has locked its row. Rows are packed as tight as their values allow.

use std::array;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dbdyno_rocks::{
    Database, Library, RocksTransaction, TransactionDatabase, WalkDirection, WriteDurability,
};

use crate::answers::Answers;
use crate::contents::{Contents, RowSum};
use crate::failure::Failure;
use crate::side::{RivalClient, RivalDatabase, RivalDurability};
use crate::statements::{Asking, Statements};
use crate::work::{
    C_BYTES, CUSTOMER, Filling, LAST_BYTES, RANGE, Sbtest, Scale, TABLES, TpccRow, TpccTable,
    fill_tables,
};

/// Options for tables that are in memory all the time: a cache that holds everything, nothing
/// compressed, filters for points in memory and in files but the last level's, whose keys are
/// there. Every fourth key of a block whole suits points better than an index of hashes; another
/// size of what is not yet in files, and files mapped into memory, made no clear difference.
pub const OPTIONS: &str = "compression=kNoCompression;allow_concurrent_memtable_write=true;\
    enable_write_thread_adaptive_yield=true;max_open_files=-1;write_buffer_size=134217728;\
    max_background_jobs=2;memtable_whole_key_filtering=true;memtable_prefix_bloom_size_ratio=0.1;\
    level_compaction_dynamic_level_bytes=true;optimize_filters_for_hits=true;\
    stats_dump_period_sec=0;stats_persist_period_sec=0;\
    block_based_table_factory={block_cache=4294967296;filter_policy=bloomfilter:10:false;\
    block_restart_interval=4;format_version=5;block_size=4096;cache_index_and_filter_blocks=false}";

const SBTEST: u32 = 1;
const SBTEST_K: u32 = 2;
const CUSTOMER_LAST: u32 = 3;
/// The number of the first of [`TABLES`].
const TPCC: u32 = 4;

/// A database of RocksDB that is open.
pub struct RocksSide {
    database: TransactionDatabase,
    about: String,
    /// The key of the last row of the table without a key of its own.
    last_history: AtomicU64,
}

impl RocksSide {
    /// Fills an empty directory with tables of this size, compacts them and opens them for
    /// transactions.
    ///
    /// # Errors
    /// What RocksDB refuses.
    pub fn open(
        library: &'static Library,
        directory: &Path,
        options: &str,
        durability: RivalDurability,
        scale: &Scale,
    ) -> Result<RocksSide, Failure> {
        let plain = Database::open(library, directory, options, WriteDurability::Off)?;
        let mut to = Filler { database: &plain, batch: Vec::new() };
        fill_tables(scale, &mut to)?;
        to.end()?;
        plain.flush()?;
        plain.compact();
        drop(plain);
        let log = match durability {
            RivalDurability::Written => WriteDurability::Written,
            RivalDurability::Synced => WriteDurability::Synced,
        };
        let wait = Duration::from_secs(50);
        let database = TransactionDatabase::open(library, directory, options, log, wait)?;
        let built = if library.is_for_debugging() { ", built with assertions" } else { "" };
        let about = format!("RocksDB {}{built}, log {log:?}, {options}", library.version());
        Ok(RocksSide { database, about, last_history: AtomicU64::new(0) })
    }
}

/// A key: the number of a table, and numbers.
struct Key {
    bytes: [u8; 32],
    length: usize,
}

impl Key {
    #[inline]
    fn new(table: u32, parts: &[i64]) -> Key {
        let mut key = Key { bytes: [0; 32], length: 0 };
        key.push(&table.to_be_bytes());
        parts.iter().for_each(|&part| key.push(&(part as u32).to_be_bytes()));
        key
    }

    #[inline]
    fn of(table: TpccTable, parts: &[i64]) -> Key {
        Key::new(TPCC + table.place as u32, parts)
    }

    #[inline]
    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn of_name(district: &[i64], last: &[u8]) -> Key {
        let mut key = Key::new(CUSTOMER_LAST, district);
        // Names have no more bytes than this, and blanks behind them.
        key.push(last);
        key
    }
}

/// The number at a place of a key, tables' numbers aside.
#[inline]
fn part(key: &[u8], place: usize) -> i64 {
    let bytes = key[4 + 4 * place..][..4].try_into().expect("four bytes");
    i64::from(u32::from_be_bytes(bytes))
}

/// The customer at the end of an entry of the index on names.
#[inline]
fn named(entry: &[u8]) -> i64 {
    i64::from(u32::from_be_bytes(entry[28..].try_into().expect("four bytes")))
}

/// The number at a place of a row.
#[inline]
fn field(row: &[u8], place: usize) -> i64 {
    i64::from_le_bytes(row[8 * place..][..8].try_into().expect("eight bytes"))
}

#[inline]
fn set_field(row: &mut [u8], place: usize, number: i64) {
    row[8 * place..][..8].copy_from_slice(&number.to_le_bytes());
}

/// Overwrites the bytes of a row.
fn write(row: TpccRow<'_>, into: &mut Vec<u8>) {
    into.clear();
    row.numbers.iter().for_each(|number| into.extend_from_slice(&number.to_le_bytes()));
    into.extend_from_slice(row.text);
}

/// A row of sysbench's table.
fn sbtest(it: &Sbtest) -> [u8; C.end + 60] {
    let mut row = [0; C.end + 60];
    row[..4].copy_from_slice(&(it.k as u32).to_le_bytes());
    row[C].copy_from_slice(&it.c);
    row[C.end..].copy_from_slice(&it.pad);
    row
}

const C: std::ops::Range<usize> = 4..4 + C_BYTES;

fn k_of(row: &[u8]) -> i64 {
    i64::from(u32::from_le_bytes(row[..4].try_into().expect("four bytes")))
}

/// The first numbers of a row, and the beginning of its text.
#[inline]
fn cells<const N: usize, const T: usize>(row: &[u8], table: TpccTable) -> ([i64; N], [u8; T]) {
    let text = row[8 * table.numbers..][..T].try_into().expect("as many bytes");
    (array::from_fn(|place| field(row, place)), text)
}

/// What is said of a row that is named by its key.
const THERE: &str = "every row is there";

/// Rows of one batch while tables are filled.
const BATCH: usize = 1_000;

/// Puts rows in, many at a time.
struct Filler<'d> {
    database: &'d Database,
    batch: Vec<(Key, Vec<u8>)>,
}

impl Filler<'_> {
    fn put(&mut self, key: Key, row: Vec<u8>) -> Result<(), Failure> {
        self.batch.push((key, row));
        if self.batch.len() < BATCH { Ok(()) } else { self.end() }
    }

    fn end(&mut self) -> Result<(), Failure> {
        let full = std::mem::take(&mut self.batch);
        Ok(self.database.put_all(full.iter().map(|(key, row)| (key.bytes(), &row[..])))?)
    }
}

impl Filling for Filler<'_> {
    fn put_sbtest_row(&mut self, id: i64, row: &Sbtest) -> Result<(), Failure> {
        self.put(Key::new(SBTEST, &[id]), sbtest(row).to_vec())?;
        self.put(Key::new(SBTEST_K, &[row.k, id]), Vec::new())
    }

    fn put_row(&mut self, row: TpccRow<'_>) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        write(row, &mut bytes);
        self.put(Key::of(row.table, row.key), bytes)?;
        if row.table == CUSTOMER {
            let mut entry = Key::of_name(&row.key[..2], &row.text[..LAST_BYTES]);
            entry.push(&(row.key[2] as u32).to_be_bytes());
            self.put(entry, Vec::new())?;
        }
        Ok(())
    }
}

impl RivalDatabase for RocksSide {
    fn client(&self) -> Box<dyn RivalClient + '_> {
        let mut transaction = self.database.transaction();
        transaction.rollback().expect("a transaction without a write is rolled back");
        Box::new(Asking(RocksClient { side: self, transaction, row: Vec::new() }))
    }

    fn read_contents(&self) -> Result<Contents, Failure> {
        let mut contents = Contents::default();
        let mut transaction = self.database.transaction();
        transaction.walk_entries(&[], WalkDirection::Forwards, usize::MAX, |key, row| {
            let (name, sum) = summed(key, row);
            contents.add_row(name, sum);
            true
        })?;
        Ok(contents)
    }

    fn describe_setup(&self) -> String {
        self.about.clone()
    }
}

/// The name of a row's table or index, and the sum of its values in the order of the engine's
/// columns.
fn summed(key: &[u8], row: &[u8]) -> (&'static str, RowSum) {
    let number = |sum: RowSum, place| sum.with_number(part(key, place));
    match u32::from_be_bytes(key[..4].try_into().expect("four bytes")) {
        SBTEST => {
            let sum = number(RowSum::new(), 0).with_number(k_of(row));
            ("sbtest", sum.with_text(&row[C]).with_text(&row[C.end..]))
        }
        SBTEST_K => ("sbtest.second", [0, 1].into_iter().fold(RowSum::new(), number)),
        CUSTOMER_LAST => {
            let sum = [0, 1].into_iter().fold(RowSum::new(), number).with_text(&key[12..28]);
            ("customer.second", sum.with_number(named(key)))
        }
        other => {
            let table = TABLES[(other - TPCC) as usize];
            let sum = table.settled_keys().fold(RowSum::new(), number);
            let mut sum =
                (0..table.numbers).fold(sum, |sum, place| sum.with_number(field(row, place)));
            let mut texts = &row[8 * table.numbers..];
            for &length in table.texts {
                let (text, rest) = texts.split_at(length);
                (sum, texts) = (sum.with_text(text), rest);
            }
            (table.name, sum)
        }
    }
}

struct RocksClient<'s> {
    side: &'s RocksSide,
    transaction: RocksTransaction<'s>,
    row: Vec<u8>,
}

impl Statements for RocksClient<'_> {
    fn begin(&mut self) -> Result<(), Failure> {
        Ok(self.transaction.begin()?)
    }

    fn open_view(&mut self) {
        self.transaction.take_snapshot();
    }

    fn commit(&mut self) -> Result<(), Failure> {
        Ok(self.transaction.commit()?)
    }

    fn rollback(&mut self) -> Result<(), Failure> {
        Ok(self.transaction.rollback()?)
    }

    fn lone_row(&mut self, id: i64, answers: &mut Answers) -> Result<(), Failure> {
        let key = Key::new(SBTEST, &[id]);
        let found = self.side.database.get(key.bytes(), |row| answers.add_text(&row[C]))?;
        found.expect(THERE);
        Ok(())
    }

    fn select_row(&mut self, id: i64, answers: &mut Answers) -> Result<(), Failure> {
        let key = Key::new(SBTEST, &[id]);
        let found = self.transaction.get(key.bytes(), |row| answers.add_text(&row[C]))?;
        found.expect(THERE);
        Ok(())
    }

    fn select_range(&mut self, from: i64, answers: &mut Answers) -> Result<(), Failure> {
        self.each_in_range(from, |row| answers.add_text(&row[C]))
    }

    fn sum(&mut self, from: i64) -> Result<i64, Failure> {
        let mut sum = 0;
        self.each_in_range(from, |row| sum += k_of(row))?;
        Ok(sum)
    }

    fn add_to_k(&mut self, id: i64) -> Result<(), Failure> {
        let key = Key::new(SBTEST, &[id]);
        self.lock(&key)?;
        let k = k_of(&self.row);
        self.row[..4].copy_from_slice(&(k as u32 + 1).to_le_bytes());
        self.put(&key)?;
        self.transaction.delete_unlocked(Key::new(SBTEST_K, &[k, id]).bytes());
        self.transaction.put_unlocked(Key::new(SBTEST_K, &[k + 1, id]).bytes(), &[]);
        Ok(())
    }

    fn set_c(&mut self, id: i64, c: &[u8; C_BYTES]) -> Result<(), Failure> {
        let key = Key::new(SBTEST, &[id]);
        self.lock(&key)?;
        self.row[C].copy_from_slice(c);
        self.put(&key)
    }

    fn replace(&mut self, id: i64, row: &Sbtest) -> Result<(), Failure> {
        let key = Key::new(SBTEST, &[id]);
        self.lock(&key)?;
        self.transaction.delete(key.bytes())?;
        self.transaction.delete_unlocked(Key::new(SBTEST_K, &[k_of(&self.row), id]).bytes());
        // Whether it is there would be asked before an insert, and answered from the batch.
        let there = self.transaction.get_for_update(key.bytes(), |_| ())?;
        assert!(there.is_none(), "it was just deleted");
        self.transaction.put(key.bytes(), &sbtest(row))?;
        self.transaction.put_unlocked(Key::new(SBTEST_K, &[row.k, id]).bytes(), &[]);
        Ok(())
    }

    fn read<const N: usize, const T: usize>(
        &mut self,
        table: TpccTable,
        key: &[i64],
    ) -> Result<([i64; N], [u8; T]), Failure> {
        let read = self.transaction.get(Key::of(table, key).bytes(), |row| cells(row, table))?;
        Ok(read.expect(THERE))
    }

    fn update_row<const N: usize, const T: usize>(
        &mut self,
        table: TpccTable,
        key: &[i64],
        set: impl FnOnce(&mut [i64; N]),
    ) -> Result<[u8; T], Failure> {
        let key = Key::of(table, key);
        self.lock(&key)?;
        let (mut numbers, text) = cells(&self.row, table);
        set(&mut numbers);
        for (place, number) in numbers.into_iter().enumerate() {
            set_field(&mut self.row, place, number);
        }
        self.put(&key)?;
        Ok(text)
    }

    fn insert(&mut self, row: TpccRow<'_>) -> Result<(), Failure> {
        write(row, &mut self.row);
        if row.key.is_empty() {
            let last = self.side.last_history.fetch_add(1, Ordering::Relaxed) as i64;
            // Nobody else has this key.
            let key = Key::of(row.table, &[last >> 32, last]);
            self.transaction.put_unlocked(key.bytes(), &self.row);
            return Ok(());
        }
        let key = Key::of(row.table, row.key);
        if self.transaction.get_for_update(key.bytes(), |_| ())?.is_some() {
            return Err(Failure::Broken("there is such a row already".to_owned()));
        }
        self.put(&key)
    }

    fn customers_by_name(
        &mut self,
        district: [i64; 2],
        last: &[u8; LAST_BYTES],
    ) -> Result<Vec<i64>, Failure> {
        let mut found = Vec::with_capacity(8);
        let from = Key::of_name(&district, last);
        self.transaction.take_snapshot();
        self.transaction.walk_entries(
            from.bytes(),
            WalkDirection::Forwards,
            usize::MAX,
            |key, _| {
                let is_of_it = key.starts_with(from.bytes());
                if is_of_it {
                    found.push(named(key));
                }
                is_of_it
            },
        )?;
        Ok(found)
    }
}

impl RocksClient<'_> {
    /// Shows the rows of a range of sysbench's table.
    fn each_in_range(&mut self, from: i64, mut show: impl FnMut(&[u8])) -> Result<(), Failure> {
        let (from, last) = (Key::new(SBTEST, &[from]), Key::new(SBTEST, &[from + RANGE - 1]));
        let visit = |key: &[u8], row: &[u8]| {
            if key > last.bytes() {
                return false;
            }
            show(row);
            // Behind the last one there is nothing to look for.
            key != last.bytes()
        };
        self.transaction.walk_entries(from.bytes(), WalkDirection::Forwards, usize::MAX, visit)?;
        Ok(())
    }

    /// Locks a row that is there, and takes a copy of what was committed last.
    fn lock(&mut self, key: &Key) -> Result<(), Failure> {
        let row = &mut self.row;
        self.transaction
            .get_for_update(key.bytes(), |found| {
                row.clear();
                row.extend_from_slice(found);
            })?
            .expect(THERE);
        Ok(())
    }

    /// Writes the copy.
    fn put(&mut self, key: &Key) -> Result<(), Failure> {
        Ok(self.transaction.put(key.bytes(), &self.row)?)
    }
}
