//! What a record of the log says, and an item of a checkpoint: the same words.
//!
//! ```text
//!   01  changes     ( 01 table key row │ 02 table key )*        of one transaction, or of a table
//!   02  table       id, what it replaces, next_number spec, ids of its indexes
//!   03  index       table id spec
//!   04  drop        table
//!   05  numbers     next table, next index
//!   06  followed    parent, time, how many keys of 8 bytes, they, then as in changes
//! ```
//!
//! Numbers are written in sevens of bits, small ones first; keys, rows and names with their length
//! before them. A change holds the whole row as it became, so that what is read twice, or in a
//! checkpoint and again behind it, does no harm: the last one counts.

use dbdyno_replica::RowKey;

use crate::ids::{IndexId, Lsn, TableId};
use crate::row::ColumnSpec;
use crate::table::{IndexSpec, TableSpec, Uniqueness};
use crate::value::{Value, ValueType};

/// One thing that the log says.
#[derive(Debug, PartialEq, Eq)]
pub enum RedoRecord<'a> {
    /// Rows as they became.
    Changes(RowImages<'a>),
    /// Rows as they became, of a transaction that replicas follow.
    Followed {
        /// All transactions whose records end here or before had committed when this one began to.
        parent: Lsn,
        /// When it began to commit, on the clock of the engine; 0 without one. Nanoseconds.
        began_ns: u64,
        /// What it wrote.
        keys: Keys<'a>,
        /// The rows.
        changes: RowImages<'a>,
    },
    /// There is a table.
    Table {
        /// Its number.
        id: TableId,
        /// The table in whose place it is, which is gone.
        replaces: Option<TableId>,
        /// The next that it gives to a row.
        next_number: i64,
        /// What it is.
        spec: TableSpec,
        /// The numbers of its primary key and its secondary indexes.
        indexes: Vec<IndexId>,
    },
    /// A table has another index.
    Index {
        /// The table.
        table: TableId,
        /// The number of the index.
        id: IndexId,
        /// What it is.
        spec: IndexSpec,
    },
    /// A table is gone.
    Drop(TableId),
    /// The next numbers of tables and indexes.
    Numbers(TableId, IndexId),
}

/// Keys of rows that were written, 8 bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys<'a>(&'a [[u8; 8]]);

impl<'a> Keys<'a> {
    /// They.
    pub fn iter(self) -> impl ExactSizeIterator<Item = RowKey> + use<'a> {
        self.0.iter().map(|bytes| RowKey(u64::from_le_bytes(*bytes)))
    }
}

/// Rows as they became, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowImages<'a>(&'a [u8]);

/// A row as it became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowImage<'a> {
    /// Its table.
    pub table: TableId,
    /// Its primary key.
    pub key: &'a [u8],
    /// The row, `None` if it was deleted.
    pub row: Option<&'a [u8]>,
}

const CHANGES: u8 = 1;
const TABLE: u8 = 2;
const INDEX: u8 = 3;
const DROP: u8 = 4;
const NUMBERS: u8 = 5;
const FOLLOWED: u8 = 6;

const PUT: u8 = 1;
const DELETE: u8 = 2;

/// Begins a record of changes.
pub(crate) fn begin_changes(into: &mut Vec<u8>) {
    into.clear();
    into.push(CHANGES);
}

/// Whether a record of changes has none.
pub(crate) fn is_without_changes(record: &[u8]) -> bool {
    record.len() <= 1
}

/// Writes the record of a transaction that replicas follow, from that of its changes.
pub(crate) fn write_followed(
    into: &mut Vec<u8>,
    changes: &[u8],
    keys: &[RowKey],
    parent: Lsn,
    began_ns: u64,
) {
    into.clear();
    into.reserve(changes.len() + 8 * keys.len() + 32);
    push_followed(into, keys.iter().copied(), parent, began_ns);
    into.extend_from_slice(&changes[1..]);
}

fn push_followed(
    into: &mut Vec<u8>,
    keys: impl ExactSizeIterator<Item = RowKey>,
    parent: Lsn,
    began_ns: u64,
) {
    into.push(FOLLOWED);
    push_number(into, parent.0);
    push_number(into, began_ns);
    push_number(into, keys.len() as u64);
    keys.for_each(|key| into.extend_from_slice(&key.0.to_le_bytes()));
}

/// Adds a change.
#[inline]
pub(crate) fn push_change(into: &mut Vec<u8>, change: RowImage<'_>) {
    into.push(if change.row.is_some() { PUT } else { DELETE });
    push_number(into, u64::from(change.table.0));
    push_bytes(into, change.key);
    if let Some(row) = change.row {
        push_bytes(into, row);
    }
}

impl RedoRecord<'_> {
    /// Its bytes.
    pub fn write(&self) -> Vec<u8> {
        let mut into = Vec::new();
        match self {
            RedoRecord::Changes(changes) => {
                into.push(CHANGES);
                into.extend_from_slice(changes.0);
            }
            RedoRecord::Followed { parent, began_ns, keys, changes } => {
                push_followed(&mut into, keys.iter(), *parent, *began_ns);
                into.extend_from_slice(changes.0);
            }
            RedoRecord::Table { id, replaces, next_number, spec, indexes } => {
                into.push(TABLE);
                push_number(&mut into, u64::from(id.0));
                push_number(&mut into, replaces.map_or(0, |replaced| u64::from(replaced.0) + 1));
                push_signed(&mut into, *next_number);
                push_spec(&mut into, spec);
                indexes.iter().for_each(|id| push_number(&mut into, u64::from(id.0)));
            }
            RedoRecord::Index { table, id, spec } => {
                into.push(INDEX);
                push_number(&mut into, u64::from(table.0));
                push_number(&mut into, u64::from(id.0));
                push_index(&mut into, spec);
            }
            RedoRecord::Drop(table) => {
                into.push(DROP);
                push_number(&mut into, u64::from(table.0));
            }
            RedoRecord::Numbers(table, index) => {
                into.push(NUMBERS);
                push_number(&mut into, u64::from(table.0));
                push_number(&mut into, u64::from(index.0));
            }
        }
        into
    }
}

impl<'a> RedoRecord<'a> {
    /// Reads one; `None` if these are not the bytes of one.
    pub fn read(bytes: &'a [u8]) -> Option<RedoRecord<'a>> {
        let (&kind, rest) = bytes.split_first()?;
        let mut from = Reader(rest);
        let record = match kind {
            CHANGES => return RowImages::read(rest).map(RedoRecord::Changes),
            FOLLOWED => {
                let (parent, began_ns) = (Lsn(from.number()?), from.number()?);
                let many = usize::try_from(from.number()?).ok()?.checked_mul(8)?;
                let (keys, rest) = from.0.split_at_checked(many)?;
                let keys = Keys(keys.as_chunks().0);
                let changes = RowImages::read(rest)?;
                return Some(RedoRecord::Followed { parent, began_ns, keys, changes });
            }
            TABLE => {
                let id = TableId(from.small()?);
                let replaces = from.number()?.checked_sub(1);
                let replaces = replaces.map(u32::try_from).transpose().ok()?.map(TableId);
                let next_number = from.signed()?;
                let spec = from.spec()?;
                let ids = 0..=spec.indexes.len();
                let indexes = ids.map(|_| Some(IndexId(from.small()?))).collect::<Option<_>>()?;
                spec.check_definition().ok()?;
                RedoRecord::Table { id, replaces, next_number, spec, indexes }
            }
            INDEX => RedoRecord::Index {
                table: TableId(from.small()?),
                id: IndexId(from.small()?),
                spec: from.index()?,
            },
            DROP => RedoRecord::Drop(TableId(from.small()?)),
            NUMBERS => RedoRecord::Numbers(TableId(from.small()?), IndexId(from.small()?)),
            _ => return None,
        };
        from.0.is_empty().then_some(record)
    }
}

impl<'a> RowImages<'a> {
    fn read(bytes: &'a [u8]) -> Option<RowImages<'a>> {
        let mut changes = RowImages(bytes);
        while !changes.0.is_empty() {
            changes.next_change()?;
        }
        Some(RowImages(bytes))
    }

    fn next_change(&mut self) -> Option<RowImage<'a>> {
        let mut from = Reader(self.0);
        let kind = from.byte()?;
        let table = TableId(from.small()?);
        let key = from.bytes()?;
        let row = match kind {
            PUT => Some(from.bytes()?),
            DELETE => None,
            _ => return None,
        };
        self.0 = from.0;
        Some(RowImage { table, key, row })
    }
}

impl<'a> Iterator for RowImages<'a> {
    type Item = RowImage<'a>;

    fn next(&mut self) -> Option<RowImage<'a>> {
        if self.0.is_empty() {
            return None;
        }
        Some(self.next_change().expect("all were read before"))
    }
}

#[inline]
fn push_number(into: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

/// Numbers near to zero are short, whatever their sign.
fn push_signed(into: &mut Vec<u8>, number: i64) {
    push_number(into, ((number << 1) ^ (number >> 63)) as u64);
}

#[inline]
fn push_bytes(into: &mut Vec<u8>, bytes: &[u8]) {
    push_number(into, bytes.len() as u64);
    into.extend_from_slice(bytes);
}

fn push_places(into: &mut Vec<u8>, places: &[usize]) {
    push_number(into, places.len() as u64);
    places.iter().for_each(|&place| push_number(into, place as u64));
}

fn push_spec(into: &mut Vec<u8>, spec: &TableSpec) {
    push_bytes(into, spec.name.as_bytes());
    push_number(into, spec.columns.len() as u64);
    for column in &spec.columns {
        push_bytes(into, column.name.as_bytes());
        let (kind, parameter) = match column.kind {
            ValueType::Int { bytes, signed } => (0, u32::from(bytes) << 8 | u32::from(signed)),
            ValueType::Decimal { digits, scale } => (1, u32::from(digits) << 8 | u32::from(scale)),
            ValueType::Text { most } => (2, most),
            // Those of older logs, which have 0 here, kept every digit.
            ValueType::Timestamp { digits } => (3, u32::from(6_u8.saturating_sub(digits))),
            ValueType::Date => (4, 0),
            ValueType::Char { most } => (5, most),
        };
        into.push(kind);
        push_number(into, u64::from(parameter));
        into.push(u8::from(column.nullable));
        push_value(into, &column.default);
    }
    push_places(into, &spec.primary);
    push_number(into, spec.auto_increment.map_or(0, |column| column as u64 + 1));
    push_number(into, spec.indexes.len() as u64);
    spec.indexes.iter().for_each(|index| push_index(into, index));
}

fn push_index(into: &mut Vec<u8>, spec: &IndexSpec) {
    push_bytes(into, spec.name.as_bytes());
    push_places(into, &spec.columns);
    into.push(u8::from(spec.uniqueness == Uniqueness::Unique));
}

fn push_value(into: &mut Vec<u8>, value: &Value) {
    let (kind, number) = match value {
        Value::Null => (0, 0),
        Value::Int(number) => (1, *number),
        Value::Decimal(units) => (2, *units),
        Value::Timestamp(us) => (3, *us),
        Value::Text(bytes) => {
            into.push(4);
            return push_bytes(into, bytes);
        }
    };
    into.push(kind);
    push_signed(into, number);
}

/// Bytes that are read from the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    fn place(&mut self) -> Option<usize> {
        Some(self.small()? as usize)
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.place()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    fn places(&mut self) -> Option<Vec<usize>> {
        (0..self.small()?).map(|_| self.place()).collect()
    }

    fn value(&mut self) -> Option<Value> {
        Some(match self.byte()? {
            0 => self.signed().map(|_| Value::Null)?,
            1 => Value::Int(self.signed()?),
            2 => Value::Decimal(self.signed()?),
            3 => Value::Timestamp(self.signed()?),
            4 => Value::Text(self.bytes()?.to_vec()),
            _ => return None,
        })
    }

    fn column(&mut self) -> Option<ColumnSpec> {
        let name = self.text()?;
        let kind = self.byte()?;
        let parameter = self.small()?;
        let (high, low) = (u8::try_from(parameter >> 8).ok(), parameter as u8);
        let kind = match kind {
            0 => ValueType::Int { bytes: high?, signed: low == 1 },
            1 => ValueType::Decimal { digits: high?, scale: low },
            2 => ValueType::Text { most: parameter },
            3 => ValueType::Timestamp { digits: 6_u8.checked_sub(parameter.try_into().ok()?)? },
            4 => ValueType::Date,
            5 => ValueType::Char { most: parameter },
            _ => return None,
        };
        Some(ColumnSpec { name, kind, nullable: self.byte()? == 1, default: self.value()? })
    }

    fn index(&mut self) -> Option<IndexSpec> {
        let name = self.text()?;
        let columns = self.places()?;
        let unique = self.byte()? == 1;
        let uniqueness = if unique { Uniqueness::Unique } else { Uniqueness::Repeated };
        Some(IndexSpec { name, columns, uniqueness })
    }

    fn spec(&mut self) -> Option<TableSpec> {
        Some(TableSpec {
            name: self.text()?,
            columns: (0..self.small()?).map(|_| self.column()).collect::<Option<_>>()?,
            primary: self.places()?,
            auto_increment: self.place()?.checked_sub(1),
            indexes: (0..self.small()?).map(|_| self.index()).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn spec() -> TableSpec {
        let mut columns = vec![
            ColumnSpec::required("a", ValueType::Int { bytes: 3, signed: false }),
            ColumnSpec::optional("b", ValueType::Text { most: 300 }),
            ColumnSpec::required("c", ValueType::Decimal { digits: 12, scale: 4 }),
            ColumnSpec::required("d", ValueType::Timestamp { digits: 3 }),
            ColumnSpec::required("e", ValueType::Date),
            ColumnSpec::optional("f", ValueType::Char { most: 3 }),
        ];
        let defaults = [Value::Int(7), Value::Text(b"x".to_vec()), Value::Decimal(1 << 38)];
        for (column, default) in columns.iter_mut().zip(defaults) {
            column.default = default;
        }
        let indexes = vec![IndexSpec::unique("i", &[1])];
        TableSpec { auto_increment: Some(0), indexes, ..TableSpec::new("t", columns, &[2, 0]) }
    }

    #[test]
    fn what_is_written_is_read() {
        let indexes = vec![IndexId(5), IndexId(300)];
        let index = spec().indexes.remove(0);
        let table = |replaces| RedoRecord::Table {
            id: TableId(9),
            replaces,
            next_number: -3,
            spec: spec(),
            indexes: indexes.clone(),
        };
        for record in [
            table(None),
            table(Some(TableId(u32::MAX))),
            RedoRecord::Index { table: TableId(1), id: IndexId(2), spec: index },
            RedoRecord::Drop(TableId(70_000)),
            RedoRecord::Numbers(TableId(1), IndexId(u32::MAX)),
        ] {
            let bytes = record.write();
            assert_eq!(RedoRecord::read(&bytes).as_ref(), Some(&record));
            for end in 0..bytes.len() {
                assert_eq!(RedoRecord::read(&bytes[..end]), None, "{record:?} cut at {end}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn changes_are_read_as_they_were_written(
            rows in vec((any::<u32>(), vec(any::<u8>(), 0..9), any::<Option<[u8; 5]>>()), 0..9),
        ) {
            let change = |row: &(u32, Vec<u8>, Option<[u8; 5]>)| (row.0, row.1.clone(), row.2);
            let mut bytes = Vec::new();
            begin_changes(&mut bytes);
            for (table, key, row) in &rows {
                let row = row.as_ref().map(|row| &row[..]);
                push_change(&mut bytes, RowImage { table: TableId(*table), key, row });
            }
            prop_assert_eq!(is_without_changes(&bytes), rows.is_empty());
            let mut followed = Vec::new();
            let keys: Vec<_> = rows.iter().map(|row| RowKey(u64::from(row.0) << 31)).collect();
            write_followed(&mut followed, &bytes, &keys, Lsn(rows.len() as u64 * 300), 1 << 40);
            let record = RedoRecord::read(&followed).unwrap();
            prop_assert_eq!(&record.write(), &followed);
            let RedoRecord::Followed { parent, began_ns, keys: read, changes } = record else {
                panic!()
            };
            prop_assert_eq!((parent.0, began_ns), (rows.len() as u64 * 300, 1 << 40));
            prop_assert_eq!(read.iter().collect::<Vec<_>>(), keys);
            prop_assert_eq!(changes.count(), rows.len());
            let Some(RedoRecord::Changes(changes)) = RedoRecord::read(&bytes) else { panic!() };
            let read: Vec<_> = changes
                .map(|it| (it.table.0, it.key.to_vec(), it.row.map(|row| row.try_into().unwrap())))
                .collect();
            prop_assert_eq!(read, rows.iter().map(change).collect::<Vec<_>>());
        }

        #[test]
        fn no_bytes_make_the_reader_fall(bytes in vec(any::<u8>(), 0..60)) {
            if let Some(record) = RedoRecord::read(&bytes) {
                let again = record.write();
                prop_assert_eq!(RedoRecord::read(&again), Some(record));
            }
        }
    }
}
