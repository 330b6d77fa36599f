//! What a load is.
//!
//! ```text
//!   Load ── name, about, group, trend          "random-points_range=100?rand=zipfian"
//!    ├── dataset   the tables that it asks     see crate::dataset
//!    └── content
//!         ├── Mix        statements as templates; an event is known before it is asked
//!         ├── Choice     several mixes with weights; an event is one of them
//!         └── Dialogue   statements that depend on answers; see crate::dialogue
//! ```
//!
//! A [`Mix`] is data: a list of steps; each step is one or more statements, asked `repeat` times on
//! one table drawn for the step. See [`crate::template`] for what stands in braces.

use std::sync::Arc;

use dbdyno_model::Dialect;

use crate::dataset::Dataset;
use crate::dialogue::Dialogue;
use crate::draw::Draw;

/// The part of the table of results in which a load belongs (Callaghan's groups).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadGroup {
    /// Rows found by key.
    Point,
    /// Rows found by range.
    Range,
    /// Rows found by range, and counted, summed, sorted or scanned.
    RangeAggregate,
    /// Rows changed.
    Write,
}

impl LoadGroup {
    /// All groups, in the order of the table.
    pub const ALL: [LoadGroup; 4] =
        [LoadGroup::Point, LoadGroup::Range, LoadGroup::RangeAggregate, LoadGroup::Write];

    /// `"point"`, `"range"`, `"range-aggregate"` or `"write"`.
    pub fn name(self) -> &'static str {
        match self {
            LoadGroup::Point => "point",
            LoadGroup::Range => "range",
            LoadGroup::RangeAggregate => "range-aggregate",
            LoadGroup::Write => "write",
        }
    }

    /// The group with this [`LoadGroup::name`].
    pub fn from_name(name: &str) -> Option<LoadGroup> {
        LoadGroup::ALL.into_iter().find(|group| group.name() == name)
    }
}

/// What a right answer looks like. An answer outside of it stops the run: a server that is fast and
/// wrong is not fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Number of rows returned, both bounds included.
    Rows(u64, u64),
    /// Number of rows changed, both bounds included.
    Changed(u64, u64),
}

/// How a statement is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Prepared once for each connection, executed with parameters in binary form.
    Prepared,
    /// As text with its parameters written into it.
    Text,
}

/// A statement as a template, by dialect. An empty text: not in this dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sql {
    /// For MySQL and MariaDB.
    pub mysql: String,
    /// For PostgreSQL.
    pub postgres: String,
    /// For SQLite.
    pub sqlite: String,
    /// For RocksDB: words of `load::rocks`.
    pub rocksdb: String,
}

impl Sql {
    /// The same text wherever there is SQL.
    pub(crate) fn same_for_all(text: &str) -> Sql {
        Sql::of_three([text; 3].map(str::to_owned))
    }

    /// For MySQL, PostgreSQL and SQLite.
    pub(crate) fn of_three([mysql, postgres, sqlite]: [String; 3]) -> Sql {
        Sql { mysql, postgres, sqlite, rocksdb: String::new() }
    }

    /// As it is, and in other words for RocksDB.
    #[must_use]
    pub(crate) fn and_rocksdb(self, rocksdb: &str) -> Sql {
        Sql { rocksdb: rocksdb.to_owned(), ..self }
    }

    /// The text for one dialect. The reference engine is asked in MySQL's words: it is compared
    /// with InnoDB first of all, and a plan that MySQL is told by a hint is the same plan there.
    pub fn for_dialect(&self, dialect: Dialect) -> &str {
        match dialect {
            Dialect::Mysql | Dialect::Engine => &self.mysql,
            Dialect::Postgres => &self.postgres,
            Dialect::Sqlite => &self.sqlite,
            Dialect::Rocksdb => &self.rocksdb,
        }
    }

    /// Whether it reads and does nothing else, as far as its words tell: a row that is locked is
    /// written to by some servers, and whatever is called or selected into may be.
    fn only_reads(&self) -> bool {
        [&self.mysql, &self.postgres, &self.sqlite].into_iter().all(|text| {
            let text = text.to_ascii_uppercase();
            let words: Vec<&str> = text.split_whitespace().collect();
            words.first().is_none_or(|first| *first == "SELECT")
                && !words.contains(&"INTO")
                && !words.windows(2).any(locks_rows)
        })
    }
}

fn locks_rows(two: &[&str]) -> bool {
    let [first, second] = two else { return false };
    let second = second.trim_end_matches([';', ')']);
    *first == "FOR" && ["UPDATE", "SHARE", "NO", "KEY"].contains(&second)
        || [*first, second] == ["LOCK", "IN"]
}

/// What another client does beside those that are counted, at a rate of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct BackgroundMix {
    /// Its events.
    pub mix: Mix,
    /// Events per second.
    pub per_second: u64,
}

/// One statement of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// What its series and latencies are filed under.
    pub class: String,
    /// SQL with generators in braces.
    pub sql: Sql,
    /// What is right.
    pub expect: Expect,
    /// How it is sent.
    pub channel: Channel,
}

/// On which table a step works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableDraw {
    /// Any, drawn anew for each step of each event.
    Random,
    /// Table number client modulo tables.
    OfClient,
}

/// Statements that share a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadStep {
    /// The statements, in order.
    pub asks: Vec<Ask>,
    /// How often they are asked in a row.
    pub repeat: u32,
    /// Their table.
    pub table: TableDraw,
}

/// Whether the steps of an event are one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionMode {
    /// BEGIN and COMMIT stand around them.
    Explicit,
    /// Each statement commits by itself.
    Autocommit,
}

/// Statements that are known before they are asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    /// Whether an event is a transaction.
    pub transaction: TransactionMode,
    /// The steps of an event. With weights, an event is one of them; without, it is all of them.
    pub steps: Vec<LoadStep>,
    /// For each step the share of events that consist of it alone; empty where an event is all
    /// steps in order.
    pub weights: Vec<u32>,
    /// How ids are drawn.
    pub draw: Draw,
}

/// Several mixes, of which each event is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The mixes with their weights: shares of the events. Their sum is not 0.
    pub mixes: Vec<(u32, Mix)>,
}

/// What happens to the size of the tables while a load runs. An average over a load that is not
/// steady is an average over different databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// It stays.
    Steady,
    /// Rows are added.
    Grows,
    /// Rows go away.
    Shrinks,
    /// Rows are added in a round, and taken out again before the next one, unmeasured.
    GrowsAndIsCut,
    /// Rows go away in a round, and are put back before the next one, unmeasured.
    ShrinksAndIsRefilled,
}

/// What the rate of a load counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Statements, BEGIN and COMMIT included.
    Statements,
    /// Rows that are scanned or inserted, this many for each statement.
    Rows(u64),
    /// Events, which are transactions.
    Transactions,
}

/// How the statements of a load come about.
#[derive(Clone, Debug)]
pub enum Content {
    /// From templates.
    Mix(Mix),
    /// From templates, too.
    Choice(Choice),
    /// From a conversation with the server.
    Dialogue(Arc<dyn Dialogue>),
}

/// A named mix of statements, with its options and its tables.
#[derive(Clone, Debug)]
pub struct Load {
    /// What it is called, with the options that are not at their default; the same text resolves to
    /// the same load.
    pub name: String,
    /// One line for people.
    pub about: String,
    /// Its place in the table of results.
    pub group: LoadGroup,
    /// What becomes of the tables.
    pub trend: Trend,
    /// What its rate counts.
    pub unit: Unit,
    /// The tables that it asks.
    pub dataset: Arc<dyn Dataset>,
    /// Its statements.
    pub content: Content,
    /// Who writes beside its clients, and is not counted among them.
    pub background: Option<BackgroundMix>,
    /// The options that it takes.
    pub options: Vec<&'static str>,
    /// The file that describes it, as its user named it; `None` for those that come with dbdyno.
    pub file: Option<String>,
}

impl Load {
    /// Whether events change rows.
    pub fn writes_rows(&self) -> bool {
        self.background.is_some() || self.changes_rows()
    }

    fn changes_rows(&self) -> bool {
        match &self.content {
            Content::Mix(mix) => mix.writes_rows(),
            Content::Choice(choice) => choice.mixes.iter().any(|(_, mix)| mix.writes_rows()),
            Content::Dialogue(dialogue) => dialogue.writes_rows(),
        }
    }

    /// Whether events do nothing to rows but read them; of a dialogue nobody knows it.
    pub fn only_reads(&self) -> bool {
        let only = |mix: &Mix| {
            let mut asks = mix.steps.iter().flat_map(|step| &step.asks);
            !mix.writes_rows() && asks.all(|ask| ask.sql.only_reads())
        };
        let content = match &self.content {
            Content::Mix(mix) => only(mix),
            Content::Choice(choice) => choice.mixes.iter().all(|(_, mix)| only(mix)),
            Content::Dialogue(_) => false,
        };
        content && self.background.is_none()
    }

    /// Whether rounds of it can be recorded: its rows tell their versions.
    pub fn tells_versions(&self) -> bool {
        match &self.content {
            Content::Mix(_) | Content::Choice(_) => false,
            Content::Dialogue(dialogue) => dialogue.tells_versions(),
        }
    }

    /// Whether its clients rest between events by themselves, as TPC-C's users do that think.
    pub fn rests_between_events(&self) -> bool {
        match &self.content {
            Content::Mix(_) | Content::Choice(_) => false,
            // What a client asks and when does not depend on how its SQL is spelled.
            Content::Dialogue(dialogue) => {
                dialogue.create_partner(0, Dialect::Mysql).pause_us(0).is_some()
            }
        }
    }

    /// Whether its statements and tables can be spelled in this dialect. Those of the catalog can;
    /// a custom load may know fewer.
    pub fn supports_dialect(&self, dialect: Dialect) -> bool {
        let speaks = |mix: &Mix| {
            let mut asks = mix.steps.iter().flat_map(|step| &step.asks);
            asks.all(|ask| !ask.sql.for_dialect(dialect).is_empty())
        };
        let background = self.background.iter().all(|background| speaks(&background.mix));
        let asks = match &self.content {
            Content::Mix(mix) => speaks(mix),
            Content::Choice(choice) => choice.mixes.iter().all(|(_, mix)| speaks(mix)),
            Content::Dialogue(_) => dialect != Dialect::Rocksdb,
        };
        asks && background
            && self.dataset.tables(dialect).iter().all(|table| !table.create.is_empty())
    }
}

impl Mix {
    /// Whether events change rows.
    pub fn writes_rows(&self) -> bool {
        let mut asks = self.steps.iter().flat_map(|step| &step.asks);
        asks.any(|ask| matches!(ask.expect, Expect::Changed(..)))
    }

    /// Statements of one event as QPS counts them, BEGIN and COMMIT included; with weights, those
    /// of the longest one.
    pub fn statements_per_event(&self) -> u64 {
        let asked: u64 = if self.weights.is_empty() {
            self.steps.iter().map(events_of_step).sum()
        } else {
            self.steps.iter().map(events_of_step).max().unwrap_or(0)
        };
        asked + if self.transaction == TransactionMode::Explicit { 2 } else { 0 }
    }
}

fn events_of_step(step: &LoadStep) -> u64 {
    step.asks.len() as u64 * u64::from(step.repeat)
}
