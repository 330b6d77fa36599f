//! What comes back from a statement.
//!
//! ```text
//!   answer ─┬─ OK ───────────────────────────────────────────────┬─ end, or another answer
//!           ├─ error                                             │
//!           ├─ "send me that file"                               │
//!           └─ n columns ─ n definitions ─[EOF]─ rows … ─ EOF/OK ┘
//!                                                  └─ error: the rest does not come
//! ```
//!
//! The EOF in brackets is the older manner; both sides agree on one of them at login.

use super::codec::{self, Done, EOF, ERR, NULL, OK, Reader, server_error};
use super::latin1;
use super::packet::{Channel, Head};
use crate::client::{Outcome, Rows};
use crate::error::WireError;

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
    Done(Done),
    /// The server waits for the content of a file.
    File,
    /// That many column definitions follow, then rows.
    Columns(u64),
}

/// Reads the first packet of an answer.
#[inline]
pub(super) fn answer(channel: &mut Channel) -> Result<Answer, WireError> {
    let head = channel.head()?;
    let payload = channel.take(head)?;
    match head.kind {
        // As every result of a point query begins.
        1 if payload.len() == 1 => Ok(Answer::Columns(1)),
        OK => codec::done(payload).map(Answer::Done),
        ERR => Err(server_error(payload)),
        NULL => Ok(Answer::File),
        _ => {
            let columns = Reader(payload).length_encoded()?;
            if columns > MOST_COLUMNS {
                return Err(WireError::Protocol(format!("a result of {columns} columns")));
            }
            Ok(Answer::Columns(columns))
        }
    }
}

/// Reads all results of a statement, counting.
#[inline]
pub(super) fn count(
    channel: &mut Channel,
    form: Form,
    ending: Ending,
) -> Result<Outcome, WireError> {
    let mut outcome = Outcome::default();
    loop {
        let done = match answer(channel)? {
            Answer::Done(done) => done,
            Answer::File => return Err(unwanted_file()),
            Answer::Columns(columns) => {
                skip_columns(channel, columns, ending)?;
                count_rows(channel, form, ending, &mut outcome.rows)?
            }
        };
        outcome.affected = outcome.affected.wrapping_add(done.affected);
        if !done.more {
            return Ok(outcome);
        }
    }
}

/// Passes over column definitions, and over the packet that ends them in the older manner.
#[inline]
pub(super) fn skip_columns(
    channel: &mut Channel,
    columns: u64,
    ending: Ending,
) -> Result<(), WireError> {
    let mut skipped = channel.skip_ready(columns, |kind| kind != ERR);
    while skipped < columns {
        let head = channel.head()?;
        if head.kind == ERR {
            return Err(server_error(channel.take(head)?));
        }
        channel.skip(head)?;
        skipped += 1;
    }
    end_columns(channel, ending)
}

#[inline]
fn end_columns(channel: &mut Channel, ending: Ending) -> Result<(), WireError> {
    match ending {
        Ending::Ok => Ok(()),
        Ending::Eof => expect_eof(channel),
    }
}

fn expect_eof(channel: &mut Channel) -> Result<(), WireError> {
    let head = channel.head()?;
    match head.kind {
        EOF if head.length() < EOF_LENGTH => channel.skip(head),
        ERR => Err(server_error(channel.take(head)?)),
        kind => Err(WireError::Protocol(format!("packet of kind {kind:#x} after the last column"))),
    }
}

#[inline]
fn count_rows(
    channel: &mut Channel,
    form: Form,
    ending: Ending,
    rows: &mut u64,
) -> Result<Done, WireError> {
    loop {
        *rows += match form {
            Form::Text => channel.skip_ready(u64::MAX, |kind| kind < EOF),
            Form::Binary => channel.skip_ready(u64::MAX, |kind| kind == OK),
        };
        let head = channel.head()?;
        if let Some(done) = end_of_rows(channel, head, ending)? {
            return Ok(done);
        }
        if form == Form::Binary && head.kind != OK {
            return Err(WireError::Protocol(format!(
                "a row in binary form that begins with byte {:#x}",
                head.kind
            )));
        }
        channel.skip(head)?;
        *rows += 1;
    }
}

/// Reads the packet if it is one that ends rows.
#[inline]
fn end_of_rows(
    channel: &mut Channel,
    head: Head,
    ending: Ending,
) -> Result<Option<Done>, WireError> {
    match (head.kind, ending) {
        // A row can begin with this byte too: the length of a value over 16 MiB.
        (EOF, Ending::Ok) if !head.is_full() => codec::done(channel.take(head)?).map(Some),
        (EOF, Ending::Eof) if head.length() < EOF_LENGTH => {
            codec::end_of_rows(channel.take(head)?).map(Some)
        }
        (ERR, _) => Err(server_error(channel.take(head)?)),
        _ => Ok(None),
    }
}

/// Reads all results of a text query, keeping the rows of the last one that has columns.
pub(super) fn keep(channel: &mut Channel, ending: Ending) -> Result<Rows, WireError> {
    let mut kept = Rows::default();
    loop {
        let done = match answer(channel)? {
            Answer::Done(done) => done,
            Answer::File => return Err(unwanted_file()),
            Answer::Columns(columns) => {
                kept = Rows::default();
                for _ in 0..columns {
                    kept.columns.push(column_name(channel)?);
                }
                end_columns(channel, ending)?;
                keep_rows(channel, ending, &mut kept)?
            }
        };
        if !done.more {
            return Ok(kept);
        }
    }
}

/// A definition is catalogue, schema, table, original table, name, and more.
fn column_name(channel: &mut Channel) -> Result<String, WireError> {
    let head = channel.head()?;
    let payload = channel.take(head)?;
    if head.kind == ERR {
        return Err(server_error(payload));
    }
    let mut reader = Reader(payload);
    for _ in 0..4 {
        reader.string()?;
    }
    reader.string().map(latin1::decode)
}

fn keep_rows(channel: &mut Channel, ending: Ending, kept: &mut Rows) -> Result<Done, WireError> {
    loop {
        let head = channel.head()?;
        if let Some(done) = end_of_rows(channel, head, ending)? {
            return Ok(done);
        }
        let mut reader = Reader(channel.take(head)?);
        let mut row = Vec::new();
        for _ in &kept.columns {
            row.push(reader.value()?.map(latin1::decode));
        }
        if !reader.0.is_empty() {
            return Err(WireError::Protocol("a row of more values than columns".to_owned()));
        }
        kept.rows.push(row);
    }
}

fn unwanted_file() -> WireError {
    WireError::Protocol("the server asks for a file that this statement does not send".to_owned())
}
