//! A new password for servers that belong together.
//!
//! ```text
//!   MySQL, MariaDB   told to each on its own socket, before it follows or joins another
//!   Galera           to each as well, past the cluster
//!   PostgreSQL       told to the source, which the standbys follow: each has it when its socket
//!                    takes it; then they are started again with it
//! ```
//!
//! All have one, by which they log in to each other. The next one stands in the directory of each
//! before the first is told, so that dbdyno may be killed at any time: a member takes one of the
//! two that its directory has, and the next start gives all of them another one.

use std::path::Path;

use dbdyno_model::{Secret, TopologyShape};

use super::member::JOIN_WITHIN_S;
use crate::bootstrap::random_password;
use crate::clock::Deadline;
use crate::error::SandboxError;
use crate::password;
use crate::release::Release;
use crate::server::Node;

/// A member, and where its password is kept.
pub(super) struct MemberPassword<'a> {
    pub(super) dir: &'a Path,
    pub(super) node: &'a Node,
}

/// What a session says so that what it changes stays on its server.
fn words_to_stay(shape: TopologyShape) -> &'static [&'static str] {
    match shape {
        TopologyShape::Galera(_) => &["SET SESSION wsrep_on=OFF"],
        // A renewal leaves the binary log out by itself.
        TopologyShape::Replicas(_) | TopologyShape::Group(_) => &[],
    }
}

/// Gives members that run, and follow nobody yet or certify together, one new password.
pub(super) fn renew_each(
    release: &Release,
    shape: TopologyShape,
    members: &[MemberPassword<'_>],
) -> Result<(), SandboxError> {
    let fresh = prepare_all(members)?;
    for MemberPassword { dir, node } in members {
        password::tell_next(dir, release, &node.endpoint, &fresh, words_to_stay(shape))?;
        password::adopt_next(dir)?;
    }
    Ok(())
}

/// Gives the first of members a new password and waits until the others, which follow it, have it.
pub(super) fn renew_through_source(
    release: &Release,
    members: &[MemberPassword<'_>],
) -> Result<(), SandboxError> {
    let fresh = prepare_all(members)?;
    let source = &members[0];
    password::tell_next(source.dir, release, &source.node.endpoint, &fresh, &[])?;
    password::adopt_next(source.dir)?;
    let deadline = Deadline::after_seconds(JOIN_WITHIN_S);
    for MemberPassword { dir, node } in &members[1..] {
        loop {
            let taken = password::accepted_password(dir, node.product, &node.endpoint)?;
            if taken.expose() == fresh.expose() {
                break;
            }
            if !deadline.pause() {
                return Err(node.error_with_log(format!(
                    "did not get its new password within the time limit of {JOIN_WITHIN_S} s"
                )));
            }
        }
        password::adopt_next(dir)?;
    }
    Ok(())
}

fn prepare_all(members: &[MemberPassword<'_>]) -> Result<Secret, SandboxError> {
    let fresh = Secret::new(random_password()?);
    for MemberPassword { dir, node } in members {
        password::prepare_next(dir, &node.endpoint, &fresh)?;
    }
    Ok(fresh)
}
