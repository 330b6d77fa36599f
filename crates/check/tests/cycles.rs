//! A cycle that is called a shortest one has as few steps as a search of all ways finds.

use dbdyno_check::{
    Checker, Cycle, Dependency, Level, LevelVerdict, OperationKind, read_history, violation_drawing,
};
use proptest::prelude::*;

use crate::small::{KEYS, Small, drawn_at_random, history, in_order};

/// Levels with one or two nodes a transaction, and with nothing, sessions or time kept.
const ASKED: [(Level, bool, Kept); 6] = [
    (Level::SnapshotIsolation, true, Kept::Nothing),
    (Level::StrongSessionSnapshotIsolation, true, Kept::Sessions),
    (Level::StrongSnapshotIsolation, true, Kept::Time),
    (Level::Serializable, false, Kept::Nothing),
    (Level::StrongSessionSerializable, false, Kept::Sessions),
    (Level::StrictSerializable, false, Kept::Time),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Nothing,
    Sessions,
    Time,
}

const FAR: usize = usize::MAX / 4;

/// Who wrote the version of a key after that of `writer`, counted from 1, in order of completion.
fn next(all: &[Small], key: usize, writer: usize) -> Option<usize> {
    (writer..all.len()).find(|txn| all[*txn].writes(key))
}

/// All edges between transactions, by what an execution must do first: the commit or the snapshot
/// of each, as (transaction, whether it is the snapshot).
fn edges(all: &[Small], kept: Kept) -> Vec<((usize, bool), (usize, bool))> {
    let mut found = Vec::new();
    for (txn, small) in all.iter().enumerate() {
        for (key, writer) in small.reads() {
            if writer > 0 {
                found.push(((writer - 1, false), (txn, true)));
            }
            let over = next(all, key, writer).filter(|over| *over != txn);
            found.extend(over.map(|over| ((txn, true), (over, false))));
        }
        for key in (0..KEYS).filter(|key| small.writes(*key)) {
            let before = (0..txn).rev().find(|other| all[*other].writes(key));
            found.extend(before.map(|before| ((before, false), (txn, true))));
        }
        for (other, earlier) in all.iter().enumerate().filter(|(other, _)| *other != txn) {
            let is_before = match kept {
                Kept::Nothing => false,
                Kept::Sessions => other < txn && earlier.session == small.session,
                Kept::Time => earlier.end < small.begin,
            };
            if is_before {
                found.push(((other, false), (txn, true)));
            }
        }
    }
    found
}

/// The fewest steps of a cycle, by all shortest ways between all nodes (Floyd 1962).
fn fewest(all: &[Small], has_snapshots: bool, kept: Kept) -> Option<usize> {
    let node = |(txn, is_snapshot): (usize, bool)| match has_snapshots {
        true => 2 * txn + usize::from(!is_snapshot),
        false => 2 * txn + 1,
    };
    let count = 2 * all.len();
    let mut ways = vec![vec![FAR; count]; count];
    for txn in 0..all.len() {
        ways[2 * txn][2 * txn + 1] = 0;
    }
    for (from, to) in edges(all, kept) {
        let way = &mut ways[node(from)][node(to)];
        *way = (*way).min(1);
    }
    for middle in 0..count {
        for from in 0..count {
            for to in 0..count {
                let over = ways[from][middle] + ways[middle][to];
                ways[from][to] = ways[from][to].min(over);
            }
        }
    }
    (0..count).map(|at| ways[at][at]).min().filter(|steps| *steps < FAR)
}

fn assert_closed(cycle: &Cycle) {
    let next = cycle.steps.iter().skip(1).chain(cycle.steps.first());
    assert!(cycle.steps.iter().zip(next).all(|(step, next)| step.to == next.from), "{cycle:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn a_shortest_cycle_is_one(seed: u64) {
        let all = drawn_at_random(seed, &[OperationKind::Read, OperationKind::Read], 9);
        let history = in_order(&all);
        let checker = Checker::new(&history);
        for (level, has_snapshots, kept) in ASKED {
            let wanted = fewest(&all, has_snapshots, kept);
            match checker.level_verdict(level) {
                LevelVerdict::Cycle(_, cycle) => {
                    prop_assert_eq!(Some(cycle.steps.len()), wanted, "{}: {:?}", level, all);
                    prop_assert!(cycle.is_shortest);
                    assert_closed(&cycle);
                }
                other => prop_assert_eq!(wanted, None, "{}: {:?}: {:?}", level, all, other),
            }
        }
    }
}

/// Two transactions of one session with a dozen others between them.
#[test]
fn a_session_is_one_step_however_long_it_is() {
    let mut text = "w(x,1<0,0,0)\n".to_owned();
    for txn in 1..13 {
        text += &format!("w(y{txn},1<0,0,{txn})\n");
    }
    text += "r(x,0,0,13)";
    let history = read_history(text.as_bytes()).unwrap();
    let verdict = Checker::new(&history).level_verdict(Level::StrongSessionSerializable);
    let LevelVerdict::Cycle(name, cycle) = &verdict else { panic!("{verdict:?}") };
    assert_eq!((name.as_str(), cycle.steps.len()), ("G-single-process", 2));
    assert_eq!(
        violation_drawing(&history, &verdict).lines().next(),
        Some("T0, session 0           T13, session 0")
    );
}

#[test]
fn a_lost_update_is_one_cycle_of_what_both_read() {
    let text = "r(x,0,0,0)\nr(x,0,1,0)\nw(x,1,0,0)\nw(x,2,1,0)\nw(x,3,2,0)\nw(x,4,3,0)";
    let history = read_history(text.as_bytes()).unwrap();
    for level in [Level::SnapshotIsolation, Level::Serializable, Level::RepeatableRead] {
        let verdict = Checker::new(&history).level_verdict(level);
        let LevelVerdict::Cycle(name, cycle) = &verdict else { panic!("{verdict:?}") };
        assert_eq!((name.as_str(), cycle.steps.len()), ("lost update", 2));
        assert!(cycle.steps.iter().all(|step| step.dependency == Dependency::Anti));
        assert!(cycle.steps.iter().all(|step| !step.is_assumed));
    }
}

/// Write skew around a ring of seven: more lanes than a line has room for.
#[test]
fn lanes_that_do_not_fit_stand_below_the_others() {
    let text: String =
        (0..7).map(|at| format!("r(x{at},0,{at},0)\nw(x{},1<0,{at},0)\n", (at + 1) % 7)).collect();
    let history = read_history(text.as_bytes()).unwrap();
    let told =
        violation_drawing(&history, &Checker::new(&history).level_verdict(Level::Serializable));
    assert!(told.lines().all(|line| line.chars().count() <= 98), "{told}");
    let heads = told.lines().filter(|line| line.contains("session")).count();
    assert_eq!(heads, 2, "{told}");
    assert_eq!(told.lines().filter(|line| line.contains("─rw→")).count(), 7);
}

/// Pairs that read the same version of a key and both wrote it: tried out.
fn lost_updates(all: &[Small]) -> u64 {
    let has_lost = |one: &Small, other: &Small| {
        (0..KEYS).any(|key| {
            let seen = |txn: &Small| {
                txn.reads().find(|(of, _)| *of == key && txn.writes(key)).map(|(_, seen)| seen)
            };
            seen(one).is_some() && seen(one) == seen(other)
        })
    };
    let later = |at: usize| all[at + 1..].iter().filter(move |other| has_lost(&all[at], other));
    (0..all.len()).map(|at| later(at).count() as u64).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn a_lost_update_is_among_the_kinds(seed: u64) {
        let all = drawn_at_random(seed, &[OperationKind::Read, OperationKind::CurrentRead], 6);
        let lost = lost_updates(&all);
        for history in [history(&all, |_, _| None), in_order(&all)] {
            let checker = Checker::new(&history);
            let kinds = checker.anomaly_kinds(&checker.proved_verdicts(&[Level::Serializable]));
            let told = kinds.iter().find(|kind| kind.name == "lost update");
            let count = told.and_then(|kind| kind.count).map_or(0, |(count, _)| count);
            prop_assert!(count >= lost, "{} of {}: {:?}: {:?}", count, lost, all, kinds);
        }
    }
}
