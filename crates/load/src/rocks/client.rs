//! The database of an arm, and clients that share it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use dbdyno_model::{RocksOptions, Switch};
use dbdyno_rocks::{Database, Library, RocksError, WalkDirection, WriteDurability};
use dbdyno_wire::{
    Args, BulkTarget, Client, Param, RowBuffer, Rows, StatementCounts, StatementId, WireError,
};

use super::words::{KNOWN, Verb, Words, key, split_key};
use super::{refused, settings};
use crate::error::still_open;

/// A database that is open as long as anybody has this.
#[derive(Clone)]
pub struct RocksArm(Arc<Open>);

struct Open {
    database: Database,
    directory: PathBuf,
    library: &'static Library,
    settings: String,
    log: WriteDurability,
    /// By number. A table that was taken away leaves its place empty.
    tables: RwLock<Vec<Option<String>>>,
}

impl fmt::Debug for RocksArm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RocksArm").field(&self.0.settings).finish()
    }
}

impl RocksArm {
    /// Opens a database in a directory, which may be empty, on a host with so much memory.
    ///
    /// # Errors
    /// There is no RocksDB here, or it refuses an option.
    pub fn open(
        directory: &Path,
        options: &RocksOptions,
        memory_mb: u64,
    ) -> Result<RocksArm, WireError> {
        let library = Library::of_system().map_err(|error| refused(error.to_string()))?;
        let log = match (options.wal, options.sync) {
            (Switch::Off, _) => WriteDurability::Off,
            (_, Switch::On) => WriteDurability::Synced,
            _ => WriteDurability::Written,
        };
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let settings = settings(options, memory_mb, processors);
        let database = Database::open(library, directory, &settings, log);
        let database = database.map_err(|error| unopened(&error, options))?;
        let (directory, tables) = (directory.to_owned(), RwLock::new(Vec::new()));
        let open = Open { database, directory, library, settings, log, tables };
        Ok(RocksArm(Arc::new(open)))
    }

    /// Closes the database, opens it again and reads all of it once, so that its cache holds what
    /// it has room for.
    pub(crate) fn open_again(self) -> Result<RocksArm, WireError> {
        let open = Arc::into_inner(self.0).ok_or_else(|| still_open("RocksDB"))?;
        let Open { database, directory, library, settings, log, tables } = open;
        // What has no log.
        database.flush().map_err(failed)?;
        drop(database);
        let database = Database::open(library, &directory, &settings, log).map_err(failed)?;
        database
            .walk_entries(&[], WalkDirection::Forwards, usize::MAX, |_, value| {
                std::hint::black_box(value.last());
                true
            })
            .map_err(failed)?;
        Ok(RocksArm(Arc::new(Open { database, directory, library, settings, log, tables })))
    }

    pub(crate) fn client(&self) -> Box<dyn Client> {
        Box::new(RocksClient { open: Arc::clone(&self.0), verbs: Vec::new() })
    }
}

/// What was wrong, with the word that was meant, if it was an option.
fn unopened(error: &RocksError, options: &RocksOptions) -> WireError {
    let words = dbdyno_model::rocksdb::WORDS;
    let near = options.own.iter().filter(|(name, _)| error.0.contains(name));
    let near: String =
        near.map(|(name, _)| dbdyno_workload::suggest::did_you_mean(name, words)).collect();
    refused(format!(
        "RocksDB does not open: {error}{near}; dbdyno's words are {}, all others are RocksDB's",
        words.join(", ")
    ))
}

impl Open {
    /// The number of a table.
    fn number(&self, table: &str) -> Option<u32> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let place = tables.iter().position(|known| known.as_deref() == Some(table))?;
        Some(place as u32)
    }

    fn create(&self, table: &str) -> Result<(), WireError> {
        if self.number(table).is_some() {
            return Err(refused(format!("there is a table {table} already")));
        }
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        tables.push(Some(table.to_owned()));
        Ok(())
    }

    fn drop_table(&self, table: &str) -> Result<(), WireError> {
        let number = self.number(table).ok_or_else(|| unknown(table))?;
        let [from, to] = [number, number + 1].map(|number| key(number, i64::MIN));
        self.database.delete_range(&from, &to).map_err(failed)?;
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        tables[number as usize] = None;
        Ok(())
    }

    /// Options that it was opened with, one in a row.
    fn told(&self) -> Rows {
        let log = match self.log {
            WriteDurability::Off => "off",
            WriteDurability::Written => "written",
            WriteDurability::Synced => "synced",
        };
        // The braces of the block-based tables have options of their own in them.
        let flat = self.settings.replace("block_based_table_factory={", "").replace('}', "");
        let pairs = flat.split(';').filter_map(|option| option.split_once('='));
        let own = [("log", log), ("library", self.library.path().to_str().unwrap_or(""))];
        let rows = pairs
            .chain(own)
            .map(|(name, value)| vec![Some(name.to_owned()), Some(value.to_owned())])
            .collect();
        Rows::new(["name", "value"].map(String::from).into(), rows)
    }
}

/// A client of a [`RocksArm`].
struct RocksClient {
    open: Arc<Open>,
    verbs: Vec<Verb<u32>>,
}

impl RocksClient {
    fn execute_into(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
        mut into: Option<&mut RowBuffer>,
    ) -> Result<StatementCounts, WireError> {
        let verb = *self.verbs.get(statement.0 as usize).expect("a statement of this client");
        if args.count() != verb.parameters() {
            return Err(refused(format!("{} parameters for {verb:?}", args.count())));
        }
        let columns = match verb {
            Verb::Get(_) => 1,
            Verb::Put(_) => 0,
            Verb::Walk(..) => 2,
        };
        if let Some(into) = &mut into {
            into.begin_rows(columns);
        }
        match verb {
            Verb::Get(table) => self.get(table, number(args.get(0))?, into),
            Verb::Put(table) => {
                let Param::Text(value) = args.get(0) else {
                    return Err(refused("a value is a text".to_owned()));
                };
                let key = key(table, number(args.get(1))?);
                self.open.database.put(&key, value).map_err(failed)?;
                Ok(StatementCounts { rows: 0, affected: 1 })
            }
            Verb::Walk(table, direction, most) => {
                self.walk(table, number(args.get(0))?, direction, most, into)
            }
        }
    }

    fn get(
        &self,
        table: u32,
        number: i64,
        into: Option<&mut RowBuffer>,
    ) -> Result<StatementCounts, WireError> {
        let found = self
            .open
            .database
            .get(&key(table, number), |value| match into {
                Some(into) => into.push_text(value),
                None => {
                    std::hint::black_box(value.last());
                }
            })
            .map_err(failed)?;
        Ok(StatementCounts { rows: found.is_some().into(), affected: 0 })
    }

    /// Walks and looks at every key: they are of the table, and each is beyond the one before.
    fn walk(
        &self,
        table: u32,
        from: i64,
        direction: WalkDirection,
        most: usize,
        mut into: Option<&mut RowBuffer>,
    ) -> Result<StatementCounts, WireError> {
        let (mut rows, mut last, mut is_ordered) = (0, None, true);
        let visit = |key: &[u8], value: &[u8]| {
            let Some((of, number)) = split_key(key) else { return false };
            if of != table {
                return false;
            }
            is_ordered &= match (direction, last.unwrap_or(from)) {
                (WalkDirection::Forwards, last) => number >= last,
                (WalkDirection::Backwards, last) => number <= last,
            } && last != Some(number);
            last = Some(number);
            rows += 1;
            match &mut into {
                Some(into) => {
                    into.push_shown(number);
                    into.push_text(value);
                }
                None => {
                    std::hint::black_box(value.last());
                }
            }
            true
        };
        self.open
            .database
            .walk_entries(&key(table, from), direction, most, visit)
            .map_err(failed)?;
        if !is_ordered {
            return Err(refused(format!("keys from {from} on came {direction:?} out of order")));
        }
        Ok(StatementCounts { rows, affected: 0 })
    }
}

impl Client for RocksClient {
    fn prepare(&mut self, sql: &str) -> Result<StatementId, WireError> {
        let Some(Words::Prepared(verb)) = Words::from_statement(sql) else {
            return Err(meaningless(sql));
        };
        let mut missing = "";
        let verb = verb
            .on_table(|table| {
                missing = table;
                self.open.number(table)
            })
            .ok_or_else(|| unknown(missing))?;
        self.verbs.push(verb);
        Ok(StatementId(self.verbs.len() as u32 - 1))
    }

    fn execute(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
    ) -> Result<StatementCounts, WireError> {
        self.execute_into(statement, args, None)
    }

    fn fetch(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
        into: &mut RowBuffer,
    ) -> Result<StatementCounts, WireError> {
        self.execute_into(statement, args, Some(into))
    }

    fn run(&mut self, sql: &str) -> Result<StatementCounts, WireError> {
        let rows = self.query(sql)?.rows.len() as u64;
        Ok(StatementCounts { rows, affected: 0 })
    }

    fn query(&mut self, sql: &str) -> Result<Rows, WireError> {
        let open = &self.open;
        match Words::from_statement(sql) {
            Some(Words::Create(table)) => open.create(table)?,
            Some(Words::Drop(table)) => open.drop_table(table)?,
            Some(Words::IsThere(table)) => {
                open.number(table).ok_or_else(|| unknown(table))?;
            }
            Some(Words::Flush) => open.database.flush().map_err(failed)?,
            Some(Words::Settings) => return Ok(open.told()),
            Some(Words::Property(name)) => {
                let value = open.database.property(name);
                let value = value.ok_or_else(|| refused(format!("no property {name}")))?;
                let columns = vec![name.to_owned()];
                return Ok(Rows::new(columns, vec![vec![Some(value)]]));
            }
            Some(Words::Prepared(_)) | None => return Err(meaningless(sql)),
        }
        Ok(Rows::default())
    }

    fn bulk_load(
        &mut self,
        target: &BulkTarget<'_>,
        more: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64, WireError> {
        let table = self.open.number(target.table).ok_or_else(|| unknown(target.table))?;
        let (mut taken, mut buffer) = (0, Vec::new());
        while more(&mut buffer) {
            let lines = buffer.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
            let pairs = lines.map(|line| {
                let tab = line.iter().position(|&byte| byte == b'\t');
                let (number, value) = line.split_at(tab?);
                let number = std::str::from_utf8(number).ok()?.parse().ok()?;
                Some((key(table, number), &value[1..]))
            });
            let pairs: Option<Vec<_>> = pairs.collect();
            let pairs = pairs.ok_or_else(|| {
                refused(format!("rows of {} are a number and a text", target.table))
            })?;
            taken += pairs.len() as u64;
            let all = pairs.iter().map(|(key, value)| (&key[..], *value));
            self.open.database.put_all(all).map_err(failed)?;
            buffer.clear();
        }
        Ok(taken)
    }

    fn server_version(&self) -> &str {
        // Looks like "7.8.3".
        self.open.library.version()
    }

    fn connection_id(&self) -> u64 {
        0
    }

    fn close(self: Box<Self>) {}
}

fn number(param: Param<'_>) -> Result<i64, WireError> {
    match param {
        Param::Int(number) => Ok(number),
        Param::Text(_) | Param::Null => Err(refused("a key is a number".to_owned())),
    }
}

fn failed(error: RocksError) -> WireError {
    refused(error.0)
}

fn unknown(table: &str) -> WireError {
    refused(format!("there is no table {table}"))
}

fn meaningless(words: &str) -> WireError {
    refused(format!("{words:?} means nothing to RocksDB here; known are: {KNOWN}"))
}
