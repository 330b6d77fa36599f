//! What optimizers know of the values in a column, and in what two of them know otherwise.
//!
//! ```text
//!   MySQL        information_schema.column_statistics   singleton or equi-height, buckets, age
//!   MariaDB      mysql.column_stats                     kind, buckets, distinct values, age
//!   PostgreSQL   pg_stats                               target, bounds, distinct values, the most
//!                                                       common ones, age
//! ```
//!
//! Without a histogram a condition is believed to keep a tenth of the rows, or a third, whatever it
//! keeps. Two arms of which one has a histogram expect other rows of one plan. Numbers come from
//! samples; they are told where they are more than twice apart.

use std::collections::BTreeMap;

use dbdyno_model::HistogramDifference;
use serde::{Deserialize, Serialize};

/// Numbers of two samples may be so many times apart, and any two below the least.
const RATIO: f64 = 2.0;
const LEAST: f64 = 10.0;
/// What an optimizer is said to know of a column of which it knows nothing.
const NONE: &str = "none";

/// What an optimizer knows of the values in a column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnStatistics {
    /// `equi-height`, `JSON_HB`, `target 10`.
    pub kind: String,
    /// Buckets of its histogram.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub buckets: Option<f64>,
    /// Distinct values.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub distinct: Option<f64>,
    /// Values that are known by themselves, each with its frequency.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub common: Option<f64>,
    /// Days since it was taken.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub age_days: Option<f64>,
}

/// By column: `orders.status`.
pub type Columns = BTreeMap<String, ColumnStatistics>;

/// What is known of columns as the text of a fact.
pub fn columns_text(columns: &Columns) -> String {
    serde_json::to_string(columns).expect("columns have only names and numbers")
}

fn read(text: &str) -> Option<Columns> {
    serde_json::from_str(text).ok()
}

/// The columns of which two facts say different things.
pub(crate) fn histogram_differences(base: &str, test: &str) -> Vec<HistogramDifference> {
    let (Some(base), Some(test)) = (read(base), read(test)) else { return Vec::new() };
    let mut names: Vec<&String> = base.keys().chain(test.keys()).collect();
    names.sort();
    names.dedup();
    let difference = |name: &String| {
        let sides = [base.get(name), test.get(name)];
        let is_same = match sides {
            [Some(base), Some(test)] => alike(base, test),
            _ => false,
        };
        let [base, test] = sides.map(|side| side.map_or_else(|| NONE.to_owned(), told));
        (!is_same).then(|| HistogramDifference { column: name.clone(), base, test })
    };
    names.into_iter().filter_map(difference).collect()
}

fn alike(base: &ColumnStatistics, test: &ColumnStatistics) -> bool {
    let near = |base: Option<f64>, test: Option<f64>| match (base, test) {
        (Some(base), Some(test)) => {
            let (low, high) = (base.min(test), base.max(test));
            high < LEAST || high <= RATIO * low
        }
        // A sample may have no common value by chance.
        (one, other) => one.or(other).is_none_or(|number| number < LEAST),
    };
    base.kind == test.kind
        && near(base.buckets, test.buckets)
        && near(base.distinct, test.distinct)
        && near(base.common, test.common)
}

/// `equi-height, 100 buckets, 12 distinct values, 3 days old`.
fn told(one: &ColumnStatistics) -> String {
    let number = |what: &str, value: Option<f64>| value.map(|value| format!("{value:.0} {what}"));
    let parts = [
        Some(one.kind.clone()),
        number("buckets", one.buckets),
        number("distinct values", one.distinct),
        number("most common values", one.common),
        number("days old", one.age_days),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(kind: &str, buckets: f64, distinct: Option<f64>) -> ColumnStatistics {
        let (kind, buckets) = (kind.to_owned(), Some(buckets));
        ColumnStatistics { kind, buckets, distinct, common: None, age_days: Some(3.0) }
    }

    fn fact(columns: &[(&str, ColumnStatistics)]) -> String {
        let named = columns.iter().map(|(name, one)| ((*name).to_owned(), one.clone()));
        columns_text(&named.collect())
    }

    #[test]
    fn a_histogram_that_one_arm_alone_has_is_told() {
        let base = fact(&[("t.a", column("equi-height", 100.0, None))]);
        let found = histogram_differences(&base, &fact(&[]));
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(one.column, "t.a");
        assert_eq!(one.base, "equi-height, 100 buckets, 3 days old");
        assert_eq!(one.test, "none");
    }

    #[test]
    fn what_two_samples_differ_in_by_chance_is_not_told() {
        let of =
            |buckets, distinct| fact(&[("t.a", column("default target", buckets, Some(distinct)))]);
        assert_eq!(histogram_differences(&of(100.0, 5000.0), &of(90.0, 4000.0)), []);
        assert_eq!(histogram_differences(&of(100.0, 5000.0), &of(100.0, 400.0)).len(), 1);
        assert_eq!(histogram_differences(&of(100.0, 1.0), &of(10.0, 1.0)).len(), 1);
        assert_eq!(histogram_differences("no fact", &of(1.0, 1.0)), []);
    }
}
