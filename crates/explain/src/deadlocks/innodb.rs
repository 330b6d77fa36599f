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

use dbdyno_model::{DeadlockParty, Dialect};

use super::findings::Findings;
use super::lines::{Line, is_date};
use super::statement::statement_with_holes;

/// Lines of a statement that are kept.
const STATEMENT_LINES: usize = 64;
/// Bytes of a lock that is looked for in several lines.
const LOCK_BYTES_MOST: usize = 1_000;
/// How many take part where no heading says so.
const PARTIES_UNTOLD: usize = 2;

/// The deadlocks of a log.
pub(super) fn deadlocks(lines: &[Line]) -> Findings {
    let mut reader = Reader::default();
    lines.iter().for_each(|line| reader.line(line));
    reader.end();
    reader.findings
}

/// Whether a line begins the account of a transaction.
pub(super) fn is_of_a_transaction(line: &Line) -> bool {
    transaction(own_text(&line.text)).is_some()
}

#[derive(Default)]
struct Reader {
    findings: Findings,
    /// Parties of the deadlock that is being told, each with the number of its transaction.
    parties: Vec<(String, DeadlockParty)>,
    /// Locks with the number of their transaction, which may be told of later.
    locks: Vec<Lock>,
    part: Part,
    headings: Headings,
    /// Where the deadlock was announced, or its first line.
    announced: Option<usize>,
    /// The beginning of a lock that a page has broken into several lines.
    broken: Option<String>,
    /// Lines that it has taken.
    used: usize,
}

/// A lock that is told of.
struct Lock {
    transaction: String,
    /// Index, table and mode.
    text: String,
    /// Space, page, index and table.
    place: String,
    /// Records of the page, as far as they are told.
    records: Vec<u32>,
    state: LockState,
}

#[derive(PartialEq)]
enum LockState {
    Waiting,
    Held,
}

/// Where in the account of a transaction a line stands.
#[derive(Default, PartialEq)]
enum Part {
    #[default]
    Outside,
    /// Behind its first line.
    Head,
    /// In its statement, of which these lines are known.
    Statement(Vec<String>),
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
    fn line(&mut self, line: &Line) {
        let joined = self.broken.take().map(|begun| format!("{begun} {}", line.text.trim()));
        let text = own_text(joined.as_deref().unwrap_or(&line.text));
        if begins_one(text) {
            self.end();
            self.announced = Some(line.number).filter(|_| !text.contains("END OF"));
            return;
        }
        if let Some(number) = heading(text) {
            if number == 1 {
                let announced = self.announced.take_if(|_| self.parties.is_empty());
                self.end();
                self.announced = announced;
            }
            self.headings = Headings::Some;
            self.used += 1;
        } else if let Some(transaction) = transaction(text) {
            self.begin(transaction, line.number);
        } else if text.starts_with("*** WE ROLL BACK") {
            self.end();
        } else if let Some(lock) = lock(text) {
            self.close_statement();
            self.locks.push(lock);
            self.used += 1;
        } else if is_begun_lock(text) {
            self.close_statement();
            self.broken = Some(text.to_owned());
        } else if text.starts_with("***") || is_held(text) || is_stamped(&line.text) {
            self.close_statement();
        } else {
            self.go_on(text);
        }
    }

    fn begin(&mut self, transaction: &str, number: usize) {
        self.close_statement();
        let is_full = self.headings == Headings::None && self.is_closed();
        if is_full || self.parties.iter().any(|(known, _)| known == transaction) {
            self.end();
        }
        self.announced.get_or_insert(number);
        self.parties.push((transaction.to_owned(), DeadlockParty::default()));
        self.part = Part::Head;
        self.used += 1;
    }

    fn go_on(&mut self, line: &str) {
        self.used += usize::from(self.part != Part::Outside);
        match &mut self.part {
            Part::Head if line.contains("thread id ") => self.part = Part::Statement(Vec::new()),
            Part::Statement(lines) if lines.len() < STATEMENT_LINES => lines.push(line.to_owned()),
            Part::Locks => {
                if let (Some(record), Some(lock)) = (record(line), self.locks.last_mut()) {
                    lock.records.push(record);
                }
            }
            Part::Outside | Part::Head | Part::Statement(_) => {}
        }
    }

    /// Whether each of the transactions waits for another one, and all of them hang together.
    fn is_closed(&self) -> bool {
        let count = self.parties.len();
        let waits = |from: usize, to: usize| from != to && self.waits_for(from, to);
        let (mut reached, mut open) = (vec![false; count], vec![0]);
        while let Some(from) = open.pop().filter(|from| *from < count) {
            if !std::mem::replace(&mut reached[from], true) {
                open.extend((0..count).filter(|to| waits(from, *to)));
            }
        }
        let is_waited_for = |to: usize| (0..count).any(|from| waits(from, to));
        count >= PARTIES_UNTOLD && reached.iter().all(|it| *it) && is_waited_for(0)
    }

    fn waits_for(&self, from: usize, to: usize) -> bool {
        let of = |at: usize, state: LockState| {
            let transaction = &self.parties[at].0;
            let is_it = move |lock: &&Lock| lock.transaction == *transaction && lock.state == state;
            self.locks.iter().filter(is_it)
        };
        let is_told = self.locks.iter().any(|lock| lock.state == LockState::Held);
        let statement = self.parties[to].1.statement.to_ascii_lowercase();
        of(from, LockState::Waiting).any(|wanted| match is_told {
            true => of(to, LockState::Held).any(|held| wanted.meets(held)),
            false => names(&statement, table_of(&wanted.place)),
        })
    }

    fn close_statement(&mut self) {
        if self.part == Part::Outside {
            return;
        }
        if let Part::Statement(lines) = std::mem::replace(&mut self.part, Part::Locks)
            && let Some((_, party)) = self.parties.last_mut()
        {
            party.statement = statement_with_holes(&lines.join("\n"), Dialect::Mysql);
        }
    }

    /// Ends the deadlock that is being told. One transaction alone is none.
    fn end(&mut self) {
        self.close_statement();
        let is_doubtful = self.headings == Headings::None
            && self.parties.len() > PARTIES_UNTOLD
            && !self.is_closed();
        for Lock { transaction, text, state, .. } in self.locks.drain(..) {
            let of = self.parties.iter_mut().find(|(known, _)| *known == transaction);
            let Some((_, party)) = of else { continue };
            match state {
                LockState::Waiting => party.waits_for.push(text),
                LockState::Held => party.holds.push(text),
            }
        }
        let parties: Vec<DeadlockParty> = self.parties.drain(..).map(|(_, party)| party).collect();
        let announced = self.announced.take();
        if parties.len() >= PARTIES_UNTOLD && !is_doubtful {
            self.findings.deadlocks.push(parties);
            self.findings.used += self.used;
        } else {
            self.findings.unread.extend(announced);
        }
        self.part = Part::Outside;
        self.headings = Headings::None;
        self.used = 0;
    }
}

impl Lock {
    /// Whether both are of the same records, as far as these are told.
    fn meets(&self, other: &Lock) -> bool {
        let is_untold = self.records.is_empty() || other.records.is_empty();
        let shares = || self.records.iter().any(|record| other.records.contains(record));
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

/// The name of a table, without its database, out of `index x of table `d`.`t``.
fn table_of(place: &str) -> &str {
    let table = place.rsplit_once("table ").map_or(place, |(_, table)| table).trim();
    let table = table.rsplit_once('.').map_or(table, |(_, table)| table);
    table.trim_matches('`')
}

/// Whether a statement in small letters has this name as a word of its own.
fn names(statement: &str, name: &str) -> bool {
    let is_of_a_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    statement.split(|c| !is_of_a_name(c)).any(|word| word.eq_ignore_ascii_case(name))
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
    line.contains("LATEST DETECTED DEADLOCK")
        || line.contains("ransactions deadlock detected")
        || line.contains("END OF INNODB MONITOR OUTPUT")
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
    let mode = mode.replace("lock_mode ", "").replace("lock mode ", "");
    let text = format!("{}: {mode}", place.replace('`', ""));
    let page = of_page.split(" n bits").next().unwrap_or_default();
    let (transaction, place) = (transaction.to_owned(), format!("{page} {place}"));
    Some(Lock { transaction, text, place, records: Vec::new(), state })
}

/// Whether a line begins with a date, as each record of a log does.
fn is_stamped(line: &str) -> bool {
    line.trim_start().get(..10).is_some_and(is_date)
}
