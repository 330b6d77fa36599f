//! Connections to a server, by its dialect.

use dbdyno_load::Connector;
use dbdyno_model::Dialect;
use dbdyno_wire::Endpoint;

/// Connections in this dialect to there.
pub(crate) fn connector(dialect: Dialect, endpoint: Endpoint) -> Connector {
    match dialect {
        Dialect::Mysql => Connector::Mysql(endpoint),
        Dialect::Postgres => Connector::Postgres(endpoint),
        Dialect::Sqlite | Dialect::Rocksdb | Dialect::Engine => {
            unreachable!("it has no endpoint")
        }
    }
}
