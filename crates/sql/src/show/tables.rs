//! Tables as MySQL's SHOW tells them: their columns, their indexes, the statement that makes them.
//!
//! Comments are not kept; all texts are UTF-8 and compare as bytes, blanks at the end with them.

use std::fmt::Write as _;
use std::sync::Arc;

use dbdyno_engine::table::{Table, Uniqueness};
use dbdyno_engine::value::{Value, ValueType};

use crate::column::{KeyRole, MEDIUMTEXT_MOST, ResultColumn, TEXT_MOST};
use crate::expr::matches_pattern;
use crate::operand::Operand;
use crate::parse::Detail;
use crate::run::Sink;

/// In which texts are told to compare.
const COLLATION: &str = "utf8mb4_0900_bin";

/// Columns of SHOW COLUMNS.
pub(super) fn column_headings(detail: Detail) -> &'static [&'static str] {
    match detail {
        Detail::Usual => &["Field", "Type", "Null", "Key", "Default", "Extra"],
        Detail::Full => &[
            "Field",
            "Type",
            "Collation",
            "Null",
            "Key",
            "Default",
            "Extra",
            "Privileges",
            "Comment",
        ],
    }
}

/// Columns of SHOW INDEX.
pub(super) const INDEX_HEADINGS: [&str; 15] = [
    "Table",
    "Non_unique",
    "Key_name",
    "Seq_in_index",
    "Column_name",
    "Collation",
    "Cardinality",
    "Sub_part",
    "Packed",
    "Null",
    "Index_type",
    "Comment",
    "Index_comment",
    "Visible",
    "Expression",
];

/// Tells the columns of a table whose names are of a form; how many.
pub(super) fn emit_columns(
    table: &Table,
    detail: Detail,
    form: &Option<Vec<u8>>,
    columns: &Arc<[ResultColumn]>,
    sink: &mut dyn Sink,
) -> u64 {
    sink.begin_rows(columns);
    let mut count = 0;
    for (place, column) in table.columns().iter().enumerate() {
        if !has_form(form, &column.name) {
            continue;
        }
        let nullable = if column.nullable { "YES" } else { "NO" };
        let default = match &column.default {
            Value::Null => Operand::Null,
            other => crate::expr::of_datum(other.datum(), column.kind),
        };
        let extra = if table.auto_increment() == Some(place) { "auto_increment" } else { "" };
        put_text(sink, &column.name);
        put_text(sink, &type_of(column.kind));
        if detail == Detail::Full {
            match column.kind {
                kind if kind.is_text() => put_text(sink, COLLATION),
                _ => sink.value(&Operand::Null),
            }
        }
        put_text(sink, nullable);
        put_text(sink, key_of(table, place));
        sink.value(&default);
        put_text(sink, extra);
        if detail == Detail::Full {
            put_text(sink, "select,insert,update,references");
            put_text(sink, "");
        }
        let _ = sink.end_row();
        count += 1;
    }
    count
}

/// Tells the indexes of a table, a row for each of their columns; how many rows.
pub(super) fn emit_indexes(
    table: &Table,
    columns: &Arc<[ResultColumn]>,
    sink: &mut dyn Sink,
) -> u64 {
    sink.begin_rows(columns);
    let mut count = 0;
    for (name, key, is_unique) in keys(table) {
        for (number, &place) in key.iter().enumerate() {
            let column = &table.columns()[place];
            put_text(sink, table.name());
            sink.value(&Operand::Int(i64::from(!is_unique)));
            put_text(sink, name);
            sink.value(&Operand::Int(number as i64 + 1));
            put_text(sink, &column.name);
            put_text(sink, "A");
            // Cardinality, parts of columns, compression: there are no statistics and none of the
            // others.
            (0..3).for_each(|_| sink.value(&Operand::Null));
            put_text(sink, if column.nullable { "YES" } else { "" });
            ["BTREE", "", "", "YES"].into_iter().for_each(|text| put_text(sink, text));
            sink.value(&Operand::Null);
            let _ = sink.end_row();
            count += 1;
        }
    }
    count
}

/// The statement that makes a table like this one.
pub(super) fn statement_of(table: &Table) -> String {
    let mut parts: Vec<String> =
        (0..table.columns().len()).map(|place| definition_of(table, place)).collect();
    for (name, key, is_unique) in keys(table) {
        let names: Vec<String> =
            key.iter().map(|&place| quoted(&table.columns()[place].name)).collect();
        let names = names.join(",");
        parts.push(match (name, is_unique) {
            (PRIMARY, _) => format!("  PRIMARY KEY ({names})"),
            (name, true) => format!("  UNIQUE KEY {} ({names})", quoted(name)),
            (name, false) => format!("  KEY {} ({names})", quoted(name)),
        });
    }
    let (name, parts) = (quoted(table.name()), parts.join(",\n"));
    format!(
        "CREATE TABLE {name} (\n{parts}\n) ENGINE=dbdyno DEFAULT CHARSET=utf8mb4 \
         COLLATE={COLLATION}"
    )
}

fn definition_of(table: &Table, place: usize) -> String {
    let column = &table.columns()[place];
    let mut text = format!("  {} {}", quoted(&column.name), type_of(column.kind));
    if !column.nullable {
        text.push_str(" NOT NULL");
    }
    let default = match &column.default {
        Value::Null => None,
        other => Some(crate::expr::of_datum(other.datum(), column.kind)),
    };
    // Writing into memory does not fail.
    let _ = match default {
        _ if table.auto_increment() == Some(place) => write!(text, " AUTO_INCREMENT"),
        Some(default) => write!(text, " DEFAULT {}", literal(&default)),
        None if column.nullable => write!(text, " DEFAULT NULL"),
        None => Ok(()),
    };
    text
}

fn literal(value: &Operand<'_>) -> String {
    let text = value.to_string();
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// What MySQL calls the primary key.
const PRIMARY: &str = "PRIMARY";

/// The keys of a table: name, columns, and whether two rows may not have the same values.
fn keys(table: &Table) -> Vec<(&str, &[usize], bool)> {
    let primary = (!table.primary().is_empty()).then(|| (PRIMARY, table.primary(), true));
    let others = table.indexes().map(|index| {
        let spec = &index.spec;
        (&*spec.name, &*spec.columns, spec.uniqueness == Uniqueness::Unique)
    });
    primary.into_iter().chain(others).collect()
}

/// What a column is among the keys, as MySQL tells it.
fn key_of(table: &Table, place: usize) -> &'static str {
    match KeyRole::of_column(table, place) {
        KeyRole::Primary => "PRI",
        KeyRole::Unique => "UNI",
        KeyRole::First => "MUL",
        KeyRole::None => "",
    }
}

/// Whether a name is of a form, if one is given: small and capital letters are the same.
pub(super) fn has_form(form: &Option<Vec<u8>>, name: &str) -> bool {
    form.as_ref().is_none_or(|form| {
        matches_pattern(name.to_ascii_lowercase().as_bytes(), &form.to_ascii_lowercase())
    })
}

fn put_text(sink: &mut dyn Sink, text: &str) {
    sink.value(&Operand::of_text(text.as_bytes()));
}

/// A type as MySQL shows it.
fn type_of(kind: ValueType) -> String {
    match kind {
        ValueType::Int { bytes, signed } => {
            let name = match bytes {
                1 => "tinyint",
                2 => "smallint",
                3 => "mediumint",
                4 => "int",
                _ => "bigint",
            };
            format!("{name}{}", if signed { "" } else { " unsigned" })
        }
        ValueType::Decimal { digits, scale } => format!("decimal({digits},{scale})"),
        ValueType::Char { most } => format!("char({most})"),
        ValueType::Text { most } if most < TEXT_MOST => format!("varchar({most})"),
        ValueType::Text { most: TEXT_MOST } => "text".to_owned(),
        ValueType::Text { most } if most <= MEDIUMTEXT_MOST => "mediumtext".to_owned(),
        ValueType::Text { .. } => "longtext".to_owned(),
        ValueType::Timestamp { digits: 0 } => "datetime".to_owned(),
        ValueType::Timestamp { digits } => format!("datetime({digits})"),
        ValueType::Date => "date".to_owned(),
    }
}
