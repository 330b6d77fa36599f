//! What clients are answered.
//!
//! ```text
//!   OK · error
//!   rows:       count │ definition … │ (EOF) │ row … │ EOF or OK
//!   prepared:   OK, number, counts │ definition of a parameter … │ of a column …
//! ```
//!
//! Packets are built one behind the other in one buffer and leave in one write. Definitions are
//! built once for a statement and copied for each of its answers.

use std::fmt;
use std::io::Write as _;

use crate::mysql::codec::{EOF, NULL, OK, put_error, put_length};
use crate::mysql::packet::put_packets;
use crate::mysql::result::Ending;

const HEADER: usize = 4;
/// Length of a packet that goes on in the next one.
const FULL: usize = 0xFF_FFFF;
/// A buffer that is larger is given back once its answer is sent.
const SPARED: usize = 1 << 20;

const BINARY: u16 = 63;

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueForm {
    /// As text: the answer to a query.
    Text,
    /// Numbers and dates as bytes: the answer to an execution.
    Binary,
}

/// What the state of the session is, as each answer tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Whether a transaction is open.
    pub in_transaction: bool,
    /// Whether statements are transactions of their own.
    pub autocommit: bool,
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Whole numbers.
    Int {
        /// Bytes of each: 1, 2, 3, 4 or 8.
        bytes: u8,
        /// Whether some of them are below 0.
        signed: bool,
    },
    /// Decimals.
    Decimal {
        /// The most digits.
        digits: u8,
        /// Those of them that are behind the point.
        scale: u8,
    },
    /// Characters.
    Text {
        /// The type that they are told to be of.
        form: TextForm,
        /// The number of their collation.
        collation: u16,
        /// How many bytes they have at most.
        bytes: u32,
    },
    /// Points in time with so many digits behind the second.
    DateTime(u8),
    /// Days.
    Date,
}

/// The types of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextForm {
    /// CHAR.
    Char,
    /// VARCHAR.
    Varchar,
    /// TEXT and longer ones.
    Blob,
}

/// A column as clients are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition<'a> {
    /// Its name, in the client's character set, as all names.
    pub name: &'a [u8],
    /// What its values are.
    pub kind: ColumnType,
    /// What is told of them besides: [`ColumnFlags`], one or the other.
    pub flags: u16,
    /// The column of a table that they are of.
    pub origin: Option<DefinitionOrigin<'a>>,
}

/// A column of a table as clients are told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefinitionOrigin<'a> {
    /// The schema.
    pub schema: &'a [u8],
    /// The table as the statement calls it.
    pub alias: &'a [u8],
    /// The table.
    pub table: &'a [u8],
    /// The column.
    pub column: &'a [u8],
}

/// What is told of a column, a bit each; numbers after MySQL's `mysql_com.h`.
pub struct ColumnFlags;

impl ColumnFlags {
    /// No value is NULL.
    pub const NOT_NULL: u16 = 1;
    /// It is one of the primary key.
    pub const PRIMARY_KEY: u16 = 1 << 1;
    /// It alone is a unique key.
    pub const UNIQUE_KEY: u16 = 1 << 2;
    /// It is the first of a key whose values may repeat.
    pub const MULTIPLE_KEY: u16 = 1 << 3;
    const BLOB: u16 = 1 << 4;
    const UNSIGNED: u16 = 1 << 5;
    /// Texts compare as bytes; of numbers and times, that they are no column of a table.
    pub const BINARY: u16 = 1 << 7;
    /// The table numbers its rows in it.
    pub const AUTO_INCREMENT: u16 = 1 << 9;
    /// A row needs a value for it.
    pub const NO_DEFAULT_VALUE: u16 = 1 << 12;
    /// It is one of some key.
    pub const PART_OF_KEY: u16 = 1 << 14;
}

impl<'a> Definition<'a> {
    /// A column of no table, of which nothing more is told.
    pub fn new(name: &'a [u8], kind: ColumnType) -> Definition<'a> {
        Definition { name, kind, flags: 0, origin: None }
    }
}

impl ColumnType {
    /// Whole numbers of 64 bits.
    pub const BIGINT: ColumnType = ColumnType::Int { bytes: 8, signed: true };
}

/// Definitions that are ready to be sent.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// Packets, numbered from 1: the count, the definitions, and what ends them.
    packets: Vec<u8>,
    kinds: Vec<ColumnType>,
}

/// The answer to one request, while it is built.
#[derive(Debug)]
pub struct ResponseBuilder {
    ending: Ending,
    bytes: Vec<u8>,
    /// Number of the first packet, and of the next one.
    first: u8,
    number: u8,
    row: Row,
}

/// The row that is being built.
#[derive(Debug)]
struct Row {
    form: ValueForm,
    /// Where its packet begins.
    begins: usize,
    /// Which value comes next.
    column: usize,
    columns: usize,
}

impl ResponseBuilder {
    pub(super) fn new(ending: Ending) -> ResponseBuilder {
        let row = Row { form: ValueForm::Text, begins: 0, column: 0, columns: 0 };
        ResponseBuilder { ending, bytes: Vec::new(), first: 0, number: 0, row }
    }

    pub(super) fn begin_response(&mut self, number: u8) {
        self.bytes.clear();
        (self.first, self.number) = (number, number);
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(SPARED);
    }

    /// Bytes of the answer so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is no answer yet.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// It is done: rows that were changed, the first number that was given, the session's state.
    pub fn put_ok(&mut self, changed: u64, first_number: u64, status: Status) {
        self.put_ok_with_words(changed, first_number, status, None);
    }

    /// The same with what MySQL says of it in at most 250 bytes.
    pub fn put_ok_with_words(
        &mut self,
        changed: u64,
        first_number: u64,
        status: Status,
        words: Option<fmt::Arguments<'_>>,
    ) {
        let at = self.open();
        self.bytes.push(OK);
        put_length(&mut self.bytes, changed);
        put_length(&mut self.bytes, first_number);
        self.bytes.extend_from_slice(&status.bits());
        self.bytes.extend_from_slice(&[0, 0]);
        words.into_iter().for_each(|words| self.put_short(words));
        self.close(at);
    }

    /// It is refused. Rows that were built before stay, unless [`ResponseBuilder::take_back`] takes
    /// them.
    pub fn error(&mut self, code: u16, sqlstate: &str, message: &str) {
        let at = self.open();
        put_error(&mut self.bytes, code, sqlstate, message);
        self.close(at);
    }

    /// Takes back all that was built of this answer.
    pub fn take_back(&mut self) {
        self.number = self.first;
        self.bytes.clear();
    }

    /// A statement was prepared: its number, how many parameters it takes, and its columns.
    pub fn put_prepared(&mut self, statement: u32, parameters: u16, columns: &[Definition<'_>]) {
        let at = self.open();
        self.bytes.push(OK);
        self.bytes.extend_from_slice(&statement.to_le_bytes());
        self.bytes.extend_from_slice(&(columns.len() as u16).to_le_bytes());
        self.bytes.extend_from_slice(&parameters.to_le_bytes());
        self.bytes.extend_from_slice(&[0; 3]);
        self.close(at);
        let form = TextForm::Varchar;
        let parameter = ColumnType::Text { form, collation: BINARY, bytes: 0 };
        let parameter = Definition::new(b"?", parameter);
        for _ in 0..parameters {
            self.definition(&parameter);
        }
        if parameters > 0 {
            self.end_definitions();
        }
        columns.iter().for_each(|column| self.definition(column));
        if !columns.is_empty() {
            self.end_definitions();
        }
    }

    /// Builds definitions to be used again and again.
    pub fn build_definitions(&self, columns: &[Definition<'_>]) -> Definitions {
        let mut built = ResponseBuilder::new(self.ending);
        built.begin_response(1);
        let at = built.open();
        put_length(&mut built.bytes, columns.len() as u64);
        built.close(at);
        columns.iter().for_each(|column| built.definition(column));
        built.end_definitions();
        let kinds = columns.iter().map(|column| column.kind).collect();
        Definitions { packets: built.bytes, kinds }
    }

    /// Rows with these columns follow.
    pub fn begin_rows(&mut self, columns: &Definitions, form: ValueForm) {
        self.row.form = form;
        self.row.columns = columns.kinds.len();
        let from = self.bytes.len();
        self.bytes.extend_from_slice(&columns.packets);
        // They are numbered from 1, as almost all answers are.
        let shift = self.number.wrapping_sub(1);
        let mut at = from;
        let mut count = 0_u8;
        while let Some(&[low, middle, high, number]) = self.bytes[at..].first_chunk() {
            self.bytes[at + 3] = number.wrapping_add(shift);
            at += HEADER + u32::from_le_bytes([low, middle, high, 0]) as usize;
            count = count.wrapping_add(1);
        }
        self.number = self.number.wrapping_add(count);
        self.open_row();
    }

    /// NULL is the next value of the row.
    pub fn null(&mut self) {
        match self.row.form {
            ValueForm::Text => self.bytes.push(NULL),
            ValueForm::Binary => {
                let bit = self.row.column + 2;
                self.bytes[self.row.begins + HEADER + 1 + bit / 8] |= 1 << (bit % 8);
            }
        }
        self.row.column += 1;
    }

    /// A whole number, in a column of those of so many bytes, which has room for it.
    #[inline]
    pub fn int(&mut self, number: i64, bytes: u8) {
        match self.row.form {
            ValueForm::Text => self.put_formatted(format_args!("{number}")),
            ValueForm::Binary => {
                // Three bytes go as four.
                let width = if bytes == 3 { 4 } else { usize::from(bytes) };
                self.bytes.extend_from_slice(&number.to_le_bytes()[..width]);
                self.row.column += 1;
            }
        }
    }

    /// Bytes, in a column of texts.
    pub fn put_text(&mut self, bytes: &[u8]) {
        put_length(&mut self.bytes, bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
        self.row.column += 1;
    }

    /// What is shown so, in a column of texts or decimals; it has at most 250 bytes.
    pub fn put_formatted(&mut self, what: fmt::Arguments<'_>) {
        self.put_short(what);
        self.row.column += 1;
    }

    /// Characters with their number, at most 250, before them.
    #[inline]
    fn put_short(&mut self, what: fmt::Arguments<'_>) {
        let at = self.bytes.len();
        self.bytes.push(0);
        // Writing into memory does not fail.
        let _ = self.bytes.write_fmt(what);
        let length = self.bytes.len() - at - 1;
        assert!(length < usize::from(NULL), "what is shown is short");
        self.bytes[at] = length as u8;
    }

    /// A point in time in binary: year, month, day, hour, minute, second, microseconds. As text
    /// it is put by [`Self::put_formatted`].
    pub fn date_time(&mut self, [year, month, day, hour, minute, second, us]: [u32; 7]) {
        let time = (hour, minute, second);
        let parts = [month, day, hour, minute, second].map(|part| part as u8);
        let [low, high] = (year as u16).to_le_bytes();
        let length = match (time, us) {
            (_, 1..) => 11,
            ((0, 0, 0), 0) => 4,
            _ => 7,
        };
        let mut all = [0; 11];
        all[..2].copy_from_slice(&[low, high]);
        all[2..7].copy_from_slice(&parts);
        all[7..].copy_from_slice(&us.to_le_bytes());
        self.bytes.push(length);
        self.bytes.extend_from_slice(&all[..usize::from(length)]);
        self.row.column += 1;
    }

    /// The row has all its values.
    pub fn end_row(&mut self) {
        assert_eq!(self.row.column, self.row.columns, "a row has a value for each column");
        self.close(self.row.begins);
        self.open_row();
    }

    /// There are no more rows.
    pub fn end_rows(&mut self, status: Status) {
        // The row that was begun last has no values.
        self.bytes.truncate(self.row.begins);
        let at = self.open();
        self.bytes.push(EOF);
        match self.ending {
            Ending::Ok => {
                self.bytes.extend_from_slice(&[0, 0]);
                self.bytes.extend_from_slice(&status.bits());
                self.bytes.extend_from_slice(&[0, 0]);
            }
            Ending::Eof => {
                self.bytes.extend_from_slice(&[0, 0]);
                self.bytes.extend_from_slice(&status.bits());
            }
        }
        self.close(at);
    }

    fn open_row(&mut self) {
        self.row.begins = self.open();
        self.row.column = 0;
        if self.row.form == ValueForm::Binary {
            let nulls = (self.row.columns + 2).div_ceil(8);
            self.bytes.resize(self.bytes.len() + 1 + nulls, 0);
        }
    }

    fn definition(&mut self, column: &Definition<'_>) {
        let WireType { code, collation, width, decimals, flags } = column.kind.wire_type();
        let nowhere = DefinitionOrigin { schema: b"", alias: b"", table: b"", column: b"" };
        let origin = column.origin.unwrap_or(nowhere);
        let at = self.open();
        let DefinitionOrigin { schema, alias, table, column: of_table } = origin;
        for text in [b"def", schema, alias, table, column.name, of_table] {
            put_length(&mut self.bytes, text.len() as u64);
            self.bytes.extend_from_slice(text);
        }
        self.bytes.push(0x0C);
        self.bytes.extend_from_slice(&collation.to_le_bytes());
        self.bytes.extend_from_slice(&width.to_le_bytes());
        self.bytes.push(code);
        self.bytes.extend_from_slice(&(flags | column.flags).to_le_bytes());
        self.bytes.extend_from_slice(&[decimals, 0, 0]);
        self.close(at);
    }

    fn end_definitions(&mut self) {
        if self.ending == Ending::Eof {
            let at = self.open();
            self.bytes.extend_from_slice(&[EOF, 0, 0, AUTOCOMMIT, 0]);
            self.close(at);
        }
    }

    /// Begins a packet; says where.
    fn open(&mut self) -> usize {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; HEADER]);
        at
    }

    /// Ends the packet that began there.
    #[inline]
    fn close(&mut self, at: usize) {
        let length = self.bytes.len() - at - HEADER;
        if length >= FULL {
            return self.close_long(at);
        }
        let [low, middle, high, _] = (length as u32).to_le_bytes();
        self.bytes[at..at + HEADER].copy_from_slice(&[low, middle, high, self.number]);
        self.number = self.number.wrapping_add(1);
    }

    /// A payload that is longer than a packet can be.
    #[cold]
    fn close_long(&mut self, at: usize) {
        let payload = self.bytes.split_off(at + HEADER);
        self.bytes.truncate(at);
        put_packets(&mut self.bytes, &mut self.number, &payload);
    }
}

const AUTOCOMMIT: u8 = 2;
const IN_TRANSACTION: u8 = 1;

/// A type as definitions have it.
struct WireType {
    code: u8,
    collation: u16,
    /// Characters or bytes that a value is shown in at most.
    width: u32,
    decimals: u8,
    flags: u16,
}

impl WireType {
    /// A type that is no text.
    fn of_code(code: u8) -> WireType {
        WireType { code, collation: BINARY, width: 0, decimals: 0, flags: 0 }
    }
}

impl ColumnType {
    fn wire_type(self) -> WireType {
        match self {
            ColumnType::Int { bytes, signed } => {
                let (code, width) = match bytes {
                    1 => (0x01, 4),
                    2 => (0x02, 6),
                    3 => (0x09, 9),
                    4 => (0x03, 11),
                    _ => (0x08, 20),
                };
                // MySQL counts no sign where there is none, but for the longest.
                let shorter = u32::from(!signed && bytes < 8);
                let flags = if signed { 0 } else { ColumnFlags::UNSIGNED };
                WireType { width: width - shorter, flags, ..WireType::of_code(code) }
            }
            ColumnType::Decimal { digits, scale } => {
                let point = u32::from(scale > 0);
                WireType {
                    width: u32::from(digits) + 1 + point,
                    decimals: scale,
                    ..WireType::of_code(0xF6)
                }
            }
            ColumnType::Text { form, collation, bytes } => {
                let (code, flags) = match form {
                    TextForm::Char => (0xFE, 0),
                    TextForm::Varchar => (0xFD, 0),
                    TextForm::Blob => (0xFC, ColumnFlags::BLOB),
                };
                WireType { collation, width: bytes, flags, ..WireType::of_code(code) }
            }
            ColumnType::DateTime(digits) => {
                let point = u32::from(digits > 0);
                WireType {
                    width: 19 + point + u32::from(digits),
                    decimals: digits,
                    flags: ColumnFlags::BINARY,
                    ..WireType::of_code(0x0C)
                }
            }
            ColumnType::Date => {
                WireType { width: 10, flags: ColumnFlags::BINARY, ..WireType::of_code(0x0A) }
            }
        }
    }
}

impl Status {
    fn bits(self) -> [u8; 2] {
        let autocommit = if self.autocommit { AUTOCOMMIT } else { 0 };
        let open = if self.in_transaction { IN_TRANSACTION } else { 0 };
        [autocommit | open, 0]
    }
}

impl Definitions {
    /// What the values of a column are.
    pub fn kind(&self, column: usize) -> ColumnType {
        self.kinds[column]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: ColumnType = ColumnType::Text { form: TextForm::Varchar, collation: 8, bytes: 10 };

    fn answers() -> ResponseBuilder {
        let mut answers = ResponseBuilder::new(Ending::Ok);
        answers.begin_response(1);
        answers
    }

    #[test]
    fn packets_are_numbered_and_as_long_as_they_say() {
        let mut answers = answers();
        let column = Definition::new(b"id", ColumnType::BIGINT);
        let columns = answers.build_definitions(&[column]);
        answers.begin_rows(&columns, ValueForm::Binary);
        answers.int(7, 8);
        answers.end_row();
        answers.null();
        answers.end_row();
        answers.end_rows(Status { in_transaction: true, autocommit: true });
        let (mut at, mut numbers) = (0, Vec::new());
        let bytes = answers.as_bytes().to_vec();
        while at < bytes.len() {
            numbers.push(bytes[at + 3]);
            at += 4 + usize::from(bytes[at]);
        }
        assert_eq!((at, numbers), (bytes.len(), vec![1, 2, 3, 4, 5]));
        assert!(bytes.ends_with(&[7, 0, 0, 5, EOF, 0, 0, 3, 0, 0, 0]));
        let row = [10, 0, 0, 3, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0];
        assert!(bytes.windows(row.len()).any(|window| window == row));
        assert!(bytes.windows(6).any(|window| window == [2, 0, 0, 4, 0, 4]), "NULL is bit 2");
    }

    #[test]
    fn what_was_built_can_be_taken_back() {
        let mut answers = answers();
        let column = Definition::new(b"c", TEXT);
        let columns = answers.build_definitions(&[column]);
        answers.begin_rows(&columns, ValueForm::Text);
        answers.put_text(b"abc");
        answers.end_row();
        answers.put_text(b"half a row");
        answers.take_back();
        answers.error(1690, "22003", "no");
        assert_eq!(answers.as_bytes()[..8], [11, 0, 0, 1, 0xFF, 0x9A, 6, b'#']);
    }

    #[test]
    fn a_row_longer_than_a_packet_comes_in_two() {
        let mut answers = answers();
        let column = Definition::new(b"c", TEXT);
        let columns = answers.build_definitions(&[column]);
        answers.begin_rows(&columns, ValueForm::Text);
        let before = answers.len() - HEADER;
        answers.put_text(&vec![b'x'; FULL]);
        answers.end_row();
        assert_eq!(answers.as_bytes()[before..before + 4], [0xFF, 0xFF, 0xFF, 3]);
        let second = before + HEADER + FULL;
        assert_eq!(answers.as_bytes()[second..second + 4], [4, 0, 0, 4]);
    }

    #[test]
    fn times_have_as_many_bytes_as_they_need() {
        let mut answers = answers();
        let column = Definition::new(b"t", ColumnType::DateTime(6));
        let columns = answers.build_definitions(&[column]);
        for (at, expected) in [
            ([2026, 11, 25, 0, 0, 0, 0], &[4, 0xEA, 7, 11, 25][..]),
            ([2026, 11, 25, 1, 2, 3, 0], &[7, 0xEA, 7, 11, 25, 1, 2, 3]),
            ([2026, 11, 25, 1, 2, 3, 4], &[11, 0xEA, 7, 11, 25, 1, 2, 3, 4, 0, 0, 0]),
        ] {
            answers.begin_response(1);
            answers.begin_rows(&columns, ValueForm::Binary);
            answers.date_time(at);
            answers.end_row();
            let built = &answers.as_bytes()[..answers.len() - HEADER - 2];
            assert!(built.ends_with(expected), "{at:?}");
        }
    }
}
