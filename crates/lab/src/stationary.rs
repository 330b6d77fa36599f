//! Whether one average describes a cell.
//!
//! ```text
//!   rate  · · ·                    the tables shrink under the load, or the server slows down as
//!             · · ·                it goes: the average lies between two different databases
//!                   · · ·
//!         └ first ┘└ second ┘      so both halves are told
//! ```
//!
//! A load that makes its tables larger or smaller says so, and its cells are marked in any case.
//! Under any other load the rates of an arm are tested for a slope over its rounds, at the level at
//! which cells are decided. A host that wanders gives slopes, too: the ratio of pairs stays right,
//! and the mark is a note.

use dbdyno_model::{Arm, Cell, PerArm, Round, Run, Severity, Warning};
use dbdyno_stats::{DECISION_ALPHA, slope};
use dbdyno_workload::{Load, Trend, Unit};

use crate::loads;

/// Loads that can be had with tables that stay as they are.
const REFILLED: [&str; 2] = ["delete", "insert"];

/// What the reader of a cell must know of its averages. Rounds are in the order of measuring.
pub(crate) fn of_cell(run: &Run, cell: &Cell, arms: &PerArm<Vec<&Round>>) -> Vec<Warning> {
    let load = loads::resolve(&run.plan, &cell.load).ok();
    let drifts = drifts(load.as_ref(), cell, arms);
    let scans = load.as_ref().and_then(|load| scanned(load, arms));
    drifts.into_iter().chain(scans).collect()
}

fn drifts(load: Option<&Load>, cell: &Cell, arms: &PerArm<Vec<&Round>>) -> Option<Warning> {
    let trend = load.map_or(Trend::Steady, |load| load.trend);
    let moving: Vec<Arm> = Arm::BOTH.into_iter().filter(|&arm| moves(&arms[arm])).collect();
    let (severity, why) = match trend {
        Trend::Shrinks => (Severity::Caution, "the tables shrink under this load".to_owned()),
        Trend::Grows => (Severity::Caution, "the tables grow under this load".to_owned()),
        _ if moving.is_empty() => return None,
        Trend::Steady | Trend::GrowsAndIsCut | Trend::ShrinksAndIsRefilled => {
            let arms: Vec<&str> = moving.iter().map(|arm| arm.name()).collect();
            (Severity::Note, format!("the rate of {} moves over its rounds", arms.join(" and ")))
        }
    };
    let halves: Option<Vec<String>> = Arm::BOTH
        .into_iter()
        .map(|arm| halves(&arms[arm], trend).map(|halves| format!("{arm} {halves}")))
        .collect();
    let mut text = format!("{cell} is not stationary: {why}");
    if let Some(halves) = halves {
        text.push_str(&format!("; first and second half of the rounds: {}", halves.join(", ")));
    }
    if REFILLED.contains(&cell.load.as_str()) {
        text.push_str(&format!("; {}?refill=on makes the tables whole between rounds", cell.load));
    }
    Some(Warning::new(severity, "not-stationary", text))
}

fn moves(rounds: &[&Round]) -> bool {
    let rates: Vec<f64> = rounds.iter().map(|round| round.qps().ln()).collect();
    slope(&rates).is_ok_and(|slope| slope.p_value < DECISION_ALPHA)
}

/// `5400/s and 3100/s`; where rows go away, with the share of statements that found one.
fn halves(rounds: &[&Round], trend: Trend) -> Option<String> {
    if rounds.len() < 2 {
        return None;
    }
    let (first, second) = rounds.split_at(rounds.len() / 2);
    let told = [first, second].map(|half| {
        let rate = format!("{:.0}/s", rate_of(half));
        if trend != Trend::Shrinks {
            return rate;
        }
        let found: u64 = half.iter().map(|round| round.rows_changed).sum();
        let asked: u64 = half.iter().map(|round| round.statements).sum();
        format!("{rate} ({:.1} % found a row)", 100.0 * found as f64 / asked.max(1) as f64)
    });
    Some(told.join(" and "))
}

fn rate_of(rounds: &[&Round]) -> f64 {
    let statements: u64 = rounds.iter().map(|round| round.statements).sum();
    let wall_ns: u64 = rounds.iter().map(|round| round.wall_ns).sum();
    statements as f64 / (wall_ns.max(1) as f64 / 1e9)
}

/// The rate of a scan in the unit of Callaghan's tables.
fn scanned(load: &Load, arms: &PerArm<Vec<&Round>>) -> Option<Warning> {
    let Unit::ScannedRows(rows) = load.unit else { return None };
    let rate = |arm: Arm| format!("{arm} {:.0}", rate_of(&arms[arm]) * rows as f64);
    let text = format!(
        "each statement goes through {rows} rows: {} and {} rows/s",
        rate(Arm::Base),
        rate(Arm::Test)
    );
    Some(Warning::new(Severity::Note, "scanned-rows", text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::Verdict;

    use crate::sample::of_load;

    fn told(label: &str, disturb: impl Fn(&mut Round)) -> Option<Warning> {
        let comparison = crate::compare(&of_load(label, "mysql://u@h/d", 2, disturb)).unwrap();
        let cell = comparison.cells.into_iter().next().unwrap();
        assert_eq!(cell.verdict, Verdict::Faster, "it marks and does not block");
        let codes = ["not-stationary", "scanned-rows"];
        cell.warnings.into_iter().find(|warning| codes.contains(&warning.code.as_str()))
    }

    #[test]
    fn a_shrinking_table_is_marked_and_its_average_split() {
        let fewer_found = |round: &mut Round| {
            round.rows_changed = if round.key.pair < 4 { round.statements } else { 0 };
        };
        let warning = told("delete", fewer_found).unwrap();
        assert_eq!(
            (warning.severity, warning.code.as_str()),
            (Severity::Caution, "not-stationary")
        );
        for part in ["tables shrink", "/s (100.0 % found a row)", "/s (0.0 % found a row)"] {
            assert!(warning.text.contains(part), "{part:?} is missing in {warning:?}");
        }
        assert!(told("insert", |_| {}).unwrap().text.contains("tables grow"));
    }

    #[test]
    fn a_rate_that_moves_is_noted_and_a_steady_one_is_not() {
        assert_eq!(told("point-query", |_| {}), None);
        let falls = |round: &mut Round| {
            if round.key.arm == Arm::Test {
                round.statements = 4_000 - 200 * u64::from(round.key.pair);
            }
        };
        let warning = told("point-query", falls).unwrap();
        assert_eq!(warning.severity, Severity::Note);
        assert!(warning.text.contains("rate of test moves"), "{warning:?}");
        assert!(warning.text.contains("test 37000/s and 29000/s"), "{warning:?}");
    }

    /// The plan of the sample has one row.
    #[test]
    fn a_scan_is_told_in_rows() {
        let warning = told("scan", |_| {}).unwrap();
        assert!(warning.text.contains("goes through 1 rows: base 10"), "{warning:?}");
    }
}
