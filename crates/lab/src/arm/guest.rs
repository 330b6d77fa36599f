//! Our tables on a server that is not ours.
//!
//! ```text
//!   database there? ── no ──▶ made, and dropped at the end if nothing else is in it
//!        │
//!   lock free? ── no ──▶ is the marker that of our other arm?  yes: the same tables, shared
//!        │                                                     no:  another dbdyno, refused
//!   marker there? ── yes ──▶ left by a killed dbdyno: its tables go
//!        │
//!   tables there? ── yes ──▶ somebody's own: refused, untouched
//!        │
//!   marker, tables  …  no tables, no marker
//! ```
//!
//! The marker tells tables of ours from somebody's own, the lock tells those of a living dbdyno
//! from those of a killed one: the server lets go of it when its connection ends. Where a server
//! has no such locks, the marker alone must do.

use std::hash::{BuildHasher as _, RandomState};

use dbdyno_load::{Connector, LoadError, drop_tables};
use dbdyno_model::Dialect;
use dbdyno_wire::{Client, Endpoint, WireError};

use super::connecting::connector;

const MARKER: &str = "dbdyno_tables";
/// What PostgreSQL's advisory lock is called: the bytes of `dyno`.
const LOCK: u32 = 0x6479_6e6f;

/// Our tables on a server that is not ours.
pub(crate) struct Guest {
    endpoint: Endpoint,
    dialect: Dialect,
    /// Names of the tables that are or will be ours.
    tables: Vec<String>,
    token: String,
    database: Database,
    marked: Marked,
    /// The connection that holds the lock; `None` where the server has no such locks.
    lock: Option<Box<dyn Client>>,
}

/// Who made the database.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Database {
    Theirs,
    Ours,
}

/// Whether what is ours there is marked as such, and has to be taken away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marked {
    No,
    Yes,
}

/// How a database was found.
pub(crate) enum Found {
    /// Free for us, and reserved.
    Free(Box<Guest>),
    /// In use by the guest with this of the tokens that were asked for.
    Shared(usize),
}

enum Lock {
    Ours(Box<dyn Client>),
    Taken,
    Unsupported,
}

impl Guest {
    /// Makes sure of the database, alone or together with the arm of one of these `tokens`. What a
    /// killed dbdyno has left is taken away; `tell` hears of it.
    ///
    /// # Errors
    /// The server's refusal; [`LoadError::TableExists`] for tables that are not ours;
    /// [`LoadError::InUse`] if another dbdyno works there.
    pub(crate) fn arrive(
        endpoint: &Endpoint,
        dialect: Dialect,
        tables: Vec<String>,
        tokens: &[&str],
        tell: &mut dyn FnMut(&str),
    ) -> Result<Found, LoadError> {
        let database = make_database(endpoint, dialect)?;
        let connector = connector(dialect, endpoint.clone());
        let lock = match take_lock(&connector, dialect)? {
            Lock::Ours(client) => Some(client),
            Lock::Unsupported => None,
            Lock::Taken => {
                let held = read_marker(&connector)?.map(|left| left.token);
                let known = held.and_then(|held| tokens.iter().position(|token| **token == held));
                let in_use = || LoadError::InUse(endpoint.database.clone());
                return known.map(Found::Shared).ok_or_else(in_use);
            }
        };
        let token = format!("{:016x}", RandomState::new().hash_one(MARKER));
        let endpoint = endpoint.clone();
        let marked = Marked::No;
        let mut guest =
            Box::new(Guest { endpoint, dialect, tables, token, database, marked, lock });
        if let Some(left) = read_marker(&connector)? {
            drop_tables(&connector, &left.tables)?;
            run(&connector, &format!("DROP TABLE {MARKER}"))?;
            if left.database == Database::Ours {
                guest.database = Database::Ours;
            }
            tell("took away tables that a killed dbdyno had left");
        }
        guest.mark(&connector)?;
        Ok(Found::Free(guest))
    }

    /// Tells this guest from all others.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    fn mark(&mut self, connector: &Connector) -> Result<(), LoadError> {
        // Somebody's own tables are found before anything is marked as ours.
        let mut client = connector.connect()?;
        for name in &self.tables {
            if client.query(&format!("SELECT 1 FROM {name} WHERE 1=0")).is_ok() {
                return Err(LoadError::TableExists(name.clone()));
            }
        }
        client.query(&format!(
            "CREATE TABLE {MARKER} (table_names TEXT NOT NULL, token VARCHAR(16) NOT NULL, \
             database_is_ours INTEGER NOT NULL)"
        ))?;
        self.marked = Marked::Yes;
        client.query(&format!(
            "INSERT INTO {MARKER} VALUES ('{}', '{}', {})",
            self.tables.join(","),
            self.token,
            u8::from(self.database == Database::Ours)
        ))?;
        client.close();
        Ok(())
    }

    /// Takes away what we made.
    ///
    /// # Errors
    /// The server's refusal; the next run that comes there tries again.
    pub(crate) fn leave(mut self) -> Result<(), LoadError> {
        self.take_all_away()
    }

    fn take_all_away(&mut self) -> Result<(), LoadError> {
        let connector = connector(self.dialect, self.endpoint.clone());
        if std::mem::replace(&mut self.marked, Marked::No) == Marked::Yes {
            drop_tables(&connector, &self.tables)?;
            run(&connector, &format!("DROP TABLE {MARKER}"))?;
        }
        let lock = self.lock.take();
        if std::mem::replace(&mut self.database, Database::Theirs) == Database::Ours
            && is_empty(&connector, self.dialect)?
        {
            // PostgreSQL drops no database that somebody is connected to, and be it we.
            lock.into_iter().for_each(Client::close);
            let name = quoted(&self.endpoint.database, self.dialect);
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

/// What a marker says.
struct LeftOver {
    tables: Vec<String>,
    token: String,
    database: Database,
}

fn read_marker(connector: &Connector) -> Result<Option<LeftOver>, LoadError> {
    let mut client = connector.connect()?;
    let marker = format!("SELECT table_names, token, database_is_ours FROM {MARKER}");
    let rows = match client.query(&marker) {
        Ok(rows) => rows.rows,
        Err(error) if error.is_fatal() => return Err(error.into()),
        Err(_) => return Ok(None),
    };
    client.close();
    // Killed between making the marker and filling it in: then there are no tables yet.
    let row = rows.into_iter().next().unwrap_or_default();
    let field = |index: usize| row.get(index).cloned().flatten().unwrap_or_default();
    Ok(Some(LeftOver {
        tables: field(0).split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        token: field(1),
        database: if field(2) == "1" { Database::Ours } else { Database::Theirs },
    }))
}

fn take_lock(connector: &Connector, dialect: Dialect) -> Result<Lock, LoadError> {
    let mut client = connector.connect()?;
    // The connection is idle for as long as the run takes.
    let (patience, lock) = match dialect {
        Dialect::Mysql => (
            "SET SESSION wait_timeout=31536000",
            "SELECT GET_LOCK(CONCAT('dbdyno.', MD5(DATABASE())), 0)".to_owned(),
        ),
        Dialect::Postgres => {
            ("SET idle_session_timeout=0", format!("SELECT pg_try_advisory_lock({LOCK})::int"))
        }
        Dialect::Sqlite | Dialect::Rocksdb | Dialect::Engine => unreachable!("it is no server"),
    };
    if let Err(error) = client.run(patience)
        && error.is_fatal()
    {
        return Err(error.into());
    }
    let taken = client.query(&lock);
    match taken {
        Ok(rows) if rows.single() == Some("1") => Ok(Lock::Ours(client)),
        Ok(rows) if rows.single() == Some("0") => Ok(Lock::Taken),
        Err(error) if error.is_fatal() => Err(error.into()),
        Ok(_) | Err(_) => Ok(Lock::Unsupported),
    }
}

/// Makes the database that the URL names, if it is not there and we may.
fn make_database(endpoint: &Endpoint, dialect: Dialect) -> Result<Database, WireError> {
    let direct = connector(dialect, endpoint.clone()).connect();
    let unknown = match &direct {
        Err(WireError::Login(error)) => {
            error.code == 1049 || (error.code == 0 && error.sqlstate == "3D000")
        }
        _ => false,
    };
    if !unknown {
        return direct.map(Client::close).map(|()| Database::Theirs);
    }
    let name = quoted(&endpoint.database, dialect);
    run(&lobby(endpoint, dialect), &format!("CREATE DATABASE {name}"))?;
    Ok(Database::Ours)
}

/// Whether nobody else has put a table into the database.
fn is_empty(connector: &Connector, dialect: Dialect) -> Result<bool, WireError> {
    let theirs = match dialect {
        Dialect::Mysql => "table_schema = DATABASE()",
        _ => "table_schema NOT IN ('pg_catalog', 'information_schema')",
    };
    let mut client = connector.connect()?;
    let count =
        client.query(&format!("SELECT count(*) FROM information_schema.tables WHERE {theirs}"))?;
    let empty = count.single() == Some("0");
    client.close();
    Ok(empty)
}

/// Where one connects to make or drop a database.
fn lobby(endpoint: &Endpoint, dialect: Dialect) -> Connector {
    let database = if dialect == Dialect::Postgres { "postgres" } else { "" };
    connector(dialect, Endpoint { database: database.to_owned(), ..endpoint.clone() })
}

fn quoted(name: &str, dialect: Dialect) -> String {
    let quote = if dialect == Dialect::Postgres { '"' } else { '`' };
    let doubled = name.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}

fn run(connector: &Connector, sql: &str) -> Result<(), WireError> {
    let mut client = connector.connect()?;
    client.query(sql)?;
    client.close();
    Ok(())
}
