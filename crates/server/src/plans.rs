//! How a server means to carry a statement out, and what it met where it did.
//!
//! ```text
//!                     explained              traced            met by each node
//!   MySQL             EXPLAIN, as a table    optimizer_trace   EXPLAIN ANALYZE, since 8.0.18
//!   MariaDB           EXPLAIN                since 10.4        ANALYZE FORMAT=JSON
//!   PostgreSQL        EXPLAIN, EXECUTE       –                 EXPLAIN (ANALYZE)
//!   engine, SQLite    EXPLAIN                –                 –
//! ```
//!
//! What a plan's rows mean is said where plans are compared.

use dbdyno_json::{JsonTree, parse_tree};
use dbdyno_model::Dialect;
use dbdyno_wire::{Client, Rows, WireError};

use crate::family::{AnalyzeForm, ServerRelease, way_for};

/// The trace of a statement needs so much memory at most, bytes.
const TRACE_BYTES: u64 = 4 << 20;
/// Executions after which PostgreSQL keeps one plan for any values, where that seems to cost no
/// more (plancache.c, `choose_custom_plan`), and one.
const EXECUTIONS: u32 = 6;

/// MySQL's table of steps. The format of its own that MySQL 9 has may be set to another one, and
/// 5.5 knows no formats.
pub(crate) const EXPLAIN_TABLE: &[&str] = &["EXPLAIN FORMAT=TRADITIONAL", "EXPLAIN"];

/// What the nodes of a plan have met.
#[derive(Debug)]
pub enum AnalyzedPlan {
    /// A tree, a line for each node.
    Lines(Rows),
    /// A document.
    Json(JsonTree),
}

/// The plan of a statement, as the server tells it; `None` where there is none to be had.
pub fn explain_statement(
    client: &mut dyn Client,
    server: ServerRelease,
    sql: &str,
) -> Option<Rows> {
    first_of(client, server.family().explain, sql)
}

fn first_of(client: &mut dyn Client, words: &[&str], sql: &str) -> Option<Rows> {
    words.iter().find_map(|words| client.query(&format!("{words} {sql}")).ok())
}

/// The optimizer's trace of a statement; `None` where there is none, or not the whole of it.
pub fn optimizer_trace(
    client: &mut dyn Client,
    server: ServerRelease,
    sql: &str,
) -> Option<JsonTree> {
    way_for(server.family().trace, server)?;
    client.run(&format!("SET optimizer_trace_max_mem_size={TRACE_BYTES}")).ok()?;
    client.run("SET optimizer_trace='enabled=on'").ok()?;
    let explained = client.query(&format!("EXPLAIN {sql}"));
    let trace = client.query("SELECT trace FROM information_schema.OPTIMIZER_TRACE");
    client.run("SET optimizer_trace='enabled=off'").ok()?;
    explained.ok()?;
    parse_tree(trace.ok()?.first_value()?).ok()
}

/// What a session of PostgreSQL executes that has prepared a statement, with `$1`, `$2` … for these
/// literals, once it has decided between a plan for each value and one for all: EXPLAIN of an
/// execution counts as one. `None` where it cannot be prepared without types.
pub fn explained_execution(
    client: &mut dyn Client,
    prepared: &str,
    values: &[String],
) -> Option<Rows> {
    const NAME: &str = "dbdyno_plan";
    client.run(&format!("PREPARE {NAME} AS {prepared}")).ok()?;
    let values = values.join(", ");
    let values = if values.is_empty() { values } else { format!("({values})") };
    let explain = format!("EXPLAIN EXECUTE {NAME}{values}");
    let explained = (0..EXECUTIONS).map(|_| client.query(&explain).ok()).last();
    client.run(&format!("DEALLOCATE {NAME}")).ok()?;
    explained.flatten()
}

/// The plan of a statement in PostgreSQL with a switch of the planner off; `None` where there is no
/// such switch, or no plan.
///
/// # Errors
/// The switch cannot be put back.
pub fn explained_without(
    client: &mut dyn Client,
    switch: &str,
    sql: &str,
) -> Result<Option<Rows>, WireError> {
    if client.run(&format!("SET {switch} = off")).is_err() {
        return Ok(None);
    }
    let explained = client.query(&format!("EXPLAIN {sql}"));
    client.run(&format!("RESET {switch}"))?;
    Ok(explained.ok())
}

/// Carries a statement out to count the rows that each node of its plan meets; `None` where the
/// server does not count them.
pub fn analyze_statement(
    client: &mut dyn Client,
    server: ServerRelease,
    sql: &str,
) -> Option<AnalyzedPlan> {
    match way_for(server.family().analyze, server)? {
        AnalyzeForm::Lines(words) => first_of(client, words, sql).map(AnalyzedPlan::Lines),
        AnalyzeForm::Json(words) => {
            let answer = client.query(&format!("{words} {sql}")).ok()?;
            parse_tree(answer.first_value()?).ok().map(AnalyzedPlan::Json)
        }
    }
}

/// Rows that a session has read until now; `None` where nobody counts them.
pub fn session_reads(client: &mut dyn Client, server: ServerRelease) -> Option<f64> {
    way_for(server.family().counts_reads, server)?;
    let counters = client.query("SHOW SESSION STATUS LIKE 'Handler_read%'").ok()?;
    Some(counters.rows.iter().filter_map(|row| row.get(1)?.as_deref()?.parse::<f64>().ok()).sum())
}

/// Has a server take a new sample of the statistics of a table.
///
/// # Errors
/// The server's refusal.
pub fn sample_statistics(
    client: &mut dyn Client,
    dialect: Dialect,
    table: &str,
) -> Result<(), WireError> {
    match dialect {
        Dialect::Postgres => client.run(&format!("ANALYZE {table}")).map(drop),
        _ => client.query(&format!("ANALYZE NO_WRITE_TO_BINLOG TABLE `{table}`")).map(drop),
    }
}
