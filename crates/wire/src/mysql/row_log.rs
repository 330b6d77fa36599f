//! The row log (binary log in row form) of MySQL and MariaDB, as a replica would receive it.
//!
//! ```text
//!   COM_BINLOG_DUMP file, position, "end with the log"
//!     ◀ TABLE_MAP   which table a number means, and the types of its columns
//!     ◀ *_ROWS      rows before and after, by that number          again and again
//!     ◀ XID         the transaction is committed: it is given      … EOF
//! ```
//!
//! Only tables of whole numbers are read, which is what those who check isolation write. Sources:
//! MySQL's documentation of the replication protocol (MySQL Internals, "Replication Protocol",
//! events of version 4) and MariaDB's ("Binlog network stream", "Rows events v1").

use std::collections::HashMap;
use std::time::Duration;

use super::codec::{EOF, ERR, OK, Reader, server_error};
use super::packet::Channel;
use super::{MysqlConnection, State};
use crate::client::Client as _;
use crate::error::WireError;
use crate::kept::MemoryPart;

const BINLOG_DUMP: u8 = 0x12;
/// The stream ends with the log instead of waiting for more.
const NON_BLOCKING: u16 = 1;
/// How long a log may take to its end; all that other databases wrote comes along.
const STREAM_TIMEOUT: Duration = Duration::from_secs(3600);
/// Bytes of an event before its body.
const HEADER: usize = 19;
/// Bytes of a checksum, and the kind that there is.
const CHECKSUM: usize = 4;
const CRC32: u8 = 1;

/// Kinds of events that are looked at.
mod kind {
    /// How the events that follow are written.
    pub(super) const FORMAT: u8 = 15;
    pub(super) const XID: u8 = 16;
    pub(super) const TABLE_MAP: u8 = 19;
    /// A transaction begins: of MySQL with and without an id, and of MariaDB.
    pub(super) const BEGINNINGS: [u8; 3] = [33, 34, 162];
    pub(super) const ROWS_V1: std::ops::RangeInclusive<u8> = 23..=25;
    pub(super) const ROWS_V2: std::ops::RangeInclusive<u8> = 30..=32;
    /// MySQL, `binlog_transaction_compression`.
    pub(super) const COMPRESSED: u8 = 40;
    /// MariaDB, `log_bin_compress`.
    pub(super) const COMPRESSED_ROWS: std::ops::RangeInclusive<u8> = 166..=171;
}

/// A row: its columns in order; `None` is NULL, or a column that the log leaves out.
pub type LoggedRow = Vec<Option<u64>>;

/// A row before and after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowChange {
    /// As it was; `None` of an insertion.
    pub before: Option<LoggedRow>,
    /// As it is; `None` of a deletion.
    pub after: Option<LoggedRow>,
}

/// Where a log stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPosition {
    /// The name of its file.
    pub file: String,
    /// Bytes from the beginning of the file.
    pub offset: u32,
}

/// A table as the events of a log name it. The log has those of every account of the server, and
/// another one may have a table of the same name in a database of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedTable {
    /// The database.
    pub database: String,
    /// The table.
    pub table: String,
    /// Whether the server takes large and small letters of names for the same.
    pub case: NameCase,
}

/// What large and small letters of names of tables mean to a server (`lower_case_table_names`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameCase {
    /// They differ, or are made small before they are stored.
    Distinct,
    /// They are stored as they were written, and are the same.
    Same,
}

impl LoggedTable {
    fn is_named(&self, database: &[u8], table: &[u8]) -> bool {
        self.case.is_same_name(&self.database, database)
            && self.case.is_same_name(&self.table, table)
    }
}

impl NameCase {
    fn is_same_name(self, ours: &str, theirs: &[u8]) -> bool {
        match self {
            NameCase::Distinct => ours.as_bytes() == theirs,
            NameCase::Same => std::str::from_utf8(theirs)
                .is_ok_and(|theirs| theirs.to_lowercase() == ours.to_lowercase()),
        }
    }
}

impl MysqlConnection {
    /// A table of the database of this session, as the log names it.
    ///
    /// # Errors
    /// [`WireError::Server`] if the server does not answer, [`WireError::Protocol`] if the session
    /// has no database.
    pub fn logged_table(&mut self, table: &str) -> Result<LoggedTable, WireError> {
        // The session speaks latin1, the log UTF-8.
        let rows = self
            .query("SELECT HEX(CONVERT(DATABASE() USING utf8)), @@global.lower_case_table_names")?;
        let database = rows.first_value().and_then(text_of_hex);
        let Some(database) = database.filter(|name| !name.is_empty()) else {
            return Err(bad("the session has no database whose log could be read"));
        };
        let case = match rows.rows.first().and_then(|row| row.get(1)?.as_deref()) {
            Some("2") => NameCase::Same,
            _ => NameCase::Distinct,
        };
        Ok(LoggedTable { database, table: table.to_owned(), case })
    }

    /// Where the row log stands now.
    ///
    /// # Errors
    /// [`WireError::Server`] without the privilege to ask (REPLICATION CLIENT, BINLOG MONITOR);
    /// [`WireError::Protocol`] if the server keeps no such log.
    pub fn row_log_position(&mut self) -> Result<LogPosition, WireError> {
        let rows = match self.query("SHOW MASTER STATUS") {
            Err(WireError::Server(_)) => self.query("SHOW BINARY LOG STATUS")?,
            asked => asked?,
        };
        let row = rows.rows.first();
        let cell = |at: usize| row.and_then(|row| row.get(at)).and_then(Option::as_deref);
        let file = cell(0).map(str::to_owned);
        let offset = cell(1).and_then(|text| text.parse().ok());
        match (file, offset) {
            (Some(file), Some(offset)) => Ok(LogPosition { file, offset }),
            _ => Err(WireError::Protocol("the server keeps no binary log (log_bin)".to_owned())),
        }
    }

    /// Gives the changes that committed transactions made to a table since `from`, a transaction
    /// at a time in the order of the log, up to the end that the log has now. The connection is of
    /// no other use afterwards.
    ///
    /// # Errors
    /// [`WireError::Server`] if the server refuses (REPLICATION SLAVE), [`WireError::Protocol`] if
    /// the log is compressed or the table has columns that are no whole numbers.
    pub fn row_log(
        mut self,
        from: &LogPosition,
        table: &LoggedTable,
        give: &mut dyn FnMut(Vec<RowChange>),
    ) -> Result<(), WireError> {
        // A replica that does not say that it knows checksums is refused; MariaDB sends events as
        // it writes them.
        self.run(
            "SET @master_binlog_checksum = @@global.binlog_checksum, \
             @source_binlog_checksum = @@global.binlog_checksum",
        )?;
        self.run("SET @mariadb_slave_capability = 4")?;
        let payload = self.channel.begin_command(BINLOG_DUMP)?;
        payload.extend_from_slice(&from.offset.to_le_bytes());
        payload.extend_from_slice(&NON_BLOCKING.to_le_bytes());
        payload.extend_from_slice(&server_id(self.id).to_le_bytes());
        payload.extend_from_slice(from.file.as_bytes());
        self.channel.send()?;
        // Nothing else can be asked once the server streams.
        self.state = State::Broken;
        self.cutoff.set_deadline(STREAM_TIMEOUT);
        stream(&mut self.channel, table, give).map_err(|error| self.cutoff.explain_error(error))
    }
}

/// Takes events up to the end of the log.
fn stream(
    channel: &mut Channel,
    table: &LoggedTable,
    give: &mut dyn FnMut(Vec<RowChange>),
) -> Result<(), WireError> {
    let mut reading = Reading::of(table);
    loop {
        let head = channel.await_head()?;
        // A row of whole numbers is small: an event of 16 MiB and more is of another table.
        if head.is_full() && head.kind == OK {
            channel.skip_packet(head)?;
            continue;
        }
        let payload = channel.take_payload(head)?;
        match payload.split_first() {
            Some((&OK, event)) => reading.event(event, give)?,
            Some((&EOF, _)) => return Ok(()),
            Some((&ERR, _)) => return Err(server_error(payload)),
            _ => return Err(bad("a packet of the log begins with an unknown byte")),
        }
    }
}

/// A replica needs a number that no other one has; connections differ, and so do these.
fn server_id(connection: u64) -> u32 {
    0x6462_0000 | (connection as u32 & 0xffff)
}

fn bad(what: &str) -> WireError {
    WireError::Protocol(what.to_owned())
}

/// What is known while the log is read.
struct Reading<'a> {
    table: &'a LoggedTable,
    /// By number, the types of the columns of tables that are ours.
    tables: HashMap<u64, Vec<u8>>,
    changes: Vec<RowChange>,
    /// Changes of all transactions so far.
    given: usize,
    /// What they count for, of so many bytes.
    held: MemoryPart,
    memory: usize,
    /// Bytes of a checksum behind every event.
    checksum: usize,
}

/// Changes that are read of a log, and numbers that a table may have in it: a server that sends
/// without end is not listened to without end.
const CHANGES_MAX: usize = 5_000_000;
const NUMBERS_MAX: usize = 1_000;

impl<'a> Reading<'a> {
    fn of(table: &'a LoggedTable) -> Reading<'a> {
        Reading {
            table,
            tables: HashMap::new(),
            changes: Vec::new(),
            given: 0,
            held: MemoryPart::default(),
            memory: 0,
            checksum: 0,
        }
    }

    fn event(
        &mut self,
        event: &[u8],
        give: &mut dyn FnMut(Vec<RowChange>),
    ) -> Result<(), WireError> {
        let (header, body) = event.split_at_checked(HEADER).ok_or_else(|| bad("a short event"))?;
        if header[4] == kind::FORMAT {
            // The last bytes of this event are always: the kind of checksum, a checksum.
            let kind = body.len().checked_sub(CHECKSUM + 1).map(|at| body[at]);
            self.checksum = if kind == Some(CRC32) { CHECKSUM } else { 0 };
            return Ok(());
        }
        let length = body.len().saturating_sub(self.checksum);
        let mut body = Reader(&body[..length]);
        match header[4] {
            kind::TABLE_MAP => self.map(&mut body)?,
            rows if kind::ROWS_V1.contains(&rows) => self.rows(&mut body, rows - 23, false)?,
            rows if kind::ROWS_V2.contains(&rows) => self.rows(&mut body, rows - 30, true)?,
            kind::XID if !self.changes.is_empty() => give(std::mem::take(&mut self.changes)),
            begins if kind::BEGINNINGS.contains(&begins) && !self.changes.is_empty() => {
                return Err(bad("a transaction in the log has no end before the next one begins"));
            }
            kind::COMPRESSED => {
                return Err(bad("the log is compressed (binlog_transaction_compression)"));
            }
            rows if kind::COMPRESSED_ROWS.contains(&rows) => {
                return Err(bad("the log is compressed (log_bin_compress)"));
            }
            _ => {}
        }
        Ok(())
    }

    fn map(&mut self, body: &mut Reader<'_>) -> Result<(), WireError> {
        let number = table_number(body)?;
        body.u16()?;
        let database = name(body)?;
        let table = name(body)?;
        self.tables.remove(&number);
        if !self.table.is_named(database, table) {
            return Ok(());
        }
        if self.tables.len() == NUMBERS_MAX {
            return Err(bad("the log gives the table a new number again and again"));
        }
        let columns = body.length_encoded()? as usize;
        self.tables.insert(number, body.bytes(columns)?.to_vec());
        Ok(())
    }

    /// `what`: 0 insertions, 1 updates, 2 deletions.
    fn rows(&mut self, body: &mut Reader<'_>, what: u8, is_v2: bool) -> Result<(), WireError> {
        let number = table_number(body)?;
        body.u16()?;
        let Some(types) = self.tables.get(&number) else { return Ok(()) };
        if is_v2 {
            let more = usize::from(body.u16()?);
            body.bytes(more.saturating_sub(2))?;
        }
        let columns = body.length_encoded()? as usize;
        if columns != types.len() {
            return Err(bad("an event has another number of columns than its table"));
        }
        let width = columns.div_ceil(8);
        let first = body.bytes(width)?;
        let second = if what == 1 { body.bytes(width)? } else { first };
        while !body.0.is_empty() {
            let before = body.0.len();
            let one = row(body, types, first)?;
            self.given += 1;
            if body.0.len() == before || self.given > CHANGES_MAX {
                return Err(bad("an event has rows without end"));
            }
            self.memory += size_of::<RowChange>() + 2 * columns * size_of::<Option<u64>>();
            self.held.cover_bytes(self.memory)?;
            self.changes.push(match what {
                0 => RowChange { before: None, after: Some(one) },
                1 => {
                    let after = Some(row(body, types, second)?);
                    RowChange { before: Some(one), after }
                }
                _ => RowChange { before: Some(one), after: None },
            });
        }
        Ok(())
    }
}

/// A name with its length before it and a zero behind it.
fn name<'b>(body: &mut Reader<'b>) -> Result<&'b [u8], WireError> {
    let length = usize::from(body.u8()?);
    let name = body.bytes(length)?;
    body.u8()?;
    Ok(name)
}

/// The text whose bytes are written in hexadecimal digits.
fn text_of_hex(digits: &str) -> Option<String> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    let bytes = pairs.iter().map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    });
    String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?).ok()
}

/// Six bytes.
fn table_number(body: &mut Reader<'_>) -> Result<u64, WireError> {
    Ok(u64::from(body.u32()?) | u64::from(body.u16()?) << 32)
}

fn has(bits: &[u8], at: usize) -> bool {
    bits[at / 8] >> (at % 8) & 1 == 1
}

fn row(body: &mut Reader<'_>, types: &[u8], present: &[u8]) -> Result<LoggedRow, WireError> {
    let count = (0..types.len()).filter(|at| has(present, *at)).count();
    let nulls = body.bytes(count.div_ceil(8))?;
    let mut place = 0;
    let mut row = Vec::with_capacity(types.len());
    for (at, kind) in types.iter().enumerate() {
        if !has(present, at) {
            row.push(None);
            continue;
        }
        let is_null = has(nulls, place);
        place += 1;
        row.push(if is_null { None } else { Some(number(body, *kind)?) });
    }
    Ok(row)
}

/// A whole number without its sign: TINY, SHORT, LONG, LONGLONG and INT24.
fn number(body: &mut Reader<'_>, kind: u8) -> Result<u64, WireError> {
    Ok(match kind {
        1 => u64::from(body.u8()?),
        2 => u64::from(body.u16()?),
        3 => u64::from(body.u32()?),
        8 => body.u64()?,
        9 => u64::from(body.u16()?) | u64::from(body.u8()?) << 16,
        other => {
            let text = format!("a column of type {other}: only whole numbers are read here");
            return Err(WireError::Protocol(text));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut event = vec![0; HEADER];
        event[4] = kind;
        event.extend_from_slice(body);
        event
    }

    /// The table `t` of the database `d`.
    fn ours() -> LoggedTable {
        let case = NameCase::Distinct;
        LoggedTable { database: "d".to_owned(), table: "t".to_owned(), case }
    }

    /// Table 7 `d`.`t` with an INT and a BIGINT.
    fn map() -> Vec<u8> {
        let mut body = vec![7, 0, 0, 0, 0, 0, 1, 0];
        body.extend(b"\x01d\0\x01t\0\x02\x03\x08\0\0");
        event(kind::TABLE_MAP, &body)
    }

    fn update(before: u64, after: Option<u64>) -> Vec<u8> {
        let mut body = vec![7, 0, 0, 0, 0, 0, 1, 0, 2, 0, 2, 3, 3];
        for value in [Some(before), after] {
            body.push(if value.is_none() { 2 } else { 0 });
            body.extend(5_u32.to_le_bytes());
            body.extend(value.into_iter().flat_map(u64::to_le_bytes));
        }
        event(31, &body)
    }

    #[test]
    fn a_transaction_is_given_when_it_is_committed() {
        let table = ours();
        let mut reading = Reading::of(&table);
        let mut given = Vec::new();
        for event in [map(), update(1, Some(2)), update(2, None), event(kind::XID, &[0; 8])] {
            assert!(given.is_empty());
            reading.event(&event, &mut |changes| given.push(changes)).unwrap();
        }
        let row = |value| Some(vec![Some(5), value]);
        let change = |before, after| RowChange { before: row(before), after: row(after) };
        assert_eq!(given, [[change(Some(1), Some(2)), change(Some(2), None)]]);
    }

    /// Where the end of one is lost, the changes of two were taken for one.
    #[test]
    fn a_transaction_without_an_end_is_damage() {
        let table = ours();
        for begins in kind::BEGINNINGS {
            let mut reading = Reading::of(&table);
            let mut read = |event: Vec<u8>| reading.event(&event, &mut |_| {});
            read(event(begins, &[])).unwrap();
            read(map()).unwrap();
            read(update(1, Some(2))).unwrap();
            let error = read(event(begins, &[])).unwrap_err().to_string();
            assert!(error.contains("has no end before the next one begins"), "{error}");
        }
    }

    /// What other accounts of the server do in databases of their own is no part of the history,
    /// however their tables are named and whatever is in them.
    #[test]
    fn a_table_of_that_name_in_another_database_is_passed_over() {
        let table = ours();
        let mut reading = Reading::of(&table);
        let mut given = Vec::new();
        let mut foreign = map();
        let at = HEADER + 9;
        assert_eq!(foreign[at], b'd');
        foreign[at] = b'm';
        let mut texts = foreign.clone();
        let types = texts.len() - 4;
        texts[types..types + 2].copy_from_slice(&[15, 245]);
        let xid = event(kind::XID, &[0; 8]);
        let events = [
            &foreign,
            &update(1, Some(2)),
            &xid,
            // A number that was ours belongs to another table now.
            &map(),
            &texts,
            &update(3, Some(4)),
            &xid,
            &event(kind::TABLE_MAP, &foreign[HEADER..types]),
            &update(5, Some(6)),
            &xid,
            &map(),
            &update(7, Some(8)),
            &xid,
        ];
        for event in events {
            reading.event(event, &mut |changes| given.extend(changes)).unwrap();
        }
        let before = given.iter().map(|change| change.before.as_ref().unwrap()[1]);
        assert_eq!(before.collect::<Vec<_>>(), [Some(7)]);
        assert_eq!(reading.given, 1, "what is passed over counts into no limit");
    }

    #[test]
    fn names_are_compared_as_the_server_does() {
        let mut table = ours();
        assert!(table.is_named(b"d", b"t") && !table.is_named(b"D", b"t"));
        table.case = NameCase::Same;
        assert!(table.is_named(b"D", b"T") && !table.is_named(b"d", b"\xff"));
        assert_eq!(text_of_hex("64C3A9").as_deref(), Some("dé"));
        assert_eq!((text_of_hex("646"), text_of_hex("zz"), text_of_hex("ff")), (None, None, None));
    }

    #[test]
    fn checksums_are_no_part_of_rows() {
        let table = ours();
        let mut reading = Reading::of(&table);
        let mut given = 0;
        let format = event(kind::FORMAT, &[4, 0, CRC32, 9, 9, 9, 9]);
        let check = |event: Vec<u8>| [event, vec![9; CHECKSUM]].concat();
        let xid = check(event(kind::XID, &[0; 8]));
        for event in [format, check(map()), check(update(1, Some(2))), xid] {
            reading.event(&event, &mut |changes| given += changes.len()).unwrap();
        }
        assert_eq!(given, 1);
    }

    #[test]
    fn rows_of_no_bytes_and_numbers_without_end_are_refused() {
        let table = ours();
        let mut reading = Reading::of(&table);
        reading.event(&map(), &mut |_| {}).unwrap();
        let mut body = vec![7, 0, 0, 0, 0, 0, 1, 0, 2, 0, 2];
        // No column is present, so that a row takes no byte of what follows.
        body.extend([0, 0, 9]);
        let error = reading.event(&event(30, &body), &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("without end"), "{error}");
        let renumbered = (0..=NUMBERS_MAX).try_for_each(|number| {
            let mut map = map();
            map[HEADER..HEADER + 2].copy_from_slice(&(number as u16).to_le_bytes());
            reading.event(&map, &mut |_| {})
        });
        assert!(renumbered.unwrap_err().to_string().contains("again and again"));
    }

    #[test]
    fn damage_and_compression_are_said() {
        let table = ours();
        let mut reading = Reading::of(&table);
        let mut told = |event: &[u8]| reading.event(event, &mut |_| {}).map_err(|e| e.to_string());
        assert!(told(&[0; 5]).unwrap_err().contains("a short event"));
        assert!(told(&event(40, &[])).unwrap_err().contains("binlog_transaction_compression"));
        assert!(told(&event(166, &[])).unwrap_err().contains("log_bin_compress"));
        assert_eq!(told(&update(1, Some(2))), Ok(()), "rows of a table that is not known");
        told(&map()).unwrap();
        let whole = update(1, Some(2));
        for end in HEADER + 8..whole.len() {
            told(&whole[..end]).ok();
        }
        let mut other = map();
        let at = other.len() - 4;
        other[at] = 15;
        told(&other).unwrap();
        assert!(told(&whole).unwrap_err().contains("a column of type 15"));
    }
}
