//! Formats of histories, told apart by how they begin.
//!
//! | begins with | format |
//! |---|---|
//! | `dbdynoH1` | our records: [`crate::read_records`] |
//! | `{` | JSON, a transaction a line |
//! | anything else | text, an operation a line |

mod json;
mod text;

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
    let text = std::str::from_utf8(bytes).map_err(|error| BadInput {
        place: format!("byte {}", error.valid_up_to()),
        what: "neither a file of records nor text".to_owned(),
    })?;
    if text.trim_start().starts_with('{') { json::read(text) } else { text::read(text) }
}
