//! Whether the parts that `perf.data` says it has lie within the file.
//!
//! ```text
//!   0    "PERFILE2"   8     104   16   size of an attribute with its ids
//!   24   attributes   40    samples   56   event types     each: offset, length
//!   72   which features there are; their offsets and lengths follow the samples
//! ```
//!
//! The reader takes lengths as they stand, and makes room for them: a damaged file of a hundred
//! bytes would ask for more memory than there is. The layout is that of
//! `tools/perf/Documentation/perf.data-file-format.txt` of Linux.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

const HEADER_BYTES: u64 = 104;
/// Attributes of the first Linux that had them, and of any to come.
const ATTRIBUTE_BYTES: std::ops::RangeInclusive<u64> = 64..=4096;
/// Offset and length of where an attribute's ids are stand at its end.
const IDS_BYTES: u64 = 16;
const LITTLE: &[u8; 8] = b"PERFILE2";

/// What is wrong with the parts of a file; nothing where they lie within it.
pub(super) fn find_damage(file: &File) -> io::Result<Option<&'static str>> {
    let length = file.metadata()?.len();
    if length < HEADER_BYTES {
        return Ok(Some("it ends within its header"));
    }
    let mut magic = [0; 8];
    file.read_exact_at(&mut magic, 0)?;
    let is_little = &magic == LITTLE;
    let number = |at: u64| -> io::Result<u64> {
        let mut bytes = [0; 8];
        file.read_exact_at(&mut bytes, at)?;
        Ok(if is_little { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) })
    };
    let part = |at: u64| -> io::Result<(u64, u64)> { Ok((number(at)?, number(at + 8)?)) };
    let is_within =
        |(from, bytes): (u64, u64)| from.checked_add(bytes).is_some_and(|until| until <= length);
    let attribute = number(16)?.saturating_sub(IDS_BYTES);
    let (attributes, samples, types) = (part(24)?, part(40)?, part(56)?);
    if number(8)? != HEADER_BYTES || !ATTRIBUTE_BYTES.contains(&attribute) {
        return Ok(Some("its header is not one of `perf record`"));
    }
    if ![attributes, samples, types].into_iter().all(is_within) {
        return Ok(Some("its samples end behind its end: it was not written to its end"));
    }
    // The reader keeps each of them: many that lie one upon the other would be many files.
    let mut left = Some(length);
    let step = attribute + IDS_BYTES;
    for at in (0..attributes.1 / step).map(|index| attributes.0 + index * step) {
        let ids = part(at + attribute)?;
        if !is_within(ids) {
            return Ok(Some("the ids of its events end behind its end"));
        }
        left = left.and_then(|left| left.checked_sub(ids.1));
        if left.is_none() {
            return Ok(Some("the ids of its events lie one upon the other"));
        }
    }
    let features: u32 = (0..4)
        .try_fold(0, |sum, word| number(72 + 8 * word).map(|bits| sum + bits.count_ones()))?;
    let begin = samples.0 + samples.1;
    for at in (0..u64::from(features)).map(|index| begin + 16 * index) {
        if at + 16 > length || !is_within(part(at)?) {
            return Ok(Some("what it says of its host ends behind its end"));
        }
        let (_, bytes) = part(at)?;
        left = left.and_then(|left| left.checked_sub(bytes));
        if left.is_none() {
            return Ok(Some("parts of what it says of its host lie one upon the other"));
        }
    }
    Ok(None)
}
