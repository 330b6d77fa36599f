//! Records of comma-separated values, where a field between marks may have several lines.
//!
//! ```text
//!   2026-01-01 00:00:00 UTC,"u","d",7,…,"deadlock detected","Process 7 waits …     one record,
//!   Process 8 waits …","See ""log"".",…                                            two lines
//! ```
//!
//! A mark that is opened and never closed would take the rest of a file into one field. So a record
//! is read strictly and has bounds: behind a closing mark stands a comma or the end of the line.
//! One that has more bytes or lines than is sensible is none. What is refused is read again line by
//! line. That is linear: of two lines that open a mark, the second one closes that of the first or
//! shows that it never was one, so that no line is passed more than twice.

use std::borrow::Cow;

use crate::beginning::text_beginning;

/// Bytes of a record. A statement is in it twice, and is rarely longer than a megabyte.
const BYTES_MOST: usize = 16 << 20;
/// Lines of a record.
const LINES_MOST: usize = 100_000;

/// A record at the beginning of a text.
pub(super) struct Record<'t> {
    /// Bytes of it, without the end of its last line.
    pub(super) length: usize,
    pub(super) fields: Vec<Cow<'t, str>>,
}

/// Bytes that may be looked at for those of a text, by which a reader is linear.
pub(super) const LOOKS_MOST: usize = 3;

/// Reads the record with which a text begins; `None` where it is none, or has no sensible size.
pub(super) fn read_record(text: &str) -> Option<Record<'_>> {
    record_or_looked_at(text).ok()
}

/// The same; where there is none, how many bytes were looked at for it.
pub(super) fn record_or_looked_at(text: &str) -> Result<Record<'_>, usize> {
    let mut fields = Vec::new();
    let (mut at, mut lines) = (0, 1);
    loop {
        let found = if text[at..].starts_with('"') {
            quoted(&text[at..], &mut lines)
        } else {
            plain(&text[at..])
        };
        let (field, length) = found.map_err(|looked_at| at + looked_at)?;
        at += length;
        fields.push(field);
        let rest = &text[at..];
        if at > BYTES_MOST {
            return Err(at);
        } else if rest.starts_with(',') {
            at += 1;
        } else {
            let is_whole = rest.is_empty() || rest.starts_with(['\n', '\r']);
            return if is_whole { Ok(Record { length: at, fields }) } else { Err(at) };
        }
    }
}

/// A field without marks, and its bytes. A mark within it is none of a record.
fn plain(text: &str) -> Result<(Cow<'_, str>, usize), usize> {
    let end = text.find([',', '\n', '\r', '"']).unwrap_or(text.len());
    if text[end..].starts_with('"') { Err(end) } else { Ok((Cow::Borrowed(&text[..end]), end)) }
}

/// A field between marks, and its bytes with them. A doubled mark within is one.
fn quoted<'t>(text: &'t str, lines: &mut usize) -> Result<(Cow<'t, str>, usize), usize> {
    let text = text_beginning(text, BYTES_MOST);
    let mut field = Cow::Borrowed("");
    let (mut begin, mut at) = (1, 1);
    loop {
        let mark = text.get(at..).and_then(|rest| rest.find('"'));
        let next = at + mark.ok_or(text.len())?;
        *lines += text[at..next].matches('\n').count();
        if *lines > LINES_MOST {
            return Err(next);
        }
        if text[next + 1..].starts_with('"') {
            field.to_mut().push_str(&text[begin..=next]);
            begin = next + 2;
            at = begin;
            continue;
        }
        let rest = &text[begin..next];
        let field = match field {
            Cow::Borrowed(_) => Cow::Borrowed(rest),
            Cow::Owned(field) => Cow::Owned(field + rest),
        };
        return Ok((field, next + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_have_lines_and_marks() {
        let text = "1,\"a\"\"b\nc\",,\"\",d\r\nnext";
        let read = read_record(text).unwrap();
        assert_eq!(read.fields, ["1", "a\"b\nc", "", "", "d"]);
        assert_eq!(&text[read.length..], "\r\nnext");
        assert!(matches!(read.fields[4], Cow::Borrowed(_)));
        for none in ["a,\"b", "a,\"b\"c", "a,b\"c\"", "\"a\nb"] {
            assert!(read_record(none).is_none(), "{none}");
        }
        let endless = format!("\"{}", "x\n".repeat(2 * LINES_MOST));
        assert!(read_record(&(endless.clone() + "\"")).is_none(), "too many lines");
        assert!(read_record(&format!("\"{}\"", "x".repeat(2 * BYTES_MOST))).is_none(), "too long");
    }

    proptest! {
        /// What is written by the rules is read as it was.
        #[test]
        fn records_are_read_as_written(
            fields in prop::collection::vec("[a\",\n é]{0,6}", 1..6),
            rest in "(\n[a\",\n]{0,9})?",
        ) {
            let marked = |field: &String| match field.contains(['"', ',', '\n']) {
                true => format!("\"{}\"", field.replace('"', "\"\"")),
                false => field.clone(),
            };
            let text = fields.iter().map(marked).collect::<Vec<_>>().join(",");
            let whole = format!("{text}{rest}");
            let read = read_record(&whole).unwrap();
            prop_assert_eq!(read.length, text.len());
            prop_assert_eq!(read.fields, fields);
        }
    }
}
