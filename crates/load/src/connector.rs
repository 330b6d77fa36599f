//! Where connections of an arm come from.

use dbdyno_model::{Dialect, Identifier};
use dbdyno_server::{Catalogue, Onlooker, ServerRelease, look_safely};
use dbdyno_wire::{Client, Endpoint, Patience, Pollable, WireError, mysql, postgres};

use crate::engine::EngineArm;
use crate::error::LoadError;
use crate::mock::{MockArm, MockClient};
use crate::null::NullClient;
use crate::rocks::RocksArm;
use crate::sqlite::SqliteFile;

/// An arm as far as a client sees it: something to connect to.
#[derive(Clone, Debug)]
pub enum Connector {
    /// A server that speaks MySQL's protocol.
    Mysql(Endpoint),
    /// A server that speaks PostgreSQL's protocol.
    Postgres(Endpoint),
    /// The bundled SQLite.
    Sqlite(SqliteFile),
    /// The RocksDB of the system, open.
    Rocks(RocksArm),
    /// The reference engine, open.
    Engine(EngineArm),
    /// A model in virtual time.
    Mock(MockArm),
    /// Nothing: see [`NullClient`].
    Null,
}

impl Connector {
    /// Opens a connection.
    ///
    /// # Errors
    /// Nobody listens, the login is refused, or the protocol is not what it should be.
    pub fn connect(&self) -> Result<Box<dyn Client>, WireError> {
        Ok(match self {
            Connector::Mysql(endpoint) => Box::new(mysql::MysqlConnection::connect(endpoint)?),
            Connector::Postgres(endpoint) => {
                Box::new(postgres::PostgresConnection::connect(endpoint)?)
            }
            Connector::Sqlite(file) => Box::new(file.open()?),
            Connector::Rocks(arm) => arm.client(),
            Connector::Engine(arm) => arm.client(),
            Connector::Mock(_) => Box::new(MockClient::default()),
            Connector::Null => Box::new(NullClient::default()),
        })
    }

    /// Opens a connection for work that goes through whole tables: it is waited for as long as
    /// such work may take.
    ///
    /// # Errors
    /// Those of [`Connector::connect`].
    pub fn connect_for_work(&self) -> Result<Box<dyn Client>, WireError> {
        let mut client = self.connect()?;
        client.set_patience(Patience::WORK);
        Ok(client)
    }

    /// Opens a session that asks an arm about itself, and about no table.
    ///
    /// # Errors
    /// Those of connecting, and the server's refusal.
    pub fn connect_to_ask(&self) -> Result<Box<dyn Client>, WireError> {
        let mut client = self.connect()?;
        look_safely(&mut *client, self.dialect())?;
        Ok(client)
    }

    /// Opens a session that looks at the tables and the catalogue of an arm.
    ///
    /// # Errors
    /// Those of connecting, and the server's refusal.
    pub fn open_onlooker(&self) -> Result<Onlooker, WireError> {
        Onlooker::from_client(self.connect()?, self.dialect())
    }

    /// The catalogue of the database of a server; `None` for an arm that is none.
    ///
    /// # Errors
    /// Those of connecting, and the server's refusal.
    pub fn open_catalogue(&self) -> Result<Option<Catalogue>, WireError> {
        if !self.is_server() {
            return Ok(None);
        }
        let client = self.connect_for_work()?;
        let server = ServerRelease::of_client(&*client, self.dialect());
        Catalogue::from_client(client, server).map(Some)
    }

    /// How its statements are spelled; those of a model and of nothing as the engine's.
    pub fn dialect(&self) -> Dialect {
        match self {
            Connector::Mysql(_) => Dialect::Mysql,
            Connector::Postgres(_) => Dialect::Postgres,
            Connector::Sqlite(_) => Dialect::Sqlite,
            Connector::Rocks(_) => Dialect::Rocksdb,
            Connector::Engine(_) | Connector::Mock(_) | Connector::Null => Dialect::Engine,
        }
    }

    /// Whether it is a server, which has an address.
    pub fn is_server(&self) -> bool {
        matches!(self, Connector::Mysql(_) | Connector::Postgres(_))
    }

    /// Opens a connection that can be asked without waiting.
    ///
    /// # Errors
    /// Those of [`Connector::connect`].
    ///
    /// # Panics
    /// For an embedded arm, which has no socket to wait for.
    pub(crate) fn connect_pollable(&self) -> Result<Box<dyn Pollable>, WireError> {
        Ok(match self {
            Connector::Mysql(endpoint) => Box::new(mysql::MysqlConnection::connect(endpoint)?),
            Connector::Postgres(endpoint) => {
                Box::new(postgres::PostgresConnection::connect(endpoint)?)
            }
            Connector::Sqlite(_)
            | Connector::Rocks(_)
            | Connector::Engine(_)
            | Connector::Mock(_)
            | Connector::Null => panic!("an embedded arm has no socket"),
        })
    }

    /// Ends the life of an embedded arm and begins another one on the same tables: what it has in
    /// memory comes to lie elsewhere. A server that is reached by its address is left as it is.
    ///
    /// # Errors
    /// Somebody still asks it, or the disk's refusal.
    pub fn open_again(self) -> Result<Connector, WireError> {
        Ok(match self {
            Connector::Sqlite(file) => {
                file.move_pages()?;
                Connector::Sqlite(file)
            }
            Connector::Rocks(arm) => Connector::Rocks(arm.open_again()?),
            Connector::Engine(arm) => Connector::Engine(arm.open_again()?),
            Connector::Mock(arm) => {
                arm.restart();
                Connector::Mock(arm)
            }
            server @ (Connector::Mysql(_) | Connector::Postgres(_) | Connector::Null) => server,
        })
    }

    /// The question of an arm in our own threads that is answered without an error where a table of
    /// this name is. Servers have a catalogue: see [`Connector::open_catalogue`].
    pub(crate) fn asks_for(&self, table: &str) -> Result<String, LoadError> {
        let name = self.names(table)?;
        Ok(match self {
            Connector::Rocks(_) => format!("TABLE {name}"),
            _ => format!("SELECT 1 FROM {name} WHERE 1=0"),
        })
    }

    /// How an arm in our own threads is told the name of a table.
    pub(crate) fn names(&self, table: &str) -> Result<String, LoadError> {
        let dialect = match self {
            Connector::Sqlite(_) => Dialect::Sqlite,
            // It has words and no quotes, and takes nothing but letters, digits and `_` for one.
            Connector::Rocks(_) => return Ok(table.to_owned()),
            _ => Dialect::Engine,
        };
        let name = Identifier::new(table, dialect);
        name.map(|name| name.to_string()).map_err(|error| LoadError::Unfit(error.to_string()))
    }

    /// Whether the arm lives in the client's own threads.
    pub fn is_embedded(&self) -> bool {
        matches!(
            self,
            Connector::Sqlite(_) | Connector::Rocks(_) | Connector::Engine(_) | Connector::Null
        )
    }
}
