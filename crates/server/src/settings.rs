//! Version, settings and build of an arm, asked from the arm itself.

use std::collections::HashMap;
use std::path::PathBuf;

use dbdyno_model::{Dialect, Environment, Secret, setting};
use dbdyno_wire::{Client, Encryption, WireError};

/// Stands for a value that is not kept.
const NOT_KEPT: &str = "(a password, not kept)";

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
pub fn settings(
    client: &mut dyn Client,
    dialect: Dialect,
    instance: &[(String, &str)],
) -> Result<Environment, WireError> {
    let mut environment = Environment::default();
    environment.set("server.version", client.server_version());
    connection(client, dialect, &mut environment);
    let settings = match dialect {
        Dialect::Mysql => {
            let server = client.query("SHOW GLOBAL VARIABLES")?.rows;
            with_session(server, client.query("SHOW SESSION VARIABLES")?.rows)
        }
        Dialect::Engine => client.query("SHOW GLOBAL VARIABLES")?.rows,
        Dialect::Postgres => {
            let mut rows =
                client.query("SELECT name, setting, unit FROM pg_catalog.pg_settings")?.rows;
            rows.iter_mut().for_each(with_unit);
            rows
        }
        Dialect::Sqlite => sqlite_settings(client)?,
        Dialect::Rocksdb => client.query("SETTINGS")?.rows,
    };
    for row in settings {
        if let [Some(name), value, ..] = row.as_slice() {
            environment.set(format!("variable.{name}"), kept(name, value.as_deref(), instance));
        }
    }
    match dialect {
        Dialect::Mysql => innodb_state(client, &mut environment),
        Dialect::Postgres => postgres_database(client, &mut environment),
        Dialect::Engine | Dialect::Sqlite | Dialect::Rocksdb => {}
    }
    neutral(dialect, &mut environment);
    build(client, dialect, &mut environment);
    Ok(environment)
}

/// Beginnings of variables that are those of the connection, or of nothing that lasts.
const OF_CONNECTIONS: [&str; 4] = ["character_set_", "collation_", "gtid_", "pseudo_"];

/// The settings of a server as its sessions have them: an administrator may give others to those of
/// an account (`init_connect`), and `SET autocommit = 0` there commits nothing that is measured.
fn with_session(
    mut server: Vec<Vec<Option<String>>>,
    session: Vec<Vec<Option<String>>>,
) -> Vec<Vec<Option<String>>> {
    let own: HashMap<String, Option<String>> = session
        .into_iter()
        .filter_map(|row| {
            let mut cells = row.into_iter();
            Some((cells.next().flatten()?, cells.next().flatten()))
        })
        .collect();
    for row in &mut server {
        if let [Some(name), value, ..] = row.as_mut_slice()
            && !OF_CONNECTIONS.iter().any(|beginning| name.starts_with(beginning))
            && let Some(own) = own.get(name)
        {
            value.clone_from(own);
        }
    }
    server
}

/// What servers of MySQL's family do, in one word whatever their release calls it, and what no
/// variable tells.
fn innodb_state(client: &mut dyn Client, environment: &mut Environment) {
    let status = client.query("SHOW GLOBAL STATUS LIKE 'Innodb_redo_log_%'");
    let status = status.map(|status| status.rows).unwrap_or_default();
    one_spelling(&status, environment);
    if environment.get("variable.performance_schema") != "ON" {
        return;
    }
    for kind in ["instruments", "consumers"] {
        let sql =
            format!("SELECT COUNT(*) FROM performance_schema.setup_{kind} WHERE enabled = 'YES'");
        if let Some(count) = first_answer(client, &sql) {
            environment.set(format!("variable.performance_schema_enabled_{kind}"), count);
        }
    }
}

/// Gives what releases spell in several ways one name: the level of isolation, whether the redo log
/// is written (`ALTER INSTANCE DISABLE INNODB REDO_LOG`, from MySQL 8.0.21 on), and its bytes.
fn one_spelling(status: &[Vec<Option<String>>], environment: &mut Environment) {
    let facts = &mut environment.facts;
    if let Some(level) = facts.remove("variable.tx_isolation") {
        facts.entry("variable.transaction_isolation".to_owned()).or_insert(level);
    }
    let capacity = number_of(environment, "innodb_redo_log_capacity");
    // MariaDB has one file from 10.6 on, and no variable for how many.
    let files = number_of(environment, "innodb_log_files_in_group").unwrap_or(1);
    let bytes = match capacity {
        Some(capacity) => {
            let resized = status_value(status, "Innodb_redo_log_capacity_resized");
            resized.and_then(|bytes| bytes.parse().ok()).or(Some(capacity))
        }
        None => {
            number_of(environment, "innodb_log_file_size").and_then(|size| size.checked_mul(files))
        }
    };
    if capacity.is_some() {
        // They are there still, and ignored.
        environment.facts.remove("variable.innodb_log_file_size");
        environment.facts.remove("variable.innodb_log_files_in_group");
    }
    if let Some(bytes) = bytes {
        environment.set("variable.innodb_redo_log_bytes", bytes.to_string());
        // A release that does not tell cannot leave it out.
        let is_written = status_value(status, "Innodb_redo_log_enabled").unwrap_or("ON");
        environment.set("variable.innodb_redo_log_enabled", is_written);
    }
}

fn number_of(environment: &Environment, variable: &str) -> Option<u64> {
    environment.get(&format!("variable.{variable}")).parse().ok()
}

fn status_value<'s>(status: &'s [Vec<Option<String>>], name: &str) -> Option<&'s str> {
    status.iter().find_map(|row| match row.as_slice() {
        [Some(own), Some(value), ..] if own.eq_ignore_ascii_case(name) => Some(value.as_str()),
        _ => None,
    })
}

/// By what the database of a PostgreSQL session compares texts, and what its tablespaces say that
/// their pages cost. A release that has no other provider compares by libc.
fn postgres_database(client: &mut dyn Client, environment: &mut Environment) {
    let provider = format!("coalesce({}, 'c')", field_of_row("datlocprovider"));
    if let Some(provider) = first_answer(client, &question_of_database(&provider)) {
        let name = match provider.as_str() {
            "c" => "libc",
            "i" => "icu",
            "b" => "builtin",
            other => other,
        };
        environment.set("table.default.locale_provider", name);
        let locale =
            format!("coalesce({}, {})", field_of_row("datlocale"), field_of_row("daticulocale"));
        let locale = first_answer(client, &question_of_database(&locale));
        let locale = locale.unwrap_or_else(|| "none of its own".to_owned());
        environment.set("table.default.locale", locale);
    }
    let options = first_answer(
        client,
        "SELECT coalesce(pg_catalog.string_agg(pg_catalog.concat(spcname, ' ', \
         pg_catalog.array_to_string(spcoptions, ' ')), '; ' ORDER BY spcname), 'none') \
         FROM pg_catalog.pg_tablespace WHERE spcoptions IS NOT NULL",
    );
    options.into_iter().for_each(|options| environment.set("tablespaces.options", options));
}

/// A field of the row of a catalogue, which a release may lack.
fn field_of_row(column: &str) -> String {
    format!("pg_catalog.jsonb_extract_path_text(row, '{column}')")
}

fn question_of_database(fact: &str) -> String {
    format!(
        "SELECT {fact} FROM (SELECT pg_catalog.to_jsonb(d) AS row FROM pg_catalog.pg_database d \
         WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database()) AS own"
    )
}

fn first_answer(client: &mut dyn Client, sql: &str) -> Option<String> {
    Some(client.query(sql).ok()?.first_value()?.to_owned())
}

/// Letters of a password that no other value has in it by chance.
const TELLING_LETTERS: usize = 6;

/// Leaves out what a server says that has our own password in it: it knows it, and may say it as
/// the value of anything.
pub fn hide_password(password: &Secret, environment: &mut Environment) {
    let password = password.expose();
    if password.is_empty() {
        return;
    }
    let is_telling = password.len() >= TELLING_LETTERS;
    environment.facts.retain(|name, _| !is_telling || !name.contains(password));
    for value in environment.facts.values_mut() {
        if value == password || (is_telling && value.contains(password)) {
            NOT_KEPT.clone_into(value);
        }
    }
}

/// What is kept of a variable: not what has a password in it, as the source of a standby has, and
/// no command, in which one may stand in any form.
fn kept(name: &str, value: Option<&str>, instance: &[(String, &str)]) -> String {
    match value {
        None => "NULL".to_owned(),
        Some("") => String::new(),
        Some(value) if setting::is_secret(name, value) => NOT_KEPT.to_owned(),
        Some(_) if name.ends_with("_command") => NOT_KEPT.to_owned(),
        Some(value) => without_instance(value, instance),
    }
}

/// `16384 8kB` of a value and its unit.
fn with_unit(row: &mut Vec<Option<String>>) {
    if let [_, Some(value), Some(unit)] = row.as_mut_slice() {
        value.push(' ');
        value.push_str(unit);
    }
}

/// Whether what goes to a server and comes back is encrypted, and how.
fn connection(client: &dyn Client, dialect: Dialect, environment: &mut Environment) {
    if !matches!(dialect, Dialect::Mysql | Dialect::Postgres) {
        return;
    }
    match client.encryption() {
        None => environment.set("connection.encrypted", "no"),
        Some(Encryption { version, cipher }) => {
            environment.set("connection.encrypted", "yes");
            environment.set("connection.tls", version);
            environment.set("connection.cipher", cipher);
        }
    }
}

/// What two families promise, in words of neither: what a commit waits for, and how much memory
/// pages have.
fn neutral(dialect: Dialect, environment: &mut Environment) {
    let variable = |name: &str| environment.get(&format!("variable.{name}")).to_owned();
    let (commit, buffer) = match dialect {
        Dialect::Mysql => {
            let redo = variable("innodb_flush_log_at_trx_commit") == "1"
                && variable("innodb_redo_log_enabled") != "OFF";
            let binlog = variable("log_bin") != "ON" || variable("sync_binlog") == "1";
            let buffer = variable("innodb_buffer_pool_size").parse::<u64>().ok();
            (commit_of(redo, binlog), buffer.map(|bytes| bytes >> 20))
        }
        Dialect::Postgres => {
            let synced = variable("fsync") == "on" && variable("synchronous_commit") != "off";
            // In blocks of 8 KB: `16384 8kB`.
            let blocks = variable("shared_buffers");
            let blocks = blocks.strip_suffix(" 8kB").and_then(|blocks| blocks.parse::<u64>().ok());
            (commit_of(synced, synced), blocks.map(|blocks| blocks >> 7))
        }
        Dialect::Rocksdb => {
            let synced = variable("log") == "synced";
            let cache = variable("block_cache").parse::<u64>().ok();
            (commit_of(synced, synced), cache.map(|bytes| bytes >> 20))
        }
        Dialect::Engine => {
            let synced = variable("device") != "none";
            (commit_of(synced, synced), None)
        }
        Dialect::Sqlite => return,
    };
    environment.set("neutral.commit", commit);
    if let Some(mb) = buffer {
        environment.set("neutral.buffer_mb", mb.to_string());
    }
}

/// For how many sessions a server has places; `None` where it does not tell.
pub fn max_connections(client: &mut dyn Client, dialect: Dialect) -> Option<u64> {
    let question = match dialect {
        Dialect::Postgres => "SHOW max_connections",
        _ => "SELECT @@global.max_connections",
    };
    client.query(question).ok()?.first_value()?.parse().ok()
}

/// Where a server has its data; `None` where it does not tell.
///
/// # Errors
/// The server's refusal.
pub fn data_directory(
    client: &mut dyn Client,
    dialect: Dialect,
) -> Result<Option<PathBuf>, WireError> {
    let question = match dialect {
        Dialect::Postgres => "SHOW data_directory",
        _ => "SELECT @@datadir",
    };
    Ok(client.query(question)?.first_value().map(PathBuf::from))
}

fn commit_of(redo: bool, binlog: bool) -> &'static str {
    match (redo, binlog) {
        (true, true) => "is synced",
        (true, false) => "syncs the redo log only",
        (false, _) => "is not synced",
    }
}

/// What tables have that say nothing else.
const DEFAULT_COLLATION: &str = "table.default.collation";

/// How the server was built, as far as it tells: PostgreSQL tells compiler and flags, to
/// superusers; a debug build of the MySQL family has it in its version. Frame pointers are told
/// where the flags name them; machine code is not searched for them, which would be a guess.
fn build(client: &mut dyn Client, dialect: Dialect, environment: &mut Environment) {
    let mut ask = |sql: &str| Some(client.query(sql).ok()?.first_value()?.to_owned());
    match dialect {
        Dialect::Mysql => {
            let Some(version) = ask("SELECT version()") else { return };
            let is_debug = version.to_lowercase().contains("debug");
            environment.set("build.debug", if is_debug { "yes" } else { "no" });
            let collation = ask("SELECT @@collation_database");
            collation.into_iter().for_each(|name| environment.set(DEFAULT_COLLATION, name));
        }
        Dialect::Postgres => {
            let compiler = ask("SELECT pg_catalog.version()");
            let compiler = compiler.as_deref().and_then(compiler_of);
            compiler.into_iter().for_each(|name| environment.set("build.compiler", name));
            let collation = ask("SELECT datcollate FROM pg_catalog.pg_database \
                     WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database()");
            collation.into_iter().for_each(|name| environment.set(DEFAULT_COLLATION, name));
            if let Some(flags) = ask("SELECT setting FROM pg_catalog.pg_config \
                                    WHERE name OPERATOR(pg_catalog.=) 'CFLAGS'")
            {
                let kept = flags.contains("-fno-omit-frame-pointer");
                environment.set("build.frame_pointers", if kept { "yes" } else { "not asked for" });
                environment.set("build.flags", without_paths(&flags));
            }
        }
        Dialect::Sqlite | Dialect::Rocksdb | Dialect::Engine => {}
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
        settings.push(vec![Some(pragma.to_owned()), value.first_value().map(str::to_owned)]);
    }
    let options = client.query("PRAGMA compile_options")?.rows;
    let options: Vec<String> = options.into_iter().flatten().flatten().collect();
    settings.push(vec![Some("compile_options".to_owned()), Some(options.join(" "))]);
    Ok(settings)
}

/// `value` with what is the instance's own replaced by a word.
pub fn without_instance(value: &str, instance: &[(String, &str)]) -> String {
    instance.iter().fold(value.to_owned(), |value, (own, word)| {
        let is_number = own.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number {
            value.replace(own.as_str(), word)
        } else if value == *own {
            (*word).to_owned()
        } else {
            value
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_that_a_server_shows_is_not_kept() {
        for name in ["primary_conninfo", "wsrep_sst_auth", "report_password"] {
            assert_eq!(kept(name, Some("user=u password=hunter2"), &[]), NOT_KEPT);
            assert_eq!(kept(name, Some(""), &[]), "");
        }
        assert_eq!(kept("disconnect_on_expired_password", Some("ON"), &[]), "ON");
        assert_eq!(kept("x", None, &[]), "NULL");
    }

    #[test]
    fn settings_are_those_of_the_session_that_measures() {
        let rows = |all: &[(&str, &str)]| -> Vec<Vec<Option<String>>> {
            let row = |(name, value): &(&str, &str)| {
                vec![Some((*name).to_owned()), Some((*value).to_owned())]
            };
            all.iter().map(row).collect()
        };
        let server = [("autocommit", "ON"), ("character_set_client", "latin1"), ("port", "3306")];
        let session =
            [("autocommit", "OFF"), ("character_set_client", "utf8mb4"), ("timestamp", "1.5")];
        let found = with_session(rows(&server), rows(&session));
        assert_eq!(found, rows(&[("autocommit", "OFF"), server[1], server[2]]));
    }

    #[test]
    fn families_are_compared_in_words_of_neither() {
        let of = |dialect, settings: &[(&str, &str)]| {
            let mut facts = Environment::default();
            for (name, value) in settings {
                facts.set(format!("variable.{name}"), *value);
            }
            neutral(dialect, &mut facts);
            format!("{}, {} MB", facts.get("neutral.commit"), facts.get("neutral.buffer_mb"))
        };
        let commit = "innodb_flush_log_at_trx_commit";
        let pool = ("innodb_buffer_pool_size", "134217728");
        let mysql =
            |settings: [(&str, &str); 3]| of(Dialect::Mysql, &[&settings[..], &[pool]].concat());
        let log = [("log_bin", "ON"), ("sync_binlog", "0")];
        assert_eq!(mysql([(commit, "1"), log[0], log[1]]), "syncs the redo log only, 128 MB");
        assert_eq!(mysql([(commit, "1"), ("log_bin", "OFF"), log[1]]), "is synced, 128 MB");
        assert_eq!(mysql([(commit, "2"), log[0], log[1]]), "is not synced, 128 MB");
        let off = ("innodb_redo_log_enabled", "OFF");
        assert_eq!(mysql([(commit, "1"), ("log_bin", "OFF"), off]), "is not synced, 128 MB");
        let postgres = |synchronous| {
            let buffers = ("shared_buffers", "16384 8kB");
            of(Dialect::Postgres, &[("fsync", "on"), ("synchronous_commit", synchronous), buffers])
        };
        assert_eq!(postgres("on"), "is synced, 128 MB");
        assert_eq!(postgres("off"), "is not synced, 128 MB");
    }

    #[test]
    fn what_releases_spell_in_several_ways_has_one_name() {
        let of = |variables: &[(&str, &str)], status: &[(&str, &str)]| {
            let mut facts = Environment::default();
            for (name, value) in variables {
                facts.set(format!("variable.{name}"), *value);
            }
            let row = |(name, value): &(&str, &str)| {
                vec![Some((*name).to_owned()), Some((*value).to_owned())]
            };
            one_spelling(&status.iter().map(row).collect::<Vec<_>>(), &mut facts);
            facts
        };
        let size = ("innodb_log_file_size", "50331648");
        let old = [("tx_isolation", "READ-COMMITTED"), size, ("innodb_log_files_in_group", "2")];
        let mariadb = of(&old, &[]);
        assert_eq!(mariadb.get("variable.transaction_isolation"), "READ-COMMITTED");
        assert_eq!(mariadb.get("variable.tx_isolation"), "");
        assert_eq!(mariadb.get("variable.innodb_redo_log_bytes"), "100663296");
        assert_eq!(mariadb.get("variable.innodb_redo_log_enabled"), "ON");
        assert_eq!(of(&[size], &[]).get("variable.innodb_redo_log_bytes"), "50331648");
        let new = [("innodb_redo_log_capacity", "104857600"), size, ("transaction_isolation", "X")];
        let status =
            [("Innodb_redo_log_enabled", "OFF"), ("Innodb_redo_log_capacity_resized", "100663296")];
        let mysql = of(&new, &status);
        assert_eq!(mysql.get("variable.innodb_redo_log_bytes"), "100663296");
        assert_eq!(mysql.get("variable.innodb_redo_log_enabled"), "OFF");
        assert_eq!(mysql.get("variable.innodb_log_file_size"), "", "it is ignored");
        assert_eq!(of(&new, &[]).get("variable.innodb_redo_log_bytes"), "104857600");
        assert_eq!(of(&[], &[]).get("variable.innodb_redo_log_enabled"), "", "no InnoDB");
    }

    #[test]
    fn a_build_is_known_by_its_compiler_and_its_flags() {
        let version =
            "PostgreSQL 15.2 on x86_64, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit";
        assert_eq!(compiler_of(version), Some("gcc (Debian 12.2.0-14) 12.2.0"));
        assert_eq!(compiler_of("CockroachDB v23"), None);
        assert_eq!(without_paths("-O2 -ffile-prefix-map=/b=. -g"), "-O2 -g");
    }

    #[test]
    fn what_a_server_repeats_of_our_password_is_left_out_whatever_it_is_called() {
        let mut environment = Environment::default();
        for (name, value) in [
            ("variable.comm", "hunter2"),
            ("server.version", "8.0-hunter2"),
            ("variable.port", "3306"),
            ("variable.x_hunter2", "1"),
        ] {
            environment.set(name, value);
        }
        hide_password(&Secret::new("hunter2".to_owned()), &mut environment);
        hide_password(&Secret::new(String::new()), &mut environment);
        let left: Vec<&str> = environment.facts.values().map(String::as_str).collect();
        assert_eq!(left, [NOT_KEPT, NOT_KEPT, "3306"]);
        assert_eq!(kept("restore_command", Some("KEY=x aws s3 cp"), &[]), NOT_KEPT);
        assert_eq!(kept("restore_command", Some(""), &[]), "");
    }

    #[test]
    fn what_every_instance_has_of_its_own_compares_equal() {
        let instance = [("/var/x/base".to_owned(), "<sandbox>"), ("3307".to_owned(), "<port>")];
        assert_eq!(without_instance("/var/x/base/data/", &instance), "<sandbox>/data/");
        assert_eq!(without_instance("3307", &instance), "<port>");
        assert_eq!(
            without_instance("133070", &instance),
            "133070",
            "a number that contains the port"
        );
    }
}
