//! Filling the tables of an arm.
//!
//! Rows go through the fastest door that the server has: LOAD DATA LOCAL, COPY, or one transaction
//! of prepared inserts for SQLite. Where a MySQL server keeps LOAD DATA LOCAL shut, multi-row
//! INSERTs take its place. The secondary index is made afterwards, as sysbench does.

use std::sync::atomic::{AtomicBool, Ordering};

use dbdyno_model::Dialect;
use dbdyno_wire::{Client, WireError};
use dbdyno_workload::Tables;
use dbdyno_workload::table::TableScript;

use crate::connector::Connector;
use crate::error::LoadError;

/// How far filling has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FillProgress {
    /// Rows written so far, of all rows of all tables.
    Rows {
        /// Rows written.
        done: u64,
        /// Rows to write.
        total: u64,
    },
    /// Rows are in; indexes and statistics are being made for this table (from 0).
    Finishing(u32),
}

/// Rows that are made and sent in one piece: about 100 KiB.
const ROWS_PER_PIECE: u64 = 512;

/// Makes and fills all tables. If it fails, the tables that it has made are taken away again.
///
/// # Errors
/// [`LoadError::TableExists`] before anything is changed, [`LoadError::Interrupted`], or the
/// server's refusal.
pub fn fill(
    connector: &Connector,
    dialect: Dialect,
    tables: &Tables,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(FillProgress),
) -> Result<(), LoadError> {
    let mut client = connector.connect()?;
    for index in 0..tables.count {
        let name = Tables::name(index);
        if client.query(&format!("SELECT 1 FROM {name} WHERE 1=0")).is_ok() {
            return Err(LoadError::TableExists(name));
        }
    }
    if dialect == Dialect::Mysql {
        client.run("SET unique_checks=0, foreign_key_checks=0")?;
    }
    for index in 0..tables.count {
        let script = tables.script(dialect, index);
        execute(&mut *client, &script.create)?;
        let filled = fill_one(&mut *client, dialect, tables, index, &script, stop, progress);
        if let Err(error) = filled {
            drop(client);
            drop_tables(connector, dialect, tables, index + 1)?;
            return Err(error);
        }
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

/// Takes the first `count` tables away, those that are there.
///
/// # Errors
/// The server's refusal.
pub fn drop_tables(
    connector: &Connector,
    dialect: Dialect,
    tables: &Tables,
    count: u32,
) -> Result<(), LoadError> {
    let mut client = connector.connect()?;
    for index in 0..count {
        let name = Tables::name(index);
        if client.query(&format!("SELECT 1 FROM {name} WHERE 1=0")).is_ok() {
            execute(&mut *client, &tables.script(dialect, index).drop)?;
        }
    }
    client.close();
    Ok(())
}

fn fill_one(
    client: &mut dyn Client,
    dialect: Dialect,
    tables: &Tables,
    index: u32,
    script: &TableScript,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(FillProgress),
) -> Result<(), LoadError> {
    let mut rows = RowSource { tables, index, next_id: 1, stop, progress };
    let sent = client.bulk(&script.bulk, &mut |buffer| rows.piece(buffer));
    let taken = match sent {
        Err(error) if dialect == Dialect::Mysql && local_infile_is_shut(&error) => {
            rows.next_id = 1;
            insert_multi_row(client, script, &mut rows)?
        }
        sent => sent.map_err(|error| LoadError::Wire(error, Some(script.bulk.clone())))?,
    };
    if stop.load(Ordering::Relaxed) {
        return Err(LoadError::Interrupted);
    }
    if taken != tables.rows {
        return Err(LoadError::WrongResult {
            sql: script.bulk.clone(),
            expect: dbdyno_workload::Expect::Changed(tables.rows, tables.rows),
            outcome: dbdyno_wire::Outcome { rows: 0, affected: taken },
        });
    }
    progress(FillProgress::Finishing(index));
    script.finish.iter().try_for_each(|sql| execute(client, sql))
}

struct RowSource<'a> {
    tables: &'a Tables,
    index: u32,
    next_id: u64,
    stop: &'a AtomicBool,
    progress: &'a mut dyn FnMut(FillProgress),
}

impl RowSource<'_> {
    /// Appends the next rows; false when there are none left or the user asked to stop.
    fn piece(&mut self, buffer: &mut Vec<u8>) -> bool {
        let end = (self.next_id + ROWS_PER_PIECE).min(self.tables.rows + 1);
        if self.next_id == end || self.stop.load(Ordering::Relaxed) {
            return false;
        }
        for id in self.next_id..end {
            self.tables.push_row(buffer, self.index, id);
        }
        self.next_id = end;
        (self.progress)(FillProgress::Rows {
            done: u64::from(self.index) * self.tables.rows + end - 1,
            total: u64::from(self.tables.count) * self.tables.rows,
        });
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
    rows: &mut RowSource<'_>,
) -> Result<u64, LoadError> {
    let (mut lines, mut sql) = (Vec::new(), String::new());
    let mut taken = 0;
    while rows.piece(&mut lines) {
        sql.clear();
        sql.push_str(&format!("INSERT INTO {} (id, k, c, pad) VALUES ", script.name));
        let rows = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        for (number, line) in rows.enumerate() {
            sql.push_str(if number == 0 { "(" } else { ",(" });
            let line = String::from_utf8_lossy(line);
            for (column, field) in line.split('\t').enumerate() {
                sql.push_str(if column == 0 { "'" } else { ",'" });
                sql.push_str(field);
                sql.push('\'');
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
