//! Filling the tables of an arm.
//!
//! ```text
//!   create all ─▶ parts of tables ─▶ worker ─ INSERTs / COPY ─┐
//!                      queue      ─▶ worker ─ …               ├─▶ indexes, statistics
//!                                                             │   (a table a worker)
//! ```
//!
//! Tables that refer to others (`REFERENCES`) are made, filled and finished in waves, each after
//! all that it refers to; where none does, there is one wave.
//!
//! How rows are sent is the connection's business, see [`Client::bulk_load`]. Secondary indexes are
//! made afterwards, as sysbench does.
//!
//! Unique checks stay on: without them MariaDB since 10.6 fills an empty table by sorting and
//! writing pages in bulk, which costs it twice the processor time of plain inserts in key order.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use dbdyno_model::{Dialect, Identifier};
use dbdyno_server::{COMMITS_ARE_SYNCED, Catalogue, vacuum};
use dbdyno_wire::{BulkTarget, Client, WireError};
use dbdyno_workload::{Dataset, TableScript, creation_waves, finishing_waves, refers_to_itself};

use crate::connector::Connector;
use crate::error::LoadError;

/// How far filling has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FillProgress {
    /// Units written so far, of all units of all tables; a unit is a row in most tables.
    Rows {
        /// Units written.
        done: u64,
        /// Units to write.
        total: u64,
    },
    /// Rows are in; indexes and statistics are being made for this table (from 0).
    Finishing(u32),
}

/// Counts up when the same rows come to lie differently in the pages of a server: images of tables
/// that were filled otherwise are not used any more.
pub const FILL_VERSION: u32 = 3;
/// Rows that are made and sent in one piece: about 100 KiB.
const UNITS_PER_PIECE: u64 = 512;
/// How often progress is told.
const TELL: Duration = Duration::from_millis(100);
/// More connections than this only wait for each other in the server.
const WORKERS_MOST: usize = 8;
/// Without a strict mode MySQL cuts what does not fit a column to what does, and the rows are not
/// those that the load says: MySQL 8.0 Reference Manual, 7.1.11, "Strict SQL Mode".
const ROWS_ARE_NOT_CUT: &str =
    "SET SESSION sql_mode = CONCAT(@@SESSION.sql_mode, ',STRICT_ALL_TABLES')";
/// A part of a table that is sent in one transaction.
const UNITS_PER_PART: u64 = 50_000;

/// Makes and fills all tables. If it fails, the tables that it has made are taken away again.
///
/// # Errors
/// [`LoadError::TableExists`] before anything is changed, [`LoadError::Interrupted`], or the
/// server's refusal.
pub fn fill_tables(
    connector: &Connector,
    dialect: Dialect,
    dataset: &dyn Dataset,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(FillProgress),
) -> Result<(), LoadError> {
    let scripts = dataset.tables(dialect);
    if scripts.is_empty() {
        return Ok(());
    }
    if let Connector::Mock(arm) = connector {
        let total = (0..scripts.len()).map(|table| dataset.unit_count(table)).sum();
        arm.fill_rows(total);
        progress(FillProgress::Rows { done: total, total });
        return Ok(());
    }
    let names: Vec<String> = scripts.iter().map(|script| script.name.clone()).collect();
    if let Some(name) = first_that_is_there(connector, &names)? {
        return Err(LoadError::TableExists(name));
    }
    let mut client = connector.connect_for_work()?;
    let waves = creation_waves(&scripts);
    let mut made: Vec<String> = Vec::new();
    let filled = waves
        .iter()
        .flatten()
        .try_for_each(|table| {
            create(&mut *client, &scripts[*table])?;
            made.push(scripts[*table].name.clone());
            Ok(())
        })
        .and_then(|()| {
            Filling::new(connector, dialect, dataset, &scripts, stop).run(&waves, progress)
        });
    if let Err(error) = filled {
        drop(client);
        // What somebody else has made meanwhile is not ours.
        drop_tables(connector, &made)?;
        return Err(error);
    }
    client.close();
    Ok(())
}

/// Makes an empty table.
fn create(client: &mut dyn Client, script: &TableScript) -> Result<(), LoadError> {
    /// Of MySQL's `sql_require_primary_key` and of MariaDB's `innodb_force_primary_key`.
    const PRIMARY_KEY_REQUIRED: [u16; 2] = [3750, 1173];
    execute(client, &script.create).map_err(|error| match error {
        LoadError::Wire(WireError::Server(refusal), _)
            if PRIMARY_KEY_REQUIRED.contains(&refusal.code) =>
        {
            LoadError::Unfit(format!(
                "the table {} of the load has no primary key, and the server demands one \
                 (sql_require_primary_key); leave the load out, or set \
                 sql_generate_invisible_primary_key=ON where the server has it: {refusal}",
                script.name
            ))
        }
        error => error,
    })
}

/// Takes these tables away, those that are there: on a server ordinary ones of our account alone.
/// Names are words, as the tables were made.
///
/// # Errors
/// The server's refusal; [`LoadError::NotOurs`].
pub fn drop_tables(connector: &Connector, names: &[String]) -> Result<(), LoadError> {
    if let Some(mut catalogue) = connector.open_catalogue()? {
        let names = identifiers(&catalogue, names)?;
        catalogue.drop_tables(&names)?;
        catalogue.close();
        return Ok(());
    }
    let mut client = connector.connect_for_work()?;
    for name in names.iter().rev() {
        if client.query(&connector.asks_for(name)?).is_ok() {
            execute(&mut *client, &format!("DROP TABLE {}", connector.names(name)?))?;
        }
    }
    client.close();
    Ok(())
}

/// The names that tables have on a server which are made as these words.
fn identifiers(catalogue: &Catalogue, names: &[String]) -> Result<Vec<Identifier>, LoadError> {
    names
        .iter()
        .map(|name| {
            let fit = catalogue.table(name);
            fit.map_err(|error| {
                LoadError::Unfit(format!("the table {}: {error}", name.escape_debug()))
            })
        })
        .collect()
}

/// The first of these names that is taken, by whatever.
fn first_that_is_there(
    connector: &Connector,
    names: &[String],
) -> Result<Option<String>, LoadError> {
    if let Some(mut catalogue) = connector.open_catalogue()? {
        let own = identifiers(&catalogue, names)?;
        let found = catalogue.find_occupants(&own)?;
        catalogue.close();
        return Ok(own
            .iter()
            .find(|name| found.contains_key(name.name()))
            .map(|name| name.name().to_owned()));
    }
    let mut client = connector.connect()?;
    for name in names {
        if client.query(&connector.asks_for(name)?).is_ok() {
            return Ok(Some(name.clone()));
        }
    }
    Ok(None)
}

/// One filling, shared by its workers.
struct Filling<'a> {
    connector: &'a Connector,
    dialect: Dialect,
    dataset: &'a dyn Dataset,
    scripts: &'a [TableScript],
    units_done: AtomicU64,
    finish_begun: AtomicUsize,
    failed: AtomicBool,
    stop: &'a AtomicBool,
}

/// What workers take from, each thing once.
struct Queue<T> {
    all: Vec<T>,
    next: AtomicUsize,
}

impl<T> Queue<T> {
    fn new(all: Vec<T>) -> Queue<T> {
        Queue { all, next: AtomicUsize::new(0) }
    }

    fn count(&self) -> usize {
        self.all.len()
    }

    fn next(&self) -> Option<&T> {
        self.all.get(self.next.fetch_add(1, Ordering::Relaxed))
    }
}

/// Units of a table that are sent in one transaction.
struct Part {
    table: usize,
    units: Range<u64>,
}

impl<'a> Filling<'a> {
    fn new(
        connector: &'a Connector,
        dialect: Dialect,
        dataset: &'a dyn Dataset,
        scripts: &'a [TableScript],
        stop: &'a AtomicBool,
    ) -> Filling<'a> {
        Filling {
            connector,
            dialect,
            dataset,
            scripts,
            units_done: AtomicU64::new(0),
            finish_begun: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            stop,
        }
    }

    fn run(
        &self,
        waves: &[Vec<usize>],
        progress: &mut dyn FnMut(FillProgress),
    ) -> Result<(), LoadError> {
        for wave in waves {
            let parts = Queue::new(parts(self.dialect, self.dataset, wave));
            self.all_workers(parts.count(), progress, |client| self.send_parts(client, &parts))?;
        }
        let total = self.total();
        progress(FillProgress::Rows { done: total, total });
        for wave in finishing_waves(self.scripts) {
            let tables = Queue::new(wave);
            self.all_workers(tables.count(), progress, |client| {
                self.finish_tables(client, &tables)
            })?;
        }
        Ok(())
    }

    /// Lets workers do `work`, each on a connection of its own, and tells how far they are.
    fn all_workers(
        &self,
        pieces: usize,
        progress: &mut dyn FnMut(FillProgress),
        work: impl Fn(&mut dyn Client) -> Result<(), LoadError> + Sync,
    ) -> Result<(), LoadError> {
        let count = match self.dialect {
            Dialect::Sqlite | Dialect::Rocksdb | Dialect::Engine => 1,
            Dialect::Mysql | Dialect::Postgres => workers().min(pieces),
        };
        let running = AtomicUsize::new(count);
        let teller = thread::current();
        thread::scope(|scope| {
            let worker = || {
                let done = self.connect().and_then(|mut client| {
                    work(&mut *client)?;
                    client.close();
                    Ok(())
                });
                running.fetch_sub(1, Ordering::Release);
                teller.unpark();
                done.inspect_err(|_| self.failed.store(true, Ordering::Relaxed))
            };
            let workers: Vec<_> = (0..count).map(|_| scope.spawn(worker)).collect();
            while running.load(Ordering::Acquire) > 0 {
                thread::park_timeout(TELL);
                progress(self.progress());
            }
            let mut outcome = Ok(());
            for worker in workers {
                match worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
                    // The one that failed first made the others stop.
                    Err(LoadError::Interrupted) if outcome.is_err() => {}
                    Err(error) => outcome = Err(error),
                    Ok(()) => {}
                }
            }
            outcome
        })
    }

    fn connect(&self) -> Result<Box<dyn Client>, LoadError> {
        let mut client = self.connector.connect_for_work()?;
        if self.dialect == Dialect::Postgres {
            execute(&mut *client, COMMITS_ARE_SYNCED)?;
        }
        if self.dialect == Dialect::Mysql {
            match execute(&mut *client, ROWS_ARE_NOT_CUT) {
                // What speaks the protocol and has no modes cuts nothing either.
                Err(LoadError::Wire(error, _)) if !error.is_fatal() => {}
                set => set?,
            }
        }
        Ok(client)
    }

    fn progress(&self) -> FillProgress {
        let total = self.total();
        let done = self.units_done.load(Ordering::Relaxed);
        if done < total {
            return FillProgress::Rows { done, total };
        }
        let begun = self.finish_begun.load(Ordering::Relaxed);
        FillProgress::Finishing(begun.saturating_sub(1) as u32)
    }

    /// Units of all tables.
    fn total(&self) -> u64 {
        (0..self.scripts.len()).map(|table| self.dataset.unit_count(table)).sum()
    }

    fn is_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed)
    }

    fn send_parts(&self, client: &mut dyn Client, parts: &Queue<Part>) -> Result<(), LoadError> {
        while let Some(part) = parts.next() {
            let script = &self.scripts[part.table];
            let TableScript { name, columns, numbers, .. } = script;
            let target = BulkTarget { table: name, columns, numbers };
            let mut source =
                Source { filling: self, table: part.table, left: part.units.clone(), rows: 0 };
            let taken = client.bulk_load(&target, &mut |buffer| source.piece(buffer));
            let taken = taken.map_err(|error| not_taken(error, script))?;
            if self.is_to_stop() {
                return Err(LoadError::Interrupted);
            }
            if taken != source.rows {
                let (name, made) = (&script.name, source.rows);
                return Err(LoadError::WrongAnswer(format!(
                    "{name} took {taken} of {made} rows; does it have a trigger, or a rule?"
                )));
            }
        }
        Ok(())
    }

    fn finish_tables(
        &self,
        client: &mut dyn Client,
        tables: &Queue<usize>,
    ) -> Result<(), LoadError> {
        while let Some(table) = tables.next() {
            let script = &self.scripts[*table];
            self.finish_begun.fetch_add(1, Ordering::Relaxed);
            if self.is_to_stop() {
                return Err(LoadError::Interrupted);
            }
            script.finish.iter().try_for_each(|sql| execute(client, sql))?;
            if self.dialect == Dialect::Postgres {
                vacuum(client, &script.name)?;
            }
        }
        Ok(())
    }
}

/// The parts of all tables. SQLite has one writer, RocksDB is filled in order, and so is the
/// reference engine, a part at a time, since a part is one record of its log. PostgreSQL keeps rows
/// as they come: where two connections write a table by turns, it is luck how far rows lie in the
/// order of their keys, and on that (`pg_stats.correlation`) depends which plans are chosen. MySQL
/// keeps them by their keys; there a table is divided where there are fewer tables than workers.
fn parts(dialect: Dialect, dataset: &dyn Dataset, tables: &[usize]) -> Vec<Part> {
    let is_divided = match dialect {
        Dialect::Engine => true,
        Dialect::Mysql => tables.len() < workers(),
        Dialect::Postgres | Dialect::Sqlite | Dialect::Rocksdb => false,
    };
    tables
        .iter()
        .flat_map(|&table| {
            let units = dataset.unit_count(table);
            let step = if is_divided { UNITS_PER_PART } else { units.max(1) };
            let starts = (0..units).step_by(step as usize);
            starts.map(move |start| Part { table, units: start..(start + step).min(units) })
        })
        .collect()
}

/// Why rows were not taken, and what may be done about it.
fn not_taken(error: WireError, script: &TableScript) -> LoadError {
    /// `ER_CANT_CREATE_GEOMETRY_OBJECT`.
    const NO_GEOMETRY: u16 = 1416;
    let advice = match &error {
        _ if error.is_fatal() => None,
        WireError::Server(refusal) if refusal.code == NO_GEOMETRY => Some(
            "MySQL makes geometries by functions: fill a column of characters and set the geometry \
             in `after`, as in UPDATE … SET place = ST_GeomFromText(place_text)",
        ),
        _ if refers_to_itself(script) => Some(
            "the table refers to itself, and a row may come before the one that it refers to: add \
             this foreign key in `after`",
        ),
        _ => None,
    };
    let name = &script.name;
    match advice {
        None => LoadError::Wire(error, Some(format!("rows into {name}"))),
        Some(advice) => LoadError::Unfit(format!("rows into {name}: {error}; {advice}")),
    }
}

/// How many connections fill at a time, where the server takes several.
fn workers() -> usize {
    thread::available_parallelism().map_or(1, usize::from).clamp(2, WORKERS_MOST)
}

/// Makes the rows of a part, piece by piece.
struct Source<'a> {
    filling: &'a Filling<'a>,
    table: usize,
    left: Range<u64>,
    /// Rows made.
    rows: u64,
}

impl Source<'_> {
    /// Appends the next rows; false when there are none left or the user asked to stop.
    fn piece(&mut self, buffer: &mut Vec<u8>) -> bool {
        let end = (self.left.start + UNITS_PER_PIECE).min(self.left.end);
        if self.left.is_empty() || self.filling.is_to_stop() {
            return false;
        }
        let units = end - self.left.start;
        for unit in self.left.start..end {
            self.rows += self.filling.dataset.push(self.table, unit, buffer);
        }
        self.left.start = end;
        self.filling.units_done.fetch_add(units, Ordering::Relaxed);
        true
    }
}

/// Executes a statement whose rows, if any, are of no interest.
fn execute(client: &mut dyn Client, sql: &str) -> Result<(), LoadError> {
    client.query(sql).map_err(|error| LoadError::Wire(error, Some(sql.to_owned())))?;
    Ok(())
}
