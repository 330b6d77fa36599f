//! Formats of histories, told apart by how they begin.
//!
//! | begins with | format |
//! |---|---|
//! | `dbdynoH1` | our records: [`crate::read_records`] |
//! | `{"` | JSON, a transaction a line |
//! | `{:`, `[` or `#` and a map | EDN as Jepsen and Elle write it |
//! | binary, with a date where dbcop has it | dbcop's binary form |
//! | anything else | text, an operation a line |

mod dbcop;
mod edn;
mod elle;
mod export;
mod json;
mod list;
mod text;

pub use export::{Format, write_history};

use crate::bad_input::BadInput;
use crate::history::History;
use crate::record::read_records;

/// Reads a history in any format that is known.
///
/// # Errors
/// The first thing that cannot be meant, with its place.
pub fn read_history(bytes: &[u8]) -> Result<History, BadInput> {
    if bytes.starts_with(b"dbdynoH") {
        return read_records(bytes)
            .map_err(|bad| BadInput { place: format!("byte {}", bad.offset), what: bad.what });
    }
    if dbcop::is_it(bytes) {
        return dbcop::read(bytes);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| BadInput {
        place: format!("byte {}", error.valid_up_to()),
        what: "neither a file of records, nor one of dbcop, nor text".to_owned(),
    })?;
    let body = data(text);
    match body.strip_prefix('{') {
        Some(inner) if !inner.trim_start().starts_with(':') => json::read(text),
        Some(_) => elle::read(text),
        None if body.starts_with('[') || body.starts_with('#') => elle::read(text),
        None => text::read(text),
    }
}

/// What follows comments and tags: where text and EDN can be told apart.
fn data(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with(';') || (rest.starts_with('#') && !is_tag(rest)) {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
    }
    rest
}

/// Whether a map follows, as in `#jepsen.history.Op{:type …`.
fn is_tag(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    line.find('{').is_some_and(|at| line[at + 1..].trim_start().starts_with(':'))
}
