//! How a server is set up for measuring: the same for both arms, and no more than needed.
//!
//! What is meant is one description; how it is spelled depends on family and version:
//!
//! ```text
//!   redo log        innodb_log_file_size × 2 files   MySQL before 8.0.30, MariaDB before 10.5
//!                   innodb_log_file_size, one file   MariaDB from 10.5
//!                   innodb_redo_log_capacity         MySQL from 8.0.30
//!                   max_wal_size                     PostgreSQL
//!   no binary log   skip_log_bin                     the default before MySQL 8.0
//!   no TLS          skip_ssl                         gone in MySQL 8.4, where it stays on
//!   latin1          …_client_handshake               gone in MySQL 9; our clients ask for latin1
//!   no query cache  query_cache_type, …_size         gone in MySQL 8.0
//!   no X protocol   mysqlx                           there from MySQL 8.0
//!   no JIT          jit                              there from PostgreSQL 11
//! ```

use dbdyno_model::{Dialect, Product};

use crate::catalog::at_least;

/// Sizes that depend on the host. Everything else is either fixed here, for both arms alike, or the
/// release's own default: a changed default is part of what an upgrade comparison must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Buffer pool, or shared buffers, in MB.
    pub buffer_mb: u64,
    /// Redo log that may be written before the server must begin to write pages, in MB.
    pub redo_mb: u64,
    /// Room that the tables will need, in MB: checked against the free disk before the start.
    pub tables_mb: u64,
    /// Connections that the server accepts.
    pub max_connections: u32,
}

/// Enough for 1,000 clients, control connections and the reserve of the superuser.
const MAX_CONNECTIONS: u32 = 1_100;
/// Connections beside those of the clients.
const RESERVE: u32 = 100;

impl Options {
    /// Sizes for a host with `memory_mb` MB of memory. An eighth of it for the buffer pool, so that
    /// two servers, the client and the page cache fit side by side.
    pub fn for_host(memory_mb: u64) -> Options {
        let buffer_mb = (memory_mb / 8 / 128 * 128).clamp(128, 16_384);
        let redo_mb = buffer_mb.clamp(256, 1_024);
        Options { buffer_mb, redo_mb, tables_mb: 1_024, max_connections: MAX_CONNECTIONS }
    }

    /// The same for a server that many clients use at once.
    pub fn for_clients(self, clients: u32) -> Options {
        let max_connections = self.max_connections.max(clients.saturating_add(RESERVE));
        Options { max_connections, ..self }
    }

    /// Whether there are more connections than every machine has room for.
    pub(crate) fn is_for_a_crowd(&self) -> bool {
        self.max_connections > MAX_CONNECTIONS
    }

    /// Disk that a running server needs, in MB, beside its empty data directory.
    pub(crate) fn disk_mb(&self, product: Product) -> u64 {
        let redo_mb = match product.dialect() {
            Dialect::Postgres => 2 * self.redo_mb,
            _ => self.redo_mb,
        };
        redo_mb.saturating_add(self.tables_mb)
    }

    /// Names and values as they are passed; an empty value is a bare switch.
    pub(crate) fn settings(&self, product: Product, version: &str) -> Vec<(String, String)> {
        let settings = match product {
            Product::MySql => self.mysql(version),
            Product::MariaDb => self.mariadb(version),
            Product::Postgres => self.postgres(version),
        };
        settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// What MySQL and MariaDB have in common.
    ///
    /// * A commit writes the log but does not sync it, and there is no binary log: the tests are of
    ///   the server, not of the disk's flush.
    /// * Character set and collation are forced: their defaults differ between releases, and
    ///   sorting would compare collations.
    fn mysql_family(&self) -> Vec<(&'static str, String)> {
        vec![
            ("innodb_buffer_pool_size", format!("{}M", self.buffer_mb)),
            ("innodb_flush_log_at_trx_commit", "2".into()),
            ("innodb_flush_method", "O_DIRECT".into()),
            ("skip_log_bin", String::new()),
            ("performance_schema", "OFF".into()),
            ("character_set_server", "latin1".into()),
            ("collation_server", "latin1_swedish_ci".into()),
            ("default_time_zone", "+00:00".into()),
            ("max_connections", self.max_connections.to_string()),
            ("skip_name_resolve", String::new()),
        ]
    }

    fn mysql(&self, version: &str) -> Vec<(&'static str, String)> {
        let mut settings = self.mysql_family();
        if at_least(version, "8.0.30") {
            settings.push(("innodb_redo_log_capacity", format!("{}M", self.redo_mb)));
        } else {
            settings.push(("innodb_log_file_size", format!("{}M", self.redo_mb / 2)));
        }
        if !at_least(version, "9.0") {
            settings.push(("skip_character_set_client_handshake", String::new()));
        }
        if !at_least(version, "8.4") {
            settings.push(("skip_ssl", String::new()));
        }
        if at_least(version, "8.0") {
            // Some builds have it not.
            settings.push(("loose_mysqlx", "OFF".into()));
        } else {
            settings.extend(no_query_cache());
        }
        settings
    }

    /// * TLS off: from 11.4 on a key pair is made at each start, which takes seconds.
    /// * The address space reserved for the pool is its size: 10.11.19 reserves 8 TiB, 11.8.6 does
    ///   not.
    fn mariadb(&self, version: &str) -> Vec<(&'static str, String)> {
        let mut settings = self.mysql_family();
        let files = if at_least(version, "10.5") { 1 } else { 2 };
        settings.push(("innodb_log_file_size", format!("{}M", self.redo_mb / files)));
        settings.push(("loose_innodb_buffer_pool_size_max", format!("{}M", self.buffer_mb)));
        settings.push(("skip_character_set_client_handshake", String::new()));
        settings.push(("skip_ssl", String::new()));
        settings.extend(no_query_cache());
        settings
    }

    /// * A checkpoint begins when about half of `max_wal_size` has been written, hence twice the
    ///   redo.
    /// * Autovacuum stays on: it is part of what the server costs.
    /// * `jit` off: its compiler is not unpacked, and it never helps a statement as short as these.
    /// * Huge pages off, because the first server would take them from the second.
    /// * Dynamic shared memory in files of the data directory, so that a killed server leaves
    ///   nothing in `/dev/shm`; short statements do not use it.
    fn postgres(&self, version: &str) -> Vec<(&'static str, String)> {
        let mut settings = vec![
            ("shared_buffers", format!("{}MB", self.buffer_mb)),
            ("max_wal_size", format!("{}MB", 2 * self.redo_mb)),
            ("synchronous_commit", "off".into()),
            ("autovacuum", "on".into()),
            ("huge_pages", "off".into()),
            ("dynamic_shared_memory_type", "mmap".into()),
            ("timezone", "GMT".into()),
            ("log_timezone", "GMT".into()),
            ("max_connections", self.max_connections.to_string()),
        ];
        if at_least(version, "11") {
            settings.push(("jit", "off".into()));
        }
        settings
    }
}

/// The cache answered a repeated statement without executing it, and made all others wait for one
/// lock.
fn no_query_cache() -> [(&'static str, String); 2] {
    [("query_cache_type", "OFF".into()), ("query_cache_size", "0".into())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_servers_fit_beside_the_client_on_every_host() {
        for memory_mb in [512, 2_000, 8_000, 24_000, 512_000] {
            let options = Options::for_host(memory_mb);
            assert!(2 * options.buffer_mb <= memory_mb / 2, "{memory_mb}: {options:?}");
            assert!(options.max_connections > 1_000);
            assert_eq!(options.clone().for_clients(300), options);
            assert_eq!(options.for_clients(5_000).max_connections, 5_100);
        }
    }

    #[test]
    fn settings_that_a_version_does_not_know_are_not_passed_to_it() {
        let options = Options::for_host(8_000);
        let names = |product, version: &str| -> Vec<String> {
            options.settings(product, version).into_iter().map(|(name, _)| name).collect()
        };
        let has = |product, version: &str, name: &str| {
            names(product, version).iter().any(|known| known == name)
        };
        use Product::{MariaDb, MySql, Postgres};
        for (product, name, without, with) in [
            (MySql, "innodb_redo_log_capacity", "8.0.29", "8.0.30"),
            (MySql, "innodb_log_file_size", "9.7.4", "8.0.15"),
            (MySql, "query_cache_type", "8.0.12", "5.7.44"),
            (MySql, "skip_ssl", "8.4.0", "8.0.33"),
            (MySql, "skip_character_set_client_handshake", "9.7.4", "8.4.2"),
            (MySql, "loose_mysqlx", "5.7.22", "8.0.12"),
            (Postgres, "jit", "10.23", "11.22"),
            (MySql, "loose_innodb_buffer_pool_size_max", "8.0.33", ""),
            (MariaDb, "loose_mysqlx", "11.8.6", ""),
        ] {
            assert!(!has(product, without, name), "{name} with {without}");
            assert!(with.is_empty() || has(product, with, name), "{name} without {with}");
        }
        let redo = |version: &str| {
            let settings = options.settings(MariaDb, version);
            settings.into_iter().find(|(name, _)| name == "innodb_log_file_size").unwrap().1
        };
        assert_eq!((redo("10.2.11"), redo("10.5.23")), ("448M".into(), "896M".into()));
    }
}
