//! Sessions that look at a server, and call nothing that anybody has made there.
//!
//! ```text
//!   PostgreSQL   names are resolved in pg_catalog alone; tables stand with their schema
//!   MySQL        latin1, so that no character swallows a quote; tables of the session's database
//!   others       as they are
//! ```

use dbdyno_model::{Dialect, Identifier};
use dbdyno_wire::{Client, WireError};

use crate::family::{CatalogueKind, ServerRelease};
use crate::names::TableNames;

/// How PostgreSQL resolves names in a session that only looks.
const SAFE_PATH: &str = "SET search_path = pg_catalog, pg_temp";

/// A session that looks at the tables and the catalogue of an arm: in PostgreSQL it finds
/// functions, operators and relations in `pg_catalog` alone, so that tables stand with their
/// schema.
pub struct Onlooker {
    /// The session.
    pub client: Box<dyn Client>,
    /// The server that it looks at.
    pub server: ServerRelease,
    /// How tables are named in it.
    pub names: TableNames,
}

impl Onlooker {
    /// One of the session of a client that speaks this dialect.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn from_client(
        mut client: Box<dyn Client>,
        dialect: Dialect,
    ) -> Result<Onlooker, WireError> {
        let server = ServerRelease::of_client(&*client, dialect);
        let schema = match server.family().catalogue {
            CatalogueKind::Schemas => postgres_session(&mut *client)?,
            CatalogueKind::Databases | CatalogueKind::Tables => {
                server.begin_to_look(&mut *client)?;
                None
            }
        };
        Ok(Onlooker { client, server, names: TableNames { dialect, schema } })
    }
}

/// Makes a session ask a server about itself, and about no table: in PostgreSQL it finds functions,
/// operators and views in `pg_catalog` alone, whatever anybody has made elsewhere.
///
/// # Errors
/// The server's refusal.
pub fn look_safely(client: &mut dyn Client, dialect: Dialect) -> Result<(), WireError> {
    if dialect == Dialect::Postgres {
        client.run(SAFE_PATH)?;
    }
    Ok(())
}

/// Makes a session of PostgreSQL resolve what it calls in `pg_catalog`; says in which schema tables
/// are made.
///
/// # Errors
/// The server's refusal, or a schema that cannot be named.
pub(crate) fn postgres_session(client: &mut dyn Client) -> Result<Option<Identifier>, WireError> {
    let schema =
        client.query("SELECT pg_catalog.current_schema()")?.first_value().map(str::to_owned);
    client.run(SAFE_PATH)?;
    schema
        .map(|name| {
            Identifier::new(&name, Dialect::Postgres)
                .map_err(|error| WireError::Protocol(format!("the schema {name:?}: {error}")))
        })
        .transpose()
}
