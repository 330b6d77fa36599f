//! Histories that nobody measured, for tests of how they are told.

use dbdyno_model::{
    BenchmarkHistory, Better, ChangeScale, HistoryPoint, HistorySeries, Interval, NullKind,
    SeriesChanges, Severity, Shift, ShiftWeight, Warning,
};

/// So many values with a change to the worse at each of these places.
pub(super) fn series(
    count: usize,
    firsts: &[usize],
    e_divisive: Option<&[usize]>,
) -> HistorySeries {
    let shift = |&first: &usize| Shift {
        first,
        earliest: first,
        latest: first,
        p_value: 0.001,
        null: NullKind::Permutation,
        size: Interval { estimate: -0.05, low: -0.06, high: -0.04 },
        before: 100.0,
        after: 95.0,
        superiority: 1.0,
        weight: ShiftWeight::Alarm,
    };
    let point = |at: usize| HistoryPoint {
        unix_ms: None,
        label: format!("run {at}"),
        version: String::new(),
        value: 100.0 + (at % 7) as f64,
    };
    HistorySeries {
        name: "qps".to_owned(),
        about: String::new(),
        metric: "qps".to_owned(),
        better: Better::Higher,
        scale: ChangeScale::Share,
        points: (0..count).map(point).collect(),
        changes: SeriesChanges {
            shifts: firsts.iter().map(shift).collect(),
            ..SeriesChanges::default()
        },
        causes: vec![Vec::new(); firsts.len()],
        first_found: vec![None; firsts.len()],
        first_alarmed: vec![None; firsts.len()],
        lapsed: Vec::new(),
        e_divisive: e_divisive.map(<[usize]>::to_vec),
        warnings: Vec::new(),
    }
}

/// A history of these.
pub(super) fn history(series: Vec<HistorySeries>, warnings: Vec<Warning>) -> BenchmarkHistory {
    BenchmarkHistory {
        source: "a store".to_owned(),
        budget: 0.02,
        superiority: 0.9,
        alpha: 0.01,
        series,
        warnings,
    }
}

/// A warning of this code.
pub(super) fn warning(code: &str) -> Warning {
    Warning::new(Severity::Caution, code, "Something is to be known.")
}
