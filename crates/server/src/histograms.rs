//! What each optimizer knows of the values in columns: histograms, and what is counted with them.
//!
//! ```text
//!   MySQL since 8.0   information_schema.column_statistics
//!   MariaDB           mysql.column_stats, which ANALYZE TABLE … PERSISTENT fills
//!   PostgreSQL        pg_stats, which any ANALYZE fills
//! ```

use dbdyno_wire::Rows;

use crate::family::{ColumnKnowledge, way_for};
use crate::onlooker::Onlooker;

/// Columns that are looked at.
const COLUMNS_MOST: usize = 4_000;

/// What a server knows of all columns of the session's database: rows of table, column, kind,
/// buckets, distinct values, most common values and days since; `None` where it does not tell.
pub fn column_statistics(onlooker: &mut Onlooker) -> Option<Rows> {
    let question = match way_for(onlooker.server.family().columns, onlooker.server)? {
        ColumnKnowledge::Nothing => return Some(Rows::default()),
        ColumnKnowledge::Asked(question) => question,
    };
    let question = question.replace(SCHEMA, &onlooker.names.schema());
    onlooker.client.query(&format!("{question} LIMIT {COLUMNS_MOST}")).ok()
}

/// Table, column, kind, buckets, distinct values, most common values and days since.
pub(crate) const MYSQL_COLUMNS: &str = "\
SELECT table_name, column_name, json_unquote(json_extract(histogram, '$.\"histogram-type\"')), \
json_length(json_extract(histogram, '$.buckets')), NULL, NULL, timestampdiff(DAY, \
json_unquote(json_extract(histogram, '$.\"last-updated\"')), utc_timestamp()) \
FROM information_schema.column_statistics WHERE schema_name = database() ORDER BY 1, 2";

pub(crate) const MARIADB_COLUMNS: &str = "\
SELECT c.table_name, c.column_name, if(c.hist_size > 0, c.hist_type, 'no histogram'), \
nullif(c.hist_size, 0), t.cardinality * (1 - c.nulls_ratio) / c.avg_frequency, NULL, NULL \
FROM mysql.column_stats c \
LEFT JOIN mysql.table_stats t ON t.db_name = c.db_name AND t.table_name = c.table_name \
WHERE c.db_name = database() ORDER BY 1, 2";

/// What stands for the schema of the tables.
const SCHEMA: &str = "SCHEMA_OF_TABLES";

/// Of a target that is none of the column's own some releases say -1 and others NULL.
pub(crate) const POSTGRES_COLUMNS: &str = "\
SELECT s.tablename, s.attname, CASE WHEN a.attstattarget >= 0 THEN 'target ' || a.attstattarget \
ELSE 'default target' END, array_length(s.histogram_bounds::text::text[], 1) - 1, \
CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * greatest(c.reltuples, 0) ELSE s.n_distinct END, \
array_length(s.most_common_freqs, 1), extract(day FROM now() - \
greatest(u.last_analyze, u.last_autoanalyze)) FROM pg_stats s \
JOIN pg_class c ON c.relname = s.tablename AND c.relnamespace = s.schemaname::regnamespace \
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = s.attname \
LEFT JOIN pg_stat_user_tables u ON u.relid = c.oid \
WHERE s.schemaname = SCHEMA_OF_TABLES AND NOT s.inherited ORDER BY 1, 2";
