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
use super::packet::Channel;
use super::result::{Ending, skip_columns};
use crate::client::{Args, Outcome, Param};
use crate::error::WireError;

const EXECUTE: u8 = 0x17;
const CLOSE: u8 = 0x19;
const NO_CURSOR: u8 = 0;
const ONE_ITERATION: [u8; 4] = [1, 0, 0, 0];

const TYPE_NULL: u16 = 0x06;
const TYPE_LONGLONG: u16 = 0x08;
const TYPE_VAR_STRING: u16 = 0xFD;

/// A statement as the server knows it.
#[derive(Debug)]
pub(super) struct Statement {
    id: u32,
    /// The types of the parameters in the last execution; for one that has always been NULL, NULL.
    types: Vec<u16>,
    bound: Bound,
}

/// Whether the server knows the types of the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    No,
    Yes,
}

impl Statement {
    /// Reads the answer to a request to prepare.
    pub fn read(channel: &mut Channel, ending: Ending) -> Result<Statement, WireError> {
        let head = channel.head()?;
        let payload = channel.take(head)?;
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
        Ok(Statement { id, types: vec![TYPE_NULL; usize::from(parameters)], bound: Bound::No })
    }

    /// Writes an execution.
    #[inline]
    pub fn write(&mut self, channel: &mut Channel, args: &dyn Args) -> Result<(), WireError> {
        let count = args.count();
        if count != self.types.len() {
            return Err(WireError::Protocol(format!(
                "{count} parameters for a statement that has {}",
                self.types.len()
            )));
        }
        let output = channel.command(EXECUTE)?;
        output.extend_from_slice(&self.id.to_le_bytes());
        output.push(NO_CURSOR);
        output.extend_from_slice(&ONE_ITERATION);
        if count == 0 {
            return Ok(());
        }
        let bits = output.len();
        output.resize(bits + count.div_ceil(8), 0);
        if self.bind(args) == Bound::Yes {
            output.push(0);
        } else {
            output.push(1);
            for kind in &self.types {
                output.extend_from_slice(&kind.to_le_bytes());
            }
        }
        for index in 0..count {
            match args.get(index) {
                Param::Null => output[bits + index / 8] |= 1 << (index % 8),
                Param::Int(value) => output.extend_from_slice(&value.to_le_bytes()),
                Param::Text(text) => {
                    put_length(output, text.len() as u64);
                    output.extend_from_slice(text);
                }
            }
        }
        Ok(())
    }

    /// Notes the types of these parameters; says whether the server has them already. NULL has any
    /// type.
    #[inline]
    fn bind(&mut self, args: &dyn Args) -> Bound {
        let mut bound = self.bound;
        for (index, kind) in self.types.iter_mut().enumerate() {
            let wanted = match args.get(index) {
                Param::Null => continue,
                Param::Int(_) => TYPE_LONGLONG,
                Param::Text(_) => TYPE_VAR_STRING,
            };
            if *kind != wanted {
                *kind = wanted;
                bound = Bound::No;
            }
        }
        bound
    }

    /// Lets the server forget the statement; it does not answer.
    pub fn close(self, channel: &mut Channel) -> Result<(), WireError> {
        channel.command(CLOSE)?.extend_from_slice(&self.id.to_le_bytes());
        channel.send()
    }

    /// An execution was answered: its types are known to the server unless it refused, for whether
    /// it noted them before is then unknown.
    #[inline]
    pub fn answered(&mut self, outcome: &Result<Outcome, WireError>) {
        self.bound = if outcome.is_ok() { Bound::Yes } else { Bound::No };
    }
}
