//! How many rows an event works through, and what a load is beside that.
//!
//! ```text
//!   SELECT c FROM {table} WHERE id BETWEEN {id} AND {id+99}
//!                                                  └─ 100 rows
//!   SELECT c FROM {table} WHERE id BETWEEN {id} AND {id+#}      what is left: the shape
//! ```
//!
//! Two loads of one shape differ in nothing but the number of rows, whatever they are called.

use crate::draw::Draw;
use crate::load::{Content, Load, Mix};

/// The rows of an event by its ranges and lists.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The load without its numbers of rows; equal for loads that differ in these alone.
    pub shape: String,
    /// Mean number of rows that an event works through by ranges and lists.
    pub rows: f64,
}

/// The span of a load whose tables have `table_rows` rows, where ids are drawn from them; `None`
/// where its events are not alike, or have neither a range nor a list.
///
/// Ranges that begin near the end of a table are cut; that is taken into account where ids are
/// uniform and `table_rows` is known.
pub fn load_span(load: &Load, table_rows: Option<u64>) -> Option<Span> {
    let Content::Mix(mix) = &load.content else { return None };
    if !mix.weights.is_empty() || load.background.is_some() {
        return None;
    }
    let table_rows = table_rows.filter(|_| mix.draw == Draw::Uniform);
    let Mix { transaction, draw, .. } = mix;
    let tables = load.dataset.key();
    let mut shape = format!("{tables} {transaction:?} {draw:?} {:?}", load.trend);
    let mut rows = 0.0;
    for step in &mix.steps {
        shape.push_str(&format!(" {} {:?}", step.repeat, step.table));
        for ask in &step.asks {
            let sql = &ask.sql;
            let texts = [&sql.mysql, &sql.postgres, &sql.sqlite, &sql.rocksdb];
            let masked = texts.map(|text| masked(text, table_rows));
            let known = masked.iter().find(|(text, _)| !text.is_empty());
            rows += known.map_or(0.0, |(_, rows)| rows * f64::from(step.repeat));
            shape.push_str(&format!(" {} {:?}", ask.class, ask.channel));
            masked.iter().for_each(|(text, _)| shape.push_str(&format!("\n{text}")));
        }
    }
    (rows > 0.0).then_some(Span { shape, rows })
}

/// A template with `#` for every number of rows, and their sum.
fn masked(template: &str, table_rows: Option<u64>) -> (String, f64) {
    let (mut text, mut rows) = (String::new(), 0.0);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, after) = rest.split_at(open + 1);
        text.push_str(before);
        let end = after.find(['}', ':', '{']).unwrap_or(after.len());
        let inside = &after[..end];
        match number_of_rows(inside, table_rows) {
            Some((kept, found)) => {
                text.push_str(&format!("{kept}#"));
                rows += found;
            }
            None => text.push_str(inside),
        }
        rest = &after[end..];
    }
    (text + rest, rows)
}

/// What stands before the number in `id+99`, `id*100`, `id of t*100`, `k+99`, `k*100` or `rows 50`,
/// and how many rows it stands for.
fn number_of_rows(inside: &str, table_rows: Option<u64>) -> Option<(&str, f64)> {
    let digits_at = inside.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (before, digits) = inside.split_at(digits_at);
    let number = digits.parse::<u64>().ok()? as f64;
    let name = before.strip_suffix(['+', '*']).unwrap_or(before);
    let is_drawn = ["id", "k", "hot id"].contains(&name) || name.starts_with("id of ");
    if before == "rows " || (before.ends_with('*') && is_drawn) {
        Some((before, number))
    } else if before.ends_with('+') && is_drawn {
        let all = table_rows.map_or(f64::INFINITY, |rows| rows as f64);
        // Of the ranges that begin at each of all rows, the last ones are shorter by one each.
        let size = (number + 1.0).min(all);
        Some((before, size - size * (size - 1.0) / (2.0 * all)))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::resolve_load;
    use crate::table::Tables;

    const TABLES: Tables = Tables { count: 1, rows: 1_000_000, seed: 1 };

    fn of(spec: &str) -> Option<Span> {
        load_span(&resolve_load(spec, TABLES).unwrap(), None)
    }

    #[test]
    fn loads_that_differ_in_rows_alone_have_one_shape() {
        for (family, rows) in [
            (
                ["random-points_range=10", "random-points", "random-points_range=1000"],
                [10.0, 100.0, 1000.0],
            ),
            (["read-only_range=10", "read-only", "read-only_range=10000"], [40.0, 400.0, 40_000.0]),
            (["join?rows=10", "join", "join?rows=5000"], [10.0, 1000.0, 5000.0]),
            (["bulk-insert?rows=1", "bulk-insert", "bulk-insert?rows=500"], [1.0, 100.0, 500.0]),
        ] {
            let spans = family.map(|spec| of(spec).unwrap());
            assert_eq!(spans.each_ref().map(|span| span.rows), rows, "{family:?}");
            assert!(spans.iter().all(|span| span.shape == spans[0].shape), "{spans:?}");
        }
    }

    #[test]
    fn loads_that_differ_in_more_have_not() {
        for [one, other] in [
            ["random-points_range=10", "points-covered-pk"],
            ["read-only", "read-only?trx=off&range=10"],
            ["random-points", "random-points_range=10?rand=zipfian"],
            ["read-only", "read-write"],
            ["range-covered-pk", "range-covered-si"],
            ["bulk-insert", "bulk-insert?rows=10&width=10"],
        ] {
            assert_ne!(of(one).unwrap().shape, of(other).unwrap().shape, "{one} {other}");
        }
        assert_eq!(of("point-query"), None, "it has no range");
        assert_eq!(of("tpcc"), None, "a conversation");
    }

    /// The mean over all places at which a range can begin.
    #[test]
    fn ranges_are_cut_at_the_end_of_the_table() {
        let tables = Tables { rows: 1000, ..TABLES };
        for range in [1_u64, 10, 999, 1000, 5000] {
            let load = resolve_load(&format!("read-only?range={range}"), tables).unwrap();
            let begins = 1..=tables.rows;
            let all: u64 = begins.map(|id| range.min(tables.rows - id + 1)).sum();
            let mean = 4.0 * all as f64 / tables.rows as f64;
            let found = load_span(&load, Some(tables.rows)).unwrap().rows;
            assert!((found - mean).abs() < 1e-9 * mean, "{range}: {found}, not {mean}");
        }
    }
}
