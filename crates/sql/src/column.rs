//! What is known of the columns of an answer before there is a row of it.

use dbdyno_engine::table::{Table, Uniqueness};
use dbdyno_engine::value::{Value, ValueType};

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultColumn {
    /// Its name: the one that the statement gives it, or what is written there.
    pub name: String,
    /// What its values are.
    pub kind: ColumnKind,
    /// Whether no value of it is NULL, as far as that is known.
    pub is_required: bool,
    /// The column of a table whose values it has, where they are those of one.
    pub origin: Option<ColumnOrigin>,
}

/// A column of a table, as an answer tells where its values come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnOrigin {
    /// The table as the statement calls it.
    pub alias: String,
    /// The table, and the column of it.
    pub table: String,
    /// The column, as the table calls it.
    pub column: String,
    /// What it is among the keys of the table.
    pub key: KeyRole,
    /// Whether it is a column of any key.
    pub is_key_part: bool,
    /// Whether the table numbers its rows in it.
    pub counts_up: bool,
    /// Whether a row cannot be put in without a value for it.
    pub needs_value: bool,
}

/// What a column is among the keys of its table, as MySQL tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRole {
    /// None of these.
    None,
    /// One of the columns of the primary key.
    Primary,
    /// The one column of a key that is unique.
    Unique,
    /// The first column of a key whose values may repeat.
    First,
}

/// What the values of a column are; NULL may be among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Whole numbers of 1, 2, 3, 4 or 8 bytes. What is made of them may outgrow 64 bits: then there
    /// is no answer.
    Int {
        /// Bytes that each of them has room in.
        bytes: u8,
        /// Whether some of them are below 0.
        signed: bool,
    },
    /// Decimals.
    Decimal {
        /// About how many digits they have.
        digits: u8,
        /// About how many of these are behind the point.
        scale: u8,
    },
    /// Texts of at most so many characters.
    Text(u32),
    /// The same of a CHAR, which keeps no blanks at the end.
    Char(u32),
    /// Points in time, with so many digits behind the second.
    Timestamp(u8),
    /// Days.
    Date,
    /// Not known before there are values, as those of parameters.
    Any,
}

/// The most characters of a TEXT, a MEDIUMTEXT and a LONGTEXT; a VARCHAR of MySQL has fewer.
pub const TEXT_MOST: u32 = 1 << 16;
pub(crate) const MEDIUMTEXT_MOST: u32 = 1 << 24;
pub(crate) const LONGTEXT_MOST: u32 = u32::MAX / 4;

impl ResultColumn {
    /// A column whose values may be NULL and are those of no table.
    pub(crate) fn new(name: &str, kind: ColumnKind) -> ResultColumn {
        ResultColumn { name: name.to_owned(), kind, is_required: false, origin: None }
    }
}

impl ColumnOrigin {
    /// Where the values of a column come from, in a statement that calls its table so.
    pub(crate) fn of_table(table: &Table, alias: &str, place: usize) -> ColumnOrigin {
        let column = &table.columns()[place];
        let counts_up = table.auto_increment() == Some(place);
        ColumnOrigin {
            alias: alias.to_owned(),
            table: table.name().to_owned(),
            column: column.name.clone(),
            key: KeyRole::of_column(table, place),
            is_key_part: table.primary().contains(&place)
                || table.indexes().any(|index| index.spec.columns.contains(&place)),
            counts_up,
            needs_value: !column.nullable && column.default == Value::Null && !counts_up,
        }
    }
}

impl ColumnOrigin {
    /// The same in a copy of the rows, which has no keys.
    pub(crate) fn of_copy(&self) -> ColumnOrigin {
        ColumnOrigin {
            key: KeyRole::None,
            is_key_part: false,
            counts_up: false,
            needs_value: false,
            ..self.clone()
        }
    }
}

impl KeyRole {
    /// What a column is among the keys of its table.
    pub(crate) fn of_column(table: &Table, place: usize) -> KeyRole {
        if table.primary().contains(&place) {
            return KeyRole::Primary;
        }
        let mut indexes = table.indexes().map(|index| &index.spec);
        match indexes.find(|spec| spec.columns.first() == Some(&place)) {
            Some(spec) if spec.uniqueness == Uniqueness::Unique && spec.columns.len() == 1 => {
                KeyRole::Unique
            }
            Some(_) => KeyRole::First,
            None => KeyRole::None,
        }
    }
}

impl ColumnKind {
    /// Whole numbers of 64 bits.
    pub const BIGINT: ColumnKind = ColumnKind::Int { bytes: 8, signed: true };

    /// Whether its values are whole numbers.
    pub(crate) fn is_whole(self) -> bool {
        matches!(self, ColumnKind::Int { .. })
    }

    /// Decimals of which the digits behind the point are known alone: 128 bits have room for those
    /// before it.
    pub(crate) fn of_scale(scale: u8) -> ColumnKind {
        ColumnKind::Decimal { digits: 38, scale }
    }
}

impl From<ValueType> for ColumnKind {
    fn from(kind: ValueType) -> ColumnKind {
        match kind {
            ValueType::Int { bytes, signed } => ColumnKind::Int { bytes, signed },
            ValueType::Decimal { digits, scale } => ColumnKind::Decimal { digits, scale },
            ValueType::Text { most } => ColumnKind::Text(most),
            ValueType::Char { most } => ColumnKind::Char(most),
            ValueType::Timestamp { digits } => ColumnKind::Timestamp(digits),
            ValueType::Date => ColumnKind::Date,
        }
    }
}
