//! Given orders of statements, played on a server, statement by statement.
//!
//! ```text
//!   schedule ─▶ rows of its own ─▶ played ─▶ a reply for each statement: what it read, whether
//!                                            it waited, or was refused, and in which words
//! ```

use dbdyno_cases::{Answer, Operation, Reply, Schedule, Shape};
use dbdyno_model::isolation::{IsolationLevel, StepAnswer};
use dbdyno_wire::WireError;

use super::bench::Bench;
use super::interleavings::number;
use crate::steps::Told;

/// What a server did with one schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// By place in the schedule.
    pub replies: Vec<Reply>,
    /// What was refused: the place, and the error as the server calls it, with its words.
    pub errors: Vec<(usize, String)>,
}

impl Bench<'_, '_> {
    /// Plays schedules at a level; fewer if it is stopped.
    ///
    /// # Errors
    /// A connection that broke, or a table that cannot be made.
    pub(super) fn scripts(
        &mut self,
        level: IsolationLevel,
        shape: Shape,
        schedules: &[Schedule],
    ) -> Result<Vec<Served>, WireError> {
        let mut all = Vec::new();
        self.each(level, shape, schedules, |told, _, schedule, _| {
            all.push(served(schedule, told));
            Ok(())
        })?;
        Ok(all)
    }
}

fn served(schedule: &Schedule, told: &[Told]) -> Served {
    let nothing = Reply { answer: Answer::Nothing, waited: false };
    let mut replies = vec![nothing; schedule.steps.len()];
    let mut errors = Vec::new();
    for one in told {
        let what = schedule.steps[one.place].1;
        let answer = match (&one.answer, what) {
            (StepAnswer::Rows(rows), Operation::Read(_)) => {
                // Statement number n writes n + 1; what was there at the beginning is 0.
                let value = rows.first().map_or(-1, |row| number(row));
                Answer::Read(usize::try_from(value - 1).ok())
            }
            (StepAnswer::Rows(_) | StepAnswer::Changed(_), _) => Answer::Done,
            (StepAnswer::Refused { message, .. }, _) => {
                let error = one.answer.error().unwrap_or_default();
                errors.push((one.place, format!("{error}: {message}")));
                Answer::Refused
            }
            (StepAnswer::LeftOut, _) => Answer::LeftOut,
            (StepAnswer::Nothing, _) => Answer::Nothing,
        };
        replies[one.place] = Reply { answer, waited: one.waited.is_some() };
    }
    Served { replies, errors }
}
