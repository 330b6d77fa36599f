//! What a server says of itself, by family and release: the only SQL *about* servers.
//!
//! ```text
//!   greeting ──▶ ServerRelease = a row of FAMILIES + a release
//!                     │
//!   question ──▶ the row says in which releases it is answered, and how ──▶ answer
//!                     └── not at all: the answer is absent, never zero
//! ```
//!
//! A family is a row of data (`families`): what it calls itself, and for each question the ways to
//! ask it. A module has the questions of one subject, and turns answers into values; what a run
//! makes of these is not known here. Another speaker of a known protocol is another row.

mod backlog;
mod catalogue;
mod facts;
mod families;
mod family;
mod histograms;
mod innodb;
mod isolation;
mod locks;
mod names;
mod onlooker;
mod optimizer_statistics;
mod plans;
mod prices;
mod refusal;
mod replication;
mod settings;
mod sizes;
mod tables;
mod vacuum;
mod waits;

pub use backlog::{DirtyPageLimits, server_backlog, unpurged_transactions};
pub use catalogue::{Catalogue, CatalogueError, Occupant};
pub use facts::{FactReader, FactValues, read_fact};
pub use family::{BacklogGauge, ReplicationWords, ServerFamily, ServerRelease, StatisticsExtent};
pub use histograms::column_statistics;
pub use isolation::{checks_snapshots, has_level, require_known_promises, session_level};
pub use locks::{latest_deadlock, open_transactions};
pub use names::{TableName, TableNames};
pub use onlooker::{Onlooker, look_safely};
pub use optimizer_statistics::{LentStatistics, lend_statistics, loan_refusal};
pub use plans::{
    AnalyzedPlan, analyze_statement, explain_statement, explained_execution, explained_without,
    optimizer_trace, sample_statistics, session_reads,
};
pub use prices::{OptimizerPrice, differing_prices, lend_prices, note_prices};
pub use refusal::Refusal;
pub use replication::{
    GaleraStatus, ReplicaThread, ReplicaThreads, StandbyStream, galera_address, galera_status,
    group_member_state, has_slot, replica_threads, replication_position, standby_stream,
    transactions_behind,
};
pub use settings::{data_directory, hide_password, max_connections, settings, without_instance};
pub use sizes::{database_bytes, dead_rows};
pub use tables::{SummedColumns, TableQuestion, content_questions, storage_questions, table_names};
pub use vacuum::{COMMITS_ARE_SYNCED, vacuum};
pub use waits::{Blocker, BlockingWatch, Waiting};
