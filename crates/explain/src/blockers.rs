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

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_model::{Dialect, OpenTransaction};

use crate::deadlocks::statement_with_holes;

/// Open transactions that are older than this, or that others wait for, or that wait.
const AGE_LEAST_S: u64 = 2;
/// How many are told.
const TOLD_MOST: usize = 12;

/// The tree, a line for each transaction, the oldest of those that wait for nobody first; empty
/// where nobody waits and no transaction is old. Each is looked at once for each session that it
/// waits for, and a line is indented as deep as lines are told: a server says what it likes, and
/// thirty thousand that wait for each other in a row were a stack that overflowed.
pub fn blocker_tree(open: &[OpenTransaction], dialect: Dialect) -> Vec<String> {
    let waited_for: BTreeSet<u64> =
        open.iter().flat_map(|one| one.waits_for.iter().copied()).collect();
    let is_told = |one: &&OpenTransaction| {
        one.age_s >= AGE_LEAST_S || !one.waits_for.is_empty() || waited_for.contains(&one.session)
    };
    let mut told: Vec<&OpenTransaction> = open.iter().filter(is_told).collect();
    told.sort_by_key(|one| (std::cmp::Reverse(one.age_s), one.session));
    let there: BTreeSet<u64> = told.iter().map(|one| one.session).collect();
    let mut waiting: BTreeMap<u64, Vec<&OpenTransaction>> = BTreeMap::new();
    for one in &told {
        for session in one.waits_for.iter().collect::<BTreeSet<_>>() {
            waiting.entry(*session).or_default().push(one);
        }
    }
    // Those that wait for each other in a circle have no root; they come last.
    let roots = told.iter().filter(|one| !one.waits_for.iter().any(|of| there.contains(of)));
    let mut seen = BTreeSet::new();
    let mut lines = Vec::new();
    for root in roots.chain(&told) {
        let mut left = vec![(*root, 0)];
        while let Some((one, depth)) = left.pop() {
            if !seen.insert(one.session) {
                continue;
            }
            if lines.len() < TOLD_MOST {
                lines.push(line(one, depth, dialect));
            }
            let below = waiting.get(&one.session).into_iter().flatten().rev();
            left.extend(below.map(|other| (*other, depth + 1)));
        }
    }
    if seen.len() > lines.len() {
        lines.push(format!("and {} more", seen.len() - lines.len()));
    }
    lines
}

fn line(one: &OpenTransaction, depth: usize, dialect: Dialect) -> String {
    let asks = match one.statement.trim() {
        "" => ", idle".to_owned(),
        statement => format!(": {}", statement_with_holes(statement, dialect)),
    };
    let mark = if depth == 0 { "" } else { "◀ " };
    let inset = "  ".repeat(depth);
    format!("{inset}{mark}{}, open for {} s{asks}", one.session, one.age_s)
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
        let lines = blocker_tree(
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
        let circle = blocker_tree(&[open(1, 5, "a", &[2]), open(2, 5, "b", &[1])], Dialect::Mysql);
        assert_eq!(circle.len(), 2, "{circle:?}");
        let crowd: Vec<OpenTransaction> = (0..40).map(|id| open(id, 9, "", &[])).collect();
        let lines = blocker_tree(&crowd, Dialect::Mysql);
        assert_eq!((lines.len(), lines[12].as_str()), (13, "and 28 more"));
        assert!(blocker_tree(&[], Dialect::Mysql).is_empty());
    }

    /// Each of a hundred thousand waits for the one before it, and a thousand for all the others.
    #[test]
    fn a_row_of_waiting_is_as_long_as_a_server_says() {
        let row: Vec<OpenTransaction> =
            (0..100_000).map(|id| open(id, 9, "", &[id.wrapping_sub(1)])).collect();
        let lines = blocker_tree(&row, Dialect::Mysql);
        assert_eq!((lines.len(), lines[12].as_str()), (13, "and 99988 more"));
        assert!(lines[11].starts_with(&"  ".repeat(11)), "{lines:?}");
        let ids: Vec<u64> = (0..1_000).collect();
        let crowd: Vec<OpenTransaction> = ids.iter().map(|id| open(*id, 9, "", &ids)).collect();
        assert_eq!(blocker_tree(&crowd, Dialect::Mysql)[12], "and 988 more");
    }
}
