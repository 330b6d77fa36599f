//! Deadlocks of PostgreSQL, which logs each of them as an error with its details.
//!
//! ```text
//!   … ERROR:  deadlock detected
//!   … DETAIL:  Process 12 waits for ShareLock on transaction 7; blocked by process 13.
//!   ⇥ Process 13 waits for ShareLock on transaction 8; blocked by process 12.
//!   ⇥ Process 12: UPDATE stock SET …
//!   … CONTEXT:  while updating tuple (0,2) in relation "stock"     ◀── of who gave way, the first
//! ```

use dbdyno_model::{DeadlockParty, Dialect};

use super::statement::statement_with_holes;

/// The deadlocks of a text.
pub(super) fn deadlocks(text: &str) -> Vec<Vec<DeadlockParty>> {
    let mut all: Vec<Vec<DeadlockParty>> = Vec::new();
    let mut told: Vec<(String, DeadlockParty)> = Vec::new();
    let mut part = Part::Outside;
    for line in text.lines() {
        let detail = line.split_once("DETAIL:").map(|(_, detail)| detail.trim_start());
        let further = line.strip_prefix('\t');
        if line.contains("ERROR:") && line.trim_end().ends_with("deadlock detected") {
            close(&mut told, &mut all);
            part = Part::Begun;
        } else if part == Part::Outside {
            continue;
        } else if let Some(line) = detail.or(further) {
            part = Part::Details;
            detail_of(&mut told, line);
        } else if let Some((_, context)) = line.split_once("CONTEXT:") {
            if let (Some((_, party)), Some(table)) = (told.first_mut(), relation(context)) {
                party.waits_for.push(format!("a row of {table}"));
            }
        } else if line.contains("STATEMENT:") {
            close(&mut told, &mut all);
            part = Part::Outside;
        }
    }
    close(&mut told, &mut all);
    all
}

/// Where in the account of a deadlock a line stands.
#[derive(PartialEq)]
enum Part {
    Outside,
    Begun,
    Details,
}

/// Ends a deadlock. One process alone is none.
fn close(told: &mut Vec<(String, DeadlockParty)>, all: &mut Vec<Vec<DeadlockParty>>) {
    let parties: Vec<DeadlockParty> = told
        .drain(..)
        .map(|(_, mut party)| {
            party.statement = statement_with_holes(&party.statement, Dialect::Postgres);
            party
        })
        .collect();
    if parties.len() >= 2 {
        all.push(parties);
    }
}

/// One line: who waits for what, what it asks, or more of what the one before asks.
fn detail_of(told: &mut Vec<(String, DeadlockParty)>, line: &str) {
    let process = line.strip_prefix("Process ");
    let waits = process.and_then(|rest| rest.split_once(" waits for "));
    if let Some((process, rest)) = waits {
        let lock = rest.split(';').next().unwrap_or(rest);
        let party = DeadlockParty { waits_for: vec![general(lock)], ..DeadlockParty::default() };
        told.push((process.to_owned(), party));
        return;
    }
    let asks = process.and_then(|rest| rest.split_once(": "));
    let known = asks.and_then(|(process, sql)| {
        let at = told.iter().position(|(known, _)| known == process)?;
        Some((at, sql))
    });
    match known {
        Some((at, sql)) => {
            // Lines that follow are of the last one that was told.
            let mut asking = told.remove(at);
            asking.1.statement = sql.to_owned();
            told.push(asking);
        }
        None => {
            if let Some((_, party)) =
                told.last_mut().filter(|(_, party)| !party.statement.is_empty())
            {
                party.statement.push('\n');
                party.statement.push_str(line);
            }
        }
    }
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
