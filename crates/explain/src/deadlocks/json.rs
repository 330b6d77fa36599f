//! Objects of JSON, of which only the texts are kept that have a name that is known here.
//!
//! A line of a log may be an object of any size; what nobody asks for is read past without being
//! kept, so that memory is that of the texts. A name that is known stands once in an object: of two
//! texts under one name nobody knows which was logged.

use std::collections::BTreeMap;
use std::fmt;

use dbdyno_json::{Wrong, stands_twice};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Names under which the text of a log is shipped, the most telling first.
const SHIPPED: [&str; 11] = [
    "log",
    "MESSAGE",
    "message",
    "msg",
    "line",
    "textPayload",
    "@message",
    "content",
    "event_message",
    "_raw",
    "Message",
];
/// Names of the time at which a line was written, the most exact first.
const TIMES: [&str; 9] = [
    "tsNs",
    "__REALTIME_TIMESTAMP",
    "timestamp",
    "@timestamp",
    "time",
    "ts",
    "date",
    "_SOURCE_REALTIME_TIMESTAMP",
    "_time",
];
/// Names of where a line comes from.
const SOURCES: [&str; 11] = [
    "pod",
    "pod_name",
    "container",
    "container_name",
    "container_id",
    "instance",
    "host",
    "hostname",
    "_PID",
    "database_id",
    "logStreamName",
];
/// Names in the records of servers: PostgreSQL's jsonlog, MySQL's.
const OF_SERVERS: [&str; 7] =
    ["error_severity", "state_code", "detail", "context", "statement", "err_code", "pid"];
/// Names in a field of a row, as CloudWatch's Insights have it.
const OF_FIELDS: [&str; 2] = ["field", "value"];
/// Objects in objects whose names are looked at.
const DEPTH_MOST: usize = 4;

/// The texts of an object by name, each with how deep it lies.
#[derive(Default)]
pub(super) struct Object {
    texts: BTreeMap<&'static str, (usize, String)>,
    /// Texts under other names that tell of a deadlock.
    telling: Vec<String>,
}

impl Object {
    /// The object with which a text begins, and its bytes.
    pub(super) fn read(text: &str) -> Option<(Object, usize)> {
        let ObjectReading { object, looked_at } = ObjectReading::from_text(text)?;
        Some((object.ok()?, looked_at))
    }

    /// What is told twice in the object with which a text begins, and where in the text.
    pub(super) fn told_twice(text: &str) -> Option<Wrong> {
        ObjectReading::from_text(text)?.told_twice()
    }

    /// A text by its name; empty where there is none.
    pub(super) fn text_field(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", |(_, text)| text)
    }

    pub(super) fn has_field(&self, name: &str) -> bool {
        self.texts.contains_key(name)
    }

    /// Texts that tell of a deadlock under names that are not known.
    pub(super) fn telling_texts(&self) -> &[String] {
        &self.telling
    }

    /// What was shipped: the outermost, and of those the most telling.
    pub(super) fn shipped_text(&self) -> Option<&str> {
        match self.text_field("field") {
            "@message" | "message" => Some(self.text_field("value")),
            _ => self.outermost(&SHIPPED),
        }
    }

    /// When it was written, as it stands.
    pub(super) fn time_text(&self) -> &str {
        match self.text_field("field") {
            "@timestamp" => self.text_field("value"),
            _ => self.outermost(&TIMES).unwrap_or_default(),
        }
    }

    /// Whether it is a line of a log, or a server's record of one.
    pub(super) fn is_of_a_log(&self) -> bool {
        self.shipped_text().is_some()
            || self.has_field("error_severity")
            || self.has_field("err_code")
            || self.is_other_field()
    }

    /// Where it comes from.
    pub(super) fn source_texts(&self) -> impl Iterator<Item = &str> {
        SOURCES.iter().filter_map(|name| self.texts.get(name)).map(|(_, text)| text.as_str())
    }

    /// Whether it is a field of a row, and not the one with the text.
    pub(super) fn is_other_field(&self) -> bool {
        self.text_field("field").starts_with('@')
            && self.has_field("value")
            && self.shipped_text().is_none()
    }

    /// Whether a name is one under which text is shipped, in any letter case.
    pub(super) fn is_shipped(name: &str) -> bool {
        SHIPPED.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// The same for the time.
    pub(super) fn is_time(name: &str) -> bool {
        TIMES.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    fn outermost<'a>(&'a self, names: &[&'static str]) -> Option<&'a str> {
        let found = names.iter().filter_map(|name| self.texts.get(name));
        found.min_by_key(|(depth, _)| *depth).map(|(_, text)| text.as_str())
    }

    fn keep(&mut self, name: Option<&'static str>, depth: usize, text: impl Into<String>) {
        let Some(name) = name else { return };
        if self.texts.get(name).is_none_or(|(known, _)| depth < *known) {
            self.texts.insert(name, (depth, text.into()));
        }
    }
}

/// What was read of an object that begins a text.
pub(super) struct ObjectReading {
    pub(super) object: Result<Object, serde_json::Error>,
    /// Bytes of the object, or those up to where it is none.
    pub(super) looked_at: usize,
}

impl ObjectReading {
    /// What is read where a text begins as an object does.
    pub(super) fn from_text(text: &str) -> Option<ObjectReading> {
        if !text.starts_with('{') {
            return None;
        }
        let mut object = Object::default();
        let mut reader = serde_json::Deserializer::from_str(text);
        let visitor = Node { name: None, depth: 0, into: &mut object };
        let read = (&mut reader).deserialize_any(visitor);
        let looked_at = reader.into_iter::<IgnoredAny>().byte_offset();
        Some(ObjectReading { object: read.map(|()| object), looked_at })
    }

    /// What is told twice in it.
    pub(super) fn told_twice(&self) -> Option<Wrong> {
        let error = self.object.as_ref().err().filter(|error| error.is_data())?;
        Some(Wrong::from_error(error))
    }
}

/// A value, and under which name it stands.
struct Node<'a> {
    name: Option<&'static str>,
    depth: usize,
    into: &'a mut Object,
}

/// Whether a text tells who took part in a deadlock.
fn tells_one(text: &str) -> bool {
    let is_told = text.contains("TRANSACTION:") && text.contains("RECORD LOCKS ");
    is_told || (text.contains("eadlock detected") && text.contains("blocked by process "))
}

fn known(name: &str) -> Option<&'static str> {
    let all = SHIPPED.iter().chain(&TIMES).chain(&SOURCES).chain(&OF_SERVERS).chain(&OF_FIELDS);
    all.copied().find(|known| *known == name)
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if self.name.is_none() && text.contains('\n') && tells_one(text) {
            self.into.telling.push(text.to_owned());
        }
        self.into.keep(self.name, self.depth, text);
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.into.keep(self.name, self.depth, number.to_string());
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.into.keep(self.name, self.depth, number.to_string());
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        while values.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        let mut told: Vec<&str> = Vec::new();
        while let Some(name) = values.next_key::<String>()? {
            if self.depth >= DEPTH_MOST {
                values.next_value::<IgnoredAny>()?;
                continue;
            }
            let known = known(&name);
            if known.is_some_and(|known| told.contains(&known)) {
                return Err(A::Error::custom(stands_twice(&name)));
            }
            told.extend(known);
            let node = Node { name: known, depth: self.depth + 1, into: self.into };
            values.next_value_seed(node)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts_are_kept_the_outermost_first() {
        let text = r#"{"labels":{"pod":"db-0","line":"x"},"line":"a\nb","n":[1,{"log":"y"}]} , {"#;
        let (object, length) = Object::read(text).unwrap();
        assert_eq!((object.shipped_text(), &text[length..]), (Some("a\nb"), " , {"));
        assert_eq!(object.source_texts().collect::<Vec<_>>(), ["db-0"]);
        assert!(Object::read("{\"a\": }").is_none());
        assert_eq!(Object::told_twice("{\"a\": }"), None);
        let twice =
            Object::told_twice("{\"log\": \"a\",\n \"x\": {\"ts\": 1, \"ts\": 1}}").unwrap();
        assert!(twice.to_string().starts_with("2:20: the name \"ts\" stands twice"), "{twice}");
        let apart = "{\"log\": \"a\", \"x\": {\"log\": \"b\"}, \"nobody\": 1, \"nobody\": 2}";
        assert_eq!(Object::read(apart).unwrap().0.shipped_text(), Some("a"));
        assert!(Object::read(&"{\"a\":".repeat(100_000)).is_none(), "nested too deep");
        let (object, _) = Object::read(r#"{"_source":{"message":"m","@timestamp":7}}"#).unwrap();
        assert_eq!((object.shipped_text(), object.time_text()), (Some("m"), "7"));
    }
}
