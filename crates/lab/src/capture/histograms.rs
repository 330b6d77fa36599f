//! What each optimizer knows of the values in columns: histograms, and what is counted with them.
//!
//! ```text
//!   data.TABLE.histograms   the columns that have one, and of which kind, for people
//!   histograms[LOAD].N      those of the columns in a statement, with all numbers, to be compared
//! ```

use std::collections::BTreeMap;

use dbdyno_explain::histograms::{ColumnStatistics, Columns, columns_text};
use dbdyno_model::{Dialect, Environment};
use dbdyno_server::{Onlooker, column_statistics};
use dbdyno_wire::Rows;

use super::tables::{self, has_word};

/// What is known of the columns of a table, table by table.
pub(super) type ByTable = BTreeMap<String, BTreeMap<String, ColumnStatistics>>;

/// What a server knows of all columns of the session's database; `None` where it does not tell.
pub(super) fn column_histograms(onlooker: &mut Onlooker) -> Option<ByTable> {
    column_statistics(onlooker).map(|rows| of_rows(&rows))
}

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
    for table in tables::noted_tables(facts) {
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
        facts.set(format!("histograms[{label}].{}", at + 1), columns_text(&columns));
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
