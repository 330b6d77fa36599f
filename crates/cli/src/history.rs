//! `dbdyno history`: what the stored runs, or a file of figures, say over time.

use std::path::PathBuf;

use clap::ValueEnum;
use dbdyno_document::markdown;
use dbdyno_judge::history::{self, DecimalMark, FileAsked, Gathering, HistoryQuestion, OrderAsked};
use dbdyno_lab::input;
use dbdyno_model::{BenchmarkHistory, Better, HistoryGateAnswer, USUAL_BUDGET_TEXT};
use dbdyno_report::{CheckSuite, HistoryExtent};
use dbdyno_store::StoreError;

use crate::args::{Color, Format, Place, Shape, ToldFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::values::parse_share;
use crate::{ci, output, session};

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
    /// In text, and in a workflow's summary: print every series, also those without a change
    #[arg(long)]
    pub all: bool,
    /// Also write a page with charts to this file
    #[arg(long, short, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = HistoryFormat::Text)]
    pub format: HistoryFormat,
    /// Colour in text: never, always, or only on a terminal (NO_COLOR is honoured)
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
}

/// The shapes of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HistoryFormat {
    Text,
    Json,
    Csv,
    Markdown,
    /// Annotations of a GitHub workflow; the summary is appended to the file GITHUB_STEP_SUMMARY
    Github,
    /// JUnit XML: each series is a test case, and so is the gate
    Junit,
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
    let answer = flags.gate.map(|latest| history::judge_gate(&told, latest as usize));
    print(&told, answer.as_ref(), flags)?;
    if let Some(path) = &flags.output {
        output::write_page(path, dbdyno_report::history_html(&told))?;
    }
    let Some(answer) = answer else { return Ok(Exit::Holds) };
    let sentences = dbdyno_report::history_gate_sentences(&told, &answer);
    sentences.iter().for_each(|why| output::say_lines(&output::labelled_line("gate", why)));
    Ok(Exit::of_gate(answer.outcome))
}

/// Prints the history, and what a gate says of it, in the shape that was asked for.
fn print(
    told: &BenchmarkHistory,
    answer: Option<&HistoryGateAnswer>,
    flags: &History,
) -> Result<(), Failure> {
    let is_short = [HistoryFormat::Text, HistoryFormat::Github].contains(&flags.format);
    let is_whole = flags.all || !is_short;
    let extent = if is_whole { HistoryExtent::Whole } else { HistoryExtent::Changes };
    let format = match flags.format {
        HistoryFormat::Text => Format::Text,
        HistoryFormat::Json => Format::Json,
        HistoryFormat::Csv => Format::Csv,
        HistoryFormat::Markdown => Format::Markdown,
        HistoryFormat::Github => {
            let document = dbdyno_report::history_document(told, extent);
            let gate = answer.map(|answer| dbdyno_report::history_gate_result(told, answer));
            let summary =
                ci::workflow_summary(gate.as_ref(), &markdown::render_document(&document));
            let text = ci::github_output(&checks(told, answer, flags), &summary)?;
            return output::print_answer(&text, ToldFormat::Github, flags.color);
        }
        HistoryFormat::Junit => {
            let text = dbdyno_report::junit_report(&checks(told, answer, flags));
            return output::print_answer(&text, ToldFormat::Junit, flags.color);
        }
    };
    output::print_document(
        Shape { format, color: flags.color },
        || dbdyno_report::history_document(told, extent),
        || dbdyno_report::history_json(told, answer),
    )
}

/// The series and the gate as checks, at the file that they are of.
fn checks(
    told: &BenchmarkHistory,
    answer: Option<&HistoryGateAnswer>,
    flags: &History,
) -> Vec<CheckSuite> {
    let path = flags.file.as_ref().filter(|path| path.as_os_str() != "-");
    let file = path.map(|path| path.display().to_string());
    dbdyno_report::history_checks(told, answer, file.as_deref())
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
mod tests {
    use dbdyno_model::{
        ChangeScale, GateOutcome, HistoryPoint, HistorySeries, Interval, NullKind, SeriesChanges,
        Severity, Shift, ShiftWeight, Slide, Warning,
    };

    use super::*;

    #[test]
    fn what_a_spreadsheet_writes_is_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.txt");
        let text = "date\tqps\n2026-01-01\t1\n";
        let bytes = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes);
        std::fs::write(&path, bytes.collect::<Vec<u8>>()).unwrap();
        assert_eq!(read(&path).unwrap().1.trim_start_matches('\u{feff}'), text);
    }

    /// What a gate says of a series of this kind, if it looks at the latest ten of 40 values.
    const KINDS: [(&str, GateOutcome); 9] = [
        ("calm", GateOutcome::Holds),
        ("worse", GateOutcome::Fails),
        ("worse long ago", GateOutcome::Holds),
        ("better", GateOutcome::Holds),
        ("slides to the worse", GateOutcome::CannotTell),
        ("slides to the better", GateOutcome::Holds),
        ("too short", GateOutcome::CannotTell),
        ("far at its end", GateOutcome::CannotTell),
        ("changes in an unknown direction", GateOutcome::CannotTell),
    ];

    fn series(kind: &str) -> HistorySeries {
        let size = if kind == "better" { 0.05 } else { -0.05 };
        let shift = Shift {
            first: if kind == "worse long ago" { 10 } else { 35 },
            earliest: 35,
            latest: 35,
            p_value: 0.001,
            null: NullKind::Permutation,
            size: Interval { estimate: size, low: size - 0.01, high: size + 0.01 },
            before: 100.0,
            after: 95.0,
            superiority: 1.0,
            weight: ShiftWeight::Alarm,
        };
        let point = HistoryPoint {
            unix_ms: None,
            label: "\"<1>".to_owned(),
            version: String::new(),
            value: 1.0,
        };
        let steps = ["worse", "worse long ago", "better", "changes in an unknown direction"];
        let shifts: Vec<Shift> = steps.contains(&kind).then_some(shift).into_iter().collect();
        let slide = match kind {
            "slides to the worse" => Some(-0.1),
            "slides to the better" => Some(0.1),
            _ => None,
        };
        let warning = match kind {
            "too short" => Some("too-short"),
            "far at its end" => Some("latest-far"),
            "changes in an unknown direction" => Some("direction"),
            _ => None,
        };
        HistorySeries {
            name: format!("<{kind}>\u{1b}::error::"),
            about: String::new(),
            metric: kind.to_owned(),
            better: Better::Higher,
            scale: ChangeScale::Share,
            points: vec![point; 40],
            causes: vec![Vec::new(); shifts.len()],
            first_found: vec![None; shifts.len()],
            first_alarmed: vec![None; shifts.len()],
            changes: SeriesChanges {
                shifts,
                slides: slide.map(|size| Slide { from: 5, to: 40, size }).into_iter().collect(),
                ..SeriesChanges::default()
            },
            lapsed: Vec::new(),
            e_divisive: None,
            warnings: warning
                .map(|code| Warning::new(Severity::Caution, code, "a & b"))
                .into_iter()
                .collect(),
        }
    }

    /// A series of each kind beside one of each kind, with or without a run that cannot be read:
    /// whoever reads the exit code, a report of tests, the annotations or the JSON reads the same.
    #[test]
    fn all_formats_agree_with_the_exit_code() {
        let mut ends = std::collections::BTreeSet::new();
        for ((first, second), is_left_out) in KINDS
            .iter()
            .flat_map(|first| KINDS.iter().map(move |second| (first, second)))
            .flat_map(|pair| [(pair, false), (pair, true)])
        {
            let left_out = Warning::new(Severity::Caution, history::LEFT_OUT, "1 run, <unread>");
            let told = BenchmarkHistory {
                source: "\"a\" & b.csv".to_owned(),
                budget: 0.02,
                superiority: 0.9,
                alpha: 0.01,
                series: vec![series(first.0), series(second.0)],
                warnings: is_left_out.then_some(left_out).into_iter().collect(),
            };
            let expected = match (first.1, second.1, is_left_out) {
                (GateOutcome::Fails, _, _) | (_, GateOutcome::Fails, _) => 1,
                (GateOutcome::Holds, GateOutcome::Holds, false) => 0,
                _ => 3,
            };
            let answer = history::judge_gate(&told, 10);
            let code = Exit::of_gate(answer.outcome).code();
            assert_eq!(code, expected, "{first:?} {second:?} {is_left_out}");
            ends.insert(code);
            let checks = dbdyno_report::history_checks(&told, Some(&answer), Some("b.csv"));
            let junit = dbdyno_report::junit_report(&checks);
            let [failures, errors] = ["<failure ", "<error "].map(|one| junit.matches(one).count());
            assert_eq!((failures > 0, errors > 0), (code == 1, code == 3), "{junit}");
            let (gate, rest) = junit.split_once("</testcase>").unwrap();
            assert!(gate.contains("name=\"--gate 10\""), "{gate}");
            let own = (gate.contains("<failure "), gate.contains("<error "));
            assert_eq!(own, (code == 1, code == 3), "{gate}");
            assert!(!rest.contains("<error "), "of a part the whole answers: {rest}");
            let github = dbdyno_report::github_annotations(&checks);
            assert_eq!(github.lines().any(|line| line.starts_with("::error ")), code == 1);
            assert_eq!(github.lines().count(), 3, "no name makes up a command: {github}");
            let json = dbdyno_report::history_json(&told, Some(&answer));
            let outcome = ["holds", "fails", "", "cannot-tell"][usize::from(code)];
            assert!(json.contains(&format!("\"outcome\": \"{outcome}\"")), "{json}");
            let sentences = dbdyno_report::history_gate_sentences(&told, &answer);
            let word = ["holds: ", "fails: ", "", "cannot tell: "][usize::from(code)];
            assert!(!sentences.is_empty() && sentences.iter().all(|one| one.starts_with(word)));
        }
        assert_eq!(ends.into_iter().collect::<Vec<_>>(), [0, 1, 3]);
    }
}
