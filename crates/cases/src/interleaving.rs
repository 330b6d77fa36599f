//! All orders in which the operations of a few small transactions can follow each other.
//!
//! ```text
//!   2x2x2    two transactions, two keys, one or two operations each, and a commit
//!
//!   T1 reads a · T2 writes a · T2 commits · T1 reads b · T1 commits
//! ```
//!
//! Transactions and keys have no names of their own: who comes first is T1, which key is touched
//! first is `a`. A walk that gives names in that order meets each interleaving once up to symmetry.
//! Values need none either, for every write writes another one.

use std::fmt;
use std::str::FromStr;

/// What a transaction does to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyOperation {
    /// Reads it.
    Read(u8),
    /// Writes it.
    Write(u8),
    /// Ends.
    Commit,
}

/// How large interleavings are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterleavingSize {
    /// Transactions, exactly.
    pub transactions: u8,
    /// Keys, at most.
    pub keys: u8,
    /// Operations of a transaction, at least 1 and at most so many; its commit does not count.
    pub operations: u8,
}

/// The largest number of each that is walked through in a moment.
const MOST: u8 = 3;

impl fmt::Display for InterleavingSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.transactions, self.keys, self.operations)
    }
}

impl FromStr for InterleavingSize {
    type Err = String;

    fn from_str(text: &str) -> Result<InterleavingSize, String> {
        let numbers: Vec<Option<u8>> = text.split('x').map(|number| number.parse().ok()).collect();
        let [Some(transactions), Some(keys), Some(operations)] = numbers[..] else {
            return Err(shape_advice());
        };
        let all = [transactions, keys, operations];
        let fits = all.iter().all(|number| (1..=MOST).contains(number)) && transactions >= 2;
        match fits && all.iter().sum::<u8>() <= 7 {
            true => Ok(InterleavingSize { transactions, keys, operations }),
            false => Err(shape_advice()),
        }
    }
}

fn shape_advice() -> String {
    format!(
        "a shape is TRANSACTIONSxKEYSxOPERATIONS, each up to {MOST} and together up to 7, \
                 as 2x2x2 or 3x2x2"
    )
}

/// One order: who does what, step by step. Each transaction ends with its commit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Interleaving {
    /// Transaction, from 0, and what it does.
    pub steps: Vec<(u8, KeyOperation)>,
}

impl fmt::Display for Interleaving {
    /// `T1 reads a, T2 writes a, T1 commits, T2 commits`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = |key: u8| char::from(b'a' + key);
        for (index, (who, what)) in self.steps.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}T{} ", who + 1)?;
            match what {
                KeyOperation::Read(of) => write!(f, "reads {}", key(*of))?,
                KeyOperation::Write(of) => write!(f, "writes {}", key(*of))?,
                KeyOperation::Commit => write!(f, "commits")?,
            }
        }
        Ok(())
    }
}

impl InterleavingSize {
    /// What a transaction may ask after `done` reads and writes, of the first `keys` keys.
    pub fn asked_after(self, done: usize, keys: u8) -> impl Iterator<Item = KeyOperation> {
        let keys = if done < usize::from(self.operations) { keys } else { 0 };
        (0..keys)
            .flat_map(|key| [KeyOperation::Read(key), KeyOperation::Write(key)])
            .chain((done > 0).then_some(KeyOperation::Commit))
    }

    /// How many there are.
    pub fn count(self) -> u64 {
        let mut count = 0;
        self.walk(&mut |_| count += 1);
        count
    }

    /// All of them, or if they are more than `most`, so many at equal distances of the walk, and
    /// which distance from its beginning decides the seed.
    pub fn sample_schedules(self, most: u64, seed: u64) -> Vec<Interleaving> {
        let all = self.count();
        let wanted = most.min(all).max(1);
        let start = dbdyno_model::random::mix_bits(seed) % all.max(1);
        let (mut index, mut chosen) = (0_u64, Vec::new());
        self.walk(&mut |steps| {
            // One of every all / wanted: where the running product passes a multiple of all.
            let place = |at: u64| {
                (u128::from(at) * u128::from(wanted) + u128::from(start)) / u128::from(all)
            };
            if place(index + 1) > place(index) {
                chosen.push(Interleaving { steps: steps.to_vec() });
            }
            index += 1;
        });
        chosen
    }

    fn walk(self, visit: &mut Visit<'_>) {
        let mut walk = Walk { shape: self, steps: Vec::new(), done: Vec::new(), keys: 0, visit };
        walk.go();
    }
}

/// Who a walk shows each interleaving.
type Visit<'a> = dyn FnMut(&[(u8, KeyOperation)]) + 'a;

/// Where a walk is: what was done so far.
struct Walk<'a, 'b> {
    shape: InterleavingSize,
    steps: Vec<(u8, KeyOperation)>,
    /// Operations of each transaction that has begun, and whether it has committed.
    done: Vec<(u8, bool)>,
    /// Keys that were touched.
    keys: u8,
    visit: &'a mut Visit<'b>,
}

impl Walk<'_, '_> {
    fn go(&mut self) {
        let begun = self.done.len();
        if begun == usize::from(self.shape.transactions) && self.done.iter().all(|one| one.1) {
            (self.visit)(&self.steps);
            return;
        }
        for who in 0..begun {
            let (operations, committed) = self.done[who];
            if committed {
                continue;
            }
            self.done[who].1 = true;
            self.step(who, KeyOperation::Commit);
            self.done[who].1 = false;
            if operations < self.shape.operations {
                self.done[who].0 += 1;
                self.touch(who);
                self.done[who].0 -= 1;
            }
        }
        if begun < usize::from(self.shape.transactions) {
            self.done.push((1, false));
            self.touch(begun);
            self.done.pop();
        }
    }

    /// Every key that has a name, and the next one that has none yet.
    fn touch(&mut self, who: usize) {
        let known = self.keys;
        for key in 0..(known + 1).min(self.shape.keys) {
            self.keys = known.max(key + 1);
            self.step(who, KeyOperation::Read(key));
            self.step(who, KeyOperation::Write(key));
        }
        self.keys = known;
    }

    fn step(&mut self, who: usize, what: KeyOperation) {
        self.steps.push((who as u8, what));
        self.go();
        self.steps.pop();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// All interleavings with all names, by the definition.
    fn all_with_names(shape: InterleavingSize) -> Vec<Vec<(u8, KeyOperation)>> {
        fn programs(keys: u8, most: u8) -> Vec<Vec<KeyOperation>> {
            let one: Vec<KeyOperation> = (0..keys)
                .flat_map(|key| [KeyOperation::Read(key), KeyOperation::Write(key)])
                .collect();
            let mut all: Vec<Vec<KeyOperation>> = Vec::new();
            let mut last = vec![Vec::new()];
            for _ in 0..most {
                let longer = |part: &Vec<KeyOperation>| {
                    one.iter().map(|op| [&part[..], &[*op]].concat()).collect::<Vec<_>>()
                };
                last = last.iter().flat_map(longer).collect();
                all.extend(last.iter().cloned());
            }
            all.iter().map(|program| [&program[..], &[KeyOperation::Commit]].concat()).collect()
        }
        fn merge(
            left: &[Vec<KeyOperation>],
            so_far: &[(u8, KeyOperation)],
            out: &mut Vec<Vec<(u8, KeyOperation)>>,
        ) {
            if left.iter().all(Vec::is_empty) {
                out.push(so_far.to_vec());
            }
            for who in 0..left.len() {
                if let Some(first) = left[who].first() {
                    let mut rest = left.to_vec();
                    rest[who].remove(0);
                    merge(&rest, &[so_far, &[(who as u8, *first)]].concat(), out);
                }
            }
        }
        let programs = programs(shape.keys, shape.operations);
        let mut chosen: Vec<Vec<Vec<KeyOperation>>> = vec![Vec::new()];
        for _ in 0..shape.transactions {
            let more = |so_far: &Vec<Vec<KeyOperation>>| {
                programs
                    .iter()
                    .map(|one| [&so_far[..], std::slice::from_ref(one)].concat())
                    .collect::<Vec<_>>()
            };
            chosen = chosen.iter().flat_map(more).collect();
        }
        let mut out = Vec::new();
        chosen.iter().for_each(|programs| merge(programs, &[], &mut out));
        out
    }

    /// The least of all namings.
    fn canonical(steps: &[(u8, KeyOperation)], shape: InterleavingSize) -> Vec<(u8, KeyOperation)> {
        fn orders(count: u8) -> Vec<Vec<u8>> {
            let mut all = vec![vec![]];
            for next in 0..count {
                let with = |order: &Vec<u8>| {
                    (0..=order.len())
                        .map(|at| {
                            let mut order = order.clone();
                            order.insert(at, next);
                            order
                        })
                        .collect::<Vec<_>>()
                };
                all = all.iter().flat_map(with).collect();
            }
            all
        }
        let named = |who: &[u8], keys: &[u8]| -> Vec<(u8, KeyOperation)> {
            let name = |what: KeyOperation| match what {
                KeyOperation::Read(key) => KeyOperation::Read(keys[usize::from(key)]),
                KeyOperation::Write(key) => KeyOperation::Write(keys[usize::from(key)]),
                KeyOperation::Commit => KeyOperation::Commit,
            };
            steps.iter().map(|(of, what)| (who[usize::from(*of)], name(*what))).collect()
        };
        let (people, keys) = (orders(shape.transactions), orders(shape.keys));
        people
            .iter()
            .flat_map(|who| keys.iter().map(move |keys| (who, keys)))
            .map(|(who, keys)| named(who, keys))
            .min()
            .unwrap()
    }

    #[test]
    fn each_is_met_once_up_to_symmetry() {
        for text in ["2x1x1", "2x2x1", "2x2x2", "3x2x1"] {
            let shape: InterleavingSize = text.parse().unwrap();
            let classes: BTreeSet<_> =
                all_with_names(shape).iter().map(|steps| canonical(steps, shape)).collect();
            let walked = shape.sample_schedules(u64::MAX, 0);
            let met: BTreeSet<_> = walked.iter().map(|one| canonical(&one.steps, shape)).collect();
            assert_eq!(met.len(), walked.len(), "{text}: one was met twice");
            assert_eq!(met, classes, "{text}");
        }
    }

    #[test]
    fn a_sample_has_the_size_that_was_asked_for() {
        let shape: InterleavingSize = "2x2x2".parse().unwrap();
        for seed in 0..5 {
            assert_eq!(shape.sample_schedules(100, seed).len(), 100);
        }
    }

    #[test]
    fn shapes_that_nobody_can_wait_for_are_refused() {
        for text in ["", "2", "2x2", "1x2x2", "2x0x2", "3x3x3", "4x2x2", "2x2x2x2", "axbxc"] {
            assert!(text.parse::<InterleavingSize>().is_err(), "{text}");
        }
        assert_eq!("3x2x2".parse::<InterleavingSize>().unwrap().to_string(), "3x2x2");
    }
}
