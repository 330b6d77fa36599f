//! Whether the transactions of an arm had the isolation that was promised of them, where clients
//! recorded them.
//!
//! A server that is fast and wrong is not fast: where a promise is broken there is no verdict. What
//! is proved of all rounds is a note, and so is what could not be told.

use dbdyno_model::readings::{ANOMALY_PREFIX, PROMISE_HOLDS, PROMISE_PREFIX, RECORDED, UNRECORDED};
use dbdyno_model::{Arm, Cell, Readings, Round, Severity, Warning};

/// What the reader must know of an arm in a cell.
pub(crate) fn of_arm(cell: &Cell, arm: Arm, rounds: &[&Round]) -> Option<Warning> {
    let readings: Vec<&Readings> = rounds.iter().map(|round| &round.readings).collect();
    of_readings(cell, arm, &readings)
}

fn of_readings(cell: &Cell, arm: Arm, rounds: &[&Readings]) -> Option<Warning> {
    let rounds: Vec<&Readings> =
        rounds.iter().copied().filter(|round| round.get(RECORDED).is_some()).collect();
    let sum = |name: &str| rounds.iter().filter_map(|round| round.get(name)).sum::<f64>();
    let promise = rounds.first().and_then(|round| behind(round, PROMISE_PREFIX))?;
    let broken: Vec<&str> =
        rounds.iter().filter_map(|round| behind(round, ANOMALY_PREFIX)).collect();
    let (count, recorded, missing) = (rounds.len(), sum(RECORDED), sum(UNRECORDED));
    let what = if missing > 0.0 {
        format!(
            "{recorded:.0} transactions of {count} rounds, before the memory for records was full \
             ({missing:.0} came after that)"
        )
    } else {
        format!("all {recorded:.0} transactions of {count} rounds")
    };
    if let Some(first) = broken.first() {
        let text = format!(
            "{cell}: {arm} does not have {promise}, which it promises: {first}, in {} of {count} \
             recorded rounds; there is no verdict. `dbdyno verify --kind` shows the cycle",
            broken.len()
        );
        return Some(Warning::new(Severity::Blocks, "isolation-broken", text));
    }
    let held = rounds.iter().filter(|round| round.get(PROMISE_HOLDS).is_some()).count();
    let text = if held == count {
        format!("{cell}: {arm} recorded {what}: {promise} is proved of each")
    } else {
        format!(
            "{cell}: {arm} recorded {what}: {promise} is proved of {held} of {count} and undecided \
             for the others"
        )
    };
    Some(Warning::new(Severity::Note, "isolation", text))
}

/// What stands behind a prefix in the first reading that has it.
fn behind<'r>(readings: &'r Readings, prefix: &str) -> Option<&'r str> {
    readings.iter().find_map(|(name, _)| name.strip_prefix(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(missing: f64, what: &str) -> Readings {
        let mut readings = Readings::default();
        readings.set(RECORDED, Some(500.0));
        readings.set(UNRECORDED, Some(missing));
        readings.set(&format!("{PROMISE_PREFIX}serializable"), Some(1.0));
        readings.set(what, Some(1.0));
        readings
    }

    #[test]
    fn what_is_broken_takes_the_verdict_away_and_what_holds_is_a_note() {
        let cell = Cell { load: "register".to_owned(), clients: 4 };
        let told = |rounds: &[Readings]| {
            let rounds: Vec<&Readings> = rounds.iter().collect();
            of_readings(&cell, Arm::Test, &rounds)
        };
        assert_eq!(told(&[Readings::default()]), None, "nothing was recorded");
        let (good, cut) = (round(0.0, PROMISE_HOLDS), round(7.0, PROMISE_HOLDS));
        let note = told(&[good.clone(), good.clone()]).unwrap();
        assert_eq!(note.severity, Severity::Note);
        assert!(note.text.contains("all 1000 transactions of 2 rounds"), "{}", note.text);
        let note = told(&[good.clone(), cut]).unwrap();
        assert!(note.text.contains("(7 came after that)"), "{}", note.text);
        let note = told(&[good.clone(), round(0.0, "other")]).unwrap();
        assert!(note.text.contains("proved of 1 of 2 and undecided"), "{}", note.text);
        let broken = told(&[good, round(0.0, &format!("{ANOMALY_PREFIX}G-single"))]).unwrap();
        assert_eq!(broken.severity, Severity::Blocks);
        assert!(broken.text.contains("G-single, in 1 of 2 recorded rounds"), "{}", broken.text);
    }
}
