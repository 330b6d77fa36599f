//! How far a replica is: a row for each worker, written in the transactions that it tells of.
//!
//! ```text
//!   worker   low   place     above
//!        0    17   0x2a40    19 23       all up to 17 are applied, and its record ends at 0x2a40;
//!        1    18   0x2b10    20          beyond it, this worker has applied 19 and 23
//! ```
//!
//! All up to the highest *low* are applied, and what stands in *above* of any row. A worker keeps
//! in its row what it has applied beyond the low-water mark that it writes beside, so that nothing
//! is missing whichever row was written last.
//!
//! A replica that begins with a copy finds two rows of `TrxId::NOBODY` there: from where
//! to apply, and up to where the copy may have more than what was applied ([`super::copy`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dbdyno_replica::Sequence;

use crate::engine::Engine;
use crate::error::{EngineError, Result};
use crate::ids::Lsn;
use crate::key;
use crate::recovery::OF_REPLICA;
use crate::row::ColumnSpec;
use crate::session::{Absent, Path, RunningStatement, Scan, Visit};
use crate::table::{Table, TableSpec};
use crate::value::{Datum, ValueType};

/// The name of the table.
pub(super) const NAME: &str = OF_REPLICA;

/// A row can name so many transactions: more than a window has.
const ABOVE_BYTES: u32 = 1 << 19;

/// The table.
#[derive(Clone)]
pub(super) struct Positions {
    table: Arc<Table>,
}

/// Stand for workers in the rows of a copy.
const COPY_FROM: i64 = -1;
const COPY_UNTIL: i64 = -2;

/// What it says.
#[derive(Debug, Default)]
pub(super) struct StoredPosition {
    /// Up to here it may have more than what was applied, since it began with a copy.
    pub(super) copied: Lsn,
    pub(super) low: Sequence,
    /// Where the record of `low` ends.
    pub(super) place: Lsn,
    /// What is applied beyond it.
    pub(super) above: BTreeSet<Sequence>,
    of_workers: BTreeMap<i64, BTreeSet<Sequence>>,
}

/// What a worker has applied beyond the low-water mark.
#[derive(Debug, Default)]
pub(super) struct Above(pub(super) BTreeSet<Sequence>);

/// The table.
pub(super) fn table_spec() -> TableSpec {
    let number = |name: &str| ColumnSpec::required(name, ValueType::BIGINT);
    let above = ColumnSpec::required("above", ValueType::Text { most: ABOVE_BYTES });
    let columns = vec![number("worker"), number("low"), number("place"), above];
    TableSpec::new(NAME, columns, &[0])
}

/// The rows of a copy. All before `from` counts as one transaction.
pub(super) fn initial_rows(from: Lsn, until: Lsn) -> [[Datum<'static>; 4]; 2] {
    let row = |worker, low, place: Lsn| {
        [Datum::Int(worker), Datum::Int(low), Datum::Int(place.0 as i64), Datum::Text(b"")]
    };
    [row(COPY_UNTIL, 0, until), row(COPY_FROM, 1, from)]
}

impl StoredPosition {
    /// What a worker has to go on telling of.
    pub(super) fn of_worker(&self, worker: i64) -> Above {
        Above(self.of_workers.get(&worker).cloned().unwrap_or_default())
    }
}

impl Positions {
    /// The table of an engine; it is made if there is none.
    pub(super) fn open(engine: &Engine) -> Result<Positions> {
        let table = match engine.table(NAME) {
            Ok(table) => table,
            Err(_) => engine.create_table(table_spec())?,
        };
        Ok(Positions { table })
    }

    pub(super) fn read(&self, engine: &Engine) -> Result<StoredPosition> {
        let mut found = StoredPosition::default();
        let mut whole = true;
        engine.session().statement(|it| {
            it.scan_rows(&self.table, &Scan::whole_index(Path::Primary), |_, row| {
                let cells = [row.get(0), row.get(1), row.get(2), row.get(3)];
                let [Datum::Int(worker), Datum::Int(low), Datum::Int(place), Datum::Text(above)] =
                    cells
                else {
                    whole = false;
                    return Visit::On;
                };
                if low as u64 > found.low.0 {
                    (found.low, found.place) = (Sequence(low as u64), Lsn(place as u64));
                }
                if worker == COPY_UNTIL {
                    found.copied = Lsn(place as u64);
                }
                let numbers = above.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
                match numbers
                    .map(|word| str::from_utf8(word).ok()?.parse().ok().map(Sequence))
                    .collect::<Option<BTreeSet<_>>>()
                {
                    Some(above) => {
                        found.of_workers.insert(worker, above);
                    }
                    None => whole = false,
                }
                Visit::On
            })
        })?;
        if !whole {
            let what = "a row says what no replica writes".to_owned();
            return Err(EngineError::Corrupt(NAME.to_owned(), what));
        }
        let all = found.of_workers.values().flatten();
        found.above = all.filter(|&&above| above > found.low).copied().collect();
        Ok(found)
    }

    /// Writes the row of a worker, which applies `sequence` in this transaction.
    pub(super) fn write(
        &self,
        it: &mut RunningStatement<'_>,
        worker: u32,
        low: Sequence,
        place: Lsn,
        above: &Above,
        sequence: Sequence,
    ) -> Result<()> {
        let mut text = String::new();
        for above in above.0.range(low.next()..).chain([&sequence]) {
            text.push_str(&above.to_string());
            text.push(' ');
        }
        let number = |number: u64| Datum::Int(number as i64);
        let cells = [number(worker.into()), number(low.0), number(place.0)];
        let row = [cells[0], cells[1], cells[2], Datum::Text(text.as_bytes())];
        let (mut key, mut bytes) = (Vec::new(), Vec::new());
        key::push(&mut key, cells[0]);
        self.table.layout().write(&row, &mut bytes);
        it.apply_change(&self.table, &key, Some(&bytes), Absent::IsDamage)
    }
}
