//! The report of InnoDB, which its monitor writes for people.

use dbdyno_wire::{Client, Rows, WireError};

/// What has it written.
pub(crate) const INNODB_STATUS: &str = "SHOW ENGINE INNODB STATUS";

/// The report; empty where there is none.
pub(crate) fn innodb_status(client: &mut dyn Client) -> Result<String, WireError> {
    let Rows { rows, .. } = client.query(INNODB_STATUS)?;
    Ok(rows.into_iter().next().and_then(|row| row.into_iter().last()?).unwrap_or_default())
}
