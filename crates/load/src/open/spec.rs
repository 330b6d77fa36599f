//! What an open loop is to run: a round, and when its events are meant.

use std::time::Duration;

use crate::arrival::ArrivalSchedule;
use crate::round::RoundSpec;

/// A round in which events have times of their own.
#[derive(Clone)]
pub struct OpenSpec<'a> {
    /// What to ask, whom, and for how long.
    pub round: RoundSpec<'a>,
    /// When; made for the lead-in of the round.
    pub schedule: ArrivalSchedule,
    /// How long after the window to go on answering what was meant for it.
    pub drain: Duration,
}
