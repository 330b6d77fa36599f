//! JSON in which a name stands once in an object.
//!
//! Of two values under one name a reader usually takes the last, and the other is gone without a
//! word: a figure that a script has written twice would be judged by half of what was measured.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::budget::{MemoryBudget, TEXT_MEMORY};

/// A name that is told in a message has so many letters.
const LETTERS_TOLD: usize = 60;

/// Bytes that an object takes for so many entries: a node of its tree, which may be half empty.
const NODE_MEMORY: usize = 640;
const NODE_ENTRIES: usize = 6;
/// Bytes that an item of an array takes in a vector that doubles.
const ITEM_MEMORY: usize = 48;
/// What is said of a name that stands twice in an object.
pub fn stands_twice(name: &str) -> String {
    let told: String = name.chars().take(LETTERS_TOLD).collect();
    format!(
        "the name {told:?} stands twice in one object, and only one of its values can be meant; \
         rename one"
    )
}

/// A value of JSON; to read one with a name that stands twice is an error.
#[derive(Clone, Debug, PartialEq)]
pub struct Unique(pub Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Unique, D::Error> {
        Values(&MemoryBudget::default()).deserialize(reader).map(Unique)
    }
}

/// Reads values whose memory is counted together.
#[derive(Clone, Copy)]
struct Values<'a>(&'a MemoryBudget);

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, is: bool) -> Result<Value, E> {
        Ok(Value::Bool(is))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        self.0.take_bytes(TEXT_MEMORY + text.len())?;
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            self.0.take_bytes(ITEM_MEMORY)?;
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if all.contains_key(&name) {
                return Err(Error::custom(stands_twice(&name)));
            }
            let node = if all.len().is_multiple_of(NODE_ENTRIES) { NODE_MEMORY } else { 0 };
            self.0.take_bytes(node + TEXT_MEMORY + name.len())?;
            let value = entries.next_value_seed(self)?;
            all.insert(name, value);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixteen megabytes of objects in objects took 1.7 gigabytes.
    #[test]
    fn a_value_has_a_limit_of_memory() {
        let deep = format!("{}1{}", "{\"a\":".repeat(50), "}".repeat(50));
        let many = |count: usize| format!("[{}]", vec![deep.as_str(); count].join(","));
        assert!(serde_json::from_str::<Unique>(&many(1_000)).is_ok());
        let error = serde_json::from_str::<Unique>(&many(20_000)).err().unwrap().to_string();
        assert!(error.contains("takes more than 512 MiB of memory"), "{error}");
        let rows = vec![r#"{"date": "2026-11-29", "tps": 100}"#; 100_000].join(",");
        assert!(serde_json::from_str::<Unique>(&format!("[{rows}]")).is_ok());
    }

    #[test]
    fn values_are_those_of_any_reader_and_names_stand_once() {
        let text = r#"{"a": [1, -2, 2.5, "x", null, true], "b": {"a": {}},
                       "c": 18446744073709551615}"#;
        let Unique(read) = serde_json::from_str(text).unwrap();
        assert_eq!(read, serde_json::from_str::<Value>(text).unwrap());
        for (text, line, column) in
            [("{\"a\": 1,\n \"a\": 1}", 2, 4), ("[{\"b\": {\"a\": 1, \"c\": 2, \"a\": 3}}]", 1, 27)]
        {
            let error = serde_json::from_str::<Unique>(text).err().unwrap();
            assert!(error.to_string().contains("\"a\" stands twice"), "{error}");
            assert_eq!((error.line(), error.column()), (line, column), "{text}");
        }
    }
}
