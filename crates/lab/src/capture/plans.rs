//! The way to the rows, and the rows: for each statement of a load the plan and the answer.
//!
//! A plan is kept as its shape, which is how it is done, and as its estimate, which is how much it
//! is believed to be: a lost bound of a range leaves the shape as it was.
//!
//! ```text
//!   MySQL, MariaDB   const sbtest1.PRIMARY            access type, table and index, in join order,
//!                    range sbtest1.k_1 sort           with what is made beside
//!   PostgreSQL       Sort > Index Scan using k_1 …    the nodes, outermost first
//! ```
//!
//! Beside them stand the decisions that led there, which tell where two optimizers part, the best
//! plan that was not taken, and how many times other rows were met than expected.
//!
//! The answer to a question is a sum over its rows in any order, so that only another set of rows
//! is another answer; of statements with a LIMIT, whose rows may be any, their number. Nothing but
//! SELECT is carried out, before anything is measured: once for its answer, once to count its rows.

use std::borrow::Cow;
use std::hash::{Hash as _, Hasher as _};

use super::{bounds, misestimate, runner_up};
use dbdyno_explain::decisions;
use dbdyno_model::{Dialect, Environment};
use dbdyno_server::{ServerRelease, explain_statement, explained_execution, optimizer_trace};
use dbdyno_wire::{Client, Rows};
use dbdyno_workload::program::{Call, Event, Program};
use dbdyno_workload::ready::EventSource;
use dbdyno_workload::{Channel, Content, Load, Mix, ReadyLoad, Statement};

/// Operations that are looked through for the statements of a load.
const OPERATIONS: u64 = 300;
/// Statements of one load that are looked at.
const STATEMENTS_MOST: usize = 40;

/// Notes plan and answer of the statements of a load.
pub(super) fn note_plans(
    client: &mut dyn Client,
    dialect: Dialect,
    label: &str,
    load: &Load,
    facts: &mut Environment,
) {
    for (index, statement) in statements(load, dialect).iter().enumerate() {
        let (number, sql) = (index + 1, &statement.sql);
        let planned = plan(client, dialect, statement);
        let is_generic = planned.as_ref().is_some_and(|plan| plan.is_generic);
        if let Some(plan) = planned {
            facts.set(format!("plan[{label}].{number}"), plan.shape);
            facts.set(format!("estimate[{label}].{number}"), plan.rows.to_string());
            if let Some(bounds) = plan.bounds.filter(|bounds| !bounds.is_empty()) {
                facts.set(format!("bounds[{label}].{number}"), bounds);
            }
            let nodes = &plan.decisions;
            let next = match dialect {
                // What comes next is asked with values, to which this plan does not belong.
                Dialect::Postgres if is_generic => None,
                Dialect::Postgres => runner_up::of_postgres(client, sql, nodes),
                _ => decisions::runner_up(nodes),
            };
            if !nodes.is_empty() {
                facts.set(format!("decisions[{label}].{number}"), decisions::decisions_text(nodes));
            }
            if let Some(next) = next {
                let told = decisions::runner_up_text(&next);
                facts.set(format!("runner_up[{label}].{number}"), told);
            }
        }
        if is_question(sql) {
            let number = format!("{label}].{number}");
            answered(client, dialect, sql, &number, facts);
            if is_generic {
                facts.facts.remove(&format!("q_error[{number}"));
            }
        }
    }
}

/// Notes what is answered to a question, and how far the rows are from those that were expected.
fn answered(
    client: &mut dyn Client,
    dialect: Dialect,
    sql: &str,
    number: &str,
    facts: &mut Environment,
) {
    let mut reads = misestimate::Reads::begin_count(client, dialect);
    let Ok(rows) = client.query(sql) else { return };
    facts.set(format!("result[{number}"), answer(sql, &rows));
    let read = reads.as_mut().and_then(|reads| reads.end_count(client));
    if let Some(q) = read.and_then(|read| misestimate::of_reads(client, dialect, sql, read)) {
        facts.set(format!("q_reads[{number}"), q);
    }
    let expected = facts.get(&format!("estimate[{number}")).parse::<f64>().unwrap_or(0.0);
    let rows = read.unwrap_or(0.0).max(expected);
    if let Some(q) = misestimate::of_nodes(client, dialect, sql, rows) {
        facts.set(format!("q_error[{number}"), q);
    }
}

/// A statement of a load, with the values that it has first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LoadStatement {
    /// With its values written into it.
    pub(super) sql: String,
    /// Where the load prepares what it asks.
    prepared: Option<PreparedText>,
}

/// How a load prepares a statement, with the values that it has first.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PreparedText {
    /// With `$1`, `$2` … for its values.
    sql: String,
    /// As literals.
    values: Vec<String>,
}

/// Each statement of a load once. Those of a conversation have placeholders, where any value does
/// for a plan; they are not carried out.
pub(super) fn statements(load: &Load, dialect: Dialect) -> Vec<LoadStatement> {
    let mut texts = load.clone();
    let mut mixes: Vec<&mut Mix> = match &mut texts.content {
        Content::Mix(mix) => vec![mix],
        Content::Choice(choice) => choice.mixes.iter_mut().map(|(_, mix)| mix).collect(),
        Content::Dialogue(_) => Vec::new(),
    };
    let asks = || mixes.iter().flat_map(|mix| &mix.steps).flat_map(|step| &step.asks);
    let are_prepared = asks().all(|ask| ask.channel == Channel::Prepared);
    mixes.iter_mut().for_each(|mix| send_as_text(mix));
    let Ok(ready) = ReadyLoad::compile(&texts, dialect) else { return Vec::new() };
    match ready.event_source() {
        EventSource::Program(program) => of_program(program, are_prepared),
        EventSource::Dialogue(..) => ready
            .statements()
            .iter()
            .map(|statement| with_values(&statement.sql))
            .filter(|sql| is_planned(sql))
            .take(STATEMENTS_MOST)
            .map(|sql| LoadStatement { sql, prepared: None })
            .collect(),
    }
}

fn send_as_text(mix: &mut Mix) {
    let asks = mix.steps.iter_mut().flat_map(|step| &mut step.asks);
    asks.for_each(|ask| ask.channel = Channel::Text);
}

/// Statements on tables that differ in their number only are one.
fn of_program(program: &Program, are_prepared: bool) -> Vec<LoadStatement> {
    let (mut seen, mut found) = (Vec::new(), Vec::new());
    let mut event = Event::default();
    for operation in 0..OPERATIONS {
        program.fill_event(0, operation, &mut event);
        for call in event.calls.iter().filter(|call| call.expect.is_some()) {
            let statement = &program.statements()[call.statement as usize];
            let kind: String =
                statement.pieces.concat().chars().filter(|c| !c.is_ascii_digit()).collect();
            if seen.contains(&kind) || statement.pieces.is_empty() {
                continue;
            }
            seen.push(kind);
            let mut sql = String::new();
            event.write_sql(call, statement, &mut sql);
            let prepared = are_prepared.then(|| prepared(&event, call, statement));
            found.push(LoadStatement { sql, prepared });
            if found.len() == STATEMENTS_MOST {
                return found;
            }
        }
    }
    found
}

/// The text of a statement with `$1`, `$2` … for its values, and these as literals.
fn prepared(event: &Event, call: &Call, statement: &Statement) -> PreparedText {
    let (first, rest) = statement.pieces.split_first().expect("a text statement has pieces");
    let numbered = rest.iter().enumerate().map(|(at, piece)| format!("${}{piece}", at + 1));
    let sql = first.clone() + &numbered.collect::<String>();
    PreparedText { sql, values: event.literals(call) }
}

/// `?` and `$1` replaced by a value that is taken for any type.
fn with_values(sql: &str) -> String {
    let mut text = String::with_capacity(sql.len() + 8);
    let mut chars = sql.chars().peekable();
    while let Some(c) = chars.next() {
        let numbered = c == '$' && chars.peek().is_some_and(char::is_ascii_digit);
        if numbered {
            while chars.peek().is_some_and(char::is_ascii_digit) {
                chars.next();
            }
        }
        if numbered || c == '?' {
            text.push_str("'1'");
        } else {
            text.push(c);
        }
    }
    text
}

fn first_word(sql: &str) -> String {
    sql.split_whitespace().next().unwrap_or_default().to_uppercase()
}

/// Whether a statement looks for rows. To insert values is no plan, and each release calls it
/// otherwise.
fn is_planned(sql: &str) -> bool {
    match first_word(sql).as_str() {
        "SELECT" | "UPDATE" | "DELETE" => true,
        "INSERT" | "REPLACE" => sql.to_uppercase().contains(" SELECT "),
        _ => false,
    }
}

/// Whether a statement only asks. What locks rows, or calls for the next number, does more.
fn is_question(sql: &str) -> bool {
    let upper = sql.to_uppercase();
    let does_more = ["FOR UPDATE", "FOR SHARE", "LOCK IN", "NEXTVAL", "SETVAL", "SLEEP", " INTO "];
    first_word(sql) == "SELECT" && !does_more.iter().any(|word| upper.contains(word))
}

/// Rows, and a sum of what is in them.
fn answer(sql: &str, rows: &Rows) -> String {
    let count = rows.rows.len();
    if sql.to_uppercase().contains(" LIMIT ") {
        return format!("{count} rows");
    }
    let sum = rows.rows.iter().map(|row| hash(row)).fold(0_u64, u64::wrapping_add);
    format!("{count} rows, {sum:016x}")
}

/// FNV-1a over the values of a row, whose trailing spaces a CHAR may or may not have.
fn hash(row: &[Option<String>]) -> u64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    for value in row {
        value.as_deref().map(|value| plain(value.trim_end())).hash(&mut hasher);
    }
    hasher.finish()
}

/// A number as all servers tell it: of a mean MySQL has four digits behind the point, PostgreSQL
/// sixteen.
fn plain(value: &str) -> Cow<'_, str> {
    let is_decimal = value.contains('.')
        && value.bytes().all(|byte| byte.is_ascii_digit() || [b'.', b'-'].contains(&byte));
    match value.parse::<f64>() {
        Ok(number) if is_decimal => {
            let text = format!("{number:.4}");
            Cow::Owned(text.trim_end_matches('0').trim_end_matches('.').to_owned())
        }
        _ => Cow::Borrowed(value),
    }
}

/// Fowler, Noll and Vo: equal on every machine, which a stored fact must be.
struct Fnv(u64);

impl std::hash::Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A plan without its numbers, and the most rows that a step of it expects.
#[derive(Debug, Default, PartialEq)]
pub(super) struct PlanShape {
    pub(super) shape: String,
    pub(super) rows: u64,
    /// Where they are not a part of the shape.
    pub(super) bounds: Option<String>,
    /// What led there; empty where nothing is told of it.
    decisions: Vec<decisions::Decision>,
    /// Whether it is made for any values, and is another one than for those of the statement.
    is_generic: bool,
}

/// The plan of a statement; `None` where there is none to be had.
pub(super) fn plan(
    client: &mut dyn Client,
    dialect: Dialect,
    statement: &LoadStatement,
) -> Option<PlanShape> {
    let sql = &statement.sql;
    if !is_planned(sql) {
        return None;
    }
    let server = ServerRelease::of_client(client, dialect);
    match dialect {
        Dialect::Mysql => {
            let explained = explain_statement(client, server, sql)?;
            let planned = mysql(&explained)?;
            let Some(trace) = optimizer_trace(client, server, sql) else { return Some(planned) };
            let decisions = decisions::of_trace(&trace);
            let bounds = Some(bounds::mysql_bounds(&trace, &explained));
            Some(PlanShape { bounds, decisions, ..planned })
        }
        Dialect::Postgres => {
            let with_values = explain_statement(client, server, sql)?;
            let executed = statement
                .prepared
                .as_ref()
                .and_then(|prepared| explained_execution(client, &prepared.sql, &prepared.values));
            let generic = executed.filter(|rows| shape_of(rows) != shape_of(&with_values));
            let (is_generic, explained) = (generic.is_some(), generic.unwrap_or(with_values));
            let lines = explained.rows.iter().filter_map(|row| row.first()?.as_deref());
            let decisions = decisions::of_nodes(lines);
            let bounds = Some(bounds::postgres_bounds(&explained));
            let planned = postgres(&explained)?;
            let kind = if is_generic { " (generic plan)" } else { "" };
            let shape = planned.shape.clone() + kind;
            Some(PlanShape { shape, bounds, decisions, is_generic, ..planned })
        }
        Dialect::Rocksdb => None,
        Dialect::Engine => engine(&explain_statement(client, server, sql)?),
        Dialect::Sqlite => sqlite(&explain_statement(client, server, sql)?),
    }
}

fn shape_of(explained: &Rows) -> Option<String> {
    postgres(explained).map(|planned| planned.shape)
}

/// What MySQL and MariaDB do beside reading, as they say it and as we do.
const BESIDE: [(&str, &str); 4] = [
    ("Using filesort", " sort"),
    ("Using temporary", " temporary"),
    ("Using join buffer", " join-buffer"),
    ("Using index", " covering"),
];

fn mysql(rows: &Rows) -> Option<PlanShape> {
    let [table, kind, key, expected, extra] =
        ["table", "type", "key", "rows", "Extra"].map(|name| rows.column(name));
    let (mut steps, mut most) = (Vec::new(), 0);
    for row in &rows.rows {
        let text = |at: Option<usize>| row.get(at?)?.as_deref();
        let extra = text(extra).unwrap_or_default();
        let mut step = match text(kind) {
            Some(kind) => {
                let (table, key) = (text(table).unwrap_or("-"), text(key).unwrap_or("-"));
                format!("{kind} {table}.{key}")
            }
            None => extra.to_owned(),
        };
        let parts: Vec<&str> = extra.split(';').map(str::trim).collect();
        for (theirs, ours) in BESIDE {
            let is_said = parts.iter().any(|part| {
                *part == theirs || (theirs != "Using index" && part.starts_with(theirs))
            });
            // The rows are in the clustered key, and whether that is said depends on the release.
            let is_nothing = theirs == "Using index" && text(key) == Some("PRIMARY");
            if text(kind).is_some() && !is_nothing && is_said {
                step.push_str(ours);
            }
        }
        steps.push(step);
        most = most.max(text(expected).and_then(|rows| rows.parse().ok()).unwrap_or(0));
    }
    Some(PlanShape { shape: steps.join(", "), rows: most, ..PlanShape::default() })
}

fn postgres(rows: &Rows) -> Option<PlanShape> {
    let (mut nodes, mut most) = (Vec::new(), 0);
    for row in &rows.rows {
        let line = row.first()?.as_deref()?;
        let Some((node, numbers)) = line.split_once("  (cost=") else { continue };
        nodes.push(node.trim().trim_start_matches("->").trim().to_owned());
        let expected = numbers.split_once(" rows=").and_then(|(_, rest)| rest.split(' ').next());
        most = most.max(expected.and_then(|rows| rows.parse().ok()).unwrap_or(0));
    }
    (!nodes.is_empty()).then(|| PlanShape {
        shape: nodes.join(" > "),
        rows: most,
        ..PlanShape::default()
    })
}

/// A line for each level, as the engine tells it.
fn engine(rows: &Rows) -> Option<PlanShape> {
    let steps: Vec<&str> = rows.rows.iter().filter_map(|row| row.first()?.as_deref()).collect();
    (!steps.is_empty()).then(|| PlanShape { shape: steps.join(", "), ..PlanShape::default() })
}

fn sqlite(rows: &Rows) -> Option<PlanShape> {
    let steps: Vec<&str> = rows.rows.iter().filter_map(|row| row.last()?.as_deref()).collect();
    (!steps.is_empty()).then(|| PlanShape { shape: steps.join(" > "), ..PlanShape::default() })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The answer of a server to EXPLAIN, or to whatever else.
    pub(in crate::capture) fn table(columns: &[&str], rows: &[&[&str]]) -> Rows {
        let value = |value: &&str| (*value != "NULL").then(|| (*value).to_owned());
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        Rows::new(columns, rows.iter().map(|row| row.iter().map(value).collect()).collect())
    }

    #[test]
    fn plans_of_mysql_are_access_type_and_index_in_join_order() {
        let columns = ["id", "select_type", "table", "type", "key", "rows", "Extra"];
        let rows: [&[&str]; 3] = [
            &["1", "SIMPLE", "t1", "range", "k_1", "100", "Using index condition; Using filesort"],
            &["1", "SIMPLE", "t2", "eq_ref", "PRIMARY", "1", "Using index"],
            &["1", "SIMPLE", "t3", "ref", "k_3", "1", "Using where; Using index"],
        ];
        let planned = mysql(&table(&columns, &rows)).unwrap();
        assert_eq!(planned.shape, "range t1.k_1 sort, eq_ref t2.PRIMARY, ref t3.k_3 covering");
        assert_eq!(planned.rows, 100);
        let nothing: [&[&str]; 1] =
            [&["1", "SIMPLE", "NULL", "NULL", "NULL", "NULL", "Impossible WHERE"]];
        assert_eq!(mysql(&table(&columns, &nothing)).unwrap().shape, "Impossible WHERE");
    }

    #[test]
    fn plans_of_postgres_are_their_nodes() {
        let lines: [&[&str]; 3] = [
            &["Sort  (cost=8.32..8.33 rows=100 width=121)"],
            &["  Sort Key: c"],
            &["  ->  Index Scan using t_pkey on t  (cost=0.29..8.31 rows=10 width=121)"],
        ];
        let planned = postgres(&table(&["QUERY PLAN"], &lines)).unwrap();
        assert_eq!(planned.shape, "Sort > Index Scan using t_pkey on t");
        assert_eq!(planned.rows, 100);
    }

    #[test]
    fn answers_do_not_depend_on_order_nor_on_padding() {
        let of = |rows: &[&[&str]]| answer("SELECT c FROM t", &table(&["c"], rows));
        assert_eq!(of(&[&["a"], &["b "]]), of(&[&["b"], &["a"]]));
        assert_ne!(of(&[&["a"], &["b"]]), of(&[&["a"], &["c"]]));
        assert_ne!(of(&[&["a", "b"]]), of(&[&["b", "a"]]), "columns have an order");
        assert_ne!(of(&[&["NULL"]]), of(&[&[""]]));
        assert_eq!(of(&[&["50.5000"]]), of(&[&["50.5000000000000000"]]));
        assert_eq!(of(&[&["50.0000"]]), of(&[&["50"]]));
        assert_ne!(of(&[&["71.2857"]]), of(&[&["71"]]));
        let limited = answer("SELECT c FROM t LIMIT 1", &table(&["c"], &[&["a"]]));
        assert_eq!(limited, "1 rows");
    }

    #[test]
    fn only_questions_are_carried_out() {
        assert!(is_question("select 1"));
        assert!(is_planned("INSERT INTO t SELECT 1") && !is_planned("INSERT INTO t VALUES (1)"));
        for sql in ["UPDATE t SET a=1", "SELECT a FROM t FOR UPDATE", "SELECT nextval('s')"] {
            assert!(!is_question(sql), "{sql}");
        }
        assert_eq!(with_values("a=$1 AND b=$12 AND c=?"), "a='1' AND b='1' AND c='1'");
    }
}
