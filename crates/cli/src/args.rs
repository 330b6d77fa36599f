//! Flags that several commands share, and those of the commands about runs and loads.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Subcommand, ValueEnum};
use dbdyno_model::{
    Arrivals, Cache, Counting, Dialect, Gate, Idle, ImageUse, IntervalChoice, JudgingRule,
    KeepMemory, Pin, Plan, Question, Quiet, RoundSchedule, Slo, Think, USUAL_BUDGET_TEXT, terms,
};
use dbdyno_workload::draw;

use crate::values;

/// What is measured where no load is named.
pub(crate) const USUAL_LOAD: &str = "point-query";

/// Where things are kept.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Place {
    /// Directory for servers, sandboxes and results [default: /var/lib/dbdyno for root, else
    /// ~/.local/share/dbdyno]
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "DBDYNO_HOME",
        help_heading = "Global options"
    )]
    pub home: Option<PathBuf>,
    /// File with the results [default: dbdyno.db in the home]
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "DBDYNO_STORE",
        help_heading = "Global options"
    )]
    pub store: Option<PathBuf>,
}

/// The flags of `dbdyno compare`; what it does is said where the command is defined.
#[derive(Debug, clap::Args)]
pub(crate) struct Compare {
    /// The server that the others are compared with: mysql:8.0, mariadb:11.8, postgres:17, one that
    /// runs already as mysql://USER@HOST/DB, or sqlite:; or a stored run, @last, @NAME
    #[arg(value_name = "BASE")]
    pub base: String,
    /// What is compared with BASE: one, or up to eleven, measured in turn
    #[arg(value_name = "TEST", required = true, num_args = 1..=11)]
    pub tests: Vec<String>,
    /// Loads and suites, separated by commas; `dbdyno loads` names them. Between loads, `settle`
    /// waits until the servers have done their background work, `restore` brings the tables back
    /// as they were loaded, and `warm:LOAD` runs a load unmeasured
    #[arg(long, value_delimiter = ',', default_value = USUAL_LOAD, help_heading = "Workload")]
    pub load: Vec<String>,
    /// File of a load, which --load can then name
    ///
    /// Or name the file itself: --load ./shop.toml.
    #[arg(long, value_name = "FILE.toml", help_heading = "Workload")]
    pub load_file: Vec<PathBuf>,
    /// Distribution from which loads draw rows; sets the option rand= of every load that has it,
    /// unless --load sets it
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(draw::NAMES),
          help_heading = "Workload", hide_short_help = true)]
    pub rand: Option<String>,
    /// Skew of --rand: exponent of zipfian and latest, share of pareto and hotspot
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "rand",
        help_heading = "Workload",
        hide_short_help = true
    )]
    pub skew: Option<f64>,
    /// Numbers of clients, separated by commas [default: 1; with --rate or --find-max 16]
    #[arg(long, value_delimiter = ',', value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=20_000),
          help_heading = "Workload")]
    pub clients: Vec<u32>,
    /// Think time of each client between the answer to an event and its next event: 10s, or 8s..12s
    /// for a random time in that range
    #[arg(long, value_name = "PAUSE", help_heading = "Workload", hide_short_help = true)]
    pub think: Option<Think>,
    /// Open loop: send events at given times whether or not the server keeps up, and count waiting:
    /// 1000 (a second), poisson:1000, steps:1000,2000@10s, ramp:100-5000@60s, sine:1000+-500@30s,
    /// burst:1000,5000@1s/10s or file:arrivals.txt
    #[arg(long, value_name = "RATE", help_heading = "Workload", hide_short_help = true)]
    pub rate: Option<Arrivals>,
    /// Find the highest rate at which a condition on response times holds
    #[arg(
        long,
        value_name = "'p99 < 10ms'",
        conflicts_with = "rate",
        help_heading = "Workload",
        hide_short_help = true
    )]
    pub find_max: Option<Slo>,
    /// About one minute a cell instead of five
    #[arg(long, help_heading = "Duration")]
    pub quick: bool,
    /// Rounds of each arm in each cell, which is also the number of pairs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000),
          help_heading = "Duration")]
    pub rounds: Option<u32>,
    /// Choose rounds and restarts so that a change of this size is found in the least time: 1%,
    /// 0.5% or 0.01 (of rQPS)
    #[arg(long, value_name = "EFFECT", value_parser = values::parse_effect,
          help_heading = "Duration", hide_short_help = true)]
    pub detect: Option<f64>,
    /// Probability with which --detect finds it (statistical power)
    #[arg(long, value_name = "SHARE", default_value = "80%", value_parser = values::parse_power,
          requires = "detect", help_heading = "Duration", hide_short_help = true)]
    pub power: f64,
    /// Judge a cell after each start of the servers (interim analysis) and end it as soon as it is
    /// decided: slower, faster, or equal within the budget (2 %, or --budget), or within half of
    /// --detect if that is less. The interval stays valid although it is looked at repeatedly (a
    /// confidence sequence)
    #[arg(long, value_name = "WHEN", help_heading = "Duration")]
    pub until: Option<Until>,
    /// Measure for this time at most: 90s, 10m, 1h
    ///
    /// The time begins when servers and tables are ready, and cells share it. Without --rounds and
    /// --restarts, as many rounds are planned as fit into it, which may be more than usual.
    #[arg(long, value_name = "TIME", value_parser = values::parse_limit,
          help_heading = "Duration")]
    pub limit: Option<Duration>,
    /// Length of a round
    #[arg(long, value_name = "SECONDS", value_parser = values::parse_seconds,
          help_heading = "Duration")]
    pub seconds: Option<Duration>,
    /// Divide both rounds of a pair into slices of this length that take turns, so that both arms
    /// meet the same state of the host: 10ms, or none for one round after the other. Only for loads
    /// that only read, in the closed loop with at most 256 clients, on SQLite or on servers that
    /// dbdyno starts without cpus= and cache=cold. Slices are longer if events are slow
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = values::parse_slice,
          help_heading = "Duration", hide_short_help = true)]
    pub slice: Duration,
    /// Longest warm-up of a cell; it ends as soon as the rate is steady
    #[arg(long, value_name = "SECONDS", value_parser = values::parse_seconds,
          help_heading = "Duration", hide_short_help = true)]
    pub warm_up: Option<Duration>,
    /// Tables of each arm
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1000),
          help_heading = "Workload", hide_short_help = true)]
    pub tables: u32,
    /// Rows of each table
    #[arg(long, value_name = "N", default_value_t = 1_000_000,
          value_parser = clap::value_parser!(u64).range(1..=2_000_000_000),
          help_heading = "Workload")]
    pub rows: u64,
    /// Seed of the data, the statements and the order of rounds
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        help_heading = "Workload",
        hide_short_help = true
    )]
    pub seed: u64,
    /// Largest difference that counts as equal, e.g. 2%
    #[arg(long, value_name = "SHARE", default_value = USUAL_BUDGET_TEXT,
          value_parser = values::parse_share, help_heading = "Statistics", hide_short_help = true)]
    pub budget: f64,
    /// Processors of clients and servers: auto puts both on one processor if there is one client;
    /// same, always; split, on different ones; none leaves it to the scheduler; or
    /// clients=2-3/servers=0-1
    #[arg(long, value_name = "PLACES", default_value_t = Pin::Auto,
          help_heading = "Placement and servers", hide_short_help = true)]
    pub pin: Pin,
    /// What processors without work do while rounds are measured: halt, as the kernel does by
    /// itself; or poll, so that no statement waits until a processor has woken up (Linux, as root)
    #[arg(long, value_name = "halt|poll", default_value_t = Idle::Halt,
          help_heading = "Placement and servers", hide_short_help = true)]
    pub idle: Idle,
    /// Whether a byte of each page of the servers is read before rounds, for the host of a virtual
    /// machine may take away memory that rests: auto, once pages were found taken; always; or never
    #[arg(long, value_name = "auto|always|never", default_value_t = KeepMemory::Auto,
          help_heading = "Placement and servers", hide_short_help = true)]
    pub keep_memory: KeepMemory,
    /// How often the servers are restarted in a cell
    ///
    /// Embedded databases are reopened. Two starts of one server differ by about 1.5 % [default:
    /// 23, with --rate or --think 5, with --find-max 3; with --quick 15, 3 and 2; if a start takes
    /// more than 5 s, 11 and 7 instead of 23 and 15; 0 for servers by URL and in suites]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000),
          help_heading = "Statistics")]
    pub restarts: Option<u32>,
    /// Restart all arms before every block of two pairs, the largest possible number of restarts
    #[arg(long, conflicts_with = "restarts", help_heading = "Statistics", hide_short_help = true)]
    pub restart_between: bool,
    /// How often the tables of both arms are filled again within a cell, on empty servers and not
    /// from an image: two fillings of one server can differ, too
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(0..=1000),
          help_heading = "Statistics", hide_short_help = true)]
    pub reloads: u32,
    /// Fill the tables again before every start of the servers
    #[arg(long, conflicts_with = "reloads", help_heading = "Statistics", hide_short_help = true)]
    pub reload_between: bool,
    /// Method of the confidence interval: auto chooses t or robust by the tails of the pairs; t
    /// uses means and Student's t; robust uses Hodges-Lehmann estimates of each start and Student's
    /// t; bca is a bootstrap, too narrow where tails are heavy (docs/CALIBRATION.md);
    /// hodges-lehmann is the exact interval of signed ranks, or robust with fewer than three starts
    #[arg(long, value_name = "auto|t|robust|bca|hodges-lehmann",
          default_value_t = IntervalChoice::Auto,
          help_heading = "Statistics", hide_short_help = true)]
    pub interval: IntervalChoice,
    /// How servers that dbdyno starts get their tables: auto copies an image, a data directory that
    /// was loaded once, and makes one for tables of 64 MB or more; fresh makes a new one; none
    /// fills the tables. Sets the option image= of both arms
    #[arg(
        long,
        value_name = "auto|fresh|none",
        help_heading = "Placement and servers",
        hide_short_help = true
    )]
    pub image: Option<ImageUse>,
    /// Caches of servers that dbdyno starts, when a cell or a start begins: warm, the tables are in
    /// memory; cold, nothing is. Sets the option cache= of both arms
    #[arg(
        long,
        value_name = "warm|cold",
        help_heading = "Placement and servers",
        hide_short_help = true
    )]
    pub cache: Option<Cache>,
    /// Load the tables of TEST in this version and upgrade them in place: 5.7 if TEST is mysql:8.0.
    /// Sets the option upgrade-from= of TEST
    #[arg(
        long,
        value_name = "VERSION",
        help_heading = "Placement and servers",
        hide_short_help = true
    )]
    pub upgrade_from: Option<String>,
    /// What differs on purpose between servers by URL, as rules that `dbdyno diff --rules` lists;
    /// of other targets, their options say it
    #[arg(long, value_delimiter = ',', value_name = "RULE", value_parser = values::parse_rule,
          help_heading = "Placement and servers", hide_short_help = true)]
    pub varied: Vec<String>,
    /// Start each arm with replicas or as a cluster: replicas:N, with MySQL group:N, or with
    /// MariaDB galera:N. Sets the option topology= of both arms
    #[arg(
        long,
        value_name = "replicas:N|group:N|galera:N",
        help_heading = "Placement and servers",
        hide_short_help = true
    )]
    pub topology: Option<dbdyno_model::TopologyShape>,
    /// Network delay between the servers of a topology, in each direction, such as 5ms. Sets the
    /// option delay= of both arms
    #[arg(
        long,
        value_name = "TIME",
        help_heading = "Placement and servers",
        hide_short_help = true
    )]
    pub delay: Option<dbdyno_model::NetworkDelay>,
    /// Also count instructions per operation under callgrind, in both arms and by function, with
    /// one client on small tables: a measure that noise of the host does not affect. Downloads
    /// valgrind from Debian's packages. Not for servers by URL, rocksdb: and engine:
    #[arg(long, help_heading = "Statistics", hide_short_help = true)]
    pub count: bool,
    /// Count instructions and measure no rates: a minute or less for each load
    #[arg(long, conflicts_with_all = ["rate", "find_max", "think", "rounds"],
          help_heading = "Statistics", hide_short_help = true)]
    pub count_only: bool,
    /// Afterwards, find the cause in each cell that is proved slower or faster: see `dbdyno
    /// explain`
    #[arg(long, conflicts_with_all = ["rate", "find_max", "think"], help_heading = "Statistics")]
    pub explain: bool,
    /// Condition for scripts: rqps, the rate of TEST divided by that of BASE, lies above a number;
    /// exit 0 if it does in every cell, 1 if it does not in one, 3 if one is undecided
    #[arg(long, value_name = "'rqps > 0.98'", value_parser = Gate::parse,
          conflicts_with_all = ["rate", "think", "count_only"], help_heading = "Statistics")]
    pub gate: Option<Gate>,
    /// Name of the run, to find it again as @NAME
    #[arg(long, value_name = "NAME", value_parser = values::parse_name, help_heading = "Output")]
    pub name: Option<String>,
    /// What is to be remembered of the run, on one line: dbdyno runs shows it, and dbdyno history
    /// tells it among what may have caused a change
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true,
          value_parser = terms::line_of_text, help_heading = "Output", hide_short_help = true)]
    pub note: String,
    /// Also write the report to this file
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Print the plan cell by cell
    #[arg(long, short, help_heading = "Output", hide_short_help = true)]
    pub verbose: bool,
    #[command(flatten)]
    pub told: PrintFlags,
}

impl Compare {
    /// A plan with what flags say of it as they are; the rest depends on more than one of them.
    pub(crate) fn plan(&self) -> Plan {
        Plan {
            question: Question {
                tables: self.tables,
                rows: self.rows,
                seed: self.seed,
                counting: match (self.count_only, self.count) {
                    (true, _) => Counting::Only,
                    (false, true) => Counting::Beside,
                    (false, false) => Counting::No,
                },
                note: self.note.clone(),
                ..Question::default()
            },
            schedule: RoundSchedule {
                slice_ns: self.slice.as_nanos() as u64,
                ..RoundSchedule::default()
            },
            rule: JudgingRule {
                budget: self.budget,
                interval: self.interval,
                ..JudgingRule::default()
            },
            quiet: Quiet { pin: self.pin, idle: self.idle, keep_memory: self.keep_memory },
            ..Plan::default()
        }
    }
}

/// The flags of `dbdyno run`; what it does is said where the command is defined.
#[derive(Debug, clap::Args)]
pub(crate) struct RunFile {
    /// The experiment
    #[arg(value_name = "FILE.toml")]
    pub file: PathBuf,
    /// Carry the file out also if it logs in to servers by URL, sends statements of its own, names
    /// files or programs, or writes files; without it, what it would do is said
    #[arg(long)]
    pub trust_experiment: bool,
    /// Flags of `dbdyno compare`, such as --quick
    #[arg(value_name = "FLAGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub flags: Vec<String>,
}

/// The flags of `dbdyno published`; what it does is said where the command is defined.
#[derive(Debug, clap::Args)]
pub(crate) struct PublishedFlags {
    /// Files of experiments with printed figures
    #[arg(value_name = "FILE.toml", required = true)]
    pub files: Vec<PathBuf>,
    /// Compare them with this run: @last, @NAME, or the beginning of an id
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Find the cause of our own figure in each row that lies further from the printed one than the
    /// tolerance, as dbdyno explain does: rates first, and the furthest first
    #[arg(long)]
    pub explain: bool,
    /// With --explain: time for trials: 10m, 90s, 1h; the rows share it, and a trial that is not
    /// done by then is cut short; 0 shows what is known already
    #[arg(
        long,
        value_name = "TIME",
        requires = "explain",
        value_parser = values::parse_limit_of_trials
    )]
    pub limit: Option<Duration>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: PublishedFormat,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum PublishedFormat {
    Text,
    Markdown,
    Json,
    Csv,
    /// Charts: printed ratios on the horizontal axis, ours on the vertical one
    Svg,
}

/// The flags of `dbdyno resume`; what it does is said where the command is defined.
#[derive(Debug, clap::Args)]
pub(crate) struct Resume {
    /// @last, @NAME, or the beginning of an id
    #[arg(value_name = "RUN", default_value = "@last")]
    pub run: String,
    /// Additional rounds of each arm in each undecided cell
    #[arg(long, value_name = "+N", value_parser = values::parse_more)]
    pub rounds: Option<u32>,
    /// End each cell as soon as it has a verdict
    #[arg(long, value_name = "WHEN")]
    pub until: Option<Until>,
    /// Limit of the measuring time from now on: 10m, 90s, 1h; cells share it
    #[arg(long, value_name = "TIME", value_parser = values::parse_limit)]
    pub limit: Option<Duration>,
    /// Go on also with a run that was not begun from this home: start the servers that the store
    /// names, with their options, and send its statements
    #[arg(long)]
    pub trust_store: bool,
    /// Condition for scripts: rqps, the rate of TEST divided by that of BASE, lies above a number;
    /// exit 0 if it does in every cell, 1 if it does not in one, 3 if one is undecided
    #[arg(long, value_name = "'rqps > 0.98'", value_parser = Gate::parse)]
    pub gate: Option<Gate>,
    /// Also write the report to this file
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub told: PrintFlags,
}

/// What ends the measuring of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Until {
    /// The cell has a verdict
    Decided,
}

/// How much of a comparison is printed, and in which shape.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PrintFlags {
    /// Print everything: costs and latencies, how certain each answer is, every note
    #[arg(long, help_heading = "Output")]
    pub all: bool,
    /// Print these parts after the answer
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "PART",
        conflicts_with = "all",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub section: Vec<Section>,
    /// Sort by loss, the largest first; with more than two arms within groups, by the worst arm
    #[arg(long, conflicts_with = "all", help_heading = "Output", hide_short_help = true)]
    pub worst_first: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = ToldFormat::Text, help_heading = "Output")]
    pub format: ToldFormat,
    /// Colour in text: never, always, or only on a terminal (NO_COLOR is honoured)
    #[arg(long, value_enum, default_value_t = Color::Auto, help_heading = "Output",
          hide_short_help = true)]
    pub color: Color,
    /// With more than two arms, in text: print the 95 % interval of each ratio
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub intervals: bool,
}

impl PrintFlags {
    /// What is told where nothing else is asked for.
    pub(crate) fn with_defaults(color: Color) -> PrintFlags {
        let (all, worst_first, intervals) = (false, false, false);
        let format = ToldFormat::Text;
        PrintFlags { all, section: Vec::new(), worst_first, format, color, intervals }
    }

    /// The same for what has fewer shapes, such as an explanation.
    pub(crate) fn output_shape(&self) -> Shape {
        let format = match self.format {
            ToldFormat::Text => Format::Text,
            ToldFormat::Csv => Format::Csv,
            ToldFormat::Markdown | ToldFormat::Github => Format::Markdown,
            ToldFormat::Json | ToldFormat::Jsonl | ToldFormat::Junit | ToldFormat::Benchfmt => {
                Format::Json
            }
        };
        Shape { format, color: self.color }
    }
}

/// The shapes of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToldFormat {
    Text,
    Json,
    Csv,
    Markdown,
    /// Annotations of a GitHub workflow; the summary is appended to the file GITHUB_STEP_SUMMARY
    Github,
    /// JUnit XML: each cell is a test case, and so is the gate
    Junit,
    /// A line for each round, for benchstat
    Benchfmt,
    /// A line of JSON for each round as it is measured, and the result last
    Jsonl,
}

/// A part of what is known of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// Cost and latency of operations
    Cost,
    /// Uncertainty of each answer, and where it comes from
    Doubt,
    /// Counters of the reference engine's mechanisms
    Engine,
    /// Differences between the servers
    Facts,
    /// Every warning and note, and the cells to which it applies
    Notes,
}

/// In which shape results are printed.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Shape {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Colour in text: never, always, or only on a terminal (NO_COLOR is honoured)
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
    Csv,
    Markdown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// File of the report
    #[arg(long, short, value_name = "FILE.html", default_value = "dbdyno-demo.html")]
    pub output: PathBuf,
    #[command(flatten)]
    pub told: PrintFlags,
}

/// The flags of `dbdyno doctor`; what it does is said where the command is defined.
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// In text: print the figures of each check, and what it costs to ignore each note
    #[arg(long)]
    pub all: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
}

/// Formats of what has no rows for a spreadsheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Text,
    Markdown,
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Runs {
    /// Also show trials: runs that `explain` made
    #[arg(long)]
    pub trials: bool,
    /// Show this many, newest first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// @last, @NAME, or the beginning of an id
    #[arg(value_name = "RUN", default_value = "@last")]
    pub run: String,
    /// Of a run of several arms: the arm that the others are judged against, by its name (base,
    /// test, test2) or target; or before, each against the arm before it [default: base]
    #[arg(long, value_name = "before|base|ARM")]
    pub against: Option<values::Against>,
    /// With more than two arms: show this one in full, as a run of two arms
    #[arg(long, value_name = "ARM")]
    pub arm: Option<String>,
    /// Condition for scripts: rqps, the rate of TEST divided by that of BASE, lies above a number;
    /// exit 0 if it does in every cell, 1 if it does not in one, 3 if one is undecided
    #[arg(long, value_name = "'rqps > 0.98'", value_parser = Gate::parse)]
    pub gate: Option<Gate>,
    #[command(flatten)]
    pub told: PrintFlags,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// @last, @NAME, or the beginning of an id
    #[arg(value_name = "RUN", default_value = "@last")]
    pub run: String,
    /// With more than two arms: the reference, as in `dbdyno show`
    #[arg(long, value_name = "before|base|ARM")]
    pub against: Option<values::Against>,
    /// With more than two arms: this one in full
    #[arg(long, value_name = "ARM")]
    pub arm: Option<String>,
    /// With more than two arms: sort loads within their groups by the largest loss of any arm
    #[arg(long)]
    pub worst_first: bool,
    /// File of the report [default: dbdyno-RUN.html]
    #[arg(long, short, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    /// Write the table as an SVG file, for a README or a ticket, and no page unless --output names
    /// one; with the ending .md, .csv or .json as Markdown, CSV or JSON
    #[arg(long = "static", value_name = "FILE.svg", value_parser = values::parse_still)]
    pub still: Option<values::Still>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Metrics {
    /// Show all of the metrics in which this word stands: in the name, in what is said of it, or in
    /// what a server calls it, such as Innodb_row_lock_time
    #[arg(value_name = "WORD")]
    pub word: Option<String>,
    /// Show where each one stands in servers and what moves it, also without a word
    #[arg(long)]
    pub all: bool,
    /// How to print it
    #[arg(long, value_enum, default_value = "text")]
    pub format: ReportFormat,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Loads {
    /// Print what each load does, beside its name
    #[arg(long)]
    pub all: bool,
    /// File that describes a load, which is then known by its name
    #[arg(long, global = true, value_name = "FILE.toml")]
    pub load_file: Vec<PathBuf>,
    #[command(subcommand)]
    pub command: Option<LoadsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LoadsCommand {
    /// Show what a load does: its tables, its statements, an example of what is asked
    Show(ShowLoad),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ShowLoad {
    /// Name of a load with options, of a suite, or a file that describes a load
    #[arg(value_name = "NAME[?OPTION=VALUE]")]
    pub load: String,
    /// Show this dialect only, else all where they differ
    #[arg(long, value_parser = values::dialect_parser())]
    pub dialect: Option<Dialect>,
}
