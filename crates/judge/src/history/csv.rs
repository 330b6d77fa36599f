//! Text with separators, whoever wrote it.
//!
//! ```text
//!   # what this is                          lines above the header that begin with # are skipped
//!   sep=;                                   what spreadsheets write to be read again
//!   time;commit;kernel;qps;latency_ms       the header names the columns
//!   2024-01-31;a1b2;6.1.0;21840;1,31
//! ```
//!
//! The separator is what all rows agree on: comma, semicolon, tab, stroke, or blanks. Quotes are
//! those of RFC 4180.

use crate::error::JudgeError;

use super::cells;
use super::table::{CELLS_MOST, COLUMNS_MOST, Place, Row, Separator, Table, error_at, is_blank};
use super::times;

const SEPARATORS: [(char, Separator, &str); 4] = [
    (',', Separator::Comma, "CSV with commas"),
    (';', Separator::Semicolon, "CSV with semicolons"),
    ('\t', Separator::Tab, "text with tabs"),
    ('|', Separator::Pipe, "text with strokes (|)"),
];

const BLANKS: (char, Separator, &str) = (' ', Separator::Tab, "text with blanks");

/// Lines with their cells.
type Records = Vec<(usize, Vec<String>)>;

/// Reads text with separators.
///
/// # Errors
/// A line that has another number of cells, a header that is none.
pub(super) fn read<'a>(name: &'a str, text: &str) -> Result<Table<'a>, JudgeError> {
    let mut text = text;
    let mut above = 0;
    while let Some((_, rest)) = text.starts_with('#').then(|| text.split_once('\n')).flatten() {
        (text, above) = (rest, above + 1);
    }
    let mut told = None;
    let first = text.lines().next().unwrap_or_default();
    if let Some(mark) = first.strip_prefix("sep=").and_then(|rest| rest.chars().next()) {
        let known = SEPARATORS.iter().find(|(separator, ..)| *separator == mark);
        told = Some(known.ok_or_else(|| {
            let what = "the separator that it names is not known; use , ; | or a tab";
            error_at(name, above + 1, 5, what)
        })?);
        text = text.split_once('\n').map_or("", |(_, rest)| rest);
        above += 1;
    }
    let ((_, separator, form), mut rows) = match told {
        Some(told) => (told, parse(name, text, told.0, above)?),
        None => separated(name, text, above)?,
    };
    if rows.is_empty() {
        let what = "the file is empty; its first line names the columns, such as time,qps";
        return Err(error_at(name, 1, 1, what));
    }
    let (header_line, header) = rows.remove(0);
    let header: Vec<String> = header.iter().map(|cell| cell.trim().to_owned()).collect();
    for (line, cells) in &rows {
        if cells.len() != header.len() {
            let what = format!(
                "{} cells where the header has {}; quote cells that contain a separator",
                cells.len(),
                header.len()
            );
            return Err(error_at(name, *line, cells.len().min(header.len()), &what));
        }
    }
    let rows = rows.into_iter();
    let rows = rows.map(|(line, cells)| Row { place: Place::of_line(line), cells }).collect();
    let table = Table::new(name, form, *separator, header_line, header, rows);
    check(&table)?;
    Ok(table)
}

/// What parts the cells of all rows into as many as the header has.
fn separated(
    name: &str,
    text: &str,
    above: usize,
) -> Result<(&'static (char, Separator, &'static str), Records), JudgeError> {
    let first = text.lines().next().unwrap_or_default();
    let mut possible = SEPARATORS.iter().filter(|(mark, ..)| first.contains(*mark)).peekable();
    if possible.peek().is_none() && first.trim().contains(char::is_whitespace) {
        let rows = of_blanks(text, above);
        // A header of one name may have blanks in it.
        if rows.len() > 1 && rows.iter().all(|(_, cells)| cells.len() == rows[0].1.len()) {
            return Ok((&BLANKS, rows));
        }
    }
    let first = *possible.peek().unwrap_or(&&SEPARATORS[0]);
    let is_alone = SEPARATORS.iter().filter(|(mark, ..)| text.contains(*mark)).count() < 2;
    for separator in possible.filter(|_| !is_alone) {
        if let Ok(rows) = parse(name, text, separator.0, above)
            && rows.iter().all(|(_, cells)| cells.len() == rows[0].1.len() && cells.len() > 1)
        {
            return Ok((separator, rows));
        }
    }
    Ok((first, parse(name, text, first.0, above)?))
}

/// Words of lines, which have no quotes.
fn of_blanks(text: &str, above: usize) -> Records {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
    lines.map(|(at, line)| (above + at + 1, words(line))).collect()
}

fn parse(name: &str, text: &str, mark: char, above: usize) -> Result<Records, JudgeError> {
    let mut rows =
        records(text, mark, above).map_err(|(line, what)| error_at(name, line, 1, what))?;
    rows.retain(|(_, cells)| cells.len() > 1 || !cells[0].trim().is_empty());
    Ok(rows)
}

fn check(table: &Table<'_>) -> Result<(), JudgeError> {
    for (column, head) in table.header.iter().enumerate() {
        if table.header[..column].contains(head) {
            let what = format!("two columns are called {head:?}; rename one");
            return Err(table.refuse_column(column, &what));
        }
    }
    let is_number = |head: &String| cells::is_bare_number(head);
    let first = table.rows.first().map(|row| row.cells.as_slice()).unwrap_or_default();
    let is_row = table.header.iter().any(|head| times::is_time(head))
        || (table.header.iter().any(is_number)
            && table
                .header
                .iter()
                .zip(first)
                .any(|(head, cell)| head == cell.trim() && !is_blank(head)));
    if is_row || table.header.iter().all(is_number) {
        let what = "the first line has values where names of columns are expected; write a \
                    header such as time,qps above it";
        return Err(error_at(table.name, table.header_line, 1, what));
    }
    if table.rows.is_empty() {
        Err(error_at(
            table.name,
            table.header_line,
            1,
            "there is a header and no row below it; add some",
        ))
    } else {
        Ok(())
    }
}

/// The records of RFC 4180 with the lines on which they begin, `above` lines further down; an error
/// is a line and what is wrong there.
fn records(text: &str, separator: char, above: usize) -> Result<Records, (usize, &'static str)> {
    let (mut records, mut cells, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut line, mut begun, mut quoted_from) = (above + 1, above + 1, None);
    let mut count = 0;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if quoted_from.is_some() && rest.peek() == Some(&'"') => {
                rest.next();
                cell.push('"');
            }
            '"' if quoted_from.is_some() => quoted_from = None,
            '"' if cell.trim().is_empty() => {
                cell.clear();
                quoted_from = Some(line);
            }
            c if quoted_from.is_some() => cell.push(c),
            c if c == separator && count == CELLS_MOST => {
                return Err((
                    line,
                    "there are more cells than can be held; keep those that matter",
                ));
            }
            c if c == separator && cells.len() + 1 == COLUMNS_MOST => {
                return Err((line, "there are more than 2 000 columns; keep those that matter"));
            }
            c if c == separator => {
                count += 1;
                cells.push(std::mem::take(&mut cell));
            }
            '\r' if rest.peek() == Some(&'\n') => {}
            '\n' => {
                cells.push(std::mem::take(&mut cell));
                records.push((begun, std::mem::take(&mut cells)));
                begun = line;
            }
            c => cell.push(c),
        }
    }
    if let Some(line) = quoted_from {
        return Err((line, "a quote is opened and never closed; close it"));
    }
    if !cells.is_empty() || !cell.is_empty() {
        cells.push(cell);
        records.push((begun, cells));
    }
    Ok(records)
}
