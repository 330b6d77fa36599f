//! The lines of a log, however it came: what others have put around them is taken off.
//!
//! ```text
//!   text ──▶ entries ──▶ lines, one at a time, with where they come from
//!            a line, a record of csvlog, an object of JSON, a row of a table
//!
//!   {"log": …}   a container's file, or what a store of logs gives out, in an array or one a line
//!   "@timestamp",message   the same as a table
//!   {⏎ "log": …⏎}   the same with a line for each name, as `jq` and `journalctl` print it
//!   {"hits": [{…}]}   the same as an answer of a store, or Loki's streams, see [`stores`]
//!   "a\nb"       what a client prints in one line
//!   csvlog and jsonlog of PostgreSQL, and MySQL's JSON, are written as their plain text would be
//! ```
//!
//! Lines are borrowed from the text where nothing within them has to change, and no list of them is
//! made: a text may have a hundred million.

use dbdyno_json::Wrong;

use super::announcement::is_deadlock_announcement;
use super::carried::{Carrier, Source, line_head, without_colours, without_prefixes};
use super::csv;
use super::json::{Object, ObjectReading};
use super::one_line::lines_of_one;
use super::order::{Course, Moment, Order, Unit, is_date, leading_moment};
use super::stores;
use crate::beginning::text_beginning;

/// A line as the server has written it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'t> {
    /// Where it stood, from 1.
    pub(super) number: usize,
    pub(super) source: Source,
    /// Whether something stood around it that others have put there.
    pub(super) is_carried: bool,
    /// In how many objects and records it was shipped.
    pub(super) depth: usize,
    /// When it was written, if that is told.
    pub(super) moment: Option<Moment>,
    pub(super) text: &'t str,
}

/// What was passed.
#[derive(Clone, Debug)]
pub(super) struct SkippedLines {
    /// Lines of the text.
    pub(super) lines: usize,
    pub(super) course: Course,
    /// The first place in the text where JSON does not say what was logged.
    pub(super) wrong: Option<Wrong>,
    /// Lines of objects that were cut off where a deadlock was mentioned, before its details.
    pub(super) cut: Vec<usize>,
}

/// Columns of PostgreSQL's csvlog.
const CSV_SEVERITY: usize = 11;
const CSV_STATE: usize = 12;
const CSV_MESSAGE: usize = 13;
const CSV_DETAIL: usize = 14;
const CSV_CONTEXT: usize = 18;
const CSV_QUERY: usize = 19;
/// SQLSTATE of a deadlock.
const DEADLOCK: &str = "40P01";
/// Bytes of an object that has a line for each of its names.
const OBJECT_BYTES_MOST: usize = 16 << 20;
/// Objects that are shipped in each other.
const SHIPPED_MOST: usize = 4;

/// Gives each line of a text in this order. Of several blank ones together the first is given.
pub(super) fn each_line(text: &str, order: Order, take: &mut dyn FnMut(Line<'_>)) -> SkippedLines {
    let streamed = stores::LokiReading::from_text(text);
    let walk = Walk::begin(text);
    let mut opener = Opener {
        source: Source::default(),
        is_carried: false,
        depth: 0,
        carrier: Carrier::from_text(text),
        moment: None,
        course: Course::default(),
        wrong: None,
        cut: Vec::new(),
        is_within_field: false,
        take,
    };
    let lines = match order {
        _ if !streamed.lines.is_empty() => {
            if let Some(object) = stores::labels_twice(text) {
                opener.look_twice_in(text, object);
            }
            opener.wrong = opener.wrong.take().or(streamed.wrong);
            streamed.lines.iter().for_each(|line| opener.streamed(line));
            text.lines().count()
        }
        Order::OldestFirst => {
            let mut walk = walk;
            while let Some(entry) = walk.next() {
                opener.open(&entry);
            }
            if let Some(object) = walk.twice {
                opener.look_twice_in(text, object);
            }
            debug_assert!(walk.looked_at <= csv::LOOKS_MOST * (text.len() + 1), "not linear");
            walk.number
        }
        Order::Turned(Unit::Line) if walk.layout == Layout::Lines => {
            let lines = text.lines().count();
            for (at, line) in text.lines().rev().enumerate() {
                opener.open(&Entry { number: lines - at, text: line, form: Form::Line });
            }
            lines
        }
        Order::Turned(unit) => turned(walk, unit, &mut opener),
    };
    SkippedLines { lines, course: opener.course, wrong: opener.wrong, cut: opener.cut }
}

/// Gives entries from the last one on, with those behind them that have no time, or that have the
/// same.
fn turned(walk: Walk<'_>, unit: Unit, opener: &mut Opener<'_>) -> usize {
    let mut groups = vec![walk];
    let (mut walk, mut last) = (walk, None);
    loop {
        let begin = walk;
        let Some(entry) = walk.next() else { break };
        let found = entry.moment();
        let is_same = unit == Unit::Moment && found == last;
        if found.is_some() && !is_same || (unit == Unit::Line && entry.form != Form::Line) {
            groups.push(begin);
        }
        last = found.or(last);
    }
    let mut end = walk;
    for begin in groups.into_iter().rev() {
        let length = begin.rest.len() - end.rest.len();
        let mut group = Walk { rest: &begin.rest[..length], filled: usize::MAX, ..begin };
        while let Some(entry) = group.next() {
            opener.open(&entry);
        }
        end = begin;
    }
    walk.number
}

/// What stands in a text.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    Lines,
    /// Objects of an array, or one behind the other.
    Array,
    /// Rows below a head, with the columns of the text and of the time.
    Table {
        text: usize,
        time: Option<usize>,
    },
}

/// A way through a text.
#[derive(Clone, Copy)]
struct Walk<'t> {
    rest: &'t str,
    /// Lines that were passed.
    number: usize,
    layout: Layout,
    /// Bytes that were looked at for records, more than once as a rule.
    looked_at: usize,
    /// The text from an object on of which a name stands twice in it.
    twice: Option<&'t str>,
    /// Bytes of the rest from the first one on that is not blank, which was looked at; of others
    /// before it nothing is known.
    filled: usize,
    /// Bytes that may be looked at for objects that are none of a log. Where none are left the
    /// rest is read line by line.
    left: usize,
}

/// A line, or what else stands together.
struct Entry<'t> {
    number: usize,
    text: &'t str,
    form: Form,
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Line,
    Csv,
    Object,
    Row { text: usize, time: Option<usize> },
}

impl<'t> Walk<'t> {
    fn begin(text: &'t str) -> Walk<'t> {
        let mut left = stores::LOOKS_MOST * text.len();
        let (filled, layout) = (usize::MAX, Layout::Lines);
        let walk = Walk { rest: text, number: 0, layout, looked_at: 0, twice: None, filled, left };
        let array = text.trim_start().strip_prefix('[').map(str::trim_start);
        if let Some(rest) = array.filter(|rest| rest.starts_with('{')) {
            let number = count_lines(&text[..text.len() - rest.len()]);
            return Walk { rest, number, layout: Layout::Array, ..walk };
        }
        let first = text.trim_start();
        if first.starts_with('{')
            && let Some(at) = stores::objects_start(first, &mut left)
        {
            let (passed, rest) = text.split_at(text.len() - first.len() + at);
            return Walk { rest, number: count_lines(passed), layout: Layout::Array, ..walk };
        }
        if spans_lines(first) {
            let number = count_lines(&text[..text.len() - first.len()]);
            return Walk { rest: first, number, layout: Layout::Array, ..walk };
        }
        let head = first.split('\n').next().unwrap_or_default();
        // `LOG` in a record of a csvlog is no name of a column.
        let is_short = head.len() < 4_000 && head.contains(',') && !begins_csv(head);
        let Some(head) = Some(head).filter(|_| is_short).and_then(csv::read_record) else {
            return walk;
        };
        let named = |is: fn(&str) -> bool| head.fields.iter().position(|name| is(name));
        match named(Object::is_shipped) {
            Some(text) if head.fields.len() > 1 => {
                Walk { layout: Layout::Table { text, time: named(Object::is_time) }, ..walk }
            }
            _ => walk,
        }
    }

    fn next(&mut self) -> Option<Entry<'t>> {
        loop {
            if self.layout == Layout::Array {
                let begin = self.rest.trim_start_matches([' ', '\t', '\r', '\n', ',', '[', ']']);
                self.number += count_lines(&self.rest[..self.rest.len() - begin.len()]);
                self.rest = begin;
                if let Some(read) = ObjectReading::from_text(begin) {
                    if read.object.is_ok() {
                        return Some(self.take(read.looked_at, Form::Object));
                    }
                    self.note_no_object(&read);
                }
                // The end of the array, or no array at all.
                self.layout = Layout::Lines;
            }
            if self.left == 0 || !self.enters_array() {
                break;
            }
        }
        let blank = self.rest.bytes().position(|b| b != b'\n' && b != b'\r');
        let blank = blank.unwrap_or(self.rest.len());
        if blank > 0 {
            let entry = Entry { number: self.number + 1, text: "", form: Form::Line };
            self.number += count_lines(&self.rest[..blank]);
            self.rest = &self.rest[blank..];
            return Some(entry);
        }
        if self.rest.is_empty() {
            return None;
        }
        let length = self.rest.find('\n').unwrap_or(self.rest.len());
        let form = match self.layout {
            Layout::Table { text, time } => Form::Row { text, time },
            _ if begins_csv(self.rest[..length].trim_start()) => Form::Csv,
            _ => Form::Line,
        };
        // Whoever posts a log may indent it.
        let blanks = match form {
            Form::Csv => length - self.rest[..length].trim_start().len(),
            _ => 0,
        };
        let record = match form {
            Form::Line => None,
            _ => match csv::record_or_looked_at(&self.rest[blanks..]) {
                Ok(record) => {
                    self.looked_at += record.length;
                    Some(record)
                }
                Err(looked_at) => {
                    self.looked_at += looked_at;
                    None
                }
            },
        };
        // One with too few columns is a line with commas in its prefix.
        let is_whole =
            |record: &csv::Record<'_>| form != Form::Csv || record.fields.len() > CSV_QUERY;
        Some(match record.filter(is_whole) {
            Some(record) => self.take(blanks + record.length, form),
            None => self.take(length, Form::Line),
        })
    }

    /// Whether objects begin here that are read as those of an array, which goes to the first.
    fn enters_array(&mut self) -> bool {
        let is_new = self.rest.len() < self.filled;
        if is_new {
            self.filled = self.rest.trim_start().len();
        }
        let object = &self.rest[self.rest.len() - self.filled..];
        if is_new
            && self.layout == Layout::Lines
            && object.starts_with('{')
            && let Some(at) = stores::objects_start(object, &mut self.left)
        {
            let (passed, rest) = self.rest.split_at(self.rest.len() - object.len() + at);
            self.number += count_lines(passed);
            (self.rest, self.layout) = (rest, Layout::Array);
            return true;
        }
        let Some(read) = over_lines(self.rest).and_then(ObjectReading::from_text) else {
            return false;
        };
        if self.layout == Layout::Lines && is_log_over_lines(self.rest, &read) {
            self.layout = Layout::Array;
            return true;
        }
        self.note_no_object(&read);
        false
    }

    /// Notes what was looked at with which the rest begins, and is no object of a log.
    fn note_no_object(&mut self, read: &ObjectReading) {
        self.left = self.left.saturating_sub(read.looked_at);
        if self.twice.is_none() && read.told_twice().is_some() {
            self.twice = Some(self.rest);
        }
    }

    /// The entry of so many bytes, and the end of its line.
    fn take(&mut self, length: usize, form: Form) -> Entry<'t> {
        let (text, rest) = self.rest.split_at(length);
        let entry = Entry { number: self.number + 1, text, form };
        let ended = rest.strip_prefix("\r\n").or(rest.strip_prefix('\n'));
        let is_whole = ended.is_some() || rest.is_empty();
        self.number += count_lines(text) + usize::from(is_whole);
        self.rest = ended.unwrap_or(rest);
        entry
    }
}

/// The text of an object that goes on over several lines and with which a text begins, as far as
/// it may go.
fn over_lines(text: &str) -> Option<&str> {
    let line = text.split('\n').next().unwrap_or_default().trim_end();
    // Lines of most logs begin otherwise, or end with their object.
    let may_be = line.starts_with('{') && !line.ends_with('}');
    may_be.then(|| text_beginning(text, OBJECT_BYTES_MOST))
}

/// Whether a text begins with an object of a log that goes on over several lines.
fn spans_lines(text: &str) -> bool {
    let read = over_lines(text).and_then(ObjectReading::from_text);
    read.is_some_and(|read| is_log_over_lines(text, &read))
}

/// Whether what was read of the beginning of a text is an object of a log, and goes on over lines.
fn is_log_over_lines(text: &str, read: &ObjectReading) -> bool {
    let is_of_a_log = read.object.as_ref().is_ok_and(Object::is_of_a_log);
    is_of_a_log && text[..read.looked_at].contains('\n')
}

fn count_lines(text: &str) -> usize {
    text.bytes().filter(|b| *b == b'\n').count()
}

impl Entry<'_> {
    /// When it was written.
    fn moment(&self) -> Option<Moment> {
        match self.form {
            Form::Line if self.text.trim_start().starts_with('{') => {
                leading_moment(Object::read(self.text.trim())?.0.time_text())
            }
            Form::Line => line_moment(self.text),
            Form::Csv => leading_moment(self.text.trim_start()),
            Form::Object => leading_moment(Object::read(self.text)?.0.time_text()),
            Form::Row { time, .. } => {
                leading_moment(csv::read_record(self.text)?.fields.get(time?)?)
            }
        }
    }
}

/// The time of a line, behind the name of a container.
fn line_moment(line: &str) -> Option<Moment> {
    let head = line_head(line).trim_start_matches(['>', ' ']);
    let rest = match head.bytes().next()? {
        b'[' => head.split_once(']').map_or(head, |(_, rest)| rest),
        b'<' => head.split_once(' ').map_or(head, |(_, rest)| rest),
        _ => head,
    };
    leading_moment(rest)
        .or_else(|| leading_moment(head))
        .or_else(|| leading_moment(head.split_once('|')?.1))
}

/// Gives the lines of entries.
struct Opener<'a> {
    /// Where the last line came from: one that does not say goes on with it.
    source: Source,
    /// Whether something was taken off the line that is open.
    is_carried: bool,
    /// In how many objects and records it was shipped.
    depth: usize,
    carrier: Carrier,
    /// When what is open was written.
    moment: Option<Moment>,
    course: Course,
    wrong: Option<Wrong>,
    /// Lines of objects that were cut off where a deadlock was mentioned, before its details.
    cut: Vec<usize>,
    /// Whether the next line goes on with a field of a record that could not be read as one.
    is_within_field: bool,
    take: &'a mut dyn FnMut(Line<'_>),
}

impl Opener<'_> {
    fn open(&mut self, entry: &Entry<'_>) {
        let number = entry.number;
        self.is_carried = entry.form != Form::Line;
        self.depth = 0;
        if entry.text.is_empty() {
            return self.give(number, self.source, "");
        }
        match entry.form {
            Form::Line => {
                self.pass(line_moment(entry.text));
                let line = without_colours(entry.text);
                self.line(number, &line, Source::default(), 0);
            }
            Form::Csv => {
                let text = entry.text.trim_start();
                self.pass(leading_moment(text));
                if let Some(record) = csv::read_record(text) {
                    self.is_within_field = false;
                    self.csv(number, &record, indentation(entry.text));
                }
            }
            Form::Object => {
                if let Some((object, _)) = Object::read(entry.text) {
                    self.object(number, entry.text, &object, Source::default(), 0);
                }
            }
            Form::Row { text, time } => {
                let fields =
                    csv::read_record(entry.text).map_or(Vec::new(), |record| record.fields);
                self.pass(time.and_then(|time| leading_moment(fields.get(time)?)));
                for line in fields.get(text).map_or("", |text| text).lines() {
                    self.line(number, line, Source::default(), 0);
                }
            }
        }
    }

    /// Lines of a stream, which have their time beside them.
    fn streamed(&mut self, streamed: &stores::LokiLine<'_>) {
        self.pass(leading_moment(&streamed.ns.to_string()));
        self.is_carried = true;
        for line in streamed.log_line().lines() {
            self.line(streamed.number, &without_colours(line), streamed.source, 0);
        }
    }

    fn pass(&mut self, moment: Option<Moment>) {
        self.moment = moment;
        moment.into_iter().for_each(|moment| self.course.note_moment(moment));
    }

    fn give(&mut self, number: usize, source: Source, text: &str) {
        let Opener { is_carried, depth, moment, .. } = *self;
        (self.take)(Line { number, source, is_carried, depth, moment, text });
    }

    /// A line from such a source, shipped in so many others.
    fn line(&mut self, number: usize, line: &str, source: Source, depth: usize) {
        let (text, source) = without_prefixes(line, source, &self.carrier);
        self.depth = depth;
        self.is_carried |= text.len() < line.trim_end_matches('\r').len();
        let trimmed = text.trim();
        if depth < SHIPPED_MOST && trimmed.starts_with('{') {
            // Behind an element of an array that could not be read the others stand on lines.
            let whole = Object::read(trimmed).filter(|(_, length)| ends_array(&trimmed[*length..]));
            if let Some((object, _)) = whole {
                return self.object(number, text, &object, source, depth);
            }
            if trimmed.ends_with('}') {
                self.look_twice(number, line.find(trimmed).unwrap_or(0), trimmed);
            }
            if let Some(object) = Object::read_cut(trimmed) {
                if object.only_mentions_one() {
                    self.cut.push(number);
                }
                return self.object(number, text, &object, source, depth);
            }
        }
        self.source = source.or(self.source);
        if self.is_of_a_record(number, text) {
            return;
        }
        if is_broken_json(trimmed) && !text.contains("\\n") && quotes_announcement(trimmed) {
            return self.give(number, self.source, "ERROR:  deadlock detected");
        }
        self.plain(number, text);
    }

    /// Notes what is told twice in an object that a text has from this rest of it on.
    fn look_twice_in(&mut self, text: &str, rest: &str) {
        let passed = &text[..text.len() - rest.len()];
        let before = passed.rsplit('\n').next().map_or(0, str::len);
        self.look_twice(1 + count_lines(passed), before, rest);
    }

    /// Notes what is told twice in an object that begins so many bytes behind the begin of a line.
    fn look_twice(&mut self, number: usize, before: usize, object: &str) {
        let Some(wrong) = Object::told_twice(object).filter(|_| self.wrong.is_none()) else {
            return;
        };
        let column = wrong.column + if wrong.line == 1 { before } else { 0 };
        self.wrong = Some(Wrong { line: number + wrong.line - 1, column, ..wrong });
    }

    /// A line, or the lines that a client or a tool has written as one.
    fn plain(&mut self, number: usize, text: &str) {
        let speaks_of = |words: &[&str]| words.iter().any(|words| text.contains(words));
        let marks = ["DETECTED DEADLOCK", "INNODB MONITOR", ") TRANSACTION:", "deadlock detected"];
        let source = self.source;
        let mut push = |text: &str| self.give(number, source, text);
        if text.contains("\\n") && speaks_of(&marks) {
            lines_of_one(text).for_each(|line| push(&line));
        } else if text.contains("deadlock detected") && speaks_of(&["DETAIL:", "Detail:"]) {
            let labels = ["DETAIL:", "Detail:", "HINT:", "Hint:", "CONTEXT:", "STATEMENT:"];
            let text = labels
                .iter()
                .fold(text.to_owned(), |text, label| text.replace(*label, &format!("\n{label}")));
            text.replace(". Process ", ".\nProcess ").lines().for_each(push);
        } else {
            push(text);
        }
    }

    fn object(&mut self, number: usize, line: &str, object: &Object, source: Source, depth: usize) {
        self.is_carried = true;
        self.depth = depth + 1;
        // The time of a row stands in another one of its fields.
        let has_own_time = depth == 0 && !object.has_field("field");
        if has_own_time || !object.time_text().is_empty() && (depth == 0 || self.moment.is_none()) {
            self.pass(leading_moment(object.time_text()));
        }
        if object.is_other_field() {
            return;
        }
        let source = object.source_texts().fold(source, Source::child_named);
        if object.has_field("error_severity") {
            let told =
                ["error_severity", "state_code", "message", "detail", "context", "statement"];
            let server = source.or(self.source);
            self.source = server.child_named(object.text_field("pid"));
            self.record(number, told.map(|name| object.text_field(name)), "");
            self.source = server;
            return;
        }
        if object.has_field("err_code") && object.has_field("msg") {
            self.source = source.or(self.source);
            let (time, text) = (object.text_field("time"), object.text_field("msg"));
            let line = format!("{time} 0 [Note] [InnoDB] {text}");
            return line.lines().for_each(|line| self.plain(number, line));
        }
        if object.shipped_text().is_none() && !object.speaks_of_one() {
            self.source = source.or(self.source);
            return self.plain(number, line);
        }
        for text in object.texts_to_read() {
            if text.is_empty() {
                self.give(number, source.or(self.source), "");
            }
            text.lines().for_each(|line| self.line(number, line, source, depth + 1));
        }
    }

    /// Takes a line of a record of a csvlog that something stands around, or that was cut off:
    /// where it has a deadlock, that is all that is told of it. What a field of it has in other
    /// lines is none of a log.
    fn is_of_a_record(&mut self, number: usize, text: &str) -> bool {
        let (is_within, begins) = (self.is_within_field, begins_csv(text.trim_start()));
        if !is_within && !begins {
            return false;
        }
        let record = csv::read_record(text.trim_start());
        if let Some(record) = record.filter(|it| !is_within && it.fields.len() > CSV_QUERY) {
            self.csv(number, &record, indentation(text));
            return true;
        }
        let marks = text.bytes().filter(|byte| *byte == b'"').count();
        let has_field = is_within || text.contains(",\"");
        self.is_within_field = has_field && is_within == marks.is_multiple_of(2);
        let has_deadlock = text.contains(DEADLOCK) || is_deadlock_announcement(text);
        let is_taken = is_within || self.is_within_field || has_deadlock;
        if is_taken {
            let told = if has_deadlock { "ERROR:  deadlock detected" } else { "" };
            self.depth += 1;
            self.give(number, self.source, &format!("{}{told}", indentation(text)));
        }
        is_taken
    }

    /// A record of a csvlog.
    fn csv(&mut self, number: usize, record: &csv::Record<'_>, indentation: &str) {
        self.depth += 1;
        let told = [CSV_SEVERITY, CSV_STATE, CSV_MESSAGE, CSV_DETAIL, CSV_CONTEXT, CSV_QUERY];
        let told = told.map(|at| record.fields.get(at).map_or("", |field| field));
        self.record(number, told, indentation);
    }

    /// A record of PostgreSQL as its plain log would have it.
    fn record(&mut self, number: usize, told: [&str; 6], indentation: &str) {
        let [severity, state, message, detail, context, query] = told;
        let message = if state == DEADLOCK { "deadlock detected" } else { message };
        let source = self.source;
        let mut push = |label: &str, text: &str| {
            for (at, line) in text.lines().enumerate() {
                match at {
                    0 => self.give(number, source, &format!("{indentation}{label}:  {line}")),
                    _ => self.give(number, source, &format!("{indentation}\t{line}")),
                }
            }
        };
        push(if state == DEADLOCK { "ERROR" } else { severity }, message);
        push("DETAIL", detail);
        if state == DEADLOCK {
            push("HINT", "See server log for query details.");
        }
        push("CONTEXT", context);
        push("STATEMENT", query);
    }
}

/// Whether behind an object nothing stands but what parts the elements of arrays and ends them.
fn ends_array(behind: &str) -> bool {
    behind.chars().all(|mark| matches!(mark, ',' | ']' | '}' | ' ' | '\t'))
}

/// Whether a line that is no object is a part of one, by how it begins or ends.
fn is_broken_json(line: &str) -> bool {
    let begins = line.starts_with('{') || line.starts_with('"');
    (begins || line.ends_with('}')) && (line.contains("\":") || line.contains("\" :"))
}

/// Whether a text within a line announces a deadlock. What is within a text of that text is said
/// by others.
fn quotes_announcement(line: &str) -> bool {
    line.contains('"') && line.split('"').any(is_deadlock_announcement)
}

/// What stands before the lines of a record: one that is indented may stand in an entry of a plain
/// log, whose lines are, and begins none.
fn indentation(text: &str) -> &'static str {
    if text.starts_with(char::is_whitespace) { "\t" } else { "" }
}

/// Whether a line begins a record of a csvlog: `2026-01-01 00:00:00.000 UTC,`.
fn begins_csv(line: &str) -> bool {
    let is_dated = line.get(..10).is_some_and(is_date);
    let Some((time, _)) = line_head(line).split_once(',').filter(|_| is_dated) else {
        return false;
    };
    let mut words = time.split(' ').skip(1);
    words.next().is_some_and(|word| word.contains(':')) && words.count() <= 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn given(text: &str, order: Order) -> Vec<(usize, String)> {
        let mut all = Vec::new();
        each_line(text, order, &mut |line| all.push((line.number, line.text.to_owned())));
        all
    }

    /// Lines cost nothing that is kept, and blank ones are given once.
    #[test]
    fn many_blank_lines_are_one() {
        let text = format!("{}a\n\r\n\nb\n", "\n".repeat(1_000_000));
        let lines = given(&text, Order::OldestFirst);
        let expected = [(1, ""), (1_000_001, "a"), (1_000_002, ""), (1_000_004, "b")];
        assert!(lines.iter().map(|(at, line)| (*at, &**line)).eq(expected), "{lines:?}");
        let passed = each_line(&text, Order::OldestFirst, &mut |_| {});
        assert_eq!(passed.lines, 1_000_004);
    }

    /// Marks that are opened and never closed: no line is looked at again and again, which the
    /// reader itself asserts.
    #[test]
    fn records_that_never_end_are_passed_once() {
        let begin = "2026-01-01 00:00:00.000 UTC,\"u\",\"d\",7,\"deadlock";
        for text in [
            format!("{begin}\n{}", "x\n".repeat(20_000)),
            format!("{begin}\ny,z\n").repeat(4_000),
            format!("{begin}\"\"\n").repeat(4_000),
            "2026-01-01 00:00:00.000 UTC,x\"\n".repeat(4_000),
        ] {
            assert_eq!(given(&text, Order::OldestFirst).len(), text.lines().count());
        }
    }

    /// Objects that begin on each line and end nowhere, or at the end of the text; lines of blanks.
    #[test]
    fn objects_within_each_other_are_passed_a_few_times() {
        let ended = "{\"a\":[\n".repeat(10_000) + &"]}".repeat(10_000);
        for text in [
            "{\"a\":[\n".repeat(10_000),
            "{\"hits\":[{}],\"a\":[\n".repeat(10_000),
            "{\"hits\":[{\"a\":[\n".repeat(10_000),
            ended,
            "x\n".to_owned() + &" \n".repeat(100_000),
            "{x\"hits\":[".repeat(20_000),
            " \n".repeat(10_000) + "{\"log\":\"x\", \"hits\":[{" + &"}]}".repeat(10_000),
        ] {
            let mut walk = Walk::begin(&text);
            while walk.next().is_some() {}
            assert_eq!(walk.number, text.lines().count(), "{:.20}", text);
        }
        // An object behind a few that never end is read.
        let text = "{\"a\":[\n".repeat(2) + "{\n\"log\": \"x\"\n}\n";
        assert!(given(&text, Order::OldestFirst).contains(&(3, "x".to_owned())));
    }

    /// What `jq` and `journalctl -o json-pretty` print; other objects stay lines.
    #[test]
    fn objects_may_go_on_over_lines() {
        let text = "some words\n{\n  \"line\": \"b\",\n  \"n\": {\n \"x\": 1 }\n}\n{\"line\": \
                    \"a1\\na2\"}\n{\n\t\"MESSAGE\" : \"c\"\n}\nlast\n";
        let expected = [(1, "some words"), (2, "b"), (7, "a1"), (7, "a2"), (8, "c"), (11, "last")];
        for text in [text, &text.replace('\n', "\r\n")] {
            let told = given(text, Order::OldestFirst);
            let told: Vec<_> = told.iter().map(|(at, line)| (*at, line.trim_end())).collect();
            assert_eq!(told, expected);
        }
        let other = "{\n \"a\": 1\n}\n{\n \"never\": \n";
        assert_eq!(given(other, Order::OldestFirst).len(), 5);
    }

    #[test]
    fn arrays_and_tables_of_stores_of_logs_are_read() {
        let lines = [(2, "b".to_owned()), (3, "a1".to_owned()), (3, "a2".to_owned())];
        let array = "[\n {\"line\": \"b\", \"timestamp\": \"1700000000000000002\"},\n \
                     {\"line\": \"a1\\na2\", \"timestamp\": \"1700000000000000001\"}\n]\n";
        assert_eq!(given(array, Order::OldestFirst)[..3], lines);
        let table = "\"@timestamp\",message\n\"Jan 1, 2026 @ 00:00:01.000\",b\n\
                     \"Jan 1, 2026 @ 00:00:00.000\",\"a1\na2\"\n";
        assert_eq!(given(table, Order::OldestFirst)[1..], lines);
        for text in [array, table] {
            for unit in Unit::ALL {
                let turned = given(text, Order::Turned(unit));
                let turned = turned.iter().filter(|(_, line)| line.len() < 3);
                let order: Vec<&str> = turned.map(|(_, line)| line.as_str()).collect();
                let found = order.iter().filter(|line| line.starts_with(['a', 'b']));
                assert_eq!(found.copied().collect::<Vec<_>>(), ["a1", "a2", "b"], "{unit:?}");
            }
        }
    }

    proptest! {
        /// However a text is turned around, each of its lines is given once, with its number.
        #[test]
        fn every_line_is_given_once(text in "(2026-01-0[1-3] 00:00:0[0-9] [ab]\n|[xy]\n){0,12}") {
            let mut plain = given(&text, Order::OldestFirst);
            plain.sort();
            for unit in Unit::ALL {
                let mut turned = given(&text, Order::Turned(unit));
                turned.sort();
                prop_assert_eq!(&turned, &plain, "{:?}", unit);
            }
        }

        /// Records are read in linear time, whatever a text has for marks.
        #[test]
        fn marks_of_any_kind_are_passed_linearly(
            text in "((2026-01-01 00:00:00,)?[\",x]{0,5}\n){0,40}",
        ) {
            given(&text, Order::OldestFirst);
        }
    }
}
