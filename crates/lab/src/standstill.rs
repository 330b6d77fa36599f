//! Rounds in which nothing was answered at first.
//!
//! ```text
//!   ├─ window ─┤ nothing ├──── twice as long ────┤ nothing ├───── … ─────┤ at most three times
//! ```
//!
//! A window of a tenth of a second is shorter than a checkpoint or a busy disk may hold a server
//! up, and a rate of zero has no logarithm. Such a round is measured again, longer, and the run
//! goes on; but its rate does not have the standstill in it. So it is told, and an arm that stands
//! still often gets no verdict (`judge::cautions`).

use std::time::Duration;

use dbdyno_load::LoadError;

use crate::error::LabError;

/// A round is begun again at most so often.
const TIMES_MOST: u32 = 3;

/// Measures, with the number of the attempt, until something is answered; how often nothing was.
/// Each time the window is to be twice as long ([`window_of_attempt`]).
///
/// # Errors
/// Any other error of `measure`, or its last one.
pub(crate) fn until_answered<T>(
    mut measure: impl FnMut(u32) -> Result<T, LabError>,
) -> Result<(T, u32), LabError> {
    let mut times = 0;
    loop {
        match measure(times) {
            Err(LabError::Load(_, _, LoadError::NothingFinished)) if times < TIMES_MOST => {
                times += 1;
            }
            measured => return measured.map(|measured| (measured, times)),
        }
    }
}

/// The window of an attempt, of which the first one has number 0.
pub(crate) fn window_of_attempt(window: Duration, attempt: u32) -> Duration {
    window * (1 << attempt)
}

#[cfg(test)]
mod tests {
    use dbdyno_model::ArmIndex;

    use super::*;

    #[test]
    fn windows_get_longer_until_something_is_answered_or_three_times() {
        let nothing =
            || LabError::Load(ArmIndex::BASE, "a cell".to_owned(), LoadError::NothingFinished);
        let second = Duration::from_secs(1);
        let mut windows = Vec::new();
        let measured = until_answered(|attempt| {
            windows.push(window_of_attempt(second, attempt).as_secs());
            if attempt < 2 { Err(nothing()) } else { Ok("answered") }
        });
        assert_eq!((measured.unwrap(), &windows[..]), (("answered", 2), &[1, 2, 4][..]));
        windows.clear();
        assert!(
            until_answered(|attempt| {
                windows.push(window_of_attempt(second, attempt).as_secs());
                Err::<(), _>(nothing())
            })
            .is_err()
        );
        assert_eq!(windows, [1, 2, 4, 8]);
        let stopped = || LabError::Load(ArmIndex::BASE, String::new(), LoadError::Interrupted);
        assert!(until_answered(|_| Err::<(), _>(stopped())).is_err());
    }
}
