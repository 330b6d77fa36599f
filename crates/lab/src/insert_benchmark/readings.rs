//! What is read of a server beside the clients' own figures, before and after a round.
//!
//! The *debt* is work that the server has put off and that queries pay for until it is done: old
//! versions that purge (MySQL) or vacuum (PostgreSQL) has yet to take away.

use std::path::PathBuf;

use dbdyno_load::Connector;
use dbdyno_model::{Dialect, Readings, readings};
use dbdyno_wire::Client;

use crate::arm::Station;
use crate::capture::engine_status;

/// History length: MySQL's and MariaDB's table of metrics, and MariaDB's status where that may not
/// be read.
const HISTORY: [&str; 2] = [
    "SELECT `COUNT` FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'",
    "SELECT variable_value FROM information_schema.global_status WHERE variable_name = \
     'INNODB_HISTORY_LIST_LENGTH'",
];
const DEAD_TUPLES: [&str; 1] =
    ["SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables WHERE relname ~ '^pi[0-9]+$'"];

/// Files of the database, in MariaDB and in MySQL; estimates where they may not be seen.
const MYSQL_SIZE: [&str; 3] = [
    "SELECT sum(file_size) FROM information_schema.innodb_sys_tablespaces WHERE name LIKE \
     concat(database(), '/%')",
    "SELECT sum(file_size) FROM information_schema.innodb_tablespaces WHERE name LIKE \
     concat(database(), '/%')",
    "SELECT sum(data_length + index_length) FROM information_schema.tables WHERE table_schema = \
     database()",
];
const POSTGRES_SIZE: [&str; 1] = ["SELECT pg_database_size(current_database())"];
const SQLITE_SIZE: [&str; 1] =
    ["SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"];

/// A connection of its own, by which an arm is asked about itself.
pub(super) struct Control {
    client: Option<Box<dyn Client>>,
    dialect: Dialect,
}

impl Control {
    /// Connects. Where that fails nothing is read.
    pub(super) fn open(station: &Station) -> Control {
        let client = station.connector.onlooker().ok().map(|onlooker| onlooker.client);
        Control { client, dialect: station.dialect }
    }

    /// The debt of this moment.
    pub(super) fn debt(&mut self) -> Option<f64> {
        match self.dialect {
            Dialect::Mysql => self.first_of(&HISTORY),
            Dialect::Postgres => self.first_of(&DEAD_TUPLES),
            Dialect::Engine => self.engine_status("unpurged_transactions"),
            Dialect::Sqlite | Dialect::Rocksdb => None,
        }
    }

    /// Sizes and memory of this moment.
    pub(super) fn note_sizes(&mut self, station: &Station, into: &mut Readings) {
        let database = match self.dialect {
            Dialect::Mysql => self.first_of(&MYSQL_SIZE),
            Dialect::Postgres => self.first_of(&POSTGRES_SIZE),
            Dialect::Sqlite => self.first_of(&SQLITE_SIZE),
            Dialect::Engine => match &station.connector {
                Connector::Engine(arm) => Some(arm.heap_bytes() as f64),
                _ => None,
            },
            Dialect::Rocksdb => None,
        };
        into.set(readings::DATABASE_BYTES, database);
        let resident = station.probe.as_ref().and_then(|probe| probe.resident_bytes().ok());
        into.set(readings::RESIDENT_BYTES, resident.flatten().map(|bytes| bytes as f64));
        let directory = self.directory(station);
        let bytes = directory.and_then(|path| dbdyno_probe::directory_bytes(&path).ok());
        into.set(readings::DATA_DIR_BYTES, bytes.map(|bytes| bytes as f64));
    }

    /// The data directory, if it is on this host.
    fn directory(&mut self, station: &Station) -> Option<PathBuf> {
        if let Connector::Sqlite(file) = &station.connector {
            return file.path.parent().map(PathBuf::from);
        }
        if let Connector::Engine(arm) = &station.connector {
            return Some(arm.directory().to_owned());
        }
        // A server that is observed runs here, and so its directory is here.
        station.probe.as_ref()?;
        let sql = match self.dialect {
            Dialect::Postgres => "SHOW data_directory",
            Dialect::Mysql | Dialect::Sqlite => "SELECT @@datadir",
            Dialect::Rocksdb | Dialect::Engine => return None,
        };
        let rows = self.client.as_mut()?.query(sql).ok()?;
        rows.single().map(PathBuf::from)
    }

    fn engine_status(&mut self, name: &str) -> Option<f64> {
        engine_status(self.client.as_deref_mut()?, name)
    }

    /// The first of these questions that the server answers.
    fn first_of(&mut self, questions: &[&str]) -> Option<f64> {
        let client = self.client.as_mut()?;
        questions.iter().find_map(|sql| client.query(sql).ok()?.single()?.parse().ok())
    }
}
