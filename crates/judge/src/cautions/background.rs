//! Whether the work beside the clients of a load kept its rate.
//!
//! A load such as `readwhilewriting` is the reading while so much is written. Where less is written
//! than was asked for, it is another load, and easier: its rate is not comparable with that of an
//! arm that kept up. Callaghan leaves out steps of the Insert Benchmark for that; so there is no
//! verdict here either.

use dbdyno_model::classes::BACKGROUND;
use dbdyno_model::{Arm, Cell, Plan, Round, Severity, Warning};

use dbdyno_workload::planned;

/// The share of the rate that must be kept; that of the Insert Benchmark.
const KEPT_LEAST: f64 = 0.95;

/// What the reader must know of an arm in a cell whose background fell short.
pub(crate) fn shortfall_warning(
    plan: &Plan,
    cell: &Cell,
    arm: Arm,
    rounds: &[&Round],
) -> Option<Warning> {
    let load = planned::planned_load(plan, &cell.load).ok()?;
    let asked = load.background?.per_second as f64;
    of_rate(cell, arm, asked, achieved(rounds)?)
}

fn of_rate(cell: &Cell, arm: Arm, asked: f64, achieved: f64) -> Option<Warning> {
    (achieved < KEPT_LEAST * asked).then(|| {
        let text = format!(
            "{cell}: {arm} wrote {achieved:.0} of the {asked:.0} times a second that were asked \
             for beside its clients, and less than {:.0} % is not enough: the background load was \
             below its target, so there is no verdict; ask for a lower rate (writes=) or fewer \
             clients",
            KEPT_LEAST * 100.0
        );
        Warning::new(Severity::Blocks, "background-rate-missed", text)
    })
}

/// Events per second of a class that stands beside the clients; `None` for the clients' own.
pub(crate) fn achieved_by(class: &str, rounds: &[&Round]) -> Option<f64> {
    if class == BACKGROUND { achieved(rounds) } else { None }
}

/// Events per second of the background; `None` where there is none in these rounds.
fn achieved(rounds: &[&Round]) -> Option<f64> {
    let seconds: f64 = rounds.iter().map(|round| round.wall_ns as f64 / 1e9).sum();
    let count = |round: &&Round| {
        Some(round.classes.iter().find(|class| class.name == BACKGROUND)?.count as f64)
    };
    let counts: Option<f64> = rounds.iter().map(count).sum();
    Some(counts? / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_background_that_falls_short_takes_the_verdict_away() {
        let cell = Cell { load: "readwhilewriting".to_owned(), clients: 2 };
        assert_eq!(of_rate(&cell, Arm::Test, 5_000.0, 4_750.0), None);
        let warning = of_rate(&cell, Arm::Test, 5_000.0, 4_749.0).unwrap();
        assert_eq!(warning.severity, Severity::Blocks);
        assert!(warning.text.contains("test wrote 4749 of the 5000"), "{}", warning.text);
    }
}
