//! Sessions that look at a server, and call nothing that anybody has made there.
//!
//! ```text
//!   PostgreSQL   names are resolved in pg_catalog alone; tables stand with their schema
//!   MySQL        latin1, so that no character swallows a quote; tables of the session's database
//!   others       as they are
//! ```

use dbdyno_model::{Dialect, Identifier, Literal, UnfitName};
use dbdyno_wire::{Client, WireError};

use crate::family::{CatalogueKind, ServerRelease};

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
    pub fn of(mut client: Box<dyn Client>, dialect: Dialect) -> Result<Onlooker, WireError> {
        let server = ServerRelease::of(&*client, dialect);
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

/// How tables are named in a session that looks.
#[derive(Clone, Debug)]
pub struct TableNames {
    dialect: Dialect,
    schema: Option<Identifier>,
}

impl TableNames {
    /// A table that is made as this word, for a statement.
    ///
    /// # Errors
    /// A word that cannot be a name.
    pub fn of_word(&self, word: &str) -> Result<TableName, UnfitName> {
        self.placed(Identifier::of_word(word, self.dialect)?)
    }

    /// A table that the server calls so.
    ///
    /// # Errors
    /// What cannot be a name.
    pub fn exactly(&self, name: &str) -> Result<TableName, UnfitName> {
        self.placed(Identifier::new(name, self.dialect)?)
    }

    fn placed(&self, name: Identifier) -> Result<TableName, UnfitName> {
        let place = match (&self.schema, self.dialect) {
            (Some(schema), _) => format!("{schema}.{name}"),
            // It has words and no quotes.
            (None, Dialect::Rocksdb) => name.name().to_owned(),
            (None, _) => name.to_string(),
        };
        Ok(TableName { place, name, dialect: self.dialect })
    }

    /// The schema of PostgreSQL in which tables are made, as a text for a statement.
    pub fn schema(&self) -> String {
        let schema = self.schema.as_ref().map(|schema| Literal::new(schema.name(), self.dialect));
        schema.map_or_else(|| "NULL".to_owned(), |schema| schema.to_string())
    }
}

/// A table in a session that looks.
#[derive(Clone, Debug)]
pub struct TableName {
    place: String,
    name: Identifier,
    dialect: Dialect,
}

impl TableName {
    /// As it stands in FROM.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Its name as a text for a statement, to be compared in a catalogue.
    pub fn text(&self) -> Literal {
        Literal::new(self.name.name(), self.dialect)
    }

    /// Its oid in PostgreSQL, as an expression.
    pub fn oid(&self) -> String {
        let place = Literal::new(&self.place, self.dialect);
        format!("{place}::pg_catalog.regclass::pg_catalog.oid")
    }
}

/// Makes a session of PostgreSQL resolve what it calls in `pg_catalog`; says in which schema tables
/// are made.
///
/// # Errors
/// The server's refusal, or a schema that cannot be named.
pub(crate) fn postgres_session(client: &mut dyn Client) -> Result<Option<Identifier>, WireError> {
    let schema = client.query("SELECT pg_catalog.current_schema()")?.single().map(str::to_owned);
    client.run(SAFE_PATH)?;
    let named = |name: String| {
        Identifier::new(&name, Dialect::Postgres)
            .map_err(|error| WireError::Protocol(format!("the schema {name:?}: {error}")))
    };
    schema.map(named).transpose()
}
