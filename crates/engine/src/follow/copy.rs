//! A replica that begins with a copy of its source, which is taken while others write.
//!
//! ```text
//!   log of the source   ──────────L────────────────y──────────────►
//!                                 │     ▲ view     │
//!   copy                [ tables │ rows as of the view │ L, y ]      a checkpoint of the replica:
//!                                                                    whole, or not there
//!   replica                       └─ applies from L on ─┴─ from here on rows are of one moment
//! ```
//!
//! All before L has ended, so the view sees it; what ended later is applied, some of it once more.
//! A record says what a row became, so that doing it again does no harm: behind y, the end of the
//! log when the view was opened, every row is as the last record has it. Until then a table or a
//! row of which a record speaks may be gone already, and that is no damage.
//!
//! Where the replica is stands in the copy itself: a crash leaves a replica that knows its place,
//! or none, which is then begun again. And the copy counts only when all up to y is durable on the
//! source, which so cannot lose what its replica has.

use std::sync::Arc;

use super::{position, tables};
use crate::disk::Disk;
use crate::engine::Engine;
use crate::error::Result;
use crate::ids::{IndexId, Lsn, TableId};
use crate::key;
use crate::log::{self, CheckpointWriter};
use crate::redo::{RedoRecord, RowImage, begin_changes, push_change};
use crate::sync::atomic::Ordering;
use crate::table::{Table, TableSpec};
use crate::value::Datum;

/// A copy that has begun: the source keeps its log from here on.
pub struct Copy<'a> {
    source: &'a Engine,
    from: Lsn,
}

/// Lets a disk hold a replica of this source: one that is there already stays as it is, and an
/// older source is copied. A source without tables needs no copy, its log tells all.
///
/// # Errors
/// `Disk`, of either.
pub fn prepare(source: &Engine, disk: Arc<dyn Disk>) -> Result<()> {
    if log::is_there(&*disk)? || source.tables().is_empty() {
        return Ok(());
    }
    Copy::begin_from(source)?.write(disk)
}

impl Copy<'_> {
    /// Begins a copy of an engine that is followed.
    ///
    /// # Errors
    /// `Disk`, if its log has failed.
    pub fn begin_from(source: &Engine) -> Result<Copy<'_>> {
        let shared = &source.shared;
        // While it is held no part of the log is given back.
        let _checkpoint = shared.checkpoint.lock().expect("no panic before");
        let from = shared.pipeline.low_water();
        shared.pipeline.check_writable()?;
        if let Some(kept) = &shared.follow {
            kept.from.store(from.0, Ordering::Release);
        }
        Ok(Copy { source, from })
    }

    /// Writes it onto an empty disk, from which the replica can be opened then.
    ///
    /// # Errors
    /// `Disk`, of either: then there is no copy.
    pub fn write(self, disk: Arc<dyn Disk>) -> Result<()> {
        let shared = &self.source.shared;
        let mut file = CheckpointWriter::create_file(disk, Lsn(0))?;
        let mut view = shared.trx.new_view();
        let (all, table, index, until) = {
            // While they are held, tables neither come nor go.
            let next = shared.catalog.next();
            shared.trx.open_view(None, &mut view);
            let (table, index) = (TableId(next.table), IndexId(next.index));
            (shared.catalog.tables(), table, index, shared.pipeline.end_lsn())
        };
        let own = own_tables(&mut file, table, index, &all, self.from, until);
        let written = own.and_then(|()| {
            all.iter().try_for_each(|table| {
                shared.write_table(table, &mut file)?;
                shared.write_rows(table, &view, &mut file)
            })
        });
        shared.trx.close_view(&mut view);
        written?;
        shared.pipeline.flush()?;
        file.finish()
    }
}

/// What the replica keeps for itself, with numbers that the source has not given.
fn own_tables(
    file: &mut CheckpointWriter,
    table: TableId,
    index: IndexId,
    all: &[Arc<Table>],
    from: Lsn,
    until: Lsn,
) -> Result<()> {
    let (second, second_index) = (TableId(table.0 + 1), IndexId(index.0 + 1));
    let (next, next_index) = (TableId(table.0 + 2), IndexId(index.0 + 2));
    file.write(&RedoRecord::Numbers(next, next_index).write())?;
    let names: Vec<_> = all.iter().map(|table| tables::table_row(table.id, table.name())).collect();
    own_table(file, position::table_spec(), table, index, &position::initial_rows(from, until))?;
    own_table(file, tables::table_spec(), second, second_index, &names)
}

/// One of these tables, and its rows, whose first column is the key.
fn own_table<const N: usize>(
    file: &mut CheckpointWriter,
    spec: TableSpec,
    id: TableId,
    clustered: IndexId,
    rows: &[[Datum<'_>; N]],
) -> Result<()> {
    let made = Table::new(spec.clone(), id, &[clustered]);
    let indexes = vec![clustered];
    let record = RedoRecord::Table { id, replaces: None, next_number: 1, spec, indexes };
    file.write(&record.write())?;
    let mut item = Vec::new();
    begin_changes(&mut item);
    for row in rows {
        let (mut key, mut bytes) = (Vec::new(), Vec::new());
        key::push(&mut key, row[0]);
        made.layout().write(row, &mut bytes);
        push_change(&mut item, RowImage { table: id, key: &key, row: Some(&bytes) });
    }
    if rows.is_empty() { Ok(()) } else { file.write(&item) }
}
