//! Version, settings and build of an arm, asked from the arm itself.

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
pub(crate) fn settings(
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
    build(client, dialect, &mut environment);
    Ok(environment)
}

/// What tables have that say nothing else.
const DEFAULT_COLLATION: &str = "table.default.collation";

/// How the server was built, as far as it tells: PostgreSQL tells compiler and flags, to
/// superusers; a debug build of the MySQL family has it in its version. Frame pointers are told
/// where the flags name them; machine code is not searched for them, which would be a guess.
fn build(client: &mut dyn Client, dialect: Dialect, environment: &mut Environment) {
    let mut ask = |sql: &str| Some(client.query(sql).ok()?.single()?.to_owned());
    match dialect {
        Dialect::Mysql => {
            let Some(version) = ask("SELECT version()") else { return };
            let is_debug = version.to_lowercase().contains("debug");
            environment.set("build.debug", if is_debug { "yes" } else { "no" });
            let collation = ask("SELECT @@collation_database");
            collation.into_iter().for_each(|name| environment.set(DEFAULT_COLLATION, name));
        }
        Dialect::Postgres => {
            let compiler = ask("SELECT version()");
            let compiler = compiler.as_deref().and_then(compiler_of);
            compiler.into_iter().for_each(|name| environment.set("build.compiler", name));
            let collation =
                ask("SELECT datcollate FROM pg_database WHERE datname = current_database()");
            collation.into_iter().for_each(|name| environment.set(DEFAULT_COLLATION, name));
            if let Some(flags) = ask("SELECT setting FROM pg_config WHERE name = 'CFLAGS'") {
                let kept = flags.contains("-fno-omit-frame-pointer");
                environment.set("build.frame_pointers", if kept { "yes" } else { "not asked for" });
                environment.set("build.flags", without_paths(&flags));
            }
        }
        Dialect::Sqlite => {}
    }
}

/// `PostgreSQL 15.2 on x86_64, compiled by gcc (Debian 12) 12.2.0, 64-bit` was compiled by gcc 12.
fn compiler_of(version: &str) -> Option<&str> {
    let (_, compiler) = version.split_once("compiled by ")?;
    Some(compiler.rsplit_once(", ").map_or(compiler, |(compiler, _)| compiler))
}

/// Flags that have the builder's directory in them say nothing about the program.
fn without_paths(flags: &str) -> String {
    let kept: Vec<&str> =
        flags.split_whitespace().filter(|flag| !flag.contains("-prefix-map=")).collect();
    kept.join(" ")
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
pub(crate) fn general(value: &str, instance: &[(String, &str)]) -> String {
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
    fn a_build_is_known_by_its_compiler_and_its_flags() {
        let version =
            "PostgreSQL 15.2 on x86_64, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit";
        assert_eq!(compiler_of(version), Some("gcc (Debian 12.2.0-14) 12.2.0"));
        assert_eq!(compiler_of("CockroachDB v23"), None);
        assert_eq!(without_paths("-O2 -ffile-prefix-map=/b=. -g"), "-O2 -g");
    }

    #[test]
    fn what_every_instance_has_of_its_own_compares_equal() {
        let instance = [("/var/x/base".to_owned(), "<sandbox>"), ("3307".to_owned(), "<port>")];
        assert_eq!(general("/var/x/base/data/", &instance), "<sandbox>/data/");
        assert_eq!(general("3307", &instance), "<port>");
        assert_eq!(general("133070", &instance), "133070", "a number that contains the port");
    }
}
