//! TOML with positions: every refusal says where.
//!
//! ```text
//!   Source ── text ──▶ Section ── value("weight") ──▶ Entry ── number(0, 1000) ──▶ u64
//!                        └── finish(): a key that nobody asked for is refused
//! ```

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use dbdyno_model::mask_line;

use crate::suggest::did_you_mean;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The file as it was named.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, and what to try.
    pub message: String,
    excerpt: Excerpt,
}

/// The part of a line in which the place is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Excerpt {
    text: String,
    /// Characters before the place; at most [`EXCERPT_MOST`].
    before: usize,
}

impl Excerpt {
    /// A longer line is cut, in front of the place too: it is there to be recognised.
    fn new(line: &str, column: usize) -> Excerpt {
        // The line may be that of an arm with its password; then it ends before the place.
        let shown = mask_line(line);
        let before = (column - 1).min(shown.chars().count());
        let left_out = before.saturating_sub(EXCERPT_MOST / 2);
        let left_out = if before < EXCERPT_MOST { 0 } else { left_out };
        let text = shown.chars().skip(left_out).take(EXCERPT_MOST).collect();
        Excerpt { text, before: before - left_out }
    }
}

/// `shop.toml:7:1: unknown key …`, and below it the line with a mark.
impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FileError { file, line, column, message, excerpt: Excerpt { text, before } } = self;
        let number = line.to_string();
        write!(f, "{file}:{line}:{column}: {message}\n  {number} | {text}\n  ")?;
        write!(f, "{:width$} | {:before$}^", "", "", width = number.len())
    }
}

impl std::error::Error for FileError {}

const EXCERPT_MOST: usize = 200;

/// A file.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// Its name, as it was named.
    pub file: &'a str,
    /// What is in it.
    pub text: &'a str,
}

impl<'a> Source<'a> {
    /// The file as TOML.
    ///
    /// # Errors
    /// It is none; where.
    pub fn parse(self) -> Result<Spanned<DeTable<'a>>, FileError> {
        DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.error(at, format!("this is not TOML: {}", error.message()))
        })
    }

    /// An error at a byte of the text.
    pub fn error(&self, at: usize, message: impl Into<String>) -> FileError {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = self.text[start..].lines().next().unwrap_or_default();
        let column = before[start..].chars().count() + 1;
        FileError {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column,
            message: message.into(),
            excerpt: Excerpt::new(line, column),
        }
    }
}

/// A table of the file.
pub struct FileSection<'a, 'i> {
    source: Source<'a>,
    what: &'static str,
    table: &'a DeTable<'i>,
    at: usize,
    known: RefCell<Vec<&'static str>>,
}

/// A value of a table or list.
pub struct FileEntry<'a, 'i> {
    source: Source<'a>,
    key: &'static str,
    value: &'a Spanned<DeValue<'i>>,
}

impl<'a, 'i> FileSection<'a, 'i> {
    /// The whole file; `what` is what people call it.
    pub fn of_file(
        source: Source<'a>,
        what: &'static str,
        table: &'a Spanned<DeTable<'i>>,
    ) -> FileSection<'a, 'i> {
        let table = table.get_ref();
        FileSection { source, what, table, at: 0, known: RefCell::new(Vec::new()) }
    }

    /// An error at the beginning of the section.
    pub fn error(&self, message: impl Into<String>) -> FileError {
        self.source.error(self.at, message)
    }

    /// The value of a key, if it is there.
    pub fn value(&self, key: &'static str) -> Option<FileEntry<'a, 'i>> {
        self.known.borrow_mut().push(key);
        self.table.get(key).map(|value| FileEntry { source: self.source, key, value })
    }

    /// The value of a key.
    pub fn required(
        &self,
        key: &'static str,
        example: &str,
    ) -> Result<FileEntry<'a, 'i>, FileError> {
        self.value(key)
            .ok_or_else(|| self.error(format!("{} has no {key}; write {example}", self.what)))
    }

    /// All keys and values in the order of the file; for tables whose keys are names.
    pub fn all_entries(&self) -> Vec<(&'a str, usize, FileEntry<'a, 'i>)> {
        let mut all: Vec<_> = self.table.iter().collect();
        all.sort_by_key(|(key, _)| key.span().start);
        let entry = |value| FileEntry { source: self.source, key: self.what, value };
        all.into_iter()
            .map(|(key, value)| (&**key.get_ref(), key.span().start, entry(value)))
            .collect()
    }

    /// Nothing is there that nobody asked for.
    pub fn finish(&self) -> Result<(), FileError> {
        let known = self.known.borrow();
        let unknown = self.table.keys().filter(|key| !known.contains(&&**key.get_ref()));
        let Some(first) = unknown.min_by_key(|key| key.span().start) else { return Ok(()) };
        let name = first.get_ref();
        let near = did_you_mean(name, known.iter().copied());
        let what = self.what;
        let message = format!("unknown key {name:?}{near}; {what} takes {}", known.join(", "));
        Err(self.source.error(first.span().start, message))
    }
}

impl<'a, 'i> FileEntry<'a, 'i> {
    /// The same value once more.
    pub fn duplicate(&self) -> FileEntry<'a, 'i> {
        FileEntry { source: self.source, key: self.key, value: self.value }
    }

    fn at(&self) -> usize {
        self.value.span().start
    }

    /// An error at the value.
    pub fn error(&self, message: impl Into<String>) -> FileError {
        self.source.error(self.at(), message)
    }

    fn takes(&self, what: &str) -> FileError {
        let found = self.value.get_ref().type_str();
        self.error(format!("{} takes {what}, this is of type {found}", self.key))
    }

    /// An error at a byte of the text that this value is. A text with escapes is not as long as
    /// what stands for it; there the error is at its beginning.
    pub(crate) fn error_within(&self, offset: usize, message: impl Into<String>) -> FileError {
        let span: Range<usize> = self.value.span();
        let raw = self.source.text.get(span.clone()).unwrap_or_default();
        let text = self.value.get_ref().as_str().unwrap_or_default();
        let found = raw.find(text).map(|from| from + offset);
        self.source.error(span.start + found.unwrap_or(0), message)
    }

    /// Whether it is a table.
    pub(crate) fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    /// Whether it is a text.
    pub(crate) fn is_text(&self) -> bool {
        self.value.get_ref().is_str()
    }

    /// A text.
    pub fn as_text(&self) -> Result<&'a str, FileError> {
        self.value.get_ref().as_str().ok_or_else(|| self.takes("a text in quotes"))
    }

    /// A whole number within bounds.
    pub fn as_number(&self, low: u64, high: u64) -> Result<u64, FileError> {
        let takes = format!("a whole number from {low} to {high}");
        let number = self.value.get_ref().as_integer().ok_or_else(|| self.takes(&takes))?;
        let number = u64::from_str_radix(number.as_str(), number.radix()).ok();
        number
            .filter(|number| (low..=high).contains(number))
            .ok_or_else(|| self.error(format!("{} takes {takes}", self.key)))
    }

    /// A text, a number or `true`, as it stands there; of a list, all of them with commas between.
    ///
    /// # Errors
    /// It is something else.
    pub fn as_plain_text(&self) -> Result<String, FileError> {
        let value = self.value.get_ref();
        if value.is_array() {
            let all: Result<Vec<String>, FileError> =
                self.list()?.iter().map(FileEntry::as_plain_text).collect();
            return Ok(all?.join(","));
        }
        let number = value.as_integer().map(|number| number.as_str());
        let number = number.or_else(|| value.as_float().map(|number| number.as_str()));
        let text = value.as_str().or(number).or(value.as_bool().filter(|on| *on).map(|_| "true"));
        text.map(str::to_owned).ok_or_else(|| self.takes("a text, a number, true, or a list"))
    }

    /// Any number.
    pub(crate) fn as_fraction(&self) -> Result<f64, FileError> {
        let value = self.value.get_ref();
        let text = value.as_float().map(|number| number.as_str().to_owned());
        let text = text.or_else(|| value.as_integer().map(|number| number.as_str().to_owned()));
        let number = text.and_then(|text| text.parse().ok()).filter(|n: &f64| n.is_finite());
        number.ok_or_else(|| self.takes("a number"))
    }

    /// True or false.
    pub(crate) fn boolean(&self) -> Result<bool, FileError> {
        self.value.get_ref().as_bool().ok_or_else(|| self.takes("true or false"))
    }

    /// One of these words.
    pub fn as_one_of(&self, words: &[&'static str]) -> Result<&'static str, FileError> {
        let text = self.as_text()?;
        words.iter().find(|&&word| word == text).copied().ok_or_else(|| {
            let near = did_you_mean(text, words.iter().copied());
            let words = words.join(", ");
            self.error(format!("{} cannot be {text:?}{near}; it takes {words}", self.key))
        })
    }

    /// A table, called `what` in messages.
    pub fn as_section(&self, what: &'static str) -> Result<FileSection<'a, 'i>, FileError> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.takes("a table"))?;
        let known = RefCell::new(Vec::new());
        Ok(FileSection { source: self.source, what, table, at: self.at(), known })
    }

    /// A list.
    pub fn list(&self) -> Result<Vec<FileEntry<'a, 'i>>, FileError> {
        let list = self.value.get_ref().as_array().ok_or_else(|| self.takes("a list"))?;
        Ok(list
            .iter()
            .map(|value| FileEntry { source: self.source, key: self.key, value })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, at: usize) -> String {
        Source { file: "a.toml", text }.error(at, "wrong").to_string()
    }

    #[test]
    fn the_mark_stands_below_the_place() {
        assert_eq!(refused("a = 1\nbc = 2\n", 7), "a.toml:2:2: wrong\n  2 | bc = 2\n    |  ^");
    }

    #[test]
    fn a_password_is_not_quoted() {
        let text = "base = \"mysql://root:tiger@db/shop\", test = 1";
        let told = refused(text, text.find("test").unwrap());
        assert!(told.contains("mysql://root:…\n") && !told.contains("tiger"), "{told}");
        assert!(told.starts_with("a.toml:1:38: wrong"), "{told}");
    }

    /// The width of a field in a format is at most 65 535.
    #[test]
    fn a_place_far_to_the_right_is_shown() {
        for column in [199, 200, 201, 65_535, 65_536, 70_000, 300_000] {
            let text = format!("a = {}", "x".repeat(2 * column)).replacen('x', "X", column);
            let at = text.find('x').unwrap();
            let told = refused(&text, at);
            let lines: Vec<&str> = told.lines().collect();
            assert_eq!(lines[0], format!("a.toml:1:{}: wrong", at + 1));
            let marked = lines[1].as_bytes()[lines[2].find('^').unwrap()];
            assert_eq!(char::from(marked), 'x', "{column}");
            assert!(told.len() < 600, "{column}: {}", told.len());
        }
    }
}
