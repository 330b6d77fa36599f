//! Keys: bytes whose order is the order of the values.
//!
//! ```text
//!   NULL        00
//!   number ≥ 0  80+n  n bytes, big end first         0 → 80   5 → 81 05   300 → 82 01 2c
//!   number < 0  7f-n  n bytes of the complement     -1 → 7f  -2 → 7e fe
//!   text        02    bytes, 00 written as 00 ff, then 00 00
//!
//!   (w_id 3, d_id 7, o_id 2101)  →  81 03 81 07 82 08 35
//! ```
//!
//! No encoding of a value begins with that of another, so keys of several columns are put together
//! one after the other, and all keys that agree in their first columns begin with the same bytes.
//! Numbers take as many bytes as they need: then the first eight bytes, which a node of an index
//! keeps side by side, tell most keys of several columns apart (FoundationDB's tuple layer writes
//! numbers so).

use std::cmp::Ordering;
use std::fmt;

use crate::value::{Datum, Value, ValueType};

/// Bytes of a key that are kept in place.
const INLINE: usize = 22;

/// A key. Short ones lie in place, longer ones on the heap.
#[derive(Clone)]
pub struct Key(Bytes);

#[derive(Clone)]
enum Bytes {
    Inline(u8, [u8; INLINE]),
    Heap(Box<[u8]>),
}

impl Key {
    /// The key of these bytes.
    #[inline]
    pub fn new(bytes: &[u8]) -> Key {
        if bytes.len() <= INLINE {
            let mut place = [0; INLINE];
            place[..bytes.len()].copy_from_slice(bytes);
            Key(Bytes::Inline(bytes.len() as u8, place))
        } else {
            Key(Bytes::Heap(bytes.into()))
        }
    }

    /// Its bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Bytes::Inline(length, place) => &place[..usize::from(*length)],
            Bytes::Heap(bytes) => bytes,
        }
    }

    /// Bytes that it takes beside its own place.
    pub fn heap_bytes(&self) -> usize {
        match &self.0 {
            Bytes::Inline(..) => 0,
            Bytes::Heap(bytes) => bytes.len(),
        }
    }
}

impl Default for Key {
    fn default() -> Key {
        Key::new(&[])
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> Ordering {
        self.bytes().cmp(other.bytes())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The first eight bytes as a number, with zeros for what is missing: orders like the bytes but
/// where it is equal.
#[inline]
pub(crate) fn head_number(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let mut first = [0; 8];
            first[..bytes.len()].copy_from_slice(bytes);
            u64::from_be_bytes(first)
        }
    }
}

/// Appends what stands for a value.
#[inline]
pub fn push(key: &mut Vec<u8>, value: Datum<'_>) {
    match value {
        Datum::Null => key.push(NULL),
        Datum::Int(number) | Datum::Decimal(number) | Datum::Timestamp(number) => {
            push_number(key, number);
        }
        Datum::Text(bytes) => push_text(key, bytes),
    }
}

/// Takes the value of a column off the front of a key: the value, and how many bytes it took.
/// `None` for bytes that no column of this kind was written as.
pub fn pop(kind: ValueType, key: &[u8]) -> Option<(Value, usize)> {
    let length = first_value_length(key)?;
    let value = match key[0] {
        NULL => Value::Null,
        TEXT => Value::Text(text_of(&key[1..length - 2])),
        first => kind.of_number(number_of(first, &key[1..length])).to_value(),
    };
    Some((value, length))
}

/// How many bytes the first value of a key takes.
#[inline]
pub(crate) fn first_value_length(key: &[u8]) -> Option<usize> {
    let length = match *key.first()? {
        NULL => 1,
        TEXT => {
            let mut at = 1;
            loop {
                let zero = key[at..].iter().position(|&byte| byte == 0)? + at;
                if *key.get(zero + 1)? == 0 {
                    break zero + 2;
                }
                at = zero + 2;
            }
        }
        first if first >= ZERO => 1 + usize::from(first - ZERO),
        first => 1 + usize::from((ZERO - 1).checked_sub(first)?),
    };
    (length <= key.len()).then_some(length)
}

/// How many bytes the first values of a key take.
#[inline]
pub(crate) fn skip_many(key: &[u8], values: usize) -> Option<usize> {
    (0..values).try_fold(0, |at, _| Some(at + first_value_length(&key[at..])?))
}

/// Turns bytes into the least ones that are above everything that begins with them. Bytes for
/// which there are none, those of `ff` alone, become nothing.
pub(crate) fn after_all(prefix: &mut Vec<u8>) {
    while let Some(last) = prefix.pop() {
        if last < u8::MAX {
            prefix.push(last + 1);
            return;
        }
    }
}

const NULL: u8 = 0x00;
const TEXT: u8 = 0x02;
const ZERO: u8 = 0x80;

#[inline]
fn push_number(key: &mut Vec<u8>, number: i64) {
    // The complement of a negative number has as few bytes as it is near to zero.
    let flipped = if number < 0 { !number } else { number } as u64;
    let bytes = (u64::BITS - flipped.leading_zeros()).div_ceil(8) as u8;
    let first = if number < 0 { ZERO - 1 - bytes } else { ZERO + bytes };
    let all = (number as u64).to_be_bytes();
    key.push(first);
    key.extend_from_slice(&all[8 - usize::from(bytes)..]);
}

fn number_of(first: u8, rest: &[u8]) -> i64 {
    let fill = if first < ZERO { u8::MAX } else { 0 };
    let mut all = [fill; 8];
    let start = 8 - rest.len().min(8);
    all[start..].copy_from_slice(&rest[..8 - start]);
    i64::from_be_bytes(all)
}

fn push_text(key: &mut Vec<u8>, bytes: &[u8]) {
    key.push(TEXT);
    for piece in bytes.split_inclusive(|&byte| byte == 0) {
        key.extend_from_slice(piece);
        if piece.last() == Some(&0) {
            key.push(u8::MAX);
        }
    }
    key.extend_from_slice(&[0, 0]);
}

fn text_of(escaped: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(zero) = rest.iter().position(|&byte| byte == 0) {
        text.extend_from_slice(&rest[..=zero]);
        rest = &rest[(zero + 2).min(rest.len())..];
    }
    text.extend_from_slice(rest);
    text
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn number() -> impl Strategy<Value = i64> {
        prop_oneof![
            any::<i64>(),
            -300..300_i64,
            (0..63_u32, -1..=1_i64).prop_map(|(bit, by)| (1_i64 << bit) + by),
            (0..63_u32, -1..=1_i64).prop_map(|(bit, by)| -(1_i64 << bit) + by),
            Just(i64::MIN),
            Just(i64::MAX),
        ]
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        vec(prop_oneof![Just(0), Just(1), Just(2), Just(254), Just(255), any::<u8>()], 0..6)
    }

    /// Rows of a number, a text and a timestamp, each of which may be NULL.
    fn values() -> impl Strategy<Value = Vec<Value>> {
        let null = |some: BoxedStrategy<Value>| prop_oneof![1 => Just(Value::Null), 4 => some];
        (
            null(number().prop_map(Value::Int).boxed()),
            null(text().prop_map(Value::Text).boxed()),
            null(number().prop_map(Value::Timestamp).boxed()),
        )
            .prop_map(|(a, b, c)| vec![a, b, c])
    }

    fn encode(values: &[Value]) -> Vec<u8> {
        let mut key = Vec::new();
        values.iter().for_each(|value| push(&mut key, value.datum()));
        key
    }

    const KINDS: [ValueType; 3] =
        [ValueType::BIGINT, ValueType::Text { most: 99 }, ValueType::TIMESTAMP];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn keys_are_ordered_as_their_values(a in values(), b in values()) {
            prop_assert_eq!(encode(&a).cmp(&encode(&b)), a.cmp(&b));
            prop_assert_eq!(Key::new(&encode(&a)).cmp(&Key::new(&encode(&b))), a.cmp(&b));
            let heads = head_number(&encode(&a)).cmp(&head_number(&encode(&b)));
            prop_assert!(heads == Ordering::Equal || heads == a.cmp(&b));
        }

        #[test]
        fn a_key_gives_its_values_back(a in values()) {
            let key = encode(&a);
            let mut at = 0;
            for (kind, value) in KINDS.iter().zip(&a) {
                let (found, length) = pop(*kind, &key[at..]).unwrap();
                prop_assert_eq!(&found, value);
                prop_assert_eq!(first_value_length(&key[at..]), Some(length));
                at += length;
            }
            prop_assert_eq!(at, key.len());
            prop_assert_eq!(skip_many(&key, 3), Some(at));
        }

        #[test]
        fn what_begins_alike_lies_together(a in values(), b in values(), columns in 1..3_usize) {
            let mut end = encode(&a[..columns]);
            let begin = end.clone();
            after_all(&mut end);
            let inside = begin <= encode(&b) && encode(&b) < end;
            prop_assert_eq!(inside, a[..columns] == b[..columns]);
        }

        #[test]
        fn bytes_that_are_no_key_are_refused(bytes in vec(any::<u8>(), 0..12)) {
            if let Some((_, length)) = pop(ValueType::BIGINT, &bytes) {
                prop_assert!(length <= bytes.len());
            }
        }
    }

    #[test]
    fn small_numbers_take_few_bytes() {
        let key = encode(&[Value::Int(3), Value::Int(7), Value::Int(2101)]);
        assert_eq!(key, [0x81, 3, 0x81, 7, 0x82, 0x08, 0x35]);
        assert_eq!(
            encode(&[Value::Int(0), Value::Int(-1), Value::Int(-2)]),
            [0x80, 0x7f, 0x7e, 0xfe]
        );
        assert_eq!(size_of::<Key>(), 24);
    }
}
