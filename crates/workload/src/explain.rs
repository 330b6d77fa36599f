//! A load in words and SQL: what `dbdyno loads show` prints.
//!
//! ```text
//!   shop  a small shop: …                    what it is
//!   tables                                   CREATE statements, units (mostly rows)
//!   statements                               templates, how they are sent, what is right
//!   an event                                 the first of each kind, as the server gets it
//! ```
//!
//! What is the same in all dialects is said once.

use std::fmt::Write as _;

use dbdyno_model::Dialect;

use crate::dataset::TableScript;
use crate::load::{Ask, Channel, Content, Expect, Load, Mix, TransactionMode, Trend, Unit};
use crate::program::{Call, Event, Program};
use crate::ready::{EventSource, ReadyLoad};
use crate::statement::{CallValue, Statement, StatementKind};
use crate::template::TemplateError;

/// Dialects with words of their own, and their names. The reference engine is asked in MySQL's.
pub const DIALECTS: [(Dialect, &str); 4] = [
    (Dialect::Mysql, "mysql"),
    (Dialect::Postgres, "postgres"),
    (Dialect::Sqlite, "sqlite"),
    (Dialect::Rocksdb, "rocksdb"),
];

/// Longer statements are cut.
const SQL_MOST: usize = 400;
/// Longer lists of values are cut.
const VALUES_MOST: usize = 12;
/// Operations that are looked through for an event of each kind.
const OPERATIONS_LOOKED_AT: u64 = 1000;

/// Tells what a load does, in these dialects.
///
/// # Errors
/// A template that does not parse.
pub fn explain_load(load: &Load, dialects: &[Dialect]) -> Result<String, TemplateError> {
    let dialects: Vec<Dialect> =
        dialects.iter().copied().filter(|&dialect| load.supports_dialect(dialect)).collect();
    let mut text = String::new();
    head(load, &mut text);
    if dialects.is_empty() {
        text.push_str("\nit has no statements in this dialect\n");
        return Ok(text);
    }
    tables(load, &dialects, &mut text);
    match &load.content {
        Content::Mix(mix) => asks(mix, &dialects, &mut text),
        Content::Choice(choice) => {
            let sum: u64 = choice.mixes.iter().map(|(weight, _)| u64::from(*weight)).sum();
            for (weight, mix) in &choice.mixes {
                let share = 100.0 * f64::from(*weight) / sum as f64;
                line(&mut text, &format!("\n{share:.1} % of the events: {}", event_of(mix)));
                asks(mix, &dialects, &mut text);
            }
        }
        Content::Dialogue(dialogue) => {
            line(&mut text, "\nstatements; which of them come depends on the answers");
            let by_dialect: Vec<_> =
                dialects.iter().map(|&d| (d, dialogue.statements(d))).collect();
            for index in 0..by_dialect[0].1.len() {
                let sql = |list: &[Statement]| list.get(index).map(|one| one.sql.clone());
                let texts = by_dialect.iter().filter_map(|(d, list)| Some((*d, sql(list)?)));
                by_dialects(dialects.len(), &texts.collect::<Vec<_>>(), "  ", &mut text);
            }
            return Ok(text);
        }
    }
    if let Some(background) = &load.background {
        let rate = background.per_second;
        line(&mut text, &format!("\nbeside the clients, {rate} times a second and not counted"));
        asks(&background.mix, &dialects, &mut text);
    }
    example(load, dialects[0], &mut text)?;
    Ok(text)
}

fn head(load: &Load, text: &mut String) {
    line(text, &format!("{}  {}", load.name, load.about));
    let trend = match load.trend {
        Trend::Steady => "its tables keep their size",
        Trend::Grows => "its tables grow",
        Trend::Shrinks => "its tables shrink",
        Trend::GrowsAndIsCut => "its tables grow and are cut between rounds",
        Trend::ShrinksAndIsRefilled => "its tables shrink and are refilled between rounds",
    };
    line(text, &format!("  group    {}; {trend}", load.group.name()));
    let event = match &load.content {
        Content::Mix(mix) => event_of(mix),
        Content::Choice(choice) => format!("one of {} kinds, by weight", choice.mixes.len()),
        Content::Dialogue(dialogue) => {
            format!("a conversation: {}", dialogue.class_names().join(", "))
        }
    };
    line(text, &format!("  event    {event}"));
    let rate = match load.unit {
        Unit::Statements => "queries/s".to_owned(),
        Unit::Rows(1) => "rows/s; what is counted as a statement is a row".to_owned(),
        Unit::Rows(rows) => format!("rows/s, {rows} for each statement"),
        Unit::Transactions => "transactions/min".to_owned(),
    };
    line(text, &format!("  rate     {rate}"));
    if let Content::Mix(mix) = &load.content {
        line(text, &format!("  draws    ids {}", mix.draw));
    }
    if let Content::Choice(choice) = &load.content
        && let Some((_, mix)) = choice.mixes.first()
    {
        line(text, &format!("  draws    ids {}", mix.draw));
    }
    let options = if load.options.is_empty() { "none".to_owned() } else { load.options.join(", ") };
    line(text, &format!("  options  {options}"));
}

fn event_of(mix: &Mix) -> String {
    let count = mix.statements_per_event();
    let most = if mix.weights.is_empty() { "" } else { "at most " };
    let plural = if count == 1 { "statement" } else { "statements" };
    match mix.transaction {
        TransactionMode::Explicit => {
            format!("a transaction of {most}{count} statements, BEGIN and COMMIT included")
        }
        TransactionMode::Autocommit if count == 1 => {
            "1 statement that commits by itself".to_owned()
        }
        TransactionMode::Autocommit => format!("{most}{count} {plural}, each commits by itself"),
    }
}

fn tables(load: &Load, dialects: &[Dialect], text: &mut String) {
    let scripts: Vec<(Dialect, Vec<TableScript>)> =
        dialects.iter().map(|&dialect| (dialect, load.dataset.tables(dialect))).collect();
    let count = scripts[0].1.len();
    if count == 0 {
        line(text, "\ntables  those that are there already");
        return;
    }
    line(text, "\ntables");
    for index in 0..count {
        let name = &scripts[0].1[index].name;
        let rows = load.dataset.unit_count(index);
        line(text, &format!("  {name}: {rows} {}", if rows == 1 { "unit" } else { "units" }));
        let create = |scripts: &[TableScript]| scripts[index].create.clone();
        let creates: Vec<_> = scripts.iter().map(|(d, list)| (*d, create(list))).collect();
        by_dialects(dialects.len(), &creates, "    ", text);
        let longest = scripts.iter().map(|(_, list)| list[index].finish.len()).max().unwrap_or(0);
        for step in 0..longest {
            let finish = |list: &[TableScript]| list[index].finish.get(step).cloned();
            let finish = scripts.iter().filter_map(|(d, list)| Some((*d, finish(list)?)));
            by_dialects(dialects.len(), &finish.collect::<Vec<_>>(), "    ", text);
        }
    }
}

fn asks(mix: &Mix, dialects: &[Dialect], text: &mut String) {
    line(text, "\nstatements, with generators in braces");
    for (index, step) in mix.steps.iter().enumerate() {
        if let Some(weight) = mix.weights.get(index) {
            line(text, &format!("  weight {weight}"));
        }
        for ask in &step.asks {
            let repeat = match step.repeat {
                1 => String::new(),
                repeat => format!(", {repeat} times"),
            };
            line(text, &format!("  {}{repeat}: {}", ask.class, manner(ask)));
            let sql: Vec<_> =
                dialects.iter().map(|&d| (d, ask.sql.for_dialect(d).to_owned())).collect();
            by_dialects(dialects.len(), &sql, "    ", text);
        }
    }
}

/// How a statement is sent and what is a right answer.
fn manner(ask: &Ask) -> String {
    let channel = match ask.channel {
        Channel::Prepared => "prepared",
        Channel::Text => "sent as text",
    };
    let (what, low, high) = match ask.expect {
        Expect::Rows(low, high) => ("returns", low, high),
        Expect::Changed(low, high) => ("changes", low, high),
    };
    let rows = match (low, high) {
        (0, u64::MAX) => "any number of rows".to_owned(),
        (low, u64::MAX) => format!("{low} rows or more"),
        (1, 1) => "1 row".to_owned(),
        (low, high) if low == high => format!("{low} rows"),
        (low, high) => format!("{low} to {high} rows"),
    };
    format!("{channel}, {what} {rows}")
}

/// One line where all of so many dialects agree, else one for each that has such a text.
fn by_dialects(dialects: usize, texts: &[(Dialect, String)], indent: &str, text: &mut String) {
    let Some((_, first)) = texts.first() else { return };
    if texts.len() == dialects && texts.iter().all(|(_, other)| other == first) {
        line(text, &format!("{indent}{}", on_one_line(first)));
        return;
    }
    for (dialect, sql) in texts {
        let name = DIALECTS.iter().find(|(known, _)| known == dialect).map_or("", |(_, name)| name);
        line(text, &format!("{indent}{:9} {}", format!("{name}:"), on_one_line(sql)));
    }
}

fn example(load: &Load, dialect: Dialect, text: &mut String) -> Result<(), TemplateError> {
    let ready = ReadyLoad::compile(load, dialect)?;
    let EventSource::Program(program) = ready.event_source() else { return Ok(()) };
    let kinds = match &load.content {
        Content::Choice(choice) => choice.mixes.iter().filter(|(weight, _)| *weight > 0).count(),
        Content::Mix(mix) => mix.weights.iter().filter(|&&weight| weight > 0).count().max(1),
        Content::Dialogue(_) => 0,
    };
    let mut seen: Vec<u32> = Vec::new();
    let mut event = Event::default();
    for operation in 0..OPERATIONS_LOOKED_AT {
        program.fill_event(0, operation, &mut event);
        let first = event.calls.iter().find(|call| call.expect.is_some());
        let Some(first) = first.map(|call| call.statement) else { continue };
        if seen.contains(&first) {
            continue;
        }
        seen.push(first);
        line(text, &format!("\nfor example operation {operation} of client 0"));
        for call in &event.calls {
            told(program, &event, call, text);
        }
        if seen.len() == kinds {
            break;
        }
    }
    Ok(())
}

fn told(program: &Program, event: &Event, call: &Call, text: &mut String) {
    let statement = &program.statements()[call.statement as usize];
    if statement.kind == StatementKind::Text {
        let mut sql = String::new();
        event.write_sql(call, statement, &mut sql);
        line(text, &format!("  {}", on_one_line(&sql)));
        return;
    }
    line(text, &format!("  {}", on_one_line(&statement.sql)));
    let values = event.values(call);
    if values.is_empty() {
        return;
    }
    let mut shown: Vec<String> = values
        .iter()
        .take(VALUES_MOST)
        .map(|value| match *value {
            CallValue::Null => "NULL".to_owned(),
            CallValue::Int(number) => number.to_string(),
            CallValue::Text { start, length } => {
                format!("'{}'", String::from_utf8_lossy(event.text_slice(start, length)))
            }
        })
        .collect();
    if values.len() > VALUES_MOST {
        shown.push(format!("… ({} values)", values.len()));
    }
    line(text, &format!("      {}", shown.join(", ")));
}

fn on_one_line(sql: &str) -> String {
    let words: Vec<&str> = sql.split_whitespace().collect();
    let sql = words.join(" ");
    match sql.char_indices().nth(SQL_MOST) {
        Some((end, _)) => format!("{} … ({} characters)", &sql[..end], sql.len()),
        None => sql,
    }
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a text takes everything");
}
