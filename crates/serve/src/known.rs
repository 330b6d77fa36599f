//! The variables that clients set when they connect, and those that they ask for.
//!
//! What can be set here has no other meaning than MySQL's: either it has none in this subset of
//! SQL, or the server does what it says. A value that would change what statements mean is not
//! taken. What is not in the list is refused by name.

use std::sync::Arc;

use dbdyno_sql::{KnownVariable, Takes};
use dbdyno_wire::ServerSecurity;

use crate::charset::Charset;
use crate::settings::Settings;

/// Modes that change nothing here: what they let pass in MySQL is refused anyway.
const MODES: &[&str] = &[
    "ERROR_FOR_DIVISION_BY_ZERO",
    "NO_AUTO_CREATE_USER",
    "NO_ENGINE_SUBSTITUTION",
    "NO_ZERO_DATE",
    "NO_ZERO_IN_DATE",
    "ONLY_FULL_GROUP_BY",
    "STRICT_ALL_TABLES",
    "STRICT_TRANS_TABLES",
];

/// Those of a session at first.
const MODE: &str = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,\
                    ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";
const ZONES: &[&str] = &["SYSTEM", "+00:00", "+0:00", "UTC"];
/// Texts compare as bytes whatever it is called.
const COLLATIONS: &[&str] = &[
    "latin1_bin",
    "latin1_swedish_ci",
    "utf8mb4_0900_ai_ci",
    "utf8mb4_0900_bin",
    "utf8mb4_bin",
    "utf8mb4_general_ci",
    "utf8mb4_unicode_ci",
];
/// What clients set beside their own: it would be that of new databases, of which there are none.
const CHARSETS_OF_SERVER: &[&str] = &["utf8mb4", "utf8mb3", "utf8", "latin1", "ascii", "binary"];
const RESULTS: &[&str] = &["latin1", "utf8mb4", "utf8mb3", "utf8", "ascii", "binary", ""];

/// All of them, for a server with these settings.
pub(crate) fn known_variables(settings: &Settings) -> Arc<[KnownVariable]> {
    let limits = &settings.limits;
    let is_required = settings.security.as_ref().is_some_and(ServerSecurity::is_required);
    Arc::new([
        fixed("connection_id()", "0"),
        fixed("current_user()", ""),
        fixed("database()", &settings.database),
        fixed("user()", ""),
        fixed("version()", &settings.version),
        fixed("auto_increment_increment", "1"),
        fixed("auto_increment_offset", "1"),
        one_of("character_set_client", "utf8mb4", Charset::NAMES),
        one_of("character_set_connection", "utf8mb4", Charset::NAMES),
        fixed("character_set_database", "utf8mb4"),
        one_of("character_set_results", "utf8mb4", RESULTS),
        one_of("character_set_server", "utf8mb4", CHARSETS_OF_SERVER),
        fixed("character_set_system", "utf8mb3"),
        one_of("collation_connection", "utf8mb4_general_ci", COLLATIONS),
        fixed("collation_database", "utf8mb4_0900_bin"),
        one_of("collation_server", "utf8mb4_0900_bin", COLLATIONS),
        KnownVariable {
            name: "default_storage_engine",
            value: "dbdyno".to_owned(),
            takes: Takes::Text,
        },
        switch("foreign_key_checks", "ON"),
        number("group_concat_max_len", 1_024),
        fixed("have_ssl", if settings.security.is_some() { "YES" } else { "DISABLED" }),
        fixed("init_connect", ""),
        number("interactive_timeout", limits.silent.as_secs()),
        fixed("license", "MIT OR Apache-2.0"),
        fixed("lower_case_table_names", "0"),
        fixed("max_allowed_packet", &limits.request_bytes.to_string()),
        number("max_execution_time", 0),
        fixed("max_connections", &limits.connections.to_string()),
        number("net_buffer_length", 16_384),
        number("net_read_timeout", limits.reading.as_secs()),
        number("net_write_timeout", limits.reading.as_secs()),
        fixed("performance_schema", "OFF"),
        fixed("query_cache_size", "0"),
        fixed("query_cache_type", "OFF"),
        fixed("require_secure_transport", if is_required { "ON" } else { "OFF" }),
        fixed("session_track_system_variables", ""),
        one_of("sql_auto_is_null", "OFF", &["OFF", "0"]),
        fixed("sql_log_bin", "OFF"),
        KnownVariable { name: "sql_mode", value: MODE.to_owned(), takes: Takes::AnyOf(MODES) },
        one_of("sql_quote_show_create", "ON", &["ON", "1"]),
        one_of("sql_safe_updates", "OFF", &["OFF", "0"]),
        number("sql_select_limit", u64::MAX),
        fixed("system_time_zone", "UTC"),
        one_of("time_zone", "SYSTEM", ZONES),
        switch("unique_checks", "ON"),
        fixed("version", &settings.version),
        fixed("version_comment", "dbdyno reference engine"),
        fixed("version_compile_os", std::env::consts::OS),
        number("wait_timeout", limits.silent.as_secs()),
    ])
}

fn number(name: &'static str, value: u64) -> KnownVariable {
    KnownVariable { name, value: value.to_string(), takes: Takes::Number }
}

fn fixed(name: &'static str, value: &str) -> KnownVariable {
    KnownVariable { name, value: value.to_owned(), takes: Takes::Nothing }
}

fn switch(name: &'static str, value: &str) -> KnownVariable {
    KnownVariable { name, value: value.to_owned(), takes: Takes::Switch }
}

fn one_of(name: &'static str, value: &str, words: &'static [&'static str]) -> KnownVariable {
    KnownVariable { name, value: value.to_owned(), takes: Takes::OneOf(words) }
}
