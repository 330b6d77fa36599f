//! What a server promises of a level of isolation.

use dbdyno_cases::PromiseFamily;
use dbdyno_check::Level;
use dbdyno_model::Dialect;
use dbdyno_model::isolation::IsolationLevel;
use dbdyno_server::{ServerRelease, checks_snapshots, require_known_promises};
use dbdyno_wire::{Client, WireError};

/// Whose promises hold for the server behind a connection.
///
/// # Errors
/// A server of a family of which that is not known.
pub fn promise_family(
    client: &mut dyn Client,
    dialect: Dialect,
) -> Result<PromiseFamily, WireError> {
    let server = ServerRelease::of_client(client, dialect);
    require_known_promises(server)?;
    Ok(match dialect {
        Dialect::Postgres => PromiseFamily::Postgres,
        Dialect::Sqlite => PromiseFamily::Sqlite,
        Dialect::Mysql if checks_snapshots(client, server) => PromiseFamily::InnodbSnapshot,
        Dialect::Mysql | Dialect::Engine | Dialect::Rocksdb => PromiseFamily::Mysql,
    })
}

/// What a family of servers promises of a level: their manuals, and Hermitage for PostgreSQL.
pub fn promised_level(family: PromiseFamily, level: IsolationLevel) -> Level {
    match (family, level) {
        (PromiseFamily::Sqlite, _) | (_, IsolationLevel::Serializable) => Level::Serializable,
        (PromiseFamily::Mysql, IsolationLevel::RepeatableRead) => Level::InnodbRepeatableRead,
        (_, IsolationLevel::RepeatableRead) => Level::SnapshotIsolation,
        // PostgreSQL takes the name of the lowest level for that of the next.
        (PromiseFamily::Postgres, _) | (_, IsolationLevel::ReadCommitted) => Level::ReadCommitted,
        (_, IsolationLevel::ReadUncommitted) => Level::ReadUncommitted,
    }
}
