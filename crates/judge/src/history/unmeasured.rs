//! Values that stand for none: a time of −1, or of 0 among values that keep far from it.
//!
//! ```text
//!   latency_ms  9.1  9.3  9.2  -1  -1      "not measured", as many tools write it
//!   latency_ms  9.1  9.3  9.2   0   0      nothing was done, or the clock was not read
//!   wait_ms     0    0    12    0   7      nothing was waited for: a value
//!   errors/sec  0    0    41   43  44      a rate, whatever unit stands behind its stroke: a value
//!   swap_ms     0    0    41   43  44      a time of trouble, and there was none: a value
//!   latency_ms  0    1    2     1   0      a clock of whole milliseconds: a value
//! ```
//!
//! Neither a time nor a rate is negative. A difference of two is, and a time of what happens now
//! and then is 0 where it does not happen. Only a time of what every run does is never 0: one whose
//! name says nothing else, or says *latency* or another word of an operation. Where a name has a
//! word that is not known, its zeros stay: a zero too many is seen, and one too few hides a change.

use dbdyno_model::{Severity, Warning};

use super::cells::{self, Measure};
use super::names;
use super::vocabulary::{COUNTED, FAULTS, PERCENTILES, PLAIN, TIMES, TIMES_TAKEN};
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
/// Words of times that an operation takes, whatever stands beside them.
const OF_OPERATIONS: [&str; 15] = [
    "latency",
    "latencies",
    "lat",
    "duration",
    "durations",
    "elapsed",
    "runtime",
    "rtt",
    "ttfb",
    "rt",
    "rto",
    "wall",
    "response",
    "latenz",
    "latence",
];
/// What else stands in the name of a time of something that is done.
const DONE: [&str; 8] = ["/", "@", "op", "ops", "run", "exec", "execution", "processing"];
/// Words that are plain beside a count, and beside a time name one that may be none.
const MAYBE_NONE: [&str; 7] = ["system", "sys", "user", "cache", "load", "connects", "sent"];
/// Words of times that are 0 where nothing of that happened; those of faults are others.
const NOW_AND_THEN: [&str; 39] = [
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
    "hang",
    "frozen",
    "retrans",
    "backoff",
    "swapping",
];
/// Where more than one in so many is below 0, the values are such as have a sign.
const SIGNED_SHARE: usize = 4;
/// The smallest value is so many times as large as the smallest step where 0 is none.
const FAR_FROM_ZERO: f64 = 3.0;
/// So many values are a level, so that without them a change may not be seen.
const LEVEL_LEAST: usize = 4;

/// Whether a name is of a time; `response` alone is of one as well.
fn has_time(words: &[String]) -> bool {
    has_word(words, &TIMES_TAKEN) || has_word(words, &["response"])
}

/// Whether such a time is taken by every run, so that none is 0.
fn is_always_taken(words: &[String]) -> bool {
    if has_word(words, &NOW_AND_THEN) || has_word(words, &FAULTS) {
        return false;
    }
    has_word(words, &OF_OPERATIONS)
        || words.iter().all(|word| is_of_any_time(word) && !MAYBE_NONE.contains(&word.as_str()))
}

/// Whether a word says nothing of what a time is of, or that it is of something that is done.
fn is_of_any_time(word: &str) -> bool {
    [&TIMES_TAKEN[..], &TIMES, &PERCENTILES, &COUNTED, &PLAIN, &DONE]
        .iter()
        .any(|list| list.contains(&word))
        || word.contains(|c: char| c.is_ascii_digit())
}

/// Which values of the figure `name` in `unit` stand for none.
pub(super) fn unmeasured_values(name: &str, unit: &str, values: &[Option<f64>]) -> Vec<bool> {
    let words = name_words(name);
    let measure = cells::unit_measure(unit);
    // `ns/op`, but not `B/op`, of which there may be none.
    let is_time_each = measure == Some(Measure::Cost) && cells::is_time_of_each(unit);
    let is_rate =
        measure == Some(Measure::Rate) || has_word(&words, &RATES) || names::is_by_the_time(&words);
    let is_time = measure == Some(Measure::Time) || is_time_each || has_time(&words) && !is_rate;
    let is_cost = measure == Some(Measure::Cost);
    if !(is_time || is_rate || is_cost) || has_word(&words, &SIGNED) {
        return vec![false; values.len()];
    }
    let is_sentinel = are_sentinels(values);
    let is_no_zero = is_time
        && !is_rate
        && (is_time_each || is_always_taken(&words))
        && keep_far_from_zero(values);
    values
        .iter()
        .map(|value| match value {
            Some(value) => *value < 0.0 && is_sentinel || *value == 0.0 && is_no_zero,
            None => false,
        })
        .collect()
}

/// How many values stand for none; a caution where they are enough to have been a level.
pub(super) fn unmeasured_note(away: &[bool]) -> Option<Warning> {
    let count = away.iter().filter(|is_away| **is_away).count();
    let text = format!(
        "{count} values left out are 0 or below: no time and no rate is, among such as the others, \
         and they stand for what was not measured."
    );
    let severity = if count >= LEVEL_LEAST { Severity::Caution } else { Severity::Note };
    (count > 0).then(|| Warning::new(severity, "unmeasured", text))
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
        assert_eq!(left_out("value", "ms", &and(&[0.0, 0.0, 0.0])), 3);
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

    /// A second behind a stroke is no time that was taken.
    #[test]
    fn zeros_of_rates_and_of_troubles_are_values() {
        let measured = [0.0, 0.0, 0.0, 0.0, 41.3, 43.1, 44.7, 40.9];
        for name in [
            "errors_per_sec",
            "errors/sec",
            "errorsPerSec",
            "errors (per sec)",
            "deadlocks/sec",
            "5xx_per_sec",
            "retransmits_per_sec",
            "requests_per_sec",
            "rd_sec/s",
            "wr_sec",
            "rsec/s",
            "temp_tables_per_sec",
            "busy ms per second",
            "cpu_throttled_ms",
            "spill_ms",
            "swap_ms",
            "hang_ms",
            "fsync_ms",
            "sys_ms",
            "iowait_ms",
            "backoff_ms",
            "missed_sec",
            "vacuum time",
            "timeout_latency_ms",
        ] {
            assert_eq!(left_out(name, "", &measured), 0, "{name}");
        }
        assert_eq!((left_out("hang", "ms", &measured), left_out("gc", "s", &measured)), (0, 0));
        for name in [
            "p99_ms",
            "avg_latency_ms",
            "fsync_latency_ms",
            "query time",
            "read_ms",
            "duration",
            "response",
            "RunTime(ms)",
            "ms per op",
            "p95 ms",
        ] {
            assert_eq!(left_out(name, "", &measured), 4, "{name}");
        }
    }

    #[test]
    fn as_many_as_a_level_are_a_caution() {
        let severity = |count| unmeasured_note(&vec![true; count]).map(|note| note.severity);
        assert_eq!(severity(0), None);
        assert_eq!(severity(LEVEL_LEAST - 1), Some(Severity::Note));
        assert_eq!(severity(LEVEL_LEAST), Some(Severity::Caution));
    }
}
