//! The tables that were made: whether they are the same, and how they are kept.

use dbdyno_model::{Dialect, Environment};
use dbdyno_server::{Onlooker, SummedColumns, content_questions, storage_questions, table_names};
use dbdyno_wire::Client;
use dbdyno_workload::Dataset;

/// About so many rows of a table are summed: PostgreSQL takes 2.4 s for a million of them, and
/// 0.3 s to count as many.
const SUMMED: u64 = 200_000;
/// The rows of larger tables are not even counted.
const COUNTED_MOST: u64 = 20_000_000;

/// What is noted of a table that a server does not count.
const NOT_KNOWN: &str = "not known";

/// Tables of others that are looked at.
const OTHERS_MOST: usize = 40;

/// Notes what can be known of the tables of a dataset.
pub(super) fn note_tables(
    onlooker: &mut Onlooker,
    dialect: Dialect,
    dataset: &dyn Dataset,
    facts: &mut Environment,
) {
    for (index, table) in dataset.tables(dialect).iter().enumerate() {
        let units = dataset.unit_count(index);
        let Ok(name) = onlooker.names.of_word(&table.name) else { continue };
        if units <= COUNTED_MOST {
            let columns = SummedColumns {
                names: &table.columns,
                numbers: &table.numbers,
                reshaped: &table.reshaped,
            };
            let questions = content_questions(dialect, &name, columns, units.div_ceil(SUMMED));
            let is_answered = questions.iter().any(|(sql, names)| {
                note_content(&mut *onlooker.client, sql, &table.name, names, facts)
            });
            if !is_answered && !questions.is_empty() {
                facts.set(format!("data.{}.rows", table.name), NOT_KNOWN.to_owned());
            }
        }
        for (sql, names) in storage_questions(dialect, &name) {
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
    let Some(found) = table_names(onlooker) else { return };
    let others: Vec<String> = found
        .into_iter()
        .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .filter(|name| statements.iter().any(|sql| has_word(sql, name)))
        .filter(|name| !facts.facts.contains_key(&format!("table.{name}.indexes")))
        .take(OTHERS_MOST)
        .collect();
    for name in others {
        let Ok(table) = onlooker.names.of_exact_name(&name) else { continue };
        for (sql, answers) in storage_questions(dialect, &table) {
            note(&mut *onlooker.client, &sql, &name, answers, facts);
        }
    }
}

/// The tables of which something is noted.
pub(super) fn noted_tables(facts: &Environment) -> Vec<String> {
    let names = facts.facts.keys();
    names
        .filter_map(|name| name.strip_prefix("table.")?.strip_suffix(".indexes"))
        .map(str::to_owned)
        .collect()
}

/// Whether a statement has this word.
pub(super) fn has_word(sql: &str, word: &str) -> bool {
    sql.split(|c: char| !is_name_char(c)).any(|part| part.eq_ignore_ascii_case(word))
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Notes how many rows there are and what they sum up to, as [`note`] does, and says whether the
/// server has answered. Neither can be NULL
/// where there are rows: it is no answer, and no fact that the other arm alone has.
fn note_content(
    client: &mut dyn Client,
    sql: &str,
    table: &str,
    names: &[&str],
    facts: &mut Environment,
) -> bool {
    let Ok(rows) = client.query(sql) else { return false };
    let Some(row) = rows.rows.into_iter().next() else { return false };
    let count = row.first().cloned().flatten();
    let Some(count) = count.filter(|count| count.parse::<u64>().is_ok()) else { return false };
    for (name, value) in names.iter().zip(row) {
        let value = value.or_else(|| (count != "0").then(|| NOT_KNOWN.to_owned()));
        if let (Some(value), Some((kind, what))) = (value, name.split_once('.')) {
            facts.set(format!("{kind}.{table}.{what}"), value);
        }
    }
    true
}

/// Notes the columns of the only row; `data.rows` becomes `data.TABLE.rows`.
fn note(client: &mut dyn Client, sql: &str, table: &str, names: &[&str], facts: &mut Environment) {
    let Ok(rows) = client.query(sql) else { return };
    let Some(row) = rows.rows.into_iter().next() else { return };
    for (name, value) in names.iter().zip(row) {
        if let (Some(value), Some((kind, what))) = (value, name.split_once('.')) {
            facts.set(format!("{kind}.{table}.{what}"), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_load::SqliteFile;

    use super::*;

    /// NULL for a count was no fact at all, so that tables nobody had counted stood for equal ones.
    #[test]
    fn a_table_that_is_not_counted_is_not_known() {
        let folder = tempfile::tempdir().unwrap();
        let file = SqliteFile { path: folder.path().join("empty.db"), pragmas: Vec::new() };
        let mut client = file.open().unwrap();
        let names = &["data.rows", "data.sum"];
        for (sql, told) in [
            ("SELECT '5', '7'", Some(["5", "7"])),
            ("SELECT '5', NULL", Some(["5", NOT_KNOWN])),
            ("SELECT '0', NULL", Some(["0", ""])),
            ("SELECT NULL, NULL", None),
            ("SELECT '-5', '7'", None),
            ("SELECT 'x', '7'", None),
            ("SELECT '5', '7' WHERE false", None),
        ] {
            let mut facts = Environment::default();
            let is_answered = note_content(&mut client, sql, "t", names, &mut facts);
            assert_eq!(is_answered, told.is_some(), "{sql}");
            let found = ["data.t.rows", "data.t.sum"].map(|name| facts.get(name));
            assert_eq!(found, told.unwrap_or_default(), "{sql}");
        }
    }
}
