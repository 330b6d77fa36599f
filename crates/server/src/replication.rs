//! What members of a topology say of their part: how far they are, and whether they go on.
//!
//! ```text
//!                position           is compared by            state
//!   MySQL        gtid_executed      GTID_SUBTRACT             SHOW REPLICA STATUS, from 8.0.23 on
//!   MariaDB      gtid_binlog_pos    the numbers of domains    SHOW SLAVE STATUS
//!   PostgreSQL   –                  what the source has sent  pg_stat_replication
//!   group        as MySQL           as MySQL                  replication_group_members
//!   Galera       wsrep_last_…       the difference            wsrep_…
//! ```

use std::collections::BTreeMap;

use dbdyno_model::{Dialect, Literal};
use dbdyno_wire::{Client, Rows};

use crate::family::{
    ReplicationWords, ServerRelease, TransactionNumbers, Ways, any_release, since_release, way_for,
};
use crate::refusal::{Refusal, ask_server};

pub(crate) const MYSQL_REPLICATION: Ways<ReplicationWords> =
    &[since_release(8_00_23, NEW_WORDS), any_release(OLD_WORDS)];
pub(crate) const MARIADB_REPLICATION: Ways<ReplicationWords> = &[any_release(OLD_WORDS)];

const NEW_WORDS: ReplicationWords = ReplicationWords {
    stop: "STOP REPLICA",
    start: "START REPLICA",
    follow: "CHANGE REPLICATION SOURCE TO",
    prefix: "SOURCE",
    status: "SHOW REPLICA STATUS",
};
const OLD_WORDS: ReplicationWords = ReplicationWords {
    stop: "STOP SLAVE",
    start: "START SLAVE",
    follow: "CHANGE MASTER TO",
    prefix: "MASTER",
    status: "SHOW SLAVE STATUS",
};

impl ReplicationWords {
    /// Those of a release; `None` where a family replicates otherwise.
    pub fn for_release(server: ServerRelease) -> Option<ReplicationWords> {
        way_for(server.family().replication, server)
    }
}

/// What the first member of a topology has done, in its own notation; `None` where there is none.
///
/// # Errors
/// The server's refusal.
pub fn replication_position(
    client: &mut dyn Client,
    server: ServerRelease,
) -> Result<Option<String>, Refusal> {
    let sql = match server.family().numbers {
        Some(TransactionNumbers::Sets) => "SELECT @@GLOBAL.gtid_executed",
        Some(TransactionNumbers::Domains) => "SELECT @@GLOBAL.gtid_binlog_pos",
        None => return Ok(None),
    };
    Ok(ask_server(client, sql)?.first_value().map(str::to_owned))
}

/// How many transactions of a position of the first member another one has not done; `None` where
/// that cannot be told.
///
/// # Errors
/// The refusal of one of them.
pub fn transactions_behind(
    first: &mut dyn Client,
    member: &mut dyn Client,
    server: ServerRelease,
    done: &str,
) -> Result<Option<u64>, Refusal> {
    match server.family().numbers {
        None => Ok(None),
        Some(TransactionNumbers::Sets) => {
            let own = single(member, "SELECT @@GLOBAL.gtid_executed")?;
            let (done, own) = (done.replace('\n', ""), own.replace('\n', ""));
            let [done, own] = [done, own].map(|set| Literal::new(&set, Dialect::Mysql));
            let missing = single(first, &format!("SELECT GTID_SUBTRACT({done},{own})"))?;
            Ok(count_gtids(&missing))
        }
        Some(TransactionNumbers::Domains) => {
            let own = single(member, "SELECT @@GLOBAL.gtid_slave_pos")?;
            let (Some(done), Some(own)) = (domains(done), domains(&own)) else { return Ok(None) };
            let missing = done.iter().map(|(domain, number)| {
                number.saturating_sub(own.get(domain).copied().unwrap_or(0))
            });
            Ok(Some(missing.sum()))
        }
    }
}

/// The first value; empty for none and for NULL.
fn single(client: &mut dyn Client, sql: &str) -> Result<String, Refusal> {
    Ok(ask_server(client, sql)?.first_value().unwrap_or_default().to_owned())
}

/// How many transactions a set of MySQL's GTIDs names: `UUID:1-5:8,UUID:3`.
fn count_gtids(set: &str) -> Option<u64> {
    let sources = set.split(',').map(str::trim).filter(|source| !source.is_empty());
    let mut count = 0_u64;
    for source in sources {
        // From 8.3 on a tag may stand between the UUID and the numbers.
        let ranges = source
            .split(':')
            .skip(1)
            .filter(|part| part.starts_with(|first: char| first.is_ascii_digit()));
        for range in ranges {
            let (low, high) = range.split_once('-').unwrap_or((range, range));
            let (low, high): (u64, u64) = (low.parse().ok()?, high.parse().ok()?);
            count += high.checked_sub(low)? + 1;
        }
    }
    Some(count)
}

/// MariaDB's position, `DOMAIN-SERVER-NUMBER,…`, as the number of each domain.
fn domains(position: &str) -> Option<BTreeMap<u64, u64>> {
    let gtids = position.split(',').map(str::trim).filter(|gtid| !gtid.is_empty());
    gtids
        .map(|gtid| {
            let mut parts = gtid.split('-').map(|part| part.parse::<u64>().ok());
            let (domain, _server, number) = (parts.next()??, parts.next()??, parts.next()??);
            Some((domain, number))
        })
        .collect()
}

/// The threads of a replica of MySQL or MariaDB, in their own words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplicaThreads {
    /// What the thread does that reads from the source: `Yes` where it runs.
    pub io: ReplicaThread,
    /// What the thread does that applies.
    pub sql: ReplicaThread,
    /// How far it is behind by its own word.
    pub seconds: String,
}

/// A thread of a replica.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplicaThread {
    /// `Yes`, `No`, `Connecting`.
    pub state: String,
    /// The number of its last error; empty or 0 where there was none.
    pub error: String,
    /// That error.
    pub error_text: String,
}

impl ReplicaThreads {
    /// Whether both run.
    pub fn run(&self) -> bool {
        self.io.state == "Yes" && self.sql.state == "Yes"
    }
}

/// What a replica says of its threads; all is empty where it follows nobody.
///
/// # Errors
/// The server's refusal.
pub fn replica_threads(
    client: &mut dyn Client,
    server: ServerRelease,
) -> Result<ReplicaThreads, Refusal> {
    let Some(words) = ReplicationWords::for_release(server) else {
        return Ok(ReplicaThreads::default());
    };
    let status = ask_server(client, words.status)?;
    let [io, sql] = ["IO", "SQL"].map(|thread| ReplicaThread {
        state: column(
            &status,
            [&format!("Replica_{thread}_Running"), &format!("Slave_{thread}_Running")],
        ),
        error: column(&status, [&format!("Last_{thread}_Errno")]),
        error_text: column(&status, [&format!("Last_{thread}_Error")]),
    });
    let seconds = column(&status, ["Seconds_Behind_Source", "Seconds_Behind_Master"]);
    Ok(ReplicaThreads { io, sql, seconds })
}

/// The first of these columns that the only row has; empty for none and for NULL.
fn column<const N: usize>(rows: &Rows, names: [&str; N]) -> String {
    let at = names.iter().find_map(|name| rows.columns.iter().position(|known| known == name));
    at.and_then(|at| rows.rows.first()?.get(at)?.clone()).unwrap_or_default()
}

/// What a source of PostgreSQL says of a standby.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StandbyStream {
    /// `streaming` where it follows; empty where it is not connected.
    pub state: String,
    /// WAL that was written and not replayed there.
    pub bytes: Option<u64>,
    /// How long that takes to be replayed; `None` before PostgreSQL 10.
    pub seconds: Option<f64>,
}

/// Where a release of PostgreSQL says what its standbys have replayed: bytes and seconds.
const REPLAYED: Ways<[&str; 2]> = &[
    since_release(
        10_00_00,
        [
            "pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)",
            "coalesce(extract(epoch FROM replay_lag), 0)",
        ],
    ),
    any_release(["pg_xlog_location_diff(pg_current_xlog_location(), replay_location)", "NULL"]),
];

/// What a source of PostgreSQL says of the standby that calls itself so.
///
/// # Errors
/// The server's refusal.
pub fn standby_stream(
    source: &mut dyn Client,
    server: ServerRelease,
    name: &str,
) -> Result<StandbyStream, Refusal> {
    let [bytes, seconds] = way_for(REPLAYED, server).expect("all releases are named");
    let name = Literal::new(name, Dialect::Postgres);
    let rows = ask_server(
        source,
        &format!(
            "SELECT state, greatest({bytes}, 0)::bigint, {seconds} FROM pg_stat_replication WHERE \
             application_name = {name}"
        ),
    )?;
    let Some([state, bytes, seconds]) = rows.rows.first().map(Vec::as_slice) else {
        return Ok(StandbyStream::default());
    };
    Ok(StandbyStream {
        state: state.clone().unwrap_or_default(),
        bytes: bytes.as_deref().and_then(|bytes| bytes.parse().ok()),
        seconds: seconds.as_deref().and_then(|seconds| seconds.parse().ok()),
    })
}

/// Whether a source of PostgreSQL keeps a slot of this name.
///
/// # Errors
/// The server's refusal.
pub fn has_slot(source: &mut dyn Client, name: &str) -> Result<bool, Refusal> {
    let name = Literal::new(name, Dialect::Postgres);
    let sql = format!("SELECT count(*) FROM pg_replication_slots WHERE slot_name = {name}");
    Ok(single(source, &sql)? != "0")
}

/// What a member of a group of MySQL says of itself: `ONLINE`, `RECOVERING`, …
///
/// # Errors
/// The server's refusal.
pub fn group_member_state(client: &mut dyn Client) -> Result<String, Refusal> {
    single(
        client,
        "SELECT member_state FROM performance_schema.replication_group_members \
         WHERE member_id = @@server_uuid",
    )
}

/// What a node of Galera says of itself and of those that it sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GaleraStatus {
    /// `Synced` where it does its part.
    pub state: String,
    /// How many nodes it sees.
    pub size: String,
    /// `ON` where it lets clients in.
    pub ready: String,
    /// Write sets and changes of membership that it has committed.
    pub count: u64,
}

/// The address under which a node of Galera is found by others.
///
/// # Errors
/// The server's refusal.
pub fn galera_address(client: &mut dyn Client) -> Result<String, Refusal> {
    single(client, "SELECT @@wsrep_node_address")
}

/// What a node of Galera says of itself.
///
/// # Errors
/// The server's refusal.
pub fn galera_status(client: &mut dyn Client) -> Result<GaleraStatus, Refusal> {
    let rows = ask_server(client, "SHOW GLOBAL STATUS LIKE 'wsrep\\_%'")?;
    let [state, size, ready, count] =
        ["wsrep_local_state_comment", "wsrep_cluster_size", "wsrep_ready", "wsrep_last_committed"]
            .map(|name| {
                let row = rows
                    .rows
                    .iter()
                    .find(|row| row.first().and_then(Option::as_deref) == Some(name));
                row.and_then(|row| row.get(1)?.clone()).unwrap_or_default()
            });
    Ok(GaleraStatus { state, size, ready, count: count.parse().unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gtids_are_counted_in_every_notation() {
        let uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562";
        assert_eq!(count_gtids(""), Some(0));
        assert_eq!(count_gtids(&format!("{uuid}:5")), Some(1));
        assert_eq!(count_gtids(&format!("{uuid}:1-5:8:10-11,\n{uuid}:7")), Some(9));
        assert_eq!(count_gtids(&format!("{uuid}:1-3:tagged:1-2")), Some(5));
        assert_eq!(count_gtids(&format!("{uuid}:5-1")), None);
    }

    #[test]
    fn positions_of_mariadb_are_read_by_domain() {
        let two = domains("0-1-100,7-2-33").unwrap();
        assert_eq!(two, BTreeMap::from([(0, 100), (7, 33)]));
        assert_eq!(domains(""), Some(BTreeMap::new()));
        assert_eq!(domains("0-1"), None);
    }
}
