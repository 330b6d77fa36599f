//! A transactional engine in which one mechanism can be switched.
//!
//! ```text
//!   Session: begin · get · scan · insert · update · delete · commit
//!      │
//!    gate       admission control                   open · tickets · pool
//!    snapshot   read views                          vector · hybrid · cached · csn
//!    lock       row and gap locks                   fifo · cats
//!    index      keys in order, and their versions
//!    log        redo log                            latched · linked
//!    commit     group commit, wake-up of waiters    broadcast · direct · futex · group
//!    follow     replication from the log            serial · lwm · dag
//!      │
//!    disk       files, an argument
//! ```
//!
//! Each mechanism has several implementations, in sibling files; a field of a
//! [`dbdyno_model::Design`] chooses one. All give the same answers to the same history.

mod catalog;
mod checkpoint;
pub mod commit;
mod definition;
pub mod disk;
pub mod engine;
pub mod error;
pub mod follow;
pub mod gate;
pub mod ids;
pub mod index;
mod keeper;
pub mod key;
mod latch;
pub mod lock;
pub mod log;
pub mod meter;
mod opening;
mod options;
mod purge;
mod recovery;
pub mod redo;
pub mod row;
pub mod session;
mod shared;
pub mod snapshot;
pub mod sync;
pub mod table;
pub mod value;
pub mod version;

pub use engine::Engine;
pub use error::{EngineError, Result};
pub use follow::{Following, Replica};
pub use ids::{Csn, IndexId, Lsn, TableId, TrxId};
pub use key::Key;
pub use latch::ClockFunction;
pub use lock::Interruption;
pub use log::CutTail;
pub use meter::{Counter, Meter, MeterCounts};
pub use options::{EngineOptions, Upkeep};
pub use row::{ColumnSpec, RowView};
pub use session::{
    EngineSession, Fields, Intent, Path, Range, RowWriter, RunningStatement, Scan, ScanDirection,
    UpdateResult, Visit, WaitWatch,
};
pub use snapshot::{ReadView, TrxSys};
pub use table::{IndexSpec, Secondary, Table, TableSpec, Uniqueness};
pub use value::{Datum, Value, ValueType};
