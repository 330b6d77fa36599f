//! The tables of a replica, by the numbers that the source has for them; and DDL.
//!
//! A replica numbers its tables itself. Which of them stands for which number of the source is a
//! table, too. A crash may come between DDL and the transaction that says that it is done: then it
//! is done once more, and finds that it was.
//!
//! Up to the place at which a copy was taken, records speak of tables that the copy has no more, or
//! has under the name of another: the former are passed over, the latter begun anew, since all that
//! is in them comes again.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::ids::{Lsn, TableId};
use crate::key;
use crate::redo::RedoRecord;
use crate::row::ColumnSpec;
use crate::session::{Absent, Path, RunningStatement, Scan, Visit};
use crate::sync::RwLock;
use crate::table::{Table, TableSpec};
use crate::value::{Datum, ValueType};

/// The name of the table of tables.
pub(super) const NAME: &str = "dbdyno_tables";

const UNBROKEN: &str = "no thread panics with it";

/// The table of tables.
pub(super) fn table_spec() -> TableSpec {
    let name = ColumnSpec::required("name", ValueType::Text { most: 1_024 });
    TableSpec::new(NAME, vec![ColumnSpec::required("source", ValueType::BIGINT), name], &[0])
}

/// A row of it.
pub(super) fn table_row(id: TableId, name: &str) -> [Datum<'_>; 2] {
    [Datum::Int(id.0.into()), Datum::Text(name.as_bytes())]
}

pub(super) struct Tables {
    engine: Arc<Engine>,
    table: Arc<Table>,
    known: RwLock<BTreeMap<TableId, Arc<Table>>>,
    /// See [`super::position::StoredPosition::copied`].
    copied: Lsn,
}

/// What changes in the table of tables.
pub(super) enum TableChange {
    Is(TableId, String),
    IsGone(TableId),
    Replaces(TableId, TableId, String),
    Nothing,
}

impl Tables {
    /// Those of an engine.
    pub(super) fn open(engine: &Arc<Engine>, copied: Lsn) -> Result<Tables> {
        let table = match engine.table(NAME) {
            Ok(table) => table,
            Err(_) => engine.create_table(table_spec())?,
        };
        let mut names = Vec::new();
        engine.session().statement(|it| {
            it.scan_rows(&table, &Scan::whole_index(Path::Primary), |_, row| {
                if let (Datum::Int(id), Datum::Text(name)) = (row.get(0), row.get(1)) {
                    names.push((TableId(id as u32), String::from_utf8_lossy(name).into_owned()));
                }
                Visit::On
            })
        })?;
        // What is named and not there was about to be dropped, which will be done again.
        let there = |(id, name): (TableId, String)| Some((id, engine.table(&name).ok()?));
        let known = RwLock::new(names.into_iter().filter_map(there).collect());
        Ok(Tables { engine: engine.clone(), table, known, copied })
    }

    /// The table that stands for one of the source, for a record that ends here; `None` if a copy
    /// was taken when it was gone.
    pub(super) fn get(&self, id: TableId, end: Lsn) -> Result<Option<Arc<Table>>> {
        let known = self.known.read().expect(UNBROKEN);
        match known.get(&id) {
            None if end > self.copied => {
                let what = format!("the source has written to table {id}, which it never made");
                Err(EngineError::Corrupt("the log of the source".to_owned(), what))
            }
            table => Ok(table.cloned()),
        }
    }

    /// What it means if a row that is deleted by a record that ends here is not there.
    pub(super) fn absence_meaning(&self, end: Lsn) -> Absent {
        if end > self.copied { Absent::IsDamage } else { Absent::IsFine }
    }

    /// Does what a record says that is no transaction; what has to be noted of it then.
    pub(super) fn apply_definition(&self, record: RedoRecord<'_>, end: Lsn) -> Result<TableChange> {
        match record {
            RedoRecord::Table { id, replaces, spec, .. } => {
                let name = spec.name.clone();
                let old = replaces.filter(|_| self.engine.table(&name).is_ok());
                match old {
                    Some(_) => self.engine.shared.replace_table(&name, |_| Ok(spec.clone()))?,
                    None => {
                        self.make_room(id, &name)?;
                        self.create(spec)?;
                    }
                }
                let table = self.engine.table(&name)?;
                let mut known = self.known.write().expect(UNBROKEN);
                known.insert(id, table);
                let Some(replaced) = replaces else { return Ok(TableChange::Is(id, name)) };
                known.remove(&replaced);
                Ok(TableChange::Replaces(replaced, id, name))
            }
            RedoRecord::Index { table, spec, .. } => {
                let Some(table) = self.get(table, end)? else { return Ok(TableChange::Nothing) };
                match self.engine.create_index(table.name(), spec) {
                    Ok(()) | Err(EngineError::Exists(_)) => Ok(TableChange::Nothing),
                    Err(error) => Err(error),
                }
            }
            RedoRecord::Drop(id) => {
                let table = self.known.write().expect(UNBROKEN).remove(&id);
                if let Some(table) = table {
                    match self.engine.drop_table(table.name()) {
                        Ok(()) | Err(EngineError::NoTable(_)) => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(TableChange::IsGone(id))
            }
            RedoRecord::Numbers(..) | RedoRecord::Changes(_) | RedoRecord::Followed { .. } => {
                Ok(TableChange::Nothing)
            }
        }
    }

    /// Takes away what a copy has under the name of a table that is made by the log: another one,
    /// which is made later.
    fn make_room(&self, id: TableId, name: &str) -> Result<()> {
        let mut known = self.known.write().expect(UNBROKEN);
        let mut others =
            known.iter().filter(|(known, table)| **known != id && table.name() == name);
        let Some(other) = others.next().map(|(other, _)| *other) else { return Ok(()) };
        known.remove(&other);
        match self.engine.drop_table(name) {
            Ok(()) | Err(EngineError::NoTable(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn create(&self, spec: TableSpec) -> Result<()> {
        match self.engine.create_table(spec) {
            Ok(_) | Err(EngineError::Exists(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Writes what has to be noted.
    pub(super) fn note_change(
        &self,
        it: &mut RunningStatement<'_>,
        noted: &TableChange,
    ) -> Result<()> {
        match noted {
            TableChange::Is(id, name) => self.put(it, *id, name),
            TableChange::IsGone(id) => self.take(it, *id),
            TableChange::Replaces(old, id, name) => {
                self.take(it, *old)?;
                self.put(it, *id, name)
            }
            TableChange::Nothing => Ok(()),
        }
    }

    fn put(&self, it: &mut RunningStatement<'_>, id: TableId, name: &str) -> Result<()> {
        let row = table_row(id, name);
        let (mut key, mut bytes) = (Vec::new(), Vec::new());
        key::push(&mut key, row[0]);
        self.table.layout().write(&row, &mut bytes);
        it.apply_change(&self.table, &key, Some(&bytes), Absent::IsDamage)
    }

    fn take(&self, it: &mut RunningStatement<'_>, id: TableId) -> Result<()> {
        it.delete(&self.table, &[Datum::Int(id.0.into())]).map(|_| ())
    }
}
