//! What a user wants of a server that dbdyno starts, behind the `?` of a target.
//!
//! ```text
//!   mariadb:10.11?preset=cz-a&buffer=2G&my-cnf=./my.cnf&innodb_flush_neighbors=1
//!                 └────────┬──────────┘ └──────┬──────┘ └──────────┬───────────┘
//!                  neutral: one word for       a file of the       options as the server
//!                  all families, see           server's own        itself spells them
//!                  `sandbox::options`
//! ```
//!
//! Neutral words are understood here or refused here. Of an option only its shape is checked: which
//! options there are is known to the server, which refuses others when it is started. What dbdyno
//! needs in order to reach a server and to take it away again, its paths and its port, is no
//! setting.

use std::fmt;

use crate::masking::names_secret;
use crate::product::{Product, TargetError};

/// One thing that a user wants of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// `preset=`: where everything else starts from.
    Preset(Preset),
    /// `buffer=`: memory for pages, in MB.
    Buffer(u64),
    /// `redo=`: log that may be written before pages must be, in MB.
    Redo(u64),
    /// `durability=`: what a commit waits for.
    Durability(Durability),
    /// `flush=`: how pages are written.
    Flush(Flush),
    /// `charset=`: of tables that do not name one.
    Charset(Charset),
    /// `binlog=`: the log for replicas of MySQL and MariaDB.
    Binlog(Switch),
    /// `pfs=`: MySQL's and MariaDB's performance schema.
    Pfs(Switch),
    /// `cpus=`: processor time that the kernel lets the server have, in thousandths of a
    /// processor.
    Cpus(u32),
    /// `allocator=`: the library that gives its program memory.
    Allocator(Allocator),
    /// `memory=`: memory that the kernel lets the server have, its page cache included, in MB.
    Memory(u64),
    /// `my-cnf=` or `postgresql-conf=`: a file with options of the server's own.
    File(String),
    /// An option of the server's own, with its value; an empty one is a bare switch.
    Raw(String, String),
}

/// A whole configuration that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// What is measured with if nothing is named: the same for both arms, and the engine rather
    /// than the disk.
    Dbdyno,
    /// Nothing but what is needed to start a server and to reach it.
    Default,
    /// Callaghan's configurations for a cached database.
    Callaghan,
}

/// What a commit waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Durability {
    /// Until it is on the disk.
    Full,
    /// Until the operating system has it: lost if the machine stops, not if the server does.
    Relaxed,
    /// For nothing.
    Off,
}

/// How pages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flush {
    /// Past the page cache.
    Direct,
    /// Through the page cache, then flushed.
    Fsync,
    /// As the release does by itself.
    Default,
}

/// Character set of tables that do not name one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charset {
    /// One byte for each character.
    Latin1,
    /// UTF-8.
    Utf8mb4,
    /// That of the release.
    Default,
}

/// A library that gives a program memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Allocator {
    /// That of the C library, or whichever the program was linked with.
    System,
    /// jemalloc, loaded before all other libraries.
    Jemalloc,
    /// The allocator of gperftools, likewise.
    Tcmalloc,
}

/// Something that is there or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Switch {
    /// There.
    On,
    /// Not there.
    Off,
    /// As the release has it by itself.
    Default,
}

impl Preset {
    /// All of them, as they are written.
    pub const WORDS: [(&'static str, Preset); 3] =
        [("dbdyno", Preset::Dbdyno), ("default", Preset::Default), ("cz-a", Preset::Callaghan)];
}

impl Durability {
    /// All of them, as they are written.
    pub const WORDS: [(&'static str, Durability); 3] =
        [("full", Durability::Full), ("relaxed", Durability::Relaxed), ("off", Durability::Off)];
}

impl Flush {
    /// All of them, as they are written.
    pub const WORDS: [(&'static str, Flush); 3] =
        [("direct", Flush::Direct), ("fsync", Flush::Fsync), ("default", Flush::Default)];
}

impl Charset {
    /// All of them, as they are written.
    pub const WORDS: [(&'static str, Charset); 3] =
        [("latin1", Charset::Latin1), ("utf8mb4", Charset::Utf8mb4), ("default", Charset::Default)];
}

impl Allocator {
    /// All of them, as they are written.
    pub const WORDS: [(&'static str, Allocator); 3] = [
        ("system", Allocator::System),
        ("jemalloc", Allocator::Jemalloc),
        ("tcmalloc", Allocator::Tcmalloc),
    ];
}

impl Switch {
    /// All of them, as they are written.
    pub const WORDS: [(&'static str, Switch); 3] =
        [("on", Switch::On), ("off", Switch::Off), ("default", Switch::Default)];
}

/// The neutral words, and what they may be followed by.
pub const NEUTRAL: [(&str, &str); 11] = [
    ("preset", "dbdyno, default or cz-a"),
    ("buffer", "a whole number with M, G or T: buffer=2G"),
    ("redo", "a whole number with M, G or T: redo=1G"),
    ("durability", "full, relaxed or off"),
    ("flush", "direct, fsync or default"),
    ("charset", "latin1, utf8mb4 or default"),
    ("binlog", "on, off or default"),
    ("pfs", "on, off or default"),
    ("cpus", "a number of processors from 0.1 to 1000: cpus=1.5"),
    ("memory", "a whole number with M, G or T: memory=4G"),
    ("allocator", "system, jemalloc or tcmalloc"),
];

/// Options that are called as dbdyno's own begin.
const WHOLE: [&str; 3] = ["innodb", "innodb_doublewrite", "mysqlx"];
/// Options by which dbdyno reaches its servers, watches them and takes them away again.
const OURS: [&str; 60] = [
    "admin_address",
    "admin_port",
    "aria_log_dir_path",
    "basedir",
    "bind_address",
    "bootstrap",
    "character_sets_dir",
    "config_file",
    "daemonize",
    "data_directory",
    "datadir",
    "defaults_extra_file",
    "defaults_file",
    "external_pid_file",
    "extra_port",
    "grant_tables",
    "group_replication_ip_allowlist",
    "group_replication_ip_whitelist",
    "group_replication_local_address",
    "group_replication_start_on_boot",
    "hba_file",
    "ident_file",
    "initialize",
    "initialize_insecure",
    "innodb_data_file_path",
    "innodb_data_home_dir",
    "innodb_doublewrite_dir",
    "innodb_log_group_home_dir",
    "innodb_temp_tablespaces_dir",
    "innodb_tmpdir",
    "innodb_undo_directory",
    "lc_messages_dir",
    "listen_addresses",
    "log_destination",
    "log_directory",
    "log_error",
    "log_filename",
    "log_raw",
    "logging_collector",
    "mysqlx_bind_address",
    "mysqlx_port",
    "mysqlx_socket",
    "networking",
    "no_defaults",
    "no_monitor",
    "pid_file",
    "plugin_dir",
    "port",
    "secure_file_priv",
    "socket",
    "stats_temp_directory",
    "tmpdir",
    "unix_socket_directories",
    "unix_socket_permissions",
    "user",
    "wsrep_cluster_address",
    "wsrep_node_address",
    "wsrep_node_incoming_address",
    "wsrep_provider",
    "wsrep_sst_receive_address",
];

/// Logs, which a server keeps in its data directory unless it is told another one.
const LOGS: [&str; 7] = [
    "general_log_file",
    "log_bin",
    "log_bin_index",
    "log_slow_query_file",
    "relay_log",
    "relay_log_index",
    "slow_query_log_file",
];

/// Longest name and value of an option, in bytes.
const LONGEST: usize = 1_024;
/// Sizes that every server can start with, in MB.
const SIZES_MB: std::ops::RangeInclusive<u64> = 16..=16 * 1_024 * 1_024;

impl Setting {
    /// What this neutral word means with this value, if it is one.
    pub fn from_neutral(name: &str, value: &str) -> Option<Setting> {
        neutral(name, value)
    }

    /// What `name=value` means for a server of this product. `of` is the target, to name it in
    /// messages.
    ///
    /// # Errors
    /// [`TargetError::Malformed`] for words and values that mean nothing here.
    pub(crate) fn parse(
        product: Product,
        of: &str,
        name: &str,
        value: &str,
    ) -> Result<Setting, TargetError> {
        let wrong = |usage: &str| {
            Err(TargetError::Malformed(format!("{of}: {name}={value} is not understood; {usage}")))
        };
        // Its value was taken out before, as that of a password.
        if is_secret(name, value) {
            return Err(TargetError::Malformed(format!(
                "{of}: {name} has a password in it, and what a server is told is shown and stored; \
                 leave it out"
            )));
        }
        if value.chars().any(char::is_control) || value.len() > LONGEST {
            return wrong("a value is one line of at most 1024 bytes");
        }
        if let Some((_, usage)) = NEUTRAL.iter().find(|(known, _)| *known == name) {
            let setting = neutral(name, value);
            return match setting.filter(|setting| fits(product, setting)) {
                Some(setting) => Ok(setting),
                None if neutral(name, value).is_some() => {
                    Err(TargetError::Malformed(format!("{of}: {name}={value}: {}", unfit(name))))
                }
                None => wrong(&format!("{name}= takes {usage}")),
            };
        }
        let name = match name {
            "my_cnf" => "my-cnf",
            "postgresql_conf" | "postgres-conf" | "postgres_conf" => "postgresql-conf",
            name => name,
        };
        match (name, product) {
            ("my-cnf" | "postgresql-conf", _) if name != file_word(product) => {
                wrong(&format!("a file for {} is {}=FILE", product.name(), file_word(product)))
            }
            ("my-cnf" | "postgresql-conf", _) if value.is_empty() => wrong("name a file"),
            ("my-cnf" | "postgresql-conf", _) => Ok(Setting::File(value.to_owned())),
            _ => raw(product, of, name, value),
        }
    }

    /// As what it is told from others: a target names each once, files excepted.
    pub fn name(&self) -> &str {
        match self {
            Setting::Preset(_) => "preset",
            Setting::Buffer(_) => "buffer",
            Setting::Redo(_) => "redo",
            Setting::Durability(_) => "durability",
            Setting::Flush(_) => "flush",
            Setting::Charset(_) => "charset",
            Setting::Binlog(_) => "binlog",
            Setting::Pfs(_) => "pfs",
            Setting::Cpus(_) => "cpus",
            Setting::Memory(_) => "memory",
            Setting::Allocator(_) => "allocator",
            Setting::File(_) => "file",
            Setting::Raw(name, _) => name,
        }
    }

    /// Its value as it is written, without escapes.
    pub fn value(&self) -> String {
        fn of<T: Copy + PartialEq>(words: [(&'static str, T); 3], wanted: T) -> String {
            let found = words.into_iter().find(|(_, known)| *known == wanted);
            found.map_or_else(String::new, |(word, _)| word.to_owned())
        }
        match self {
            Setting::Preset(preset) => of(Preset::WORDS, *preset),
            Setting::Buffer(mb) | Setting::Redo(mb) | Setting::Memory(mb) => size(*mb),
            Setting::Cpus(milli) => (f64::from(*milli) / 1e3).to_string(),
            Setting::Durability(durability) => of(Durability::WORDS, *durability),
            Setting::Flush(flush) => of(Flush::WORDS, *flush),
            Setting::Charset(charset) => of(Charset::WORDS, *charset),
            Setting::Binlog(switch) | Setting::Pfs(switch) => of(Switch::WORDS, *switch),
            Setting::Allocator(allocator) => of(Allocator::WORDS, *allocator),
            Setting::File(path) => path.clone(),
            Setting::Raw(_, value) => value.clone(),
        }
    }

    /// The word in front of `=` for a server of this product.
    pub(crate) fn word_for(&self, product: Product) -> &str {
        match self {
            Setting::File(_) => file_word(product),
            other => other.name(),
        }
    }
}

/// `buffer=2G`, as it is written for a server of MySQL's family.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name(), self.value())
    }
}

/// Under which name an option is known however it is written: with hyphens, switched off by a
/// prefix, or not insisted on.
pub fn plain_name(name: &str) -> String {
    let name = name.replace('-', "_");
    let mut name = name.strip_prefix("loose_").unwrap_or(&name);
    let prefixes = ["skip_", "disable_", "enable_"];
    while let Some(rest) = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)) {
        name = rest;
    }
    name.to_owned()
}

/// Whether a server of this kind keeps every value that it is told under this name, and not only
/// the last: lists of what is replicated, plugins, instruments, flags of the optimizer.
///
/// MySQL 8.0 Reference Manual, 19.1.6 and 7.1.8; MariaDB's pages on `ignore_db_dirs` and on
/// replication from several sources, which puts the name of a connection and a point before the
/// option.
pub fn is_accumulated(product: Product, name: &str) -> bool {
    let plain = plain_name(&name.to_ascii_lowercase());
    let plain = plain.rsplit_once('.').map_or(plain.as_str(), |(_, option)| option);
    const EACH: [&str; 6] = [
        "plugin_load_add",
        "early_plugin_load",
        "performance_schema_instrument",
        "optimizer_switch",
        "ignore_db_dir",
        "ignore_db_dirs",
    ];
    const FILTERS: [&str; 5] = ["do_db", "ignore_db", "do_table", "ignore_table", "rewrite_db"];
    let filter = plain.strip_prefix("replicate_").map(|rest| rest.trim_start_matches("wild_"));
    let filter = filter.or_else(|| {
        plain.strip_prefix("binlog_").filter(|rest| ["do_db", "ignore_db"].contains(rest))
    });
    product != Product::Postgres
        && (EACH.contains(&plain) || filter.is_some_and(|filter| FILTERS.contains(&filter)))
}

/// Whether the value of a server's option is a password, or has one in it: what servers are told is
/// shown and stored. Statements and commands may have one as any text may.
pub fn is_secret(name: &str, value: &str) -> bool {
    let plain = plain_name(name).to_ascii_lowercase();
    let is_switch = plain == "disconnect_on_expired_password";
    let endings = [
        "password",
        "passphrase",
        "passwd",
        "_pwd",
        "_token",
        "sst_auth",
        "conninfo",
        "passphrase_command",
    ];
    let is_key = plain.ends_with("filekey") && !value.starts_with("FILE:");
    is_key || (!is_switch && endings.iter().any(|ending| plain.ends_with(ending))) || tells(value)
}

/// Whether a statement or a command has a password in it.
fn tells(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let is_told = words.windows(2).any(|two| match two[0] {
        "identified" => two[1] == "by" || two[1] == "with",
        "-u" | "--user" => is_account(two[1]),
        _ => false,
    });
    is_told || names_secret(text)
}

fn is_account(word: &str) -> bool {
    word.split_once(':').is_some_and(|(_, rest)| !rest.is_empty())
}

/// Whether a server would run this value, as a command, a statement or a library, or use the file
/// that it names. One server's value of it is never told to another: whoever sets it decides what
/// is carried out on the machine of whoever copies it.
pub fn is_carried_out(name: &str, value: &str) -> bool {
    let plain = plain_name(name).to_ascii_lowercase();
    let endings = [
        "_command",
        "_cmd",
        "_exe",
        "_file",
        "_dir",
        "_directory",
        "_path",
        "_paths",
        "_library",
        "provider",
    ];
    let beginnings = ["init_", "plugin", "wsrep_sst", "ssl_", "tls_"];
    let is_zone = plain.ends_with("timezone") || plain.ends_with("time_zone");
    endings.iter().any(|ending| plain.ends_with(ending))
        || beginnings.iter().any(|beginning| plain.starts_with(beginning))
        || (value.contains(['/', '\\']) && !is_zone)
}

/// Options whose values are words of a list that the server knows, and of which none is a file, a
/// program or a library.
const OF_WORDS: [&str; 56] = [
    "auto_vacuum",
    "backslash_quote",
    "binlog_checksum",
    "binlog_format",
    "binlog_row_image",
    "binlog_transaction_dependency_tracking",
    "bytea_output",
    "character_set_server",
    "client_min_messages",
    "collation_server",
    "completion_type",
    "compute_query_id",
    "concurrent_insert",
    "constraint_exclusion",
    "debug_parallel_query",
    "default_storage_engine",
    "default_tmp_storage_engine",
    "default_toast_compression",
    "default_transaction_isolation",
    "enforce_gtid_consistency",
    "event_scheduler",
    "force_parallel_mode",
    "gtid_mode",
    "histogram_type",
    "huge_pages",
    "innodb_change_buffering",
    "innodb_checksum_algorithm",
    "innodb_compression_algorithm",
    "innodb_default_row_format",
    "innodb_doublewrite",
    "innodb_flush_method",
    "innodb_stats_method",
    "internal_tmp_disk_storage_engine",
    "internal_tmp_mem_storage_engine",
    "io_method",
    "journal_mode",
    "locking_mode",
    "log_min_messages",
    "log_output",
    "log_statement",
    "optimizer_switch",
    "optimizer_trace",
    "plan_cache_mode",
    "query_cache_type",
    "replica_parallel_type",
    "slave_parallel_mode",
    "slave_parallel_type",
    "sql_mode",
    "synchronous",
    "synchronous_commit",
    "temp_store",
    "thread_handling",
    "transaction_isolation",
    "wal_compression",
    "wal_level",
    "wal_sync_method",
];

/// Beginnings of options by which a server speaks with others than us, also where they are switched
/// on only: MariaDB's report to its maker, names on the network, the log of the machine.
const TALKATIVE: [&str; 8] = [
    "bonjour",
    "feedback",
    "log_error_services",
    "log_syslog",
    "mysqlx",
    "report_",
    "syslog",
    "wsrep",
];

/// Whether this value can be no file, program, library or statement: it is a number or a switch, or
/// the option is one of those that are known to take words. What a stranger writes is judged by
/// that, and not by a list of what is dangerous, which nobody knows to its end.
pub fn is_plain(name: &str, value: &str) -> bool {
    const SWITCHES: [&str; 7] = ["", "on", "off", "true", "false", "yes", "no"];
    const UNITS: [&str; 16] =
        ["", "k", "m", "g", "t", "kb", "mb", "gb", "tb", "b", "us", "ms", "s", "min", "h", "d"];
    let small = value.to_ascii_lowercase();
    let unit = small.trim_start_matches(|c: char| c.is_ascii_digit() || "-.".contains(c));
    let number = small[..small.len() - unit.len()].parse::<f64>();
    let is_number = number.is_ok_and(f64::is_finite) && UNITS.contains(&unit);
    let plain = plain_name(name).to_ascii_lowercase();
    // MySQL and MariaDB take the beginning of a name for the name.
    let is_talkative =
        TALKATIVE.iter().any(|known| plain.starts_with(known) || known.starts_with(&plain));
    if is_talkative || is_carried_out(name, value) {
        return false;
    }
    SWITCHES.contains(&small.as_str())
        || is_number
        || (OF_WORDS.contains(&plain.as_str())
            && value.chars().all(|c| c.is_ascii_alphanumeric() || "_-,= ".contains(c)))
}

/// Whether this option is dbdyno's own, so that nobody else can set it. MySQL and MariaDB take the
/// beginning of a name for the name.
pub fn is_ours(name: &str) -> bool {
    let plain = plain_name(name).to_ascii_lowercase();
    let is_whole = WHOLE.contains(&plain.as_str());
    !is_whole && !plain.is_empty() && OURS.iter().any(|ours| ours.starts_with(&plain))
}

/// `2G` in MB, if it is a size that a server can have.
pub fn size_mb(text: &str) -> Option<u64> {
    whole_mb(text).filter(|mb| SIZES_MB.contains(mb))
}

/// `64M` in MB, however small or large.
pub(crate) fn whole_mb(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "M" | "MB" | "m" => 1,
        "G" | "GB" | "g" => 1_024,
        "T" | "TB" | "t" => 1_024 * 1_024,
        _ => return None,
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// Whether this is a log that would be written elsewhere than in the server's own directory, maybe
/// into that of another server.
pub fn is_log_elsewhere(name: &str, value: &str) -> bool {
    LOGS.contains(&plain_name(name).as_str()) && value.contains('/')
}

fn file_word(product: Product) -> &'static str {
    match product {
        Product::MySql | Product::MariaDb => "my-cnf",
        Product::Postgres => "postgresql-conf",
    }
}

/// The neutral setting, whatever the product.
fn neutral(name: &str, value: &str) -> Option<Setting> {
    fn of<T: Copy>(words: [(&str, T); 3], value: &str) -> Option<T> {
        words.into_iter().find(|(word, _)| *word == value).map(|(_, meant)| meant)
    }
    match name {
        "preset" => of(Preset::WORDS, value).map(Setting::Preset),
        "buffer" => size_mb(value).map(Setting::Buffer),
        "redo" => size_mb(value).map(Setting::Redo),
        "cpus" => cpus_milli(value).map(Setting::Cpus),
        "memory" => size_mb(value).map(Setting::Memory),
        "allocator" => of(Allocator::WORDS, value).map(Setting::Allocator),
        "durability" => of(Durability::WORDS, value).map(Setting::Durability),
        "flush" => of(Flush::WORDS, value).map(Setting::Flush),
        "charset" => of(Charset::WORDS, value).map(Setting::Charset),
        "binlog" => of(Switch::WORDS, value).map(Setting::Binlog),
        "pfs" => of(Switch::WORDS, value).map(Setting::Pfs),
        _ => None,
    }
}

/// `1.5` in thousandths of a processor.
fn cpus_milli(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let cpus = text.parse::<f64>().ok().filter(|cpus| plain && (0.1..=1e3).contains(cpus))?;
    Some((cpus * 1e3).round() as u32)
}

/// Whether a server of this product has such a thing at all.
fn fits(product: Product, setting: &Setting) -> bool {
    let absent = match setting {
        Setting::Flush(flush) => *flush != Flush::Default,
        Setting::Binlog(switch) | Setting::Pfs(switch) => *switch != Switch::Default,
        _ => false,
    };
    product != Product::Postgres || !absent
}

/// What PostgreSQL has instead.
fn unfit(name: &str) -> &'static str {
    match name {
        "flush" => {
            "PostgreSQL writes its tables through the page cache; how it flushes its log is \
             wal_sync_method="
        }
        "binlog" => "PostgreSQL's replicas read its redo log; what that holds is wal_level=",
        _ => {
            "PostgreSQL has no performance schema; it observes itself with track_activities=, \
             track_counts= and track_io_timing="
        }
    }
}

/// Words of targets beside those that servers are told.
const BESIDE: [&str; 5] = ["image", "cache", "upgrade-from", "slow", "record"];

fn raw(product: Product, of: &str, name: &str, value: &str) -> Result<Setting, TargetError> {
    let postgres = product == Product::Postgres;
    let wrong = |text: String| Err(TargetError::Malformed(format!("{of}: {text}")));
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.-".contains(c);
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    if !begins || !name.chars().all(plain) || name.len() > LONGEST {
        return wrong(format!(
            "{name:?} is not the name of an option; write it in lower-case letters, digits, _, . \
             and -"
        ));
    }
    let words = NEUTRAL.iter().map(|(word, _)| *word);
    let words: Vec<&str> = words.chain([file_word(product)]).chain(BESIDE).collect();
    if let Some(meant) = words.iter().find(|word| is_slip_of(name, word)) {
        return wrong(format!(
            "{name:?} is close to {meant}, and nothing is called so; there are {}, and whatever \
             option the server itself has, as it spells it",
            words.join(", ")
        ));
    }
    if is_ours(name) {
        return wrong(format!(
            "{name} is dbdyno's own: each server gets its paths, port and log from it; leave it out"
        ));
    }
    if is_log_elsewhere(name, value) {
        return wrong(format!("{name} stays in the server's own directory; write {name}=NAME"));
    }
    if postgres && value.is_empty() {
        return wrong(format!("{name} lacks a value; write {name}=VALUE"));
    }
    let name = if postgres { name.to_owned() } else { name.replace('-', "_") };
    Ok(Setting::Raw(name, value.to_owned()))
}

/// Whether a word is probably another one, mistyped. Any other word is the server's to know: it has
/// options of one word, such as `userstat`, and refuses what it does not know.
fn is_slip_of(name: &str, word: &str) -> bool {
    let plain = |text: &str| text.replace('_', "-");
    let apart = strsim::osa_distance(&plain(name), &plain(word));
    name != word && apart <= word.len() / 4
}

/// Megabytes in the largest unit that leaves them whole.
fn size(mb: u64) -> String {
    match mb {
        _ if mb.is_multiple_of(1_024 * 1_024) => format!("{}T", mb / (1_024 * 1_024)),
        _ if mb.is_multiple_of(1_024) => format!("{}G", mb / 1_024),
        _ => format!("{mb}M"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::begin::{Begin, Cache};
    use crate::random::{RandomStream, stream};
    use crate::target::{ArmSpec, ReleaseSpec, Target, TransactionRecording};

    /// Of what a stranger writes only what is known to be harmless is.
    #[test]
    fn numbers_switches_and_known_words_are_plain() {
        for (name, value) in [
            ("innodb_buffer_pool_size", "2G"),
            ("shared-buffers", "128MB"),
            ("cache_size", "-20000"),
            ("deadlock_timeout", "1.5s"),
            ("jit", "on"),
            ("skip_log_bin", ""),
            ("optimizer_switch", "mrr=on,mrr_cost_based=off"),
            ("transaction_isolation", "READ-COMMITTED"),
            ("journal_mode", "wal"),
        ] {
            assert!(is_plain(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("shared_preload_libraries", "auto_explain"),
            ("include", "x"),
            ("plperl.on_init", "system(1)"),
            ("early_plugin_load", "keyring_file.so"),
            ("general_log_f", "x"),
            ("feedback", "ON"),
            ("feedbac", "on"),
            ("mysqlx", "ON"),
            ("wal_dir", ".."),
            ("wal_dir", "7"),
            ("db_log_dir", "on"),
            ("db_paths", "7"),
            ("wal_size", ".."),
            ("some_size", "-"),
            ("some_size", "1.2.3"),
            ("feedback_http_proxy", "127.0.0.1:15999"),
            ("optimizer_switch", "/etc/x"),
            ("temp_store_directory", "x"),
            ("init_connect", "drop table t"),
            ("archive_command", "rm"),
            ("some_size", "1.so"),
            ("some_size", "1/x"),
        ] {
            assert!(!is_plain(name, value), "{name}={value}");
        }
    }

    #[test]
    fn no_server_is_told_a_password_that_would_be_stored() {
        for text in [
            "mariadb:10.11?wsrep_sst_auth=u:hunter2",
            "mysql:8.0?report_password=hunter2",
            "mysql:8.0?loose_report-password=hunter2",
            "postgres:17?primary_conninfo=host=x user=u password=hunter2",
        ] {
            let told = text.parse::<ArmSpec>().unwrap_err().to_string();
            assert!(told.contains("has a password in it"), "{told}");
            assert!(!told.contains("hunter2"), "{told}");
        }
        assert!(
            !is_secret("disconnect_on_expired_password", "1") && !is_secret("secure_auth", "1")
        );
        for name in [
            "bind_addr",
            "loose-bind-addr",
            "skip_gr",
            "skip-grant",
            "enable-skip-grant-tables",
            "Bind_Address",
            "admin_address",
            "extra_port",
            "plugin_d",
            "skip_networking",
            "wsrep_provider",
            "loose_group_replication_start",
        ] {
            assert!(is_ours(name), "{name}");
        }
        for name in [
            "innodb_doublewrite",
            "log_bin",
            "skip_name_resolve",
            "mysqlx",
            "plugin_load",
            "wsrep_provider_options",
            "wsrep_on",
        ] {
            assert!(!is_ours(name), "{name}");
        }
        for (name, value) in [
            ("init_connect", "alter user a identified by 'x'"),
            ("archive_command", "curl -u ann:x https://h/%f"),
            ("archive_command", "curl https://ann:x@h/%f"),
            ("restore_command", "PGPASSWORD=x psql"),
            ("file_key_management_filekey", "x"),
        ] {
            assert!(is_secret(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("file_key_management_filekey", "FILE:/etc/key"),
            ("archive_command", "cp %p /archive/%f"),
            ("init_connect", "set names utf8mb4"),
            ("sql_mode", "ANSI_QUOTES,PIPES_AS_CONCAT"),
            ("log_line_prefix", "%m [%p] %q%u@%d "),
        ] {
            assert!(!is_secret(name, value), "{name}={value}");
        }
        assert!("mysql:8.0?validate_password.length=8".parse::<ArmSpec>().is_ok());
    }

    fn pick<T: Copy>(stream: &mut RandomStream, of: &[T]) -> T {
        of[stream.next_below(of.len() as u64) as usize]
    }

    /// Letters that a shell, a URL or the separators of a target could stumble over are among them.
    fn text(stream: &mut RandomStream) -> String {
        let letters: Vec<char> = "aZ09_-.~/%&=?+@:,;'\"\\ #{}[]ä€😀".chars().collect();
        (0..stream.next_below(12)).map(|_| pick(stream, &letters)).collect()
    }

    fn any(stream: &mut RandomStream, product: Product) -> Setting {
        let postgres = product == Product::Postgres;
        match stream.next_below(if postgres { 8 } else { 11 }) {
            0 => Setting::Preset(pick(stream, &Preset::WORDS).1),
            1 => Setting::Buffer(16 + stream.next_below(4_096)),
            2 => Setting::Redo(1_024 * (1 + stream.next_below(4_096))),
            3 => Setting::Durability(pick(stream, &Durability::WORDS).1),
            4 => Setting::Charset(pick(stream, &Charset::WORDS).1),
            5 => Setting::File(format!("./{}", text(stream))),
            6 => {
                let name = format!("innodb_x.{}", stream.next_below(1_000));
                Setting::Raw(name, format!("x{}", text(stream)))
            }
            7 => Setting::Allocator(pick(stream, &Allocator::WORDS).1),
            8 => Setting::Flush(pick(stream, &Flush::WORDS).1),
            9 => Setting::Binlog(pick(stream, &Switch::WORDS).1),
            _ => Setting::Pfs(pick(stream, &Switch::WORDS).1),
        }
    }

    #[test]
    fn what_is_shown_is_read_back_as_the_same_whatever_is_wanted() {
        for seed in 0..2_000 {
            let mut stream = stream(&[seed]);
            let product = pick(&mut stream, &Product::ALL);
            let mut settings: Vec<Setting> = Vec::new();
            for _ in 0..stream.next_below(8) {
                let setting = any(&mut stream, product);
                let is_file = matches!(setting, Setting::File(_));
                if is_file || settings.iter().all(|known| known.name() != setting.name()) {
                    settings.push(setting);
                }
            }
            let version = "10.11@debian".to_owned();
            let slow = pick(&mut stream, &[0.0, 0.05]);
            let release = ReleaseSpec { product, version, settings };
            let cache = pick(&mut stream, &Cache::ALL);
            let begin = Begin { cache, ..Begin::default() };
            let record = pick(&mut stream, &[TransactionRecording::Off, TransactionRecording::On]);
            let spec = ArmSpec { target: Target::Release(release), slow, record, begin };
            let shown = spec.to_string();
            assert_eq!(shown.parse::<ArmSpec>().as_ref(), Ok(&spec), "{shown}");
            assert!(!shown.contains(['\'', ' ', '\\']), "{shown} would not survive a shell");
        }
    }

    #[test]
    fn sizes_have_units_and_bounds() {
        for (text, mb) in [("16M", 16), ("2G", 2_048), ("1T", 1_048_576), ("512MB", 512)] {
            assert_eq!(size_mb(text), Some(mb));
        }
        for wrong in
            ["", "G", "2", "2K", "-1G", "1.5G", "15M", "17T", "99999999999999999999G", "2é"]
        {
            assert_eq!(size_mb(wrong), None, "{wrong}");
        }
        assert_eq!((size(2_048), size(1_536)), ("2G".into(), "1536M".into()));
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_what_could() {
        for (target, hint) in [
            (
                "mariadb:10.11?bufer=2G",
                "\"bufer\" is close to buffer, and nothing is called so; there are preset, buffer",
            ),
            ("mariadb:10.11?buffer=2", "a whole number with M, G or T"),
            ("mariadb:10.11?durability=on", "full, relaxed or off"),
            ("mysql:8.0?allocator=hoard", "system, jemalloc or tcmalloc"),
            ("mysql:8.0?preset=fast", "dbdyno, default or cz-a"),
            ("mysql:8.0?postgresql-conf=x", "my-cnf=FILE"),
            ("postgres:17?my_cnf=x", "postgresql-conf=FILE"),
            ("postgres:17?my-cnf=x", "postgresql-conf=FILE"),
            ("postgres:17?flush=direct", "wal_sync_method"),
            ("postgres:17?binlog=on", "wal_level"),
            ("postgres:17?pfs=off", "track_io_timing"),
            ("postgres:17?work_mem=", "lacks a value"),
            ("mysql:8.0?port=3306", "dbdyno's own"),
            ("mysql:8.0?skip-networking=", "dbdyno's own"),
            ("mysql:8.0?skip_grant_tables=", "dbdyno's own"),
            ("mysql:8.0?innodb_data_home_dir=/var/lib/mysql", "dbdyno's own"),
            ("mysql:8.0?log_bin=/var/log/mysql/bin", "write log_bin=NAME"),
            ("mysql:8.0?Innodb_io=1", "lower-case"),
            ("mysql:8.0?innodb io=1", "lower-case"),
            ("mysql:8.0?buffer=1G&buffer=2G", "twice"),
            ("mysql:8.0?innodb-io-capacity=1&innodb_io_capacity=2", "twice"),
            ("mysql:8.0?sql_mode=a%0Ab", "one line"),
            ("mysql:8.0?my-cnf=", "name a file"),
        ] {
            let error = target.parse::<ArmSpec>().unwrap_err().to_string();
            assert!(error.contains(hint), "{target}: {error}");
        }
        for right in ["postgres:17?flush=default&pfs=default", "mysql:8.0?skip_name_resolve="] {
            assert!(right.parse::<ArmSpec>().is_ok(), "{right}");
        }
    }

    #[test]
    fn an_option_has_one_name_however_it_is_written() {
        for written in ["skip-log-bin", "log_bin", "loose_skip_log_bin", "disable-log-bin"] {
            assert_eq!(plain_name(written), "log_bin");
        }
    }
}
