//! A dialogue's link to its server.

use dbdyno_wire::{Args, Param, StatementCounts, WireError};
use dbdyno_workload::{AnswerRows as Rows, StatementKind};
use dbdyno_workload::{Arg, DialogueCounts, Link, OperationNote, Partner, TurnFault};

use crate::again::NoRow;
use crate::answer::{EventAnswer, Setback};
use crate::error::LoadError;
use crate::record::{Over, Recorder};
use crate::wire::Wire;

/// One turn of a partner. Statements are counted, and the cause of a fault is kept here: the
/// partner only passes on that there was one.
pub(crate) struct Talk<'t, 'a> {
    wire: &'t mut Wire<'a>,
    answer: EventAnswer,
    setback: Option<Setback>,
    /// The last query, if no row answered it.
    no_row: Option<NoRow>,
    /// Whether a statement that controls transactions was run: none is committed before its last
    /// answer is looked at.
    in_transaction: bool,
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
        Talk {
            wire,
            answer: EventAnswer::default(),
            setback: None,
            no_row: None,
            in_transaction: false,
            recorder,
            unfit: None,
        }
    }

    /// Lets the partner carry out an operation.
    pub(crate) fn take_turn(
        mut self,
        partner: &mut dyn Partner,
        operation: u64,
    ) -> Result<EventAnswer, Setback> {
        if let Some(recorder) = &mut self.recorder {
            recorder.begin_transaction();
        }
        let turned = partner.take_turn(operation, &mut self);
        if let Some(recorder) = &mut self.recorder {
            recorder.end_transaction(match &turned {
                Ok(_) => Over::Answered,
                Err(TurnFault::AskAgain) => Over::RolledBack,
                Err(TurnFault::Failed | TurnFault::Wrong(_)) => Over::Broken,
            });
        }
        turned.map_err(|fault| self.cause(fault)).and_then(|class| {
            let answer = EventAnswer { kind: class as u32, ..self.answer };
            self.fit().map(|()| answer)
        })
    }

    /// Lets the partner look at all rows, as a transaction that has committed.
    pub(crate) fn survey_rows(mut self, partner: &mut dyn Partner) -> Result<(), Setback> {
        if let Some(recorder) = &mut self.recorder {
            recorder.begin_transaction();
        }
        let looked = partner.survey_rows(&mut self);
        if let Some(recorder) = &mut self.recorder {
            recorder.ask_end("COMMIT");
            recorder.end_transaction(if looked.is_ok() {
                Over::Answered
            } else {
                Over::RolledBack
            });
        }
        looked.map_err(|fault| self.cause(fault))?;
        self.fit()
    }

    fn cause(&mut self, fault: TurnFault) -> Setback {
        match fault {
            TurnFault::Wrong(what) => Setback::Failed(self.wrong(what)),
            TurnFault::AskAgain | TurnFault::Failed => {
                self.setback.take().expect("a partner reports only faults of its link")
            }
        }
    }

    /// What an answer means that a partner calls wrong. A query that found no row is asked again.
    #[cold]
    fn wrong(&mut self, what: String) -> LoadError {
        let Some(query) = self.no_row.take() else { return LoadError::WrongAnswer(what) };
        let again = query.ask_again(&mut *self.wire.client, self.in_transaction);
        LoadError::MissingRow { what, again: Box::new(again) }
    }

    /// Whether everything that was noted could be recorded.
    fn fit(&mut self) -> Result<(), Setback> {
        let what = self.unfit.take().map(LoadError::WrongAnswer);
        what.map_or(Ok(()), |error| Err(Setback::Failed(error)))
    }

    fn taken(
        &mut self,
        statement: usize,
        outcome: Result<StatementCounts, WireError>,
    ) -> Result<StatementCounts, TurnFault> {
        match outcome {
            Ok(outcome) => {
                self.answer.count(outcome);
                self.no_row = None;
                Ok(outcome)
            }
            Err(error) => {
                let setback = self.wire.classify_error(error, statement as u32, AMONG_OTHERS);
                Err(self.keep(setback))
            }
        }
    }

    /// Keeps a prepared query that no row answered, for the case that there should be one.
    #[inline]
    fn keep_if_empty(&mut self, statement: usize, values: &[Arg<'_>], rows: u64) {
        if rows > 0 {
            return;
        }
        if let Some(id) = self.wire.prepared[statement] {
            let sql = &self.wire.load.statements()[statement].sql;
            self.no_row = NoRow::from_prepared(id, sql, values);
        }
    }

    fn keep(&mut self, setback: Setback) -> TurnFault {
        let fault = match setback {
            Setback::AskAgain => TurnFault::AskAgain,
            Setback::Failed(_) => TurnFault::Failed,
        };
        self.setback = Some(setback);
        fault
    }
}

impl Link for Talk<'_, '_> {
    fn run(&mut self, statement: usize, values: &[Arg<'_>]) -> Result<DialogueCounts, TurnFault> {
        let outcome = match self.wire.prepared[statement] {
            Some(id) => self.wire.client.execute(id, &Values(values)),
            None => {
                let statement = &self.wire.load.statements()[statement];
                assert!(statement.kind == StatementKind::Control, "text has no parameters here");
                if let Some(recorder) = &mut self.recorder {
                    recorder.ask_end(&statement.sql);
                }
                self.in_transaction = true;
                self.wire.client.run(&statement.sql)
            }
        };
        let outcome = self.taken(statement, outcome)?;
        self.keep_if_empty(statement, values, outcome.rows);
        Ok(DialogueCounts { rows: outcome.rows, changed: outcome.affected })
    }

    fn fetch(&mut self, statement: usize, values: &[Arg<'_>]) -> Result<&dyn Rows, TurnFault> {
        let id = self.wire.prepared[statement].expect("only prepared statements are fetched");
        let outcome = self.wire.client.fetch(id, &Values(values), &mut self.wire.fetched.0);
        let rows = self.taken(statement, outcome)?.rows;
        self.keep_if_empty(statement, values, rows);
        Ok(&self.wire.fetched)
    }

    fn run_text(&mut self, sql: &str) -> Result<DialogueCounts, TurnFault> {
        match self.wire.client.run(sql) {
            Ok(outcome) => {
                self.answer.count(outcome);
                self.no_row = if outcome.rows == 0 { NoRow::from_text(sql) } else { None };
                Ok(DialogueCounts { rows: outcome.rows, changed: outcome.affected })
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

    fn note_operation(&mut self, noted: OperationNote) {
        if let Some(recorder) = &mut self.recorder
            && let Err(what) = recorder.note_operation(noted)
        {
            self.unfit = Some(what);
        }
    }
}
