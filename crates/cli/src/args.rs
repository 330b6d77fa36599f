//! Flags that several commands share, and those of the commands about runs and loads.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Subcommand, ValueEnum};
use dbdyno_model::{Arrivals, Cache, Gate, ImageUse, IntervalChoice, Pin, Slo, Think};
use dbdyno_workload::draw;

use crate::values;

/// Where things are kept.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Place {
    /// Directory for servers, sandboxes and results [default: /var/lib/dbdyno for root, else
    /// ~/.local/share/dbdyno]
    #[arg(long, global = true, value_name = "DIR", env = "DBDYNO_HOME")]
    pub home: Option<PathBuf>,
    /// File with the results [default: dbdyno.db in the home]
    #[arg(long, global = true, value_name = "FILE", env = "DBDYNO_STORE")]
    pub store: Option<PathBuf>,
}

/// Compare two servers, or two stored runs.
///
/// A server is mysql:8.0, mariadb:11.8, postgres:17 (got and started by dbdyno, `dbdyno server ls`
/// names all; postgres:17@maven takes it from there and from nowhere else; 'mysql:8.0?binlog=on'
/// sets it up otherwise, see `dbdyno server options --help`),
/// mysql://USER@HOST/DB, postgres://USER@HOST/DB (running already; passwords also from the files
/// of the servers' own clients, MYSQL_PWD, PGPASSWORD and the terminal; ?tls=off, preferred,
/// required, verify-ca or verify-identity, or the clients' own words, say what is encrypted),
/// sqlite:?PRAGMA=VALUE, rocksdb:?preset=cached|buffered|direct or
/// engine:?FIELD=VALUE, the reference engine with a mechanism changed (fields: view, wake, log,
/// gate and others; a wrong one names all). A stored run is @last, @NAME or the beginning of its
/// id.
#[derive(Debug, clap::Args)]
pub(crate) struct Compare {
    /// What the others are measured against
    #[arg(value_name = "BASE")]
    pub base: String,
    /// What is measured: one, or up to eleven that take turns with BASE and with each other
    #[arg(value_name = "TEST", required = true, num_args = 1..=11)]
    pub tests: Vec<String>,
    /// Loads and suites, separated by commas; `dbdyno loads` names them. Between loads, `settle`
    /// waits until the servers have done their background work, `restore` brings the tables back
    /// as they were loaded, and `warm:LOAD` runs a load unmeasured
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "point-query",
        help_heading = "What is asked"
    )]
    pub load: Vec<String>,
    /// File that describes a load, which --load can then name; or name the file itself: --load
    /// ./shop.toml
    #[arg(long, value_name = "FILE.toml", help_heading = "What is asked", hide_short_help = true)]
    pub load_file: Vec<PathBuf>,
    /// How loads draw their rows: short for the option rand= of every load that has it; what a
    /// name says itself comes first
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(draw::NAMES),
          help_heading = "What is asked", hide_short_help = true)]
    pub rand: Option<String>,
    /// How unevenly --rand draws: exponent of zipfian and latest, share of pareto and hotspot
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "rand",
        help_heading = "What is asked",
        hide_short_help = true
    )]
    pub skew: Option<f64>,
    /// Numbers of clients, separated by commas [default: 1; with --rate or --find-max 16]
    #[arg(long, value_delimiter = ',', value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=20_000),
          help_heading = "What is asked")]
    pub clients: Vec<u32>,
    /// Let each client rest between the answer to an event and its next event: 10s, or anything
    /// from 8s to 12s with 8s..12s
    #[arg(long, value_name = "PAUSE", help_heading = "What is asked", hide_short_help = true)]
    pub think: Option<Think>,
    /// Send events at given times, whatever the server does, and count waiting: 1000 a second,
    /// poisson:1000, steps:1000,2000@10s, ramp:100-5000@60s, sine:1000+-500@30s,
    /// burst:1000,5000@1s/10s or file:arrivals.txt
    #[arg(long, value_name = "RATE", help_heading = "What is asked", hide_short_help = true)]
    pub rate: Option<Arrivals>,
    /// Look for the highest rate at which a condition on response times holds
    #[arg(
        long,
        value_name = "'p99 < 10ms'",
        conflicts_with = "rate",
        help_heading = "What is asked",
        hide_short_help = true
    )]
    pub find_max: Option<Slo>,
    /// About one minute a cell instead of five
    #[arg(long, help_heading = "How long, and until when")]
    pub quick: bool,
    /// Rounds of each arm in each cell, which is also the number of pairs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000),
          help_heading = "How long, and until when")]
    pub rounds: Option<u32>,
    /// Plan rounds and restarts so that a change of this size is found, in the least time: 1bp or
    /// 1%, 0.5% (a basis point is one per cent of rQPS)
    #[arg(long, value_name = "EFFECT", value_parser = values::parse_effect,
          help_heading = "How long, and until when", hide_short_help = true)]
    pub detect: Option<f64>,
    /// The chance with which --detect is to find it
    #[arg(long, value_name = "SHARE", default_value = "80%", value_parser = values::parse_power,
          requires = "detect", help_heading = "How long, and until when", hide_short_help = true)]
    pub power: f64,
    /// Look at a cell after each start of the servers, and end it as soon as it is decided: slower,
    /// faster, or equal within the budget, which is half of --detect if that is less. The interval
    /// is one that allows it
    #[arg(long, value_name = "WHEN", help_heading = "How long, and until when")]
    pub until: Option<Until>,
    /// The longest that measuring may take in all, servers and tables once made: 10m, 90s, 1h;
    /// cells share it
    #[arg(long, value_name = "TIME", value_parser = values::parse_limit,
          help_heading = "How long, and until when", hide_short_help = true)]
    pub limit: Option<Duration>,
    /// Length of a round
    #[arg(long, value_name = "SECONDS", value_parser = values::parse_seconds,
          help_heading = "How long, and until when", hide_short_help = true)]
    pub seconds: Option<Duration>,
    /// Where rows are only read, by at most 256 clients that always ask, and arms are SQLite or
    /// servers that dbdyno starts without cpus= and cache=cold, both rounds of a pair are cut into
    /// slices of this length that take turns, so that both arms meet the same host: 10ms, or none
    /// for one round after the other. Slices are longer where events are slow
    #[arg(long, value_name = "TIME", default_value = "10ms", value_parser = values::parse_slice,
          help_heading = "How long, and until when", hide_short_help = true)]
    pub slice: Duration,
    /// Longest warm-up of a cell; it ends as soon as the rate is steady
    #[arg(long, value_name = "SECONDS", value_parser = values::parse_seconds,
          help_heading = "How long, and until when", hide_short_help = true)]
    pub warm_up: Option<Duration>,
    /// Tables of each arm
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1000),
          help_heading = "What is asked", hide_short_help = true)]
    pub tables: u32,
    /// Rows of each table
    #[arg(long, value_name = "N", default_value_t = 1_000_000,
          value_parser = clap::value_parser!(u64).range(1..=2_000_000_000),
          help_heading = "What is asked")]
    pub rows: u64,
    /// Seed of data, questions and order
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        help_heading = "What is asked",
        hide_short_help = true
    )]
    pub seed: u64,
    /// Largest difference that counts as equal, e.g. 2%
    #[arg(long, value_name = "SHARE", default_value = "2%", value_parser = values::parse_share,
          help_heading = "How sure", hide_short_help = true)]
    pub budget: f64,
    /// Where clients and servers run: auto puts them on one processor where there is one client;
    /// same, always; split, apart; none, where the scheduler likes; or
    /// clients=2-3/servers=0-1
    #[arg(long, value_name = "PLACES", default_value_t = Pin::Auto,
          help_heading = "Where, and on what", hide_short_help = true)]
    pub pin: Pin,
    /// How often both arms are started again within a cell, databases in our threads opened again;
    /// two starts of one server differ by about 1.5 % [default: 23, with --rate or --think 5, with
    /// --find-max 3; with --quick 15, 3 and 2; where a start takes more than 5 s, 11 and 7 instead
    /// of 23 and 15; 0 for servers by URL and in suites]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000),
          help_heading = "How sure", hide_short_help = true)]
    pub restarts: Option<u32>,
    /// Start all arms again before every block of two pairs: as many starts as there can be
    #[arg(long, conflicts_with = "restarts", help_heading = "How sure", hide_short_help = true)]
    pub restart_between: bool,
    /// How often the tables of both arms are filled anew within a cell, on empty servers, not from
    /// an image: two fillings of one server differ, too
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(0..=1000),
          help_heading = "How sure", hide_short_help = true)]
    pub reloads: u32,
    /// Fill the tables anew before every start of the servers
    #[arg(long, conflicts_with = "reloads", help_heading = "How sure", hide_short_help = true)]
    pub reload_between: bool,
    /// How the doubt of a result is worked out: auto chooses t or robust by the tails of the pairs;
    /// t, means and Student's t; robust, Hodges-Lehmann estimates of each start and Student's t;
    /// bca, a bootstrap, too bold where tails are heavy (docs/CALIBRATION.md); hodges-lehmann, the
    /// exact interval of signed ranks, or robust where servers are started fewer than three times
    #[arg(long, value_name = "auto|t|robust|bca|hodges-lehmann",
          default_value_t = IntervalChoice::Auto,
          help_heading = "How sure", hide_short_help = true)]
    pub interval: IntervalChoice,
    /// Where servers of dbdyno have their tables from: auto takes an image, a data directory that
    /// was loaded once, and makes one of tables from 64 MB on; fresh makes it anew; none fills the
    /// tables. Short for the option image= of both arms
    #[arg(long, value_name = "auto|fresh|none", value_parser = values::named_image,
          help_heading = "Where, and on what", hide_short_help = true)]
    pub image: Option<ImageUse>,
    /// What servers of dbdyno have in memory when each cell and each start begins: warm, the
    /// tables; cold, nothing. Short for the option cache= of both arms
    #[arg(long, value_name = "warm|cold", value_parser = values::named_cache,
          help_heading = "Where, and on what", hide_short_help = true)]
    pub cache: Option<Cache>,
    /// Let TEST have its tables from this version, as an image, and upgrade them in place: 5.7
    /// where TEST is mysql:8.0. Short for the option upgrade-from= of TEST
    #[arg(
        long,
        value_name = "VERSION",
        help_heading = "Where, and on what",
        hide_short_help = true
    )]
    pub upgrade_from: Option<String>,
    /// What differs on purpose, by the rules that `dbdyno diff --rules` shows: for servers by URL,
    /// which cannot say so behind their target
    #[arg(long, value_delimiter = ',', value_name = "RULE", value_parser = values::parse_rule,
          help_heading = "Where, and on what", hide_short_help = true)]
    pub varied: Vec<String>,
    /// Let each arm be the first of servers that belong together: replicas:N, with MySQL
    /// group:N, or with MariaDB galera:N. Short for the option topology= of both arms
    #[arg(
        long,
        value_name = "replicas:N|group:N|galera:N",
        help_heading = "Where, and on what",
        hide_short_help = true
    )]
    pub topology: Option<dbdyno_model::Shape>,
    /// Let what these servers send each other be on its way for so long, in each direction, such as
    /// 5ms. Short for the option delay= of both arms
    #[arg(long, value_name = "TIME", help_heading = "Where, and on what", hide_short_help = true)]
    pub delay: Option<dbdyno_model::Delay>,
    /// Count instructions per operation, too, in both arms and by function: a second witness, which
    /// no noise of the host reaches; on small tables, with one client. Gets valgrind from Debian's
    /// packages. Not for servers by URL, rocksdb: and engine:
    #[arg(long, help_heading = "How sure", hide_short_help = true)]
    pub count: bool,
    /// As --count, and measure no rates: a minute or less for each load
    #[arg(long, conflicts_with_all = ["rate", "find_max", "think", "rounds"],
          help_heading = "How sure", hide_short_help = true)]
    pub count_only: bool,
    /// Afterwards, find where the difference comes from in each cell that is proved slower or
    /// faster: see `dbdyno explain`
    #[arg(long, conflicts_with_all = ["rate", "find_max", "think"], help_heading = "How sure")]
    pub explain: bool,
    /// Condition for scripts: exit 0 if it holds in every cell, 1 if it fails, 3 if that is open
    #[arg(long, value_name = "'rqps > 0.98'", value_parser = Gate::parse,
          conflicts_with_all = ["rate", "think", "count_only"], help_heading = "How sure")]
    pub gate: Option<Gate>,
    /// Name of the run, to find it again as @NAME
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub name: Option<String>,
    /// Also write the report to this file
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Tell the plan cell by cell
    #[arg(long, short, help_heading = "Output", hide_short_help = true)]
    pub verbose: bool,
    #[command(flatten)]
    pub told: Told,
}

/// Carry out an experiment that is written in a file, and hold what is found against what the file
/// expects.
///
/// The file names two arms and flags of `dbdyno compare`; flags that are given here come before
/// those of the file. Ends with 0 where everything is as expected, with 1 where something is
/// proved to be otherwise, with 3 where that is open.
#[derive(Debug, clap::Args)]
pub(crate) struct RunFile {
    /// The experiment
    #[arg(value_name = "FILE.toml")]
    pub file: PathBuf,
    /// Flags of `dbdyno compare`, such as --quick
    #[arg(value_name = "FLAGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub flags: Vec<String>,
}

/// Hold what texts printed against what was measured here
///
/// Files of experiments name printed ratios (`published`), and which arms stand for which
/// releases. Each is held against the newest run of the experiment: of its whole form, or of its
/// short form where there is no other.
#[derive(Debug, clap::Args)]
pub(crate) struct Published {
    /// Experiments with printed figures
    #[arg(value_name = "FILE.toml", required = true)]
    pub files: Vec<PathBuf>,
    /// Hold them against this run: @last, @NAME, or the beginning of an id
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Shape of what goes to stdout
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: PublishedFormat,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum PublishedFormat {
    Text,
    Markdown,
    Json,
    Csv,
    /// Charts: theirs across, ours upwards
    Svg,
}

/// Go on with a run that was interrupted or killed, or make one longer that left cells undecided.
///
/// The plan is that of the run; rounds that were measured are kept. Servers and tables are made
/// anew, and writes that come before what is left are repeated unmeasured. With --rounds +N,
/// --until decided or --limit, cells that are undecided are measured for longer; they are looked at
/// after each start then, with an interval that allows it.
#[derive(Debug, clap::Args)]
pub(crate) struct Resume {
    /// @last, @NAME, or the beginning of an id
    #[arg(value_name = "RUN", default_value = "@last")]
    pub run: String,
    /// Rounds of each arm to be measured in addition, in each undecided cell
    #[arg(long, value_name = "+N", value_parser = values::parse_more)]
    pub rounds: Option<u32>,
    /// End each cell as soon as it is decided
    #[arg(long, value_name = "WHEN")]
    pub until: Option<Until>,
    /// The longest that measuring may take from now on: 10m, 90s, 1h; cells share it
    #[arg(long, value_name = "TIME", value_parser = values::parse_limit)]
    pub limit: Option<Duration>,
    /// Condition for scripts: exit 0 if it holds in every cell, 1 if it fails, 3 if that is open
    #[arg(long, value_name = "'rqps > 0.98'", value_parser = Gate::parse)]
    pub gate: Option<Gate>,
    /// Also write the report to this file
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub told: Told,
}

/// What ends the measuring of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Until {
    /// A verdict
    Decided,
}

/// How much of a comparison is printed, and in which shape.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Told {
    /// Print all that is known: costs and latencies, how sure each answer is, every note
    #[arg(long, help_heading = "Output")]
    pub all: bool,
    /// Print these parts behind the answer
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
    /// What has lost most comes first
    #[arg(long, conflicts_with = "all", help_heading = "Output", hide_short_help = true)]
    pub worst_first: bool,
    /// Shape of what goes to stdout
    #[arg(long, value_enum, default_value_t = ToldFormat::Text, help_heading = "Output")]
    pub format: ToldFormat,
    /// Colour in text: never, always, or only on a terminal (NO_COLOR is honoured)
    #[arg(long, value_enum, default_value_t = Color::Auto, help_heading = "Output",
          hide_short_help = true)]
    pub color: Color,
    /// In text, of more than two arms: ratios with their 95 % intervals
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub intervals: bool,
}

impl Told {
    /// The same for what has fewer shapes, such as an explanation.
    pub(crate) fn shape(&self) -> Shape {
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
    /// Annotations of a GitHub workflow; the summary goes where GITHUB_STEP_SUMMARY says
    Github,
    /// A report of tests: a cell is one, and fails where --gate does
    Junit,
    /// A line for each round, for benchstat
    Benchfmt,
    /// A line of JSON for each round as it is measured, and the result last
    Jsonl,
}

/// A part of what is known of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// What operations cost, and how long they take
    Cost,
    /// How sure each answer is
    Doubt,
    /// What the mechanisms of engines did
    Engine,
    /// Where the servers are unequal
    Facts,
    /// Every warning and note, and where it applies
    Notes,
}

/// In which shape results are printed.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Shape {
    /// Shape of what goes to stdout
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
    /// Where the report goes
    #[arg(long, short, value_name = "FILE.html", default_value = "dbdyno-demo.html")]
    pub output: PathBuf,
    #[command(flatten)]
    pub told: Told,
}

/// Check whether this host is fit to measure on.
///
/// Looks for some seconds, at what the kernel says and at small pieces of work that always
/// cost the same. Exits with 3 if something stands in the way of any measurement.
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// Shape of what goes to stdout
    #[arg(long, value_enum, default_value_t = DoctorFormat::Text)]
    pub format: DoctorFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DoctorFormat {
    Text,
    Json,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Runs {
    /// Show trials, too: runs that were made to explain another one
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
    /// Of a run of several arms: this one in full, as a run of two arms is shown
    #[arg(long, value_name = "ARM")]
    pub arm: Option<String>,
    /// Condition for scripts: exit 0 if it holds in every cell, 1 if it fails, 3 if that is open
    #[arg(long, value_name = "'rqps > 0.98'", value_parser = Gate::parse)]
    pub gate: Option<Gate>,
    #[command(flatten)]
    pub told: Told,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// @last, @NAME, or the beginning of an id
    #[arg(value_name = "RUN", default_value = "@last")]
    pub run: String,
    /// Of a run of several arms: as `dbdyno show` has it
    #[arg(long, value_name = "before|base|ARM")]
    pub against: Option<values::Against>,
    /// Of a run of several arms: this one in full
    #[arg(long, value_name = "ARM")]
    pub arm: Option<String>,
    /// Where the report goes [default: dbdyno-RUN.html]
    #[arg(long, short, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
    /// Write the table as a drawing that stands by itself, for a README or a ticket, and no page
    /// unless --output names one; with another ending the same as Markdown (.md), CSV (.csv) or
    /// JSON (.json)
    #[arg(long = "static", value_name = "FILE.svg", value_parser = values::parse_still)]
    pub still: Option<values::Still>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Loads {
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
    #[arg(long, value_enum)]
    pub dialect: Option<DialectFlag>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectFlag {
    Mysql,
    Postgres,
    Sqlite,
    /// RocksDB
    Rocksdb,
}
