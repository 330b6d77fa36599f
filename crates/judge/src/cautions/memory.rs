//! An arm whose memory the host of a virtual machine takes away.
//!
//! Which pages of which arm are taken is luck, and each costs whoever touches it far more than one
//! that is there. Where they were missing when rounds began, and nobody brought them back, the
//! ratio of two arms is not that of the servers. Where all were brought back before each round,
//! what is taken again until it ends is mostly memory that its load does not touch: that is told,
//! and how much it was.

use dbdyno_model::readings::{CanarySide, MEMORY_AWAY_NS, MEMORY_BROUGHT_BACK, memory_away};
use dbdyno_model::{Arm, Round, Severity, Warning};

/// The share of the pages from which on it is told: what preemption makes slow is a tenth of it.
const TAKEN: f64 = 0.01;
/// From this share on, a load that touches large tables may have waited for pages in its round.
const MUCH: f64 = 0.1;

/// What the rounds of an arm in a cell say of it.
pub(crate) fn of_arm(arm: Arm, rounds: &[&Round]) -> Option<Warning> {
    let mean = |name: &str| {
        let known: Vec<f64> = rounds.iter().filter_map(|round| round.readings.get(name)).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let each = mean(MEMORY_AWAY_NS).map_or(String::new(), |ns| {
        format!(", each of which took {:.0} µs to come back", ns / 1e3)
    });
    let of_pages = |share: f64| format!("{:.1} % of its pages{each}", share * 100.0);
    let are_kept = mean(MEMORY_BROUGHT_BACK).is_some();
    let [before, after] = CanarySide::BOTH.map(|side| mean(&memory_away(side)).unwrap_or(0.0));
    let (severity, code, text) = if before >= TAKEN && !are_kept {
        (
            Severity::Blocks,
            "memory-taken",
            format!(
                "{arm}: when its rounds began, the host of this virtual machine had taken away {}; \
                 which pages are taken is luck, so that this is not the rate of the server; \
                 measure again with --keep-memory always, or with fewer rows",
                of_pages(before)
            ),
        )
    } else if before.max(after) >= TAKEN {
        (
            if before.max(after) >= MUCH { Severity::Caution } else { Severity::Note },
            "memory-at-rest",
            format!(
                "{arm}: by the end of its rounds, the host of this virtual machine had taken away \
                 {}; a load that touches all of its tables all the time loses nothing by it, with \
                 large tables use fewer rows",
                of_pages(before.max(after))
            ),
        )
    } else {
        return None;
    };
    Some(Warning::new(severity, code, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::ArmIndex;

    #[test]
    fn taken_memory_withholds_the_verdict_and_kept_memory_does_not() {
        let told = |before: f64, after: f64, back: Option<f64>| {
            let run = crate::sample::of_pairs(10, "point-query", "mysql://u@h/d", 1, |round| {
                let is_test = round.key.arm == ArmIndex::TEST;
                let share = |share: f64| if is_test { share } else { 0.0 };
                round.readings.set(MEMORY_AWAY_NS, Some(110_400.0));
                round.readings.set(MEMORY_BROUGHT_BACK, back);
                round.readings.set(&memory_away(CanarySide::Before), Some(share(before)));
                round.readings.set(&memory_away(CanarySide::After), Some(share(after)));
            });
            let warnings = crate::compare_run(run.first_pair()).unwrap().cells[0].warnings.clone();
            let told = warnings.into_iter().find(|warning| warning.code.starts_with("memory-"))?;
            Some((told.severity, told.text))
        };
        assert_eq!(told(0.009, 0.009, None), None);
        let (severity, text) = told(0.08, 0.08, None).unwrap();
        assert_eq!(severity, Severity::Blocks);
        let begins = "test: when its rounds began, the host of this virtual machine had taken away \
                      8.0 % of its pages, each of which took 110 µs to come back; ";
        assert!(text.starts_with(begins), "{text}");
        for (before, back) in [(0.001, None), (0.02, Some(0.3))] {
            let (severity, text) = told(before, 0.04, back).unwrap();
            assert_eq!(severity, Severity::Note);
            assert!(text.contains("by the end of its rounds") && text.contains("4.0 %"), "{text}");
            assert_eq!(told(before, 0.2, back).unwrap().0, Severity::Caution);
        }
    }

    #[test]
    fn rounds_that_were_not_looked_at_say_nothing() {
        let run = crate::sample::of_pairs(10, "point-query", "mysql://u@h/d", 1, |_| {});
        let rounds: Vec<&Round> = run.rounds.iter().collect();
        assert_eq!(of_arm(Arm::Base, &rounds), None);
        assert_eq!(of_arm(Arm::Base, &[]), None);
    }
}
