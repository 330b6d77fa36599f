//! The tables that were made: whether they are the same, and how they are kept.
//!
//! `CHECKSUM TABLE` means something else in each family, and PostgreSQL has none. The sum here is
//! `CHECKSUM TABLE` means something else in each family, and PostgreSQL has none. The sum here is
//! that of the first 32 bits of the SHA-256 of a row, its columns as text with bars between
//! them: a number that does not depend on the order of rows, nor on the family. Not part of it are
//! trailing spaces of a CHAR, zeros in front of bits, and columns that each family writes in a form
//! of its own. MySQL has lost MD5 with 9.6, and PostgreSQL has SHA-256 from 11 on: before that it
//! is MD5, under another name.

use dbdyno_load::{Onlooker, TableName};
use dbdyno_model::{Dialect, Environment};
use dbdyno_wire::Client;
use dbdyno_workload::{Dataset, TableScript};

/// About so many rows of a table are summed: PostgreSQL takes 2.4 s for a million of them, and
/// 0.3 s to count as many.
const SUMMED: u64 = 200_000;
/// The rows of larger tables are not even counted.
const COUNTED_MOST: u64 = 20_000_000;

/// Tables of others that are looked at.
const OTHERS_MOST: usize = 40;

/// Notes what can be known of the tables of a dataset.
pub(super) fn look(
    onlooker: &mut Onlooker,
    dialect: Dialect,
    dataset: &dyn Dataset,
    facts: &mut Environment,
) {
    for (index, table) in dataset.tables(dialect).iter().enumerate() {
        let units = dataset.units(index);
        let Ok(name) = onlooker.names.of_word(&table.name) else { continue };
        if units <= COUNTED_MOST {
            let questions = content(dialect, &name, table, units.div_ceil(SUMMED));
            let _none_answered = questions
                .iter()
                .any(|(sql, names)| note(&mut *onlooker.client, sql, &table.name, names, facts));
        }
        for (sql, names) in kept(dialect, &name) {
            note(&mut *onlooker.client, &sql, &table.name, names, facts);
        }
    }
}

/// Notes how tables are kept that a load asks of and nobody has filled: those of a user, where an
/// index may be missing on one side.
pub(super) fn look_at_others(
    onlooker: &mut Onlooker,
    dialect: Dialect,
    statements: &[String],
    facts: &mut Environment,
) {
    let question = match dialect {
        Dialect::Mysql => "SELECT table_name FROM information_schema.tables \
             WHERE table_schema = database() AND table_type = 'BASE TABLE' ORDER BY 1 LIMIT 1000"
            .to_owned(),
        Dialect::Postgres => format!(
            "SELECT tablename FROM pg_tables WHERE schemaname = {} ORDER BY 1 LIMIT 1000",
            onlooker.names.schema()
        ),
        Dialect::Sqlite | Dialect::Rocksdb | Dialect::Engine => return,
    };
    let Ok(rows) = onlooker.client.query(&question) else { return };
    let found = rows.rows.into_iter().filter_map(|row| row.into_iter().next().flatten());
    let others: Vec<String> = found
        .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .filter(|name| statements.iter().any(|sql| has_word(sql, name)))
        .filter(|name| !facts.facts.contains_key(&format!("table.{name}.indexes")))
        .take(OTHERS_MOST)
        .collect();
    for name in others {
        let Ok(table) = onlooker.names.exactly(&name) else { continue };
        for (sql, answers) in kept(dialect, &table) {
            note(&mut *onlooker.client, &sql, &name, answers, facts);
        }
    }
}

/// The tables of which something is noted.
pub(super) fn noted(facts: &Environment) -> Vec<String> {
    let names = facts.facts.keys();
    names
        .filter_map(|name| name.strip_prefix("table.")?.strip_suffix(".indexes"))
        .map(str::to_owned)
        .collect()
}

/// Whether a statement has this word.
pub(super) fn has_word(sql: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    sql.split(|c: char| !is_part(c)).any(|part| part.eq_ignore_ascii_case(word))
}

/// Notes the columns of the only row; `data.rows` becomes `data.TABLE.rows`. Says whether the
/// server has understood.
fn note(
    client: &mut dyn Client,
    sql: &str,
    table: &str,
    names: &[&str],
    facts: &mut Environment,
) -> bool {
    let Ok(rows) = client.query(sql) else { return false };
    let Some(row) = rows.rows.into_iter().next() else { return true };
    for (name, value) in names.iter().zip(row) {
        if let (Some(value), Some((kind, what))) = (value, name.split_once('.')) {
            facts.set(format!("{kind}.{table}.{what}"), value);
        }
    }
    true
}

/// A question, and the facts that its columns are.
type Question = (String, &'static [&'static str]);

/// Rows, and the sum of the contents of those whose first column can be divided by `step`; the
/// first question that is understood is enough.
fn content(dialect: Dialect, name: &TableName, table: &TableScript, step: u64) -> Vec<Question> {
    let place = name.place();
    let first = table.columns.first().map_or("1", String::as_str);
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
    let columns: Vec<String> = table.columns.iter().enumerate().filter_map(column).collect();
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
fn kept(dialect: Dialect, table: &TableName) -> Vec<Question> {
    match dialect {
        Dialect::Mysql => vec![
            (
                format!(
                    "SELECT engine, row_format, table_collation, table_rows, \
                     data_length + index_length FROM information_schema.tables \
                     WHERE table_schema = database() AND table_name = {}",
                    table.text()
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
                    table.oid()
                ),
                &["data.rows_estimated", "data.bytes", "table.persistence", "table.options"],
            ),
            (postgres_indexes(table), INDEXES),
        ],
        Dialect::Sqlite | Dialect::Engine => Vec::new(),
        // They are those of the whole database, whose tables are parts of one space of keys.
        Dialect::Rocksdb => {
            let property = |name: &str| format!("PROPERTY rocksdb.{name}");
            vec![
                (property("estimate-num-keys"), &["data.rows_estimated"][..]),
                (property("total-sst-files-size"), &["data.bytes"]),
                (property("num-files-at-level0"), &["data.files_of_level_0"]),
                (property("estimate-pending-compaction-bytes"), &["data.bytes_to_compact"]),
            ]
        }
    }
}

/// What the questions for indexes answer. InnoDB makes an index of the columns of a foreign key
/// where there is none, and PostgreSQL does not: indexes of just these columns are told apart,
/// since nobody knows of one who has made it.
const INDEXES: &[&str] = &["table.indexes", "table.foreign_key_indexes"];

/// `primary (id), index (k)`, spelled alike for both families; `none` where there is none.
fn mysql_indexes(table: &TableName) -> String {
    let table = table.text();
    let all =
        |of: &str| format!("coalesce(group_concat({of} ORDER BY one SEPARATOR ', '), 'none')");
    let (others, own) = (all("if(is_of_key, NULL, one)"), all("if(is_of_key, one, NULL)"));
    let columns = |place: &str| format!("group_concat(column_name ORDER BY {place} SEPARATOR ',')");
    let (indexed, referring) = (columns("seq_in_index"), columns("ordinal_position"));
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

fn postgres_indexes(table: &TableName) -> String {
    let oid = table.oid();
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
