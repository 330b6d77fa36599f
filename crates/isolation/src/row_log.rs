//! The row log that a server keeps for its replicas, read for the table of random transactions.
//!
//! MySQL and MariaDB stream it as to a replica ([`dbdyno_wire::mysql::row_log`]). PostgreSQL gives
//! it decoded to a query, by its own plugin `test_decoding`, through a slot that lives as long as
//! the session that made it.

use dbdyno_check::ABSENT;
use dbdyno_load::Connector;
use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::mysql::row_log::{LogPosition, LoggedRow, RowChange};
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
    Mysql(Endpoint, LogPosition),
    Postgres(Box<dyn Client>),
}

impl LogReader {
    /// Notes where the log stands; the table is there already, and filled.
    pub(crate) fn open_at_end(connector: &Connector) -> Result<LogReader, WireError> {
        match connector {
            Connector::Mysql(endpoint) => {
                let position = MysqlConnection::connect(endpoint)?.row_log_position()?;
                Ok(LogReader::Mysql(endpoint.clone(), position))
            }
            Connector::Postgres(_) => {
                let mut client = connector.connect_for_work()?;
                client.run(&format!("ALTER TABLE {TABLE} REPLICA IDENTITY FULL"))?;
                client.query(&format!(
                    "SELECT pg_catalog.pg_create_logical_replication_slot('{SLOT}', 'test_decoding', true)"
                ))?;
                Ok(LogReader::Postgres(client))
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
            LogReader::Mysql(endpoint, from) => {
                MysqlConnection::connect(&endpoint)?.row_log(&from, TABLE, &mut give)?;
            }
            LogReader::Postgres(mut client) => {
                let sql = format!(
                    "SELECT data FROM pg_catalog.pg_logical_slot_get_changes('{SLOT}', NULL, NULL)"
                );
                let rows = client.query(&sql)?;
                let lines = rows.rows.iter().filter_map(|row| row.first()?.as_deref());
                decoded(lines, &mut give)?;
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
            let cell = |row: &Option<LoggedRow>, at: usize| match row {
                Some(row) => row.get(at).copied().flatten(),
                None => Some(u64::from(ABSENT)),
            };
            let row = if change.after.is_some() { &change.after } else { &change.before };
            let told = (cell(&change.before, at), cell(&change.after, at), cell(row, 0));
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

/// What `test_decoding` says, a line for each change between those of BEGIN and COMMIT.
fn decoded<'a>(
    lines: impl Iterator<Item = &'a str>,
    give: &mut dyn FnMut(Vec<RowChange>),
) -> Result<(), WireError> {
    let mut changes = Vec::new();
    let head = format!(".{TABLE}: ");
    for line in lines {
        if line.starts_with("COMMIT") {
            if !changes.is_empty() {
                give(std::mem::take(&mut changes));
            }
        } else if let Some((_, change)) = line.split_once(head.as_str()) {
            let (before, after) = match change.split_once(": ") {
                Some(("INSERT", row)) => (None, Some(numbers(row))),
                Some(("DELETE", row)) => (Some(numbers(row)), None),
                Some(("UPDATE", rows)) if rows.contains("new-tuple:") => {
                    let (old, new) = rows.split_once("new-tuple:").unwrap_or_default();
                    (Some(numbers(old)), Some(numbers(new)))
                }
                _ => {
                    let text = format!("a change that is not understood: {line}");
                    return Err(WireError::Protocol(text));
                }
            };
            changes.push(RowChange { before, after });
        }
    }
    Ok(())
}

/// The values of `id[integer]:3 v0[bigint]:17 …`.
fn numbers(text: &str) -> Vec<Option<u64>> {
    let words = text.split_whitespace().filter(|word| word.contains("]:"));
    words.map(|word| word.rsplit(':').next()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoded_changes_are_read_column_by_column() {
        let update = "table public.dbdyno_random: UPDATE: old-key: id[integer]:3 v0[bigint]:0 \
                      prev0[bigint]:0 v1[bigint]:4 prev1[bigint]:0 new-tuple: id[integer]:3 \
                      v0[bigint]:17 prev0[bigint]:0 v1[bigint]:4 prev1[bigint]:0";
        let lines = ["BEGIN 7", update, "COMMIT 7", "BEGIN 8", "COMMIT 8"];
        let mut given = Vec::new();
        decoded(lines.into_iter(), &mut |changes| given.push(changes)).unwrap();
        assert_eq!(given.len(), 1);
        let change = ColumnChange { column: 0, key: 3, before: 0, after: 17 };
        assert_eq!(changed(&given[0], 2).unwrap(), [change]);
        let cut = RowChange { before: given[0][0].before.clone(), after: Some(vec![Some(3)]) };
        assert!(changed(&[cut], 2).unwrap_err().to_string().contains("leaves columns out"));
        let insert = "table public.dbdyno_random: INSERT: id[integer]:9 v0[bigint]:5 \
                      prev0[bigint]:0 v1[bigint]:6 prev1[bigint]:0";
        let delete = insert.replace("INSERT", "DELETE");
        let mut given = Vec::new();
        let lines = [insert, &delete, "COMMIT 9"];
        decoded(lines.into_iter(), &mut |changes| given.extend(changes)).unwrap();
        let told = changed(&given, 1).unwrap();
        let change = |before, after| ColumnChange { column: 0, key: 9, before, after };
        assert_eq!(told, [change(ABSENT, 5), change(5, ABSENT)]);
        let odd = "table public.dbdyno_random: TRUNCATE: (no-flags)";
        assert!(decoded([odd].into_iter(), &mut |_| {}).is_err());
    }
}
