//! Rows in JSON: lines, arrays, and the files of known benchmarks.
//!
//! ```text
//!   {"date": …, "qps": …}                     an object is a row; within it a.b is a column
//!   [{…}, {…}]                                so is each of an array
//!   {"runs": [{…}, {…}]}                      so is each of the one array of an object
//!   window.BENCHMARK_DATA = {…}               github-action-benchmark: each bench of each entry
//!   {"context": {…}, "benchmarks": […]}       Google Benchmark, one file after the other
//!   {"datetime": …, "benchmarks": […]}        pytest-benchmark, the same
//!   {"benchmarks": [{"runs": […]}]}           pyperf, the same
//!   {"commit_hash": …, "results": {…}}        asv, the same
//!   [{"timestamp": …, "metrics": [{…}, {…}]}] Nyrkiö: each metric of each entry
//!   {"2026-01-31": 1043.7, …}                 each name is a time
//!   {"data": {"resultType": "matrix", …}}     Prometheus: each sample of each set of labels
//! ```
//!
//! Several documents may stand one behind the other, on lines or not. What is no value, such as a
//! list of samples, is told and left out.

use std::borrow::Cow;
use std::collections::BTreeMap;

use dbdyno_json::{Unique, Wrong};
use dbdyno_model::foreign;
use serde_json::Value;

use crate::error::JudgeError;

use super::counters::{GOOGLE_FIGURES, without_skipped};
use super::documents::{
    COMMIT_LETTERS, are_commits_at_odds, asv_values, bench_name, commit_time, entry_rows,
    google_cells, prometheus_labels, prometheus_sample, pyperf_cells, pytest_cells,
};
use super::endings;
use super::failures;
use super::kinds::{cell_at, kind_refusal, list_at, object_at, text_of, with_unit};
use super::lists::{self, Lists};
use super::namesakes::Namesakes;
use super::one_run;
use super::table::{
    CELLS_MOST, COLUMNS_MOST, Place, Row, RunWithoutRows, Separator, Table, error_at,
};
use super::when::{self, Moment};

/// A document by itself, which is held as a whole, is not larger than this.
const DOCUMENT_BYTES_MOST: usize = 16 << 20;
/// The column with the time of the commit that was measured.
const COMMIT_TIME: &str = "commit_time";
/// How github-action-benchmark begins its file.
const BENCHMARK_DATA: &str = "window.BENCHMARK_DATA";

/// Whether a text is JSON, by how it begins.
pub(super) fn is_json(text: &str) -> bool {
    let text = without_remarks(text);
    let after = text.strip_prefix('[').map(str::trim_start);
    text.starts_with('{')
        || text.starts_with(BENCHMARK_DATA)
        || after.is_some_and(|rest| rest.starts_with(['{', ']', '[', '"']))
}

/// Reads JSON.
///
/// # Errors
/// What is no JSON, with its line and column, and what has no rows.
pub(super) fn read<'a>(name: &'a str, text: &str) -> Result<Table<'a>, JudgeError> {
    let told = without_nan(text);
    let text = &*told;
    let body = without_remarks(text);
    let line = 1 + text[..text.len() - body.len()].matches('\n').count();
    let mut rows = Rows::default();
    let body = match body.strip_prefix(BENCHMARK_DATA) {
        Some(rest) => {
            let rest = rest.trim_start().trim_start_matches('=').trim_end();
            rest.strip_suffix(';').unwrap_or(rest)
        }
        None => body,
    };
    if body.len() > DOCUMENT_BYTES_MOST && !has_lines(body) {
        let what = format!(
            "JSON has {} MB at most; write an object a line, which has no such limit",
            DOCUMENT_BYTES_MOST >> 20
        );
        return Err(error_at(name, line, 1, &what));
    }
    let first_line = line;
    let mut line = line;
    let mut documents = serde_json::Deserializer::from_str(body).into_iter::<Unique>();
    let mut from = 0;
    loop {
        let begins = body.len() - body[from..].trim_start().len();
        line += body[from..begins].matches('\n').count();
        match documents.next() {
            None => break,
            Some(Err(error)) => {
                // Lines are counted by the reader from where its text begins.
                let wrong = Wrong::from_error(&error);
                return Err(error_at(name, first_line + wrong.line - 1, wrong.column, &wrong.what));
            }
            Some(Ok(Unique(document))) => {
                rows.take(document, line).map_err(|what| error_at(name, line, 1, &what))?;
            }
        }
        let end = documents.byte_offset();
        line += body[begins..end].matches('\n').count();
        from = end;
    }
    rows.table(name)
}

/// JSON has no NaN and no infinity, and Python writes them: there is no value, and a blank cell, as
/// long as the word.
fn without_nan(text: &str) -> Cow<'_, str> {
    const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    if !WORDS.iter().any(|word| text.contains(word)) {
        return Cow::Borrowed(text);
    }
    let mut told = String::with_capacity(text.len());
    let (mut rest, mut is_quoted) = (text, false);
    while let Some(letter) = rest.chars().next() {
        let word = WORDS.iter().find(|word| !is_quoted && rest.starts_with(**word));
        let length = match (word, letter) {
            (Some(word), _) => {
                told.push_str(&format!("{:<length$}", "\"\"", length = word.len()));
                rest = &rest[word.len()..];
                continue;
            }
            (None, '\\') if is_quoted => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            (None, letter) => letter.len_utf8(),
        };
        is_quoted ^= letter == '"';
        told.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    Cow::Owned(told)
}

/// Whether the names are times, and what they have are figures.
fn is_by_moments(object: &serde_json::Map<String, Value>) -> bool {
    object.len() > 1
        && object.iter().all(|(name, value)| {
            when::parse(name).is_some() && (value.is_number() || value.is_null())
        })
}

/// A row for each of `metrics`, `[{"name": …, "value": …, "unit": …}, …]`, with what stands beside.
fn by_metric(item: &Value) -> Option<Vec<Value>> {
    let object = item.as_object()?;
    let metrics = object.get("metrics")?.as_array().filter(|all| !all.is_empty())?;
    let mut outer = object.clone();
    outer.remove("metrics");
    let outer = lists::outer_fields(&Value::Object(outer));
    metrics
        .iter()
        .map(|metric| {
            let mut metric = metric.as_object()?.clone();
            metric.contains_key("value").then_some(())?;
            let name = metric.remove("name")?;
            metric.insert("metric".to_owned(), name);
            Some(lists::with_outer_fields(&outer, Value::Object(metric)))
        })
        .collect()
}

/// Whether each line is an object by itself.
fn has_lines(text: &str) -> bool {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).all(|line| {
        line.len() <= DOCUMENT_BYTES_MOST && line.starts_with('{') && line.ends_with('}')
    })
}

/// Without blanks and lines of remarks at the beginning.
fn without_remarks(text: &str) -> &str {
    let mut text = text.trim_start();
    while let Some((_, rest)) = text.starts_with("//").then(|| text.split_once('\n')).flatten() {
        text = rest.trim_start();
    }
    text
}

/// Rows as they are read: which columns there are is known at the end.
#[derive(Default)]
struct Rows {
    header: Vec<String>,
    columns: BTreeMap<String, usize>,
    /// The number of the last row, from 1, that tells each column.
    told_in: Vec<usize>,
    rows: Vec<(Place, Vec<(usize, String)>)>,
    forms: Vec<&'static str>,
    lists: Lists,
    /// Lists and objects that say how runs ended in a form that is not read, by their names.
    unread_endings: BTreeMap<String, String>,
    /// Cells of all rows.
    cells: usize,
    figures: Vec<String>,
    /// Rows of documents that tell one moment for all of theirs.
    rows_of_runs: usize,
    /// Runs of which nothing was measured, and when they were.
    runs_without_rows: Vec<RunWithoutRows>,
    /// What is not looked at, in sentences.
    passed_over: Vec<String>,
    /// Why the document may not have all that it was asked for, in sentences.
    missing: Vec<String>,
}

/// A text, and anything else as JSON, on one line.
fn line_of(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    foreign::one_line(&text).into_owned()
}

/// Refuses an answer of Prometheus that is an error, with what it says.
fn prometheus_error(object: &serde_json::Map<String, Value>) -> Result<(), String> {
    let has_data = object.get("data").is_some_and(|data| data.get("resultType").is_some());
    let is_answer = has_data || object.contains_key("errorType");
    match object.get("status") {
        Some(status) if is_answer && status.as_str() != Some("success") => {
            let told = ["errorType", "error"].iter().filter_map(|name| object.get(*name));
            let told: Vec<String> = told.map(line_of).collect();
            Err(format!(
                "this answer of Prometheus has the status {status} ({}); ask again",
                told.join(": ")
            ))
        }
        _ => Ok(()),
    }
}

impl Rows {
    fn take(&mut self, document: Value, line: usize) -> Result<(), String> {
        match document {
            Value::Array(items) => self.take_array(items, line, "JSON array"),
            Value::Object(mut object) => {
                if object.get("entries").is_some_and(Value::is_object) {
                    return self.take_entries(&object, line);
                }
                prometheus_error(&object)?;
                if object.get("data").is_some_and(|data| data.get("resultType").is_some()) {
                    return self.take_prometheus(&object, line);
                }
                if let Some(why) = one_run::document_of_one_run(&object) {
                    return Err(why);
                }
                if object.get("results").is_some_and(Value::is_object)
                    && object.contains_key("commit_hash")
                {
                    return self.take_asv(&object, line);
                }
                if let Some(Value::Array(benchmarks)) = object.get("benchmarks")
                    && benchmarks
                        .first()
                        .is_some_and(|one| one.get("runs").is_some_and(Value::is_array))
                {
                    return self.take_pyperf(&object, benchmarks, line);
                }
                // A figure may be called so as well.
                if object.get("benchmarks").is_some_and(Value::is_array)
                    && let Some(Value::Array(benchmarks)) = object.remove("benchmarks")
                {
                    return self.take_benchmarks(&object, benchmarks, line);
                }
                if is_by_moments(&object) {
                    return self.take_moments(&object, line);
                }
                let names = lists_of_rows(&object);
                match &names[..] {
                    [] => self.take_row(Value::Object(object), Place::of_line(line), "JSON lines"),
                    [one] => {
                        let Some(Value::Array(items)) = object.remove(one) else {
                            return Ok(());
                        };
                        if items.first().is_some_and(is_of_hyperfine) {
                            return Err(
                                "this is of hyperfine, whose results have no time; write a \
                                        line {\"date\": …, \"seconds\": …} for each run"
                                    .to_owned(),
                            );
                        }
                        let items = lists::entries_of_list(&Value::Object(object), items)?;
                        self.take_array(items, line, "JSON object with an array")
                    }
                    _ => Err(format!(
                        "several arrays may have the rows: {}; keep one of them",
                        names.join(", ")
                    )),
                }
            }
            _ => {
                Err("this is a value without a name; a row is {\"date\": …, \"qps\": …}".to_owned())
            }
        }
    }

    /// `{"2026-01-31": 1043.7, …}`
    fn take_moments(
        &mut self,
        object: &serde_json::Map<String, Value>,
        line: usize,
    ) -> Result<(), String> {
        for (number, (moment, value)) in object.iter().enumerate() {
            let place = Place { line, entry: Some(number + 1) };
            let value = text_of(value).unwrap_or_default();
            let cells = [("time".to_owned(), moment.clone()), ("value".to_owned(), value)];
            self.add(place, cells.into_iter(), "JSON object of times")?;
        }
        Ok(())
    }

    fn take_array(
        &mut self,
        items: Vec<Value>,
        line: usize,
        form: &'static str,
    ) -> Result<(), String> {
        if items.is_empty() {
            return Err("there is no row in it; a row is {\"date\": …, \"qps\": …}".to_owned());
        }
        for (index, item) in items.into_iter().enumerate() {
            if !item.is_object() {
                return Err(format!(
                    "entry {} is no object; a row is {{\"date\": …, \"qps\": …}}",
                    index + 1
                ));
            }
            let place = Place { line, entry: Some(index + 1) };
            match by_metric(&item) {
                Some(rows) => {
                    for row in rows {
                        self.take_row(row, place, "JSON with a list of metrics, as of Nyrkiö")?;
                    }
                }
                None => self.take_row(item, place, form)?,
            }
        }
        Ok(())
    }

    /// github-action-benchmark.
    fn take_entries(
        &mut self,
        object: &serde_json::Map<String, Value>,
        line: usize,
    ) -> Result<(), String> {
        const FORM: &str = "data.js of github-action-benchmark";
        let entries = object.get("entries").and_then(Value::as_object).into_iter().flatten();
        let mut number = 0;
        for (suite, runs) in entries {
            let runs = runs.as_array().ok_or_else(|| kind_refusal(suite, runs, "list of runs"))?;
            let namesakes = Namesakes::of_runs(runs);
            self.missing.extend(namesakes.doubtful.iter().map(|name| {
                format!(
                    "Runs of {suite:?} have several benches called {name:?}, whose \"extra\" is \
                     another one each time: they are taken for repeats, and may be tests of their \
                     own."
                )
            }));
            let are_at_odds = are_commits_at_odds(runs);
            for (index, run) in runs.iter().enumerate() {
                let run_place = format!("{suite:?}, run {}", index + 1);
                let mut rows = entry_rows(suite, run, &namesakes)
                    .map_err(|what| format!("{run_place}: {what}"))?;
                if let Some(time) = commit_time(run).filter(|_| are_at_odds) {
                    let cell = ("commit.timestamp".to_owned(), time.to_owned());
                    rows.iter_mut().for_each(|row| row.push(cell.clone()));
                }
                if rows.is_empty() {
                    let date = run.get("date").and_then(text_of).unwrap_or_default();
                    self.runs_without_rows.push(RunWithoutRows { place: run_place, date });
                }
                for cells in rows {
                    number += 1;
                    let place = Place { line, entry: Some(number) };
                    self.add(place, cells.into_iter(), FORM)?;
                }
            }
        }
        self.figures = vec!["value".to_owned()];
        match number {
            0 => Err("it has entries and no benches in them".to_owned()),
            _ => Ok(()),
        }
    }

    /// Google Benchmark, or pytest-benchmark.
    fn take_benchmarks(
        &mut self,
        object: &serde_json::Map<String, Value>,
        benchmarks: Vec<Value>,
        line: usize,
    ) -> Result<(), String> {
        let document = Value::Object(object.clone());
        let context = object_at(&document, "context")?;
        let is_google = context.get("date").is_some();
        self.rows_of_runs += benchmarks.len();
        let date =
            if is_google { cell_at(context, "date")? } else { cell_at(&document, "datetime")? };
        let Some(date) = date else {
            return Err("it has benchmarks, but neither context.date nor datetime to say when; \
                        write a line {\"date\": …, \"qps\": …} for each run"
                .to_owned());
        };
        let machine = object_at(&document, "machine_info")?;
        let host = match cell_at(context, "host_name")? {
            None => cell_at(machine, "node")?,
            host => host,
        };
        let about = object_at(&document, "commit_info")?;
        let mut shared = Vec::new();
        shared.extend(host.map(|host| ("host".to_owned(), host)));
        shared.extend(cell_at(about, "id")?.map(|commit| ("commit".to_owned(), commit)));
        shared.extend(cell_at(about, "time")?.map(|time| (COMMIT_TIME.to_owned(), time)));
        let figures: &[&str] = if is_google { &GOOGLE_FIGURES } else { &["median", "mean"] };
        let form = if is_google { "Google Benchmark" } else { "pytest-benchmark" };
        self.add_figures(figures.iter().map(|&figure| figure.to_owned()));
        if benchmarks.is_empty() {
            let place = format!("line {line}");
            self.runs_without_rows.push(RunWithoutRows { place, date: date.clone() });
        }
        for (index, bench) in benchmarks.iter().enumerate() {
            let told = if is_google { google_cells(bench) } else { pytest_cells(bench) };
            let at = |what| format!("entry {}: {what}", index + 1);
            let (cells_of_bench, counters) = told.map_err(at)?;
            let bench = bench_name(bench).map_err(at)?;
            self.add_figures(counters.iter().map(|(name, _)| name.clone()));
            let place = Place { line, entry: Some(index + 1) };
            let first = [("date".to_owned(), date.clone()), ("bench".to_owned(), bench)];
            let cells = first.into_iter().chain(shared.iter().cloned());
            self.add(place, cells.chain(cells_of_bench).chain(counters), form)?;
        }
        if !is_google && self.passed_over.is_empty() {
            self.passed_over.push(
                "Of the statistics of pytest-benchmark, median and mean are looked at; the others, \
                 such as max and stddev, are not."
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Columns of figures that the form has, each once.
    fn add_figures(&mut self, figures: impl Iterator<Item = String>) {
        for figure in figures {
            if !self.figures.contains(&figure) {
                self.figures.push(figure);
            }
        }
    }

    /// pyperf: what all processes of a benchmark have measured is one row.
    fn take_pyperf(
        &mut self,
        object: &serde_json::Map<String, Value>,
        benchmarks: &[Value],
        line: usize,
    ) -> Result<(), String> {
        let document = Value::Object(object.clone());
        for (index, bench) in benchmarks.iter().enumerate() {
            let cells = pyperf_cells(&document, bench);
            let cells = cells.map_err(|what| format!("benchmark {}: {what}", index + 1))?;
            let place = Place { line, entry: Some(index + 1) };
            self.add(place, cells.into_iter(), "pyperf")?;
        }
        self.figures = vec!["median".to_owned()];
        Ok(())
    }

    /// asv: a file has the results of a commit, one or more for each benchmark. The first word of a
    /// benchmark's name says what it measures, and in which unit.
    fn take_asv(
        &mut self,
        object: &serde_json::Map<String, Value>,
        line: usize,
    ) -> Result<(), String> {
        let document = Value::Object(object.clone());
        let date = cell_at(&document, "date")?.unwrap_or_default();
        let commit = cell_at(&document, "commit_hash")?.unwrap_or_default();
        let commit: String = commit.chars().take(COMMIT_LETTERS).collect();
        let machine = cell_at(object_at(&document, "params")?, "machine")?.unwrap_or_default();
        let results = object.get("results").and_then(Value::as_object);
        let mut number = 0;
        for (name, result) in results.into_iter().flatten() {
            let values = asv_values(name, result)?;
            let count = values.len();
            for (at, value) in values.iter().enumerate() {
                number += 1;
                let measures = name.rsplit('.').next().unwrap_or_default();
                let (measures, unit) = match measures.split('_').next() {
                    Some("time" | "timeraw") => ("time", "s"),
                    Some("mem" | "peakmem") => ("memory", "B"),
                    _ => ("", ""),
                };
                let bench = if count > 1 { format!("{name}({})", at + 1) } else { name.clone() };
                let cells = [
                    ("date", date.clone()),
                    ("commit", commit.clone()),
                    ("host", machine.clone()),
                    ("bench", bench),
                    ("measures", measures.to_owned()),
                    ("value", with_unit(value, unit)),
                ];
                let cells = cells.map(|(name, cell)| (name.to_owned(), cell));
                let place = Place { line, entry: Some(number) };
                self.add(place, cells.into_iter(), "results of asv")?;
            }
        }
        if number == 0 {
            self.runs_without_rows.push(RunWithoutRows { place: format!("line {line}"), date });
        }
        self.figures = vec!["value".to_owned()];
        Ok(())
    }

    /// Prometheus: what `query_range` answers, a series for each set of labels. A counter grows
    /// whatever happens, so that no name says which direction is good.
    fn take_prometheus(
        &mut self,
        object: &serde_json::Map<String, Value>,
        line: usize,
    ) -> Result<(), String> {
        let data = object.get("data").cloned().unwrap_or_default();
        let kind = data.get("resultType").and_then(Value::as_str).unwrap_or_default();
        if kind != "matrix" {
            return Err(format!(
                "this is an answer of Prometheus with a {kind:?}, which has one moment; ask for a \
                 stretch of time, by /api/v1/query_range"
            ));
        }
        let mut number = 0;
        for (index, series) in list_at(&data, "result")?.iter().enumerate() {
            let at = |what| format!("series {}: {what}", index + 1);
            let labels = prometheus_labels(series).map_err(at)?;
            for sample in list_at(series, "values").map_err(at)? {
                number += 1;
                let (seconds, value) = prometheus_sample(sample).map_err(at)?;
                let cells = [
                    ("date", format!("{:.0}", 1e3 * seconds)),
                    ("series", labels.clone()),
                    ("value", value),
                ];
                let cells = cells.map(|(name, cell)| (name.to_owned(), cell));
                let place = Place { line, entry: Some(number) };
                self.add(place, cells.into_iter(), "query_range of Prometheus")?;
            }
        }
        self.take_annotations(object)?;
        self.figures = vec!["value".to_owned()];
        match number {
            0 => {
                Err("this is an answer of Prometheus without any sample; ask for another stretch \
                      of time or another query"
                    .to_owned())
            }
            _ => Ok(()),
        }
    }

    /// What Prometheus, or what stands before several of it, says of an answer: with warnings, or
    /// where it is partial, samples may lack or be wrong; infos are remarks on the query.
    fn take_annotations(&mut self, object: &serde_json::Map<String, Value>) -> Result<(), String> {
        for name in ["warnings", "infos"] {
            let told = match object.get(name) {
                None | Some(Value::Null) => &[][..],
                Some(Value::Array(told)) => told,
                Some(other) => return Err(kind_refusal(name, other, "list")),
            };
            let told: Vec<String> = told.iter().map(line_of).collect();
            let text = format!("Prometheus has {name} with its answer: {}.", told.join("; "));
            match name {
                _ if told.is_empty() => {}
                "infos" => self.passed_over.push(text),
                _ => self.missing.push(text),
            }
        }
        match object.get("isPartial") {
            None | Some(Value::Null | Value::Bool(false)) => {}
            Some(Value::Bool(true)) => self.missing.push(
                "The answer is a partial one (isPartial): samples of some stores are missing."
                    .to_owned(),
            ),
            Some(other) => return Err(kind_refusal("isPartial", other, "true or false")),
        }
        Ok(())
    }

    fn take_row(&mut self, row: Value, place: Place, form: &'static str) -> Result<(), String> {
        let mut cells = Vec::new();
        self.flatten("", row, &mut cells);
        self.add(place, cells.into_iter(), form)
    }

    /// The values of an object under their names, those of objects in it behind a point.
    fn flatten(&mut self, outer: &str, row: Value, cells: &mut Vec<(String, String)>) {
        let Value::Object(object) = row else { return };
        let mut numbers: Vec<f64> = object.values().filter_map(Value::as_f64).collect();
        numbers.sort_by(f64::total_cmp);
        for (inner, value) in object {
            let name = if outer.is_empty() { inner } else { format!("{outer}.{inner}") };
            if value.is_array() || value.is_object() {
                if let Some(cell) = endings::ending_cell(&name, &value) {
                    cells.push((name, cell));
                    continue;
                }
                if !self.unread_endings.contains_key(&name)
                    && let Some(told) = endings::unread_ending(&name, &value)
                {
                    self.unread_endings.insert(name.clone(), told);
                }
            }
            match value {
                Value::Object(_) => self.flatten(&name, value, cells),
                Value::Array(ref list) => match lists::label_of(list) {
                    Some(label) => cells.push((name, label)),
                    None => self.lists.add_list(name, value, &numbers),
                },
                value => cells.push((name, text_of(&value).unwrap_or_default())),
            }
        }
    }

    fn add(
        &mut self,
        place: Place,
        cells: impl Iterator<Item = (String, String)>,
        form: &'static str,
    ) -> Result<(), String> {
        let mut row = Vec::new();
        for (name, cell) in cells {
            let column = match self.columns.get(&name) {
                Some(&column) => column,
                None if self.header.len() == COLUMNS_MOST => {
                    return Err(format!(
                        "the objects have more than {COLUMNS_MOST} names together, so that they \
                         are no rows of one table"
                    ));
                }
                None => {
                    self.header.push(name.clone());
                    self.columns.insert(name, self.header.len() - 1);
                    self.header.len() - 1
                }
            };
            // `a.b` may be told by a name with a point and by an object within another one.
            let number = self.rows.len() + 1;
            self.told_in.resize(self.header.len(), 0);
            if std::mem::replace(&mut self.told_in[column], number) == number {
                let name = &self.header[column];
                return Err(format!("{name:?} is told twice; rename one of the two"));
            }
            row.push((column, cell));
        }
        self.cells += row.len();
        if self.cells > CELLS_MOST / 2 {
            return Err(format!(
                "the objects have more than {} values together; keep those that matter",
                CELLS_MOST / 2
            ));
        }
        self.rows.push((place, row));
        if !self.forms.contains(&form) {
            self.forms.push(form);
        }
        Ok(())
    }

    fn table(self, name: &str) -> Result<Table<'_>, JudgeError> {
        if self.rows.is_empty() || self.header.is_empty() {
            let what = "there is no row in it; a row is {\"date\": …, \"qps\": …}";
            return Err(error_at(name, 1, 1, what));
        }
        let count = self.header.len();
        if self.rows.len().saturating_mul(count) > CELLS_MOST {
            let what = format!(
                "{} rows of {count} names are more than can be held; keep those that matter",
                self.rows.len()
            );
            return Err(error_at(name, 1, 1, &what));
        }
        let row = |(place, known): (Place, Vec<(usize, String)>)| {
            let mut cells = vec![String::new(); count];
            known.into_iter().for_each(|(column, cell)| cells[column] = cell);
            Row { place, cells }
        };
        let rows = self.rows.into_iter().map(row).collect();
        let form = self.forms.join(" and ");
        let mut table = Table::new(name, &form, Separator::Json, 1, self.header, rows);
        let figures: Vec<usize> =
            self.figures.iter().filter_map(|figure| table.column(figure)).collect();
        table.better =
            table.column("better").filter(|_| self.figures.iter().any(|figure| figure == "value"));
        table.figures = (!figures.is_empty()).then_some(figures);
        if self.forms == ["results of asv"] {
            without_skipped(&mut table);
        }
        table.has_moments_of_runs = self.rows_of_runs == table.rows.len();
        table.passed_over.extend(self.passed_over);
        table.missing.extend(self.missing);
        if self.forms == ["pytest-benchmark"] {
            order_by_commits(&mut table);
        }
        let (of_figures, left_out) = self.lists.figures_and_rest();
        table.lists = of_figures;
        table.runs_without_rows = self.runs_without_rows;
        table.unread_endings = self.unread_endings.into_values().collect();
        table.passed_over.extend(left_out);
        Ok(table)
    }
}

/// The names of the lists in an object that may have the rows; what went wrong in a row, beside its
/// figures, is none.
fn lists_of_rows(object: &serde_json::Map<String, Value>) -> Vec<String> {
    let is_row = object.values().any(Value::is_number);
    let lists = object.iter().filter(|(name, value)| {
        value.as_array().is_some_and(|all| all.iter().any(Value::is_object))
            && !(is_row && failures::is_of_messages(name))
    });
    lists.map(|(name, _)| name.clone()).collect()
}

/// Whether this is what hyperfine says of a command.
fn is_of_hyperfine(result: &Value) -> bool {
    result.get("command").is_some() && result.get("times").is_some()
}

/// Where commits were measured in another order than they were made in, puts the time of the commit
/// in the place of that of the measurement: a series of commits is about what they changed.
fn order_by_commits(table: &mut Table<'_>) {
    let (Some(date), Some(commit)) = (table.column("date"), table.column(COMMIT_TIME)) else {
        return;
    };
    if let (Some(measured), Some(made)) = (moments(table, date), moments(table, commit)) {
        let mut both: Vec<_> = measured.into_iter().zip(made).collect();
        both.sort_unstable();
        if both.windows(2).any(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1) {
            for row in &mut table.rows {
                row.cells.swap(date, commit);
            }
            table.of_order = Some(
                "Commits were measured in another order than they were made in; the order is that \
                 of commit_info.time, and not of datetime."
                    .to_owned(),
            );
        }
    }
    // One order is enough; the other one would be taken for a fact.
    table.header.remove(commit);
    table.rows.iter_mut().for_each(|row| drop(row.cells.remove(commit)));
    for column in table.figures.iter_mut().flatten() {
        *column -= usize::from(*column > commit);
    }
}

/// The times of a column in milliseconds since 1970, if all of them are known.
fn moments(table: &Table<'_>, column: usize) -> Option<Vec<i64>> {
    let cells = table.cells(column).map(|cell| match when::parse(cell) {
        Some(Moment::At(unix_ms)) => Some(unix_ms),
        _ => None,
    });
    cells.collect()
}
