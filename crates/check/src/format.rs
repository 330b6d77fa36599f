//! Formats of histories, told apart by how they begin.
//!
//! | begins with | format |
//! |---|---|
//! | `dbdynoH1` | our records: [`crate::read_records`] |
//! | `{"` | JSON, a transaction a line; or an operation of Jepsen a line |
//! | `[{"` | JSON of Jepsen and elle-cli |
//! | `[[{"events"`, or `{"params"` and `"data"` | JSON of dbcop |
//! | `[x:=1`, `[x==1` | text of dbcop |
//! | `{"value": [["r"` | a log of Viper |
//! | `{:`, `[`, `(` or `#` and a map | EDN as Jepsen and Elle write it |
//! | binary, with a date where dbcop has it | dbcop's binary form |
//! | binary, with operations behind `S` and a word | a log of Cobra |
//! | `r 0 1`, `w 0 1` | AWDIT's format for tests |
//! | anything else | text, an operation a line |
//!
//! Directories of logs: [`directory`]. A file in which no transaction is found is none that has all
//! levels: it is refused.

mod awdit;
mod cobra;
mod completion;
mod dbcop;
mod dbcop_text;
mod directory;
mod earlier;
mod edn;
mod edn_words;
mod elle;
mod export;
mod fields;
mod form;
mod jepsen;
mod jepsen_json;
mod jepsen_log;
mod json;
mod list;
mod one_form;
mod operations;
mod posted;
mod sessions;
mod stated_counts;
mod text;
mod viper;

pub use directory::{HistoryFiles, history_files, read_directory};
pub use export::{Format, write_history};
pub use form::{HistoryForm, LogCount};

use crate::bad_input::BadInput;
use crate::builder::Builder;
use crate::history::History;
use crate::late::LateBeginning;
use crate::objects::{MapKeys, Operations};
use crate::record::read_records;

/// What a file has.
#[derive(Clone, Debug)]
pub enum Input {
    /// Transactions, which have isolation levels, and what the file was taken for.
    Transactions(Box<History>, HistoryForm),
    /// Operations on banks, sets, counters, registers or mutexes, which have not.
    Objects(Operations),
}

/// Reads a history in any format that is known, of transactions or of objects.
///
/// # Errors
/// The first thing that cannot be meant, with its place; and a file without an operation.
pub fn read_input(bytes: &[u8]) -> Result<Input, BadInput> {
    let bytes = &*posted::strip_wrapping(bytes);
    match read_objects(bytes)? {
        Some(objects) => Ok(Input::Objects(objects)),
        None => {
            let (history, form) = read_any(bytes)?;
            let history = refuse_nothing(history, lines_of(bytes))?;
            Ok(Input::Transactions(Box::new(history), form))
        }
    }
}

/// The operations of a history of objects, if it is one.
fn read_objects(bytes: &[u8]) -> Result<Option<Operations>, BadInput> {
    if bytes.starts_with(b"dbdynoH") || dbcop::is_it(bytes) {
        return Ok(None);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(None) };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let body = data(text);
    if body.strip_prefix('{').is_some_and(|inner| inner.trim_start().starts_with('"'))
        || is_array_of_objects(body)
    {
        if !jepsen_json::begins_with_operation(body) {
            return Ok(None);
        }
        let edn = jepsen_json::edn_of(body)?;
        let read = objects_of(&edn, "operation", MapKeys::AlwaysTexts);
        return read.map_err(jepsen_json::of_operation);
    }
    if is_log_of_jepsen(body) {
        return objects_of(&jepsen_log::edn_of(text)?, "line", MapKeys::AsWritten);
    }
    if body.starts_with(['{', '[', '(', '#']) {
        return objects_of(text, "line", MapKeys::AsWritten);
    }
    Ok(None)
}

/// The operations of EDN, if they are on objects.
fn objects_of(
    edn: &str,
    unit: &'static str,
    map_keys: MapKeys,
) -> Result<Option<Operations>, BadInput> {
    operations::are_there(edn).then(|| operations::read(edn, unit, map_keys)).transpose()
}

/// Reads a history in any format that is known.
///
/// # Errors
/// The first thing that cannot be meant, with its place; and a file without an operation.
pub fn read_history(bytes: &[u8]) -> Result<History, BadInput> {
    let bytes = &*posted::strip_wrapping(bytes);
    let (history, _) = read_any(bytes)?;
    refuse_nothing(history, lines_of(bytes))
}

fn lines_of(bytes: &[u8]) -> usize {
    if bytes.is_empty() { 0 } else { bytes.split(|byte| *byte == b'\n').count() }
}

/// The history, if it has an operation.
fn refuse_nothing(history: History, lines: usize) -> Result<History, BadInput> {
    if history.op_count() > 0 {
        return Ok(history);
    }
    let what = match (lines, history.len()) {
        (0, _) => "it is empty".to_owned(),
        (_, 0) => "no transaction was found".to_owned(),
        (_, count) => format!("{count} transactions, and no operation in any of them"),
    };
    let needed = "a history has a line such as r(x,1,0,0), a map such as {:type :ok, :f :txn, \
                  :value [[:r x 1]], :process 0}, or an object such as {\"session\": 0, \
                  \"ops\": [[\"r\", \"x\", 1]]}";
    let place = format!("lines 1 to {}", lines.max(1));
    Err(BadInput { place, what: format!("{what}; {needed}") })
}

fn read_any(bytes: &[u8]) -> Result<(History, HistoryForm), BadInput> {
    let of = |form: HistoryForm| move |history: History| (history, form);
    if bytes.starts_with(b"dbdynoH") {
        return read_records(bytes)
            .map(of(HistoryForm::Records))
            .map_err(|bad| BadInput { place: format!("byte {}", bad.offset), what: bad.what });
    }
    if dbcop::is_it(bytes) {
        return dbcop::read(bytes).map(of(HistoryForm::Dbcop));
    }
    if cobra::is_it(bytes) {
        let history = cobra::read(&[("the log", bytes)])?;
        let form = HistoryForm::of_cobra(LogCount { sessions: 1, empty: 0 }, &history);
        return Ok((history, form));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| BadInput {
        place: format!("byte {}", error.valid_up_to()),
        what: "neither a file of records, nor one of dbcop or Cobra, nor text".to_owned(),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let body = data(text);
    if body.is_empty() {
        return Ok((Builder::new().finish(), HistoryForm::Text));
    }
    if dbcop_text::is_json(body) {
        return dbcop_text::read_json(text).map(of(HistoryForm::DbcopJson));
    }
    if dbcop_text::is_text(text) {
        return dbcop_text::read_text(text).map(of(HistoryForm::DbcopText));
    }
    if viper::is_it(body) {
        return viper::read(&[("the log", text)])
            .map(of(HistoryForm::Viper(LogCount { sessions: 1, empty: 0 })));
    }
    match body.strip_prefix('{') {
        Some(inner) if !inner.trim_start().starts_with([':', '}']) => {
            match jepsen_json::begins_with_operation(body) {
                true => jepsen_json::read(body)
                    .map(|(all, late)| as_jepsen(all, late, HistoryForm::JepsenJson, form::JSON)),
                false => json::read(text).map(of(HistoryForm::Json)),
            }
        }
        None if is_array_of_objects(body) => jepsen_json::read(body)
            .map(|(all, late)| as_jepsen(all, late, HistoryForm::JepsenJson, form::JSON)),
        _ if body.starts_with(['{', '[', '(', '#']) => elle::read(text, "line")
            .map(|(all, late)| as_jepsen(all, late, HistoryForm::Edn, form::EDN)),
        _ if is_log_of_jepsen(body) => elle::read(&jepsen_log::edn_of(text)?, "line")
            .map(|(all, late)| as_jepsen(all, late, HistoryForm::JepsenLog, form::LOG)),
        _ if awdit::is_it(body) => awdit::read(text).map(of(HistoryForm::Awdit)),
        _ => text::read(text).map(of(HistoryForm::Text)),
    }
}

/// A history of Jepsen, with what its file lacks of it if that begins late.
fn as_jepsen(
    history: History,
    late: Option<LateBeginning>,
    form: HistoryForm,
    called: &'static str,
) -> (History, HistoryForm) {
    let Some(late) = late else { return (history, form) };
    let own = history.len();
    let whole = earlier::with_writers_before(history);
    let earlier = whole.len() - own;
    (whole, HistoryForm::LateJepsen(called, late, earlier))
}

/// Whether a text is of Jepsen and no EDN. Text of other forms begins with an operation.
fn is_log_of_jepsen(body: &str) -> bool {
    let is_other = body.starts_with(['{', '[', '(', '#', 'r', 'w']) || dbcop_text::is_text(body);
    !is_other && jepsen_log::is_it(body)
}

/// `[{"type": …`
fn is_array_of_objects(body: &str) -> bool {
    let object = body.strip_prefix('[').and_then(|inner| inner.trim_start().strip_prefix('{'));
    object.is_some_and(|inner| inner.trim_start().starts_with('"'))
}

/// What follows comments and tags: where text and EDN can be told apart.
fn data(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with(';') || (rest.starts_with('#') && !is_tag(rest)) {
        rest = rest.split_once(['\n', '\r']).map_or("", |(_, rest)| rest).trim_start();
    }
    rest
}

/// Whether a map follows, as in `#jepsen.history.Op{:type …`.
fn is_tag(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    line.find('{').is_some_and(|at| line[at + 1..].trim_start().starts_with(':'))
}
