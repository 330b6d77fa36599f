//! A record as it stands in the log.
//!
//! ```text
//!    0      4      8              16                         to a multiple of 8
//!   ┌──────┬──────┬──────────────┬──────────────────────────┬─────┐
//!   │ crc  │ size │   durable    │         payload          │  0  │
//!   └──────┴──────┴──────────────┴──────────────────────────┴─────┘
//!     crc of payload, size, durable and of the record's own place, which stands nowhere
//! ```
//!
//! With its place in the checksum, a record that was written elsewhere or in an earlier life of the
//! file is none. *durable* is how far the log was durable when the record was made. It tells a torn
//! tail from damage: a reader that finds something wrong at a place, and behind it a record that
//! says that place was durable, has found damage.

use std::ops::Range;

use crc32fast::Hasher;

/// Bytes before the payload.
pub(crate) const HEAD_BYTES: usize = 16;
/// Records begin at multiples of it.
pub(crate) const ALIGNMENT: usize = 8;

/// Bytes that a record takes with so many of payload.
pub(crate) fn framed_bytes(payload: usize) -> usize {
    (HEAD_BYTES + payload).next_multiple_of(ALIGNMENT)
}

/// The part of a checksum that can be worked out before the place is known.
pub(super) struct PartialChecksum<'a> {
    payload: &'a [u8],
    hasher: Hasher,
}

impl<'a> PartialChecksum<'a> {
    /// Of a payload, which is not empty and shorter than 4 GiB.
    pub(super) fn of_payload(payload: &'a [u8]) -> PartialChecksum<'a> {
        assert!(!payload.is_empty(), "a record says something");
        assert!(u32::try_from(payload.len()).is_ok(), "a record is shorter than 4 GiB");
        let mut hasher = Hasher::new();
        hasher.update(payload);
        PartialChecksum { payload, hasher }
    }

    /// What it says.
    pub(super) fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Bytes that it takes.
    pub(crate) fn framed_bytes(&self) -> usize {
        framed_bytes(self.payload.len())
    }

    /// What stands before the payload of a record at this place.
    pub(super) fn header_at(self, place: u64, durable: u64) -> [u8; HEAD_BYTES] {
        let size = self.payload.len() as u32;
        let mut head = [0; HEAD_BYTES];
        head[..4].copy_from_slice(&sum(self.hasher, size, durable, place).to_le_bytes());
        head[4..8].copy_from_slice(&size.to_le_bytes());
        head[8..].copy_from_slice(&durable.to_le_bytes());
        head
    }
}

fn sum(mut payload: Hasher, size: u32, durable: u64, place: u64) -> u32 {
    let mut rest = [0; 20];
    rest[..4].copy_from_slice(&size.to_le_bytes());
    rest[4..12].copy_from_slice(&durable.to_le_bytes());
    rest[12..].copy_from_slice(&place.to_le_bytes());
    payload.update(&rest);
    payload.finalize()
}

/// A record that was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// Where its payload is in the bytes.
    pub payload: Range<usize>,
    /// Where the next record begins in the bytes.
    pub next: usize,
}

/// The record that begins here in bytes whose first is at the place `start`, if there is one.
pub(super) fn read(bytes: &[u8], at: usize, start: u64) -> Option<Frame> {
    let (size, durable) = head(bytes, at)?;
    let payload = at + HEAD_BYTES..at + HEAD_BYTES + size as usize;
    let next = at + framed_bytes(size as usize);
    if size == 0 || next > bytes.len() {
        return None;
    }
    let mut hasher = Hasher::new();
    hasher.update(&bytes[payload.clone()]);
    let found = sum(hasher, size, durable, start + at as u64);
    let right = bytes[at..at + 4] == found.to_le_bytes();
    let padded = bytes[payload.end..next].iter().all(|&byte| byte == 0);
    (right && padded).then_some(Frame { payload, next })
}

/// Whether a record behind this place says that more than what is before it was durable.
pub(crate) fn is_damage(bytes: &[u8], at: usize, start: u64) -> bool {
    let place = start + at as u64;
    let says = |&behind: &usize| {
        let durable = head(bytes, behind).map_or(0, |(_, durable)| durable);
        // Cheap, and wrong for nearly all that is no record.
        (place + 1..=start + behind as u64).contains(&durable)
            && read(bytes, behind, start).is_some()
    };
    (at + ALIGNMENT..bytes.len()).step_by(ALIGNMENT).any(|behind| says(&behind))
}

/// Bytes of the record that begins here, if so much of it is there that it says so.
pub(super) fn size(bytes: &[u8], at: usize) -> Option<usize> {
    head(bytes, at).map(|(size, _)| framed_bytes(size as usize))
}

fn head(bytes: &[u8], at: usize) -> Option<(u32, u64)> {
    let head = bytes.get(at..at + HEAD_BYTES)?;
    let size = u32::from_le_bytes(head[4..8].try_into().expect("four bytes"));
    let durable = u64::from_le_bytes(head[8..].try_into().expect("eight bytes"));
    Some((size, durable))
}
