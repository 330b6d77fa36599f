//! How one value is made, as data.
//!
//! ```text
//!   text ── template ──▶ Generator<Arc<str>> ── bind ──▶ Generator<usize> ── generate ──▶ Value
//!                         names as written               places of tables and of values
//! ```

use std::sync::Arc;

use crate::formula::Formula;

/// How one parameter is made. Names are texts in a template and numbers where it has been bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Generator<N = Arc<str>> {
    /// An id as the load draws them.
    Id,
    /// An id of this table.
    IdOf(N),
    /// The id drawn last, plus a number.
    LastIdPlus(i64),
    /// The id that lies this far after the middle of the table.
    HotId(i64),
    /// Uniform value of the indexed column.
    K,
    /// The k drawn last, plus a number.
    LastKPlus(i64),
    /// Characters for column `c`.
    C,
    /// Characters for column `pad`.
    Pad,
    /// A uniform number between two others, both included.
    Int(i64, i64),
    /// The same in units of `10^-decimals`.
    Decimal(i64, i64, u8),
    /// A day between two others, counted from 1970-01-01.
    Date(i64, i64),
    /// A second between two others, counted from 1970-01-01.
    DateTime(i64, i64),
    /// This many random digits.
    Digits(u32),
    /// From so many to so many random letters.
    Letters(u32, u32),
    /// This many characters that can be compressed to half of them.
    Twice(u32),
    /// From so many to so many random bits.
    Bits(u32, u32),
    /// One of these texts.
    OneOf(Arc<[String]>),
    /// A random UUID.
    Uuid,
    /// Always this number.
    Const(i64),
    /// A number of its own for each operation of each client.
    Sequence,
    /// The number before.
    LastSequence,
    /// The number of the row that is being made.
    Row,
    /// NULL in so many of ten thousand cases.
    Null(u32, Box<Generator<N>>),
    /// Remembered under a name.
    Keep(N, Box<Generator<N>>),
    /// What was remembered.
    Kept(N),
    /// What is computed of what was remembered.
    Computed(Box<Formula<N>>),
    /// These characters.
    Literal(Arc<str>),
    /// The characters of all of these, one after another.
    Joined(Vec<Generator<N>>),
}

/// What a name in a generator names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneratorName {
    /// A table.
    Table,
    /// A value that is remembered from here on.
    NewValue,
    /// A remembered value.
    Value,
}

impl<N> Generator<N> {
    /// How many bytes its values have at most, as far as that matters: of a remembered one as many
    /// as the largest that there is.
    pub(crate) fn bytes_most(&self) -> u64 {
        const SMALL: u64 = 64;
        /// Letters and digits that one generator makes.
        const LARGE: u64 = 60_000;
        match self {
            Generator::Digits(count) | Generator::Letters(_, count) | Generator::Twice(count) => {
                u64::from(*count)
            }
            Generator::Kept(_) => LARGE,
            Generator::Null(_, inner) | Generator::Keep(_, inner) => inner.bytes_most(),
            Generator::Literal(text) => text.len() as u64,
            Generator::OneOf(texts) => texts.iter().map(String::len).max().unwrap_or(0) as u64,
            Generator::Joined(parts) => parts.iter().map(Generator::bytes_most).sum(),
            _ => SMALL,
        }
    }

    /// The same generator with other names.
    ///
    /// # Errors
    /// Those of `bind`.
    pub fn bind<M, E>(
        &self,
        bind: &mut impl FnMut(GeneratorName, &N) -> Result<M, E>,
    ) -> Result<Generator<M>, E> {
        Ok(match self {
            Generator::IdOf(name) => Generator::IdOf(bind(GeneratorName::Table, name)?),
            Generator::Kept(name) => Generator::Kept(bind(GeneratorName::Value, name)?),
            Generator::Null(share, inner) => Generator::Null(*share, Box::new(inner.bind(bind)?)),
            Generator::Keep(name, inner) => {
                let inner = Box::new(inner.bind(bind)?);
                Generator::Keep(bind(GeneratorName::NewValue, name)?, inner)
            }
            Generator::Computed(formula) => {
                let formula = formula.bind(&mut |name| bind(GeneratorName::Value, name))?;
                Generator::Computed(Box::new(formula))
            }
            Generator::Joined(parts) => Generator::Joined(
                parts.iter().map(|part| part.bind(bind)).collect::<Result<_, _>>()?,
            ),
            Generator::Id => Generator::Id,
            Generator::LastIdPlus(distance) => Generator::LastIdPlus(*distance),
            Generator::HotId(distance) => Generator::HotId(*distance),
            Generator::K => Generator::K,
            Generator::LastKPlus(distance) => Generator::LastKPlus(*distance),
            Generator::C => Generator::C,
            Generator::Pad => Generator::Pad,
            Generator::Int(low, high) => Generator::Int(*low, *high),
            Generator::Decimal(low, high, decimals) => Generator::Decimal(*low, *high, *decimals),
            Generator::Date(low, high) => Generator::Date(*low, *high),
            Generator::DateTime(low, high) => Generator::DateTime(*low, *high),
            Generator::Digits(count) => Generator::Digits(*count),
            Generator::Letters(low, high) => Generator::Letters(*low, *high),
            Generator::Twice(count) => Generator::Twice(*count),
            Generator::Bits(low, high) => Generator::Bits(*low, *high),
            Generator::OneOf(texts) => Generator::OneOf(Arc::clone(texts)),
            Generator::Uuid => Generator::Uuid,
            Generator::Const(number) => Generator::Const(*number),
            Generator::Sequence => Generator::Sequence,
            Generator::LastSequence => Generator::LastSequence,
            Generator::Row => Generator::Row,
            Generator::Literal(text) => Generator::Literal(Arc::clone(text)),
        })
    }
}
