//! Writing: a version in front of a row, and its entries in secondary indexes.
//!
//! ```text
//!   lock the row ─► version in front ─► undo, redo ─► for each index whose columns changed:
//!                                                       unique? ─► entry in, the old one dead
//! ```
//!
//! The version is there before its entries: a purge or a rollback takes an entry away when
//! no version has it, and looks under the latch of the row. A key goes into a gap when no other
//! transaction has locked the gap; one that has locks both sides of the new key afterwards.
//!
//! Two transactions that put the same values into a unique index at the same time meet at a lock on
//! these values alone, without the primary key, which no entry is. One that finds another row with
//! them waits for its lock before it says that there is one.

use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

use dbdyno_replica::RowKey;

use super::intent::UpdateResult;
use super::range::{Cursor, Range, ScanDirection};
use super::row_writer::RowWriter;
use super::statement::RunningStatement;
use super::work::WrittenVersion;
use crate::error::{EngineError, Result};
use crate::ids::TrxId;
use crate::index::Edit;
use crate::key::{self, Key};
use crate::lock::{LockKind, Mode, Place, TableMode};
use crate::purge::key_or_supremum;
use crate::recovery::{is_row_of, skip_number};
use crate::redo::{RowImage, push_change};
use crate::row::RowView;
use crate::table::{Mark, Secondary, Table};
use crate::value::Datum;
use crate::version::RowVersion;

/// What it means if a row that is to be deleted is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    IsDamage,
    IsFine,
}

/// What became of a key that was to be put in.
enum PutResult {
    /// It is there; whether there was a version before.
    Done(bool),
    /// It was there.
    There,
    /// A lock has to be waited for: of the key itself, or of the gap before the next one.
    Wait(Option<Key>, LockKind, Mode),
}

impl RunningStatement<'_> {
    /// Puts a row in: a value for each column. NULL or 0 in a numbered column is numbered: gives
    /// the number.
    ///
    /// # Errors
    /// `NoTable`, `NotNull`, `BadValue`, `OutOfRange`, `TooLong`, `NumbersSpent`, `Duplicate`,
    /// `Deadlock`, `LockWaitTimeout`.
    pub fn insert(&mut self, table: &Arc<Table>, values: &[Datum<'_>]) -> Result<Option<i64>> {
        self.ensure_table_lock(table, TableMode::IntentExclusive)?;
        let mut number = None;
        let mut numbered;
        let mut values = values;
        if let Some(column) = table.auto_increment()
            && let Some(Datum::Null | Datum::Int(0)) = values.get(column)
        {
            let given = table.allocate_number()?;
            number = Some(given);
            numbered = values.to_vec();
            numbered[column] = Datum::Int(given);
            values = &numbered;
        }
        table.check_row(values)?;
        if let (None, Some(column)) = (number, table.auto_increment())
            && let Datum::Int(given) = values[column]
        {
            table.skip_number(given);
        }
        let mut row = Vec::with_capacity(256);
        table.layout().write(values, &mut row);
        let mut key = Vec::with_capacity(32);
        if table.primary().is_empty() {
            key::push(&mut key, Datum::Int(table.allocate_number()?));
        } else {
            table.push_primary(table.layout().view_row(&row), &mut key);
        }
        self.put_row(table, &key, row)?;
        Ok(number)
    }

    /// [`RunningStatement::update`], by a primary key in bytes, as [`RunningStatement::scan_rows`]
    /// gives it.
    ///
    /// # Errors
    /// As there.
    pub fn update_at(
        &mut self,
        table: &Arc<Table>,
        key: &[u8],
        change: impl FnOnce(RowView<'_>, &mut RowWriter) -> Result<()>,
    ) -> Result<UpdateResult> {
        if !self.lock_point(table, key, Mode::Exclusive)? {
            return Ok(UpdateResult::Missing);
        }
        let old = mem::take(&mut self.work.scratch.row);
        let mut writer = mem::take(&mut self.work.scratch.writer);
        let mut new = Vec::with_capacity(old.len() + 16);
        writer.begin_row(table.columns().len());
        let row = table.layout().view_row(&old);
        let written = change(row, &mut writer).and_then(|()| writer.write(table, row, &mut new));
        self.work.scratch.writer = writer;
        let updated = written.and_then(|()| {
            if new == old {
                return Ok(UpdateResult::Same);
            }
            self.move_or_write(table, key, &old, new).map(|()| UpdateResult::Changed)
        });
        self.work.scratch.row = old;
        updated
    }

    /// [`RunningStatement::delete`], by a primary key in bytes.
    ///
    /// # Errors
    /// As there.
    pub fn delete_at(&mut self, table: &Arc<Table>, key: &[u8]) -> Result<bool> {
        if !self.lock_point(table, key, Mode::Exclusive)? {
            return Ok(false);
        }
        let old = mem::take(&mut self.work.scratch.row);
        let deleted = self.write_over(table, key, &old, None);
        self.work.scratch.row = old;
        deleted.map(|()| true)
    }

    /// Makes a row what it became elsewhere: puts it in, changes it or takes it away, by the bytes
    /// that stand in a log. No locks are taken but on the row: the writers of what this one may
    /// meet have committed.
    ///
    /// # Errors
    /// `Corrupt` if it is no row of the table, or is to go and is not there where that is damage:
    /// this table was another one before. `Duplicate`, `Deadlock`, `LockWaitTimeout`.
    pub(crate) fn apply_change(
        &mut self,
        table: &Arc<Table>,
        key: &[u8],
        row: Option<&[u8]>,
        absent: Absent,
    ) -> Result<()> {
        let differs = |what: &str| EngineError::Corrupt(table.name().to_owned(), what.to_owned());
        self.work.trx.follows = true;
        let made = &mut self.work.scratch.new_entry;
        if row.is_some_and(|row| !is_row_of(table, key, row, made)) {
            return Err(differs("the source has written a row that cannot be one of it"));
        }
        if self.lock_point(table, key, Mode::Exclusive)? {
            let old = mem::take(&mut self.work.scratch.row);
            let written = self.write_over(table, key, &old, row.map(<[u8]>::to_vec));
            self.work.scratch.row = old;
            return written;
        }
        let Some(row) = row else {
            return match absent {
                Absent::IsDamage => Err(differs("the source has deleted a row that is not in it")),
                Absent::IsFine => Ok(()),
            };
        };
        skip_number(table, key, row);
        self.put_row(table, key, row.to_vec())
    }

    /// Writes a row over itself, or where its primary key has changed, takes it from one place to
    /// the other.
    fn move_or_write(
        &mut self,
        table: &Arc<Table>,
        key: &[u8],
        old: &[u8],
        new: Vec<u8>,
    ) -> Result<()> {
        let mut new_key = mem::take(&mut self.work.scratch.new_entry);
        new_key.clear();
        table.push_primary(table.layout().view_row(&new), &mut new_key);
        let done = if table.primary().is_empty() || new_key == key {
            self.write_over(table, key, old, Some(new))
        } else {
            self.write_over(table, key, old, None).and_then(|()| self.put_row(table, &new_key, new))
        };
        self.work.scratch.new_entry = new_key;
        done
    }

    /// Puts a version in front of a row whose lock is held.
    fn write_over(
        &mut self,
        table: &Arc<Table>,
        key: &[u8],
        old: &[u8],
        new: Option<Vec<u8>>,
    ) -> Result<()> {
        let id = self.work.ensure_trx_id(self.shared);
        self.note(table, key, new.as_deref(), true);
        let bytes = new.as_deref().map(Box::from);
        let pushed = table.rows.change_value(key, TrxId::NOBODY, |chain| chain.push(id, bytes));
        pushed.expect("a row whose lock is held stays");
        self.write_entries(table, key, Some(old), new.as_deref(), id)
    }

    /// Puts a row in where there is none.
    fn put_row(&mut self, table: &Arc<Table>, key: &[u8], row: Vec<u8>) -> Result<()> {
        let id = self.work.ensure_trx_id(self.shared);
        loop {
            match self.try_put_row(table, key, &row, id) {
                PutResult::Done(over) => {
                    self.note(table, key, Some(&row), over);
                    return self.write_entries(table, key, None, Some(&row), id);
                }
                PutResult::There => {
                    let (table, key) = (table.name().to_owned(), "PRIMARY".to_owned());
                    return Err(EngineError::Duplicate(table, key));
                }
                PutResult::Wait(next, kind, mode) => {
                    let at = wait_place(kind, key, next.as_ref());
                    self.wait(table.clustered_id, at, kind, mode)?;
                }
            }
        }
    }

    fn try_put_row(&mut self, table: &Table, key: &[u8], row: &[u8], id: TrxId) -> PutResult {
        let all = self.has_all(table, Mode::Exclusive);
        let (locks, trx) = (&self.shared.locks, &self.work.locks);
        let index = table.clustered_id;
        let lock = |place: Place<'_>, kind: LockKind, mode: Mode| {
            all || locks.try_lock(trx, index, place, kind, mode).is_ok()
        };
        table.rows.edit_entry(key, TrxId::NOBODY, |chain, next| {
            let wait = |kind, mode| (Edit::Keep, PutResult::Wait(next.map(Key::new), kind, mode));
            let Some(chain) = chain else {
                if !lock(key_or_supremum(next), LockKind::InsertIntention, Mode::Exclusive) {
                    return wait(LockKind::InsertIntention, Mode::Exclusive);
                }
                if !lock(Place::Key(key), LockKind::Record, Mode::Exclusive) {
                    return wait(LockKind::Record, Mode::Exclusive);
                }
                locks.inherit_gap(index, key_or_supremum(next), Place::Key(key));
                return (Edit::Put(RowVersion::new(id, Some(row.into()))), PutResult::Done(false));
            };
            if chain.row.is_some() {
                return if lock(Place::Key(key), LockKind::Record, Mode::Shared) {
                    (Edit::Keep, PutResult::There)
                } else {
                    wait(LockKind::Record, Mode::Shared)
                };
            }
            if !lock(Place::Key(key), LockKind::Record, Mode::Exclusive) {
                return wait(LockKind::Record, Mode::Exclusive);
            }
            chain.push(id, Some(row.into()));
            (Edit::Keep, PutResult::Done(true))
        })
    }

    /// Notes what was written, for the log and for taking it back.
    fn note(&mut self, table: &Arc<Table>, key: &[u8], row: Option<&[u8]>, over: bool) {
        let trx = &mut self.work.trx;
        push_change(&mut trx.redo, RowImage { table: table.id, key, row });
        if self.shared.follow.is_some() {
            trx.keys.push(RowKey::of_index_key(table.clustered_id.0, key));
        }
        trx.undo.push(WrittenVersion { table: table.clone(), key: Key::new(key), over });
        self.work.locks.add_written_rows(1);
    }

    /// Brings the secondary indexes up to what was written.
    fn write_entries(
        &mut self,
        table: &Table,
        key: &[u8],
        old: Option<&[u8]>,
        new: Option<&[u8]>,
        id: TrxId,
    ) -> Result<()> {
        for index in table.indexes() {
            let mut before = mem::take(&mut self.work.scratch.entry);
            let mut after = mem::take(&mut self.work.scratch.new_entry);
            let columns = |row: Option<&[u8]>, into: &mut Vec<u8>| {
                into.clear();
                row.is_none_or(|row| index.push_columns(table.layout().view_row(row), into))
            };
            let was_null = columns(old, &mut before);
            let null = columns(new, &mut after);
            let mut done = Ok(());
            if old.is_none() || new.is_none() || before != after {
                if self.shared.follow.is_some() && index.is_unique() {
                    let values = [(&before, was_null), (&after, null)].into_iter();
                    let known = values.filter(|(_, null)| !null);
                    let keys = known.map(|(values, _)| RowKey::of_index_key(index.id.0, values));
                    self.work.trx.keys.extend(keys);
                }
                if new.is_some() {
                    if index.is_unique() && !null && !self.work.trx.follows {
                        done = self.check_unique(table, index, &after, key);
                    }
                    after.extend_from_slice(key);
                    done = done.and_then(|()| self.put_entry(table, index, &after, id));
                }
                if old.is_some() && done.is_ok() {
                    before.extend_from_slice(key);
                    index.entries.change_value(&before, id, |mark| *mark = Mark::Dead);
                }
            }
            self.work.scratch.entry = before;
            self.work.scratch.new_entry = after;
            done?;
        }
        Ok(())
    }

    fn put_entry(
        &mut self,
        table: &Table,
        index: &Secondary,
        entry: &[u8],
        id: TrxId,
    ) -> Result<()> {
        let all = self.has_all(table, Mode::Exclusive);
        loop {
            let (locks, trx) = (&self.shared.locks, &self.work.locks);
            let lock = |place: Place<'_>, kind: LockKind| {
                all || locks.try_lock(trx, index.id, place, kind, Mode::Exclusive).is_ok()
            };
            let put = index.entries.edit_entry(entry, id, |mark, next| {
                let wait = |kind| PutResult::Wait(next.map(Key::new), kind, Mode::Exclusive);
                if let Some(mark) = mark {
                    // One that passed by it while it was dead has locked it with its gap.
                    if !lock(Place::Key(entry), LockKind::Record) {
                        return (Edit::Keep, wait(LockKind::Record));
                    }
                    *mark = Mark::Alive;
                    return (Edit::Keep, PutResult::Done(true));
                }
                if !lock(key_or_supremum(next), LockKind::InsertIntention) {
                    return (Edit::Keep, wait(LockKind::InsertIntention));
                }
                locks.inherit_gap(index.id, key_or_supremum(next), Place::Key(entry));
                (Edit::Put(Mark::Alive), PutResult::Done(false))
            });
            let PutResult::Wait(next, kind, mode) = put else { return Ok(()) };
            let at = wait_place(kind, entry, next.as_ref());
            self.wait(index.id, at, kind, mode)?;
        }
    }

    /// Sees to it that no other row has these values in a unique index, and that no other
    /// transaction puts one in until this transaction has ended.
    fn check_unique(
        &mut self,
        table: &Table,
        index: &Secondary,
        values: &[u8],
        own: &[u8],
    ) -> Result<()> {
        if !self.has_all(table, Mode::Exclusive) {
            self.lock(index.id, Place::Key(values), LockKind::Record, Mode::Exclusive)?;
        }
        let mut end = values.to_vec();
        key::after_all(&mut end);
        let mut cursor = Cursor::new(&Range::ALL, ScanDirection::Up);
        cursor.begin.extend_from_slice(values);
        cursor.end = Some(end);
        let mut others: Vec<Key> = Vec::new();
        while !cursor.ended {
            cursor.read(&index.entries, |entry, _, _| {
                let primary = &entry[values.len()..];
                if primary != own {
                    others.push(Key::new(primary));
                }
                ControlFlow::Continue(())
            });
        }
        for other in others {
            if self.has_values(table, index, values, other.bytes())? {
                let (table, index) = (table.name().to_owned(), index.spec.name.clone());
                return Err(EngineError::Duplicate(table, index));
            }
        }
        Ok(())
    }

    /// Whether a row has these values, now and as long as this transaction lasts; one that is
    /// about to change it is waited for.
    fn has_values(
        &mut self,
        table: &Table,
        index: &Secondary,
        values: &[u8],
        key: &[u8],
    ) -> Result<bool> {
        let all = self.has_all(table, Mode::Shared);
        let own = self.work.trx.id;
        let mut locked = all;
        loop {
            let shared = self.shared;
            let columns = &mut self.work.scratch.key;
            let found = table.rows.get(key, |chain| {
                columns.clear();
                let row = chain.row.as_ref().map(|row| table.layout().view_row(row));
                let has = row.is_some_and(|row| {
                    index.push_columns(row, columns);
                    *columns == values
                });
                let writer = chain.writer;
                (has, Some(writer) != own && shared.trx.is_active(writer))
            });
            match found {
                None => return Ok(false),
                Some((has, false)) if locked || !has => return Ok(has),
                Some((has, true)) if locked => return Ok(has),
                Some(_) => {
                    self.lock(table.clustered_id, Place::Key(key), LockKind::Record, Mode::Shared)?;
                    locked = true;
                }
            }
        }
    }
}

/// Where the lock is that has to be waited for.
fn wait_place<'a>(kind: LockKind, key: &'a [u8], next: Option<&'a Key>) -> Place<'a> {
    match kind {
        LockKind::InsertIntention => key_or_supremum(next.map(Key::bytes)),
        _ => Place::Key(key),
    }
}
