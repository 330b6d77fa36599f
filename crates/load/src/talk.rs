//! A dialogue's link to its server.

use dbdyno_wire::{Args, Outcome, Param, WireError};
use dbdyno_workload::{Answer as Rows, StatementKind};
use dbdyno_workload::{Arg, Counts, Fault, Link, Noted, Partner};

use crate::answer::{Answer, Setback};
use crate::error::LoadError;
use crate::record::{Over, Recorder};
use crate::wire::Wire;

/// One turn of a partner. Statements are counted, and the cause of a fault is kept here: the
/// partner only passes on that there was one.
pub(crate) struct Talk<'t, 'a> {
    wire: &'t mut Wire<'a>,
    answer: Answer,
    setback: Option<Setback>,
    /// Where the round is recorded.
    recorder: Option<&'t mut Recorder>,
    /// What is wrong with what was to be recorded.
    unfit: Option<String>,
}

/// A dialogue is a transaction of many statements.
const AMONG_OTHERS: usize = 2;

struct Values<'a>(&'a [Arg<'a>]);

impl Args for Values<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }
    fn get(&self, index: usize) -> Param<'_> {
        match self.0[index] {
            Arg::Null => Param::Null,
            Arg::Int(number) => Param::Int(number),
            Arg::Text(text) => Param::Text(text),
        }
    }
}

impl<'t, 'a> Talk<'t, 'a> {
    pub(crate) fn new(wire: &'t mut Wire<'a>, recorder: Option<&'t mut Recorder>) -> Talk<'t, 'a> {
        Talk { wire, answer: Answer::default(), setback: None, recorder, unfit: None }
    }

    /// Lets the partner carry out an operation.
    pub(crate) fn turn(
        mut self,
        partner: &mut dyn Partner,
        operation: u64,
    ) -> Result<Answer, Setback> {
        if let Some(recorder) = &mut self.recorder {
            recorder.begin();
        }
        let turned = partner.turn(operation, &mut self);
        if let Some(recorder) = &mut self.recorder {
            recorder.end(match &turned {
                Ok(_) => Over::Answered,
                Err(Fault::AskAgain) => Over::RolledBack,
                Err(Fault::Failed | Fault::Wrong(_)) => Over::Broken,
            });
        }
        turned.map_err(|fault| self.cause(fault)).and_then(|class| {
            let answer = Answer { kind: class as u32, ..self.answer };
            self.fit().map(|()| answer)
        })
    }

    /// Lets the partner look at all rows, as a transaction that has committed.
    pub(crate) fn survey(mut self, partner: &mut dyn Partner) -> Result<(), Setback> {
        if let Some(recorder) = &mut self.recorder {
            recorder.begin();
        }
        let looked = partner.survey(&mut self);
        if let Some(recorder) = &mut self.recorder {
            recorder.ask_end("COMMIT");
            recorder.end(if looked.is_ok() { Over::Answered } else { Over::RolledBack });
        }
        looked.map_err(|fault| self.cause(fault))?;
        self.fit()
    }

    fn cause(&mut self, fault: Fault) -> Setback {
        match fault {
            Fault::Wrong(what) => Setback::Failed(LoadError::WrongAnswer(what)),
            Fault::AskAgain | Fault::Failed => {
                self.setback.take().expect("a partner reports only faults of its link")
            }
        }
    }

    /// Whether everything that was noted could be recorded.
    fn fit(&mut self) -> Result<(), Setback> {
        let what = self.unfit.take().map(LoadError::WrongAnswer);
        what.map_or(Ok(()), |error| Err(Setback::Failed(error)))
    }

    fn taken(
        &mut self,
        statement: usize,
        outcome: Result<Outcome, WireError>,
    ) -> Result<Outcome, Fault> {
        match outcome {
            Ok(outcome) => {
                self.answer.count(outcome);
                Ok(outcome)
            }
            Err(error) => {
                let setback = self.wire.setback(error, statement as u32, AMONG_OTHERS);
                Err(self.keep(setback))
            }
        }
    }

    fn keep(&mut self, setback: Setback) -> Fault {
        let fault = match setback {
            Setback::AskAgain => Fault::AskAgain,
            Setback::Failed(_) => Fault::Failed,
        };
        self.setback = Some(setback);
        fault
    }
}

impl Link for Talk<'_, '_> {
    fn run(&mut self, statement: usize, values: &[Arg<'_>]) -> Result<Counts, Fault> {
        let outcome = match self.wire.prepared[statement] {
            Some(id) => self.wire.client.execute(id, &Values(values)),
            None => {
                let statement = &self.wire.load.statements()[statement];
                assert!(statement.kind == StatementKind::Control, "text has no parameters here");
                if let Some(recorder) = &mut self.recorder {
                    recorder.ask_end(&statement.sql);
                }
                self.wire.client.run(&statement.sql)
            }
        };
        let outcome = self.taken(statement, outcome)?;
        Ok(Counts { rows: outcome.rows, changed: outcome.affected })
    }

    fn fetch(&mut self, statement: usize, values: &[Arg<'_>]) -> Result<&dyn Rows, Fault> {
        let id = self.wire.prepared[statement].expect("only prepared statements are fetched");
        let outcome = self.wire.client.fetch(id, &Values(values), &mut self.wire.fetched.0);
        self.taken(statement, outcome)?;
        Ok(&self.wire.fetched)
    }

    fn text(&mut self, sql: &str) -> Result<Counts, Fault> {
        match self.wire.client.run(sql) {
            Ok(outcome) => {
                self.answer.count(outcome);
                Ok(Counts { rows: outcome.rows, changed: outcome.affected })
            }
            Err(error) if error.is_retryable() => Err(self.keep(Setback::AskAgain)),
            Err(error) => {
                let error = LoadError::of_statement(error, || sql.to_owned());
                Err(self.keep(Setback::Failed(error)))
            }
        }
    }

    fn is_recorded(&self) -> bool {
        self.recorder.is_some()
    }

    fn note(&mut self, noted: Noted) {
        if let Some(recorder) = &mut self.recorder
            && let Err(what) = recorder.note(noted)
        {
            self.unfit = Some(what);
        }
    }
}
