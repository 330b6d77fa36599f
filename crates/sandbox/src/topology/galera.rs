//! MariaDB with Galera: nodes that certify each commit together.
//!
//! ```text
//!   first   grastate.dat  UUID:P     ──launch, a new cluster──▶ Synced at P+1
//!   second  grastate.dat  UUID:P+1   ──launch, join──────────▶ Synced at P+2
//!   third   grastate.dat  UUID:P+2   ──launch, join──────────▶ Synced at P+3
//! ```
//!
//! A node that is behind those that it joins asks for a state transfer, by a program that Debian
//! packs elsewhere and that wants rsync. Ours are never behind. Their data are equal when they
//! start, and while they come, one after the other, nobody writes: all that the cluster counts are
//! its own changes of membership. So each is told, in the file in which a node remembers its
//! position, the position at which the others stand, and that is true.
//!
//! Before they start again it is looked up whether they are equal. They shut down one after the
//! other, the first last, and each departure counts one: positions that differ by exactly that
//! leave no room for a write in between. If they differ otherwise, or one was killed and knows no
//! position, the others become copies of the first again: a state transfer of our own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use dbdyno_model::{MemberRole, SourceKind};
use dbdyno_server::{GaleraStatus, galera_address, galera_status};

use super::group;
use super::member::{Begins, JOIN_WITHIN_S, MemberConnection};
use super::standing::{MemberStanding, Works};
use crate::apt::Apt;
use crate::catalog;
use crate::clock::Deadline;
use crate::error::SandboxError;
use crate::foreign_files::{give_text, read_plain};
use crate::home::{Home, set_mode};
use crate::release::Release;
use crate::relocate;
use crate::server::{Node, Seat, copy_data};
use crate::stamp::Stamp;

/// Debian's package of the provider.
const PACKAGE: &str = "galera-4";
/// Where it is in a tree.
const DIR: &str = "dbdyno-galera";
const LIBRARY: &str = "libgalera_smm.so";
/// What a node keeps beside its position; both are of the last run.
const LEFT_OVER: [&str; 2] = ["gvwstate.dat", "galera.cache"];
/// What each node is told; the rest is in its [`Seat`].
pub(super) fn settings() -> Vec<(&'static str, String)> {
    vec![
        ("wsrep_on", "ON".to_owned()),
        ("binlog_format", "ROW".to_owned()),
        ("innodb_autoinc_lock_mode", "2".to_owned()),
        ("wsrep_sst_method", "skip".to_owned()),
    ]
}

/// Whether the provider can be had for a release; a clause that says why not.
pub(super) fn why_unavailable(release: &Release) -> Option<&'static str> {
    let fits = release.source == SourceKind::Debian && catalog::at_least(&release.version, "10.4");
    (!fits)
        .then_some("Galera comes from Debian, with mariadb:10.5 and later ones; take mariadb:10.11")
}

fn provider(release: &Release) -> PathBuf {
    release.dir.join(DIR).join(LIBRARY)
}

/// Brings the provider along, out of the suite of the release, unless it is there.
pub(super) fn fetch_provider(
    home: &Home,
    release: &Release,
    progress: &mut dyn FnMut(&str),
) -> Result<(), SandboxError> {
    if provider(release).is_file() {
        return Ok(());
    }
    let _lock = home.lock(progress)?;
    if provider(release).is_file() {
        return Ok(());
    }
    let damaged = |detail: &str| SandboxError::Damaged {
        place: release.dir.clone(),
        detail: detail.to_owned(),
    };
    let stamp = Stamp::read(&release.dir);
    let suite = stamp.and_then(|stamp| catalog::suite_named(&stamp.suite));
    let suite = suite.ok_or_else(|| damaged("it does not say from which suite it is"))?;
    let apt = Apt::open(home, suite, progress)?;
    progress(&format!("bringing along {PACKAGE} of Debian {suite}"));
    let there: Vec<&str> = release.packages.iter().map(|(name, _)| name.as_str()).collect();
    let debs = apt.packages_to_download(PACKAGE, &there)?;
    let fresh = release.dir.join(".tmp-galera");
    let _ = fs::remove_dir_all(&fresh);
    relocate::unpack(&apt, PACKAGE, &debs, &fresh, progress)?;
    // In usr/lib/galera there is only a link to it.
    let from = fresh.join("usr/lib").join(LIBRARY);
    if !from.is_file() {
        return Err(damaged("its galera-4 has no libgalera_smm.so"));
    }
    let dir = release.dir.join(DIR);
    fs::create_dir_all(&dir).map_err(SandboxError::io("create", &dir))?;
    set_mode(&dir, 0o755)?;
    fs::rename(&from, provider(release)).map_err(SandboxError::io("rename", &from))?;
    let _ = fs::remove_dir_all(&fresh);
    Ok(())
}

/// Servers that are to be nodes: arms or servers in the background.
pub(super) trait Nodes {
    fn release(&self) -> Release;
    fn count(&self) -> usize;
    fn data_dir(&self, number: usize) -> PathBuf;
    /// Starts one and waits for the first login.
    fn launch_node(&mut self, number: usize, seat: Seat) -> Result<Node, SandboxError>;
    fn halt_node(&mut self, number: usize) -> Result<(), SandboxError>;
}

/// Starts all, one after the other, each Synced before the next.
pub(super) fn start_cluster(nodes: &mut dyn Nodes, begins: Begins) -> Result<(), SandboxError> {
    let at = match begins {
        // Copies of one directory, in which nothing was counted yet.
        Begins::Now => Position { uuid: group::random_name()?, count: 0 },
        Begins::Again => match equal(nodes) {
            Some(at) => at,
            None => make_equal(nodes)?,
        },
    };
    let (uuid, mut count) = (at.uuid, at.count);
    let mut others = Vec::new();
    for number in 0..nodes.count() {
        remember(&nodes.data_dir(number), &uuid, count)?;
        let seat = Seat::new(provider(&nodes.release()), &uuid, &others)?;
        let node = nodes.launch_node(number, seat)?;
        count = wait_until_synced(&node, number + 1)?;
        others.push(MemberConnection::connect(&node)?.ask(|client, _| galera_address(client))?);
    }
    Ok(())
}

/// Where a node stood when it was shut down.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Position {
    uuid: String,
    /// Write sets and changes of membership.
    count: u64,
}

/// What a `grastate.dat` says; `None` of a node that was killed.
fn parse(text: &str) -> Option<Position> {
    let of = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.map(str::trim)
    };
    Some(Position { uuid: of("uuid")?.to_owned(), count: of("seqno")?.parse().ok()? })
}

fn position(data: &Path) -> Option<Position> {
    parse(&read_plain(&data.join("grastate.dat")).ok()?)
}

/// Has a node that does not run begin at this position.
fn remember(data: &Path, uuid: &str, count: u64) -> Result<(), SandboxError> {
    for name in LEFT_OVER {
        let path = data.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(SandboxError::io("remove", &path)(error));
            }
            _ => {}
        }
    }
    let path = data.join("grastate.dat");
    let text = format!(
        "# GALERA saved state\nversion: 2.1\nuuid:    {uuid}\nseqno:   {count}\n\
         safe_to_bootstrap: 1\n"
    );
    give_text(&path, &text)
}

/// The position of the first if all others have the same data.
fn equal(nodes: &dyn Nodes) -> Option<Position> {
    let all: Option<Vec<_>> = (0..nodes.count()).map(|n| position(&nodes.data_dir(n))).collect();
    agreed(&all?)
}

/// See the module: each departure counts one, and the first went last.
fn agreed(all: &[Position]) -> Option<Position> {
    let first = all.first()?;
    (0..)
        .zip(all)
        .all(|(departed, own)| {
            own.uuid == first.uuid && own.count.checked_add(departed) == Some(first.count)
        })
        .then(|| first.clone())
}

/// Makes the others copies of the first. If that was killed, it is started once by itself: what it
/// has to recover is recovered once, and not by each for itself.
fn make_equal(nodes: &mut dyn Nodes) -> Result<Position, SandboxError> {
    let first = nodes.data_dir(0);
    let at = match position(&first) {
        Some(at) => at,
        None => {
            let uuid = group::random_name()?;
            remember(&first, &uuid, 0)?;
            let seat = Seat::new(provider(&nodes.release()), &uuid, &[])?;
            let count = wait_until_synced(&nodes.launch_node(0, seat)?, 1)?;
            nodes.halt_node(0)?;
            Position { uuid, count }
        }
    };
    for number in 1..nodes.count() {
        let own = nodes.data_dir(number);
        fs::remove_dir_all(&own).map_err(SandboxError::io("remove", &own))?;
        copy_data(&first, &own)?;
    }
    Ok(at)
}

fn seen(node: &mut MemberConnection<'_>) -> Result<GaleraStatus, SandboxError> {
    node.ask(|client, _| galera_status(client))
}

/// Waits until a node is Synced among `size` of them; returns what it has counted.
pub(super) fn wait_until_synced(node: &Node, size: usize) -> Result<u64, SandboxError> {
    let deadline = Deadline::after_seconds(JOIN_WITHIN_S);
    let mut asked = MemberConnection::connect(node)?;
    loop {
        let GaleraStatus { state, size: of, ready, count } = seen(&mut asked)?;
        if state == "Synced" && ready == "ON" && of == size.to_string() {
            return Ok(count);
        }
        if !deadline.pause() {
            return Err(node.error_with_log(format!(
                "was not Synced among {size} within the time limit of {JOIN_WITHIN_S} s: it is \
                 {state:?}, wsrep_ready is {ready:?}, and it sees {of}"
            )));
        }
    }
}

/// How each node but the first stands.
pub(super) fn member_standings(nodes: &[Node]) -> Result<Vec<MemberStanding>, SandboxError> {
    let first = seen(&mut MemberConnection::connect(&nodes[0])?)?;
    let others = (2..).zip(&nodes[1..]);
    others
        .map(|(member, node)| {
            let GaleraStatus { state, ready, count, .. } =
                seen(&mut MemberConnection::connect(node)?)?;
            let works = if state == "Synced" && ready == "ON" { Works::Yes } else { Works::No };
            Ok(MemberStanding {
                member,
                role: MemberRole::Node,
                state,
                works,
                transactions: Some(first.count.saturating_sub(count)),
                bytes: None,
                seconds: None,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_and_that_of_a_killed_node_is_none() {
        let text = "# GALERA saved state\nversion: 2.1\nuuid:    a-b\nseqno:   17\n\
                    safe_to_bootstrap: 0\n ";
        assert_eq!(parse(text), Some(Position { uuid: "a-b".into(), count: 17 }));
        assert_eq!(parse(&text.replace("17", "-1")), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn only_departures_may_lie_between_the_positions() {
        let all = |uuid: &str, counts: [u64; 3]| -> Vec<Position> {
            let (first, rest) = (counts[0], &counts[1..]);
            let rest = rest.iter().map(|&count| Position { uuid: uuid.to_owned(), count });
            [Position { uuid: "a".into(), count: first }].into_iter().chain(rest).collect()
        };
        assert_eq!(agreed(&all("a", [7, 6, 5])), Some(Position { uuid: "a".into(), count: 7 }));
        // As they were seen with a row written between the departures of the third and the second.
        assert_eq!(agreed(&all("a", [20, 19, 17])), None);
        assert_eq!(agreed(&all("b", [7, 6, 5])), None);
        assert_eq!(agreed(&all("a", [1, 1, 1])), None);
    }
}
