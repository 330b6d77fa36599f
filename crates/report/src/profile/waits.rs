//! What sessions wait for: a table that adds up to the time of an operation.

use dbdyno_document::layout::{self, Grid, Line, printable};
use dbdyno_document::markdown::escape;
use dbdyno_document::number::{GLUE, fixed, signed};
use dbdyno_document::terminal::{Paint, TextStyle, painted};
use dbdyno_model::{PerArm, WaitLine, Waits};
use serde::Serialize;

/// Version of the JSON contract of waits.
const SCHEMA: u32 = 1;
/// Longer names are cut in text.
const NAME_MOST: usize = 40;
const HEADS: [&str; 5] =
    ["what a session does", "base, µs", "test, µs", "difference, µs", "where most of it"];

/// The waits for a terminal. Ends with a line feed.
pub fn waits_text(of: &Waits, style: &TextStyle) -> String {
    let headline = layout::paragraph(&headline(of), style.width, "", "  ");
    let mut text = painted(&headline, Paint::Strong, style.colour);
    text.push('\n');
    let mut lines = vec![Line::Columns(HEADS.map(str::to_owned).to_vec())];
    lines.extend(rows(of, Some(NAME_MOST)).into_iter().map(|row| Line::Columns(row.to_vec())));
    text.push_str(&Grid { lines, ragged: 4 }.render(style.width));
    text.push('\n');
    text.push_str(&layout::paragraph(&note(of), style.width, "  ", "    "));
    text.replace(GLUE, " ")
}

/// The waits as Markdown. Ends with a line feed.
pub fn waits_markdown(of: &Waits) -> String {
    let line = |text: &str| escape(&printable(text)).replace(GLUE, " ");
    let mut text = format!("**{}**\n\n| {} |\n", line(&headline(of)), HEADS.join(" | "));
    text.push_str("|:--|--:|--:|--:|:--|\n");
    for row in rows(of, None) {
        text.push_str(&format!("| {} |\n", row.map(|cell| line(&cell)).join(" | ")));
    }
    text + &format!("\n* {}\n", line(&note(of)))
}

fn is_known(line: &WaitLine) -> bool {
    line.difference_us.is_some_and(|of| of.low * of.high > 0.0)
}

fn headline(of: &Waits) -> String {
    let time = |us: f64| format!("{}{GLUE}µs", fixed(us, 1));
    let total = format!(
        "an operation takes {} in base and {} in test",
        time(of.total.us.base),
        time(of.total.us.test)
    );
    let size = |line: &&WaitLine| (line.us.test - line.us.base).abs();
    let largest = of.lines.iter().filter(|line| is_known(line));
    match largest.max_by(|a, b| size(a).total_cmp(&size(b))) {
        Some(line) => format!(
            "{total}; most of the difference that is more than chance: {} ({}{GLUE}µs)",
            line.name,
            signed(line.us.test - line.us.base, 1)
        ),
        None => format!("{total}; no line differs by more than chance"),
    }
}

fn rows(of: &Waits, most: Option<usize>) -> Vec<[String; 5]> {
    let row = |line: &WaitLine| {
        let change = line.us.test - line.us.base;
        let difference = match line.difference_us {
            Some(known) => {
                let half = (known.high - known.low) / 2.0;
                format!("{} ± {}", signed(change, 1), fixed(half, 1))
            }
            None => signed(change, 1),
        };
        let function = match (&line.function.base, &line.function.test) {
            (Some(base), Some(test)) if base != test && line.us.base >= line.us.test => base,
            (_, Some(test)) => test,
            (Some(base), None) => base,
            (None, None) => "",
        };
        let cut = |name: &str| match most.and_then(|most| name.char_indices().nth(most)) {
            Some((end, _)) => format!("{}…", &name[..end]),
            None => name.to_owned(),
        };
        [
            line.name.clone(),
            fixed(line.us.base, 1),
            fixed(line.us.test, 1),
            difference,
            cut(&printable(function)),
        ]
    };
    of.lines.iter().map(row).chain([row(&of.total)]).collect()
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
struct Document<'a> {
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
            difference_us: line.us.test - line.us.base,
            difference_us_low: line.difference_us.map(|of| of.low),
            difference_us_high: line.difference_us.map(|of| of.high),
            base_function: base.as_deref(),
            test_function: test.as_deref(),
        }
    }
}

/// The waits as JSON, indented, ending with a line feed.
pub fn waits_json(of: &Waits) -> String {
    let document = Document {
        schema: SCHEMA,
        clients: of.clients,
        base_profiles: of.profiles.base,
        test_profiles: of.profiles.test,
        lines: of.lines.iter().map(LineJson::of).collect(),
        total: LineJson::of(&of.total),
    };
    crate::json::json_text(&document)
}

/// One row for each line, with the names of the JSON contract.
pub fn waits_csv(of: &Waits) -> String {
    let mut text = "name,base_us,test_us,difference_us,difference_us_low,difference_us_high,\
                    base_function,test_function\r\n"
        .to_owned();
    for line in of.lines.iter().chain([&of.total]) {
        let json = LineJson::of(line);
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        text.push_str(&dbdyno_document::csv::line(vec![
            json.name.to_owned(),
            json.base_us.to_string(),
            json.test_us.to_string(),
            json.difference_us.to_string(),
            number(json.difference_us_low),
            number(json.difference_us_high),
            json.base_function.unwrap_or_default().to_owned(),
            json.test_function.unwrap_or_default().to_owned(),
        ]));
    }
    text
}
