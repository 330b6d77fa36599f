//! Rows without a figure, and whether the latest ones are among them.
//!
//! ```text
//!   990 1003 · 997 1001 · 998      gaps that are usual in this column: left out, and told
//!   990 1003 995 997 1001 · · ·    the runs that a gate is asked about say nothing
//! ```
//!
//! A benchmark that fails leaves a blank, or `inf`, or `NaN`. A column that only every seventh row
//! has, or one of two that take turns, ends with gaps as long as those before: that is no sign.

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_model::latest_doubt::LATEST_MISSING;
use dbdyno_model::{Severity, Warning, foreign};

use super::UNREAD;
use super::order::Order;
use super::table::{RunWithoutRows, Table};
use super::when::{self, Moment};

/// The latest rows of which too many may be missing.
const LATEST: usize = 10;
/// So many of them, where that is not usual.
const MISSING_LEAST: usize = 3;
/// Nine of ten gaps are not longer than what is usual.
const USUAL: f64 = 0.9;
/// So many different things that stand there are named.
const CELLS_NAMED_MOST: usize = 3;

/// A row of a series.
#[derive(Clone, Debug)]
pub(super) struct HistoryCell<'a> {
    /// What the row is called.
    pub(super) label: String,
    /// What stands in it.
    pub(super) text: &'a str,
    pub(super) has_value: bool,
}

/// What is to be said of the rows without a value, which are in the order of time.
pub(super) fn gap_warnings(cells: &[HistoryCell<'_>]) -> Vec<Warning> {
    let missing = missing(cells);
    if missing == 0 {
        return Vec::new();
    }
    let text = format!("{missing} of {} rows without a value left out.", cells.len());
    let mut notes = vec![Warning::new(Severity::Note, "blanks", text)];
    if let Some(from) = untold_from(cells) {
        let late: Vec<&HistoryCell<'_>> =
            cells[from..].iter().filter(|cell| !cell.has_value).collect();
        let mut there: Vec<String> = late.iter().map(|cell| quoted(cell.text)).collect();
        there.sort();
        there.dedup();
        there.truncate(CELLS_NAMED_MOST);
        let text = format!(
            "Of the latest {} rows {} have no value ({}; {}): nothing is known of these runs, and a \
             gate cannot pass on them.",
            cells.len() - from,
            late.len(),
            there.join(", "),
            places(&late)
        );
        notes.push(Warning::new(Severity::Caution, LATEST_MISSING, text));
    }
    notes
}

/// What is to be said of series that have ended while others go on: each by the name of its part.
///
/// `parts` are names with their rows in order, `keys` the places of all rows in the order of time,
/// `asked` how many of the latest runs a gate looks at. A test that was taken away long ago is only
/// noted.
pub(super) fn ended_series(
    parts: &[(String, Vec<usize>)],
    keys: &[i64],
    asked: usize,
) -> BTreeMap<String, Warning> {
    let moments: BTreeSet<i64> =
        parts.iter().flat_map(|(_, rows)| rows).map(|&at| keys[at]).collect();
    let moments: Vec<i64> = moments.into_iter().collect();
    let place = |row: usize| moments.partition_point(|moment| *moment < keys[row]);
    let mut beginnings: BTreeMap<usize, &str> = BTreeMap::new();
    for (name, rows) in parts {
        if let Some(first) = rows.iter().map(|&row| place(row)).min() {
            beginnings.entry(first).or_insert(name);
        }
    }
    let mut ended = BTreeMap::new();
    for (name, rows) in parts {
        let places: BTreeSet<usize> = rows.iter().map(|&row| place(row)).collect();
        let Some(&last) = places.last() else { continue };
        let later = moments.len() - 1 - last;
        let ordered: Vec<usize> = places.iter().copied().collect();
        if later == 0 || (!is_in_every_run(&ordered) && !is_overdue(&ordered, later)) {
            continue;
        }
        let follows = beginnings.get(&(last + 1)).map_or_else(String::new, |other| {
            format!(
                " Where it ends {:?} begins: nothing compares the two; --by names the columns that \
                 part rows.",
                foreign::one_line(other)
            )
        });
        let text = format!(
            "It has no row in the latest {later} of {} runs, and others have: it ended, failed or \
             was renamed.{follows}",
            moments.len()
        );
        let is_late = later <= asked.max(LATEST);
        let severity = if is_late { Severity::Caution } else { Severity::Note };
        let code = if is_late { LATEST_MISSING } else { "ended" };
        ended.insert(name.clone(), Warning::new(severity, code, text));
    }
    ended
}

/// What is to be said of runs of which no benchmark is told: behind all rows they leave a doubt, as
/// blank rows do.
pub(super) fn runs_without_rows(table: &Table<'_>, order: &Order) -> Option<Warning> {
    let last = order.keys.iter().max().filter(|_| order.is_time).copied();
    let late = table.runs_without_rows.iter().filter(|run| is_after(run, last)).count();
    let first = table.runs_without_rows.first()?;
    let runs = format!(
        "{} have no benchmark at all, first {}",
        counted(table.runs_without_rows.len()),
        foreign::one_line(&first.place)
    );
    Some(match late {
        0 => Warning::new(Severity::Note, "blanks", format!("{runs}.")),
        late => {
            let text = format!(
                "{runs}, of them {late} after all others: nothing is known of these, and a gate \
                 cannot pass on them."
            );
            Warning::new(Severity::Caution, UNREAD, text)
        }
    })
}

/// Whether a run is after this moment, or may be.
fn is_after(run: &RunWithoutRows, moment: Option<i64>) -> bool {
    match (when::parse(&run.date), moment) {
        (Some(Moment::At(unix_ms)), Some(moment)) => unix_ms > moment,
        _ => true,
    }
}

fn counted(runs: usize) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}

/// Whether nine of ten steps from one place to the next pass over none.
fn is_in_every_run(places: &[usize]) -> bool {
    let steps = places.windows(2).count();
    let gaps = places.windows(2).filter(|two| two[1] - two[0] > 1).count();
    steps > 0 && gaps as f64 <= (1.0 - USUAL) * steps as f64
}

/// Whether something that is now and then in a run is missing in the latest ones for longer than
/// ever, and so many that others of it were due.
fn is_overdue(places: &[usize], later: usize) -> bool {
    let longest = places.windows(2).map(|two| two[1] - two[0]).max().unwrap_or(1);
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return false };
    later * places.len() / (last - first + 1) >= MISSING_LEAST && later > longest
}

fn quoted(cell: &str) -> String {
    if cell.is_empty() { "blank".to_owned() } else { format!("{:?}", foreign::one_line(cell)) }
}

/// The first row and the last one.
fn places(cells: &[&HistoryCell<'_>]) -> String {
    match cells {
        [] => String::new(),
        [one] => foreign::one_line(&one.label).into_owned(),
        [first, .., last] => {
            format!("{} to {}", foreign::one_line(&first.label), foreign::one_line(&last.label))
        }
    }
}

/// From which row on the latest ones lack more values than is usual.
fn untold_from(cells: &[HistoryCell<'_>]) -> Option<usize> {
    let n = cells.len();
    let end = cells.iter().rposition(|cell| cell.has_value).map_or(0, |last| last + 1);
    if n - end > usual_gap(&cells[..end]) {
        return Some(end);
    }
    let from = n.saturating_sub(LATEST);
    let late = missing(&cells[from..]);
    // Twice the share that the rows before lack.
    let is_unusual = late * from > 2 * missing(&cells[..from]) * (n - from);
    (late >= MISSING_LEAST && is_unusual).then_some(from)
}

/// How many have no value.
fn missing(cells: &[HistoryCell<'_>]) -> usize {
    cells.iter().filter(|cell| !cell.has_value).count()
}

/// The length of gaps that nine of ten steps from one value to the next do not exceed.
fn usual_gap(cells: &[HistoryCell<'_>]) -> usize {
    let present: Vec<usize> = (0..cells.len()).filter(|&at| cells[at].has_value).collect();
    let mut gaps: Vec<usize> = present.windows(2).map(|two| two[1] - two[0] - 1).collect();
    gaps.sort_unstable();
    let at = (USUAL * gaps.len() as f64) as usize;
    gaps.get(at.min(gaps.len().saturating_sub(1))).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn late(pattern: &str) -> Option<String> {
        let cell = |(at, c): (usize, char)| HistoryCell {
            label: format!("line {}", at + 2),
            text: if c == '!' { "inf" } else { "" },
            has_value: c == 'x',
        };
        let cells: Vec<HistoryCell<'_>> = pattern.chars().enumerate().map(cell).collect();
        let notes = gap_warnings(&cells);
        notes.into_iter().find(|note| note.code == LATEST_MISSING).map(|note| note.text)
    }

    #[test]
    fn latest_rows_without_a_value_are_told() {
        let text = late("xxxxxxxxxxxxxxx...").unwrap();
        assert!(
            text.contains("latest 3 rows 3 have no value (blank; line 17 to line 19)"),
            "{text}"
        );
        let text = late("xxxxxxxxxxxxxxx!").unwrap();
        assert!(text.contains("latest 1 rows 1") && text.contains("\"inf\"; line 17"), "{text}");
        assert!(late("xxxxxxxxxxxxxxx.x.x.x").is_some(), "three of the latest ten");
        assert!(late("xxxxx...xxxxxxxxxx.").is_some(), "one outage before makes it no usual one");
    }

    #[test]
    fn gaps_that_are_usual_are_no_sign() {
        for pattern in [
            "xxxxxxxxxxxxxxx",
            "x.x.x.x.x.x.x.x.x.x.",
            "x......x......x......x......",
            "xxx.xxxxxx.xxxxxxxx.xxx",
            "x",
        ] {
            assert_eq!(late(pattern), None, "{pattern}");
        }
    }
}
