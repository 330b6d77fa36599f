//! MySQL Group Replication on one machine.
//!
//! ```text
//!   without a delay    XCom, MySQL's default: each member listens on a port of its own beside
//!                      that for SQL, and all advertise 127.0.0.1:PORT
//!
//!   with a delay       the stack MySQL: members speak to each other on the port for SQL. Each
//!                      advertises NAME:PORT, and a name leads elsewhere for each of them:
//!
//!                          /etc/hosts of member 1        /etc/hosts of member 2
//!                          127.0.0.1    dbdyno-m1        127.77.2.1   dbdyno-m1  ◀─ a way to 1
//!                          127.77.1.2   dbdyno-m2        127.0.0.1    dbdyno-m2
//! ```
//!
//! A way cannot stand between members that advertise addresses: the address of a member is the same
//! for all, and it must be the member's own, on which it listens itself (XCom even on every address
//! of the machine). A name need not lead to the same place for all. So each member is started in a
//! mount namespace of its own, with an `/etc/hosts` of its own, and the stack MySQL listens on
//! 127.0.0.1 only, which leaves the port free on 127.77.x.y for the ways. Recovery takes the same
//! way, because a joiner finds its donor by the name, too. To see what the delay alone does, the
//! other arm has the delay 0ms: the same stack and ways without the wait.
//!
//! What a port is for is told when the server runs, just before START: only then is it known that
//! nobody else has taken it.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddrV4};

use dbdyno_model::{Topology, TopologyShape};
use dbdyno_server::group_member_state;

use super::member::{JOIN_WITHIN_S, MemberConnection};
use super::replicas;
use crate::bootstrap::{USER, random_password};
use crate::catalog::at_least;
use crate::child;
use crate::clock::Deadline;
use crate::error::SandboxError;
use crate::foreign_files::give_text;
use crate::server::{Node, Server, free_port};

/// Ports that a member tries before it gives up.
const PORTS: usize = 5;

/// What each member is told beside what replicas are told.
pub(super) fn settings(version: &str, group_name: &str) -> Vec<(&'static str, String)> {
    let mut settings = vec![
        ("plugin_load_add", "group_replication.so".to_owned()),
        ("report_host", "127.0.0.1".to_owned()),
        ("loose_group_replication_group_name", group_name.to_owned()),
        ("loose_group_replication_start_on_boot", "OFF".to_owned()),
        ("loose_group_replication_single_primary_mode", "ON".to_owned()),
        // There is no TLS; a password is sent under this key, which all have who are copies of one
        // data directory, and never under one that a donor offers. In the data directory.
        ("loose_group_replication_recovery_public_key_path", replicas::KEY.to_owned()),
    ];
    if !at_least(version, "8.0.21") {
        settings.push(("binlog_checksum", "NONE".to_owned()));
    }
    // Members listen for each other on all addresses, and by default let in every private network.
    let allowed = if at_least(version, "8.0.22") {
        "loose_group_replication_ip_allowlist"
    } else {
        "loose_group_replication_ip_whitelist"
    };
    settings.push((allowed, "127.0.0.1/8".to_owned()));
    settings
}

/// A name for a group, in the form of a UUID: no member of another group is taken for one of ours.
pub(super) fn random_name() -> Result<String, SandboxError> {
    let hex = random_password()?;
    // Version 4 and its variant, as MySQL wants them.
    Ok(format!("{}-{}-4{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..]))
}

/// The name of a member among the others.
fn host_name(member: usize) -> String {
    format!("dbdyno-m{}", member + 1)
}

/// Where the way from one member to another begins. The port is that of the member to which it
/// leads, so that no two groups of the machine meet.
pub(super) fn way_of(from: usize, to: usize, port: u16) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(127, 77, octet_of_member(from), octet_of_member(to)), port)
}

fn octet_of_member(member: usize) -> u8 {
    u8::try_from(member + 1).unwrap_or(u8::MAX)
}

/// Has a member, which does not run yet, find the others by names that lead to the ways.
pub(super) fn hide_behind_names(
    member: &mut Server,
    number: u8,
    shape: TopologyShape,
) -> Result<(), SandboxError> {
    let number = usize::from(number);
    let mut hosts = "127.0.0.1 localhost\n".to_owned();
    for other in 0..usize::from(shape.members()) {
        let address =
            if other == number { Ipv4Addr::LOCALHOST } else { *way_of(number, other, 0).ip() };
        let _ = writeln!(hosts, "{address} {}", host_name(other));
    }
    let work = member.data_dir().parent().map(std::path::Path::to_owned).unwrap_or_default();
    let path = work.join("hosts");
    give_text(&path, &hosts)?;
    member.add_settings(vec![
        ("report_host".to_owned(), host_name(number)),
        ("loose_group_replication_communication_stack".to_owned(), "MYSQL".to_owned()),
    ]);
    child::can_resolve_by(&path)?;
    member.resolve_by(path);
    Ok(())
}

/// Makes a group of members that accept logins, the first of them primary, and waits until all are
/// ONLINE.
pub(super) fn form_group(nodes: &[Node], topology: Topology) -> Result<(), SandboxError> {
    let mut seeds = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        let mut member = MemberConnection::connect(node)?;
        let password = node.endpoint.password.expose();
        member.run(&format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_USER='{USER}', SOURCE_PASSWORD='{password}' FOR \
             CHANNEL 'group_replication_recovery'"
        ))?;
        let address = start(&mut member, number, topology, &seeds)?;
        seeds.push(address);
        wait_until_online(&mut member)?;
    }
    // The first to be there has seen the others come; whether each still is there, it says itself.
    nodes.iter().try_for_each(|node| wait_until_online(&mut MemberConnection::connect(node)?))
}

/// Starts a member's part; returns the address under which it is a member. Where another program
/// has taken its port, another port is tried.
fn start(
    member: &mut MemberConnection<'_>,
    number: usize,
    topology: Topology,
    seeds: &[String],
) -> Result<String, SandboxError> {
    let first = seeds.is_empty();
    for attempt in 1..=PORTS {
        let address = match topology.delay {
            Some(_) => format!("{}:{}", host_name(number), member.node.port),
            None => format!("127.0.0.1:{}", free_port()?),
        };
        let seeds = if first { address.clone() } else { seeds.join(",") };
        member.run(&format!("SET GLOBAL group_replication_local_address='{address}'"))?;
        member.run(&format!("SET GLOBAL group_replication_group_seeds='{seeds}'"))?;
        if first {
            member.run("SET GLOBAL group_replication_bootstrap_group=ON")?;
        }
        let started = member.run("START GROUP_REPLICATION");
        if first {
            // At once, or the next START would make a second group. A member that has died in the
            // meantime needs it no more, and the reason is in what START came to.
            let reset = member.run("SET GLOBAL group_replication_bootstrap_group=OFF");
            if started.is_ok() {
                reset?;
            }
        }
        match started {
            Ok(()) => return Ok(address),
            Err(error) if attempt < PORTS && is_lost_port(&error) => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("the last attempt returns")
}

fn is_lost_port(error: &SandboxError) -> bool {
    let SandboxError::NotAMember { log, .. } = error else { return false };
    log.iter().any(|line| line.contains("already in use") || line.contains("Unable to bind"))
}

/// START returns while the member is still RECOVERING.
fn wait_until_online(member: &mut MemberConnection<'_>) -> Result<(), SandboxError> {
    let deadline = Deadline::after_seconds(JOIN_WITHIN_S);
    loop {
        let state = member.ask(|client, _| group_member_state(client))?;
        match state.as_str() {
            "ONLINE" => return Ok(()),
            // It does not come back from these by itself.
            "ERROR" | "OFFLINE" => {
                return Err(member.node.error_with_log(format!("left the group: it is {state}")));
            }
            _ => {}
        }
        if !deadline.pause() {
            return Err(member.node.error_with_log(format!(
                "was not ONLINE within the time limit of {JOIN_WITHIN_S} s: it is {state}"
            )));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_a_name_of_its_own_that_is_a_uuid() {
        let (one, other) = (random_name().unwrap(), random_name().unwrap());
        assert_ne!(one, other);
        let lengths: Vec<usize> = one.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert!(one.chars().all(|c| c == '-' || c.is_ascii_hexdigit()));
    }

    #[test]
    fn each_pair_has_a_way_of_its_own() {
        let mut ways: Vec<_> =
            (0..9).flat_map(|from| (0..9).map(move |to| way_of(from, to, 3306))).collect();
        ways.sort();
        ways.dedup();
        assert_eq!(ways.len(), 81);
        assert!(ways.iter().all(|way| way.ip().is_loopback()));
    }
}
