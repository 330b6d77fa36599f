//! What sessions say in each dialect, apart from the statements of a story.

use dbdyno_cases::PromiseFamily;
use dbdyno_lab::promise_family;
use dbdyno_model::Dialect;
use dbdyno_model::isolation::IsolationLevel;
use dbdyno_server::ServerRelease;
use dbdyno_wire::{Client, WireError};

/// What the table of the stories, `test`, is called on a server.
pub(crate) const CASES: &str = "dbdyno_cases";
/// The table of interleavings.
pub(crate) const INTERLEAVINGS: &str = "dbdyno_interleavings";

/// The table of random transactions.
pub(crate) const RANDOM: &str = "dbdyno_random";

/// The words of one server.
pub(crate) struct Words {
    dialect: Dialect,
    /// Whose promises hold for it.
    pub(crate) family: PromiseFamily,
    /// What it is.
    server: ServerRelease,
}

impl Words {
    /// Those of the server behind a connection.
    ///
    /// # Errors
    /// A server of which it is not known what it promises.
    pub(crate) fn of_server(client: &mut dyn Client, dialect: Dialect) -> Result<Words, WireError> {
        let server = ServerRelease::of_client(client, dialect);
        Ok(Words { dialect, family: promise_family(client, dialect)?, server })
    }

    /// Whether the server has this level at all. PostgreSQL takes the name of the lowest one for
    /// that of the next; the engine does not have it, and SQLite has the highest one only.
    pub(crate) fn has_level(&self, level: IsolationLevel) -> bool {
        match self.dialect {
            Dialect::Sqlite => level == IsolationLevel::Serializable,
            Dialect::Engine => level != IsolationLevel::ReadUncommitted,
            Dialect::Mysql => dbdyno_server::has_level(self.server, level),
            Dialect::Postgres | Dialect::Rocksdb => true,
        }
    }

    /// What each session says first.
    pub(crate) fn first(&self, level: IsolationLevel) -> Vec<String> {
        let level = level.sql();
        match self.dialect {
            Dialect::Postgres => {
                vec![format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}")]
            }
            // A step that would wait is refused at once: nobody could tell that it waits.
            Dialect::Sqlite => vec!["PRAGMA busy_timeout = 0".to_owned()],
            Dialect::Mysql | Dialect::Engine | Dialect::Rocksdb => {
                vec![format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}")]
            }
        }
    }

    /// What may be refused and helps: deadlocks of PostgreSQL are looked for after this time.
    pub(crate) fn deadlock_timeout_statement(&self) -> Option<&'static str> {
        (self.dialect == Dialect::Postgres).then_some("SET deadlock_timeout = '20ms'")
    }

    /// Whether there are reads of the latest version that lock it.
    pub(crate) fn has_locking_reads(&self) -> bool {
        matches!(self.dialect, Dialect::Mysql | Dialect::Postgres)
    }

    /// A transaction begins.
    pub(crate) fn begin_statements(&self) -> Vec<String> {
        vec!["BEGIN".to_owned()]
    }

    /// A transaction begins, and what it sees is settled; `table` is one that it may read.
    pub(crate) fn begin_snapshot(&self, table: &str) -> Vec<String> {
        match self.dialect {
            Dialect::Mysql => vec!["START TRANSACTION WITH CONSISTENT SNAPSHOT".to_owned()],
            Dialect::Postgres => vec!["BEGIN".to_owned(), "SELECT 1".to_owned()],
            Dialect::Sqlite | Dialect::Engine | Dialect::Rocksdb => {
                vec!["BEGIN".to_owned(), format!("SELECT id FROM {table} WHERE id = 0")]
            }
        }
    }

    /// What is said when the table of interleavings has been filled with many rows.
    pub(crate) fn analyze_statement(&self, table: &str) -> Option<String> {
        match self.dialect {
            Dialect::Postgres => Some(format!("VACUUM ANALYZE {table}")),
            Dialect::Mysql => Some(format!("ANALYZE TABLE {table}")),
            Dialect::Sqlite | Dialect::Engine | Dialect::Rocksdb => None,
        }
    }

    /// Behind the definition of the table of interleavings. PostgreSQL finds conflicts by pages of
    /// an index where an update cannot stay on its page: room is left, so that it can.
    pub(crate) fn storage_clause(&self) -> &'static str {
        match self.dialect {
            Dialect::Postgres => " WITH (fillfactor = 40)",
            _ => "",
        }
    }
}
