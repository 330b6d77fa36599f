//! The statistics of base, transplanted into the tables of test and given back afterwards, so that
//! two optimizers are compared at equal statistics.
//!
//! ```text
//!   MySQL             mysql.innodb_table_stats, innodb_index_stats; FLUSH TABLE reads them anew
//!   MariaDB           the same; RENAME TABLE there and back does: FLUSH has not since MDEV-35000
//!   PostgreSQL 18     pg_restore_relation_stats, pg_restore_attribute_stats
//!   PostgreSQL < 18   not possible: statistics come from ANALYZE alone
//! ```
//!
//! What is sampled differs from table to table by chance; a plan that changes with it says nothing
//! about two releases. Histograms stay where they are.

use dbdyno_load::Connector;
use dbdyno_model::Dialect;
use dbdyno_wire::{Client, WireError};

/// Statistics of base are in the tables of test.
pub(super) struct Transplant {
    client: Box<dyn Client>,
    /// What gives its own statistics back to test.
    undo: Vec<String>,
}

impl Transplant {
    /// Gives test its own statistics back.
    ///
    /// # Errors
    /// The server's refusal.
    pub(super) fn give_back(mut self) -> Result<(), WireError> {
        carry_out(&mut *self.client, &self.undo)?;
        self.client.close();
        Ok(())
    }
}

/// Gives test the statistics of base; or says why that cannot be done.
pub(super) fn transplant(
    base: &Connector,
    test: &Connector,
    dialect: Dialect,
) -> Result<Transplant, String> {
    let refused = |error: WireError| format!("statistics could not be exchanged: {error}");
    let mut of_base = base.connect().map_err(refused)?;
    let mut client = test.connect().map_err(refused)?;
    let is_mariadb = client.server_version().contains("MariaDB");
    let family = if is_mariadb { Family::MariaDb } else { Family::MySql };
    let read = |client: &mut dyn Client| match dialect {
        Dialect::Postgres => postgres(client),
        _ => mysql(client, family),
    };
    if dialect == Dialect::Postgres && !takes_statistics(&mut *client) {
        return Err("PostgreSQL takes statistics of another server since 18, and this one is \
                    older"
            .to_owned());
    }
    let wanted = read(&mut *of_base).map_err(refused)?;
    let undo = read(&mut *client).map_err(refused)?;
    of_base.close();
    if let Err(error) = carry_out(&mut *client, &wanted) {
        carry_out(&mut *client, &undo).map_err(refused)?;
        return Err(refused(error));
    }
    Ok(Transplant { client, undo })
}

fn carry_out(client: &mut dyn Client, statements: &[String]) -> Result<(), WireError> {
    statements.iter().try_for_each(|sql| client.run(sql).map(drop))
}

/// Who is told.
#[derive(Clone, Copy)]
enum Family {
    MySql,
    MariaDb,
}

/// Statements that give the tables of the session's database, on a server of that family, the
/// statistics that they have here. Partitions keep theirs.
fn mysql(client: &mut dyn Client, family: Family) -> Result<Vec<String>, WireError> {
    // Nothing of it is for replicas; a server without a binary log refuses the word.
    let mut statements = vec!["SET sql_log_bin=0".to_owned()];
    let tables = client.query(
        "SELECT table_name, n_rows, clustered_index_size, sum_of_other_index_sizes FROM \
         mysql.innodb_table_stats WHERE database_name = DATABASE() AND table_name NOT LIKE '%#%'",
    )?;
    for row in &tables.rows {
        let [Some(table), Some(rows), Some(clustered), Some(others)] = row.as_slice() else {
            continue;
        };
        statements.push(format!(
            "UPDATE mysql.innodb_table_stats SET n_rows = {rows}, clustered_index_size = \
             {clustered}, sum_of_other_index_sizes = {others} WHERE database_name = DATABASE() \
             AND table_name = {}",
            quoted(table)
        ));
    }
    let indexes = client.query(
        "SELECT table_name, index_name, stat_name, stat_value, sample_size FROM \
         mysql.innodb_index_stats WHERE database_name = DATABASE()",
    )?;
    for row in &indexes.rows {
        let [Some(table), Some(index), Some(name), Some(value), sample] = row.as_slice() else {
            continue;
        };
        statements.push(format!(
            "UPDATE mysql.innodb_index_stats SET stat_value = {value}, sample_size = {} WHERE \
             database_name = DATABASE() AND table_name = {} AND index_name = {} AND stat_name = {}",
            sample.as_deref().unwrap_or("NULL"),
            quoted(table),
            quoted(index),
            quoted(name)
        ));
    }
    let names = tables.rows.iter().filter_map(|row| row.first()?.as_deref());
    statements.extend(names.map(|table| reread(table, family)));
    Ok(statements)
}

/// Has a server read the statistics of a table anew.
fn reread(table: &str, family: Family) -> String {
    match family {
        Family::MySql => format!("FLUSH TABLE `{table}`"),
        Family::MariaDb => format!(
            "RENAME TABLE `{table}` TO dbdyno_reads_statistics, dbdyno_reads_statistics TO \
             `{table}`"
        ),
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

fn takes_statistics(client: &mut dyn Client) -> bool {
    let known = "SELECT count(*) FROM pg_proc WHERE proname = 'pg_restore_attribute_stats'";
    client.query(known).is_ok_and(|rows| rows.single() == Some("1"))
}

/// What a column's statistics are called, and what they are.
const OF_COLUMN: [(&str, &str); 7] = [
    ("null_frac", "real"),
    ("avg_width", "integer"),
    ("n_distinct", "real"),
    ("most_common_vals", "text"),
    ("most_common_freqs", "real[]"),
    ("histogram_bounds", "text"),
    ("correlation", "real"),
];

/// PostgreSQL takes a backslash as it is.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// As [`mysql`], of the tables and indexes of the schema that is searched first.
fn postgres(client: &mut dyn Client) -> Result<Vec<String>, WireError> {
    let mut statements = Vec::new();
    let relations = client.query(
        "SELECT relname, relpages, reltuples, relallvisible FROM pg_class WHERE relnamespace = \
         current_schema()::regnamespace AND relkind IN ('r', 'i')",
    )?;
    for row in &relations.rows {
        let [Some(name), Some(pages), Some(tuples), Some(visible)] = row.as_slice() else {
            continue;
        };
        statements.push(format!(
            "SELECT pg_restore_relation_stats('schemaname', current_schema()::text, 'relname', \
             {}::text, 'relpages', {pages}::integer, 'reltuples', {tuples}::real, \
             'relallvisible', {visible}::integer)",
            literal(name)
        ));
    }
    let columns = OF_COLUMN.map(|(name, _)| format!("{name}::text")).join(", ");
    let statistics = client.query(&format!(
        "SELECT tablename, attname, {columns} FROM pg_stats WHERE schemaname = current_schema() \
         AND NOT inherited"
    ))?;
    for row in &statistics.rows {
        let (Some(Some(table)), Some(Some(column))) = (row.first(), row.get(1)) else { continue };
        let values = OF_COLUMN.iter().zip(&row[2..]).filter_map(|((name, kind), value)| {
            Some(format!(", '{name}', {}::{kind}", literal(value.as_deref()?)))
        });
        statements.push(format!(
            "SELECT pg_restore_attribute_stats('schemaname', current_schema()::text, 'relname', \
             {}::text, 'attname', {}::text, 'inherited', false{})",
            literal(table),
            literal(column),
            values.collect::<String>()
        ));
    }
    Ok(statements)
}
