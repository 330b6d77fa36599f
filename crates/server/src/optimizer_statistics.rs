//! The statistics of base, lent to the tables of test and given back afterwards, so that two
//! optimizers are compared at equal statistics.
//!
//! ```text
//!                     columns                               tables and indexes
//!   MySQL             histograms: ANALYZE TABLE … UPDATE    mysql.innodb_table_stats,
//!                     HISTOGRAM … USING DATA (8.0.31)       innodb_index_stats; FLUSH TABLE
//!   MariaDB           mysql.column_stats, with              the same; RENAME TABLE there and back:
//!                     table_stats and index_stats           FLUSH has not since MDEV-35000
//!   PostgreSQL 18     pg_restore_attribute_stats            pg_restore_relation_stats
//!   PostgreSQL < 18   not possible: statistics come from ANALYZE alone
//! ```
//!
//! What is sampled differs from table to table by chance; a plan that changes with it says nothing
//! about two releases. Those of columns are also lent alone, to tell a histogram that one arm lacks
//! from the size of a table; those of PostgreSQL come together.

use dbdyno_model::{Dialect, Identifier, Literal};
use dbdyno_wire::{Client, Rows, ServerError, WireError};

use crate::family::{
    ServerRelease, Statistics, StatisticsExtent, StatisticsLoan, any_release, since_release,
    way_for,
};
use crate::names::TableNames;
use crate::onlooker::Onlooker;

pub(crate) static NOT_LENT: StatisticsLoan = StatisticsLoan {
    columns: &[],
    tables: &[],
    unlogged: None,
    reread: |_| None,
    refusal: "statistics of another server are not taken by this one",
};

pub(crate) static MYSQL_LOAN: StatisticsLoan = StatisticsLoan {
    columns: &[since_release(8_00_00, histograms)],
    tables: &[any_release(innodb)],
    // A server without a binary log refuses the word.
    unlogged: Some("SET sql_log_bin=0"),
    reread: |table| Some(format!("FLUSH TABLE {table}")),
    ..NOT_LENT
};

pub(crate) static MARIADB_LOAN: StatisticsLoan = StatisticsLoan {
    columns: &[any_release(engine_independent)],
    reread: |table| {
        Some(format!(
            "RENAME TABLE {table} TO dbdyno_reads_statistics, dbdyno_reads_statistics TO {table}"
        ))
    },
    ..MYSQL_LOAN
};

pub(crate) static POSTGRES_LOAN: StatisticsLoan = StatisticsLoan {
    tables: &[since_release(18_00_00, postgres)],
    refusal: "PostgreSQL takes statistics of another server since 18, and this one is older",
    ..NOT_LENT
};

/// Something of base is with test.
pub struct LentStatistics {
    client: Box<dyn Client>,
    /// What gives its own back to test.
    undo: Vec<String>,
}

impl LentStatistics {
    /// Carries out what lends; what was carried out is undone where one of it is refused.
    pub(crate) fn carry_out(
        mut client: Box<dyn Client>,
        lent: &[String],
        undo: Vec<String>,
    ) -> Result<LentStatistics, String> {
        if let Err(error) = carry_out(&mut *client, lent) {
            carry_out(&mut *client, &undo).map_err(loan_refusal)?;
            return Err(loan_refusal(error));
        }
        Ok(LentStatistics { client, undo })
    }

    /// Gives test its own back.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn give_back(mut self) -> Result<(), WireError> {
        carry_out(&mut *self.client, &self.undo)?;
        self.client.close();
        Ok(())
    }
}

/// Why something was not lent.
pub fn loan_refusal(error: WireError) -> String {
    format!("the server did not take what is base's: {error}")
}

/// Gives test, of which `client` is another session, statistics of base; `None` where they are the
/// same.
///
/// # Errors
/// Why that cannot be done: a sentence.
pub fn lend_statistics(
    mut base: Onlooker,
    mut test: Onlooker,
    client: Box<dyn Client>,
    extent: StatisticsExtent,
) -> Result<Option<LentStatistics>, String> {
    let taker = test.server;
    let loan = taker.family().loan;
    if way_for(loan.tables, taker).is_none() {
        return Err(loan.refusal.to_owned());
    }
    let wanted = loan.read(&mut base, taker, extent).map_err(loan_refusal)?;
    let own = loan.read(&mut test, taker, extent).map_err(loan_refusal)?;
    base.client.close();
    test.client.close();
    if wanted.given == own.given {
        client.close();
        return Ok(None);
    }
    let lent = loan.exchanged(&own, &wanted, &own.tables);
    let undo = loan.exchanged(&wanted, &own, &own.tables);
    LentStatistics::carry_out(client, &lent, undo).map(Some)
}

fn carry_out(client: &mut dyn Client, statements: &[String]) -> Result<(), WireError> {
    statements.iter().try_for_each(|sql| {
        if answers_with_rows(sql) {
            not_refused(&client.query(sql)?)
        } else {
            client.run(sql).map(drop)
        }
    })
}

fn answers_with_rows(sql: &str) -> bool {
    [UPDATE_HISTOGRAM, RESTORE].iter().any(|word| sql.starts_with(word))
}

/// What ANALYZE TABLE does not do it says in a row, and `pg_restore_…_stats` answers `f`.
fn not_refused(told: &Rows) -> Result<(), WireError> {
    let says = |row: &Vec<Option<String>>, word: &str| row.iter().flatten().any(|own| own == word);
    let Some(row) = told.rows.iter().find(|row| says(row, "Error") || says(row, "f")) else {
        return Ok(());
    };
    let said: Vec<&str> = row.iter().flatten().map(String::as_str).collect();
    let message = format!("statistics were not taken: {}", said.join(", "));
    Err(WireError::Server(ServerError {
        code: 0,
        sqlstate: "HY000".to_owned(),
        message: message.into(),
    }))
}

impl StatisticsLoan {
    /// The statistics that the tables of the session's database have there, in the words of the
    /// server that takes them.
    fn read(
        &self,
        onlooker: &mut Onlooker,
        taker: ServerRelease,
        extent: StatisticsExtent,
    ) -> Result<Statistics, WireError> {
        let mut read = Statistics::default();
        for ways in [self.columns, self.tables] {
            let Some(reads) = way_for(ways, taker) else { continue };
            reads(&mut *onlooker.client, &onlooker.names, extent, &mut read)?;
        }
        Ok(read)
    }

    /// What gives a server with these tables other statistics than it has.
    fn exchanged(&self, from: &Statistics, to: &Statistics, tables: &[String]) -> Vec<String> {
        let first = self.unlogged.map(str::to_owned);
        let statements = from.cleared.iter().chain(&to.given).cloned();
        let tables = tables.iter().filter_map(|table| named(table));
        let reread = tables.filter_map(|table| (self.reread)(&table));
        first.into_iter().chain(statements).chain(reread).collect()
    }
}

/// The tables of InnoDB, and what it keeps of them.
fn innodb(
    client: &mut dyn Client,
    _names: &TableNames,
    extent: StatisticsExtent,
    read: &mut Statistics,
) -> Result<(), WireError> {
    let tables = client.query(
        "SELECT table_name, n_rows, clustered_index_size, sum_of_other_index_sizes FROM \
         mysql.innodb_table_stats WHERE database_name = DATABASE() AND table_name NOT LIKE '%#%'",
    )?;
    read.tables = tables.rows.iter().filter_map(|row| row.first()?.clone()).collect();
    if extent == StatisticsExtent::Columns {
        return Ok(());
    }
    for row in &tables.rows {
        let [Some(table), rows, clustered, others] = row.as_slice() else { continue };
        let [Some(rows), Some(clustered), Some(others)] = [rows, clustered, others].map(number)
        else {
            continue;
        };
        read.given.push(format!(
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
        let [Some(table), Some(index), Some(name), value, sample] = row.as_slice() else {
            continue;
        };
        let Some(value) = number(value) else { continue };
        read.given.push(format!(
            "UPDATE mysql.innodb_index_stats SET stat_value = {value}, sample_size = {} WHERE \
             database_name = DATABASE() AND table_name = {} AND index_name = {} AND stat_name = {}",
            number(sample).map_or_else(|| "NULL".to_owned(), |sample| sample.to_string()),
            quoted(table),
            quoted(index),
            quoted(name)
        ));
    }
    Ok(())
}

/// How statements begin that take statistics as they are, and answer whether they have.
const RESTORE: &str = "SELECT pg_restore_";
const UPDATE_HISTOGRAM: &str = "ANALYZE NO_WRITE_TO_BINLOG TABLE";

/// The histograms of MySQL 8.0 and later.
fn histograms(
    client: &mut dyn Client,
    _names: &TableNames,
    _extent: StatisticsExtent,
    read: &mut Statistics,
) -> Result<(), WireError> {
    let rows = client.query(
        "SELECT table_name, column_name, json_remove(histogram, '$.\"last-updated\"') FROM \
         information_schema.column_statistics WHERE schema_name = DATABASE() ORDER BY 1, 2",
    )?;
    for row in &rows.rows {
        let [Some(table), Some(column), Some(histogram)] = row.as_slice() else { continue };
        let (Some(table), Some(column)) = (named(table), named(column)) else { continue };
        let histogram = quoted(histogram).to_string();
        // Texts are in Base64 there; what is no plain text cannot stand behind USING DATA.
        if !histogram.starts_with('\'') {
            continue;
        }
        read.cleared.push(format!("ANALYZE TABLE {table} DROP HISTOGRAM ON {column}"));
        read.given.push(format!(
            "{UPDATE_HISTOGRAM} {table} UPDATE HISTOGRAM ON {column} USING DATA {histogram}"
        ));
    }
    Ok(())
}

/// The tables in which MariaDB keeps what ANALYZE TABLE … PERSISTENT has counted, with the columns
/// that are no text or number.
const ENGINE_INDEPENDENT: [(&str, &[&str]); 3] = [
    ("table_stats", &[]),
    ("column_stats", &["min_value", "max_value", "histogram"]),
    ("index_stats", &[]),
];

/// What MariaDB counts whatever the engine.
fn engine_independent(
    client: &mut dyn Client,
    _names: &TableNames,
    _extent: StatisticsExtent,
    read: &mut Statistics,
) -> Result<(), WireError> {
    for (table, binary) in ENGINE_INDEPENDENT {
        let columns = client.query(&format!("SELECT * FROM mysql.{table} LIMIT 0"))?.columns;
        let is_binary = |name: &String| binary.contains(&name.as_str());
        let Some(own) = columns.iter().map(|name| named(name)).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let asked: Vec<String> = columns
            .iter()
            .zip(&own)
            .map(
                |(name, own)| if is_binary(name) { format!("hex({own})") } else { own.to_string() },
            )
            .collect();
        let mut rows = client.query(&format!(
            "SELECT {} FROM mysql.{table} WHERE db_name = DATABASE()",
            asked.join(", ")
        ))?;
        rows.rows.sort();
        read.cleared.push(format!("DELETE FROM mysql.{table} WHERE db_name = DATABASE()"));
        for row in &rows.rows {
            let values: Vec<String> = columns
                .iter()
                .zip(row)
                .map(|(name, value)| match value {
                    _ if name == "db_name" => "DATABASE()".to_owned(),
                    Some(hex) if is_binary(name) => format!("unhex({})", quoted(hex)),
                    Some(text) => quoted(text).to_string(),
                    None => "NULL".to_owned(),
                })
                .collect();
            read.given.push(format!(
                "INSERT INTO mysql.{table} ({}) VALUES ({})",
                own.iter().map(Identifier::to_string).collect::<Vec<_>>().join(", "),
                values.join(", ")
            ));
        }
    }
    Ok(())
}

fn quoted(text: &str) -> Literal {
    Literal::new(text, Dialect::Mysql)
}

/// A name of MySQL's family; what cannot be one is passed over.
fn named(name: &str) -> Option<Identifier> {
    Identifier::new(name, Dialect::Mysql).ok()
}

/// A whole number that a server has told.
fn number(told: &Option<String>) -> Option<u64> {
    told.as_deref()?.parse().ok()
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

fn literal(text: &str) -> Literal {
    Literal::new(text, Dialect::Postgres)
}

/// What PostgreSQL keeps of the tables and indexes of the schema that is searched first. What is
/// not named stays as it was, so that what a server alone has is taken away before.
fn postgres(
    client: &mut dyn Client,
    names: &TableNames,
    extent: StatisticsExtent,
    read: &mut Statistics,
) -> Result<(), WireError> {
    if extent == StatisticsExtent::Columns {
        return Ok(());
    }
    let schema = names.schema();
    let relations = client.query(&format!(
        "SELECT relname, relpages, reltuples, relallvisible FROM pg_class WHERE relnamespace = \
         (SELECT n.oid FROM pg_namespace n WHERE n.nspname = {schema}) AND relkind IN ('r', 'i')"
    ))?;
    for row in &relations.rows {
        let [Some(name), pages, tuples, visible] = row.as_slice() else { continue };
        let [Some(pages), Some(visible)] = [pages, visible].map(number) else { continue };
        let tuples = tuples.as_deref().and_then(|tuples| tuples.parse::<f64>().ok());
        let Some(tuples) = tuples.filter(|tuples| tuples.is_finite()) else { continue };
        read.given.push(format!(
            "SELECT pg_restore_relation_stats('schemaname', current_schema()::text, 'relname', \
             {}::text, 'relpages', {pages}::integer, 'reltuples', '{tuples}'::real, \
             'relallvisible', {visible}::integer)",
            literal(name)
        ));
    }
    let columns = OF_COLUMN.map(|(name, _)| format!("{name}::text")).join(", ");
    let statistics = client.query(&format!(
        "SELECT tablename, attname, {columns} FROM pg_stats WHERE schemaname = {schema} \
         AND NOT inherited"
    ))?;
    for row in &statistics.rows {
        let (Some(Some(table)), Some(Some(column))) = (row.first(), row.get(1)) else { continue };
        let values = OF_COLUMN.iter().zip(&row[2..]).filter_map(|((name, kind), value)| {
            Some(format!(", '{name}', {}::{kind}", literal(value.as_deref()?)))
        });
        read.cleared.push(format!(
            "SELECT pg_clear_attribute_stats(current_schema()::text, {}, {}, false)",
            literal(table),
            literal(column)
        ));
        read.given.push(format!(
            "SELECT pg_restore_attribute_stats('schemaname', current_schema()::text, 'relname', \
             {}::text, 'attname', {}::text, 'inherited', false{})",
            literal(table),
            literal(column),
            values.collect::<String>()
        ));
    }
    Ok(())
}
