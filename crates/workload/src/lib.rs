//! The loads: their tables, statements and events.
//!
//! ```text
//!   "read-only?rand=zipfian" ──catalog::resolve_load──▶ Load
//!                                                   ├── dataset ── schema and rows, by unit
//!                                                   └── content
//!        Mix ──compile(dialect)──▶ Program ──fill(client, operation)──▶ Event
//!        Dialogue ──partner(client)──▶ Partner ──turn(operation, link)──▶ statements, one by one
//! ```
//!
//! [`Catalog`] knows the loads that come with dbdyno, and those that users write ([`custom`]).
//! A [`Suite`] is a list of loads in an order that means something.
//!
//! Everything is a pure function of the seed: row *i* of a table, and operation *k* of client *i*
//! under a load. Both arms therefore hold the same data and get the same events, however fast they
//! answer. This crate knows nothing of threads, clocks or sockets.

mod calendar;
pub mod catalog;
pub mod custom;
pub mod dataset;
pub mod dialogue;
pub mod draw;
pub mod explain;
pub mod file;
pub mod filing;
pub mod formula;
mod generate;
pub mod generator;
pub mod insert_benchmark;
pub mod load;
mod piece;
pub mod planned;
pub mod program;
pub mod ready;
mod references;
pub mod span;
pub mod spec;
pub mod statement;
pub mod suggest;
pub mod suite;
pub mod table;
pub mod template;
pub mod text;
pub mod tpcc;
pub mod versioned;

pub use catalog::{Catalog, resolve_load};
pub use custom::Custom;
pub use dataset::{Dataset, TableScript};
pub use dialogue::{
    AnswerRows, Arg, Deed, Dialogue, DialogueCounts, Link, OperationNote, Partner, TurnFault,
};
pub use file::FileError;
pub use filing::Filing;
pub use load::{
    Ask, BackgroundMix, Channel, Choice, Content, Expect, Load, LoadGroup, LoadStep, Mix,
    TransactionMode, Trend, Unit,
};
pub use program::{Call, Event, Program};
pub use ready::ReadyLoad;
pub use references::{creation_waves, finishing_waves, refers_to_itself};
pub use span::{Span, load_span};
pub use spec::{Spec, SpecError};
pub use statement::{CallValue, Statement, StatementKind};
pub use suite::{SUITES, Suite};
pub use table::Tables;
