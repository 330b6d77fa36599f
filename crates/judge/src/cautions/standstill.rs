//! An arm that answered nothing while the window of a round was open: the round was measured again,
//! longer.

use dbdyno_model::readings::STOOD_STILL;
use dbdyno_model::{Arm, Round, Severity, Warning};

/// An arm that stood still in more than this share of its rounds has another rate than it shows.
const BLOCKS: f64 = 0.05;

/// What the rounds of an arm in a cell say of it.
pub(crate) fn of_arm(arm: Arm, rounds: &[&Round]) -> Option<Warning> {
    let still = rounds.iter().filter(|round| round.readings.get(STOOD_STILL).is_some()).count();
    if still == 0 {
        return None;
    }
    let is_often = still as f64 > BLOCKS * rounds.len() as f64;
    let text = format!(
        "{arm}: the server stalled in {still} of {} rounds: it answered nothing in the measuring \
         window; they were measured again, for longer, so the rate does not include these stalls; \
         look for their cause, or use rounds that are longer than a stall (--seconds)",
        rounds.len()
    );
    let severity = if is_often { Severity::Blocks } else { Severity::Caution };
    Some(Warning::new(severity, "stood-still", text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::ArmIndex;

    #[test]
    fn an_arm_that_stands_still_often_gets_no_verdict() {
        let severity = |still: u32| {
            let run = crate::sample::of_pairs(40, "point-query", "mysql://u@h/d", 1, |round| {
                let stood = round.key.arm == ArmIndex::TEST && round.key.pair < still;
                round.readings.set(STOOD_STILL, stood.then_some(1.0));
            });
            let cell = crate::compare_run(run.first_pair()).unwrap().cells[0].clone();
            let told = cell.warnings.into_iter().find(|warning| warning.code == "stood-still");
            told.map(|warning| (warning.severity, warning.text.contains(&format!("{still} of 40"))))
        };
        assert_eq!(severity(0), None);
        assert_eq!(severity(2), Some((Severity::Caution, true)));
        assert_eq!(severity(3), Some((Severity::Blocks, true)));
    }
}
