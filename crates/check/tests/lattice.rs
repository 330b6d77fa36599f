//! Verdicts on all levels of one history do not contradict each other, and those of levels with
//! sessions and real time are what trying all executions says.

use dbdyno_check::{
    Builder, Checker, History, INITIAL, Kind, Level, Op, Outcome, Times, Txn, UNKNOWN, Verdict,
    read_history, replay,
};
use proptest::prelude::*;

/// Splitmix64: Steele, Lea, Flood, *Fast splittable pseudorandom number generators*, 2014.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % bound as u64) as usize
    }
}

/// One transaction: operations with the writer whose version was read, or is replaced.
#[derive(Clone, Debug)]
struct Small {
    session: usize,
    begin: u64,
    end: u64,
    /// Kind, key, and of reads whose version was seen: one more than the transaction, 0 of nobody.
    ops: Vec<(Kind, usize, usize)>,
}

const KEYS: usize = 2;

impl Small {
    fn writes(&self, key: usize) -> bool {
        self.ops.iter().any(|op| op.0 == Kind::Write && op.1 == key)
    }

    /// Reads of what others wrote: key and writer.
    fn reads(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.ops.iter().filter(|op| op.0 != Kind::Write).map(|op| (op.1, op.2))
    }
}

/// Transactions in the order of completion, each key of each transaction read before it is written
/// and at most once, as a store with stale snapshots would answer now and then.
fn drawn_at_random(seed: u64, kinds: &[Kind]) -> Vec<Small> {
    let mut random = Random(seed);
    let count = 2 + random.below(3);
    let is_timed = random.below(2) == 0;
    let mut all: Vec<Small> = Vec::new();
    for txn in 0..count {
        let session = random.below(2);
        let end = 20 * txn as u64 + 20;
        let own = all.iter().rev().find(|other| other.session == session);
        let least = own.filter(|_| is_timed).map_or(1, |own| own.end + 1);
        let begin = (end - 1 - random.below(45) as u64 % end).max(least);
        let mut ops = Vec::new();
        for key in 0..KEYS {
            let writers: Vec<usize> =
                (0..txn).filter(|w| all[*w].writes(key)).map(|w| w + 1).collect();
            let back = random.below(3);
            let seen = writers.iter().rev().nth(back / 2).copied().unwrap_or(0);
            match random.below(4) {
                0 => ops.push((kinds[random.below(kinds.len())], key, seen)),
                1 => ops.push((Kind::Write, key, 0)),
                2 => {
                    ops.push((kinds[random.below(kinds.len())], key, seen));
                    ops.push((Kind::Write, key, 0));
                }
                _ => {}
            }
        }
        if ops.is_empty() {
            ops.push((Kind::Write, random.below(KEYS), 0));
        }
        all.push(Small { session, begin, end, ops });
    }
    all
}

/// The history; with `before`, what each write replaced.
fn history(all: &[Small], before: impl Fn(usize, usize) -> Option<usize>) -> History {
    let mut builder = Builder::new();
    let keys = ["x", "y"].map(|name| builder.key(name));
    let version = |builder: &mut Builder, key: usize, writer: usize| match writer {
        0 => INITIAL,
        writer => builder.value(keys[key], &format!("v{writer}")),
    };
    for (txn, small) in all.iter().enumerate() {
        let mut ops = Vec::new();
        for &(kind, key, seen) in &small.ops {
            let writer = if kind == Kind::Write { txn + 1 } else { seen };
            let value = version(&mut builder, key, writer);
            let prev = if kind == Kind::Write { before(txn, key) } else { None };
            let prev = prev.map_or(UNKNOWN, |prev| version(&mut builder, key, prev));
            ops.push(Op { key: keys[key], value, prev, kind });
        }
        let times = Times {
            begin_invoke_ns: small.begin,
            begin_return_ns: small.begin,
            commit_invoke_ns: small.end - 1,
            commit_return_ns: small.end,
        };
        let session = small.session as u32;
        builder.push(Txn { session, outcome: Outcome::Ok, times, token: 0 }, &ops);
    }
    builder.finish()
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for next in 0..count {
        let longer = |order: &Vec<usize>| {
            let order = order.clone();
            (0..=order.len()).map(move |at| [&order[..at], &[next], &order[at..]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// What the oracle judges: levels whose order agrees with nothing more, sessions, or real time.
const TRIED: [Level; 6] = [
    Level::SnapshotIsolation,
    Level::StrongSessionSnapshotIsolation,
    Level::StrongSnapshotIsolation,
    Level::Serializable,
    Level::StrongSessionSerializable,
    Level::StrictSerializable,
];

/// Whether the commits in this order, with any snapshots, give these answers.
fn fits(all: &[Small], order: &[usize], level: Level) -> bool {
    let state = |count: usize, key: usize| {
        order[..count].iter().rev().find(|txn| all[**txn].writes(key)).map_or(0, |txn| txn + 1)
    };
    let is_before = |one: usize, two: usize| match level {
        Level::StrongSessionSnapshotIsolation | Level::StrongSessionSerializable => {
            one < two && all[one].session == all[two].session
        }
        Level::StrongSnapshotIsolation | Level::StrictSerializable => all[one].end < all[two].begin,
        _ => false,
    };
    let is_serial = matches!(
        level,
        Level::Serializable | Level::StrongSessionSerializable | Level::StrictSerializable
    );
    order.iter().enumerate().all(|(at, &txn)| {
        let first = if is_serial { at } else { 0 };
        (first..=at).any(|snapshot| {
            let is_seen = |(key, writer): (usize, usize)| state(snapshot, key) == writer;
            let mut between = order[snapshot..at].iter();
            let has_conflict = between
                .any(|other| (0..KEYS).any(|key| all[txn].writes(key) && all[*other].writes(key)));
            let mut behind = order[snapshot..].iter();
            let is_late = behind.any(|other| *other != txn && is_before(*other, txn));
            all[txn].reads().all(is_seen) && !has_conflict && !is_late
        })
    })
}

fn is_right(all: &[Small], orders: &[Vec<usize>], level: Level) -> bool {
    orders.iter().any(|order| fits(all, order, level))
}

/// All levels of a history: none is undecided that another one decides, and none contradicts.
fn assert_agreeing(history: &History) -> Vec<(Level, Verdict)> {
    let checker = Checker::new(history);
    let alone: Vec<(Level, Verdict)> =
        Level::ALL.into_iter().map(|level| (level, checker.verdict(level))).collect();
    let all = checker.verdicts(&Level::ALL);
    let of = |told: &[(Level, Verdict)], level: Level| -> Option<bool> {
        match &told.iter().find(|(other, _)| *other == level).unwrap().1 {
            Verdict::CannotTell(_) => None,
            verdict => Some(verdict.anomaly().is_none()),
        }
    };
    for level in Level::ALL {
        for weaker in checker.weaker(level) {
            let is = [&alone, &all].map(|told| (of(told, level), of(told, weaker)));
            assert_ne!(is[0], (Some(true), Some(false)), "{level} and {weaker}: {history:?}");
            let is_closed = match is[1] {
                (Some(true), below) => below == Some(true),
                (above, Some(false)) => above == Some(false),
                _ => true,
            };
            assert!(is_closed, "{level} and {weaker}: {:?}: {history:?}", is[1]);
        }
    }
    for (level, verdict) in &all {
        if let Verdict::Holds(proof) = verdict {
            assert_eq!(replay(history, *level, proof), Ok(()), "{level}");
        }
        let first = of(&alone, *level);
        assert!(first.is_none() || first == of(&all, *level), "{level} changed its verdict");
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn levels_are_what_executions_say_and_agree(seed: u64) {
        let kinds = [[Kind::Read; 2], [Kind::Read, Kind::CurrentRead]];
        let all = drawn_at_random(seed, &kinds[usize::from(seed % 4 == 0)]);
        let orders = permutations(all.len());
        let hidden = history(&all, |_, _| None);
        // One order of versions, that of completion.
        let told = history(&all, |txn, key| {
            Some((0..txn).rev().find(|other| all[*other].writes(key)).map_or(0, |w| w + 1))
        });
        let is_told = |order: &Vec<usize>| {
            (0..KEYS).all(|key| {
                order.iter().filter(|txn| all[**txn].writes(key)).is_sorted()
            })
        };
        let kept: Vec<Vec<usize>> = orders.iter().filter(|o| is_told(o)).cloned().collect();
        for (history, orders) in [(hidden, &orders), (told, &kept)] {
            let verdicts = assert_agreeing(&history);
            for level in TRIED {
                let (_, verdict) = verdicts.iter().find(|(other, _)| *other == level).unwrap();
                let is_held = matches!(verdict, Verdict::Holds(_));
                prop_assert_eq!(is_held, is_right(&all, orders, level), "{}: {:?}: {:?}", level,
                    all, verdict);
            }
        }
    }
}

#[test]
fn what_breaks_a_weaker_level_breaks_the_stronger_without_times_too() {
    let skew = "r(x,0,0,0)\nr(y,0,0,0)\nr(x,0,1,0)\nr(y,0,1,0)\nw(x,1,0,0)\nw(y,1,1,0)";
    let history = read_history(skew.as_bytes()).unwrap();
    let checker = Checker::new(&history);
    assert!(matches!(checker.verdict(Level::StrictSerializable), Verdict::CannotTell(_)));
    let all = checker.verdicts(&[Level::StrictSerializable, Level::Serializable]);
    let names: Vec<&str> = all.iter().filter_map(|(_, verdict)| verdict.anomaly()).collect();
    assert_eq!(names, ["write skew (G2-item)", "write skew (G2-item)"]);
    assert!(matches!(&all[0].1, Verdict::Cycle(_, cycle) if !cycle.is_shortest));
}
