//! Verdicts on all levels of one history do not contradict each other, and those of levels with
//! sessions and real time are what trying all executions says.

use dbdyno_check::{
    Checker, History, Level, LevelVerdict, OperationKind, TransactionOutcome, read_history, replay,
    retrace_violation,
};
use proptest::prelude::*;

use crate::small::{KEYS, Random, Small, drawn_at_random, history, in_order};

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
        _ if all[one].outcome == TransactionOutcome::Unknown => false,
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
fn assert_agreeing(history: &History) -> Vec<(Level, LevelVerdict)> {
    let checker = Checker::new(history);
    let alone: Vec<(Level, LevelVerdict)> =
        Level::ALL.into_iter().map(|level| (level, checker.level_verdict(level))).collect();
    for (level, broken) in alone.iter().filter(|(_, verdict)| verdict.anomaly().is_some()) {
        assert_eq!(
            retrace_violation(history, *level, broken),
            Ok(()),
            "{level}: {history:?}: {broken:?}"
        );
    }
    let all = checker.proved_verdicts(&Level::ALL);
    let of = |told: &[(Level, LevelVerdict)], level: Level| -> Option<bool> {
        match &told.iter().find(|(other, _)| *other == level).unwrap().1 {
            LevelVerdict::CannotTell(_) => None,
            verdict => Some(verdict.anomaly().is_none()),
        }
    };
    for level in Level::ALL {
        for weaker in checker.weaker_levels(level) {
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
        if let LevelVerdict::Holds(proof) = verdict {
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
        let kinds = [[OperationKind::Read; 2], [OperationKind::Read, OperationKind::CurrentRead]];
        let all = drawn_at_random(seed, &kinds[usize::from(seed % 4 == 0)], 4);
        let orders = permutations(all.len());
        let hidden = history(&all, |_, _| None);
        let told = in_order(&all);
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
                let is_held = matches!(verdict, LevelVerdict::Holds(_));
                prop_assert_eq!(is_held, is_right(&all, orders, level), "{}: {:?}: {:?}", level,
                    all, verdict);
            }
        }
    }
}

/// Orders of all that were confirmed, with any of the others.
fn orders_of_confirmed(all: &[Small]) -> Vec<Vec<usize>> {
    let is_ok = |txn: &usize| all[*txn].outcome == TransactionOutcome::Ok;
    let confirmed: Vec<usize> = (0..all.len()).filter(is_ok).collect();
    let mut orders = permutations(all.len());
    for without in 0..all.len() {
        let shorter: Vec<Vec<usize>> = orders
            .iter()
            .map(|order| order.iter().copied().filter(|txn| *txn != without).collect())
            .collect();
        orders.extend(shorter);
        orders.sort_unstable();
        orders.dedup();
    }
    orders.retain(|order| confirmed.iter().all(|txn| order.contains(txn)));
    orders
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn a_session_that_goes_on_after_an_unknown_outcome_has_levels_that_agree(seed: u64) {
        let mut all = drawn_at_random(seed, &[OperationKind::Read], 5);
        let mut random = Random(seed ^ 0x5e55);
        for txn in &mut all {
            if random.below(3) == 0 {
                txn.outcome = TransactionOutcome::Unknown;
            }
        }
        assert_agreeing(&in_order(&all));
        let verdicts = assert_agreeing(&history(&all, |_, _| None));
        let orders = orders_of_confirmed(&all);
        for level in TRIED {
            let (_, verdict) = verdicts.iter().find(|(other, _)| *other == level).unwrap();
            let is_held = matches!(verdict, LevelVerdict::Holds(_));
            prop_assert_eq!(is_held, is_right(&all, &orders, level), "{}: {:?}: {:?}", level, all,
                verdict);
        }
    }
}

/// The write of a commit that nobody confirmed is missed by the next transaction of its session,
/// and read by a later one: in real time that is in order, and so it is in the session.
#[test]
fn nothing_in_a_session_follows_an_unknown_commit() {
    let text = "{:type :invoke, :f :txn, :value [[:w x 1]], :process 0, :index 0}\n\
        {:type :info, :f :txn, :value [[:w x 1]], :process 0, :index 1}\n\
        {:type :invoke, :f :txn, :value [[:r x nil]], :process 0, :index 2}\n\
        {:type :ok, :f :txn, :value [[:r x nil]], :process 0, :index 3}\n\
        {:type :invoke, :f :txn, :value [[:r x nil]], :process 1, :index 4}\n\
        {:type :ok, :f :txn, :value [[:r x 1]], :process 1, :index 5}\n";
    for (level, verdict) in assert_agreeing(&read_history(text.as_bytes()).unwrap()) {
        let is_of_commits = [Level::Recoverable, Level::Cascadeless, Level::Strict];
        if !is_of_commits.contains(&level) {
            assert!(matches!(verdict, LevelVerdict::Holds(_)), "{level}: {verdict:?}");
        }
    }
    // One that was confirmed must be seen.
    let confirmed = read_history(text.replace(":info", ":ok").as_bytes()).unwrap();
    let verdict = Checker::new(&confirmed).proved_verdict(Level::ReadYourWrites);
    assert_eq!(verdict.anomaly(), Some("G-single-process"), "{verdict:?}");
}

#[test]
fn what_breaks_a_weaker_level_breaks_the_stronger_without_times_too() {
    let skew = "r(x,0,0,0)\nr(y,0,0,0)\nr(x,0,1,0)\nr(y,0,1,0)\nw(x,1,0,0)\nw(y,1,1,0)";
    let history = read_history(skew.as_bytes()).unwrap();
    let checker = Checker::new(&history);
    assert!(matches!(
        checker.level_verdict(Level::StrictSerializable),
        LevelVerdict::CannotTell(_)
    ));
    let all = checker.proved_verdicts(&[Level::StrictSerializable, Level::Serializable]);
    let names: Vec<&str> = all.iter().filter_map(|(_, verdict)| verdict.anomaly()).collect();
    assert_eq!(names, ["write skew (G2-item)", "write skew (G2-item)"]);
    assert!(matches!(&all[0].1, LevelVerdict::Cycle(_, cycle) if !cycle.is_shortest));
}
