//! Rows: the bytes of one version, and how a column is found in them.
//!
//! ```text
//!   ┌────────────┬──────────┬──────────┬────────┬────────┬─────────────┬─────────────┐
//!   │ NULL bits  │ number 8 │ number 8 │ end 4  │ end 4  │ bytes of    │ bytes of    │
//!   │ ⌈n/8⌉      │          │          │        │        │ first text  │ second text │
//!   └────────────┴──────────┴──────────┴────────┴────────┴─────────────┴─────────────┘
//!                  slots, in the order of columns          ends count from here
//! ```
//!
//! Numbers stand with the little end first, texts after all slots. Where a slot is follows from
//! the table alone, so that a column is read without looking at the others. A text begins where
//! the one before it ends.

use crate::error::{EngineError, Result};
use crate::value::{Datum, Value, ValueType};

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub kind: ValueType,
    /// Whether it takes NULL.
    pub nullable: bool,
    /// What it is where an insert does not name it.
    pub default: Value,
}

impl ColumnSpec {
    /// A column that has to have a value, and no default.
    pub fn required(name: &str, kind: ValueType) -> ColumnSpec {
        ColumnSpec { nullable: false, ..ColumnSpec::optional(name, kind) }
    }

    /// A column that takes NULL, and is NULL where an insert does not name it.
    pub fn optional(name: &str, kind: ValueType) -> ColumnSpec {
        ColumnSpec { name: name.to_owned(), kind, nullable: true, default: Value::Null }
    }
}

/// Where the columns of a table's rows are.
#[derive(Clone, Debug)]
pub struct Layout {
    columns: Box<[Place]>,
    /// Where texts begin.
    texts: usize,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    kind: ValueType,
    slot: u32,
    /// The slot of the text before this one; 0, which is no slot, where there is none.
    before: u32,
}

/// One version of a row.
#[derive(Clone, Copy, Debug)]
pub struct RowView<'a> {
    layout: &'a Layout,
    bytes: &'a [u8],
}

impl Layout {
    /// The layout of rows with these columns.
    pub fn new(columns: &[ColumnSpec]) -> Layout {
        let mut slot = columns.len().div_ceil(8) as u32;
        let mut before = 0;
        let place = |column: &ColumnSpec| {
            let place = Place { kind: column.kind, slot, before };
            if column.kind.is_text() {
                before = slot;
                slot += 4;
            } else {
                slot += 8;
            }
            place
        };
        let columns = columns.iter().map(place).collect();
        Layout { columns, texts: slot as usize }
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Writes a row: one value for each column, each of its column's kind or NULL.
    ///
    /// # Panics
    /// If there are not as many values as columns, or one is of another kind: callers
    /// have checked them.
    pub fn write(&self, values: &[Datum<'_>], into: &mut Vec<u8>) {
        assert_eq!(values.len(), self.columns.len(), "a row has a value for each column");
        into.clear();
        into.resize(self.texts, 0);
        for (index, (place, value)) in self.columns.iter().zip(values).enumerate() {
            let slot = place.slot as usize;
            match (*value, place.kind) {
                (Datum::Null, _) => into[index / 8] |= 1 << (index % 8),
                (Datum::Text(bytes), kind) if kind.is_text() => into.extend_from_slice(bytes),
                (Datum::Int(number), ValueType::Int { .. })
                | (Datum::Decimal(number), ValueType::Decimal { .. })
                | (Datum::Timestamp(number), ValueType::Timestamp { .. } | ValueType::Date) => {
                    into[slot..slot + 8].copy_from_slice(&number.to_le_bytes());
                }
                (value, kind) => unreachable!("{value:?} in a column of {kind}"),
            }
            if place.kind.is_text() {
                let end = (into.len() - self.texts) as u32;
                into[slot..slot + 4].copy_from_slice(&end.to_le_bytes());
            }
        }
    }

    /// The row that these bytes are.
    #[inline]
    pub fn view_row<'a>(&'a self, bytes: &'a [u8]) -> RowView<'a> {
        RowView { layout: self, bytes }
    }

    /// Whether bytes, which come from a file, are a row of this layout.
    pub fn is_row(&self, bytes: &[u8]) -> bool {
        let mut end_before = 0;
        bytes.len() >= self.texts
            && self.columns.iter().filter(|place| place.kind.is_text()).all(|place| {
                let end = end_at(bytes, place.slot);
                let grows = end >= end_before && self.texts + end <= bytes.len();
                end_before = end;
                grows
            })
    }
}

#[inline]
fn end_at(bytes: &[u8], slot: u32) -> usize {
    let slot = slot as usize;
    let end: [u8; 4] = bytes[slot..slot + 4].try_into().expect("four bytes");
    u32::from_le_bytes(end) as usize
}

impl<'a> RowView<'a> {
    /// The value of a column.
    ///
    /// # Panics
    /// If there is no such column.
    #[inline]
    pub fn get(&self, column: usize) -> Datum<'a> {
        let place = &self.layout.columns[column];
        if self.bytes[column / 8] & (1 << (column % 8)) != 0 {
            return Datum::Null;
        }
        if place.kind.is_text() {
            let begin = if place.before == 0 { 0 } else { end_at(self.bytes, place.before) };
            let end = end_at(self.bytes, place.slot);
            return Datum::Text(&self.bytes[self.layout.texts + begin..self.layout.texts + end]);
        }
        let slot = place.slot as usize;
        let number: [u8; 8] = self.bytes[slot..slot + 8].try_into().expect("eight bytes");
        place.kind.of_number(i64::from_le_bytes(number))
    }

    /// All values, in the order of columns.
    pub fn values(&self) -> impl Iterator<Item = Datum<'a>> + use<'a> {
        let row = *self;
        (0..self.layout.columns()).map(move |column| row.get(column))
    }

    /// Its bytes.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// Says why a column does not take a value, if it does not.
#[inline]
pub(crate) fn check_value(column: &ColumnSpec, value: Datum<'_>) -> Result<()> {
    if matches!(value, Datum::Null) && !column.nullable {
        return Err(EngineError::NotNull(column.name.clone()));
    }
    if !column.kind.accepts_value(value) {
        let (name, takes) = (column.name.clone(), column.kind.to_string());
        return Err(match (column.kind, value) {
            (kind, Datum::Text(_)) if kind.is_text() => EngineError::TooLong(name, takes),
            (ValueType::Int { .. }, Datum::Int(_))
            | (ValueType::Decimal { .. }, Datum::Decimal(_)) => {
                EngineError::OutOfRange(name, takes)
            }
            _ => EngineError::BadValue(name, takes),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn cell() -> impl Strategy<Value = (ValueType, Value)> {
        let (text, money) =
            (ValueType::Text { most: 300 }, ValueType::Decimal { digits: 20, scale: 2 });
        prop_oneof![
            any::<i64>().prop_map(|number| (ValueType::BIGINT, Value::Int(number))),
            any::<i64>().prop_map(move |units| (money, Value::Decimal(units))),
            any::<i64>().prop_map(|us| (ValueType::TIMESTAMP, Value::Timestamp(us))),
            vec(any::<u8>(), 0..300).prop_map(move |bytes| (text, Value::Text(bytes))),
            Just((text, Value::Null)),
            Just((ValueType::BIGINT, Value::Null)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn a_row_gives_its_values_back(cells in vec(cell(), 1..20)) {
            let column = |(kind, _): &(ValueType, Value)| ColumnSpec::optional("c", *kind);
            let columns: Vec<_> = cells.iter().map(column).collect();
            let layout = Layout::new(&columns);
            let values: Vec<_> = cells.iter().map(|(_, value)| value.datum()).collect();
            let mut bytes = vec![7; 3];
            layout.write(&values, &mut bytes);
            prop_assert!(layout.is_row(&bytes));
            let row = layout.view_row(&bytes);
            for (index, value) in values.iter().enumerate() {
                prop_assert_eq!(row.get(index), *value);
            }
            prop_assert_eq!(row.values().collect::<Vec<_>>(), values);
            prop_assert!(!layout.is_row(&bytes[..layout.texts - 1]));
        }
    }

    #[test]
    fn a_column_says_what_it_does_not_take() {
        let mut narrow = ColumnSpec::optional("c", ValueType::Text { most: 2 });
        assert!(check_value(&narrow, Datum::Text(b"ab")).is_ok());
        assert!(check_value(&narrow, Datum::Text("é€".as_bytes())).is_ok());
        assert_eq!(check_value(&narrow, Datum::Text(b"abc")).unwrap_err().code(), 1406);
        assert_eq!(check_value(&narrow, Datum::Text("é€🜁".as_bytes())).unwrap_err().code(), 1406);
        assert_eq!(check_value(&narrow, Datum::Int(1)).unwrap_err().code(), 1366);
        narrow.nullable = false;
        assert_eq!(check_value(&narrow, Datum::Null).unwrap_err().code(), 1048);
    }

    /// The bounds are those of MySQL's manual, but for the last one.
    #[test]
    fn numbers_end_where_their_type_does() {
        let int = |bytes, signed| ValueType::Int { bytes, signed };
        for (kind, least, most) in [
            (int(1, true), -128, 127),
            (int(1, false), 0, 255),
            (int(2, true), -32_768, 32_767),
            (int(2, false), 0, 65_535),
            (int(3, true), -8_388_608, 8_388_607),
            (int(3, false), 0, 16_777_215),
            (int(4, true), -2_147_483_648, 2_147_483_647),
            (int(4, false), 0, 4_294_967_295),
            (int(8, true), i64::MIN, i64::MAX),
            (int(8, false), 0, i64::MAX),
        ] {
            let column = ColumnSpec::required("c", kind);
            for (value, is_in) in [
                (Some(least), true),
                (Some(most), true),
                (least.checked_sub(1), false),
                (most.checked_add(1), false),
            ] {
                let Some(value) = value else { continue };
                let checked = check_value(&column, Datum::Int(value));
                assert_eq!(checked.is_ok(), is_in, "{value} in {kind}");
                assert!(is_in || checked.unwrap_err().code() == 1264);
            }
        }
        for (digits, most) in [(1, 9), (5, 99_999), (18, 10_i64.pow(18) - 1)] {
            let column = ColumnSpec::required("c", ValueType::Decimal { digits, scale: 1 });
            for units in [most, -most] {
                assert!(check_value(&column, Datum::Decimal(units)).is_ok());
                let beyond = check_value(&column, Datum::Decimal(units + units.signum()));
                assert_eq!(beyond.unwrap_err().code(), 1264, "{units} of {digits} digits");
            }
        }
        for digits in [19, 65] {
            let column = ColumnSpec::required("c", ValueType::Decimal { digits, scale: 1 });
            assert!(check_value(&column, Datum::Decimal(i64::MIN)).is_ok());
        }
    }
}
