//! What is true of an arm, asked from the arm itself.

use dbdyno_model::{Dialect, Environment};
use dbdyno_wire::{Client, WireError};

/// SQLite has no list of settings with values; these are the ones that change what is measured.
const SQLITE_PRAGMAS: [&str; 12] = [
    "auto_vacuum",
    "cache_size",
    "encoding",
    "foreign_keys",
    "journal_mode",
    "locking_mode",
    "mmap_size",
    "page_size",
    "secure_delete",
    "synchronous",
    "temp_store",
    "wal_autocheckpoint",
];

/// Asks a server for its version and all its settings. What is different in every instance by
/// nature, the sandbox's path and port, is replaced by a word, so that equal settings compare
/// equal.
///
/// # Errors
/// The server's refusal.
pub fn capture(
    client: &mut dyn Client,
    dialect: Dialect,
    instance: &[(String, &str)],
) -> Result<Environment, WireError> {
    let mut environment = Environment::default();
    environment.set("server.version", client.server_version());
    let settings = match dialect {
        Dialect::Mysql => client.query("SHOW GLOBAL VARIABLES")?.rows,
        Dialect::Postgres => {
            client.query("SELECT name, setting || coalesce(' ' || unit, '') FROM pg_settings")?.rows
        }
        Dialect::Sqlite => sqlite_settings(client)?,
    };
    for row in settings {
        if let [Some(name), value, ..] = row.as_slice() {
            let value = value.as_deref().unwrap_or("NULL");
            environment.set(format!("variable.{name}"), general(value, instance));
        }
    }
    Ok(environment)
}

fn sqlite_settings(client: &mut dyn Client) -> Result<Vec<Vec<Option<String>>>, WireError> {
    let mut settings = Vec::new();
    for pragma in SQLITE_PRAGMAS {
        let value = client.query(&format!("PRAGMA {pragma}"))?;
        settings.push(vec![Some(pragma.to_owned()), value.single().map(str::to_owned)]);
    }
    let options = client.query("PRAGMA compile_options")?.rows;
    let options: Vec<String> = options.into_iter().flatten().flatten().collect();
    settings.push(vec![Some("compile_options".to_owned()), Some(options.join(" "))]);
    Ok(settings)
}

/// `value` with what is the instance's own replaced by a word.
pub fn general(value: &str, instance: &[(String, &str)]) -> String {
    instance.iter().fold(value.to_owned(), |value, (own, word)| {
        let is_number = own.bytes().all(|byte| byte.is_ascii_digit());
        match is_number {
            true if value == *own => (*word).to_owned(),
            true => value,
            false => value.replace(own.as_str(), word),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_instance_has_of_its_own_compares_equal() {
        let instance = [("/var/x/base".to_owned(), "<sandbox>"), ("3307".to_owned(), "<port>")];
        assert_eq!(general("/var/x/base/data/", &instance), "<sandbox>/data/");
        assert_eq!(general("3307", &instance), "<port>");
        assert_eq!(general("133070", &instance), "133070", "a number that contains the port");
    }
}
