//! Messages to the server, and the one that matters for speed: Bind + Execute + Sync.
//!
//! ```text
//!   message     tag(1) length(4, counts itself) body
//!
//!   Bind        'B' len | "" 0 | name 0 | n | format × n | n | (len, value) × n | 1 | 1
//!               └────────────── head, kept per statement ───┘└── per execution ──┘└ 1: binary
//!                                                                                0: text
//! ```
//!
//! The head is copied as a whole; only the values are written one by one. Integers go in binary
//! where the server's parameter is an integer, everything else as characters, and the format codes
//! in the head assume just that. A value that breaks the assumption (characters for an integer
//! parameter, a number beyond its width) flips its own code to text: then it is the server that
//! reads it or refuses it, in its own words.

use std::io::Write;

use crate::client::{Args, Param};
use crate::error::WireError;

/// Longest message that PostgreSQL takes (`PQ_LARGE_MESSAGE_LIMIT`) or that we take from it.
pub(crate) const MESSAGE_BYTES_MAX: usize = (1 << 30) - 8;

/// Execute of the unnamed portal without a limit of rows, then Sync.
const EXECUTE_SYNC: [u8; 15] = *b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";

/// Sync alone.
pub(crate) const SYNC: [u8; 5] = *b"S\0\0\0\x04";

/// In which form an execution wants its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Results {
    /// To be counted. Integers then need no conversion to decimal on the server and character
    /// columns are the same bytes in both formats, so that binary is never the dearer one; and it
    /// is one rule for all columns of all statements.
    Binary,
    /// To be read.
    Text,
}

impl Results {
    /// One format code for all columns.
    fn codes(self) -> [u8; 4] {
        match self {
            Results::Binary => [0, 1, 0, 1],
            Results::Text => [0, 1, 0, 0],
        }
    }
}

/// Appends a message whose body `body` writes.
///
/// # Errors
/// The message is longer than the protocol allows; the buffer is then of no use.
pub(crate) fn message(
    out: &mut Vec<u8>,
    tag: u8,
    body: impl FnOnce(&mut Vec<u8>),
) -> Result<(), WireError> {
    let start = out.len();
    out.extend_from_slice(&[tag, 0, 0, 0, 0]);
    body(out);
    patch_length(out, start)
}

/// Appends characters and the NUL that ends them.
pub(crate) fn put_cstring(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(text);
    out.push(0);
}

fn patch_length(out: &mut [u8], start: usize) -> Result<(), WireError> {
    let length = out.len() - start - 1;
    if length > MESSAGE_BYTES_MAX {
        return Err(WireError::Protocol(format!(
            "a message of {length} bytes is longer than PostgreSQL takes ({MESSAGE_BYTES_MAX}); \
             send shorter values"
        )));
    }
    out[start + 1..start + 5].copy_from_slice(&(length as u32).to_be_bytes());
    Ok(())
}

/// How an integer is sent to a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// int2.
    Two,
    /// int4.
    Four,
    /// int8.
    Eight,
    /// Any other type reads decimal characters.
    Text,
}

impl Width {
    /// By the object identifier of the type, as fixed in PostgreSQL's catalogue.
    fn of_type(oid: u32) -> Width {
        match oid {
            20 => Width::Eight,
            21 => Width::Two,
            23 => Width::Four,
            _ => Width::Text,
        }
    }
}

/// What is kept of a prepared statement to execute it.
#[derive(Debug)]
pub(super) struct Statement {
    /// Bind up to the number of values.
    head: Vec<u8>,
    /// Where in `head` the format codes begin.
    formats_at: usize,
    widths: Vec<Width>,
}

impl Statement {
    /// From the statement's name and the types of its parameters, at most 65,535 of them.
    pub(super) fn new(name: &str, parameter_oids: &[u32]) -> Statement {
        let widths: Vec<Width> = parameter_oids.iter().map(|&oid| Width::of_type(oid)).collect();
        let count = (widths.len() as u16).to_be_bytes();
        let mut head = vec![b'B', 0, 0, 0, 0, 0];
        put_cstring(&mut head, name.as_bytes());
        head.extend_from_slice(&count);
        let formats_at = head.len();
        for width in &widths {
            head.extend_from_slice(&[0, u8::from(*width != Width::Text)]);
        }
        head.extend_from_slice(&count);
        Statement { head, formats_at, widths }
    }

    /// Fills `out` with one whole execution.
    ///
    /// # Errors
    /// A wrong number of parameters, or values too long for one message; nothing was sent.
    #[inline]
    pub(super) fn compose_execution(
        &self,
        out: &mut Vec<u8>,
        args: &dyn Args,
        results: Results,
    ) -> Result<(), WireError> {
        if args.count() != self.widths.len() {
            return Err(self.miscounted(args.count()));
        }
        out.clear();
        out.extend_from_slice(&self.head);
        for (index, width) in self.widths.iter().enumerate() {
            match args.get(index) {
                Param::Int(value) => self.put_integer(out, index, *width, value),
                Param::Text(text) => {
                    self.set_text_format(out, index);
                    // A length beyond 32 bits is caught below, with the length of the message.
                    out.extend_from_slice(&(text.len() as u32).to_be_bytes());
                    out.extend_from_slice(text);
                }
                Param::Null => out.extend_from_slice(&(-1_i32).to_be_bytes()),
            }
        }
        out.extend_from_slice(&results.codes());
        patch_length(out, 0)?;
        out.extend_from_slice(&EXECUTE_SYNC);
        Ok(())
    }

    #[inline]
    fn put_integer(&self, out: &mut Vec<u8>, index: usize, width: Width, value: i64) {
        match width {
            Width::Four => {
                if let Ok(value) = i32::try_from(value) {
                    let [a, b, c, d] = value.to_be_bytes();
                    return out.extend_from_slice(&[0, 0, 0, 4, a, b, c, d]);
                }
            }
            Width::Eight => {
                out.extend_from_slice(&[0, 0, 0, 8]);
                return out.extend_from_slice(&value.to_be_bytes());
            }
            Width::Two => {
                if let Ok(value) = i16::try_from(value) {
                    let [a, b] = value.to_be_bytes();
                    return out.extend_from_slice(&[0, 0, 0, 2, a, b]);
                }
            }
            Width::Text => {}
        }
        self.put_decimal(out, index, value);
    }

    #[cold]
    fn put_decimal(&self, out: &mut Vec<u8>, index: usize, value: i64) {
        self.set_text_format(out, index);
        let length_at = out.len();
        out.extend_from_slice(&[0; 4]);
        write!(out, "{value}").expect("writing into a vector does not fail");
        let length = (out.len() - length_at - 4) as u32;
        out[length_at..length_at + 4].copy_from_slice(&length.to_be_bytes());
    }

    #[inline]
    fn set_text_format(&self, out: &mut [u8], index: usize) {
        out[self.formats_at + 2 * index + 1] = 0;
    }

    #[cold]
    fn miscounted(&self, given: usize) -> WireError {
        WireError::Protocol(format!(
            "the statement takes {} parameters and {given} were given; nothing was sent",
            self.widths.len()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn composed(oids: &[u32], args: &[Param<'_>]) -> Vec<u8> {
        let mut out = b"left over".to_vec();
        Statement::new("7", oids).compose_execution(&mut out, &args, Results::Binary).unwrap();
        out
    }

    #[test]
    fn an_execution_is_laid_out_as_the_manual_says() {
        let out = composed(
            &[21, 23, 20, 1700, 1042, 23],
            &[
                Param::Int(-2),
                Param::Int(0x0102_0304),
                Param::Int(-1),
                Param::Int(-17),
                Param::Text(b"ab"),
                Param::Null,
            ],
        );
        let mut expected = b"B\0\0\0\x4d\x007\0".to_vec();
        expected.extend([0, 6, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 6]);
        expected.extend([0, 0, 0, 2, 0xff, 0xfe]);
        expected.extend([0, 0, 0, 4, 1, 2, 3, 4]);
        expected.extend([0, 0, 0, 8].iter().chain(&[0xff; 8]));
        expected.extend(b"\0\0\0\x03-17\0\0\0\x02ab\xff\xff\xff\xff");
        expected.extend([0, 1, 0, 1]);
        let length = expected.len() as u32 - 1;
        expected[1..5].copy_from_slice(&length.to_be_bytes());
        expected.extend(b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04");
        assert_eq!(out, expected);
    }

    #[test]
    fn a_value_that_does_not_fit_goes_as_characters() {
        for (oid, value) in
            [(21, i64::from(i16::MAX) + 1), (23, i64::from(i32::MIN) - 1), (25, i64::MIN)]
        {
            let out = composed(&[oid], &[Param::Int(value)]);
            let text = value.to_string();
            assert_eq!(out[8..14], [0, 1, 0, 0, 0, 1], "format of {oid}");
            assert_eq!(&out[18..18 + text.len()], text.as_bytes());
        }
        let out = composed(&[23], &[Param::Text(b"12")]);
        assert_eq!(out[8..14], [0, 1, 0, 0, 0, 1]);
        let edge = composed(&[21], &[Param::Int(i64::from(i16::MIN))]);
        assert_eq!(edge[8..20], [0, 1, 0, 1, 0, 1, 0, 0, 0, 2, 0x80, 0]);
    }

    #[test]
    fn a_wrong_number_of_parameters_is_refused_before_anything_is_sent() {
        let statement = Statement::new("0", &[23]);
        let mut out = Vec::new();
        let error = statement.compose_execution(&mut out, &&[][..], Results::Text).unwrap_err();
        assert!(error.to_string().contains("takes 1 parameters and 0"));
    }
}
