//! Every small history, judged twice: by graphs, and by trying every execution.
//!
//! The oracle knows no graph. It tries all orders of the transactions and asks of each whether the
//! states that it makes give the answers that were seen, which is how Crooks, Pu, Alvisi and
//! Clement define the levels (*Seeing is Believing*, PODC 2017).

use dbdyno_check::{
    Builder, Checker, History, INITIAL, Level, LevelVerdict, Op, OperationKind, Times,
    TransactionOutcome, Txn, UNKNOWN, replay, retrace_violation,
};

/// Levels that the oracle can judge.
const LEVELS: [Level; 15] = [
    Level::ReadUncommitted,
    Level::ReadCommitted,
    Level::MonotonicAtomicView,
    Level::ReadYourWrites,
    Level::MonotonicReads,
    Level::MonotonicWrites,
    Level::WritesFollowReads,
    Level::MonotonicReadCommitted,
    Level::ReadAtomic,
    Level::Causal,
    Level::InnodbRepeatableRead,
    Level::RepeatableRead,
    Level::SnapshotIsolation,
    Level::ViewSerializable,
    Level::Serializable,
];

/// Transactions with values that are numbered through, and per key the writers in the order of
/// their versions.
#[derive(Clone, Debug)]
struct Small {
    txns: Vec<Vec<(OperationKind, usize, u32)>>,
    orders: Vec<Vec<usize>>,
}

impl Small {
    /// The last own write of `key` before `place`.
    fn own(&self, txn: usize, place: usize, key: usize) -> Option<u32> {
        let mut before = self.txns[txn][..place].iter().rev();
        before.find(|op| op.0 == OperationKind::Write && op.1 == key).map(|op| op.2)
    }

    /// What it leaves at `key`.
    fn last(&self, txn: usize, key: usize) -> Option<u32> {
        self.own(txn, self.txns[txn].len(), key)
    }

    /// Reads that say something about others: kind, key, value.
    fn external(&self, txn: usize) -> impl Iterator<Item = (OperationKind, usize, u32)> {
        let all = self.txns[txn].iter().enumerate();
        all.filter(move |(at, op)| {
            op.0 != OperationKind::Write && self.own(txn, *at, op.1).is_none()
        })
        .map(|(_, op)| *op)
    }

    fn is_consistent_inside(&self) -> bool {
        (0..self.txns.len()).all(|txn| {
            self.txns[txn].iter().enumerate().all(|(at, op)| {
                let own = if op.0 == OperationKind::Write { None } else { self.own(txn, at, op.1) };
                own.is_none_or(|own| own == op.2)
            })
        })
    }

    /// The state after the first `count` transactions of an order.
    fn state(&self, order: &[usize], count: usize, key: usize) -> u32 {
        order[..count].iter().rev().find_map(|&txn| self.last(txn, key)).unwrap_or(INITIAL)
    }

    fn is_right(&self, level: Level) -> bool {
        if level != Level::ReadUncommitted && !self.is_consistent_inside() {
            return false;
        }
        let is_monotonic = level != Level::MonotonicAtomicView || self.keeps_in_view();
        is_monotonic && permutations(self.txns.len()).iter().any(|order| self.fits(order, level))
    }

    fn fits(&self, order: &[usize], level: Level) -> bool {
        let visibility = [
            Level::ReadYourWrites,
            Level::MonotonicReads,
            Level::MonotonicWrites,
            Level::WritesFollowReads,
            Level::MonotonicReadCommitted,
            Level::ReadAtomic,
            Level::Causal,
        ];
        if visibility.contains(&level) {
            return self.is_visible(order, level);
        }
        if level == Level::ViewSerializable {
            let last = |(key, writers): (usize, &Vec<usize>)| {
                let known = writers.last().and_then(|writer| self.last(*writer, key));
                self.state(order, order.len(), key) == known.unwrap_or(INITIAL)
            };
            let mut commits = order.iter().enumerate();
            return self.orders.iter().enumerate().all(last)
                && commits.all(|(at, &txn)| self.commits(order, at, txn, Level::Serializable));
        }
        let agrees = self.orders.iter().enumerate().all(|(key, writers)| {
            let mut own = order.iter().filter(|txn| self.last(**txn, key).is_some());
            writers.iter().all(|writer| own.next() == Some(writer))
        });
        agrees && order.iter().enumerate().all(|(at, &txn)| self.commits(order, at, txn, level))
    }

    fn commits(&self, order: &[usize], at: usize, txn: usize, level: Level) -> bool {
        let is_at = |key, value, count| self.state(order, count, key) == value;
        match level {
            Level::ReadUncommitted => true,
            Level::ReadCommitted | Level::MonotonicAtomicView => {
                let mut reads = self.external(txn);
                reads.all(|(_, key, value)| (0..=at).any(|n| self.state(order, n, key) == value))
            }
            Level::SnapshotIsolation => (0..=at).any(|snapshot| {
                let mut keys = 0..self.orders.len();
                let has_conflict = keys.any(|key| {
                    let is_mine = self.last(txn, key).is_some();
                    let mut between = order[snapshot..at].iter();
                    is_mine && between.any(|other| self.last(*other, key).is_some())
                });
                let mut reads = self.external(txn);
                !has_conflict && reads.all(|(_, key, value)| is_at(key, value, snapshot))
            }),
            Level::InnodbRepeatableRead => (0..=at).any(|view| {
                self.external(txn).all(|(kind, key, value)| {
                    let count = if kind == OperationKind::Read { view } else { at };
                    is_at(key, value, count)
                })
            }),
            _ => self.external(txn).all(|(_, key, value)| is_at(key, value, at)),
        }
    }

    /// Transactions two and three, counted from 0, are of one session.
    fn session(txn: usize) -> usize {
        txn.min(1)
    }

    /// The definition of Biswas and Enea, tried out: pairs of who must be seen by whom, and an
    /// order in which nobody reads what one of those overwrote.
    fn is_visible(&self, order: &[usize], level: Level) -> bool {
        let count = self.txns.len();
        let place = |txn: usize| order.iter().position(|other| *other == txn).unwrap();
        let writer = |key: usize, value: u32| {
            (0..count).find(|w| value != INITIAL && self.last(*w, key) == Some(value))
        };
        let session =
            |one: usize, two: usize| one < two && Small::session(one) == Small::session(two);
        let read = |one: usize, two: usize| {
            self.external(two).any(|(_, key, value)| writer(key, value) == Some(one))
        };
        let all = || (0..count).flat_map(|one| (0..count).map(move |two| (one, two)));
        let is_forward = |(one, two): (usize, usize)| {
            !(one != two && (session(one, two) || read(one, two))) || place(one) < place(two)
        };
        let told = self.orders.iter().all(|key| key.is_sorted_by_key(|txn| place(*txn)));
        let mut must: Vec<(usize, usize)> = all()
            .filter(|&(one, two)| match level {
                Level::ReadYourWrites => session(one, two),
                Level::MonotonicReads => (0..count).any(|t| read(one, t) && session(t, two)),
                Level::MonotonicWrites => (0..count).any(|t| session(one, t) && read(t, two)),
                Level::WritesFollowReads => (0..count).any(|t| {
                    let had_read = |u: usize| read(one, u) && (u == t || session(u, t));
                    read(t, two) && (0..count).any(had_read)
                }),
                _ => one != two && (session(one, two) || read(one, two)),
            })
            .collect();
        if level == Level::Causal {
            for middle in 0..count {
                let longer: Vec<(usize, usize)> = all()
                    .filter(|(one, two)| {
                        must.contains(&(*one, middle)) && must.contains(&(middle, *two))
                    })
                    .collect();
                must.extend(longer);
            }
        }
        let is_written = (0..count).all(|txn| {
            self.external(txn).all(|(_, key, value)| {
                value == INITIAL || writer(key, value).is_some_and(|writer| writer != txn)
            })
        });
        if level == Level::MonotonicReadCommitted {
            must.clear();
        }
        // Who was read before is not missed by a later read: of its own for each read.
        let is_monotonic = (0..count).all(|txn| {
            let reads: Vec<_> = self.external(txn).collect();
            (0..reads.len()).all(|at| {
                let (_, key, value) = reads[at];
                reads[..at].iter().all(|(_, earlier, its)| {
                    let Some(seen) = writer(*earlier, *its) else { return true };
                    let source = writer(key, value);
                    let is_other = source != Some(seen) && self.last(seen, key).is_some();
                    !is_other || source.is_some_and(|source| place(seen) < place(source))
                })
            })
        });
        told && is_written
            && (level != Level::MonotonicReadCommitted || is_monotonic)
            && all().all(is_forward)
            && must.iter().all(|&(seen, txn)| {
                self.external(txn).all(|(_, key, value)| {
                    let source = writer(key, value);
                    let is_other = source != Some(seen) && self.last(seen, key).is_some();
                    !is_other || source.is_some_and(|source| place(seen) < place(source))
                })
            })
    }

    /// Once a write of a transaction was read, its other writes are not missed.
    fn keeps_in_view(&self) -> bool {
        let place = |key: usize, value: u32| {
            let mut writers = self.orders[key].iter();
            writers.position(|writer| self.last(*writer, key) == Some(value)).map_or(0, |at| at + 1)
        };
        (0..self.txns.len()).all(|txn| {
            let reads: Vec<_> = self.external(txn).collect();
            reads.iter().enumerate().all(|(at, seen)| {
                let mut all = 0..self.txns.len();
                let Some(writer) = all.find(|w| self.last(*w, seen.1) == Some(seen.2)) else {
                    return true;
                };
                reads[at + 1..].iter().all(|later| {
                    let wanted = self.last(writer, later.1).map_or(0, |own| place(later.1, own));
                    place(later.1, later.2) >= wanted
                })
            })
        })
    }

    /// With or without what each write replaced.
    fn history(&self, is_order_told: bool) -> History {
        let mut builder = Builder::new();
        let names = ["x", "y"];
        let keys = names.map(|name| builder.key(name));
        let mut before = vec![INITIAL; 64];
        for (key, writers) in self.orders.iter().enumerate() {
            let mut last = INITIAL;
            for &writer in writers {
                for op in self.txns[writer]
                    .iter()
                    .filter(|op| op.0 == OperationKind::Write && op.1 == key)
                {
                    before[op.2 as usize] = last;
                    last = op.2;
                }
            }
        }
        let mut ids = vec![INITIAL; 64];
        for op in self.txns.iter().flatten().filter(|op| op.0 == OperationKind::Write) {
            ids[op.2 as usize] =
                builder.value(keys[op.1], ["a", "b", "c", "d", "e", "f", "g"][op.2 as usize]);
        }
        for (session, ops) in self.txns.iter().enumerate() {
            let ops: Vec<Op> = ops
                .iter()
                .map(|&(kind, key, value)| {
                    let is_write = kind == OperationKind::Write;
                    let prev = if is_write && is_order_told {
                        ids[before[value as usize] as usize]
                    } else {
                        UNKNOWN
                    };
                    Op { key: keys[key], value: ids[value as usize], prev, kind }
                })
                .collect();
            let session = Small::session(session) as u32;
            let (outcome, times) = (TransactionOutcome::Ok, Times::default());
            builder.push(Txn { session, outcome, times, token: 0 }, &ops);
        }
        builder.finish()
    }
}

pub(crate) fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for next in 0..count {
        all = all
            .iter()
            .flat_map(|order| {
                (0..=order.len()).map(move |at| {
                    let mut longer = order.clone();
                    longer.insert(at, next);
                    longer
                })
            })
            .collect();
    }
    all
}

/// All lists of at most `most` operations, without values.
fn shapes(
    kinds: &[OperationKind],
    keys: usize,
    most: usize,
) -> Vec<Vec<(OperationKind, usize, u32)>> {
    let mut all = vec![vec![]];
    let mut longest = all.clone();
    for _ in 0..most {
        longest = longest
            .iter()
            .flat_map(|shape: &Vec<(OperationKind, usize, u32)>| {
                let next =
                    kinds.iter().flat_map(move |&kind| (0..keys).map(move |key| (kind, key)));
                next.map(move |(kind, key)| [&shape[..], &[(kind, key, 0)]].concat())
            })
            .collect();
        all.extend(longest.clone());
    }
    all
}

/// Gives every history of these transactions: all values that reads may have seen, all orders.
fn histories(
    mut txns: Vec<Vec<(OperationKind, usize, u32)>>,
    keys: usize,
    give: &mut impl FnMut(&Small, &[Vec<Vec<usize>>]),
) {
    let writes = txns.iter_mut().flatten().filter(|op| op.0 == OperationKind::Write);
    for (next, op) in (1..).zip(writes) {
        op.2 = next;
    }
    let writers = |key: usize| {
        let wrote =
            |txn: &usize| txns[*txn].iter().any(|op| op.0 == OperationKind::Write && op.1 == key);
        (0..txns.len()).filter(wrote).collect::<Vec<usize>>()
    };
    let mut orders: Vec<Vec<Vec<usize>>> = vec![vec![]];
    for key in 0..keys {
        let own = writers(key);
        let all = permutations(own.len());
        orders = orders
            .iter()
            .flat_map(|before| {
                let own = &own;
                all.iter().map(move |order| {
                    let named = order.iter().map(|at| own[*at]).collect();
                    [&before[..], &[named]].concat()
                })
            })
            .collect();
    }
    let reads: Vec<(usize, usize)> = (0..txns.len())
        .flat_map(|txn| (0..txns[txn].len()).map(move |at| (txn, at)))
        .filter(|(txn, at)| txns[*txn][*at].0 != OperationKind::Write)
        .collect();
    let written = |key: usize| {
        let own = txns.iter().flatten().filter(|op| op.0 == OperationKind::Write && op.1 == key);
        std::iter::once(INITIAL).chain(own.map(|op| op.2)).collect::<Vec<u32>>()
    };
    let choices: Vec<Vec<u32>> = reads.iter().map(|(t, at)| written(txns[*t][*at].1)).collect();
    let total: usize = choices.iter().map(Vec::len).product();
    for mut number in 0..total {
        let mut small = Small { txns: txns.clone(), orders: Vec::new() };
        for ((txn, at), values) in reads.iter().zip(&choices) {
            small.txns[*txn][*at].2 = values[number % values.len()];
            number /= values.len();
        }
        small.orders.clone_from(&orders[0]);
        give(&small, &orders);
    }
}

/// Histories at which both judges were asked, and those that have each level.
#[derive(Default)]
struct Tally {
    asked: u64,
    right: [u64; LEVELS.len()],
    /// How often another level than the one asked for would have been told apart.
    canary: u64,
    /// Histories of which every order of versions has a cycle, though what is known has none.
    no_order: u64,
}

fn judge(small: &Small, tally: &mut Tally) {
    let history = small.history(true);
    let checker = Checker::new(&history);
    tally.asked += 1;
    let mut is_serializable = false;
    for (place, level) in LEVELS.into_iter().enumerate() {
        let wanted = small.is_right(level);
        let verdict = checker.level_verdict(level);
        let is_right = matches!(verdict, LevelVerdict::Holds(_));
        assert_eq!(is_right, wanted, "{level}: {small:?}: {verdict:?}");
        if let LevelVerdict::Holds(proof) = &verdict {
            assert_eq!(replay(&history, level, proof), Ok(()), "{level}: {small:?}");
            tally.right[place] += 1;
            is_serializable = level == Level::Serializable;
        } else {
            let proof = retrace_violation(&history, level, &verdict);
            assert_eq!(proof, Ok(()), "{level}: {small:?}: {verdict:?}");
        }
    }
    tally.canary += u64::from(small.is_right(Level::SnapshotIsolation) != is_serializable);
}

/// The history without the order of its versions has a level if it has it with one of them.
fn judge_hidden(small: &mut Small, orders: &[Vec<Vec<usize>>], tally: &mut Tally) {
    let history = small.history(false);
    let checker = Checker::new(&history);
    tally.asked += 1;
    for (place, level) in LEVELS.into_iter().enumerate() {
        let wanted = orders.iter().any(|order| {
            small.orders.clone_from(order);
            small.is_right(level)
        });
        let verdict = checker.level_verdict(level);
        let is_right = matches!(verdict, LevelVerdict::Holds(_));
        assert_eq!(is_right, wanted, "{level}: {small:?}: {verdict:?}");
        if !is_right {
            let proof = retrace_violation(&history, level, &verdict);
            assert_eq!(proof, Ok(()), "{level}: {small:?}: {verdict:?}");
        }
        match &verdict {
            LevelVerdict::Holds(proof) => {
                assert_eq!(replay(&history, level, proof), Ok(()), "{level}: {small:?}");
                tally.right[place] += 1;
            }
            LevelVerdict::NoOrder(_, cycles) => {
                tally.no_order += 1;
                assert!(cycles.len() > 1, "{level}: {small:?}: {verdict:?}");
            }
            _ => {}
        }
    }
}

fn all_of(count: usize, kinds: &[OperationKind], most: usize) -> Tally {
    let shapes = shapes(kinds, 2, most);
    let mut tally = Tally::default();
    let mut chosen = vec![0; count];
    loop {
        let txns = chosen.iter().map(|at| shapes[*at].clone()).collect();
        histories(txns, 2, &mut |small, orders| {
            let mut small = small.clone();
            for order in orders {
                small.orders.clone_from(order);
                judge(&small, &mut tally);
            }
            if orders.len() > 1 {
                judge_hidden(&mut small, orders, &mut tally);
            }
        });
        // The next choice that does not fall: transactions have no names, so that order is enough.
        let Some(at) = (0..count).rev().find(|at| chosen[*at] + 1 < shapes.len()) else {
            return tally;
        };
        let next = chosen[at] + 1;
        chosen[at..].fill(next);
    }
}

fn assert_telling(tally: &Tally) {
    let both = |right: &u64| *right > 0 && *right < tally.asked;
    assert!(tally.right[1..].iter().all(both), "{:?} of {}", tally.right, tally.asked);
    assert!(tally.canary > 0, "histories that tell levels apart are among those that were tried");
}

#[test]
fn two_transactions_of_up_to_three_operations() {
    assert_telling(&all_of(2, &[OperationKind::Read, OperationKind::Write], 3));
}

#[test]
fn two_transactions_with_current_reads() {
    assert_telling(&all_of(
        2,
        &[OperationKind::Read, OperationKind::CurrentRead, OperationKind::Write],
        2,
    ));
}

#[test]
fn three_transactions_of_up_to_two_operations() {
    let tally = all_of(3, &[OperationKind::Read, OperationKind::Write], 2);
    assert_telling(&tally);
    assert!(tally.no_order > 0, "histories that no order explains are among them");
}
