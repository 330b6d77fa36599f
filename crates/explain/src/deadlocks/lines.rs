//! The lines of a log, however it came: what others have put around them is taken off.
//!
//! ```text
//!   > …          a quotation            db-1  | …            a composition of containers
//!   [pod/a/b] …  a cluster's client     2026-01-01T… F …     a container's file, with its time
//!   {"log": …}   a container's file     Jan  1 … host app[7]: …, <134>1 … - …   syslog, journal
//!   "a\nb"       what a client prints in one line
//!   csvlog and jsonlog of PostgreSQL, and MySQL's JSON, are written as their plain text would be
//! ```

use std::borrow::Cow;

use serde_json::Value;

/// A line, and where it stood.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// From 1.
    pub(super) number: usize,
    pub(super) text: String,
}

/// Prefixes of one line that are taken off, one behind the other.
const PREFIXES_MOST: usize = 6;
/// Columns of PostgreSQL's csvlog.
const CSV_SEVERITY: usize = 11;
const CSV_STATE: usize = 12;
const CSV_MESSAGE: usize = 13;
const CSV_DETAIL: usize = 14;
const CSV_CONTEXT: usize = 18;
const CSV_QUERY: usize = 19;
/// Lines of one record of a csvlog.
const CSV_LINES_MOST: usize = 10_000;
/// SQLSTATE of a deadlock.
const DEADLOCK: &str = "40P01";

/// The lines of a text.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut all = Vec::new();
    let mut raw = text.lines().enumerate();
    while let Some((at, line)) = raw.next() {
        let number = at + 1;
        let line = &*uncoloured(line);
        let line = without_prefixes(line);
        if begins_csv(line) {
            let mut record = line.to_owned();
            let mut more = 0;
            while record.matches('"').count() % 2 == 1 && more < CSV_LINES_MOST {
                let Some((_, next)) = raw.next() else { break };
                record.push('\n');
                record.push_str(next);
                more += 1;
            }
            let fields = fields_of(&record);
            if fields.len() <= CSV_QUERY {
                // A prefix with commas in it.
                record.lines().zip(number..).for_each(|(line, at)| push_plain(&mut all, at, line));
                continue;
            }
            let field = |at: usize| fields.get(at).map_or("", String::as_str);
            let told = [CSV_SEVERITY, CSV_STATE, CSV_MESSAGE, CSV_DETAIL, CSV_CONTEXT, CSV_QUERY];
            push_record(&mut all, number, told.map(field));
        } else if let Some(object) = object_of(line) {
            push_object(&mut all, number, &object);
        } else {
            push_plain(&mut all, number, line);
        }
    }
    all
}

/// A line, or the lines that a client or a tool has written as one.
fn push_plain(all: &mut Vec<Line>, number: usize, text: &str) {
    let speaks_of = |words: &[&str]| words.iter().any(|words| text.contains(words));
    let marks = ["DETECTED DEADLOCK", "INNODB MONITOR", ") TRANSACTION:", "deadlock detected"];
    let mut push = |text: &str| all.push(Line { number, text: text.to_owned() });
    if text.contains("\\n") && speaks_of(&marks) {
        text.replace("\\t", "\t").replace("\\n", "\n").lines().for_each(push);
    } else if text.contains("deadlock detected") && speaks_of(&["DETAIL:", "Detail:"]) {
        let labels = ["DETAIL:", "Detail:", "HINT:", "Hint:", "CONTEXT:", "STATEMENT:"];
        let begun = |text: String, label: &&str| text.replace(*label, &format!("\n{label}"));
        let text = labels.iter().fold(text.to_owned(), begun);
        text.replace(". Process ", ".\nProcess ").lines().for_each(push);
    } else {
        push(text);
    }
}

/// A line without the colours of a terminal.
fn uncoloured(line: &str) -> Cow<'_, str> {
    let Some((first, rest)) = line.split_once("\x1b[") else { return Cow::Borrowed(line) };
    let behind = |part: &str| {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(part.len());
        part.get(end + 1..).unwrap_or_default().to_owned()
    };
    let parts = rest.split("\x1b[").map(behind);
    Cow::Owned([first.to_owned()].into_iter().chain(parts).collect())
}

/// The object of a line of JSON.
fn object_of(line: &str) -> Option<serde_json::Map<String, Value>> {
    let line = line.trim();
    if !line.starts_with('{') || !line.ends_with('}') {
        return None;
    }
    match serde_json::from_str(line) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    }
}

fn push_object(all: &mut Vec<Line>, number: usize, object: &serde_json::Map<String, Value>) {
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    if object.contains_key("error_severity") {
        let told = ["error_severity", "state_code", "message", "detail", "context", "statement"];
        return push_record(all, number, told.map(text));
    }
    if object.contains_key("err_code") && object.contains_key("msg") {
        let line = format!("{} 0 [Note] [InnoDB] {}", text("time"), text("msg"));
        return line.lines().for_each(|line| push_plain(all, number, line));
    }
    let shipped = ["log", "MESSAGE", "message", "msg", "textPayload"];
    let found = shipped.iter().find(|name| object.get(**name).is_some_and(Value::is_string));
    for line in found.map_or("", |name| text(name)).lines() {
        push_plain(all, number, without_prefixes(line));
    }
}

/// A record of PostgreSQL as its plain log would have it.
fn push_record(all: &mut Vec<Line>, number: usize, told: [&str; 6]) {
    let [severity, state, message, detail, context, query] = told;
    let message = if state == DEADLOCK { "deadlock detected" } else { message };
    let mut push = |label: &str, text: &str| {
        for (at, line) in text.lines().enumerate() {
            let text = if at == 0 { format!("{label}:  {line}") } else { format!("\t{line}") };
            all.push(Line { number, text });
        }
    };
    push(if state == DEADLOCK { "ERROR" } else { severity }, message);
    push("DETAIL", detail);
    push("CONTEXT", context);
    push("STATEMENT", query);
}

/// Whether a line begins a record of a csvlog: `2026-01-01 00:00:00.000 UTC,`.
fn begins_csv(line: &str) -> bool {
    let Some((time, _)) = line.split_once(',') else { return false };
    let mut words = time.split(' ');
    let date = words.next().is_some_and(is_date);
    date && words.next().is_some_and(|word| word.contains(':')) && words.count() <= 1
}

/// The fields of a record; a doubled mark within marks is one.
fn fields_of(record: &str) -> Vec<String> {
    let (mut fields, mut field) = (Vec::new(), String::new());
    let (mut is_within, mut chars) = (false, record.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '"' if is_within && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => is_within = !is_within,
            ',' if !is_within => fields.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    fields.push(field);
    fields
}

/// A line without what others have put before it.
fn without_prefixes(line: &str) -> &str {
    let mut rest = line.trim_end_matches('\r');
    for _ in 0..PREFIXES_MOST {
        let known = [quoted, composed, of_a_pod, of_syslog, of_rfc5424, timed];
        match known.iter().find_map(|prefix| prefix(rest)) {
            Some(shorter) => rest = shorter,
            None => break,
        }
    }
    rest
}

/// `> …`
fn quoted(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('>')?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// `db-1  | …`
fn composed(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once('|')?;
    let is_of_a_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = name.strip_suffix(' ')?.trim_end();
    let is_name = !name.is_empty() && name.chars().all(is_of_a_name);
    is_name.then(|| rest.strip_prefix(' ').unwrap_or(rest))
}

/// `[pod/a/b] …`
fn of_a_pod(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix('[')?.split_once("] ")?;
    name.starts_with("pod/").then_some(rest)
}

/// `Jan  1 00:00:00 host app[7]: …`, and what PostgreSQL writes behind it: `[5-1] …`.
fn of_syslog(line: &str) -> Option<&str> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let rest = MONTHS.iter().find_map(|month| line.strip_prefix(month)?.strip_prefix(' '))?;
    let (day, rest) = rest.trim_start().split_once(' ')?;
    let (time, rest) = rest.split_once(' ')?;
    let is_time = day.parse::<u8>().is_ok() && time.matches(':').count() == 2;
    let (_host, rest) = rest.split_once(' ').filter(|_| is_time)?;
    behind_program(rest)
}

/// `app[7]: …`
fn behind_program(text: &str) -> Option<&str> {
    let (program, rest) = text.split_once(": ").or_else(|| text.split_once(":\t"))?;
    let is_program = program.starts_with(|c: char| c.is_ascii_alphabetic());
    if !is_program || program.contains(char::is_whitespace) {
        return None;
    }
    // A number of the record and of its part.
    let part = rest.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let is_part = |(number, _): &(&str, &str)| {
        number.split_once('-').is_some_and(|(a, b)| a.parse::<u64>().and(b.parse::<u64>()).is_ok())
    };
    let rest = part.filter(is_part).map_or(rest, |(_, rest)| rest);
    Some(rest.strip_prefix("#011").unwrap_or(rest))
}

/// `<134>1 2026-01-01T00:00:00Z host app 7 - - …`
fn of_rfc5424(line: &str) -> Option<&str> {
    let (priority, rest) = line.strip_prefix('<')?.split_once('>')?;
    priority.parse::<u16>().ok()?;
    let Some(rest) = rest.strip_prefix("1 ") else { return Some(rest) };
    let mut parts = rest.splitn(7, ' ');
    let message = parts.nth(6)?;
    Some(message.trim_start_matches('\u{feff}'))
}

/// `2026-01-01T00:00:00.123456789Z …`, unless it is MySQL's own time, behind which the thread and
/// the severity stand.
fn timed(line: &str) -> Option<&str> {
    let (time, rest) = line.split_once(' ')?;
    let (date, hours) = time.split_once('T')?;
    let is_time = is_date(date) && hours.contains(':');
    let is_own = || {
        let (thread, behind) = rest.trim_start().split_once(' ')?;
        (thread.parse::<u64>().is_ok() && behind.starts_with('[')).then_some(())
    };
    if !is_time || is_own().is_some() {
        return None;
    }
    let of_stream = ["stdout ", "stderr "].iter().find_map(|stream| rest.strip_prefix(stream));
    let of_file = of_stream.and_then(|rest| rest.strip_prefix("F ").or(rest.strip_prefix("P ")));
    let of_journal = rest.split_once(' ').and_then(|(_host, rest)| behind_program(rest));
    Some(of_file.or(of_journal).unwrap_or(rest))
}

/// `2026-01-01`
pub(super) fn is_date(word: &str) -> bool {
    let bytes = word.as_bytes();
    let is_digit = |at: usize| bytes[at].is_ascii_digit();
    bytes.len() == 10
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && [0, 1, 2, 3, 5, 6, 8, 9].into_iter().all(is_digit)
}
