//! Warnings of a history that leave a doubt about its latest values: a gate on them cannot tell,
//! and a series with one of them is none without a change.

use crate::warning::{Severity, Warning};

/// The latest rows of a file have no figure.
pub const LATEST_MISSING: &str = "latest-missing";
/// The latest values are far to the worse, and too few to be a level.
pub const LATEST_FAR: &str = "latest-far";
/// A step there is not proved.
pub const UNPROVED_STEP: &str = "unproved-step";
/// Small changes to the worse add up.
pub const SMALL_STEPS: &str = "small-steps";
/// One of two levels that values jump between has moved.
pub const MODE_SHIFT: &str = "mode-shift";
/// Values scatter several times as much, or as little, as before.
pub const SPREAD_SHIFT: &str = "spread-shift";
/// A change alarmed with fewer values, and is no longer found.
pub const LAPSED_ALARM: &str = "lapsed-alarm";
/// The latest runs did nothing of what they count.
pub const WORK_GONE: &str = "work-gone";

const ALL: [&str; 8] = [
    LATEST_MISSING,
    LATEST_FAR,
    UNPROVED_STEP,
    SMALL_STEPS,
    MODE_SHIFT,
    SPREAD_SHIFT,
    LAPSED_ALARM,
    WORK_GONE,
];

impl Warning {
    /// Whether it leaves a doubt about the latest values of a series. A note does where nothing
    /// says which direction is good (`is_assumed`): the better may be the worse.
    #[must_use]
    pub fn is_latest_doubt(&self, is_assumed: bool) -> bool {
        ALL.contains(&self.code.as_str())
            && (self.severity == Severity::Caution || self.code == LATEST_MISSING || is_assumed)
    }
}
