//! How a server is set up for measuring: the same for both arms, and no more than needed.

use dbdyno_model::Product;

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
        let redo_mb = match product {
            Product::MariaDb => self.redo_mb,
            Product::Postgres => 2 * self.redo_mb,
        };
        redo_mb.saturating_add(self.tables_mb)
    }

    /// Names and values as they are passed; an empty value is a bare switch.
    pub(crate) fn settings(&self, product: Product) -> Vec<(String, String)> {
        let settings = match product {
            Product::MariaDb => self.mariadb(),
            Product::Postgres => self.postgres(),
        };
        settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// * A commit writes the log but does not sync it, and there is no binary log: the tests are of
    ///   the server, not of the disk's flush.
    /// * Character set and collation are forced: their defaults differ between releases, and
    ///   sorting would compare collations.
    /// * TLS off: from 11.4 on a key pair is made at each start, which takes seconds.
    /// * The address space reserved for the pool is its size: 10.11.19 reserves 8 TiB, 11.8.6 does
    ///   not.
    fn mariadb(&self) -> Vec<(&'static str, String)> {
        vec![
            ("innodb_buffer_pool_size", format!("{}M", self.buffer_mb)),
            ("loose_innodb_buffer_pool_size_max", format!("{}M", self.buffer_mb)),
            ("innodb_log_file_size", format!("{}M", self.redo_mb)),
            ("innodb_flush_log_at_trx_commit", "2".into()),
            ("innodb_flush_method", "O_DIRECT".into()),
            ("skip_log_bin", String::new()),
            ("performance_schema", "OFF".into()),
            ("character_set_server", "latin1".into()),
            ("collation_server", "latin1_swedish_ci".into()),
            ("skip_character_set_client_handshake", String::new()),
            ("default_time_zone", "+00:00".into()),
            ("max_connections", self.max_connections.to_string()),
            ("local_infile", "ON".into()),
            ("skip_name_resolve", String::new()),
            ("skip_ssl", String::new()),
        ]
    }

    /// * A checkpoint begins when about half of `max_wal_size` has been written, hence twice the
    ///   redo.
    /// * Autovacuum stays on: it is part of what the server costs.
    /// * `jit` off: its compiler is not unpacked, and it never helps a statement as short as these.
    /// * Huge pages off, because the first server would take them from the second.
    /// * Dynamic shared memory in files of the data directory, so that a killed server leaves
    ///   nothing in `/dev/shm`; short statements do not use it.
    fn postgres(&self) -> Vec<(&'static str, String)> {
        vec![
            ("shared_buffers", format!("{}MB", self.buffer_mb)),
            ("max_wal_size", format!("{}MB", 2 * self.redo_mb)),
            ("synchronous_commit", "off".into()),
            ("autovacuum", "on".into()),
            ("jit", "off".into()),
            ("huge_pages", "off".into()),
            ("dynamic_shared_memory_type", "mmap".into()),
            ("timezone", "GMT".into()),
            ("log_timezone", "GMT".into()),
            ("max_connections", self.max_connections.to_string()),
        ]
    }
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
}
