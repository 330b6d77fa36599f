//! What a server promises of the isolation of its sessions.

use dbdyno_model::isolation::IsolationLevel;
use dbdyno_wire::{Client, WireError};

use crate::family::ServerRelease;

/// Its name changed in MySQL 8.0.
pub(crate) const MYSQL_LEVEL: &[&str] =
    &["SELECT @@transaction_isolation", "SELECT @@tx_isolation"];
pub(crate) const POSTGRES_LEVEL: &[&str] = &["SHOW default_transaction_isolation"];

/// The level of a session; `None` where the server does not tell it.
pub fn session_level(client: &mut dyn Client, server: ServerRelease) -> Option<IsolationLevel> {
    server.family().session_level.iter().find_map(|sql| {
        let name = client.query(sql).ok()?.first_value()?.to_lowercase().replace([' ', '_'], "-");
        IsolationLevel::named(&name)
    })
}

/// Whether a server has this level of its own, and does not take its name for that of another.
pub fn has_level(server: ServerRelease, level: IsolationLevel) -> bool {
    level != IsolationLevel::ReadUncommitted || server.family().has_read_uncommitted
}

/// Says why what a server promises of its levels of isolation cannot be told, if that is not known.
///
/// # Errors
/// A server of such a family.
pub fn require_known_promises(server: ServerRelease) -> Result<(), WireError> {
    let family = server.family();
    if family.has_known_promises {
        return Ok(());
    }
    let name = family.name;
    Err(WireError::Protocol(format!(
        "it is not known what {name} promises of its levels of isolation, so that nothing could be \
         broken; histories that another program recorded on it are judged by dbdyno check"
    )))
}

/// Whether a write of a row that changed since the snapshot is refused, as MariaDB does where it is
/// told to.
pub fn checks_snapshots(client: &mut dyn Client, server: ServerRelease) -> bool {
    let asked = server.family().checks_snapshots.map(|sql| client.query(sql));
    asked.is_some_and(|asked| asked.is_ok_and(|rows| rows.first_value() == Some("1")))
}
