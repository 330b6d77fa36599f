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
//! that were given its URL may have told that somebody the old one. Servers that belong together
//! get theirs together (`topology::renewal`).

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

/// Whether a new password is due, or one is on its way that may hold already.
pub(crate) fn is_doubtful(dir: &Path) -> bool {
    dir.join(NEXT).exists()
}

/// Has a new password be due, also if dbdyno ends before it is told.
pub(crate) fn note_doubt(dir: &Path) -> Result<(), SandboxError> {
    if is_doubtful(dir) {
        return Ok(());
    }
    write_private(&dir.join(NEXT), &random_password()?)
}

/// The password that a server accepts at `endpoint`, its own socket: of two that may hold, the one
/// that it takes; of a server that does not answer, the one that was last known to hold.
pub(crate) fn accepted_password(
    dir: &Path,
    product: Product,
    endpoint: &Endpoint,
) -> Result<Secret, SandboxError> {
    let (holds, next) = read(dir)?;
    let Some(next) = next else { return Ok(holds) };
    let is_next = is_refused(product, endpoint, &holds) && !is_refused(product, endpoint, &next);
    Ok(if is_next { next } else { holds })
}

fn is_refused(product: Product, endpoint: &Endpoint, password: &Secret) -> bool {
    let asked = Endpoint { password: password.clone(), ..endpoint.clone() };
    matches!(connect(product, &asked), Err(WireError::Login(_)))
}

/// Gives the server at `endpoint`, its own socket, a new password.
pub(crate) fn renew_password(
    dir: &Path,
    release: &Release,
    endpoint: &Endpoint,
) -> Result<(), SandboxError> {
    let fresh = Secret::new(random_password()?);
    prepare_next(dir, endpoint, &fresh)?;
    tell_next(dir, release, endpoint, &fresh, &[])?;
    adopt_next(dir)
}

/// Keeps the password that will be told next beside the one that holds at `endpoint`.
pub(crate) fn prepare_next(
    dir: &Path,
    endpoint: &Endpoint,
    fresh: &Secret,
) -> Result<(), SandboxError> {
    // It may stand in the file of the next one, which is written over.
    save_password(dir, &endpoint.password)?;
    write_private(&dir.join(NEXT), fresh.expose())
}

/// Tells a server its next password, after statements that its session needs.
pub(crate) fn tell_next(
    dir: &Path,
    release: &Release,
    endpoint: &Endpoint,
    fresh: &Secret,
    first: &[&str],
) -> Result<(), SandboxError> {
    let told = tell(release.product, &release.version, endpoint, fresh, first);
    told.map_err(|error| SandboxError::StartFailed {
        what: format!("giving the server in {} a new password failed: {error}", dir.display()),
        log: Vec::new(),
    })
}

/// Has the next password be the one that holds: the server takes it.
pub(crate) fn adopt_next(dir: &Path) -> Result<(), SandboxError> {
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
    first: &[&str],
) -> Result<(), WireError> {
    let mut client = connect(product, endpoint)?;
    for sql in first {
        client.run(sql)?;
    }
    let accounts = match bootstrap::accounts_question(product) {
        Some(question) => client.query(question)?,
        None => dbdyno_wire::Rows::default(),
    };
    let hosts = accounts.rows.iter().filter_map(|row| row.first()?.as_deref());
    let hosts: Vec<&str> = hosts.collect();
    for sql in bootstrap::renewal_sql(product, version, &hosts, fresh)? {
        client.run(&sql)?;
    }
    client.close();
    // Over the socket the server learns what it needs to let clients in by a proof alone.
    let proved = Endpoint { password: fresh.clone(), ..endpoint.clone() };
    connect(product, &proved)?.close();
    Ok(())
}

#[cfg(test)]
mod tests {
    use dbdyno_model::Transport;
    use dbdyno_wire::Security;

    use super::*;

    fn nobody(dir: &Path) -> Endpoint {
        Endpoint {
            transport: Transport::Unix(dir.join("none").display().to_string()),
            user: "dbdyno".to_owned(),
            password: Secret::new("told"),
            database: "dbdyno".to_owned(),
            security: Security::without_tls(),
        }
    }

    #[test]
    fn doubt_outlives_its_process_and_ends_with_a_new_password() {
        let dir = tempfile::tempdir().unwrap();
        let (dir, endpoint) = (dir.path(), nobody(dir.path()));
        save_password(dir, &Secret::new("old")).unwrap();
        assert!(!is_doubtful(dir));
        note_doubt(dir).unwrap();
        let noted = read(dir).unwrap().1.unwrap();
        note_doubt(dir).unwrap();
        let again = read(dir).unwrap().1.unwrap();
        assert!(is_doubtful(dir) && noted.expose() == again.expose(), "one may be told already");
        let holds = accepted_password(dir, Product::MySql, &endpoint).unwrap();
        assert_eq!(holds.expose(), "old", "nobody answers");
        // The one that the server takes is not lost to the one that comes next.
        prepare_next(dir, &endpoint, &Secret::new("fresh")).unwrap();
        let (holds, next) = read(dir).unwrap();
        assert_eq!((holds.expose(), next.unwrap().expose()), ("told", "fresh"));
        adopt_next(dir).unwrap();
        assert!(!is_doubtful(dir) && read(dir).unwrap().0.expose() == "fresh");
    }
}
