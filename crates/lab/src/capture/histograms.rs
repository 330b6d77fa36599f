//! What each optimizer knows of the values in columns: histograms, and what is counted with them.
//!
//! ```text
//!   data.TABLE.histograms   the columns that have one, and of which kind, for people
//!   histograms[LOAD].N      those of the columns in a statement, with all numbers, to be compared
//! ```

use std::collections::BTreeMap;

use dbdyno_explain::histograms::{ColumnStatistics, Columns, written};
use dbdyno_load::Onlooker;
use dbdyno_model::{Dialect, Environment};
use dbdyno_wire::Rows;

use super::tables::{self, has_word};

/// Columns that are looked at.
const COLUMNS_MOST: usize = 4_000;

/// What is known of the columns of a table, table by table.
pub(super) type ByTable = BTreeMap<String, BTreeMap<String, ColumnStatistics>>;

/// What a server knows of all columns of the session's database; `None` where it does not tell.
pub(super) fn known(onlooker: &mut Onlooker, dialect: Dialect) -> Option<ByTable> {
    let Onlooker { client, names } = onlooker;
    let version = client.server_version().to_owned();
    let question = match dialect {
        Dialect::Mysql if version.contains("MariaDB") => MARIADB,
        // There were none before.
        Dialect::Mysql if version.starts_with("5.") => return Some(ByTable::new()),
        Dialect::Mysql => MYSQL,
        Dialect::Postgres => POSTGRES,
        Dialect::Sqlite | Dialect::Rocksdb | Dialect::Engine => return None,
    };
    let question = question.replace(SCHEMA, &names.schema());
    let rows = client.query(&format!("{question} LIMIT {COLUMNS_MOST}")).ok()?;
    Some(of_rows(&rows))
}

/// Table, column, kind, buckets, distinct values, most common values and days since.
const MYSQL: &str = "\
SELECT table_name, column_name, json_unquote(json_extract(histogram, '$.\"histogram-type\"')), \
json_length(json_extract(histogram, '$.buckets')), NULL, NULL, timestampdiff(DAY, \
json_unquote(json_extract(histogram, '$.\"last-updated\"')), utc_timestamp()) \
FROM information_schema.column_statistics WHERE schema_name = database() ORDER BY 1, 2";

const MARIADB: &str = "\
SELECT c.table_name, c.column_name, if(c.hist_size > 0, c.hist_type, 'no histogram'), \
nullif(c.hist_size, 0), t.cardinality * (1 - c.nulls_ratio) / c.avg_frequency, NULL, NULL \
FROM mysql.column_stats c \
LEFT JOIN mysql.table_stats t ON t.db_name = c.db_name AND t.table_name = c.table_name \
WHERE c.db_name = database() ORDER BY 1, 2";

/// What stands for the schema of the tables.
const SCHEMA: &str = "SCHEMA_OF_TABLES";

/// Of a target that is none of the column's own some releases say -1 and others NULL.
const POSTGRES: &str = "\
SELECT s.tablename, s.attname, CASE WHEN a.attstattarget >= 0 THEN 'target ' || a.attstattarget \
ELSE 'default target' END, array_length(s.histogram_bounds::text::text[], 1) - 1, \
CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * greatest(c.reltuples, 0) ELSE s.n_distinct END, \
array_length(s.most_common_freqs, 1), extract(day FROM now() - \
greatest(u.last_analyze, u.last_autoanalyze)) FROM pg_stats s \
JOIN pg_class c ON c.relname = s.tablename AND c.relnamespace = s.schemaname::regnamespace \
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = s.attname \
LEFT JOIN pg_stat_user_tables u ON u.relid = c.oid \
WHERE s.schemaname = SCHEMA_OF_TABLES AND NOT s.inherited ORDER BY 1, 2";

fn of_rows(rows: &Rows) -> ByTable {
    let mut found = ByTable::new();
    for row in &rows.rows {
        let [Some(table), Some(column), Some(kind), numbers @ ..] = row.as_slice() else {
            continue;
        };
        let number = |at: usize| numbers.get(at)?.as_deref()?.parse::<f64>().ok();
        let one = ColumnStatistics {
            kind: kind.clone(),
            buckets: number(0),
            distinct: number(1).map(f64::round),
            common: number(2),
            age_days: number(3),
        };
        found.entry(table.clone()).or_default().insert(column.clone(), one);
    }
    found
}

/// Notes which columns have a histogram, for each table that is noted already.
pub(super) fn look_at_tables(known: &ByTable, dialect: Dialect, facts: &mut Environment) {
    for table in tables::noted(facts) {
        let columns = known.get(&table).into_iter().flatten();
        // Of PostgreSQL, which samples all columns alike, those that it was told something about.
        let is_told = |one: &ColumnStatistics| match dialect {
            Dialect::Postgres => one.kind.starts_with("target "),
            _ => one.buckets.is_some(),
        };
        let told: Vec<String> = columns
            .filter(|(_, one)| is_told(one))
            .map(|(name, one)| format!("{name} {}", one.kind))
            .collect();
        let told = if told.is_empty() { "none".to_owned() } else { told.join(", ") };
        facts.set(format!("data.{table}.histograms"), told);
    }
}

/// Notes what is known of the columns that each statement of a load names.
pub(super) fn look_at_statements(
    known: &ByTable,
    label: &str,
    statements: &[String],
    facts: &mut Environment,
) {
    for (at, sql) in statements.iter().enumerate() {
        let mut columns = Columns::new();
        for (table, of_table) in known.iter().filter(|(table, _)| has_word(sql, table)) {
            for (column, one) in of_table.iter().filter(|(column, _)| has_word(sql, column)) {
                columns.insert(format!("{table}.{column}"), one.clone());
            }
        }
        facts.set(format!("histograms[{label}].{}", at + 1), written(&columns));
    }
}

#[cfg(test)]
mod tests {
    use super::super::plans::tests::table;
    use super::*;

    /// What MySQL 8.0.33 answers of a table with 7 values in one column and 1,000 in another, and
    /// PostgreSQL 18 of the same.
    #[test]
    fn columns_are_noted_by_table_and_by_statement() {
        let columns = ["table_name", "column_name", "kind", "buckets", "distinct", "common", "age"];
        let rows: [&[&str]; 3] = [
            &["t", "a", "singleton", "7", "NULL", "NULL", "0"],
            &["t", "b", "equi-height", "10", "NULL", "NULL", "0"],
            &["other", "a", "singleton", "1", "NULL", "NULL", "0"],
        ];
        let known = of_rows(&table(&columns, &rows));
        let mut facts = Environment::default();
        facts.set("table.t.indexes", "primary (id)");
        facts.set("table.bare.indexes", "primary (id)");
        look_at_tables(&known, Dialect::Mysql, &mut facts);
        assert_eq!(facts.get("data.t.histograms"), "a singleton, b equi-height");
        assert_eq!(facts.get("data.bare.histograms"), "none");
        let sql = "SELECT count(*) FROM t WHERE t.b < 7".to_owned();
        look_at_statements(&known, "load", &[sql], &mut facts);
        assert_eq!(
            facts.get("histograms[load].1"),
            r#"{"t.b":{"kind":"equi-height","buckets":10.0,"age_days":0.0}}"#
        );
        let rows: [&[&str]; 2] = [
            &["t", "a", "target 10", "NULL", "7", "7", "0"],
            &["t", "b", "default target", "100", "1000", "NULL", "0"],
        ];
        let known = of_rows(&table(&columns, &rows));
        look_at_tables(&known, Dialect::Postgres, &mut facts);
        assert_eq!(facts.get("data.t.histograms"), "a target 10");
        assert_eq!(known["t"]["b"].distinct, Some(1000.0));
    }
}
