//! In which order the rows of a table were measured.
//!
//! ```text
//!   a column of times, months, weeks ─▶ by these
//!   else numbers of builds            ─▶ by these
//!   else versions                     ─▶ 5.7.9 before 5.7.10
//!   else                              ─▶ refused: newest first turns every verdict round
//! ```
//!
//! Another column of times may tell the rows of a series in another order, as the dates of commits
//! do where old ones were measured late: which one counts is asked, not guessed. So is it where the
//! user's word and such a column say the opposite. Rows that are within a day by both are of no
//! other order: runs overlap, and clocks go back an hour.
//!
//! Rows of one time keep the direction that the file has; where it has none, and many rows are of
//! one time, they are refused as well.

use crate::error::JudgeError;

use super::asked::OrderAsked;
use super::table::{Table, error_at};
use super::{times, versions, when};

/// Columns of this name, whatever the case, tell the time of a row.
const TIMES: [&str; 16] = [
    "time",
    "timestamp",
    "date",
    "datetime",
    "started",
    "unix_ms",
    "created_at",
    "month",
    "ts",
    "epoch",
    "unix_time",
    "unixtime",
    "unix_ts",
    "unix_timestamp",
    "unix_seconds",
    "epoch_ms",
];
/// Columns of this name may tell the time of a day beside a column of dates.
const CLOCKS: [&str; 4] = ["time", "clock", "hour", "start_time"];
/// Parts of the names of columns that may tell times in eight digits.
const TIME_WORDS: [&str; 4] = ["date", "day", "time", "when"];
/// Columns of this name that have whole numbers count what was measured.
const BUILDS: [&str; 20] = [
    "build",
    "build_number",
    "build_no",
    "build_id",
    "buildnumber",
    "run",
    "run_id",
    "run_number",
    "number",
    "seq",
    "sequence",
    "iteration",
    "id",
    "job",
    "job_id",
    "pipeline",
    "revision",
    "rev",
    "changeset",
    "year",
];
/// Columns of which the name has this in it may tell versions.
const VERSION_WORDS: [&str; 3] = ["version", "release", "build"];
/// Columns of this name may tell versions.
const VERSIONS: [&str; 5] = ["tag", "label", "name", "server", "ver"];
/// Two versions that fall while time rises are a release that was taken back; so many are none.
const TURNED_LEAST: usize = 3;
/// So many rows of one time can hide a change whose direction nobody knows.
const TIED_MOST: usize = 5;

/// Milliseconds within which two columns of times are of one order, whatever they say.
const SAME_TIME_MS: i64 = 86_400_000;

/// The order of a table.
pub(super) struct Order {
    /// The column that tells it; `None` where the user does.
    pub(super) by: Option<usize>,
    /// The column with the time of the day, where that stands apart.
    pub(super) clock: Option<usize>,
    /// What its cells were taken for.
    pub(super) kind: &'static str,
    /// The place of each row, which several may have.
    pub(super) keys: Vec<i64>,
    /// Whether the places are milliseconds since 1970.
    pub(super) is_time: bool,
    /// How dates were read, where that had to be found out.
    pub(super) note: Option<String>,
}

/// The order that the user names, or the one that a column tells.
///
/// # Errors
/// None is known, or two are.
pub(super) fn table_order(
    table: &Table<'_>,
    asked: Option<&OrderAsked>,
) -> Result<Order, JudgeError> {
    let as_it_stands = |kind, sign: i64| Order {
        by: None,
        clock: None,
        kind,
        keys: (0..table.rows.len() as i64).map(|row| sign * row).collect(),
        is_time: false,
        note: None,
    };
    match asked {
        Some(OrderAsked::OldestFirst) => return Ok(as_it_stands("rows, the oldest first", 1)),
        Some(OrderAsked::NewestFirst) => return Ok(as_it_stands("rows, the newest first", -1)),
        Some(OrderAsked::Column(name)) => return by_column(table, table.column_named(name)?),
        None => {}
    }
    if let Some(column) = time_column(table)? {
        let order = by_times(table, column)?;
        return match turned_round(table, &order.keys, TURNED_LEAST) {
            Some(other) => Err(two_orders(table, column, other)),
            None => Ok(order),
        };
    }
    if let Some(order) = by_builds(table)? {
        return Ok(order);
    }
    if let Some(order) = by_versions(table)? {
        return Ok(order);
    }
    if table.rows.len() < 2 {
        return Ok(as_it_stands("rows, of which there is one", 1));
    }
    let what = format!(
        "no column tells in which order the rows were measured, and the other order turns every \
         verdict round; add a column called date, or say --order COLUMN, --order oldest-first or \
         --order newest-first; there are {}",
        table.header.join(", ")
    );
    Err(error_at(table.name, table.header_line, 1, &what))
}

fn by_column(table: &Table<'_>, column: usize) -> Result<Order, JudgeError> {
    let cells: Vec<&str> = table.cells(column).collect();
    let of = |keys, kind| Order {
        by: Some(column),
        clock: None,
        kind,
        keys,
        is_time: false,
        note: None,
    };
    let numbers =
        || cells.iter().map(|cell| cell.parse::<i64>().ok()).collect::<Option<Vec<i64>>>();
    let is_epoch = cells.iter().all(|cell| when::parse(cell).is_some());
    if is_epoch || cells.iter().any(|cell| times::is_time(cell)) {
        return by_times(table, column);
    }
    if let Some(keys) = numbers().or_else(|| versions::of_numbers(&cells)) {
        return Ok(of(keys, "numbers"));
    }
    if let Some(keys) = versions::version_ranks(&cells) {
        return Ok(of(keys, "versions"));
    }
    Err(table.refuse_column(
        column,
        "these cells are no times, no versions and no whole numbers, so that they tell no order",
    ))
}

fn by_times(table: &Table<'_>, column: usize) -> Result<Order, JudgeError> {
    let clock = (0..table.header.len()).find(|&clock| is_clock(table, clock));
    let clock = clock
        .filter(|_| table.cells(column).all(|cell| !cell.contains(':') && times::is_time(cell)));
    let mut told: Vec<String> = table.cells(column).map(str::to_owned).collect();
    if let Some(clock) = clock {
        let times = table.cells(clock);
        told.iter_mut().zip(times).for_each(|(date, time)| *date = format!("{date} {time}"));
    }
    let cells: Vec<&str> = told.iter().map(String::as_str).collect();
    let times =
        times::of_column(&cells).map_err(|(row, what)| table.refuse_cell(row, column, &what))?;
    Ok(Order {
        by: Some(column),
        clock,
        kind: times.kind,
        keys: times.at,
        is_time: true,
        note: times.note,
    })
}

/// Whether a column tells the time of a day and no day.
fn is_clock(table: &Table<'_>, column: usize) -> bool {
    table.is_called(column, &CLOCKS) && table.cells(column).all(when::is_clock)
}

fn time_column(table: &Table<'_>) -> Result<Option<usize>, JudgeError> {
    let is_time = |&column: &usize| {
        let is_moment = table.cells(column).any(|cell| when::parse(cell).is_some());
        is_moment || !(table.is_numeric(column) || is_clock(table, column))
    };
    // A column called time that tells durations leaves it to one called date.
    let named = TIMES.iter().filter_map(|name| table.column(name)).find(is_time);
    match named {
        Some(column) => Ok(Some(column)),
        None => time_by_contents(table),
    }
}

/// The column that tells times under a name of its own.
fn time_by_contents(table: &Table<'_>) -> Result<Option<usize>, JudgeError> {
    let columns = 0..table.header.len();
    let found: Vec<usize> = columns.filter(|&column| tells_times(table, column)).collect();
    let keys = |column: usize| by_times(table, column).ok().map(|order| order.keys);
    if let [first, others @ ..] = &found[..]
        && let Some(&other) = others.iter().find(|&&other| {
            keys(other).zip(keys(*first)).is_none_or(|(other, first)| are_at_odds(&other, &first))
        })
    {
        return Err(two_orders(table, *first, other));
    }
    // Of two that agree, the finer one: the beginning of a whole measurement is that of each row.
    let finest = found.into_iter().rev();
    Ok(finest.max_by_key(|&column| keys(column).map_or(0, |keys| count(&keys))))
}

/// Whether each cell of a column is a moment; digits alone are one where the head says so.
fn tells_times(table: &Table<'_>, column: usize) -> bool {
    let head = table.header[column].to_ascii_lowercase();
    let may_be_digits = TIME_WORDS.iter().any(|word| head.contains(word));
    table
        .cells(column)
        .all(|cell| if may_be_digits { when::parse(cell).is_some() } else { times::is_time(cell) })
}

/// Whether some two rows stand one way by the one and the other way by the other.
fn are_at_odds(one: &[i64], other: &[i64]) -> bool {
    let mut rows: Vec<usize> = (0..one.len()).collect();
    rows.sort_by_key(|&row| (one[row], other[row]));
    !rows.is_sorted_by_key(|&row| other[row])
}

fn two_orders(table: &Table<'_>, first: usize, other: usize) -> JudgeError {
    let what = format!(
        "{:?} and {:?} tell two orders of the rows; say which one counts with --order {}",
        table.header[first], table.header[other], table.header[first]
    );
    table.refuse_column(other, &what)
}

/// A column of builds or versions that falls wherever the places rise: releases were measured from
/// the newest back, or one of the two stands the wrong way round. With fewer than `least` of them
/// that is no sign.
fn turned_round(table: &Table<'_>, keys: &[i64], least: usize) -> Option<usize> {
    let turned: Vec<i64> = keys.iter().map(|key| -key).collect();
    (0..table.header.len()).find(|&column| {
        let cells = || table.cells(column).collect::<Vec<_>>();
        let ranks = if table.is_called(column, &BUILDS) {
            versions::of_numbers(&cells())
        } else if is_versions(table, column) {
            versions::version_ranks(&cells())
        } else {
            None
        };
        let ranks = ranks.filter(|ranks| count(ranks) >= least);
        ranks.is_some_and(|ranks| are_at_odds(&ranks, keys) && !are_at_odds(&ranks, &turned))
    })
}

/// By columns that count, if they agree.
fn by_builds(table: &Table<'_>) -> Result<Option<Order>, JudgeError> {
    let ranks = |cells: &[&str]| versions::of_numbers(cells);
    let Some((column, keys)) = the_one(table, |column| table.is_called(column, &BUILDS), ranks)?
    else {
        return Ok(None);
    };
    // Versions that fall while builds grow: one of the two stands the wrong way round.
    if let Some(other) = turned_round(table, &keys, 2) {
        return Err(two_orders(table, column, other));
    }
    let kind = "numbers of builds";
    Ok(Some(Order { by: Some(column), clock: None, kind, keys, is_time: false, note: None }))
}

fn by_versions(table: &Table<'_>) -> Result<Option<Order>, JudgeError> {
    let found = the_one(table, |column| is_versions(table, column), versions::version_ranks)?;
    Ok(found.map(|(column, keys)| Order {
        by: Some(column),
        clock: None,
        kind: "versions",
        keys,
        is_time: false,
        note: None,
    }))
}

fn is_versions(table: &Table<'_>, column: usize) -> bool {
    let head = table.header[column].to_ascii_lowercase();
    table.is_called(column, &VERSIONS) || VERSION_WORDS.iter().any(|word| head.contains(word))
}

/// The column with most places among those that tell an order; they must agree.
fn the_one(
    table: &Table<'_>,
    is_candidate: impl Fn(usize) -> bool,
    ranks: impl Fn(&[&str]) -> Option<Vec<i64>>,
) -> Result<Option<(usize, Vec<i64>)>, JudgeError> {
    let mut best: Option<(usize, Vec<i64>)> = None;
    for column in (0..table.header.len()).filter(|&column| is_candidate(column)) {
        let cells: Vec<&str> = table.cells(column).collect();
        let Some(keys) = ranks(&cells).filter(|keys| count(keys) > 1) else { continue };
        match &best {
            Some((first, known)) if are_at_odds(known, &keys) => {
                return Err(two_orders(table, *first, column));
            }
            Some((_, known)) if count(known) >= count(&keys) => {}
            _ => best = Some((column, keys)),
        }
    }
    Ok(best)
}

fn count(keys: &[i64]) -> usize {
    let mut keys = keys.to_vec();
    keys.sort_unstable();
    keys.dedup();
    keys.len()
}

/// A column of times beside what the order is of.
pub(super) struct OtherTimes {
    column: usize,
    at: Vec<i64>,
}

/// The columns of times whose order was not asked for by name, where one may contradict that of
/// the rows.
pub(super) fn other_times(
    table: &Table<'_>,
    order: &Order,
    asked: Option<&OrderAsked>,
) -> Vec<OtherTimes> {
    if matches!(asked, Some(OrderAsked::Column(_))) || (asked.is_none() && !order.is_time) {
        return Vec::new();
    }
    let columns = (0..table.header.len()).filter(|&column| {
        let is_known = order.by == Some(column) || order.clock == Some(column);
        !is_known && (tells_times(table, column) || is_named_time(table, column))
    });
    let times = columns.filter_map(|column| {
        let order = by_times(table, column).ok()?;
        Some(OtherTimes { column, at: order.keys })
    });
    times.collect()
}

/// Whether a column is called after times and has one in each cell, as numbers perhaps.
fn is_named_time(table: &Table<'_>, column: usize) -> bool {
    let mut cells = table.cells(column);
    table.is_called(column, &TIMES)
        && cells.all(|cell| when::parse(cell).is_some() && !when::is_clock(cell))
}

impl OtherTimes {
    /// Refuses rows of a series, in the order of the file, that these times put into another order.
    ///
    /// # Errors
    /// Which two orders there are, and what decides.
    pub(super) fn check_rows(
        &self,
        table: &Table<'_>,
        order: &Order,
        rows: &[usize],
    ) -> Result<(), JudgeError> {
        let places: Vec<i64> = rows.iter().map(|&row| order.keys[row]).collect();
        let times: Vec<i64> = rows.iter().map(|&row| self.at[row]).collect();
        if let Some(by) = order.by {
            let is_other = goes_back(&places, &times, SAME_TIME_MS)
                || goes_back(&times, &places, SAME_TIME_MS);
            return if is_other { Err(two_orders(table, by, self.column)) } else { Ok(()) };
        }
        let turned: Vec<i64> = places.iter().map(|place| -place).collect();
        if !goes_back(&places, &times, 0) || goes_back(&turned, &times, 0) {
            return Ok(());
        }
        let is_falling = times.is_sorted_by(|one, other| one >= other);
        let first = if is_falling { "newest" } else { "oldest" };
        let head = &table.header[self.column];
        let what = format!(
            "{head:?} says that the {first} rows stand first, and --order says the opposite; say \
             --order {head}, or --order {first}-first, or leave the column out if it tells something \
             else"
        );
        Err(table.refuse_column(self.column, &what))
    }
}

/// Whether some row has an earlier time than another whose place is lower, by more than so much.
fn goes_back(places: &[i64], times: &[i64], least: i64) -> bool {
    let mut rows: Vec<usize> = (0..places.len()).collect();
    rows.sort_by_key(|&row| places[row]);
    let (mut latest, mut from) = (i64::MIN, 0);
    rows.iter().any(|&row| {
        while places[rows[from]] < places[row].saturating_sub(least) {
            latest = latest.max(times[rows[from]]);
            from += 1;
        }
        latest > times[row]
    })
}

/// How rows came into their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RowArrangement {
    AsTheyStand,
    TurnedRound,
    Sorted,
}

/// Puts rows of one series, in the order of the file, into that of their places.
///
/// # Errors
/// How many rows have one place, where the file does not say which of them came first.
pub(super) fn arrange_rows(rows: &mut [usize], keys: &[i64]) -> Result<RowArrangement, usize> {
    let is_constant = rows.iter().all(|&row| keys[row] == keys[rows[0]]);
    if !is_constant && rows.is_sorted_by_key(|&row| keys[row]) {
        return Ok(RowArrangement::AsTheyStand);
    }
    let is_falling = rows.is_sorted_by(|&one, &other| keys[one] >= keys[other]);
    if !is_constant && is_falling {
        rows.reverse();
        return Ok(RowArrangement::TurnedRound);
    }
    rows.sort_by_key(|&row| keys[row]);
    let tied = rows.chunk_by(|&one, &other| keys[one] == keys[other]).map(<[usize]>::len).max();
    match tied {
        Some(tied) if tied > TIED_MOST => Err(tied),
        _ if is_constant => Ok(RowArrangement::AsTheyStand),
        _ => Ok(RowArrangement::Sorted),
    }
}
