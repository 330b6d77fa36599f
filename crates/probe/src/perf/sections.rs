//! Whether the parts that `perf.data` says it has lie within the file.
//!
//! ```text
//!   0    "PERFILE2"   8     104   16   size of an attribute with its ids
//!   24   attributes   40    samples   56   event types     each: offset, length
//!   72   which features there are; their offsets and lengths follow the samples
//! ```
//!
//! The reader takes lengths and counts as they stand, and makes room for them: a damaged file of a
//! hundred bytes would ask for more memory than there is. So it is with the description of the
//! events and with records that have something behind them. The layout is that of
//! `tools/perf/Documentation/perf.data-file-format.txt` of Linux.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt as _;

const HEADER_BYTES: u64 = 104;
/// Attributes of the first Linux that had them, and of any to come.
const ATTRIBUTE_BYTES: std::ops::RangeInclusive<u64> = 64..=4096;
/// Offset and length of where an attribute's ids are stand at its end.
const IDS_BYTES: u64 = 16;
const LITTLE: &[u8; 8] = b"PERFILE2";
/// The feature that describes the events (`HEADER_EVENT_DESC` of `tools/perf/util/header.h`).
const EVENT_DESC: u32 = 12;
/// What each record begins with: its type, its flags and its length.
const RECORD_HEADER_BYTES: u64 = 8;
/// Ends a round of records, and has nothing behind its header (`PERF_RECORD_FINISHED_ROUND` of
/// `perf/event.h`).
const FINISHED_ROUND: u32 = 68;
/// Has a trace of the processor behind it, whose length it says (`PERF_RECORD_AUXTRACE`).
const AUXTRACE: u32 = 71;

/// What is wrong with the parts of a file; nothing where they lie within it.
pub(super) fn find_damage(file: &File) -> io::Result<Option<String>> {
    let length = file.metadata()?.len();
    if length < HEADER_BYTES {
        return Ok(Some("it ends within its header".to_owned()));
    }
    let mut magic = [0; 8];
    file.read_exact_at(&mut magic, 0)?;
    match (Sections { file, length, is_little: &magic == LITTLE }).check() {
        Ok(()) => Ok(None),
        Err(SectionError::Damaged(what)) => Ok(Some(what)),
        Err(SectionError::Unreadable(error)) => Err(error),
    }
}

/// Why the sections of a file cannot be handed to its reader.
enum SectionError {
    Unreadable(io::Error),
    Damaged(String),
}

impl From<io::Error> for SectionError {
    fn from(error: io::Error) -> SectionError {
        SectionError::Unreadable(error)
    }
}

fn damaged<T>(what: impl Into<String>) -> Result<T, SectionError> {
    Err(SectionError::Damaged(what.into()))
}

/// What lies from an offset on.
#[derive(Clone, Copy)]
struct Part {
    from: u64,
    bytes: u64,
}

/// A file with its sections.
struct Sections<'f> {
    file: &'f File,
    length: u64,
    is_little: bool,
}

impl Sections<'_> {
    fn check(&self) -> Result<(), SectionError> {
        let attribute = self.number(16)?.saturating_sub(IDS_BYTES);
        let (attributes, samples, types) = (self.part(24)?, self.part(40)?, self.part(56)?);
        if self.number(8)? != HEADER_BYTES || !ATTRIBUTE_BYTES.contains(&attribute) {
            return damaged("its header is not one of `perf record`");
        }
        if ![attributes, samples, types].into_iter().all(|part| self.has(part)) {
            return damaged("its samples end behind its end: it was not written to its end");
        }
        // The reader keeps each of them: many that lie one upon the other would be many files.
        let mut left = self.length;
        self.check_ids(attributes, attribute, &mut left)?;
        match self.check_features(samples.from + samples.bytes, &mut left)? {
            Some(events) => self.check_events(events)?,
            // The reader takes an attribute here for as large as one with its ids.
            None => self.check_ids(types, attribute + IDS_BYTES, &mut left)?,
        }
        self.check_records(samples)
    }

    /// Whether the ids lie in the file that stand behind attributes of this size.
    fn check_ids(
        &self,
        attributes: Part,
        attribute: u64,
        left: &mut u64,
    ) -> Result<(), SectionError> {
        let step = attribute + IDS_BYTES;
        for at in (0..attributes.bytes / step).map(|index| attributes.from + index * step) {
            let ids = self.part(at + attribute)?;
            if !self.has(ids) {
                return damaged(format!(
                    "the ids of its events, told at byte {}, end behind its end",
                    at + attribute
                ));
            }
            let Some(rest) = left.checked_sub(ids.bytes) else {
                return damaged("the ids of its events lie one upon the other");
            };
            *left = rest;
        }
        Ok(())
    }

    /// Looks at what stands behind the samples, and gives the description of the events, if there
    /// is one.
    fn check_features(&self, begin: u64, left: &mut u64) -> Result<Option<Part>, SectionError> {
        let mut bits = Vec::new();
        for word in 0..4 {
            let set = self.number(72 + 8 * u64::from(word))?;
            bits.extend((0..64).filter(|bit| set & (1 << bit) != 0).map(|bit| 64 * word + bit));
        }
        let mut events = None;
        for (at, bit) in (begin..).step_by(16).zip(bits) {
            if at + 16 > self.length || !self.has(self.part(at)?) {
                return damaged("what it says of its host ends behind its end");
            }
            let feature = self.part(at)?;
            let Some(rest) = left.checked_sub(feature.bytes) else {
                return damaged("parts of what it says of its host lie one upon the other");
            };
            *left = rest;
            events = events.or((bit == EVENT_DESC).then_some(feature));
        }
        Ok(events)
    }

    /// Whether so many events and ids are in their description as it says.
    fn check_events(&self, events: Part) -> Result<(), SectionError> {
        let (begin, end) = (events.from, events.from + events.bytes);
        if events.bytes < 8 {
            return damaged(format!("the description of its events ends at byte {end}"));
        }
        let (count, attribute) = (self.small_number(begin)?, self.small_number(begin + 4)?);
        if !ATTRIBUTE_BYTES.contains(&attribute) {
            return damaged(format!(
                "its events are described in {attribute} bytes each, as byte {} says",
                begin + 4
            ));
        }
        let mut at = begin + 8;
        for number in 1..=count {
            // Behind an attribute stand how many ids there are, and the length of the name.
            let behind = at + attribute;
            if behind + 8 <= end {
                at = behind + 8 + 8 * self.small_number(behind)? + self.small_number(behind + 4)?;
            }
            if behind + 8 > end || at > end {
                return damaged(format!(
                    "the description of its events ends at byte {end}, within event {number} of \
                     {count}"
                ));
            }
        }
        Ok(())
    }

    /// Whether what follows records is in the file.
    fn check_records(&self, samples: Part) -> Result<(), SectionError> {
        let mut reader = BufReader::new(self.file);
        reader.seek(SeekFrom::Start(samples.from))?;
        let (mut at, mut passed) = (samples.from, 0);
        while passed < samples.bytes && at + RECORD_HEADER_BYTES <= self.length {
            let mut header = [0; RECORD_HEADER_BYTES as usize];
            reader.read_exact(&mut header)?;
            let [a, b, c, d, _, _, low, high] = header;
            let (kind, size) = (self.u32([a, b, c, d]), u64::from(self.u16([low, high])));
            let Some(body) = size.checked_sub(RECORD_HEADER_BYTES) else { break };
            (at, passed) = (at + RECORD_HEADER_BYTES, passed + size);
            // The reader looks for the next record right behind this one's header.
            if kind == FINISHED_ROUND {
                continue;
            }
            let mut behind = body;
            if kind == AUXTRACE && body >= 8 && at + body <= self.length {
                let trace = self.number(at)?;
                if trace > self.length - at - body {
                    return damaged(format!(
                        "the trace of a record, whose length stands at byte {at}, ends behind its \
                         end"
                    ));
                }
                (behind, passed) = (behind + trace, passed + trace);
            }
            at += behind;
            reader.seek_relative(behind as i64)?;
        }
        // The file is read from here on.
        (&mut &*self.file).rewind()?;
        Ok(())
    }

    fn has(&self, part: Part) -> bool {
        part.from.checked_add(part.bytes).is_some_and(|until| until <= self.length)
    }

    fn part(&self, at: u64) -> io::Result<Part> {
        Ok(Part { from: self.number(at)?, bytes: self.number(at + 8)? })
    }

    fn number(&self, at: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, at)?;
        Ok(if self.is_little { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) })
    }

    fn small_number(&self, at: u64) -> io::Result<u64> {
        let mut bytes = [0; 4];
        self.file.read_exact_at(&mut bytes, at)?;
        Ok(self.u32(bytes).into())
    }

    fn u32(&self, bytes: [u8; 4]) -> u32 {
        if self.is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
    }

    fn u16(&self, bytes: [u8; 2]) -> u16 {
        if self.is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) }
    }
}
