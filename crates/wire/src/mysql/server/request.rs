//! What clients ask.
//!
//! ```text
//!   code 1 │ arguments …        the codes are those of MySQL's `enum_server_command`
//! ```

use super::fault::{Fault, malformed_request};
use crate::mysql::codec::Reader;

/// Bytes of payload that a packet takes at most.
const FULL: usize = 0xFF_FFFF;

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// The client goes.
    Quit,
    /// Another database is to be used.
    UseDatabase(&'a [u8]),
    /// A statement, in the client's character set.
    Query(&'a [u8]),
    /// Whether anybody is there.
    Ping,
    /// A statement that is to be executed again and again.
    Prepare(&'a [u8]),
    /// A prepared statement is to be executed.
    Execute(Execution<'a>),
    /// A piece of the value of a parameter; it is not answered.
    LongData {
        /// Number of the statement.
        statement: u32,
        /// Number of the parameter, from 0.
        parameter: u16,
        /// Bytes to be added to its value.
        piece: &'a [u8],
    },
    /// A prepared statement is not needed any more; it is not answered.
    Close(u32),
    /// What was sent ahead of an execution is to be forgotten.
    Reset(u32),
    /// The session is to be as it was at first.
    ResetConnection,
    /// Something else: the code and what MySQL calls it.
    Other(u8, &'static str),
}

/// A prepared statement and the values of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution<'a> {
    /// Number of the statement.
    pub statement: u32,
    /// Bits of NULL, types, values: for [`super::Parameters`].
    pub values: &'a [u8],
}

impl<'a> Request<'a> {
    /// Reads a request.
    #[inline]
    pub(super) fn read(payload: &'a [u8]) -> Result<Request<'a>, Fault> {
        let Some((&code, arguments)) = payload.split_first() else {
            return Err(malformed_request("it has no code"));
        };
        let mut reader = Reader(arguments);
        let short = |_| malformed_request("it ends before its arguments do");
        Ok(match code {
            0x17 => {
                let statement = reader.u32().map_err(short)?;
                // A cursor is asked for in the next byte, and is not given: no client insists.
                reader.bytes(5).map_err(short)?;
                Request::Execute(Execution { statement, values: reader.0 })
            }
            0x03 => Request::Query(arguments),
            0x16 => Request::Prepare(arguments),
            0x19 => Request::Close(reader.u32().map_err(short)?),
            0x1A => Request::Reset(reader.u32().map_err(short)?),
            0x18 => {
                let statement = reader.u32().map_err(short)?;
                let parameter = reader.u16().map_err(short)?;
                Request::LongData { statement, parameter, piece: reader.0 }
            }
            0x0E => Request::Ping,
            0x02 => Request::UseDatabase(arguments),
            0x1F => Request::ResetConnection,
            0x01 => Request::Quit,
            other => Request::Other(other, name(other)),
        })
    }
}

/// In how many packets a payload of this length comes.
#[inline]
pub(super) fn packets(length: usize) -> u8 {
    // Numbers of packets are counted modulo 256.
    (length / FULL) as u8 + 1
}

/// What MySQL calls a command.
fn name(code: u8) -> &'static str {
    match code {
        0x04 => "COM_FIELD_LIST",
        0x05 => "COM_CREATE_DB",
        0x06 => "COM_DROP_DB",
        0x07 => "COM_REFRESH",
        0x08 => "COM_SHUTDOWN",
        0x09 => "COM_STATISTICS",
        0x0A => "COM_PROCESS_INFO",
        0x0C => "COM_PROCESS_KILL",
        0x0D => "COM_DEBUG",
        0x11 => "COM_CHANGE_USER",
        0x12 => "COM_BINLOG_DUMP",
        0x13 => "COM_TABLE_DUMP",
        0x15 => "COM_REGISTER_SLAVE",
        0x1B => "COM_SET_OPTION",
        0x1C => "COM_STMT_FETCH",
        0x1E => "COM_BINLOG_DUMP_GTID",
        _ => "an unknown command",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_to_their_end() {
        let query = Request::read(b"\x03SELECT 1").unwrap();
        assert_eq!(query, Request::Query(b"SELECT 1"));
        let execution = Request::read(b"\x17\x02\0\0\0\0\x01\0\0\0abc").unwrap();
        let expected = Execution { statement: 2, values: b"abc" };
        assert_eq!(execution, Request::Execute(expected));
        assert_eq!(Request::read(b"\x04t\0").unwrap(), Request::Other(4, "COM_FIELD_LIST"));
        for torn in [&b""[..], b"\x17\x02\0\0\0\0\x01\0\0", b"\x19\x01", b"\x18\x01\0\0\0\x01"] {
            assert!(matches!(Request::read(torn), Err(Fault::Refused(1835, ..))), "{torn:?}");
        }
    }

    #[test]
    fn a_payload_of_full_packets_ends_with_an_empty_one() {
        for (length, count) in [(0, 1), (FULL - 1, 1), (FULL, 2), (2 * FULL + 5, 3)] {
            assert_eq!(packets(length), count, "{length}");
        }
    }
}
