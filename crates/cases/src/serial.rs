//! Whether what happened is what whole transactions, one after the other, would have done.
//!
//! ```text
//!   allowed    before anything is played: can a scheduler that shows committed values only, and
//!              may show old ones, complete this order at once, so that some serial order does the
//!              same?  (multi-version view serializability without dirty reads)
//!   explains   afterwards: is there a serial order of those that committed, which reads what was
//!              read and leaves what was left?
//! ```
//!
//! Both try all orders of two or three transactions.

use crate::interleaving::{Interleaving, KeyOperation};

/// What a transaction did, with values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueOperation {
    /// It read this value of a key.
    Read(u8, i64),
    /// It wrote this value to a key.
    Write(u8, i64),
}

/// What is in every key at the beginning.
pub(crate) const INITIAL: i64 = 0;

/// The value that step number `step` writes: no two steps write the same.
pub fn value_of(step: usize) -> i64 {
    step as i64 + 1
}

/// Whether serializability allows that an interleaving completes at once.
pub fn is_serializable(schedule: &Interleaving) -> bool {
    let count = schedule.steps.iter().map(|(who, _)| who + 1).max().unwrap_or(0);
    orders(count).iter().any(|order| can_be(schedule, order))
}

/// Whether every read can be answered as this serial order wants it.
fn can_be(schedule: &Interleaving, order: &[u8]) -> bool {
    let commit_of =
        |who: u8| schedule.steps.iter().position(|step| *step == (who, KeyOperation::Commit));
    let writes = |who: u8, key: u8| schedule.steps.contains(&(who, KeyOperation::Write(key)));
    schedule.steps.iter().enumerate().all(|(place, (who, what))| {
        let KeyOperation::Read(key) = *what else { return true };
        if schedule.steps[..place].contains(&(*who, KeyOperation::Write(key))) {
            return true;
        }
        let before = order.iter().take_while(|other| *other != who);
        match before.filter(|other| writes(**other, key)).last() {
            Some(source) => commit_of(*source).is_some_and(|commit| commit < place),
            None => true,
        }
    })
}

/// Whether some serial order of these transactions does what they did and leaves `end`: the value
/// of each key.
pub fn has_serial_order(transactions: &[Vec<ValueOperation>], end: &[i64]) -> bool {
    orders(transactions.len() as u8).iter().any(|order| {
        let mut state = vec![INITIAL; end.len()];
        let mut all = order.iter().flat_map(|who| &transactions[usize::from(*who)]);
        let same = all.all(|done| match *done {
            ValueOperation::Read(key, value) => state[usize::from(key)] == value,
            ValueOperation::Write(key, value) => {
                state[usize::from(key)] = value;
                true
            }
        });
        same && state == end
    })
}

/// All orders of so many.
fn orders(count: u8) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    for next in 0..count {
        all = all
            .iter()
            .flat_map(|order: &Vec<u8>| -> Vec<Vec<u8>> {
                (0..=order.len()).map(|at| [&order[..at], &[next], &order[at..]].concat()).collect()
            })
            .collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interleaving::InterleavingSize;
    use crate::interleaving::KeyOperation::{Commit, Read, Write};

    fn of(steps: &[(u8, KeyOperation)]) -> Interleaving {
        Interleaving { steps: steps.to_vec() }
    }

    #[test]
    fn known_schedules_are_told_apart() {
        // Read skew can be read from a snapshot; write skew and a lost update cannot be mended.
        let skew =
            [(0, Read(0)), (1, Write(0)), (1, Write(1)), (1, Commit), (0, Read(1)), (0, Commit)];
        let write_skew =
            [(0, Read(0)), (1, Read(1)), (0, Write(1)), (1, Write(0)), (0, Commit), (1, Commit)];
        let lost =
            [(0, Read(0)), (1, Read(0)), (0, Write(0)), (0, Commit), (1, Write(0)), (1, Commit)];
        let blind =
            [(0, Write(0)), (1, Write(0)), (1, Write(1)), (0, Write(1)), (0, Commit), (1, Commit)];
        assert!(is_serializable(&of(&skew)) && is_serializable(&of(&blind)));
        assert!(!is_serializable(&of(&write_skew)) && !is_serializable(&of(&lost)));
    }

    #[test]
    fn who_runs_alone_is_always_allowed_and_explained() {
        for schedule in "2x2x2".parse::<InterleavingSize>().unwrap().sample_schedules(u64::MAX, 0) {
            let serial =
                schedule.steps.windows(2).all(|pair| pair[0].0 == pair[1].0 || pair[0].1 == Commit);
            assert!(!serial || is_serializable(&schedule), "{schedule}");
        }
    }

    #[test]
    fn results_are_explained_by_an_order_or_by_none() {
        let (a, b) = (
            vec![ValueOperation::Read(0, 0), ValueOperation::Write(0, 1)],
            vec![ValueOperation::Read(0, 0), ValueOperation::Write(0, 2)],
        );
        assert!(!has_serial_order(&[a.clone(), b.clone()], &[2]), "a lost update");
        let later = vec![ValueOperation::Read(0, 1), ValueOperation::Write(0, 2)];
        assert!(
            has_serial_order(&[a.clone(), later.clone()], &[2])
                && has_serial_order(&[later, a], &[2])
        );
        assert!(has_serial_order(&[], &[0]) && !has_serial_order(&[], &[1]));
        assert!(!has_serial_order(&[b], &[0]), "a write that is not there");
    }

    /// What is allowed is completed by reading as the serial order wants it.
    #[test]
    fn an_allowed_schedule_has_a_result_that_is_explained() {
        for schedule in "2x2x2".parse::<InterleavingSize>().unwrap().sample_schedules(u64::MAX, 0) {
            let found = orders(2).into_iter().find(|order| can_be(&schedule, order));
            let Some(order) = found else { continue };
            let (mut done, mut end) = (vec![Vec::new(), Vec::new()], vec![INITIAL; 2]);
            for who in &order {
                for (place, (of, what)) in schedule.steps.iter().enumerate() {
                    if of != who {
                        continue;
                    }
                    let own = &mut done[usize::from(*who)];
                    match *what {
                        Read(key) => own.push(ValueOperation::Read(key, end[usize::from(key)])),
                        Write(key) => {
                            end[usize::from(key)] = value_of(place);
                            own.push(ValueOperation::Write(key, value_of(place)));
                        }
                        Commit => {}
                    }
                }
            }
            assert!(has_serial_order(&done, &end), "{schedule}");
        }
    }
}
