//! A table with signs: laid out once, and drawn by text, Markdown and HTML. Colour only repeats the
//! mark.

use dbdyno_document::number;

/// What a cell of a sheet says by its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tint {
    /// Nothing.
    None,
    /// Among the lowest, or short of its target.
    Red,
    /// Among the highest.
    Green,
    /// Not comparable.
    Grey,
    /// Lower than the base by more than 5 %.
    Yellow,
    /// Higher than the base by more than 5 %.
    Blue,
}

impl Tint {
    /// The sign that says the same.
    pub(crate) fn mark(self) -> &'static str {
        match self {
            Tint::None => "",
            Tint::Red => "▼",
            Tint::Green => "▲",
            Tint::Grey => "∅",
            Tint::Yellow => "−",
            Tint::Blue => "+",
        }
    }
}

/// A number in a sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SheetCell {
    pub(crate) text: String,
    pub(crate) tint: Tint,
}

impl SheetCell {
    pub(crate) fn plain(value: Option<f64>) -> SheetCell {
        SheetCell { text: shown(value), tint: Tint::None }
    }

    /// Number and sign.
    pub(crate) fn marked(&self) -> String {
        format!("{} {}", self.text, self.tint.mark()).trim_end().to_owned()
    }
}

/// A table with a title.
pub(crate) struct Sheet {
    pub(crate) title: String,
    /// The titles of the columns after the first.
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<(String, Vec<SheetCell>)>,
    /// What its signs mean.
    pub(crate) aside: String,
}

pub(crate) fn shown(value: Option<f64>) -> String {
    match value {
        None => number::UNKNOWN.to_owned(),
        Some(value) if value.abs() >= 100.0 => number::fixed(value, 0),
        Some(value) => number::three_digits(value),
    }
}
