//! Lines of several servers in one text, parted so that each of them is read by itself.
//!
//! ```text
//!   db-1 | … (1) TRANSACTION ─▶ a reader for db-1      [7] ERROR:  deadlock … ─▶ a reader for 7
//!   db-2 | … (1) TRANSACTION ─▶ a reader for db-2      [8] ERROR:  deadlock … ─▶ a reader for 8
//! ```
//!
//! A server of InnoDB writes one account at a time; a backend of PostgreSQL does, and several of
//! them share a log. A line that does not say where it comes from goes on with the last one. There
//! are as many readers as accounts that have begun, and no more than is sensible.

use std::collections::{BTreeMap, BTreeSet};

use super::carried::Source;
use super::findings::Findings;
use super::labels::entry_text;
use super::lines::Line;
use super::open_statements::LatestStatements;
use super::postgres::Prefix;
use super::{innodb, postgres};

/// Accounts that are told at the same time.
const OPEN_MOST: usize = 1_000;

/// Lines in which the beginning of a log is looked for: a statement of many lines may stand there.
const BEGINNING_LINES: usize = 200;

/// Readers by where lines come from.
#[derive(Default)]
pub(super) struct ReadersBySource {
    innodb: BTreeMap<Source, innodb::Reader>,
    postgres: BTreeMap<Source, postgres::Reader>,
    /// The backend that has spoken last, of each source.
    backends: BTreeMap<Source, Source>,
    /// What the last line of each backend had before it, and its source.
    prefixes: BTreeMap<Source, (Source, Prefix)>,
    /// The backend whose details are being told, of each source.
    details: BTreeMap<Source, Source>,
    sources: BTreeSet<Source>,
    /// The first line of each source whose beginning is open, and how many have followed it.
    beginnings: BTreeMap<Source, Option<(usize, usize)>>,
    /// The statements that each source has told last.
    statements: BTreeMap<Source, LatestStatements>,
    /// The last line that was given, and is not blank.
    last: usize,
    /// Where it came from, and in how many objects and records.
    last_source: Source,
    last_depth: usize,
    findings: Findings,
}

impl ReadersBySource {
    pub(super) fn read_line(&mut self, line: &Line<'_>) {
        let line = &Line { source: self.open_source(line), ..*line };
        if !line.text.trim().is_empty() {
            self.last = line.number;
            self.look_at_beginning(line);
        }
        self.leave_source(line);
        self.open_statements(line);
        let backend = self.backends.get(&line.source).unwrap_or(&line.source);
        match self.postgres.get_mut(backend).filter(|reader| reader.has_within_literal(line)) {
            Some(reader) => reader.take_literal_line(line),
            None => self.read_parted(line),
        }
        let statements = self.findings.open_statements.end_line();
        end_all_of_many(&mut self.statements, drop);
        self.statements.insert(line.source, statements);
    }

    /// A line of another source, or in another form, may be one of a literal of the source before
    /// it, and look like that of another one.
    fn leave_source(&mut self, next: &Line<'_>) {
        let last = std::mem::replace(&mut self.last_source, next.source);
        let last_depth = std::mem::replace(&mut self.last_depth, next.depth);
        if last == next.source && last_depth == next.depth {
            return;
        }
        if let Some(reader) = self.innodb.get_mut(&last) {
            reader.miss_line();
        }
        let backend = self.backends.get(&last).unwrap_or(&last);
        if let Some(reader) = self.postgres.get_mut(backend) {
            reader.miss_line();
        }
    }

    /// Takes the statements that the source of a line has told last, and the line as what may go on
    /// with them.
    fn open_statements(&mut self, line: &Line<'_>) {
        let statements = self.statements.remove(&line.source).unwrap_or_default();
        let open = &mut self.findings.open_statements;
        open.begin_line(line.source, statements);
        open.pass_line(line.text);
        if let Some(text) = entry_text(line.text) {
            open.begin_entry(text);
        }
    }

    fn read_parted(&mut self, line: &Line<'_>) {
        let ReadersBySource { innodb, postgres, backends, prefixes, .. } = self;
        let ReadersBySource { details, sources, findings, .. } = self;
        if line.source.is_told() && sources.len() <= OPEN_MOST {
            sources.insert(line.source);
        }
        if !innodb.is_empty() || innodb::may_begin(line) {
            end_all_of_many(innodb, |mut one| one.end_deadlock(findings));
            let reader = innodb.entry(line.source).or_default();
            reader.read_line(line, findings);
            if reader.is_idle() {
                innodb.remove(&line.source);
            }
        }
        if postgres.is_empty() {
            backends.clear();
            prefixes.clear();
            details.clear();
        }
        if !postgres.is_empty() || postgres::may_begin(line) {
            let detailed = details.get(&line.source).copied();
            let open = postgres.get(backends.get(&line.source).unwrap_or(&line.source));
            let goes_on = open.is_some_and(|reader| reader.goes_on_in(line));
            let backend = match Prefix::of_line(line).filter(|_| !goes_on) {
                Some(prefix) => {
                    let last = backends.get(&line.source);
                    let backend = backend(line.source, &prefix, prefixes, last);
                    end_all_of_many(backends, drop);
                    backends.insert(line.source, backend);
                    end_all_of_many(prefixes, drop);
                    prefixes.insert(backend, (line.source, prefix));
                    backend
                }
                None => {
                    let last = backends.get(&line.source).copied().unwrap_or(line.source);
                    detailed.filter(|_| !postgres.contains_key(&last)).unwrap_or(last)
                }
            };
            if let Some(open) = detailed.filter(|open| *open != backend)
                && let Some(reader) = postgres.get_mut(&open)
            {
                reader.pass_over(line);
            }
            end_all_of_many(postgres, |mut one| one.end_deadlock(findings));
            let reader = postgres.entry(backend).or_default();
            reader.read_line(line, findings);
            if reader.is_in_details() {
                details.insert(line.source, backend);
            } else if detailed == Some(backend) {
                details.remove(&line.source);
            }
            if reader.is_idle() {
                postgres.remove(&backend);
            }
        }
    }

    /// Where a line comes from: one with nothing around it goes on with an account that began so,
    /// unless the last line that has a name has begun another one.
    fn open_source(&self, line: &Line<'_>) -> Source {
        let nameless = Source::default();
        let goes_back = !line.is_carried && !self.is_open(line.source) && self.is_open(nameless);
        if goes_back { nameless } else { line.source }
    }

    /// Whether an account is being told by a source.
    fn is_open(&self, source: Source) -> bool {
        let backend = self.backends.get(&source).copied().unwrap_or(source);
        self.innodb.contains_key(&source) || self.postgres.contains_key(&backend)
    }

    /// Notes what the first lines of a source are left of.
    fn look_at_beginning(&mut self, line: &Line<'_>) {
        if self.beginnings.len() > OPEN_MOST {
            return;
        }
        let begun = self.beginnings.entry(line.source).or_insert(Some((line.number, 0)));
        let Some((first, passed)) = begun else { return };
        *passed += 1;
        match innodb::log_beginning(line) {
            innodb::Beginning::Open if *passed < BEGINNING_LINES => return,
            innodb::Beginning::WithinDeadlock => {
                self.innodb.entry(line.source).or_default().note_remains(*first);
            }
            innodb::Beginning::Open | innodb::Beginning::Whole => {}
        }
        *begun = None;
    }

    /// What was found, and how many sources were told.
    pub(super) fn into_findings(mut self) -> (Findings, usize) {
        self.innodb.into_values().for_each(|mut one| one.end_deadlock(&mut self.findings));
        let open = self.postgres.into_values();
        open.for_each(|mut one| one.end_of_text(self.last, &mut self.findings));
        self.findings.leave_detections();
        (self.findings, self.sources.len())
    }
}

/// Whose line has such a prefix: of all that are known, the one whose session goes on with it. A
/// line that is numbered within its session has another prefix than the one before it.
fn backend(
    source: Source,
    prefix: &Prefix,
    known: &BTreeMap<Source, (Source, Prefix)>,
    last: Option<&Source>,
) -> Source {
    let own = source.child_named(&prefix.name());
    if !prefix.goes_on() || known.contains_key(&own) {
        return own;
    }
    let goes_on = |(backend, (of, before)): &(&Source, &(Source, Prefix))| {
        *of == source && before.is_before(prefix, || last == Some(*backend))
    };
    known.iter().find(goes_on).map_or(own, |(backend, _)| *backend)
}

/// Ends all readers where there are too many.
fn end_all_of_many<R>(readers: &mut BTreeMap<Source, R>, end: impl FnMut(R)) {
    if readers.len() >= OPEN_MOST {
        std::mem::take(readers).into_values().for_each(end);
    }
}
