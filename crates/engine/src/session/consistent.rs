//! Reading as a view sees it, without locks.
//!
//! ```text
//!   primary     leaf ─► versions that the view sees ─► batch ─► visitor
//!   secondary   leaf ─► entries ─► batch ─► row by primary key ─► still that entry? ─► visitor
//!                          └─ leaf older than every view, columns of the index only ───┘
//! ```
//!
//! Rows are copied under the latch of a leaf and shown without it, so that a visitor may do what it
//! likes. A read of columns of the index only is spared the way to the row where no writer has
//! touched the leaf that some view does not see: then the entries that are alive are the rows. The
//! first batches are small, since many a reader wants one row only.

use std::ops::ControlFlow;

use super::batch::Batch;
use super::intent::{Fields, Visit};
use super::range::{Cursor, Path, Scan};
use super::statement::RunningStatement;
use crate::error::Result;
use crate::key;
use crate::meter::Counter;
use crate::row::RowView;
use crate::table::{Mark, Secondary, Table};
use crate::value::{Datum, Value};

/// Entries of the first batch, and of the largest.
const FIRST: usize = 8;
const LARGEST: usize = 128;

impl RunningStatement<'_> {
    /// Copies the row as the view sees it; whether there is one.
    pub(super) fn read_row(&mut self, table: &Table, key: &[u8]) -> bool {
        self.work.open_view(self.shared);
        let (view, row) = (&self.work.view, &mut self.work.scratch.row);
        let shared = self.shared;
        let found = table.rows.get(key, |chain| {
            let (version, walked) =
                chain.visible_version(|writer| shared.trx.sees_writer(view, writer));
            let bytes = version.and_then(|version| version.row.as_deref());
            if let Some(bytes) = bytes {
                row.clear();
                row.extend_from_slice(bytes);
            }
            (bytes.is_some(), walked)
        });
        let (there, walked) = found.unwrap_or((false, 0));
        if walked > 0 {
            shared.meter.add(Counter::VersionsWalked, walked);
        }
        there
    }

    pub(super) fn read_range(
        &mut self,
        table: &Table,
        scan: &Scan<'_>,
        visit: impl FnMut(&[u8], RowView<'_>) -> Visit,
    ) -> Result<()> {
        self.work.open_view(self.shared);
        let mut batch = std::mem::take(&mut self.work.scratch.batch);
        match scan.path {
            Path::Primary => self.read_primary(table, scan, &mut batch, visit),
            Path::Secondary(place) => {
                let index = table.index(place).expect("the index is one of the table");
                self.read_secondary(table, index, scan, &mut batch, visit);
            }
        }
        self.work.scratch.batch = batch;
        Ok(())
    }

    fn read_primary(
        &mut self,
        table: &Table,
        scan: &Scan<'_>,
        batch: &mut Batch,
        mut visit: impl FnMut(&[u8], RowView<'_>) -> Visit,
    ) {
        let mut cursor = Cursor::new(&scan.range, scan.direction);
        let (shared, view) = (self.shared, &self.work.view);
        let (mut most, mut walked) = (FIRST, 0);
        'all: while !cursor.ended {
            batch.clear();
            cursor.read(&table.rows, |key, chain, _| {
                let (version, past) =
                    chain.visible_version(|writer| shared.trx.sees_writer(view, writer));
                walked += past;
                if let Some(row) = version.and_then(|version| version.row.as_deref()) {
                    batch.push(key, row);
                }
                batch.looked_at += 1;
                full(batch.looked_at, most)
            });
            for place in 0..batch.parts.len() {
                let (key, row) = batch.key_and_row(place);
                if visit(key, table.layout().view_row(row)) == Visit::Stop {
                    break 'all;
                }
            }
            most = (most * 4).min(LARGEST);
        }
        if walked > 0 {
            shared.meter.add(Counter::VersionsWalked, walked);
        }
    }

    fn read_secondary(
        &mut self,
        table: &Table,
        index: &Secondary,
        scan: &Scan<'_>,
        batch: &mut Batch,
        mut visit: impl FnMut(&[u8], RowView<'_>) -> Visit,
    ) {
        let mut cursor = Cursor::new(&scan.range, scan.direction);
        let horizon = match scan.fields {
            Fields::OfIndex => self.shared.horizon().0,
            Fields::All => 0,
        };
        let mut most = FIRST;
        while !cursor.ended {
            batch.clear();
            cursor.read(&index.entries, |entry, mark, stamp| {
                let covered = stamp.0 < horizon;
                if !covered || *mark == Mark::Alive {
                    batch.push(entry, &[]);
                    batch.covered.push(covered);
                }
                batch.looked_at += 1;
                full(batch.looked_at, most)
            });
            for place in 0..batch.parts.len() {
                let (entry, _) = batch.key_and_row(place);
                let primary = index.primary_of(entry);
                let there = if batch.covered[place] {
                    self.row_of_entry(table, index, entry);
                    true
                } else {
                    self.read_row(table, primary) && self.row_has_entry(table, index, entry)
                };
                let row = table.layout().view_row(&self.work.scratch.row);
                if there && visit(primary, row) == Visit::Stop {
                    return;
                }
            }
            most = (most * 4).min(LARGEST);
        }
    }

    /// Whether the row that was read has this entry.
    pub(super) fn row_has_entry(&mut self, table: &Table, index: &Secondary, entry: &[u8]) -> bool {
        let scratch = &mut self.work.scratch;
        scratch.entry.clear();
        index.push_columns(table.layout().view_row(&scratch.row), &mut scratch.entry);
        entry.starts_with(&scratch.entry)
    }

    /// Makes a row of an entry; columns that it has not are NULL.
    fn row_of_entry(&mut self, table: &Table, index: &Secondary, entry: &[u8]) {
        let mut rest = entry;
        let values: Vec<(usize, Value)> = table
            .key_columns(Some(index))
            .map(|column| {
                let kind = table.columns()[column].kind;
                let (value, length) = key::pop(kind, rest).expect("entries are made of columns");
                rest = &rest[length..];
                (column, value)
            })
            .collect();
        let mut row = vec![Datum::Null; table.columns().len()];
        values.iter().for_each(|(column, value)| row[*column] = value.datum());
        table.layout().write(&row, &mut self.work.scratch.row);
    }
}

fn full(looked_at: usize, most: usize) -> ControlFlow<()> {
    if looked_at >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
