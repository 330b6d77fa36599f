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
use super::interleavings::{Rows, number};
use super::words::INTERLEAVINGS as TABLE;
use crate::steps::{Told, Whom};

/// How often progress is told, in schedules.
const TELL_EVERY: usize = 100;

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
        let mut control = self.station.connector.connect()?;
        self.fill(&mut *control, schedules.len() as u64 * u64::from(shape.keys))?;
        let mut stage = self.stage(level, usize::from(shape.transactions))?;
        for (index, schedule) in schedules.iter().enumerate() {
            if self.is_stopped() {
                break;
            }
            if index % TELL_EVERY == 0 {
                self.tell(&format!("{level}: script {index} of {}", schedules.len()));
            }
            if stage.is_spoiled() {
                stage = self.stage(level, usize::from(shape.transactions))?;
            }
            let rows = Rows { first: index as u64 * u64::from(shape.keys) + 1, shape };
            let told = stage.play(&self.script(schedule, rows), Whom::AsNeeded)?;
            all.push(served(schedule, &told));
        }
        drop(stage);
        control.run(&format!("DROP TABLE {TABLE}"))?;
        control.close();
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
