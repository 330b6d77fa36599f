//! When the rows of a table were measured.
//!
//! ```text
//!   1/9/2026    9 January or 1 September      │ no row decides: refused
//!   1/20/2026   20 January, and so is the one above: month first
//! ```

use super::when::{Moment, READINGS, Span, parse, span};

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
    let kind = match cells.iter().map(|cell| span(cell)).max() {
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
    let mut possible =
        tried.iter().enumerate().filter_map(|(at, one)| Some((at, one.as_ref().ok()?)));
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
                 no row of the file decides it; write {EXAMPLES}",
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

/// All of them by one reading, or the row that cannot have it.
fn read(moments: &[Moment], reading: usize) -> Result<Vec<i64>, usize> {
    let of = |(row, moment): (usize, &Moment)| match moment {
        Moment::At(ms) => Ok(*ms),
        Moment::Open(readings) => readings[reading].ok_or(row),
    };
    moments.iter().enumerate().map(of).collect()
}
