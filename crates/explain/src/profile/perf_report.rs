//! What `perf report --stdio` prints: a line for each function, with its share of all samples.
//!
//! ```text
//!   # Samples: 12K of event 'cpu-clock'
//!   # Children      Self  Command  Shared Object      Symbol
//!       11.76%     0.96%  mysqld   mysqld             [.] row_search_mvcc
//! ```
//!
//! Shares have two digits, and the number of samples as many as `12K` has: enough for a table, and
//! who calls whom is not in it. Samples stand for as many events as their periods say, and shares
//! are those of the events: where their count is told, functions have so many of it. Trees below a
//! line are passed over. Where the shares of all lines are less than the whole by more than
//! rounding explains, it is an excerpt, and the rest is put together. What `perf diff` prints looks
//! alike, and has differences where a report has shares: it is refused, as are two events, whose
//! samples cannot be added up, and a line of a function whose share cannot be read.
//!
//! What is copied from the screen of `perf report` has more: a sign before rows that can be opened,
//! and a bar for scrolling behind them.
//!
//! What `perf top` prints looks alike, and is of the last seconds before a screen was drawn, where
//! older samples fade: it has shares, and no number of samples. Two screens are not added up.
//!
//! ```text
//!   PerfTop:  104692 irqs/sec  kernel:99.5%  exact: 0.0% [4000Hz cycles],  (all, 56 CPUs)
//!   Samples: 45K of event 'cycles', 4000 Hz, Event count (approx.): 6457 lost: 0/0 drop: 0/0
//! ```

use std::borrow::Cow;
use std::collections::BTreeSet;

use dbdyno_model::LEFT_OUT;

use super::coverage::Coverage;
use super::filled::{filled_lines, is_digits};
use super::form::{
    CodePart, Form, MeasureUnit, ProfileError, ProfileMeasure, Weighing, plain_event, two_events,
    unit_of_periods,
};
use super::lost::LostSamples;
use super::programs::Threads;
use super::rate::{Sampling, perf_sampling};
use super::stack::cut_name;

/// Half of the last digit of a share: it is printed in hundredths of a per cent.
const SHARE_HALF: f64 = 5e-5;

/// What a report tells.
#[derive(Debug, PartialEq)]
pub(super) struct Report<'t> {
    pub(super) rows: Vec<Row<'t>>,
    pub(super) form: Form,
}

/// A line of a function.
#[derive(Debug, PartialEq)]
pub(super) struct Row<'t> {
    /// The program that it is of; empty where the report does not tell.
    pub(super) program: &'t str,
    /// Its name, or its file where it has none.
    pub(super) name: Cow<'t, str>,
    /// Its own share, and in the end what it weighs.
    pub(super) weight: f64,
}

/// What the head of a report tells.
#[derive(Default)]
struct Head<'t> {
    samples: Option<f64>,
    events: Option<f64>,
    lost: LostSamples,
    event: Option<&'t str>,
    part: CodePart,
    /// Screens of `perf top`.
    screens: usize,
    /// What a sample stands for, where the head has it.
    sampling: Option<Sampling>,
}

impl<'t> Head<'t> {
    fn line(&mut self, number: usize, line: &'t str) -> Result<(), ProfileError> {
        let line = line.trim_start().trim_start_matches("# ");
        self.lost.note_head(line);
        if let Some((_, rest)) = line.split_once("Event count (approx.):") {
            let number = rest.trim_start().split(' ').next().unwrap_or_default();
            self.events = self.events.or_else(|| count(number));
        }
        let event = match (line.strip_prefix("PerfTop:"), line.strip_prefix("Samples:")) {
            (Some(rest), _) => {
                self.screen(number)?;
                event_of_top(rest)
            }
            (None, Some(rest)) => {
                if rest.contains(" Hz,") || rest.contains(" lost: ") {
                    self.screen(number)?;
                }
                self.samples = self.samples.or_else(|| count(rest.split_whitespace().next()?));
                let event = rest.split_once("of event").map(|(_, event)| event);
                if let Some(group) = event.and_then(|event| event.strip_prefix('s')) {
                    return Err(group_refused(number, quoted(group)));
                }
                let event = event.map(quoted);
                self.part = event.map_or(self.part, CodePart::of_event);
                event.map(plain_event)
            }
            (None, None) => return Ok(()),
        };
        match (self.event, event.filter(|event| !event.is_empty())) {
            (Some(first), Some(event)) if first != event => Err(two_events(number, first, event)),
            (known, event) => {
                self.event = known.or(event);
                Ok(())
            }
        }
    }

    /// A screen of `perf top` begins.
    fn screen(&mut self, number: usize) -> Result<(), ProfileError> {
        self.screens += 1;
        let what = "another screen of `perf top` begins here, and what fades from one to the next \
                    cannot be added up; leave one in the file, or better give what `perf record` \
                    and `perf report --stdio` make of the same time";
        if self.screens > 1 { Err(ProfileError::new(number, what)) } else { Ok(()) }
    }

    /// What all functions together weigh, the weight of a sample, and what that counts.
    fn whole(&self) -> (f64, f64, MeasureUnit) {
        match (self.samples.filter(|_| self.screens == 0), self.events) {
            (Some(samples), Some(events)) => {
                (events, events / samples, unit_of_periods(self.event.unwrap_or_default()))
            }
            (Some(samples), None) => match self.sampling {
                Some(of) => (samples * of.sample_weight(), of.sample_weight(), of.weight_unit()),
                None => (samples, 1.0, MeasureUnit::Sample),
            },
            // Each hundredth of a per cent is one: more is not told.
            (None, _) => (10_000.0, 1.0, MeasureUnit::Share),
        }
    }
}

/// Reads a report; `None` where no line is one of a report.
///
/// # Errors
/// A line, and why it is no report that can be read.
pub(super) fn read(text: &str) -> Result<Option<Report<'_>>, ProfileError> {
    // A row has a share, and collapsed stacks are the largest of all texts: most have none.
    if !text.contains('%') {
        return Ok(None);
    }
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut head = Head { sampling: perf_sampling(text), ..Head::default() };
    let (mut columns, mut threads) = (None, Threads::default());
    let mut tables = Tables::default();
    for (number, line) in filled_lines(text) {
        let line = off_screen(line);
        if is_of_diff(line) {
            let what = "`perf diff` has printed this: differences of two profiles, and no profile; \
                        give the two files of perf.data, or what `perf report --stdio` prints of \
                        each";
            return Err(ProfileError::new(number, what));
        }
        head.line(number, line)?;
        columns = Columns::of(line).or(columns);
        let row = match function(line, columns) {
            Some(FunctionLine { row, file, whole, is_sure }) => {
                if !is_sure {
                    return Err(columns_unknown(number, columns.is_some()));
                }
                if !row.program.is_empty() {
                    threads.note_file(row.program, file);
                }
                tables.row(number, whole)?;
                Some(row)
            }
            None if is_unreadable(line) => return Err(ProfileError::new(number, UNREADABLE)),
            None => {
                tables.other(number, line)?;
                function_of_top(line).filter(|_| head.screens > 0)
            }
        };
        rows.extend(row);
    }
    if rows.is_empty() {
        return Ok(None);
    }
    let programs = threads.into_programs();
    tables.whole(rows.iter().map(|row| row.weight).sum(), rows.len())?;
    let (whole, sample, unit) = head.whole();
    let told: f64 = rows.iter().map(|row| row.weight).sum();
    let count = rows.iter().map(|row| &row.name).collect::<BTreeSet<_>>().len();
    let rounding = rows.len() as f64 * SHARE_HALF;
    for row in &mut rows {
        row.weight *= whole;
        row.program = programs.get(row.program).copied().unwrap_or(row.program);
    }
    let coverage = Coverage::of_table(told * whole, whole, rounding * whole);
    if coverage.rest > 0.0 {
        rows.push(Row { program: "", name: LEFT_OUT.into(), weight: coverage.rest });
    }
    let of = head.event.map_or_else(String::new, |event| format!(" of {event}"));
    let told = 100.0 * told.min(1.0);
    let tool = if head.screens > 0 { "`perf top`" } else { "`perf report`" };
    let form = Form {
        taken_for: format!("{tool}{of}, {count} functions, {told:.1} % of it{}", head.lost),
        measure: ProfileMeasure::of_unit(unit, head.event).with_part(head.part),
        weighing: Weighing::Unit(sample),
        coverage,
    };
    Ok(Some(Report { rows, form }))
}

/// Why a row is refused whose share is no number.
const UNREADABLE: &str = "this line of a function has a share that cannot be read; a share is \
                          `26.38%`: give what `perf report --stdio` has printed";

/// A group of events has a column of shares for each, below one name.
fn group_refused(number: usize, group: &str) -> ProfileError {
    let what = format!(
        "shares of several events, {group}, stand beside each other here; give those of one: what \
         `perf report --stdio --no-group` prints below the heading of one event, or `perf script` \
         of it"
    );
    ProfileError::new(number, what)
}

/// Columns of shares without names, or with others than the head has.
fn columns_unknown(number: usize, has_head: bool) -> ProfileError {
    let why = if has_head { "does not name them all" } else { "is missing" };
    let what = format!(
        "several shares stand in this line, and the line that names the columns {why}, so that \
         nobody knows which is the function's own: give all that `perf report --stdio` has \
         printed, with its line `# Overhead  Command  …` or `# Children  Self  …`, of one event"
    );
    ProfileError::new(number, what)
}

/// What stands behind a row on the screen of perf: the bar for scrolling, and its handle.
const BAR: [char; 10] = ['◆', '▒', '█', '░', '▓', '■', '│', '↑', '↓', '▮'];

/// A line of the screen as the same line of a file: without the sign of a row that can be opened,
/// `+   26.38%  mysqld …`, and without the bar behind it.
fn off_screen(line: &str) -> &str {
    let bare = line.trim_end().trim_end_matches(BAR);
    let line = if bare.ends_with(char::is_whitespace) { bare.trim_end() } else { line };
    let opened = line.trim_start().strip_prefix(['+', '-']);
    opened.filter(|rest| begins_with_share(rest)).unwrap_or(line)
}

/// Whether the first word behind a blank is a share.
fn begins_with_share(text: &str) -> bool {
    text.starts_with([' ', '\t'])
        && text.split_whitespace().next().is_some_and(|word| percent(word).is_some())
}

/// `26.38%`, in some languages `26,38%`.
fn percent(word: &str) -> Option<f64> {
    let number = word.strip_suffix('%')?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit() || b".,".contains(&byte));
    if is_number { number.replace(',', ".").parse::<f64>().ok() } else { None }
}

/// Whether a line is one of a function, and begins with a share that is no number.
fn is_unreadable(line: &str) -> bool {
    let line = line.trim_start();
    let mut words = line.split_whitespace();
    words.next().is_some_and(|word| word.ends_with('%') && percent(word).is_none())
        && ["[.]", "[k]", "[g]", "[u]"].iter().any(|mark| words.clone().any(|word| word == *mark))
}

/// The header of `perf diff`, or a line with a share and a difference: `19.76%  +3.20%  mysqld …`.
fn is_of_diff(line: &str) -> bool {
    let is_header =
        line.trim_start().starts_with('#') && line.contains("Baseline") && line.contains("Delta");
    let mut words = line.split_whitespace();
    let is_share = |word: &str| word.strip_suffix('%').is_some_and(|it| it.parse::<f64>().is_ok());
    let is_signed = |word: &str| word.starts_with(['+', '-']) && is_share(word);
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    is_header
        || (is_share(first) && is_signed(second))
        || (is_signed(first) && line.contains("[.]"))
}

/// ` 'cycles:u', 4000 Hz, …`: what stands in quotes, or all where nothing does.
fn quoted(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('\'').and_then(|rest| rest.split_once('\'')).map_or(text, |(event, _)| event)
}

/// `… exact: 0.0% [4000Hz cycles],  (all, 56 CPUs)`: the event.
fn event_of_top(text: &str) -> Option<&str> {
    let (_, inside) = text.split_once('[')?;
    let (inside, _) = inside.split_once(']')?;
    inside.split_once(' ').map(|(_, event)| plain_event(event))
}

/// `339.00 18.1% acpi_pm_read  [kernel.kallsyms]`, as `perf top` before Linux 3.0 has it.
fn function_of_top(line: &str) -> Option<Row<'_>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [samples, share, name @ .., object] = &words[..] else { return None };
    samples.parse::<f64>().ok()?;
    let share = share.strip_suffix('%')?.parse::<f64>().ok().filter(|share| *share > 0.0)?;
    let kernel = if object.starts_with("[kernel") { "_[k]" } else { "" };
    let joined = format!("{}{kernel}", cut_name(&name.join(" ")));
    (!name.is_empty()).then(|| Row { program: "", name: joined.into(), weight: share / 100.0 })
}

/// `12K`, `3M`, `870`.
fn count(text: &str) -> Option<f64> {
    let (number, times) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1e3),
        b'M' => (&text[..text.len() - 1], 1e6),
        b'G' => (&text[..text.len() - 1], 1e9),
        _ => (text, 1.0),
    };
    number.parse::<f64>().ok().map(|number| number * times).filter(|count| *count > 0.0)
}

/// Where the rows of a report are: two tables in one file cannot be added up.
#[derive(Default)]
struct Tables {
    first: Option<usize>,
    /// The share of the row before, and whether something else stands between.
    last: f64,
    is_parted: bool,
}

impl Tables {
    /// Rows fall: behind another line, one that rises is of another table.
    fn row(&mut self, number: usize, share: f64) -> Result<(), ProfileError> {
        let first = *self.first.get_or_insert(number);
        if self.is_parted && share > self.last && number > first {
            return Err(Tables::second(first, number));
        }
        (self.last, self.is_parted) = (share, false);
        Ok(())
    }

    /// A line that is no row of a function.
    fn other(&mut self, number: usize, line: &str) -> Result<(), ProfileError> {
        // Above the functions of a program or a file, `--hierarchy` prints its own share.
        self.is_parted |= line.split_whitespace().next().is_none_or(|word| percent(word).is_none());
        let line = line.trim_start().trim_start_matches("# ");
        let is_head = line.starts_with("Overhead") || line.starts_with("Samples:");
        match self.first {
            Some(first) if is_head => Err(Tables::second(first, number)),
            _ => Ok(()),
        }
    }

    fn second(first: usize, number: usize) -> ProfileError {
        let what = format!(
            "a second table of a report begins here, and the first one in line {first}: two profiles \
             cannot be added up; leave one in the file"
        );
        ProfileError::new(number, what)
    }

    /// Shares of one profile are no more than all of it, in so many rows.
    fn whole(&self, told: f64, rows: usize) -> Result<(), ProfileError> {
        if told <= (1.0 + rows as f64 * SHARE_HALF).min(ALL_MOST) {
            return Ok(());
        }
        let what = format!(
            "shares of functions add up to {:.1} % from here on: these are several tables, or lines \
             that stand twice; leave one table in the file, as `perf report --stdio` has printed it",
            100.0 * told
        );
        Err(ProfileError::new(self.first.unwrap_or(0), what))
    }
}

/// Shares of a whole are no more than this, however many there are: they are rounded.
const ALL_MOST: f64 = 1.05;

/// Where the columns of a report are, as its head names them: those of shares are not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Columns {
    command: Option<usize>,
    /// How many have shares, and which of them is a function's own.
    shares: usize,
    own: usize,
}

/// How the names of columns begin that have shares.
const SHARES: [&str; 7] = ["Overhead", "Children", "Self", "Latency", "sys", "usr", "guest"];

impl Columns {
    /// `# Children      Self  Command  Shared Object      Symbol`
    fn of(line: &str) -> Option<Columns> {
        let line = line.trim().trim_start_matches('#').trim_start();
        let behind = ["Overhead", "Children", "Latency", "Self"]
            .iter()
            .find_map(|name| line.strip_prefix(name))?;
        let separator = separator(behind.get(..1)?)?;
        let names = columns(line, separator).flat_map(|name| match name.split_once(' ') {
            Some((first @ "Overhead", second)) => vec![first, second.trim()],
            _ => vec![name],
        });
        let (shares, others): (Vec<&str>, Vec<&str>) =
            names.partition(|name| SHARES.contains(&name.split(' ').next().unwrap_or_default()));
        let command =
            others.iter().position(|name| *name == "Command" || name.ends_with(":Command"));
        let own =
            ["Self", "Overhead"].iter().find_map(|own| shares.iter().position(|name| name == own));
        Some(Columns { command, shares: shares.len(), own: own? })
    }
}

/// What stands between columns: two blanks or more, or what `-t` has put there.
fn separator(before_column: &str) -> Option<&str> {
    let (at, last) = before_column.char_indices().next_back()?;
    match last {
        ' ' => Some("  "),
        '\t' | ',' | ';' | '|' | ':' => Some(&before_column[at..]),
        _ => None,
    }
}

fn columns<'t>(line: &'t str, separator: &'t str) -> impl Iterator<Item = &'t str> {
    line.split(separator).map(str::trim).filter(|column| !column.is_empty())
}

/// A line of a function.
struct FunctionLine<'t> {
    row: Row<'t>,
    /// The file that it is of.
    file: &'t str,
    /// The share by which lines are sorted: with all that it calls, where that is told.
    whole: f64,
    /// Whether it is known which of its shares is its own.
    is_sure: bool,
}

/// A line of a function, with its own share.
fn function(line: &str, head: Option<Columns>) -> Option<FunctionLine<'_>> {
    // Stacks are passed here too, and are longer.
    percent(line.get(..=line.find('%')?)?.trim_start())?;
    let marks = [("[.] ", false), ("[k] ", true), ("[g] ", true), ("[u] ", false)];
    let (before, symbol, is_kernel) = marks.iter().find_map(|(mark, is_kernel)| {
        line.split_once(mark).map(|(before, behind)| (before, behind, *is_kernel))
    })?;
    let separator = separator(before)?;
    let symbol = columns(symbol, separator).next()?;
    let words = before.split(if separator == "  " { " " } else { separator }).map(str::trim);
    let shares: Vec<f64> = words.filter(|word| !word.is_empty()).map_while(percent).collect();
    // Of two without names, those of `--children`, the second is its own and not the larger one.
    let (share, is_sure) = match (&shares[..], head) {
        ([], _) => return None,
        ([share], None) => (*share, true),
        ([whole, share], None) => (*share, share <= whole),
        ([share, ..], None) => (*share, false),
        (all, Some(Columns { shares, own, .. })) => {
            (all.get(own).copied().unwrap_or(0.0), all.len() == shares)
        }
    };
    let others: Vec<&str> = columns(before, separator)
        .filter(|column| !column.split_whitespace().all(|word| percent(word).is_some()))
        .collect();
    let file = others.last().copied().unwrap_or_default();
    let command = match head {
        Some(Columns { command, .. }) => command.and_then(|at| others.get(at)),
        None => others.first().filter(|_| others.len() > 1),
    };
    let name = if symbol.starts_with("0x") {
        format!("[{}]", cut_name(file)).into()
    } else if is_kernel {
        format!("{}_[k]", cut_name(symbol)).into()
    } else {
        symbol.into()
    };
    let row = Row {
        program: command.map_or("", |command| without_number(command)),
        name,
        weight: share / 100.0,
    };
    (share > 0.0 || !is_sure).then_some(FunctionLine { row, file, whole: shares[0], is_sure })
}

/// `postgres` of `1234:postgres`.
fn without_number(command: &str) -> &str {
    let named = command.split_once(':').filter(|(number, _)| is_digits(number.trim()));
    named.map_or(command, |(_, name)| name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of several shares in a line the one is read that the head names, or none is.
    #[test]
    fn shares_are_told_by_the_names_of_their_columns() {
        let own = |text: &str| {
            let report = read(text)?.unwrap();
            Ok::<f64, ProfileError>((report.rows[0].weight / 100.0).round())
        };
        let rows = "    40.00%    30.00%  m  m  [.] a\n    60.00%    20.00%  m  m  [.] b\n";
        let with = |head: &str| own(&format!("#{head}  Command  Object  Symbol\n{rows}"));
        assert_eq!(with(" Overhead   Latency"), Ok(40.0));
        assert_eq!(with("  Latency  Overhead"), Ok(30.0));
        assert_eq!(with(" Children      Self"), Ok(30.0));
        assert_eq!(with(" Overhead       sys"), Ok(40.0));
        assert_eq!(own(rows), Ok(30.0), "as `--children` has it");
        let why = |answer: Result<f64, ProfileError>| answer.unwrap_err().what;
        assert!(why(with(" Overhead")).contains("does not name them all"));
        let turned = "    40.00%    50.00%  m  m  [.] a\n";
        assert!(why(own(turned)).contains("is missing"));
        for event in ["anon group { cycles, instructions }", "cycles, instructions"] {
            let head = format!("# Samples: 40K of events '{event}'\n# Overhead  Command  Symbol\n");
            let told = why(own(&(head + rows)));
            assert!(told.contains(event) && told.contains("--no-group"), "{told}");
        }
    }

    fn told(text: &str) -> Vec<(String, f64)> {
        let rows = read(text).unwrap().unwrap().rows.into_iter();
        rows.map(|row| (row.name.into_owned(), row.weight.round())).collect()
    }

    /// `-t` puts a sign between columns, and some languages have commas in numbers.
    #[test]
    fn columns_may_be_parted_by_signs_and_numbers_have_commas() {
        let expected = [("f(int)".to_owned(), 6_000.0), ("memcpy_[k]".to_owned(), 4_000.0)];
        for text in [
            "# Overhead,Command,Shared Object,Symbol\n60.00%,m,m,[.] f(int)\n40.00%,m,k,[k] memcpy\n",
            "# Overhead;Command;Shared Object;Symbol\n60.00%;m;m;[.] f(int)\n40.00%;m;k;[k] memcpy\n",
            "  40,00%  m  k  [k] memcpy\n  60,00%  m  m  [.] f(int)\n",
            "# Overhead sys  usr  Command\n 60.00% 0.00% 60.00%  m  m  [.] f(int)\n 40.00% \
             40.00% 0.00%  m  k  [k] memcpy\n",
        ] {
            let mut found = told(text);
            found.sort_by(|a, b| a.0.cmp(&b.0));
            assert_eq!(found, expected, "{text}");
            assert_eq!(read(text).unwrap().unwrap().rows[0].program, "m");
        }
    }

    #[test]
    fn two_tables_are_refused_with_the_lines_where_they_begin() {
        let rows = "  4.06%  m  [.] a\n  0.58%  m  [.] b\n";
        let (title, head) = ("From MyRocks\n", "# Overhead  Shared Object  Symbol\n");
        for (text, line) in [
            (format!("{rows}{title}\n  12.06%  m  [.] c\n"), 5),
            (format!("{rows}\n{rows}"), 4),
            (format!("{head}{rows}{head}  0.1%  m  [.] c\n"), 4),
        ] {
            let error = read(&text).unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(error.what.contains("a second table"), "{error}");
        }
        let little = "  60.00%  m  [.] a\n  40.00%  m  [.] b\n  3.00%  m  [.] c\n";
        assert!(read(little).unwrap_err().what.contains("add up to 103.0 %"));
        let twice = "  90.00%  m  [.] a\n  80.00%  m  [.] b\n";
        assert!(read(twice).unwrap_err().what.contains("add up to 170.0 %"));
    }

    /// A row whose share cannot be read was passed over, and the rest was called an excerpt.
    #[test]
    fn a_share_that_cannot_be_read_is_refused_with_its_line() {
        let of = |share: &str| {
            let row = format!("    {share}  m  m  [.] hot\n");
            read(&format!("# Samples: 4K of event 'cycles'\n    40.00%  m  m  [.] f\n{row}")).err()
        };
        assert_eq!(of("30.00%"), None);
        for share in ["nan%", "3O.00%", "inf%", "3e1%", "%"] {
            let error = of(share).unwrap();
            assert!(error.line == 3 && error.what.contains("cannot be read"), "{error}");
        }
    }

    /// Rows that can be opened have a sign, and all of them the bar for scrolling behind them.
    #[test]
    fn rows_of_the_screen_are_those_of_a_file() {
        let file = "  Children      Self  Command  Shared Object      Symbol\n   86.38%     0.00%  \
                    m  lib.so    [.] start_thread\n   57.85%    50.00%  m  m  [.] row_search\n    \
                    34.52%    34.52%  m  m  [.] rec_get(int, char)\n";
        let screen = "  Children      Self  Command  Shared Object      Symbol\n+   86.38%  \
                      0.00%  m  lib.so    [.] start_thread     ◆\n+   57.85%    50.00%  m  m  [.] row_search   \
                      ▒\n-   34.52%    34.52%  m  m  [.] rec_get(int, char) █\n     34.52% start_thread   \
                      ▒\n        row_search                  ▒\n";
        let expected =
            [("row_search", 5_000.0), ("rec_get(int, char)", 3_452.0), (LEFT_OUT, 1_548.0)];
        let expected: Vec<(String, f64)> =
            expected.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect();
        assert_eq!(told(file), expected);
        assert_eq!(told(screen), expected);
        let lines = "+   60.00%    60.00%  [.] sphere_trace         geometry.h:161\n+   40.00%  \
                     40.00%  [.] vec4_dot (inlined)      geometry.h:1\n";
        let names: Vec<String> = told(lines).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["sphere_trace", "vec4_dot (inlined)"]);
        assert_eq!(off_screen("100.00%  m  m  [.] operator|│"), "100.00%  m  m  [.] operator|│");
    }

    const REPORT: &str = "\
# Samples: 3K of event 'cpu-clock'
#
# Children      Self  Command          Shared Object      Symbol
# ........  ........  ...............  .................  .......
#
    11.76%     1.00%  mysqld           [kernel.kallsyms]  [k] exc_page_fault
            |
             --10.80%--exc_page_fault
                        --10.47%--handle_mm_fault

    11.73%     0.00%  mysqld           [kernel.kallsyms]  [k] asm_exc_page_fault
     9.10%     8.50%  mysqld           mysqld             [.] row_search_mvcc(unsigned char*, int)
     2.00%     2.00%  connection 12    mysqld             [.] 0x00000000012ab4
";

    #[test]
    fn functions_have_their_own_share_of_the_samples() {
        let rows = read(REPORT).unwrap().unwrap().rows;
        let rounded = rows.iter().map(|row| (row.program, &*row.name, row.weight.round()));
        assert_eq!(
            rounded.collect::<Vec<_>>(),
            [
                ("mysqld", "exc_page_fault_[k]", 30.0),
                ("mysqld", "row_search_mvcc(unsigned char*, int)", 255.0),
                ("mysqld", "[mysqld]", 60.0),
                ("", LEFT_OUT, 2_655.0),
            ]
        );
    }

    #[test]
    fn reports_without_callers_are_read_and_other_texts_are_none() {
        let flat = "     7.32%  mysqld  [kernel.kallsyms]  [k] clear_page_erms\n";
        let rows = read(flat).unwrap().unwrap().rows;
        assert_eq!((&*rows[0].name, rows[0].weight.round()), ("clear_page_erms_[k]", 732.0));
        assert_eq!(read("main;work;read 12\n"), Ok(None));
        assert_eq!(
            [count("12K"), count("2M"), count("870"), count("K")],
            [Some(12e3), Some(2e6), Some(870.0), None]
        );
    }
}
