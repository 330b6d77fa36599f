//! Counts that are known, and two ways to the same count.

use std::ops::ControlFlow;

use dbdyno_cases::InterleavingSize;
use dbdyno_check::Level;
use dbdyno_protocols::{
    Graph, Keep, LEVELS, NamedProtocol, Names, ONE_SERVER, ProducedHistories, Results, Single,
    Transactional,
};

fn counted(name: &str, shape: &str, level: Level) -> Results {
    let counted = NamedProtocol::by_name(name)
        .unwrap()
        .result_permissiveness(shape.parse().unwrap(), usize::MAX);
    counted.unwrap().into_iter().find(|one| one.level == level).unwrap()
}

/// 73² sets; 647 serializable ones, all of which strict two-phase locking and optimistic validation
/// let happen, and no other.
#[test]
fn the_known_count_of_serializable_sets() {
    for name in ["2pl", "occ"] {
        let sets = counted(name, "2x2x2", Level::Serializable).sets;
        assert_eq!((sets.all, sets.allowed, sets.produced), (5_329, 647, 647), "{name}");
        assert_eq!(sets.let_through, 0, "{name}");
    }
}

/// The whole graph, with waits, victims and refusals, gives the same as schedules without them.
#[test]
fn waits_and_victims_add_no_result() {
    for entry in ONE_SERVER {
        for shape in ["2x2x2", "2x1x3"] {
            let shape: InterleavingSize = shape.parse().unwrap();
            let single = Single { rules: entry.rules, shape, names: Names::Given };
            let mut whole = ProducedHistories::new(shape).unwrap();
            Graph::explore_states(&single, usize::MAX, Keep::States, |_, state| {
                if let Some(outcome) = Transactional::outcome_of(&single, state) {
                    whole.add_outcome(&outcome);
                }
                ControlFlow::Continue(())
            });
            let quick = ProducedHistories::of_protocol(&single).unwrap();
            assert_eq!(quick.count(&LEVELS), whole.count(&LEVELS), "{} {shape}", entry.name);
        }
    }
}

/// By level, allowed sets: of two transactions as a program in another language counted those of
/// serializability, of three as `cargo bench -p dbdyno-protocols` shows them.
#[test]
fn levels_allow_more_the_weaker_they_are() {
    let single = |shape: &str| {
        let rules = ONE_SERVER[0].rules;
        Single { rules, shape: shape.parse().unwrap(), names: Names::Given }
    };
    let allowed = |shape: &str| -> Vec<u64> {
        let counted = ProducedHistories::of_protocol(&single(shape)).unwrap().count(&LEVELS);
        counted.iter().map(|one| one.sets.allowed).collect()
    };
    assert_eq!(allowed("2x2x2"), [737, 657, 655, 647]);
    assert_eq!(allowed("3x2x2"), [38_073, 28_233, 27_835, 26_707]);
}

/// What a protocol promises it keeps in every set, and what is let through at a stronger level is
/// counted.
#[test]
fn nothing_is_let_through_at_the_promised_level() {
    for protocol in NamedProtocol::all() {
        let is_single = ONE_SERVER.iter().any(|entry| entry.name == protocol.name());
        let shape = if is_single { "3x2x2" } else { "2x2x2" };
        let at_home = counted(protocol.name(), shape, protocol.level());
        assert_eq!(at_home.sets.let_through, 0, "{}", protocol.name());
        let stronger = counted(protocol.name(), "2x2x2", Level::Serializable).sets.let_through;
        let is_serializable = protocol.level() == Level::Serializable;
        assert_eq!(stronger == 0, is_serializable, "{}: {stronger}", protocol.name());
        for (fault, _) in protocol.faults() {
            let broken = protocol.with_fault(fault).unwrap();
            let counted =
                broken.result_permissiveness("2x2x2".parse().unwrap(), usize::MAX).unwrap();
            let told = counted.iter().find(|one| one.level == protocol.level()).unwrap().sets;
            let is_seen = told.let_through > 0 || fault == "dirty-reads";
            assert!(is_seen, "{} with {fault}: {told:?}", protocol.name());
        }
    }
}
