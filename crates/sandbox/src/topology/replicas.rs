//! Servers that follow a source: by GTIDs in the MySQL family, by streaming in PostgreSQL.
//!
//! ```text
//!   MySQL, MariaDB   all begin as copies of one empty data directory, without a binary log; what
//!                    the source does from then on is in its log, and a replica asks for all of it
//!   PostgreSQL       the source starts once with its settings and stops; a replica is a copy of
//!                    that, and streams what comes after; a slot at the source keeps it
//! ```
//!
//! A replica follows as our own account, which has one password on all members. In PostgreSQL it
//! stands in a file that only the server's account can read, never in an argument.
//!
//! Rows are logged, not statements, in every release (`binlog_format=ROW`): a statement may do
//! something else on a replica, and of the defaults this is the one that would compare apples with
//! pears. As everywhere, a commit does not wait for the disk (`sync_binlog=0`).

use std::path::Path;

use dbdyno_model::Product;
use dbdyno_server::{
    ReplicaThreads, ReplicationWords, StandbyStream, has_slot, replica_threads, standby_stream,
};

use super::member::{JOIN_WITHIN_S, MemberConnection};
use crate::bootstrap::{UNLOGGED, USER};
use crate::catalog::at_least;
use crate::clock::Deadline;
use crate::error::SandboxError;
use crate::foreign_files::{give_text, read_plain};
use crate::server::{Node, Server};

/// The public key under which a password is told to a source, in the data directory of each that is
/// a copy of the source's.
pub(super) const KEY: &str = "public_key.pem";

/// What a member is told, whether it leads or follows: any of them may have to lead.
pub(super) fn settings(product: Product, version: &str, number: u8) -> Vec<(&'static str, String)> {
    if product == Product::Postgres {
        return postgres_settings(version);
    }
    let mut settings = vec![
        ("server_id", (u32::from(number) + 1).to_string()),
        ("log_bin", "binlog".to_owned()),
        ("relay_log", "relay".to_owned()),
        ("sync_binlog", "0".to_owned()),
    ];
    let mariadb = product == Product::MariaDb;
    if mariadb || !at_least(version, "5.7.7") {
        settings.push(("binlog_format", "ROW".to_owned()));
    }
    if mariadb {
        settings.push(("gtid_strict_mode", "ON".to_owned()));
        settings.push(("skip_slave_start", String::new()));
        return settings;
    }
    settings.push(("gtid_mode", "ON".to_owned()));
    settings.push(("enforce_gtid_consistency", "ON".to_owned()));
    if !at_least(version, "8.0") {
        settings.push(("log_slave_updates", "ON".to_owned()));
    }
    // Where to ask is known when all of them run; until then none asks.
    let waits = if at_least(version, "8.0.26") { "skip_replica_start" } else { "skip_slave_start" };
    settings.push((waits, String::new()));
    settings
}

fn postgres_settings(version: &str) -> Vec<(&'static str, String)> {
    let level = if at_least(version, "9.6") { "replica" } else { "hot_standby" };
    vec![
        ("wal_level", level.to_owned()),
        ("hot_standby", "on".to_owned()),
        ("max_wal_senders", "10".to_owned()),
        ("max_replication_slots", "10".to_owned()),
    ]
}

/// Points every member but the first at the first and waits until it follows. `seen` is for each
/// member the port of the first as it sees it.
pub(super) fn start_replication(nodes: &[Node], seen: &[u16]) -> Result<(), SandboxError> {
    for (number, node) in nodes.iter().enumerate().skip(1) {
        if node.is_postgres() {
            wait_for_stream(&nodes[0], node, number)?;
        } else {
            point(node, seen[number])?;
            wait_for_threads(node)?;
        }
    }
    Ok(())
}

/// Tells a member to follow the first, which it sees on this port. The password goes under the key
/// of the first alone, whoever answers there.
fn point(node: &Node, port: u16) -> Result<(), SandboxError> {
    let mut replica = MemberConnection::connect(node)?;
    let words =
        ReplicationWords::for_release(replica.server).expect("MySQL and MariaDB have replicas");
    let (password, prefix) = (node.endpoint.password.expose(), words.prefix);
    let mut terms = format!(
        "{prefix}_HOST='127.0.0.1', {prefix}_PORT={port}, {prefix}_USER='{USER}', \
         {prefix}_CONNECT_RETRY=1"
    );
    if node.product == Product::MariaDb {
        // From 11.4 on a replica insists on TLS, which ours have not, unless it is told not to.
        terms
            .push_str(", MASTER_SSL=0, MASTER_SSL_VERIFY_SERVER_CERT=0, MASTER_USE_GTID=slave_pos");
    } else {
        terms.push_str(&format!(", {prefix}_AUTO_POSITION=1"));
    }
    if node.product == Product::MySql && at_least(&node.version, "8.0.4") {
        // Not the key that whoever answers would offer.
        terms.push_str(&format!(", {prefix}_PUBLIC_KEY_PATH='{KEY}'"));
    }
    // It runs already where the server was not told to wait.
    replica.run(words.stop)?;
    if node.product == Product::MariaDb {
        // MySQL writes down such a statement without its password.
        UNLOGGED.iter().try_for_each(|sql| replica.run(sql))?;
    }
    replica.run(&format!("{} {terms}, {prefix}_PASSWORD='{password}'", words.follow))?;
    replica.run(words.start)?;
    let only_reads = if node.product == Product::MySql && at_least(&node.version, "5.7.8") {
        "SET GLOBAL super_read_only=ON"
    } else {
        "SET GLOBAL read_only=ON"
    };
    replica.run(only_reads)
}

/// Waits until both threads run; one that has stopped with an error does not come back.
fn wait_for_threads(node: &Node) -> Result<(), SandboxError> {
    let deadline = Deadline::after_seconds(JOIN_WITHIN_S);
    let mut replica = MemberConnection::connect(node)?;
    loop {
        let threads = replica.ask(replica_threads)?;
        if threads.run() {
            return Ok(());
        }
        for (name, thread) in [("IO", &threads.io), ("SQL", &threads.sql)] {
            if thread.state == "No" && !["", "0"].contains(&thread.error.as_str()) {
                return Err(node.error_with_log(format!(
                    "does not follow its source: its {name} thread stopped with error {}: {}",
                    thread.error, thread.error_text
                )));
            }
        }
        if !deadline.pause() {
            let ReplicaThreads { io, sql, .. } = threads;
            return Err(node.error_with_log(format!(
                "did not follow its source within the time limit of {JOIN_WITHIN_S} s (IO thread \
                 {:?}, SQL thread {:?}) {}",
                io.state, sql.state, io.error_text
            )));
        }
    }
}

/// Adds what lets a standby in; before PostgreSQL 10 `initdb` only mentions it.
pub(super) fn let_standbys_in(data: &Path) -> Result<(), SandboxError> {
    let path = data.join("pg_hba.conf");
    let text = read_plain(&path).map_err(SandboxError::io("read", &path))?;
    if text.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("host") && words.next() == Some("replication")
    }) {
        return Ok(());
    }
    give_text(
        &path,
        &format!("{text}\nhost replication all 127.0.0.1/32 md5\nlocal replication all md5\n"),
    )
}

/// Starts the source once, so that its data directory says with which settings it was written, and
/// makes the others copies of it.
pub(super) fn copy_the_source(members: &mut [Server]) -> Result<(), SandboxError> {
    let (source, others) = members.split_at_mut(1);
    let source = &mut source[0];
    source.launch_process()?;
    source.halt_cleanly()?;
    others.iter().try_for_each(|standby| standby.take_over(&source.data_dir()))
}

/// The name under which the source knows a standby, and that of its slot.
pub(super) fn standby_name(number: usize) -> String {
    format!("standby_{}", number + 1)
}

/// Tells the standbys, which do not run, where the source is that does, and has it keep for them
/// what they have not read.
pub(super) fn point_standbys(nodes: &[Node], seen: &[u16]) -> Result<(), SandboxError> {
    let mut source = MemberConnection::connect(&nodes[0])?;
    for (number, node) in nodes.iter().enumerate().skip(1) {
        let name = standby_name(number);
        if !source.ask(|client, _| has_slot(client, &name))? {
            source.query(&format!("SELECT pg_create_physical_replication_slot('{name}', true)"))?;
        }
        let password = nodes[0].endpoint.password.expose();
        let place = place_of_source(&nodes[0], &node.version, seen[number]);
        let lines = format!(
            "primary_conninfo = '{place} user={USER} password={password} \
             application_name={name}'\nprimary_slot_name = '{name}'\n"
        );
        if at_least(&node.version, "12") {
            give_text(&node.data.join("postgresql.auto.conf"), &lines)?;
            give_text(&node.data.join("standby.signal"), "")?;
        } else {
            give_text(&node.data.join("recovery.conf"), &format!("standby_mode = 'on'\n{lines}"))?;
        }
    }
    Ok(())
}

/// Where a standby finds its source, which it must not tell its password in clear, whoever asks
/// for it there: from 16 on it can be told so. Before, it uses the source's socket, unless a delay
/// lies between them.
fn place_of_source(source: &Node, version: &str, seen: u16) -> String {
    if at_least(version, "16") {
        return format!("host=127.0.0.1 port={seen} require_auth=md5,scram-sha-256");
    }
    let work = source.data.parent().filter(|_| seen == source.port);
    let host = work.map_or_else(|| "127.0.0.1".to_owned(), |work| work.display().to_string());
    format!("host={host} port={seen}")
}

/// Waits until the source says that it sends, and the standby that it takes.
fn wait_for_stream(source: &Node, node: &Node, number: usize) -> Result<(), SandboxError> {
    let deadline = Deadline::after_seconds(JOIN_WITHIN_S);
    let mut asked = MemberConnection::connect(source)?;
    let name = standby_name(number);
    loop {
        let StandbyStream { state, .. } =
            asked.ask(|client, server| standby_stream(client, server, &name))?;
        if state == "streaming" {
            return Ok(());
        }
        // A standby that has ended cannot stream any more.
        drop(MemberConnection::connect(node)?);
        if !deadline.pause() {
            let state = if state.is_empty() { "is not connected".to_owned() } else { state };
            return Err(node.error_with_log(format!(
                "does not stream from its source within the time limit of {JOIN_WITHIN_S} s: it \
                 {state}"
            )));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_release_is_told_in_its_own_words() {
        let names = |product, version: &str| -> Vec<&str> {
            settings(product, version, 1).into_iter().map(|(name, _)| name).collect()
        };
        let old = names(Product::MySql, "5.6.24");
        let new = names(Product::MySql, "9.7.4");
        assert!(old.contains(&"skip_slave_start") && old.contains(&"log_slave_updates"));
        assert!(new.contains(&"skip_replica_start") && !new.contains(&"log_slave_updates"));
        assert!(!new.contains(&"binlog_format"), "it is deprecated where it is the default");
        let mariadb = names(Product::MariaDb, "11.8.6");
        assert!(mariadb.contains(&"gtid_strict_mode") && !mariadb.contains(&"gtid_mode"));
        assert_eq!(settings(Product::Postgres, "9.6.24", 0)[0].1, "replica");
        assert_eq!(settings(Product::Postgres, "9.5.2", 0)[0].1, "hot_standby");
    }

    #[test]
    fn a_rule_for_standbys_is_added_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pg_hba.conf");
        fs::write(&path, "host all all 127.0.0.1/32 md5\n#host replication all x md5\n").unwrap();
        for _ in 0..2 {
            let_standbys_in(dir.path()).unwrap();
            let text = fs::read_to_string(&path).unwrap();
            assert_eq!(text.matches("\nhost replication all 127.0.0.1/32 md5\n").count(), 1);
        }
    }
}
