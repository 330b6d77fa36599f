//! How many times more, or fewer, rows a statement meets than its plan expects: the q-error
//! (Moerkotte, Neumann and Steidl, "Preventing Bad Plans by Bounding the Impact of Cardinality
//! Estimation Errors", 2009).
//!
//! ```text
//!   PostgreSQL, MySQL since 8.0.18   EXPLAIN ANALYZE           the worst node    q_error[…]
//!   MariaDB                          ANALYZE FORMAT=JSON       the worst table   q_error[…]
//!   MySQL, MariaDB                   Handler_read_… of a       all rows read     q_reads[…]
//!                                    session, around it
//! ```
//!
//! A node says more than the sum of all reads, which every release counts: two arms are compared by
//! what both can tell. With a LIMIT, and below a merge join, a node may end before its rows do, so
//! that only more rows than expected count there. What a merge join sorts or keeps it may read over
//! and over; its rows say nothing.

use dbdyno_json::JsonTree;
use dbdyno_model::Dialect;
use dbdyno_server::{
    AnalyzedPlan, ServerRelease, analyze_statement, explain_statement, session_reads,
};
use dbdyno_wire::{Client, Rows};

/// A statement that meets more rows is not carried out once more to count them by node.
const ROWS_MOST: f64 = 5e6;

/// Rows that a session has read, before a statement.
pub(super) struct Reads {
    server: ServerRelease,
    before: f64,
    /// What it costs to look: some releases count reading the counters.
    own: f64,
}

impl Reads {
    /// Begins to count; `None` where nobody does.
    pub(super) fn begin_count(client: &mut dyn Client, dialect: Dialect) -> Option<Reads> {
        let server = ServerRelease::of_client(client, dialect);
        let first = session_reads(client, server)?;
        let before = session_reads(client, server)?;
        Some(Reads { server, before, own: before - first })
    }

    /// Rows that were read since; `None` where the server has not counted them. Looking in vain for
    /// a row is counted as well, so that no statement on tables has read none: `COUNT(*)` without a
    /// condition is answered by threads of InnoDB since MySQL 8.0.14, whose reads nobody counts.
    pub(super) fn end_count(&mut self, client: &mut dyn Client) -> Option<f64> {
        counted(session_reads(client, self.server)? - self.before - self.own)
    }
}

fn counted(read: f64) -> Option<f64> {
    (read >= 1.0).then_some(read)
}

/// The q-error of all rows that a statement has read; `None` where its plan is not of one SELECT.
pub(super) fn of_reads(
    client: &mut dyn Client,
    dialect: Dialect,
    sql: &str,
    read: f64,
) -> Option<String> {
    let server = ServerRelease::of_client(client, dialect);
    let explained = explain_statement(client, server, sql)?;
    Some(rounded(q(expected_reads(&explained)?, read, sql)))
}

/// Rows that a plan expects to read: of each table, so many for each combination of rows before it;
/// what is joined from a buffer is read once.
fn expected_reads(explained: &Rows) -> Option<f64> {
    let id = explained.column("id")?;
    let rows = explained.column("rows")?;
    let extra = explained.column("Extra")?;
    let filtered = explained.column("filtered");
    let first = explained.rows.first()?.get(id)?.clone()?;
    let (mut reads, mut joined) = (0.0, 1.0);
    for row in &explained.rows {
        let text = |at: usize| row.get(at)?.as_deref();
        let number = |at: usize| text(at)?.parse::<f64>().ok();
        if text(id) != Some(&first) {
            return None;
        }
        let rows = number(rows)?;
        let is_buffered = text(extra).is_some_and(|extra| extra.contains("join buffer"));
        reads += if is_buffered { rows } else { joined * rows };
        joined *= rows * filtered.and_then(number).map_or(1.0, |percent| percent / 100.0);
    }
    Some(reads)
}

/// The q-error of the worst node of a statement, which is carried out for it; `None` where the
/// server counts no rows by node, or would meet more than are worth it.
pub(super) fn of_nodes(
    client: &mut dyn Client,
    dialect: Dialect,
    sql: &str,
    rows: f64,
) -> Option<String> {
    if rows > ROWS_MOST {
        return None;
    }
    let server = ServerRelease::of_client(client, dialect);
    let worst = match analyze_statement(client, server, sql)? {
        AnalyzedPlan::Lines(lines) => worst_node(&lines, sql),
        AnalyzedPlan::Json(tree) => worst_table(&tree, sql),
    };
    worst.map(rounded)
}

/// The worst node of a tree that is told line by line: `(cost=… rows=10 …) (actual … rows=12 …)`.
/// What was never executed has met nothing and expects nothing.
fn worst_node(analyzed: &Rows, sql: &str) -> Option<f64> {
    let lines = analyzed.rows.iter().filter_map(|row| row.first()?.as_deref());
    let (mut worst, mut merged) = (None::<f64>, None::<usize>);
    for line in lines.flat_map(str::lines) {
        let Some((node, expected, met)) = node(line) else { continue };
        let depth = line.len() - line.trim_start().len();
        merged = merged.filter(|above| depth > *above);
        let is_read_again = ["Sort", "Materialize"].iter().any(|name| node.starts_with(name));
        let own = match merged {
            Some(_) if is_read_again => None,
            Some(_) => Some(q(expected.min(met), met, sql)),
            None => Some(q(expected, met, sql)),
        };
        worst = worst.into_iter().chain(own).reduce(f64::max);
        if merged.is_none() && node.starts_with("Merge ") {
            merged = Some(depth);
        }
    }
    worst
}

/// Name of a node, rows expected and rows met; `None` of a line that is none, or of what never ran.
fn node(line: &str) -> Option<(&str, f64, f64)> {
    let (name, numbers) = line.split_once("(cost=")?;
    let (expected, met) = numbers.split_once("(actual ")?;
    Some((
        name.trim().trim_start_matches("->").trim(),
        rows_in_numbers(expected)?,
        rows_in_numbers(met)?,
    ))
}

fn rows_in_numbers(numbers: &str) -> Option<f64> {
    let (_, rest) = numbers.split_once("rows=")?;
    rest.split([' ', ')']).next()?.parse::<f64>().ok()
}

/// The worst table of MariaDB's tree, before its conditions and after them.
fn worst_table(node: &JsonTree, sql: &str) -> Option<f64> {
    let inner = node.children().filter_map(|inner| worst_table(inner, sql)).reduce(f64::max);
    let share = |name: &str| node.number_field(&[name]).map_or(1.0, |percent| percent / 100.0);
    let own =
        node.number_field(&["rows"]).zip(node.number_field(&["r_rows"])).map(|(expected, met)| {
            let kept = (expected * share("filtered"), met * share("r_filtered"));
            q(expected, met, sql).max(q(kept.0, kept.1, sql))
        });
    inner.into_iter().chain(own).reduce(f64::max)
}

/// How many times one is the other; less than a row is a row.
fn q(expected: f64, met: f64, sql: &str) -> f64 {
    let (expected, met) = (expected.max(1.0), met.max(1.0));
    if sql.to_uppercase().contains(" LIMIT ") {
        (met / expected).max(1.0)
    } else {
        (expected / met).max(met / expected)
    }
}

/// To two significant digits: what is sampled anew with each table has no more.
fn rounded(q: f64) -> String {
    let digits = q.log10().floor() as i32;
    let unit = 10_f64.powi(digits - 1);
    let decimals = usize::from(digits == 0);
    let text = format!("{:.decimals$}", (q / unit).round() * unit);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::plans::tests::table;
    use super::*;

    #[test]
    fn the_worst_node_counts_and_what_never_ran_does_not() {
        // MySQL 8.0.33, a lost bound of a range.
        let tree = "-> Aggregate: sum(t2.c)  (cost=2992 rows=1) (actual time=8.46..8.46 rows=1 \
                    loops=1)\n    -> Filter: (t2.b >= '100')  (cost=2008 rows=9839) (actual \
                    time=0.046..8.45 rows=57 loops=1)\n        -> Table scan on t2  (cost=2008 \
                    rows=19678) (actual time=0.0132..7.33 rows=20000 loops=1)\n    -> Index lookup \
                    on t3  (cost=0.35 rows=1e+6) (never executed)\n";
        let worst = worst_node(&table(&["EXPLAIN"], &[&[tree]]), "SELECT sum(c) FROM t").unwrap();
        assert_eq!(rounded(worst), "170");
        let lines: [&[&str]; 3] = [
            &["Aggregate  (cost=1.1..1.2 rows=1 width=8) (actual rows=1 loops=1)"],
            &["  ->  Seq Scan on t  (cost=0.00..1.04 rows=4 width=4) (actual rows=12.00 loops=1)"],
            &["Planning Time: 0.1 ms"],
        ];
        let worst = worst_node(&table(&["QUERY PLAN"], &lines), "SELECT 1").unwrap();
        assert_eq!(rounded(worst), "3");
        // PostgreSQL 17: the join ends with its shorter side, and reads what it sorted again.
        let merged: [&[&str]; 4] = [
            &["Merge Join  (cost=8.3..400 rows=9900 width=8) (actual rows=9950 loops=1)"],
            &[
                "  ->  Index Scan on many  (cost=0..700 rows=20000 width=8) (actual rows=101 loops=1)",
            ],
            &["  ->  Sort  (cost=5.3..5.5 rows=99 width=8) (actual rows=9901 loops=1)"],
            &["        ->  Seq Scan on few  (cost=0..2 rows=99 width=8) (actual rows=100 loops=1)"],
        ];
        let worst = worst_node(&table(&["QUERY PLAN"], &merged), "SELECT 1").unwrap();
        assert_eq!(rounded(worst), "1");
        let fewer: [&[&str]; 1] = [&["Scan  (cost=0..1 rows=900 width=4) (actual rows=1 loops=1)"]];
        let limited = worst_node(&table(&["QUERY PLAN"], &fewer), "SELECT 1 FROM t LIMIT 1");
        assert_eq!(limited, Some(1.0), "a limit ends a node before its rows do");
    }

    #[test]
    fn tables_of_mariadb_are_told_before_and_after_their_conditions() {
        let analyzed = serde_json::json!({ "query_block": { "nested_loop": [
            { "table": { "rows": 100, "r_rows": 100.0, "filtered": 100, "r_filtered": 1.0 } },
            { "table": { "rows": 5, "r_rows": null, "filtered": 100 } } ] } });
        let analyzed = dbdyno_json::parse_tree(&analyzed.to_string()).unwrap();
        assert_eq!(worst_table(&analyzed, "SELECT 1"), Some(100.0));
        // Before 10.9 each table of a join stands under the same name.
        let twice = r#"{"block": {"table": {"rows": 90, "r_rows": 1},
                                   "table": {"rows": 2, "r_rows": 2}}}"#;
        let twice = dbdyno_json::parse_tree(twice).unwrap();
        assert_eq!(worst_table(&twice, "SELECT 1"), Some(90.0));
    }

    #[test]
    fn rows_that_a_join_reads_are_those_for_each_row_before() {
        let columns = ["id", "rows", "filtered", "Extra"];
        let join: [&[&str]; 2] =
            [&["1", "100", "50.00", "Using where"], &["1", "10", "100.00", "NULL"]];
        assert_eq!(expected_reads(&table(&columns, &join)), Some(600.0));
        let buffered: [&[&str]; 2] =
            [&["1", "100", "100", "NULL"], &["1", "10", "10", "Using join buffer (hash join)"]];
        assert_eq!(expected_reads(&table(&columns, &buffered)), Some(110.0));
        let parts: [&[&str]; 2] = [&["1", "100", "100", "NULL"], &["2", "10", "10", "NULL"]];
        assert_eq!(expected_reads(&table(&columns, &parts)), None);
    }

    #[test]
    fn reads_that_nobody_counts_are_none() {
        assert_eq!(counted(0.0), None);
        assert_eq!(counted(-2.0), None);
        assert_eq!(counted(1.0), Some(1.0));
    }

    #[test]
    fn a_q_error_has_two_digits() {
        for (q, text) in [(1.0, "1"), (1.26, "1.3"), (12.6, "13"), (172.6, "170"), (9.96, "10")] {
            assert_eq!(rounded(q), text);
        }
    }
}
