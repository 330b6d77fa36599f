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
            let _none_answered = questions
                .iter()
                .any(|(sql, names)| note(&mut *onlooker.client, sql, &table.name, names, facts));
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
