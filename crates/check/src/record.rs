//! Histories as bytes: what a recorder writes on a hot path, and its reader.
//!
//! ```text
//!   file = header (16 bytes), then streams of workers one after the other
//!   header = dbdynoH1, then the bytes of the whole file, or 0 where that was not known
//!   stream = [ operation 16 bytes ]* end-of-transaction 48 bytes, again and again
//!
//!   operation   word 0   kind 4 bits · table 12 · key 48       word 1   prev 32 · value 32
//!   end         word 0   15 · outcome 4 · operations 24 · session 32
//!               words 1–5   begin invoked, begin returned, commit invoked, commit returned, token
//! ```
//!
//! Words are little-endian. The end stands behind its operations, so that a worker only appends and
//! never goes back; operations without an end, as a killed worker leaves them, are a transaction of
//! unknown outcome that has no place, and are refused by the offset at which they begin unless
//! they stand at the end of the file, where they are left out. A file that is shorter than its
//! header says is refused: a read of a write that is missing would look like an anomaly. Encoding
//! is a pure function from values to an array: nothing allocates.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

use crate::footprint::is_write;
use crate::history::{
    ABSENT, History, INITIAL, KEY_BITS, KEY_MASK, Keys, Op, OperationKind, Range, Times,
    TransactionOutcome, Txn, UNKNOWN, WriteId,
};

const END: u64 = 15;
const WORD: usize = 8;
/// Tables that 12 bits can tell apart.
const TABLES: usize = 1 << 12;
/// Keys of a table in a row are numbered by their distance while that costs at most this many
/// places per operation; else they are sorted.
const PLACES_PER_OP: u64 = 4;
/// What histories may waste on that in any case.
const PLACES_ALWAYS: u64 = 1 << 16;

/// Largest number of sessions that is accepted.
const SESSIONS: u32 = 1 << 20;
/// Largest id for each operation: ids are dense, and a larger one is refused.
const IDS_PER_OP: u64 = 64;
/// Largest id that is accepted however few operations there are.
const IDS_ALWAYS: u64 = 1 << 20;

/// Bytes of a file that are in memory at a time.
const PIECE: usize = 1 << 20;

/// How a file of records begins.
pub const MAGIC: [u8; 8] = *b"dbdynoH1";

/// The header of records whose length is not known before they have ended.
pub const HEADER: [u8; 16] = *b"dbdynoH1\0\0\0\0\0\0\0\0";

/// An operation as the recorder knows it: with the table and key of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpRecord {
    /// What it does.
    pub kind: OperationKind,
    /// A number for the table, below 4096.
    pub table: u16,
    /// The key, below 2⁴⁸.
    pub key: u64,
    /// As [`Op::value`].
    pub value: WriteId,
    /// As [`Op::prev`].
    pub prev: WriteId,
}

impl OpRecord {
    /// Its 16 bytes. Bits of table and key beyond their room are cut.
    #[must_use]
    pub fn encode(self) -> [u8; 16] {
        let table = u64::from(self.table) & (TABLES as u64 - 1);
        let word = (self.kind as u64) << 60 | table << KEY_BITS | (self.key & KEY_MASK);
        let values = u64::from(self.prev) << 32 | u64::from(self.value);
        let mut bytes = [0; 16];
        bytes[..WORD].copy_from_slice(&word.to_le_bytes());
        bytes[WORD..].copy_from_slice(&values.to_le_bytes());
        bytes
    }
}

/// The 48 bytes that end a transaction of `ops` operations (below 2²⁴).
#[must_use]
pub fn encode_end(txn: Txn, ops: u32) -> [u8; 48] {
    let ops = u64::from(ops) & 0xff_ffff;
    let word = END << 60 | (txn.outcome as u64) << 56 | ops << 32 | u64::from(txn.session);
    let times = txn.times;
    let words = [
        word,
        times.begin_invoke_ns,
        times.begin_return_ns,
        times.commit_invoke_ns,
        times.commit_return_ns,
        txn.token,
    ];
    let mut bytes = [0; 48];
    for (place, word) in bytes.chunks_exact_mut(WORD).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// One record as it lies in a file, without a look at what it means.
#[derive(Clone, Copy)]
pub(crate) struct Raw {
    first: u64,
    second: u64,
}

impl Raw {
    /// Records of sums, which no file has: a counter was read.
    pub(crate) const SUM: u64 = 12;
    pub(crate) const CURRENT_SUM: u64 = 13;

    /// The record that begins there, if one ends there, too.
    pub(crate) fn read_at(records: &[u8], at: usize) -> Option<Raw> {
        let is_whole = at + 2 * WORD <= records.len();
        let raw =
            is_whole.then(|| Raw { first: word(records, at), second: word(records, at + WORD) });
        raw.filter(|raw| at + raw.len() <= records.len())
    }

    /// Its bytes.
    pub(crate) fn len(self) -> usize {
        if self.kind() == END { 6 * WORD } else { 2 * WORD }
    }

    pub(crate) fn kind(self) -> u64 {
        self.first >> 60
    }

    pub(crate) fn is_kind(self, kind: OperationKind) -> bool {
        self.kind() == kind as u64
    }

    /// Table and key as one number.
    pub(crate) fn packed_key(self) -> u64 {
        self.first & !(END << 60)
    }

    pub(crate) fn value(self) -> WriteId {
        self.second as WriteId
    }

    pub(crate) fn sum(self) -> u64 {
        self.second
    }

    /// Another operation on the same key.
    pub(crate) fn with_operation(self, kind: OperationKind, value: WriteId, prev: WriteId) -> Raw {
        let second = u64::from(prev) << 32 | u64::from(value);
        Raw { first: (kind as u64) << 60 | self.packed_key(), second }
    }

    /// Writes an operation to where it belongs.
    pub(crate) fn write_at(self, records: &mut [u8], at: usize) {
        records[at..at + WORD].copy_from_slice(&self.first.to_le_bytes());
        records[at + WORD..at + 2 * WORD].copy_from_slice(&self.second.to_le_bytes());
    }
}

/// Gives the operations of every transaction, and what became of it.
pub(crate) fn visit_transactions(records: &[u8], mut give: impl FnMut(&[Raw], TransactionOutcome)) {
    let (mut at, mut ops) = (HEADER.len(), Vec::new());
    while let Some(raw) = Raw::read_at(records, at) {
        if raw.kind() == END {
            give(&ops, txn(records, at).outcome);
            ops.clear();
        } else {
            ops.push(raw);
        }
        at += raw.len();
    }
}

/// Gives the transactions of a stream of records without a header, one after the other, with their
/// operations in a buffer that is used again. Keys are those of the table; scans and sums have no
/// meaning here.
pub fn read_stream(records: &[u8], ops: &mut Vec<Op>, mut give: impl FnMut(Txn, &[Op])) {
    let mut at = 0;
    ops.clear();
    while let Some(raw) = Raw::read_at(records, at) {
        if raw.kind() == END {
            give(txn(records, at), ops);
            ops.clear();
        } else if let Some(kind) = OperationKind::ALL.get(raw.kind() as usize).copied() {
            let key = (raw.packed_key() & KEY_MASK) as u32;
            ops.push(Op { key, value: raw.value(), prev: (raw.second >> 32) as u32, kind });
        }
        at += raw.len();
    }
}

/// Makes records whole that ended while clients went on: of transactions that were answered after
/// `ended_ns`, when the first one began that was not recorded, it is not known what they saw. Their
/// writes stay, of which it is not known whether they were committed unless they were seen; their
/// reads go. A transaction that was answered before can have seen no write that is missing.
pub fn trim_records(records: &mut [u8], ended_ns: u64) {
    let (mut at, mut first) = (HEADER.len(), HEADER.len());
    while let Some(raw) = Raw::read_at(records, at) {
        let next = at + raw.len();
        if raw.kind() != END {
            at = next;
            continue;
        }
        if txn(records, at).times.commit_return_ns > ended_ns {
            for place in (first..at).step_by(2 * WORD) {
                if let Some(op) = Raw::read_at(records, place) {
                    op.unseen().write_at(records, place);
                }
            }
            let outcome = TransactionOutcome::Unknown as u64;
            let told = raw.first & !(15 << 56) | outcome << 56;
            records[at..at + WORD].copy_from_slice(&told.to_le_bytes());
        }
        (at, first) = (next, next);
    }
}

impl Raw {
    /// The same as its client would have noted it had it not looked.
    fn unseen(self) -> Raw {
        let kind = OperationKind::ALL.get(self.kind() as usize).copied();
        match kind {
            // Evidence goes as reads do; what stays in its place says nothing.
            Some(OperationKind::Read | OperationKind::CurrentRead | OperationKind::Order) => {
                self.with_operation(OperationKind::Read, UNKNOWN, UNKNOWN)
            }
            Some(kind @ (OperationKind::Write | OperationKind::Append)) => {
                self.with_operation(kind, self.value(), UNKNOWN)
            }
            _ => self,
        }
    }
}

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRecord {
    /// Bytes from the beginning of the file.
    pub offset: usize,
    /// A sentence.
    pub what: String,
}

impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.what)
    }
}

/// Reads a file of records.
///
/// # Errors
/// The first record that is none, with its offset.
pub fn read_records(bytes: &[u8]) -> Result<History, BadRecord> {
    let (header, records) = bytes.split_at_checked(HEADER.len()).ok_or_else(no_records)?;
    check_header(header, bytes.len() as u64)?;
    let mut layout = Layout::new();
    layout.take(records)?;
    layout.check()?;
    let mut packed = Vec::new();
    if layout.is_sparse() {
        pack(&records[..layout.whole], &mut packed);
    }
    let mut filling = Filling::of(&layout, layout.keys(packed));
    filling.take(&records[..layout.whole]);
    filling.check_keys()?;
    Ok(filling.assembled())
}

/// Reads a file of records piece by piece: the history is in memory, and never the file, which is
/// read twice, or three times where its keys lie far apart, and must stay as it is meanwhile.
///
/// # Errors
/// As [`read_records`]; or what reading met, with how far it had come.
pub fn read_records_from(file: &mut (impl Read + Seek)) -> Result<History, BadRecord> {
    let mut begin = Vec::new();
    let header = HEADER.len() as u64;
    let length = file.seek(SeekFrom::End(0)).map_err(|error| unreadable(0, &error))?;
    let read = file.rewind().and_then(|()| file.by_ref().take(header).read_to_end(&mut begin));
    read.map_err(|error| unreadable(0, &error))?;
    check_header(&begin, length)?;
    let mut layout = Layout::new();
    pieces(file, u64::MAX, |piece| layout.take(piece))?;
    layout.check()?;
    let whole = layout.whole as u64;
    let mut packed = Vec::new();
    if layout.is_sparse() {
        pieces(file, whole, |piece| Ok(pack(piece, &mut packed)))?;
    }
    let mut filling = Filling::of(&layout, layout.keys(packed));
    pieces(file, whole, |piece| Ok(filling.take(piece)))?;
    filling.check_keys()?;
    Ok(filling.assembled())
}

/// Gives the first `most` bytes behind the header, piece by piece, to a function that says how
/// many of them were whole records; the rest comes again with the next piece.
fn pieces(
    file: &mut (impl Read + Seek),
    most: u64,
    mut take: impl FnMut(&[u8]) -> Result<usize, BadRecord>,
) -> Result<(), BadRecord> {
    let mut at = HEADER.len();
    file.seek(SeekFrom::Start(at as u64)).map_err(|error| unreadable(at, &error))?;
    let mut limited = file.take(most);
    let mut piece = Vec::with_capacity(PIECE);
    loop {
        let room = (PIECE - piece.len()) as u64;
        let read = limited.by_ref().take(room).read_to_end(&mut piece);
        if read.map_err(|error| unreadable(at, &error))? == 0 {
            return Ok(());
        }
        let taken = take(&piece)?;
        at += taken;
        piece.drain(..taken);
    }
}

/// Whether a file of so many bytes begins as records do, and is as long as it was written.
fn check_header(header: &[u8], length: u64) -> Result<(), BadRecord> {
    if header.len() != HEADER.len() || !header.starts_with(&MAGIC) {
        return Err(no_records());
    }
    match word(header, MAGIC.len()) {
        0 => Ok(()),
        written if written == length => Ok(()),
        written => Err(BadRecord {
            offset: usize::try_from(length.min(written)).unwrap_or(usize::MAX),
            what: format!(
                "the file has {length} bytes and was written with {written}: a part is missing or \
                 was added; copy it again"
            ),
        }),
    }
}

fn no_records() -> BadRecord {
    BadRecord { offset: 0, what: "no file of records: it begins otherwise".to_owned() }
}

fn unreadable(offset: usize, error: &io::Error) -> BadRecord {
    BadRecord { offset, what: format!("it cannot be read: {error}") }
}

/// Notes table and key of every operation; how many bytes were whole records.
fn pack(records: &[u8], packed: &mut Vec<u64>) -> usize {
    let mut at = 0;
    while let Some(raw) = Raw::read_at(records, at) {
        if raw.kind() != END {
            packed.push(raw.packed_key());
        }
        at += raw.len();
    }
    at
}

/// A history while its records come.
struct Filling {
    keys: Numbering,
    largest: WriteId,
    ops: Vec<Op>,
    /// Transactions, each with its first operation and how many it has.
    ends: Vec<(Txn, u32, u32)>,
    /// The first operation of the transaction that has not ended.
    first: u32,
}

impl Filling {
    fn of(layout: &Layout, keys: Numbering) -> Filling {
        let (ops, ends) = (Vec::with_capacity(layout.ops), Vec::with_capacity(layout.ends));
        Filling { keys, largest: layout.largest, ops, ends, first: 0 }
    }

    /// Takes in records that [`Layout::take`] has seen; how many bytes were whole ones.
    fn take(&mut self, records: &[u8]) -> usize {
        let mut at = 0;
        while at + 2 * WORD <= records.len() {
            let word = word(records, at);
            if word >> 60 == END {
                if at + 6 * WORD > records.len() {
                    break;
                }
                let end = self.ops.len() as u32;
                self.ends.push((txn(records, at), self.first, end - self.first));
                self.first = end;
                at += 6 * WORD;
                continue;
            }
            let values = self::word(records, at + WORD);
            let op = Op {
                key: self.keys.dense(word & !(END << 60)),
                value: values as u32,
                prev: (values >> 32) as u32,
                kind: OperationKind::ALL[(word >> 60) as usize],
            };
            self.ops.push(self.keys.spanned(op, word));
            at += 2 * WORD;
        }
        at
    }

    /// What speaks against a key: nobody says which version it has where something is counted on
    /// it and something else is written.
    fn check_keys(&self) -> Result<(), BadRecord> {
        const COUNTER: u8 = 1;
        const VERSIONS: u8 = 2;
        let mut uses = vec![0_u8; self.keys.count as usize];
        for op in &self.ops {
            let Some(of_key) = uses.get_mut(op.key as usize) else { continue };
            *of_key |= match op.kind {
                OperationKind::Increment | OperationKind::Count => COUNTER,
                kind if is_write(kind) => VERSIONS,
                _ => 0,
            };
            if *of_key == COUNTER | VERSIONS {
                let what = "a key that is a counter and is written, too; it is one of the two";
                return Err(BadRecord { offset: 0, what: what.to_owned() });
            }
        }
        Ok(())
    }

    /// Puts transactions into the order of completion; their operations stay where they are.
    fn assembled(self) -> History {
        let ends = self.ends;
        let times =
            ends.iter().zip(0_u32..).map(|((txn, ..), at)| (txn.times.commit_return_ns, at));
        let mut order: Vec<(u64, u32)> = times.collect();
        order.sort();
        let mut history = History::with_key_names();
        history.value_names = Vec::new();
        history.id_count = self.largest + 1;
        (history.keys, history.key_count) = (self.keys.keys, self.keys.count);
        history.ops = self.ops;
        history.reserve(order.len());
        for (_, at) in order {
            let (txn, first, count) = ends[at as usize];
            history.first.push(first);
            history.count.push(count);
            history.push_txn(txn);
        }
        history
    }
}

/// A history as a file of records. Keys that have names are numbered in table 0.
#[must_use]
pub fn write_records(history: &History) -> Vec<u8> {
    let mut bytes = HEADER.to_vec();
    for txn in 0..history.len() {
        let ops = history.ops(txn);
        for op in ops {
            let (table, key) = history.table_and_key(op.key);
            let Op { kind, value, prev, .. } = *op;
            bytes.extend_from_slice(&OpRecord { kind, table, key, value, prev }.encode());
        }
        bytes.extend_from_slice(&encode_end(history.txn(txn), ops.len() as u32));
    }
    write_total_length(&mut bytes);
    bytes
}

/// Puts the length of whole records into their header, so that a file of them that is cut is told
/// from a shorter history.
pub fn write_total_length(records: &mut [u8]) {
    let length = records.len() as u64;
    if let Some(place) = records.get_mut(MAGIC.len()..HEADER.len()) {
        place.copy_from_slice(&length.to_le_bytes());
    }
}

impl History {
    /// The number of the table and the key in it.
    fn table_and_key(&self, key: u32) -> (u16, u64) {
        match &self.keys {
            Keys::Named(_) => (0, u64::from(key)),
            Keys::Ranked(packed) => {
                let packed = packed[key as usize];
                ((packed >> KEY_BITS) as u16, packed & KEY_MASK)
            }
            Keys::Ranges(ranges) => {
                let range = ranges[ranges.partition_point(|range| range.first_dense <= key) - 1];
                (range.table, range.first_key + u64::from(key - range.first_dense))
            }
        }
    }
}

/// What a first look at all records says.
struct Layout {
    ops: usize,
    ends: usize,
    /// Bytes behind the header that were looked at.
    at: usize,
    /// Bytes behind the header up to the last end of a transaction.
    whole: usize,
    /// Operations of the transaction that has not ended.
    count: usize,
    /// The largest id, and whether some write has none.
    largest: WriteId,
    has_nameless: bool,
    /// The smallest and the largest key of each table.
    bounds: Vec<(u64, u64)>,
}

impl Layout {
    fn new() -> Layout {
        Layout {
            ops: 0,
            ends: 0,
            at: 0,
            whole: 0,
            count: 0,
            largest: 0,
            has_nameless: false,
            bounds: vec![(u64::MAX, 0); TABLES],
        }
    }

    /// Looks at records that follow those it has seen; how many bytes were whole ones.
    fn take(&mut self, records: &[u8]) -> Result<usize, BadRecord> {
        let (mut at, mut count, begun) = (0, self.count, self.at);
        let bad = |at: usize, what| Err(BadRecord { offset: HEADER.len() + begun + at, what });
        while at + 2 * WORD <= records.len() {
            let word = word(records, at);
            let kind = word >> 60;
            if kind == END {
                if at + 6 * WORD > records.len() {
                    break;
                }
                if let Some(what) = wrong_end(records, at, count) {
                    return bad(at, what);
                }
                self.ops += count;
                self.ends += 1;
                (at, count) = (at + 6 * WORD, 0);
                self.whole = begun + at;
                continue;
            }
            if kind as usize >= OperationKind::ALL.len() {
                return bad(at, format!("{kind} is no kind of an operation"));
            }
            self.note_ids(OperationKind::ALL[kind as usize], self::word(records, at + WORD));
            let bounds = &mut self.bounds[(word >> KEY_BITS) as usize & (TABLES - 1)];
            let key = word & KEY_MASK;
            *bounds = (bounds.0.min(key), bounds.1.max(key));
            (at, count) = (at + 2 * WORD, count + 1);
        }
        (self.at, self.count) = (begun + at, count);
        Ok(at)
    }

    fn note_ids(&mut self, kind: OperationKind, values: u64) {
        let (value, prev) = (values as u32, (values >> 32) as u32);
        if matches!(kind, OperationKind::Scan | OperationKind::CurrentScan) {
            return;
        }
        let counts = if kind == OperationKind::Count { 0 } else { value };
        for id in [counts, prev].into_iter().filter(|id| *id < ABSENT) {
            self.largest = self.largest.max(id);
        }
        let is_named = value != INITIAL && value < ABSENT;
        let is_read =
            matches!(kind, OperationKind::Read | OperationKind::CurrentRead | OperationKind::Count);
        self.has_nameless |= !is_read && !is_named;
    }

    /// What speaks against all of it together: more than can be numbered, ids and what they would
    /// cost, or writes without a name.
    fn check(&self) -> Result<(), BadRecord> {
        let most = self.ops as u64 * IDS_PER_OP + IDS_ALWAYS;
        let what = match () {
            () if self.ops > UNKNOWN as usize => {
                "more than 4294967295 operations; check parts of the file".to_owned()
            }
            () if self.has_nameless => "a write without an id".to_owned(),
            () if u64::from(self.largest) > most => {
                format!("write id {} for {} operations: ids must be dense", self.largest, self.ops)
            }
            () => return Ok(()),
        };
        Err(BadRecord { offset: 0, what })
    }

    /// Whether keys lie so far apart that their distance is no number for them.
    fn is_sparse(&self) -> bool {
        let used = self.bounds.iter().filter(|(least, most)| least <= most);
        let places = used.fold(0_u64, |sum, (least, most)| sum.saturating_add(most - least + 1));
        places > (self.ops as u64 * PLACES_PER_OP + PLACES_ALWAYS).min(u64::from(ABSENT))
    }

    /// How keys become dense; `packed` are all of them where they are sparse.
    fn keys(&self, mut packed: Vec<u64>) -> Numbering {
        let mut offsets = vec![0; TABLES];
        if self.is_sparse() {
            packed.sort_unstable();
            packed.dedup();
            return Numbering { count: packed.len() as u32, keys: Keys::Ranked(packed), offsets };
        }
        let mut ranges = Vec::new();
        let mut places: u64 = 0;
        for (table, &(least, most)) in self.bounds.iter().enumerate() {
            if least <= most {
                offsets[table] = places.wrapping_sub(least);
                let (table, first_dense) = (table as u16, places as u32);
                ranges.push(Range { table, first_key: least, first_dense });
                places += most - least + 1;
            }
        }
        Numbering { keys: Keys::Ranges(ranges), count: places as u32, offsets }
    }
}

/// What is wrong with the end of a transaction that had so many operations.
fn wrong_end(records: &[u8], at: usize, count: usize) -> Option<String> {
    let word = word(records, at);
    let said = word >> 32 & 0xff_ffff;
    match () {
        () if said != count as u64 & 0xff_ffff => {
            Some(format!("a transaction of {said} operations ends after {count}"))
        }
        () if word as u32 >= SESSIONS => {
            Some(format!("session {}: there are at most {SESSIONS}", word as u32))
        }
        () if word >> 56 & 15 > TransactionOutcome::Unknown as u64 => {
            Some(format!("{} is no outcome", word >> 56 & 15))
        }
        () if !txn(records, at).times.are_in_order() => {
            Some("a transaction was answered before it began".to_owned())
        }
        () => None,
    }
}

/// From keys of the database to dense ones.
struct Numbering {
    keys: Keys,
    count: u32,
    /// By table, what is added to a key.
    offsets: Vec<u64>,
}

impl Numbering {
    fn dense(&self, packed: u64) -> u32 {
        match &self.keys {
            Keys::Ranked(all) => all.partition_point(|key| *key < packed) as u32,
            _ => {
                let table = (packed >> KEY_BITS) as usize;
                (packed & KEY_MASK).wrapping_add(self.offsets[table]) as u32
            }
        }
    }

    /// A scan covers the keys of the history that lie in its range.
    fn spanned(&self, op: Op, word: u64) -> Op {
        if !matches!(op.kind, OperationKind::Scan | OperationKind::CurrentScan) {
            return op;
        }
        let packed = word & !(END << 60);
        let end = match &self.keys {
            Keys::Ranked(all) => {
                all.partition_point(|key| *key < packed.saturating_add(u64::from(op.value))) as u32
            }
            _ => {
                let table = (packed >> KEY_BITS) as u16;
                let next = match &self.keys {
                    Keys::Ranges(ranges) => {
                        let after = ranges.partition_point(|range| range.table <= table);
                        ranges.get(after).map_or(self.count, |range| range.first_dense)
                    }
                    _ => self.count,
                };
                op.key.saturating_add(op.value).min(next)
            }
        };
        Op { value: end.saturating_sub(op.key), ..op }
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; WORD];
    word.copy_from_slice(&bytes[at..at + WORD]);
    u64::from_le_bytes(word)
}

fn txn(records: &[u8], at: usize) -> Txn {
    let first = word(records, at);
    let outcome = match first >> 56 & 15 {
        0 => TransactionOutcome::Ok,
        1 => TransactionOutcome::Failed,
        _ => TransactionOutcome::Unknown,
    };
    let of = |place: usize| word(records, at + place * WORD);
    let times = Times {
        begin_invoke_ns: of(1),
        begin_return_ns: of(2),
        commit_invoke_ns: of(3),
        commit_return_ns: of(4),
    };
    Txn { session: first as u32, outcome, times, token: of(5) }
}
