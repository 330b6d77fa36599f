//! SQL in a file: one text for all dialects, or one for each.
//!
//! ```toml
//! sql = "SELECT 1"
//! sql = { default = "SELECT 1", postgres = "SELECT 2" }
//! ```

use dbdyno_model::Dialect;

use crate::file::{FileEntry, FileError};

/// The dialects that a custom load can speak, under the names that a file has for them.
pub(super) const DIALECTS: [(&str, Dialect); 3] =
    [("mysql", Dialect::Mysql), ("postgres", Dialect::Postgres), ("sqlite", Dialect::Sqlite)];

/// The texts for MySQL, PostgreSQL and SQLite, each with where it stands; an empty one where the
/// file has none.
pub(super) fn by_dialect<'a, 'i>(
    entry: &FileEntry<'a, 'i>,
) -> Result<[(String, Option<FileEntry<'a, 'i>>); 3], FileError> {
    let of = |entry: FileEntry<'a, 'i>| -> Result<_, FileError> {
        let text = entry.as_text()?.to_owned();
        if text.trim().is_empty() {
            return Err(entry.error("there is no SQL in it"));
        }
        Ok((text, Some(entry)))
    };
    if !entry.is_table() {
        return Ok([of(entry.duplicate())?, of(entry.duplicate())?, of(entry.duplicate())?]);
    }
    let section = entry.as_section("SQL by dialect")?;
    let default = section.value("default");
    let mut texts = Vec::new();
    for (name, _) in DIALECTS {
        let entry = section.value(name).or_else(|| default.as_ref().map(FileEntry::duplicate));
        texts.push(entry.map_or(Ok((String::new(), None)), of)?);
    }
    section.finish()?;
    if texts.iter().all(|(_, entry)| entry.is_none()) {
        return Err(entry.error("SQL for at least one of default, mysql, postgres, sqlite"));
    }
    Ok(texts.try_into().unwrap_or_else(|_| unreachable!("three dialects, three texts")))
}
