//! The row log that a server keeps for its replicas, read for the table of random transactions.
//!
//! MySQL and MariaDB stream it as to a replica ([`dbdyno_wire::mysql::row_log`]). PostgreSQL gives
//! it decoded to a query, by its own plugin `test_decoding`, through a slot that lives as long as
//! the session that made it.
//!
//! ```text
//!   the log of a server:  ours   theirs   ours   theirs, whatever is in it   ours
//!                          │                │                                 │
//!   kept:                 database or schema, and table: the changes of a transaction
//! ```
//!
//! The log is that of all accounts, and another one may have a table of the same name where it has
//! the right to make one. A change is ours if the database or schema is ours as well; what others
//! wrote is passed over before it is read, by PostgreSQL before it is sent.

use dbdyno_check::ABSENT;
use dbdyno_load::Connector;
use dbdyno_model::{Dialect, Literal};
use dbdyno_server::look_safely;
use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::mysql::row_log::{LogPosition, LoggedRow, LoggedTable, RowChange};
use dbdyno_wire::{Client, Endpoint, WireError};

use crate::words::RANDOM as TABLE;

const SLOT: &str = "dbdyno_verify";

/// A change of one column of one row, as the log has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnChange {
    /// The number of the column, which is the table of the history.
    pub column: u16,
    /// The row.
    pub key: u64,
    /// The version before; [`ABSENT`] of a row that was not there.
    pub before: u32,
    /// The version after; [`ABSENT`] of a row that is not there any more.
    pub after: u32,
}

/// The changes of a server, a committed transaction after the other.
pub type RowLog = Vec<Vec<ColumnChange>>;

/// A log that will be read from here on.
pub(crate) enum LogReader {
    Mysql {
        endpoint: Endpoint,
        from: LogPosition,
        table: LoggedTable,
    },
    Postgres {
        client: Box<dyn Client>,
        /// What changes of the table begin with.
        head: String,
    },
}

impl LogReader {
    /// Notes where the log stands; the table is there already, and filled.
    pub(crate) fn open_at_end(connector: &Connector) -> Result<LogReader, WireError> {
        match connector {
            Connector::Mysql(endpoint) => {
                let mut client = MysqlConnection::connect(endpoint)?;
                let table = client.logged_table(TABLE)?;
                let from = client.row_log_position()?;
                Ok(LogReader::Mysql { endpoint: endpoint.clone(), from, table })
            }
            Connector::Postgres(_) => {
                let mut client = connector.connect_for_work()?;
                let head = decoded_head(&mut *client)?;
                client.run(&format!("ALTER TABLE {TABLE} REPLICA IDENTITY FULL"))?;
                look_safely(&mut *client, Dialect::Postgres)?;
                client.query(&format!(
                    "SELECT pg_create_logical_replication_slot('{SLOT}', 'test_decoding', true)"
                ))?;
                Ok(LogReader::Postgres { client, head })
            }
            _ => Err(WireError::Protocol("an embedded arm has no log for replicas".to_owned())),
        }
    }

    /// Everything since then.
    pub(crate) fn read_changes(self, columns: u16) -> Result<RowLog, WireError> {
        let mut log = RowLog::new();
        let mut failed = None;
        let mut give = |changes: Vec<RowChange>| match changed(&changes, columns) {
            Ok(changes) => log.push(changes),
            Err(error) => failed = failed.take().or(Some(error)),
        };
        match self {
            LogReader::Mysql { endpoint, from, table } => {
                MysqlConnection::connect(&endpoint)?.row_log(&from, &table, &mut give)?;
            }
            LogReader::Postgres { mut client, head } => {
                let rows = client.query(&changes_statement(&head))?;
                decoded(&rows.rows, &head, &mut give)?;
                client.close();
            }
        }
        failed.map_or(Ok(log), Err)
    }
}

/// Why there is no log to read, and what the arm needs for one; `None` if there is.
pub(crate) fn why_no_log(connector: &Connector) -> Result<Option<String>, WireError> {
    let needs: &[(&str, &str, &str)] = match connector {
        Connector::Mysql(_) => &[
            ("@@log_bin", "1", "?binlog=on"),
            ("@@binlog_format", "ROW", "?binlog=on&binlog_format=ROW"),
            ("@@binlog_row_image", "FULL", "?binlog=on&binlog_row_image=FULL"),
        ],
        Connector::Postgres(_) => {
            &[("pg_catalog.current_setting('wal_level')", "logical", "?wal_level=logical")]
        }
        _ => {
            let text = "only MySQL, MariaDB and PostgreSQL keep a log for replicas; leave out \
                        --row-log";
            return Ok(Some(text.to_owned()));
        }
    };
    let mut client = connector.connect_for_work()?;
    for (variable, wanted, arm) in needs {
        // A server without the variable has the form that is wanted.
        let Ok(rows) = client.query(&format!("SELECT {variable}")) else { continue };
        if let Some(other) = rows.first_value().filter(|found| found != wanted) {
            let name = variable.trim_start_matches('@').trim_start_matches("pg_catalog.");
            let text = format!("--row-log: {name} is {other}, not {wanted}; {arm} makes it so");
            return Ok(Some(text));
        }
    }
    client.close();
    Ok(None)
}

/// Columns whose version changed: of each the version stands at 1, 3, … behind the key.
fn changed(changes: &[RowChange], columns: u16) -> Result<Vec<ColumnChange>, WireError> {
    let mut all = Vec::new();
    for change in changes {
        for column in 0..columns {
            let at = 1 + 2 * usize::from(column);
            let row = if change.after.is_some() { &change.after } else { &change.before };
            let told = (
                cell_of_row(&change.before, at),
                cell_of_row(&change.after, at),
                cell_of_row(row, 0),
            );
            let (Some(before), Some(after), Some(key)) = told else {
                let text = "the row log leaves columns out (binlog_row_image, REPLICA IDENTITY)";
                return Err(WireError::Protocol(text.to_owned()));
            };
            if before != after {
                let (before, after) = (before as u32, after as u32);
                all.push(ColumnChange { column, key, before, after });
            }
        }
    }
    Ok(all)
}

fn cell_of_row(row: &Option<LoggedRow>, at: usize) -> Option<u64> {
    match row {
        Some(row) => row.get(at).copied().flatten(),
        None => Some(u64::from(ABSENT)),
    }
}

/// What `test_decoding` says first of a change of the table: its schema and name, quoted as SQL
/// where they need it.
fn decoded_head(client: &mut dyn Client) -> Result<String, WireError> {
    let rows = client.query("SELECT pg_catalog.quote_ident(pg_catalog.current_schema())")?;
    let schema = rows.first_value().ok_or_else(|| {
        WireError::Protocol("no schema of search_path exists, so that no table is made".to_owned())
    })?;
    Ok(format!("table {schema}.{TABLE}: "))
}

/// Asks for the changes of our table alone; the server puts what others wrote aside on its disk.
fn changes_statement(head: &str) -> String {
    let literal = Literal::new(head, Dialect::Postgres);
    format!(
        "SELECT xid, data FROM pg_logical_slot_get_changes('{SLOT}', NULL, NULL) \
         WHERE left(data, {}) = {literal}",
        head.chars().count()
    )
}

/// What `test_decoding` says: rows of a transaction's number and a change that begins with `head`.
/// Transactions stand as they were committed, each in one piece.
fn decoded(
    rows: &[Vec<Option<String>>],
    head: &str,
    give: &mut dyn FnMut(Vec<RowChange>),
) -> Result<(), WireError> {
    for transaction in rows.chunk_by(|one, next| one.first() == next.first()) {
        let lines = transaction.iter().map(|row| row.get(1).and_then(Option::as_deref));
        give(lines.map(|line| decoded_change(line, head)).collect::<Result<_, _>>()?);
    }
    Ok(())
}

fn decoded_change(line: Option<&str>, head: &str) -> Result<RowChange, WireError> {
    let (before, after) = match line.and_then(|line| line.strip_prefix(head)?.split_once(": ")) {
        Some(("INSERT", row)) => (None, Some(numbers(row))),
        Some(("DELETE", row)) => (Some(numbers(row)), None),
        Some(("UPDATE", rows)) if rows.contains("new-tuple:") => {
            let (old, new) = rows.split_once("new-tuple:").unwrap_or_default();
            (Some(numbers(old)), Some(numbers(new)))
        }
        _ => {
            let text = format!("a change that is not understood: {}", line.unwrap_or("NULL"));
            return Err(WireError::Protocol(text));
        }
    };
    Ok(RowChange { before, after })
}

/// The values of `id[integer]:3 v0[bigint]:17 …`.
fn numbers(text: &str) -> Vec<Option<u64>> {
    let words = text.split_whitespace().filter(|word| word.contains("]:"));
    words.map(|word| word.rsplit(':').next()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "table public.dbdyno_random: ";

    fn rows(changes: &[(&str, &str)]) -> Vec<Vec<Option<String>>> {
        let row = |(xid, line): &(&str, &str)| vec![Some((*xid).into()), Some((*line).into())];
        changes.iter().map(row).collect()
    }

    #[test]
    fn decoded_changes_are_read_column_by_column() {
        let update = "table public.dbdyno_random: UPDATE: old-key: id[integer]:3 v0[bigint]:0 \
                      prev0[bigint]:0 v1[bigint]:4 prev1[bigint]:0 new-tuple: id[integer]:3 \
                      v0[bigint]:17 prev0[bigint]:0 v1[bigint]:4 prev1[bigint]:0";
        let mut given = Vec::new();
        decoded(&rows(&[("7", update)]), HEAD, &mut |changes| given.push(changes)).unwrap();
        assert_eq!(given.len(), 1);
        let change = ColumnChange { column: 0, key: 3, before: 0, after: 17 };
        assert_eq!(changed(&given[0], 2).unwrap(), [change]);
        let cut = RowChange { before: given[0][0].before.clone(), after: Some(vec![Some(3)]) };
        assert!(changed(&[cut], 2).unwrap_err().to_string().contains("leaves columns out"));
        let insert = "table public.dbdyno_random: INSERT: id[integer]:9 v0[bigint]:5 \
                      prev0[bigint]:0 v1[bigint]:6 prev1[bigint]:0";
        let delete = insert.replace("INSERT", "DELETE");
        let lines = rows(&[("8", insert), ("8", &delete), ("9", update)]);
        let mut given = Vec::new();
        decoded(&lines, HEAD, &mut |changes| given.push(changes)).unwrap();
        assert_eq!(given.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        let told = changed(&given[0], 1).unwrap();
        let change = |before, after| ColumnChange { column: 0, key: 9, before, after };
        assert_eq!(told, [change(ABSENT, 5), change(5, ABSENT)]);
        for odd in ["table public.dbdyno_random: TRUNCATE: (no-flags)", "BEGIN 7"] {
            assert!(decoded(&rows(&[("7", odd)]), HEAD, &mut |_| {}).is_err());
        }
    }

    /// A server that sends another table's changes all the same is not believed.
    #[test]
    fn only_changes_of_the_table_in_its_own_schema_are_asked_for_and_taken() {
        let asked = changes_statement(HEAD);
        let length = HEAD.len();
        assert!(asked.contains(&format!("WHERE left(data, {length}) = 'table public.")), "{asked}");
        let values = "INSERT: id[integer]:1 v0[bigint]:999 prev0[bigint]:3";
        for other in ["mallory.dbdyno_random", "public.\"x.dbdyno_random\"", "public.dbdyno_rando"]
        {
            let line = format!("table {other}: {values}");
            assert!(decoded(&rows(&[("7", &line)]), HEAD, &mut |_| {}).is_err(), "{line}");
        }
    }
}
