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
/// Ids that one question asks for.
const IDS_PER_QUESTION: u32 = 10_000;

/// Makes the rows of a load whose rounds begin alike what they were.
///
/// # Errors
/// The server's refusal.
pub(crate) fn reset_rows(
    load: &Load,
    connector: &Connector,
    dialect: Dialect,
) -> Result<(), LoadError> {
    let statements = load.dataset.begin_round(dialect);
    if statements.is_empty() {
        return Ok(());
    }
    let mut client = connector.connect_for_work()?;
    statements.iter().try_for_each(|sql| execute(&mut *client, sql))?;
    client.close();
    Ok(())
}

/// Undoes what a load has done to the number of rows, if it is one that wants that.
///
/// # Errors
/// The server's refusal.
pub(crate) fn restore_row_count(
    load: &Load,
    connector: &Connector,
    dialect: Dialect,
) -> Result<(), LoadError> {
    if !matches!(load.trend, Trend::GrowsAndIsCut | Trend::ShrinksAndIsRefilled) {
        return Ok(());
    }
    let mut client = connector.connect_for_work()?;
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

/// The ids from 1 to `rows` that a table does not have. All that it has are read: MySQL before 8.0
/// and the engine have no window functions that would find gaps.
fn missing(client: &mut dyn Client, name: &str, rows: u64) -> Result<Vec<u64>, LoadError> {
    let (mut missing, mut last) = (Vec::new(), 0_u64);
    loop {
        let sql =
            format!("SELECT id FROM {name} WHERE id > {last} ORDER BY id LIMIT {IDS_PER_QUESTION}");
        let found = client.query(&sql).map_err(|error| LoadError::Wire(error, Some(sql)))?;
        let before = last;
        for id in found.rows.iter().filter_map(|row| row.first()?.as_ref()?.parse::<u64>().ok()) {
            missing.extend(last + 1..id.min(rows + 1));
            last = last.max(id);
        }
        if last == before {
            missing.extend(last + 1..=rows);
            return Ok(missing);
        }
    }
}

fn execute(client: &mut dyn Client, sql: &str) -> Result<(), LoadError> {
    client.run(sql).map_err(|error| LoadError::Wire(error, Some(sql.to_owned())))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    use dbdyno_load::{EngineArm, SqliteFile, fill_tables};
    use dbdyno_model::Design;
    use dbdyno_model::design::Device;
    use dbdyno_workload::{Tables, resolve_load};

    const TABLES: Tables = Tables { count: 2, rows: 12_000, seed: 3 };

    fn content(connector: &Connector) -> Vec<String> {
        let mut client = connector.connect().unwrap();
        let mut of_table = |name: &str| {
            let sql = format!("SELECT id, k, c, pad FROM {name} ORDER BY id");
            client.query(&sql).unwrap().rows.into_iter()
        };
        let rows = ["sbtest1", "sbtest2"].map(&mut of_table).into_iter().flatten();
        rows.map(|row| row.into_iter().flatten().collect::<Vec<_>>().join("|")).collect()
    }

    fn made_whole(connector: &Connector, dialect: Dialect) {
        let stop = AtomicBool::new(false);
        fill_tables(connector, dialect, &TABLES, &stop, &mut |_| {}).unwrap();
        let whole = content(connector);
        assert_eq!(whole.len(), 24_000);
        let run = |sql: &str| connector.connect().unwrap().run(sql).unwrap();
        let restore = |label: &str| {
            restore_row_count(&resolve_load(label, TABLES).unwrap(), connector, dialect).unwrap();
        };
        for gone in ["k > 6000", "id < 900", "id > 10600", "id = id"] {
            run(&format!("DELETE FROM sbtest1 WHERE {gone}"));
            restore("delete");
            assert!(content(connector) != whole, "without refill, it stays");
            restore("delete?refill=on");
            assert!(content(connector) == whole, "{gone}, {dialect:?}");
        }
        for _ in 0..9 {
            run("INSERT INTO sbtest2 (k, c, pad) VALUES (1, 'c', 'pad')");
        }
        assert!(content(connector) != whole, "there are rows more");
        restore("insert?refill=on");
        assert!(content(connector) == whole, "{dialect:?}");
    }

    #[test]
    fn sqlite_gets_back_what_was_deleted_and_loses_what_was_inserted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("arm.sqlite");
        let file = SqliteFile { path, pragmas: Vec::new() };
        made_whole(&Connector::Sqlite(file), Dialect::Sqlite);
    }

    #[test]
    fn the_engine_gets_back_what_was_deleted_and_loses_what_was_inserted() {
        let directory = tempfile::tempdir().unwrap();
        let design = Design { device: Device::None, ..Design::default() };
        let arm = EngineArm::open(directory.path(), &design).unwrap();
        made_whole(&Connector::Engine(arm), Dialect::Engine);
    }
}
