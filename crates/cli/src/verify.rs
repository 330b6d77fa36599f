//! `dbdyno verify`: what servers do to transactions that meet.
//!
//! ```text
//!   --cases           published stories, played step by step: which anomaly occurs at which level
//!   --interleavings   all orders of a few small transactions: what is let through, what it costs
//!   neither of them   random transactions, whose history is judged (`random_transactions`)
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::ValueEnum;
use dbdyno_cases::{Case, InterleavingSize, StoryStatement, faulty_statement, published_cases};
use dbdyno_isolation::{IsolationLab, IsolationQuestion, isolation};
use dbdyno_model::ArmSpec;
use dbdyno_model::isolation::{CaseOutcome, IsolationLevel, IsolationTold};
use dbdyno_report::IsolationLayout::{Apart, Together};
use dbdyno_report::{IsolationExtent, isolation_document, isolation_json};
use dbdyno_workload::suggest::did_you_mean;

use crate::args::{Place, ReportFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Ticker;
use crate::values::{Side, read_side};
use crate::{login, output, session};

/// The heading of the flags of random transactions.
const RANDOM: &str = "Random transactions (without --cases, --case-file and --interleavings)";

/// The flags of `dbdyno verify`; what it does is said where the command is defined.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").multiple(true))]
pub(crate) struct Verify {
    /// Servers, as `dbdyno compare` takes them: mysql:9.7, postgres:17,
    /// 'mariadb:10.11?innodb_snapshot_isolation=ON'
    #[arg(value_name = "TARGET", required = true)]
    pub targets: Vec<String>,
    /// Play the published cases
    #[arg(long, group = "what", help_heading = "Published cases")]
    pub cases: bool,
    /// Play the case of a file as well; `docs/guide/isolation.md` says how one is written
    #[arg(long, value_name = "FILE", group = "what", help_heading = "Published cases")]
    pub case_file: Vec<PathBuf>,
    /// Play only the cases of these names, separated by commas: published ones, and those of
    /// --case-file
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        requires = "what",
        help_heading = "Published cases",
        hide_short_help = true
    )]
    pub case: Vec<String>,
    /// Play interleavings: TRANSACTIONSxKEYSxOPERATIONS, separated by commas
    #[arg(long, value_name = "SHAPE", group = "what", value_delimiter = ',', num_args = 0..,
          require_equals = true, default_missing_value = "2x2x2,2x2x3,3x2x2",
          help_heading = "Interleavings")]
    pub interleavings: Vec<InterleavingSize>,
    /// Play at most N interleavings of a shape, spread over all of them
    #[arg(long, value_name = "N", default_value_t = 2000, requires = "interleavings",
          value_parser = clap::value_parser!(u64).range(1..=1_000_000),
          help_heading = "Interleavings", hide_short_help = true)]
    pub sample: u64,
    /// Seed of the sample of interleavings and of random transactions
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub seed: u64,
    /// Kind of rows; all but `rows` are loads of the catalog, run and recorded
    /// by the clients that measure rounds
    #[arg(long, value_enum, default_value_t = VerifyKind::Rows, conflicts_with = "what",
          help_heading = RANDOM)]
    pub kind: VerifyKind,
    /// Judge them while they run, in bounded memory and without keeping the
    /// history: read-uncommitted, read-committed, repeatable-read, innodb-repeatable-read,
    /// snapshot-isolation and serializable
    #[arg(long, conflicts_with_all = ["what", "export", "scripts", "row_log", "one_thread"],
          help_heading = RANDOM, hide_short_help = true)]
    pub online: bool,
    /// Number of clients
    #[arg(long, value_name = "N", default_value_t = 8, conflicts_with = "what",
          value_parser = clap::value_parser!(u32).range(2..=1000), help_heading = RANDOM)]
    pub clients: u32,
    /// Time at each level
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, conflicts_with = "what",
          value_parser = parse_seconds, help_heading = RANDOM)]
    pub seconds: f64,
    /// So many of each client at each level, instead of a time
    #[arg(long, value_name = "N", conflicts_with_all = ["what", "seconds"],
          value_parser = clap::value_parser!(u64).range(1..=10_000_000), help_heading = RANDOM)]
    pub transactions: Option<u64>,
    /// On so many rows; the fewer, the more conflicts
    #[arg(long, value_name = "N", default_value_t = 16, conflicts_with = "what",
          value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = RANDOM)]
    pub keys: u64,
    /// Keep the history, for `dbdyno check`; that of a load (--kind) also for
    /// others: as .edn (Elle), .txt, .plume, .jsonl or .bincode (dbcop)
    #[arg(long, value_name = "FILE", conflicts_with = "what",
          help_heading = RANDOM, hide_short_help = true)]
    pub export: Option<PathBuf>,
    /// On engine: all clients in one thread, in an order that the seed decides,
    /// so that a history is the same every time
    #[arg(long, conflicts_with = "what", requires = "transactions",
          help_heading = RANDOM, hide_short_help = true)]
    pub one_thread: bool,
    /// Play each anomaly that was seen again so many times, as sessions that
    /// do no more than it takes; 0: not at all
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "what",
          value_parser = clap::value_parser!(u32).range(0..=10_000),
          help_heading = RANDOM, hide_short_help = true)]
    pub repeat: u32,
    /// Also read the log that the server keeps for replicas, and compare it
    /// with what clients were answered (?binlog=on&binlog_format=ROW; ?wal_level=logical)
    #[arg(long, conflicts_with = "what", help_heading = RANDOM, hide_short_help = true)]
    pub row_log: bool,
    /// Keep each anomaly that was seen in this folder, as a case for
    /// --case-file and as SQL for as many terminals as it has sessions
    #[arg(long, value_name = "DIR", conflicts_with = "what",
          help_heading = RANDOM, hide_short_help = true)]
    pub scripts: Option<PathBuf>,
    /// Levels, separated by commas: read-uncommitted, read-committed, repeatable-read, serializable
    /// or all
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', default_value = "all",
          value_parser = parse_level)]
    pub level: Vec<Levels>,
    /// Show each story: what every session said, was answered, and waited for
    #[arg(long)]
    pub all: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
}

impl Verify {
    /// Whether neither cases nor interleavings are asked for.
    pub(crate) fn is_random(&self) -> bool {
        !self.cases && self.case_file.is_empty() && self.interleavings.is_empty()
    }

    /// The servers, with what it takes to log in to them.
    pub(crate) fn arm_specs(&self) -> Result<Vec<ArmSpec>, Failure> {
        let specs = self.targets.iter().map(|text| spec_of(text));
        let mut specs: Vec<ArmSpec> = specs.collect::<Result<_, _>>()?;
        specs.iter_mut().try_for_each(login::fill_login)?;
        Ok(specs)
    }
}

/// Of which rows random transactions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerifyKind {
    /// Two columns that are read, written, replaced and searched for
    Rows,
    /// Load `register`: a value and the one before it
    Registers,
    /// Load `list-append`: elements at the end of lists
    Lists,
    /// Load `counter`: distinct amounts that are added
    Counters,
}

/// What a word of `--level` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Levels {
    All,
    One(IsolationLevel),
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| "a number of seconds between 0.1 and 86400".to_owned())
}

fn parse_level(text: &str) -> Result<Levels, String> {
    let names = IsolationLevel::ALL.map(IsolationLevel::name);
    match (text, IsolationLevel::named(text)) {
        ("all", _) => Ok(Levels::All),
        (_, Some(level)) => Ok(Levels::One(level)),
        _ => Err(format!(
            "no level is called so{}; write {} or all",
            did_you_mean(text, names),
            names.join(", ")
        )),
    }
}

/// The cases that are played.
struct ChosenCases {
    all: Vec<Case>,
    /// The files of those of somebody's own, by name.
    files: BTreeMap<String, PathBuf>,
}

/// Asks all targets, one after the other, and shows what was seen.
pub(crate) fn run(place: &Place, flags: &Verify) -> Result<Exit, Failure> {
    let chosen = cases_of(flags)?;
    let shapes: Vec<(InterleavingSize, u64)> =
        flags.interleavings.iter().map(|shape| (*shape, flags.sample)).collect();
    let levels = levels_of(&flags.level);
    let specs = flags.arm_specs()?;
    let home = session::open_home(place)?;
    let stop = session::stop_flag();
    let (mut told, mut failed) = (Vec::new(), None);
    for spec in &specs {
        let question = IsolationQuestion {
            spec,
            levels: &levels,
            cases: &chosen.all,
            shapes: &shapes,
            seed: flags.seed,
        };
        let mut ticker = Ticker::new();
        let mut lab = IsolationLab { home: &home, stop: &stop, watch: &mut ticker };
        let asked = isolation(&mut lab, &question);
        drop(ticker);
        match asked {
            Ok(one) => {
                if chosen.tell_faults(spec, &one) {
                    failed = Some(Exit::CouldNot);
                }
                told.push(one);
            }
            // What others have told stays worth seeing.
            Err(error) => {
                let failure = Failure::from(error);
                output::say_error(&format!("{spec}: {failure}"));
                failed = Some(failure.exit());
            }
        }
        if told.last().is_some_and(|one| one.is_cut_short) {
            break;
        }
    }
    if !told.is_empty() {
        show(flags, &told)?;
    }
    Ok(failed.unwrap_or_else(|| exit_of(&told)))
}

impl ChosenCases {
    /// Says which statements of files a server cannot carry out as they are written: no outcome is
    /// known of these cases on any server like it. Whether there are such.
    fn tell_faults(&self, spec: &ArmSpec, told: &IsolationTold) -> bool {
        let mut faults: Vec<String> = Vec::new();
        for case in told.levels.iter().flat_map(|level| &level.cases) {
            let Some(file) = self.files.get(&case.name) else { continue };
            let Some(written) = self.all.iter().find(|one| one.name == case.name) else { continue };
            let (file, dialect) = (file.display(), spec.dialect());
            let fault = if let Some(refused) = &case.refused_setup {
                let StoryStatement { line, sql } = &written.setup[refused.place];
                let message = &refused.message;
                format!(
                    "{file}, line {line}: {spec} refuses `{sql}`: {message}; mend the statement"
                )
            } else if let Some((place, message)) = faulty_statement(written, &case.steps) {
                let step = &written.steps[place];
                format!(
                    "{file}, line {}: {spec} refuses `{}`: {message}; mend the statement, or spell \
                     it for this server below it",
                    step.line_in(dialect),
                    step.sql_in(dialect)
                )
            } else {
                continue;
            };
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
        faults.iter().for_each(|fault| output::say_error(fault));
        !faults.is_empty()
    }
}

fn show(flags: &Verify, told: &[IsolationTold]) -> Result<(), Failure> {
    let extent = if flags.all { IsolationExtent::Stories } else { IsolationExtent::Tables };
    let layout = if flags.format == ReportFormat::Markdown { Together } else { Apart };
    output::print_report(
        flags.format,
        || isolation_document(told, extent, layout),
        || isolation_json(told),
    )
}

fn exit_of(told: &[IsolationTold]) -> Exit {
    let (mut broken, mut unknown) = (false, false);
    for level in told.iter().flat_map(|one| &one.levels) {
        broken |= level.cases.iter().any(|case| case.breaks_promise())
            || level.shapes.iter().any(|shape| level.breaks_serializability(shape));
        unknown |= level.cases.iter().any(|case| matches!(case.outcome, CaseOutcome::Unknown(_)))
            || level.shapes.iter().any(|shape| shape.counts.unknown > 0);
    }
    match (told.iter().any(|one| one.is_cut_short), broken, unknown) {
        (true, ..) => Exit::Interrupted,
        (_, true, _) => Exit::Fails,
        (_, _, true) => Exit::CannotTell,
        _ => Exit::Holds,
    }
}

pub(crate) fn spec_of(text: &str) -> Result<ArmSpec, Failure> {
    match read_side("TARGET", text)? {
        Side::Server(spec) => Ok(spec),
        Side::Stored(run) => Err(Failure::Usage(format!(
            "TARGET {run:?} is a stored run; transactions meet on servers: mysql:9.7, \
             mariadb:11.8, postgres:17 or a URL"
        ))),
    }
}

pub(crate) fn levels_of(words: &[Levels]) -> Vec<IsolationLevel> {
    let wanted = IsolationLevel::ALL.into_iter().filter(|level| {
        words.iter().any(|word| *word == Levels::All || *word == Levels::One(*level))
    });
    wanted.collect()
}

fn cases_of(flags: &Verify) -> Result<ChosenCases, Failure> {
    let mut cases = if flags.cases { published_cases() } else { Vec::new() };
    let count = cases.len();
    let mut files = BTreeMap::new();
    for path in &flags.case_file {
        let shown = path.display();
        let text = dbdyno_lab::input::read_text(path).map_err(|error| {
            Failure::Usage(format!("{shown}: {error}; --case-file names a file with a case"))
        })?;
        let case = dbdyno_cases::parse(&text)
            .map_err(|error| Failure::Usage(format!("{shown}, {error}")))?;
        if cases.iter().any(|known| known.name == case.name) {
            return Err(Failure::Usage(format!(
                "{shown}: another case is called {} already; give it another name",
                case.name
            )));
        }
        files.insert(case.name.clone(), path.clone());
        cases.push(case);
    }
    for name in &flags.case {
        let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        if !names.contains(&name.as_str()) {
            return Err(Failure::Usage(format!(
                "--case {name}: unknown case{}; there are {}",
                did_you_mean(name, names.iter().copied()),
                names.join(", ")
            )));
        }
    }
    // A file is played as well unless one of its kind is asked for by name.
    let own: Vec<Case> = cases.split_off(count);
    let has_named = own.iter().any(|case| flags.case.contains(&case.name));
    cases.retain(|case| flags.case.is_empty() || flags.case.contains(&case.name));
    cases.extend(own.into_iter().filter(|case| !has_named || flags.case.contains(&case.name)));
    Ok(ChosenCases { all: cases, files })
}
