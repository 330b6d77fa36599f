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
    /// Whole numbers of 64 bits with a sign.
    Int,
    /// Decimals with so many digits behind the point.
    Decimal(u8),
    /// Characters in the collation of this number, and how many bytes they have at most.
    Text(u16, u32),
    /// Points in time with so many digits behind the second.
    DateTime(u8),
    /// Days.
    Date,
}

/// A column as clients are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition<'a> {
    /// Its name, in the client's character set.
    pub name: &'a [u8],
    /// What its values are.
    pub kind: ColumnType,
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
        let at = self.open();
        self.bytes.push(OK);
        put_length(&mut self.bytes, changed);
        put_length(&mut self.bytes, first_number);
        self.bytes.extend_from_slice(&status.bits());
        self.bytes.extend_from_slice(&[0, 0]);
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
        let parameter = Definition { name: b"?", kind: ColumnType::Text(BINARY, 0) };
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

    /// A whole number, in a column of such.
    pub fn int(&mut self, number: i64) {
        match self.row.form {
            ValueForm::Text => self.put_formatted(format_args!("{number}")),
            ValueForm::Binary => {
                self.bytes.extend_from_slice(&number.to_le_bytes());
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
        let at = self.bytes.len();
        self.bytes.push(0);
        // Writing into memory does not fail.
        let _ = self.bytes.write_fmt(what);
        let length = self.bytes.len() - at - 1;
        assert!(length < usize::from(NULL), "what is shown is short");
        self.bytes[at] = length as u8;
        self.row.column += 1;
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
        let (type_, collation, width, decimals, flags) = match column.kind {
            ColumnType::Int => (0x08, BINARY, 20, 0, FLAG_BINARY | FLAG_NUMBER),
            ColumnType::Decimal(scale) => (0xF6, BINARY, 40, scale, FLAG_BINARY | FLAG_NUMBER),
            ColumnType::Text(collation, bytes) => (0xFD, collation, bytes, 0, 0),
            ColumnType::DateTime(digits) => (0x0C, BINARY, 26, digits, FLAG_BINARY),
            ColumnType::Date => (0x0A, BINARY, 10, 0, FLAG_BINARY),
        };
        let at = self.open();
        for text in [&b"def"[..], b"", b"", b"", column.name, column.name] {
            put_length(&mut self.bytes, text.len() as u64);
            self.bytes.extend_from_slice(text);
        }
        self.bytes.push(0x0C);
        self.bytes.extend_from_slice(&collation.to_le_bytes());
        self.bytes.extend_from_slice(&width.to_le_bytes());
        self.bytes.push(type_);
        let flags: u16 = flags;
        self.bytes.extend_from_slice(&flags.to_le_bytes());
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
const FLAG_BINARY: u16 = 1 << 7;
const FLAG_NUMBER: u16 = 1 << 15;

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

    fn answers() -> ResponseBuilder {
        let mut answers = ResponseBuilder::new(Ending::Ok);
        answers.begin_response(1);
        answers
    }

    #[test]
    fn packets_are_numbered_and_as_long_as_they_say() {
        let mut answers = answers();
        let column = Definition { name: b"id", kind: ColumnType::Int };
        let columns = answers.build_definitions(&[column]);
        answers.begin_rows(&columns, ValueForm::Binary);
        answers.int(7);
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
        let column = Definition { name: b"c", kind: ColumnType::Text(8, 10) };
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
        let column = Definition { name: b"c", kind: ColumnType::Text(8, 10) };
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
        let column = Definition { name: b"t", kind: ColumnType::DateTime(6) };
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
