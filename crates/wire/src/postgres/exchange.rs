//! What is known of an answer while it comes, and who looks at what it holds.

use std::io;

use super::answer::{affected_rows, begin_rows, fetch_row, parameter_oids, push_row, server_error};
use super::incoming::RowBodies;
use super::outgoing::Results;
use crate::client::{Rows, StatementCounts};
use crate::error::{ServerError, WireError};
use crate::kept::KeptSize;
use crate::rows::RowBuffer;

/// How the question was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// By Query.
    Simple,
    /// By messages that end with Sync.
    Extended,
}

/// What one message led to.
pub(super) enum Event {
    /// ReadyForQuery: the exchange is over.
    Ready,
    /// The server waits for data.
    CopyIn,
    More,
}

/// Towards the server's tables or away from them: `COPY 5` can mean either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    In,
    Out,
}

/// What is known of the answer so far.
pub(super) struct Answer {
    pub(super) form: Form,
    pub(super) outcome: StatementCounts,
    pub(super) completed: u32,
    /// Where the rows that the next CommandComplete counts were moved to.
    pub(super) direction: Direction,
    /// The first error, which is the cause of any other.
    pub(super) error: Option<ServerError>,
}

impl Answer {
    #[inline]
    pub(super) fn new(form: Form) -> Answer {
        Answer {
            form,
            outcome: StatementCounts::default(),
            completed: 0,
            direction: Direction::In,
            error: None,
        }
    }

    #[inline]
    pub(super) fn complete_statement(&mut self, body: &[u8]) {
        self.completed += 1;
        if self.direction == Direction::In {
            self.outcome.affected += affected_rows(body);
        }
        self.direction = Direction::In;
    }

    /// What the answer counted, once it has come to its end without an error.
    ///
    /// # Errors
    /// The server reported the end of more or fewer statements than there were.
    #[inline]
    pub(super) fn final_counts(&self) -> Result<StatementCounts, WireError> {
        match (self.form, self.completed) {
            (Form::Extended, 1) | (Form::Simple, 1..) => Ok(self.outcome),
            _ => Err(self.incomplete()),
        }
    }

    #[cold]
    fn incomplete(&self) -> WireError {
        WireError::Protocol(format!(
            "the server reported the end of the work and of {} statements",
            self.completed
        ))
    }

    #[cold]
    pub(super) fn note_error(&mut self, body: &[u8]) {
        if self.error.is_none() {
            self.error = Some(server_error(body));
        }
    }

    /// A broken connection, explained by the server's last error if it sent one.
    #[cold]
    pub(super) fn explain_break(&mut self, error: io::Error) -> WireError {
        WireError::Broken(match self.error.take() {
            Some(last) => {
                io::Error::new(error.kind(), format!("the server ended the session: {last}"))
            }
            None => error,
        })
    }
}

/// Who wants to see what the messages hold.
pub(super) trait Sink {
    /// Whether the bodies of rows are looked at.
    const BODIES: RowBodies = RowBodies::Skip;
    /// In which form the rows of an execution are wanted.
    const RESULTS: Results = Results::Binary;

    fn parameters(&mut self, _body: &[u8]) -> Result<(), WireError> {
        Ok(())
    }
    fn columns(&mut self, _body: &[u8]) -> Result<(), WireError> {
        Ok(())
    }
    fn take_row(&mut self, _body: &[u8]) -> Result<(), WireError> {
        Ok(())
    }
}

/// Nobody: counting is enough.
pub(super) struct RowCounter;

impl Sink for RowCounter {}

pub(super) struct Parameters(pub(super) Option<Vec<u32>>);

impl Sink for Parameters {
    fn parameters(&mut self, body: &[u8]) -> Result<(), WireError> {
        self.0 = Some(parameter_oids(body)?);
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct TextRows {
    pub(super) rows: Rows,
    /// Of all results, those that are forgotten among them.
    size: KeptSize,
}

impl Sink for TextRows {
    const BODIES: RowBodies = RowBodies::Keep;

    fn columns(&mut self, body: &[u8]) -> Result<(), WireError> {
        self.size.add_row(0, body.len(), &mut self.rows.held)?;
        begin_rows(&mut self.rows, body)
    }
    fn take_row(&mut self, body: &[u8]) -> Result<(), WireError> {
        self.size.add_row(self.rows.columns.len(), body.len(), &mut self.rows.held)?;
        push_row(&mut self.rows, body)
    }
}

/// Rows in text form, into a buffer that is used again. An execution does not describe its columns;
/// the first row says how many there are.
pub(super) struct FetchedText<'a>(pub(super) &'a mut RowBuffer);

impl Sink for FetchedText<'_> {
    const BODIES: RowBodies = RowBodies::Keep;
    const RESULTS: Results = Results::Text;

    fn take_row(&mut self, body: &[u8]) -> Result<(), WireError> {
        fetch_row(self.0, body)?;
        self.0.check_size()
    }
}
