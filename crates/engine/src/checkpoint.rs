//! Checkpoints: all tables as one view sees them, written beside sessions at work.
//!
//! ```text
//!   low water L ──► list of tables ──► view ──► rows, leaf by leaf ──► file ──► log before L goes
//!      everything before L has ended: the view sees it; the rest is in the log from L on
//! ```
//!
//! The order matters: the place in the log first, then what the tables are, then the view. A log
//! that has failed gets no checkpoint any more: what stands on disk is what was acknowledged.

use std::ops::ControlFlow;

use crate::error::Result;
use crate::ids::{IndexId, Lsn, TableId};
use crate::key::Key;
use crate::log::CheckpointWriter;
use crate::redo::{RedoRecord, RowImage, begin_changes, is_without_changes, push_change};
use crate::shared::EngineCore;
use crate::snapshot::ReadView;
use crate::sync::atomic::Ordering;
use crate::table::Table;

impl EngineCore {
    pub(crate) fn take_checkpoint(&self) -> Result<()> {
        let mut last = self.checkpoint.lock().expect("no panic before");
        let start = self.pipeline.low_water();
        // A commit that failed has ended, too, and its record may not have come to the disk: then
        // the log ends before the place from which it would be read.
        self.pipeline.check_writable()?;
        let mut file = CheckpointWriter::create_file(self.disk.clone(), start)?;
        let tables = {
            let next = self.catalog.next();
            let numbers = RedoRecord::Numbers(TableId(next.table), IndexId(next.index));
            file.write(&numbers.write())?;
            let tables = self.catalog.tables();
            for table in &tables {
                self.write_table(table, &mut file)?;
            }
            tables
        };
        let mut view = self.trx.new_view();
        self.trx.open_view(None, &mut view);
        let written = tables.iter().try_for_each(|table| self.write_rows(table, &view, &mut file));
        self.trx.close_view(&mut view);
        written?;
        file.finish()?;
        *last = start.0;
        // Replicas read it on from where they are.
        let needed = self.follow.as_ref().map(|kept| kept.from.load(Ordering::Acquire));
        self.pipeline.truncate_before(needed.map_or(start, |from| start.min(Lsn(from))))
    }

    /// Takes a checkpoint if the log has grown enough since the last.
    pub(crate) fn checkpoint_if_due(&self) -> Result<()> {
        let last = *self.checkpoint.lock().expect("no panic before");
        if self.pipeline.end_lsn().0.saturating_sub(last) < self.checkpoint_bytes {
            return Ok(());
        }
        self.take_checkpoint()
    }

    /// A table without its rows.
    pub(crate) fn write_table(&self, table: &Table, file: &mut CheckpointWriter) -> Result<()> {
        file.write(&described(table).write())
    }

    /// Its rows, as a view sees them.
    pub(crate) fn write_rows(
        &self,
        table: &Table,
        view: &ReadView,
        file: &mut CheckpointWriter,
    ) -> Result<()> {
        let mut item = Vec::new();
        let mut from = Some(Key::default());
        while let Some(at) = from {
            begin_changes(&mut item);
            from = table.rows.read_on(at.bytes(), None, |key, chain, _| {
                let (version, _) =
                    chain.visible_version(|writer| self.trx.sees_writer(view, writer));
                if let Some(row) = version.and_then(|version| version.row.as_deref()) {
                    push_change(&mut item, RowImage { table: table.id, key, row: Some(row) });
                }
                ControlFlow::Continue(())
            });
            if !is_without_changes(&item) {
                file.write(&item)?;
            }
        }
        Ok(())
    }
}

/// A table with all its indexes, without rows.
fn described(table: &Table) -> RedoRecord<'static> {
    let spec = table.current_spec();
    let secondary = table.indexes().take(spec.indexes.len()).map(|index| index.id);
    let indexes = std::iter::once(table.clustered_id).chain(secondary).collect();
    let (id, next_number) = (table.id, table.next_number());
    RedoRecord::Table { id, replaces: None, next_number, spec, indexes }
}
