//! Who blocks whom: open transactions as a tree of waiting.
//!
//! ```text
//!   7, open for 320 s, idle
//!     ◀ 9, open for 12 s: UPDATE stock SET qty = ? WHERE w = ?
//!         ◀ 11, open for 3 s: DELETE FROM stock WHERE w = ?
//! ```
//!
//! At the left stands who waits for nobody. Who waits for several stands beneath the first of them
//! that is there.

use std::collections::BTreeSet;

use dbdyno_model::Dialect;

use crate::deadlocks::statement_with_holes;

/// A transaction that is open, and the session that has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenTransaction {
    /// The number of the session.
    pub session: u64,
    /// Seconds since it began.
    pub age_s: u64,
    /// What it asks at this moment; empty where it is idle.
    pub statement: String,
    /// Sessions that it waits for.
    pub waits_for: Vec<u64>,
}

/// Open transactions that are older than this, or that others wait for, or that wait.
const AGE_LEAST_S: u64 = 2;
/// How many are told.
const TOLD_MOST: usize = 12;

/// The tree, a line for each transaction, the oldest of those that wait for nobody first; empty
/// where nobody waits and no transaction is old.
pub fn blockers(open: &[OpenTransaction], dialect: Dialect) -> Vec<String> {
    let is_waited_for =
        |one: &OpenTransaction| open.iter().any(|other| other.waits_for.contains(&one.session));
    let is_told = |one: &&OpenTransaction| {
        one.age_s >= AGE_LEAST_S || !one.waits_for.is_empty() || is_waited_for(one)
    };
    let mut told: Vec<&OpenTransaction> = open.iter().filter(is_told).collect();
    told.sort_by_key(|one| (std::cmp::Reverse(one.age_s), one.session));
    let is_there = |session: &u64| told.iter().any(|one| one.session == *session);
    let mut tree = Tree { all: &told, dialect, seen: BTreeSet::new(), lines: Vec::new() };
    // Those that wait for each other in a circle have no root; they come last.
    let roots = told.iter().filter(|one| !one.waits_for.iter().any(is_there));
    for one in roots.chain(&told) {
        tree.below(one, 0);
    }
    let mut lines = tree.lines;
    if lines.len() > TOLD_MOST {
        let more = lines.len() - TOLD_MOST;
        lines.truncate(TOLD_MOST);
        lines.push(format!("and {more} more"));
    }
    lines
}

/// The lines of a tree as they come.
struct Tree<'a> {
    all: &'a [&'a OpenTransaction],
    dialect: Dialect,
    seen: BTreeSet<u64>,
    lines: Vec<String>,
}

impl Tree<'_> {
    fn below(&mut self, one: &OpenTransaction, depth: usize) {
        if !self.seen.insert(one.session) {
            return;
        }
        let asks = match one.statement.trim() {
            "" => ", idle".to_owned(),
            statement => format!(": {}", statement_with_holes(statement, self.dialect)),
        };
        let mark = if depth == 0 { "" } else { "◀ " };
        let inset = "  ".repeat(depth);
        self.lines.push(format!("{inset}{mark}{}, open for {} s{asks}", one.session, one.age_s));
        for waiting in self.all.iter().filter(|other| other.waits_for.contains(&one.session)) {
            self.below(waiting, depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(session: u64, age_s: u64, statement: &str, waits_for: &[u64]) -> OpenTransaction {
        let (statement, waits_for) = (statement.to_owned(), waits_for.to_vec());
        OpenTransaction { session, age_s, statement, waits_for }
    }

    #[test]
    fn who_waits_stands_beneath_who_blocks() {
        let lines = blockers(
            &[
                open(11, 3, "DELETE FROM t WHERE w = 5", &[9]),
                open(9, 12, "UPDATE t SET a = 1", &[7]),
                open(7, 320, "", &[]),
                open(8, 0, "SELECT 1", &[]),
            ],
            Dialect::Mysql,
        );
        assert_eq!(
            lines,
            [
                "7, open for 320 s, idle",
                "  ◀ 9, open for 12 s: UPDATE t SET a = ?",
                "    ◀ 11, open for 3 s: DELETE FROM t WHERE w = ?",
            ]
        );
    }

    #[test]
    fn circles_end_and_crowds_are_counted() {
        let circle = blockers(&[open(1, 5, "a", &[2]), open(2, 5, "b", &[1])], Dialect::Mysql);
        assert_eq!(circle.len(), 2, "{circle:?}");
        let crowd: Vec<OpenTransaction> = (0..40).map(|id| open(id, 9, "", &[])).collect();
        let lines = blockers(&crowd, Dialect::Mysql);
        assert_eq!((lines.len(), lines[12].as_str()), (13, "and 28 more"));
        assert!(blockers(&[], Dialect::Mysql).is_empty());
    }
}
