//! Prepared statements: what the server told of them, and how an execution is written.
//!
//! ```text
//!   17 │ statement 4 │ cursor 1 │ iterations 4 │ NULL bits │ 1 │ types 2·n │ values …
//!   17 │ statement 4 │ cursor 1 │ iterations 4 │ NULL bits │ 0 │ values …
//! ```
//!
//! Types are sent with the first execution and whenever they change, as MySQL's own client library
//! does; the server keeps them.

use super::codec::{ERR, Reader, put_length, server_error};
use super::latin1;
use super::packet::Channel;
use super::result::{Ending, skip_columns};
use crate::client::{Args, Param, StatementCounts};
use crate::error::WireError;

const EXECUTE: u8 = 0x17;
const CLOSE: u8 = 0x19;
const NO_CURSOR: u8 = 0;
const ONE_ITERATION: [u8; 4] = [1, 0, 0, 0];
/// Bytes of the statement's number, the cursor and the iterations.
const BEFORE_NULLS: usize = 9;

const TYPE_NULL: u16 = 0x06;
const TYPE_LONGLONG: u16 = 0x08;
const TYPE_VAR_STRING: u16 = 0xFD;

/// A statement as the server knows it.
#[derive(Debug)]
pub(super) struct Statement {
    id: u32,
    /// With what every execution begins: all up to the NULL bits, and these, none of them set.
    beginning: Vec<u8>,
    /// The types of the parameters in the last execution; for one that has always been NULL, NULL.
    types: Vec<u16>,
    bound: TypesSent,
}

/// Whether the server knows the types of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TypesSent {
    No,
    Yes,
}

impl Statement {
    /// Reads the answer to a request to prepare.
    pub(super) fn read(channel: &mut Channel, ending: Ending) -> Result<Statement, WireError> {
        let head = channel.await_head()?;
        let payload = channel.take_payload(head)?;
        if head.kind == ERR {
            return Err(server_error(payload));
        }
        let mut reader = Reader(payload);
        reader.u8()?;
        let id = reader.u32()?;
        let columns = reader.u16()?;
        let parameters = reader.u16()?;
        for count in [parameters, columns] {
            if count > 0 {
                skip_columns(channel, u64::from(count), ending)?;
            }
        }
        let parameters = usize::from(parameters);
        let mut beginning = id.to_le_bytes().to_vec();
        beginning.push(NO_CURSOR);
        beginning.extend_from_slice(&ONE_ITERATION);
        beginning.resize(BEFORE_NULLS + parameters.div_ceil(8), 0);
        Ok(Statement { id, beginning, types: vec![TYPE_NULL; parameters], bound: TypesSent::No })
    }

    /// Writes an execution.
    #[inline]
    pub(super) fn write(
        &mut self,
        channel: &mut Channel,
        args: &dyn Args,
    ) -> Result<(), WireError> {
        let count = args.count();
        if count != self.types.len() {
            return Err(WireError::Protocol(format!(
                "{count} parameters for a statement that has {}",
                self.types.len()
            )));
        }
        let output = channel.begin_command(EXECUTE)?;
        let bits = output.len() + BEFORE_NULLS;
        output.extend_from_slice(&self.beginning);
        if count == 0 {
            return Ok(());
        }
        if self.bound == TypesSent::Yes {
            output.push(0);
            if self.write_values(output, bits, args) == TypesSent::Yes {
                return Ok(());
            }
            output.truncate(bits - BEFORE_NULLS);
            output.extend_from_slice(&self.beginning);
        }
        self.bind(args);
        output.push(1);
        for kind in &self.types {
            output.extend_from_slice(&kind.to_le_bytes());
        }
        self.write_values(output, bits, args);
        Ok(())
    }

    /// Appends the values, with NULLs marked at `bits`. Stops at a value that is not of the type
    /// that is noted.
    #[inline]
    fn write_values(&self, output: &mut Vec<u8>, bits: usize, args: &dyn Args) -> TypesSent {
        for (index, &kind) in self.types.iter().enumerate() {
            match (args.get(index), kind) {
                (Param::Null, _) => output[bits + index / 8] |= 1 << (index % 8),
                (Param::Int(value), TYPE_LONGLONG) => {
                    output.extend_from_slice(&value.to_le_bytes());
                }
                (Param::Text(text), TYPE_VAR_STRING) => {
                    if text.is_ascii() {
                        put_length(output, text.len() as u64);
                        output.extend_from_slice(text);
                    } else {
                        put_foreign(output, text);
                    }
                }
                (Param::Int(_) | Param::Text(_), _) => return TypesSent::No,
            }
        }
        TypesSent::Yes
    }

    /// Notes the types of these parameters; NULL has any type.
    fn bind(&mut self, args: &dyn Args) {
        for (index, kind) in self.types.iter_mut().enumerate() {
            *kind = match args.get(index) {
                Param::Null => continue,
                Param::Int(_) => TYPE_LONGLONG,
                Param::Text(_) => TYPE_VAR_STRING,
            };
        }
    }

    /// Lets the server forget the statement; it does not answer.
    pub(super) fn close(self, channel: &mut Channel) -> Result<(), WireError> {
        channel.begin_command(CLOSE)?.extend_from_slice(&self.id.to_le_bytes());
        channel.send()
    }

    /// An execution was answered: its types are known to the server unless it refused, for whether
    /// it noted them before is then unknown.
    #[inline]
    pub(super) fn note_outcome(&mut self, outcome: &Result<StatementCounts, WireError>) {
        self.bound = if outcome.is_ok() { TypesSent::Yes } else { TypesSent::No };
    }
}

/// Appends characters beyond ASCII as SQL would have them; bytes that are none go as they are.
#[cold]
fn put_foreign(output: &mut Vec<u8>, text: &[u8]) {
    match latin1::bytes(text) {
        Some((count, bytes)) => {
            put_length(output, count as u64);
            output.extend(bytes);
        }
        None => {
            put_length(output, text.len() as u64);
            output.extend_from_slice(text);
        }
    }
}
