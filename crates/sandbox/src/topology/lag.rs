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

use dbdyno_model::TopologyShape;
use dbdyno_server::{
    group_member_state, replica_threads, replication_position, standby_stream, transactions_behind,
};

use super::member::MemberConnection;
use super::standing::{MemberStanding, Works};
use super::{galera, replicas};
use crate::error::SandboxError;
use crate::server::Node;

/// How each member but the first stands.
pub(super) fn member_standings(
    nodes: &[Node],
    shape: TopologyShape,
) -> Result<Vec<MemberStanding>, SandboxError> {
    if let TopologyShape::Galera(_) = shape {
        return galera::member_standings(nodes);
    }
    let mut first = MemberConnection::connect(&nodes[0])?;
    let done = first.ask(replication_position)?.unwrap_or_default();
    let others = (1..).zip(&nodes[1..]);
    others
        .map(|(number, node)| {
            if node.is_postgres() {
                return streaming(&mut first, number, shape);
            }
            let mut member = MemberConnection::connect(node)?;
            let transactions = member.ask(|member, server| {
                transactions_behind(&mut *first.client, member, server, &done)
            })?;
            let (state, works, seconds) = match shape {
                TopologyShape::Group(_) => {
                    let state = member.ask(|client, _| group_member_state(client))?;
                    let works = if state == "ONLINE" { Works::Yes } else { Works::No };
                    (state, works, None)
                }
                TopologyShape::Replicas(_) | TopologyShape::Galera(_) => threads(&mut member)?,
            };
            let (role, bytes) = (shape.role_of(number), None);
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

fn streaming(
    source: &mut MemberConnection<'_>,
    number: u8,
    shape: TopologyShape,
) -> Result<MemberStanding, SandboxError> {
    let name = replicas::standby_name(usize::from(number));
    let stream = source.ask(|client, server| standby_stream(client, server, &name))?;
    let works = if stream.state == "streaming" { Works::Yes } else { Works::No };
    let state = if stream.state.is_empty() { "not connected".to_owned() } else { stream.state };
    Ok(MemberStanding {
        member: number + 1,
        role: shape.role_of(number),
        works,
        state,
        transactions: None,
        bytes: stream.bytes,
        seconds: stream.seconds,
    })
}

fn threads(
    member: &mut MemberConnection<'_>,
) -> Result<(String, Works, Option<f64>), SandboxError> {
    let threads = member.ask(replica_threads)?;
    let works = if threads.run() { Works::Yes } else { Works::No };
    let state = format!("IO {}, SQL {}", threads.io.state, threads.sql.state);
    Ok((state, works, threads.seconds.parse().ok()))
}
