//! JSON in which a name stands once in an object.
//!
//! Of two values under one name a reader usually takes the last, and the other is gone without a
//! word: a figure that a script has written twice would be judged by half of what was measured.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A name that is told in a message has so many letters.
const LETTERS_TOLD: usize = 60;

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
        reader.deserialize_any(Values).map(Unique)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
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

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
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
            let Unique(value) = entries.next_value()?;
            all.insert(name, value);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
