//! The engine: what all sessions share, from its opening to its end.
//!
//! ```text
//!   open ─► recover: checkpoint, then the log behind it ─► tables, indexes ─► keeper thread
//!              │                                                               purge, checkpoints
//!   session ─┐ │
//!   session ─┼─┴─ Shared: tables · views · locks · gate · pipeline ─► log ─► disk
//!   session ─┘
//! ```
//!
//! All rows are in memory; the disk has the log of what was committed and now and then all tables
//! as a checkpoint. A transaction that has not committed leaves nothing on disk, so recovery never
//! takes anything back.

use std::sync::Arc;

use dbdyno_model::Design;
use dbdyno_model::design::{Metered, Topology};

use crate::commit::Pipeline;
use crate::disk::Disk;
use crate::error::Result;
use crate::gate::EngineGate;
use crate::keeper::Keeper;
use crate::lock::{DeadlockWriter, Interruption, LockSys};
use crate::log::{CutTail, recover};
use crate::meter::{Meter, MeterCounts};
use crate::options::EngineOptions;
use crate::purge::Purge;
use crate::recovery;
use crate::session::EngineSession;
use crate::shared::{EngineCore, ReplicaRetention};
use crate::snapshot::TrxSys;
use crate::sync::Mutex;
use crate::sync::atomic::AtomicU64;
use crate::table::{IndexSpec, Table, TableSpec};

/// An engine that is open. It closes when it is dropped.
pub struct Engine {
    pub(crate) shared: Arc<EngineCore>,
    keeper: Keeper,
    cut_tail: Option<CutTail>,
}

impl Engine {
    /// Opens what a disk holds; an empty one is an engine without tables.
    ///
    /// # Errors
    /// `Disk`, or `Corrupt` if what is there is not what an engine leaves.
    pub fn open(disk: Arc<dyn Disk>, design: &Design, options: EngineOptions) -> Result<Engine> {
        let meter = Arc::new(Meter::default());
        let mut recovery = recover(disk.clone())?;
        let start = recovery.start();
        let catalog = Arc::new(recovery::read(&mut recovery)?);
        let tail = recovery.finish()?;
        let cut_tail = tail.cut_tail().cloned();
        let pipeline =
            Pipeline::open_with(design, disk.clone(), tail, options.segment_bytes, meter.clone())?;
        let follow = (design.topology != Topology::Single).then(|| ReplicaRetention {
            clock: options.clock,
            from: AtomicU64::new(0),
            by: Mutex::new(None),
        });
        let clock = options.clock.filter(|_| design.meter == Metered::Times);
        let witness = DeadlockWriter::with_records(options.witness, catalog.clone());
        let locks = LockSys::new(design, meter.clone(), witness, clock);
        let shared = Arc::new(EngineCore {
            design: *design,
            trx: TrxSys::new(design, meter.clone(), clock),
            locks,
            gate: EngineGate::new(design.gate, meter.clone()),
            pipeline,
            disk,
            catalog,
            purge: Purge::default(),
            checkpoint: Mutex::new(start.0),
            checkpoint_bytes: options.checkpoint_bytes,
            follow,
            horizon: AtomicU64::new(0),
            meter,
        });
        let keeper = Keeper::start(&shared, options.upkeep);
        Ok(Engine { shared, keeper, cut_tail })
    }

    /// What was cut off the end of the log when it was opened.
    pub fn cut_tail(&self) -> Option<&CutTail> {
        self.cut_tail.as_ref()
    }

    /// A session, for one client.
    pub fn session(&self) -> EngineSession {
        EngineSession::new(self.shared.clone())
    }

    /// Its design.
    pub fn design(&self) -> &Design {
        &self.shared.design
    }

    /// Ends all waits for locks, and lets no session wait for one as long as this is held: their
    /// statements give up with `Interrupted`.
    pub fn interrupt_waits(&self) -> Interruption<'_> {
        self.shared.locks.interrupt_waits()
    }

    /// What its mechanisms did since it was opened.
    pub fn meter_counts(&self) -> MeterCounts {
        self.shared.meter.current_counts()
    }

    /// A table.
    ///
    /// # Errors
    /// `NoTable`.
    pub fn table(&self, name: &str) -> Result<Arc<Table>> {
        self.shared.catalog.table(name)
    }

    /// Another number whenever a table or an index has come or gone: what was planned before is to
    /// be planned again.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.shared.catalog.generation()
    }

    /// All tables, by name.
    pub fn tables(&self) -> Vec<Arc<Table>> {
        self.shared.catalog.tables()
    }

    /// Makes a table.
    ///
    /// # Errors
    /// `Exists`, `BadValue` for what cannot be, `Disk`.
    pub fn create_table(&self, spec: TableSpec) -> Result<Arc<Table>> {
        self.shared.create_table(spec)
    }

    /// Adds an index to a table, which is locked whole meanwhile: to be called without an open
    /// transaction that has touched it.
    ///
    /// # Errors
    /// `NoTable`, `Exists`, `BadValue`, `Duplicate` where rows are not as different as it wants,
    /// `LockWaitTimeout`, `Deadlock`, `Disk`.
    pub fn create_index(&self, table: &str, spec: IndexSpec) -> Result<()> {
        self.shared.create_index(table, spec)
    }

    /// Gives a primary key to a table that has none and no rows, which is locked whole meanwhile.
    /// Its columns take no NULL from then on.
    ///
    /// # Errors
    /// `NoTable`, `TwoPrimaryKeys`, `HasRows`, `BadValue` for what cannot be, `LockWaitTimeout`,
    /// `Deadlock`, `Disk`.
    pub fn add_primary_key(&self, table: &str, columns: &[usize]) -> Result<()> {
        self.shared.add_primary_key(table, columns)
    }

    /// Takes all rows of a table away at once, when no session writes to it. It numbers from 1
    /// again.
    ///
    /// # Errors
    /// `NoTable`, `LockWaitTimeout`, `Deadlock`, `Disk`.
    pub fn truncate_table(&self, name: &str) -> Result<()> {
        self.shared.truncate_table(name)
    }

    /// Takes a table away, when no session writes to it.
    ///
    /// # Errors
    /// `NoTable`, `LockWaitTimeout`, `Deadlock`, `Disk`.
    pub fn drop_table(&self, name: &str) -> Result<()> {
        self.shared.drop_table(name)
    }

    /// Writes all tables as they are now to disk and gives back the log before. Others go on.
    ///
    /// # Errors
    /// `Disk`.
    pub fn checkpoint(&self) -> Result<()> {
        self.shared.take_checkpoint()
    }

    /// Takes away all versions that no view needs any more; how many.
    pub fn purge(&self) -> u64 {
        self.shared.purge_all()
    }

    /// Transactions whose old versions are still there.
    pub fn unpurged_transactions(&self) -> usize {
        self.shared.purge.len()
    }

    /// Bytes that rows, versions and indexes take in memory.
    pub fn heap_bytes(&self) -> usize {
        self.tables().iter().map(|table| table.heap_bytes()).sum()
    }

    /// Makes durable what was committed, whatever the device is that commits wait for.
    ///
    /// # Errors
    /// `Disk`.
    pub fn flush(&self) -> Result<()> {
        self.shared.pipeline.flush()
    }

    /// Makes durable what was committed and ends its threads. Sessions that are open may not go on
    /// to write.
    ///
    /// # Errors
    /// `Disk`.
    pub fn close(mut self) -> Result<()> {
        self.keeper.stop();
        self.shared.pipeline.flush()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.keeper.stop();
    }
}
