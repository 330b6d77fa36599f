//! Filling the tables of an arm.
//!
//! ```text
//!   create all ─▶ parts of tables ─▶ worker ─ LOAD DATA / COPY ─┐
//!                      queue      ─▶ worker ─ …                 ├─▶ indexes, statistics
//!                                                               │   (a table a worker)
//! ```
//!
//! Rows go through the fastest door that the server has: LOAD DATA LOCAL, COPY, or one transaction
//! of prepared inserts for SQLite. Where a MySQL server keeps LOAD DATA LOCAL shut, multi-row
//! INSERTs take its place. Secondary indexes are made afterwards, as sysbench does.
//!
//! Unique checks stay on: without them MariaDB since 10.6 fills an empty table by sorting and
//! writing pages in bulk, which costs it twice the processor time of plain inserts in key order.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use dbdyno_model::Dialect;
use dbdyno_wire::{Client, WireError};
use dbdyno_workload::{Dataset, TableScript, text};

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

/// Rows that are made and sent in one piece: about 100 KiB.
const UNITS_PER_PIECE: u64 = 512;
/// How often progress is told.
const TELL: Duration = Duration::from_millis(100);
/// More connections than this only wait for each other in the server.
const WORKERS_MOST: usize = 8;
/// A part of a table that one statement takes.
const UNITS_PER_PART: u64 = 100_000;

/// Makes and fills all tables. If it fails, the tables that it has made are taken away again.
///
/// # Errors
/// [`LoadError::TableExists`] before anything is changed, [`LoadError::Interrupted`], or the
/// server's refusal.
pub fn fill(
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
    let mut client = connector.connect()?;
    for script in &scripts {
        if is_there(&mut *client, &script.name) {
            return Err(LoadError::TableExists(script.name.clone()));
        }
    }
    let filled = scripts
        .iter()
        .try_for_each(|script| execute(&mut *client, &script.create))
        .and_then(|()| Filling::new(connector, dialect, dataset, &scripts, stop).run(progress));
    if let Err(error) = filled {
        drop(client);
        let names: Vec<String> = scripts.into_iter().map(|script| script.name).collect();
        drop_tables(connector, &names)?;
        return Err(error);
    }
    if dialect == Dialect::Postgres {
        // Only a superuser may; elsewhere the checkpoint comes when it comes.
        match client.run("CHECKPOINT") {
            Err(error) if error.is_fatal() => return Err(error.into()),
            Err(_) | Ok(_) => {}
        }
    }
    client.close();
    Ok(())
}

/// Takes these tables away, those that are there.
///
/// # Errors
/// The server's refusal.
pub fn drop_tables(connector: &Connector, names: &[String]) -> Result<(), LoadError> {
    let mut client = connector.connect()?;
    // Backwards: a table may refer to one that was made before it.
    for name in names.iter().rev() {
        if is_there(&mut *client, name) {
            execute(&mut *client, &format!("DROP TABLE {name}"))?;
        }
    }
    client.close();
    Ok(())
}

fn is_there(client: &mut dyn Client, name: &str) -> bool {
    client.query(&format!("SELECT 1 FROM {name} WHERE 1=0")).is_ok()
}

/// One filling, shared by its workers.
struct Filling<'a> {
    connector: &'a Connector,
    dialect: Dialect,
    dataset: &'a dyn Dataset,
    scripts: &'a [TableScript],
    parts: Vec<Part>,
    next_part: AtomicUsize,
    next_finish: AtomicUsize,
    units_done: AtomicU64,
    failed: AtomicBool,
    stop: &'a AtomicBool,
}

/// Units of a table that go through one statement.
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
        let parts = (0..scripts.len()).flat_map(|table| parts(dialect, table, dataset)).collect();
        Filling {
            connector,
            dialect,
            dataset,
            scripts,
            parts,
            next_part: AtomicUsize::new(0),
            next_finish: AtomicUsize::new(0),
            units_done: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            stop,
        }
    }

    fn run(&self, progress: &mut dyn FnMut(FillProgress)) -> Result<(), LoadError> {
        self.all_workers(self.parts.len(), progress, |client| self.send_parts(client))?;
        let total = self.total();
        progress(FillProgress::Rows { done: total, total });
        self.all_workers(self.scripts.len(), progress, |client| self.finish_tables(client))
    }

    /// Lets workers do `work`, each on a connection of its own, and tells how far they are.
    fn all_workers(
        &self,
        pieces: usize,
        progress: &mut dyn FnMut(FillProgress),
        work: impl Fn(&mut dyn Client) -> Result<(), LoadError> + Sync,
    ) -> Result<(), LoadError> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let count = match self.dialect {
            Dialect::Sqlite => 1,
            Dialect::Mysql | Dialect::Postgres => processors.clamp(2, WORKERS_MOST).min(pieces),
        };
        let running = AtomicUsize::new(count);
        let teller = thread::current();
        thread::scope(|scope| {
            let worker = || {
                let done =
                    self.connector.connect().map_err(LoadError::from).and_then(|mut client| {
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

    fn progress(&self) -> FillProgress {
        let total = self.total();
        let done = self.units_done.load(Ordering::Relaxed);
        if done < total {
            return FillProgress::Rows { done, total };
        }
        let begun = self.next_finish.load(Ordering::Relaxed).min(self.scripts.len());
        FillProgress::Finishing(begun.saturating_sub(1) as u32)
    }

    /// Units of all tables.
    fn total(&self) -> u64 {
        (0..self.scripts.len()).map(|table| self.dataset.units(table)).sum()
    }

    fn is_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed)
    }

    fn send_parts(&self, client: &mut dyn Client) -> Result<(), LoadError> {
        while let Some(part) = self.parts.get(self.next_part.fetch_add(1, Ordering::Relaxed)) {
            let bulk = self.scripts[part.table].bulk(self.dialect);
            let mut source =
                Source { filling: self, table: part.table, left: part.units.clone(), rows: 0 };
            let sent = client.bulk(&bulk, &mut |buffer| source.piece(buffer));
            let taken = match sent {
                Err(error) if self.dialect == Dialect::Mysql && local_infile_is_shut(&error) => {
                    source.left = part.units.clone();
                    source.rows = 0;
                    insert_multi_row(client, &self.scripts[part.table], &mut source)?
                }
                sent => sent.map_err(|error| LoadError::Wire(error, Some(bulk.clone())))?,
            };
            if self.is_to_stop() {
                return Err(LoadError::Interrupted);
            }
            if taken != source.rows {
                return Err(LoadError::WrongResult {
                    sql: bulk,
                    expect: dbdyno_workload::Expect::Changed(source.rows, source.rows),
                    outcome: dbdyno_wire::Outcome { rows: 0, affected: taken },
                });
            }
        }
        Ok(())
    }

    fn finish_tables(&self, client: &mut dyn Client) -> Result<(), LoadError> {
        while let Some(script) = self.scripts.get(self.next_finish.fetch_add(1, Ordering::Relaxed))
        {
            if self.is_to_stop() {
                return Err(LoadError::Interrupted);
            }
            script.finish.iter().try_for_each(|sql| execute(client, sql))?;
        }
        Ok(())
    }
}

/// The parts of a table. MySQL takes a table whole: LOAD DATA holds the lock on its AUTO_INCREMENT
/// to the end of the statement.
fn parts(dialect: Dialect, table: usize, dataset: &dyn Dataset) -> Vec<Part> {
    let units = dataset.units(table);
    let step = match dialect {
        Dialect::Postgres => UNITS_PER_PART,
        Dialect::Mysql | Dialect::Sqlite => units.max(1),
    };
    let starts = (0..units).step_by(step as usize);
    starts.map(|start| Part { table, units: start..(start + step).min(units) }).collect()
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

/// MySQL's refusals of LOAD DATA LOCAL: by the server (3948, 1148, MariaDB 4166), by the client
/// (2068).
fn local_infile_is_shut(error: &WireError) -> bool {
    matches!(error, WireError::Server(error) if matches!(error.code, 1148 | 2068 | 3948 | 4166))
}

fn insert_multi_row(
    client: &mut dyn Client,
    script: &TableScript,
    source: &mut Source<'_>,
) -> Result<u64, LoadError> {
    let (mut lines, mut sql) = (Vec::new(), String::new());
    let mut taken = 0;
    while source.piece(&mut lines) {
        sql.clear();
        let columns = script.columns.join(", ");
        sql.push_str(&format!("INSERT INTO {} ({columns}) VALUES ", script.name));
        let rows = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        for (number, line) in rows.enumerate() {
            sql.push_str(if number == 0 { "(" } else { ",(" });
            let line = String::from_utf8_lossy(line);
            for (column, field) in line.split('\t').enumerate() {
                sql.push_str(if column == 0 { "" } else { "," });
                if field == "\\N" {
                    sql.push_str("NULL");
                } else {
                    text::push_quoted(&mut sql, field.as_bytes());
                }
            }
            sql.push(')');
        }
        taken += client.run(&sql).map_err(|error| LoadError::Wire(error, None))?.affected;
        lines.clear();
    }
    Ok(taken)
}

/// Executes a statement whose rows, if any, are of no interest.
fn execute(client: &mut dyn Client, sql: &str) -> Result<(), LoadError> {
    client.query(sql).map_err(|error| LoadError::Wire(error, Some(sql.to_owned())))?;
    Ok(())
}
