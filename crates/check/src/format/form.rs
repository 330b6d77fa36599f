//! What a file was taken for.

use std::fmt;

use crate::history::{History, TransactionOutcome};
use crate::late::LateBeginning;

/// What the forms of Jepsen are called.
pub(super) const EDN: &str = "EDN of Jepsen or Elle";
pub(super) const JSON: &str = "JSON of Jepsen or elle-cli";
pub(super) const LOG: &str = "history.txt of Jepsen, or its log";

/// A form that histories have, as it is told to whoever gave the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryForm {
    /// Our records.
    Records,
    /// Text, an operation a line.
    Text,
    /// JSON, a transaction a line.
    Json,
    /// Operations of Jepsen in JSON.
    JepsenJson,
    /// Operations of Jepsen.
    Edn,
    /// One of the forms of Jepsen, called so, that begins late, and so many values that are read
    /// were written before.
    LateJepsen(&'static str, LateBeginning, usize),
    /// Operations of Jepsen as it writes them for people.
    JepsenLog,
    /// dbcop's binary form.
    Dbcop,
    /// dbcop's JSON.
    DbcopJson,
    /// dbcop's text.
    DbcopText,
    /// AWDIT's format for tests.
    Awdit,
    /// Logs of Cobra, and the transactions within which one of them ends.
    Cobra(LogCount, Vec<String>),
    /// Logs of Viper.
    Viper(LogCount),
}

/// How many logs a history has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogCount {
    /// Those with a session each.
    pub sessions: usize,
    /// Those in which nothing stands.
    pub empty: usize,
}

impl fmt::Display for LogCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a session each: {}", self.sessions)?;
        match self.empty {
            0 => Ok(()),
            1 => f.write_str(" (and an empty one)"),
            more => write!(f, " (and {more} empty ones)"),
        }
    }
}

impl HistoryForm {
    /// That of a history of so many logs of Cobra.
    pub(super) fn of_cobra(logs: LogCount, history: &History) -> HistoryForm {
        let all = 0..history.len();
        let open = all.filter(|txn| history.txn(*txn).outcome == TransactionOutcome::Unknown);
        HistoryForm::Cobra(logs, open.filter_map(|txn| history.origin_text(txn)).collect())
    }
}

impl fmt::Display for HistoryForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = match self {
            HistoryForm::Records => "records of dbdyno",
            HistoryForm::Text => "text, an operation a line, as Plume, PolySI and AWDIT have it",
            HistoryForm::Json => "JSON, a transaction a line",
            HistoryForm::JepsenJson => JSON,
            HistoryForm::Edn => EDN,
            HistoryForm::LateJepsen(form, late, earlier) => {
                return write!(
                    f,
                    "{form} that {late}, and each of the {earlier} values that are read of it \
                     counts as a transaction of unknown outcome"
                );
            }
            HistoryForm::JepsenLog => LOG,
            HistoryForm::Dbcop => "the binary form of dbcop",
            HistoryForm::DbcopJson => "JSON of dbcop",
            HistoryForm::DbcopText => "text of dbcop",
            HistoryForm::Awdit => "AWDIT's format for tests",
            HistoryForm::Cobra(logs, open) => {
                write!(f, "logs of Cobra, {logs}")?;
                return write_open(f, open);
            }
            HistoryForm::Viper(logs) => return write!(f, "logs of Viper, {logs}"),
        };
        f.write_str(told)
    }
}

/// Says of the transactions within which logs end what is known of them.
fn write_open(f: &mut fmt::Formatter<'_>, open: &[String]) -> fmt::Result {
    match open {
        [] => Ok(()),
        [one] => write!(f, ", one of which ends within a transaction of unknown outcome: {one}"),
        [first, ..] => write!(
            f,
            ", {} of which end within a transaction of unknown outcome, the first one: {first}",
            open.len()
        ),
    }
}
