//! When the rows of a table were measured.
//!
//! ```text
//!   1/9/2026    9 January or 1 September      │ no row decides: refused
//!   1/20/2026   20 January, and so is the one above: month first
//! ```

use std::collections::BTreeSet;

use super::when::{Moment, READINGS, Span, parse, time_span};

/// The times of a column.
pub(super) struct Times {
    /// Milliseconds since 1970, row by row.
    pub(super) at: Vec<i64>,
    /// What the cells tell: times, weeks, months or quarters.
    pub(super) kind: &'static str,
    /// How dates were read, where that had to be found out.
    pub(super) note: Option<String>,
}

const EXAMPLES: &str =
    "2024-01-31, 2024-01-31 12:00:00 UTC, 2024-03, 2024-W09 or seconds since 1970";

/// Whether a cell is written as a time and not as a plain number.
pub(super) fn is_time(cell: &str) -> bool {
    cell.parse::<f64>().is_err() && parse(cell).is_some()
}

/// Reads the cells of a column.
///
/// # Errors
/// The number of a row, and what is wrong with its cell.
pub(super) fn of_column(cells: &[&str]) -> Result<Times, (usize, String)> {
    let mut moments = Vec::with_capacity(cells.len());
    for (row, cell) in cells.iter().enumerate() {
        let moment =
            parse(cell).ok_or_else(|| (row, format!("{cell:?} is no time; write {EXAMPLES}")));
        moments.push(moment?);
    }
    let kind = match cells.iter().map(|cell| time_span(cell)).max() {
        Some(Span::Week) => "weeks",
        Some(Span::Month) => "months",
        Some(Span::Quarter) => "quarters",
        _ => "times",
    };
    let Some(open) = moments.iter().position(|one| matches!(one, Moment::Open(_))) else {
        let at = read(&moments, 0).unwrap_or_default();
        return Ok(Times { at, kind, note: None });
    };
    // A reading that one row cannot have is none of any row.
    let tried: Vec<Result<Vec<i64>, usize>> =
        (0..READINGS.len()).map(|reading| read(&moments, reading)).collect();
    let possible = tried.iter().enumerate().filter_map(|(at, one)| Some((at, one.as_ref().ok()?)));
    let possible: Vec<(usize, &Vec<i64>)> = possible.collect();
    if let Some((reading, why)) = by_course(cells, &possible) {
        let at = possible.iter().find(|(known, _)| *known == reading);
        let at = at.map_or_else(Vec::new, |(_, at)| (*at).clone());
        let note = format!("Dates are read with the {} first: {why}.", READINGS[reading]);
        return Ok(Times { at, kind, note: Some(note) });
    }
    let mut possible = possible.into_iter();
    match (possible.next(), possible.next()) {
        (Some((reading, at)), None) => {
            let first = READINGS[reading];
            let decides = (0..tried.len()).filter(|&other| other != reading);
            let decides = decides.filter_map(|other| tried[other].as_ref().err()).max();
            let cell = decides.map_or(cells[open], |&row| cells[row]);
            let note = format!(
                "Dates are read with the {first} first, for {cell:?} can mean nothing else."
            );
            Ok(Times { at: at.clone(), kind, note: Some(note) })
        }
        (Some(_), Some(_)) => Err((
            open,
            format!(
                "{:?} is of two months, by whether the day, the month or the year stands first, and \
                 no row of the file decides it; write the year first and with four digits: {EXAMPLES}",
                cells[open]
            ),
        )),
        (None, _) => {
            let at_odds = tried[..2].iter().filter_map(|one| one.as_ref().err());
            let (least, most) = at_odds
                .fold((usize::MAX, 0), |(least, most), &row| (least.min(row), most.max(row)));
            Err((
                most,
                format!(
                    "{:?} and {:?} cannot both have the day first, nor both the month; write \
                     {EXAMPLES}",
                    cells[least.min(most)],
                    cells[most]
                ),
            ))
        }
    }
}

/// Dates from which on their course tells something: of five, two orders of 120 go one way.
const DATES_TELLING: usize = 5;

/// Which reading is meant where the day or the year may stand first, and why: rows stand in the
/// order of their dates, or a year is what all dates have in common. `30/01/24`, `31/01/24`,
/// `01/02/24` go on by days, and would jump by years.
fn by_course(cells: &[&str], possible: &[(usize, &Vec<i64>)]) -> Option<(usize, String)> {
    const DAY: usize = 0;
    const YEAR: usize = 2;
    let [(DAY, by_day), (YEAR, by_year)] = possible else { return None };
    let dates: BTreeSet<(&i64, &i64)> = by_day.iter().zip(*by_year).collect();
    if dates.len() < DATES_TELLING {
        return None;
    }
    let why = |other: &str| {
        format!("rows stand in the order of their dates, and with the {other} first they do not")
    };
    match (goes_one_way(by_day), goes_one_way(by_year)) {
        (true, false) => Some((DAY, why("year"))),
        (false, true) => Some((YEAR, why("day"))),
        (false, false) => None,
        (true, true) => {
            let dates = cells.iter().filter_map(|cell| cell.split([' ', 'T']).next());
            let last: BTreeSet<&str> =
                dates.filter_map(|date| date.rsplit(['/', '-']).next()).collect();
            let year = last.first().filter(|year| last.len() == 1 && **year != "01")?;
            Some((DAY, format!("all of them have {year} last, which is a year and no day")))
        }
    }
}

fn goes_one_way(at: &[i64]) -> bool {
    at.is_sorted() || at.is_sorted_by(|one, other| one >= other)
}

/// All of them by one reading, or the row that cannot have it.
fn read(moments: &[Moment], reading: usize) -> Result<Vec<i64>, usize> {
    let of = |(row, moment): (usize, &Moment)| match moment {
        Moment::At(ms) => Ok(*ms),
        Moment::Open(readings) => readings[reading].ok_or(row),
    };
    moments.iter().enumerate().map(of).collect()
}
