//! What others have put around a line of a log, and where the line comes from.
//!
//! ```text
//!   > …          a quotation            db-1  | …            a composition of containers
//!   [pod/a/b] …  a cluster's client     2026-01-01T… F …     a container's file, with its time
//!   Jan  1 … host app[7]: …, <134>1 … - …   syslog, journal
//! ```
//!
//! Names of containers, hosts and processes are kept as a number: lines of several of them may be
//! mixed in one text, and each of them tells its own story.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::order::{MONTHS, is_date};
use crate::beginning::beginning;

/// Prefixes of one line that are taken off, one behind the other.
const PREFIXES_MOST: usize = 6;
/// Of so many lines one has the name of a container where they are of a composition.
const NAMED_OF: usize = 5;
/// Bytes in which a prefix ends.
const PREFIX_BYTES: usize = 400;

/// Where a line comes from, as a number; nothing where no name is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Source(Option<u64>);

impl Source {
    /// One within this one.
    pub(super) fn within(self, name: &str) -> Source {
        let mut hasher = DefaultHasher::new();
        (self.0, name).hash(&mut hasher);
        Source(Some(hasher.finish()))
    }

    /// This one, or where none is told another.
    pub(super) fn or(self, other: Source) -> Source {
        Source(self.0.or(other.0))
    }

    pub(super) fn is_told(self) -> bool {
        self.0.is_some()
    }
}

/// What is behind a prefix, and the name that the prefix tells.
struct Behind<'t> {
    rest: &'t str,
    name: Option<&'t str>,
}

/// Whether the lines of a text have names of containers: `flags | 4` is a line of a statement, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Containers {
    Named,
    Unnamed,
}

impl Containers {
    /// What the lines of a text have: of a composition, one in so many at least has a name.
    pub(super) fn of(text: &str) -> Containers {
        if !text.contains('|') {
            return Containers::Unnamed;
        }
        let (mut named, mut all) = (0_usize, 0_usize);
        for line in text.split('\n').filter(|line| line.len() > 1) {
            all += 1;
            let head = head(line);
            let is_named = || composed(&uncoloured(head)).is_some();
            named += usize::from(head.contains('|') && is_named());
        }
        match NAMED_OF * named >= all && named > 0 {
            true => Containers::Named,
            false => Containers::Unnamed,
        }
    }
}

/// A line without what others have put before it, and where it comes from.
pub(super) fn without_prefixes(
    line: &str,
    mut source: Source,
    containers: Containers,
) -> (&str, Source) {
    let mut rest = line.trim_end_matches('\r');
    for _ in 0..PREFIXES_MOST {
        let head = head(rest);
        let Some(behind) = prefix(head, containers) else { break };
        rest = &rest[head.len() - behind.rest.len()..];
        source = behind.name.map_or(source, |name| source.within(name));
    }
    (rest, source)
}

/// The prefix with which a line begins, by its first character.
fn prefix(head: &str, containers: Containers) -> Option<Behind<'_>> {
    let composed = |head| match containers {
        Containers::Named => composed(head),
        Containers::Unnamed => None,
    };
    match head.bytes().next()? {
        b' ' | b'\t' | b'>' => quoted(head),
        b'[' => of_a_pod(head),
        b'<' => of_rfc5424(head),
        b'0'..=b'9' => timed(head).or_else(|| composed(head)),
        _ => composed(head).or_else(|| of_syslog(head)),
    }
}

/// The beginning of a line, in which prefixes are looked for.
pub(super) fn head(line: &str) -> &str {
    beginning(line, PREFIX_BYTES)
}

/// A line without the colours of a terminal.
pub(super) fn uncoloured(line: &str) -> Cow<'_, str> {
    let Some((first, rest)) = line.split_once("\x1b[") else { return Cow::Borrowed(line) };
    let mut text = String::with_capacity(line.len());
    text.push_str(first);
    for part in rest.split("\x1b[") {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(part.len());
        text.push_str(part.get(end + 1..).unwrap_or_default());
    }
    Cow::Owned(text)
}

fn nameless(rest: &str) -> Behind<'_> {
    Behind { rest, name: None }
}

/// `> …`
fn quoted(line: &str) -> Option<Behind<'_>> {
    let rest = line.trim_start().strip_prefix('>')?;
    Some(nameless(rest.strip_prefix(' ').unwrap_or(rest)))
}

/// `db-1  | …`
fn composed(line: &str) -> Option<Behind<'_>> {
    let (name, rest) = line.split_once('|')?;
    let is_of_a_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = name.strip_suffix(' ')?.trim_end();
    let is_name = !name.is_empty() && name.chars().all(is_of_a_name);
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    is_name.then_some(Behind { rest, name: Some(name) })
}

/// `[pod/a/b] …`
fn of_a_pod(line: &str) -> Option<Behind<'_>> {
    let (name, rest) = line.strip_prefix('[')?.split_once("] ")?;
    name.starts_with("pod/").then_some(Behind { rest, name: Some(name) })
}

/// `Jan  1 00:00:00 host app[7]: …`, and what PostgreSQL writes behind it: `[5-1] …`.
fn of_syslog(line: &str) -> Option<Behind<'_>> {
    let rest = MONTHS.iter().find_map(|month| line.strip_prefix(month)?.strip_prefix(' '))?;
    let (day, rest) = rest.trim_start().split_once(' ')?;
    let (time, rest) = rest.split_once(' ')?;
    let is_time = day.parse::<u8>().is_ok() && time.matches(':').count() == 2;
    of_program(rest).filter(|_| is_time)
}

/// `host app[7]: …`, of which the name is all before the colon.
fn of_program(text: &str) -> Option<Behind<'_>> {
    let (host, program) = text.split_once(' ')?;
    let rest = behind_program(program)?;
    let name = &text[..text.len() - rest.len()];
    let end = host.len() + 1 + program.find(':')?;
    Some(Behind { rest, name: name.get(..end) })
}

/// `app[7]: …`
fn behind_program(text: &str) -> Option<&str> {
    let (program, rest) = text.split_once(": ").or_else(|| text.split_once(":\t"))?;
    let is_program = program.starts_with(|c: char| c.is_ascii_alphabetic());
    if !is_program || program.contains(char::is_whitespace) {
        return None;
    }
    // A number of the record and of its part.
    let part = rest.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let is_part = |(number, _): &(&str, &str)| {
        number.split_once('-').is_some_and(|(a, b)| a.parse::<u64>().and(b.parse::<u64>()).is_ok())
    };
    let rest = part.filter(is_part).map_or(rest, |(_, rest)| rest);
    Some(rest.strip_prefix("#011").unwrap_or(rest))
}

/// `<134>1 2026-01-01T00:00:00Z host app 7 - - …`
fn of_rfc5424(line: &str) -> Option<Behind<'_>> {
    let (priority, rest) = line.strip_prefix('<')?.split_once('>')?;
    priority.parse::<u16>().ok()?;
    let Some(rest) = rest.strip_prefix("1 ") else { return Some(nameless(rest)) };
    let (_time, rest) = rest.split_once(' ')?;
    let message = rest.splitn(6, ' ').nth(5)?;
    // Host, program and process.
    let end = rest.match_indices(' ').nth(2)?.0;
    Some(Behind { rest: message.trim_start_matches('\u{feff}'), name: Some(&rest[..end]) })
}

/// `2026-01-01T00:00:00.123456789Z …`, unless it is MySQL's own time, behind which the thread and
/// the severity stand.
fn timed(line: &str) -> Option<Behind<'_>> {
    let (time, rest) = line.split_once([' ', '\t'])?;
    let (date, hours) = time.split_once('T')?;
    let is_time = is_date(date) && hours.contains(':');
    let is_own = || {
        let (thread, behind) = rest.trim_start().split_once(' ')?;
        (thread.parse::<u64>().is_ok() && behind.starts_with('[')).then_some(())
    };
    if !is_time || is_own().is_some() {
        return None;
    }
    let of_stream = ["stdout ", "stderr "].iter().find_map(|stream| rest.strip_prefix(stream));
    let of_file = of_stream.and_then(|rest| rest.strip_prefix("F ").or(rest.strip_prefix("P ")));
    Some(of_file.map(nameless).or_else(|| of_program(rest)).unwrap_or(nameless(rest)))
}
