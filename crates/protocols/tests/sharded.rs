//! The protocol of several servers keeps what it promises, and each planted fault is found.

use dbdyno_check::Level;
use dbdyno_protocols::{ExplorationVerdict, NamedProtocol};

const FORMS: [&str; 3] = ["sharded", "sharded-local", "sharded-unblocked"];

fn explored(protocol: NamedProtocol, shape: &str, level: Level) -> ExplorationVerdict {
    protocol.judge_outcomes(shape.parse().unwrap(), level, usize::MAX)
}

fn told(judged: &ExplorationVerdict) -> (String, Vec<&str>) {
    let anomaly = judged.broken.as_ref().map_or(String::new(), |broken| broken.anomaly.clone());
    (anomaly, judged.trace[1..].iter().map(|scene| scene.action.as_str()).collect())
}

#[test]
fn each_form_keeps_its_level() {
    for name in FORMS {
        let protocol = NamedProtocol::by_name(name).unwrap();
        for shape in ["2x2x2", "2x2x3", "2x3x2", "3x2x1"] {
            let found = explored(protocol, shape, protocol.level());
            assert_eq!(found.broken, None, "{name} {shape}");
            assert!(found.outcomes > 30 && !found.is_cut_short, "{name} {shape}");
        }
    }
}

#[test]
fn a_snapshot_for_each_shard_is_no_snapshot() {
    let local = NamedProtocol::by_name("sharded-local").unwrap();
    let found = explored(local, "2x2x2", Level::SnapshotIsolation);
    let (anomaly, trace) = told(&found);
    assert_eq!(anomaly, "G-single");
    // The fractured read: T1 reads one key before T2, and the other one after T2.
    assert_eq!(trace[0], "T1 reads a");
    assert_eq!(trace[1..3], ["T2 writes a", "T2 writes b"]);
    assert_eq!(trace.len(), 10);
}

#[test]
fn every_planted_fault_is_found_with_a_shortest_trace() {
    let protocol = NamedProtocol::by_name("sharded").unwrap();
    let expected = [
        ("ignore-prepared", "G-single", 10),
        ("stale-clock", "G-single", 10),
        ("first-prepare", "G-single", 10),
        ("no-conflict-check", "lost update", 5),
    ];
    let faults: Vec<&str> = protocol.faults().map(|fault| fault.0).collect();
    assert_eq!(faults, expected.map(|one| one.0));
    for (fault, wanted, steps) in expected {
        let found = explored(protocol.with_fault(fault).unwrap(), "2x2x2", protocol.level());
        let (anomaly, trace) = told(&found);
        assert_eq!((anomaly.as_str(), trace.len()), (wanted, steps), "{fault}: {trace:?}");
    }
}

/// Reads that wait for who has prepared cost read committed results; so does a common snapshot.
#[test]
fn prepare_conflicts_cost_results() {
    let produced = FORMS.map(|name| {
        let counted = NamedProtocol::by_name(name)
            .unwrap()
            .result_permissiveness("2x2x2".parse().unwrap(), usize::MAX);
        let committed = counted.unwrap()[0];
        assert_eq!((committed.level, committed.sets.allowed), (Level::ReadCommitted, 737));
        assert_eq!(committed.sets.let_through, 0);
        committed.sets.produced
    });
    assert_eq!(produced, [655, 663, 679]);
}
