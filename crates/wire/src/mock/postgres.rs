//! The mock's PostgreSQL side.

use std::io;

use super::Session;

/// Serves one connection to its end.
pub(super) fn serve(_session: &mut Session) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
