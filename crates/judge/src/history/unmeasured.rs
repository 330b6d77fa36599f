//! Values that stand for none: a time of −1, or of 0 among values that keep far from it.
//!
//! ```text
//!   latency_ms  9.1  9.3  9.2  -1  -1      "not measured", as many tools write it
//!   latency_ms  9.1  9.3  9.2   0   0      nothing was done, or the clock was not read
//!   wait_ms     0    0    12    0   7      nothing was waited for: a value
//!   latency_ms  0    1    2     1   0      a clock of whole milliseconds: a value
//! ```
//!
//! Neither a time nor a rate is negative. A difference of two is, and a time of what happens now
//! and then is 0 where it does not happen.

use super::cells::{self, Measure};
use super::vocabulary::TIMES_TAKEN;
use super::words::{RATES, has_word, name_words};

/// Words of what may be below 0.
const SIGNED: [&str; 24] = [
    "diff",
    "difference",
    "differences",
    "delta",
    "change",
    "changes",
    "offset",
    "skew",
    "drift",
    "gain",
    "saved",
    "savings",
    "relative",
    "growth",
    "improvement",
    "regression",
    "slowdown",
    "overhead",
    "trend",
    "slope",
    "residual",
    "error",
    "deviation",
    "margin",
];
/// Words of times that are 0 where nothing of that happened.
const NOW_AND_THEN: [&str; 34] = [
    "wait",
    "waits",
    "waiting",
    "waited",
    "lag",
    "lags",
    "pause",
    "pauses",
    "paused",
    "blocked",
    "blocking",
    "gc",
    "stall",
    "stalls",
    "stalled",
    "delay",
    "delays",
    "delayed",
    "downtime",
    "idle",
    "lock",
    "locks",
    "locked",
    "queue",
    "queued",
    "steal",
    "jitter",
    "std",
    "stddev",
    "io",
    "connect",
    "connecting",
    "behind",
    "sleep",
];
/// Where more than one in so many is below 0, the values are such as have a sign.
const SIGNED_SHARE: usize = 4;
/// The smallest value is so many times as large as the smallest step where 0 is none.
const FAR_FROM_ZERO: f64 = 3.0;

/// Whether a name is of a time; `response` alone is of one as well.
fn has_time(words: &[String]) -> bool {
    has_word(words, &TIMES_TAKEN) || has_word(words, &["response"])
}

/// Which values of the figure `name` in `unit` stand for none.
pub(super) fn unmeasured_values(name: &str, unit: &str, values: &[Option<f64>]) -> Vec<bool> {
    let words = name_words(name);
    let measure = cells::unit_measure(unit);
    // `ns/op`, but not `B/op`, of which there may be none.
    let is_time_each = measure == Some(Measure::Cost) && cells::is_time_of_each(unit);
    let is_time = measure == Some(Measure::Time)
        || is_time_each
        || has_time(&words) && !has_word(&words, &RATES);
    let is_rate = measure == Some(Measure::Rate) || has_word(&words, &RATES);
    let is_cost = measure == Some(Measure::Cost);
    if !(is_time || is_rate || is_cost) || has_word(&words, &SIGNED) {
        return vec![false; values.len()];
    }
    let is_sentinel = are_sentinels(values);
    let is_no_zero =
        is_time && !is_rate && !has_word(&words, &NOW_AND_THEN) && keep_far_from_zero(values);
    values
        .iter()
        .map(|value| match value {
            Some(value) => *value < 0.0 && is_sentinel || *value == 0.0 && is_no_zero,
            None => false,
        })
        .collect()
}

/// Whether values below 0 stand for none: they are one, such as −1, or few; and something is above.
fn are_sentinels(values: &[Option<f64>]) -> bool {
    let mut below: Vec<f64> =
        values.iter().flatten().copied().filter(|value| *value < 0.0).collect();
    let count = below.len();
    below.sort_by(f64::total_cmp);
    below.dedup();
    let is_some_above = values.iter().flatten().any(|value| *value > 0.0);
    is_some_above && (below.len() == 1 || SIGNED_SHARE * count <= values.len())
}

/// Whether the smallest value above 0 is far above it, by the smallest step between two values.
fn keep_far_from_zero(values: &[Option<f64>]) -> bool {
    let mut levels: Vec<f64> =
        values.iter().flatten().copied().filter(|value| *value >= 0.0).collect();
    levels.push(0.0);
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let step = levels.windows(2).map(|two| two[1] - two[0]).fold(f64::INFINITY, f64::min);
    levels.get(1).is_some_and(|smallest| *smallest > FAR_FROM_ZERO * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(name: &str, unit: &str, values: &[f64]) -> usize {
        let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
        unmeasured_values(name, unit, &values).into_iter().filter(|is| *is).count()
    }

    #[test]
    fn no_run_takes_no_time_or_less() {
        let measured = [9.1, 9.3, 9.2, 9.15, 9.05, 9.2, 9.1, 9.3];
        let and = |late: &[f64]| [&measured[..], late].concat();
        assert_eq!(left_out("latency_ms", "", &and(&[-1.0, -1.0])), 2);
        assert_eq!(left_out("tps", "", &and(&[-1.0, -1.0])), 2);
        assert_eq!(left_out("x", "ms", &and(&[0.0, 0.0, 0.0])), 3);
        assert_eq!(left_out("duration", "", &and(&[0.0])), 1);
        for unit in ["ns/op", "us/op", "s/iter", "ms/query"] {
            assert_eq!(left_out("value", unit, &and(&[0.0, -1.0])), 2, "{unit}");
        }
        assert_eq!(left_out("value", "B/op", &and(&[0.0, -1.0])), 1);
    }

    #[test]
    fn zeros_and_signs_that_are_values_stay() {
        let measured = [9.1, 9.3, 9.2, 9.15, 9.05, 9.2, 9.1, 9.3, 0.0, 0.0];
        assert_eq!(left_out("tps", "", &measured), 0, "a server that does nothing");
        assert_eq!(left_out("errors", "", &measured), 0);
        assert_eq!(left_out("lock_wait_ms", "", &measured), 0);
        assert_eq!(left_out("latency_ms", "", &[1.0, 0.0, 2.0, 1.0, 0.0]), 0, "whole ms");
        assert_eq!(left_out("latency_diff_ms", "", &[9.0, -1.0, 9.1, 9.2]), 0);
        assert_eq!(left_out("clock", "ms", &[1.5, -1.0, 2.5, -2.5, 1.0, -0.5]), 0, "signed");
        assert_eq!(left_out("latency_ms", "", &[0.0, 0.0]), 0);
    }
}
