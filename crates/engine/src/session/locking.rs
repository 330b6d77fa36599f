//! Reading what is newest, under locks.
//!
//! ```text
//!   one key, there            record
//!   one key, not there        gap before the next one
//!   a range, upwards          each key and the gap before it, up to the first beyond
//!   a range, downwards        the gap before the first beyond, then each key and the gap before it
//!   at read committed         records only; of those that were not meant the lock is given back
//! ```
//!
//! The next key is found and its lock tried under the latches of its leaf, so that nothing comes
//! into the gap between. On a conflict the latches are given back; after the wait it looks again,
//! for there may be another key in between by then. By way of a secondary index the entry is
//! locked, then the row. A transaction that has put in an entry and not yet ended has no lock on it
//! but on the row: so, where the leaf was touched lately, the row is waited for before the entry is
//! locked, as InnoDB turns the implicit lock into one first.

use std::ops::Bound;

use super::intent::Visit;
use super::range::{Cursor, Path, Scan, ScanDirection};
use super::statement::RunningStatement;
use crate::error::Result;
use crate::ids::IndexId;
use crate::index::{IndexTree, TreeEntry};
use crate::lock::{Conflict, Holding, LockKind, Mode, Place, TableMode};
use crate::row::RowView;
use crate::table::{Mark, Secondary, Table};
use crate::value::Datum;
use crate::version::RowVersion;

/// What was met under the latch.
enum LockAttempt {
    /// The lock is held: how it came, of which kind it is, and whether there is a row.
    Locked(Holding, LockKind, bool),
    /// There is no such key.
    Missing,
    /// Another transaction has what excludes this kind.
    Conflict(LockKind),
    /// The row of this entry is to be looked at first.
    Unsure,
}

/// A row or an entry that was locked.
#[derive(Clone, Copy, Debug)]
struct LockedEntry {
    kind: LockKind,
    /// Whether this statement got the lock.
    fresh: bool,
    /// Of an entry: whether this statement got the lock of its row on the way.
    row_fresh: bool,
    /// Whether there is a row.
    alive: bool,
}

/// How a range is locked.
struct Way<'a> {
    index: IndexId,
    mode: Mode,
    /// What is locked of keys in the range.
    kind: LockKind,
    /// What is locked of the first key beyond, if anything.
    beyond: Option<LockKind>,
    direction: ScanDirection,
    secondary: Option<&'a Secondary>,
    /// Whether only one row can be in the range.
    single: bool,
    /// Whether the whole table is locked.
    all: bool,
}

impl RunningStatement<'_> {
    /// Locks the row with a primary key, or the gap where it would be; copies the newest version
    /// and says whether there is one.
    pub(super) fn lock_point(&mut self, table: &Table, key: &[u8], mode: Mode) -> Result<bool> {
        self.ensure_table_lock(table, intention(mode))?;
        let gaps = self.locks_gaps();
        let locked = self.lock_row(table, key, mode, gaps)?;
        if let Some(locked) = locked
            && !gaps
            && !locked.alive
            && locked.fresh
        {
            self.give_back(table.clustered_id, key, locked.kind, mode);
        }
        Ok(locked.is_some_and(|locked| locked.alive))
    }

    /// Locks a row and copies its newest version. Where there is no such key, `gaps` says whether
    /// the gap is locked. The table is locked before.
    fn lock_row(
        &mut self,
        table: &Table,
        key: &[u8],
        mode: Mode,
        gaps: bool,
    ) -> Result<Option<LockedEntry>> {
        let all = self.has_all(table, mode);
        let mut waited = false;
        self.work.trx.locked = true;
        loop {
            let (locks, trx) = (&self.shared.locks, &self.work.locks);
            let row = &mut self.work.scratch.row;
            let lock = |place: Place<'_>, kind: LockKind| {
                if all {
                    return Ok(Holding::Before);
                }
                locks.try_lock(trx, table.clustered_id, place, kind, mode)
            };
            let met =
                table.rows.seek(key, |found: Option<TreeEntry<'_, RowVersion>>| match found {
                    Some((there, chain, _)) if there == key => {
                        let dead = chain.row.is_none();
                        let kind = if gaps && dead { LockKind::NextKey } else { LockKind::Record };
                        match lock(Place::Key(key), kind) {
                            Ok(held) => {
                                copy(chain, row);
                                LockAttempt::Locked(held, kind, !dead)
                            }
                            Err(Conflict) => LockAttempt::Conflict(kind),
                        }
                    }
                    found => {
                        if gaps {
                            let place =
                                found.map_or(Place::Supremum, |(next, ..)| Place::Key(next));
                            lock(place, LockKind::Gap).expect("a gap lock waits for nobody");
                        }
                        LockAttempt::Missing
                    }
                });
            match met {
                LockAttempt::Locked(held, kind, alive) => {
                    let fresh = waited || held == Holding::Fresh;
                    return Ok(Some(LockedEntry { kind, fresh, row_fresh: false, alive }));
                }
                LockAttempt::Missing => return Ok(None),
                LockAttempt::Conflict(kind) => {
                    let held = self.wait(table.clustered_id, Place::Key(key), kind, mode)?;
                    waited |= held == Holding::Fresh;
                }
                LockAttempt::Unsure => unreachable!("a row is itself"),
            }
        }
    }

    pub(super) fn lock_range(
        &mut self,
        table: &Table,
        scan: &Scan<'_>,
        mode: Mode,
        mut visit: impl FnMut(&[u8], RowView<'_>) -> Visit,
    ) -> Result<()> {
        self.ensure_table_lock(table, intention(mode))?;
        self.work.trx.locked = true;
        let way = self.way(table, scan, mode);
        let mut cursor = Cursor::new(&scan.range, scan.direction);
        if scan.direction == ScanDirection::Down && !cursor.ended {
            self.lock_behind(table, &way, cursor.end.as_deref());
        }
        let mut entry = Vec::new();
        while !cursor.ended {
            let found = match way.secondary {
                None => self.lock_next(table, &table.rows, &way, &mut cursor, &mut entry)?,
                Some(index) => {
                    self.lock_next(table, &index.entries, &way, &mut cursor, &mut entry)?
                }
            };
            let Some(locked) = found else { break };
            let mut row_fresh = locked.row_fresh;
            let (key, row_locked) = match way.secondary {
                None => {
                    let row = &mut self.work.scratch.row;
                    let alive = table.rows.get(&entry, |chain| copy(chain, row));
                    (&entry[..], alive == Some(true))
                }
                Some(index) => {
                    let key = index.primary_of(&entry);
                    let row = self.lock_row(table, key, mode, false)?;
                    row_fresh |= row.is_some_and(|row| row.fresh);
                    let alive = row.is_some_and(|row| row.alive)
                        && self.row_has_entry(table, index, &entry);
                    (key, alive)
                }
            };
            if way.single && !row_locked && self.locks_gaps() && locked.kind == LockKind::Record {
                // It was taken away while its row was waited for: look again, for the gap as well.
                continue;
            }
            cursor.advance_past(&entry);
            let said = if row_locked {
                visit(key, table.layout().view_row(&self.work.scratch.row))
            } else {
                Visit::Pass
            };
            // What the transaction held before this statement it keeps: it may have written there.
            if said == Visit::Pass && !self.locks_gaps() {
                if locked.fresh && !way.single {
                    self.give_back(way.index, &entry, locked.kind, mode);
                }
                if row_fresh && !(way.single && row_locked) {
                    self.give_back(table.clustered_id, key, LockKind::Record, mode);
                }
            }
            if said == Visit::Stop || (way.single && row_locked) {
                break;
            }
        }
        Ok(())
    }

    fn way<'a>(&self, table: &'a Table, scan: &Scan<'_>, mode: Mode) -> Way<'a> {
        let gaps = self.locks_gaps();
        let secondary = match scan.path {
            Path::Primary => None,
            Path::Secondary(place) => {
                Some(table.index(place).expect("the index is one of the table"))
            }
        };
        let columns = secondary.map_or(table.primary().len(), |index| index.spec.columns.len());
        let unique = secondary.is_none_or(Secondary::is_unique) && columns > 0;
        let equal = scan.range.equal_values();
        // A unique index may hold the same values twice where one of them is NULL.
        let null = matches!(scan.range.from, Bound::Included(from) if from.contains(&Datum::Null));
        let beyond = if equal.is_some() { LockKind::Gap } else { LockKind::NextKey };
        Way {
            index: secondary.map_or(table.clustered_id, |index| index.id),
            mode,
            kind: if gaps { LockKind::NextKey } else { LockKind::Record },
            beyond: gaps.then_some(beyond),
            direction: scan.direction,
            secondary,
            single: unique && equal == Some(columns) && !null,
            all: self.has_all(table, mode),
        }
    }

    /// Finds the next key and locks it; gives it in `entry`. `None` at the end of the range.
    fn lock_next<V: Newest>(
        &mut self,
        table: &Table,
        tree: &IndexTree<V>,
        way: &Way<'_>,
        cursor: &mut Cursor,
        entry: &mut Vec<u8>,
    ) -> Result<Option<LockedEntry>> {
        // Keys that were waited for, or whose row was looked at: another may have come before.
        let (mut waited, mut sure) = (Vec::new(), Vec::new());
        let mut sure_fresh = false;
        loop {
            let met = self.try_next(tree, way, cursor, &sure, entry);
            match met {
                LockAttempt::Locked(held, kind, alive) => {
                    let fresh = held == Holding::Fresh || waited == *entry;
                    let row_fresh = sure_fresh && sure == *entry;
                    return Ok(Some(LockedEntry { kind, fresh, row_fresh, alive }));
                }
                LockAttempt::Missing => return Ok(None),
                LockAttempt::Conflict(kind) => {
                    let held = self.wait(way.index, Place::Key(entry), kind, way.mode)?;
                    if held == Holding::Fresh {
                        waited.clone_from(entry);
                    }
                }
                LockAttempt::Unsure => {
                    let index = way.secondary.expect("only entries are unsure");
                    let key = index.primary_of(entry).to_vec();
                    let writer = table.rows.get(&key, |chain| chain.writer);
                    let own = self.work.trx.id;
                    sure_fresh = false;
                    if writer.is_some_and(|it| Some(it) != own && self.shared.trx.is_active(it)) {
                        let row = self.lock_row(table, &key, way.mode, false)?;
                        sure_fresh = row.is_some_and(|row| row.fresh);
                    }
                    sure.clone_from(entry);
                }
            }
        }
    }

    fn try_next<V: Newest>(
        &self,
        tree: &IndexTree<V>,
        way: &Way<'_>,
        cursor: &Cursor,
        sure: &[u8],
        entry: &mut Vec<u8>,
    ) -> LockAttempt {
        let (locks, trx, horizon) = (&self.shared.locks, &self.work.locks, self.shared.horizon());
        let lock = |key: &[u8], kind| {
            if way.all {
                return Ok(Holding::Before);
            }
            locks.try_lock(trx, way.index, Place::Key(key), kind, way.mode)
        };
        let look = |found: Option<TreeEntry<'_, V>>| {
            let up = way.direction == ScanDirection::Up;
            let Some((key, value, stamp)) =
                found.filter(|(key, ..)| up || cursor.is_before_end(key))
            else {
                if let (true, Some(_), false) = (up, way.beyond, way.all) {
                    let end =
                        locks.try_lock(trx, way.index, Place::Supremum, LockKind::Gap, way.mode);
                    end.expect("a gap lock waits for nobody");
                }
                return LockAttempt::Missing;
            };
            entry.clear();
            entry.extend_from_slice(key);
            if !cursor.is_before_end(key) {
                return match way.beyond.map(|kind| (kind, lock(key, kind))) {
                    Some((kind, Err(Conflict))) => LockAttempt::Conflict(kind),
                    _ => LockAttempt::Missing,
                };
            }
            if V::IS_ENTRY && stamp >= horizon && sure != key && !way.all {
                return LockAttempt::Unsure;
            }
            let kind = if way.single && value.is_alive() { LockKind::Record } else { way.kind };
            match lock(key, kind) {
                Ok(held) => LockAttempt::Locked(held, kind, value.is_alive()),
                Err(Conflict) => LockAttempt::Conflict(kind),
            }
        };
        match way.direction {
            ScanDirection::Up => tree.seek(&cursor.begin, look),
            ScanDirection::Down => tree.seek_back(cursor.end.as_deref(), look),
        }
    }

    /// Locks the gap before the first key that is not below `end`.
    fn lock_behind(&mut self, table: &Table, way: &Way<'_>, end: Option<&[u8]>) {
        if way.beyond.is_none() || way.all {
            return;
        }
        let lock = |next: Option<&[u8]>| {
            let place = next.map_or(Place::Supremum, Place::Key);
            let (locks, trx) = (&self.shared.locks, &self.work.locks);
            let held = locks.try_lock(trx, way.index, place, LockKind::Gap, way.mode);
            held.expect("a gap lock waits for nobody");
        };
        let Some(end) = end else { return lock(None) };
        match way.secondary {
            None => table.rows.seek(end, |found| lock(found.map(|(key, ..)| key))),
            Some(index) => index.entries.seek(end, |found| lock(found.map(|(key, ..)| key))),
        }
    }

    fn give_back(&self, index: IndexId, key: &[u8], kind: LockKind, mode: Mode) {
        self.shared.locks.unlock(&self.work.locks, index, Place::Key(key), kind, mode);
    }
}

/// What a tree holds, as far as locking asks.
trait Newest {
    /// Whether it is the way to a row, and not the row.
    const IS_ENTRY: bool;

    /// Whether the newest version is there.
    fn is_alive(&self) -> bool;
}

impl Newest for RowVersion {
    const IS_ENTRY: bool = false;

    fn is_alive(&self) -> bool {
        self.row.is_some()
    }
}

impl Newest for Mark {
    const IS_ENTRY: bool = true;

    fn is_alive(&self) -> bool {
        *self == Mark::Alive
    }
}

/// Copies the newest version; whether there is one.
fn copy(chain: &RowVersion, into: &mut Vec<u8>) -> bool {
    into.clear();
    into.extend_from_slice(chain.row.as_deref().unwrap_or_default());
    chain.row.is_some()
}

fn intention(mode: Mode) -> TableMode {
    match mode {
        Mode::Shared => TableMode::IntentShared,
        Mode::Exclusive => TableMode::IntentExclusive,
    }
}
