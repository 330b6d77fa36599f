//! Messages from the server, found in one reused buffer.
//!
//! ```text
//!   buffer  ░░░░░░░░│D len … │D len … │C len …│Z len│D le        │
//!           consumed ↑start                              ↑end     ↑one `read` fills up to here
//! ```
//!
//! A length is a claim by the other side: memory is taken as bytes arrive, never because a length
//! was announced, and a claim above a limit is refused: a small one until the login is over. Rows
//! that nobody wants to see are counted and let go; one that is longer than the buffer runs through
//! it without being assembled.

use std::io::{self, Read};

use super::outgoing::MESSAGE_BYTES_MAX;
use crate::error::WireError;
use crate::kept::MemoryPart;

const HEADER_BYTES: usize = 5;
const BUFFER_BYTES: usize = 64 << 10;
/// Bytes of a message that is kept. Rows that nobody looks at may be longer.
const LARGEST: usize = 256 << 20;
/// The same as long as the login is not over.
const LARGEST_AT_LOGIN: usize = 32 << 10;

/// Whether the bodies of rows (DataRow, CopyData) are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowBodies {
    /// They may be cut short or empty.
    Skip,
    /// They are whole.
    Keep,
}

/// One message; the body is without tag and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    pub(crate) tag: u8,
    pub(crate) body: &'a [u8],
}

/// The buffer.
#[derive(Debug)]
pub(crate) struct Incoming {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes still to come of a row that is being let through. Its header is all that is here.
    passing: usize,
    /// Bytes of a message that is kept.
    largest: usize,
    /// What the buffer counts for.
    held: MemoryPart,
}

impl Incoming {
    pub(crate) fn new() -> Incoming {
        Incoming {
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            passing: 0,
            largest: LARGEST,
            held: MemoryPart::default(),
        }
    }

    /// What comes from somebody who has not let us in: no more is taken at a time than a login
    /// needs.
    pub(crate) fn of_login() -> Incoming {
        Incoming { largest: LARGEST_AT_LOGIN, ..Incoming::new() }
    }

    /// The login is over.
    pub(crate) fn end_login(&mut self) {
        self.largest = LARGEST;
    }

    /// The next message, read from `source` if it is not here yet.
    ///
    /// # Errors
    /// The end of the stream, its own errors, or a length that cannot be. After an error of a
    /// source that does not wait it may be called again.
    #[inline]
    pub(crate) fn next(
        &mut self,
        source: &mut impl Read,
        rows: RowBodies,
    ) -> Result<Message<'_>, WireError> {
        let total = match self.whole()? {
            Some(total) => total,
            None => self.await_message(source, rows)?,
        };
        let (tag, body) = (self.start, self.start + HEADER_BYTES);
        self.start += total;
        Ok(Message { tag: self.buffer[tag], body: &self.buffer[body..self.start] })
    }

    /// Whether a whole message is here, so that [`Incoming::next`] needs no reading.
    ///
    /// # Errors
    /// A length that cannot be.
    pub(crate) fn has_message(&self) -> Result<bool, WireError> {
        Ok(self.whole()?.is_some())
    }

    /// Reads what `source` has at once, if it is a source that does not wait.
    ///
    /// # Errors
    /// The end of the stream or its own errors; "would block" is not an error here.
    pub(crate) fn poll(&mut self, source: &mut impl Read) -> Result<(), WireError> {
        match self.fill(source) {
            Err(error) if error.is_not_yet() => Ok(()),
            other => other,
        }
    }

    /// The size of the message at `start`, header included, if all of it is here.
    #[inline]
    fn whole(&self) -> Result<Option<usize>, WireError> {
        let here = &self.buffer[self.start..self.end];
        let Some(total) = announced(here)? else {
            return Ok(None);
        };
        Ok((here.len() >= total).then_some(total))
    }

    fn await_message(
        &mut self,
        source: &mut impl Read,
        rows: RowBodies,
    ) -> Result<usize, WireError> {
        if self.passing > 0 {
            return self.let_through(source);
        }
        loop {
            let here = &self.buffer[self.start..self.end];
            if let Some(total) = announced(here)? {
                if here.len() >= total {
                    return Ok(total);
                }
                let is_row = matches!(here[0], b'D' | b'd');
                if is_row && rows == RowBodies::Skip && total > self.buffer.len() {
                    self.passing = total - here.len();
                    self.buffer.copy_within(self.start..self.start + HEADER_BYTES, 0);
                    (self.start, self.end) = (0, HEADER_BYTES);
                    return self.let_through(source);
                }
                if total > self.largest {
                    return Err(impossible_length(here[0], total));
                }
            }
            self.fill(source)?;
        }
    }

    /// Reads and forgets what has yet to come of the row whose header is here. Leaves a message
    /// with an empty body.
    fn let_through(&mut self, source: &mut impl Read) -> Result<usize, WireError> {
        let room = self.buffer.len() - HEADER_BYTES;
        while self.passing > 0 {
            let wanted = self.passing.min(room);
            let piece = &mut self.buffer[HEADER_BYTES..HEADER_BYTES + wanted];
            self.passing -= read_some(source, piece)?;
        }
        Ok(HEADER_BYTES)
    }

    /// One `read` behind what is here, which is moved to the front first.
    fn fill(&mut self, source: &mut impl Read) -> Result<(), WireError> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            let grown = self.buffer.len() * 2;
            self.held.cover_bytes(grown)?;
            self.buffer.resize(grown, 0);
        }
        self.end += read_some(source, &mut self.buffer[self.end..])?;
        Ok(())
    }
}

/// The size that the header announces, once the header is here.
#[inline]
fn announced(here: &[u8]) -> Result<Option<usize>, WireError> {
    let [tag, a, b, c, d, ..] = *here else {
        return Ok(None);
    };
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    if !(4..=MESSAGE_BYTES_MAX).contains(&length) {
        return Err(impossible_length(tag, length));
    }
    Ok(Some(length + 1))
}

#[cold]
fn impossible_length(tag: u8, length: usize) -> WireError {
    WireError::Protocol(format!(
        "the server announced a message '{}' of {length} bytes",
        tag.escape_ascii()
    ))
}

/// At least one byte.
fn read_some(source: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(into) {
            Ok(0) => {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the server closed the connection",
                ));
            }
            Ok(count) => return Ok(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Hands out its bytes in pieces of given sizes, with a signal between any two.
    struct Pieces<'a> {
        bytes: &'a [u8],
        sizes: Vec<usize>,
        turn: usize,
    }

    impl Read for Pieces<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.turn += 1;
            if self.turn.is_multiple_of(2) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let size = self.sizes[self.turn / 2 % self.sizes.len()];
            let count = size.min(into.len()).min(self.bytes.len());
            into[..count].copy_from_slice(&self.bytes[..count]);
            self.bytes = &self.bytes[count..];
            Ok(count)
        }
    }

    fn framed(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![tag];
        bytes.extend((body.len() as u32 + 4).to_be_bytes());
        bytes.extend(body);
        bytes
    }

    proptest! {
        #[test]
        fn messages_come_out_as_they_went_in(
            messages in prop::collection::vec(
                (any::<u8>(), prop::collection::vec(any::<u8>(), 0..300)),
                1..20,
            ),
            sizes in prop::collection::vec(1_usize..200, 1..8),
        ) {
            let bytes: Vec<u8> = messages.iter().flat_map(|(t, b)| framed(*t, b)).collect();
            let mut source = Pieces { bytes: &bytes, sizes, turn: 0 };
            let mut incoming = Incoming::new();
            for (tag, body) in &messages {
                let message = incoming.next(&mut source, RowBodies::Skip).unwrap();
                prop_assert_eq!(message, Message { tag: *tag, body });
            }
            let end = incoming.next(&mut source, RowBodies::Skip);
            prop_assert!(matches!(end, Err(WireError::Broken(_))));
        }

        #[test]
        fn long_rows_pass_and_what_follows_is_found(
            length in BUFFER_BYTES - 20..3 * BUFFER_BYTES,
            before in 0_usize..3,
            size in 1000_usize..100_000,
        ) {
            let mut bytes = framed(b'2', b"").repeat(before);
            bytes.extend(framed(b'D', &vec![7; length]));
            bytes.extend(framed(b'C', b"SELECT 1\0"));
            for rows in [RowBodies::Skip, RowBodies::Keep] {
                let mut source = Pieces { bytes: &bytes, sizes: vec![size], turn: 0 };
                let mut incoming = Incoming::new();
                for _ in 0..before {
                    prop_assert_eq!(incoming.next(&mut source, rows).unwrap().tag, b'2');
                }
                let row = incoming.next(&mut source, rows).unwrap();
                prop_assert_eq!(row.tag, b'D');
                if rows == RowBodies::Keep {
                    prop_assert!(row.body.len() == length && row.body.iter().all(|b| *b == 7));
                }
                let last = incoming.next(&mut source, rows).unwrap();
                prop_assert_eq!(last, Message { tag: b'C', body: b"SELECT 1\0" });
                if rows == RowBodies::Skip {
                    prop_assert_eq!(incoming.buffer.len(), BUFFER_BYTES);
                }
            }
        }
    }

    #[test]
    fn impossible_lengths_are_refused() {
        for length in [0_u32, 3, 1 << 30, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
            let mut bytes = vec![b'D'];
            bytes.extend(length.to_be_bytes());
            let error = Incoming::new().next(&mut &bytes[..], RowBodies::Skip).unwrap_err();
            assert!(matches!(error, WireError::Protocol(_)), "{length}");
        }
    }

    #[test]
    fn an_announced_gigabyte_takes_no_memory_before_it_arrives() {
        let mut bytes = b"T\x0f\xff\xff\xf0".to_vec();
        bytes.extend([0; 1000]);
        let mut incoming = Incoming::new();
        let error = incoming.next(&mut &bytes[..], RowBodies::Keep).unwrap_err();
        assert!(matches!(error, WireError::Broken(_)));
        assert_eq!(incoming.buffer.len(), BUFFER_BYTES);
    }

    #[test]
    fn what_is_kept_has_a_limit_and_a_login_a_small_one() {
        for (mut incoming, most) in
            [(Incoming::of_login(), LARGEST_AT_LOGIN), (Incoming::new(), LARGEST)]
        {
            let mut bytes = b"E".to_vec();
            bytes.extend((most as u32).to_be_bytes());
            bytes.extend([b'x'; 100]);
            let error = incoming.next(&mut &bytes[..], RowBodies::Skip).unwrap_err();
            assert!(matches!(error, WireError::Protocol(_)), "{error}");
            assert_eq!(incoming.buffer.len(), BUFFER_BYTES);
        }
    }
}
