//! Series from a CSV file, whoever wrote it.
//!
//! ```text
//!   time,commit,kernel,qps,latency_ms       the header names the columns
//!   2024-01-31,a1b2,6.1.0,21840,1.31        time, version and label by their names
//!   2024-02-01,c3d4,6.1.0,,1.29             a column of numbers is a series; blanks are left out
//!                └ any other column is a fact: a candidate for a cause
//! ```
//!
//! The separator is a comma, or else what the header has: semicolon or tab. Quotes are those of RFC
//! 4180. With semicolons a comma may stand for the decimal point. Lines that begin with # above the
//! header are skipped. Rows are sorted by their time; a column of times with another name is found
//! by what is in it. Columns of what a run was asked for, such as threads, are facts. A column that
//! tells several tests apart, each of them at the same times, makes a series of each.

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_model::{Better, History, HistoryPoint, Severity, Warning};

use super::{Question, Raw, judge, times, when};
use crate::error::JudgeError;

/// Columns of this name tell rows apart that do not belong together.
const KINDS: [&str; 10] = [
    "branch",
    "host",
    "hostname",
    "machine",
    "runner",
    "arch",
    "tag",
    "benchmark",
    "metric",
    "load",
];
/// So many values of a column are named in a message.
const VALUES_NAMED_MOST: usize = 12;
/// Columns of this name, whatever the case, tell the time of a row.
const TIMES: [&str; 7] =
    ["time", "timestamp", "date", "datetime", "started", "unix_ms", "created_at"];
/// Columns of this name tell what was measured.
const VERSIONS: [&str; 7] =
    ["version", "commit", "revision", "sha", "githash", "git_commit", "release"];
/// Columns of this name tell what a row is called.
const LABELS: [&str; 7] = ["label", "run", "run_id", "name", "build", "id", "test"];
/// Columns of this name tell what a run was asked for.
const ASKED: [&str; 13] = [
    "threads",
    "clients",
    "connections",
    "concurrency",
    "vus",
    "users",
    "warehouses",
    "scale",
    "tables",
    "rows",
    "table_size",
    "seed",
    "port",
];
/// Parts of the names of columns that may tell times in eight digits.
const TIME_WORDS: [&str; 4] = ["date", "day", "time", "when"];
/// Tests that one file tells of at most.
const TESTS_MOST: usize = 200;
/// What stands where there is no value.
const BLANKS: [&str; 8] = ["", "nan", "na", "n/a", "null", "none", "-", "inf"];
/// Parts of names of which less is better.
const LOWER: [&str; 36] = [
    "latency", "time", "duration", "elapsed", "p50", "p90", "p95", "p99", "99th", "95th", "cpu",
    "bytes", "_ns", "_us", "_ms", "(ns)", "(us)", "(ms)", "(s)", "ns/", "us/", "ms/", "sec/",
    "b/op", "allocs", "seconds", "error", "retries", "abort", "deadlock", "miss", "memory", "rss",
    "wait", "lag", "delay",
];
/// Parts of names of which more is better.
const HIGHER: [&str; 12] = [
    "qps",
    "tps",
    "ops",
    "rps",
    "rate",
    "throughput",
    "per_s",
    "/s",
    "score",
    "speed",
    "hits",
    "ips",
];

/// The history that a file tells. `name` is what the file is called in messages.
///
/// # Errors
/// [`JudgeError::History`], which names line and column and says what to try.
pub fn of_csv(name: &str, text: &str, question: &Question) -> Result<History, JudgeError> {
    let mut table = Table::parse(name, text)?;
    table.keep(&question.filters)?;
    let roles = Roles::of(&table, question)?;
    let mut warnings = Vec::new();
    let order = order(&table, &roles, &mut warnings)?;
    let tests = tests_of(&table, &order);
    if tests.is_none() {
        warnings.splice(0..0, mixed(&table));
    }
    let mut raws = Vec::new();
    for &column in &roles.values {
        match &tests {
            None => raws.push(series(&table, &roles, (column, None), &order, question)?),
            Some((by, names)) => {
                for name in names {
                    let is_of = |(row, _): &&Placed| table.rows[*row].1[*by].trim() == name;
                    let own: Vec<Placed> = order.iter().filter(is_of).copied().collect();
                    raws.push(series(&table, &roles, (column, Some(name)), &own, question)?);
                }
            }
        }
    }
    judge(name, raws, question, warnings)
}

/// Cells of a file with the lines on which their rows begin.
struct Table<'a> {
    name: &'a str,
    separator: char,
    header_line: usize,
    header: Vec<String>,
    rows: Vec<(usize, Vec<String>)>,
}

impl Table<'_> {
    fn parse<'a>(name: &'a str, text: &str) -> Result<Table<'a>, JudgeError> {
        let mut text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut above = 0;
        while let Some((_, rest)) = text.starts_with('#').then(|| text.split_once('\n')).flatten() {
            (text, above) = (rest, above + 1);
        }
        let first = text.lines().next().unwrap_or_default();
        let separator = [',', ';', '\t'].into_iter().find(|&c| first.contains(c)).unwrap_or(',');
        let mut rows = records(text, separator, above).map_err(|line| {
            failed(name, line, 1, "a quote is opened and never closed; close it")
        })?;
        rows.retain(|(_, cells)| cells.len() > 1 || !cells[0].trim().is_empty());
        if rows.is_empty() {
            let what = "the file is empty; its first line names the columns, such as time,qps";
            return Err(failed(name, 1, 1, what));
        }
        let (header_line, header) = rows.remove(0);
        let table = Table {
            name,
            separator,
            header_line,
            header: header.iter().map(|cell| cell.trim().to_owned()).collect(),
            rows,
        };
        table.check()?;
        Ok(table)
    }

    fn check(&self) -> Result<(), JudgeError> {
        for (column, head) in self.header.iter().enumerate() {
            if self.header[..column].contains(head) {
                let what = format!("two columns are called {head:?}; rename one");
                return Err(failed(self.name, self.header_line, column + 1, &what));
            }
        }
        let is_number = |cell: &String| self.number(cell).is_some();
        let first = self.rows.first().map(|(_, cells)| cells.as_slice()).unwrap_or_default();
        let is_again = |(head, cell): (&String, &String)| head == cell.trim() && !is_blank(head);
        let is_row = self.header.iter().any(|head| times::is_time(head))
            || (self.header.iter().any(is_number) && self.header.iter().zip(first).any(is_again));
        if is_row || self.header.iter().all(is_number) {
            let what = "the first line has values where names of columns are expected; write a \
                        header such as time,qps above it";
            return Err(failed(self.name, self.header_line, 1, what));
        }
        for (line, cells) in &self.rows {
            if cells.len() != self.header.len() {
                let what = format!(
                    "{} cells where the header has {}; quote cells that contain a separator",
                    cells.len(),
                    self.header.len()
                );
                return Err(failed(self.name, *line, cells.len().min(self.header.len()), &what));
            }
        }
        match self.rows.is_empty() {
            true => Err(failed(
                self.name,
                self.header_line,
                1,
                "there is a header and no row below it; add some",
            )),
            false => Ok(()),
        }
    }

    fn number(&self, cell: &str) -> Option<f64> {
        let cell = cell.trim();
        let number = match self.separator {
            ';' if !cell.contains('.') => cell.replacen(',', ".", 1).parse(),
            _ if has_thousands(cell) => cell.replace(',', "").parse(),
            _ => cell.parse::<f64>(),
        };
        number.ok().filter(|number| number.is_finite())
    }

    fn cells(&self, column: usize) -> impl Iterator<Item = (usize, &str)> {
        self.rows.iter().map(move |(line, cells)| (*line, cells[column].trim()))
    }

    /// Whether most of what a column has are numbers.
    fn is_numeric(&self, column: usize) -> bool {
        let present = || self.cells(column).filter(|(_, cell)| !is_blank(cell));
        let numbers = present().filter(|(_, cell)| self.number(cell).is_some()).count();
        numbers > 0 && 2 * numbers > present().count()
    }

    /// Keeps the rows in which columns have these values.
    fn keep(&mut self, filters: &[(String, String)]) -> Result<(), JudgeError> {
        for (name, value) in filters {
            let column = self.named(name)?;
            let mut there: Vec<String> =
                self.cells(column).map(|(_, cell)| cell.to_owned()).collect();
            self.rows.retain(|(_, cells)| cells[column].trim() == value);
            if self.rows.is_empty() {
                there.sort_unstable();
                there.dedup();
                there.truncate(VALUES_NAMED_MOST);
                let what =
                    format!("no row has {value:?} in {name:?}; there are {}", there.join(", "));
                return Err(failed(self.name, self.header_line, column + 1, &what));
            }
        }
        Ok(())
    }

    /// The column of this name.
    fn named(&self, name: &str) -> Result<usize, JudgeError> {
        let found = self.header.iter().position(|head| head.eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let what =
                format!("no column is called {name:?}; there are {}", self.header.join(", "));
            failed(self.name, self.header_line, 1, &what)
        })
    }
}

/// Whether commas stand before every three digits: `20,011`, `1,020,011.5`.
fn has_thousands(cell: &str) -> bool {
    let whole = cell.trim_start_matches(['+', '-']).split('.').next().unwrap_or_default();
    let mut groups = whole.split(',');
    let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().is_some_and(|one| (1..=3).contains(&one.len()) && is_digits(one));
    first && whole.contains(',') && groups.all(|group| group.len() == 3 && is_digits(group))
}

fn is_blank(cell: &str) -> bool {
    let plain = cell.trim().trim_start_matches(['+', '-']).to_ascii_lowercase();
    BLANKS.contains(&plain.as_str())
}

fn failed(name: &str, line: usize, column: usize, what: &str) -> JudgeError {
    JudgeError::History(format!("{name}:{line}:{column}: {what}"))
}

/// The records of RFC 4180 with the lines on which they begin, `above` lines further down; an error
/// is the line of a quote that is never closed.
fn records(text: &str, separator: char, above: usize) -> Result<Vec<(usize, Vec<String>)>, usize> {
    let (mut records, mut cells, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut line, mut begun, mut quoted_from) = (above + 1, above + 1, None);
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
            c if c == separator => cells.push(std::mem::take(&mut cell)),
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
        return Err(line);
    }
    if !cells.is_empty() || !cell.is_empty() {
        cells.push(cell);
        records.push((begun, cells));
    }
    Ok(records)
}

/// What the columns are for.
struct Roles {
    time: Option<usize>,
    version: Option<usize>,
    label: Option<usize>,
    values: Vec<usize>,
    facts: Vec<usize>,
}

impl Roles {
    fn of(table: &Table<'_>, question: &Question) -> Result<Roles, JudgeError> {
        let column =
            |name: &&str| table.header.iter().position(|head| head.eq_ignore_ascii_case(name));
        let is_time = |&column: &usize| {
            let is_moment = table.cells(column).any(|(_, cell)| when::parse(cell).is_some());
            is_moment || !table.is_numeric(column)
        };
        // A column called time that tells durations leaves it to one called date.
        let time = TIMES.iter().filter_map(column).find(is_time);
        let time = match time {
            Some(column) => Some(column),
            None => time_by_contents(table)?,
        };
        let version = VERSIONS.iter().find_map(column);
        let label = LABELS.iter().find_map(column);
        let is_free = |column: &usize| ![time, version, label].contains(&Some(*column));
        let all = || (0..table.header.len()).filter(is_free);
        let is_asked = |column: usize| {
            ASKED.iter().any(|name| table.header[column].eq_ignore_ascii_case(name))
        };
        let is_figure = |&column: &usize| table.is_numeric(column) && !is_asked(column);
        let mut values: Vec<usize> = match question.figures.is_empty() {
            true => all().filter(is_figure).collect(),
            false => question
                .figures
                .iter()
                .map(|name| table.named(name))
                .collect::<Result<_, JudgeError>>()?,
        };
        let mut known = BTreeSet::new();
        values.retain(|&column| known.insert(column));
        if values.is_empty() {
            let what = format!(
                "no column has numbers to look at; there are {}; --metric names one",
                table.header.join(", ")
            );
            return Err(failed(table.name, table.header_line, 1, &what));
        }
        let facts = all().filter(|column| !is_figure(column) && !values.contains(column)).collect();
        Ok(Roles { time, version, label, values, facts })
    }
}

/// The column that tells times under a name of its own.
fn time_by_contents(table: &Table<'_>) -> Result<Option<usize>, JudgeError> {
    let tells_times = |&column: &usize| {
        let head = table.header[column].to_ascii_lowercase();
        let may_be_digits = TIME_WORDS.iter().any(|word| head.contains(word));
        let is_moment = |cell: &str| match may_be_digits {
            true => when::parse(cell).is_some(),
            false => times::is_time(cell),
        };
        table.cells(column).all(|(_, cell)| is_moment(cell))
    };
    let found: Vec<usize> = (0..table.header.len()).filter(tells_times).collect();
    let order_by = |column: usize| -> Option<Vec<usize>> {
        let cells: Vec<&str> = table.cells(column).map(|(_, cell)| cell).collect();
        let at = times::of_column(&cells).ok()?.at;
        let mut rows: Vec<usize> = (0..at.len()).collect();
        rows.sort_by_key(|&row| at[row]);
        Some(rows)
    };
    if let [first, others @ ..] = &found[..]
        && let Some(other) = others.iter().find(|&&other| order_by(other) != order_by(*first))
    {
        let what = format!(
            "{:?} and {:?} tell two orders of the rows; call the one that counts time",
            table.header[*first], table.header[*other]
        );
        return Err(failed(table.name, table.header_line, other + 1, &what));
    }
    Ok(found.first().copied())
}

/// The column that tells tests apart which were all measured at the same times, and their names:
/// each is a series.
fn tests_of(table: &Table<'_>, order: &[Placed]) -> Option<(usize, Vec<String>)> {
    let times: BTreeSet<i64> = order.iter().filter_map(|(_, time)| *time).collect();
    if times.is_empty() || times.len() == order.len() {
        return None;
    }
    let known = KINDS.iter().chain(&LABELS).chain(&["workload", "query", "case"]);
    let columns = known
        .filter_map(|name| table.header.iter().position(|head| head.eq_ignore_ascii_case(name)));
    let tells_apart = |&column: &usize| {
        let cell = |row: usize| table.rows[row].1[column].trim();
        let pairs: BTreeSet<(Option<i64>, &str)> =
            order.iter().map(|(row, time)| (*time, cell(*row))).collect();
        let names: BTreeSet<&str> = pairs.iter().map(|(_, name)| *name).collect();
        pairs.len() == order.len()
            && (2..=TESTS_MOST).contains(&names.len())
            && names.len() < order.len()
    };
    let column = columns.into_iter().find(tells_apart)?;
    let names: BTreeSet<String> = table.cells(column).map(|(_, cell)| cell.to_owned()).collect();
    Some((column, names.into_iter().collect()))
}

/// A caution where rows of several kinds would make one series.
fn mixed(table: &Table<'_>) -> Option<Warning> {
    for (column, head) in table.header.iter().enumerate() {
        if !KINDS.iter().any(|kind| head.eq_ignore_ascii_case(kind)) {
            continue;
        }
        let mut values: Vec<&str> = table.cells(column).map(|(_, cell)| cell).collect();
        values.sort_unstable();
        values.dedup();
        if let [first, _, ..] = values[..] {
            let text = format!(
                "Rows of {} kinds stand in one series, by {head:?}; keep those of one with --where \
                 {head}={first}",
                values.len()
            );
            return Some(Warning::new(Severity::Caution, "mixed-rows", text));
        }
    }
    None
}

/// A row in its place: its index, and its time.
type Placed = (usize, Option<i64>);

/// Rows by their time; as they stand, where there is none.
fn order(
    table: &Table<'_>,
    roles: &Roles,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Placed>, JudgeError> {
    let Some(column) = roles.time else {
        let text = format!(
            "No column is called {}, so rows are taken in the order of the file.",
            TIMES[..3].join(", ")
        );
        warnings.push(Warning::new(Severity::Note, "no-times", text));
        return Ok((0..table.rows.len()).map(|row| (row, None)).collect());
    };
    let cells: Vec<&str> = table.cells(column).map(|(_, cell)| cell).collect();
    let times = times::of_column(&cells)
        .map_err(|(row, what)| failed(table.name, table.rows[row].0, column + 1, &what))?;
    if let Some(note) = times.note {
        warnings.push(Warning::new(Severity::Note, "dates", note));
    }
    if !TIMES.iter().any(|name| table.header[column].eq_ignore_ascii_case(name)) {
        let text = format!("Times of rows are taken from {:?}.", table.header[column]);
        warnings.push(Warning::new(Severity::Note, "time-column", text));
    }
    let mut placed: Vec<Placed> =
        times.at.into_iter().enumerate().map(|(row, time)| (row, Some(time))).collect();
    if !placed.is_sorted_by_key(|(_, time)| *time) {
        placed.sort_by_key(|(_, time)| *time);
        let text = "Rows do not stand in the order of their times; they were sorted.";
        warnings.push(Warning::new(Severity::Note, "sorted", text));
    }
    Ok(placed)
}

fn series(
    table: &Table<'_>,
    roles: &Roles,
    (column, test): (usize, Option<&String>),
    order: &[Placed],
    question: &Question,
) -> Result<Raw, JudgeError> {
    let metric = &table.header[column];
    let told = metric.to_ascii_lowercase();
    let is_lower = LOWER.iter().any(|part| told.contains(part));
    let by_name = if is_lower { Better::Lower } else { Better::Higher };
    let mut raw = Raw {
        name: test.map_or_else(|| metric.clone(), |test| format!("{metric} of {test}")),
        about: String::new(),
        metric: metric.clone(),
        better: question.better.unwrap_or(by_name),
        points: Vec::new(),
        facts: Vec::new(),
        warnings: Vec::new(),
    };
    let mut blank = 0;
    for &(row, unix_ms) in order {
        let (line, cells) = &table.rows[row];
        let cell = cells[column].trim();
        let Some(value) = table.number(cell) else {
            if is_blank(cell) {
                blank += 1;
                continue;
            }
            let what = format!(
                "{cell:?} is no number; write 21840.5 without units or separators of thousands, \
                 or leave it blank"
            );
            return Err(failed(table.name, *line, column + 1, &what));
        };
        let text = |role: Option<usize>| role.map(|column| cells[column].trim().to_owned());
        let label = text(roles.label).unwrap_or_else(|| format!("line {line}"));
        let version = text(roles.version).unwrap_or_default();
        raw.points.push(HistoryPoint { unix_ms, label, version, value });
        let fact = |&fact: &usize| (table.header[fact].clone(), cells[fact].trim().to_owned());
        raw.facts.push(roles.facts.iter().map(fact).collect::<BTreeMap<_, _>>());
    }
    if raw.points.is_empty() {
        let what = format!("the column {metric:?} has no value; name another one with --metric");
        return Err(failed(table.name, table.header_line, column + 1, &what));
    }
    if blank > 0 {
        let text = format!("{blank} of {} rows without a value left out.", order.len());
        raw.warnings.push(Warning::new(Severity::Note, "blanks", text));
    }
    let is_known = is_lower || HIGHER.iter().any(|part| told.contains(part));
    if question.better.is_none() && is_known {
        let text = format!(
            "That {} is better is taken from the name of the column; --better says otherwise.",
            by_name.name()
        );
        raw.warnings.push(Warning::new(Severity::Note, "direction", text));
    } else if question.better.is_none() {
        let text = "The name of the column does not say whether more or less is better; more is \
                    assumed, and --better says it.";
        raw.warnings.push(Warning::new(Severity::Caution, "direction", text));
    }
    Ok(raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::random;

    fn question() -> Question {
        Question {
            loads: Vec::new(),
            clients: Vec::new(),
            figures: Vec::new(),
            filters: Vec::new(),
            better: None,
            budget: 0.02,
            superiority: 0.9,
            look_back: 0,
            last: None,
        }
    }

    /// Bytes that matter to the parser, in any order: nothing makes it panic, and what it refuses
    /// has a place.
    #[test]
    fn no_text_makes_it_panic() {
        let words = [
            "time",
            "qps",
            "2026-01-01",
            "1",
            "2.5",
            "-3",
            "nan",
            "",
            ",",
            ",",
            ",",
            ";",
            "\t",
            "\n",
            "\n",
            "\r\n",
            "\"",
            "\"\"",
            "#",
            "\u{feff}",
            "é",
            "1e400",
            "time,qps\n",
        ];
        for seed in 0..4_000 {
            let mut stream = random::stream(&[seed]);
            let count = stream.below(40);
            let text: String =
                (0..count).map(|_| words[stream.below(words.len() as u64) as usize]).collect();
            match of_csv("f.csv", &text, &question()) {
                Ok(history) => assert!(!history.series.is_empty(), "{text:?}"),
                Err(JudgeError::History(what)) => {
                    let place: Vec<&str> = what.splitn(4, ':').collect();
                    let number = |at: usize| place[at].parse::<usize>().unwrap_or(0);
                    assert!(number(1) > 0 && number(2) > 0, "{what} of {text:?}");
                }
                Err(other) => assert!(text.contains("-3"), "{other} of {text:?}"),
            }
        }
    }

    /// Rows are in the order of their dates, whatever else is called a time.
    #[test]
    fn durations_are_no_times_of_rows() {
        let text = "time,date,qps\n3.5,2026-01-02,20\n2.5,2026-01-01,10\n";
        let history = of_csv("f.csv", text, &question()).unwrap();
        let values = |at: usize| -> Vec<f64> {
            history.series[at].points.iter().map(|point| point.value).collect()
        };
        assert_eq!((history.series[0].name.as_str(), values(0)), ("time", vec![2.5, 3.5]));
        assert_eq!((history.series[1].name.as_str(), values(1)), ("qps", vec![10.0, 20.0]));
    }

    #[test]
    fn a_column_that_is_named_twice_is_looked_at_once() {
        let twice = Question { figures: vec!["qps".into(), "QPS".into()], ..question() };
        let history = of_csv("f.csv", "time,qps\n2026-01-01,10\n", &twice).unwrap();
        assert_eq!(history.series.len(), 1);
    }

    #[test]
    fn quotes_blanks_and_order_are_those_of_the_file() {
        let text = "label,time,\"a \"\"b\"\"\",kind\n\"x,\ny\",2026-01-03,3,k\nz,2026-01-01,,k\n\
                    w,2026-01-02,1,l\n";
        let history = of_csv("f.csv", text, &question()).unwrap();
        let [series] = &history.series[..] else { panic!("{history:?}") };
        assert_eq!(series.name, "a \"b\"");
        let points: Vec<(&str, f64)> =
            series.points.iter().map(|point| (point.label.as_str(), point.value)).collect();
        assert_eq!(points, [("w", 1.0), ("x,\ny", 3.0)]);
        let codes: Vec<&str> =
            series.warnings.iter().map(|warning| warning.code.as_str()).collect();
        assert_eq!(codes, ["blanks", "direction", "too-short"], "the name says nothing");
        assert_eq!(series.warnings[1].severity, Severity::Caution);
        assert_eq!(history.warnings[0].code, "sorted");
    }

    fn points(text: &str) -> Vec<f64> {
        let history = of_csv("f.csv", text, &question()).unwrap();
        let [series] = &history.series[..] else { panic!("{history:?}") };
        series.points.iter().map(|point| point.value).collect()
    }

    fn refused(text: &str) -> String {
        of_csv("f.csv", text, &question()).unwrap_err().to_string()
    }

    /// The verdict turns round with the order of the rows, which are newest first here.
    #[test]
    fn rows_are_in_the_order_of_their_dates_however_they_are_written() {
        for days in [
            ["1/20/2026", "1/9/2026", "1/3/2026"],
            ["20/1/2026", "9/1/2026", "3/1/2026"],
            ["20.01.2026", "09.01.2026", "03.01.2026"],
            ["20260120", "20260109", "20260103"],
            ["20-Jan-2026", "09-Jan-2026", "03-Jan-2026"],
            ["\"Tue, 20 Jan 2026 01:00:00 +0000\"", "9 Jan 2026", "3 Jan 2026"],
            ["2026-01-20 02:00 CET", "2026-01-20 00:30 UTC", "2026-01-03"],
        ] {
            let [newest, middle, oldest] = days;
            for name in ["date", "build_date", "commit_time", "when"] {
                let text = format!("{name},qps\n{newest},3\n{middle},2\n{oldest},1\n");
                assert_eq!(points(&text), [1.0, 2.0, 3.0], "{text}");
            }
        }
    }

    #[test]
    fn an_order_that_is_not_known_is_refused() {
        let bad = refused("date,qps\n1/9/2026,1\n1/8/2026,2\n");
        assert!(bad.contains("f.csv:2:1: \"1/9/2026\" is of two months"), "{bad}");
        let bad = refused("date,qps\n1/20/2026,1\n20/1/2026,2\n");
        assert!(bad.contains("can only have the day first"), "{bad}");
        let bad = refused("date,qps\nQ2,1\nQ1,2\n");
        assert!(bad.contains("f.csv:2:1: \"Q2\" is no time"), "{bad}");
        let bad = refused("built,ended,qps\n2026-01-01,2026-02-02,1\n2026-01-02,2026-02-01,2\n");
        assert!(bad.contains("tell two orders of the rows"), "{bad}");
        for text in ["2026-01-01,90\n2026-01-02,91\n", "nightly,90\nnightly,91\n"] {
            assert!(refused(text).contains("f.csv:1:1: the first line has values"), "{text}");
        }
        assert_eq!(points("label,p,95\na,1,\n").len(), 1, "numbers may be names");
    }

    /// Each of several tests has a series; what a run was asked for is none, nor is it a figure.
    #[test]
    fn tests_in_long_form_are_told_apart() {
        let text = "date,test,threads,qps\n2026-01-01,insert,8,\"20,011\"\n2026-01-01,scan,8,90\n\
                    2026-01-02,insert,8,\"1,020,012.5\"\n2026-01-02,scan,8,91\n";
        let history = of_csv("f.csv", text, &question()).unwrap();
        let told: Vec<(&str, Vec<f64>)> = history
            .series
            .iter()
            .map(|one| (one.name.as_str(), one.points.iter().map(|point| point.value).collect()))
            .collect();
        let expected =
            [("qps of insert", vec![20_011.0, 1_020_012.5]), ("qps of scan", vec![90.0, 91.0])];
        assert_eq!(told, expected);
        let asked = Question { figures: vec!["threads".to_owned()], ..question() };
        assert_eq!(of_csv("f.csv", text, &asked).unwrap().series.len(), 2);
    }
}
