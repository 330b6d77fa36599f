//! Rounds in which nothing was answered at first.
//!
//! ```text
//!   ├─ window ─┤ nothing ├──── twice as long ────┤ nothing ├───── … ─────┤ at most three times
//! ```
//!
//! A window of a tenth of a second is shorter than a checkpoint or a busy disk may hold a server
//! up, and a rate of zero has no logarithm. Such a round is measured again, longer, and the run
//! goes on; but its rate does not have the standstill in it. So it is told, and an arm that stands
//! still often gets no verdict.

use dbdyno_load::LoadError;
use dbdyno_model::readings::STOOD_STILL;
use dbdyno_model::{Arm, Round, Severity, Warning};

use crate::error::LabError;

/// A round is begun again at most so often.
const TIMES_MOST: u32 = 3;
/// An arm that stood still in more than this share of its rounds has another rate than it shows.
const BLOCKS: f64 = 0.05;

/// Measures with the factor by which the window is to be longer, until something is answered; how
/// often nothing was.
///
/// # Errors
/// Any other error of `measure`, or its last one.
pub(crate) fn until_answered<T>(
    mut measure: impl FnMut(u32) -> Result<T, LabError>,
) -> Result<(T, u32), LabError> {
    let mut times = 0;
    loop {
        match measure(1 << times) {
            Err(LabError::Load(_, _, LoadError::NothingFinished)) if times < TIMES_MOST => {
                times += 1;
            }
            measured => return measured.map(|measured| (measured, times)),
        }
    }
}

/// What the rounds of an arm in a cell say of it.
pub(crate) fn of_arm(arm: Arm, rounds: &[&Round]) -> Option<Warning> {
    let still = rounds.iter().filter(|round| round.readings.get(STOOD_STILL).is_some()).count();
    if still == 0 {
        return None;
    }
    let is_often = still as f64 > BLOCKS * rounds.len() as f64;
    let text = format!(
        "{arm}: in {still} of {} rounds nothing was answered while the window was open; they were \
         measured again, longer, so that the rate does not have these standstills in it; look for \
         what holds the server up, or give rounds that are longer than that (--seconds)",
        rounds.len()
    );
    let severity = if is_often { Severity::Blocks } else { Severity::Caution };
    Some(Warning::new(severity, "stood-still", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_get_longer_until_something_is_answered_or_three_times() {
        let nothing = || LabError::Load(Arm::Base, "a cell".to_owned(), LoadError::NothingFinished);
        let mut factors = Vec::new();
        let measured = until_answered(|factor| {
            factors.push(factor);
            if factor < 4 { Err(nothing()) } else { Ok("answered") }
        });
        assert_eq!((measured.unwrap(), &factors[..]), (("answered", 2), &[1, 2, 4][..]));
        factors.clear();
        assert!(
            until_answered(|factor| {
                factors.push(factor);
                Err::<(), _>(nothing())
            })
            .is_err()
        );
        assert_eq!(factors, [1, 2, 4, 8]);
        let stopped = || LabError::Load(Arm::Base, String::new(), LoadError::Interrupted);
        assert!(until_answered(|_| Err::<(), _>(stopped())).is_err());
    }

    #[test]
    fn an_arm_that_stands_still_often_gets_no_verdict() {
        let severity = |still: u32| {
            let run = crate::sample::of_pairs(40, "point-query", "mysql://u@h/d", 1, |round| {
                let stood = round.key.arm == Arm::Test && round.key.pair < still;
                round.readings.set(STOOD_STILL, stood.then_some(1.0));
            });
            let cell = crate::compare(&run).unwrap().cells[0].clone();
            let told = cell.warnings.into_iter().find(|warning| warning.code == "stood-still");
            told.map(|warning| (warning.severity, warning.text.contains(&format!("{still} of 40"))))
        };
        assert_eq!(severity(0), None);
        assert_eq!(severity(2), Some((Severity::Caution, true)));
        assert_eq!(severity(3), Some((Severity::Blocks, true)));
    }
}
