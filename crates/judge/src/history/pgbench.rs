//! What pgbench writes of the intervals of a run.
//!
//! ```text
//!   --aggregate-interval  1345828501 5601 1542744 483552416 61 2573 …
//!                         start, transactions, Σ latency, Σ latency², least, largest: µs
//!   --progress            progress: 5.0 s, 7100.2 tps, lat 1.12 ms stddev 0.34, 0 failed
//!   -l alone              0 199 2241 0 1175850568 995598      a transaction a line: refused
//! ```
//!
//! Failed transactions are in neither rate nor latency: where there are any, they are a figure of
//! their own. Intervals of one run follow each other more closely than runs do, which a note says.
//! Source: PostgreSQL's manual of pgbench.

use crate::error::JudgeError;

use super::table::{Place, Row, Separator, Table, error_at};

/// Seconds since 1970 of 2001 and of 2096, between which starts lie.
const EPOCH: std::ops::Range<u64> = 1_000_000_000..4_000_000_000;
/// Cells of a line of a transaction, and of an interval.
const OF_TRANSACTION: std::ops::RangeInclusive<usize> = 6..=8;
const OF_INTERVAL: std::ops::RangeInclusive<usize> = 6..=15;
/// Where serialization and deadlock failures stand in an interval of all columns.
const FAILURES: std::ops::RangeInclusive<usize> = 13..=14;
/// Lines by which a log is known.
const LOOKED_AT: usize = 20;

/// What of pgbench's a text is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PgbenchOutput {
    Transactions,
    Intervals,
    Progress,
}

/// What of pgbench's a text is, if it is any.
pub(super) fn output_kind(text: &str) -> Option<PgbenchOutput> {
    let of_log = |is: &dyn Fn(&[u64]) -> bool| {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(LOOKED_AT);
        lines.clone().next().is_some()
            && lines.all(|line| numbers(line).is_some_and(|numbers| is(&numbers)))
    };
    if of_log(&is_interval) {
        return Some(PgbenchOutput::Intervals);
    }
    if of_log(&is_transaction) {
        return Some(PgbenchOutput::Transactions);
    }
    text.lines().any(|line| progress(line).is_some()).then_some(PgbenchOutput::Progress)
}

fn numbers(line: &str) -> Option<Vec<u64>> {
    let number = |word: &str| match word {
        "skipped" | "failed" | "serialization" | "deadlock" => Some(0),
        word => word.parse().ok(),
    };
    line.split_whitespace().map(number).collect()
}

/// The numbers of an interval: words may stand in those alone that are not looked at.
fn interval_numbers(line: &str) -> Option<Vec<u64>> {
    let all = numbers(line)?;
    let mut words = line.split_whitespace().enumerate();
    words
        .all(|(at, word)| {
            let is_read = at < *OF_INTERVAL.start() || FAILURES.contains(&at);
            !is_read || word.parse::<u64>().is_ok()
        })
        .then_some(all)
}

/// The mean of an interval lies between its least and its largest latency.
fn is_interval(of: &[u64]) -> bool {
    let [start, count, sum, _, least, largest, ..] = of else { return false };
    let mean = sum.checked_div(*count);
    OF_INTERVAL.contains(&of.len())
        && EPOCH.contains(start)
        && mean.is_none_or(|mean| (*least..=*largest).contains(&mean))
}

/// Client, number, latency, script, second, microsecond.
fn is_transaction(of: &[u64]) -> bool {
    OF_TRANSACTION.contains(&of.len()) && EPOCH.contains(&of[4]) && of[5] < 1_000_000
}

/// `progress: 5.0 s, 7100.2 tps, lat 1.12 ms …, 3 failed`: time, rate, latency and failures as they
/// stand; no word of failures is none. `ts` and logs put a time before it.
fn progress(line: &str) -> Option<[&str; 4]> {
    let mut parts = behind_progress(line)?.split(", ");
    let time = parts.next()?.strip_suffix(" s")?;
    let rate = parts.next()?.strip_suffix(" tps")?;
    let latency = parts.next()?.strip_prefix("lat ")?.split(' ').next()?;
    let failed = parts.find_map(|part| part.strip_suffix(" failed")).unwrap_or("0");
    let all = [time, rate, latency, failed];
    all.iter().all(|number| number.parse::<f64>().is_ok()).then_some(all)
}

/// Whether a line of progress is one of pgbench's, and whole, but has a word in place of how many
/// transactions failed.
fn has_unread_failures(line: &str) -> bool {
    let Some((before, _)) = line.trim().rsplit_once(" failed") else { return false };
    let Some((before, count)) = before.rsplit_once(", ") else { return false };
    count.parse::<f64>().is_err() && progress(before).is_some()
}

/// Whether a line has two of the words of a line of progress, and is none: one that is cut, or of
/// another form.
fn is_broken_progress(line: &str) -> bool {
    let words = ["progress: ", " tps", " lat "];
    progress(line).is_none() && words.iter().filter(|word| line.contains(**word)).count() > 1
}

/// Whether a line begins as one of progress, with its time, and is none.
fn is_cut(line: &str) -> bool {
    let time = behind_progress(line).and_then(|behind| behind.split_once(" s, "));
    progress(line).is_none() && time.is_some_and(|(time, _)| time.parse::<f64>().is_ok())
}

/// The first line of progress that is broken. Of a run that was killed the last one may be cut.
fn broken_line(text: &str) -> Option<usize> {
    let last = text.lines().filter(|line| !line.trim().is_empty()).count();
    let mut known = 0;
    text.lines().position(|line| {
        known += usize::from(!line.trim().is_empty());
        is_broken_progress(line) || (known < last && is_cut(line))
    })
}

/// What stands behind `progress: `, which is the first word, or one behind a blank.
fn behind_progress(line: &str) -> Option<&str> {
    let (before, behind) = line.trim().split_once("progress: ")?;
    (before.is_empty() || before.ends_with([' ', '\t'])).then_some(behind)
}

/// Reads intervals.
///
/// # Errors
/// A log of single transactions, a line that is of another form, and the intervals of two runs.
pub(super) fn read<'a>(
    name: &'a str,
    text: &str,
    output: PgbenchOutput,
) -> Result<Table<'a>, JudgeError> {
    match output {
        PgbenchOutput::Transactions => Err(error_at(
            name,
            1,
            1,
            "this is pgbench's log of single transactions (-l), and those of one run are no history; \
             give the log that it writes with --aggregate-interval, or write a row such as date,tps \
             for each run",
        )),
        PgbenchOutput::Intervals => intervals(name, text),
        PgbenchOutput::Progress => of_progress(name, text),
    }
}

fn intervals<'a>(name: &'a str, text: &str) -> Result<Table<'a>, JudgeError> {
    let mut rows = Vec::new();
    let mut last = 0;
    for (line, written) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let of = interval_numbers(written).filter(|of| is_interval(of)).ok_or_else(|| {
            let what = "this is no interval as pgbench writes it with --aggregate-interval: start \
                        transactions sum sum_of_squares least largest";
            error_at(name, line, 1, what)
        })?;
        if of[0] <= last {
            return Err(error_at(name, line, 1, &another_run("-j")));
        }
        last = of[0];
        let mean = |sum: u64| match of[1] {
            0 => String::new(),
            count => (sum as f64 / count as f64 / 1e3).to_string(),
        };
        let failed: u64 = of.get(FAILURES).unwrap_or_default().iter().sum();
        let cells = [of[0].to_string(), of[1].to_string(), mean(of[2]), failed.to_string()];
        rows.push(Row { place: Place::of_line(line), cells: cells.to_vec() });
    }
    let form = "pgbench's log with --aggregate-interval";
    Ok(table(name, form, ["time", "transactions", "latency_ms", "failed"], rows))
}

fn of_progress<'a>(name: &'a str, text: &str) -> Result<Table<'a>, JudgeError> {
    let mut rows = Vec::new();
    let mut last = 0.0;
    let mut is_since_1970 = true;
    if let Some(at) = text.lines().position(has_unread_failures) {
        let what = "how many transactions failed is no number here; pgbench prints `0 failed`";
        return Err(error_at(name, at + 1, 1, what));
    }
    if let Some(at) = broken_line(text) {
        let what = "this line has no time, rate and latency as pgbench prints them: `progress: 5.0 \
                    s, 7100.2 tps, lat 1.12 ms stddev 0.34, 0 failed`";
        return Err(error_at(name, at + 1, 1, what));
    }
    let told = (1..).zip(text.lines()).filter_map(|(line, text)| Some((line, progress(text)?)));
    for (line, [time, rate, latency, failures]) in told {
        let seconds: f64 = time.parse().unwrap_or_default();
        if seconds <= last {
            return Err(error_at(name, line, 1, &another_run("--progress")));
        }
        last = seconds;
        is_since_1970 &= EPOCH.contains(&(seconds as u64));
        let cells = [&(rows.len() + 1).to_string(), rate, latency, failures];
        rows.push((line, seconds, cells.map(str::to_owned).to_vec()));
    }
    let first = if is_since_1970 { "time" } else { "sequence" };
    let rows = rows.into_iter().map(|(line, seconds, mut cells)| {
        if is_since_1970 {
            cells[0] = (1e3 * seconds).round().to_string();
        }
        Row { place: Place::of_line(line), cells }
    });
    let form = "what pgbench prints with --progress";
    let mut table = table(name, form, [first, "tps", "latency_ms", "failed"], rows.collect());
    let written = text.lines().filter(|line| behind_progress(line).is_some()).count();
    let others = written - table.rows.len();
    if others > 0 {
        table.passed_over.push(format!(
            "{others} lines with `progress: ` have no time, rate and latency as pgbench prints \
             them and were left out."
        ));
    }
    Ok(table)
}

fn another_run(of: &str) -> String {
    format!(
        "this interval does not come behind the one before: another run begins here, or another \
         thread's log ({of}); give one of them, or write a row such as date,tps for each run"
    )
}

fn table<'a>(name: &'a str, form: &str, header: [&str; 4], mut rows: Vec<Row>) -> Table<'a> {
    let has_failures = rows.iter().any(|row| row.cells[3] != "0");
    let columns = if has_failures { 4 } else { 3 };
    let header = header[..columns].iter().map(|&head| head.to_owned()).collect();
    rows.iter_mut().for_each(|row| row.cells.truncate(columns));
    let mut table = Table::new(name, form, Separator::Tab, 1, header, rows);
    table.figures = Some((1..columns).collect());
    table.parting = Some(Vec::new());
    table.passed_over.push(
        "These are intervals of one run, which are more alike than runs are: what changes from one \
         to the next is a change within the run."
            .to_owned(),
    );
    table
}
