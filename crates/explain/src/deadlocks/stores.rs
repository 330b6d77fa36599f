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

use dbdyno_json::Wrong;
use serde::de::{Deserializer as _, IgnoredAny, SeqAccess, Visitor};
use serde_json::Value;

use super::carried::Source;
use super::json::{Object, ObjectReading, closed_json};
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
    /// The pair as it stands, or the beginning of one with which the text ends.
    pair: &'t str,
}

impl LokiLine<'_> {
    /// What was written.
    pub(super) fn log_line(&self) -> String {
        let whole = pair(self.pair).ok().map(|(pair, _)| pair);
        whole.or_else(|| cut_pair(self.pair)).map_or_else(String::new, |pair| pair.line)
    }
}

/// What answers of Loki have.
#[derive(Debug, Default)]
pub(super) struct LokiReading<'t> {
    /// The oldest first; nothing where a text is no answer of Loki.
    pub(super) lines: Vec<LokiLine<'t>>,
    /// The first place where something else stands in the array of a stream. Lines may be missing
    /// there, of which nothing is known.
    pub(super) wrong: Option<Wrong>,
}

impl<'t> LokiReading<'t> {
    /// What is read of a text. One that was cut off within a pair is read up to there, and the line
    /// in which it ends as far as it goes.
    pub(super) fn from_text(text: &'t str) -> LokiReading<'t> {
        let mut all = LokiReading::default();
        if !text.trim_start().starts_with('{') {
            return all;
        }
        let (mut passed, mut number) = (0, 1);
        let mut left = LOOKS_MOST * text.len();
        while let Some(found) = text[passed..].find("\"values\"") {
            let (begin, behind) = (passed, passed + found + "\"values\"".len());
            number += count_lines(&text[begin..behind]);
            passed = behind;
            let Some(mut at) = pairs(text, behind) else { continue };
            let source = source(&text[begin..behind]);
            let first = all.lines.len();
            while !text[at..].starts_with(']') {
                let (ns, length) = match pair(&text[at..]) {
                    Ok((Pair { ns, .. }, length)) => (ns, length),
                    Err(no_pair) => {
                        let Some(rest) = left.checked_sub(no_pair.looked_at) else {
                            return LokiReading::default();
                        };
                        left = rest;
                        let (cut, number) = (&text[at..], number + count_lines(&text[passed..at]));
                        let read = cut_pair(cut).filter(|_| no_pair.wrong.is_none());
                        let line =
                            read.map(|Pair { ns, .. }| LokiLine { ns, number, source, pair: cut });
                        all.lines.extend(line);
                        all.note_wrong(&text[..at], no_pair);
                        break;
                    }
                };
                number += count_lines(&text[passed..at]);
                let pair = &text[at..at + length];
                all.lines.push(LokiLine { ns, number, source, pair });
                number += count_lines(pair);
                passed = at + length;
                let rest = text[passed..].trim_start();
                at = text.len() - rest.strip_prefix(',').map_or(rest, str::trim_start).len();
            }
            all.put_in_order(first);
        }
        all.lines.sort_by_key(|line| line.ns);
        all
    }

    /// Turns the lines of a stream around that is the newest first, of which this is the first one.
    /// Lines of one moment stand in the order of their stream.
    fn put_in_order(&mut self, first: usize) {
        let lines = &mut self.lines[first..];
        if lines.first().zip(lines.last()).is_some_and(|(first, last)| first.ns > last.ns) {
            lines.reverse();
        }
    }

    /// Notes what stands behind this text where a pair of a stream is expected.
    fn note_wrong(&mut self, before: &str, no_pair: NoPair) {
        let Some(wrong) = no_pair.wrong.filter(|_| self.wrong.is_none()) else { return };
        let passed = before.rsplit('\n').next().map_or(0, str::len);
        let column = wrong.column + if wrong.line == 1 { passed } else { 0 };
        self.wrong = Some(Wrong { line: wrong.line + count_lines(before), column, ..wrong });
    }
}

/// Where the array behind a name has its first pair, if it has any.
fn pairs(text: &str, behind_name: usize) -> Option<usize> {
    let rest = text[behind_name..].trim_start().strip_prefix(':')?;
    let rest = rest.trim_start().strip_prefix('[')?.trim_start();
    Some(text.len() - rest.len())
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

/// `["1767225600000000000", "ERROR:  deadlock detected"]`, and the labels of a line that newer
/// releases put behind it.
struct Pair {
    ns: u64,
    line: String,
}

/// What stands where a pair is expected.
struct NoPair {
    /// Bytes up to where it is none.
    looked_at: usize,
    /// What is wrong with it; nothing where the text was cut off.
    wrong: Option<Wrong>,
}

/// The pair with which a text begins, and its bytes.
fn pair(text: &str) -> Result<(Pair, usize), NoPair> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let pair = (&mut reader).deserialize_seq(Pairs);
    let looked_at = reader.into_iter::<IgnoredAny>().byte_offset();
    pair.map(|pair| (pair, looked_at)).map_err(|error| {
        let wrong = Wrong::from_error(&error);
        let what = format!(
            "here stands no line of a stream of Loki, which is an array of two texts, the time in \
             nanoseconds and what was written, and of labels behind them: {}",
            wrong.what
        );
        NoPair { looked_at, wrong: (!error.is_eof()).then_some(Wrong { what, ..wrong }) }
    })
}

/// The pair that was cut off with the end of a text, if its line has begun.
fn cut_pair(text: &str) -> Option<Pair> {
    pair(&closed_json(text)).ok().map(|(pair, _)| pair)
}

/// Whether a value is what Loki puts behind a line: texts by name, or several such objects.
fn is_metadata(value: &Value) -> bool {
    value.as_object().is_some_and(|all| all.values().all(|one| one.is_string() || has_texts(one)))
}

fn has_texts(value: &Value) -> bool {
    value.as_object().is_some_and(|texts| texts.values().all(Value::is_string))
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
        let behind = values.next_element::<Value>()?;
        if behind.is_some_and(|behind| !is_metadata(&behind))
            || values.next_element::<IgnoredAny>()?.is_some()
        {
            let what = "behind a line stands nothing, or an object of texts";
            return Err(serde::de::Error::custom(what));
        }
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
        assert_eq!(LokiReading::from_text(&pairs).lines, []);
        for labels in ["{\"stream\":{\"a\":[\n", "\"stream\""] {
            assert_eq!(labels_twice(&(labels.repeat(20_000) + "{\"a\":[")), None);
        }
        let twice = "\"stream\":{\"a\":[\n".repeat(2) + "\"stream\":{\"pod\":1,\"pod\":1}";
        assert!(labels_twice(&twice).is_some());
    }

    /// What is no line of a stream is refused where it stands, and what was cut off is not.
    #[test]
    fn pairs_of_other_kinds_are_named() {
        for (other, column) in [
            ("[3,\"c\"]", 2),
            ("[\"3\",null]", 9),
            ("[\"3\",{\"line\":\"c\"}]", 5),
            ("[\"3.5\",\"c\"]", 7),
            ("\"c\"", 3),
            ("[\"3\",\"c\",7]", 11),
            ("[\"3\",\"c\",{\"x\":[1]}]", 19),
            ("[\"3\",\"c\",{},{}]", 15),
            ("{}", 1),
        ] {
            let text = format!(
                "{{\"data\":[{{\"values\":[[\"1\",\"a\"]]}},\n{{\"values\":[[\"2\",\"b\"],\n\
                 {other},[\"4\",\"d\"]]}}]}}"
            );
            let wrong = LokiReading::from_text(&text).wrong.unwrap_or_else(|| panic!("{text}"));
            let place = (wrong.line, wrong.column);
            assert_eq!(place, (3, column), "{other}: {wrong}");
            assert!(wrong.what.contains("no line of a stream of Loki"), "{wrong}");
        }
        let alone = "{\"values\":[{}]},{\"values\":[[\"1\",\"a\"]]}";
        assert!(LokiReading::from_text(alone).wrong.is_some());
        for whole in
            ["{\"values\":[[\"1\",\"a\"]]}", "{\"values\":[]},{\"values\":[[\"1\",\"a\"] ]}"]
        {
            for length in 0..=whole.len() {
                let cut = LokiReading::from_text(&whole[..length]).wrong;
                assert_eq!(cut, None, "{length} of {whole}");
            }
        }
    }

    /// One server's lines in two streams, each the newest first.
    #[test]
    fn streams_are_put_in_order() {
        let text = "{\"data\":{\"result\":[{\"stream\":{\"level\":\"a\",\"pod\":\"p\"},\"values\":\
                    [[\"30\",\"c\\nc\"],\n[\"10\",\"a\",{\"x\":\"1\",\"parsed\":{}}]]},{\"stream\":{\"pod\":\"p\"},\
                    \"values\":[[\"20\",\"b2\"],[\"20\",\"b1\"],[\"5\",\"0\"]]}],\"values\":1}}\n";
        let all = LokiReading::from_text(text).lines;
        let told: Vec<_> = all.iter().map(|one| (one.ns, one.number, one.log_line())).collect();
        let line = |ns, number, line: &str| (ns, number, line.to_owned());
        let expected = [line(5, 2, "0"), line(10, 2, "a"), line(20, 2, "b1"), line(20, 2, "b2")];
        assert_eq!(told[..4], expected);
        assert_eq!(told[4], line(30, 1, "c\nc"));
        assert!(all.iter().all(|one| one.source == all[0].source && one.source.is_told()));
        for none in ["", "[]", "{\"values\":[1]}", "{\"values\":[[1,2]]}", "\"values\":[[\"1\""] {
            assert_eq!(LokiReading::from_text(none).lines, [], "{none}");
        }
    }
}
