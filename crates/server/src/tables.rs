//! The tables of a database: which there are, what is in them, and how they are kept.
//!
//! `CHECKSUM TABLE` means something else in each family, and PostgreSQL has none. The sum here is
//! that of the first 32 bits of the SHA-256 of a row, its columns as text with bars between
//! them: a number that does not depend on the order of rows, nor on the family. Not part of it are
//! trailing spaces of a CHAR, zeros in front of bits, and columns that each family writes in a form
//! of its own. MySQL has lost MD5 with 9.6, and PostgreSQL has SHA-256 from 11 on: before that it
//! is MD5, under another name.

use dbdyno_model::Dialect;

use crate::names::TableName;
use crate::onlooker::Onlooker;

/// Tables of a database that are listed.
const TABLES_MOST: usize = 1_000;

/// The names of the ordinary tables of the session's database; `None` where it has none, or does
/// not tell.
pub fn table_names(onlooker: &mut Onlooker) -> Option<Vec<String>> {
    let question = match onlooker.server.family().dialect {
        Dialect::Mysql => "SELECT table_name FROM information_schema.tables \
             WHERE table_schema = database() AND table_type = 'BASE TABLE'"
            .to_owned(),
        Dialect::Postgres => {
            let schema = onlooker.names.schema();
            format!("SELECT tablename FROM pg_tables WHERE schemaname = {schema}")
        }
        Dialect::Sqlite | Dialect::Rocksdb | Dialect::Engine => return None,
    };
    let question = format!("{question} ORDER BY 1 LIMIT {TABLES_MOST}");
    let rows = onlooker.client.query(&question).ok()?.rows;
    Some(rows.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect())
}

/// Columns of a table whose contents are summed.
#[derive(Clone, Copy, Debug)]
pub struct SummedColumns<'a> {
    /// All of them; by the first one rows are chosen.
    pub names: &'a [String],
    /// Those, by place, whose digits stand for a number, and the base that they are written in.
    pub numbers: &'a [(usize, u32)],
    /// Those, by place, whose values come back in another form from each family.
    pub reshaped: &'a [usize],
}

/// A question, and the facts that its columns are.
pub type TableQuestion = (String, &'static [&'static str]);

/// Rows, and the sum of the contents of those whose first column can be divided by `step`; the
/// first question that is understood is enough.
pub fn content_questions(
    dialect: Dialect,
    name: &TableName,
    table: SummedColumns<'_>,
    step: u64,
) -> Vec<TableQuestion> {
    let place = name.qualified_name();
    let first = table.names.first().map_or("1", String::as_str);
    let column = |(place, name): (usize, &String)| {
        let base = table.numbers.iter().find(|(number, _)| *number == place).map(|(_, base)| *base);
        Some(match (dialect, base) {
            _ if table.reshaped.contains(&place) => return None,
            // Zeros in front are there in a column of bits, and not in one of numbers.
            (Dialect::Postgres, Some(2)) => format!("ltrim({name}::text, '0')"),
            (Dialect::Postgres, _) => format!("{name}::text"),
            (_, Some(2)) => format!("trim(LEADING '0' FROM bin({name} + 0))"),
            (_, Some(_)) => format!("{name} + 0"),
            (_, None) => name.clone(),
        })
    };
    let columns: Vec<String> = table.names.iter().enumerate().filter_map(column).collect();
    let row = if columns.is_empty() {
        "''".to_owned()
    } else {
        format!("concat_ws('|', {})", columns.join(", "))
    };
    let question = |number: String| {
        let chosen = match step {
            0 | 1 => number,
            _ => format!("CASE WHEN mod({first}, {step}) = 0 THEN {number} END"),
        };
        format!("SELECT count(*), sum({chosen}) FROM {place}")
    };
    let mysql =
        |hash: String| question(format!("cast(conv(substring({hash}, 1, 8), 16, 10) AS unsigned)"));
    let postgres =
        |hash: String| question(format!("('x' || substr({hash}, 1, 8))::bit(32)::bigint"));
    const SUM: &[&str] = &["data.rows", "data.sum"];
    const MD5: &[&str] = &["data.rows", "data.sum_md5"];
    let mut questions = match dialect {
        Dialect::Mysql => {
            vec![(mysql(format!("sha2(convert({row} USING utf8mb4), 256)")), SUM)]
        }
        Dialect::Postgres => {
            let sha = format!("encode(sha256(convert_to({row}, 'UTF8')), 'hex')");
            vec![(postgres(sha), SUM), (postgres(format!("md5({row})")), MD5)]
        }
        Dialect::Sqlite | Dialect::Engine => Vec::new(),
        Dialect::Rocksdb => return Vec::new(),
    };
    questions.push((format!("SELECT count(*) FROM {place}"), &["data.rows"]));
    questions
}

/// Questions about how a table is kept, each with the facts that it answers.
pub fn storage_questions(dialect: Dialect, table: &TableName) -> Vec<TableQuestion> {
    match dialect {
        Dialect::Mysql => vec![
            (
                format!(
                    "SELECT engine, row_format, table_collation, table_rows, \
                     data_length + index_length FROM information_schema.tables \
                     WHERE table_schema = database() AND table_name = {}",
                    table.name_literal()
                ),
                &[
                    "table.engine",
                    "table.row_format",
                    "table.collation",
                    "data.rows_estimated",
                    "data.bytes",
                ],
            ),
            (mysql_indexes(table), INDEXES),
        ],
        Dialect::Postgres => vec![
            (
                format!(
                    "SELECT reltuples::bigint, pg_total_relation_size(oid), relpersistence, \
                     reloptions::text FROM pg_class WHERE oid = {}",
                    table.oid_expression()
                ),
                &["data.rows_estimated", "data.bytes", "table.persistence", "table.options"],
            ),
            (postgres_indexes(table), INDEXES),
        ],
        Dialect::Sqlite | Dialect::Engine => Vec::new(),
        // They are those of the whole database, whose tables are parts of one space of keys.
        Dialect::Rocksdb => {
            vec![
                (rocksdb_property("estimate-num-keys"), &["data.rows_estimated"][..]),
                (rocksdb_property("total-sst-files-size"), &["data.bytes"]),
                (rocksdb_property("num-files-at-level0"), &["data.files_of_level_0"]),
                (rocksdb_property("estimate-pending-compaction-bytes"), &["data.bytes_to_compact"]),
            ]
        }
    }
}

fn rocksdb_property(name: &str) -> String {
    format!("PROPERTY rocksdb.{name}")
}

/// What the questions for indexes answer. InnoDB makes an index of the columns of a foreign key
/// where there is none, and PostgreSQL does not: indexes of just these columns are told apart,
/// since nobody knows of one who has made it.
const INDEXES: &[&str] = &["table.indexes", "table.foreign_key_indexes"];

/// `primary (id), index (k)`, spelled alike for both families; `none` where there is none.
fn mysql_indexes(table: &TableName) -> String {
    let table = table.name_literal();
    let all =
        |of: &str| format!("coalesce(group_concat({of} ORDER BY one SEPARATOR ', '), 'none')");
    let (others, own) = (all("if(is_of_key, NULL, one)"), all("if(is_of_key, one, NULL)"));
    let (indexed, referring) =
        (columns_in_order("seq_in_index"), columns_in_order("ordinal_position"));
    format!(
        "SELECT {others}, {own} FROM (SELECT \
         concat(if(index_name = 'PRIMARY', 'primary', if(non_unique = 0, 'unique', 'index')), \
         ' (', {indexed}, ')') AS one, \
         non_unique = 1 AND {indexed} IN (SELECT {referring} \
         FROM information_schema.key_column_usage WHERE table_schema = database() \
         AND table_name = {table} AND referenced_table_name IS NOT NULL \
         GROUP BY constraint_name) AS is_of_key \
         FROM information_schema.statistics WHERE table_schema = database() \
         AND table_name = {table} GROUP BY index_name, non_unique) AS indexes"
    )
}

fn columns_in_order(place: &str) -> String {
    format!("group_concat(column_name ORDER BY {place} SEPARATOR ',')")
}

fn postgres_indexes(table: &TableName) -> String {
    let oid = table.oid_expression();
    let all = |which: &str| {
        format!("coalesce(string_agg(one, ', ' ORDER BY one) FILTER (WHERE {which}), 'none')")
    };
    format!(
        "SELECT {}, {} FROM (SELECT NOT indisunique AND indpred IS NULL AND EXISTS (SELECT 1 \
         FROM pg_constraint WHERE conrelid = indrelid AND contype = 'f' AND \
         array_to_string(conkey, ',') = array_to_string(indkey::smallint[], ',')) AS is_of_key, \
         CASE WHEN indisprimary THEN 'primary' WHEN indisunique THEN 'unique' ELSE 'index' END \
         || ' (' || (SELECT string_agg(attname, ',' ORDER BY place) FROM \
         unnest(indkey::smallint[]) WITH ORDINALITY AS keys (number, place) \
         JOIN pg_attribute ON attrelid = indrelid AND attnum = number) || ')' AS one \
         FROM pg_index WHERE indrelid = {oid}) AS indexes",
        all("NOT is_of_key"),
        all("is_of_key"),
    )
}
