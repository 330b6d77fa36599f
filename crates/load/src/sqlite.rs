//! The bundled SQLite as an arm: a server without a wire, in the client's own threads.
//!
//! It speaks the same trait as the wire clients, so that every load runs on it unchanged.
//! Statements come from rusqlite's cache by their text; that look-up is part of the arm on both
//! sides.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use dbdyno_wire::{
    Args, BulkTarget, Client, Param, RowBuffer, Rows, ServerError, StatementCounts, StatementId,
    WireError,
};
use rusqlite::ffi::ErrorCode;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql};

use crate::asking::ROLLBACK;

/// A database file and the pragmas that every connection sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteFile {
    /// The file; made when it is not there.
    pub path: PathBuf,
    /// Pragmas in the order in which they are set.
    pub pragmas: Vec<(String, String)>,
}

/// A connection to a [`SqliteFile`].
pub struct SqliteClient {
    connection: Connection,
    statements: Vec<String>,
}

/// Writers wait for each other this long before SQLite reports `SQLITE_BUSY`.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
const STATEMENT_CACHE: usize = 1024;

impl SqliteFile {
    /// Opens the file and sets the pragmas.
    ///
    /// # Errors
    /// SQLite's refusal, or a pragma that it does not know (it would ignore it in silence).
    pub fn open(&self) -> Result<SqliteClient, WireError> {
        let connection = Connection::open(&self.path).map_err(refused)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(refused)?;
        connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
        let mut client = SqliteClient { connection, statements: Vec::new() };
        for (name, value) in &self.pragmas {
            let known = format!("SELECT 1 FROM pragma_pragma_list WHERE name = lower('{name}')");
            if client.query(&known)?.rows.is_empty() {
                return Err(server_error(format!(
                    "SQLite has no pragma {name:?}; `PRAGMA pragma_list` names all of them"
                )));
            }
            client.query(&format!("PRAGMA {name} = {value}"))?;
        }
        Ok(client)
    }
}

impl SqliteFile {
    /// Copies the database to a file in the place of its own, so that its pages come to lie
    /// elsewhere in the memory of the kernel, from which SQLite reads them. Nobody may have it
    /// open.
    pub(crate) fn move_pages(&self) -> Result<(), WireError> {
        // What is still in a log goes into the file: that alone is copied.
        let mut client = self.open()?;
        client.query("PRAGMA wal_checkpoint(TRUNCATE)")?;
        drop(client);
        let next = self.path.with_extension("next");
        let copied = fs::copy(&self.path, &next)
            .and_then(|_| fs::File::open(&next)?.sync_all())
            .and_then(|()| fs::rename(&next, &self.path));
        copied.map_err(|error| {
            // There may be half of it.
            let _ = fs::remove_file(&next);
            let file = self.path.display();
            server_error(format!(
                "{file} cannot be copied, which each start needs: {error}; make room, or \
                 give --restarts 0"
            ))
        })
    }
}

struct SqliteParam<'a>(Param<'a>);

impl ToSql for SqliteParam<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Param::Null => ValueRef::Null,
            Param::Int(number) => ValueRef::Integer(number),
            Param::Text(text) => ValueRef::Text(text),
        }))
    }
}

impl SqliteClient {
    /// Runs a statement to its end; its rows are kept if anybody wants them.
    fn step_all(
        &mut self,
        sql: &str,
        args: &dyn Args,
        mut into: Option<&mut RowBuffer>,
    ) -> rusqlite::Result<StatementCounts> {
        let before = self.connection.total_changes();
        let mut statement = self.connection.prepare_cached(sql)?;
        for index in 0..args.count() {
            statement.raw_bind_parameter(index + 1, SqliteParam(args.get(index)))?;
        }
        let columns = statement.column_count();
        if let Some(into) = &mut into {
            into.begin_rows(columns);
        }
        let mut returned = 0;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            for column in 0..columns {
                let value = std::hint::black_box(row.get_ref(column)?);
                if let Some(into) = &mut into {
                    keep(value, into);
                }
            }
            returned += 1;
        }
        drop(rows);
        drop(statement);
        let affected = self.connection.total_changes() - before;
        Ok(StatementCounts { rows: returned, affected })
    }

    /// As above, for a prepared statement.
    fn step_prepared(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
        into: Option<&mut RowBuffer>,
    ) -> Result<StatementCounts, WireError> {
        let index = statement.0 as usize;
        assert!(index < self.statements.len(), "a statement of another connection");
        let sql = std::mem::take(&mut self.statements[index]);
        let outcome = self.step_all(&sql, args, into);
        self.statements[index] = sql;
        outcome.map_err(refused)
    }
}

impl Client for SqliteClient {
    fn prepare(&mut self, sql: &str) -> Result<StatementId, WireError> {
        self.connection.prepare_cached(sql).map_err(refused)?;
        self.statements.push(sql.to_owned());
        Ok(StatementId(self.statements.len() as u32 - 1))
    }

    fn execute(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
    ) -> Result<StatementCounts, WireError> {
        self.step_prepared(statement, args, None)
    }

    fn fetch(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
        into: &mut RowBuffer,
    ) -> Result<StatementCounts, WireError> {
        self.step_prepared(statement, args, Some(into))
    }

    /// A ROLLBACK outside a transaction has nothing to do, as with other servers.
    fn run(&mut self, sql: &str) -> Result<StatementCounts, WireError> {
        if sql == ROLLBACK && self.connection.is_autocommit() {
            return Ok(StatementCounts::default());
        }
        let none: &[Param<'_>] = &[];
        self.step_all(sql, &none, None).map_err(refused)
    }

    fn query(&mut self, sql: &str) -> Result<Rows, WireError> {
        let mut statement = self.connection.prepare(sql).map_err(refused)?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut kept = Vec::new();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(refused)? {
            kept.push(
                (0..columns.len())
                    .map(|column| row.get_ref(column).map(shown).map_err(refused))
                    .collect::<Result<_, _>>()?,
            );
        }
        drop(rows);
        drop(statement);
        Ok(Rows::new(columns, kept))
    }

    /// One transaction of INSERTs of one row each.
    fn bulk_load(
        &mut self,
        target: &BulkTarget<'_>,
        more: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64, WireError> {
        let transaction = self.connection.transaction().map_err(refused)?;
        let mut taken = 0;
        {
            let (table, columns) = (target.table, target.columns.join(", "));
            let marks = vec!["?"; target.columns.len()].join(", ");
            let sql = format!("INSERT INTO {table} ({columns}) VALUES ({marks})");
            let mut statement = transaction.prepare(&sql).map_err(refused)?;
            let mut buffer = Vec::new();
            while more(&mut buffer) {
                let lines = buffer.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
                for line in lines {
                    for (index, field) in line.split(|&byte| byte == b'\t').enumerate() {
                        let bound = SqliteParam(target.param_from_field(index, field));
                        statement.raw_bind_parameter(index + 1, bound).map_err(refused)?;
                    }
                    taken += statement.raw_execute().map_err(refused)? as u64;
                }
                buffer.clear();
            }
        }
        transaction.commit().map_err(refused)?;
        Ok(taken)
    }

    fn server_version(&self) -> &str {
        // Looks like "3.50.4".
        rusqlite::version()
    }

    fn connection_id(&self) -> u64 {
        0
    }

    fn close(self: Box<Self>) {}
}

fn keep(value: ValueRef<'_>, into: &mut RowBuffer) {
    match value {
        ValueRef::Null => into.push_null(),
        ValueRef::Integer(number) => into.push_shown(number),
        ValueRef::Real(number) => into.push_shown(number),
        ValueRef::Text(text) | ValueRef::Blob(text) => into.push_text(text),
    }
}

fn shown(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(text) | ValueRef::Blob(text) => {
            Some(String::from_utf8_lossy(text).into_owned())
        }
    }
}

/// SQLite's errors in the terms of a server; busy and locked mean "ask again".
fn refused(error: rusqlite::Error) -> WireError {
    let busy = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    );
    let duplicate = error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation);
    // SQLITE_ERROR: no SQL, or a name of what is not there.
    let is_faulty = matches!(error, rusqlite::Error::SqlInputError { .. })
        || error.sqlite_error().is_some_and(|error| error.extended_code == 1);
    let sqlstate = match (busy, duplicate, is_faulty) {
        (true, ..) => "40001",
        (_, true, _) => "23505",
        (_, _, true) => "42000",
        _ => "HY000",
    };
    WireError::Server(ServerError {
        code: 0,
        sqlstate: sqlstate.into(),
        message: error.to_string().into(),
    })
}

fn server_error(message: String) -> WireError {
    WireError::Server(ServerError { code: 0, sqlstate: "HY000".into(), message: message.into() })
}
