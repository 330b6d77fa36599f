//! What is read of a server beside the clients' own figures, before and after a round.
//!
//! The *debt* is work that the server has put off and that queries pay for until it is done: old
//! versions that purge (MySQL) or vacuum (PostgreSQL) has yet to take away.

use std::path::PathBuf;

use dbdyno_load::Connector;
use dbdyno_model::{Dialect, Readings, readings};
use dbdyno_server::{
    Onlooker, data_directory, database_bytes, dead_rows, read_fact, unpurged_transactions,
};

use crate::arm::Station;

/// The tables of the benchmark, as a regular expression of PostgreSQL.
const TABLES: &str = "^pi[0-9]+$";

/// A connection of its own, by which an arm is asked about itself.
pub(super) struct Control {
    onlooker: Option<Onlooker>,
    dialect: Dialect,
}

impl Control {
    /// Connects. Where that fails nothing is read.
    pub(super) fn open(station: &Station) -> Control {
        Control { onlooker: station.connector.open_onlooker().ok(), dialect: station.dialect }
    }

    /// The debt of this moment.
    pub(super) fn read_debt(&mut self) -> Option<f64> {
        let Onlooker { client, server, .. } = self.onlooker.as_mut()?;
        match self.dialect {
            Dialect::Mysql => read_fact(&mut **client, *server, "history_list").ok()?,
            Dialect::Postgres => dead_rows(&mut **client, *server, TABLES),
            Dialect::Engine => unpurged_transactions(&mut **client).ok()?,
            Dialect::Sqlite | Dialect::Rocksdb => None,
        }
    }

    /// Sizes and memory of this moment.
    pub(super) fn note_sizes(&mut self, station: &Station, into: &mut Readings) {
        let database = match &station.connector {
            Connector::Engine(arm) => Some(arm.heap_bytes() as f64),
            _ => self
                .onlooker
                .as_mut()
                .and_then(|onlooker| database_bytes(&mut *onlooker.client, onlooker.server)),
        };
        into.set(readings::DATABASE_BYTES, database);
        let resident = station.probe.as_ref().and_then(|probe| probe.resident_bytes().ok());
        into.set(readings::RESIDENT_BYTES, resident.flatten().map(|bytes| bytes as f64));
        let directory = self.directory(station);
        let bytes =
            directory.and_then(|path| dbdyno_probe::directory_bytes(&*station.host, &path).ok());
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
        if matches!(self.dialect, Dialect::Rocksdb | Dialect::Engine) {
            return None;
        }
        data_directory(&mut *self.onlooker.as_mut()?.client, self.dialect).ok()?
    }
}
