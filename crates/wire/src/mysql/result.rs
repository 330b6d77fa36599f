//! What comes back from a statement.
//!
//! ```text
//!   answer ─┬─ OK ───────────────────────────────────────────────┬─ end, or another answer
//!           ├─ error                                             │
//!           └─ n columns ─ n definitions ─[EOF]─ rows … ─ EOF/OK ┘
//!                                                  └─ error: the rest does not come
//! ```
//!
//! The EOF in brackets is the older manner; both sides agree on one of them at login.

use super::binary::{self, Column};
use super::codec::{self, EOF, ERR, NULL, OK, OkPacket, Reader, server_error};
use super::latin1;
use super::packet::{Channel, Head};
use crate::client::{Rows, StatementCounts};
use crate::error::WireError;
use crate::kept::KeptSize;
use crate::rows::RowBuffer;

/// The widest result that servers have is of 4096 columns.
const MOST_COLUMNS: u64 = 65_535;
/// Packets that end rows in the older manner are shorter than this.
const EOF_LENGTH: usize = 9;

/// In which form rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// To a text query.
    Text,
    /// To the execution of a prepared statement.
    Binary,
}

/// How a result ends: with the single packet of MySQL 5.7 or the two of before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Rows end with an OK packet in EOF's clothes.
    Ok,
    /// Columns and rows each end with an EOF packet.
    Eof,
}

/// The first packet after a statement.
pub(super) enum Answer {
    /// Done; no rows.
    Done(OkPacket),
    /// That many column definitions follow, then rows.
    Columns(u64),
}

/// Reads the first packet of an answer.
#[inline]
pub(super) fn read_answer(channel: &mut Channel) -> Result<Answer, WireError> {
    let head = channel.await_head()?;
    let payload = channel.take_payload(head)?;
    match head.kind {
        // As every result of a point query begins.
        1 if payload.len() == 1 => Ok(Answer::Columns(1)),
        OK => codec::read_ok_packet(payload).map(Answer::Done),
        ERR => Err(server_error(payload)),
        NULL => Err(unwanted_file()),
        _ => {
            let columns = Reader(payload).length_encoded()?;
            if columns > MOST_COLUMNS {
                return Err(WireError::Protocol(format!("a result of {columns} columns")));
            }
            Ok(Answer::Columns(columns))
        }
    }
}

/// How far the answer to a statement has been read.
///
/// Each step takes a packet whole or leaves it where it is, so that reading can go on later when a
/// channel that does not wait has nothing more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    form: Form,
    ending: Ending,
    stage: Stage,
    outcome: StatementCounts,
}

/// What comes next; see the drawing above.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Answer,
    /// That many column definitions, then what ends them.
    Columns(u64),
    /// The packet that ends column definitions in the older manner.
    EndOfColumns,
    Rows,
}

impl Reading {
    /// An answer of which nothing has been read.
    #[inline]
    pub(super) fn new(form: Form, ending: Ending) -> Reading {
        Reading { form, ending, stage: Stage::Answer, outcome: StatementCounts::default() }
    }

    /// Reads all results of a statement.
    ///
    /// # Errors
    /// The server's, those of the channel, what the sink says. Where the channel does not wait and
    /// nothing more has come ([`WireError::is_not_yet`]), it is to be called again later.
    #[inline]
    pub(super) fn finish<K: Sink>(
        &mut self,
        channel: &mut Channel,
        sink: &mut K,
    ) -> Result<StatementCounts, WireError> {
        loop {
            match self.stage {
                Stage::Answer => match read_answer(channel)? {
                    Answer::Done(done) => {
                        if !self.add(done).more {
                            return Ok(self.outcome);
                        }
                    }
                    Answer::Columns(columns) => {
                        sink.begin_result(columns);
                        self.stage = Stage::Columns(columns);
                    }
                },
                Stage::Columns(ref mut left) => {
                    pass_columns(left, channel, sink)?;
                    self.stage = match self.ending {
                        Ending::Ok => Stage::Rows,
                        Ending::Eof => Stage::EndOfColumns,
                    };
                }
                Stage::EndOfColumns => {
                    expect_eof(channel)?;
                    self.stage = Stage::Rows;
                }
                Stage::Rows => {
                    let done = self.rows(channel, sink)?;
                    if !self.add(done).more {
                        return Ok(self.outcome);
                    }
                    self.stage = Stage::Answer;
                }
            }
        }
    }

    #[inline]
    fn add(&mut self, done: OkPacket) -> OkPacket {
        self.outcome.affected = self.outcome.affected.wrapping_add(done.affected);
        done
    }

    #[inline]
    fn rows<K: Sink>(
        &mut self,
        channel: &mut Channel,
        sink: &mut K,
    ) -> Result<OkPacket, WireError> {
        loop {
            if !K::LOOKS {
                self.outcome.rows += match self.form {
                    Form::Text => channel.skip_ready(u64::MAX, |kind| kind < EOF),
                    Form::Binary => channel.skip_ready(u64::MAX, |kind| kind == OK),
                };
            }
            let head = channel.await_head()?;
            if let Some(done) = end_of_rows(channel, head, self.ending)? {
                return Ok(done);
            }
            if self.form == Form::Binary && head.kind != OK {
                return Err(no_row(head.kind));
            }
            if K::LOOKS {
                sink.take_row(channel.take_payload(head)?)?;
            } else {
                channel.skip_packet(head)?;
            }
            self.outcome.rows += 1;
        }
    }
}

/// Who wants to see what the packets hold.
pub(super) trait Sink {
    /// Whether definitions and rows are looked at.
    const LOOKS: bool = true;

    /// A result of that many columns begins.
    fn begin_result(&mut self, _columns: u64) {}

    /// The definition of the next column.
    fn column(&mut self, _definition: &[u8]) -> Result<(), WireError> {
        Ok(())
    }

    /// The next row.
    fn take_row(&mut self, _row: &[u8]) -> Result<(), WireError> {
        Ok(())
    }
}

/// Nobody: counting is enough.
pub(super) struct RowCounter;

impl Sink for RowCounter {
    const LOOKS: bool = false;
}

/// Rows of a text query as strings, those of the last result that has columns.
#[derive(Default)]
pub(super) struct TextRows {
    pub rows: Rows,
    /// Of all results, those that are forgotten among them.
    size: KeptSize,
}

impl Sink for TextRows {
    fn begin_result(&mut self, _columns: u64) {
        let held = std::mem::take(&mut self.rows.held);
        self.rows = Rows { held, ..Rows::default() };
    }

    /// A definition is catalogue, schema, table, original table, name, and more.
    fn column(&mut self, definition: &[u8]) -> Result<(), WireError> {
        let mut reader = Reader(definition);
        for _ in 0..4 {
            reader.string()?;
        }
        let name = reader.string()?;
        self.size.add_row(0, name.len(), &mut self.rows.held)?;
        self.rows.columns.push(latin1::decode(name));
        Ok(())
    }

    fn take_row(&mut self, row: &[u8]) -> Result<(), WireError> {
        self.size.add_row(self.rows.columns.len(), row.len(), &mut self.rows.held)?;
        let mut reader = Reader(row);
        let mut values = Vec::with_capacity(self.rows.columns.len());
        for _ in &self.rows.columns {
            values.push(reader.value()?.map(latin1::decode));
        }
        if !reader.0.is_empty() {
            return Err(WireError::Protocol("a row of more values than columns".to_owned()));
        }
        self.rows.rows.push(values);
        Ok(())
    }
}

/// Rows in binary form, into buffers that are used again.
pub(super) struct BinaryRows<'a> {
    pub columns: &'a mut Vec<Column>,
    pub rows: &'a mut RowBuffer,
}

impl Sink for BinaryRows<'_> {
    fn begin_result(&mut self, columns: u64) {
        self.columns.clear();
        self.rows.begin_rows(columns as usize);
    }

    fn column(&mut self, definition: &[u8]) -> Result<(), WireError> {
        self.columns.push(Column::read(definition)?);
        Ok(())
    }

    fn take_row(&mut self, row: &[u8]) -> Result<(), WireError> {
        binary::push_row(row, self.columns, self.rows)?;
        self.rows.check_size()
    }
}

/// Passes over column definitions, and over the packet that ends them in the older manner.
#[inline]
pub(super) fn skip_columns(
    channel: &mut Channel,
    columns: u64,
    ending: Ending,
) -> Result<(), WireError> {
    let mut left = columns;
    pass_columns(&mut left, channel, &mut RowCounter)?;
    match ending {
        Ending::Ok => Ok(()),
        Ending::Eof => expect_eof(channel),
    }
}

/// Takes column definitions, of which `left` are still to come.
#[inline]
fn pass_columns<K: Sink>(
    left: &mut u64,
    channel: &mut Channel,
    sink: &mut K,
) -> Result<(), WireError> {
    if !K::LOOKS {
        *left -= channel.skip_ready(*left, |kind| kind != ERR);
    }
    while *left > 0 {
        let head = channel.await_head()?;
        if head.kind == ERR {
            return Err(server_error(channel.take_payload(head)?));
        }
        if K::LOOKS {
            sink.column(channel.take_payload(head)?)?;
        } else {
            channel.skip_packet(head)?;
        }
        *left -= 1;
    }
    Ok(())
}

fn expect_eof(channel: &mut Channel) -> Result<(), WireError> {
    let head = channel.await_head()?;
    match head.kind {
        EOF if head.length() < EOF_LENGTH => channel.skip_packet(head),
        ERR => Err(server_error(channel.take_payload(head)?)),
        kind => Err(WireError::Protocol(format!("packet of kind {kind:#x} after the last column"))),
    }
}

/// Reads the packet if it is one that ends rows.
#[inline]
fn end_of_rows(
    channel: &mut Channel,
    head: Head,
    ending: Ending,
) -> Result<Option<OkPacket>, WireError> {
    match (head.kind, ending) {
        // A row can begin with this byte too: the length of a value over 16 MiB.
        (EOF, Ending::Ok) if !head.is_full() => {
            codec::read_ok_packet(channel.take_payload(head)?).map(Some)
        }
        (EOF, Ending::Eof) if head.length() < EOF_LENGTH => {
            codec::end_of_rows(channel.take_payload(head)?).map(Some)
        }
        (ERR, _) => Err(server_error(channel.take_payload(head)?)),
        _ => Ok(None),
    }
}

#[cold]
fn no_row(kind: u8) -> WireError {
    WireError::Protocol(format!("a row in binary form that begins with byte {kind:#x}"))
}

#[cold]
fn unwanted_file() -> WireError {
    WireError::Protocol("the server asks for a file that this statement does not send".to_owned())
}
