//! Rounds with so few events that their number has steps.
//!
//! ```text
//!   rate       9.7   10.0   10.3   10.6   10.9   11.2
//!   events      9     10     10     10     10     11      whole events of one client
//!   done       9.7   10.0   10.3   10.6   10.9   11.2     with the parts that a window cuts
//! ```
//!
//! One client's events have a phase, and where they are equally long all rounds have the same one:
//! whole events then say the same of many rates, and no spread tells that they do. Rounds of one
//! client count parts ([`dbdyno_model::Round::done_events`]); those that were stored before do not.
//! Of several clients whole events are counted; their phases are mixed, unless every pair says
//! exactly the same.

use dbdyno_model::readings::{EDGE_EVENTS, WINDOW_NS};
use dbdyno_model::{Cell, Driving, PerArm, Round, RunPair, Severity, Warning};
use dbdyno_stats::MIN_PAIRS;

use dbdyno_workload::planned;
use dbdyno_workload::planned::step_of;

/// From so many events a round on, a step is less than what is told.
const MANY: u64 = 100;

/// What forbids a verdict by the rounds of a cell, or a caution.
pub(crate) fn cut_event_warning(
    run: RunPair<'_>,
    cell: &Cell,
    arms: &PerArm<Vec<&Round>>,
) -> Option<Warning> {
    let rests =
        planned::planned_load(run.plan(), &cell.load).is_ok_and(|load| load.rests_between_events());
    if run.plan().question.driving != Driving::Closed || rests || step_of(cell).is_some() {
        return None;
    }
    let rounds = || arms.base.iter().chain(&arms.test);
    let few = rounds().map(|round| round.events).min().filter(|events| *events < MANY)?;
    let exact = [WINDOW_NS, EDGE_EVENTS];
    if rounds().all(|round| exact.iter().any(|name| round.readings.get(name).is_some())) {
        return None;
    }
    let are_alike = have_one_count(&arms.base) && have_one_count(&arms.test);
    let has_steps = are_alike && arms.base.len() >= MIN_PAIRS as usize;
    let severity =
        if cell.clients == 1 || has_steps { Severity::Blocks } else { Severity::Caution };
    let text = format!(
        "rounds have as few as {few} whole events, so that their rates have steps of {:.0} %; \
         measure again, with longer rounds (--seconds)",
        100.0 / few.max(1) as f64
    );
    Some(Warning::new(severity, "whole-events", text))
}

/// Whether all rounds have as many events.
fn have_one_count(rounds: &[&Round]) -> bool {
    rounds.windows(2).all(|two| two[0].events == two[1].events)
}

#[cfg(test)]
mod tests {
    use dbdyno_model::readings::EDGE_EVENTS;
    use dbdyno_model::{Severity, Verdict};

    use crate::sample::{of_pairs, set_events};

    /// What is said of rounds of so many events, and whether something forbids a verdict.
    fn told(clients: u32, events: [u64; 2], edges: Option<f64>) -> (Option<bool>, Verdict) {
        let run = of_pairs(8, "point-query", "mysql://u@h/d", clients, |round| {
            set_events(round, events[round.key.pair as usize % 2] as f64);
            round.readings.set(EDGE_EVENTS, edges);
        });
        let cell = crate::compare_run(run.first_pair()).unwrap().cells.remove(0);
        let told = cell.warnings.iter().find(|warning| warning.code == "whole-events");
        (told.map(|warning| warning.severity == Severity::Blocks), cell.verdict)
    }

    /// Arms that differ by a step less than one event were equal with an interval of no width.
    #[test]
    fn equal_numbers_of_few_events_prove_nothing() {
        assert_eq!(told(1, [10, 10], None), (Some(true), Verdict::Undecided));
        assert_eq!(told(1, [10, 11], None).0, Some(true), "stored before");
        assert_eq!(told(1, [10, 10], Some(0.3)).0, None);
        let mut resumed = of_pairs(8, "point-query", "mysql://u@h/d", 1, |round| {
            set_events(round, 10.0);
            round.readings.set(EDGE_EVENTS, (round.key.pair > 0).then_some(0.3));
        });
        resumed.plan.schedule.slice_ns = 0;
        let verdict = crate::compare_run(resumed.first_pair()).unwrap().cells[0].verdict;
        assert_eq!(verdict, Verdict::Undecided, "one pair is of before");
        assert_eq!(told(4, [10, 10], None), (Some(true), Verdict::Undecided));
        assert_eq!(told(4, [10, 11], None).0, Some(false));
        assert_eq!(told(1, [1000, 1000], None).0, None);
    }
}
