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

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dbdyno_rocks::{
    Database, Direction, Library, Log, RocksError, Transaction, TransactionDatabase,
};

use crate::answers::Answers;
use crate::contents::{Contents, RowSum};
use crate::side::{Client, Durability, Failure, Side};
use crate::work::{
    DISTRICTS, NAMES, NewOrder, Payer, Payment, RANGE, ReadWrite, Scale, filler, name, sbtest_rows,
    stock_left,
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
const WAREHOUSE: u32 = 3;
const DISTRICT: u32 = 4;
const CUSTOMER: u32 = 5;
const CUSTOMER_LAST: u32 = 6;
const HISTORY: u32 = 7;
const ITEM: u32 = 8;
const STOCK: u32 = 9;
const ORDERS: u32 = 10;
const NEW_ORDER: u32 = 11;
const ORDER_LINE: u32 = 12;

/// Names of tables and indexes, for [`Contents`].
const NAMES_OF: [(u32, &str); 12] = [
    (SBTEST, "sbtest"),
    (SBTEST_K, "sbtest.second"),
    (WAREHOUSE, "warehouse"),
    (DISTRICT, "district"),
    (CUSTOMER, "customer"),
    (CUSTOMER_LAST, "customer.second"),
    (HISTORY, "history"),
    (ITEM, "item"),
    (STOCK, "stock"),
    (ORDERS, "orders"),
    (NEW_ORDER, "new_order"),
    (ORDER_LINE, "order_line"),
];

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
        durability: Durability,
        scale: &Scale,
    ) -> Result<RocksSide, Failure> {
        let plain = Database::open(library, directory, options, Log::Off)?;
        fill(&plain, scale)?;
        plain.flush()?;
        plain.compact();
        drop(plain);
        let log = match durability {
            Durability::Written => Log::Written,
            Durability::Synced => Log::Synced,
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
    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn of_name(warehouse: i64, district: i64, last: &[u8; 16]) -> Key {
        let mut key = Key::new(CUSTOMER_LAST, &[warehouse, district]);
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

/// The number at a place of a row.
#[inline]
fn field(row: &[u8], place: usize) -> i64 {
    i64::from_le_bytes(row[8 * place..][..8].try_into().expect("eight bytes"))
}

#[inline]
fn set_field(row: &mut [u8], place: usize, number: i64) {
    row[8 * place..][..8].copy_from_slice(&number.to_le_bytes());
}

/// A row of numbers and a text.
fn row(numbers: &[i64], text: &[u8]) -> Vec<u8> {
    let mut row = Vec::with_capacity(8 * numbers.len() + text.len());
    numbers.iter().for_each(|number| row.extend_from_slice(&number.to_le_bytes()));
    row.extend_from_slice(text);
    row
}

/// A row of sysbench's table.
fn sbtest(k: i64, c: &[u8; 120], pad: &[u8; 60]) -> [u8; 184] {
    let mut row = [0; 184];
    row[..4].copy_from_slice(&(k as u32).to_le_bytes());
    row[C].copy_from_slice(c);
    row[124..].copy_from_slice(pad);
    row
}

const C: std::ops::Range<usize> = 4..124;

fn k_of(row: &[u8]) -> i64 {
    i64::from(u32::from_le_bytes(row[..4].try_into().expect("four bytes")))
}

/// Rows of one batch while tables are filled.
const BATCH: usize = 1_000;

/// Puts rows in, many at a time.
struct Filler<'d> {
    database: &'d Database,
    batch: Vec<(Key, Vec<u8>)>,
}

impl Filler<'_> {
    fn put(&mut self, key: Key, row: &[u8]) -> Result<(), RocksError> {
        self.batch.push((key, row.to_vec()));
        if self.batch.len() < BATCH { Ok(()) } else { self.end() }
    }

    fn end(&mut self) -> Result<(), RocksError> {
        let full = std::mem::take(&mut self.batch);
        self.database.put_all(full.iter().map(|(key, row)| (key.bytes(), &row[..])))
    }
}

fn fill(database: &Database, scale: &Scale) -> Result<(), RocksError> {
    let mut to = Filler { database, batch: Vec::new() };
    for (id, it) in sbtest_rows(*scale) {
        to.put(Key::new(SBTEST, &[id]), &sbtest(it.k, &it.c, &it.pad))?;
        to.put(Key::new(SBTEST_K, &[it.k, id]), &[])?;
    }
    for i in 1..=scale.items {
        to.put(Key::new(ITEM, &[i]), &row(&[100 + i * 7 % 9_900], &filler::<24>(&[0, i])))?;
    }
    for w in 1..=scale.warehouses {
        to.put(Key::new(WAREHOUSE, &[w]), &row(&[w % 20, 0], &filler::<80>(&[1, w])))?;
        for i in 1..=scale.items {
            let stock = row(&[10 + (w + i) % 91, 0, 0], &filler::<250>(&[2, w, i]));
            to.put(Key::new(STOCK, &[w, i]), &stock)?;
        }
        for d in 1..=DISTRICTS {
            let district = row(&[d % 20, 1, 0], &filler::<80>(&[3, w, d]));
            to.put(Key::new(DISTRICT, &[w, d]), &district)?;
            for c in 1..=scale.customers {
                let last = name(c % NAMES);
                let text = [&last[..], &filler::<300>(&[4, w, d, c])].concat();
                to.put(Key::new(CUSTOMER, &[w, d, c]), &row(&[c % 50, -1_000, 0], &text))?;
                let mut entry = Key::of_name(w, d, &last);
                entry.push(&(c as u32).to_be_bytes());
                to.put(entry, &[])?;
            }
        }
    }
    to.end()
}

impl Side for RocksSide {
    fn client(&self) -> Box<dyn Client + '_> {
        let mut transaction = self.database.transaction();
        transaction.rollback().expect("a transaction without a write is rolled back");
        Box::new(RocksClient { side: self, transaction, row: Vec::new() })
    }

    fn contents(&self) -> Result<Contents, Failure> {
        let mut contents = Contents::default();
        let mut transaction = self.database.transaction();
        let count = |key: &[u8], row: &[u8]| {
            let table = u32::from_be_bytes(key[..4].try_into().expect("four bytes"));
            if let Some((_, name)) = NAMES_OF.iter().find(|(known, _)| *known == table) {
                contents.add(name, sum(table, key, row));
            }
            true
        };
        transaction.walk(&[], Direction::Forwards, usize::MAX, count)?;
        Ok(contents)
    }

    fn about(&self) -> String {
        self.about.clone()
    }
}

/// The sum of a row, with its values in the order of the engine's columns.
fn sum(table: u32, key: &[u8], row: &[u8]) -> RowSum {
    let keys = |places: &[usize]| {
        places.iter().fold(RowSum::new(), |sum, &place| sum.number(part(key, place)))
    };
    let fields =
        |sum: RowSum, many: usize| (0..many).fold(sum, |sum, place| sum.number(field(row, place)));
    let all = |sum: RowSum, many: usize| fields(sum, many).text(&row[8 * many..]);
    match table {
        SBTEST => keys(&[0]).number(k_of(row)).text(&row[C]).text(&row[124..]),
        WAREHOUSE => all(keys(&[0]), 2),
        DISTRICT => all(keys(&[0, 1]), 3),
        CUSTOMER => {
            let (last, data) = row[24..].split_at(16);
            fields(keys(&[0, 1, 2]).text(last), 3).text(data)
        }
        CUSTOMER_LAST => {
            let last = keys(&[0, 1]).text(&key[12..28]);
            last.number(i64::from(u32::from_be_bytes(key[28..].try_into().expect("four bytes"))))
        }
        HISTORY => fields(RowSum::new(), 4),
        ITEM => all(keys(&[0]), 1),
        STOCK => all(keys(&[0, 1]), 3),
        ORDERS => fields(keys(&[0, 1]), 3),
        ORDER_LINE => all(keys(&[0, 1, 3]), 4),
        // The index on k, and orders that are new: of those the first two parts.
        _ => keys(&[0, 1]),
    }
}

struct RocksClient<'s> {
    side: &'s RocksSide,
    transaction: Transaction<'s>,
    row: Vec<u8>,
}

impl Client for RocksClient<'_> {
    fn point(&mut self, id: i64, answers: &mut Answers) -> Result<(), Failure> {
        answers.begin();
        let key = Key::new(SBTEST, &[id]);
        self.side.database.get(key.bytes(), |row| answers.text(&row[C]))?;
        answers.end();
        Ok(())
    }

    fn read_write(&mut self, what: &ReadWrite, answers: &mut Answers) -> Result<(), Failure> {
        let done = self.try_read_write(what, answers);
        self.ended(done)
    }

    fn new_order(&mut self, what: &NewOrder, answers: &mut Answers) -> Result<(), Failure> {
        let done = self.try_new_order(what, answers);
        self.ended(done)
    }

    fn payment(&mut self, what: &Payment, answers: &mut Answers) -> Result<(), Failure> {
        let done = self.try_payment(what, answers);
        self.ended(done)
    }
}

impl RocksClient<'_> {
    fn ended(&mut self, done: Result<(), Failure>) -> Result<(), Failure> {
        if done.is_err() {
            self.transaction.rollback()?;
        }
        done
    }

    /// Shows the rows of a range of sysbench's table.
    fn range(&mut self, from: i64, mut show: impl FnMut(&[u8])) -> Result<(), Failure> {
        let (from, last) = (Key::new(SBTEST, &[from]), Key::new(SBTEST, &[from + RANGE - 1]));
        let visit = |key: &[u8], row: &[u8]| {
            if key > last.bytes() {
                return false;
            }
            show(row);
            // Behind the last one there is nothing to look for.
            key != last.bytes()
        };
        self.transaction.walk(from.bytes(), Direction::Forwards, usize::MAX, visit)?;
        Ok(())
    }

    /// Locks a row that is there, and takes a copy of what was committed last.
    fn lock(&mut self, key: &Key) -> Result<(), Failure> {
        let row = &mut self.row;
        let copy = |found: &[u8]| {
            row.clear();
            row.extend_from_slice(found);
        };
        self.transaction.get_for_update(key.bytes(), copy)?.expect("every row is there");
        Ok(())
    }

    /// Writes the copy back.
    fn put(&mut self, key: &Key) -> Result<(), Failure> {
        Ok(self.transaction.put(key.bytes(), &self.row)?)
    }

    fn try_read_write(&mut self, what: &ReadWrite, answers: &mut Answers) -> Result<(), Failure> {
        self.transaction.begin()?;
        self.transaction.take_snapshot();
        for &id in &what.points {
            answers.begin();
            let key = Key::new(SBTEST, &[id]);
            self.transaction.get(key.bytes(), |row| answers.text(&row[C]))?;
            answers.end();
        }
        answers.begin();
        self.range(what.ranges[0], |row| answers.text(&row[C]))?;
        answers.end();
        let mut sum = 0;
        self.range(what.ranges[1], |row| sum += k_of(row))?;
        answers.begin();
        answers.number(sum);
        answers.end();
        answers.begin();
        self.range(what.ranges[2], |row| answers.text(&row[C]))?;
        answers.sort_all(C.len());
        answers.end();
        answers.begin();
        self.range(what.ranges[3], |row| answers.text(&row[C]))?;
        answers.sort_distinct(C.len());
        answers.end();

        let id = what.index_update;
        let key = Key::new(SBTEST, &[id]);
        self.lock(&key)?;
        let k = k_of(&self.row);
        self.row[..4].copy_from_slice(&(k as u32 + 1).to_le_bytes());
        self.put(&key)?;
        self.transaction.delete_unlocked(Key::new(SBTEST_K, &[k, id]).bytes());
        self.transaction.put_unlocked(Key::new(SBTEST_K, &[k + 1, id]).bytes(), &[]);

        let key = Key::new(SBTEST, &[what.update.0]);
        self.lock(&key)?;
        self.row[C].copy_from_slice(&what.update.1);
        self.put(&key)?;

        let (id, new) = &what.replace;
        let key = Key::new(SBTEST, &[*id]);
        self.lock(&key)?;
        self.transaction.delete(key.bytes())?;
        self.transaction.delete_unlocked(Key::new(SBTEST_K, &[k_of(&self.row), *id]).bytes());
        // Whether it is there would be asked before an insert, and answered from the batch.
        let there = self.transaction.get_for_update(key.bytes(), |_| ())?;
        assert!(there.is_none(), "it was just deleted");
        self.transaction.put(key.bytes(), &sbtest(new.k, &new.c, &new.pad))?;
        self.transaction.put_unlocked(Key::new(SBTEST_K, &[new.k, *id]).bytes(), &[]);
        Ok(self.transaction.commit()?)
    }

    fn try_new_order(&mut self, what: &NewOrder, answers: &mut Answers) -> Result<(), Failure> {
        let NewOrder { warehouse: w, district: d, customer: c, entry, ref lines } = *what;
        self.transaction.begin()?;
        self.transaction.take_snapshot();
        answers.begin();
        let there = "every row is there";
        let key = Key::new(WAREHOUSE, &[w]);
        let tax = self.transaction.get(key.bytes(), |row| field(row, 0))?.expect(there);
        let key = Key::new(CUSTOMER, &[w, d, c]);
        let discount = self.transaction.get(key.bytes(), |row| {
            answers.text(&row[24..40]);
            field(row, 0)
        })?;
        let discount = discount.expect(there);
        let key = Key::new(DISTRICT, &[w, d]);
        self.lock(&key)?;
        let (district_tax, order) = (field(&self.row, 0), field(&self.row, 1));
        set_field(&mut self.row, 1, order + 1);
        self.put(&key)?;
        self.insert(&Key::new(ORDERS, &[w, d, order]), &[c, entry, lines.len() as i64], &[])?;
        self.insert(&Key::new(NEW_ORDER, &[w, d, order]), &[], &[])?;
        for (number, &(item, supply, quantity)) in (1..).zip(lines) {
            let key = Key::new(ITEM, &[item]);
            let price = self.transaction.get(key.bytes(), |row| field(row, 0))?.expect(there);
            let key = Key::new(STOCK, &[supply, item]);
            self.lock(&key)?;
            let [left, ytd, many] = [0, 1, 2].map(|place| field(&self.row, place));
            let info: [u8; 24] = self.row[24..48].try_into().expect("24 bytes");
            set_field(&mut self.row, 0, stock_left(left, quantity));
            set_field(&mut self.row, 1, ytd + quantity);
            set_field(&mut self.row, 2, many + 1);
            self.put(&key)?;
            let amount = price * quantity * (100 - discount) * (100 + tax + district_tax) / 10_000;
            let key = Key::new(ORDER_LINE, &[w, d, order, number]);
            self.insert(&key, &[item, supply, quantity, amount], &info)?;
            answers.number(amount);
        }
        answers.end();
        Ok(self.transaction.commit()?)
    }

    /// Puts a row in where there is none, which is looked at.
    fn insert(&mut self, key: &Key, numbers: &[i64], text: &[u8]) -> Result<(), Failure> {
        if self.transaction.get_for_update(key.bytes(), |_| ())?.is_some() {
            return Err(Failure::Broken("there is such a row already".to_owned()));
        }
        self.row.clear();
        numbers.iter().for_each(|number| self.row.extend_from_slice(&number.to_le_bytes()));
        self.row.extend_from_slice(text);
        self.put(key)
    }

    fn try_payment(&mut self, what: &Payment, answers: &mut Answers) -> Result<(), Failure> {
        let Payment { warehouse: w, district: d, payer, amount } = *what;
        self.transaction.begin()?;
        answers.begin();
        let key = Key::new(WAREHOUSE, &[w]);
        self.lock(&key)?;
        let ytd = field(&self.row, 1);
        set_field(&mut self.row, 1, ytd + amount);
        self.put(&key)?;
        let key = Key::new(DISTRICT, &[w, d]);
        self.lock(&key)?;
        let ytd = field(&self.row, 2);
        set_field(&mut self.row, 2, ytd + amount);
        self.put(&key)?;
        let customer = match payer {
            Payer::Number(number) => number,
            Payer::Name(number) => {
                let mut found = Vec::with_capacity(8);
                let from = Key::of_name(w, d, &name(number));
                self.transaction.take_snapshot();
                let visit = |key: &[u8], _: &[u8]| {
                    let is_of_it = key.starts_with(from.bytes());
                    if is_of_it {
                        let number = key[28..].try_into().expect("four bytes");
                        found.push(i64::from(u32::from_be_bytes(number)));
                    }
                    is_of_it
                };
                self.transaction.walk(from.bytes(), Direction::Forwards, usize::MAX, visit)?;
                found[found.len() / 2]
            }
        };
        let key = Key::new(CUSTOMER, &[w, d, customer]);
        self.lock(&key)?;
        answers.text(&self.row[24..40]);
        let (balance, payments) = (field(&self.row, 1), field(&self.row, 2));
        set_field(&mut self.row, 1, balance - amount);
        set_field(&mut self.row, 2, payments + 1);
        self.put(&key)?;
        let last = self.side.last_history.fetch_add(1, Ordering::Relaxed) as i64;
        let key = Key::new(HISTORY, &[last >> 32, last]);
        // Nobody else has this key.
        self.transaction.put_unlocked(key.bytes(), &row(&[w, d, customer, amount], &[]));
        answers.number(customer);
        answers.end();
        Ok(self.transaction.commit()?)
    }
}
