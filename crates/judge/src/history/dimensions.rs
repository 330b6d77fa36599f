//! Columns that part the rows of a file into series.
//!
//! ```text
//!   date, test, threads, qps        each day has insert and scan, with 1 and with 8 threads:
//!   01-01 insert 1  …               four series, and no jump from one to the other
//!   01-01 insert 8  …
//! ```
//!
//! A column parts rows if its name says so (tests, hosts, clients), or if rows of one time differ
//! in it, or if it goes to and fro more often than an environment does. What changes rarely, such
//! as a kernel, is a fact: a candidate for the cause of a change.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::JudgeError;

use super::alike::{
    Values, cells_of_groups, is_nearly_all, rows_that_come_back, stretches_of_values, values_of,
};
use super::failures;
use super::order::Order;
use super::parameters;
use super::table::{Table, error_at};
use super::words;

/// Columns of this name part rows wherever they have several values.
const PARTING: [&str; 35] = [
    "branch",
    "host",
    "hostname",
    "machine",
    "runner",
    "arch",
    "benchmark",
    "bench",
    "benchmark_name",
    "test_name",
    "metric",
    "metric_name",
    "series",
    "load",
    "workload",
    "query",
    "case",
    "test",
    "suite",
    "scenario",
    "operation",
    "engine",
    "storage_engine",
    "database",
    "product",
    "threads",
    "clients",
    "connections",
    "concurrency",
    "vus",
    "users",
    "warehouses",
    "scale",
    "tables",
    "table_size",
];
/// Of these, those that name what was measured: rows of two names are never one series.
const MEASURED: [&str; 7] =
    ["benchmark", "bench", "benchmark_name", "test_name", "metric", "metric_name", "series"];
/// Columns of this name tell what a run was asked for, and no figure.
const ASKED: [&str; 27] = [
    "threads",
    "thread",
    "nthreads",
    "num_threads",
    "thd",
    "thr",
    "clients",
    "connections",
    "conns",
    "concurrency",
    "vus",
    "users",
    "user count",
    "user_count",
    "terminals",
    "warehouses",
    "scale",
    "scale_factor",
    "sf",
    "tables",
    "rows",
    "table_size",
    "seed",
    "port",
    "jobs",
    "iodepth",
    "batch_size",
];
/// Columns of this name are different from run to run, and part nothing.
const REMARKS: [&str; 22] = [
    "commit",
    "sha",
    "githash",
    "git_commit",
    "git_hash",
    "commit_id",
    "revision",
    "seed",
    "port",
    "author",
    "committer",
    "user",
    "message",
    "commit_message",
    "comment",
    "comments",
    "note",
    "notes",
    "description",
    "url",
    "weekday",
    "status",
];
/// Words of names of columns that say who did something.
const PEOPLE: [&str; 7] =
    ["author", "committer", "pusher", "reviewer", "submitter", "assignee", "actor"];
/// How names of columns end that have the account of somebody.
const ACCOUNTS: [&str; 3] = ["username", "login", "email"];
/// Words that end as versions do, and are none.
const OTHER_VERSIONS: [&str; 5] =
    ["conversion", "inversion", "reversion", "diversion", "subversion"];
/// Columns of this name tell of the environment, also where it is a number.
const ENVIRONMENT: [&str; 12] = [
    "kernel", "os", "gcc", "clang", "glibc", "libc", "distro", "driver", "java", "python", "node",
    "rustc",
];
/// Values of one column that part at most.
const VALUES_MOST: usize = 1_000;
/// Series of one file at most.
const SERIES_MOST: usize = 2_000;
/// What so many times have in common is no chance.
const SAME_TIMES_LEAST: usize = 3;
/// A value that came back so often is no change of the environment.
const RETURNS_LEAST: usize = 3;
/// Nor is one that came back more often than once in so many rows.
const ROWS_PER_RETURN: usize = 8;
/// Nor are values that nearly all came in so many stretches.
const STRETCHES_LEAST: usize = 4;
/// Of so many rows each at most: what changes once in hundreds of rows is the environment.
const ROWS_OF_STRETCH_MOST: usize = 32;

/// Whether the name of a column says that it is no figure.
pub(super) fn is_no_figure(table: &Table<'_>, column: usize) -> bool {
    let head = table.header[column].to_ascii_lowercase();
    let is_row_number = (head.is_empty() || head.starts_with("unnamed") || head == "index")
        && table.cells(column).enumerate().all(|(row, cell)| {
            cell.parse::<usize>().is_ok_and(|number| number == row || number == row + 1)
        });
    ASKED.contains(&head.as_str())
        || ENVIRONMENT.contains(&head.as_str())
        || is_of_versions(&head)
        || is_row_number
}

/// Whether a name has the word `version`, or one that ends so: `serverversion`, no `conversion`.
fn is_of_versions(head: &str) -> bool {
    let words = words::name_words(head);
    let singular = words.iter().map(|word| word.trim_end_matches('s'));
    singular
        .filter(|word| word.ends_with("version"))
        .any(|word| !OTHER_VERSIONS.iter().any(|other| word.ends_with(other)))
}

/// Whether a column is called after somebody who changed or ran something, or after what is
/// different from run to run.
fn is_of_remarks(table: &Table<'_>, column: usize) -> bool {
    let words = words::name_words(&table.header[column]);
    table.is_called(column, &REMARKS)
        || words.iter().any(|word| PEOPLE.contains(&word.as_str()))
        || words.last().is_some_and(|word| ACCOUNTS.contains(&word.as_str()))
}

/// The columns that part the rows. `fixed` have another role.
///
/// # Errors
/// A column that the user names and that is not there.
pub(super) fn dimension_columns(
    table: &Table<'_>,
    order: &Order,
    fixed: &[usize],
    figures: &[usize],
    asked: Option<&[String]>,
) -> Result<Vec<usize>, JudgeError> {
    if let Some(names) = asked {
        let mut columns: Vec<usize> =
            names.iter().map(|name| table.column_named(name)).collect::<Result<_, JudgeError>>()?;
        columns.sort_unstable();
        columns.dedup();
        return Ok(columns);
    }
    let is_free = |column: &usize| {
        let is_outcome = table.outcomes.iter().any(|(outcome, _)| outcome == column);
        !fixed.contains(column)
            && (!is_of_remarks(table, *column) || has_the_same_at_all_times(table, order, *column))
            && Some(*column) != order.by
            && !table.of_failures.contains(column)
            && !is_outcome
    };
    let free: Vec<usize> = (0..table.header.len()).filter(is_free).collect();
    let recurs = |column: usize| {
        let count = table.values(column).len();
        let is_measured = table.is_called(column, &MEASURED);
        (2..=VALUES_MOST).contains(&count) && (is_measured || 2 * count <= table.rows.len())
    };
    let may_part: Vec<usize> = free
        .iter()
        .filter(|column| !figures.contains(column))
        .copied()
        .filter(|&column| recurs(column))
        .collect();
    let (mut parting, mut open): (Vec<usize>, Vec<usize>) =
        may_part.into_iter().partition(|&column| table.is_called(column, &PARTING));
    let grid = figures.iter().copied().filter(|&column| free.contains(&column) && recurs(column));
    let mut grid: Vec<usize> = grid.collect();
    // What parts more comes first: of two names of one thing the second one parts nothing more.
    // What parts nothing by itself may part what another column leaves.
    loop {
        let more = match next_of_words(table, order, &parting, &open) {
            Some(column) => vec![column],
            None => next_of_numbers(table, order, &parting, &grid, figures),
        };
        if more.is_empty() {
            break;
        }
        open.retain(|column| !more.contains(column));
        grid.retain(|column| !more.contains(column));
        parting.extend(more);
    }
    parting.sort_unstable();
    Ok(parting)
}

/// The first of these columns of words that parts what is parted so far.
fn next_of_words(
    table: &Table<'_>,
    order: &Order,
    parting: &[usize],
    open: &[usize],
) -> Option<usize> {
    let parts = |column: &usize| match failures::outcome_words(table, *column) {
        // What is true or false may be asked for or have come out: each time has both, or neither
        // is known.
        Some(_) => is_even_at_all_times(table, order, parting, *column),
        None => {
            is_within_times(table, order, parting, *column)
                || goes_to_and_fro(table, order, parting, *column)
        }
    };
    open.iter().copied().find(parts)
}

/// Those of these columns of numbers that were asked for and not measured: one that is the same at
/// all times, or such that a figure hangs on them.
fn next_of_numbers(
    table: &Table<'_>,
    order: &Order,
    parting: &[usize],
    open: &[usize],
    figures: &[usize],
) -> Vec<usize> {
    let grid = open.iter().copied().find(|&column| is_grid(table, order, parting, column));
    match grid {
        Some(column) => vec![column],
        None => parameters::asked_columns(table, order, parting, open, figures),
    }
}

/// Whether rows that are alike in all that parts differ in this column.
pub(super) fn differ_within(table: &Table<'_>, parting: &[usize], column: usize) -> bool {
    let mut firsts: BTreeMap<Values<'_>, &str> = BTreeMap::new();
    (0..table.rows.len()).any(|row| {
        let cell = table.cell(row, column);
        let group = values_of(table, parting, row);
        !cell.is_empty() && *firsts.entry(group).or_insert(cell) != cell
    })
}

/// Whether rows that are alike in time and in all that parts already differ here, at least as often
/// as not.
fn is_within_times(table: &Table<'_>, order: &Order, parting: &[usize], column: usize) -> bool {
    let mut groups: BTreeMap<(i64, Values<'_>), (usize, BTreeSet<&str>)> = BTreeMap::new();
    for (row, &key) in order.keys.iter().enumerate() {
        let group = groups.entry((key, values_of(table, parting, row))).or_default();
        group.0 += 1;
        group.1.insert(table.cell(row, column));
    }
    let tied = || groups.values().filter(|(count, _)| *count > 1);
    let differ = tied().filter(|(_, values)| values.len() > 1).count();
    differ > 0 && 2 * differ >= tied().count()
}

/// Whether all rows that are alike in time and in all that parts already have as many of each
/// value.
fn is_even_at_all_times(
    table: &Table<'_>,
    order: &Order,
    parting: &[usize],
    column: usize,
) -> bool {
    let mut groups: BTreeMap<(i64, Values<'_>), BTreeMap<&str, usize>> = BTreeMap::new();
    for (row, &key) in order.keys.iter().enumerate() {
        let group = groups.entry((key, values_of(table, parting, row))).or_default();
        *group.entry(table.cell(row, column)).or_default() += 1;
    }
    groups.values().all(|counts| {
        let first = counts.values().next();
        counts.len() > 1 && counts.values().all(|count| Some(count) == first)
    })
}

/// Columns of outcomes that come and go while nothing says which one is good.
pub(super) fn unknown_outcomes(
    table: &Table<'_>,
    order: &Order,
    parting: &[usize],
    facts: &[usize],
) -> Vec<usize> {
    facts
        .iter()
        .copied()
        .filter(|&column| {
            failures::outcome_words(table, column).is_some()
                && goes_to_and_fro(table, order, parting, column)
        })
        .collect()
}

/// Whether a name has a word of the environment.
pub(super) fn is_of_environment(head: &str) -> bool {
    words::name_words(head).iter().any(|word| ENVIRONMENT.contains(&word.as_str()))
}

/// Whether values come back, among the rows that are alike in all that parts already.
fn goes_to_and_fro(table: &Table<'_>, order: &Order, parting: &[usize], column: usize) -> bool {
    cells_of_groups(table, order, parting, column).values().any(|cells| {
        let stretches = stretches_of_values(cells);
        let count: usize = stretches.values().map(|of| of.count).sum();
        let returns = count - stretches.len();
        (returns >= RETURNS_LEAST && ROWS_PER_RETURN * returns > cells.len())
            || (stretches.len() > 1
                && ROWS_OF_STRETCH_MOST * count >= cells.len()
                && is_nearly_all(rows_that_come_back(&stretches, STRETCHES_LEAST), cells.len()))
    })
}

/// Whether nearly all times have the same values, and more than one: no remark of a run does that.
fn has_the_same_at_all_times(table: &Table<'_>, order: &Order, column: usize) -> bool {
    let mut times: BTreeMap<i64, BTreeSet<&str>> = BTreeMap::new();
    for (row, &key) in order.keys.iter().enumerate() {
        times.entry(key).or_default().insert(table.cell(row, column));
    }
    let mut counts: BTreeMap<&BTreeSet<&str>, usize> = BTreeMap::new();
    times.values().for_each(|values| *counts.entry(values).or_default() += 1);
    counts.into_iter().any(|(values, count)| {
        values.len() > 1 && count >= SAME_TIMES_LEAST && 10 * count >= 9 * times.len()
    })
}

/// Whether each time has the same whole numbers, each once: no measurement does that.
fn is_grid(table: &Table<'_>, order: &Order, parting: &[usize], column: usize) -> bool {
    if !table.cells(column).all(|cell| cell.parse::<u64>().is_ok()) {
        return false;
    }
    let mut groups: BTreeMap<Values<'_>, BTreeMap<i64, Vec<&str>>> = BTreeMap::new();
    for (row, &key) in order.keys.iter().enumerate() {
        let times = groups.entry(values_of(table, parting, row)).or_default();
        times.entry(key).or_default().push(table.cell(row, column));
    }
    let is_one = |times: &mut BTreeMap<i64, Vec<&str>>| {
        times.values_mut().for_each(|cells| cells.sort_unstable());
        let mut all = times.values();
        let first = all.next().cloned().unwrap_or_default();
        let count = first.iter().collect::<BTreeSet<_>>().len();
        count > 1 && count == first.len() && times.len() > 2 && all.all(|cells| *cells == first)
    };
    groups.values_mut().all(is_one)
}

/// The rows of each series, and what it is called.
///
/// # Errors
/// There are more than can be looked at.
pub(super) fn rows_by_series(
    table: &Table<'_>,
    parting: &[usize],
    figures: usize,
) -> Result<Vec<(String, Vec<usize>)>, JudgeError> {
    let mut groups: BTreeMap<Vec<Part<'_>>, Vec<usize>> = BTreeMap::new();
    for row in 0..table.rows.len() {
        let parts = values_of(table, parting, row)
            .into_iter()
            .map(|value| Part(str::parse::<f64>(value).ok(), value))
            .collect();
        groups.entry(parts).or_default().push(row);
    }
    if groups.len() * figures > SERIES_MOST {
        let heads: Vec<&str> =
            parting.iter().map(|&column| table.header[column].as_str()).collect();
        let what = format!(
            "{} series by {}, of {figures} figures each, are more than {SERIES_MOST}; choose rows \
             with --where, figures with --metric, or columns that part rows with --by",
            groups.len(),
            heads.join(", ")
        );
        return Err(error_at(table.name, table.header_line, 1, &what));
    }
    let name = |parts: &[Part<'_>]| match parts {
        [part] if part.0.is_none() => part.1.to_owned(),
        _ => {
            let part = |(part, &column): (&Part<'_>, &usize)| {
                format!("{}={}", table.header[column], part.1)
            };
            parts.iter().zip(parting).map(part).collect::<Vec<String>>().join(", ")
        }
    };
    Ok(groups.into_iter().map(|(parts, rows)| (name(&parts), rows)).collect())
}

/// A value that parts: numbers by their size, and then texts.
#[derive(Clone, Copy, Debug)]
struct Part<'a>(Option<f64>, &'a str);

impl PartialEq for Part<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.1 == other.1
    }
}

impl Eq for Part<'_> {}

impl PartialOrd for Part<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Part<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_number = match (self.0, other.0) {
            (Some(one), Some(other)) => one.total_cmp(&other),
            (one, other) => other.is_some().cmp(&one.is_some()),
        };
        by_number.then_with(|| self.1.cmp(other.1))
    }
}
