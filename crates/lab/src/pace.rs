//! The pace of a cell that none is known of.

use std::time::Duration;

use dbdyno_model::plan::THREADS_MAX;
use dbdyno_model::{Cell, Plan, RoundPace, Severity, Warning};

/// A round with fewer events than this is a matter of luck.
const EVENTS_PER_ROUND: f64 = 10.0;
/// No round is drawn out beyond this many seconds: a warm-up in which nothing was finished says
/// little about how long it takes.
const ROUND_MOST_S: f64 = 30.0;

/// The pace of the plan; where the slower arm does not get enough done in a round, rounds are
/// longer and there are fewer of them, so that the time stays what was announced. So they are
/// where a crowd takes long to get in and out, `around` each round: no longer than it is asked.
pub(crate) fn pace_of(plan: &Plan, cell: &Cell, tps: f64, around: Duration) -> RoundPace {
    let seconds = plan.schedule.round_ns as f64 / 1e9;
    let most = (ROUND_MOST_S / seconds).max(1.0);
    let crowd_s = if cell.clients > THREADS_MAX { around.as_secs_f64() } else { 0.0 };
    let stretch = (EVENTS_PER_ROUND / (tps * seconds)).max(crowd_s / seconds);
    RoundPace::with_window(
        plan,
        Duration::from_nanos(plan.schedule.round_ns).mul_f64(stretch.clamp(1.0, most)),
    )
}

/// What the reader must know of rounds that are longer than planned.
pub(crate) fn pace_warning(pace: &RoundPace, plan: &Plan, cell: &Cell) -> Option<Warning> {
    (pace.window > Duration::from_nanos(plan.schedule.round_ns)).then(|| {
        let text = format!(
            "{cell}: rounds take {:.1} s and there are {} of them for each arm, because {:.1} s \
             are too short for the events, or for the time that so many clients take to connect",
            pace.window.as_secs_f64(),
            pace.pairs,
            plan.schedule.round_ns as f64 / 1e9
        );
        Warning::new(Severity::Note, "longer-rounds", text)
    })
}
