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

use dbdyno_model::{Arm, Cell, PerArm, Round, RunPair, Severity, Warning};
use dbdyno_stats::{DECISION_ALPHA, slope};
use dbdyno_workload::{Load, Trend};

use crate::rate_unit::CellUnits;
use dbdyno_workload::planned;

/// Loads that can be had with tables that stay as they are.
const REFILLED: [&str; 2] = ["delete", "insert"];

/// What the reader of a cell must know of its averages. Rounds are in the order of measuring.
pub(crate) fn average_warning(
    run: RunPair<'_>,
    cell: &Cell,
    units: &CellUnits,
    arms: &PerArm<Vec<&Round>>,
) -> Option<Warning> {
    let load = planned::planned_load(run.plan(), &cell.load).ok();
    let trend = load.map_or(Trend::Steady, |load: Load| load.trend);
    let moving: Vec<Arm> = Arm::BOTH.into_iter().filter(|arm| moves(units, &arms[*arm])).collect();
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
        .map(|arm| halves(units, &arms[arm], trend).map(|halves| format!("{arm} {halves}")))
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

fn moves(units: &CellUnits, rounds: &[&Round]) -> bool {
    let rates: Vec<f64> = rounds.iter().map(|round| units.rate(round).ln()).collect();
    slope(&rates).is_ok_and(|slope| slope.p_value < DECISION_ALPHA)
}

/// `5400/s and 3100/s`; where rows go away, with the share of statements that found one.
fn halves(units: &CellUnits, rounds: &[&Round], trend: Trend) -> Option<String> {
    if rounds.len() < 2 {
        return None;
    }
    let (first, second) = rounds.split_at(rounds.len() / 2);
    let told = [first, second].map(|half| {
        let rate = units.rate_text(rate_of(units, half));
        if trend != Trend::Shrinks {
            return rate;
        }
        let found: u64 = half.iter().map(|round| round.rows_changed).sum();
        let asked: u64 = half.iter().map(|round| round.statements).sum();
        format!("{rate} ({:.1} % found a row)", 100.0 * found as f64 / asked.max(1) as f64)
    });
    Some(told.join(" and "))
}

/// Of all rounds together: each counts for as long as it took.
fn rate_of(units: &CellUnits, rounds: &[&Round]) -> f64 {
    let done = rounds.iter().map(|round| units.rate(round) * round.wall_ns as f64).sum::<f64>();
    let wall_ns: u64 = rounds.iter().map(|round| round.wall_ns).sum();
    done / wall_ns.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{ArmIndex, Verdict};

    use crate::sample::of_load;

    fn told(label: &str, disturb: impl Fn(&mut Round)) -> Option<Warning> {
        let comparison =
            crate::compare_run(of_load(label, "mysql://u@h/d", 2, disturb).first_pair()).unwrap();
        let cell = comparison.cells.into_iter().next().unwrap();
        assert_eq!(cell.verdict, Verdict::Faster, "it marks and does not block");
        cell.warnings.into_iter().find(|warning| warning.code == "not-stationary")
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
            if round.key.arm == ArmIndex::TEST {
                round.statements = 4_000 - 200 * u64::from(round.key.pair);
            }
        };
        let warning = told("point-query", falls).unwrap();
        assert_eq!(warning.severity, Severity::Note);
        assert!(warning.text.contains("rate of test moves"), "{warning:?}");
        assert!(warning.text.contains("test 37000/s and 29000/s"), "{warning:?}");
    }

    #[test]
    fn both_halves_are_told_in_the_unit_of_the_load() {
        let warning = told("bulk-insert?rows=50", |_| {}).unwrap();
        assert!(warning.text.contains("base 500375 rows/s and 500500 rows/s"), "{warning:?}");
    }
}
