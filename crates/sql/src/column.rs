//! What is known of the columns of an answer before there is a row of it.

use dbdyno_engine::value::Kind;

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
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
    /// Points in time.
    Timestamp,
    /// Not known before there are values, as those of parameters.
    Any,
}

impl Column {
    /// A column of texts whose length is not known.
    pub(crate) fn of_text(name: &str) -> Column {
        Column { name: name.to_owned(), kind: ColumnKind::Any }
    }
}

impl From<Kind> for ColumnKind {
    fn from(kind: Kind) -> ColumnKind {
        match kind {
            Kind::Int { .. } => ColumnKind::Int,
            Kind::Decimal { scale, .. } => ColumnKind::Decimal(scale),
            Kind::Text { most } => ColumnKind::Text(most),
            Kind::Timestamp => ColumnKind::Timestamp,
        }
    }
}
