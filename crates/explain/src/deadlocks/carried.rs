//! What others have put around a line of a log, and where the line comes from.
//!
//! ```text
//!   > …          a quotation            db-1  | …            a composition of containers
//!   [pod/a/b] …  a cluster's client     2026-01-01T… F …     a container's file, with its time
//!   Jan  1 … host app[7]: …, <134>1 … - …   syslog, journal
//!   2026-01-01T… app[postgres.7]: [GREEN] [19-3] …      Heroku's logplex
//!   pg.log:…, pg.log-17-…                     grep, with the lines around what it found
//! ```
//!
//! Names of containers, hosts and processes are kept as a number: lines of several of them may be
//! mixed in one text, and each of them tells its own story.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::order::{MONTHS, is_date};
use crate::beginning::text_beginning;

/// What stands in the lines of a deadlock, and hardly in the rest of a comparison.
const TELLING: [&str; 5] = ["eadlock", "TRANSACTION", "Lock", "LOCKS", "thread id "];
/// Prefixes of one line that are taken off, one behind the other.
const PREFIXES_MOST: usize = 6;
/// Of so many lines one has the name of a container where they are of a composition.
const NAMED_OF: usize = 5;
/// Severities that applications write where compositions have the name of a container.
const SEVERITIES: [&str; 15] = [
    "trace", "debug", "info", "notice", "warn", "warning", "err", "error", "severe", "crit",
    "critical", "alert", "emerg", "fatal", "panic",
];
/// Bytes in which a prefix ends.
const PREFIX_BYTES: usize = 400;

/// Where a line comes from, as a number; nothing where no name is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Source(Option<u64>);

impl Source {
    /// One within this one.
    pub(super) fn child_named(self, name: &str) -> Source {
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
pub(super) struct Behind<'t> {
    pub(super) rest: &'t str,
    pub(super) name: Option<&'t str>,
}

/// Whether the lines of a text have names of containers: `flags | 4` is a line of a statement, too.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Containers {
    Named,
    Unnamed,
}

impl Containers {
    /// What the lines of a text have: of a composition, one in so many at least has a name.
    fn of(text: &str) -> Containers {
        if !text.contains('|') {
            return Containers::Unnamed;
        }
        let (mut named, mut all) = (0_usize, 0_usize);
        for line in text.split('\n').filter(|line| line.len() > 1) {
            all += 1;
            let head = line_head(line);
            let is_named = || container_prefix(&without_colours(head)).is_some();
            named += usize::from(head.contains('|') && is_named());
        }
        if NAMED_OF * named >= all && named > 0 { Containers::Named } else { Containers::Unnamed }
    }
}

/// What the lines of a text have before them that one line alone does not tell.
#[derive(Debug)]
pub(super) struct Carrier {
    containers: Containers,
    /// Whether lines are of a quotation: `> 5` is a line of a statement, too.
    are_quoted: bool,
    grep: Option<GrepOutput>,
}

impl Carrier {
    pub(super) fn from_text(text: &str) -> Carrier {
        let (containers, grep) = (Containers::of(text), GrepOutput::of(text));
        Carrier { containers, are_quoted: are_quoted(text), grep }
    }
}

/// Whether a text has the quotation of a log: a line of it speaks of a deadlock, or of who waits.
fn are_quoted(text: &str) -> bool {
    text.contains('>')
        && text.split('\n').any(|line| {
            let behind = quoted(line_head(line));
            behind.is_some_and(|behind| TELLING.iter().any(|words| behind.rest.contains(words)))
        })
}

/// What `grep -C` writes before lines: a file's name, a line's number, or both, with a colon behind
/// each where it found something, and with a dash in lines around that.
#[derive(Debug)]
struct GrepOutput {
    /// Names of files; empty where lines have numbers alone.
    files: Vec<String>,
    is_numbered: bool,
}

/// Files that one output of grep is of at most.
const FILES_MOST: usize = 100;
/// What grep is asked for, in any letter case.
const SOUGHT: &str = "deadlock";

impl GrepOutput {
    fn of(text: &str) -> Option<GrepOutput> {
        let mut grep = GrepOutput { files: Vec::new(), is_numbered: false };
        let (mut before, mut tried) = ("", Vec::new());
        for line in text.split('\n').map(line_head).filter(|line| line.len() > 1) {
            let around = std::mem::replace(&mut before, line);
            let Some((name, rest)) = line.split_once(':') else { continue };
            if !rest.to_ascii_lowercase().contains(SOUGHT) || grep.files.len() >= FILES_MOST {
                continue;
            }
            let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
            if is_number {
                grep.is_numbered |= around.starts_with(|c: char| c.is_ascii_digit())
                    && numbered(around, '-').is_some();
                continue;
            }
            let is_file = !name.is_empty() && !name.contains([' ', '\t', '"', '\'', '[', ']']);
            let is_around = around.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
            // The whole text is looked through once for each name: logs have times for names.
            let is_new = is_file && tried.len() < FILES_MOST && !tried.contains(&name);
            if is_new {
                tried.push(name);
            }
            if is_new && (is_around || text.contains(&format!("\n{name}-"))) {
                grep.is_numbered |= numbered(rest, ':').is_some();
                grep.files.push(name.to_owned());
            }
        }
        grep.is_numbered |= grep.files.is_empty() && follow_each_other(text);
        (grep.is_numbered || !grep.files.is_empty()).then_some(grep)
    }

    /// The prefix of a line.
    fn prefix<'t>(&self, line: &'t str) -> Option<Behind<'t>> {
        if self.files.is_empty() {
            return [':', '-'].iter().find_map(|mark| numbered(line, *mark)).map(nameless);
        }
        let files = self.files.iter().filter(|file| {
            line.strip_prefix(file.as_str()).is_some_and(|rest| rest.starts_with([':', '-']))
        });
        let file = files.max_by_key(|file| file.len())?;
        let (name, rest) = line.split_at(file.len());
        let mark = rest.chars().next()?;
        let rest = &rest[1..];
        let rest = Some(rest).filter(|_| self.is_numbered).and_then(|rest| numbered(rest, mark));
        Some(Behind { rest: rest.unwrap_or(&line[name.len() + 1..]), name: Some(name) })
    }
}

/// What is behind a number and a mark.
fn numbered(line: &str, mark: char) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    line[digits..].strip_prefix(mark).filter(|_| digits > 0)
}

/// Whether the lines of a text have numbers that grow by one, one of them with a colon behind it.
fn follow_each_other(text: &str) -> bool {
    let (mut last, mut following, mut all, mut found) = (None, 0_usize, 0_usize, 0_usize);
    for line in text.split('\n').map(line_head).filter(|line| line.len() > 1 && *line != "--") {
        all += 1;
        found += usize::from(numbered(line, ':').is_some());
        let rest = numbered(line, ':').or_else(|| numbered(line, '-'));
        let number: Option<u64> =
            rest.and_then(|rest| line[..line.len() - rest.len() - 1].parse().ok());
        let is_next = number
            .zip(last)
            .is_some_and(|(number, last): (u64, u64)| last.checked_add(1) == Some(number));
        following += usize::from(is_next);
        last = number;
    }
    found > 0 && following > 1 && 2 * following >= all
}

/// A line without what others have put before it, and where it comes from.
pub(super) fn without_prefixes<'t>(
    line: &'t str,
    mut source: Source,
    carrier: &Carrier,
) -> (&'t str, Source) {
    let mut rest = line.trim_end_matches('\r');
    let grep = carrier.grep.as_ref().and_then(|grep| grep.prefix(line_head(rest)));
    if let Some(behind) = grep {
        rest = &rest[line_head(rest).len() - behind.rest.len()..];
        source = behind.name.map_or(source, |name| source.child_named(name));
    }
    let mut containers = carrier.containers;
    for _ in 0..PREFIXES_MOST {
        let head = line_head(rest);
        let Some(behind) = prefix(head, carrier, containers) else { break };
        let before = &head[..head.len() - behind.rest.len()];
        if before.trim_end().ends_with('|') {
            // The next stroke is the line's own.
            containers = Containers::Unnamed;
        }
        rest = &rest[before.len()..];
        source = behind.name.map_or(source, |name| source.child_named(name));
    }
    (rest, source)
}

/// The prefix with which a line begins, by its first character.
fn prefix<'t>(head: &'t str, carrier: &Carrier, containers: Containers) -> Option<Behind<'t>> {
    let composed = |head| match containers {
        Containers::Named => container_prefix(head).map(without_severity),
        Containers::Unnamed => None,
    };
    match head.bytes().next()? {
        b' ' | b'\t' | b'>' => quoted(head).filter(|_| carrier.are_quoted),
        b'[' => of_a_pod(head),
        b'<' => of_rfc5424(head),
        b'0'..=b'9' => timed(head).or_else(|| composed(head)),
        _ => composed(head).or_else(|| of_syslog(head)),
    }
}

/// The beginning of a line, in which prefixes are looked for.
pub(super) fn line_head(line: &str) -> &str {
    text_beginning(line, PREFIX_BYTES)
}

/// A line without the colours of a terminal.
pub(super) fn without_colours(line: &str) -> Cow<'_, str> {
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
pub(super) fn container_prefix(line: &str) -> Option<Behind<'_>> {
    let (name, rest) = line.split_once('|')?;
    let name = name.strip_suffix(' ')?.trim_end();
    let is_name = !name.is_empty()
        && name.chars().all(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    is_name.then_some(Behind { rest, name: Some(name) })
}

/// What is behind a prefix, of which no name is told where it is a severity: `warning | …`.
fn without_severity(behind: Behind<'_>) -> Behind<'_> {
    let name = behind
        .name
        .filter(|name| SEVERITIES.iter().all(|severity| !severity.eq_ignore_ascii_case(name)));
    Behind { name, ..behind }
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
    let rest = behind_part(rest).unwrap_or(rest);
    Some(rest.strip_prefix("#011").unwrap_or(rest))
}

/// What is behind the number of a record and that of its part: `[5-1] …`.
fn behind_part(text: &str) -> Option<&str> {
    let (number, rest) = text.strip_prefix('[')?.split_once("] ")?;
    let (record, part) = number.split_once('-')?;
    record.parse::<u64>().and(part.parse::<u64>()).is_ok().then_some(rest)
}

/// `app[postgres.7]: [GREEN] [19-3] …`, behind the name of an add-on in some logs: a process, the
/// colour that stands for its database, and the number of the line, which has a blank behind it.
fn of_logplex(text: &str) -> Option<Behind<'_>> {
    let begin = text.find("app[postgres.").filter(|begin| !text[..*begin].contains(['[', '"']))?;
    let end = begin + text[begin..].find(']')? + 1;
    let colour = text[end..].trim_start_matches(':').strip_prefix(" [")?;
    let rest = behind_part(colour.split_once("] ")?.1)?;
    Some(Behind { rest: rest.strip_prefix(' ').unwrap_or(rest), name: Some(&text[..end]) })
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
    let behind = of_file.map(nameless).or_else(|| of_program(rest)).or_else(|| of_logplex(rest));
    Some(behind.unwrap_or(nameless(rest)))
}
