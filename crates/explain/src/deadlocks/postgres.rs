//! Deadlocks of PostgreSQL, which logs each of them as an error with its details.
//!
//! ```text
//!   … ERROR:  deadlock detected
//!   … DETAIL:  Process 12 waits for ShareLock on transaction 7; blocked by process 13.
//!   ⇥ Process 13 waits for ShareLock on transaction 8; blocked by process 12.
//!   ⇥ Process 12: UPDATE stock SET …                               ◀── the server's log only
//!   … CONTEXT:  while updating tuple (0,2) in relation "stock"     ◀── of who gave way, the first
//! ```
//!
//! The words are those of `lc_messages`, and lines may be indented by tabs or by blanks. So a wait
//! is told by what no translation changes: a process, a mode of lock, and the process in the way.

use dbdyno_model::{DeadlockParty, Dialect};

use super::announcement::{
    has_deadlock_hint, is_deadlock_announcement, is_deadlock_detection, is_quoting_label,
};
use super::carried::Source;
use super::findings::{
    DeadlockGap, DeadlockTelling, Findings, Identity, Uniqueness, Witness, key_of,
};
use super::foreign::{DOUBTFUL_END, Interruption};
use super::labels::{is_in_quotes, label_and_text};
use super::lines::Line;
use super::open_statements::{OpenStatements, WITHIN_ANOTHER};
use super::order::{Moment, begins_with_date};
use super::statement::Statement;
use super::waits::{Wait, after_number, number_in, read_wait, wait_sentence};
use crate::beginning::{shortened_text, text_beginning};

/// Processes of a deadlock; there are rarely more than three.
const PARTIES_MOST: usize = 200;
/// Bytes of what a lock is told by, and of the name of a table, which has 63 at most.
const NAME_BYTES_MOST: usize = 1_000;
/// Tables in a context.
const TABLES_MOST: usize = 8;
/// Labels of lines that go on with an error, in their order, in some languages.
const GOING_ON: [&[&str]; 6] = [
    &["DETAIL", "DÉTAIL"],
    &["HINT", "TIPP", "ASTUCE"],
    &["QUERY", "ANFRAGE", "REQUÊTE"],
    &["CONTEXT", "ZUSAMMENHANG", "CONTEXTE"],
    &["LOCATION", "ORT", "EMPLACEMENT"],
    &["STATEMENT", "ANWEISUNG", "INSTRUCTION"],
];
/// Labels of entries that are none of an account.
const OTHERS: [&str; 7] = ["LOG", "WARNING", "ERROR", "FATAL", "PANIC", "NOTICE", "INFO"];
/// Numbers in a prefix.
const NUMBERS_MOST: usize = 4;
/// Bytes in which a line has its label or a wait.
const HEAD_BYTES: usize = 2_000;

/// Whether a line may begin an account; most lines of a log do not, and need not be looked at.
pub(super) fn may_begin(line: &Line<'_>) -> bool {
    line.text.contains("Lock")
        || is_deadlock_announcement(line.text.trim_end())
        || has_deadlock_hint(line.text)
}

/// Whether a line tells who waits for whom.
pub(super) fn is_wait(line: &Line<'_>) -> bool {
    line.text.contains("Lock") && read_wait(label_and_text(line.text.trim()).1).is_some()
}

/// Whether a text has a whole wait of the details, with what is in the way, somewhere in it.
pub(super) fn has_wait(text: &str) -> bool {
    read_wait(label_and_text(text.trim()).1).is_some_and(|wait| wait.blocker.is_some())
}

/// What a prefix tells between brackets: a process, the number of the line in its session, or both
/// in any order: `… [77] [3] ERROR:  …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    numbers: Vec<u64>,
    /// Which of the lines of an error it is: 0, or for those that go on with it their place.
    place: usize,
}

impl Prefix {
    /// The prefix of a line that has a label, and numbers before it.
    pub(super) fn of_line(line: &Line<'_>) -> Option<Prefix> {
        let text = head(line.text);
        let (before, _) = text.split_once(":  ")?;
        let begun = before.split('[').skip(1);
        let numbers = begun.filter_map(|begun| begun.split_once(']')?.0.parse().ok());
        let numbers: Vec<u64> = numbers.take(NUMBERS_MOST).collect();
        let label = label_and_text(text).0.filter(|_| !numbers.is_empty())?;
        let place = GOING_ON.iter().position(|labels| labels.contains(&label));
        Some(Prefix { numbers, place: place.map_or(0, |at| at + 1) })
    }

    /// Whether the line goes on with what one before it has begun, as DETAIL does.
    pub(super) fn goes_on(&self) -> bool {
        self.place > 0
    }

    /// As a name.
    pub(super) fn name(&self) -> String {
        self.numbers.iter().map(|number| format!("{number} ")).collect()
    }

    /// Whether a line has the next number in the session of this one. Where one number is all that
    /// is told it may be that of a process as well, and the next line alone is of the session.
    pub(super) fn is_before(&self, next: &Prefix, is_next: impl FnOnce() -> bool) -> bool {
        // The prefixes of all open backends are held against each line that goes on.
        if self.place >= next.place || self.numbers.len() != next.numbers.len() {
            return false;
        }
        let mut pairs = self.numbers.iter().zip(&next.numbers);
        let is_near =
            pairs.clone().all(|(known, next)| matches!(next.checked_sub(*known), Some(0 | 1)));
        is_near
            && (pairs.any(|(known, next)| known == next) || self.numbers.len() == 1 && is_next())
    }
}

/// Reads what one backend tells, line by line.
#[derive(Default)]
pub(super) struct Reader {
    told: Vec<Party>,
    /// Where the deadlock was announced that is not told yet.
    announced: Option<usize>,
    /// Where others were before it, whose details may follow.
    pending: Vec<usize>,
    /// Whether accounts stood between one another, so that nobody knows whose the lines behind are.
    is_mixed: bool,
    /// Whether a statement is being logged that speaks of a deadlock.
    is_quoting: bool,
    moment: Option<Moment>,
    source: Source,
    part: Part,
    /// Lines that it has taken.
    used: usize,
    /// Whether lines stand without what a server puts before those that go on: it was lost.
    indentation: Indentation,
    /// Whether its first line is indented, as all are of what somebody has pasted.
    is_indented: bool,
    /// A statement with lines that are its own where the account goes on behind them.
    doubtful: Option<(usize, Statement)>,
    /// The first line with a statement that was not taken.
    untaken: Option<usize>,
    /// The first line with something unknown before its words.
    framed: Option<usize>,
    /// The last line that was given.
    last: usize,
    /// Whether a server's own log tells it, which goes on behind the details.
    is_logged: bool,
    /// Numbers before its announcement, of which one may be that of the process.
    numbers: Vec<u64>,
    /// The process that waits first: it has found the deadlock.
    finder: Option<u64>,
    /// Whether something stood around its first line.
    is_carried: bool,
    /// What stands within the details, or the statement that is being told.
    interruption: Option<Interruption>,
    /// What is missing of the statements so far.
    lost: Vec<DeadlockGap>,
}

/// What lines that go on have before them.
#[derive(Clone, Copy, Default, PartialEq)]
enum Indentation {
    #[default]
    Kept,
    Lost,
}

/// A process that is told of.
struct Party {
    process: u64,
    /// Where it is told of.
    line: usize,
    /// Nothing where it is not told what it waits for.
    lock: Option<String>,
    is_lock_unclear: bool,
    /// The process in its way, as far as it is told.
    blocker: Option<u64>,
    /// Whether the line with its statement was read, which may be empty.
    has_asked: bool,
    /// Whether its statement may begin within a literal of another one.
    is_in_doubt: bool,
    /// Its sentence, by which the deadlock is known again.
    sentence: String,
    statement: Statement,
    tables: Vec<String>,
}

/// Where in the account of a deadlock a line stands.
#[derive(Default, PartialEq)]
enum Part {
    #[default]
    Outside,
    /// Who waits is being told.
    Waits,
    /// What they ask is being told.
    Asks,
    /// Behind its details.
    Behind,
}

impl Reader {
    pub(super) fn read_line(&mut self, line: &Line<'_>, findings: &mut Findings) {
        let text = line.text.trim_end();
        if text.is_empty() {
            return;
        }
        self.last = line.number;
        let is_indented = text.starts_with(char::is_whitespace);
        let (label, rest) = self.label_and_text(text);
        if self.is_quoting && (is_indented || !begins_another(line, label)) {
            return;
        }
        self.is_quoting = is_quoting_label(label) && is_deadlock_announcement(text);
        if self.is_quoting {
            return;
        }
        if is_deadlock_announcement(text) {
            return self.announce(line, findings);
        }
        if let Some(process) = label.and_then(|_| detecting_process(rest)) {
            if self.part == Part::Behind {
                self.end_deadlock(findings);
            }
            return findings.note_detection(line.source, process, line.number);
        }
        if self.part == Part::Outside && self.announced.is_none() && has_deadlock_hint(text) {
            findings.unread.push(line.number);
            return;
        }
        if self.is_of_others(line, label) {
            return self.pass_over(line);
        }
        let is_asked = label.is_none() && self.asking(text).is_some();
        let may_wait = !is_asked && (self.part != Part::Asks || label.is_some());
        if let Some(wait) = read_wait(rest).filter(|_| may_wait) {
            if self.part == Part::Behind || (label.is_some() && self.part != Part::Outside) {
                let is_mixed = self.part != Part::Behind && !self.pending.is_empty();
                self.end_deadlock(findings);
                self.is_mixed = is_mixed;
            }
            if self.told.is_empty() {
                self.is_indented = is_indented;
            }
            self.take_wait(wait, line, label, rest);
            if self.indentation == Indentation::Lost {
                findings.open_statements.lose_indentation();
            }
            return;
        }
        if self.part == Part::Outside || self.asks(text, line.number, &mut findings.open_statements)
        {
            return;
        }
        if label.is_none() && self.untaken.is_none() && self.is_asked_in(text) {
            self.untaken = Some(line.number);
        }
        if label.is_some() || !self.goes_on(text, line, &mut findings.open_statements) {
            if label.is_some() {
                self.take_doubtful();
            }
            self.settle_interruption();
            self.behind(label, rest, findings);
        }
    }

    /// The label of a line, unless it is a line of a statement: `x = 'ERROR:  y'`.
    fn label_and_text<'l>(&self, text: &'l str) -> (Option<&'l str>, &'l str) {
        let is_indented = text.starts_with(char::is_whitespace);
        match label_and_text(text.trim_start()) {
            (Some(label), _)
                if is_indented && is_in_quotes(text, label) || self.asking(text).is_some() =>
            {
                (None, text.trim_start())
            }
            labelled => labelled,
        }
    }

    /// Whether a line without a label goes on with what is being told, or is passed over.
    fn goes_on(&mut self, text: &str, line: &Line<'_>, open: &mut OpenStatements) -> bool {
        let is_indented = text.starts_with(char::is_whitespace);
        match self.part {
            Part::Asks if is_indented => {
                self.interruption.iter_mut().for_each(|it| it.goes_on = true);
                let own = self.told.last_mut().map(|party| &mut party.statement);
                let doubtful = self.doubtful.as_mut().map(|(_, statement)| statement);
                doubtful.or(own).into_iter().for_each(|it| it.push_line(text.trim_start()));
                open.push_line(text, Dialect::Postgres);
                self.used += 1;
            }
            Part::Asks if self.may_be_asked(text) => {
                let known = || self.told.last().map(|it| (line.number, it.statement.clone()));
                self.doubtful = self.doubtful.take().or_else(known);
                if let Some((_, statement)) = &mut self.doubtful {
                    statement.push_line(text);
                }
                if let Some(party) = self.told.last_mut() {
                    party.statement.miss_line(Dialect::Postgres);
                }
                open.push_line(text, Dialect::Postgres);
            }
            // Lines of the account are indented.
            Part::Asks => self.pass_over(line),
            // What others have written may go on here.
            Part::Waits if is_indented && self.interruption.is_some() => {}
            _ => return false,
        }
        true
    }

    /// Whether a line within the details is none of them. Of a backend that is told before each
    /// line the next entry ends them.
    fn is_of_others(&self, line: &Line<'_>, label: Option<&str>) -> bool {
        if !self.is_in_details() || Prefix::of_line(line).is_some() {
            return false;
        }
        let is_marked = begins_with_date(line.text) || line.is_carried && !self.is_carried;
        label.map_or(is_marked, |label| {
            // With an error of others what it is about.
            let goes_on = GOING_ON.iter().any(|labels| labels.contains(&label));
            let is_theirs = goes_on && self.interruption.is_some() && !has_deadlock_hint(line.text);
            OTHERS.contains(&label) || is_theirs
        })
    }

    /// Whether the details are being told.
    pub(super) fn is_in_details(&self) -> bool {
        matches!(self.part, Part::Waits | Part::Asks)
    }

    /// Passes a line of others. The statement in which it stands may go on behind it.
    pub(super) fn pass_over(&mut self, line: &Line<'_>) {
        if self.is_in_details() {
            self.interruption
                .get_or_insert_with(|| {
                    let last = self.told.last().map(|party| party.statement.clone());
                    Interruption::at_line(line.number, last.unwrap_or_default())
                })
                .note_foreign(line.text);
            self.miss_line();
        }
    }

    /// A line is missing of the statement that is being told.
    pub(super) fn miss_line(&mut self) {
        let own = self.told.last_mut().map(|party| &mut party.statement);
        let doubtful = self.doubtful.as_mut().map(|(_, statement)| statement);
        own.into_iter().chain(doubtful).for_each(|it| it.miss_line(Dialect::Postgres));
    }

    /// Whether an indented line looks like an entry of a log, within a literal of the statement
    /// that is being told, of an account that began without indentation.
    pub(super) fn has_within_literal(&self, line: &Line<'_>) -> bool {
        let text = line.text.trim_start();
        self.part == Part::Asks
            && self.goes_on_in(line)
            && self.asking(text).is_none()
            && label_and_text(text).0.is_some_and(|label| !is_in_quotes(text, label))
            && self.told.last().is_some_and(|party| party.statement.is_open(Dialect::Postgres))
    }

    /// Whether a line is of the details that are being told, whatever words it has: it is indented,
    /// and the first line of the account is not, or begins with what a process asks.
    pub(super) fn goes_on_in(&self, line: &Line<'_>) -> bool {
        let is_indented = !self.is_indented && line.text.starts_with(char::is_whitespace);
        self.is_in_details() && (is_indented || self.asking(line.text).is_some())
    }

    /// Takes such a line, behind which nothing of the statement is certain.
    pub(super) fn take_literal_line(&mut self, line: &Line<'_>) {
        self.miss_line();
        (self.used, self.last) = (self.used + 1, line.number);
    }

    /// Takes of a statement what is certain, where the account goes on behind it.
    fn settle_interruption(&mut self) {
        let doubtful = self.interruption.take().filter(|it| !it.is_certain());
        if let (Some(doubtful), Some(party)) = (doubtful, self.told.last_mut()) {
            self.lost.push(DeadlockGap::new(doubtful.line, DOUBTFUL_END));
            party.statement = doubtful.before;
        }
    }

    /// Takes a line that announces a deadlock. One before it may be told later, by another backend.
    fn announce(&mut self, line: &Line<'_>, findings: &mut Findings) {
        let before = self.announced.filter(|_| self.told.is_empty());
        let pending = match before {
            Some(before) if self.pending.len() < PARTIES_MOST => {
                self.pending.push(before);
                std::mem::take(&mut self.pending)
            }
            _ => Vec::new(),
        };
        if before.is_none() || pending.is_empty() {
            self.end_deadlock(findings);
            // What was announced before that one may still be told.
            self.pending.extend(self.announced.take());
        }
        self.pending.extend(pending);
        (self.announced, self.moment) = (Some(line.number), line.moment);
        (self.source, self.is_carried) = (line.source, line.is_carried);
        self.numbers = Prefix::of_line(line).map_or_else(Vec::new, |prefix| prefix.numbers);
        (self.used, self.last) = (self.used + 1, line.number);
    }

    /// Takes a sentence that tells of a wait.
    fn take_wait(&mut self, wait: Wait, line: &Line<'_>, label: Option<&str>, rest: &str) {
        self.is_carried |= self.announced.is_none() && line.is_carried;
        (self.part, self.used) = (Part::Waits, self.used + 1);
        self.moment = self.moment.or(line.moment);
        self.source = line.source;
        // A client begins a line with its label.
        self.is_logged |= label.is_some_and(|it| !line.text.trim_start().starts_with(it));
        if label.is_none() && !line.text.starts_with(char::is_whitespace) {
            self.indentation = Indentation::Lost;
        }
        if self.told.len() > PARTIES_MOST {
            return;
        }
        self.finder = self.finder.or(Some(wait.process));
        let english =
            wait_sentence(rest).filter(|_| wait.blocker.is_some() && label != Some("LOG"));
        if english.is_some() {
            self.announced.get_or_insert(line.number);
        }
        let sentence = head(wait_sentence(rest).unwrap_or(rest));
        let end = sentence.find([';', '；']).map_or(0, |at| at + 1);
        let end = end + after_number(&sentence[end..]);
        self.told.push(Party {
            lock: Some(wait.lock),
            is_lock_unclear: wait.is_unclear,
            blocker: wait.blocker,
            sentence: sentence[..end].to_owned(),
            ..Party::untold(wait.process, line.number)
        });
    }

    /// Whether a line that is not indented may go on with a statement.
    fn may_be_asked(&self, text: &str) -> bool {
        self.indentation == Indentation::Lost && !text.is_empty() && !begins_with_date(text)
    }

    /// Takes the lines of a statement that lost their indentation: the account goes on behind them.
    fn take_doubtful(&mut self) {
        if self.framed.is_some() {
            return;
        }
        if let (Some((_, statement)), Some(party)) = (self.doubtful.take(), self.told.last_mut()) {
            party.statement = statement;
            self.used += 1;
        }
    }

    /// Whether a line has the statement of a process that waits, behind whatever it begins with.
    fn is_asked_in(&self, text: &str) -> bool {
        let asked = head(text).split_once("Process ").and_then(|(_, rest)| {
            let (number, _) = rest.split_once(':')?;
            number.trim_end().parse::<u64>().ok()
        });
        asked.is_some_and(|asked| self.told.iter().any(|party| party.process == asked))
    }

    /// Whether nothing is being told.
    pub(super) fn is_idle(&self) -> bool {
        self.announced.is_none() && self.told.is_empty() && !self.is_quoting
    }

    /// A line behind the details.
    fn behind(&mut self, label: Option<&str>, rest: &str, findings: &mut Findings) {
        self.part = Part::Behind;
        if let (Some(party), Some(table)) = (self.told.first_mut(), relation(rest)) {
            if party.tables.len() < TABLES_MOST && !self.is_mixed {
                party.tables.push(shortened_text(table, NAME_BYTES_MOST).into_owned());
            }
            self.used += 1;
        } else if matches!(label, Some("STATEMENT" | "LOG" | "ERROR" | "FATAL")) {
            self.end_deadlock(findings);
        }
    }

    /// Which of the processes that are told, its number and its statement, where a line begins with
    /// what one of them asks: `Process 12: UPDATE …`.
    fn asking<'l>(&self, line: &'l str) -> Option<(Option<usize>, u64, &'l str)> {
        let (process, rest) = number_in(line.trim_start())?;
        // `4136 프로세스: UPDATE …`: the word stands behind the number.
        let rest =
            rest.trim_start_matches(|c: char| c == ' ' || c.is_alphabetic() && !c.is_ascii());
        let sql = rest.strip_prefix(':').or(rest.strip_prefix('：'))?;
        let at = self.told.iter().position(|known| known.process == process);
        let is_known = at.is_some() || self.told.iter().any(|known| known.blocker == Some(process));
        is_known.then_some((at, process, sql.trim_start()))
    }

    /// What a process asks.
    fn asks(&mut self, line: &str, number: usize, open: &mut OpenStatements) -> bool {
        let text = line.trim_start();
        let Some((at, process, sql)) = self.asking(text) else { return false };
        self.settle_interruption();
        self.take_doubtful();
        if text.len() == line.len() {
            self.indentation = Indentation::Lost;
        }
        if !text.starts_with(char::is_alphabetic) {
            self.framed.get_or_insert(number);
        }
        // Lines that follow are of the last one that was told.
        let known = at.map(|at| self.told.remove(at));
        let mut asking = known.unwrap_or_else(|| Party::untold(process, number));
        asking.has_asked = true;
        if self.indentation == Indentation::Lost {
            open.lose_indentation();
        }
        asking.is_in_doubt = open.begin_statement(Dialect::Postgres);
        open.push_line(sql, Dialect::Postgres);
        asking.statement = Statement::default();
        asking.statement.push_line(sql);
        self.told.push(asking);
        (self.part, self.used) = (Part::Asks, self.used + 1);
        true
    }

    /// Ends a deadlock behind which nothing stands that belongs to it.
    pub(super) fn end_deadlock(&mut self, findings: &mut Findings) {
        self.end_with(Vec::new(), findings);
    }

    /// Ends it where the text does, with this line.
    pub(super) fn end_of_text(&mut self, last: usize, findings: &mut Findings) {
        let is_cut = self.is_logged && self.last == last;
        let missing = match self.part {
            Part::Waits => Some("what is asked: the text ends with this line"),
            Part::Asks => Some("what follows this line, with which the text ends"),
            Part::Outside | Part::Behind => None,
        };
        let gap = missing.filter(|_| is_cut).map(|missing| DeadlockGap::new(last, missing));
        self.end_with(gap.into_iter().collect(), findings);
        self.leave_announced(findings);
        for announced in std::mem::take(&mut self.pending) {
            self.announced = Some(announced);
            self.leave_announced(findings);
        }
    }

    /// Notes an announcement of which nothing is told.
    fn leave_announced(&mut self, findings: &mut Findings) {
        let Some(line) = self.announced.take() else { return };
        findings.unread.push(line);
        let known = self.finder.as_slice();
        let processes = if known.is_empty() { &self.numbers } else { known };
        match processes {
            [] => findings.note_nameless_error(self.source),
            processes => findings.take_detection(self.source, processes),
        }
    }

    /// Ends a deadlock that lacks something. One process alone is none.
    fn end_with(&mut self, mut gaps: Vec<DeadlockGap>, findings: &mut Findings) {
        self.interruption.iter_mut().for_each(Interruption::note_end);
        self.settle_interruption();
        gaps.append(&mut self.lost);
        let count = self.told.iter().filter(|party| party.lock.is_some()).count();
        if (2..=PARTIES_MOST).contains(&count) {
            gaps.extend(self.gaps());
            let identity = self.identity();
            let in_doubt = Statement::in_doubt();
            let party = |party: Party| DeadlockParty {
                statement: if party.is_in_doubt { &in_doubt } else { &party.statement }
                    .with_holes(Dialect::Postgres),
                waits_for: (party.lock.into_iter())
                    .chain(party.tables.iter().map(|table| format!("a row of {table}")))
                    .collect(),
                holds: Vec::new(),
            };
            let parties = self.told.drain(..).map(party).collect();
            findings.tellings.push(DeadlockTelling { parties, identity });
            findings.used += self.used;
            findings.note_gaps(gaps);
            findings.take_detection(self.source, self.finder.as_slice());
        } else {
            self.leave_announced(findings);
        }
        let mut pending = std::mem::take(&mut self.pending);
        let source = self.source;
        *self = Reader { announced: pending.pop(), pending, source, ..Reader::default() };
    }

    /// What is missing of the deadlock that was told. Who is waited for is a party, too.
    fn gaps(&mut self) -> Vec<DeadlockGap> {
        let mut gaps = Vec::new();
        let waits = self.told.iter().filter_map(|party| Some((party.line, party.blocker?)));
        for (line, blocker) in waits.collect::<Vec<_>>() {
            if !self.told.iter().any(|party| party.process == blocker) {
                self.told.push(Party::untold(blocker, line));
            }
        }
        for party in &self.told {
            if party.lock.is_none() || party.is_lock_unclear {
                let missing = format!("what process {} waits for", party.process);
                gaps.push(DeadlockGap::new(party.line, missing));
            } else if party.blocker.is_none() {
                let missing = format!("who is in the way of process {}", party.process);
                gaps.push(DeadlockGap::new(party.line, missing));
            }
            if party.is_in_doubt {
                let missing =
                    format!("the statement of process {}: {WITHIN_ANOTHER}", party.process);
                gaps.push(DeadlockGap::new(party.line, missing));
            }
            let are_asked = self.told.iter().any(|other| other.has_asked);
            if are_asked && !party.has_asked {
                let missing = format!("the statement of process {}", party.process);
                gaps.push(DeadlockGap::new(party.line, missing));
            }
        }
        if gaps.is_empty() && !self.is_closed() {
            let missing = "a part of the cycle: not all wait for each other";
            gaps.extend(self.told.first().map(|party| DeadlockGap::new(party.line, missing)));
        }
        if let Some((line, _)) = self.doubtful.take() {
            gaps.push(DeadlockGap::new(line, "the end of a statement, if this line is of it"));
        }
        if let Some(line) = self.untaken {
            gaps.push(DeadlockGap::new(line, "the statement of this line, and what is before it"));
        }
        gaps
    }

    /// Whether the waits lead from one party over all others back to it.
    fn is_closed(&self) -> bool {
        let (mut at, mut passed) = (0, 0);
        while passed < self.told.len() {
            let blocker = self.told[at].blocker;
            let next = self.told.iter().position(|party| Some(party.process) == blocker);
            let Some(next) = next else { return false };
            (at, passed) = (next, passed + 1);
            if at == 0 {
                break;
            }
        }
        at == 0 && passed == self.told.len()
    }

    fn identity(&self) -> Identity {
        // Sentences are in any language; of numbers each server has its own.
        let numbers = |sentence: &str| {
            let runs = sentence.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
            runs.collect::<Vec<_>>().join(" ")
        };
        let parts: Vec<String> = self.told.iter().map(|one| numbers(&one.sentence)).collect();
        let is_unique = self
            .told
            .iter()
            .all(|one| one.lock.as_ref().is_none_or(|lock| lock.contains(" on transaction ")));
        let is_server = self.told.iter().any(|one| !one.statement.is_empty());
        Identity {
            key: key_of(parts.iter().map(String::as_str)),
            uniqueness: if is_unique { Uniqueness::Unique } else { Uniqueness::MayRecur },
            witness: if is_server { Witness::Log } else { Witness::Client },
            moment: self.moment,
            source: self.source,
        }
    }
}

impl Party {
    /// One of which nothing else is told.
    fn untold(process: u64, line: usize) -> Party {
        Party {
            process,
            line,
            lock: None,
            is_lock_unclear: false,
            blocker: None,
            has_asked: false,
            is_in_doubt: false,
            sentence: String::new(),
            statement: Statement::default(),
            tables: Vec::new(),
        }
    }
}

/// The beginning of a line.
fn head(line: &str) -> &str {
    text_beginning(line, HEAD_BYTES)
}

/// Whether a line with this label begins an entry of a log, whatever stood before.
fn begins_another(line: &Line<'_>, label: Option<&str>) -> bool {
    begins_with_date(line.text)
        || Prefix::of_line(line).is_some()
        || matches!(label, Some("LOG" | "ERROR" | "FATAL" | "WARNING" | "STATEMENT"))
}

/// The process that says in an entry of a log that it has found a deadlock.
fn detecting_process(text: &str) -> Option<u64> {
    let text = head(text);
    is_deadlock_detection(text).then(|| number_in(text))?.map(|(process, _)| process)
}

/// The table of a context: `while updating tuple (0,2) in relation "stock"`.
fn relation(context: &str) -> Option<&str> {
    let (table, _) = context.split_once("relation \"")?.1.split_once('"')?;
    // A line of a literal may look like a context, and have what stands behind the literal.
    let is_statement = ["'", "`", ";", ",", "=", "(", "--", "/*", "$$"];
    (!is_statement.iter().any(|mark| table.contains(mark))).then_some(table)
}
