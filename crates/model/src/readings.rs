//! What further instruments showed in a round, by name.
//!
//! Most loads need none. The Insert Benchmark has a background whose rate must be kept, and debts
//! that grow while it runs. A reading that could not be taken is not there.

use std::collections::BTreeMap;

/// How long a round in slices was meant to be; it is longer by the events that were waited for.
pub const WINDOW_NS: &str = "window_ns";
/// Parts of events that the ends of the window cut, beyond what counting those that ended in it
/// made of them: see [`crate::Round::done_events`].
pub const EDGE_EVENTS: &str = "edge_events";
/// How often the round was begun before anything was answered in its window; each time the window
/// was made twice as long.
pub const STOOD_STILL: &str = "stood_still";
/// Rows inserted beside or as the load itself.
pub const ROWS_INSERTED: &str = "rows_inserted";
/// Rows deleted.
pub const ROWS_DELETED: &str = "rows_deleted";
/// Rows that should have been inserted by the schedule of the background.
pub const ROWS_DUE: &str = "rows_due";
/// Rows per second that the background should insert.
pub const TARGET_ROWS_PER_S: &str = "target_rows_per_s";
/// The slowest insert, delete or query, nanoseconds.
pub const SLOWEST_NS: &str = "slowest_ns";
/// Processor time of the client thread that had most of it, nanoseconds.
pub const BUSIEST_THREAD_NS: &str = "busiest_thread_ns";
/// How often the first row was looked for.
pub const GETMIN_COUNT: &str = "getmin_count";
/// How long that took, nanoseconds, all of them together.
pub const GETMIN_NS: &str = "getmin_ns";
/// How long the slowest of them took.
pub const GETMIN_NS_MAX: &str = "getmin_ns_max";
/// History length (MySQL) or dead tuples (PostgreSQL) before the round.
pub const DEBT_BEGIN: &str = "debt_begin";
/// The same after the round.
pub const DEBT_END: &str = "debt_end";
/// Bytes of the database after the round.
pub const DATABASE_BYTES: &str = "database_bytes";
/// Bytes of the server's data directory after the round.
pub const DATA_DIR_BYTES: &str = "data_dir_bytes";
/// Memory that the server's processes hold after the round, bytes.
pub const RESIDENT_BYTES: &str = "resident_bytes";

/// What the names of the reference engine's counters begin with.
pub const ENGINE_PREFIX: &str = "engine.";
/// How often threads of the engine and of its clients gave their processor away, and how often it
/// was taken from them: behind [`ENGINE_PREFIX`].
pub const ENGINE_SWITCHES: [&str; 2] = ["voluntary_switches", "involuntary_switches"];
/// How long after transactions began to commit on an engine they were visible on its replica: half
/// of them, 99 of 100, all. Nanoseconds, of those that became visible in the window; behind
/// [`ENGINE_PREFIX`], as all of these.
pub const REPLICA_LAG: [&str; 3] =
    ["replica_lag_ns_p50", "replica_lag_ns_p99", "replica_lag_ns_max"];
/// 1 where a replica applied something in the window, so that its lag is one.
pub const REPLICA_WINDOWS: &str = "replica_windows";
/// Bytes of an engine's log that its replica had yet to apply when the round had ended.
pub const REPLICA_BEHIND: &str = "replica_behind_bytes";
/// Processor time that the hypervisor gave to others, as a share of what was wanted here.
pub const STEAL_SHARE: &str = "host.steal_share";
/// Processor time of work that is neither ours nor the servers', as a share of all processors.
pub const FOREIGN_SHARE: &str = "host.foreign_share";
/// Share of an arm's pages that the host had taken away, and that were brought back before the
/// round.
pub const MEMORY_BROUGHT_BACK: &str = "memory.brought_back_share";
/// What a page that was taken away took to come back, nanoseconds, on average.
pub const MEMORY_AWAY_NS: &str = "memory.away_ns";

/// Share of an arm's pages that its host had taken away when the round began, or had ended.
pub fn memory_away(side: CanarySide) -> String {
    match side {
        CanarySide::Before => "memory.before.away_share".to_owned(),
        CanarySide::After => "memory.after.away_share".to_owned(),
    }
}

/// Transactions of a round that its clients recorded.
pub const RECORDED: &str = "isolation.recorded";
/// Those that they did not, for want of room.
pub const UNRECORDED: &str = "isolation.unrecorded";
/// That what was promised of the recorded transactions is proved of them.
pub const PROMISE_HOLDS: &str = "isolation.holds";
/// Stands before the level that was promised.
pub const PROMISE_PREFIX: &str = "isolation.promise.";
/// Stands before the anomaly that breaks it.
pub const ANOMALY_PREFIX: &str = "isolation.anomaly.";
/// Stands before ww, wr and rw: how many dependencies of that kind the recorded transactions had.
pub const DEPENDENCIES_PREFIX: &str = "isolation.dependencies.";

/// What is looked at, in the words of the readings.
pub const CANARIES: [&str; 4] = ["sum_ns", "chase_ns", "turn_ns", "sync_ns"];
/// Share of one processor that the servers used while the canaries were out.
pub const SERVERS_SHARE: &str = "servers_share";

/// Before or after a round: where canaries were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CanarySide {
    /// Before it.
    Before,
    /// After it.
    After,
}

impl CanarySide {
    /// Both.
    pub const BOTH: [CanarySide; 2] = [CanarySide::Before, CanarySide::After];

    /// The name of a reading of this side.
    pub fn reading_name(self, what: &str) -> String {
        match self {
            CanarySide::Before => format!("canary.before.{what}"),
            CanarySide::After => format!("canary.after.{what}"),
        }
    }
}

/// Named numbers of a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readings(BTreeMap<String, f64>);

impl Readings {
    /// The reading of this name, if it was taken.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// Notes a reading; one that could not be taken, or is no number, is left out.
    pub fn set(&mut self, name: &str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.0.insert(name.to_owned(), value);
        }
    }

    /// Adds all of others; one of the same name is replaced.
    pub fn add_all(&mut self, others: &Readings) {
        self.0.extend(others.iter().map(|(name, value)| (name.to_owned(), value)));
    }

    /// All readings by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
