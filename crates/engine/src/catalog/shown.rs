//! Records as a witness of deadlocks shows them.
//!
//! ```text
//!     record of PRIMARY of sbtest1, 4 columns, written by 1043
//!      0: id; len 8; hex 0000000000000007; asc ........;
//!      1: c; len 120; hex 38363733…; asc 8673…; the first 30 bytes
//! ```
//!
//! Of each field InnoDB prints 30 bytes at most (`rec_print_new`), and it prints a record only if
//! its page can be latched without waiting (`buf_page_try_get`): a holder of that latch may wait
//! for the lock table, which the printer holds. So do we. Numbers stand with the big end first.

use std::fmt::Write as _;

use super::Catalog;
use crate::ids::IndexId;
use crate::key;
use crate::lock::Records;
use crate::table::{Secondary, Table};
use crate::value::Datum;
use crate::version::RowVersion;

/// Bytes of a field that are shown.
const FIELD_MOST: usize = 30;

impl Records for Catalog {
    fn describe_key(&self, index: IndexId, key: Option<&[u8]>, into: &mut String) {
        let Ok(tables) = self.tables.try_read() else { return };
        for table in tables.values() {
            if table.clustered_id == index {
                return show_row(table, key, into);
            }
            if let Some(secondary) = table.indexes().find(|known| known.id == index) {
                return show_entry(table, secondary, key, into);
            }
        }
    }
}

fn show_row(table: &Table, key: Option<&[u8]>, into: &mut String) {
    let name = table.name();
    let Some(key) = key else { return show_end("PRIMARY", name, into) };
    let shown = table.rows.try_get(key, |chain| match chain {
        Some(RowVersion { writer, row: Some(row), .. }) => {
            let many = table.columns().len();
            let _ = writeln!(
                into,
                "    record of PRIMARY of {name}, {many} columns, written by {}",
                writer.0
            );
            let values = table.layout().view_row(row).values();
            for (place, (column, value)) in table.columns().iter().zip(values).enumerate() {
                show_field(place, &column.name, value, into);
            }
        }
        Some(RowVersion { writer, row: None, .. }) => {
            let _ = writeln!(into, "    record of PRIMARY of {name}, deleted by {}", writer.0);
        }
        None => {
            let _ = writeln!(into, "    no record in PRIMARY of {name}");
        }
    });
    if shown.is_none() {
        let _ = writeln!(into, "    record of PRIMARY of {name}, latched by others");
    }
}

fn show_entry(table: &Table, index: &Secondary, key: Option<&[u8]>, into: &mut String) {
    let (name, of) = (&index.spec.name, table.name());
    let Some(mut rest) = key else { return show_end(name, of, into) };
    let _ = writeln!(into, "    record of {name} of {of}, {} columns", index.spec.columns.len());
    for (place, column) in table.key_columns(Some(index)).enumerate() {
        let column = &table.columns()[column];
        // Values alone are locked where the index is unique.
        let Some((value, length)) = key::pop(column.kind, rest) else { return };
        show_field(place, &column.name, value.datum(), into);
        rest = &rest[length..];
    }
}

fn show_end(index: &str, table: &str, into: &mut String) {
    let _ = writeln!(into, "    after the last record of {index} of {table}");
}

fn show_field(place: usize, name: &str, value: Datum<'_>, into: &mut String) {
    let number;
    let bytes: &[u8] = match value {
        Datum::Null => {
            let _ = writeln!(into, "     {place}: {name}; NULL");
            return;
        }
        Datum::Text(bytes) => bytes,
        Datum::Int(it) | Datum::Decimal(it) | Datum::Timestamp(it) => {
            number = it.to_be_bytes();
            &number
        }
    };
    let shown = &bytes[..bytes.len().min(FIELD_MOST)];
    let _ = write!(into, "     {place}: {name}; len {}; hex ", bytes.len());
    for byte in shown {
        let _ = write!(into, "{byte:02x}");
    }
    into.push_str("; asc ");
    let is_shown = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
    into.extend(shown.iter().map(|&byte| if is_shown(byte) { char::from(byte) } else { '.' }));
    into.push(';');
    if shown.len() < bytes.len() {
        let _ = write!(into, " the first {FIELD_MOST} bytes");
    }
    into.push('\n');
}
