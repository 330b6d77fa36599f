//! What generators give: the values of parameters and of columns.
//!
//! ```text
//!   Generator<usize> ──┐
//!   Scope (samplers) ──┼── value ──▶ Value            characters go to the end of a buffer
//!   Memory (last id) ──┘
//! ```
//!
//! The same code makes the parameters of an event and the rows of a custom load's own tables. It
//! allocates nothing once the buffer has grown.

use dbdyno_model::Dialect;
use dbdyno_model::random::RandomStream;

use crate::calendar;
use crate::draw::Sampler;
use crate::formula::Number;
use crate::generator::Generator;
use crate::statement::CallValue;
use crate::text;

/// Values that an event can remember under names.
pub(crate) const KEPT_MOST: usize = 16;
/// Numbers that `{seq}` can give within one event.
pub(crate) const SEQUENCE_MOST: usize = 31;

/// From where ids are drawn.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    /// Rows of the table of `{id}` and `{k}`.
    pub rows: u64,
    /// Draws `{id}`.
    pub ids: Sampler,
    /// Draw `{id of TABLE}`, by number of the table.
    pub others: Vec<Sampler>,
    /// What `{bits N}` is.
    pub bits: Bits,
}

/// What `{bits N}` is to those who take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bits {
    /// A number: MySQL compares a BIT column with one, and SQLite has no such columns.
    Number,
    /// The characters 0 and 1: PostgreSQL takes nothing else, and rows of tables are text.
    Characters,
}

impl Bits {
    /// What it is as a parameter.
    pub(crate) fn for_dialect(dialect: Dialect) -> Bits {
        match dialect {
            Dialect::Postgres => Bits::Characters,
            Dialect::Mysql | Dialect::Engine | Dialect::Sqlite | Dialect::Rocksdb => Bits::Number,
        }
    }
}

/// What generators refer back to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    pub id: i64,
    pub k: i64,
    /// Client and operation whose own numbers `{seq}` gives.
    turn: (u32, u64),
    /// How many of them it has given.
    sequence: i64,
    pub row: i64,
    pub kept: [CallValue; KEPT_MOST],
}

impl Memory {
    /// What making a row remembers: its number.
    pub(crate) fn of_row(row: i64) -> Memory {
        Memory { row, ..Memory::default() }
    }

    /// Forgets everything, values under `kept` names among it, for an operation of a client.
    #[inline]
    pub(crate) fn begin_operation(&mut self, client: u32, operation: u64, kept: usize) {
        (self.turn, self.sequence) = ((client, operation), 0);
        self.forget_row();
        self.kept[..kept].fill(CallValue::Null);
    }

    /// Forgets the last id and the last k.
    #[inline]
    pub(crate) fn forget_row(&mut self) {
        (self.id, self.k) = (0, 0);
    }

    fn last_in_sequence(&self) -> CallValue {
        let (client, operation) = self.turn;
        CallValue::Int(sequence(client, operation) + self.sequence)
    }
}

/// What `{seq}` counts from in an operation: no other operation of any client, pair, cell or phase
/// of a plan gets the same numbers, and later ones get greater ones.
///
/// ```text
///   operation   phase 62,61   cell 50…58   pair 32…45   second half 31   within the round 0…21
///   number      phase + 1 │ cell, 9 bits │ pair, 14 │ half │ within, 22 │ client, 10 │ place, 5
/// ```
///
/// See `lab::driver` for the numbers of operations. Beyond these limits (16 384 pairs, 4 million
/// operations of one client in one round, 1 024 clients) numbers come again.
fn sequence(client: u32, operation: u64) -> i64 {
    let bits = |from: u32, count: u32| (operation >> from) & ((1 << count) - 1);
    let mut number = bits(61, 2).min(2) + 1;
    for (part, width) in [(bits(50, 9), 9), (bits(32, 14), 14), (bits(31, 1), 1), (bits(0, 22), 22)]
    {
        number = (number << width) | part;
    }
    (((number << 10) | u64::from(client & 0x3ff)) << 5) as i64
}

impl Scope {
    /// The next value of a generator; its characters, if it has any, are appended to `buffer`.
    #[inline]
    pub(crate) fn value(
        &self,
        generator: &Generator<usize>,
        memory: &mut Memory,
        random: &mut RandomStream,
        buffer: &mut Vec<u8>,
    ) -> CallValue {
        match generator {
            Generator::Id => {
                memory.id = self.ids.draw(random) as i64;
                CallValue::Int(memory.id)
            }
            Generator::IdOf(table) => {
                memory.id = self.others[*table].draw(random) as i64;
                CallValue::Int(memory.id)
            }
            Generator::LastIdPlus(distance) => CallValue::Int(memory.id.wrapping_add(*distance)),
            Generator::HotId(distance) => CallValue::Int((self.rows / 2) as i64 + distance),
            Generator::K => {
                memory.k = 1 + random.next_below(self.rows) as i64;
                CallValue::Int(memory.k)
            }
            Generator::LastKPlus(distance) => CallValue::Int(memory.k.wrapping_add(*distance)),
            Generator::Int(low, high) => CallValue::Int(between(*low, *high, random)),
            Generator::Const(number) => CallValue::Int(*number),
            Generator::Sequence => {
                memory.sequence += 1;
                memory.last_in_sequence()
            }
            Generator::LastSequence => memory.last_in_sequence(),
            Generator::Row => CallValue::Int(memory.row),
            Generator::Null(share, inner) => {
                if random.next_below(10_000) < u64::from(*share) {
                    return CallValue::Null;
                }
                self.value(inner, memory, random, buffer)
            }
            Generator::Keep(place, inner) => {
                let value = self.value(inner, memory, random, buffer);
                memory.kept[*place] = value;
                value
            }
            Generator::Kept(place) => memory.kept[*place],
            Generator::Bits(low, high) if self.bits == Bits::Number => {
                let count = between(i64::from(*low), i64::from(*high), random);
                CallValue::Int(random_bits(random, count) as i64)
            }
            Generator::Computed(formula) => {
                match formula.value(memory.row, &|place| number(memory.kept[*place], buffer)) {
                    None => CallValue::Null,
                    Some(number) => match number.as_integer() {
                        Some(number) => CallValue::Int(number),
                        None => pushed(buffer, |buffer| number.push(buffer)),
                    },
                }
            }
            Generator::Joined(parts) => {
                let start = buffer.len();
                for part in parts {
                    self.push_part(part, memory, random, buffer);
                }
                let length = (buffer.len() - start) as u32;
                CallValue::Text { start: start as u32, length }
            }
            characters => pushed(buffer, |buffer| push_characters(characters, random, buffer)),
        }
    }
}

impl Scope {
    /// Appends the characters of a part of a text.
    fn push_part(
        &self,
        part: &Generator<usize>,
        memory: &mut Memory,
        random: &mut RandomStream,
        buffer: &mut Vec<u8>,
    ) {
        if let Generator::Bits(low, high) = part {
            return push_bits(buffer, *low, *high, random);
        }
        let end = buffer.len();
        match self.value(part, memory, random, buffer) {
            CallValue::Null => {}
            CallValue::Int(number) => text::push_signed(buffer, number),
            // What was remembered lies further in front; what is new has been appended.
            CallValue::Text { start, length } if (start as usize) < end => {
                buffer.extend_from_within(start as usize..(start + length) as usize);
            }
            CallValue::Text { .. } => {}
        }
    }
}

/// A value as a number that can be computed with; `None` for NULL.
fn number(value: CallValue, buffer: &[u8]) -> Option<Number> {
    match value {
        CallValue::Null => None,
        CallValue::Int(number) => Some(Number { units: i128::from(number), decimals: 0 }),
        CallValue::Text { start, length } => {
            let text = &buffer[start as usize..(start + length) as usize];
            let number = Number::read(text);
            assert!(number.is_some(), "only numbers are computed with, as was checked");
            number
        }
    }
}

fn random_bits(random: &mut RandomStream, count: i64) -> u64 {
    random.next_u64() >> (i64::from(u64::BITS) - count)
}

fn push_bits(buffer: &mut Vec<u8>, low: u32, high: u32, random: &mut RandomStream) {
    let count = between(i64::from(low), i64::from(high), random);
    let bits = random_bits(random, count);
    buffer.extend((0..count).rev().map(|place| b'0' + (bits >> place & 1) as u8));
}

/// Those generators whose values are characters.
fn push_characters(generator: &Generator<usize>, random: &mut RandomStream, buffer: &mut Vec<u8>) {
    match generator {
        Generator::C => text::push_groups(buffer, random, text::C_GROUPS),
        Generator::Pad => text::push_groups(buffer, random, text::PAD_GROUPS),
        Generator::Digits(count) => text::push_digits(buffer, random, *count as usize),
        Generator::Decimal(low, high, decimals) => {
            text::push_decimal(buffer, between(*low, *high, random), *decimals);
        }
        Generator::Date(low, high) => calendar::push_day(buffer, between(*low, *high, random)),
        Generator::DateTime(low, high) => {
            calendar::push_second(buffer, between(*low, *high, random));
        }
        Generator::Letters(low, high) => {
            let count = between(i64::from(*low), i64::from(*high), random);
            text::push_letters(buffer, random, count as usize);
        }
        Generator::Twice(count) => text::push_twice(buffer, random, *count as usize),
        Generator::OneOf(texts) => {
            let chosen = &texts[random.next_below(texts.len() as u64) as usize];
            buffer.extend_from_slice(chosen.as_bytes());
        }
        Generator::Uuid => text::push_uuid(buffer, random),
        Generator::Bits(low, high) => push_bits(buffer, *low, *high, random),
        Generator::Literal(text) => buffer.extend_from_slice(text.as_bytes()),
        others => unreachable!("{others:?} gives no characters"),
    }
}

fn between(low: i64, high: i64, random: &mut RandomStream) -> i64 {
    let span = high.abs_diff(low).saturating_add(1);
    low.wrapping_add(random.next_below(span) as i64)
}

fn pushed(buffer: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) -> CallValue {
    let start = buffer.len() as u32;
    push(buffer);
    CallValue::Text { start, length: buffer.len() as u32 - start }
}
