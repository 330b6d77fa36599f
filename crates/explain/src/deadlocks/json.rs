//! Objects of JSON, of which only the texts are kept that have a name that is known here, or that
//! speak of a deadlock.
//!
//! A line of a log may be an object of any size; what nobody asks for is read past without being
//! kept, so that memory is that of the texts. A name that is known stands once in an object: of two
//! texts under one name nobody knows which was logged.

use std::collections::BTreeMap;
use std::fmt;

use dbdyno_json::{Wrong, stands_twice};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::announcement::{has_client_error, is_deadlock_announcement, mentions_deadlock};

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
/// Names of statements, in which anything may stand.
const QUOTING: [&str; 4] = ["statement", "query", "sql", "db.statement"];
/// Texts of an object that each of them is held against: an object of nothing else takes no time
/// that grows with its square.
const HELD_AGAINST_MOST: usize = 16;
/// Objects in objects whose names are looked at.
const DEPTH_MOST: usize = 4;

/// The texts of an object by name, each with how deep it lies.
#[derive(Default)]
pub(super) struct Object {
    texts: BTreeMap<&'static str, (usize, String)>,
    /// Texts that speak of a deadlock, under any name, in their order.
    spoken: Vec<SpokenText>,
}

/// A text that speaks of a deadlock.
struct SpokenText {
    text: String,
    place: TextPlace,
}

/// Where a text stands in an object.
#[derive(Clone, Copy, PartialEq)]
enum TextPlace {
    /// It has a name of its own.
    Named,
    /// It is in a list, as what a search has found of another text may be.
    Listed,
}

impl Object {
    /// The object with which a text begins, and its bytes.
    pub(super) fn read(text: &str) -> Option<(Object, usize)> {
        let ObjectReading { object, looked_at } = ObjectReading::from_text(text)?;
        Some((object.ok()?, looked_at))
    }

    /// What is there of an object that was cut off, if it is of a log or speaks of a deadlock; a
    /// whole one with something behind it is none.
    pub(super) fn read_cut(text: &str) -> Option<Object> {
        if ObjectReading::from_text(text)?.object.is_ok() {
            return None;
        }
        let closed = closed_json(text);
        let mut object = Object::default();
        let mut reader = serde_json::Deserializer::from_str(&closed);
        let place = TextPlace::Named;
        let visitor = Node { name: None, is_quoting: false, depth: 0, place, into: &mut object };
        let is_doubtful = reader.deserialize_any(visitor).is_err_and(|error| error.is_data());
        let is_told = object.is_of_a_log() || object.speaks_of_one();
        (!is_doubtful && is_told).then_some(object)
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

    /// The texts that have to be read: what was shipped and, of all that speaks of a deadlock, what
    /// tells it, each once, behind one text that announces it.
    pub(super) fn texts_to_read(&self) -> Vec<&str> {
        let shipped = self.shipped_text();
        let (spoken, silent) = match shipped {
            Some(text) if may_speak(text) => (Some(text), None),
            silent => (None, silent),
        };
        let named: Vec<&str> =
            spoken.into_iter().chain(self.spoken_texts(TextPlace::Named)).collect();
        let all =
            if named.is_empty() { self.spoken_texts(TextPlace::Listed).collect() } else { named };
        let (telling, others): (Vec<&str>, Vec<&str>) =
            all.into_iter().partition(|text| tells_one(text));
        let telling = without_repeats(telling);
        let is_announced = telling.iter().any(|text| text.lines().any(mentions_deadlock));
        let announcement = others.into_iter().rev().max_by_key(|text| announcement_rank(text));
        let announcement = announcement.filter(|_| !is_announced);
        silent.into_iter().chain(announcement).chain(telling).collect()
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

    fn spoken_texts(&self, place: TextPlace) -> impl Iterator<Item = &str> {
        let texts = self.spoken.iter().filter(move |one| one.place == place);
        texts.map(|one| one.text.as_str())
    }

    /// Whether it has a text that speaks of a deadlock.
    pub(super) fn speaks_of_one(&self) -> bool {
        !self.spoken.is_empty()
    }

    /// Whether a deadlock of PostgreSQL is mentioned in it, and not in the words in which a server
    /// announces it: details that would follow may have been cut off.
    pub(super) fn only_mentions_one(&self) -> bool {
        let words = ["40P01", "deadlock detected"];
        let texts: Vec<&str> = self.spoken.iter().map(|one| one.text.as_str()).collect();
        let mut lines = texts.iter().flat_map(|text| text.lines());
        !self.has_field("error_severity")
            && texts.iter().any(|text| words.iter().any(|words| text.contains(words)))
            && !texts
                .iter()
                .any(|text| has_client_error(text) || text.contains("; blocked by process"))
            && !texts.iter().any(|text| text.contains("ransactions deadlock"))
            && !lines.any(|line| is_deadlock_announcement(line.trim_end()))
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
        let place = TextPlace::Named;
        let visitor = Node { name: None, is_quoting: false, depth: 0, place, into: &mut object };
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

/// JSON that was cut off, with the end that it lacks: of the text that is open, and of all lists
/// and objects.
pub(super) fn closed_json(text: &str) -> String {
    let (mut open, mut is_in_text) = (Vec::new(), false);
    let mut bytes = text.bytes().enumerate();
    let mut end = text.len();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => is_in_text = !is_in_text,
            b'\\' if is_in_text => {
                // An escape that was cut through: `\`, `\u00`.
                let is_unicode = text.as_bytes().get(at + 1) == Some(&b'u');
                if text.len() < at + if is_unicode { 6 } else { 2 } {
                    end = at;
                    break;
                }
                bytes.next();
            }
            b'{' if !is_in_text => open.push('}'),
            b'[' if !is_in_text => open.push(']'),
            b'}' | b']' if !is_in_text => drop(open.pop()),
            _ => {}
        }
    }
    let mut closed = text[..end].to_owned();
    if is_in_text {
        closed.push('"');
    }
    closed.extend(open.into_iter().rev());
    closed
}

/// A value, and under which name it stands.
struct Node<'a> {
    name: Option<&'static str>,
    /// Whether a statement stands under its name.
    is_quoting: bool,
    depth: usize,
    place: TextPlace,
    into: &'a mut Object,
}

/// Whether a text is of JSON, of which some may have been cut off: nothing was wrapped there, and
/// no line has words before it.
pub(super) fn is_of_json(text: &str) -> bool {
    if text.lines().any(|line| is_log_object(line.trim())) {
        return true;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let mut filled = text.lines().map(str::trim).filter(|line| !line.is_empty());
    text.trim_start().starts_with(['{', '['])
        && (filled.all(|line| line.starts_with(['{', '}', '[', ']', '"', ',']))
            || values.all(|value| value.is_ok()))
}

/// Whether a line is a whole object of a log.
fn is_log_object(line: &str) -> bool {
    let read = Object::read(line).filter(|(_, length)| *length == line.len());
    read.is_some_and(|(object, _)| object.is_of_a_log())
}

/// Whether a text tells who took part in a deadlock, in the words of InnoDB, or of PostgreSQL in
/// any language: a mode of lock in a sentence of two clauses.
fn tells_one(text: &str) -> bool {
    let is_told = text.contains("TRANSACTION:") && text.contains("RECORD LOCKS ");
    let clauses = [';', '；', '、', '，'];
    let has_mode = text.contains("ShareLock") || text.contains("ExclusiveLock");
    is_told || has_mode && text.contains(clauses)
}

/// Whether a text may speak of a deadlock.
fn may_speak(text: &str) -> bool {
    has_client_error(text) || tells_one(text) || text.lines().any(mentions_deadlock)
}

/// How much a text says that announces a deadlock: a reader of logs knows a server's words again.
fn announcement_rank(text: &str) -> u8 {
    if text.lines().any(|line| is_deadlock_announcement(line.trim_end())) {
        2
    } else {
        u8::from(has_client_error(text))
    }
}

/// Texts without those that stand in another one, whatever blanks and marks are between words.
fn without_repeats(texts: Vec<&str>) -> Vec<&str> {
    let mut kept: Vec<(&str, String)> = Vec::new();
    for text in texts {
        let own = letters_and_digits(text);
        let from = kept.len().saturating_sub(HELD_AGAINST_MOST);
        if !kept[from..].iter().any(|(_, known)| known.contains(&own)) {
            let latest = kept.split_off(from);
            kept.extend(latest.into_iter().filter(|(_, known)| !own.contains(known.as_str())));
            kept.push((text, own));
        }
    }
    kept.into_iter().map(|(text, _)| text).collect()
}

/// What is left of a text without blanks and marks, also where it was written with their escapes.
fn letters_and_digits(text: &str) -> String {
    let text = text.replace("\\n", " ").replace("\\t", " ");
    text.chars().filter(|c| c.is_alphanumeric()).collect()
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
        if !self.is_quoting && may_speak(text) {
            self.into.spoken.push(SpokenText { text: text.to_owned(), place: self.place });
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
        if self.depth >= DEPTH_MOST {
            while values.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        let (depth, is_quoting) = (self.depth + 1, self.is_quoting);
        let place = TextPlace::Listed;
        loop {
            let node = Node { name: None, is_quoting, depth, place, into: self.into };
            if values.next_element_seed(node)?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut values: A) -> Result<(), A::Error> {
        let mut told: Vec<&str> = Vec::new();
        while let Some(name) = values.next_key::<String>()? {
            if self.depth >= DEPTH_MOST {
                values.next_value::<IgnoredAny>()?;
                continue;
            }
            // Of what is in a list nothing is asked but whether it speaks of a deadlock.
            let known = known(&name).filter(|_| self.place == TextPlace::Named);
            if known.is_some_and(|known| told.contains(&known)) {
                return Err(A::Error::custom(stands_twice(&name)));
            }
            told.extend(known);
            let is_quoting = QUOTING.contains(&name.as_str());
            let (depth, place) = (self.depth + 1, self.place);
            let node = Node { name: known, is_quoting, depth, place, into: self.into };
            values.next_value_seed(node)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_off_is_closed() {
        for (cut, closed) in [
            (r#"{"a": [{"b": "x"#, r#"{"a": [{"b": "x"}]}"#),
            (r#"{"a": "x\"#, r#"{"a": "x"}"#),
            (r#"{"a": "x\u00"#, r#"{"a": "x"}"#),
            (r#"{"a": "\\"#, r#"{"a": "\\"}"#),
            (r#"["1","}{"#, r#"["1","}{"]"#),
            ("{}", "{}"),
        ] {
            assert_eq!(closed_json(cut), closed);
        }
        let whole = r#"{"pid": 7, "error_severity": "ERROR", "x": {"detail": "ab"}}"#;
        for length in 38..whole.len() {
            let object = Object::read_cut(&whole[..length]).unwrap();
            assert_eq!(object.text_field("error_severity"), "ERROR", "{length}");
        }
        assert!(Object::read_cut(&whole[..20]).is_none());
        assert!(Object::read_cut(r#"{"log": "a", "log": "b"#).is_none());
        assert!(Object::read_cut(r#"{"log": "a"} {"log": "b"#).is_none());
    }

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
