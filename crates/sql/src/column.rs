//! What is known of the columns of an answer before there is a row of it.

use dbdyno_engine::value::ValueType;

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultColumn {
    /// Its name: the one that the statement gives it, or what is written there.
    pub name: String,
    /// What its values are.
    pub kind: ColumnKind,
}

/// What the values of a column are; NULL may be among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Whole numbers. What is made of them may outgrow 64 bits; then it is a decimal.
    Int,
    /// Decimals, and about how many digits they have behind the point.
    Decimal(u8),
    /// Texts of at most so many characters.
    Text(u32),
    /// Points in time, with so many digits behind the second.
    Timestamp(u8),
    /// Days.
    Date,
    /// Not known before there are values, as those of parameters.
    Any,
}

impl ResultColumn {
    /// A column of texts whose length is not known.
    pub(crate) fn of_text(name: &str) -> ResultColumn {
        ResultColumn { name: name.to_owned(), kind: ColumnKind::Any }
    }
}

impl From<ValueType> for ColumnKind {
    fn from(kind: ValueType) -> ColumnKind {
        match kind {
            ValueType::Int { .. } => ColumnKind::Int,
            ValueType::Decimal { scale, .. } => ColumnKind::Decimal(scale),
            ValueType::Text { most } => ColumnKind::Text(most),
            ValueType::Timestamp { digits } => ColumnKind::Timestamp(digits),
            ValueType::Date => ColumnKind::Date,
        }
    }
}
