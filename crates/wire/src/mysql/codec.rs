//! The elements of a payload: integers, strings, and the two packets that end everything.

use dbdyno_model::foreign;

use crate::error::{ServerError, WireError};

/// First byte of a packet that reports success.
pub(crate) const OK: u8 = 0x00;
/// First byte of a packet that reports an error.
pub(crate) const ERR: u8 = 0xFF;
/// First byte of a packet that ends rows; during login, of one that changes the method.
pub(crate) const EOF: u8 = 0xFE;
/// First byte of a packet that asks for a file; within a row in text form, NULL.
pub(crate) const NULL: u8 = 0xFB;

const MORE_RESULTS_EXISTS: u16 = 0x0008;

/// Reads a payload from its beginning. Every length is checked.
pub(crate) struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(short)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, WireError> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, WireError> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, WireError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, WireError> {
        self.array().map(u64::from_le_bytes)
    }

    /// An integer of one to nine bytes.
    pub(crate) fn length_encoded(&mut self) -> Result<u64, WireError> {
        Ok(match self.u8()? {
            short @ 0..=0xFA => u64::from(short),
            0xFC => u64::from(self.u16()?),
            0xFD => {
                let [low, middle, high] = self.array()?;
                u64::from(u32::from_le_bytes([low, middle, high, 0]))
            }
            0xFE => u64::from_le_bytes(self.array()?),
            first => {
                return Err(WireError::Protocol(format!("no integer begins with byte {first:#x}")));
            }
        })
    }

    /// Bytes after their length.
    pub(crate) fn string(&mut self) -> Result<&'a [u8], WireError> {
        let length = self.length_encoded()?;
        self.bytes(usize::try_from(length).map_err(|_| short())?)
    }

    /// A value of a row in text form.
    pub(crate) fn value(&mut self) -> Result<Option<&'a [u8]>, WireError> {
        if let Some((&NULL, rest)) = self.0.split_first() {
            self.0 = rest;
            return Ok(None);
        }
        self.string().map(Some)
    }

    /// Bytes before a zero byte; without one, all that are left.
    pub(crate) fn until_zero(&mut self) -> &'a [u8] {
        let mut parts = self.0.splitn(2, |&byte| byte == 0);
        let text = parts.next().unwrap_or_default();
        self.0 = parts.next().unwrap_or_default();
        text
    }
}

#[cold]
fn short() -> WireError {
    WireError::Protocol("a packet ended before its content did".to_owned())
}

/// Appends an integer of one to nine bytes.
#[inline]
pub(crate) fn put_length(buffer: &mut Vec<u8>, value: u64) {
    let bytes = value.to_le_bytes();
    match value {
        0..0xFB => buffer.push(bytes[0]),
        0xFB..0x1_0000 => {
            buffer.push(0xFC);
            buffer.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..0x100_0000 => {
            buffer.push(0xFD);
            buffer.extend_from_slice(&bytes[..3]);
        }
        _ => {
            buffer.push(0xFE);
            buffer.extend_from_slice(&bytes);
        }
    }
}

/// What a packet of success says.
#[derive(Clone, Copy, Debug)]
pub(super) struct OkPacket {
    /// Rows changed.
    pub affected: u64,
    /// Whether another result follows.
    pub more: bool,
}

/// Reads the packet that ends a statement without rows or, since MySQL 5.7, a list of rows.
#[inline]
pub(super) fn read_ok_packet(payload: &[u8]) -> Result<OkPacket, WireError> {
    // Small numbers, as almost always.
    if let &[_, affected @ 0..NULL, 0..NULL, low, high, ..] = payload {
        let more = u16::from_le_bytes([low, high]) & MORE_RESULTS_EXISTS != 0;
        return Ok(OkPacket { affected: u64::from(affected), more });
    }
    done_slowly(payload)
}

fn done_slowly(payload: &[u8]) -> Result<OkPacket, WireError> {
    let mut reader = Reader(payload);
    reader.u8()?;
    let affected = reader.length_encoded()?;
    reader.length_encoded()?;
    let more = reader.u16()? & MORE_RESULTS_EXISTS != 0;
    Ok(OkPacket { affected, more })
}

/// Reads the packet that ends a list of rows or of columns in the older manner.
pub(super) fn end_of_rows(payload: &[u8]) -> Result<OkPacket, WireError> {
    let mut reader = Reader(payload);
    reader.u8()?;
    reader.u16()?;
    let more = reader.u16()? & MORE_RESULTS_EXISTS != 0;
    Ok(OkPacket { affected: 0, more })
}

/// Reads an error packet. Before the login there is no SQLSTATE in it.
#[cold]
pub(super) fn server_error(payload: &[u8]) -> WireError {
    let read = || {
        let mut reader = Reader(payload);
        reader.u8()?;
        let code = reader.u16()?;
        let mut sqlstate = "HY000".to_owned();
        if let Some((b'#', rest)) = reader.0.split_first()
            && let Some((state, rest)) = rest.split_at_checked(5)
        {
            sqlstate = foreign::one_line(&super::latin1::decode(state)).into_owned();
            reader.0 = rest;
        }
        Ok(ServerError { code, sqlstate, message: super::latin1::decode(reader.0).into() })
    };
    read().map_or_else(|error| error, WireError::Server)
}

/// Appends the payload of an error packet.
pub(crate) fn put_error(payload: &mut Vec<u8>, code: u16, sqlstate: &str, message: &str) {
    payload.push(ERR);
    payload.extend_from_slice(&code.to_le_bytes());
    payload.push(b'#');
    payload.extend_from_slice(sqlstate.as_bytes());
    payload.extend_from_slice(message.as_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lengths_read_back_as_written(value: u64, small in 0u64..0x200_0000) {
            for value in [value, small, small & 0x1FFFF, small & 0x1FF] {
                let mut buffer = Vec::new();
                put_length(&mut buffer, value);
                let mut reader = Reader(&buffer);
                prop_assert_eq!(reader.length_encoded().unwrap(), value);
                prop_assert!(reader.0.is_empty());
                buffer.pop();
                prop_assert!(Reader(&buffer).length_encoded().is_err());
            }
        }
    }

    #[test]
    fn lengths_have_the_widths_of_the_protocol() {
        // From the protocol's documentation: 250 is the largest in one byte.
        for (value, bytes) in [
            (250, &[0xFA][..]),
            (251, &[0xFC, 0xFB, 0]),
            (65535, &[0xFC, 0xFF, 0xFF]),
            (65536, &[0xFD, 0, 0, 1]),
            (1 << 24, &[0xFE, 0, 0, 0, 1, 0, 0, 0, 0]),
        ] {
            let mut buffer = Vec::new();
            put_length(&mut buffer, value);
            assert_eq!(buffer, bytes);
        }
    }
}
