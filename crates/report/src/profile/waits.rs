//! What sessions wait for: a table that adds up to the time of an operation.

use dbdyno_document::csv::number_field;
use dbdyno_document::number::{GLUE, format_fixed, format_signed};
use dbdyno_document::{DataTable, Document, Element, TableColumn};
use dbdyno_model::{PerArm, WaitLine, Waits};
use serde::Serialize;

/// Version of the JSON contract of waits.
const SCHEMA: u32 = 1;
/// Longer names are cut on a terminal.
const NAME_MOST: usize = 40;

/// The waits as a document.
pub fn waits_document(of: &Waits) -> Document {
    let lines = of.lines.iter().chain([&of.total]);
    let table = DataTable::new(&columns(), lines).with_sum();
    Document::from(vec![
        vec![Element::Headline(headline(of).into())],
        vec![Element::Table(table)],
        vec![Element::Notes(vec![note(of).into()])],
    ])
}

/// Of what sessions do, or of the sum of it.
type WaitColumn = TableColumn<'static, WaitLine>;

fn columns() -> [WaitColumn; 8] {
    [
        WaitColumn::word_texts("what a session does", |line| line.name.as_str().into())
            .and_recorded("name", |line| line.name.clone()),
        WaitColumn::number_texts("base, µs", |line| format_fixed(line.us.base, 1).into())
            .and_recorded("base_us", |line| line.us.base.to_string()),
        WaitColumn::number_texts("test, µs", |line| format_fixed(line.us.test, 1).into())
            .and_recorded("test_us", |line| line.us.test.to_string()),
        WaitColumn::number_texts("difference, µs", |line| difference(line).into())
            .and_recorded("difference_us", |line| change_us(line).to_string()),
        WaitColumn::recorded_field("difference_us_low", |line| {
            number_field(line.difference_us.map(|of| of.low))
        }),
        WaitColumn::recorded_field("difference_us_high", |line| {
            number_field(line.difference_us.map(|of| of.high))
        }),
        WaitColumn::word_texts("where most of it", |line| function(line).into())
            .cut_behind(NAME_MOST)
            .and_recorded("base_function", |line| line.function.base.clone().unwrap_or_default()),
        WaitColumn::recorded_field("test_function", |line| {
            line.function.test.clone().unwrap_or_default()
        }),
    ]
}

/// What a line takes more in test, in µs.
fn change_us(line: &WaitLine) -> f64 {
    line.us.test - line.us.base
}

fn difference(line: &WaitLine) -> String {
    let change = format_signed(change_us(line), 1);
    match line.difference_us {
        Some(of) => format!("{change} ± {}", format_fixed((of.high - of.low) / 2.0, 1)),
        None => change,
    }
}

/// The function with most of a line, in the arm in which the line takes longer.
fn function(line: &WaitLine) -> &str {
    match (&line.function.base, &line.function.test) {
        (Some(base), Some(test)) if base != test && line.us.base >= line.us.test => base,
        (_, Some(test)) => test,
        (Some(base), None) => base,
        (None, None) => "",
    }
}

fn is_known(line: &WaitLine) -> bool {
    line.difference_us.is_some_and(|of| of.low * of.high > 0.0)
}

fn headline(of: &Waits) -> String {
    let total = format!(
        "an operation takes {} in base and {} in test",
        time_text(of.total.us.base),
        time_text(of.total.us.test)
    );
    let size = |line| change_us(line).abs();
    let largest = of.lines.iter().filter(|line| is_known(line));
    match largest.max_by(|a, b| size(a).total_cmp(&size(b))) {
        Some(line) => format!(
            "{total}; most of the difference that is more than chance: {} ({}{GLUE}µs)",
            line.name,
            format_signed(change_us(line), 1)
        ),
        None => format!("{total}; no line differs by more than chance"),
    }
}

fn time_text(us: f64) -> String {
    format!("{}{GLUE}µs", format_fixed(us, 1))
}

fn note(of: &Waits) -> String {
    let few = of.profiles.base.min(of.profiles.test);
    let intervals = match few {
        0..=1 => "of one profile of an arm no interval is known; take three or more".to_owned(),
        _ => "± is the 95 % interval, by how far starts of the servers are apart".to_owned(),
    };
    let plural = if of.clients == 1 { "client" } else { "clients" };
    format!(
        "time of an operation of one of {} {plural}, as its session in the server spends it; the \
         lines add up. A session waits for a processor if it could go on and another thread has \
         it; working is what the waits leave. Every wait is looked at, which costs something: \
         rates under it are not those of a comparison; {intervals}",
        of.clients
    )
}

#[derive(Serialize)]
struct WaitsJson<'a> {
    schema: u32,
    clients: u32,
    base_profiles: usize,
    test_profiles: usize,
    lines: Vec<LineJson<'a>>,
    total: LineJson<'a>,
}

#[derive(Serialize)]
struct LineJson<'a> {
    name: &'a str,
    base_us: f64,
    test_us: f64,
    difference_us: f64,
    difference_us_low: Option<f64>,
    difference_us_high: Option<f64>,
    base_function: Option<&'a str>,
    test_function: Option<&'a str>,
}

impl<'a> LineJson<'a> {
    fn of(line: &'a WaitLine) -> LineJson<'a> {
        let PerArm { base, test } = &line.function;
        LineJson {
            name: &line.name,
            base_us: line.us.base,
            test_us: line.us.test,
            difference_us: change_us(line),
            difference_us_low: line.difference_us.map(|of| of.low),
            difference_us_high: line.difference_us.map(|of| of.high),
            base_function: base.as_deref(),
            test_function: test.as_deref(),
        }
    }
}

/// The waits as JSON, indented, ending with a line feed.
pub fn waits_json(of: &Waits) -> String {
    let document = WaitsJson {
        schema: SCHEMA,
        clients: of.clients,
        base_profiles: of.profiles.base,
        test_profiles: of.profiles.test,
        lines: of.lines.iter().map(LineJson::of).collect(),
        total: LineJson::of(&of.total),
    };
    crate::json::json_text(&document)
}
