//! What all histories of Jepsen have in common: the process of an operation, and how it ended.

use super::edn::Edn;
use crate::history::TransactionOutcome;

/// How a map says that something began, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Began,
    Ended(TransactionOutcome),
}

/// What `:type` says.
///
/// # Errors
/// A sentence, if there is none, or one that Jepsen does not have; `wanted` are the keys that an
/// operation has.
pub(super) fn event_of(map: &Edn<'_>, wanted: &str) -> Result<Event, String> {
    match map.get_word("type")? {
        Some("invoke") => Ok(Event::Began),
        Some("ok") => Ok(Event::Ended(TransactionOutcome::Ok)),
        Some("fail") => Ok(Event::Ended(TransactionOutcome::Failed)),
        Some("info") => Ok(Event::Ended(TransactionOutcome::Unknown)),
        Some(other) => Err(format!(":{other} is no type; there are invoke, ok, fail and info")),
        None => Err(format!("no operation of a history: a map with :type, :process and {wanted}")),
    }
}

/// Whether it is what breaks the system under test, and no client.
pub(super) fn is_of_nemesis(map: &Edn<'_>) -> bool {
    let process = map.get("process").and_then(Edn::as_word).unwrap_or_default();
    process == "nemesis" || process.starts_with("nemesis-")
}

/// What is wrong if a process begins something while what it began in this line goes on; `unit` is
/// what a line is in the file that the user has.
pub(super) fn begun_twice(process: &str, unit: &str, line: usize) -> String {
    format!(
        "process {process} begins another operation, and the one that it began in {unit} {line} has \
         not ended: a process has one at a time"
    )
}
