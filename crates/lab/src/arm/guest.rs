//! Our tables on a server that is not ours.
//!
//! ```text
//!   no tables wanted? ── yes ──▶ nothing is made, marked or taken away
//!        │
//!   database there? ── no ──▶ made, and dropped at the end if nothing else is in it
//!        │
//!   lock free? ── no ──▶ is it held by our other arm?  yes: the same tables, shared
//!        │                                             no:  another dbdyno, refused
//!   marker there? ── yes ──▶ its token has a receipt in this home: left by a killed dbdyno, and
//!        │                   what the receipt names goes; it has none: refused, untouched
//!   tables there? ── yes ──▶ somebody's own: refused, untouched
//!        │
//!   receipt, marker, tables  …  no tables, no marker, no receipt
//! ```
//!
//! The receipt (`dbdyno_sandbox::Receipt`) proves which tables are ours: a server can say anything.
//! The lock tells those of a living dbdyno from those of a killed one: the server lets go of it
//! when its connection ends. Where a server has no such locks, that of the receipt must do.

use dbdyno_load::{Connector, LoadError};
use dbdyno_model::{Dialect, Identifier};
use dbdyno_sandbox::{DatabaseMaker, Home, KnownToken, Receipt, ReceiptPlace, SandboxError};
use dbdyno_server::Catalogue;
use dbdyno_wire::{Client, Endpoint, WireError};

use super::connecting::connector_for;
use super::marker::Marker;

/// What PostgreSQL's advisory lock is called: the bytes of `dyno`.
const LOCK: u32 = 0x6479_6e6f;

/// Our tables on a server that is not ours.
pub(crate) struct Guest {
    endpoint: Endpoint,
    dialect: Dialect,
    /// What the tables are made as that are or will be ours.
    tables: Vec<String>,
    database: DatabaseMaker,
    /// What marks them; `None` where nothing is ours there.
    receipt: Option<Receipt>,
    /// The connection that holds the lock; `None` where the server has no such locks.
    lock: Option<Box<dyn Client>>,
}

/// How a database was found.
pub(crate) enum DatabaseState {
    /// Free for us, and reserved.
    Free(Box<Guest>),
    /// In use by this of the other guests.
    Shared(usize),
}

/// A database on a server that is not ours.
pub(crate) struct Destination<'a> {
    /// Where receipts are kept.
    pub home: &'a Home,
    /// The database.
    pub endpoint: &'a Endpoint,
    /// How its SQL is spelled.
    pub dialect: Dialect,
}

impl Guest {
    /// Makes sure of the database, alone or together with one of `others`. What a killed dbdyno of
    /// this home has left is taken away; `tell` hears of it. Without `tables` nothing is changed
    /// there.
    ///
    /// # Errors
    /// The server's refusal; [`LoadError::TableExists`] for tables that are not ours;
    /// [`LoadError::InUse`] if another dbdyno works there; [`LoadError::MarkedByOthers`] if one has
    /// left something there of which this home knows nothing.
    pub(crate) fn enter_database(
        destination: &Destination<'_>,
        tables: Vec<String>,
        others: &[&Guest],
        tell: &mut dyn FnMut(&str),
    ) -> Result<DatabaseState, LoadError> {
        let &Destination { endpoint, dialect, .. } = destination;
        let database = if tables.is_empty() {
            DatabaseMaker::Others
        } else {
            make_database(endpoint, dialect)?
        };
        let connector = connector_for(dialect, endpoint.clone());
        let lock = take_lock(&connector, dialect)?;
        if let Lock::Taken(holder) = lock {
            let at = others.iter().position(|guest| guest.is_connected_as(holder));
            // Behind a proxy its numbers of connections say nothing.
            let at = at.map_or_else(|| marked_by(&connector, others), |at| Ok(Some(at)))?;
            return at
                .map(DatabaseState::Shared)
                .ok_or_else(|| LoadError::InUse(endpoint.database.clone()));
        }
        let endpoint = endpoint.clone();
        let mut guest = Box::new(Guest {
            endpoint,
            dialect,
            tables,
            database,
            receipt: None,
            lock: lock.client(),
        });
        if guest.tables.is_empty() {
            return Ok(DatabaseState::Free(guest));
        }
        if let Some(at) = marked_by(&connector, others)? {
            return Ok(DatabaseState::Shared(at));
        }
        let mut catalogue = catalogue(&connector)?;
        guest.take_left_away(destination, &mut catalogue, tell)?;
        guest.mark(destination, &mut catalogue)?;
        catalogue.close();
        Ok(DatabaseState::Free(guest))
    }

    fn is_connected_as(&self, connection: Option<u64>) -> bool {
        let own = self.lock.as_ref().map(|client| client.connection_id());
        own.is_some() && own == connection
    }

    /// Takes away what a killed dbdyno of this home has left.
    fn take_left_away(
        &mut self,
        destination: &Destination<'_>,
        catalogue: &mut Catalogue,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), LoadError> {
        let place = self.place();
        let by_others = |known: String| {
            let database = destination.endpoint.database.clone();
            LoadError::MarkedByOthers { database, known }
        };
        let token = match Marker::find(catalogue)? {
            Marker::Nothing => {
                return Receipt::remove_stale(destination.home, &place).map_err(unfit);
            }
            Marker::Of(token) => token,
            Marker::Alien(what) => {
                return Err(by_others(format!("it is {}; ", what.escape_debug())));
            }
        };
        let receipt = match Receipt::look_up_token(destination.home, &token).map_err(unfit)? {
            KnownToken::Unknown => return Err(by_others(String::new())),
            KnownToken::InUse => return Err(LoadError::InUse(place.database)),
            KnownToken::Left(receipt) => receipt,
        };
        if !receipt.is_of(&place) {
            let server = receipt.server();
            return Err(by_others(format!(
                "it was made by way of {server}: name that in the URL, and it is taken away; "
            )));
        }
        drop_words(catalogue, receipt.tables())?;
        Marker::take_away(catalogue)?;
        if receipt.maker() == DatabaseMaker::Us {
            self.database = DatabaseMaker::Us;
        }
        receipt.remove().map_err(unfit)?;
        tell("took away tables that a killed dbdyno had left");
        Ok(())
    }

    fn mark(
        &mut self,
        destination: &Destination<'_>,
        catalogue: &mut Catalogue,
    ) -> Result<(), LoadError> {
        // Somebody's own tables are found before anything is marked as ours.
        let names = identifiers(catalogue, &self.tables)?;
        let found = catalogue.find_occupants(&names)?;
        if let Some(name) = names.iter().find(|name| found.contains_key(name.name())) {
            return Err(LoadError::TableExists(name.name().to_owned()));
        }
        let (place, tables) = (self.place(), self.tables.clone());
        let receipt =
            Receipt::write(destination.home, &place, self.database, tables).map_err(unfit)?;
        match Marker::create_table(catalogue, &receipt) {
            Ok(()) => self.receipt = Some(receipt),
            // It may be there although the answer was lost: the receipt stays.
            Err(error @ LoadError::Wire(..)) => return Err(error),
            Err(error) => {
                receipt.remove().map_err(unfit)?;
                return Err(error);
            }
        }
        Ok(())
    }

    fn place(&self) -> ReceiptPlace {
        ReceiptPlace {
            server: self.endpoint.transport.to_string(),
            database: self.endpoint.database.clone(),
        }
    }

    /// Takes away what we made.
    ///
    /// # Errors
    /// The server's refusal; the next run that comes there tries again.
    pub(crate) fn leave_database(mut self) -> Result<(), LoadError> {
        self.take_all_away()
    }

    fn take_all_away(&mut self) -> Result<(), LoadError> {
        let connector = connector_for(self.dialect, self.endpoint.clone());
        if let Some(receipt) = self.receipt.take() {
            let mut catalogue = catalogue(&connector)?;
            drop_words(&mut catalogue, &self.tables)?;
            Marker::take_away(&mut catalogue)?;
            catalogue.close();
            receipt.remove().map_err(unfit)?;
        }
        let lock = self.lock.take();
        let maker = std::mem::replace(&mut self.database, DatabaseMaker::Others);
        if maker == DatabaseMaker::Us && is_empty(&connector)? {
            // PostgreSQL drops no database that somebody is connected to, and be it we.
            lock.into_iter().for_each(Client::close);
            let name = database_name(&self.endpoint, self.dialect)?;
            run(&lobby(&self.endpoint, self.dialect), &format!("DROP DATABASE {name}"))?;
        }
        Ok(())
    }
}

impl Drop for Guest {
    /// On the way out of a failure. What cannot be taken away now is marked, and goes next time.
    fn drop(&mut self) {
        let _left_for_next_time = self.take_all_away();
    }
}

/// Which of these guests has marked the database of a connector, if one has.
fn marked_by(connector: &Connector, guests: &[&Guest]) -> Result<Option<usize>, LoadError> {
    if guests.is_empty() {
        return Ok(None);
    }
    let mut catalogue = catalogue(connector)?;
    let marker = Marker::find(&mut catalogue)?;
    catalogue.close();
    let Marker::Of(token) = marker else { return Ok(None) };
    let is_marked =
        |guest: &&Guest| guest.receipt.as_ref().is_some_and(|receipt| receipt.token() == token);
    Ok(guests.iter().position(is_marked))
}

enum Lock {
    Ours(Box<dyn Client>),
    /// By the connection of this number, where it is told.
    Taken(Option<u64>),
    Unsupported,
}

impl Lock {
    fn client(self) -> Option<Box<dyn Client>> {
        match self {
            Lock::Ours(client) => Some(client),
            Lock::Taken(_) | Lock::Unsupported => None,
        }
    }
}

/// What is said and asked for the lock of a database.
struct LockWords {
    /// The connection is idle for as long as the run takes; it calls what is the server's own.
    first: &'static [&'static str],
    take: String,
    holder: String,
}

fn lock_words(dialect: Dialect) -> LockWords {
    match dialect {
        Dialect::Mysql => {
            // The longest hash with which a name of 64 characters is not too long, and one that
            // MySQL still has: 9.6 has put MD5 and SHA1 away.
            let name = "CONCAT('dbdyno.', SHA2(DATABASE(), 224))";
            LockWords {
                first: &["SET SESSION wait_timeout=31536000"],
                take: format!("SELECT GET_LOCK({name}, 0)"),
                holder: format!("SELECT IS_USED_LOCK({name})"),
            }
        }
        Dialect::Postgres => LockWords {
            first: &["SET search_path = pg_catalog, pg_temp", "SET idle_session_timeout=0"],
            take: format!("SELECT pg_try_advisory_lock({LOCK})::int"),
            holder: format!(
                "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted \
                 AND classid = 0 AND objid = {LOCK} AND database = \
                 (SELECT oid FROM pg_database WHERE datname = current_database())"
            ),
        },
        Dialect::Sqlite | Dialect::Rocksdb | Dialect::Engine => unreachable!("it is no server"),
    }
}

fn take_lock(connector: &Connector, dialect: Dialect) -> Result<Lock, LoadError> {
    let mut client = connector.connect()?;
    let words = lock_words(dialect);
    for sql in words.first {
        if let Err(error) = client.run(sql)
            && error.is_fatal()
        {
            return Err(error.into());
        }
    }
    match client.query(&words.take) {
        Ok(rows) if rows.first_value() == Some("1") => Ok(Lock::Ours(client)),
        Ok(rows) if rows.first_value() == Some("0") => {
            let holder = client.query(&words.holder).ok();
            Ok(Lock::Taken(holder.and_then(|rows| rows.first_value()?.parse().ok())))
        }
        Err(error) if error.is_fatal() => Err(error.into()),
        Ok(_) | Err(_) => Ok(Lock::Unsupported),
    }
}

/// Makes the database that the URL names, if it is not there and we may.
fn make_database(endpoint: &Endpoint, dialect: Dialect) -> Result<DatabaseMaker, LoadError> {
    let direct = connector_for(dialect, endpoint.clone()).connect();
    let unknown = match &direct {
        Err(WireError::Login(error)) => {
            error.code == 1049 || (error.code == 0 && error.sqlstate == "3D000")
        }
        _ => false,
    };
    if !unknown {
        direct.map(Client::close)?;
        return Ok(DatabaseMaker::Others);
    }
    let name = database_name(endpoint, dialect)?;
    run(&lobby(endpoint, dialect), &format!("CREATE DATABASE {name}"))?;
    Ok(DatabaseMaker::Us)
}

fn database_name(endpoint: &Endpoint, dialect: Dialect) -> Result<Identifier, LoadError> {
    let name = Identifier::new(&endpoint.database, dialect);
    name.map_err(|error| LoadError::Unfit(format!("the database of the URL: {error}")))
}

/// Whether nobody else has put anything into the database.
fn is_empty(connector: &Connector) -> Result<bool, WireError> {
    let mut catalogue = catalogue(connector)?;
    let empty = catalogue.is_empty()?;
    catalogue.close();
    Ok(empty)
}

/// Where one connects to make or drop a database.
fn lobby(endpoint: &Endpoint, dialect: Dialect) -> Connector {
    let database = if dialect == Dialect::Postgres { "postgres" } else { "" };
    connector_for(dialect, Endpoint { database: database.to_owned(), ..endpoint.clone() })
}

fn catalogue(connector: &Connector) -> Result<Catalogue, WireError> {
    Ok(connector.open_catalogue()?.expect("what a URL names is a server"))
}

fn identifiers(catalogue: &Catalogue, words: &[String]) -> Result<Vec<Identifier>, LoadError> {
    words
        .iter()
        .map(|word| {
            let name = catalogue.table(word);
            name.map_err(|error| {
                LoadError::Unfit(format!("the table {}: {error}", word.escape_debug()))
            })
        })
        .collect()
}

/// Takes the tables away that are made as these words.
fn drop_words(catalogue: &mut Catalogue, words: &[String]) -> Result<(), LoadError> {
    let names = identifiers(catalogue, words)?;
    Ok(catalogue.drop_tables(&names)?)
}

/// A receipt that cannot be written or read.
fn unfit(error: SandboxError) -> LoadError {
    LoadError::Unfit(error.to_string())
}

fn run(connector: &Connector, sql: &str) -> Result<(), WireError> {
    let mut client = connector.connect()?;
    client.query(sql)?;
    client.close();
    Ok(())
}
