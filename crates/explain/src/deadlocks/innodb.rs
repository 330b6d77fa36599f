//! Deadlocks of InnoDB: what it writes to the error log, and the latest one of its monitor.
//!
//! ```text
//!   *** (1) TRANSACTION:
//!   TRANSACTION 33, ACTIVE 0 sec starting index read
//!   … thread id 7, … 127.0.0.1 user updating
//!   UPDATE stock SET …                              ◀── until the next mark
//!   *** (1) WAITING FOR THIS LOCK TO BE GRANTED:
//!   RECORD LOCKS … index PRIMARY of table `d`.`stock` trx id 33 lock_mode X … waiting
//! ```
//!
//! A lock belongs to the transaction that it names, under whatever heading it stands. MySQL 8
//! prints its headings as notes, which a log of warnings leaves out. There a deadlock ends where
//! its cycle closes: each of its transactions waits for a lock that another one of them has, of the
//! same index and records; and where no locks are told that somebody has, for a table that another
//! one's statement names. Where a log begins within a deadlock, what is left of it stands before
//! transactions whose cycle closes, and is not understood; its pages and records may well be those
//! of the next one, but not the transactions that changed them last:
//!
//! ```text
//!   Record lock, heap no 3 PHYSICAL RECORD: …
//!    1: len 6; hex 000000000722; …          ◀── the same wherever this deadlock tells the record
//! ```
//!
//! More than two that close no cycle are told of as not understood.

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_model::{DeadlockParty, Dialect};

use super::announcement::has_client_error;
use super::carried::Source;
use super::findings::{
    DeadlockGap, DeadlockTelling, Findings, Identity, Uniqueness, Witness, key_of,
};
use super::foreign::{DOUBTFUL_END, Interruption, begins_log_entry, container_line, is_bare_stamp};
use super::lines::Line;
use super::locks::{
    Ending, LOCK_BYTES_MOST, Lock, LockState, NAME_BYTES_MOST, is_begun_lock, is_lock_end,
    is_record_field, read_lock, record_number, table_name,
};
use super::open_statements::{OpenStatements, WITHIN_ANOTHER};
use super::order::{Moment, begins_with_date, leading_moment};
use super::statement::Statement;
use crate::beginning::text_beginning;

/// Lines of a statement that are kept.
const STATEMENT_LINES: usize = 64;
/// How many take part where no heading says so.
const PARTIES_UNTOLD: usize = 2;
/// Where no heading says so, more are not looked at for whether their cycle has closed.
const PARTIES_UNTOLD_MOST: usize = 16;
/// InnoDB gives up a search that goes deeper.
const PARTIES_MOST: usize = 200;
/// Locks of a deadlock; it prints a few of each transaction.
const LOCKS_MOST: usize = 2_000;
/// What is missing of a lock whose line is cut.
const CUT_LOCK: &str = "the end of the line of a lock";

/// With what no statement begins: what was before it is lost.
const NO_BEGINNINGS: [char; 11] = ['?', '=', ',', ')', '<', '>', '.', '|', '*', '+', '%'];
/// The heading of a part of the monitor that tells one transaction as a deadlock's are told.
const FOREIGN_KEY_ERROR: &str = "LATEST FOREIGN KEY ERROR";
/// Headings of its other parts.
const PARTS: [&str; 8] = [
    "BACKGROUND THREAD",
    "SEMAPHORES",
    "TRANSACTIONS",
    "FILE I/O",
    "INSERT BUFFER AND ADAPTIVE HASH INDEX",
    "LOG",
    "BUFFER POOL AND MEMORY",
    "ROW OPERATIONS",
];

/// Whether a line may begin an account; most lines of a log do not, and need not be looked at.
pub(super) fn may_begin(line: &Line<'_>) -> bool {
    line.text.contains("TRANSACTION")
        || line.text.contains(FOREIGN_KEY_ERROR)
        || line.text.contains("eadlock")
        || begins_one(line.text)
}

/// Whether a line begins the account of a transaction.
pub(super) fn is_of_a_transaction(line: &Line<'_>) -> bool {
    line.text.contains("TRANSACTION ") && transaction(own_text(line.text)).is_some()
}

/// What a line at the beginning of a log says of what was before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// It is of the account of a deadlock whose head is not there.
    WithinDeadlock,
    /// It may be.
    Open,
    /// Nothing was before it, or nothing of a deadlock.
    Whole,
}

/// What a line tells of the beginning of its log, as long as those before it have left that open.
pub(super) fn log_beginning(line: &Line<'_>) -> Beginning {
    let text = own_text(line.text);
    let is_of_one = read_lock(text).is_some()
        || record_number(text).is_some()
        || is_record_field(text)
        || text.starts_with("*** WE ROLL BACK")
        || text.starts_with("*** (") && heading(text).is_none();
    if is_of_one {
        Beginning::WithinDeadlock
    } else if is_stamped(line.text) || may_begin(line) || text.starts_with("--") {
        Beginning::Whole
    } else {
        Beginning::Open
    }
}

/// Whether a line is the error by which a client is told that its transaction was a victim.
pub(super) fn is_error_of_a_client(line: &Line<'_>) -> bool {
    has_client_error(line.text)
}

/// Reads what one server tells, line by line.
#[derive(Default)]
pub(super) struct Reader {
    /// Parties of the deadlock that is being told.
    parties: Vec<Party>,
    /// Locks with the number of their transaction, which may be told of later.
    locks: Vec<Lock>,
    part: Part,
    headings: Headings,
    /// Where the deadlock was announced, or its first line.
    announced: Option<usize>,
    /// The first line of a log that begins within a deadlock, as long as that may go on.
    remains: Option<usize>,
    /// Who tells, and when.
    witness: Option<Witness>,
    moment: Option<Moment>,
    source: Source,
    /// The beginning of a lock that a page has broken into several lines, and its first line.
    broken: Option<(usize, String)>,
    /// What is missing of the deadlock so far.
    gaps: Vec<DeadlockGap>,
    /// The last heading of a transaction: its number and its line.
    heading: (usize, usize),
    /// The line of the last lock, right behind it: a page may have broken off its end.
    open: Option<String>,
    /// Whether the heading says that the next lock is waited for.
    is_waited_for: bool,
    /// The line of a heading of locks that are held, as long as none stands behind it.
    held_from: Option<usize>,
    /// Whether it is a server that says of each transaction what it holds; older ones leave out the
    /// first.
    tells_holders: bool,
    /// Whether something stood around the first line of the deadlock.
    is_carried: bool,
    /// What stands within the statement that is being told.
    interruption: Option<Interruption>,
    /// Lines that it has taken.
    used: usize,
}

/// A transaction that is told of.
#[derive(Default)]
struct Party {
    transaction: String,
    /// Where it is told of.
    line: usize,
    /// Thread and query, by which the transaction is known again on any server.
    thread: String,
    /// The first line that may be of its statement, where the line of its thread was lost.
    unclear: Option<usize>,
    /// Names in its statement, in small letters.
    names: BTreeSet<String>,
    /// Lines that were taken before its first one.
    used_before: usize,
    told: DeadlockParty,
}

/// Where in the account of a transaction a line stands.
#[derive(Default)]
enum Part {
    #[default]
    Outside,
    /// Behind its first line.
    Head,
    /// Behind the line of its thread, which seems to be cut.
    User,
    /// In its statement, of which so much is known.
    Statement(Statement),
    /// In one that may be within another one: nothing of it is told.
    Doubtful,
    /// Behind it.
    Locks,
    /// In the part of the monitor about an error of a foreign key; whether its one transaction has
    /// been told of.
    ForeignKeyError { is_told: bool },
}

/// Whether transactions have a heading that numbers them.
#[derive(Default, PartialEq)]
enum Headings {
    #[default]
    None,
    Some,
}

impl Reader {
    pub(super) fn read_line(&mut self, line: &Line<'_>, findings: &mut Findings) {
        if self.is_of_others(line) {
            return self.pass_over(line);
        }
        let mut broken = self.broken.take();
        if let Some((at, _)) = broken.take_if(|_| begins_another(own_text(line.text))) {
            self.gaps.push(DeadlockGap::new(at, CUT_LOCK));
        }
        let joined = broken.as_ref().map(|(_, begun)| format!("{begun} {}", line.text.trim()));
        let text = own_text(joined.as_deref().unwrap_or(line.text));
        let end = self.open.take().filter(|_| is_lock_end(text));
        if let Some(whole) = end.map(|lock| format!("{lock} {text}"))
            && let Some(last) = self.locks.pop()
        {
            self.take_lock(&whole, last.line, last.state == LockState::Waiting);
            return;
        }
        if begins_one(text) {
            self.end_deadlock(findings);
            let is_begun = !text.contains("END OF");
            self.announced = Some(line.number).filter(|_| is_begun);
            let is_status = text.contains("LATEST DETECTED");
            self.witness = Some(if is_status { Witness::Status } else { Witness::Log });
            self.moment = line.moment.filter(|_| !is_status);
            return;
        }
        if self.is_about_a_foreign_key(text, findings) {
            return;
        }
        if let Some(number) = heading(text) {
            if number == 1 {
                let announced = self.announced.take_if(|_| self.parties.is_empty());
                let (witness, moment) = (self.witness.take(), self.moment.take());
                self.end_deadlock(findings);
                if announced.is_some() {
                    (self.announced, self.witness, self.moment) = (announced, witness, moment);
                }
            }
            self.headings = Headings::Some;
            self.heading = (number as usize, line.number);
            self.used += 1;
        } else if let Some(transaction) = transaction(text) {
            self.begin(transaction, line, findings);
        } else if text.starts_with("*** WE ROLL BACK") {
            self.end_deadlock(findings);
        } else if read_lock(text).is_some() {
            self.close_statement();
            if let Some((at, _)) = broken.filter(|(_, begun)| !begun.contains(" trx id ")) {
                self.gaps.push(DeadlockGap::new(at, "the name of a lock, which was broken here"));
            }
            let is_waited_for = std::mem::take(&mut self.is_waited_for);
            self.take_lock(text, line.number, is_waited_for);
        } else if is_begun_lock(text) {
            self.close_statement();
            self.held_from = None;
            self.broken = Some((broken.map_or(line.number, |(at, _)| at), text.to_owned()));
        } else if text.starts_with("***") || is_held(text) || is_stamped(line.text) {
            self.close_statement();
            self.take_held_heading();
            self.held_from = Some(line.number).filter(|_| text.contains("HOLDS THE LOCK"));
            self.is_waited_for = text.contains("WAITING FOR THIS");
            self.tells_holders |= text.contains("(1) HOLDS") || text.contains("CONFLICTING WITH");
            if self.witness == Some(Witness::Status) && self.parties.is_empty() {
                self.moment = self.moment.or_else(|| leading_moment(text));
            }
        } else {
            self.go_on(text, line.number, &mut findings.open_statements);
        }
    }

    /// A line of the statement that is being told.
    fn push_line(&mut self, line: &str, open: &mut OpenStatements) {
        if let Part::Statement(statement) = &mut self.part {
            statement.push_line(line);
            open.push_line(line, Dialect::Mysql);
        }
    }

    /// Whether a line within the account of a deadlock is none of it.
    fn is_of_others(&self, line: &Line<'_>) -> bool {
        let is_marked = begins_log_entry(line.text)
            || line.is_carried && !self.is_carried
            || container_line(line.text).is_some();
        is_marked && !self.parties.is_empty() && !is_of_an_account(own_text(line.text))
    }

    /// Passes a line of others. The statement in which it stands may go on behind it.
    fn pass_over(&mut self, line: &Line<'_>) {
        let Part::Statement(statement) = &mut self.part else { return };
        self.interruption
            .get_or_insert_with(|| Interruption::at_line(line.number, statement.clone()))
            .note_foreign(line.text);
        statement.miss_line(Dialect::Mysql);
    }

    /// A line may be missing of the statement that is being told.
    pub(super) fn miss_line(&mut self) {
        if let Part::Statement(statement) = &mut self.part {
            statement.miss_line(Dialect::Mysql);
        }
    }

    /// Notes a heading of locks behind which none stood.
    fn take_held_heading(&mut self) {
        if let Some(line) = self.held_from.take().filter(|_| !self.parties.is_empty()) {
            self.gaps.push(DeadlockGap::new(line, "the locks of this heading"));
        }
    }

    /// Takes the line of a lock. Its heading may say that it is waited for where a page has lost
    /// the last word.
    fn take_lock(&mut self, text: &str, line: usize, is_waited_for: bool) {
        self.used += 1;
        self.held_from = None;
        if self.parties.is_empty() || self.locks.len() > LOCKS_MOST {
            return;
        }
        let Some(mut lock) = read_lock(text) else { return };
        let is_own = self.parties.last().is_some_and(|last| last.transaction == lock.transaction);
        if is_waited_for && is_own {
            lock.state = LockState::Waiting;
        }
        lock.line = line;
        self.locks.push(lock);
        self.open = Some(text).filter(|text| text.len() < LOCK_BYTES_MOST).map(str::to_owned);
    }

    /// Whether a line is of a part that tells an error and no deadlock.
    fn is_about_a_foreign_key(&mut self, text: &str, findings: &mut Findings) -> bool {
        if text.contains(FOREIGN_KEY_ERROR) {
            self.end_deadlock(findings);
            self.part = Part::ForeignKeyError { is_told: false };
        }
        let Part::ForeignKeyError { is_told } = &mut self.part else { return false };
        let is_another = transaction(text).is_some() && std::mem::replace(is_told, true);
        if is_another || PARTS.contains(&text) || heading(text).is_some() {
            self.part = Part::Outside;
            return false;
        }
        true
    }

    /// Notes that the log begins within a deadlock.
    pub(super) fn note_remains(&mut self, line: usize) {
        self.remains = Some(line);
    }

    /// Whether nothing is being told.
    pub(super) fn is_idle(&self) -> bool {
        self.announced.is_none()
            && self.remains.is_none()
            && self.parties.is_empty()
            && self.headings == Headings::None
            && self.broken.is_none()
            && !matches!(self.part, Part::ForeignKeyError { .. })
    }

    fn begin(&mut self, transaction: &str, line: &Line<'_>, findings: &mut Findings) {
        self.close_statement();
        let is_full = self.closed_from().is_some();
        // Of too many nothing will be told: they need not be looked through.
        let is_known = self.parties.len() <= PARTIES_MOST
            && self.parties.iter().any(|known| known.transaction == transaction);
        if is_full || is_known {
            self.end_deadlock(findings);
        }
        self.announced.get_or_insert(line.number);
        self.source = line.source;
        if self.parties.is_empty() {
            self.is_carried = line.is_carried;
        }
        if self.parties.len() <= PARTIES_MOST {
            let transaction = text_beginning(transaction, NAME_BYTES_MOST).to_owned();
            let (line, used_before) = (line.number, self.used);
            self.parties.push(Party { transaction, line, used_before, ..Party::default() });
        }
        self.part = Part::Head;
        self.used += 1;
    }

    fn go_on(&mut self, line: &str, number: usize, open: &mut OpenStatements) {
        self.used += usize::from(!matches!(self.part, Part::Outside));
        match &mut self.part {
            Part::Head if line.contains("thread id ") => {
                if let Some(party) = self.parties.last_mut() {
                    party.thread = text_beginning(thread(line), NAME_BYTES_MOST).to_owned();
                    party.unclear = None;
                }
                let is_broken = line.trim_end().ends_with(',');
                if line.trim_end().len() == thread(line).len() {
                    self.gaps.push(DeadlockGap::new(number, "the end of the line of a thread"));
                }
                let is_cut = is_cut(line) || is_broken;
                self.part = if is_cut { Part::User } else { statement_part(open) };
            }
            Part::User => {
                self.part = statement_part(open);
                if !is_user_and_state(line) && !line.contains("query id ") {
                    self.push_line(line, open);
                }
            }
            Part::Statement(_) => {
                let is_blank = line.is_empty();
                self.interruption.iter_mut().for_each(|it| it.goes_on |= !is_blank);
                self.push_line(line, open);
            }
            Part::Doubtful => open.push_line(line, Dialect::Mysql),
            Part::Locks => {
                if let Some(lock) = self.locks.last_mut() {
                    lock.take_record_line(line);
                }
            }
            Part::Head => {
                if let Some(party) = self.parties.last_mut().filter(|_| !is_of_a_head(line)) {
                    party.unclear.get_or_insert(number);
                }
            }
            Part::Outside | Part::ForeignKeyError { .. } => {}
        }
    }

    /// From which transaction on they close a cycle, where no heading numbers them: what stands
    /// before it is left of a deadlock that was cut.
    fn closed_from(&self) -> Option<usize> {
        let count = self.parties.len();
        if self.headings == Headings::Some || count > PARTIES_UNTOLD_MOST {
            return None;
        }
        (0..(count + 1).saturating_sub(PARTIES_UNTOLD)).find(|from| self.is_closed(*from))
    }

    /// Whether from this one on each of the transactions waits for another one, and all of them
    /// hang together.
    fn is_closed(&self, from: usize) -> bool {
        let parties = &self.parties[from..];
        let count = parties.len();
        let owners: BTreeMap<&str, usize> =
            (0..).zip(parties).map(|(at, party)| (&*party.transaction, at)).collect();
        let mut waiting: Vec<Vec<&Lock>> = vec![Vec::new(); count];
        let mut held = waiting.clone();
        for lock in &self.locks {
            let Some(owner) = owners.get(&*lock.transaction) else { continue };
            match lock.state {
                LockState::Waiting => waiting[*owner].push(lock),
                LockState::Held => held[*owner].push(lock),
            }
        }
        let is_told = self.locks.iter().any(|lock| lock.state == LockState::Held);
        let waits = |from: usize, to: usize| {
            // A transaction waits for one lock, which may be told of twice.
            let mut wanted = waiting[from].iter().rev().take(2);
            from != to
                && wanted.any(|wanted| {
                    if is_told {
                        held[to].iter().any(|held| wanted.meets_lock(held))
                    } else {
                        parties[to].names.contains(&table_name(&wanted.place))
                    }
                })
        };
        let (mut reached, mut open) = (vec![false; count], vec![0]);
        while let Some(from) = open.pop().filter(|from| *from < count) {
            if !std::mem::replace(&mut reached[from], true) {
                open.extend((0..count).filter(|to| !reached[*to] && waits(from, *to)));
            }
        }
        let is_waited_for = |to: usize| (0..count).any(|from| waits(from, to));
        count >= PARTIES_UNTOLD && reached.iter().all(|it| *it) && is_waited_for(0)
    }

    fn close_statement(&mut self) {
        if matches!(self.part, Part::Outside) {
            return;
        }
        let interruption = self.interruption.take();
        let part = std::mem::replace(&mut self.part, Part::Locks);
        let Some(party) = self.parties.last_mut() else { return };
        if matches!(part, Part::Doubtful) {
            party.told.statement = Statement::in_doubt().with_holes(Dialect::Mysql);
            let missing = format!("what transaction {} asks: {WITHIN_ANOTHER}", party.transaction);
            self.gaps.push(DeadlockGap::new(party.line, missing));
        }
        if let Part::Statement(mut statement) = part {
            if let Some(doubtful) = interruption.filter(|it| !it.is_certain()) {
                self.gaps.push(DeadlockGap::new(doubtful.line, DOUBTFUL_END));
                statement = doubtful.before;
            }
            party.told.statement = statement.with_holes(Dialect::Mysql);
            if party.told.statement.trim_start_matches('(').starts_with(NO_BEGINNINGS) {
                let missing =
                    format!("the beginning of what transaction {} asks", party.transaction);
                self.gaps.push(DeadlockGap::new(party.line, missing));
            }
            party.names = names_in(&party.told.statement);
        }
    }

    /// Ends the deadlock that is being told. One transaction alone is none.
    pub(super) fn end_deadlock(&mut self, findings: &mut Findings) {
        // Nothing of the account stands behind the statement that is open.
        self.interruption.iter_mut().for_each(Interruption::note_end);
        self.close_statement();
        self.take_held_heading();
        self.leave_remains(findings);
        let count = self.parties.len();
        let is_untold = self.headings == Headings::None && count > PARTIES_UNTOLD;
        let is_doubtful = count > PARTIES_MOST
            || self.locks.len() > LOCKS_MOST
            || (is_untold && !self.is_closed(0));
        let identity = self.identity();
        let owners: BTreeMap<String, usize> =
            (0..).zip(&self.parties).map(|(at, party)| (party.transaction.clone(), at)).collect();
        let gaps = self.gaps();
        for Lock { transaction, text, state, ending, .. } in self.locks.drain(..) {
            if ending == Ending::Cut {
                continue;
            }
            let Some(owner) = owners.get(&transaction) else { continue };
            let party = &mut self.parties[*owner].told;
            match state {
                LockState::Waiting => party.waits_for.push(text),
                LockState::Held => party.holds.push(text),
            }
        }
        let parties: Vec<DeadlockParty> = self.parties.drain(..).map(|party| party.told).collect();
        if parties.len() >= PARTIES_UNTOLD && !is_doubtful {
            findings.tellings.push(DeadlockTelling { parties, identity });
            findings.used += self.used;
            findings.note_gaps(gaps);
            findings.unread.extend(self.remains);
        } else {
            findings.unread.extend(self.remains.or(self.announced));
        }
        *self = Reader::default();
    }

    /// Notes what stands before a deadlock that closes, and leaves it out.
    fn leave_remains(&mut self, findings: &mut Findings) {
        let Some(from) = self.closed_from().filter(|from| *from > 0) else { return };
        let first = self.parties[0].line;
        self.used -= self.parties[from].used_before;
        self.parties.drain(..from);
        let begin = self.parties[0].line;
        let announced = self.announced.replace(begin);
        findings.unread.push(self.remains.take().or(announced).unwrap_or(first));
        self.gaps.retain(|gap| gap.line >= begin);
        self.locks.retain(|lock| lock.line >= begin);
    }

    /// Whether a lock of this transaction is told with all its words that it has, or waits for.
    fn tells(&self, party: &Party, state: LockState) -> bool {
        let mut own = self.locks.iter().filter(|lock| lock.transaction == party.transaction);
        own.any(|lock| lock.state == state && lock.ending == Ending::Whole)
    }

    /// What is missing of the deadlock that was told.
    fn gaps(&mut self) -> Vec<DeadlockGap> {
        let mut gaps = std::mem::take(&mut self.gaps);
        if let Some((line, _)) = self.broken.take() {
            gaps.push(DeadlockGap::new(line, CUT_LOCK));
        }
        for party in self.parties.iter().filter(|party| !self.tells(party, LockState::Waiting)) {
            let missing = format!("what transaction {} waits for", party.transaction);
            gaps.push(DeadlockGap::new(party.line, missing));
        }
        let unclear = self.parties.iter().filter_map(|party| Some((party.unclear?, party)));
        for (line, party) in unclear {
            let missing =
                format!("the thread of transaction {}, and what it asks", party.transaction);
            gaps.push(DeadlockGap::new(line, missing));
        }
        let are_all_told = self.parties.iter().all(|party| self.tells(party, LockState::Held));
        let untold = self.parties.iter().filter(|party| !self.tells(party, LockState::Held));
        for party in untold.filter(|_| self.tells_holders) {
            let missing = format!("what transaction {} holds", party.transaction);
            gaps.push(DeadlockGap::new(party.line, missing));
        }
        let cut = self.locks.iter().filter(|lock| lock.ending == Ending::Cut);
        gaps.extend(cut.map(|lock| DeadlockGap::new(lock.line, CUT_LOCK)));
        let (number, line) = self.heading;
        if number > self.parties.len() {
            gaps.push(DeadlockGap::new(line, format!("who transaction ({number}) is")));
        }
        if gaps.is_empty() && are_all_told && !self.is_closed(0) {
            let missing = "who has the lock for which each waits: the locks close no cycle";
            gaps.extend(self.parties.first().map(|party| DeadlockGap::new(party.line, missing)));
        }
        gaps
    }

    fn identity(&self) -> Identity {
        let parts = |party: &Party| format!("{} {}", party.transaction, party.thread);
        let parts: Vec<String> = self.parties.iter().map(parts).collect();
        let is_unique = self.parties.iter().all(|party| party.thread.contains("handle"));
        Identity {
            key: key_of(parts.iter().map(String::as_str)),
            uniqueness: if is_unique { Uniqueness::Unique } else { Uniqueness::MayRecur },
            witness: self.witness.unwrap_or(Witness::Log),
            moment: self.moment,
            source: self.source,
        }
    }
}

/// A line without what the server's own log puts before it.
fn own_text(line: &str) -> &str {
    let marks = ["] [InnoDB] ", "[Note] InnoDB: ", "[Note] [InnoDB] "];
    let rest = marks.iter().find_map(|mark| line.split_once(mark).map(|(_, rest)| rest));
    rest.unwrap_or(line).trim()
}

/// `MySQL thread id 7, OS thread handle 1, query id 2`, without the host and what it does.
fn thread(line: &str) -> &str {
    let end = line.find("query id ").map(|at| at + "query id ".len());
    let digits = end.map(|end| line[end..].bytes().take_while(u8::is_ascii_digit).count());
    end.zip(digits).map_or(line, |(end, digits)| &line[..end + digits])
}

/// Whether the line of a thread ends with the host, before the user and what he does: a page has
/// broken it.
fn is_cut(line: &str) -> bool {
    let rest = &line[thread(line).len()..];
    (1..=2).contains(&rest.split_whitespace().count())
}

/// Whether a line may stand between the first line of a transaction and that of its thread.
fn is_of_a_head(line: &str) -> bool {
    const WORDS: [&str; 7] = [
        "mysql tables in use ",
        "LOCK WAIT",
        "ROLLING BACK",
        "COMMITTING",
        "Trx read view ",
        "Trx #rec lock waits ",
        "estimating records",
    ];
    line.is_empty()
        || WORDS.iter().any(|words| line.starts_with(words))
        || line.contains(" lock struct(s)")
        || line.contains("undo log entries ")
}

/// What a thread does, of what is most often in a deadlock.
const STATES: [&str; 12] = [
    "Searching rows for update",
    "Sending data",
    "System lock",
    "committing",
    "end",
    "executing",
    "freeing items",
    "init",
    "starting",
    "statistics",
    "update",
    "updating",
];

/// Whether two lines have a word of what a thread does between them, which was broken there.
pub(super) fn has_broken_state(last: &str, next: &str) -> bool {
    STATES.iter().any(|state| {
        (1..state.len()).any(|at| {
            let before = last.strip_suffix(&state[..at]);
            before.is_some_and(|it| it.ends_with(' ')) && next.starts_with(&state[at..])
        })
    })
}

/// `ann Searching rows for update`, or the state alone.
fn is_user_and_state(line: &str) -> bool {
    let (user, state) = line.split_once(' ').unwrap_or((line, ""));
    let is_user = !["update", "insert", "delete"].contains(&&*user.to_lowercase());
    STATES.contains(&line.trim()) || STATES.contains(&state) && is_user
}

/// The words of a statement, in small letters.
fn names_in(statement: &str) -> BTreeSet<String> {
    let is_of_a_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let words = statement.split(|c| !is_of_a_name(c)).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Whether a line of a log has something of the account of a deadlock.
fn is_of_an_account(line: &str) -> bool {
    line.is_empty()
        || is_bare_stamp(line)
        || line.contains(FOREIGN_KEY_ERROR)
        || begins_one(line)
        || begins_another(line)
        || heading(line).is_some()
        || is_held(line)
}

/// Whether a line cannot be the rest of a lock.
fn begins_another(line: &str) -> bool {
    ["***", "RECORD LOCKS ", "TABLE LOCK ", "Record lock, ", "TRANSACTION "]
        .iter()
        .any(|words| line.starts_with(words))
}

/// `(2) HOLDS THE LOCK(S):`, of a page that has taken the stars for a list.
fn is_held(line: &str) -> bool {
    let rest = line.strip_prefix('(').and_then(|rest| rest.split_once(") "));
    rest.is_some_and(|(number, rest)| {
        let is_known = rest.starts_with("HOLDS THE") || rest.starts_with("WAITING FOR THIS");
        number.parse::<u32>().is_ok() && is_known
    })
}

fn begins_one(line: &str) -> bool {
    line.len() >= "LATEST DETECTED DEADLOCK".len()
        && (line.contains("LATEST DETECTED DEADLOCK")
            || line.contains("ransactions deadlock detected")
            || line.contains("END OF INNODB MONITOR OUTPUT"))
}

/// `*** (2) TRANSACTION:`; pages take the stars for a list.
fn heading(line: &str) -> Option<u32> {
    line.trim_start_matches(['*', ' '])
        .strip_prefix('(')?
        .strip_suffix(") TRANSACTION:")?
        .parse()
        .ok()
}

/// `TRANSACTION 33, ACTIVE …`
fn transaction(line: &str) -> Option<&str> {
    let (number, rest) = line.strip_prefix("TRANSACTION ")?.split_once(',')?;
    // Older releases have two numbers, or hexadecimal ones; other words are of a literal.
    let is_number = number.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b' ');
    (is_number && rest.trim_start().starts_with("ACTIVE")).then_some(number)
}

/// A statement begins.
fn statement_part(open: &mut OpenStatements) -> Part {
    if open.begin_statement(Dialect::Mysql) {
        Part::Doubtful
    } else {
        Part::Statement(Statement::of_lines(STATEMENT_LINES))
    }
}

/// Whether a line begins with a date, as each record of a log does.
fn is_stamped(line: &str) -> bool {
    begins_with_date(line.trim_start())
}
