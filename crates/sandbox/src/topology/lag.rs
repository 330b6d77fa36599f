//! How far those that follow are behind the first member.
//!
//! | | transactions | bytes | seconds |
//! |---|---|---|---|
//! | MySQL | GTIDs that the first has executed and this one has not | – | what it says itself |
//! | MariaDB | the same, from the numbers of its GTIDs | – | what it says itself |
//! | PostgreSQL | – | WAL written and not replayed | what the source says |
//! | group | as MySQL | – | – |
//! | Galera | write sets that the first has committed and this one has not | – | – |
//!
//! The first member is asked before the others: what it does meanwhile is not held against them. So
//! a member that keeps up is 0 behind, also under load.

use std::collections::BTreeMap;

use dbdyno_model::{Dialect, Literal, Product, TopologyShape};

use super::member::{MemberConnection, column};
use super::standing::{MemberStanding, Works};
use super::{galera, group, replicas};
use crate::error::SandboxError;
use crate::server::Node;

/// How each member but the first stands.
pub(super) fn standing(
    nodes: &[Node],
    shape: TopologyShape,
) -> Result<Vec<MemberStanding>, SandboxError> {
    if let TopologyShape::Galera(_) = shape {
        return galera::standing(nodes);
    }
    let mut first = MemberConnection::connect(&nodes[0])?;
    let done = done_by(&mut first)?;
    let others = (1..).zip(&nodes[1..]);
    others
        .map(|(number, node)| {
            if node.is_postgres() {
                return streaming(&mut first, number, shape);
            }
            let mut member = MemberConnection::connect(node)?;
            let transactions = behind(&mut first, &mut member, &done)?;
            let (state, works, seconds) = match shape {
                TopologyShape::Group(_) => {
                    let state = group::state(&mut member)?;
                    let works = if state == "ONLINE" { Works::Yes } else { Works::No };
                    (state, works, None)
                }
                TopologyShape::Replicas(_) | TopologyShape::Galera(_) => threads(&mut member)?,
            };
            let (role, bytes) = (shape.role(number), None);
            Ok(MemberStanding {
                member: number + 1,
                role,
                state,
                works,
                transactions,
                bytes,
                seconds,
            })
        })
        .collect()
}

/// What the first member has done, in its own notation.
fn done_by(first: &mut MemberConnection<'_>) -> Result<String, SandboxError> {
    match first.node.product {
        Product::MySql => first.single("SELECT @@GLOBAL.gtid_executed"),
        Product::MariaDb => first.single("SELECT @@GLOBAL.gtid_binlog_pos"),
        Product::Postgres => Ok(String::new()),
    }
}

fn behind(
    first: &mut MemberConnection<'_>,
    member: &mut MemberConnection<'_>,
    done: &str,
) -> Result<Option<u64>, SandboxError> {
    if member.node.product == Product::MySql {
        let own = member.single("SELECT @@GLOBAL.gtid_executed")?;
        let (done, own) = (done.replace('\n', ""), own.replace('\n', ""));
        let [done, own] = [done, own].map(|set| Literal::new(&set, Dialect::Mysql));
        let missing = first.single(&format!("SELECT GTID_SUBTRACT({done},{own})"))?;
        return Ok(count_gtids(&missing));
    }
    let own = member.single("SELECT @@GLOBAL.gtid_slave_pos")?;
    let (Some(done), Some(own)) = (domains(done), domains(&own)) else { return Ok(None) };
    let missing = |(domain, number): (&u64, &u64)| {
        number.saturating_sub(own.get(domain).copied().unwrap_or(0))
    };
    Ok(Some(done.iter().map(missing).sum()))
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

fn threads(
    member: &mut MemberConnection<'_>,
) -> Result<(String, Works, Option<f64>), SandboxError> {
    let status = member.query(replicas::words(member.node).status)?;
    let reads = column(&status, &["Replica_IO_Running", "Slave_IO_Running"]);
    let applies = column(&status, &["Replica_SQL_Running", "Slave_SQL_Running"]);
    let seconds = column(&status, &["Seconds_Behind_Source", "Seconds_Behind_Master"]);
    let works = if (reads, applies) == ("Yes", "Yes") { Works::Yes } else { Works::No };
    Ok((format!("IO {reads}, SQL {applies}"), works, seconds.parse().ok()))
}

fn streaming(
    source: &mut MemberConnection<'_>,
    number: u8,
    shape: TopologyShape,
) -> Result<MemberStanding, SandboxError> {
    let new = crate::catalog::at_least(&source.node.version, "10");
    let (bytes, seconds) = if new {
        (
            "pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)",
            "coalesce(extract(epoch FROM replay_lag), 0)",
        )
    } else {
        ("pg_xlog_location_diff(pg_current_xlog_location(), replay_location)", "NULL")
    };
    let name = replicas::standby_name(usize::from(number));
    let row = source.query(&format!(
        "SELECT state, greatest({bytes}, 0)::bigint, {seconds} FROM pg_stat_replication WHERE \
         application_name = '{name}'"
    ))?;
    let value = |at: usize| row.rows.first().and_then(|row| row.get(at)?.as_deref());
    let state = value(0).unwrap_or("not connected").to_owned();
    Ok(MemberStanding {
        member: number + 1,
        role: shape.role(number),
        works: if state == "streaming" { Works::Yes } else { Works::No },
        state,
        transactions: None,
        bytes: value(1).and_then(|bytes| bytes.parse().ok()),
        seconds: value(2).and_then(|seconds| seconds.parse().ok()),
    })
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
