//! Connections to a server, by its dialect.

use dbdyno_load::Connector;
use dbdyno_model::{Dialect, ServerUrl};
use dbdyno_wire::{Endpoint, Security, WireError};

/// What a URL says, its files read.
///
/// # Errors
/// [`WireError::Tls`].
pub(crate) fn endpoint(url: &ServerUrl) -> Result<Endpoint, WireError> {
    Ok(Endpoint {
        transport: url.transport.clone(),
        user: url.user.clone(),
        password: url.password.clone().unwrap_or_default(),
        database: url.database.clone(),
        security: Security::from_options(&url.tls, url.dialect, &url.transport)?,
    })
}

/// How sessions of a server are opened that runs already.
///
/// # Errors
/// [`WireError::Tls`].
pub fn connector_of_url(url: &ServerUrl) -> Result<Connector, WireError> {
    Ok(connector_for(url.dialect, endpoint(url)?))
}

/// Whether a server refuses the account for want of a password, so that asking for one may help.
/// Every other trouble is told when it is met in earnest.
pub fn wants_password(url: &ServerUrl) -> bool {
    let asked = connector_of_url(url).and_then(|connector| connector.connect());
    match asked {
        Ok(client) => {
            client.close();
            false
        }
        // Access denied for a user of MySQL; invalid_password of PostgreSQL.
        Err(WireError::Login(error)) => error.code == 1045 || error.sqlstate == "28P01",
        Err(_) => false,
    }
}

/// Connections in this dialect to there.
pub(crate) fn connector_for(dialect: Dialect, endpoint: Endpoint) -> Connector {
    match dialect {
        // The engine's words are its own, its protocol is not.
        Dialect::Mysql | Dialect::Engine => Connector::Mysql(endpoint),
        Dialect::Postgres => Connector::Postgres(endpoint),
        Dialect::Sqlite | Dialect::Rocksdb => {
            unreachable!("it has no endpoint")
        }
    }
}
