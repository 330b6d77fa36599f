//! Whether SQLite took the values that its pragmas were given.
//!
//! SQLite ignores a value that a pragma does not have: `synchronous=of` would be measured as if
//! nothing had been asked for. So each pragma is read back. Those that cannot be read are believed.

use dbdyno_load::Connector;
use dbdyno_wire::{ServerError, WireError};

/// Words and what SQLite calls them when it is asked; the numbers depend on the pragma.
const WORDS: [(&str, &[&str]); 15] = [
    ("off", &["0", "off"]),
    ("no", &["0"]),
    ("false", &["0"]),
    ("none", &["0"]),
    ("default", &["0"]),
    ("on", &["1"]),
    ("yes", &["1"]),
    ("true", &["1"]),
    ("normal", &["1", "normal"]),
    ("file", &["1"]),
    ("full", &["2", "1"]),
    ("memory", &["2", "memory"]),
    ("incremental", &["2"]),
    ("fast", &["2"]),
    ("extra", &["3"]),
];

/// Compares what the pragmas are with what they were set to.
///
/// # Errors
/// A sentence with the value that SQLite has instead.
pub(crate) fn check_pragmas(
    connector: &Connector,
    pragmas: &[(String, String)],
) -> Result<(), WireError> {
    let mut client = connector.connect()?;
    for (name, value) in pragmas {
        let rows = client.query(&format!("PRAGMA {name}"))?;
        if let Some(shown) = rows.first_value()
            && !agrees(value, shown)
        {
            return Err(WireError::Server(ServerError {
                code: 0,
                sqlstate: "HY000".to_owned(),
                message: format!(
                    "SQLite has no {name}={value}, or not here; it stays at {shown}. See \
                     https://sqlite.org/pragma.html#pragma_{name}"
                )
                .into(),
            }));
        }
    }
    client.close();
    Ok(())
}

fn agrees(asked: &str, shown: &str) -> bool {
    let asked = asked.to_ascii_lowercase();
    let shown = shown.to_ascii_lowercase();
    let called = WORDS.iter().find(|(word, _)| *word == asked);
    asked == shown || called.is_some_and(|(_, names)| names.contains(&shown.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_load::SqliteFile;

    fn checked(name: &str, value: &str) -> Result<(), String> {
        let dir = tempfile::tempdir().unwrap();
        let pragmas = vec![(name.to_owned(), value.to_owned())];
        let file = SqliteFile { path: dir.path().join("x"), pragmas: pragmas.clone() };
        check_pragmas(&Connector::Sqlite(file), &pragmas).map_err(|error| error.to_string())
    }

    #[test]
    fn values_that_sqlite_has_are_taken_and_others_are_not() {
        for (name, values) in [
            ("synchronous", &["off", "NORMAL", "full", "extra", "0", "2"][..]),
            ("journal_mode", &["wal", "off", "memory", "truncate", "delete", "persist"]),
            ("auto_vacuum", &["none", "full", "incremental"]),
            ("temp_store", &["default", "file", "memory"]),
            ("locking_mode", &["normal", "exclusive"]),
            ("secure_delete", &["on", "off", "fast"]),
            ("cache_size", &["-2000", "500"]),
            ("page_size", &["8192"]),
            ("mmap_size", &["1048576"]),
            ("foreign_keys", &["yes", "false"]),
            ("case_sensitive_like", &["on"]),
        ] {
            for value in values {
                checked(name, value).unwrap_or_else(|error| panic!("{name}={value}: {error}"));
            }
        }
        for (name, value) in
            [("synchronous", "of"), ("journal_mode", "wall"), ("page_size", "5000")]
        {
            let error = checked(name, value).unwrap_err();
            assert!(error.contains("it stays at"), "{error}");
        }
    }
}
