//! Making the tables what they were, between rounds.
//!
//! ```text
//!   round │ 1 2 _ 4 5 _ _ 8 │ put back: 3 6 7 │ round        delete?refill=on
//!   round │ 1 2 3 4 5 6 7 8 9 10 11 │ taken out: 9 10 11 │   insert?refill=on
//! ```
//!
//! Rows are a pure function of seed and id, so that those that are missing can be made again. What
//! is done here is not measured, but the server may still be at work on it when the next round
//! begins; the other arm's round comes first.

use dbdyno_load::{Connector, LoadError};
use dbdyno_model::Dialect;
use dbdyno_wire::Client;
use dbdyno_workload::{Load, Trend};

/// Rows that one INSERT puts back.
const ROWS_PER_INSERT: usize = 500;

/// Undoes what a load has done to the number of rows, if it is one that wants that.
///
/// # Errors
/// The server's refusal.
pub(crate) fn restore(
    load: &Load,
    connector: &Connector,
    dialect: Dialect,
) -> Result<(), LoadError> {
    if !matches!(load.trend, Trend::GrowsAndIsCut | Trend::ShrinksAndIsRefilled) {
        return Ok(());
    }
    let mut client = connector.connect()?;
    for (index, name) in load.dataset.drawn_tables().into_iter().enumerate() {
        if load.trend == Trend::GrowsAndIsCut {
            execute(
                &mut *client,
                &format!("DELETE FROM {name} WHERE id > {}", load.dataset.rows()),
            )?;
        } else {
            put_back(load, dialect, &mut *client, index, &name)?;
        }
    }
    client.close();
    Ok(())
}

fn put_back(
    load: &Load,
    dialect: Dialect,
    client: &mut dyn Client,
    index: usize,
    name: &str,
) -> Result<(), LoadError> {
    let columns = load.dataset.tables(dialect)[index].columns.join(", ");
    let missing = missing(client, name, load.dataset.rows())?;
    for ids in missing.chunks(ROWS_PER_INSERT) {
        let mut lines = Vec::new();
        for id in ids {
            load.dataset.push(index, id - 1, &mut lines);
        }
        // Digits, dashes, tabs and ends of lines: nothing has to be escaped.
        let lines = String::from_utf8_lossy(&lines);
        let rows: Vec<String> =
            lines.lines().map(|line| format!("('{}')", line.replace('\t', "','"))).collect();
        let sql = format!("INSERT INTO {name} ({columns}) VALUES {}", rows.join(","));
        execute(client, &sql)?;
    }
    Ok(())
}

/// The ids from 1 to `rows` that a table does not have.
fn missing(client: &mut dyn Client, name: &str, rows: u64) -> Result<Vec<u64>, LoadError> {
    let gaps = format!(
        "SELECT low + 1, id - 1 FROM (SELECT id, COALESCE(LAG(id) OVER (ORDER BY id), 0) AS low \
         FROM {name}) AS ids WHERE id > low + 1"
    );
    let last = format!("SELECT COALESCE(MAX(id), 0) + 1, {rows} FROM {name}");
    let mut missing = Vec::new();
    for sql in [gaps, last] {
        let found = client.query(&sql).map_err(|error| LoadError::Wire(error, Some(sql)))?;
        for row in found.rows {
            let mut bounds = row.iter().map(|value| value.as_ref()?.parse::<u64>().ok());
            if let (Some(Some(low)), Some(Some(high))) = (bounds.next(), bounds.next()) {
                missing.extend(low..=high.min(rows));
            }
        }
    }
    Ok(missing)
}

fn execute(client: &mut dyn Client, sql: &str) -> Result<(), LoadError> {
    client.run(sql).map_err(|error| LoadError::Wire(error, Some(sql.to_owned())))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    use dbdyno_load::{SqliteFile, fill};
    use dbdyno_workload::{Tables, resolve};

    const TABLES: Tables = Tables { count: 2, rows: 1_200, seed: 3 };

    fn content(connector: &Connector) -> Vec<String> {
        let mut client = connector.connect().unwrap();
        let of_table = |name| format!("SELECT id||k||c||pad FROM {name} ORDER BY id");
        let tables = ["sbtest1", "sbtest2"].map(|name| client.query(&of_table(name)).unwrap());
        tables.into_iter().flat_map(|rows| rows.rows.into_iter().flatten().flatten()).collect()
    }

    #[test]
    fn what_was_deleted_comes_back_and_what_was_inserted_goes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("arm.sqlite");
        let connector = Connector::Sqlite(SqliteFile { path, pragmas: Vec::new() });
        let stop = AtomicBool::new(false);
        fill(&connector, Dialect::Sqlite, &TABLES, &stop, &mut |_| {}).unwrap();
        let whole = content(&connector);
        assert_eq!(whole.len(), 2_400);
        let run = |sql: &str| connector.connect().unwrap().run(sql).unwrap();
        let restore = |label: &str| {
            restore(&resolve(label, TABLES).unwrap(), &connector, Dialect::Sqlite).unwrap();
        };
        for gone in ["id % 7 = 1", "id < 900", "id > 600", "id = id"] {
            run(&format!("DELETE FROM sbtest1 WHERE {gone}"));
            restore("delete");
            assert_ne!(content(&connector), whole, "without refill, it stays");
            restore("delete?refill=on");
            assert_eq!(content(&connector), whole, "{gone}");
        }
        run("INSERT INTO sbtest2 (k, c, pad) SELECT k, c, pad FROM sbtest2 WHERE id < 10");
        restore("insert?refill=on");
        assert_eq!(content(&connector), whole);
    }
}
