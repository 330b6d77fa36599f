//! What a row says of a family of servers: what they call themselves, and the ways to ask them each
//! question.
//!
//! A question that has no way in a row is not asked of that family, and its answer is absent. A way
//! that began with a release names it; where nothing is known of the first one the server is asked,
//! and what it refuses is absent as well. The rows stand in `families`.

use dbdyno_model::{Dialect, Identifier, Product};
use dbdyno_wire::{Client, WireError};

use crate::names::{TableName, TableNames};

/// Servers that are asked alike.
#[derive(Debug)]
pub struct ServerFamily {
    /// What people call them.
    pub name: &'static str,
    /// The protocol and the SQL that they speak.
    pub dialect: Dialect,
    /// What their version has in it and that of no other speaker of the dialect has; empty for
    /// those that are known by nothing else.
    pub(crate) mark: &'static str,
    /// Where their own release stands in that.
    pub(crate) release: ReleasePlace,
    /// Under which name they can be got, and counters of theirs are known; `None` where neither is.
    pub product: Option<Product>,
    /// What has their catalogue in it.
    pub(crate) catalogue: CatalogueKind,
    /// What a session that only looks says first, where there are no schemas.
    pub(crate) first_words: Option<&'static str>,
    /// How statistics of another server are taken.
    pub(crate) loan: &'static StatisticsLoan,
    /// The prices by which the optimizer counts.
    pub(crate) prices: Ways<ReadPrices>,
    /// What is known of the values in columns.
    pub(crate) columns: Ways<ColumnKnowledge>,
    /// What has a statement explained; the first that is understood is it.
    pub(crate) explain: &'static [&'static str],
    /// Whether the optimizer can be traced.
    pub(crate) trace: Ways<()>,
    /// How the rows that each node of a plan meets are counted.
    pub(crate) analyze: Ways<AnalyzeForm>,
    /// Whether a session counts the rows that it reads.
    pub(crate) counts_reads: Ways<()>,
    /// What is put off.
    pub(crate) backlog: ReadBacklog,
    /// Transactions that a history list at rest has at most.
    pub(crate) history_most: u64,
    /// How large the database is; the first question that is answered is it.
    pub(crate) sizes: &'static [&'static str],
    /// Which sessions wait for which.
    pub(crate) waits: Ways<WaitSource>,
    /// Which transactions are open; the first question that is answered is it.
    pub(crate) open_transactions: &'static [&'static str],
    /// Whether InnoDB's monitor tells the latest deadlock.
    pub(crate) has_monitor: bool,
    /// At which level a session is; the first question that is answered is it.
    pub(crate) session_level: &'static [&'static str],
    /// Whether it is known what their levels of isolation promise.
    pub(crate) has_known_promises: bool,
    /// Whether READ UNCOMMITTED is a level of their own, or the name of another.
    pub(crate) has_read_uncommitted: bool,
    /// Whether writes are checked against the snapshot.
    pub(crate) checks_snapshots: Option<&'static str>,
    /// The words of its replication.
    pub(crate) replication: Ways<ReplicationWords>,
    /// How transactions are numbered.
    pub(crate) numbers: Option<TransactionNumbers>,
}

/// Where a release stands in a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReleasePlace {
    /// At its beginning.
    Beginning,
    /// Behind the mark: what stands before it is the release that they imitate.
    BehindMark,
}

/// What a catalogue knows of a table's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CatalogueKind {
    /// `information_schema`, by database.
    Databases,
    /// `pg_catalog`, by schema.
    Schemas,
    /// Names of tables alone.
    Tables,
}

/// A way to ask a question, and in which releases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way<T> {
    /// The first release.
    since: u32,
    how: T,
}

/// The ways to ask a question, the newest first; none where it is not answered.
pub(crate) type Ways<T> = &'static [Way<T>];

/// One that all releases understand, or of which it is not known since when.
pub(crate) const fn any_release<T>(how: T) -> Way<T> {
    Way { since: 0, how }
}

/// One that is understood from a release on.
pub(crate) const fn since_release<T>(release: u32, how: T) -> Way<T> {
    Way { since: release, how }
}

/// How a question is asked of a server; `None` where it is not answered.
pub(crate) fn way_for<T: Copy>(ways: Ways<T>, server: ServerRelease) -> Option<T> {
    ways.iter().find(|way| server.number >= way.since).map(|way| way.how)
}

/// A server as far as questions depend on it: its family, and its release.
#[derive(Clone, Copy, Debug)]
pub struct ServerRelease {
    pub(crate) family: &'static ServerFamily,
    /// As `release_number` has it: 8.0.33 is 80033.
    pub(crate) number: u32,
}

impl ServerRelease {
    /// Its family.
    pub fn family(self) -> &'static ServerFamily {
        self.family
    }

    /// Its release: 8.0.33 is 80033, 15.20 is 152000.
    pub fn version_number(self) -> u32 {
        self.number
    }

    /// Has a session say what it says first that only looks, where there are no schemas.
    pub(crate) fn begin_to_look(self, client: &mut dyn Client) -> Result<(), WireError> {
        self.family.first_words.map_or(Ok(()), |words| client.run(words).map(drop))
    }
}

/// Which statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatisticsExtent {
    /// Those of columns alone.
    Columns,
    /// All.
    All,
}

/// How servers of a family take the statistics of another one.
#[derive(Debug)]
pub(crate) struct StatisticsLoan {
    /// Reads those of columns, which may be lent alone.
    pub(crate) columns: Ways<ReadStatistics>,
    /// Reads those of tables and indexes; a release without a way takes nothing.
    pub(crate) tables: Ways<ReadStatistics>,
    /// What keeps the loan from replicas.
    pub(crate) unlogged: Option<&'static str>,
    /// Has a server read the statistics of a table anew.
    pub(crate) reread: fn(&Identifier) -> Option<String>,
    /// What is said where nothing is taken.
    pub(crate) refusal: &'static str,
}

/// Adds statistics of the tables of the session's database; those of partitions stay.
pub(crate) type ReadStatistics =
    fn(&mut dyn Client, &TableNames, StatisticsExtent, &mut Statistics) -> Result<(), WireError>;

/// The statistics of a server.
#[derive(Debug, Default)]
pub(crate) struct Statistics {
    /// What takes away what it alone has.
    pub(crate) cleared: Vec<String>,
    /// What gives them to another server.
    pub(crate) given: Vec<String>,
    pub(crate) tables: Vec<String>,
}

/// Reads names and prices.
pub(crate) type ReadPrices = fn(&mut dyn Client) -> Result<Vec<(String, String)>, WireError>;

/// What servers of a release know.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ColumnKnowledge {
    /// They have no histograms.
    Nothing,
    /// What this question says.
    Asked(&'static str),
}

/// In which form a server tells what the nodes of a plan have met.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AnalyzeForm {
    /// A tree, a line for each node; the first that is understood is it.
    Lines(&'static [&'static str]),
    /// A document.
    Json(&'static str),
}

/// Something that is left to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BacklogGauge {
    /// What it is.
    pub name: &'static str,
    /// How much.
    pub value: u64,
    /// So much is as good as nothing.
    pub most: u64,
}

/// Reads what a server has put off that concerns these tables.
pub(crate) type ReadBacklog =
    fn(&mut dyn Client, ServerRelease, &[TableName]) -> Result<Vec<BacklogGauge>, WireError>;

/// Where servers of a release say which sessions wait.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WaitSource {
    /// `data_lock_waits` where the performance schema is on, else as [`WaitSource::Innodb`];
    /// circles are broken some time after they are closed.
    LockWaits,
    /// The monitor and the tables of InnoDB; circles are broken at once.
    Innodb,
    /// `pg_blocking_pids()`.
    BlockingPids,
    /// The state of sessions in `SHOW PROCESSLIST`: who waits, and not for whom; circles are broken
    /// at once.
    ProcessList,
}

/// The words of a release for its replication: they changed with MySQL 8.0.22 and .23, and MariaDB
/// kept the old ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicationWords {
    /// Stops it.
    pub stop: &'static str,
    /// Starts it.
    pub start: &'static str,
    /// Tells a replica to follow a source.
    pub follow: &'static str,
    /// What the options of that begin with.
    pub prefix: &'static str,
    /// Has a replica tell of itself.
    pub(crate) status: &'static str,
}

/// How a family numbers its transactions, so that two members can be compared.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TransactionNumbers {
    /// Sets of GTIDs.
    Sets,
    /// The last number of each domain.
    Domains,
}
