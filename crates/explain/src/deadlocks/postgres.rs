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

use super::findings::Findings;
use super::lines::Line;
use super::statement::statement_with_holes;

/// Characters before the number of a process, in any language: `Der Prozess `.
const WORDS_MOST: usize = 24;

/// The deadlocks of a log.
pub(super) fn deadlocks(lines: &[Line]) -> Findings {
    let mut reader = Reader::default();
    lines.iter().for_each(|line| reader.line(line));
    reader.close();
    reader.findings
}

/// Whether a line tells who waits for whom.
pub(super) fn is_wait(line: &Line) -> bool {
    wait(unlabelled(line.text.trim()).1).is_some()
}

#[derive(Default)]
struct Reader {
    findings: Findings,
    told: Vec<(u64, DeadlockParty)>,
    /// Where the deadlock was announced that is not told yet.
    announced: Option<usize>,
    part: Part,
    /// Lines that it has taken.
    used: usize,
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
    fn line(&mut self, line: &Line) {
        let text = line.text.trim_end();
        let is_indented = text.starts_with(char::is_whitespace);
        let (label, rest) = unlabelled(text.trim_start());
        if announces(text) {
            self.close();
            self.announced = Some(line.number);
            self.used = 1;
            return;
        }
        let may_wait = self.part != Part::Asks || label.is_some();
        if let Some((process, lock)) = wait(rest).filter(|_| may_wait) {
            if self.part == Part::Behind || (label.is_some() && self.part != Part::Outside) {
                self.close();
            }
            let party = DeadlockParty { waits_for: vec![lock], ..DeadlockParty::default() };
            self.told.push((process, party));
            (self.part, self.used) = (Part::Waits, self.used + 1);
            return;
        }
        if self.part == Part::Outside || self.asks(text.trim_start()) {
            return;
        }
        match self.part {
            Part::Asks if label.is_none() && is_indented => {
                if let Some((_, party)) = self.told.last_mut() {
                    party.statement.push('\n');
                    party.statement.push_str(text.trim_start());
                }
                self.used += 1;
            }
            _ => self.behind(label, rest),
        }
    }

    /// A line behind the details.
    fn behind(&mut self, label: Option<&str>, rest: &str) {
        self.part = Part::Behind;
        if let (Some((_, party)), Some(table)) = (self.told.first_mut(), relation(rest)) {
            party.waits_for.push(format!("a row of {table}"));
            self.used += 1;
        } else if matches!(label, Some("STATEMENT" | "LOG" | "ERROR" | "FATAL")) {
            self.close();
        }
    }

    /// What a process asks: `Process 12: UPDATE …`.
    fn asks(&mut self, text: &str) -> bool {
        let known = number_in(text).and_then(|(process, rest)| {
            let rest = rest.trim_start();
            let sql = rest.strip_prefix(':').or(rest.strip_prefix('：'))?;
            let at = self.told.iter().position(|(known, _)| *known == process)?;
            Some((at, sql.trim_start()))
        });
        let Some((at, sql)) = known else { return false };
        // Lines that follow are of the last one that was told.
        let mut asking = self.told.remove(at);
        sql.clone_into(&mut asking.1.statement);
        self.told.push(asking);
        (self.part, self.used) = (Part::Asks, self.used + 1);
        true
    }

    /// Ends a deadlock. One process alone is none.
    fn close(&mut self) {
        let told = self.told.drain(..).map(|(_, mut party)| {
            party.statement = statement_with_holes(&party.statement, Dialect::Postgres);
            party
        });
        let parties: Vec<DeadlockParty> = told.collect();
        let announced = self.announced.take();
        if parties.len() >= 2 {
            self.findings.deadlocks.push(parties);
            self.findings.used += self.used;
        } else {
            self.findings.unread.extend(announced);
        }
        (self.part, self.used) = (Part::Outside, 0);
    }
}

/// Whether a line announces a deadlock in English, in a log or as a client's error; others are
/// known by their details.
fn announces(text: &str) -> bool {
    let words = text.trim_end_matches(['\'', '"', ')', '.', ' ']).to_ascii_lowercase();
    words.ends_with("deadlock detected") && !text.contains("InnoDB")
}

/// The label of a line and what is behind it: `… DETAIL:  …`. Clients write it as a word, and one
/// blank behind it.
fn unlabelled(text: &str) -> (Option<&str>, &str) {
    let split = text.split_once(":  ").or_else(|| {
        let (label, rest) = text.split_once(": ")?;
        let known = ["Detail", "Hint", "Where", "DETAIL", "HINT", "CONTEXT", "STATEMENT"];
        known.contains(&label.trim()).then_some((label, rest))
    });
    let Some((before, rest)) = split else { return (None, text) };
    // A prefix may end without a blank: `…:[77]:DETAIL`.
    let label = before.trim_end();
    let begin = label.trim_end_matches(char::is_alphabetic).len();
    let label = &label[begin..];
    let is_shouted = |c: char| c.is_alphabetic() && !c.is_lowercase();
    let is_label = label.chars().all(is_shouted) || ["Detail", "Hint", "Where"].contains(&label);
    match !label.is_empty() && is_label {
        true => (Some(label), rest.trim_start()),
        false => (None, text),
    }
}

/// Who waits, and for what: a process, a mode of lock, and behind it who is in the way.
fn wait(text: &str) -> Option<(u64, String)> {
    let (process, rest) = number_in(text)?;
    let mode = rest.split(|c: char| !c.is_ascii_alphabetic());
    let mode = mode.into_iter().find(|word| word.len() > 4 && word.ends_with("Lock"))?;
    number_at_end(rest)?;
    let english = rest.strip_prefix(" waits for ").and_then(|rest| rest.split(';').next());
    Some((process, english.map_or_else(|| mode.to_owned(), general)))
}

/// The first number of a text that has little before it, and what is behind the number.
fn number_in(text: &str) -> Option<(u64, &str)> {
    let at = text.find(|c: char| c.is_ascii_digit())?;
    if text[..at].chars().count() > WORDS_MOST || text[..at].contains([';', '(', '=', '\'']) {
        return None;
    }
    let length = text[at..].find(|c: char| !c.is_ascii_digit())?;
    Some((text[at..at + length].parse().ok()?, &text[at + length..]))
}

/// The number with which a sentence ends, or that stands in its last words.
fn number_at_end(text: &str) -> Option<u64> {
    let mut digits = text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    digits.next_back()?.parse().ok()
}

/// A lock without what is different in each deadlock: `ShareLock on transaction ?`. The numbers of
/// relations are kept, for they are all that is told of a table.
fn general(lock: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in lock.split_whitespace() {
        let is_chance = word.starts_with('(') || words.last() == Some(&"transaction");
        words.push(if is_chance { "?" } else { word });
    }
    words.join(" ")
}

/// The table of a context: `while updating tuple (0,2) in relation "stock"`.
fn relation(context: &str) -> Option<&str> {
    context.split_once("relation \"")?.1.split('"').next()
}
