//! By what a server is reached from outside: a port, a socket, a connection, and the signal by
//! which it shuts down. None of it needs a server of ours: one in the background is reached so too.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use dbdyno_host::EndSignal;
use dbdyno_model::{Dialect, Product};
use dbdyno_wire::{Client, Endpoint, Security, ServerKey, WireError};

use crate::error::SandboxError;

/// A connection of the product's protocol.
pub(crate) fn connect(product: Product, endpoint: &Endpoint) -> Result<Box<dyn Client>, WireError> {
    Ok(match product.dialect() {
        Dialect::Postgres => {
            Box::new(dbdyno_wire::postgres::PostgresConnection::connect(endpoint)?)
        }
        _ => Box::new(dbdyno_wire::mysql::MysqlConnection::connect(endpoint)?),
    })
}

/// How a server of ours is told its password: in clear, for it is on this host, and over TCP under
/// the key alone that it has in its private data directory. Whoever else answers on its port does
/// not get it.
pub(crate) fn own_security(product: Product, data: &Path) -> Security {
    match product {
        Product::MySql => Security::without_tls().with_key(ServerKey::InFile(public_key_in(data))),
        _ => Security::without_tls(),
    }
}

/// Where MySQL since 5.7 keeps the RSA key that it makes when it first starts.
fn public_key_in(data: &Path) -> PathBuf {
    data.join("public_key.pem")
}

/// By which a server shuts down cleanly. PostgreSQL's is "fast": connections are cut, nothing is
/// lost.
pub(crate) fn ending_signal(product: Product) -> EndSignal {
    match product.dialect() {
        Dialect::Postgres => EndSignal::Interrupt,
        _ => EndSignal::Terminate,
    }
}

/// The unix socket of a server that works in `work`.
pub(crate) fn socket_in(work: &Path, product: Product, port: u16) -> PathBuf {
    match product.dialect() {
        Dialect::Postgres => work.join(format!(".s.PGSQL.{port}")),
        _ => work.join("mysql.sock"),
    }
}

/// A port of 127.0.0.1 that is free now.
pub(crate) fn free_port() -> Result<u16, SandboxError> {
    let listener = TcpListener::bind(("127.0.0.1", 0));
    let address = listener.and_then(|listener| listener.local_addr());
    let port = address.map(|address| address.port());
    port.map_err(SandboxError::io("find a free port on", Path::new("127.0.0.1")))
}
