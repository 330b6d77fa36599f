//! Packets: length, number, payload.
//!
//! ```text
//!   ┌──────────┬────────┬───────────────┐
//!   │ length 3 │ number │ payload …     │   length 2^24-1: the payload goes on in the next packet
//!   └──────────┴────────┴───────────────┘
//! ```
//!
//! A request is built behind its header and leaves in one write. Answers are read as much at a time
//! as the socket gives; most statements are answered with one read. A packet whose content is of no
//! interest is skipped by its header, also when it is larger than the buffer.
//!
//! Memory grows with what has arrived, never with what a header announces, and up to a limit that
//! is small until the login is over. The mock server speaks through the same channel, from the
//! other end.

use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;

use super::codec;
use crate::error::WireError;
use crate::kept::MemoryPart;
use crate::stream::{SocketStream, Waiting};
use crate::tls::{Security, ServerSecurity};

const HEADER: usize = 4;
/// Length that says "and more in the next packet".
const FULL: usize = 0xFF_FFFF;
/// A packet of that length with its header.
const WHOLE: usize = HEADER + FULL;
const INPUT: usize = 64 << 10;
/// A buffer of a server that is larger is given back when it is empty.
const SPARED: usize = 1 << 20;
/// Bytes of a payload that is taken. Rows that nobody looks at may be longer.
const LARGEST: usize = 256 << 20;
/// The same as long as nobody has proved who he is: greetings, errors and keys have hundreds.
const LARGEST_AT_LOGIN: usize = 32 << 10;
const DRAINED_READS: usize = 64;

/// What the header of the next packet and its first byte say. The packet itself is still unread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    length: usize,
    /// First byte of the payload, which tells what kind of packet this is.
    pub kind: u8,
}

impl Head {
    /// Bytes of payload; of a payload in several packets, those of the first.
    pub(crate) fn length(self) -> usize {
        self.length
    }

    /// Whether the payload is longer than any packet that ends a result.
    pub(crate) fn is_full(self) -> bool {
        self.length == FULL
    }
}

/// Whether the packet that is passed over goes on in the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PassingOn {
    No,
    Yes,
}

/// A stream of packets in both directions.
///
/// Reading can stop between any two bytes and go on later: what has been read of a packet stays in
/// the buffer until [`Channel::take_payload`] or [`Channel::skip_packet`] has all of it.
#[derive(Debug)]
pub(crate) struct Channel {
    stream: SocketStream,
    /// What was read and not yet taken is `input[start..end]`.
    input: Vec<u8>,
    start: usize,
    end: usize,
    /// What is still to be passed over of packets whose beginning has been: bytes, and whether a
    /// packet follows that continues them.
    passing: usize,
    passing_on: PassingOn,
    /// What to do when nothing is there to be read.
    waiting: Waiting,
    /// Bytes of a payload that is taken.
    largest: usize,
    /// What the buffer of a client counts for; a server bounds its requests itself.
    held: Option<MemoryPart>,
    output: Vec<u8>,
    /// Number that the next packet must bear, whoever sends it.
    number: u8,
}

impl Channel {
    pub(crate) fn new(stream: SocketStream) -> Self {
        Channel {
            stream,
            input: vec![0; INPUT],
            start: 0,
            end: 0,
            passing: 0,
            passing_on: PassingOn::No,
            waiting: Waiting::UntilThere,
            largest: LARGEST,
            held: None,
            output: Vec::with_capacity(INPUT),
            number: 0,
        }
    }

    pub(crate) fn stream(&self) -> &SocketStream {
        &self.stream
    }

    /// Listens to a server that has not let us in: no more is taken at a time than a login needs,
    /// and what is taken later is counted with what other connections hold.
    pub(crate) fn begin_login(&mut self) {
        self.largest = LARGEST_AT_LOGIN;
        self.held = Some(MemoryPart::default());
    }

    /// The login is over.
    pub(crate) fn end_login(&mut self) {
        self.largest = LARGEST;
    }

    /// Goes on encrypted. What the server said after its greeting, and before it could know that it
    /// is we, was said by somebody else.
    ///
    /// # Errors
    /// [`WireError::Tls`]; [`WireError::Protocol`] where something was said in the clear.
    pub(crate) fn encrypt(mut self, security: &Security) -> Result<Channel, WireError> {
        if self.start != self.end {
            return Err(self.unasked());
        }
        Ok(Channel { stream: self.stream.encrypt(security)?, ..self })
    }

    /// From now on reading waits or does not; a new channel waits.
    #[inline]
    pub(crate) fn set_waiting(&mut self, waiting: Waiting) {
        self.waiting = waiting;
    }

    /// Starts a request; its arguments are to be appended to what is returned.
    #[inline]
    pub(crate) fn begin_command(&mut self, code: u8) -> Result<&mut Vec<u8>, WireError> {
        if self.start != self.end {
            return Err(self.unasked());
        }
        (self.start, self.end, self.number) = (0, 0, 0);
        let output = self.payload();
        output.push(code);
        Ok(output)
    }

    /// Starts a packet within a conversation; the payload is to be appended to what is returned.
    #[inline]
    pub(crate) fn payload(&mut self) -> &mut Vec<u8> {
        self.output.clear();
        self.output.extend_from_slice(&[0; HEADER]);
        &mut self.output
    }

    /// Sends what [`Channel::begin_command`] or [`Channel::payload`] started: in one write, unless
    /// it is longer than a packet can be.
    #[inline]
    pub(crate) fn send(&mut self) -> Result<(), WireError> {
        let length = self.output.len() - HEADER;
        let sent = if length < FULL {
            self.output[..HEADER].copy_from_slice(&header(length, self.number));
            self.number = self.number.wrapping_add(1);
            self.stream.write_all(&self.output)
        } else {
            self.send_split()
        };
        sent.map_err(|error| self.unsent(error))
    }

    /// A payload of a multiple of 2^24-1 bytes ends with an empty packet.
    fn send_split(&mut self) -> io::Result<()> {
        let mut rest = &self.output[HEADER..];
        loop {
            let (piece, after) = rest.split_at(rest.len().min(FULL));
            self.stream.write_all(&header(piece.len(), self.number))?;
            self.stream.write_all(piece)?;
            self.number = self.number.wrapping_add(1);
            rest = after;
            if piece.len() < FULL {
                // Such a statement is rare: its memory need not stay.
                self.output.truncate(HEADER);
                self.output.shrink_to(INPUT);
                return Ok(());
            }
        }
    }

    /// Waits for the next packet and looks at its beginning.
    #[inline]
    pub(crate) fn await_head(&mut self) -> Result<Head, WireError> {
        if self.end - self.start <= HEADER {
            self.fill_head()?;
        }
        let (length, number) = self.header();
        if length == 0 {
            return Err(empty());
        }
        if number != self.number {
            return Err(self.out_of_order(number));
        }
        Ok(Head { length, kind: self.input[self.start + HEADER] })
    }

    /// Reads a header and the byte behind it, which an empty packet would let us wait for in vain.
    fn fill_head(&mut self) -> Result<(), WireError> {
        self.pass()?;
        self.fill(HEADER)?;
        if self.header().0 == 0 {
            return Err(empty());
        }
        self.fill(HEADER + 1)
    }

    /// Takes the payload of the packet that `head` describes.
    #[inline]
    pub(crate) fn take_payload(&mut self, head: Head) -> Result<&[u8], WireError> {
        if head.is_full() {
            return self.take_joined();
        }
        let whole = HEADER + head.length;
        if self.end - self.start < whole {
            self.check_length(head.length)?;
            self.fill_slowly(whole)?;
        }
        let from = self.start + HEADER;
        self.start = from + head.length;
        self.number = self.number.wrapping_add(1);
        Ok(&self.input[from..self.start])
    }

    /// Passes over the packet that `head` describes, and over those that continue it.
    #[inline]
    pub(crate) fn skip_packet(&mut self, head: Head) -> Result<(), WireError> {
        let whole = HEADER + head.length;
        if !head.is_full() && whole <= self.end - self.start {
            self.start += whole;
            self.number = self.number.wrapping_add(1);
            return Ok(());
        }
        self.skip_slowly(head);
        Ok(())
    }

    /// Passes over packets that are there as a whole and in order, at most `most` of them and as
    /// long as `plain` likes their first byte; returns how many. This is the fast lane of rows:
    /// whatever it stops at, [`Channel::await_head`] judges.
    #[inline]
    pub(crate) fn skip_ready(&mut self, most: u64, plain: impl Fn(u8) -> bool) -> u64 {
        let ready = &self.input[..self.end];
        let (mut count, mut at, mut number) = (0, self.start, self.number);
        while count < most
            && let Some(&[low, middle, high, its_number, kind]) =
                ready.get(at..).and_then(|rest| rest.first_chunk::<{ HEADER + 1 }>())
        {
            let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
            let next = at + HEADER + length;
            let whole = next <= ready.len() && length > 0 && length < FULL;
            if !whole || its_number != number || !plain(kind) {
                break;
            }
            (count, at, number) = (count + 1, next, number.wrapping_add(1));
        }
        (self.start, self.number) = (at, number);
        count
    }

    /// Lets go what is here of a packet; the rest is passed over when the next one is asked for.
    #[cold]
    fn skip_slowly(&mut self, head: Head) {
        self.number = self.number.wrapping_add(1);
        self.passing = HEADER + head.length;
        self.passing_on = if head.is_full() { PassingOn::Yes } else { PassingOn::No };
        self.let_go();
    }

    /// Passes over what [`Channel::skip_packet`] left.
    fn pass(&mut self) -> Result<(), WireError> {
        while self.passing > 0 || self.passing_on == PassingOn::Yes {
            if self.passing == 0 {
                let length = self.continuation(0)?;
                self.number = self.number.wrapping_add(1);
                self.passing = HEADER + length;
                self.passing_on = if length == FULL { PassingOn::Yes } else { PassingOn::No };
            } else {
                (self.start, self.end) = (0, 0);
                self.read_more()?;
            }
            self.let_go();
        }
        Ok(())
    }

    fn let_go(&mut self) {
        let here = self.passing.min(self.end - self.start);
        self.start += here;
        self.passing -= here;
    }

    /// Waits for all packets of a payload before it takes any, and closes the gaps between them.
    #[cold]
    fn take_joined(&mut self) -> Result<&[u8], WireError> {
        let mut full = 0;
        let last = loop {
            let length = self.continuation(full)?;
            self.check_length(full * FULL + length)?;
            self.fill(full * WHOLE + HEADER + length)?;
            if length < FULL {
                break length;
            }
            full += 1;
        };
        let range = self.join(full, last);
        Ok(&self.input[range])
    }

    /// Refuses a payload that is longer than any that is taken.
    #[cold]
    fn check_length(&self, length: usize) -> Result<(), WireError> {
        let most = self.largest;
        if length <= most {
            return Ok(());
        }
        Err(WireError::Protocol(format!(
            "the server announced {length} bytes in one piece, where {most} are the most"
        )))
    }

    /// Takes a payload of `full` packets of full length and one of `last` bytes, all of which are
    /// here, and closes the gaps between them; says where it is.
    fn join(&mut self, full: usize, last: usize) -> Range<usize> {
        let from = self.start + HEADER;
        let mut to = from + if full == 0 { last } else { FULL };
        for packet in 1..=full {
            let at = from + packet * WHOLE;
            let length = if packet == full { last } else { FULL };
            self.input.copy_within(at..at + length, to);
            to += length;
        }
        self.start = from + full * WHOLE + last;
        self.number = self.number.wrapping_add(full as u8).wrapping_add(1);
        from..to
    }

    /// The length of a packet that comes after `full` others and continues them; it may be empty.
    fn continuation(&mut self, full: usize) -> Result<usize, WireError> {
        let at = full * WHOLE;
        self.fill(at + HEADER)?;
        let (length, number) = header_at(&self.input[self.start + at..]);
        if number != self.number.wrapping_add(full as u8) {
            return Err(self.out_of_order(number));
        }
        Ok(length)
    }

    #[inline]
    fn header(&self) -> (usize, u8) {
        header_at(&self.input[self.start..])
    }

    #[cold]
    fn unasked(&mut self) -> WireError {
        let count = self.end - self.start;
        self.last_words().unwrap_or_else(|| {
            WireError::Protocol(format!("the server sent {count} unexpected bytes"))
        })
    }

    #[cold]
    fn out_of_order(&mut self, number: u8) -> WireError {
        let expected = self.number;
        self.last_words().unwrap_or_else(|| {
            WireError::Protocol(format!(
                "packet number {number} came where {expected} had to come; is something between \
                 us and the server, or does another thread use this socket?"
            ))
        })
    }

    /// Who has closed may have said why before.
    #[cold]
    fn unsent(&mut self, error: io::Error) -> WireError {
        match error.kind() {
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                self.last_words().unwrap_or_else(|| closed("before it was asked"))
            }
            _ => WireError::Broken(error),
        }
    }

    /// A server that ends a connection on its own account (shutdown, `KILL`, idle for too long)
    /// says so with an error packet that follows from nothing that we sent.
    fn last_words(&mut self) -> Option<WireError> {
        self.fill(HEADER).ok()?;
        let whole = HEADER + self.header().0;
        if whole > INPUT {
            return None;
        }
        self.fill(whole).ok()?;
        let payload = &self.input[self.start + HEADER..self.start + whole];
        if payload.first() != Some(&codec::ERR) {
            return None;
        }
        let WireError::Server(error) = codec::server_error(payload) else { return None };
        let text = format!("the server ended it: {error}");
        Some(WireError::Broken(io::Error::new(ErrorKind::ConnectionAborted, text)))
    }

    /// Reads until at least `need` bytes are there.
    #[inline]
    fn fill(&mut self, need: usize) -> Result<(), WireError> {
        if self.end - self.start >= need {
            return Ok(());
        }
        self.fill_slowly(need)
    }

    fn fill_slowly(&mut self, need: usize) -> Result<(), WireError> {
        if self.start > 0 && self.start + need > self.input.len() {
            self.input.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        while self.end - self.start < need {
            if self.end == self.input.len() {
                let grown = (self.input.len() * 2).min(need.max(INPUT));
                self.held.as_mut().map_or(Ok(()), |held| held.cover_bytes(grown))?;
                self.input.resize(grown, 0);
            }
            self.read_more()?;
        }
        Ok(())
    }

    fn read_more(&mut self) -> Result<(), WireError> {
        loop {
            match self.stream.read_as(self.waiting, &mut self.input[self.end..]) {
                Ok(0) if self.start == self.end => return Err(closed("before it answered")),
                Ok(0) => return Err(closed("in the middle of a packet")),
                Ok(count) => {
                    self.end += count;
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(WireError::Broken(error)),
            }
        }
    }

    /// Bytes that the buffer of what was read can hold.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.input.len()
    }

    /// Reads and drops what comes until the other side closes, or sends too much to be waited for.
    pub(crate) fn drain_input(&mut self) {
        for _ in 0..DRAINED_READS {
            if !matches!(self.stream.read(&mut self.input), Ok(1..)) {
                return;
            }
        }
    }
}

/// Why a server has no request.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The client has gone, or has said nothing for as long as the socket waits.
    Gone(io::Error),
    /// A packet bears another number than the one that has to come.
    OutOfOrder { number: u8, expected: u8 },
    /// It announces more than is taken.
    TooLarge,
}

impl From<WireError> for Unread {
    fn from(error: WireError) -> Unread {
        match error {
            WireError::Broken(error) => Unread::Gone(error),
            other => Unread::Gone(io::Error::other(other)),
        }
    }
}

/// What a server needs besides.
impl Channel {
    /// Waits for a request, which may come in several packets, of at most `most` bytes; `began` is
    /// the number that its first packet has to bear.
    ///
    /// # Errors
    /// All but [`Unread::Gone`] can be told to the client; whatever follows is not to be read.
    pub(crate) fn take_request(&mut self, began: u8, most: usize) -> Result<&[u8], Unread> {
        self.number = began;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.input.len() > SPARED {
                // A request as large as that is rare: its memory need not stay.
                self.input.truncate(INPUT);
                self.input.shrink_to_fit();
            }
        }
        let mut full = 0;
        let last = loop {
            let at = full * WHOLE;
            self.fill(at + HEADER)?;
            let (length, number) = header_at(&self.input[self.start + at..]);
            let expected = self.number.wrapping_add(full as u8);
            if number != expected {
                return Err(Unread::OutOfOrder { number, expected });
            }
            if full * FULL + length > most {
                return Err(Unread::TooLarge);
            }
            self.fill(at + HEADER + length)?;
            if length < FULL {
                break length;
            }
            full += 1;
        };
        let range = self.join(full, last);
        Ok(&self.input[range])
    }

    /// Goes on encrypted, as the client has asked. Its handshake may have come together with the
    /// question; nothing that is here is taken for anything else.
    ///
    /// # Errors
    /// The handshake failed, or the client has gone.
    pub(crate) fn serve_encrypted(&mut self, security: &ServerSecurity) -> io::Result<()> {
        let read = self.start..self.end;
        (self.start, self.end) = (0, 0);
        self.stream.serve_encrypted(security, &self.input[read])
    }

    /// Ends writing.
    pub(crate) fn end_writing(&mut self) -> io::Result<()> {
        self.stream.end_writing()
    }

    /// Waits for a command; returns its code and its arguments.
    pub(crate) fn await_command(&mut self) -> Result<(u8, &[u8]), WireError> {
        self.number = 0;
        let head = self.await_head()?;
        Ok((head.kind, &self.take_payload(head)?[1..]))
    }

    /// Takes the next payload, which may be empty.
    pub(crate) fn take_piece(&mut self) -> Result<&[u8], WireError> {
        self.fill(HEADER)?;
        if self.header().0 > 0 {
            let head = self.await_head()?;
            return self.take_payload(head);
        }
        self.continuation(0)?;
        self.start += HEADER;
        self.number = self.number.wrapping_add(1);
        Ok(&[])
    }

    /// Number that the next packet must bear.
    pub(crate) fn packet_number(&self) -> u8 {
        self.number
    }

    /// Writes packets that were built beforehand; they end an answer.
    #[inline]
    pub(crate) fn write_built(&mut self, packets: &[u8]) -> io::Result<()> {
        self.stream.write_all(packets)
    }
}

/// Appends a payload in as many packets as it needs, the first of them numbered `number`.
pub(crate) fn put_packets(output: &mut Vec<u8>, number: &mut u8, payload: &[u8]) {
    let mut rest = payload;
    loop {
        let (piece, after) = rest.split_at(rest.len().min(FULL));
        output.extend_from_slice(&header(piece.len(), *number));
        output.extend_from_slice(piece);
        *number = number.wrapping_add(1);
        rest = after;
        if piece.len() < FULL {
            return;
        }
    }
}

/// Length and number in the header with which these bytes begin.
#[inline]
fn header_at(bytes: &[u8]) -> (usize, u8) {
    let header = &bytes[..HEADER];
    (u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize, header[3])
}

fn header(length: usize, number: u8) -> [u8; HEADER] {
    let [low, middle, high, _] = (length as u32).to_le_bytes();
    [low, middle, high, number]
}

#[cold]
fn empty() -> WireError {
    WireError::Protocol("the server sent an empty packet".to_owned())
}

fn closed(when: &str) -> WireError {
    let text = format!("the server closed it {when}; its error log says why");
    WireError::Broken(io::Error::new(ErrorKind::UnexpectedEof, text))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn the_reason_is_told_even_if_the_question_cannot_be_sent() {
        for (words, expected) in [
            (&b"\x0d\0\0\0\xff\xbf\x0f#08S01idle"[..], "idle (error 4031"),
            (b"\x0d\0\0\0\xff\xbf\x0f#08S", "before it was asked"),
            (b"", "before it was asked"),
        ] {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            theirs.write_all(words).unwrap();
            drop(theirs);
            let mut channel = Channel::new(ours.into());
            channel.begin_command(3).unwrap().extend_from_slice(b"SELECT 1");
            let text = channel.send().unwrap_err().to_string();
            assert!(text.contains(expected), "{text}");
        }
    }
}
