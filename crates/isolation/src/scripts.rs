//! Given orders of statements, played on a server, statement by statement.
//!
//! ```text
//!   schedule ─▶ rows of its own ─▶ played ─▶ a reply for each statement: what it read, whether
//!                                            it waited, or was refused, and in which words
//! ```

use dbdyno_cases::{Interleaving, InterleavingSize, KeyOperation, StatementAnswer, StatementReply};
use dbdyno_model::isolation::{IsolationLevel, StepAnswer};
use dbdyno_wire::WireError;

use crate::bench::Bench;
use crate::interleavings::first_number;
use crate::steps::StepReport;

/// What a server did with one schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleReplies {
    /// By place in the schedule.
    pub replies: Vec<StatementReply>,
    /// What was refused: the place, and the error as the server calls it, with its words.
    pub errors: Vec<(usize, String)>,
}

impl Bench<'_, '_> {
    /// Plays schedules at a level; fewer if it is stopped.
    ///
    /// # Errors
    /// A connection that broke, or a table that cannot be made.
    pub(crate) fn play_scripts(
        &mut self,
        level: IsolationLevel,
        shape: InterleavingSize,
        schedules: &[Interleaving],
    ) -> Result<Vec<ScheduleReplies>, WireError> {
        let mut all = Vec::new();
        self.for_each_schedule(level, shape, schedules, |told, _, schedule, _| {
            all.push(served(schedule, told));
            Ok(())
        })?;
        Ok(all)
    }
}

fn served(schedule: &Interleaving, told: &[StepReport]) -> ScheduleReplies {
    let nothing = StatementReply { answer: StatementAnswer::Nothing, waited: false };
    let mut replies = vec![nothing; schedule.steps.len()];
    let mut errors = Vec::new();
    for one in told {
        let what = schedule.steps[one.place].1;
        let answer = match (&one.answer, what) {
            (StepAnswer::Rows(rows), KeyOperation::Read(_)) => {
                // Statement number n writes n + 1; what was there at the beginning is 0.
                let value = rows.first().map_or(-1, |row| first_number(row));
                StatementAnswer::Read(usize::try_from(value - 1).ok())
            }
            (StepAnswer::Rows(_) | StepAnswer::Changed(_), _) => StatementAnswer::Done,
            (StepAnswer::Refused { message, .. }, _) => {
                let error = one.answer.error().unwrap_or_default();
                errors.push((one.place, format!("{error}: {message}")));
                StatementAnswer::Refused
            }
            (StepAnswer::LeftOut, _) => StatementAnswer::LeftOut,
            (StepAnswer::Nothing, _) => StatementAnswer::Nothing,
        };
        replies[one.place] = StatementReply { answer, waited: one.waited.is_some() };
    }
    ScheduleReplies { replies, errors }
}
