//! What a server says of itself, by family and release: the only SQL *about* servers.
//!
//! ```text
//!   greeting ──▶ ServerRelease = a row of FAMILIES + a release
//!                     │
//!   question ──▶ the row says in which releases it is answered, and how ──▶ answer
//!                     └── not at all: the answer is absent, never zero
//! ```
//!
//! A family is a row of data ([`family`]): what it calls itself, and for each question the ways to
//! ask it. A module has the questions of one subject, and turns answers into values; what a run
//! makes of these is not known here. Another speaker of a known protocol is another row.

mod catalogue;
mod family;
mod histograms;
mod onlooker;
mod plans;
mod prices;
mod refusal;
mod settings;
mod statistics;
mod tables;

pub use catalogue::{Catalogue, CatalogueError, Occupant};
pub use family::{ServerFamily, ServerRelease};
pub use histograms::column_statistics;
pub use onlooker::{Onlooker, TableName, TableNames, look_safely};
pub use plans::{
    AnalyzedPlan, analyzed, explained, explained_execution, explained_without, sample_statistics,
    session_reads, traced,
};
pub use prices::{OptimizerPrice, differing_prices, lend_prices, note_prices};
pub use refusal::Refusal;
pub use settings::{data_directory, general, leave_out, settings};
pub use statistics::{LentStatistics, StatisticsExtent, lend_statistics, refused};
pub use tables::{SummedColumns, TableQuestion, content, kept, table_names};
