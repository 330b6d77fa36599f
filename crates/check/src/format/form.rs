//! What a file was taken for.

use std::fmt;

/// A form that histories have, as it is told to whoever gave the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
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
    /// The same, of which the first has this index.
    EdnFrom(u64),
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

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = match self {
            Form::Records => "records of dbdyno",
            Form::Text => "text, an operation a line, as Plume, PolySI and AWDIT have it",
            Form::Json => "JSON, a transaction a line",
            Form::JepsenJson => "JSON of Jepsen or elle-cli",
            Form::Edn => "EDN of Jepsen or Elle",
            Form::EdnFrom(index) => {
                return write!(
                    f,
                    "EDN of Jepsen or Elle that begins with index {index}: what was written before \
                     that is not known"
                );
            }
            Form::JepsenLog => "history.txt of Jepsen, or its log",
            Form::Dbcop => "the binary form of dbcop",
            Form::DbcopJson => "JSON of dbcop",
            Form::DbcopText => "text of dbcop",
            Form::Awdit => "AWDIT's format for tests",
            Form::Cobra(logs) => return write!(f, "logs of Cobra, a session each: {logs}"),
            Form::Viper(logs) => return write!(f, "logs of Viper, a session each: {logs}"),
        };
        f.write_str(told)
    }
}
