//! What the server's messages say.

use dbdyno_model::foreign;

use crate::client::Rows;
use crate::error::{ServerError, WireError};
use crate::rows::RowBuffer;

/// Reads the fields of a message body from the front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    /// The next `count` bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let (head, tail) = self.0.split_at_checked(count).ok_or_else(too_short)?;
        self.0 = tail;
        Ok(head)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, WireError> {
        Ok(self.bytes(1)?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, WireError> {
        let bytes = self.bytes(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, WireError> {
        let bytes = self.bytes(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Characters up to a NUL, which is taken too.
    pub(crate) fn cstring(&mut self) -> Result<&'a [u8], WireError> {
        let nul = self.0.iter().position(|byte| *byte == 0);
        let text = self.bytes(nul.ok_or_else(too_short)?)?;
        self.bytes(1)?;
        Ok(text)
    }

    /// Refuses what is left over.
    pub(crate) fn expect_end(self) -> Result<(), WireError> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(WireError::Protocol("a message of the server is longer than its fields".to_owned()))
    }
}

fn too_short() -> WireError {
    WireError::Protocol("a message of the server ends within a field".to_owned())
}

pub(crate) fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// ErrorResponse. Fields that are damaged or missing are left out: an error about an error helps
/// nobody. Detail and hint are the server's own words too and follow its message.
pub(crate) fn server_error(body: &[u8]) -> ServerError {
    let mut fields = Fields(body);
    let (mut sqlstate, mut message) = (String::new(), String::new());
    let (mut detail, mut hint) = (String::new(), String::new());
    while let Ok(kind @ 1..) = fields.u8() {
        let Ok(text) = fields.cstring() else { break };
        match kind {
            b'C' => sqlstate = lossy(&text[..text.len().min(5)]),
            b'M' => message = lossy(text),
            b'D' => detail = lossy(text),
            b'H' => hint = lossy(text),
            _ => {}
        }
    }
    if sqlstate.is_empty() {
        // Internal error: what PostgreSQL itself says where it has nothing better.
        "XX000".clone_into(&mut sqlstate);
    }
    for (label, text) in [("", detail), ("hint: ", hint)] {
        if !text.is_empty() {
            message = format!("{message}; {label}{text}");
        }
    }
    let sqlstate = foreign::one_line(&sqlstate).into_owned();
    ServerError { code: 0, sqlstate, message: message.into() }
}

/// Rows changed according to a CommandComplete: `INSERT 0 3`, `UPDATE 5`, `COPY 10`. Zero for
/// `SELECT 7`, whose rows were counted as they came, and for commands that count nothing.
#[inline]
pub(super) fn affected_rows(body: &[u8]) -> u64 {
    if body.first() == Some(&b'S') {
        return 0;
    }
    let tag = body.strip_suffix(b"\0").unwrap_or(body);
    let changes = [&b"INSERT "[..], b"UPDATE ", b"DELETE ", b"MERGE ", b"COPY "];
    if !changes.iter().any(|verb| tag.starts_with(verb)) {
        return 0;
    }
    let digits = tag.rsplit(|byte| *byte == b' ').next().unwrap_or(&[]);
    std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// ParameterDescription: the types that the server expects.
pub(super) fn parameter_oids(body: &[u8]) -> Result<Vec<u32>, WireError> {
    let mut fields = Fields(body);
    let count = fields.u16()?;
    let oids = (0..count).map(|_| fields.u32()).collect::<Result<_, _>>()?;
    fields.expect_end()?;
    Ok(oids)
}

/// RowDescription: the columns' names. Begins a new result, so that the last one is what stays.
pub(super) fn begin_rows(rows: &mut Rows, body: &[u8]) -> Result<(), WireError> {
    rows.columns.clear();
    rows.rows.clear();
    let mut fields = Fields(body);
    for _ in 0..fields.u16()? {
        rows.columns.push(lossy(fields.cstring()?));
        // Table, column, type, size, modifier and format.
        fields.bytes(18)?;
    }
    fields.expect_end()
}

/// DataRow in text format, of a result whose columns were described.
pub(super) fn push_row(rows: &mut Rows, body: &[u8]) -> Result<(), WireError> {
    let mut fields = Fields(body);
    let count = usize::from(fields.u16()?);
    if count != rows.columns.len() {
        return Err(ragged(count, rows.columns.len()));
    }
    let mut row = Vec::with_capacity(count);
    for _ in 0..count {
        row.push(match fields.u32()? {
            u32::MAX => None,
            length => Some(lossy(fields.bytes(length as usize)?)),
        });
    }
    rows.rows.push(row);
    fields.expect_end()
}

/// DataRow in text format, of an execution; its first row says how many columns there are.
pub(super) fn fetch_row(rows: &mut RowBuffer, body: &[u8]) -> Result<(), WireError> {
    let mut fields = Fields(body);
    let count = usize::from(fields.u16()?);
    if rows.columns() == 0 {
        rows.begin_rows(count);
    }
    if count != rows.columns() {
        return Err(ragged(count, rows.columns()));
    }
    for _ in 0..count {
        match fields.u32()? {
            u32::MAX => rows.push_null(),
            length => rows.push_text(fields.bytes(length as usize)?),
        }
    }
    fields.expect_end()
}

#[cold]
fn ragged(values: usize, columns: usize) -> WireError {
    WireError::Protocol(format!("the server sent a row of {values} values for {columns} columns"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_changes_count_as_affected() {
        for (tag, expected) in [
            (&b"INSERT 0 3\0"[..], 3),
            (b"UPDATE 5\0", 5),
            (b"DELETE 0\0", 0),
            (b"MERGE 18446744073709551615\0", u64::MAX),
            (b"COPY 10000\0", 10_000),
            (b"SELECT 7\0", 0),
            (b"FETCH 7\0", 0),
            (b"BEGIN\0", 0),
            (b"CREATE TABLE\0", 0),
            (b"UPDATE \0", 0),
            (b"UPDATE 99999999999999999999999\0", 0),
            (b"", 0),
        ] {
            assert_eq!(affected_rows(tag), expected, "{}", tag.escape_ascii());
        }
    }

    #[test]
    fn an_error_keeps_state_message_detail_and_hint() {
        let body =
            b"SERROR\0VERROR\0C23505\0Mduplicate key\0DKey (id)=(1) exists.\0HTry.\0Fx.c\0\0";
        assert_eq!(
            server_error(body),
            ServerError {
                code: 0,
                sqlstate: "23505".to_owned(),
                message: "duplicate key; Key (id)=(1) exists.; hint: Try.".into(),
            }
        );
        assert_eq!(server_error(b"").sqlstate, "XX000");
        assert_eq!(server_error(b"C40001\0Mcut sho").sqlstate, "40001");
    }

    type Value = Option<String>;

    proptest! {
        #[test]
        fn rows_are_read_back(values in (1_usize..6).prop_flat_map(|width| {
            prop::collection::vec(prop::collection::vec(any::<Value>(), width), 1..6)
        })) {
            let width = values[0].len();
            let mut columns = (width as u16).to_be_bytes().to_vec();
            for column in 0..width {
                columns.extend(format!("c{column}\0").bytes());
                columns.extend([0; 18]);
            }
            let mut rows = Rows::new(vec!["old".into()], vec![vec![None]]);
            let mut fetched = RowBuffer::new();
            begin_rows(&mut rows, &columns).unwrap();
            for row in &values {
                let mut body = (width as u16).to_be_bytes().to_vec();
                for value in row {
                    let length = value.as_ref().map_or(-1, |text| text.len() as i32);
                    body.extend(length.to_be_bytes());
                    body.extend(value.iter().flat_map(|text| text.bytes()));
                }
                push_row(&mut rows, &body).unwrap();
                fetch_row(&mut fetched, &body).unwrap();
                prop_assert!(fetch_row(&mut fetched.clone(), b"\0\x09").is_err());
            }
            prop_assert_eq!((fetched.rows(), fetched.columns()), (values.len(), width));
            for (row, values) in values.iter().enumerate() {
                for (column, value) in values.iter().enumerate() {
                    let expected = value.as_ref().map(|text| text.as_bytes());
                    prop_assert_eq!(fetched.text_at(row, column), expected);
                }
            }
            prop_assert_eq!(&rows.rows, &values);
            prop_assert_eq!(rows.columns.last(), Some(&format!("c{}", width - 1)));
        }

        #[test]
        fn no_body_makes_a_parser_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut rows = Rows::default();
            server_error(&body);
            affected_rows(&body);
            let _ = parameter_oids(&body);
            let _ = begin_rows(&mut rows, &body);
            let _ = push_row(&mut rows, &body);
            let _ = fetch_row(&mut RowBuffer::new(), &body);
        }
    }
}
