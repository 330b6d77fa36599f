//! What the throughput of an arm did over a long cell: stable, or so many per cent per hour.
//!
//! Rounds are the slots of [`dbdyno_stats::estimate_drift`]; its hours are those of the clock, in
//! which both arms had their turns. A cell of a few minutes says nothing about hours, and is not
//! asked.

use dbdyno_model::{Arm, Round, Severity, Warning};
use dbdyno_stats::{Drift, DriftVerdict, RateAt, estimate_drift};

/// Cells that take less than this say nothing about an hour.
const LONG_MS: u64 = 10 * 60 * 1000;
/// A drift below this is called stable: 5 % per hour.
const TOLERANCE_PER_HOUR: f64 = 0.05;

/// The drift of an arm's events per second, named; `None` for a short cell, and where the rounds do
/// not tell.
pub(crate) fn drift_warning(arm: Arm, rounds: &[&Round]) -> Option<Warning> {
    let mut rates: Vec<(u64, RateAt)> = rounds
        .iter()
        .map(|round| {
            let started = round.started_unix_ms;
            let at_ns = started * 1_000_000 + round.wall_ns / 2;
            (started, RateAt { at_ns, rate: round.tps() })
        })
        .collect();
    rates.sort_by_key(|(started, _)| *started);
    let (first, last) = (rates.first()?.0, rates.last()?.0);
    if last - first < LONG_MS {
        return None;
    }
    let rates: Vec<RateAt> = rates.into_iter().map(|(_, rate)| rate).collect();
    let found = estimate_drift(&rates, TOLERANCE_PER_HOUR).ok()?;
    let text = format!("{arm}: {}", words(&found)?);
    Some(Warning::new(Severity::Note, "drift", text))
}

fn words(found: &Drift) -> Option<String> {
    let percent = |share: f64| format!("{:+.1} %", share * 100.0).replace('-', "−");
    let range = found.per_hour;
    let interval = format!("95 % interval {} to {}", percent(range.low), percent(range.high));
    let size = format!("{:.1} % per hour", range.estimate.abs() * 100.0);
    match found.verdict {
        DriftVerdict::Stable => {
            Some(format!("throughput is stable over time ({interval} per hour)"))
        }
        DriftVerdict::Declining => Some(format!("throughput declines {size} ({interval})")),
        DriftVerdict::Rising => Some(format!("throughput rises {size} ({interval})")),
        DriftVerdict::Undecided => None,
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_model::{ArmIndex, Cell, Cost, LatencyHistogram, RoundKey, Series};

    use super::*;

    /// A round of a second each minute, with a rate that changes by a share per hour and wavers by
    /// a fixed pattern.
    fn rounds(minutes: u64, per_hour: f64) -> Vec<Round> {
        let round = |minute: u64| {
            let waver = [0.0, 0.004, -0.003, 0.002, -0.004, 0.001, 0.003][minute as usize % 7];
            let rate = 1e6 * ((1.0 + per_hour).ln() * minute as f64 / 60.0 + waver).exp();
            let cell = Cell { load: "tpcc".to_owned(), clients: 1 };
            Round {
                key: RoundKey { cell, pair: minute as u32, arm: ArmIndex::BASE },
                start: 0,
                filling: 0,
                started_unix_ms: 1_700_000_000_000 + minute * 60_000,
                wall_ns: 1_000_000_000,
                events: rate as u64,
                statements: 0,
                rows_read: 0,
                rows_changed: 0,
                retries: 0,
                latency: LatencyHistogram::new(),
                series: Series::default(),
                classes: Vec::new(),
                cost: Cost::default(),
                pauses: None,
                open: None,
                readings: dbdyno_model::Readings::default(),
            }
        };
        (0..minutes).map(round).collect()
    }

    fn told(minutes: u64, per_hour: f64) -> Option<String> {
        let rounds = rounds(minutes, per_hour);
        let rounds: Vec<&Round> = rounds.iter().rev().collect();
        drift_warning(Arm::Base, &rounds).map(|warning| warning.text)
    }

    #[test]
    fn long_cells_get_their_drift_by_name_and_short_ones_none() {
        let declining = told(120, -0.2).unwrap();
        assert!(declining.starts_with("base: throughput declines 20."), "{declining}");
        assert!(declining.contains("95 % interval −2"), "{declining}");
        assert!(told(120, 0.2).unwrap().contains("rises"));
        assert!(told(120, 0.0).unwrap().contains("is stable over time"));
        assert_eq!(told(9, -0.9), None);
    }
}
