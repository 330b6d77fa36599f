//! A dialogue's link to its server.

use dbdyno_wire::{Args, Outcome, Param, WireError};
use dbdyno_workload::{Answer as Rows, StatementKind};
use dbdyno_workload::{Arg, Counts, Fault, Link, Partner};

use crate::answer::{Answer, Setback};
use crate::error::LoadError;
use crate::wire::Wire;

/// One turn of a partner. Statements are counted, and the cause of a fault is kept here: the
/// partner only passes on that there was one.
pub(crate) struct Talk<'t, 'a> {
    wire: &'t mut Wire<'a>,
    answer: Answer,
    setback: Option<Setback>,
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
    pub(crate) fn new(wire: &'t mut Wire<'a>) -> Talk<'t, 'a> {
        Talk { wire, answer: Answer::default(), setback: None }
    }

    /// Lets the partner carry out an operation.
    pub(crate) fn turn(
        mut self,
        partner: &mut dyn Partner,
        operation: u64,
    ) -> Result<Answer, Setback> {
        match partner.turn(operation, &mut self) {
            Ok(class) => Ok(Answer { kind: class as u32, ..self.answer }),
            Err(Fault::Wrong(what)) => Err(Setback::Failed(LoadError::WrongAnswer(what))),
            Err(Fault::AskAgain | Fault::Failed) => {
                Err(self.setback.take().expect("a partner reports only faults of its link"))
            }
        }
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
}
