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
//! prints its headings as notes, which a log of warnings leaves out: there two transactions in
//! succession are taken for one deadlock.

use dbdyno_model::{DeadlockParty, Dialect};

use super::statement::statement_with_holes;

/// Lines of a statement that are kept.
const STATEMENT_LINES: usize = 64;
/// How many take part where no heading says so.
const PARTIES_UNTOLD: usize = 2;

/// The deadlocks of a text.
pub(super) fn deadlocks(text: &str) -> Vec<Vec<DeadlockParty>> {
    let mut reader = Reader::default();
    text.lines().for_each(|line| reader.line(line));
    reader.end();
    reader.all
}

#[derive(Default)]
struct Reader {
    all: Vec<Vec<DeadlockParty>>,
    /// Parties of the deadlock that is being told, each with the number of its transaction.
    parties: Vec<(String, DeadlockParty)>,
    /// Locks with the number of their transaction, which may be told of later.
    locks: Vec<Lock>,
    part: Part,
    headings: Headings,
}

/// A lock that is told of.
struct Lock {
    transaction: String,
    /// Index, table and mode.
    text: String,
    state: LockState,
}

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
    fn line(&mut self, line: &str) {
        let line = line.split_once("[Note] InnoDB: ").map_or(line, |(_, rest)| rest).trim_end();
        if begins_one(line) {
            self.end();
            return;
        }
        if let Some(number) = heading(line) {
            if number == 1 {
                self.end();
            }
            self.headings = Headings::Some;
        } else if let Some(transaction) = transaction(line) {
            self.begin(transaction);
        } else if line.starts_with("*** WE ROLL BACK") {
            self.end();
        } else if let Some(lock) = lock(line) {
            self.close_statement();
            self.locks.push(lock);
        } else if line.starts_with("***") || is_stamped(line) {
            self.close_statement();
        } else {
            self.go_on(line);
        }
    }

    fn begin(&mut self, transaction: &str) {
        self.close_statement();
        let is_full = self.headings == Headings::None && self.parties.len() >= PARTIES_UNTOLD;
        if is_full || self.parties.iter().any(|(known, _)| known == transaction) {
            self.end();
        }
        self.parties.push((transaction.to_owned(), DeadlockParty::default()));
        self.part = Part::Head;
    }

    fn go_on(&mut self, line: &str) {
        match &mut self.part {
            Part::Head if line.contains("thread id ") => self.part = Part::Statement(Vec::new()),
            Part::Statement(lines) if lines.len() < STATEMENT_LINES => lines.push(line.to_owned()),
            Part::Outside | Part::Head | Part::Statement(_) | Part::Locks => {}
        }
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
        for Lock { transaction, text, state } in self.locks.drain(..) {
            let of = self.parties.iter_mut().find(|(known, _)| *known == transaction);
            let Some((_, party)) = of else { continue };
            match state {
                LockState::Waiting => party.waits_for.push(text),
                LockState::Held => party.holds.push(text),
            }
        }
        let parties: Vec<DeadlockParty> = self.parties.drain(..).map(|(_, party)| party).collect();
        if parties.len() >= PARTIES_UNTOLD {
            self.all.push(parties);
        }
        self.part = Part::Outside;
        self.headings = Headings::None;
    }
}

fn begins_one(line: &str) -> bool {
    line.contains("LATEST DETECTED DEADLOCK")
        || line.contains("ransactions deadlock detected")
        || line.contains("END OF INNODB MONITOR OUTPUT")
}

/// `*** (2) TRANSACTION:`
fn heading(line: &str) -> Option<u32> {
    line.strip_prefix("*** (")?.strip_suffix(") TRANSACTION:")?.parse().ok()
}

/// `TRANSACTION 33, ACTIVE …`
fn transaction(line: &str) -> Option<&str> {
    let (number, rest) = line.strip_prefix("TRANSACTION ")?.split_once(',')?;
    rest.trim_start().starts_with("ACTIVE").then_some(number)
}

/// A line of a lock.
fn lock(line: &str) -> Option<Lock> {
    let rest = match line.strip_prefix("RECORD LOCKS ") {
        Some(rest) => &rest[rest.find("index ")?..],
        None => line.strip_prefix("TABLE LOCK ")?,
    };
    let (place, rest) = rest.split_once(" trx id ")?;
    let (transaction, mode) = rest.split_once(' ')?;
    let (mode, state) = match mode.strip_suffix(" waiting") {
        Some(mode) => (mode, LockState::Waiting),
        None => (mode, LockState::Held),
    };
    let mode = mode.replace("lock_mode ", "").replace("lock mode ", "");
    let text = format!("{}: {mode}", place.replace('`', ""));
    Some(Lock { transaction: transaction.to_owned(), text, state })
}

/// Whether a line begins with a date, as each record of a log does.
fn is_stamped(line: &str) -> bool {
    let bytes = line.as_bytes();
    bytes.len() >= 10
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && bytes[7] == b'-'
}
