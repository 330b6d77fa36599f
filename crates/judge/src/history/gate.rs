//! What a gate on the latest values of a history says, and why.
//!
//! ```text
//!   the latest N values of a series:   ·· ·:·· ·│··.····      looked at: what is new among these
//!     a change to the worse alarms there      ──▶ fails
//!     it slides there, or a warning says that
//!     the latest values may hide something    ──▶ cannot tell
//!     else                                    ──▶ holds
//! ```

use dbdyno_model::{
    BenchmarkHistory, GateOutcome, HistoryGateAnswer, HistorySeries, SeriesGateAnswer,
    SeriesGateReason, Shift, ShiftWeight, Slide, Warning,
};

use super::{LEFT_OUT, TOO_SHORT, UNREAD};

/// Judges a history by a gate on so many of the latest values of each series.
///
/// One change to the worse fails; one series that cannot show any leaves a doubt, and so does one
/// that slides to the worse or whose latest runs tell nothing, and a run that cannot be read.
/// Where the direction is assumed, any change is a doubt: it may be to the worse.
///
/// It takes some values of a new level to prove it, so that a change is never within the very
/// latest ones; what first alarmed with one of them is as new.
pub fn judge_gate(history: &BenchmarkHistory, latest: usize) -> HistoryGateAnswer {
    let series: Vec<SeriesGateAnswer> =
        history.series.iter().map(|one| judge_series(one, latest)).collect();
    let of_whole = history.warnings.iter().enumerate();
    let doubts: Vec<usize> =
        of_whole.filter(|(_, warning)| is_lack(warning)).map(|(at, _)| at).collect();
    let has = |outcome| series.iter().any(|one| one.outcome == outcome);
    let outcome = if has(GateOutcome::Fails) {
        GateOutcome::Fails
    } else if has(GateOutcome::CannotTell) || !doubts.is_empty() {
        GateOutcome::CannotTell
    } else {
        GateOutcome::Holds
    };
    HistoryGateAnswer { latest, outcome, series, doubts }
}

fn judge_series(series: &HistorySeries, latest: usize) -> SeriesGateAnswer {
    let is_assumed = series.is_direction_assumed();
    let alarms = alarms(series, latest).map(|(at, _)| at);
    let slides = slides(series, latest).map(|(at, _)| at);
    let mut reasons: Vec<SeriesGateReason> = Vec::new();
    if is_assumed {
        if alarms.chain(slides).next().is_some() {
            reasons.push(SeriesGateReason::UnknownDirection);
        }
    } else {
        let changes = &series.changes;
        let worse = alarms.rev().filter(|&at| series.is_worse(changes.shifts[at].size.estimate));
        reasons.extend(worse.map(SeriesGateReason::Alarm));
        let worse = slides.filter(|&at| series.is_worse(changes.slides[at].size));
        reasons.extend(worse.map(SeriesGateReason::Slide));
    }
    let warnings = series.warnings.iter().enumerate();
    let doubts = warnings.filter(|(_, one)| is_lack(one) || one.is_latest_doubt(is_assumed));
    reasons.extend(doubts.map(|(at, _)| SeriesGateReason::Doubt(at)));
    let is_alarm = |reason: &SeriesGateReason| matches!(reason, SeriesGateReason::Alarm(_));
    let outcome = if reasons.iter().any(is_alarm) {
        GateOutcome::Fails
    } else if reasons.is_empty() {
        GateOutcome::Holds
    } else {
        GateOutcome::CannotTell
    };
    SeriesGateAnswer { outcome, reasons }
}

/// Whether it says that values are missing, whatever they are.
fn is_lack(warning: &Warning) -> bool {
    [TOO_SHORT, LEFT_OUT, UNREAD].contains(&warning.code.as_str())
}

/// The alarms that a gate on so many of the latest values looks at, and their indices.
fn alarms(
    series: &HistorySeries,
    latest: usize,
) -> impl DoubleEndedIterator<Item = (usize, &Shift)> {
    let from = series.points.len().saturating_sub(latest);
    let shifts = series.changes.shifts.iter().enumerate();
    shifts.filter(move |(at, shift)| {
        let is_new = series.first_alarmed[*at].is_some_and(|with| with > from);
        (shift.first >= from || is_new) && shift.weight == ShiftWeight::Alarm
    })
}

/// The slides that reach into so many of the latest values, and their indices.
fn slides(series: &HistorySeries, latest: usize) -> impl Iterator<Item = (usize, &Slide)> {
    let from = series.points.len().saturating_sub(latest);
    series.changes.slides.iter().enumerate().filter(move |(_, slide)| slide.to > from)
}

#[cfg(test)]
mod kinds;

#[cfg(test)]
mod tests {
    use dbdyno_model::latest_doubt::{
        LAPSED_ALARM, LATEST_FAR, LATEST_MISSING, MODE_SHIFT, SMALL_STEPS, SPREAD_SHIFT,
        UNPROVED_STEP, WORK_GONE,
    };
    use dbdyno_model::{
        Better, ChangeScale, HistoryPoint, Interval, NullKind, SeriesChanges, Severity,
    };

    use super::*;

    /// A series with a change to the worse at 30 of 40 values, or without any.
    fn series(is_worse: bool) -> HistorySeries {
        let shift = Shift {
            first: 30,
            earliest: 30,
            latest: 30,
            p_value: 0.001,
            null: NullKind::Permutation,
            size: Interval { estimate: -0.05, low: -0.06, high: -0.04 },
            before: 100.0,
            after: 95.0,
            superiority: 1.0,
            weight: ShiftWeight::Alarm,
        };
        let point = HistoryPoint {
            unix_ms: None,
            label: String::new(),
            version: String::new(),
            value: 100.0,
        };
        HistorySeries {
            name: String::new(),
            about: String::new(),
            metric: String::new(),
            better: Better::Higher,
            scale: ChangeScale::Share,
            points: vec![point; 40],
            changes: SeriesChanges {
                shifts: is_worse.then_some(shift).into_iter().collect(),
                ..SeriesChanges::default()
            },
            causes: Vec::new(),
            first_found: is_worse.then_some(Some(34)).into_iter().collect(),
            first_alarmed: is_worse.then_some(Some(36)).into_iter().collect(),
            lapsed: Vec::new(),
            e_divisive: None,
            warnings: Vec::new(),
        }
    }

    fn cautions(codes: &[&str]) -> Vec<Warning> {
        codes.iter().map(|code| Warning::new(Severity::Caution, code, "text")).collect()
    }

    fn answer(series: HistorySeries, of_whole: &[&str], latest: usize) -> HistoryGateAnswer {
        let history = BenchmarkHistory {
            source: String::new(),
            budget: 0.02,
            superiority: 0.9,
            alpha: 0.01,
            series: vec![series],
            warnings: cautions(of_whole),
        };
        judge_gate(&history, latest)
    }

    fn gated(
        series: HistorySeries,
        of_whole: &[&str],
        of_series: &[&str],
        latest: usize,
    ) -> GateOutcome {
        let series = HistorySeries { warnings: cautions(of_series), ..series };
        answer(series, of_whole, latest).outcome
    }

    /// The change is at 30 of 40 values, was first found with 34 and alarmed with 36.
    #[test]
    fn a_gate_looks_at_the_latest_values() {
        assert_eq!(gated(series(true), &[], &[], 10), GateOutcome::Fails);
        assert_eq!(gated(series(true), &[], &[], 5), GateOutcome::Fails);
        assert_eq!(gated(series(true), &[], &[], 4), GateOutcome::Holds, "known for five runs");
        let mut tonight = series(true);
        tonight.first_alarmed = vec![Some(40)];
        let found = gated(tonight.clone(), &[], &[], 1);
        assert_eq!(found, GateOutcome::Fails, "found with the latest run");
        tonight.first_alarmed = vec![None];
        assert_eq!(gated(tonight, &[], &[], 9), GateOutcome::Holds, "known for long");
        assert_eq!(gated(series(false), &[], &[], 10), GateOutcome::Holds);
    }

    #[test]
    fn a_gate_is_open_where_a_level_slides_to_the_worse() {
        for (to, size, expected) in [
            (40, -0.1, GateOutcome::CannotTell),
            (40, 0.1, GateOutcome::Holds),
            // It has ended.
            (30, -0.1, GateOutcome::Holds),
        ] {
            let mut series = series(false);
            series.changes.slides = vec![Slide { from: 10, to, size }];
            assert_eq!(gated(series, &[], &[], 5), expected, "{size} to {to}");
        }
    }

    /// A change in either direction may be to the worse; without one there is nothing to know.
    #[test]
    fn a_gate_passes_no_change_whose_direction_is_assumed() {
        let mut slides = [series(false), series(false)];
        for (series, size) in slides.iter_mut().zip([0.1, -0.1]) {
            series.changes.slides = vec![Slide { from: 10, to: 40, size }];
        }
        let turned = HistorySeries { better: Better::Lower, ..series(true) };
        let [up, down] = slides;
        for changed in [series(true), turned, up, down] {
            let changed = HistorySeries { warnings: cautions(&["direction"]), ..changed };
            let answer = answer(changed, &[], 10);
            assert_eq!(answer.outcome, GateOutcome::CannotTell);
            assert_eq!(answer.series[0].reasons, [SeriesGateReason::UnknownDirection]);
        }
        assert_eq!(gated(series(false), &[], &["direction"], 10), GateOutcome::Holds);
    }

    /// A gap in the middle is a run fewer; a gap at the end is the run that was asked about.
    #[test]
    fn a_gate_is_open_where_the_latest_run_is_missing() {
        assert_eq!(gated(series(false), &[], &[LEFT_OUT], 10), GateOutcome::CannotTell);
        assert_eq!(gated(series(false), &[UNREAD], &[], 10), GateOutcome::CannotTell);
        assert_eq!(gated(series(true), &[], &[LEFT_OUT], 10), GateOutcome::Fails);
        assert_eq!(gated(series(false), &["short-runs"], &[], 10), GateOutcome::Holds);
        assert_eq!(gated(series(false), &[LEFT_OUT], &[], 10), GateOutcome::CannotTell);
        assert_eq!(gated(series(false), &[], &[TOO_SHORT], 10), GateOutcome::CannotTell);
        assert_eq!(gated(series(false), &[], &[LATEST_MISSING], 10), GateOutcome::CannotTell);
        for code in [LAPSED_ALARM, LATEST_FAR, SPREAD_SHIFT, UNPROVED_STEP, SMALL_STEPS, WORK_GONE]
        {
            assert_eq!(gated(series(false), &[], &[code], 10), GateOutcome::CannotTell);
        }
        assert_eq!(gated(series(false), &[], &[MODE_SHIFT], 10), GateOutcome::CannotTell);
        assert_eq!(gated(series(true), &[], &[LATEST_MISSING], 10), GateOutcome::Fails);
    }

    /// Whoever tells the answer says why: nothing but what holds is without a reason.
    #[test]
    fn what_does_not_hold_has_its_reasons() {
        let short = HistorySeries { warnings: cautions(&["blanks", TOO_SHORT]), ..series(true) };
        let answer = answer(short, &["sorted", LEFT_OUT], 10);
        assert_eq!(answer.outcome, GateOutcome::Fails);
        let reasons = [SeriesGateReason::Alarm(0), SeriesGateReason::Doubt(1)];
        assert_eq!(answer.series[0].reasons, reasons);
        assert_eq!(answer.doubts, [1]);
    }
}
