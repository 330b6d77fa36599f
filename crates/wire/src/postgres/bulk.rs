//! `COPY … FROM STDIN`.
//!
//! ```text
//!   Query ──▶   ◀── CopyInResponse
//!   CopyData, CopyData, … ──▶      between two writes: has the server refused already?
//!   CopyDone ──▶   ◀── CommandComplete "COPY n", ReadyForQuery
//! ```
//!
//! The look at the socket between two writes does not wait. It ends a hopeless transfer early, and
//! it takes notices off the server's hands: a trigger that raises one per row would otherwise fill
//! the socket, and server and client would wait for each other.

use super::exchange::{Answer, Event, Form, RowCounter};
use super::outgoing::{message, put_cstring};
use super::source::Source;
use super::{PostgresConnection, unexpected};
use crate::error::WireError;
use crate::stream::Waiting;

/// Pieces are gathered up to this size before they are written; longer ones are cut. The borders of
/// CopyData need not be those of rows.
const WRITE_BYTES: usize = 64 << 10;

impl PostgresConnection {
    pub(super) fn copy_in(
        &mut self,
        sql: &str,
        more: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64, WireError> {
        message(&mut self.outgoing, b'Q', |out| put_cstring(out, sql.as_bytes()))?;
        self.send()?;
        let mut answer = Answer::new(Form::Simple);
        loop {
            match self.advance(Waiting::UntilThere, &mut answer, &mut RowCounter)? {
                Event::CopyIn => break,
                Event::More => {}
                Event::Ready => return Err(wants_no_data(answer)),
            }
        }
        // What statements before the COPY changed is not what the COPY took.
        answer.outcome.affected = 0;
        self.outgoing.clear();
        let mut piece = Vec::new();
        let mut again = true;
        while again && answer.error.is_none() {
            piece.clear();
            again = more(&mut piece);
            for part in piece.chunks(WRITE_BYTES) {
                message(&mut self.outgoing, b'd', |out| out.extend_from_slice(part))?;
                if self.outgoing.len() >= WRITE_BYTES {
                    self.send()?;
                    self.outgoing.clear();
                    self.listen(&mut answer)?;
                }
            }
        }
        // After its refusal the server ignores this, as it does data that was on its way.
        message(&mut self.outgoing, b'c', |_| {})?;
        self.send()?;
        self.finish(Waiting::UntilThere, &mut answer, &mut RowCounter)?;
        Ok(answer.outcome.affected)
    }

    /// Takes what the server has said so far, up to a refusal, without waiting.
    fn listen(&mut self, answer: &mut Answer) -> Result<(), WireError> {
        let mut source = Source { stream: &mut self.stream, waiting: Waiting::Never };
        let polled = self.incoming.poll(&mut source);
        // What came before an end of the stream may explain it.
        while answer.error.is_none() && self.incoming.has_message()? {
            if !matches!(self.advance(Waiting::UntilThere, answer, &mut RowCounter)?, Event::More) {
                return Err(unexpected(b'Z'));
            }
        }
        match polled {
            Err(WireError::Broken(error)) => Err(answer.explain_break(error)),
            other => other,
        }
    }
}

fn wants_no_data(answer: Answer) -> WireError {
    match answer.error {
        Some(error) => WireError::Server(error),
        None => WireError::Protocol(
            "the statement takes no data; bulk is for COPY … FROM STDIN".to_owned(),
        ),
    }
}
