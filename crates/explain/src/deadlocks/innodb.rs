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
//! one's statement names. More than two that close no cycle are told of as not understood.

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_model::{DeadlockParty, Dialect};

use super::carried::Source;
use super::findings::{DeadlockTelling, Findings, Identity, Uniqueness, Witness, key_of};
use super::lines::Line;
use super::order::{Moment, begins_with_date, moment};
use super::statement::Statement;
use crate::beginning::{beginning, shortened};

/// Lines of a statement that are kept.
const STATEMENT_LINES: usize = 64;
/// Bytes of a lock that is looked for in several lines.
const LOCK_BYTES_MOST: usize = 1_000;
/// How many take part where no heading says so.
const PARTIES_UNTOLD: usize = 2;
/// Where no heading says so, more are not looked at for whether their cycle has closed.
const PARTIES_UNTOLD_MOST: usize = 16;
/// InnoDB gives up a search that goes deeper.
const PARTIES_MOST: usize = 200;
/// Locks of a deadlock; it prints a few of each transaction.
const LOCKS_MOST: usize = 2_000;
/// Bytes of the names of an index and its table; of what else a lock or a transaction is told by.
/// A name has 64 characters at most.
const NAME_BYTES_MOST: usize = 2_000;
/// Records of a page have numbers below this.
const RECORDS_MOST: u32 = 1 << 13;

/// Whether a line may begin an account; most lines of a log do not, and need not be looked at.
pub(super) fn may_begin(line: &Line<'_>) -> bool {
    line.text.contains("TRANSACTION") || line.text.contains("eadlock") || begins_one(line.text)
}

/// Whether a line begins the account of a transaction.
pub(super) fn is_of_a_transaction(line: &Line<'_>) -> bool {
    line.text.contains("TRANSACTION ") && transaction(own_text(line.text)).is_some()
}

/// Whether a line is the error by which a client is told that its transaction was a victim.
pub(super) fn is_error_of_a_client(line: &Line<'_>) -> bool {
    line.text.contains("Deadlock found when trying to get lock")
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
    /// Who tells, and when.
    witness: Option<Witness>,
    moment: Option<Moment>,
    source: Source,
    /// The beginning of a lock that a page has broken into several lines.
    broken: Option<String>,
    /// Lines that it has taken.
    used: usize,
}

/// A transaction that is told of.
#[derive(Default)]
struct Party {
    transaction: String,
    /// Thread and query, by which the transaction is known again on any server.
    thread: String,
    /// Names in its statement, in small letters.
    names: BTreeSet<String>,
    told: DeadlockParty,
}

/// A lock that is told of.
struct Lock {
    transaction: String,
    /// Index, table and mode.
    text: String,
    /// Space, page, index and table.
    place: String,
    /// Records of the page, as far as they are told, a bit each.
    records: Vec<u64>,
    state: LockState,
}

#[derive(PartialEq)]
enum LockState {
    Waiting,
    Held,
}

/// Where in the account of a transaction a line stands.
#[derive(Default)]
enum Part {
    #[default]
    Outside,
    /// Behind its first line.
    Head,
    /// In its statement, of which so much is known.
    Statement(Statement),
    /// Behind it.
    Locks,
}

/// Whether transactions have a heading that numbers them.
#[derive(Default, PartialEq)]
enum Headings {
    #[default]
    None,
    Some,
}

impl Reader {
    pub(super) fn line(&mut self, line: &Line<'_>, findings: &mut Findings) {
        let joined = self.broken.take().map(|begun| format!("{begun} {}", line.text.trim()));
        let text = own_text(joined.as_deref().unwrap_or(line.text));
        if begins_one(text) {
            self.end(findings);
            let is_begun = !text.contains("END OF");
            self.announced = Some(line.number).filter(|_| is_begun);
            let is_status = text.contains("LATEST DETECTED");
            self.witness = Some(if is_status { Witness::Status } else { Witness::Log });
            self.moment = line.moment.filter(|_| !is_status);
            return;
        }
        if let Some(number) = heading(text) {
            if number == 1 {
                let announced = self.announced.take_if(|_| self.parties.is_empty());
                let (witness, moment) = (self.witness.take(), self.moment.take());
                self.end(findings);
                if announced.is_some() {
                    (self.announced, self.witness, self.moment) = (announced, witness, moment);
                }
            }
            self.headings = Headings::Some;
            self.used += 1;
        } else if let Some(transaction) = transaction(text) {
            self.begin(transaction, line, findings);
        } else if text.starts_with("*** WE ROLL BACK") {
            self.end(findings);
        } else if let Some(lock) = lock(text) {
            self.close_statement();
            if !self.parties.is_empty() && self.locks.len() <= LOCKS_MOST {
                self.locks.push(lock);
            }
            self.used += 1;
        } else if is_begun_lock(text) {
            self.close_statement();
            self.broken = Some(text.to_owned());
        } else if text.starts_with("***") || is_held(text) || is_stamped(line.text) {
            self.close_statement();
            if self.witness == Some(Witness::Status) && self.parties.is_empty() {
                self.moment = self.moment.or_else(|| moment(text));
            }
        } else {
            self.go_on(text);
        }
    }

    /// Whether nothing is being told.
    pub(super) fn is_idle(&self) -> bool {
        self.announced.is_none()
            && self.parties.is_empty()
            && self.headings == Headings::None
            && self.broken.is_none()
    }

    fn begin(&mut self, transaction: &str, line: &Line<'_>, findings: &mut Findings) {
        self.close_statement();
        let is_full = self.headings == Headings::None
            && self.parties.len() <= PARTIES_UNTOLD_MOST
            && self.is_closed();
        // Of too many nothing will be told: they need not be looked through.
        let is_known = self.parties.len() <= PARTIES_MOST
            && self.parties.iter().any(|known| known.transaction == transaction);
        if is_full || is_known {
            self.end(findings);
        }
        self.announced.get_or_insert(line.number);
        self.source = line.source;
        if self.parties.len() <= PARTIES_MOST {
            let transaction = beginning(transaction, NAME_BYTES_MOST).to_owned();
            self.parties.push(Party { transaction, ..Party::default() });
        }
        self.part = Part::Head;
        self.used += 1;
    }

    fn go_on(&mut self, line: &str) {
        self.used += usize::from(!matches!(self.part, Part::Outside));
        match &mut self.part {
            Part::Head if line.contains("thread id ") => {
                if let Some(party) = self.parties.last_mut() {
                    party.thread = beginning(thread(line), NAME_BYTES_MOST).to_owned();
                }
                self.part = Part::Statement(Statement::of_lines(STATEMENT_LINES));
            }
            Part::Statement(statement) => statement.line(line),
            Part::Locks => {
                if let (Some(record), Some(lock)) = (record(line), self.locks.last_mut()) {
                    lock.add(record);
                }
            }
            Part::Outside | Part::Head => {}
        }
    }

    /// Whether each of the transactions waits for another one, and all of them hang together.
    fn is_closed(&self) -> bool {
        let count = self.parties.len();
        let owners: BTreeMap<&str, usize> =
            (0..).zip(&self.parties).map(|(at, party)| (&*party.transaction, at)).collect();
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
                        held[to].iter().any(|held| wanted.meets(held))
                    } else {
                        self.parties[to].names.contains(&table_of(&wanted.place))
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
        if let Part::Statement(statement) = std::mem::replace(&mut self.part, Part::Locks)
            && let Some(party) = self.parties.last_mut()
        {
            party.told.statement = statement.with_holes(Dialect::Mysql);
            party.names = names_in(&party.told.statement);
        }
    }

    /// Ends the deadlock that is being told. One transaction alone is none.
    pub(super) fn end(&mut self, findings: &mut Findings) {
        self.close_statement();
        let count = self.parties.len();
        let is_untold = self.headings == Headings::None && count > PARTIES_UNTOLD;
        let is_doubtful = count > PARTIES_MOST
            || self.locks.len() > LOCKS_MOST
            || (is_untold && !self.is_closed());
        let identity = self.identity();
        let owners: BTreeMap<String, usize> =
            (0..).zip(&self.parties).map(|(at, party)| (party.transaction.clone(), at)).collect();
        for Lock { transaction, text, state, .. } in self.locks.drain(..) {
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
        } else {
            findings.unread.extend(self.announced);
        }
        *self = Reader::default();
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

impl Lock {
    fn add(&mut self, record: u32) {
        let (word, bit) = ((record / 64) as usize, record % 64);
        if record < RECORDS_MOST {
            self.records.resize(self.records.len().max(word + 1), 0);
            self.records[word] |= 1 << bit;
        }
    }

    /// Whether both are of the same records, as far as these are told.
    fn meets(&self, other: &Lock) -> bool {
        let is_untold = self.records.is_empty() || other.records.is_empty();
        let shares = || self.records.iter().zip(&other.records).any(|(a, b)| a & b != 0);
        self.place == other.place && (is_untold || shares())
    }
}

/// A line without what the server's own log puts before it.
fn own_text(line: &str) -> &str {
    let marks = ["] [InnoDB] ", "[Note] InnoDB: ", "[Note] [InnoDB] "];
    let rest = marks.iter().find_map(|mark| line.split_once(mark).map(|(_, rest)| rest));
    rest.unwrap_or(line).trim()
}

/// `Record lock, heap no 2 PHYSICAL RECORD: …`
fn record(line: &str) -> Option<u32> {
    line.strip_prefix("Record lock, heap no ")?.split(' ').next()?.parse().ok()
}

/// `MySQL thread id 7, OS thread handle 1, query id 2`, without the host and what it does.
fn thread(line: &str) -> &str {
    let end = line.find("query id ").map(|at| at + "query id ".len());
    let digits = end.map(|end| line[end..].bytes().take_while(u8::is_ascii_digit).count());
    end.zip(digits).map_or(line, |(end, digits)| &line[..end + digits])
}

/// The name of a table, without its database, out of `index x of table `d`.`t``, in small letters.
fn table_of(place: &str) -> String {
    let table = place.rsplit_once("table ").map_or(place, |(_, table)| table).trim();
    let table = table.rsplit_once('.').map_or(table, |(_, table)| table);
    table.trim_matches('`').to_lowercase()
}

/// The words of a statement, in small letters.
fn names_in(statement: &str) -> BTreeSet<String> {
    let is_of_a_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let words = statement.split(|c| !is_of_a_name(c)).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Whether a line is a lock that goes on in the next one.
fn is_begun_lock(line: &str) -> bool {
    line.starts_with("RECORD LOCKS ") && line.len() < LOCK_BYTES_MOST && lock(line).is_none()
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
    rest.trim_start().starts_with("ACTIVE").then_some(number)
}

/// A line of a lock. Numbers of transactions have two parts in MySQL 5.0 and 5.1.
fn lock(line: &str) -> Option<Lock> {
    let (of_page, rest) = match line.strip_prefix("RECORD LOCKS ") {
        Some(rest) => rest.split_at(rest.find("index ")?),
        None => ("", line.strip_prefix("TABLE LOCK ")?),
    };
    let (place, rest) = rest.split_once(" trx id ")?;
    let mode = rest.find(" lock")?;
    let (transaction, mode) = (rest[..mode].trim(), rest[mode..].trim());
    let (mode, state) = match mode.strip_suffix(" waiting") {
        Some(mode) => (mode, LockState::Waiting),
        None => (mode, LockState::Held),
    };
    let mode = beginning(mode, NAME_BYTES_MOST).replace("lock_mode ", "");
    let mode = mode.replace("lock mode ", "");
    let place = shortened(place, NAME_BYTES_MOST);
    let text = format!("{}: {mode}", place.replace('`', ""));
    let page = of_page.split(" n bits").next().unwrap_or_default();
    let page = beginning(page, NAME_BYTES_MOST);
    let transaction = beginning(transaction, NAME_BYTES_MOST).to_owned();
    let place = format!("{page} {place}");
    Some(Lock { transaction, text, place, records: Vec::new(), state })
}

/// Whether a line begins with a date, as each record of a log does.
fn is_stamped(line: &str) -> bool {
    begins_with_date(line.trim_start())
}
