//! How neutral words are spelled by each family and version.
//!
//! ```text
//!   buffer       innodb_buffer_pool_size                    shared_buffers
//!                and …_size_max, MariaDB
//!   redo         innodb_log_file_size × 2 files             max_wal_size, twice as much: a
//!                  MySQL before 8.0.30, MariaDB before 10.5   checkpoint begins at about half
//!                innodb_log_file_size, one file
//!                  MariaDB from 10.5
//!                innodb_redo_log_capacity
//!                  MySQL from 8.0.30
//!   durability   innodb_flush_log_at_trx_commit             synchronous_commit, fsync
//!                and sync_binlog
//!   flush        innodb_flush_method                        –
//!                innodb_data_file_buffering and
//!                …_write_through, MariaDB from 11.0
//!   charset      character_set_server, collation_server,    encoding of the data directory
//!                …_client_handshake before MySQL 9
//!   binlog       skip_log_bin, or log_bin with server_id    –
//!                and binlog_format
//!   pfs          performance_schema                         –
//! ```
//!
//! Other files know options by name, and no test fails where a name is missing: those that leave no
//! trace in loaded tables (`image`), that silence each other (`translation`), and that a preset
//! names itself (`presets`).

use dbdyno_model::{Charset, Durability, Flush, Product, Switch};

use crate::catalog::at_least;
use crate::translation::{OptionReason, TranslatedOption};
use crate::wanted::NeutralOptions;

/// What is wanted, as this release spells it.
pub(crate) fn spell_options(
    product: Product,
    version: &str,
    wanted: &NeutralOptions,
) -> Vec<TranslatedOption> {
    match product {
        Product::Postgres => postgres(wanted),
        Product::MySql | Product::MariaDb => mysql_family(product, version, wanted),
    }
}

/// The encoding of a PostgreSQL data directory. `initdb` has none of its own, it would take that of
/// the environment.
pub(crate) fn postgres_encoding(charset: Charset) -> &'static str {
    match charset {
        Charset::Latin1 => "LATIN1",
        Charset::Utf8mb4 | Charset::Default => "UTF8",
    }
}

/// Redo log that a server may have to write before it starts, in MB, from what it is told.
pub(crate) fn redo_told_mb(settings: &[(String, String)]) -> u64 {
    let of = |wanted: &str| settings.iter().rfind(|(name, _)| name == wanted).map(|(_, v)| v);
    let files = of("innodb_log_files_in_group").and_then(|value| value.parse().ok()).unwrap_or(2);
    let file_mb = of("innodb_log_file_size").map_or(0, |value| told_mb(value));
    let whole_mb = of("innodb_redo_log_capacity").map_or(0, |value| told_mb(value));
    whole_mb.max(file_mb.saturating_mul(files))
}

/// A size as MySQL and MariaDB read it: bytes, or with K, M, G or T.
fn told_mb(value: &str) -> u64 {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().unwrap_or(0);
    match value[digits.len()..].to_ascii_uppercase().as_str() {
        "T" => number.saturating_mul(1 << 20),
        "G" => number.saturating_mul(1 << 10),
        "M" => number,
        "K" => number >> 10,
        _ => number >> 20,
    }
}

fn mysql_family(product: Product, version: &str, wanted: &NeutralOptions) -> Vec<TranslatedOption> {
    let mut told = Vec::new();
    if let Some((mb, why)) = &wanted.buffer_mb {
        let size = format!("{mb}M");
        told.push(TranslatedOption::new("buffer", "innodb_buffer_pool_size", &*size, why.clone()));
        if product == Product::MariaDb {
            // The address space reserved for the pool is its size: 10.11.19 reserves 8 TiB, 11.8.6
            // does not.
            let name = "loose_innodb_buffer_pool_size_max";
            told.push(TranslatedOption::new("buffer", name, size, why.clone()));
        }
    }
    if let Some((mb, why)) = &wanted.redo_mb {
        let (name, mb) = redo(product, version, *mb);
        told.push(TranslatedOption::new("redo", name, format!("{mb}M"), why.clone()));
    }
    if let Some((durability, why)) = &wanted.durability {
        let (commit, binlog) = match durability {
            Durability::Full => ("1", "1"),
            Durability::Relaxed => ("2", "0"),
            Durability::Off => ("0", "0"),
        };
        let name = "innodb_flush_log_at_trx_commit";
        told.push(TranslatedOption::new("durability", name, commit, why.clone()));
        let is_off = matches!(wanted.binlog, Some((Switch::Off, _)));
        if !is_off {
            told.push(TranslatedOption::new("durability", "sync_binlog", binlog, why.clone()));
        }
    }
    if let Some((flush, why)) = &wanted.flush {
        told.extend(flushing(product, version, *flush, why));
    }
    if let Some((charset, why)) = &wanted.charset {
        told.extend(characters(product, version, *charset, why));
    }
    if let Some((binlog, why)) = &wanted.binlog {
        told.extend(binary_log(product, version, *binlog, why));
    }
    if let Some((pfs, why)) = &wanted.pfs {
        let value = match pfs {
            Switch::On => Some("ON"),
            Switch::Off => Some("OFF"),
            Switch::Default => None,
        };
        let pfs = value
            .map(|value| TranslatedOption::new("pfs", "performance_schema", value, why.clone()));
        told.extend(pfs);
    }
    told
}

/// The option for the redo log's size, and the size of what it names.
fn redo(product: Product, version: &str, mb: u64) -> (&'static str, u64) {
    match product {
        Product::MySql if at_least(version, "8.0.30") => ("innodb_redo_log_capacity", mb),
        Product::MariaDb if at_least(version, "10.5") => ("innodb_log_file_size", mb),
        _ => ("innodb_log_file_size", mb / 2),
    }
}

/// How table spaces are written. From 11.0 on MariaDB has a switch for each of the two questions
/// that the old option answered at once: through the page cache or not, and with O_DSYNC or not.
fn flushing(
    product: Product,
    version: &str,
    flush: Flush,
    why: &OptionReason,
) -> Vec<TranslatedOption> {
    let told = |name: &str, value: &str| TranslatedOption::new("flush", name, value, why.clone());
    let split = product == Product::MariaDb && at_least(version, "11.0");
    match (flush, split) {
        (Flush::Default, _) => vec![],
        (Flush::Direct, false) => vec![told("innodb_flush_method", "O_DIRECT")],
        (Flush::Fsync, false) => vec![told("innodb_flush_method", "fsync")],
        (flush, true) => {
            let buffering = if flush == Flush::Fsync { "ON" } else { "OFF" };
            vec![
                told("innodb_data_file_buffering", buffering),
                told("innodb_data_file_write_through", "OFF"),
            ]
        }
    }
}

/// Character set and collation are told together: their defaults differ between releases, and
/// sorting would compare collations. Our clients ask for latin1 whatever the tables have; with
/// latin1 everywhere, a server that can is told that nobody's wish counts.
fn characters(
    product: Product,
    version: &str,
    charset: Charset,
    why: &OptionReason,
) -> Vec<TranslatedOption> {
    let told = |name: &str, value: &str| TranslatedOption::new("charset", name, value, why.clone());
    let (name, collation) = match charset {
        Charset::Default => return vec![],
        Charset::Latin1 => ("latin1", "latin1_swedish_ci"),
        Charset::Utf8mb4 => ("utf8mb4", utf8mb4_collation(product, version)),
    };
    let mut all = vec![told("character_set_server", name), told("collation_server", collation)];
    let can_ignore = product == Product::MariaDb || !at_least(version, "9.0");
    if charset == Charset::Latin1 && can_ignore {
        all.push(told("skip_character_set_client_handshake", ""));
    }
    all
}

/// The collation that the release has for utf8mb4 by itself.
fn utf8mb4_collation(product: Product, version: &str) -> &'static str {
    match product {
        Product::MySql if at_least(version, "8.0.1") => "utf8mb4_0900_ai_ci",
        Product::MariaDb if at_least(version, "11.6") => "utf8mb4_uca1400_ai_ci",
        _ => "utf8mb4_general_ci",
    }
}

/// MySQL from 5.7 on wants to know its number before it writes a binary log. Rows are logged
/// everywhere, as MySQL has done by itself since 5.7.7; before, it logged statements, and MariaDB
/// logs whichever it deems safe.
fn binary_log(
    product: Product,
    version: &str,
    binlog: Switch,
    why: &OptionReason,
) -> Vec<TranslatedOption> {
    let told = |name: &str, value: &str| TranslatedOption::new("binlog", name, value, why.clone());
    match binlog {
        Switch::Default => vec![],
        Switch::Off => vec![told("skip_log_bin", "")],
        Switch::On => {
            let mut all = vec![told("log_bin", "binlog"), told("server_id", "1")];
            if product == Product::MariaDb || !at_least(version, "5.7.7") {
                all.push(told("binlog_format", "ROW"));
            }
            all
        }
    }
}

fn postgres(wanted: &NeutralOptions) -> Vec<TranslatedOption> {
    let mut told = Vec::new();
    if let Some((mb, why)) = &wanted.buffer_mb {
        told.push(TranslatedOption::new(
            "buffer",
            "shared_buffers",
            format!("{mb}MB"),
            why.clone(),
        ));
    }
    if let Some((mb, why)) = &wanted.redo_mb {
        told.push(TranslatedOption::new(
            "redo",
            "max_wal_size",
            format!("{}MB", 2 * mb),
            why.clone(),
        ));
    }
    if let Some((durability, why)) = &wanted.durability {
        let commit = if *durability == Durability::Full { "on" } else { "off" };
        told.push(TranslatedOption::new("durability", "synchronous_commit", commit, why.clone()));
        if *durability == Durability::Off {
            told.push(TranslatedOption::new("durability", "fsync", "off", why.clone()));
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_redo_log_is_as_large_as_the_server_reads_it() {
        let mb = |settings: &[(&str, &str)]| {
            let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            redo_told_mb(&settings.iter().map(pair).collect::<Vec<_>>())
        };
        assert_eq!(mb(&[]), 0);
        assert_eq!(mb(&[("innodb_log_file_size", "512M")]), 1_024);
        assert_eq!(
            mb(&[("innodb_log_files_in_group", "15"), ("innodb_log_file_size", "2G")]),
            30_720
        );
        assert_eq!(mb(&[("innodb_redo_log_capacity", "1073741824")]), 1_024);
        assert_eq!(mb(&[("innodb_redo_log_capacity", "2048k")]), 2);
        assert_eq!(mb(&[("innodb_redo_log_capacity", "much")]), 0);
    }
}
