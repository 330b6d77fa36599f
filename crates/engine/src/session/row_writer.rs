//! A row in the making: what an update sets, and the rest as it was.

use crate::error::Result;
use crate::row::{RowView, check_value};
use crate::table::Table;
use crate::value::Datum;

/// The columns that an update sets.
#[derive(Default)]
pub struct RowWriter {
    cells: Vec<Cell>,
    texts: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Cell {
    Kept,
    Null,
    Number(i64),
    /// From, to, in the texts.
    Text(usize, usize),
}

impl RowWriter {
    /// Sets a column.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn set(&mut self, column: usize, value: Datum<'_>) {
        self.cells[column] = match value {
            Datum::Null => Cell::Null,
            Datum::Int(number) | Datum::Decimal(number) | Datum::Timestamp(number) => {
                Cell::Number(number)
            }
            Datum::Text(bytes) => {
                let from = self.texts.len();
                self.texts.extend_from_slice(bytes);
                Cell::Text(from, self.texts.len())
            }
        };
    }

    pub(super) fn begin_row(&mut self, columns: usize) {
        self.texts.clear();
        self.cells.clear();
        self.cells.resize(columns, Cell::Kept);
    }

    /// Writes the row that the old one becomes.
    pub(super) fn write(&self, table: &Table, old: RowView<'_>, into: &mut Vec<u8>) -> Result<()> {
        let value = |(column, cell): (usize, &Cell)| {
            let about = &table.columns()[column];
            let value = match (*cell, about.kind) {
                (Cell::Kept, _) => return Ok(old.get(column)),
                (Cell::Null, _) => Datum::Null,
                (Cell::Text(from, to), _) => Datum::Text(&self.texts[from..to]),
                (Cell::Number(number), kind) if kind.is_text() => Datum::Int(number),
                (Cell::Number(number), kind) => kind.of_number(number),
            };
            check_value(about, value)?;
            Ok(value)
        };
        let values = self.cells.iter().enumerate().map(value).collect::<Result<Vec<_>>>()?;
        table.layout().write(&values, into);
        Ok(())
    }
}
