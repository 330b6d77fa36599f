//! Tables that are drawn with strokes.
//!
//! ```text
//!   | date  | qps |      +------+-----+       date  | qps
//!   |-------|----:|      | date | qps |      -------+-----
//!   | 01-01 |  10 |      +------+-----+       01-01 |  10
//!     Markdown             mysql                psql
//! ```
//!
//! Prose around them is passed over, marks of quoting and of emphasis are taken away. A document
//! may have several.

use crate::error::JudgeError;

use super::table::{CELLS_MOST, COLUMNS_MOST, Place, Row, Separator, Table, error_at};

/// Tables that one document can have.
const TABLES_MOST: usize = 1_000;

/// A table, and below which heading it stands.
pub(super) type TitledTable<'a> = (Table<'a>, Option<String>);

/// The tables of a document.
///
/// # Errors
/// A table that is too large.
pub(super) fn read<'a>(name: &'a str, text: &str) -> Result<Vec<TitledTable<'a>>, JudgeError> {
    let lines: Vec<&str> = text.lines().map(without_quoting).collect();
    let mut tables = Vec::new();
    let mut heading = None;
    // Cells of the rows of the last table, and where it ended, where nothing else says its end.
    let mut open_end = None;
    let mut at = 0;
    while at < lines.len() && tables.len() < TABLES_MOST {
        if let Some(title) = lines[at].strip_prefix('#') {
            heading = Some(title.trim_matches(['#', ' ']).to_owned());
        }
        let Some((form, header, from)) = header_at(&lines, at) else {
            if let Some((_, end)) = open_end.filter(|(count, _)| may_be_row(lines[at], *count)) {
                let what = format!(
                    "a row like those of the table that ended in line {end} stands here without a \
                     header, and might be one of them; take out the lines between, or give it a \
                     header"
                );
                return Err(error_at(name, at + 1, 1, &what));
            }
            at += 1;
            continue;
        };
        let header_line = at + 1 + usize::from(is_border(lines[at]));
        let count = header.len();
        let Body { rows, short, passed_over, end } = match body(&lines, from, count) {
            Ok(body) => body,
            Err((line, what)) => return Err(error_at(name, line, 1, &what)),
        };
        if let Some((line, cells)) = short.filter(|_| rows.iter().all(|row| row.is_short)) {
            let what = format!(
                "{cells} cells where the header has {count}, and no row has as many: which column \
                 is missing cannot be told, so that figures could stand under other names; write \
                 empty cells where they belong"
            );
            return Err(error_at(name, line, 1, &what));
        }
        let rows = rows.into_iter().map(|row| row.row).collect();
        let mut table = Table::new(name, form, Separator::Pipe, header_line, header, rows);
        if passed_over > 0 {
            table
                .passed_over
                .push(format!("{passed_over} lines of the table have no cells and were left out."));
        }
        tables.push((table, heading.clone()));
        open_end = (!is_border(lines[end - 1])).then_some((count, end));
        at = end;
    }
    Ok(tables)
}

/// Whether there is a table.
pub(super) fn is_there(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(without_quoting).collect();
    (0..lines.len()).any(|at| header_at(&lines, at).is_some())
}

/// A line without the marks of a quotation.
fn without_quoting(line: &str) -> &str {
    line.trim_start_matches(['>', ' ', '\t']).trim_end()
}

/// What a table is, its header, and the line on which its rows begin.
fn header_at(lines: &[&str], at: usize) -> Option<(&'static str, Vec<String>, usize)> {
    if is_border(lines[at]) {
        let header = cells(lines.get(at + 1)?)?;
        let is_closed = lines.get(at + 2).is_some_and(|line| is_border(line));
        return is_closed.then_some(("table of a client", header, at + 3));
    }
    let header = lines[at].contains('|').then(|| cells_of(lines[at]))?;
    let below = lines.get(at + 1)?;
    let rules = below.trim_matches('|').split(['|', '+']);
    let is_rule = |rule: &str| {
        let rule = rule.trim();
        let dashes = rule.trim_start_matches(':').trim_end_matches(':');
        !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-')
    };
    let form = if below.contains('+') { "table of a client" } else { "Markdown table" };
    let is_header = below.contains('-')
        && rules.clone().all(is_rule)
        && rules.count() == header.len()
        && header.len() > 1;
    is_header.then_some((form, header, at + 2))
}

/// `+-----+-----+`
fn is_border(line: &str) -> bool {
    line.len() > 2
        && line.starts_with('+')
        && line.ends_with('+')
        && line.bytes().all(|byte| [b'+', b'-', b'='].contains(&byte))
}

/// What stands below a header.
struct Body {
    rows: Vec<BodyRow>,
    /// The first row with fewer cells than the header: its line, from 1, and how many it has.
    short: Option<(usize, usize)>,
    /// Lines that were no rows.
    passed_over: usize,
    /// The index of the line behind it.
    end: usize,
}

struct BodyRow {
    row: Row,
    /// Whether it had fewer cells than the header.
    is_short: bool,
}

/// Rows from a line on; an error is a line, from 1, and what is wrong with it.
fn body(lines: &[&str], from: usize, count: usize) -> Result<Body, (usize, String)> {
    let (mut rows, mut short, mut passed_over, mut at) = (Vec::new(), None, 0, from);
    while at < lines.len() {
        if !lines[at].contains('|') && !is_border(lines[at]) {
            // A line of prose ends no table: Markdown has it as a row of one cell.
            let is_within = !lines[at].is_empty()
                && lines.get(at + 1).is_some_and(|line| is_row(line, count))
                && header_at(lines, at + 1).is_none();
            if !is_within {
                break;
            }
            passed_over += 1;
        } else if !is_border(lines[at]) {
            let mut cells = cells_of(lines[at]);
            if cells.iter().skip(count).any(|cell| !cell.is_empty()) {
                let what = format!(
                    "{} cells where the header has {count}; write \\| for a stroke within a cell",
                    cells.len()
                );
                return Err((at + 1, what));
            }
            if (rows.len() + 1).saturating_mul(count) > CELLS_MOST {
                let what = "the table has more cells than can be held; keep those that matter";
                return Err((at + 1, what.to_owned()));
            }
            // Missing cells at the end are blank, as Markdown has it.
            let is_short = cells.len() < count;
            if is_short {
                short.get_or_insert((at + 1, cells.len()));
            }
            cells.resize(count, String::new());
            let row = Row { place: Place::of_line(at + 1), cells };
            rows.push(BodyRow { row, is_short });
        }
        at += 1;
        // The end of a table of `mysql`; groups of rows have a border between them.
        if is_border(lines[at - 1]) && !lines.get(at).is_some_and(|line| is_row(line, count)) {
            break;
        }
    }
    Ok(Body { rows, short, passed_over, end: at })
}

/// Whether a line looks like a row of so many cells: strokes around it, or a number in it.
fn is_row(line: &str, count: usize) -> bool {
    let Some(cells) = cells(line).filter(|cells| cells.len() == count) else { return false };
    line.starts_with('|') || cells.iter().any(|cell| cell.parse::<f64>().is_ok())
}

/// Whether it does, or has strokes around it and any number of cells.
fn may_be_row(line: &str, count: usize) -> bool {
    is_row(line, count) || line.starts_with('|') && cells_of(line).len() > 1
}

fn cells(line: &str) -> Option<Vec<String>> {
    line.contains('|').then(|| cells_of(line))
}

/// What stands between strokes that have no backslash before them.
fn cells_of(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let has_room = cells.len() <= COLUMNS_MOST;
        let cell = cells.last_mut().expect("there is one from the beginning");
        match letter {
            '\\' if letters.peek() == Some(&'|') => cell.extend(letters.next()),
            '|' if letters.peek().is_none() => {}
            '|' if has_room => cells.push(String::new()),
            letter => cell.push(letter),
        }
    }
    cells.iter().map(|cell| plain(cell)).collect()
}

/// A cell without emphasis, code and the address of a link.
fn plain(cell: &str) -> String {
    let cell = cell.trim().trim_matches(['*', '`', '~']).trim();
    let link = cell.strip_prefix('[').and_then(|rest| rest.strip_suffix(')'));
    match link.and_then(|link| link.split_once("](")) {
        Some((text, _)) => text.trim().trim_matches(['*', '`']).to_owned(),
        None => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_found_in_prose() {
        let text = "# Results\n\nSee `a | b`.\n\n> | date | **qps** |\n> |------|----:|\n\
                    > | [1](http://x) | 10 \\| 11 |\n> | 2 |\n\n## More\n a | b\n---+---\n 1 | 2\n\
                    (1 row)\n+---+---+\n| c | d |\n+---+---+\n| 3 | 4 |\n+---+---+\n\n| no | row |\n";
        let tables = read("f.md", text).unwrap();
        let told: Vec<String> = tables
            .iter()
            .map(|(table, heading)| {
                let row = |row| format!("{};{}", table.cell(row, 0), table.cell(row, 1));
                let rows: Vec<String> = (0..table.rows.len()).map(row).collect();
                let heading = heading.as_deref().unwrap_or_default();
                format!("{}: {:?} {rows:?} {heading}", table.header_line, table.header)
            })
            .collect();
        let expected = [
            "5: [\"date\", \"qps\"] [\"1;10 | 11\", \"2;\"] Results",
            "11: [\"a\", \"b\"] [\"1;2\"] More",
            "16: [\"c\", \"d\"] [\"3;4\"] More",
        ];
        assert_eq!(told, expected);
        for text in ["", "a | b\n", "date,qps\n1,2\n", "a|b\n1|2\n", "---\na: b\n---\n"] {
            assert!(!is_there(text), "{text:?}");
        }
    }

    /// A table that somebody posted: ten names above nine cells, of which the first is missing and
    /// not the last, so that a latency was a throughput.
    #[test]
    fn rows_that_all_lack_a_cell_are_refused() {
        let short = "| link | date | qps |\n|---|---|---|\n | 01-01 | 10 |\n | 01-02 | 11 |\n";
        let error = read("f.md", short).unwrap_err().to_string();
        assert!(error.starts_with("f.md:3:1: 2 cells where the header has 3"), "{error}");
        assert!(read("f.md", &format!("{short}| x | 01-03 | 12 |\n")).is_ok());
    }

    /// Twelve slower runs below a line of prose were no part of the table, and a gate passed.
    #[test]
    fn rows_behind_a_line_of_prose_are_rows_or_refused() {
        let table = "| date | qps |\n|---|---|\n| 01-01 | 10 |\n";
        let rest = "| 01-02 | 7 |\n| 01-03 | 7 |\n";
        for prose in ["These are the latest runs:", "> a note", "---", "<!-- x -->", "```"] {
            let tables = read("f.md", &format!("{table}{prose}\n{rest}")).unwrap();
            let [(table, _)] = &tables[..] else { panic!("{prose}") };
            assert_eq!(table.rows.len(), 3, "{prose}");
            assert_eq!(table.passed_over.len(), 1, "{prose}");
        }
        for between in ["\n", "\nThe latest:\n\n", "\n## Latest\n\n"] {
            let error = read("f.md", &format!("{table}{between}{rest}")).unwrap_err().to_string();
            assert!(error.contains("the table that ended in line 3"), "{between:?}: {error}");
        }
        let another = format!("{table}\n| date | qps |\n|---|---|\n{rest}");
        assert_eq!(read("f.md", &another).unwrap().len(), 2);
        assert_eq!(read("f.md", &format!("{table}\nSee `a | b`.\n")).unwrap().len(), 1);
    }

    /// Ten slower runs with a stroke in a remark, or in a group of their own, were left out, and a
    /// gate passed.
    #[test]
    fn no_row_is_left_out_for_its_cells_or_its_group() {
        let table = "| date | qps |\n|---|---|\n| 01-01 | 10 |\n";
        for row in ["| 01-02 | 7 | slow |\n", "| a|b | 7 |\n"] {
            let error = read("f.md", &format!("{table}{row}")).unwrap_err().to_string();
            assert!(error.starts_with("f.md:4:1: 3 cells where the header has 2"), "{error}");
        }
        let blank = read("f.md", &format!("{table}| 01-02 | 7 | |\n")).unwrap();
        assert_eq!(blank[0].0.rows.len(), 2);
        let rule = "+---+---+\n";
        let grid = format!("{rule}| c | d |\n{rule}| 1 | 2 |\n{rule}| 3 | 4 |\n{rule}");
        let tables = read("f.txt", &grid).unwrap();
        assert_eq!((tables.len(), tables[0].0.rows.len()), (1, 2));
        let behind = format!("{table}\nThe latest:\n\n| 01-02 | 7 | slow |\n");
        assert!(read("f.md", &behind).is_err());
    }
}
