//! Latches of a reference engine that let no more through: their ceilings.
//!
//! ```text
//!   held per statement:  visits × hold        a latch lets through at most   1 ÷ (visits × hold)
//!   utilisation:         rate ÷ ceiling       which is the share of the time that it was held
//! ```
//!
//! The utilisation law (Denning and Buzen, "The Operational Analysis of Queueing Network Models",
//! 1978). A latch is called the limit where it was held nine tenths of the time and more, and not
//! where a profile has much of it: who waits for something else may look so. Holds are known where
//! the engine is told `meter=times`; the looks at the clock are within them, so that a ceiling is
//! somewhat higher than it is told.

use dbdyno_model::readings::ENGINE_PREFIX;
use dbdyno_model::{Arm, Design, Round, RunPair, Severity, Target, Warning};

/// From so much utilisation on a ceiling is told, and from here on it is the limit.
const TOLD: f64 = 0.5;
const IS_LIMIT: f64 = 0.9;

type Latch = (&'static str, &'static str, fn(&Design) -> u32);

/// Latches, the counter of how long they were held, and how many there are of each.
const LATCHES: [Latch; 2] = [
    ("the latch of the transaction system", "trx_latch_held_ns", |_| 1),
    ("a latch of the lock table", "lock_latch_held_ns", |design| design.lock_shards),
];

/// What the rounds of an arm in a cell say of its latches.
pub(crate) fn of_arm(run: RunPair<'_>, arm: Arm, rounds: &[&Round]) -> Vec<Warning> {
    let Target::Engine(design) = &run.spec_on(arm).target else { return Vec::new() };
    let wall_ns: f64 = rounds.iter().map(|round| round.wall_ns as f64).sum();
    let statements: f64 = rounds.iter().map(|round| round.done_statements()).sum();
    let rate = statements / (wall_ns / 1e9);
    let told = |(name, counter, count): &Latch| {
        let counter = format!("{ENGINE_PREFIX}{counter}");
        let held = rounds.iter().map(|round| round.readings.get(&counter));
        let held_ns: f64 = held.sum::<Option<f64>>()?;
        let utilisation = held_ns / wall_ns / f64::from(count(design).max(1));
        (utilisation >= TOLD).then(|| ceiling(arm, name, utilisation, rate))
    };
    LATCHES.iter().filter_map(told).collect()
}

fn ceiling(arm: Arm, name: &str, utilisation: f64, rate: f64) -> Warning {
    let is_limit = if utilisation >= IS_LIMIT { "it is the limit" } else { "it is not the limit" };
    let text = format!(
        "{arm}: {name} was held {:.0} % of the time, so that at most {:.0} statements a second \
         pass it, and {rate:.0} did: {is_limit}",
        100.0 * utilisation,
        rate / utilisation,
    );
    Warning::new(Severity::Note, "latch-ceiling", text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{WALL_NS, of_pairs};
    use dbdyno_model::ArmIndex;

    fn told(held: f64, of: &str, engine: &str) -> Vec<String> {
        let run = of_pairs(10, "point-query", engine, 4, |round| {
            let share = if round.key.arm == ArmIndex::TEST { held } else { 0.1 };
            let name = format!("{ENGINE_PREFIX}{of}");
            round.readings.set(&name, Some(share * WALL_NS as f64));
        });
        let cell = crate::compare_run(run.first_pair()).unwrap().cells[0].clone();
        let of_latches = cell.warnings.into_iter().filter(|one| one.code == "latch-ceiling");
        of_latches.map(|one| one.text).collect()
    }

    #[test]
    fn a_latch_that_is_always_held_is_the_limit() {
        let one = "engine:?meter=times";
        let [text] = &told(0.95, "trx_latch_held_ns", one)[..] else { panic!("one is told") };
        assert!(text.starts_with("test: the latch of the transaction system was held 95 %"));
        assert!(text.ends_with("it is the limit"), "{text}");
        let [text] = &told(0.6, "trx_latch_held_ns", one)[..] else { panic!("one is told") };
        assert!(text.ends_with("it is not the limit"), "{text}");
        assert!(told(0.4, "trx_latch_held_ns", one).is_empty());
    }

    #[test]
    fn many_latches_are_held_one_beside_the_other() {
        let of = |shards: u32| format!("engine:?meter=times&lock_shards={shards}");
        assert_eq!(told(1.9, "lock_latch_held_ns", &of(2)).len(), 1);
        assert!(told(1.9, "lock_latch_held_ns", &of(64)).is_empty());
    }
}
