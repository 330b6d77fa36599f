//! The protocols of one server keep what they promise, and each planted fault is found.

use dbdyno_cases::InterleavingSize;
use dbdyno_check::Level;
use dbdyno_protocols::{ExplorationVerdict, Names, ONE_SERVER, Rules, Single, judge_outcomes};

fn explored(rules: Rules, shape: &str, names: Names, level: Level) -> ExplorationVerdict {
    let shape: InterleavingSize = shape.parse().unwrap();
    judge_outcomes(&Single { rules, shape, names }, level, usize::MAX)
}

#[test]
fn every_protocol_keeps_its_level_at_two_transactions() {
    for entry in ONE_SERVER {
        for shape in ["2x1x3", "2x2x2", "2x2x3"] {
            let found = explored(entry.rules, shape, Names::ByAppearance, entry.level);
            assert_eq!(found.broken, None, "{} {shape}", entry.name);
            assert!(found.outcomes > 50 && !found.is_cut_short, "{} {shape}", entry.name);
        }
    }
}

/// Outcomes have neither times nor an order of commits: asked for these, `model` panicked.
#[test]
fn levels_of_what_outcomes_do_not_have_are_not_told() {
    for level in [Level::StrictSerializable, Level::Recoverable, Level::StrongSnapshotIsolation] {
        let found = explored(ONE_SERVER[0].rules, "2x1x2", Names::ByAppearance, level);
        assert!(found.undecided.is_some() && !found.is_cut_short, "{level}");
    }
}

#[test]
fn every_protocol_keeps_its_level_at_three_transactions() {
    for entry in ONE_SERVER {
        let found = explored(entry.rules, "3x2x2", Names::ByAppearance, entry.level);
        assert_eq!(found.broken, None, "{}", entry.name);
        assert!(found.outcomes > 5_000 && !found.is_cut_short, "{}", entry.name);
    }
}

#[test]
fn every_planted_fault_is_found_with_a_shortest_trace() {
    let expected = [
        ("2pl", "no-read-locks", "lost update"),
        ("2pl-queued", "no-read-locks", "lost update"),
        ("read-committed", "dirty-reads", "G1b (intermediate read)"),
        ("innodb-rr", "view-per-statement", "G-single"),
        ("si", "no-conflict-check", "lost update"),
        ("si-first-updater", "no-conflict-check", "lost update"),
        ("mariadb-si", "no-conflict-check", "lost update"),
        ("occ", "no-validation", "lost update"),
        ("occ", "validates-writes", "G-single"),
    ];
    let faults = ONE_SERVER.iter().flat_map(|entry| {
        entry.faults.iter().map(move |fault| (entry.name, fault.name, fault.rules, entry.level))
    });
    for ((name, fault, rules, level), wanted) in faults.zip(expected) {
        let found = explored(rules, "2x2x2", Names::ByAppearance, level);
        let anomaly = found.broken.map(|broken| broken.anomaly);
        assert_eq!((name, fault, anomaly.as_deref()), (wanted.0, wanted.1, Some(wanted.2)));
        // Two transactions with three operations between them, and two commits.
        assert_eq!(found.trace.len() - 1, 5, "{name} {fault}");
    }
}

#[test]
fn symmetry_takes_states_away_and_no_anomaly() {
    for entry in ONE_SERVER {
        let all = explored(entry.rules, "2x2x2", Names::Given, entry.level);
        let few = explored(entry.rules, "2x2x2", Names::ByAppearance, entry.level);
        assert!(few.states * 2 < all.states, "{}", entry.name);
        assert_eq!((all.broken, few.broken), (None, None));
    }
}
