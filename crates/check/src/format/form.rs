//! What a file was taken for.

use std::fmt;

use crate::late::LateBeginning;

/// What the forms of Jepsen are called.
pub(super) const EDN: &str = "EDN of Jepsen or Elle";
pub(super) const JSON: &str = "JSON of Jepsen or elle-cli";
pub(super) const LOG: &str = "history.txt of Jepsen, or its log";

/// A form that histories have, as it is told to whoever gave the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// So many logs of Cobra.
    Cobra(usize),
    /// So many logs of Viper.
    Viper(usize),
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
            HistoryForm::Cobra(logs) => return write!(f, "logs of Cobra, a session each: {logs}"),
            HistoryForm::Viper(logs) => return write!(f, "logs of Viper, a session each: {logs}"),
        };
        f.write_str(told)
    }
}
