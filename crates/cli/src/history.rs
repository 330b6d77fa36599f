//! `dbdyno history`: what the stored runs, or a file of figures, say over time.

use std::path::PathBuf;

use clap::ValueEnum;
use dbdyno_judge::history::{
    self, DecimalMark, FileAsked, Gathering, HistoryQuestion, LEFT_OUT, OrderAsked, UNREAD,
};
use dbdyno_lab::input;
use dbdyno_model::{
    BenchmarkHistory as Told, Better, HistorySeries, Severity, Shift, ShiftWeight, Slide,
    USUAL_BUDGET_TEXT, Warning,
};
use dbdyno_report::HistoryExtent;
use dbdyno_store::StoreError;

use crate::args::{Format, Place, Shape};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::values::parse_share;
use crate::{output, session};

/// A file of figures is not larger than this.
const FILE_MOST: u64 = 64 << 20;

/// The flags of `dbdyno history`; what it does is said where the command is defined.
#[derive(Debug, clap::Args)]
pub(crate) struct History {
    /// CSV with a header, JSON (lines, an array, data.js of github-action-benchmark), a Markdown
    /// table, Influx's line protocol, or the intervals of pgbench; times, builds or versions give
    /// the order, each test, host or number of clients is a series, other columns of numbers are
    /// figures; - for stdin. Without it, the stored runs
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Only these loads, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "LOAD", conflicts_with = "file")]
    pub load: Vec<String>,
    /// Only these numbers of clients, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "N", conflicts_with = "file")]
    pub clients: Vec<u32>,
    /// Figures, separated by commas: rqps, rate, cpu, p99, rcpu, rp99 (r: test ÷ base), or columns
    /// of the file [default: rqps, without a common base rate; all columns of numbers]
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub metric: Vec<String>,
    /// Only rows of the file in which a column has this value; repeat it for several conditions
    #[arg(long = "where", value_name = "COLUMN=VALUE", requires = "file",
          value_parser = parse_filter)]
    pub filter: Vec<(String, String)>,
    /// Whether higher or lower values are better, for columns of a file
    #[arg(long, value_enum, requires = "file")]
    pub better: Option<Direction>,
    /// Order of the rows of the file: oldest-first, newest-first, or a column of times, versions or
    /// numbers [default: a column that tells it; none is refused]
    #[arg(long, value_name = "ORDER", requires = "file", value_parser = parse_order)]
    pub order: Option<OrderAsked>,
    /// Columns of the file of which each combination of values is a series, separated by commas;
    /// an empty name for none [default: those that tell tests, hosts or clients apart]
    #[arg(long, value_delimiter = ',', value_name = "COLUMN", requires = "file")]
    pub by: Option<Vec<String>>,
    /// What stands before decimals in the file [default: what its cells say]
    #[arg(long, value_enum, value_name = "MARK", requires = "file")]
    pub decimal: Option<Mark>,
    /// Which of several Markdown tables of the file
    #[arg(long, value_name = "N", requires = "file",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub table: Option<u32>,
    /// Smallest change that raises an alarm
    #[arg(long, value_name = "SHARE", default_value = USUAL_BUDGET_TEXT,
          value_parser = parse_share)]
    pub budget: f64,
    /// A change raises an alarm if a value of the new level lies beyond one of the old level with
    /// at least this probability
    #[arg(long, value_name = "SHARE", default_value = "90%", value_parser = parse_superiority)]
    pub superiority: f64,
    /// Use the latest N values only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub last: Option<u32>,
    /// Condition for scripts: exit 1 if a change to the worse alarms that begins within the latest
    /// N values of a series, or first alarmed with one of them; 3 if a series is too short to
    /// tell, slides to the worse there, changes there while nothing says which direction is good,
    /// its latest runs have no figure or verdict, or lie far to the worse and are too few to be a
    /// level, or a run cannot be read; else 0
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub gate: Option<u32>,
    /// In text: print every series, also those without a change
    #[arg(long)]
    pub all: bool,
    /// Also write a page with charts to this file
    #[arg(long, short, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub shape: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Direction {
    Higher,
    Lower,
}

/// What stands before decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mark {
    Point,
    Comma,
}

impl History {
    /// What the flags say about a file.
    fn of_file(&self) -> FileAsked {
        let by = self.by.as_ref();
        FileAsked {
            order: self.order.clone(),
            by: by.map(|names| names.iter().filter(|name| !name.is_empty()).cloned().collect()),
            decimal: self.decimal.map(|mark| match mark {
                Mark::Point => DecimalMark::Point,
                Mark::Comma => DecimalMark::Comma,
            }),
            table: self.table.map(|table| table as usize),
        }
    }
}

/// Shows the history.
pub(crate) fn run(place: &Place, flags: &History) -> Result<Exit, Failure> {
    let question = HistoryQuestion {
        loads: flags.load.clone(),
        clients: flags.clients.clone(),
        figures: flags.metric.clone(),
        filters: flags.filter.clone(),
        better: flags.better.map(|direction| match direction {
            Direction::Higher => Better::Higher,
            Direction::Lower => Better::Lower,
        }),
        budget: flags.budget,
        superiority: flags.superiority,
        look_back: flags.gate.map_or(0, |latest| latest as usize),
        last: flags.last.map(|last| last as usize),
        file: flags.of_file(),
    };
    let told = match &flags.file {
        Some(path) => {
            let (name, text) = read(path)?;
            history::of_file(&name, &text, &question)?
        }
        None => {
            let store = session::open_store(place)?;
            let mut gathering = Gathering::new(&question)?;
            let listed = store.list()?;
            listed.corrupt.iter().for_each(|error| gathering.leave_out(error.to_string()));
            for run in listed.runs.iter().rev() {
                match store.load(&run.id) {
                    // Each arm of several is a run of its own, with the base that they share.
                    Ok(run) => {
                        let pairs = run.plan.against_base().into_iter();
                        pairs.for_each(|pairing| gathering.add_run(run.pair(pairing)));
                    }
                    Err(error @ StoreError::Corrupt { .. }) => {
                        gathering.leave_out(error.to_string());
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            gathering.into_history(&store.path().display().to_string())?
        }
    };
    let is_whole = flags.all || flags.shape.format != Format::Text;
    let extent = if is_whole { HistoryExtent::Whole } else { HistoryExtent::Changes };
    output::print_document(
        flags.shape,
        || dbdyno_report::history_document(&told, extent),
        || dbdyno_report::history_json(&told),
    )?;
    if let Some(path) = &flags.output {
        output::write_page(path, dbdyno_report::history_html(&told))?;
    }
    let Some(latest) = flags.gate else { return Ok(Exit::Holds) };
    let latest = latest as usize;
    let exit = judge(&told, latest);
    match exit {
        Exit::Fails => output::say_lines(&gate_failures(&told, latest)),
        Exit::CannotTell => {
            let directions = unknown_directions(&told, latest);
            directions.iter().for_each(|why| output::say_lines(why));
            latest_doubts(&told).iter().for_each(|why| output::say_lines(why));
        }
        _ => output::say_lines(&format!(
            "gate   holds: no change to the worse alarms among the latest {latest} values"
        )),
    }
    Ok(exit)
}

/// The changes that let a gate fail: the latest of the first series that has one, and how many more
/// series have.
fn gate_failures(told: &Told, latest: usize) -> String {
    let mut failing =
        told.series.iter().filter(|series| !is_assumed(series)).filter_map(|series| {
            let worse = alarms(series, latest).filter(|shift| series.is_worse(shift.size.estimate));
            Some((series, worse.last()?))
        });
    let Some((series, shift)) = failing.next() else { return "gate   fails".to_owned() };
    let change = dbdyno_report::shift_phrase(series, shift);
    let more = match failing.count() {
        0 => String::new(),
        more => format!(", and {more} more series change to the worse"),
    };
    format!("gate   fails: {:?}: {change}{more}", series.name)
}

/// One change to the worse fails; one series that cannot show any leaves a doubt, and so does one
/// that slides to the worse or whose latest runs tell nothing, and a run that cannot be read.
/// Where the direction is assumed, any change is a doubt: it may be to the worse.
///
/// It takes some values of a new level to prove it, so that a change is never within the very
/// latest ones; what first alarmed with one of them is as new.
fn judge(told: &Told, latest: usize) -> Exit {
    let fails = told.series.iter().any(|series| {
        !is_assumed(series)
            && alarms(series, latest).any(|shift| series.is_worse(shift.size.estimate))
    });
    let slides = told.series.iter().any(|series| {
        !is_assumed(series) && slides(series, latest).any(|slide| series.is_worse(slide.size))
    });
    let mut warnings = told.series.iter().flat_map(|series| &series.warnings).chain(&told.warnings);
    let lack = warnings.any(|one| ["too-short", LEFT_OUT, UNREAD].contains(&one.code.as_str()));
    let is_untold = told.series.iter().any(|series| latest_doubt(series).is_some());
    let is_open = slides || lack || is_untold || unknown_directions(told, latest).is_some();
    match (fails, is_open) {
        (true, _) => Exit::Fails,
        (false, true) => Exit::CannotTell,
        (false, false) => Exit::Holds,
    }
}

/// What is not known of the latest runs of a series: they have no figure, or figures that are far
/// to the worse and too few to be a level.
fn latest_doubt(series: &HistorySeries) -> Option<&Warning> {
    let is_assumed = is_assumed(series);
    series.warnings.iter().find(|warning| warning.is_latest_doubt(is_assumed))
}

/// The series of which the latest runs leave a doubt, and the doubt of the first.
fn latest_doubts(told: &Told) -> Option<String> {
    let mut open = told.series.iter().filter_map(|series| Some((series, latest_doubt(series)?)));
    let (first, doubt) = open.next()?;
    let more = match open.count() {
        0 => String::new(),
        more => format!(" ({more} more series leave such a doubt)"),
    };
    Some(format!("gate   cannot tell: {:?}: {}{more}", first.name, doubt.text))
}

/// Whether nothing says which direction of the figure is good.
fn is_assumed(series: &HistorySeries) -> bool {
    let mut warnings = series.warnings.iter();
    warnings.any(|warning| warning.code == "direction" && warning.severity == Severity::Caution)
}

/// The alarms that a gate on so many of the latest values looks at.
fn alarms(series: &HistorySeries, latest: usize) -> impl Iterator<Item = &Shift> {
    let from = series.points.len().saturating_sub(latest);
    let shifts = series.changes.shifts.iter().zip(&series.first_alarmed);
    let new = shifts.filter(move |(shift, found)| {
        (shift.first >= from || found.is_some_and(|with| with > from))
            && shift.weight == ShiftWeight::Alarm
    });
    new.map(|(shift, _)| shift)
}

/// The slides that reach into so many of the latest values.
fn slides(series: &HistorySeries, latest: usize) -> impl Iterator<Item = &Slide> {
    let from = series.points.len().saturating_sub(latest);
    series.changes.slides.iter().filter(move |slide| slide.to > from)
}

/// That a figure changed of which nobody knows whether that is to the worse, and what says it.
fn unknown_directions(told: &Told, latest: usize) -> Option<String> {
    let mut open = told.series.iter().filter(|series| {
        is_assumed(series)
            && (alarms(series, latest).next().is_some() || slides(series, latest).next().is_some())
    });
    let first = open.next()?;
    let more = match open.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "gate   cannot tell: {:?}{more} changed, and nothing says whether more of it is better; say \
         --better higher or --better lower, with --metric {:?} where other figures have the other \
         direction",
        first.name, first.metric
    ))
}

/// The name and the text of a file, or of stdin.
fn read(path: &std::path::Path) -> Result<(String, String), Failure> {
    let is_stdin = path.as_os_str() == "-";
    let name = if is_stdin { "stdin".to_owned() } else { path.display().to_string() };
    let taken = if is_stdin {
        input::read_from(std::io::stdin().lock(), FILE_MOST)
    } else {
        input::read(path, FILE_MOST)
    };
    let bytes = taken.map_err(|error| {
        Failure::Usage(format!(
            "could not read {name}: {error}; name a file of figures, or - for stdin"
        ))
    })?;
    // What a program packed, or a spreadsheet wrote in UTF-16, says so at its beginning.
    const PACKED: [&[u8]; 3] = [&[0x1f, 0x8b], &[0xff, 0xfe], &[0xfe, 0xff]];
    if PACKED.iter().any(|mark| bytes.starts_with(mark)) {
        let text = input::decode_text(bytes, FILE_MOST)
            .map_err(|error| Failure::Usage(format!("could not unpack {name}: {error}")))?;
        return Ok((name, text));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|&&byte| byte == b'\n').count();
        Failure::Usage(format!("{name}:{line}: this is no UTF-8; convert it with iconv -t utf-8"))
    })?;
    Ok((name, text))
}

#[expect(clippy::unnecessary_wraps, reason = "what clap takes")]
fn parse_order(text: &str) -> Result<OrderAsked, std::convert::Infallible> {
    Ok(match text {
        "oldest-first" => OrderAsked::OldestFirst,
        "newest-first" => OrderAsked::NewestFirst,
        name => OrderAsked::Column(name.to_owned()),
    })
}

fn parse_filter(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(name, _)| !name.trim().is_empty());
    let parts = parts.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
    parts.ok_or_else(|| "write COLUMN=VALUE, for example branch=main".to_owned())
}

fn parse_superiority(text: &str) -> Result<f64, String> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse(),
    };
    let usage = "it lies between 50% and 100%, for example 90% or 0.9";
    share.ok().filter(|share| (0.5..=1.0).contains(share)).ok_or_else(|| usage.to_owned())
}

#[cfg(test)]
mod kinds;

#[cfg(test)]
mod tests {
    use dbdyno_model::latest_doubt::{
        LAPSED_ALARM, LATEST_FAR, LATEST_MISSING, MODE_SHIFT, SMALL_STEPS, SPREAD_SHIFT,
        UNPROVED_STEP, WORK_GONE,
    };

    use super::*;
    use dbdyno_model::{ChangeScale, HistoryPoint, Interval, NullKind, SeriesChanges};

    #[test]
    fn what_a_spreadsheet_writes_is_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.txt");
        let text = "date\tqps\n2026-01-01\t1\n";
        let bytes = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes);
        std::fs::write(&path, bytes.collect::<Vec<u8>>()).unwrap();
        assert_eq!(read(&path).unwrap().1.trim_start_matches('\u{feff}'), text);
    }

    /// A series with a change to the worse at 30 of 40 values, or without any.
    fn series(is_worse: bool) -> HistorySeries {
        let shift = Shift {
            first: 30,
            earliest: 30,
            latest: 30,
            p_value: 0.001,
            null: NullKind::Permutation,
            size: Interval { estimate: -0.05, low: -0.06, high: -0.04 },
            before: 100.0,
            after: 95.0,
            superiority: 1.0,
            weight: ShiftWeight::Alarm,
        };
        let point = HistoryPoint {
            unix_ms: None,
            label: String::new(),
            version: String::new(),
            value: 100.0,
        };
        HistorySeries {
            name: String::new(),
            about: String::new(),
            metric: String::new(),
            better: Better::Higher,
            scale: ChangeScale::Share,
            points: vec![point; 40],
            changes: SeriesChanges {
                shifts: is_worse.then_some(shift).into_iter().collect(),
                ..SeriesChanges::default()
            },
            causes: Vec::new(),
            first_found: is_worse.then_some(Some(34)).into_iter().collect(),
            first_alarmed: is_worse.then_some(Some(36)).into_iter().collect(),
            lapsed: Vec::new(),
            e_divisive: None,
            warnings: Vec::new(),
        }
    }

    fn gated(series: HistorySeries, of_whole: &[&str], of_series: &[&str], latest: usize) -> Exit {
        let warnings = |codes: &[&str]| -> Vec<Warning> {
            codes.iter().map(|code| Warning::new(Severity::Caution, code, "text")).collect()
        };
        let told = Told {
            source: String::new(),
            budget: 0.02,
            superiority: 0.9,
            alpha: 0.01,
            series: vec![HistorySeries { warnings: warnings(of_series), ..series }],
            warnings: warnings(of_whole),
        };
        judge(&told, latest)
    }

    /// The change is at 30 of 40 values, was first found with 34 and alarmed with 36.
    #[test]
    fn a_gate_looks_at_the_latest_values() {
        assert_eq!(gated(series(true), &[], &[], 10), Exit::Fails);
        assert_eq!(gated(series(true), &[], &[], 5), Exit::Fails);
        assert_eq!(gated(series(true), &[], &[], 4), Exit::Holds, "known for five runs");
        let mut tonight = series(true);
        tonight.first_alarmed = vec![Some(40)];
        assert_eq!(gated(tonight.clone(), &[], &[], 1), Exit::Fails, "found with the latest run");
        tonight.first_alarmed = vec![None];
        assert_eq!(gated(tonight, &[], &[], 9), Exit::Holds, "known for long");
        assert_eq!(gated(series(false), &[], &[], 10), Exit::Holds);
    }

    #[test]
    fn a_gate_is_open_where_a_level_slides_to_the_worse() {
        let sliding = |to: usize, size: f64| {
            let mut series = series(false);
            series.changes.slides = vec![Slide { from: 10, to, size }];
            gated(series, &[], &[], 5)
        };
        assert_eq!(sliding(40, -0.1), Exit::CannotTell);
        assert_eq!(sliding(40, 0.1), Exit::Holds);
        assert_eq!(sliding(30, -0.1), Exit::Holds, "it has ended");
    }

    /// A change in either direction may be to the worse; without one there is nothing to know.
    #[test]
    fn a_gate_passes_no_change_whose_direction_is_assumed() {
        let assumed = |series: HistorySeries| {
            let text = Warning::new(Severity::Caution, "direction", "text");
            let told = Told {
                source: String::new(),
                budget: 0.02,
                superiority: 0.9,
                alpha: 0.01,
                series: vec![HistorySeries { warnings: vec![text], ..series }],
                warnings: Vec::new(),
            };
            (judge(&told, 10), unknown_directions(&told, 10))
        };
        let turned = HistorySeries { better: Better::Lower, ..series(true) };
        for changed in [series(true), turned] {
            let (exit, why) = assumed(HistorySeries { metric: "x".to_owned(), ..changed });
            assert_eq!(exit, Exit::CannotTell);
            let why = why.unwrap();
            assert!(why.contains("--better") && why.contains("--metric \"x\""), "{why}");
        }
        assert_eq!(assumed(series(false)), (Exit::Holds, None));
        let sliding = |size: f64| {
            let mut series = series(false);
            series.changes.slides = vec![Slide { from: 10, to: 40, size }];
            assumed(series).0
        };
        assert_eq!((sliding(0.1), sliding(-0.1)), (Exit::CannotTell, Exit::CannotTell));
    }

    /// A gap in the middle is a run fewer; a gap at the end is the run that was asked about.
    #[test]
    fn a_gate_is_open_where_the_latest_run_is_missing() {
        assert_eq!(gated(series(false), &[], &[LEFT_OUT], 10), Exit::CannotTell);
        assert_eq!(gated(series(false), &[UNREAD], &[], 10), Exit::CannotTell);
        assert_eq!(gated(series(true), &[], &[LEFT_OUT], 10), Exit::Fails);
        assert_eq!(gated(series(false), &["short-runs"], &[], 10), Exit::Holds);
        assert_eq!(gated(series(false), &[LEFT_OUT], &[], 10), Exit::CannotTell);
        assert_eq!(gated(series(false), &[], &["too-short"], 10), Exit::CannotTell);
        assert_eq!(gated(series(false), &[], &[LATEST_MISSING], 10), Exit::CannotTell);
        for code in [LAPSED_ALARM, LATEST_FAR, SPREAD_SHIFT, UNPROVED_STEP, SMALL_STEPS, WORK_GONE]
        {
            assert_eq!(gated(series(false), &[], &[code], 10), Exit::CannotTell);
        }
        assert_eq!(gated(series(false), &[], &[MODE_SHIFT], 10), Exit::CannotTell);
        assert_eq!(gated(series(true), &[], &[LATEST_MISSING], 10), Exit::Fails);
    }
}
