//! Answers of stores of logs: a document of JSON with the lines of a log in it.
//!
//! ```text
//!   {"took": 3, "hits": {"hits": [{"_source": {"message": …}}, …      Elasticsearch, OpenSearch
//!   {"events": [{"timestamp": …, "message": …}, …                     CloudWatch
//!   {"results": [[{"field": "@message", "value": …}, …], …            CloudWatch's Insights
//!   {"data": [{"attributes": {"message": …}}, …                       Datadog
//!   {"data": {"result": [{"stream": {…}, "values": [["ns", "line"],   Loki
//! ```
//!
//! Most have an array of objects, which are read as those of any array. Loki parts lines by their
//! labels, of which one may be the level: what one server has written stands in several streams,
//! each the newest first as a rule. So its lines are put in order by their times.

use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, SeqAccess, Visitor};

use super::carried::Source;
use super::json::{Object, ObjectReading};
use crate::beginning::text_beginning;

/// Names of arrays of objects that have the lines.
const ARRAYS: [&str; 8] = [
    "\"hits\"",
    "\"events\"",
    "\"logEvents\"",
    "\"data\"",
    "\"entries\"",
    "\"records\"",
    "\"result\"",
    "\"results\"",
];
/// Bytes in which the array begins, of a document that has a line for each bracket.
const HEAD_BYTES: usize = 4_000;
/// Bytes that are looked at for objects and pairs within each other, as a multiple of those of the
/// text: where many begin and none of them ends, each would be read to the end of the text.
pub(super) const LOOKS_MOST: usize = 4;

/// Where the objects begin in an answer with which a text begins. Takes the bytes off `left` that
/// are looked at where it may be one.
pub(super) fn objects_start(text: &str, left: &mut usize) -> Option<usize> {
    let line = text.split('\n').next().unwrap_or_default();
    let head = match line.trim() {
        "{" => text_beginning(text, HEAD_BYTES),
        _ => line,
    };
    let begun =
        |name: &str| head.match_indices(name).find_map(|(at, name)| objects(text, at + name.len()));
    let at = ARRAYS.iter().filter_map(|name| begun(name)).min()?;
    // A line of a log may have a list in it.
    let read = ObjectReading::from_text(text)?;
    *left = left.saturating_sub(read.looked_at.max(head.len()));
    let is_shipped = read.object.is_ok_and(|object| object.shipped_text().is_some());
    (!is_shipped).then_some(at)
}

/// Where the first object begins of the array behind a name.
fn objects(text: &str, behind_name: usize) -> Option<usize> {
    let rest = text[behind_name..].trim_start().strip_prefix(':')?;
    let rest = rest.trim_start().strip_prefix('[')?.trim_start();
    // Rows of CloudWatch's Insights are lists of fields.
    let rest = rest.strip_prefix('[').map_or(rest, str::trim_start);
    rest.starts_with('{').then_some(text.len() - rest.len())
}

/// A line of one of Loki's streams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LokiLine<'t> {
    /// Nanoseconds since 1970.
    pub(super) ns: u64,
    /// Where it stands in the text, from 1.
    pub(super) number: usize,
    pub(super) source: Source,
    /// The pair as it stands.
    pair: &'t str,
}

impl LokiLine<'_> {
    /// What was written.
    pub(super) fn log_line(&self) -> String {
        pair(self.pair).map_or_else(|_| String::new(), |(pair, _)| pair.line)
    }
}

/// The lines of answers of Loki, the oldest first; nothing where it is none.
pub(super) fn loki_lines(text: &str) -> Vec<LokiLine<'_>> {
    if !text.trim_start().starts_with('{') {
        return Vec::new();
    }
    let (mut all, mut passed, mut number) = (Vec::new(), 0, 1);
    let mut left = LOOKS_MOST * text.len();
    while let Some(found) = text[passed..].find("\"values\"") {
        let (begin, behind) = (passed, passed + found + "\"values\"".len());
        number += count_lines(&text[begin..behind]);
        passed = behind;
        let Some(mut at) = pairs(text, behind) else { continue };
        let source = source(&text[begin..behind]);
        let first = all.len();
        loop {
            let (ns, length) = match pair(&text[at..]) {
                Ok((Pair { ns, .. }, length)) => (ns, length),
                Err(looked_at) if looked_at > left => return Vec::new(),
                Err(looked_at) => {
                    left -= looked_at;
                    break;
                }
            };
            number += count_lines(&text[passed..at]);
            all.push(LokiLine { ns, number, source, pair: &text[at..at + length] });
            number += count_lines(&text[at..at + length]);
            passed = at + length;
            let rest = text[passed..].trim_start();
            at = text.len() - rest.strip_prefix(',').map_or(rest, str::trim_start).len();
        }
        // Lines of one moment stand in the order of their stream.
        if all.get(first).zip(all.last()).is_some_and(|(first, last)| first.ns > last.ns) {
            all[first..].reverse();
        }
    }
    all.sort_by_key(|line| line.ns);
    all
}

/// Where the first pair begins of the array behind a name.
fn pairs(text: &str, behind_name: usize) -> Option<usize> {
    let rest = text[behind_name..].trim_start().strip_prefix(':')?;
    let rest = rest.trim_start().strip_prefix('[')?.trim_start();
    rest.starts_with('[').then_some(text.len() - rest.len())
}

/// The text from the first labels of streams on in which a name stands twice.
pub(super) fn labels_twice(text: &str) -> Option<&str> {
    let (mut left, mut begin) = (LOOKS_MOST * text.len(), None);
    for (at, _) in text.match_indices("\"stream\"") {
        // Several names may stand before the same labels.
        if begin.is_some_and(|begin| at < begin) {
            continue;
        }
        let labels = &text[at + text[at..].find('{')?..];
        let read = ObjectReading::from_text(labels)?;
        if read.told_twice().is_some() {
            return Some(labels);
        }
        left = left.checked_sub(read.looked_at)?;
        begin = Some(text.len() - labels.len());
    }
    None
}

/// Where a stream comes from, by the last labels of a text.
fn source(text: &str) -> Source {
    let labels = text.rfind("\"stream\"").and_then(|at| Some(at + text[at..].find('{')?));
    let labels = labels.and_then(|at| Object::read(&text[at..]));
    labels.map_or(Source::default(), |(labels, _)| {
        labels.source_texts().fold(Source::default(), Source::child_named)
    })
}

fn count_lines(text: &str) -> usize {
    text.bytes().filter(|b| *b == b'\n').count()
}

/// `["1767225600000000000", "ERROR:  deadlock detected"]`, and what newer releases put behind it.
struct Pair {
    ns: u64,
    line: String,
}

/// The pair with which a text begins, and its bytes; where there is none, how many were looked at.
fn pair(text: &str) -> Result<(Pair, usize), usize> {
    if !text.starts_with('[') {
        return Err(0);
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let pair = (&mut reader).deserialize_seq(Pairs);
    let looked_at = reader.into_iter::<IgnoredAny>().byte_offset();
    pair.map(|pair| (pair, looked_at)).map_err(|_| looked_at)
}

struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Pair;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time in nanoseconds, and a line")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Pair, A::Error> {
        let missing = || serde::de::Error::custom("a time and a line are needed");
        let ns: String = values.next_element()?.ok_or_else(missing)?;
        let ns = ns.parse().map_err(serde::de::Error::custom)?;
        let line = values.next_element()?.ok_or_else(missing)?;
        while values.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Pair { ns, line })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_their_array() {
        for (text, first) in [
            (r#"{"took":3,"hits":{"total":{"value":1},"hits":[{"_id":"a"}]}}"#, r#"{"_id""#),
            ("{\n \"events\" : [\n  {\"message\": 1}]}", "{\"message\""),
            (r#"{"data":[{"attributes":{}}]}"#, r#"{"attributes""#),
            (r#"{"results": [ [ {"field":"@message"}]]}"#, r#"{"field""#),
        ] {
            let at = objects_start(text, &mut 0).unwrap();
            assert!(text[at..].starts_with(first), "{text}");
        }
        for none in [
            r#"{"log":"a","events":[{"message":"b"}]}"#,
            r#"{"log":"\"hits\":[{"}"#,
            r#"{"hits":{"hits":[]}}"#,
            "{}\n{\"events\":[{}]}",
        ] {
            assert_eq!(objects_start(none, &mut 0), None, "{none}");
        }
    }

    /// Each would be read to the end of the text.
    #[test]
    fn pairs_and_labels_that_never_end_are_given_up() {
        let pairs = "{\"values\":[[\"1\",\"x\",\n".repeat(20_000);
        assert_eq!(loki_lines(&pairs), []);
        for labels in ["{\"stream\":{\"a\":[\n", "\"stream\""] {
            assert_eq!(labels_twice(&(labels.repeat(20_000) + "{\"a\":[")), None);
        }
        let twice = "\"stream\":{\"a\":[\n".repeat(2) + "\"stream\":{\"pod\":1,\"pod\":1}";
        assert!(labels_twice(&twice).is_some());
    }

    /// One server's lines in two streams, each the newest first.
    #[test]
    fn streams_are_put_in_order() {
        let text = "{\"data\":{\"result\":[{\"stream\":{\"level\":\"a\",\"pod\":\"p\"},\"values\":\
                    [[\"30\",\"c\\nc\"],\n[\"10\",\"a\",{\"x\":[1]}]]},{\"stream\":{\"pod\":\"p\"},\
                    \"values\":[[\"20\",\"b2\"],[\"20\",\"b1\"],[\"5\",\"0\"]]}],\"values\":1}}\n";
        let all = loki_lines(text);
        let told: Vec<_> = all.iter().map(|one| (one.ns, one.number, one.log_line())).collect();
        let line = |ns, number, line: &str| (ns, number, line.to_owned());
        let expected = [line(5, 2, "0"), line(10, 2, "a"), line(20, 2, "b1"), line(20, 2, "b2")];
        assert_eq!(told[..4], expected);
        assert_eq!(told[4], line(30, 1, "c\nc"));
        assert!(all.iter().all(|one| one.source == all[0].source && one.source.is_told()));
        for none in ["", "[]", "{\"values\":[1]}", "{\"values\":[[1,2]]}", "\"values\":[[\"1\""] {
            assert_eq!(loki_lines(none), [], "{none}");
        }
    }
}
