//! The password of a background server, and a new one after any doubt.
//!
//! ```text
//!   password       the one that holds
//!   password.next  written ─▶ told to the server ─▶ renamed to `password`
//!                     └─ who is killed in between leaves both: either may hold
//! ```
//!
//! A server starts with the password of its template, which others have, too; so it is given its
//! own at its first start. Afterwards a new one is due whenever somebody else had its port: clients
//! that were given its URL may have told that somebody the old one.

use std::fs;
use std::path::Path;

use dbdyno_model::{Product, Secret};
use dbdyno_wire::{Endpoint, WireError};

use crate::bootstrap::{self, random_password};
use crate::error::SandboxError;
use crate::home::write_private;
use crate::release::Release;
use crate::server::connect;

const HOLDS: &str = "password";
const NEXT: &str = "password.next";

/// The password that holds, and the one that may hold instead.
pub(crate) fn read(dir: &Path) -> Result<(Secret, Option<Secret>), SandboxError> {
    let path = dir.join(HOLDS);
    let text = fs::read_to_string(&path).map_err(SandboxError::io("read", &path))?;
    let next = fs::read_to_string(dir.join(NEXT)).ok();
    Ok((Secret::new(text.trim()), next.map(|text| Secret::new(text.trim()))))
}

/// Keeps the first password of a server.
pub(crate) fn save_password(dir: &Path, password: &Secret) -> Result<(), SandboxError> {
    write_private(&dir.join(HOLDS), password.expose())
}

/// Gives the server at `endpoint`, its own socket, a new password.
pub(crate) fn renew_password(
    dir: &Path,
    release: &Release,
    endpoint: &Endpoint,
) -> Result<(), SandboxError> {
    let fresh = Secret::new(random_password()?);
    write_private(&dir.join(NEXT), fresh.expose())?;
    let told = tell(release.product, &release.version, endpoint, &fresh);
    told.map_err(|error| SandboxError::StartFailed {
        what: format!("giving the server in {} a new password failed: {error}", dir.display()),
        log: Vec::new(),
    })?;
    let (next, holds) = (dir.join(NEXT), dir.join(HOLDS));
    fs::rename(&next, &holds).map_err(SandboxError::io("rename", &next))
}

/// Takes away the root without a password that data directories of earlier releases have.
pub(crate) fn take_root_away(product: Product, endpoint: &Endpoint) -> Result<(), SandboxError> {
    let told = || -> Result<(), WireError> {
        let mut client = connect(product, endpoint)?;
        client.run(bootstrap::WITHOUT_ROOT[0])?;
        let _where_there_is_one = client.run(bootstrap::WITHOUT_ROOT[1]);
        client.close();
        Ok(())
    };
    told().map_err(|error| SandboxError::StartFailed {
        what: format!("taking away the account root without a password failed: {error}"),
        log: Vec::new(),
    })
}

fn tell(
    product: Product,
    version: &str,
    endpoint: &Endpoint,
    fresh: &Secret,
) -> Result<(), WireError> {
    let mut client = connect(product, endpoint)?;
    let accounts = match bootstrap::accounts_question(product) {
        Some(question) => client.query(question)?,
        None => dbdyno_wire::Rows::default(),
    };
    let hosts = accounts.rows.iter().filter_map(|row| row.first()?.as_deref());
    let hosts: Vec<&str> = hosts.collect();
    for sql in bootstrap::renewal_sql(product, version, &hosts, fresh.expose()) {
        client.run(&sql)?;
    }
    client.close();
    // Over the socket the server learns what it needs to let clients in by a proof alone.
    let proved = Endpoint { password: fresh.clone(), ..endpoint.clone() };
    connect(product, &proved)?.close();
    Ok(())
}
