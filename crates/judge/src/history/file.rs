//! Series from a file, whoever wrote it.
//!
//! ```text
//!   text ─▶ CSV · JSON · Markdown · pgbench · Influx ─▶ table
//!   time,commit,test,threads,kernel,qps     time, or else builds or versions: the order
//!   2024-01-31,a1b2,insert,8,6.1.0,21840    test, threads: each combination is a series
//!                             │    └─ a column of numbers is a figure; blanks are left out
//!                             └ any other column is a fact: a candidate for a cause
//! ```
//!
//! The form is recognized by the contents. What the file was taken for is the first note of the
//! answer. Columns of what a run was asked for, such as threads, are no figures.

use std::collections::BTreeSet;
use std::rc::Rc;

use dbdyno_model::{BenchmarkHistory, HistoryPoint, Severity, Warning, foreign, random};

use super::failures::{self, FailedRun};
use super::jmh::{self, JmhColumn};
use super::one_run::{self, output_of_one_run};
use super::order::{Order, RowArrangement};
use super::stated;
use super::table::{Table, error_at, is_blank};
use super::{
    HistoryQuestion, Raw, UNREAD, cells, csv, dimensions, direction, forms, gaps, influx, json,
    judge_series, markdown, order, pgbench, repeats, resembling, units, unmeasured, when, words,
};
use crate::error::JudgeError;

/// Columns of this name, whatever the case, tell what was measured.
const VERSIONS: [&str; 10] = [
    "version",
    "commit",
    "revision",
    "sha",
    "githash",
    "git_commit",
    "release",
    "commit.id",
    "commit_id",
    "server_version",
];
/// Columns of this name tell what a row is called.
const LABELS: [&str; 7] = ["label", "run", "run_id", "name", "build", "id", "test"];
/// Labels, versions and facts of all figures together, at most.
const KEPT_MOST: usize = 40_000_000;
/// Letters of one of them.
const CELL_LETTERS_MOST: usize = 500;
/// So many names stand in a note.
const NAMED_MOST: usize = 6;

/// The history that a file tells. `name` is what the file is called in messages.
///
/// # Errors
/// [`JudgeError::History`], which names line and column and says what to try.
pub fn of_file(
    name: &str,
    text: &str,
    question: &HistoryQuestion,
) -> Result<BenchmarkHistory, JudgeError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (raws, warnings) = if json::is_json(text) {
        told(json::read(name, text)?, question)?
    } else if markdown::is_there(text) {
        of_tables(name, markdown::read(name, text)?, question)?
    } else if let Some(output) = pgbench::output_kind(text) {
        told(pgbench::read(name, text, output)?, question)?
    } else if influx::is_it(text) {
        told(influx::read(name, text)?, question)?
    } else if let Some((line, tool)) = output_of_one_run(text) {
        let advice = match tool {
            "Google Benchmark in CSV" => {
                "let it write JSON with --benchmark_format=json, which has the date, and put the \
                 files of all runs one behind the other"
            }
            _ => "write a line such as date,tps for each run",
        };
        let what = format!(
            "this is what {tool} prints of one run, and a history has a row for each of many; \
             {advice}"
        );
        return Err(error_at(name, line, 1, &what));
    } else {
        let table = csv::read(name, text)?;
        if let Some(why) = one_run::single_run_refusal(&table.header, question.file.order.as_ref())
        {
            return Err(error_at(name, table.header_line, 1, &why));
        }
        told(table, question)?
    };
    judge_series(name, raws, question, warnings)
}

/// Series that are not judged yet, and what the reader must know of the whole.
type Told = (Vec<Raw>, Vec<Warning>);

/// The one of several tables that has an order and figures, or the one that the user names.
fn of_tables(
    name: &str,
    tables: Vec<markdown::TitledTable<'_>>,
    question: &HistoryQuestion,
) -> Result<Told, JudgeError> {
    let count = tables.len();
    if let Some(asked) = question.file.table {
        let mut tables = tables.into_iter();
        let found = asked.checked_sub(1).and_then(|at| tables.nth(at));
        let what = format!("--table {asked}: there are {count} tables");
        let (table, _) = found.ok_or_else(|| error_at(name, 1, 1, &what))?;
        return told(table, question);
    }
    let mut possible = Vec::new();
    let mut refused = Vec::new();
    let mut names = Vec::new();
    for (number, (table, heading)) in tables.into_iter().enumerate() {
        let below = heading.map_or_else(String::new, |title| format!(" below {title:?}"));
        let told_name = format!(
            "{}, line {}{below} ({})",
            number + 1,
            table.header_line,
            named(table.header.iter().map(String::as_str))
        );
        match told(table, question) {
            Ok(one) => {
                names.push(told_name);
                possible.push(one);
            }
            Err(error) => refused.push(error),
        }
    }
    match (possible.pop(), possible.is_empty()) {
        (Some((raws, mut warnings)), true) => {
            if count > 1 {
                let text = format!(
                    "{} other tables tell no history and were passed over; --table N takes one.",
                    count - 1
                );
                warnings.insert(1, Warning::new(Severity::Note, "passed-over", text));
            }
            Ok((raws, warnings))
        }
        (Some(_), false) => Err(error_at(
            name,
            1,
            1,
            &format!(
                "several tables may be meant; choose one with --table N: {}",
                names.join("; ")
            ),
        )),
        (None, _) => Err(refused.remove(0)),
    }
}

/// Names in quotes, the first few of them.
fn named<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("\"{}\"", foreign::one_line(name))).collect();
    match names.len() {
        0..=NAMED_MOST => names.join(", "),
        more => format!("{} and {} more", names[..NAMED_MOST].join(", "), more - NAMED_MOST),
    }
}

/// What the columns are for.
struct Roles {
    order: Order,
    version: Option<usize>,
    label: Option<usize>,
    /// Columns of which each combination of values is a series.
    parting: Vec<usize>,
    /// Of these, columns of units that are no parts of one another.
    apart: Vec<usize>,
    values: Vec<usize>,
    facts: Vec<usize>,
    /// Of each row whether it says that its run failed.
    failed: Vec<Option<FailedRun>>,
}

/// The columns of figures that a table has.
fn figures_of(table: &Table<'_>, order: &Order) -> Vec<usize> {
    let is_named = |column: usize| {
        let head = table.header[column].to_ascii_lowercase();
        table.is_called(column, &VERSIONS)
            || table.is_called(column, &LABELS)
            || (["date", "timestamp"].iter().any(|word| head.contains(word))
                && table.cells(column).all(|cell| when::parse(cell).is_some()))
    };
    let is_figure = |&column: &usize| {
        table.is_numeric(column)
            && Some(column) != order.by
            && !is_named(column)
            && jmh::column(table, column) != Some(JmhColumn::Error)
            && !dimensions::is_no_figure(table, column)
    };
    match &table.figures {
        Some(figures) => figures.clone(),
        None => (0..table.header.len()).filter(is_figure).collect(),
    }
}

/// That lists have figures of their own, where no figure is asked for by name.
fn unread_lists(table: &Table<'_>, question: &HistoryQuestion) -> Option<Warning> {
    let names = table.lists.iter().map(|name| shortened(&foreign::one_line(name)));
    let names: Vec<String> = names.collect();
    (question.figures.is_empty() && !names.is_empty()).then(|| {
        let text = format!(
            "Lists have numbers that differ from row to row and are not read, for they do not say \
             which of them belong together: {}; write each as a value with a name, or say with \
             --metric what to look at.",
            named(names.iter().map(String::as_str))
        );
        Warning::new(Severity::Caution, UNREAD, text)
    })
}

/// What of the file is not read, and may be what matters.
fn unread_notes(table: &Table<'_>, question: &HistoryQuestion, order: &Order) -> Vec<Warning> {
    let notes = [
        unread_lists(table, question),
        unread_endings(table, question),
        gaps::runs_without_rows(table, order),
    ];
    let missing = table.missing.iter().cloned();
    let missing = missing.map(|text| Warning::new(Severity::Caution, UNREAD, text));
    notes.into_iter().flatten().chain(missing).collect()
}

/// That values say how runs ended in a form that is not read.
fn unread_endings(table: &Table<'_>, question: &HistoryQuestion) -> Option<Warning> {
    let mut told = failures::unread_endings(table, &question.filters);
    let more = told.len().saturating_sub(NAMED_MOST);
    told.truncate(NAMED_MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!told.is_empty()).then(|| {
        let text = format!(
            "How runs ended is told in a form that is not read, so that runs that failed may count: \
             {}{more}; write true or false, or a word such as ok or error.",
            told.join(", ")
        );
        Warning::new(Severity::Caution, UNREAD, text)
    })
}

impl Roles {
    fn of(table: &mut Table<'_>, question: &HistoryQuestion) -> Result<Roles, JudgeError> {
        let order = order::table_order(table, question.file.order.as_ref())?;
        forms::read(table, &order);
        let of_rows = failures::of_rows(table, &question.filters);
        take_outcomes(table, question);
        let found = figures_of(table, &order);
        let asked: Vec<usize> = question
            .figures
            .iter()
            .map(|name| table.column_named(name))
            .collect::<Result<_, _>>()?;
        let mut measured = [found.clone(), asked.clone()].concat();
        measured.sort_unstable();
        measured.dedup();
        let mut apart = units::attach_units(table, &measured);
        let table = &*table;
        let of_form = table.figures.clone().unwrap_or_default();
        let fixed: Vec<usize> =
            of_form.into_iter().chain(table.better).chain(order.clock).collect();
        let mut parting = match (&question.file.by, &table.parting) {
            (None, Some(parting)) => parting.clone(),
            (by, _) => dimensions::dimension_columns(table, &order, &fixed, &found, by.as_deref())?,
        };
        apart.retain(|&column| {
            question.file.by.is_none() && dimensions::differ_within(table, &parting, column)
        });
        parting.extend(&apart);
        parting.sort_unstable();
        let mut values: Vec<usize> = if asked.is_empty() {
            found.iter().copied().filter(|column| !parting.contains(column)).collect()
        } else {
            asked
        };
        let mut known = BTreeSet::new();
        values.retain(|&column| known.insert(column));
        if values.is_empty() {
            let what = format!(
                "no column has numbers to look at; there are {}; --metric names one",
                table.header.join(", ")
            );
            return Err(error_at(table.name, table.header_line, 1, &what));
        }
        let is_free = |column: &usize| !parting.contains(column) && !values.contains(column);
        let one = |names: &[&str]| {
            names.iter().filter_map(|name| table.column(name)).find(|column| is_free(column))
        };
        let (version, label) = (one(&VERSIONS), one(&LABELS));
        let roles = [order.by, order.clock, version, label, table.better];
        let facts = (0..table.header.len())
            .filter(is_free)
            .filter(|column| !found.contains(column) && !roles.contains(&Some(*column)))
            .filter(|&column| jmh::column(table, column) != Some(JmhColumn::Error))
            .collect();
        Ok(Roles { order, version, label, parting, apart, values, facts, failed: of_rows })
    }

    /// Whether a row has no figure in this column because its run failed: how it ended it has.
    fn is_failed(&self, table: &Table<'_>, row: usize, column: usize) -> bool {
        self.failed[row].is_some()
            && !table.of_failures.contains(&column)
            && !table.outcomes.iter().any(|(outcome, _)| *outcome == column)
    }

    /// What the file was taken for, and how much of it was understood.
    fn notes(&self, table: &Table<'_>) -> Vec<Warning> {
        let order = match self.order.by {
            Some(column) => {
                let columns: Vec<usize> = std::iter::once(column).chain(self.order.clock).collect();
                format!("order by {} ({})", heads(table, &columns), self.order.kind)
            }
            None => format!("order of {}", self.order.kind),
        };
        let parting = match &self.parting[..] {
            [] => String::new(),
            columns => format!("; a series for each {}", heads(table, columns)),
        };
        let text = format!(
            "Taken for: {}, {} rows; {order}{parting}; figures {}.",
            table.form,
            table.rows.len(),
            heads(table, &self.values)
        );
        let note = |code, text| Warning::new(Severity::Note, code, text);
        let mut notes = vec![note("taken-for", text)];
        notes.extend(self.order.note.iter().map(|text| note("dates", text.clone())));
        notes.extend(table.of_order.iter().map(|text| note("sorted", text.clone())));
        for &column in &self.apart {
            let units = table.values(column).into_iter().filter(|unit| !is_blank(unit));
            let text = format!(
                "Units that cannot be converted stand in one column, and the values of each are a \
                 series of their own: {}.",
                named(units)
            );
            notes.push(Warning::new(Severity::Caution, "units", text));
        }
        notes.extend(failures::failure_note(table, &self.failed).map(|text| note("failed", text)));
        notes.extend(table.passed_over.iter().map(|text| note("passed-over", text.clone())));
        let spreads = (0..table.header.len()).filter(|column| {
            jmh::column(table, *column) == Some(JmhColumn::Error) && !self.values.contains(column)
        });
        let spreads: Vec<usize> = spreads.collect();
        if !spreads.is_empty() {
            let text = format!(
                "How far scores scatter is no figure: {}; --metric takes it for one.",
                heads(table, &spreads)
            );
            notes.push(note("passed-over", text));
        }
        notes.extend(self.unread(table));
        notes
    }

    /// Columns that have numbers and are no figures: those that vary as what is measured does leave
    /// a gate open, and those that rarely change tell of the environment.
    fn unread(&self, table: &Table<'_>) -> Vec<Warning> {
        let mut rare = Vec::new();
        let mut unread = Vec::new();
        let of_labels = (0..table.header.len()).filter(|column| {
            !self.values.contains(column)
                && !self.parting.contains(column)
                && Some(*column) != self.order.by
                && is_measured_label(table, &self.order, *column)
        });
        for column in of_labels {
            let cell = present(table, column).find(|cell| is_figure_of_label(cell));
            let cell = shortened(cell.unwrap_or_default());
            unread.push(format!("{} ({cell:?})", table.header[column]));
        }
        for &column in self.facts.iter().filter(|column| !is_of_labels(table, **column)) {
            let Some(cell) = resembling_number(table, column) else { continue };
            if is_measured(table, column) || has_ratios(table, column) {
                unread.push(format!("{} ({cell:?})", table.header[column]));
            } else if has_quantities(table, column) {
                rare.push(column);
            }
        }
        let mut notes = Vec::new();
        if !rare.is_empty() {
            let text = format!(
                "Not taken for figures, for a unit that is not known or a duration like 1:30: {}; \
                 --metric takes a unit as it is.",
                heads(table, &rare)
            );
            notes.push(Warning::new(Severity::Note, "passed-over", text));
        }
        if !unread.is_empty() {
            let text = format!(
                "Not taken for figures, although numbers stand in a form there that is not read: \
                 {}; write numbers alone, or with a unit behind them; --metric takes a unit that \
                 is not known as it is.",
                unread.join(", ")
            );
            notes.push(Warning::new(Severity::Caution, UNREAD, text));
        }
        let outcomes = dimensions::unknown_outcomes(table, &self.order, &self.parting, &self.facts);
        if !outcomes.is_empty() {
            let text = format!(
                "Not taken for figures, although outcomes stand there that come and go, for no \
                 name says which one is good: {}; --metric takes them for 1 and 0, and --by parts \
                 rows by them.",
                heads(table, &outcomes)
            );
            notes.push(Warning::new(Severity::Caution, UNREAD, text));
        }
        notes
    }
}

/// Whether the user names a column.
fn is_among(asked: &[String], head: &str) -> bool {
    asked.iter().any(|one| one.eq_ignore_ascii_case(head))
}

/// Makes figures of the outcomes whose good one is known, and of those that the user names.
fn take_outcomes(table: &mut Table<'_>, question: &HistoryQuestion) {
    table.of_failures = failures::columns(table);
    for column in 0..table.header.len() {
        let head = table.header[column].as_str();
        let is_chosen = question.filters.iter().any(|(name, _)| name.eq_ignore_ascii_case(head));
        let parts = question.file.by.as_ref().is_some_and(|by| is_among(by, head));
        let is_asked = is_among(&question.figures, head);
        let is_of_form = table.figures.is_some() || table.better == Some(column);
        if failures::outcome_words(table, column).is_none() || is_chosen || parts {
            continue;
        }
        let better = failures::outcome_direction(table, column);
        if is_asked || (better.is_some() && !is_of_form) {
            failures::write_numbers(table, column);
            table.outcomes.push((column, better));
        }
    }
}

/// What a point is called, or a fact about it: it stands beside each figure of its row, so that of
/// a long one only the beginning does, with a number that tells it from others.
fn shortened(cell: &str) -> String {
    match cell.chars().nth(CELL_LETTERS_MOST).is_some() {
        false => cell.to_owned(),
        true => {
            let beginning: String = cell.chars().take(CELL_LETTERS_MOST).collect();
            format!("{beginning}… ({} bytes, {:016x})", cell.len(), random::key_of(cell))
        }
    }
}

/// The series of a table.
fn told(mut table: Table<'_>, question: &HistoryQuestion) -> Result<Told, JudgeError> {
    table.header.iter_mut().for_each(|head| *head = shortened(&foreign::one_line(head)));
    table.keep_rows(&question.filters)?;
    repeats::leave_out(&mut table);
    // Flux numbers its tables, and says in other columns what they are of.
    if let (Some(_), Some(value)) = (table.column("_time"), table.column("_value")) {
        table.figures.get_or_insert(vec![value]);
    }
    stated::take_column(&mut table);
    let roles = Roles::of(&mut table, question)?;
    let mut warnings = roles.notes(&table);
    warnings.extend(unread_notes(&table, question, &roles.order));
    let mut parted = dimensions::rows_by_series(&table, &roles.parting, roles.values.len())?;
    warnings.extend(arrange_series(&table, &roles, &mut parted, question)?);
    let ended = gaps::ended_series(&parted, &roles.order.keys, question.look_back);
    let kept = roles.values.len().saturating_mul(roles.facts.len() + 2);
    if kept.saturating_mul(table.rows.len()) > KEPT_MOST {
        let what = format!(
            "{} figures of {} rows, each with {} facts, are more than can be held; choose figures \
             with --metric",
            roles.values.len(),
            table.rows.len(),
            roles.facts.len()
        );
        return Err(error_at(table.name, table.header_line, 1, &what));
    }
    let evidence = table.mark_evidence(&roles.values);
    let mut raws = Vec::new();
    for &column in &roles.values {
        let mark = match question.file.decimal {
            Some(mark) => mark,
            None => table.decimal_mark(column, evidence)?,
        };
        let mut blank = Vec::new();
        for (name, rows) in &parted {
            match series(&table, &roles, column, name, rows, mark, question)? {
                Some(mut raw) => {
                    raw.warnings.extend(ended.get(name).cloned());
                    raws.push(raw);
                }
                None => blank.push(name.as_str()),
            }
        }
        let head = &table.header[column];
        if blank.len() == parted.len() {
            let failed = failures::failure_note(&table, &roles.failed);
            let failed = failed.map(|note| format!(" ({note})")).unwrap_or_default();
            let what =
                format!("the column {head:?} has no value; name another one with --metric{failed}");
            return Err(table.refuse_column(column, &what));
        }
        if !blank.is_empty() {
            let text = format!(
                "{} of {} series of {head:?} have no value and were left out: {}.",
                blank.len(),
                parted.len(),
                named(blank.into_iter())
            );
            warnings.push(Warning::new(Severity::Note, "blanks", text));
        }
    }
    Ok((raws, warnings))
}

/// Puts the rows of each series into the order in which they were measured, and says what was done.
fn arrange_series(
    table: &Table<'_>,
    roles: &Roles,
    parted: &mut [(String, Vec<usize>)],
    question: &HistoryQuestion,
) -> Result<Option<Warning>, JudgeError> {
    let mut how = BTreeSet::new();
    let times = order::other_times(table, &roles.order, question.file.order.as_ref());
    for (name, rows) in parted {
        times.iter().try_for_each(|other| other.check_rows(table, &roles.order, rows))?;
        let arranged = order::arrange_rows(rows, &roles.order.keys)
            .map_err(|tied| tied_rows(table, roles, name, rows, tied))?;
        how.insert(arranged);
    }
    Ok(sorted(&how))
}

fn sorted(how: &BTreeSet<RowArrangement>) -> Option<Warning> {
    let text = if how.contains(&RowArrangement::Sorted) {
        "Rows do not stand in the order of their times; they were sorted."
    } else if how.contains(&RowArrangement::TurnedRound) {
        "The latest rows stand first; they were turned round."
    } else {
        return None;
    };
    Some(Warning::new(Severity::Note, "sorted", text))
}

/// Whether a column is called after what only names or dates a run.
fn is_of_labels(table: &Table<'_>, column: usize) -> bool {
    let head = &table.header[column];
    words::is_of_label(head)
        || forms::is_of_moments(head)
        || table.is_called(column, &VERSIONS)
        || table.is_called(column, &LABELS)
        || table.cells(column).all(|cell| is_blank(cell) || is_date(cell))
}

/// Whether a column that is called after what names a run has what was measured all the same:
/// numbers with a fraction or a unit, most of them different, that go up and down. Versions rise.
fn is_measured_label(table: &Table<'_>, order: &Order, column: usize) -> bool {
    let told: Vec<&str> = present(table, column).collect();
    let figures = told.iter().filter(|cell| is_figure_of_label(cell)).count();
    if !is_of_labels(table, column) || 2 * figures <= told.len() {
        return false;
    }
    let mut rows: Vec<usize> = (0..table.rows.len()).collect();
    rows.sort_by_key(|&row| order.keys[row]);
    let mut values: Vec<f64> = Vec::with_capacity(rows.len());
    for row in rows {
        let cell = table.cell(row, column);
        let end = cell.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(cell.len());
        values.extend(cell[..end].parse::<f64>());
    }
    2 * table.values(column).len() > told.len() && !values.is_sorted()
}

/// A number with a fraction or a unit.
fn is_figure_of_label(cell: &str) -> bool {
    is_quantity(cell)
        || cells::has_a_known_unit(cell)
        || cell.contains('.') && cell.parse::<f64>().is_ok()
}

/// Whether a cell tells a day, and not only a time of the day, which a duration may be as well.
fn is_date(cell: &str) -> bool {
    when::parse(cell).is_some() && !when::is_clock(cell)
}

/// Whether most cells of a column have a unit, or are durations like 1:30.
fn has_quantities(table: &Table<'_>, column: usize) -> bool {
    let quantities = present(table, column).filter(|cell| is_quantity(cell)).count();
    2 * quantities > present(table, column).count()
}

/// Whether the cells of a column are ratios, `5.2x`, of which some have digits behind the point: a
/// number of processors (`8x`) has none, and a ratio that is rounded may stay for many runs.
fn has_ratios(table: &Table<'_>, column: usize) -> bool {
    let ratios: Option<Vec<f64>> = present(table, column).map(ratio_of_cell).collect();
    table.values(column).len() > 1
        && ratios.is_some_and(|all| all.iter().any(|ratio| ratio.fract() != 0.0))
}

fn ratio_of_cell(cell: &str) -> Option<f64> {
    cell.strip_suffix(['x', '×'])?.trim_end().parse().ok()
}

/// The cells of a column that have something in them.
fn present<'t>(table: &'t Table<'_>, column: usize) -> impl Iterator<Item = &'t str> {
    table.cells(column).filter(|cell| !is_blank(cell))
}

/// The names of columns, for a sentence.
fn heads(table: &Table<'_>, columns: &[usize]) -> String {
    named(columns.iter().map(|&at| table.header[at].as_str()))
}

fn is_quantity(cell: &str) -> bool {
    cells::has_a_unit(cell) || when::is_clock(cell) || forms::is_duration(cell)
}

/// The first cell of a column with a number in a form that is not read, if most of them have one.
fn resembling_number<'t>(table: &'t Table<'_>, column: usize) -> Option<&'t str> {
    let mut resembling = present(table, column)
        .filter(|cell| is_quantity(cell) || resembling::is_like_a_number(cell));
    let first = resembling.next()?;
    (2 * (1 + resembling.count()) > present(table, column).count()).then_some(first)
}

/// Whether the cells of a column vary as what is measured does: many are different, or more than
/// three follow each other to and fro.
fn is_measured(table: &Table<'_>, column: usize) -> bool {
    let count = table.values(column).len();
    let cells: Vec<&str> = table.cells(column).collect();
    let turns = cells.windows(2).filter(|two| two[0] != two[1]).count();
    4 * count > cells.len() || (count > 3 && 2 * turns > cells.len())
}

fn tied_rows(
    table: &Table<'_>,
    roles: &Roles,
    name: &str,
    rows: &[usize],
    tied: usize,
) -> JudgeError {
    let of = if name.is_empty() { String::new() } else { format!(" of {name}") };
    let what = format!(
        "{tied} rows{of} have one place in the order of {}, and the file does not say which of them \
         came first; name the columns that tell them apart with --by, or a finer order with --order",
        roles.order.kind
    );
    let row = rows.first().copied().unwrap_or_default();
    table.refuse_cell(row, roles.order.by.unwrap_or_default(), &what)
}

fn series(
    table: &Table<'_>,
    roles: &Roles,
    column: usize,
    part: &str,
    rows: &[usize],
    mark: cells::DecimalMark,
    question: &HistoryQuestion,
) -> Result<Option<Raw>, JudgeError> {
    let present: Vec<Option<&str>> = rows
        .iter()
        .map(|&row| {
            let is_failed = roles.is_failed(table, row, column);
            Some(table.cell(row, column)).filter(|cell| !is_blank(cell) && !is_failed)
        })
        .collect();
    let mut values = cells::values(&present, mark)
        .map_err(|(at, what)| table.refuse_cell(rows[at], column, &what))?;
    let metric = &table.header[column];
    let away = unmeasured::unmeasured_values(metric, &values.unit, &values.of_rows);
    for (value, _) in values.of_rows.iter_mut().zip(&away).filter(|(_, is_away)| **is_away) {
        *value = None;
    }
    let (better, direction) =
        direction::figure_direction(table, column, &values.unit, rows, question.better);
    let mut raw = Raw {
        name: if part.is_empty() { metric.clone() } else { format!("{metric} of {part}") },
        about: String::new(),
        metric: metric.clone(),
        better,
        points: Vec::new(),
        facts: Vec::new(),
        warnings: Vec::new(),
    };
    // A column of versions that gives the order tells no moment.
    let version = roles.version.filter(|column| roles.order.by != Some(*column));
    let runs = repeats::rows_by_run(table, rows, &roles.order.keys, version);
    for run in &runs {
        let Some(value) = repeats::median_value(run, &values.of_rows) else { continue };
        let row = rows[run[0]];
        let text = |role: Option<usize>| role.map(|column| shortened(table.cell(row, column)));
        let label = text(roles.label).unwrap_or_else(|| table.rows[row].place.name());
        let unix_ms = roles.order.is_time.then(|| roles.order.keys[row]);
        let version = text(roles.version).unwrap_or_default();
        raw.points.push(HistoryPoint { unix_ms, label, version, value });
        let facts = roles.facts.iter();
        let facts =
            facts.map(|&fact| (table.header[fact].clone(), shortened(table.cell(row, fact))));
        raw.facts.push(Rc::new(facts.collect()));
    }
    if raw.points.is_empty() {
        return Ok(None);
    }
    raw.warnings.extend(gaps::gap_warnings(&history_cells(
        table,
        roles,
        column,
        rows,
        &values.of_rows,
    )));
    raw.warnings.extend(unmeasured::unmeasured_note(&away));
    raw.warnings.extend(repeats::repeats_note(&runs));
    if !values.unit.is_empty() {
        let text = format!("Values are in {}.", foreign::one_line(&values.unit));
        raw.warnings.push(Warning::new(Severity::Note, "unit", text));
    }
    raw.warnings.extend(direction);
    Ok(Some(raw))
}

/// What stands in these rows, and whether it is a value.
fn history_cells<'t>(
    table: &'t Table<'_>,
    roles: &'t Roles,
    column: usize,
    rows: &[usize],
    values: &[Option<f64>],
) -> Vec<gaps::HistoryCell<'t>> {
    rows.iter()
        .zip(values)
        .map(|(&row, value)| gaps::HistoryCell {
            label: table.rows[row].place.name(),
            text: match &roles.failed[row] {
                Some(run) if roles.is_failed(table, row, column) => &run.reason,
                _ => table.cell(row, column),
            },
            has_value: value.is_some(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use dbdyno_model::latest_doubt::{LAPSED_ALARM, LATEST_FAR, LATEST_MISSING, SPREAD_SHIFT};

    use super::*;
    use crate::history::asked::{DecimalMark, FileAsked, OrderAsked};
    use dbdyno_model::{Better, random};

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
            "|",
            "|--",
            "{\"a\":",
            "}",
            "[",
            "]",
            "window.BENCHMARK_DATA",
            "sep=",
            " ms",
            "2024-W09",
            "8.0.3",
        ];
        for seed in 0..4_000 {
            let mut stream = random::stream(&[seed]);
            let count = stream.next_below(40);
            let text: String =
                (0..count).map(|_| words[stream.next_below(words.len() as u64) as usize]).collect();
            match of_file("f.csv", &text, &HistoryQuestion::of_figures(&[])) {
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
        let history = of_file("f.csv", text, &HistoryQuestion::of_figures(&[])).unwrap();
        let values = |at: usize| -> Vec<f64> {
            history.series[at].points.iter().map(|point| point.value).collect()
        };
        assert_eq!((history.series[0].name.as_str(), values(0)), ("time", vec![2.5, 3.5]));
        assert_eq!((history.series[1].name.as_str(), values(1)), ("qps", vec![10.0, 20.0]));
    }

    /// Newest first, by the words that programs have for seconds since 1970.
    #[test]
    fn seconds_of_unix_are_times_of_rows() {
        for name in ["unix_ts", "unix_timestamp", "unix_time", "epoch"] {
            let text = format!("{name},qps\n1777462652,20\n1777462642,10\n");
            let history = of_file("f.csv", &text, &HistoryQuestion::of_figures(&[])).unwrap();
            let [series] = &history.series[..] else { panic!("{name}") };
            assert_eq!(series.points[0].value, 10.0, "{name}");
        }
    }

    #[test]
    fn a_column_that_is_named_twice_is_looked_at_once() {
        let twice = HistoryQuestion {
            figures: vec!["qps".into(), "QPS".into()],
            ..HistoryQuestion::of_figures(&[])
        };
        let history = of_file("f.csv", "time,qps\n2026-01-01,10\n", &twice).unwrap();
        assert_eq!(history.series.len(), 1);
    }

    #[test]
    fn quotes_blanks_and_order_are_those_of_the_file() {
        let text = "label,time,\"a \"\"b\"\"\",kind\n\"x,\ny\",2026-01-03,3,k\nz,2026-01-01,,k\n\
                    w,2026-01-02,1,l\n";
        let history = of_file("f.csv", text, &HistoryQuestion::of_figures(&[])).unwrap();
        let [series] = &history.series[..] else { panic!("{history:?}") };
        assert_eq!(series.name, "a \"b\"");
        let points: Vec<(&str, f64)> =
            series.points.iter().map(|point| (point.label.as_str(), point.value)).collect();
        assert_eq!(points, [("w", 1.0), ("x,\ny", 3.0)]);
        let codes: Vec<&str> =
            series.warnings.iter().map(|warning| warning.code.as_str()).collect();
        assert_eq!(codes, ["blanks", "direction", "too-short"], "the name says nothing");
        assert_eq!(series.warnings[1].severity, Severity::Caution);
        let codes: Vec<&str> =
            history.warnings.iter().map(|warning| warning.code.as_str()).collect();
        assert_eq!(codes, ["taken-for", "sorted"]);
    }

    fn points(text: &str) -> Vec<f64> {
        let history = of_file("f.csv", text, &HistoryQuestion::of_figures(&[])).unwrap();
        let [series] = &history.series[..] else { panic!("{history:?}") };
        series.points.iter().map(|point| point.value).collect()
    }

    /// Runs of 2017 to 2025 that were measured in any order: a change to the worse was one to the
    /// better.
    #[test]
    fn runs_measured_in_another_order_than_their_commits_are_no_series() {
        let text = |measured: &dyn Fn(u64) -> u64| {
            let run = |at: u64| {
                let date = 1_767_225_600_000 + 86_400_000 * measured(at);
                format!(
                    "{{\"commit\":{{\"id\":\"c{at}\",\"timestamp\":\"2020-01-{:02}T00:00:00Z\\n\"}},\
                     \"date\":{date},\"tool\":\"customSmallerIsBetter\",\"benches\":[{{\"name\":\"b\",\
                     \"value\":{},\"unit\":\"s\"}}]}}",
                    1 + at,
                    2 + at / 10
                )
            };
            let runs: Vec<String> = (0..20).map(run).collect();
            format!("{{\"entries\":{{\"S\":[{}]}}}}", runs.join(","))
        };
        let jumbled = text(&|at| at * 7 % 20);
        assert!(refused(&jumbled).contains("\"date\" and \"commit.timestamp\" tell two orders"));
        for order in ["commit.timestamp", "date"] {
            let question = HistoryQuestion {
                file: FileAsked {
                    order: Some(OrderAsked::Column(order.to_owned())),
                    ..FileAsked::default()
                },
                ..HistoryQuestion::of_figures(&[])
            };
            let history = of_file("f", &jumbled, &question).unwrap();
            let is_sorted = history.series[0].points.is_sorted_by_key(|point| point.value as u64);
            assert_eq!(is_sorted, order != "date");
        }
        let merged = text(&|at| if at == 5 { 7 } else { at });
        assert_eq!(points(&merged).len(), 20, "one commit that is older than the one before");
    }

    /// Go's `ReportMetric` makes one word of what is measured and its unit.
    #[test]
    fn units_of_one_word_with_what_is_measured_are_read() {
        let bench = |(name, unit): (&str, &str)| {
            format!("{{\"name\":\"{name}\",\"value\":3,\"unit\":\"{unit}\"}}")
        };
        let benches = [
            ("q", "p50_ms/op"),
            ("q", "p99_ms/op"),
            ("w - p95-ns", "p95-ns"),
            ("r", "rows_per_sec"),
            ("s", "drop_rate_%"),
            ("plain", "ns/op"),
        ];
        let benches = benches.map(bench).join(",");
        let run = |day: u64| {
            let date = 1_767_225_600_000 + 86_400_000 * day;
            format!(
                "{{\"commit\":{{\"id\":\"a\"}},\"date\":{date},\"tool\":\"go\",\"benches\":[{benches}]}}"
            )
        };
        let runs: Vec<String> = (0..3).map(run).collect();
        let text = format!("{{\"entries\":{{\"S\":[{}]}}}}", runs.join(","));
        let history = of_file("data.js", &text, &HistoryQuestion::of_figures(&[])).unwrap();
        let mut names: Vec<&str> = history.series.iter().map(|one| one.name.as_str()).collect();
        names.sort_unstable();
        let expected = ["plain", "q p50", "q p99", "r", "s drop_rate", "w - p95-ns"];
        assert_eq!(names.len(), expected.len(), "{names:?}");
        for (name, expected) in names.iter().zip(expected) {
            assert!(name.contains(expected), "{names:?}");
        }
    }

    #[test]
    fn dashes_of_all_widths_are_blanks() {
        for dash in ["-", "–", "—", "−", "N/A"] {
            let row = |day: u32| match day % 5 {
                0 => format!("| 2026-01-{day:02} | {dash} |\n"),
                _ => format!("| 2026-01-{day:02} | {day}.5 ms |\n"),
            };
            let rows: String = (1..=14).map(row).collect();
            let values = points(&format!("| Date | p95 latency |\n| --- | --- |\n{rows}"));
            assert_eq!((values.len(), values[0]), (12, 1.5), "{dash}");
        }
    }

    fn refused(text: &str) -> String {
        of_file("f.csv", text, &HistoryQuestion::of_figures(&[])).unwrap_err().to_string()
    }

    /// Series by name, with their values.
    fn series_of(text: &str) -> Vec<(String, Vec<f64>)> {
        let history = of_file("f.csv", text, &HistoryQuestion::of_figures(&[])).unwrap();
        let values = |points: &[HistoryPoint]| points.iter().map(|point| point.value).collect();
        history.series.iter().map(|one| (one.name.clone(), values(&one.points))).collect()
    }

    /// JMH and hyperfine say nothing of when; with a column that does, or an order, they are
    /// tables.
    #[test]
    fn tables_of_one_run_are_refused_by_the_name_of_their_tool() {
        let jmh = "\"Benchmark\",\"Mode\",\"Threads\",\"Samples\",\"Score\",\"Score Error \
                   (99.9%)\",\"Unit\",\"Param: size\"\n\"a.b\",\"thrpt\",1,25,5127.3,123.2,\"ops/s\",10\n\
                   \"a.c\",\"thrpt\",1,25,4127.1,12.9,\"ops/s\",10\n";
        let hyperfine = "command,mean,stddev,median,user,system,min,max,parameter_n\n\
                         sleep 0.1,0.1021,0.0004,0.1021,0.0009,0.0012,0.1012,0.1034,1\n\
                         sleep 0.2,0.2021,0.0004,0.2021,0.0009,0.0012,0.2012,0.2034,2\n";
        for (text, tool, by) in [(jmh, "JMH", "Benchmark"), (hyperfine, "hyperfine", "command")] {
            let bad = refused(text);
            assert!(
                bad.contains(&format!("f.csv:1:1: this is what {tool} writes of one run")),
                "{bad}"
            );
            assert!(bad.contains(&format!("--order oldest-first --by {by}")), "{bad}");
            let order = Some(OrderAsked::OldestFirst);
            let file = FileAsked { order, by: Some(vec![by.into()]), ..FileAsked::default() };
            let asked = HistoryQuestion { file, ..HistoryQuestion::of_figures(&[]) };
            assert!(of_file("f.csv", text, &asked).is_ok(), "the order is told");
            let dated: String = (1..)
                .zip(text.lines())
                .map(|(at, line)| match at {
                    1 => format!("date,{line}\n"),
                    _ => format!("2026-01-0{at},{line}\n"),
                })
                .collect();
            assert!(of_file("f.csv", &dated, &HistoryQuestion::of_figures(&[])).is_ok(), "{dated}");
        }
    }

    /// Intervals of a run have a time, or come one behind the other.
    #[test]
    fn intervals_of_pgbench_are_read() {
        let log = "1345828501 5000 1500000 483552416 61 2573\n1345828503 4000 2000000 565806736 \
                   60 1479\n\
                   1345828505 0 0 0 0 0\n";
        let expected = [
            ("transactions".to_owned(), vec![5_000.0, 4_000.0, 0.0]),
            ("latency_ms".to_owned(), vec![0.3, 0.5]),
        ];
        assert_eq!(series_of(log), expected);
        let longer = log.replace('\n', " 0 0 0 0 skipped 0 0\n");
        assert_eq!(series_of(&longer), expected);
        let progress = "pgbench (14.2)\nstarting vacuum...end.\nprogress: 1.0 s, 5601.3 tps, \
                        lat 1.425 ms \
                        stddev 0.342\nprogress: 2.0 s, 5712.1 tps, lat 1.4 ms stddev 0.3, 0 failed\n\
                        transaction type: <builtin: TPC-B (sort of)>\ntps = 5700.12\n";
        let expected = [
            ("tps".to_owned(), vec![5_601.3, 5_712.1]),
            ("latency_ms".to_owned(), vec![1.425, 1.4]),
        ];
        assert_eq!(series_of(progress), expected);
        let fails = progress.replace(", 0 failed", ", 198 failed");
        let failures = [&expected[..], &[("failed".to_owned(), vec![0.0, 198.0])]].concat();
        assert_eq!(series_of(&fails), failures, "what fails is in no other figure");
        let of_all = "1795931954 154 1631657 21152405165 4436 27379 0 0 0 0 0 0 0 35 0\n\
                      1795931955 392 3304686 31992374594 3965 21044 0 0 0 0 0 0 0 90 9\n";
        assert_eq!(series_of(of_all)[2], ("failed".to_owned(), vec![35.0, 99.0]));
        let stamped = progress.replace("progress: ", "progress: 156526011");
        assert_eq!(series_of(&stamped), expected);
        for before in ["2026-11-29 10:00:00 ", "bench-1  | ", "Nov 29 10:00:00 db pgbench[7]: "] {
            let logged = progress.replace("progress: ", &format!("{before}progress: "));
            assert_eq!(series_of(&logged), expected, "{before}");
            let one_of_two = progress.replacen("progress: ", &format!("{before}progress: "), 1);
            assert_eq!(series_of(&one_of_two), expected, "{before}");
        }
        for (log, line) in [
            (log.replace(" 4000 ", " failed "), 2),
            (of_all.replace(" 90 9", " failed 9"), 2),
            (progress.replace("0 failed", "no failed"), 4),
            (progress.replace("5712.1 tps", "5712.1"), 4),
            (progress.replace("5712.1", "x"), 4),
            (progress.replace("progress: 2.0", "progress 2.0"), 4),
            (format!("{progress}progress: 3.0 s, 58\nprogress: 4.0 s, 58\n"), 7),
        ] {
            assert!(refused(&log).starts_with(&format!("f.csv:{line}:1: ")), "{}", refused(&log));
        }
        let cut = format!("{progress}progress: 3.0 s, 58");
        assert_eq!(series_of(&cut), expected);
        let notes = of_file("f.csv", &cut, &HistoryQuestion::of_figures(&[])).unwrap().warnings;
        assert!(notes.iter().any(|one| one.text.contains("1 lines with `progress: `")));
        let of_run = |text: &str| {
            let history = of_file("f.csv", text, &HistoryQuestion::of_figures(&[])).unwrap();
            history.warnings.iter().any(|one| one.text.contains("intervals of one run"))
        };
        assert!(of_run(log) && of_run(progress));
        let single = "0 199 2241 0 1175850568 995598\n0 200 2465 0 1175850568 998079\n";
        let bad = refused(single);
        assert!(
            bad.contains("single transactions (-l)") && bad.contains("--aggregate-interval"),
            "{bad}"
        );
        for (text, line) in [(format!("{log}{log}"), 4), (format!("{progress}{progress}"), 9)] {
            let bad = refused(&text);
            assert!(
                bad.contains(&format!("f.csv:{line}:1: this interval does not come behind")),
                "{bad}"
            );
        }
    }

    /// Tags part series, fields are figures, and the length of times tells their unit.
    #[test]
    fn points_of_influx_are_read() {
        let text = "# a remark\nbench,host=db\\ 1,load=point \
                    qps=12000.5,rows=12i,version=\"8.0, a\" \
                    1465839830100400200\nbench,host=db2,load=point qps=9000,rows=11i 1465839830100400300\n\
                    bench,host=db\\ 1,load=point qps=12100.5,rows=13i 1465925830100400200\n\
                    bench,host=db2,load=point qps=9100 1465925830100400300\n";
        let expected = [
            ("qps of db 1".to_owned(), vec![12_000.5, 12_100.5]),
            ("qps of db2".to_owned(), vec![9_000.0, 9_100.0]),
            ("rows of db 1".to_owned(), vec![12.0, 13.0]),
            ("rows of db2".to_owned(), vec![11.0]),
        ];
        assert_eq!(series_of(text), expected);
        let in_s = text.replace("100400200", "").replace("100400300", "");
        assert_eq!(series_of(&in_s), expected);
        let two = "cpu idle=5 1465839830\nbench qps=7 1465839830\n";
        let names: Vec<String> = series_of(two).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["cpu.idle", "bench.qps"], "two measurements");
        for (text, why) in [
            (
                "bench qps=1\nbench qps=2\n",
                "f.csv:1:1: this point of Influx's line protocol has no time",
            ),
            ("bench qps=1 1465839830\nbench qps=2 1465839830100\n", "f.csv:2:1: times of Influx's"),
            (
                "b qps=1 1465839830\nb qps=1 1465839831\nb qps=1 1465839832\nb qps=1 1465839833\n\
              b qps=1 1465839834\nnothing\n",
                "f.csv:6:1: this is no point",
            ),
            ("b qps=1,qps=2 1465839830\n", "\"qps\" is told twice"),
            ("b,qps=a qps=2 1465839830\n", "is a tag and a field"),
        ] {
            let bad = refused(text);
            assert!(bad.contains(why), "{bad}\n{text}");
        }
    }

    /// Nothing was said of runs that are bad more often than before, and of a second spike among
    /// values that are all equal.
    #[test]
    fn bad_runs_that_come_more_often_leave_a_doubt_to_the_worse() {
        let told = |header: &str, value: &dyn Fn(usize) -> f64| {
            let rows = (0..80).map(|at| format!("{},{}\n", 1_700_000_000 + at * 86_400, value(at)));
            let text = format!("date,{header}\n{}", rows.collect::<String>());
            let history = of_file("f", &text, &HistoryQuestion::of_figures(&[])).unwrap();
            let mut warnings = history.series[0].warnings.clone();
            warnings.retain(|one| one.code == LATEST_FAR);
            warnings
        };
        let noise = |at: usize| ((at * 37) % 23) as f64 - 11.0;
        let eight = |at: usize| at >= 40 && at % 5 == 2;
        let slower = |at: usize| 1_000.0 + noise(at) + if eight(at) { 300.0 } else { 0.0 };
        let worse = told("latency_ms", &slower);
        let text = "8 of the latest 38 values are far to the worse, at 1305.5 where 1000 is usual, \
                    and none of the 42 before is: the typical value hides what happens now and then.";
        assert_eq!((worse[0].text.as_str(), worse[0].severity), (text, Severity::Caution));
        let better = told("qps", &slower);
        assert_eq!((better.len(), better[0].severity), (1, Severity::Note), "{better:?}");
        let all_along = |at: usize| 1_000.0 + noise(at) + if at % 5 == 2 { 300.0 } else { 0.0 };
        assert_eq!(told("latency_ms", &all_along), []);
        let spikes = |at: usize| if at == 30 || at == 79 { 6_400.0 } else { 640.0 };
        assert_eq!(told("latency_ns", &spikes)[0].severity, Severity::Caution);
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
        assert!(bad.contains("cannot both have the day first"), "{bad}");
        let bad = refused("date,qps\nQ2,1\nQ1,2\n");
        assert!(bad.contains("f.csv:2:1: \"Q2\" is no time"), "{bad}");
        let bad = refused("built,ended,qps\n2026-01-01,2026-02-02,1\n2026-01-02,2026-02-01,2\n");
        assert!(bad.contains("tell two orders of the rows"), "{bad}");
        for text in ["2026-01-01,90\n2026-01-02,91\n", "nightly,90\nnightly,91\n"] {
            assert!(refused(text).contains("f.csv:1:1: the first line has values"), "{text}");
        }
        assert_eq!(points("label,p,95\na,1,\n").len(), 1, "numbers may be names");
    }

    /// `date` was taken beside a `commit_date` that tells the rows in another order, and the user's
    /// word against dates that say the opposite.
    #[test]
    fn orders_that_disagree_are_asked_about() {
        let days = ["2026-01-01", "2026-01-05", "2026-01-09", "2026-01-13"];
        let table = |names: [&str; 2], others: [&str; 4]| {
            let rows = (0..4).map(|at| format!("{},{},{at}\n", days[at], others[at]));
            format!("{},{},qps\n{}", names[0], names[1], rows.collect::<String>())
        };
        let turned = ["2025-03-04", "2025-03-03", "2025-03-02", "2025-03-01"];
        let agreeing = ["2025-03-01", "2025-03-01", "2025-03-02", "2025-03-09"];
        for names in [["date", "commit_date"], ["timestamp", "commit_timestamp"]] {
            let bad = refused(&table(names, turned));
            assert!(bad.contains("tell two orders of the rows"), "{bad}");
            assert!(bad.contains(&format!("--order {}", names[0])), "{bad}");
            assert_eq!(points(&table(names, agreeing)), [0.0, 1.0, 2.0, 3.0]);
        }
        // Runs that overlap by hours are no other order.
        let ends = ["2026-01-05 03:00", "2026-01-05 02:00", "2026-01-09", "2026-01-13 11:00"];
        let rows = ["2026-01-05 00:00", "2026-01-05 01:00", "2026-01-08 23:00", "2026-01-13"];
        let rows = (0..4).map(|at| format!("{},{},{at}\n", rows[at], ends[at]));
        let text = format!("started,finished,qps\n{}", rows.collect::<String>());
        assert_eq!(points(&text), [0.0, 1.0, 2.0, 3.0]);
        let asked = |text: &str, order: OrderAsked| {
            let file = FileAsked { order: Some(order), ..FileAsked::default() };
            let question = HistoryQuestion { file, ..HistoryQuestion::of_figures(&[]) };
            of_file("f", text, &question).map_err(|error| error.to_string())
        };
        let text = table(["date", "commit_date"], turned);
        for name in ["date", "commit_date"] {
            assert!(asked(&text, OrderAsked::Column(name.to_owned())).is_ok(), "{name}");
        }
        let text = table(["date", "host"], ["a"; 4]);
        assert!(asked(&text, OrderAsked::OldestFirst).is_ok());
        let bad = asked(&text, OrderAsked::NewestFirst).unwrap_err();
        assert!(bad.contains("\"date\" says that the oldest rows stand first"), "{bad}");
        let text = "date,qps\n2026-01-02,1\n2026-01-01,2\n";
        let bad = asked(text, OrderAsked::OldestFirst).unwrap_err();
        assert!(bad.contains("\"date\" says that the newest rows stand first"), "{bad}");
        let text = "date,qps\n2026-01-02,1\n2026-01-01,2\n2026-01-03,2\n";
        assert!(asked(text, OrderAsked::OldestFirst).is_ok(), "neither way");
    }

    /// Of day, month and year in two digits each, a day above 12 excludes the month; the year is
    /// told by the order of the rows, or by what all of them have in common.
    #[test]
    fn padded_dates_of_two_digits_are_read_where_their_order_is_certain() {
        for (days, ascending) in [
            (&["29/01/24", "30/01/24", "31/01/24", "01/02/24", "02/02/24"][..], true),
            (&["03/02/24", "02/02/24", "01/02/24", "31/01/24", "30/01/24"], false),
            (&["24/01/30", "24/01/31", "24/02/01", "24/02/02", "25/01/01"], true),
            (&["13/01/24", "14/01/24", "15/01/24", "16/01/24", "17/01/24"], true),
            (&["17-01-24 10:00", "16-01-24 10:00", "15-01-24 1:00", "14-01-24", "13-01-24"], false),
        ] {
            let rows = days.iter().enumerate().map(|(at, day)| format!("{day},{at}\n"));
            let text = format!("date,qps\n{}", rows.collect::<String>());
            let mut expected: Vec<f64> = (0..days.len()).map(|at| at as f64).collect();
            if !ascending {
                expected.reverse();
            }
            assert_eq!(points(&text), expected, "{text}");
        }
        let history = of_file(
            "f.csv",
            "date,qps\n30/01/24,1\n31/01/24,2\n01/02/24,3\n02/02/24,4\n03/02/24,5\n",
            &HistoryQuestion::of_figures(&[]),
        )
        .unwrap();
        let at = history.series[0].points[0].unix_ms;
        assert_eq!(at, Some(1_706_572_800_000), "30 January 2024");
        let note = history.warnings.iter().find(|one| one.code == "dates").unwrap();
        assert!(note.text.contains("read with the day first"), "{}", note.text);
        for days in [
            // By days of a January, or by years; and nothing stands in order by either.
            ["13/01/24", "14/01/24", "15/01/24"],
            ["22/01/01", "23/01/01", "24/01/01"],
            ["31/01/24", "01/02/24", "02/02/24"],
        ] {
            let rows: String = days.iter().map(|day| format!("{day},1\n")).collect();
            let told = refused(&format!("date,qps\n{rows}"));
            assert!(told.contains("write the year first and with four digits"), "{told}");
        }
    }

    /// Of two values under one name none is taken for the other.
    #[test]
    fn a_name_stands_once_in_a_row_of_json() {
        let told = refused(
            "{\"date\": \"2026-01-01\", \"qps\": 1}\n{\"date\": 1, \"qps\": 2, \"qps\": 3}\n",
        );
        assert!(told.contains("f.csv:2:27: the name \"qps\" stands twice"), "{told}");
        let told = refused("[{\"date\": \"2026-01-01\", \"a.b\": 1, \"a\": {\"b\": 2}}]");
        assert!(told.contains("\"a.b\" is told twice"), "{told}");
    }

    /// What somebody's file has in it does not fill the screen, nor the memory.
    #[test]
    fn messages_and_labels_have_a_sensible_size() {
        let huge = "x".repeat(100_000);
        for text in [
            format!("date,qps\n{huge},1\n"),
            format!("date,qps\n2026-01-01,{huge}\n"),
            format!("{{\"{huge}\": 1, \"{huge}\": 2}}"),
        ] {
            let told = refused(&text);
            assert!(told.len() < 1_500, "{} bytes", told.len());
        }
        let row = |day: u32| format!("2026-01-0{day},{huge}{day},{huge}{day},{day}\n");
        let text = format!("date,label,kernel,qps\n{}", (1..9).map(row).collect::<String>());
        let history = of_file("f.csv", &text, &HistoryQuestion::of_figures(&[])).unwrap();
        let labels: BTreeSet<&String> =
            history.series[0].points.iter().map(|point| &point.label).collect();
        assert_eq!(labels.len(), 8, "they stay apart");
        assert!(labels.iter().all(|label| label.len() < 600));
        let row = |day: u32| {
            format!("2026-01-01 00:00:{:02}{}{}\n", day % 60, ",1".repeat(900), ",a".repeat(900))
        };
        let names: String = (0..1_800).map(|at| format!(",c{at}")).collect();
        let text = format!("date{names}\n{}", (0..60).map(row).collect::<String>());
        let told = refused(&text);
        assert!(told.contains("900 figures of 60 rows, each with 900 facts"), "{told}");
    }

    /// How many values are judged is told as that, and what takes fewer.
    #[test]
    fn too_many_values_are_told_as_what_they_are() {
        let rows: String = (0..10_001).map(|at| format!("{},{at}\n", 1_700_000_000 + at)).collect();
        let told = refused(&format!("time,qps\n{rows}"));
        let expected = "the series \"qps\" has 10001 values, and at most 10000 are judged \
                        together; --last 10000 takes the latest";
        assert!(told.contains(expected), "{told}");
    }

    /// What tools print or write of one run is known by its name.
    #[test]
    fn what_tells_of_one_run_is_refused_by_name() {
        for (text, tool) in [
            ("goos: linux\npkg: x\nBenchmarkA-8   1000  1234 ns/op\n", "`go test -bench`"),
            ("BenchmarkA-8 \t 1000\t 1234 ns/op\t 16 B/op\n", "`go test -bench`"),
            (
                "name        old time/op  new time/op  delta\nA  1ns ± 1%  2ns ± 1%  +9%\n",
                "benchstat",
            ),
            (
                "[ 1s ] thds: 8 tps: 1.00 qps: 2.00 (r/w/o: 1/2/3) lat (ms,95%): 9.9 err/s: 0.00\n",
                "sysbench",
            ),
            (
                "Benchmark           Mode  Cnt  Score   Error  Units\nA.b  thrpt  5  9.1 ± 0.1 ops/s\n",
                "JMH",
            ),
            ("[OVERALL], RunTime(ms), 10110\n[READ], Operations, 504\n", "YCSB"),
            ("Vuser 1:TEST RESULT : System achieved 12 NOPM from 28 PostgreSQL TPM\n", "HammerDB"),
            ("test a ... bench:       1,234 ns/iter (+/- 56)\n", "`cargo bench`"),
            ("Running 30s test @ http://127.0.0.1/\n  Latency   7.95ms\n", "what wrk prints"),
            ("YCSB Client 0.17.0\n2024-01-20 12:00:00:1 0 sec: 0 operations;\n", "YCSB"),
            ("2024-01-20 12:00:00:1 10 sec: 10 operations; 99.5 current ops/sec;\n", "YCSB"),
            (
                "2024-01-20T12:00:00+00:00\nRunning ./bench\nRun on (8 X 3600 MHz CPU s)\n\
                 name,iterations,real_time,cpu_time,time_unit\n\"BM\",1,2,3,ns\n",
                "--benchmark_format=json",
            ),
            ("{\"mean\":{\"point_estimate\":1.5,\"standard_error\":0.1}}", "criterion"),
            ("{\"a\":{\"latency\":{\"value\":1.5}},\"b\":{\"latency\":{\"value\":3}}}", "Bencher"),
            (
                "{\"qps\":{\"0\":1.0,\"1\":2.0},\"date\":{\"0\":\"2026-01-01\"}}",
                "orient=\"records\"",
            ),
            (
                "{\"columns\":[\"qps\"],\"index\":[\"2026-01-01\"],\"data\":[[1]]}",
                "orient=\"records\"",
            ),
        ] {
            let told = refused(text);
            assert!(told.contains(tool), "{told}\n{text}");
        }
        assert_eq!(
            points("name  x,date,qps\na,2026-01-01,5\n").len(),
            1,
            "a column may be called so"
        );
    }

    /// Files of pyperf and of asv have their time, and follow one another.
    #[test]
    fn documents_of_pyperf_and_asv_are_read() {
        let pyperf = |day: u32, median: f64| {
            let (less, value) = (median * 0.5, median * 1.5);
            format!(
                "{{\"benchmarks\":[{{\"metadata\":{{\"name\":\"a\"}},\"runs\":[{{\"metadata\":{{\"date\":\
                 \"2026-01-0{day} 10:00:00.5\"}},\"values\":[{value},9]}},{{\"warmups\":[[1,77]],\
                 \"values\":[{less},0]}}]}}],\"metadata\":{{\"hostname\":\"h\",\"unit\":\
                 \"second\"}},\"version\":\"1.0\"}}\n"
            )
        };
        assert_eq!(points(&(pyperf(2, 0.25) + &pyperf(1, 0.125))), [0.125, 0.25], "in seconds");
        let asv = |day: u64, value: f64| {
            let date = 1_767_225_600_000 + 86_400_000 * day;
            format!(
                "{{\"commit_hash\":\"abcdef0123456789\",\"date\":{date},\"params\":{{\"machine\":\"m\"}},\
                 \"python\":\"3.9\",\"result_columns\":[\"result\",\"params\"],\"results\":{{\"t.time_x\":\
                 [[{value}],[]],\"t.time_y\":[[null],[]],\"t.time_z\":[[1,2],[[\"'a'\",\"'b'\"]]]}},\"version\":2}}\n"
            )
        };
        let text = asv(1, 2.0) + &asv(0, 1.0);
        let history = of_file("f.json", &text, &HistoryQuestion::of_figures(&[])).unwrap();
        let names: Vec<&str> = history.series.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["value of t.time_x", "value of t.time_z(1)", "value of t.time_z(2)"]);
        let first: Vec<f64> = history.series[0].points.iter().map(|point| point.value).collect();
        assert_eq!(
            (first, &*history.series[0].points[0].version),
            (vec![1.0, 2.0], "abcdef012345")
        );
    }

    /// What is counted by the time is more of it, whatever the tool has beside it; a tenth less of
    /// it passed for better.
    #[test]
    fn a_unit_says_what_is_better_before_the_tool_does() {
        let of = |tool: &str, unit: &str| {
            let text = format!(
                "{{\"entries\": {{\"S\": [{{\"commit\": {{\"id\": \"a\"}}, \"date\": 1767225600000, \
                 \"tool\": \"{tool}\", \"benches\": [{{\"name\": \"q\", \"value\": 3, \"unit\": \
                 \"{unit}\"}}]}}]}}}}"
            );
            let history = of_file("data.js", &text, &HistoryQuestion::of_figures(&[])).unwrap();
            let series = &history.series[0];
            let note = series.warnings.iter().find(|one| one.code == "direction").unwrap();
            // An owner's word against a unit of one sense leaves it open.
            let is_open = note.severity == Severity::Caution;
            assert_eq!(
                is_open,
                note.text.contains("says the opposite") && tool.contains("IsBetter")
            );
            (series.better, note.text.contains("says the opposite"))
        };
        for (tool, unit, expected) in [
            ("jmh", "ops/s", (Better::Higher, true)),
            ("jmh", "ops/ms", (Better::Higher, true)),
            ("jmh", "ms/op", (Better::Lower, false)),
            ("go", "MB/s", (Better::Higher, true)),
            ("go", "ns/op", (Better::Lower, false)),
            ("go", "B/op", (Better::Lower, false)),
            ("customSmallerIsBetter", "req/s", (Better::Lower, false)),
            ("customSmallerIsBetter", "GB/s", (Better::Lower, false)),
            ("customSmallerIsBetter", "misses/s", (Better::Lower, false)),
            ("customSmallerIsBetter", "ops/s", (Better::Lower, true)),
            ("customBiggerIsBetter", "ms", (Better::Higher, true)),
            ("customBiggerIsBetter", "points", (Better::Higher, false)),
            ("customSmallerIsBetter", "KB", (Better::Lower, false)),
            ("pytest", "iter/sec", (Better::Higher, false)),
        ] {
            assert_eq!(of(tool, unit), expected, "{tool} {unit}");
        }
    }

    #[test]
    fn metrics_of_entries_times_as_names_and_nan_are_read() {
        let read = |text: &str| -> Vec<(String, Vec<f64>)> {
            let history = of_file("a.json", text, &HistoryQuestion::of_figures(&[])).unwrap();
            let values =
                |one: &dbdyno_model::HistorySeries| one.points.iter().map(|at| at.value).collect();
            history.series.iter().map(|one| (one.name.clone(), values(one))).collect()
        };
        let nyrkio = r#"[{"timestamp": 1690391261, "metrics": [{"name": "tps", "value": 3,
            "unit": "tx/s"}, {"name": "p50", "value": 7, "unit": "ms"}], "attributes":
            {"git_commit": "a"}}, {"timestamp": 1690391262, "metrics": [{"name": "tps", "value": 4,
            "unit": "tx/s"}, {"name": "p50", "value": 8, "unit": "ms"}], "attributes":
            {"git_commit": "b"}}]"#;
        let told = read(nyrkio);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told.iter().any(|(name, at)| name.contains("tps") && *at == [3.0, 4.0]),
            "{told:?}"
        );
        let moments = r#"{"2026-01-02T03:04:05Z": 5.5, "2026-01-01": 4, "2026-01-03": null}"#;
        assert_eq!(read(moments)[0].1, [4.0, 5.5]);
        let nan = "[{\"date\": \"2026-01-01\", \"NaN\\\"\": \"NaN\", \"qps\": NaN},\n\
                   {\"date\": \"2026-01-02\", \"qps\": -Infinity},\n\
                   {\"date\": \"2026-01-03\", \"qps\": 7}]";
        assert_eq!(read(nan)[0].1, [7.0]);
    }

    /// Authors of benchmarks tell the tool the wrong direction, and correct it on the way: a loss
    /// passed for a gain.
    #[test]
    fn a_tool_that_says_both_does_not_decide() {
        let of = |tools: [&str; 2], bench: &str, unit: &str| {
            let run = |(at, tool): (usize, &&str)| {
                format!(
                    "{{\"commit\": {{\"id\": \"a{at}\"}}, \"date\": {}, \"tool\": \"{tool}\", \
                     \"benches\": [{{\"name\": \"{bench}\", \"value\": 3, \"unit\": \"{unit}\"}}]}}",
                    1_767_225_600_000_u64 + at as u64 * 86_400_000
                )
            };
            let runs: Vec<String> = tools.iter().enumerate().map(run).collect();
            let text = format!("{{\"entries\": {{\"S\": [{}]}}}}", runs.join(", "));
            let history = of_file("data.js", &text, &HistoryQuestion::of_figures(&[])).unwrap();
            let series = &history.series[0];
            let note = series.warnings.iter().find(|one| one.code == "direction").unwrap();
            (series.better, note.severity)
        };
        let (smaller, bigger) = ("customSmallerIsBetter", "customBiggerIsBetter");
        for (tools, bench, unit, expected) in [
            ([smaller, bigger], "tps", "", (Better::Higher, Severity::Note)),
            ([bigger, smaller], "p99 latency", "", (Better::Lower, Severity::Note)),
            ([smaller, bigger], "q1", "", (Better::Higher, Severity::Caution)),
            ([smaller, bigger], "q1", "ms", (Better::Lower, Severity::Note)),
            ([smaller, smaller], "tps", "", (Better::Lower, Severity::Caution)),
            ([bigger, bigger], "p99 latency", "", (Better::Higher, Severity::Caution)),
            ([bigger, bigger], "tps", "", (Better::Higher, Severity::Note)),
            ([smaller, smaller], "q1", "", (Better::Lower, Severity::Note)),
        ] {
            assert_eq!(of(tools, bench, unit), expected, "{tools:?} {bench} {unit}");
        }
    }

    /// A thousand times less, in a unit a thousand times as large, is no change.
    #[test]
    fn a_column_of_units_is_of_the_figures_beside_it() {
        let told = |text: &str| -> Vec<(String, Better, Vec<f64>)> {
            let history = of_file("f", text, &HistoryQuestion::of_figures(&[])).unwrap();
            let values =
                |one: &dbdyno_model::HistorySeries| one.points.iter().map(|at| at.value).collect();
            let series = history.series.iter();
            series.map(|one| (one.name.clone(), one.better, values(one))).collect()
        };
        let one =
            |name: &str, better, values: &[f64]| vec![(name.to_owned(), better, values.to_vec())];
        for (header, name) in [
            ("date,time,unit", "time"),
            ("date,score,scoreUnit", "score"),
            ("date,real_time,time_unit", "real_time"),
            ("Date,Score,Unit", "Score"),
        ] {
            let text = format!("{header}\n2026-01-01,998,us\n2026-01-02,1.5,ms\n");
            assert_eq!(told(&text), one(name, Better::Lower, &[998.0, 1500.0]), "{header}");
        }
        // JMH, by the unit or by the mode of the score.
        let jmh = "date,Benchmark,Mode,Samples,Score,Unit\n2026-01-01,b,avgt,25,8,ms/op\n\
                   2026-01-02,b,avgt,25,9000,us/op\n";
        let expected = (("Score".to_owned(), Better::Lower, vec![8.0, 9.0]), vec![25.0, 25.0]);
        let series = told(jmh);
        assert_eq!((series[1].clone(), series[0].2.clone()), expected);
        for (mode, better) in [("avgt", Better::Lower), ("thrpt", Better::Higher)] {
            let text = format!("date,Mode,Score\n2026-01-01,{mode},8\n");
            assert_eq!(told(&text), one("Score", better, &[8.0]));
        }
        let json = "{\"date\":\"2026-01-01\",\"primaryMetric\":{\"score\":8,\
                    \"scoreUnit\":\"ms/op\"}}\n\
                    {\"date\":\"2026-01-02\",\"primaryMetric\":{\"score\":9,\"scoreUnit\":\"us/op\"}}";
        assert_eq!(told(json), one("primaryMetric.score", Better::Lower, &[8.0, 0.009]));
        // A name that has its unit, and words that are none.
        let text = "date,latency_ms,unit\n2026-01-01,8,us\n2026-01-02,9,ms\n";
        assert_eq!(told(text), one("latency_ms", Better::Lower, &[8.0, 9.0]));
        let text = "date,qps,unit\n2026-01-01,8,left\n2026-01-02,9,right\n";
        assert_eq!(told(text), one("qps", Better::Higher, &[8.0, 9.0]));
    }

    /// Of two units that no factor connects, each is a series.
    #[test]
    fn values_in_units_that_cannot_be_converted_are_two_series() {
        let run = |day: u64, value: u32, unit: &str| {
            format!(
                "{{\"commit\":{{\"id\":\"a\"}},\"date\":{},\"tool\":\"jmh\",\"benches\":[{{\"name\":\
                 \"q\",\"value\":{value},\"unit\":\"{unit}\"}}]}}",
                1_767_225_600_000 + 86_400_000 * day
            )
        };
        let js = format!(
            "{{\"entries\":{{\"S\":[{},{},{}]}}}}",
            run(0, 8, "ms/op"),
            run(1, 9000, "us/op"),
            run(2, 7, "ops/ms")
        );
        let csv =
            "date,value,unit\n2026-01-01,8,ms/op\n2026-01-02,9000,us/op\n2026-01-03,7,ops/ms\n";
        for text in [&js, csv] {
            let history = of_file("f", text, &HistoryQuestion::of_figures(&[])).unwrap();
            let told: Vec<(&str, Better, Vec<f64>)> = history
                .series
                .iter()
                .map(|one| (&*one.name, one.better, one.points.iter().map(|at| at.value).collect()))
                .collect();
            let expected = [
                ("value of ms/op", Better::Lower, vec![8.0, 9.0]),
                ("value of ops/ms", Better::Higher, vec![7.0]),
            ];
            assert_eq!(told, expected);
            assert!(history.warnings.iter().any(|one| one.code == "units"), "{history:?}");
        }
    }

    /// Commits that were measured backwards.
    #[test]
    fn a_series_of_commits_is_in_their_order() {
        let run = |made: &str, measured: &str, median: f64| {
            format!(
                "{{\"datetime\":\"{measured}\",\"commit_info\":{{\"id\":\"a\"{made}}},\"benchmarks\":[{{\
                 \"fullname\":\"t\",\"stats\":{{\"median\":{median}}}}}]}}\n"
            )
        };
        let of = |runs: [(&str, &str, f64); 3]| {
            let text: String = runs
                .iter()
                .map(|(made, measured, median)| {
                    let made = match made.is_empty() {
                        true => String::new(),
                        false => format!(",\"time\":\"{made}T00:00:00+02:00\""),
                    };
                    run(&made, &format!("{measured}T00:00:00"), *median)
                })
                .collect();
            let history = of_file("f", &text, &HistoryQuestion::of_figures(&[])).unwrap();
            let values = history.series[0].points.iter().map(|point| point.value).collect();
            (values, history.warnings.iter().any(|one| one.text.contains("commit_info.time")))
        };
        let backwards = [
            ("2026-01-01", "2026-06-03", 1.0),
            ("2026-01-02", "2026-06-02", 2.0),
            ("2026-01-03", "2026-06-01", 3.0),
        ];
        assert_eq!(of(backwards), (vec![1.0, 2.0, 3.0], true));
        let forwards = backwards.map(|(made, _, median)| (made, made, median));
        assert_eq!(of(forwards), (vec![1.0, 2.0, 3.0], false));
        let unknown = backwards.map(|(_, measured, median)| ("", measured, median));
        assert_eq!(of(unknown), (vec![3.0, 2.0, 1.0], false));
    }

    /// Bad events by the second passed for work: 20 % more errors were better.
    #[test]
    fn a_unit_of_bad_events_and_a_name_that_states_it_say_what_is_better() {
        let of = |text: &str| {
            let history = of_file("f", text, &HistoryQuestion::of_figures(&[])).unwrap();
            let series = &history.series[0];
            let note = series.warnings.iter().find(|one| one.code == "direction").unwrap();
            (series.better, note.severity)
        };
        let rows =
            |unit: &str| format!("date,value,unit\n2026-01-01,1,{unit}\n2026-01-02,2,{unit}\n");
        for unit in ["errors/s", "timeouts/s", "$/h", "wakeups/s"] {
            assert_eq!(of(&rows(unit)), (Better::Lower, Severity::Note), "{unit}");
        }
        assert_eq!(of(&rows("frobs/s")).1, Severity::Caution);
        let named = |name: &str| format!("date,{name}\n2026-01-01,1\n2026-01-02,2\n");
        assert_eq!(of(&named("score (lower is better)")), (Better::Lower, Severity::Note));
        assert_eq!(of(&named("score ↓")), (Better::Lower, Severity::Note));
        let stated = |head: &str, cell: &str| {
            format!("date,score,{head}\n2026-01-01,1,{cell}\n2026-01-02,2,{cell}\n")
        };
        for (head, cell) in [
            ("direction", "lower_is_better"),
            ("improvement direction", "down"),
            ("direction", "-1"),
            ("better", "lower"),
            ("goal", "minimize"),
            ("objective", "min"),
            ("lowerIsBetter", "true"),
            ("lower is better", "yes"),
            ("higher_is_better", "false"),
            ("bigger_is_better", "0"),
        ] {
            let text = stated(head, cell);
            assert_eq!(of(&text), (Better::Lower, Severity::Note), "{head}: {cell}");
        }
        assert_eq!(of(&stated("better", "up")), (Better::Higher, Severity::Note));
        let both_ways = "date,direction,mbits\n2026-01-01,up,10 Mbit/s\n2026-01-01,down,90 Mbit/s\n\
                         2026-01-02,up,11 Mbit/s\n2026-01-02,down,91 Mbit/s\n";
        let told = of_file("f", both_ways, &HistoryQuestion::of_figures(&[])).unwrap().series;
        assert_eq!(told.len(), 2, "of traffic it is no statement");
        assert!(told.iter().all(|one| one.better == Better::Higher));
        let series = |text: &str| of_file("f", text, &HistoryQuestion::of_figures(&[])).unwrap();
        let figure = series("date,score (lower is better)\n2026-01-01,1\n2026-01-02,0\n").series;
        assert_eq!(figure.len(), 1, "a figure of ones and noughts is no statement");
        let nyrkio = r#"[
            {"timestamp": 1700000000, "metrics": [{"name": "a", "value": 1, "direction": "lower_is_better"},
                                         {"name": "b", "value": 1}]},
            {"timestamp": 1700086400, "metrics": [{"name": "a", "value": 2, "direction": "lower_is_better"},
                                         {"name": "b", "value": 1}]}]"#;
        let both: Vec<Better> = series(nyrkio).series.iter().map(|one| one.better).collect();
        assert_eq!(both, [Better::Lower, Better::Higher], "what says nothing has no word");
        let open = "date,latency (higher is better)\n2026-01-01,1 ms\n2026-01-02,2 ms\n";
        assert_eq!(of(open).1, Severity::Caution, "a unit of one sense says the opposite");
    }

    /// A test that was renamed, or a product in a column of its own: two series that never overlap
    /// had no change, whatever lay between them.
    #[test]
    fn a_series_that_ends_while_others_go_on_is_told() {
        let told = |of: &dyn Fn(u32) -> Vec<&'static str>, look_back: usize| -> Vec<String> {
            let rows = (0..80).flat_map(|day| {
                let date = format!("2026-{:02}-{:02}", 1 + day / 28, 1 + day % 28);
                of(day).into_iter().map(move |name| format!("{date},{name},{}\n", 900 + day % 7))
            });
            let text = format!("date,product,tps\n{}", rows.collect::<String>());
            let question = HistoryQuestion { look_back, ..HistoryQuestion::of_figures(&[]) };
            let history = of_file("f", &text, &question).unwrap();
            let ended = history.series.iter().flat_map(|series| {
                let of_ends = |one: &&Warning| one.text.contains("no row in the latest");
                series
                    .warnings
                    .iter()
                    .filter(of_ends)
                    .map(|one| format!("{}: {} {}", series.name, one.severity.name(), one.text))
            });
            ended.collect()
        };
        let renamed = |day| vec![if day < 60 { "8.0.32" } else { "8.0.33" }];
        let one = told(&renamed, 40);
        assert!(one.len() == 1 && one[0].starts_with("tps of 8.0.32: caution "), "{one:?}");
        assert!(one[0].contains("latest 20 of 80") && one[0].contains("\"8.0.33\" begins"));
        assert!(told(&renamed, 10)[0].contains(": note "), "before what the gate looks at");
        let stopped = |day| if day < 60 { vec!["read", "write"] } else { vec!["read"] };
        let one = told(&stopped, 40);
        assert!(one.len() == 1 && one[0].starts_with("tps of write: caution "), "{one:?}");
        let weekly = |day| if day % 7 == 0 { vec!["read", "write"] } else { vec!["read"] };
        assert_eq!(told(&weekly, 40), [""; 0]);
    }

    /// Beside a figure that is read, one that is not was left out without a word, and a latency
    /// that rose by a fifth was no change.
    #[test]
    fn a_column_whose_numbers_are_not_read_is_told() {
        let told = |cell: &dyn Fn(u32) -> String| {
            let rows = (1..=20).map(|day| format!("2026-01-{day:02};{day};{}\n", cell(940 + day)));
            let text = format!("date;tps;latency\n{}", rows.collect::<String>());
            let history = of_file("f", &text, &HistoryQuestion::of_figures(&[])).unwrap();
            let told = history
                .warnings
                .iter()
                .any(|one| one.severity == Severity::Caution && one.text.contains("latency ("));
            (history.series.len(), told)
        };
        assert_eq!(told(&|value| format!("~{value}")), (2, false));
        assert_eq!(told(&|value| format!("{value}.0 (+1.2%)")), (2, false));
        assert_eq!(told(&|value| format!(">{value}")), (1, true));
        assert_eq!(told(&|value| format!("{value}.0 @16")), (1, true));
        assert_eq!(told(&|value| format!("p99={value}.5")), (1, true));
        assert_eq!(told(&|value| format!("8.0.{value}")), (1, false));
        assert_eq!(told(&|value| format!("node-{value}")), (1, false));
    }

    /// What has no figure whose name tells, but a metric, or a benchmark of asv.
    #[test]
    fn a_metric_beside_a_value_says_what_is_better() {
        let better = |text: &str| -> Vec<(String, Better, bool)> {
            let history = of_file("f", text, &HistoryQuestion::of_figures(&[])).unwrap();
            let is_assumed = |one: &dbdyno_model::HistorySeries| {
                let of = |note: &&Warning| note.code == "direction";
                one.warnings.iter().find(of).unwrap().severity == Severity::Caution
            };
            let series = history.series.iter();
            series.map(|one| (one.name.clone(), one.better, is_assumed(one))).collect()
        };
        let k6 = "metric_name,timestamp,metric_value\nhttp_reqs,1700000000,1\n\
                  http_req_duration,1700000000,8\nhttp_reqs,1700000001,1\n\
                  http_req_duration,1700000001,8\n";
        let of = |name: &str, better, is_assumed| (name.to_owned(), better, is_assumed);
        let expected = [
            of("metric_value of http_req_duration", Better::Lower, false),
            of("metric_value of http_reqs", Better::Higher, false),
        ];
        assert_eq!(better(k6), expected);
        let asv = "{\"commit_hash\":\"a\",\"date\":1767225600000,\"results\":{\"m.time_x\":[[1]],\
                   \"m.peakmem_y\":[[9]],\"m.track_z\":[[9]]}}";
        let expected = [
            of("value of m.peakmem_y", Better::Lower, false),
            of("value of m.time_x", Better::Lower, false),
            of("value of m.track_z", Better::Higher, true),
        ];
        assert_eq!(better(asv), expected);
    }

    #[test]
    fn an_answer_of_prometheus_is_a_series_for_each_set_of_labels() {
        let text = "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[\
                    {\"metric\":{\"__name__\":\"tps\",\"instance\":\"a:1\"},\
                    \"values\":[[1700000000.5,\"2\"],[1700000015.5,\"NaN\"],[1700000030.5,\"3\"]]},\
                    {\"metric\":{\"__name__\":\"tps\",\"instance\":\"b:1\"},\
                    \"values\":[[1700000000.5,\"7\"]]}]}}";
        let text_of_answer = text;
        let history = of_file("f", text, &HistoryQuestion::of_figures(&[])).unwrap();
        let told: Vec<(&str, Vec<f64>)> = history
            .series
            .iter()
            .map(|one| (&*one.name, one.points.iter().map(|at| at.value).collect()))
            .collect();
        let expected = [
            ("value of tps{instance=\"a:1\"}", vec![2.0, 3.0]),
            ("value of tps{instance=\"b:1\"}", vec![7.0]),
        ];
        assert_eq!(told, expected);
        assert_eq!(history.series[0].points[0].unix_ms, Some(1_700_000_000_500));
        let told = history.series[0].warnings.iter().find(|one| one.code == "direction");
        assert_eq!(told.unwrap().severity, Severity::Caution, "a counter may be called so");
        for (text, what) in [
            ("{\"data\":{\"resultType\":\"vector\",\"result\":[]}}", "query_range"),
            ("{\"data\":{\"resultType\":\"matrix\",\"result\":[]}}", "without any sample"),
            (
                "{\"status\":\"error\",\"errorType\":\"timeout\",\"error\":\"query timed out\"}",
                "has the status \"error\" (timeout: query timed out)",
            ),
        ] {
            assert!(refused(text).contains(what), "{}", refused(text));
        }
        // Answers that say of themselves that they may lack something, and remarks on a query.
        for (told, caution) in [
            ("\"warnings\":[\"store b: deadline\"]", Some("with its answer: store b: deadline.")),
            ("\"isPartial\":true", Some("a partial one (isPartial)")),
            ("\"infos\":[\"metric might not be a counter\"]", None),
            ("\"warnings\":[],\"infos\":null,\"isPartial\":false", None),
        ] {
            let text = text_of_answer.replacen('{', &format!("{{{told},"), 1);
            let history = of_file("f", &text, &HistoryQuestion::of_figures(&[])).unwrap();
            let unread = history.warnings.iter().find(|one| one.code == UNREAD);
            let is_told = unread.map(|one| caution.is_some_and(|told| one.text.contains(told)));
            assert_eq!(is_told, caution.map(|_| true), "{told}: {:?}", history.warnings);
        }
        let bad = text_of_answer.replacen('{', "{\"isPartial\":\"yes\",", 1);
        assert!(refused(&bad).contains("isPartial"), "{}", refused(&bad));
    }

    /// Each of several tests has a series; what a run was asked for is none, nor is it a figure.
    #[test]
    fn tests_in_long_form_are_told_apart() {
        let text = "date,test,threads,qps\n2026-01-01,insert,8,\"20,011\"\n2026-01-01,scan,8,90\n\
                    2026-01-02,insert,8,\"1,020,012.5\"\n2026-01-02,scan,8,91\n";
        let history = of_file("f.csv", text, &HistoryQuestion::of_figures(&[])).unwrap();
        let told: Vec<(&str, Vec<f64>)> = history
            .series
            .iter()
            .map(|one| (one.name.as_str(), one.points.iter().map(|point| point.value).collect()))
            .collect();
        let expected =
            [("qps of insert", vec![20_011.0, 1_020_012.5]), ("qps of scan", vec![90.0, 91.0])];
        assert_eq!(told, expected);
        let asked = HistoryQuestion {
            figures: vec!["threads".to_owned()],
            ..HistoryQuestion::of_figures(&[])
        };
        assert_eq!(of_file("f.csv", text, &asked).unwrap().series.len(), 2);
    }

    fn told(text: &str, asked: &HistoryQuestion) -> Vec<(String, Vec<f64>)> {
        let history = of_file("f", text, asked).unwrap_or_else(|error| panic!("{error}"));
        let values = |points: &[HistoryPoint]| points.iter().map(|point| point.value).collect();
        history.series.iter().map(|one| (one.name.clone(), values(&one.points))).collect()
    }

    fn taken_for(text: &str) -> String {
        of_file("f", text, &HistoryQuestion::of_figures(&[])).unwrap().warnings[0].text.clone()
    }

    /// The same rows in each form that is read, newest first.
    #[test]
    fn every_form_tells_the_same() {
        let days: Vec<(String, u32)> =
            (1..=20).rev().map(|day| (format!("2026-01-{day:02}"), 100 - day)).collect();
        let lines = |of: &dyn Fn(&(String, u32)) -> String| -> String {
            days.iter().map(of).collect::<Vec<String>>().join("\n")
        };
        let object = |(day, qps): &(String, u32)| format!("{{\"date\":\"{day}\",\"qps\":{qps}}}");
        let objects = lines(&object);
        let pretty = objects.replace('{', "{\n  ").replace(",\"", ",\n  \"");
        let array = format!("[\n{}\n]", objects.replace("}\n", "},\n"));
        let inner = format!("{{\"host\": \"a\", \"runs\": {array}}}");
        let csv = format!("date,qps\n{}\n", lines(&|(day, qps)| format!("{day},{qps}")));
        let semicolons = format!("sep=;\r\n{}", csv.replace(',', ";").replace('\n', "\r\n"));
        let row = |(day, qps): &(String, u32)| format!("| {day} | **{qps}** |");
        let markdown = format!("# Runs\n\nText.\n\n| date | qps |\n|--|--:|\n{}\n", lines(&row));
        let bench = |(_, qps): &(String, u32)| {
            let ms = 1_767_225_600_000_u64 + 86_400_000 * (100 - u64::from(*qps) - 1);
            format!(
                "{{\"commit\":{{\"id\":\"a\"}},\"date\":{ms},\"tool\":\"customBiggerIsBetter\",\
                 \"benches\":[{{\"name\":\"qps\",\"value\":{qps},\"unit\":\"ops/s\"}}]}}"
            )
        };
        let data = format!(
            "window.BENCHMARK_DATA = {{\"lastUpdate\":1,\"entries\":{{\"S\":[{}]}}}};\n",
            lines(&bench).replace("}\n", "},\n")
        );
        let expected: Vec<f64> = (1..=20).map(|day| f64::from(100 - day)).collect();
        for (text, form) in [
            (&csv, "CSV with commas, 20 rows"),
            (&semicolons, "CSV with semicolons, 20 rows"),
            (&objects, "JSON lines, 20 rows"),
            (&pretty, "JSON lines, 20 rows"),
            (&array, "JSON array, 20 rows"),
            (&inner, "JSON object with an array, 20 rows"),
            (&markdown, "Markdown table, 20 rows; order by \"date\" (times)"),
            (&data, "data.js of github-action-benchmark, 20 rows"),
        ] {
            assert_eq!(told(text, &HistoryQuestion::of_figures(&[]))[0].1, expected, "{text}");
            assert!(taken_for(text).contains(form), "{}", taken_for(text));
        }
    }

    #[test]
    fn one_of_several_tables_is_chosen_or_named() {
        let table = "| date | qps |\n|--|--|\n| 2026-01-02 | 2 |\n| 2026-01-01 | 1 |\n\n";
        let other = table.replace("qps", "tps");
        let legend = "| host | meaning |\n|--|--|\n| a | old |\n| b | new |\n\n";
        let one = format!("{legend}# Runs\n\n{table}");
        assert_eq!(
            told(&one, &HistoryQuestion::of_figures(&[])),
            [("qps".to_owned(), vec![1.0, 2.0])]
        );
        let two = format!("# First\n\n{table}# Second\n\n{other}");
        let bad = refused(&two);
        assert!(bad.contains("1, line 3 below \"First\"") && bad.contains("2, line 10"), "{bad}");
        let second = FileAsked { table: Some(2), ..FileAsked::default() };
        assert_eq!(
            told(&two, &HistoryQuestion { file: second, ..HistoryQuestion::of_figures(&[]) })[0].0,
            "tps"
        );
        assert!(refused(legend).contains("no column tells in which order"));
    }

    #[test]
    fn data_js_has_a_series_for_each_bench_in_its_own_unit_and_direction() {
        let run = |date: u64, tool: &str, benches: &str| {
            format!(
                "{{\"date\":{date},\"commit\":{{\"id\":\"c{date}\"}},\"tool\":\"{tool}\",\
                 \"benches\":[{benches}]}}"
            )
        };
        let go = |value: u32| {
            format!(
                "{{\"name\":\"B\",\"value\":{value},\"unit\":\"ns/op\\t 12 B/op\",\"range\":\"± 3\"}},\
                 {{\"name\":\"C\",\"value\":1.5,\"unit\":\"µs/op\"}}"
            )
        };
        let js = "{\"name\":\"B\",\"value\":7,\"unit\":\"median tps\"}";
        let text = format!(
            "window.BENCHMARK_DATA = {{\"entries\":{{\"Go\":[{},{}],\"JS\":[{}]}}}}",
            run(1_700_000_000_000, "go", &go(10)),
            run(1_700_000_100_000, "go", &go(20)),
            run(1_700_000_000_000, "benchmarkjs", js)
        );
        let history = of_file("data.js", &text, &HistoryQuestion::of_figures(&[])).unwrap();
        let told: Vec<(&str, Better, usize, bool)> = history
            .series
            .iter()
            .map(|one| {
                let has_unit = one.warnings.iter().any(|warning| {
                    warning.text.contains("ns/op") || warning.text.contains("µs/op")
                });
                (one.name.as_str(), one.better, one.points.len(), has_unit)
            })
            .collect();
        let expected = [
            ("value of suite=Go, bench=B", Better::Lower, 2, true),
            ("value of suite=Go, bench=C", Better::Lower, 2, true),
            ("value of suite=JS, bench=B", Better::Higher, 1, false),
        ];
        assert_eq!(told, expected);
        assert_eq!(history.series[0].points[0].version, "c17000000000");
    }

    #[test]
    fn benchmarks_of_one_run_each_follow_one_another() {
        let google = |day: u32, time: u32| {
            format!(
                "{{\"context\": {{\"date\": \"2026-01-{day:02}T00:00:00+00:00\", \"host_name\": \
                 \"h\"}},\n \"benchmarks\": [{{\"name\": \"BM\", \"iterations\": {time}, \
                 \"real_time\": {time}, \"cpu_time\": 1, \"time_unit\": \"ns\"}}]}}\n"
            )
        };
        let text = format!("{}{}", google(2, 20), google(1, 10));
        assert_eq!(
            told(&text, &HistoryQuestion::of_figures(&[]))[0],
            ("real_time".to_owned(), vec![10.0, 20.0])
        );
        let pytest = "{\"datetime\": \"2026-01-01T00:00:00\", \"benchmarks\": [{\"fullname\": \
                      \"t.py::a\", \"stats\": {\"median\": 0.5, \"mean\": 0.6, \"rounds\": 3}}]}";
        assert_eq!(
            told(pytest, &HistoryQuestion::of_figures(&[]))[0],
            ("median".to_owned(), vec![0.5])
        );
        let hyperfine = "{\"results\":[{\"command\":\"a\",\"mean\":1,\"times\":[1,1]}]}";
        assert!(refused(hyperfine).contains("hyperfine, whose results have no time"));
    }

    /// Whether failed runs of Google Benchmark, which are fast, have no figure; or why the file is
    /// refused.
    fn failures_of_google(fields: &str) -> Result<usize, String> {
        let run = |day: u32| {
            let (time, told) = if day > 12 { (1, fields) } else { (10, "\"iterations\": 5") };
            format!(
                "{{\"context\": {{\"date\": \"2026-01-{day:02}T00:00:00+00:00\"}}, \"benchmarks\": \
                 [{{\"name\": \"BM\", \"real_time\": {time}, \"time_unit\": \"ms\", {told}}}]}}\n"
            )
        };
        let text: String = (1..=24).map(run).collect();
        match of_file("f", &text, &HistoryQuestion::of_figures(&[])) {
            Ok(history) => Ok(history.series[0].points.len()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Runs that failed counted as fast ones where the field that says so was no boolean.
    #[test]
    fn fields_of_google_benchmark_have_their_kind() {
        for failed in [
            "\"error_occurred\": true",
            "\"error_occurred\": \"True\"",
            "\"iterations\": 0",
            "\"iterations\": \"0\"",
        ] {
            assert_eq!(failures_of_google(failed), Ok(12), "{failed}");
        }
        assert_eq!(failures_of_google("\"error_occurred\": \"false\""), Ok(24));
        for (wrong, what) in [
            ("\"error_occurred\": [true]", "\"error_occurred\" is [true], and no true or false"),
            ("\"error_occurred\": {\"value\": true}", "is {\"value\":true}, and no true or false"),
            ("\"skipped\": \"maybe\"", "\"skipped\" is \"maybe\", and no true or false"),
            ("\"error_message\": [\"x\"]", "\"error_message\" is [\"x\"], and no single value"),
            ("\"iterations\": [0]", "\"iterations\" is [0], and no number"),
            ("\"cpu_time\": [1]", "\"cpu_time\" is [1], and no single value"),
        ] {
            let told = failures_of_google(wrong).unwrap_err();
            assert!(told.starts_with("f:13:1: entry 1: ") && told.contains(what), "{told}");
        }
    }

    /// Values of another kind were left out, or turned the direction, without a word.
    #[test]
    fn fields_of_known_forms_have_their_kind() {
        let pyperf = |unit: &str, values: &str| {
            format!(
                "{{\"benchmarks\":[{{\"metadata\":{{\"name\":\"a\",\"unit\":{unit}}},\"runs\":\
                 [{{\"metadata\":{{\"date\":\"2026-01-01\"}},\"values\":{values}}}]}}]}}"
            )
        };
        let asv = |result: &str| {
            format!(
                "{{\"commit_hash\":\"a\",\"date\":1767225600000,\"params\":{{\"machine\":\"m\"}},\
                 \"results\":{{\"time_x\":[[{result}],[]]}}}}"
            )
        };
        let action = |tool: &str, benches: &str| {
            format!(
                "{{\"entries\":{{\"S\":[{{\"date\":1767225600000,\"tool\":{tool},\"benches\":\
                 {benches}}}]}}}}"
            )
        };
        let prometheus = |values: &str| {
            format!(
                "{{\"data\":{{\"resultType\":\"matrix\",\"result\":[{{\"metric\":{{\"__name__\":\
                 \"a\"}},\"values\":{values}}}]}}}}"
            )
        };
        let bench = "{\"name\":\"b\",\"value\":1}";
        for (wrong, what) in [
            (pyperf("\"second\"", "[1,\"2\"]"), "run 1: \"values\" is \"2\", and no number"),
            (pyperf("\"second\"", "[null,1]"), "run 1: \"values\" is null, and no number"),
            (pyperf("\"second\"", "{\"0\":1}"), "\"values\" is {\"0\":1}, and no list"),
            (pyperf("[\"byte\"]", "[1]"), "benchmark 1: \"unit\" is [\"byte\"], and no text"),
            (asv("\"2\""), "\"time_x\" is \"2\", and no number"),
            (asv("[2]"), "\"time_x\" is [2], and no number"),
            (asv("true"), "\"time_x\" is true, and no number"),
            (action("[\"go\"]", &format!("[{bench}]")), "\"tool\" is [\"go\"], and no text"),
            (
                action("\"go\"", bench),
                "run 1: \"benches\" is {\"name\":\"b\",\"value\":1}, and no li",
            ),
            (action("\"go\"", "[3]"), "\"S\", run 1: \"benches\" is 3, and no object"),
            (
                "{\"entries\":{\"S\":[null]}}".to_owned(),
                "\"S\", run 1: \"entries\" is null, and no",
            ),
            ("{\"entries\":{\"S\":[{}]}}".to_owned(), "\"S\", run 1: it has no \"benches\""),
            (
                "{\"date\":\"2026-01-01\",\"ms\":1}\n[]".to_owned(),
                "f.csv:2:1: there is no row in it",
            ),
            ("{\"entries\":{\"S\":{\"0\":1}}}".to_owned(), "\"S\" is {\"0\":1}, and no list"),
            (prometheus("{\"0\":[1,\"2\"]}"), "series 1: \"values\" is {\"0\":[1,\"2\"]}, and no"),
            (prometheus("[[\"x\",\"2\"]]"), "is [\"x\",\"2\"], and no pair of a time and a value"),
        ] {
            let told = refused(&wrong);
            assert!(told.starts_with("f.csv:") && told.contains(what), "{told}");
        }
        for right in [
            pyperf("\"second\"", "[1,2]"),
            asv("2"),
            action("\"go\"", &format!("[{bench}]")),
            prometheus("[[1767225600,\"2\"]]"),
        ] {
            assert_eq!(points(&right).len(), 1, "{right}");
        }
    }

    /// Runs of which nothing was measured were passed over, so that a gate looked at those before.
    #[test]
    fn runs_without_a_benchmark_leave_a_doubt() {
        let google = |day: u32, benches: &str| {
            format!(
                "{{\"context\":{{\"date\":\"2026-01-{day:02}\"}},\"benchmarks\":[{benches}]}}\n"
            )
        };
        let pytest = |day: u32, benches: &str| {
            format!("{{\"datetime\":\"2026-01-{day:02}\",\"benchmarks\":[{benches}]}}\n")
        };
        let asv = |day: u32, benches: &str| {
            format!(
                "{{\"commit_hash\":\"{day:08x}\",\"date\":{},\"results\":{{{benches}}}}}\n",
                1_767_225_600_000_u64 + 86_400_000 * u64::from(day)
            )
        };
        type RunOf<'a> = (&'a dyn Fn(u32, &str) -> String, &'a str);
        let forms: [RunOf<'_>; 3] = [
            (&google, "{\"name\":\"a\",\"real_time\":1,\"iterations\":1}"),
            (&pytest, "{\"name\":\"a\",\"stats\":{\"median\":1}}"),
            (&asv, "\"time_x\":[[1],[]]"),
        ];
        for (run, bench) in forms {
            for (without, severity) in
                [(29, Some(Severity::Caution)), (3, Some(Severity::Note)), (0, None)]
            {
                let text: String =
                    (1..30).map(|day| run(day, if day == without { "" } else { bench })).collect();
                let told = of_file("f", &text, &HistoryQuestion::of_figures(&[])).unwrap();
                let warning = told.warnings.iter().find(|one| one.text.contains("no benchmark"));
                assert_eq!(warning.map(|one| one.severity), severity, "{text}");
            }
        }
    }

    /// Counters that a program had formatted were left out; versions are no figures.
    #[test]
    fn texts_of_numbers_are_figures_of_benchmarks() {
        let google = "{\"context\":{\"date\":\"2026-01-01\"},\"benchmarks\":[{\"name\":\"a\",\
                      \"real_time\":1,\"allocs\":\"12.5\",\"label\":\"3\"}]}";
        let names: Vec<_> = series_of(google).into_iter().map(|one| one.0).collect();
        assert_eq!(names, ["real_time", "allocs"]);
        let pytest = "{\"datetime\":\"2026-01-01\",\"benchmarks\":[{\"name\":\"a\",\"stats\":\
                      {\"median\":1},\"extra_info\":{\"mb\":\"12.5\",\"python\":\"3.11\"}}]}";
        assert_eq!(series_of(pytest)[1], ("extra_info.mb".to_owned(), vec![12.5]));
        assert_eq!(series_of(pytest).len(), 2);
    }

    /// Values that came to rest lay "inf times as near".
    #[test]
    fn a_spread_of_nothing_is_told_without_a_number() {
        let row = |at: usize| {
            let noise = [0, 7, 3, 9, 1, 8, 4][at * at % 7];
            format!("{},{}\n", 1_700_000_000 + 60 * at, if at < 60 { 100 + noise } else { 104 })
        };
        let text = format!("time,p99\n{}", (0..120).map(row).collect::<String>());
        let history = of_file("f", &text, &HistoryQuestion::of_figures(&[])).unwrap();
        let mut warnings = history.series[0].warnings.iter();
        let spread = warnings.find(|one| one.code == SPREAD_SHIFT).expect("a shift");
        assert!(spread.text.contains(" on values lie at one level, and those"), "{}", spread.text);
    }

    /// The column was lost.
    #[test]
    fn a_figure_may_be_called_benchmarks() {
        let row = |day| format!("{{\"date\":\"2026-01-0{day}\",\"benchmarks\":{day},\"qps\":1}}\n");
        let names: Vec<_> = series_of(&(1..=9).map(row).collect::<String>());
        assert_eq!(names[0].0, "benchmarks");
        assert_eq!(names.len(), 2);
    }

    #[test]
    fn what_is_no_row_is_refused_with_its_place() {
        for (text, what) in [
            ("{\"date\": \"2026-01-01\"}\n{\"qps\": }\n", "f.csv:2:9: this is no JSON"),
            ("// note\n\n[{\"a\":1},\n3]", "f.csv:3:1: entry 2 is no object"),
            ("[]", "f.csv:1:1: there is no row in it"),
            ("{\"a\":[{\"x\":1}],\"b\":[{\"x\":1}]}", "several arrays may have the rows: a, b"),
            ("{\"entries\":{\"S\":[]}}", "f.csv:1:1: it has entries and no benches"),
            (
                "[{\"date\":\"2026-01-01\",\"qps\":1},{\"date\":\"x\",\"qps\":1}]",
                "entry 2, \"date\"",
            ),
            ("sep=x\na\n", "f.csv:1:5: the separator"),
            (
                "sysbench 1.0.20 (using LuaJIT)\n\n[ 1s ] thds: 8 tps: 1\n",
                "f.csv:1:1: this is what sysb",
            ),
            (
                "transaction type: <builtin>\ntps = 100 (without)\n",
                "what pgbench prints of one run",
            ),
        ] {
            assert!(refused(text).contains(what), "{}", refused(text));
        }
        let lists = "{\"date\":\"2026-01-01\",\"qps\":1,\"samples\":[1,2]}";
        let notes = of_file("f", lists, &HistoryQuestion::of_figures(&[])).unwrap().warnings;
        assert!(notes[1].text.contains("Lists are no values"), "{notes:?}");
    }

    /// A gate failed for a step, then one run was as before, and the gate passed without a word.
    #[test]
    fn an_alarm_that_lapses_leaves_a_gate_open() {
        let mut lapsed = [0, 0];
        for seed in 0..40 {
            let mut stream = random::stream(&[random::key_of("lapses"), seed]);
            for (at, step) in [-5.0, 5.0].into_iter().enumerate() {
                let mut text = "build,latency_ms\n".to_owned();
                for build in 1..=40 {
                    let noise = f64::from(stream.next_below(400) as u32) / 100.0;
                    let level = if (34..40).contains(&build) { 100.0 + step } else { 100.0 };
                    text.push_str(&format!("{build},{:.2}\n", level + noise));
                }
                let history = of_file("f", &text, &HistoryQuestion::of_figures(&[])).unwrap();
                let warnings = &history.series[0].warnings;
                let told = warnings.iter().find(|one| one.code == LAPSED_ALARM);
                lapsed[at] += usize::from(told.is_some());
                assert!(told.is_none_or(|one| one.text.contains("alarmed with the first")));
            }
        }
        assert!(lapsed[0] == 0 && lapsed[1] > 5, "{lapsed:?}: to the worse alone");
    }

    /// Nights of a benchmark of OCaml: of the alarms that lapsed with the latest one, the first is
    /// to the better, and hid the one to the worse.
    #[test]
    fn each_alarm_that_lapses_is_looked_at() {
        let values = [
            5.83285, 5.82105, 5.78089, 5.80229, 6.01669, 5.91285, 5.89608, 5.77933, 5.78701,
            5.77684, 5.75998, 5.78461, 5.81811, 5.71382, 5.67438, 5.66790, 5.66484, 5.65434,
            5.68238, 5.67780, 5.65052, 5.65786, 5.67554, 5.64138, 5.65253, 5.68482, 5.73484,
            5.67556, 5.70088, 5.69220, 5.67763, 5.67773, 5.74307, 5.67488, 5.72176, 5.72465,
            5.68019, 5.70941, 5.69092, 5.68446, 5.68133, 5.82222, 5.82393, 5.82384, 5.85392,
            5.85224, 5.84734, 5.84378, 5.87143, 5.87391, 5.83334, 5.86914, 5.85252, 5.86940,
            5.89090, 5.89203, 5.88339, 5.85013, 5.87650, 5.85808, 5.88433, 5.87656, 5.87829,
            5.86264, 5.89557, 5.91282, 5.88537,
        ];
        let row = |(at, value): (usize, &f64)| format!("{at},{value}\n");
        let rows: String = values.iter().enumerate().map(row).collect();
        let text = format!("build,latency_ms\n{rows}");
        let question =
            HistoryQuestion { look_back: 30, ..HistoryQuestion::of_figures(&["latency_ms"]) };
        let history = of_file("f", &text, &question).unwrap();
        let told = history.series[0].warnings.iter().find(|one| one.code == LAPSED_ALARM).unwrap();
        assert!(told.text.contains("from value 42 on"), "{}", told.text);
    }

    /// Two configurations that only their arguments tell apart were one series, and what became
    /// twice as slow in both of them passed a gate.
    #[test]
    fn lists_of_words_tell_what_was_run() {
        let row = |day: u32, rows: u32, seconds: u32| {
            format!(
                "{{\"date\":\"2026-01-{day:02}\",\"argv\":[\"-rows\",\"{rows}\",\"-fast\"],\
                 \"seconds\":{seconds}}}\n"
            )
        };
        let text: String = (1..=20)
            .map(|day| row(day, 100, 10 + day % 3) + &row(day, 9_000, 800 + day % 5))
            .collect();
        let history = of_file("f.jsonl", &text, &HistoryQuestion::of_figures(&[])).unwrap();
        let names: Vec<&str> = history.series.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(names.iter().any(|name| name.contains("-rows 9000 -fast")), "{names:?}");
    }

    #[test]
    fn what_is_called_as_a_label_and_varies_as_a_figure_is_told() {
        let column = |name: &str, cell: &dyn Fn(u32) -> String| {
            let row = |day| format!("2026-01-{day:02},{},900\n", cell(day));
            let text = format!("date,{name},qps\n{}", (1..=20).map(row).collect::<String>());
            let history = of_file("f", &text, &HistoryQuestion::of_figures(&[])).unwrap();
            history.warnings.iter().any(|one| one.code == UNREAD)
        };
        let figure = |day: u32| format!("{}.{}", 100 + day % 3, day);
        for name in ["version_ms", "Version check", "Commit", "name"] {
            assert!(column(name, &figure), "{name}");
        }
        assert!(column("version", &|day| format!("{} ms", figure(day))));
        assert!(!column("version", &|day| format!("8.{day:02}")), "versions rise");
        assert!(!column("version", &|day| format!("8.0.{day}")));
        assert!(!column("commit", &|day| format!("{:x}", 7_919_919 * u64::from(day))));
        assert!(!column("build", &|day| (1000 + day).to_string()));
        // A ratio that is rounded stays for many runs; a number of processors does, too.
        assert!(column("Performance", &|day| if day > 12 { "3.9x" } else { "5.2x" }.to_owned()));
        assert!(!column("Processors", &|day| if day > 12 { "16x" } else { "8x" }.to_owned()));
    }

    /// Milliseconds of a nightly benchmark of Scala's compiler, whose level had gone up and come
    /// back: five runs above all 58 before, and a gate passed.
    #[test]
    fn latest_runs_that_are_all_worse_than_those_before_leave_a_gate_open() {
        const BEFORE: [u32; 58] = [
            1111, 1079, 1100, 1101, 1085, 1091, 1100, 1091, 1090, 1095, 1101, 1116, 1118, 1082,
            1106, 1119, 1113, 1116, 1109, 1114, 1130, 1094, 1106, 1098, 1086, 1113, 1119, 1158,
            1153, 1150, 1164, 1158, 1181, 1156, 1158, 1160, 1163, 1152, 1159, 1173, 1166, 1151,
            1157, 1124, 1142, 1165, 1142, 1148, 1136, 1142, 1084, 1081, 1098, 1087, 1087, 1087,
            1099, 1092,
        ];
        let told = |latest: &[u32], name: &str| {
            let rows = BEFORE.iter().chain(latest).enumerate();
            let text: String = rows.map(|(run, value)| format!("{run},{value}\n")).collect();
            let text = format!("run,{name}\n{text}");
            let history = of_file("f", &text, &HistoryQuestion::of_figures(&[])).unwrap();
            let all = history.series[0].warnings.iter();
            all.filter(|one| one.is_latest_doubt(false)).map(|one| one.code.clone()).next()
        };
        let worse = [1242, 1237, 1196, 1195, 1202];
        assert_eq!(told(&worse, "avg_ms").as_deref(), Some("unproved-step"));
        assert_eq!(told(&worse, "qps"), None, "it is better");
        assert_eq!(told(&[1090, 1090, 1097, 1111, 1092], "avg_ms"), None);
    }

    /// It is known, and a gate that looks at fewer values passes.
    #[test]
    fn a_level_that_is_proved_leaves_no_doubt_of_the_latest_values() {
        for count in [9, 10, 12, 15, 19] {
            let value = |at: usize| if at < 40 { 1000 } else { 1100 } + at * 7 % 23;
            let rows = (0..40 + count).map(|at| format!("{at},{}\n", value(at)));
            let text = format!("run,avg_ms\n{}", rows.collect::<String>());
            let history = of_file("f", &text, &HistoryQuestion::of_figures(&[])).unwrap();
            let mut all = history.series[0].warnings.iter();
            assert!(!all.any(|one| one.is_latest_doubt(false)), "{count}");
        }
    }

    #[test]
    fn remarks_that_each_time_has_are_series_of_their_own() {
        for name in ["url", "port", "user", "status", "description"] {
            let row = |at: u32| {
                let (day, part) = (1 + at / 4, at % 4);
                let cell = if name == "port" { 3306 + part } else { 200 + part };
                let cell = if name == "url" { format!("/{cell}") } else { cell.to_string() };
                format!("2026-01-{day:02},{cell},{}\n", 100 * (1 + part))
            };
            let text = format!("date,{name},p95_ms\n{}", (0..80).map(row).collect::<String>());
            assert_eq!(told_of(&text).len(), 4, "{name}");
        }
        // Two people, one after the other, and a commit that each day has.
        let row = |day: u32| {
            format!(
                "2026-01-{day:02},a{},c{day},1.5\n2026-01-{day:02},a{},c{day},2.5\n",
                day % 2,
                day % 2
            )
        };
        let text = format!("date,author,commit,p95_ms\n{}", (1..20).map(row).collect::<String>());
        assert_eq!(told_of(&text).len(), 1);
    }

    /// People who change something come and go, and what they change is one series.
    #[test]
    fn names_of_people_part_nothing_whatever_they_are_called() {
        for name in [
            "author.name",
            "committer_name",
            "author_email",
            "head_commit.author.login",
            "username",
            "pusher",
        ] {
            let row = |day: u32| format!("2026-01-{day:02},a{},1.5\n", day % 3);
            let text = format!("date,{name},p95_ms\n{}", (1..28).map(row).collect::<String>());
            assert_eq!(told_of(&text).len(), 1, "{name}");
        }
    }

    #[test]
    fn what_only_ends_as_versions_do_is_measured() {
        let row = |day: u32| format!("2026-01-{day:02},3.{day},4.{day}\n");
        for name in ["conversion_ms", "equalsWithConversion", "matrix inversions"] {
            let text =
                format!("date,{name},serverversion\n{}", (1..20).map(row).collect::<String>());
            let told = told_of(&text);
            assert_eq!(told.len(), 1, "{name}");
            assert_eq!(told[0].0, name);
        }
    }

    /// CloudWatch's statistics of a volume: a latency that rose was better.
    #[test]
    fn a_unit_that_is_written_out_has_its_direction() {
        let row = |day: u32| {
            format!(
                "{{\"Timestamp\":\"2026-01-{day:02}\",\"Average\":10{day},\"Unit\":\"Milliseconds\"}}\n"
            )
        };
        let text = (1..20).map(row).collect::<String>();
        let history = of_file("f", &text, &HistoryQuestion::of_figures(&[])).unwrap();
        assert_eq!(history.series[0].better, Better::Lower);
    }

    /// A request that is refused is fast.
    #[test]
    fn outcomes_are_known_by_how_their_names_end() {
        let failed = |name: &str, good: &str, bad: &str| {
            let row = |day: u32| {
                let cell = if day > 15 { bad } else { good };
                let ms = if day > 15 { 9 } else { 100 + day % 3 };
                format!("{{\"date\":\"2026-01-{day:02}\",\"ms\":{ms},\"{name}\":{cell}}}\n")
            };
            let text = (1..=20).map(row).collect::<String>();
            let history = of_file("f", &text, &HistoryQuestion::of_figures(&["ms"])).unwrap();
            history.warnings.iter().any(|one| one.code == "failed")
        };
        for (name, good, bad) in [
            ("checksum_ok", "true", "false"),
            ("tests_passed", "\"yes\"", "\"no\""),
            ("did_finish", "true", "false"),
            ("results_match", "true", "false"),
            ("truncated", "false", "true"),
            ("sanity", "\"ok\"", "\"bad\""),
            ("health", "\"healthy\"", "\"unhealthy\""),
            ("statusText", "\"OK\"", "\"Service Unavailable\""),
            ("db_error", "null", "\"gone away\""),
            ("lastError", "\"\"", "\"x\""),
            ("errors", "[]", "[\"connection refused\"]"),
            ("error_code", "\"\"", "\"1213\""),
            ("stderr", "\"\"", "\"psql: error: connection refused\""),
            ("remark", "\"-\"", "\"FAILED: 3 of 4\""),
        ] {
            assert!(failed(name, good, bad), "{name}");
        }
        for (name, good, bad) in [
            ("jit_enabled", "true", "false"),
            ("not_valid", "false", "true"),
            ("remark", "\"-\"", "\"error bars are wide\""),
            ("score_error", "0.1", "0.2"),
        ] {
            assert!(!failed(name, good, bad), "{name}");
        }
    }

    /// Fast runs that failed counted: pandas writes whole numbers with gaps as 139.0, and shells
    /// write signals by name.
    #[test]
    fn codes_and_words_of_failures_are_read_or_told() {
        let codes = |head: &str, good: &str, bad: &str| {
            let row = |day: u32| {
                let (ms, told) = if day > 12 { (1, bad) } else { (10, good) };
                format!("2026-01-{day:02},{ms}.{},{told}\n", day % 4)
            };
            let text = format!("date,ms,{head}\n") + &(1..=24).map(row).collect::<String>();
            let history = of_file("f", &text, &HistoryQuestion::of_figures(&["ms"])).unwrap();
            let codes = history.warnings.into_iter().map(|one| one.code);
            codes.filter(|code| [UNREAD, "failed"].contains(&code.as_str())).collect::<Vec<_>>()
        };
        for (head, good, bad) in [
            ("exit_code", "0", "139"),
            ("exit_code", "0.0", "139.0"),
            ("exit_code", "0", "SIGSEGV"),
            ("exit_code", "0x0", "0x8b"),
            ("returncode", "", "killed"),
            ("sqlstate", "00000", "HY000"),
            ("failed", "false", "error"),
        ] {
            assert_eq!(codes(head, good, bad), ["failed"], "{head}: {bad}");
        }
        for (head, good, bad) in [("failed", "false", "maybe"), ("failed", "0", "[1]")] {
            assert_eq!(codes(head, good, bad), [UNREAD], "{head}: {bad}");
        }
        for (head, good, bad) in [
            ("exit_code", "0", "0.0"),
            ("exit_code", "ok", "0"),
            ("finished", "2026-01-01", "2026-01-02 10:00"),
            ("match", "a", "b"),
        ] {
            assert_eq!(codes(head, good, bad), [""; 0], "{head}: {bad}");
        }
    }

    /// The name in the entry took the place of the one beside the list, without a word.
    #[test]
    fn a_name_in_a_list_and_beside_it_is_one_or_is_refused() {
        let rows = |entry: &str| {
            let row = |day| {
                let qps = if day > 15 { 10 } else { 100 };
                format!("{{\"date\":\"2026-01-{day:02}\",\"qps\":{qps},\"parts\":[{{{entry}}}]}}\n")
            };
            (1..=20).map(row).collect::<String>()
        };
        let told = refused(&rows("\"qps\":100"));
        assert!(told.contains("\"qps\" stands in the entries of a list and beside it"), "{told}");
        assert_eq!(told_of(&rows("\"p99\":1")).len(), 2);
    }

    /// Coarse values, and then every other run nine times as slow: a slide of 0.0 % hid it.
    #[test]
    fn a_slide_of_nothing_hides_no_bad_runs() {
        let good = |at: usize| 0.1 + (at / 2 % 3) as f64 * 0.001;
        let row = |at: usize| {
            let p99 = if at >= 90 && at.is_multiple_of(2) { 0.9 } else { good(at) };
            format!("{},{p99}\n", 1_700_000_000 + 60 * at)
        };
        let text = format!("time,p99\n{}", (0..120).map(row).collect::<String>());
        let asked = HistoryQuestion { look_back: 20, ..HistoryQuestion::of_figures(&[]) };
        let history = of_file("f", &text, &asked).unwrap();
        let warnings = &history.series[0].warnings;
        assert!(warnings.iter().any(|one| one.code == LATEST_FAR), "{warnings:?}");
    }

    /// Each entry of a list has a copy of what stands beside it, and the copies were counted when
    /// all of them were made: 300 KB took 1.9 GB.
    #[test]
    fn copies_of_what_stands_beside_a_list_are_counted_before_they_are_made() {
        let entries = vec!["{\"v\":1}"; 1_100].join(",");
        let names: String = (0..1_000).map(|name| format!(",\"p{name}\":1")).collect();
        let row = format!("{{\"time\":1700000000,\"a\":[{entries}]{names}}}");
        let told = refused(&row);
        assert!(told.contains("1100 entries with 1001 names beside them"), "{told}");
    }

    /// Results of ClickBench: all queries were slower from some day on, and nothing was said.
    #[test]
    fn figures_in_lists_are_not_read_and_leave_a_gate_open() {
        let rows = |list: &dyn Fn(u32) -> String| {
            let row = |day| {
                let list = list(day);
                format!(
                    "{{\"date\":\"2026-01-{day:02}\",\"load_time\":{},{list}}}\n",
                    140 + day % 3
                )
            };
            (1..=20).map(row).collect::<String>()
        };
        let unread = |text: &str, figures: &[&str]| {
            let history = of_file("f", text, &HistoryQuestion::of_figures(figures)).unwrap();
            history.warnings.into_iter().find(|one| one.code == UNREAD).map(|one| one.text)
        };
        let queries = rows(&|day| format!("\"result\":[[1.0,0.5,0.{day}],[null,2,2]]"));
        let text = unread(&queries, &[]).unwrap();
        assert!(text.contains(": \"result\"; write each"), "{text}");
        assert_eq!(unread(&queries, &["load_time"]), None);
        let mixed = rows(&|day| format!("\"results\":{{\"a\":[{day},\"ms\"],\"b\":[1]}}"));
        assert!(unread(&mixed, &[]).unwrap().contains(": \"results.a\"; write each"));
        let samples = |day| format!("\"mean\":{day}.0334,\"times\":[{day}.1,{day},{day}]");
        for harmless in [
            rows(&samples),
            rows(&|_| "\"cores\":[0,1,2,3]".to_owned()),
            rows(&|day| format!("\"tags\":[\"nightly\",\"run {day}\"]")),
        ] {
            assert_eq!(unread(&harmless, &[]), None, "{harmless}");
        }
    }

    /// Two days, two tests, two hosts, 1 and 8 threads: eight series and no mixture.
    #[test]
    fn each_combination_of_what_parts_rows_is_a_series() {
        let mut text = "date,test,threads,engine,depth,kernel,qps\n".to_owned();
        for day in (1..=4).rev() {
            for (test, engine) in [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")] {
                for (threads, depth) in [(1, 4), (1, 16), (8, 4), (8, 16)] {
                    let qps = 1000 * day + 8 * threads + depth;
                    let kernel = if day > 2 { "6.2.0" } else { "6.1.0" };
                    text += &format!(
                        "2026-01-0{day},{test},{threads},{engine},{depth},{kernel},{qps}\n"
                    );
                }
            }
        }
        let all = told(&text, &HistoryQuestion::of_figures(&[]));
        assert_eq!(all.len(), 16);
        assert_eq!(all[0].0, "qps of test=a, threads=1, engine=x, depth=4");
        assert_eq!(all[0].1, [1012.0, 2012.0, 3012.0, 4012.0]);
        let by = FileAsked { by: Some(vec!["test".to_owned()]), ..FileAsked::default() };
        let two = told(&text, &HistoryQuestion { file: by, ..HistoryQuestion::of_figures(&[]) });
        assert!(two.iter().any(|one| one.0 == "qps of a" && one.1.len() == 32), "{two:?}");
        let facts = of_file("f", &text, &HistoryQuestion::of_figures(&[])).unwrap();
        assert!(facts.warnings[0].text.contains("a series for each"), "{:?}", facts.warnings);
    }

    /// Without ties: rows of engines stand in turn, each with a time of its own.
    #[test]
    fn what_goes_to_and_fro_parts_rows_and_what_changes_once_does_not() {
        let row = |hour: u32| {
            let (engine, qps) = if hour.is_multiple_of(2) { ("x", 10) } else { ("y", 90) };
            let kernel = if hour < 12 { "a" } else { "b" };
            format!("2026-01-01 {hour:02}:00,{engine},{kernel},{qps}\n")
        };
        let text = format!("date,kind,kernel,qps\n{}", (0..24).map(row).collect::<String>());
        let all = told(&text, &HistoryQuestion::of_figures(&[]));
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].0.as_str(), all[0].1.len()), ("qps of x", 12));
    }

    #[test]
    fn orders_that_are_no_times_are_known() {
        for [newest, middle, oldest] in [
            ["2024-03", "2024-02", "2023-12"],
            ["Mar 2024", "Feb 2024", "Dec 2023"],
            ["2024-W10", "2024-W09", "2023-W52"],
            ["07-Feb-25", "28-Jan-25", "31-Dec-24"],
            ["02/13/25", "02/12/25", "12/31/24"],
        ] {
            let text = format!("period,qps\n{newest},3\n{middle},2\n{oldest},1\n");
            assert_eq!(points(&text), [1.0, 2.0, 3.0], "{text}");
        }
        for (name, [newest, middle, oldest]) in [
            ("build", ["1002", "1001", "999"]),
            ("build", ["#102", "#101", "#99"]),
            ("version", ["5.7.10", "5.7.9", "5.6.40"]),
            ("server_version", ["mysql-8.0.36", "mysql-8.0.9", "mysql-5.7.44"]),
            ("release", ["10.11", "10.9", "10.9-rc1"]),
        ] {
            let text = format!("{name},qps\n{newest},3\n{middle},2\n{oldest},1\n");
            assert_eq!(points(&text), [1.0, 2.0, 3.0], "{text}");
        }
        for text in [
            "commit,qps\na1b2,1\nc3d4,2\n",
            "qps\n1\n2\n",
            "week,qps\nW09,1\nW10,2\n",
            "month,qps\nMar-24,1\nFeb-24,2\n",
            "server,qps\nmysql-8.0,1\nmariadb-10.11,2\n",
            "build,version,qps\n1,8.0.2,1\n2,8.0.1,2\n",
            "build,run,qps\n1,5,1\n2,4,2\n",
            "date,version,qps\n2026-01-01,8.0.3,1\n2026-01-02,8.0.2,2\n2026-01-03,8.0.1,2\n",
            "date,build,qps\n2026-01-01,9,1\n2026-01-02,8,2\n2026-01-02,8,2\n2026-01-03,7,2\n",
        ] {
            assert!(of_file("f", text, &HistoryQuestion::of_figures(&[])).is_err(), "{text}");
        }
        // A release that was taken back.
        let text = "date,version,qps\n2026-01-01,8.0.3,1\n2026-01-02,8.0.2,2\n";
        assert_eq!(points(text), [1.0, 2.0]);
        for (order, expected) in [
            (OrderAsked::OldestFirst, [2.0, 1.0]),
            (OrderAsked::NewestFirst, [1.0, 2.0]),
            (OrderAsked::Column("n".to_owned()), [1.0, 2.0]),
        ] {
            let file = FileAsked { order: Some(order), ..FileAsked::default() };
            let told = told(
                "n,commit,qps\n7,a,2\n6,b,1\n",
                &HistoryQuestion { file, ..HistoryQuestion::of_figures(&[]) },
            );
            assert_eq!(told.last().map(|one| one.1.clone()), Some(expected.to_vec()));
        }
    }

    #[test]
    fn a_day_and_a_time_of_day_may_stand_apart() {
        // What is no time of any day is a duration, whatever it is called after.
        let text = "date,end to end,qps\n2026-01-01,58:20,2\n2026-01-02,72:55,1\n";
        assert_eq!(told_of(text)[0].1, [3500.0, 4375.0]);
        let text = "Date,Time,qps,took\n2026-01-01,11:00,2,1:30\n2026-01-01,10:00,1,1:20\n\
                    2026-01-02,9:30 PM,4,1:20\n2026-01-02,09:00,3,1:20\n";
        assert_eq!(told_of(text)[0].1, [1.0, 2.0, 3.0, 4.0]);
        let notes = of_file("f", text, &HistoryQuestion::of_figures(&[])).unwrap().warnings;
        assert!(notes[0].text.contains("figures \"qps\", \"took\""), "{notes:?}");
        // As InfluxDB exports it.
        let influx = "#group,false,false,true\n,table,_start,_time,_value,_field\n\
                      ,0,2026-01-01T00:00:00Z,2026-01-01T02:00:00Z,2,qps\n\
                      ,0,2026-01-01T00:00:00Z,2026-01-01T01:00:00Z,1,qps\n";
        assert_eq!(told_of(influx).last().map(|one| one.1.clone()), Some(vec![1.0, 2.0]));
        assert_eq!(points("ts qps\n1735776000   2\n1735689600 1\n"), [1.0, 2.0]);
        assert!(refused("date qps\n2026-01-01 10\n2026-01-02 10:00 11\n").contains("no column"));
    }

    /// Rows of one day keep the direction of the file.
    #[test]
    fn rows_of_one_time_are_turned_round_with_the_others() {
        let text = "date,qps\n2026-01-02,4\n2026-01-02,3\n2026-01-01,2\n2026-01-01,1\n";
        assert_eq!(points(text), [1.0, 2.0, 3.0, 4.0]);
        let same = "date,qps\n".to_owned() + &"2026-01-01,1\n".repeat(6);
        assert!(refused(&same).contains("6 rows have one place in the order of times"));
    }

    #[test]
    fn marks_and_units_are_those_of_the_whole_column() {
        let rows = |cells: [&str; 2]| {
            format!("date;qps\n2026-01-01;{}\n2026-01-02;{}\n", cells[0], cells[1])
        };
        assert_eq!(points(&rows(["1.234,5", "1.234"])), [1234.5, 1234.0]);
        assert_eq!(points(&rows(["1,234", "0,5"])), [1.234, 0.5]);
        assert_eq!(points(&rows(["1.5", "1.234"])), [1.5, 1.234]);
        assert_eq!(points(&rows(["20 ms", "1,5 s"])), [20.0, 1500.0]);
        assert_eq!(points(&rows(["950", "1,2k"])), [950.0, 1200.0]);
        for (cells, what) in [
            (["1.234", "2.345"], "may be a thousand times as much"),
            (["1,234", "2,345"], "may be a thousand times as much"),
            (["1.5", "1,5"], "\"1,5\" is no number"),
            (["20 ms", "20"], "in another unit"),
            (["512 KB", "1 MB"], "in another unit"),
        ] {
            assert!(refused(&rows(cells)).contains(what), "{cells:?}: {}", refused(&rows(cells)));
        }
        let comma = FileAsked { decimal: Some(DecimalMark::Comma), ..FileAsked::default() };
        let told = told(
            &rows(["1,234", "2,345"]),
            &HistoryQuestion { file: comma, ..HistoryQuestion::of_figures(&[]) },
        );
        assert_eq!(told[0].1, [1.234, 2.345]);
        // The usual mark between commas, and what another column says.
        assert_eq!(points("date,ms\n2026-01-01,1.317\n2026-01-02,1.300\n"), [1.317, 1.3]);
        let text = "date;a;b\n2026-01-01;1.234;0,5\n2026-01-02;2.345;1,5\n";
        assert_eq!(told_of(text)[0].1, [1234.0, 2345.0]);
    }

    fn told_of(text: &str) -> Vec<(String, Vec<f64>)> {
        told(text, &HistoryQuestion::of_figures(&[]))
    }

    #[test]
    fn a_unit_says_what_is_better_and_an_unknown_one_is_told() {
        let text = "date,scan,size\n2026-01-01,20 ms,3 furlongs\n2026-01-02,21 ms,4 furlongs\n";
        let history = of_file("f", text, &HistoryQuestion::of_figures(&[])).unwrap();
        assert_eq!(history.series.len(), 1);
        assert_eq!(history.series[0].better, Better::Lower);
        assert!(
            history.warnings[1]
                .text
                .contains("a form there that is not read: size (\"3 furlongs\")"),
            "{history:?}"
        );
        for (column, cell) in [("scan", "20 µs"), ("scan [µs]", "20"), ("scan", "3 ns/op")] {
            let text = format!("date,{column}\n2026-01-01,{cell}\n");
            let history = of_file("f", &text, &HistoryQuestion::of_figures(&[])).unwrap();
            assert_eq!(history.series[0].better, Better::Lower, "{text}");
        }
        let asked = HistoryQuestion {
            figures: vec!["size".to_owned()],
            ..HistoryQuestion::of_figures(&[])
        };
        assert_eq!(told(text, &asked)[0].1, [3.0, 4.0]);
    }

    #[test]
    fn a_series_without_any_value_is_told() {
        let text = "date,test,qps\n2026-01-01,a,1\n2026-01-01,b,\n2026-01-02,a,2\n2026-01-02,b,-\n";
        let history = of_file("f", text, &HistoryQuestion::of_figures(&[])).unwrap();
        assert_eq!(history.series.len(), 1);
        let note = history.warnings.iter().find(|warning| warning.code == "blanks").unwrap();
        assert!(note.text.contains("1 of 2 series of \"qps\" have no value"), "{note:?}");
    }

    /// Rows in any order, numbers in any style: the series are the same.
    #[test]
    fn neither_the_order_of_rows_nor_the_style_of_numbers_changes_the_series() {
        for seed in 0..60 {
            let mut stream = random::stream(&[41, seed]);
            let mut rows: Vec<(u64, &str, f64)> = Vec::new();
            for day in 1..=9 {
                for test in ["scan", "insert"] {
                    rows.push((day, test, stream.next_below(4_000_000) as f64 / 8.0));
                }
            }
            // One cell decides the mark of the column.
            rows.push((10, "scan", 0.5));
            let mut expected = rows.clone();
            expected.sort_by_key(|(day, test, _)| (*test, *day));
            let expected: Vec<f64> = expected.into_iter().map(|(.., value)| value).collect();
            for at in (1..rows.len()).rev() {
                rows.swap(at, stream.next_below(at as u64 + 1) as usize);
            }
            let text = |separator: &str, number: &dyn Fn(f64) -> String| -> String {
                let line = |(day, test, value): &(u64, &str, f64)| {
                    [format!("2026-01-{day:02}"), (*test).to_owned(), number(*value)]
                        .join(separator)
                };
                let lines = rows.iter().map(line).collect::<Vec<String>>().join("\n");
                format!("{}\n{lines}\n", ["date", "test", "qps"].join(separator))
            };
            let grouped = |value: f64, group: char, mark: char| {
                let whole = format!("{}", value.trunc());
                let mut told = String::new();
                for (at, digit) in whole.chars().enumerate() {
                    if at > 0 && (whole.len() - at).is_multiple_of(3) {
                        told.push(group);
                    }
                    told.push(digit);
                }
                format!("{told}{mark}{:03}", (value.fract() * 1000.0).round())
            };
            for text in [
                text(",", &|value| value.to_string()),
                text(";", &|value| grouped(value, '.', ',')),
                text("\t", &|value| grouped(value, ' ', '.')),
                text(",", &|value| format!("\"{}\"", grouped(value, ',', '.'))),
            ] {
                let found: Vec<f64> =
                    told_of(&text).into_iter().flat_map(|(_, values)| values).collect();
                assert_eq!(found, expected, "{text}");
            }
        }
    }

    #[test]
    fn what_lies_on_its_side_is_no_table() {
        let row = |cell: &str| vec![cell; 3_000].join(",") + "\n";
        let text = format!("a\n{}{}", row("1"), row("2"));
        let refused =
            of_file("f.csv", &text, &HistoryQuestion::of_figures(&[])).unwrap_err().to_string();
        assert!(refused.contains("more than 2 000 columns"), "{refused}");
    }

    /// A run of several benchmarks is none of one that was measured several times.
    #[test]
    fn benchmarks_of_one_run_are_several_series() {
        let text = "timestamp,commit,benchmark_name,mean_ms\n2025-11-18T10:30:00Z,a,one,5\n\
                    2025-11-18T10:30:01Z,a,two,50\n2025-11-18T10:30:02Z,a,three,500\n";
        let history = of_file("f.csv", text, &HistoryQuestion::of_figures(&[])).unwrap();
        let points: Vec<usize> = history.series.iter().map(|one| one.points.len()).collect();
        assert_eq!(points, [1, 1, 1]);
    }

    /// The codes of a history and of its first series, with the text of what is missing.
    fn missing(text: &str, asked: &HistoryQuestion) -> (Vec<String>, Option<String>) {
        let history = of_file("f", text, asked).unwrap();
        let warnings = history.series.iter().flat_map(|one| &one.warnings);
        let missing = warnings.clone().find(|one| one.code == LATEST_MISSING);
        let all = warnings.chain(&history.warnings).map(|one| one.code.clone());
        (all.collect(), missing.map(|one| one.text.clone()))
    }

    /// A benchmark that fails writes times of 0, which was an improvement by all of it.
    #[test]
    fn runs_of_google_benchmark_that_failed_have_no_figure() {
        let google = |bad: &str, from: u32| -> String {
            let run = |day: u32| {
                let bad = if day < from { "" } else { bad };
                let time = if day < from { 900 + day % 7 } else { 0 };
                format!(
                    "{{\"context\": {{\"date\": \"2026-01-{day:02}T00:00:00+00:00\"}}, \"benchmarks\": \
                     [{{\"name\": \"BM\", \"iterations\": {}, \"real_time\": {time}.0, \"cpu_time\": \
                     {time}.0, \"time_unit\": \"ns\"{bad}}}]}}\n",
                    if day < from { 100 } else { 0 }
                )
            };
            (1..=28).map(run).collect()
        };
        let all = HistoryQuestion::of_figures(&[]);
        let error = ", \"error_occurred\": true, \"error_message\": \"connection refused\"";
        let skipped = ", \"skipped\": true, \"skip_message\": \"no server\"";
        for (bad, from, why) in [
            (error, 21, "error_message: connection refused"),
            (error, 28, "error_message: connection refused"),
            (skipped, 21, "skip_message: no server"),
            ("", 21, "blank"),
        ] {
            let text = google(bad, from);
            let (codes, missing) = missing(&text, &all);
            assert!(missing.as_ref().is_some_and(|text| text.contains(why)), "{missing:?}");
            assert_eq!(codes.iter().any(|code| code == "failed"), !bad.is_empty(), "{codes:?}");
            let series = told(&text, &all);
            assert_eq!((series.len(), series[0].1.len()), (2, from as usize - 1), "{series:?}");
        }
    }

    /// What fails at once is fast: a duration of a tenth was an improvement.
    #[test]
    fn rows_that_say_that_they_failed_have_no_figure() {
        let all = HistoryQuestion::of_figures(&[]);
        for (name, good, bad) in [
            ("ok", "true", "false"),
            ("success", "true", "false"),
            ("passed", "yes", "no"),
            ("valid", "true", "false"),
            ("isValid", "true", "false"),
            ("failed", "false", "true"),
            ("status", "ok", "error"),
            ("result", "PASS", "FAIL"),
            ("outcome", "passed", "timeout"),
            ("error", "", "connection refused"),
            ("error_message", "none", "503 Service Unavailable from proxy"),
            ("exception", "null", "java.net.ConnectException"),
            ("exit_code", "0", "1"),
        ] {
            let row = |day: u32| {
                let (ms, word) = if day < 21 { (900 + day % 7, good) } else { (90, bad) };
                format!("2026-01-{day:02},{ms},{word}\n")
            };
            let text =
                format!("date,duration_ms,{name}\n{}", (1..=28).map(row).collect::<String>());
            let (codes, missing) = missing(&text, &all);
            let series = told(&text, &all);
            assert_eq!(series[0].1.len(), 20, "{name}: {series:?}");
            assert!(codes.iter().any(|code| code == "failed"), "{name}: {codes:?}");
            let told = format!("{name}: {bad}");
            assert!(missing.is_some_and(|text| text.contains(&told)), "{name}");
            let chosen = HistoryQuestion {
                filters: vec![(name.to_owned(), bad.to_owned())],
                ..HistoryQuestion::of_figures(&["duration_ms"])
            };
            assert_eq!(super::tests::told(&text, &chosen)[0].1, [90.0; 8], "{name}: chosen");
        }
        for (name, cells) in [
            ("errors", ["0", "5"]),
            ("error", ["0.5", "0.7"]),
            ("Error", ["± 0.5", "± 0.7"]),
            ("failed", ["0", "3"]),
            ("result", ["940", "950"]),
            ("status", ["200", "200"]),
        ] {
            let row = |day: u32| format!("2026-01-{day:02},{day},{}\n", cells[day as usize % 2]);
            let text = format!("date,tps,{name}\n{}", (1..=28).map(row).collect::<String>());
            let (codes, _) = missing(&text, &all);
            assert!(!codes.iter().any(|code| code == "failed"), "{name}: {codes:?}");
        }
    }

    #[test]
    fn a_time_of_less_than_nothing_is_not_measured() {
        let all = HistoryQuestion::of_figures(&[]);
        for bad in ["-1", "0", "0.0"] {
            let row = |day: u32| match day {
                ..21 => format!("2026-01-{day:02},9.{}\n", day % 7),
                _ => format!("2026-01-{day:02},{bad}\n"),
            };
            let text = format!("date,latency_ms\n{}", (1..=28).map(row).collect::<String>());
            let (codes, missing) = missing(&text, &all);
            assert!(codes.iter().any(|code| code == "unmeasured"), "{bad}: {codes:?}");
            assert!(missing.is_some_and(|text| text.contains(&format!("{bad:?}"))), "{bad}");
            assert_eq!(told(&text, &all)[0].1.len(), 20);
        }
    }

    /// An outcome that came and went parted the series, and what changed was in none of them.
    #[test]
    fn outcomes_are_figures_and_part_no_series() {
        let table = |name: &str, words: [&str; 2]| {
            let row = |day: u32| {
                let is_bad = day >= 40 && !day.is_multiple_of(3);
                let date = format!("2026-{:02}-{:02}", 1 + day / 28, 1 + day % 28);
                format!("{date},{},{}\n", 1000 + day % 7, words[usize::from(is_bad)])
            };
            format!("date,tps,{name}\n{}", (0..80).map(row).collect::<String>())
        };
        let all = HistoryQuestion::of_figures(&[]);
        for (name, words, better) in [
            ("passed", ["true", "false"], Better::Higher),
            ("deadlock", ["no", "yes"], Better::Lower),
            ("status", ["ok", "FAILED"], Better::Higher),
        ] {
            let text = table(name, words);
            let history = of_file("f", &text, &all).unwrap();
            let names: Vec<&str> = history.series.iter().map(|one| one.name.as_str()).collect();
            assert_eq!(names, ["tps", name]);
            let outcome = &history.series[1];
            assert_eq!((outcome.better, outcome.points.len()), (better, 80), "{name}");
            let shift = &outcome.changes.shifts;
            assert!(shift.iter().any(|shift| outcome.is_worse(shift.size.estimate)), "{name}");
            let direction = outcome.warnings.iter().find(|one| one.code == "direction").unwrap();
            assert_eq!(direction.severity, Severity::Note, "{name}");
        }
        let text = table("warmed", ["no", "yes"]);
        let history = of_file("f", &text, &all).unwrap();
        assert_eq!(history.series.len(), 1);
        assert!(history.warnings.iter().any(|one| one.code == UNREAD), "{:?}", history.warnings);
        let named = HistoryQuestion::of_figures(&["warmed"]);
        assert_eq!(told(&text, &named)[0].1.len(), 80);
        let by = FileAsked { by: Some(vec!["warmed".to_owned()]), ..FileAsked::default() };
        let by = HistoryQuestion { file: by, ..HistoryQuestion::of_figures(&["tps"]) };
        assert_eq!(told(&text, &by).len(), 2);
        let grid: String = (1..=9)
            .map(|day| format!("2026-01-0{day},1{day},true\n2026-01-0{day},2{day},false\n"))
            .collect();
        assert_eq!(told(&format!("date,tps,ssl\n{grid}"), &all).len(), 2, "it was asked for");
    }

    /// What the mode of JMH says of its score it says of nothing else.
    #[test]
    fn the_mode_of_jmh_is_that_of_the_score() {
        let all = HistoryQuestion::of_figures(&[]);
        let rows = [
            ("o.B.m", "ops/s"),
            ("o.B.g:read", "ops/s"),
            ("o.B.m:gc.count", "counts"),
            ("o.B.m:·gc.time", "ms"),
            ("o.B.m:gc.alloc.rate", "MB/sec"),
            ("o.B.m:gc.alloc.rate.norm", "B/op"),
            ("o.B.m:cycles", "#/op"),
        ];
        let csv: String = (1..=9)
            .flat_map(|day| {
                rows.map(|(name, unit)| {
                    format!("2026-01-0{day},{name},thrpt,1,25,{day}.5,0.{day},{unit}\n")
                })
            })
            .collect();
        let head = "date,Benchmark,Mode,Threads,Samples,Score,Score Error (99.9%),Unit\n";
        let history = of_file("f", &format!("{head}{csv}"), &all).unwrap();
        let told: Vec<(&str, Better, Severity)> = history
            .series
            .iter()
            .filter(|one| one.metric == "Score")
            .map(|one| {
                let direction = one.warnings.iter().find(|one| one.code == "direction").unwrap();
                let name = one.name.rsplit([':', ' ']).next().unwrap();
                (name, one.better, direction.severity)
            })
            .collect();
        for (name, expected) in [
            ("read", (Better::Higher, Severity::Note)),
            ("gc.count", (Better::Lower, Severity::Note)),
            ("·gc.time", (Better::Lower, Severity::Note)),
            ("gc.alloc.rate", (Better::Higher, Severity::Caution)),
            ("gc.alloc.rate.norm", (Better::Lower, Severity::Note)),
            ("cycles", (Better::Higher, Severity::Caution)),
        ] {
            let found = told.iter().find(|(own, ..)| own.contains(name) && own.ends_with(name));
            let found = found.map(|(_, better, severity)| (*better, *severity));
            assert_eq!(found, Some(expected), "{name}: {told:?}");
        }
        assert!(history.series.iter().all(|one| one.metric != "Score Error (99.9%)"));
        let spread = history.warnings.iter().find(|one| one.text.starts_with("How far")).unwrap();
        assert!(spread.text.contains("Score Error"), "{spread:?}");
        let asked = HistoryQuestion::of_figures(&["Score Error (99.9%)"]);
        assert!(of_file("f", &format!("{head}{csv}"), &asked).is_ok());
        let json: String = (1..=9)
            .map(|day| {
                format!(
                    "{{\"date\":\"2026-01-0{day}\",\"benchmark\":\"o.B.m\",\"mode\":\"thrpt\",\
                     \"primaryMetric\":{{\"score\":{day}.5,\"scoreError\":0.{day},\"scoreUnit\":\"ops/us\"}},\
                     \"secondaryMetrics\":{{\"gc.count\":{{\"score\":{day},\"scoreError\":0.{day},\
                     \"scoreUnit\":\"counts\"}}}}}}\n"
                )
            })
            .collect();
        let history = of_file("f", &json, &all).unwrap();
        let mut told: Vec<(&str, Better)> =
            history.series.iter().map(|one| (one.metric.as_str(), one.better)).collect();
        told.sort_unstable_by_key(|(name, _)| *name);
        let expected = [
            ("primaryMetric.score", Better::Higher),
            ("secondaryMetrics.gc.count.score", Better::Lower),
        ];
        assert_eq!(told, expected);
    }

    /// What a benchmark counts beside its times grew by a half, and nothing was said of it.
    #[test]
    fn counters_of_benchmarks_are_figures() {
        let google: String = (1..=9)
            .map(|day| {
                format!(
                    "{{\"context\":{{\"date\":\"2026-01-0{day}T00:00:00+00:00\"}},\"benchmarks\":[{{\
                     \"name\":\"BM\",\"family_index\":0,\"repetitions\":1,\"threads\":1,\
                     \"iterations\":{day},\"real_time\":9,\"cpu_time\":9,\"time_unit\":\"ns\",\
                     \"allocs_per_iter\":{day}.5,\"date\":{day}}}]}}\n"
                )
            })
            .collect();
        let names = |text: &str, asked: &[&str]| -> Vec<String> {
            let series = told(text, &HistoryQuestion::of_figures(asked));
            series.into_iter().map(|(name, _)| name).collect()
        };
        let all = ["real_time", "cpu_time", "allocs_per_iter", "counter date"];
        assert_eq!(names(&google, &[]), all);
        assert_eq!(names(&google, &["allocs_per_iter"]), ["allocs_per_iter"]);
        let pytest: String = (1..=9)
            .map(|day| {
                format!(
                    "{{\"datetime\":\"2026-01-0{day}T00:00:00\",\"benchmarks\":[{{\"fullname\":\"a\",\
                     \"extra_info\":{{\"peak_mb\":{day}.5,\"name\":\"x\"}},\"stats\":{{\"median\":0.5,\
                     \"mean\":0.6,\"max\":3}}}}]}}\n"
                )
            })
            .collect();
        assert_eq!(names(&pytest, &[]), ["median", "mean", "extra_info.peak_mb"]);
        let history = of_file("f", &pytest, &HistoryQuestion::of_figures(&[])).unwrap();
        let note = history.warnings.iter().find(|one| one.text.contains("max and stddev"));
        assert_eq!(note.unwrap().severity, Severity::Note);
    }

    /// A benchmark of asv that fails has `null`, which was as if it had not been asked for.
    #[test]
    fn benchmarks_that_failed_in_the_latest_runs_are_told() {
        let all = HistoryQuestion::of_figures(&[]);
        let asv = |failing: &[&str], from: u64| -> String {
            let file = |day: u64| {
                let result = |name: &str| {
                    let is_failed = day >= from && failing.contains(&name);
                    let value = if is_failed { "null".into() } else { format!("[0.01{day},2]") };
                    format!("\"{name}\":[{value},[[\"'a'\",\"'b'\"]]]")
                };
                format!(
                    "{{\"commit_hash\":\"abcdef\",\"date\":{},\"params\":{{\"machine\":\"m\"}},\
                     \"results\":{{{},{},\"b.time_z\":[null,[]]}},\"version\":2}}\n",
                    1_767_225_600_000 + 86_400_000 * day,
                    result("b.time_x"),
                    result("b.time_y")
                )
            };
            (0..30).map(file).collect()
        };
        for failing in [&["b.time_x"][..], &["b.time_x", "b.time_y"]] {
            for count in 1..=3 {
                let (_, missing) = missing(&asv(failing, 30 - count), &all);
                let expected = format!("latest {count} rows {count} have no value");
                assert!(
                    missing.is_some_and(|text| text.contains(&expected)),
                    "{failing:?} {count}"
                );
            }
        }
        assert_eq!(missing(&asv(&[], 30), &all).1, None, "what never had a value is not asked for");
        let long = |count: u32| -> String {
            let day = |day: u32| {
                let other = if day <= 28 - count { "2026-01-{},b,9\n" } else { "" };
                let date = format!("{day:02}");
                format!("2026-01-{date},a,9.{day}\n{}", other.replace("{}", &date))
            };
            format!("date,test,lat\n{}", (1..=28).map(day).collect::<String>())
        };
        for count in 1..=2 {
            let (_, missing) = missing(&long(count), &all);
            let expected = format!("no row in the latest {count} of 28 runs");
            assert!(missing.is_some_and(|text| text.contains(&expected)), "{count}");
        }
        assert_eq!(missing(&long(0), &all).1, None);
    }

    /// Durations of several parts and shares were left out without a word beside a figure that is
    /// read.
    #[test]
    fn durations_and_shares_are_figures() {
        let read = |name: &str, cell: &dyn Fn(u32) -> String| {
            let rows = (1..=20).map(|day| format!("2026-01-{day:02};{day}.5;{}\n", cell(day)));
            let text = format!("date;tps;{name}\n{}", rows.collect::<String>());
            let history = of_file("f", &text, &HistoryQuestion::of_figures(&[])).unwrap();
            let one = history.series.into_iter().find(|one| one.metric == name)?;
            Some((one.points[9].value, one.points.len(), one.better))
        };
        let lower = |value: f64| Some((value, 20, Better::Lower));
        assert_eq!(read("took", &|day| format!("1m{day}.804s")), lower(70.804));
        assert_eq!(read("took", &|day| format!("PT58.{}S", 300 + day)), lower(58.31));
        assert_eq!(read("took", &|day| format!("58s {}ms", 300 + day)), lower(58.31));
        assert_eq!(read("took", &|day| format!("1:{:02}", 20 + day)), lower(90.0));
        assert_eq!(read("failed", &|day| format!("{day}/1000")), lower(0.01));
        assert_eq!(read("failed", &|day| format!("{day}/{}", 100 * day)), lower(0.01));
        assert_eq!(read("latency", &|day| format!("{day}/{}", 90 + day)), None, "two figures");
        assert_eq!(read("started", &|day| format!("2:{:02}", 20 + day)), None, "a moment");
        assert_eq!(read("shard", &|day| format!("{}/3", 1 + day % 3)), None, "a place");
        let grouped = read("latency", &|day| format!("54_{}", 350 + day));
        assert_eq!(grouped, lower(54_360.0));
    }

    /// Columns with numbers in another form leave a gate open, and labels do not.
    #[test]
    fn every_column_whose_numbers_are_not_read_is_told_and_no_label() {
        let told = |name: &str, cell: &dyn Fn(u32) -> String| {
            let rows = (1..=24).map(|day| format!("2026-01-{day:02}\t{day}\t{}\n", cell(day)));
            let text = format!("date\ttps\t{name}\n{}", rows.collect::<String>());
            let history = of_file("f", &text, &HistoryQuestion::of_figures(&[])).unwrap();
            history.warnings.iter().any(|one| one.code == UNREAD)
        };
        let forms: [&dyn Fn(u32) -> String; 14] = [
            &|day| format!("583{day:02}/1000"),
            &|day| format!("58.{day}ms (1.2ms)"),
            &|day| format!("58.{day} (n=5)"),
            &|day| format!("avg=58.{day}ms"),
            &|day| format!("mean 58.{day}"),
            &|day| format!("OK 58.{day}"),
            &|day| format!("0xe3{day:02x}"),
            &|day| format!("US$58.{day}"),
            &|day| format!("€58.{day}"),
            &|day| format!("58.{day} PASS"),
            &|day| format!("58.{day}x"),
            &|day| format!("58.{day}Mi"),
            &|day| format!("{{'mean': 58.{day}}}"),
            &|day| if day == 3 { "fast".to_owned() } else { format!("1:{:02}", 20 + day) },
        ];
        for (at, form) in forms.iter().enumerate() {
            assert!(told("latency", form), "{at}: {}", form(1));
        }
        let labels: [(&str, &dyn Fn(u32) -> String); 14] = [
            ("server", &|day| format!("8.0.{day}")),
            ("server", &|day| format!("PostgreSQL 16.{day}")),
            ("commit", &|day| format!("{:07x}", 0x1f4_e9c0_u32.wrapping_mul(day))),
            ("built", &|day| format!("2026-01-{day:02} 02:00:07")),
            ("started", &|day| format!("02:00:{day:02}")),
            ("finished_at", &|day| format!("2:{day:02}")),
            ("run_url", &|day| format!("https://ci.example/runs/12{day}")),
            ("job", &|day| format!("nightly-{day}")),
            ("label", &|day| format!("{day} nightly")),
            ("build_id", &|day| format!("{day}.1 (main)")),
            ("subject", &|day| format!("Merge pull request #{day} from a/b")),
            ("kernel", &|day| format!("6.1.0-{day}-amd64")),
            ("ip", &|day| format!("10.0.0.{day}")),
            ("instance", &|day| if day < 12 { "8 cores".into() } else { "16 cores".into() }),
        ];
        for (name, label) in labels {
            assert!(!told(name, label), "{name}: {}", label(1));
        }
    }
}
