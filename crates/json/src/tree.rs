//! JSON as it is written: fields have their order, and a name may stand twice in one object.
//!
//! Servers write such documents of themselves: optimizers tell their steps in the order of fields,
//! and MariaDB has each table of a join under the same name. A server may be hostile, so that what
//! its answer may take has the limit of files of strangers.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::budget::{MemoryBudget, TEXT_MEMORY};

/// For how many items a vector has room at first.
const FIRST_ITEMS: usize = 4;

/// A document of a server.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonTree {
    /// `null`.
    Nothing,
    /// `true` or `false`.
    Bool(bool),
    /// Any number; whole ones above 2^53 are rounded.
    Number(f64),
    /// A text.
    Text(String),
    /// An array.
    List(Vec<JsonTree>),
    /// An object, in its order.
    Fields(Vec<(String, JsonTree)>),
}

impl JsonTree {
    /// The first field of this name.
    pub fn get(&self, name: &str) -> Option<&JsonTree> {
        let JsonTree::Fields(fields) = self else { return None };
        fields.iter().find(|(known, _)| known == name).map(|(_, node)| node)
    }

    /// The text that it is.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            JsonTree::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The first field of this name, if it is a text.
    pub fn text_field(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_text()
    }

    /// The first field of the first of these names that is there, if it is a number.
    pub fn number_field(&self, names: &[&str]) -> Option<f64> {
        names.iter().find_map(|name| match self.get(name)? {
            JsonTree::Number(number) => Some(*number),
            _ => None,
        })
    }

    /// The first field of this name, if it is true or false.
    pub fn bool_field(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            JsonTree::Bool(is) => Some(*is),
            _ => None,
        }
    }

    /// The first field of this name, if it is an array of texts.
    pub fn text_list(&self, name: &str) -> Option<Vec<&str>> {
        let JsonTree::List(list) = self.get(name)? else { return None };
        list.iter().map(JsonTree::as_text).collect()
    }

    /// What it consists of: the items of an array, the values of an object.
    pub fn children(&self) -> Box<dyn Iterator<Item = &JsonTree> + '_> {
        match self {
            JsonTree::List(items) => Box::new(items.iter()),
            JsonTree::Fields(fields) => Box::new(fields.iter().map(|(_, value)| value)),
            _ => Box::new(std::iter::empty()),
        }
    }
}

impl<'de> Deserialize<'de> for JsonTree {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<JsonTree, D::Error> {
        Nodes(&MemoryBudget::default()).deserialize(reader)
    }
}

/// Reads nodes whose memory is counted together.
#[derive(Clone, Copy)]
struct Nodes<'a>(&'a MemoryBudget);

impl Nodes<'_> {
    /// Takes what one more item needs behind those of a vector, which doubles when it is full.
    fn take_item<T, E: Error>(self, others: &[T]) -> Result<(), E> {
        let items = match others.len() {
            0 => FIRST_ITEMS,
            few if few < FIRST_ITEMS => 0,
            _ => 2,
        };
        self.0.take_bytes(items * size_of::<T>())
    }
}

impl<'de> DeserializeSeed<'de> for Nodes<'_> {
    type Value = JsonTree;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<JsonTree, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Nodes<'_> {
    type Value = JsonTree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<JsonTree, E> {
        Ok(JsonTree::Nothing)
    }

    fn visit_bool<E>(self, is: bool) -> Result<JsonTree, E> {
        Ok(JsonTree::Bool(is))
    }

    fn visit_i64<E>(self, number: i64) -> Result<JsonTree, E> {
        Ok(JsonTree::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<JsonTree, E> {
        Ok(JsonTree::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<JsonTree, E> {
        Ok(JsonTree::Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<JsonTree, E> {
        self.0.take_bytes(TEXT_MEMORY + text.len())?;
        Ok(JsonTree::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<JsonTree, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            self.take_item(&all)?;
            all.push(item);
        }
        Ok(JsonTree::List(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<JsonTree, A::Error> {
        let mut all = Vec::new();
        while let Some(name) = entries.next_key::<String>()? {
            self.take_item(&all)?;
            self.0.take_bytes(TEXT_MEMORY + name.len())?;
            all.push((name, entries.next_value_seed(self)?));
        }
        Ok(JsonTree::Fields(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_tree;

    #[test]
    fn fields_keep_their_order_and_their_names() {
        let read =
            parse_tree(r#"{"b": [1, -2.5, null, true], "a": {"x": "y"}, "b": "again"}"#).unwrap();
        let JsonTree::Fields(fields) = &read else { panic!("{read:?}") };
        let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["b", "a", "b"]);
        assert_eq!(read.get("a").and_then(|inner| inner.text_field("x")), Some("y"));
        assert_eq!(read.children().count(), 3);
        let list = read.get("b").unwrap().children().cloned().collect::<Vec<_>>();
        let (one, less) = (JsonTree::Number(1.0), JsonTree::Number(-2.5));
        assert_eq!(list, [one, less, JsonTree::Nothing, JsonTree::Bool(true)]);
    }

    /// As `serde_json::Value` the fifteen megabytes of objects in objects take 1.6 gigabytes.
    #[test]
    fn an_answer_has_a_limit_of_memory_and_of_depth() {
        let deep = format!("{}1{}", "{\"a\":".repeat(50), "}".repeat(50));
        let many = |count: usize| format!("[{}]", vec![deep.as_str(); count].join(","));
        assert!(parse_tree(&many(1_000)).is_ok());
        let error = parse_tree(&many(50_000)).unwrap_err();
        assert!(error.what.contains("takes more than 512 MiB of memory"), "{error}");
        let error = parse_tree(&"[".repeat(1_000_000)).unwrap_err();
        assert!(error.what.contains("recursion limit"), "{error}");
    }
}
