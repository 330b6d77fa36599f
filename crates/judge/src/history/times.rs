//! When the rows of a table were measured.
//!
//! ```text
//!   1/9/2026    9 January or 1 September      │ no row decides: refused
//!   1/20/2026   20 January, and so is the one above: month first
//! ```

use super::when::{Moment, parse};

/// The times of a column.
pub(super) struct Times {
    /// Milliseconds since 1970, row by row.
    pub(super) at: Vec<i64>,
    /// How dates were read, where that had to be found out.
    pub(super) note: Option<String>,
}

/// Whether a cell is written as a time and not as a plain number.
pub(super) fn is_time(cell: &str) -> bool {
    cell.parse::<f64>().is_err() && parse(cell).is_some()
}

/// Reads the cells of a column.
///
/// # Errors
/// The number of a row, and what is wrong with its cell.
pub(super) fn of_column(cells: &[&str]) -> Result<Times, (usize, String)> {
    const EXAMPLES: &str = "2024-01-31, 2024-01-31 12:00:00 UTC or seconds since 1970";
    let mut moments = Vec::with_capacity(cells.len());
    for (row, cell) in cells.iter().enumerate() {
        let moment =
            parse(cell).ok_or_else(|| (row, format!("{cell:?} is no time; write {EXAMPLES}")));
        moments.push(moment?);
    }
    let read = |is_day_first: bool| -> Result<Vec<i64>, usize> {
        let of = |(row, moment): (usize, &Moment)| match *moment {
            Moment::At(ms) => Ok(ms),
            Moment::Either { day_first: Some(ms), .. } if is_day_first => Ok(ms),
            Moment::Either { month_first: Some(ms), .. } if !is_day_first => Ok(ms),
            Moment::Either { .. } => Err(row),
        };
        moments.iter().enumerate().map(of).collect()
    };
    let is_open = |moment: &Moment| matches!(moment, Moment::Either { .. });
    match (read(true), read(false)) {
        (Ok(at), Ok(_)) => match moments.iter().position(is_open) {
            None => Ok(Times { at, note: None }),
            Some(row) => Err((
                row,
                format!(
                    "{:?} is of two months, by whether the day or the month stands first, and no \
                     row of the file decides it; write {EXAMPLES}",
                    cells[row]
                ),
            )),
        },
        (Ok(at), Err(row)) => Ok(Times { at, note: Some(read_as("day", cells[row])) }),
        (Err(row), Ok(at)) => Ok(Times { at, note: Some(read_as("month", cells[row])) }),
        (Err(row), Err(other)) => Err((
            row.max(other),
            format!(
                "{:?} can only have the day first and {:?} the month, or the other way round; write \
                 {EXAMPLES}",
                cells[row.min(other)],
                cells[row.max(other)]
            ),
        )),
    }
}

fn read_as(first: &str, decides: &str) -> String {
    format!("Dates are read with the {first} first, for {decides} can mean nothing else.")
}
