//! Influx's line protocol: a point a line, with its tags, fields and time.
//!
//! ```text
//!   bench,host=db1,load=point qps=12000.5,rows=12i,version="8.0.36" 1465839830100400200
//!   │     └ tags: a series for each of their combinations             └ 10, 13, 16 or 19 digits:
//!   └ measurement  └ fields: numbers are figures                        s, ms, µs or ns since 1970
//! ```
//!
//! A backslash protects a comma, a blank or `=`. The unit of times is told by nothing but their
//! length, which has to be that of all lines. Points of several measurements have their name before
//! that of each field.

use std::collections::BTreeMap;

use crate::error::JudgeError;

use super::table::{CELLS_MOST, COLUMNS_MOST, Place, Row, Separator, Table, error_at};

/// Points at the beginning that have to be there for a text to be one.
const LOOKED_AT: usize = 5;

/// A point as it stands.
struct Point<'t> {
    measurement: &'t str,
    tags: Vec<(&'t str, &'t str)>,
    fields: Vec<(&'t str, &'t str)>,
    time: Option<&'t str>,
}

/// Whether the first lines of a text are points.
pub(super) fn is_it(text: &str) -> bool {
    let mut points = lines(text).take(LOOKED_AT).map(|(_, line)| point(line)).peekable();
    points.peek().is_some() && points.all(|point| point.is_some())
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let all = (1..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
    all.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// The parts of a text between marks that stand outside of quotes and behind no backslash.
fn parts(text: &str, mark: char) -> Vec<&str> {
    let (mut all, mut begin, mut is_quoted, mut is_protected) = (Vec::new(), 0, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_protected => is_protected = false,
            '\\' => is_protected = true,
            '"' => is_quoted = !is_quoted,
            c if c == mark && !is_quoted => {
                all.push(&text[begin..at]);
                begin = at + c.len_utf8();
            }
            _ => {}
        }
    }
    all.push(&text[begin..]);
    all
}

fn point(line: &str) -> Option<Point<'_>> {
    let words: Vec<&str> = parts(line, ' ').into_iter().filter(|word| !word.is_empty()).collect();
    let (series, fields, time) = match words[..] {
        [series, fields] => (series, fields, None),
        [series, fields, time] => (series, fields, Some(time)),
        _ => return None,
    };
    let series = parts(series, ',');
    let (&measurement, tags) = series.split_first()?;
    let fields: Vec<(&str, &str)> = pairs(&parts(fields, ','))?;
    let is_it = !measurement.is_empty()
        && fields.iter().all(|(_, value)| is_value(value))
        && time.is_none_or(|time| time.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit()));
    is_it.then_some(Point { measurement, tags: pairs(tags)?, fields, time })
}

/// Names and their values: `host=db1`.
fn pairs<'t>(all: &[&'t str]) -> Option<Vec<(&'t str, &'t str)>> {
    let pair = |one: &&'t str| match parts(one, '=')[..] {
        [name, value] if !name.is_empty() && !value.is_empty() => Some((name, value)),
        _ => None,
    };
    all.iter().map(pair).collect()
}

/// `12000.5`, `12i`, `12u`, `true`, `"text"`
fn is_value(text: &str) -> bool {
    let is_text = text.len() > 1 && text.starts_with('"') && text.ends_with('"');
    let words = ["t", "T", "true", "True", "TRUE", "f", "F", "false", "False", "FALSE"];
    is_text || words.contains(&text) || number(text).is_some()
}

fn number(text: &str) -> Option<&str> {
    let text = text.strip_suffix(['i', 'u']).unwrap_or(text);
    text.parse::<f64>().is_ok_and(f64::is_finite).then_some(text)
}

/// Without the backslashes that protect, or the quotes.
fn plain(text: &str) -> String {
    let text = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    let (mut all, mut is_protected) = (String::with_capacity(text.len()), false);
    for c in text.chars() {
        is_protected = c == '\\' && !is_protected;
        if !is_protected {
            all.push(c);
        }
    }
    all
}

/// Reads points.
///
/// # Errors
/// A line that is none, or has no time, or one of another length than the first.
pub(super) fn read<'a>(name: &'a str, text: &str) -> Result<Table<'a>, JudgeError> {
    let mut points = Vec::new();
    let mut digits = None;
    for (line, written) in lines(text) {
        let wrong = |what: &str| error_at(name, line, 1, what);
        let point = point(written).ok_or_else(|| {
            wrong("this is no point of Influx's line protocol: measurement,tag=a field=1 TIME")
        })?;
        let time = point.time.ok_or_else(|| {
            wrong(
                "this point of Influx's line protocol has no time, and without it nobody knows when \
                 it was measured; write it behind the fields, in s, ms, µs or ns since 1970",
            )
        })?;
        let first = *digits.get_or_insert(time.len());
        if time.len() != first || ![10, 13, 16, 19].contains(&first) {
            return Err(wrong(
                "times of Influx's line protocol are read with 10, 13, 16 or 19 digits (s, ms, µs, \
                 ns since 1970), one and the same number in all lines; write them so",
            ));
        }
        points.push((line, point));
    }
    table(name, &points)
}

/// Milliseconds since 1970 of a time with 10, 13, 16 or 19 digits.
fn ms(time: &str) -> String {
    format!("{:0<13}", &time[..time.len().min(13)])
}

fn table<'a>(name: &'a str, points: &[(usize, Point<'_>)]) -> Result<Table<'a>, JudgeError> {
    let first = points.first().map_or("", |(_, point)| point.measurement);
    let is_one = points.iter().all(|(_, point)| point.measurement == first);
    let mut columns: BTreeMap<(bool, String), usize> = BTreeMap::new();
    let (mut header, mut parting, mut figures) = (vec!["time".to_owned()], Vec::new(), Vec::new());
    let mut rows = Vec::with_capacity(points.len());
    for (line, point) in points {
        let mut cells = vec![ms(point.time.unwrap_or_default())];
        let tags = point.tags.iter().map(|pair| (true, pair));
        let fields = point.fields.iter().map(|pair| (false, pair));
        for (is_tag, (key, value)) in tags.chain(fields) {
            let key = if is_tag || is_one {
                plain(key)
            } else {
                format!("{}.{}", plain(point.measurement), plain(key))
            };
            let column = *columns.entry((is_tag, key.clone())).or_insert_with(|| {
                header.push(key.clone());
                header.len() - 1
            });
            if is_tag && !parting.contains(&column) {
                parting.push(column);
            }
            let number = number(value).filter(|_| !is_tag);
            if number.is_some() && !figures.contains(&column) {
                figures.push(column);
            }
            cells.resize(cells.len().max(column + 1), String::new());
            if !cells[column].is_empty() {
                let what = format!("{key:?} is told twice in one point; rename one of the two");
                return Err(error_at(name, *line, 1, &what));
            }
            cells[column] = number.map_or_else(|| plain(value), str::to_owned);
        }
        if header.len() > COLUMNS_MOST || header.len().saturating_mul(points.len()) > CELLS_MOST {
            let what = "more tags, fields and points than can be held; keep those that matter";
            return Err(error_at(name, *line, 1, what));
        }
        rows.push(Row { place: Place::of_line(*line), cells });
    }
    rows.iter_mut().for_each(|row| row.cells.resize(header.len(), String::new()));
    if let Some(at) = (1..header.len()).find(|at| header[..*at].contains(&header[*at])) {
        let what = format!("{:?} is a tag and a field, or the time; rename one", header[at]);
        return Err(error_at(name, 1, 1, &what));
    }
    let line = points.first().map_or(1, |(line, _)| *line);
    let form = "Influx's line protocol";
    let mut table = Table::new(name, form, Separator::Json, line, header, rows);
    // A tag of one value parts nothing, and is a fact.
    parting.retain(|&column| table.values(column).len() > 1);
    table.figures = Some(figures);
    table.parting = Some(parting);
    Ok(table)
}
