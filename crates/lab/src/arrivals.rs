//! From a way of driving to the schedule of a round.

use dbdyno_load::Thinking;
use dbdyno_load::arrival::{self, ArrivalSchedule};
use dbdyno_model::{Arrivals, Driving, Plan, RateShape, RoundKey, Spacing, random};

use crate::error::LabError;

/// The key of the streams of arrivals.
const ARRIVALS: u64 = 0x7363_6865_6475_6c65;
/// The key of the streams of pauses.
const THINKING: u64 = 0x7468_696e_6b69_6e67;

/// Bytes of a recording: a million arrivals.
const RECORDING_MOST: u64 = 16 << 20;

/// Reads a file of recorded arrivals: nanoseconds since the first one.
///
/// # Errors
/// [`LabError::Arrivals`], which names the file and what is wrong in it.
pub fn read_recording(path: &str) -> Result<Vec<u64>, LabError> {
    let failed = |why: String| LabError::Arrivals(format!("arrivals in {path}: {why}"));
    let text = crate::input::text_within(path.as_ref(), RECORDING_MOST).map_err(|error| {
        failed(format!("{error}; name a file with one time in seconds on each line"))
    })?;
    arrival::parse_arrivals(&text).map_err(failed)
}

/// The recording that a plan needs; empty for most.
pub(crate) fn recording_of(plan: &Plan) -> Result<Vec<u64>, LabError> {
    match &plan.question.driving {
        Driving::Open(Arrivals { shape: RateShape::Recorded(path), .. }) => read_recording(path),
        Driving::Closed | Driving::Thinking(_) | Driving::Open(_) | Driving::Search(_) => {
            Ok(Vec::new())
        }
    }
}

/// The schedule of a round: the same for both rounds of a pair. `None` in the closed loop.
pub(crate) fn arrival_schedule(
    plan: &Plan,
    key: &RoundKey,
    recording: &[u64],
) -> Option<ArrivalSchedule> {
    match &plan.question.driving {
        Driving::Open(arrivals) => Some(timed(plan, key, arrivals, recording)),
        Driving::Closed | Driving::Thinking(_) | Driving::Search(_) => None,
    }
}

/// What clients rest in a round: the same in both rounds of a pair.
pub(crate) fn client_thinking(plan: &Plan, pair: u32) -> Option<Thinking> {
    let seed = random::stream(&[plan.question.seed, THINKING, u64::from(pair)]).next_u64();
    plan.question.driving.think_time().map(|think| Thinking { think, seed })
}

/// The schedule of a step of a search, at this rate: as if those who ask knew nothing of each
/// other.
pub(crate) fn schedule_at(plan: &Plan, key: &RoundKey, rate: f64) -> ArrivalSchedule {
    let arrivals = Arrivals { spacing: Spacing::Poisson, shape: RateShape::Constant(rate) };
    timed(plan, key, &arrivals, &[])
}

fn timed(plan: &Plan, key: &RoundKey, arrivals: &Arrivals, recording: &[u64]) -> ArrivalSchedule {
    let seed = random::stream(&[plan.question.seed, ARRIVALS, u64::from(key.pair)]).next_u64();
    ArrivalSchedule::new(arrivals, seed, plan.schedule.lead_in_ns, recording)
}
