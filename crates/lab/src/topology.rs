//! What is to be known of servers that belong together: who they are, how far they are apart, and
//! whether those that follow keep up.
//!
//! ```text
//!   environment   topology.shape            group:3
//!                 topology.delay_ns         5000000, as it was asked for
//!                 topology.delay_out_ns_p50, _p99, topology.delay_back_ns_p50, _p99
//!                                           as it was while the tables were filled
//!                 topology.member.2.role    secondary
//!   each round    topology.member.2.behind_transactions, _bytes, _seconds, at its end
//!                 topology.member.2.cpu_ns, in its window
//! ```
//!
//! The cost of the server is that of the first member. What the others use is told beside it, and
//! never added to it: whether it counts depends on the question.

use std::collections::BTreeMap;

use dbdyno_engine::follow::ReplicaComparison;
use dbdyno_load::{Connector, LoadError};
use dbdyno_model::{
    ArmIndex, Dialect, Environment, LatencyHistogram, MemberRole, Readings, Round, Severity,
    Warning,
};
use dbdyno_sandbox::{Ensemble, MemberStanding, Works};
use dbdyno_wire::WireError;

use crate::error::LabError;
use crate::neighbours::{Look, members_cpu_ns};

/// Variables that are of the instance, or say what it has done so far.
const OWN_VARIABLES: [&str; 11] = [
    "group_replication_group_name",
    "group_replication_group_seeds",
    "group_replication_local_address",
    "gtid_binlog_pos",
    "gtid_binlog_state",
    "gtid_current_pos",
    "gtid_executed",
    "gtid_purged",
    "gtid_slave_pos",
    "report_host",
    "report_port",
];
/// A member that has more bytes of log to apply than this has fallen behind.
const BEHIND_BYTES: u64 = 16 << 20;
/// Or one that is this many seconds behind.
const BEHIND_S: f64 = 1.0;

/// Notes in the environment of an arm among whom it is.
pub(crate) fn describe_ensemble(environment: &mut Environment, ensemble: &Ensemble) {
    for name in OWN_VARIABLES.map(|name| format!("variable.{name}")) {
        if !environment.get(&name).is_empty() {
            environment.set(name, "<own>");
        }
    }
    let topology = ensemble.topology();
    environment.set("topology.shape", topology.shape.to_string());
    if let Some(delay) = topology.delay {
        environment.set("topology.delay_ns", delay.one_way_ns.to_string());
    }
    for (number, (role, _)) in (1..).zip(ensemble.members()) {
        environment.set(format!("topology.member.{number}.role"), role.name());
    }
}

/// Notes what the delay has come to so far.
pub(crate) fn measure_delay(environment: &mut Environment, ensemble: &Ensemble) {
    let Some(added) = ensemble.added_delay() else { return };
    let mut note = |way: &str, times: &LatencyHistogram| {
        if times.count() == 0 {
            return;
        }
        for (name, quantile) in [("p50", 0.5), ("p99", 0.99)] {
            let ns = times.quantile_ns(quantile);
            environment.set(format!("topology.delay_{way}_ns_{name}"), ns.to_string());
        }
    };
    note("out", &added.out);
    note("back", &added.back);
}

/// Holds the replica of an engine, where there is one, against its source, while nobody writes. How
/// many bytes of log it had yet to apply before that.
///
/// # Errors
/// It has other rows, or has ended.
pub(crate) fn hold_against_source(
    arm: ArmIndex,
    connector: &Connector,
    dialect: Dialect,
) -> Result<Option<u64>, LabError> {
    let compared = match (connector, dialect) {
        (Connector::Engine(engine), _) => engine.compare_replica(),
        (_, Dialect::Engine) => compared_over_the_wire(connector),
        _ => return Ok(None),
    };
    let failed =
        |error| LabError::Load(arm, "holding the replica against its source".into(), error);
    let compared = compared.map_err(|error| failed(LoadError::Wire(error, None)))?;
    let Some(ReplicaComparison { behind_bytes, difference }) = compared else { return Ok(None) };
    match difference {
        Some(what) => {
            Err(failed(LoadError::WrongAnswer(format!("the replica is another one: {what}"))))
        }
        None => Ok(Some(behind_bytes)),
    }
}

/// What an engine in a process of its own says of its replica; it has none if it tells no row.
fn compared_over_the_wire(connector: &Connector) -> Result<Option<ReplicaComparison>, WireError> {
    let mut rows = connector.connect()?.query("CHECK REPLICA")?.rows;
    let Some(row) = rows.pop() else { return Ok(None) };
    let [Some(behind), difference] = &row[..] else {
        return Err(WireError::Protocol(format!("CHECK REPLICA told {row:?}")));
    };
    let behind_bytes = behind.parse().map_err(|_| {
        WireError::Protocol(format!("CHECK REPLICA told {behind:?} where bytes are expected"))
    })?;
    Ok(Some(ReplicaComparison { behind_bytes, difference: difference.clone() }))
}

/// What those that follow used in the window of a round.
pub(crate) fn follower_readings(looks: &[Look]) -> Readings {
    let mut readings = Readings::default();
    for (number, cpu_ns) in (2_u8..).zip(members_cpu_ns(looks)) {
        readings.set(&cpu_name(number), cpu_ns.map(|ns| ns as f64));
    }
    readings
}

fn cpu_name(member: u8) -> String {
    format!("topology.member.{member}.cpu_ns")
}

/// What was seen of those that follow, over the whole run.
#[derive(Default)]
pub(crate) struct Following {
    members: BTreeMap<(ArmIndex, u8), MemberReadings>,
    /// Of each arm, connections of others that the ways between its members refused.
    refused: BTreeMap<ArmIndex, u64>,
}

struct MemberReadings {
    role: MemberRole,
    rounds: u32,
    /// Rounds after which it had fallen behind.
    behind: u32,
    cpu_ns: f64,
    statements: f64,
    /// As it was when it was furthest behind.
    worst: MemberStanding,
    /// What it, or asking it, said when it did not do its part.
    lost: Option<String>,
}

impl Following {
    /// Looks at those that follow once a round has ended, and notes what they have yet to do.
    pub(crate) fn look_at_followers(
        &mut self,
        arm: ArmIndex,
        ensemble: &Ensemble,
        round: &mut Round,
    ) {
        self.refused.insert(arm, ensemble.refused_connections());
        match ensemble.member_standings() {
            Ok(all) => {
                for standing in all {
                    note(&mut round.readings, &standing);
                    let member = standing.member;
                    let seen = self.count(arm, standing, round.events);
                    seen.cpu_ns += round.readings.get(&cpu_name(member)).unwrap_or(0.0);
                    seen.statements += round.done_statements();
                }
            }
            // The run goes on: the first member is the one that is measured.
            Err(error) => {
                for ((_, _), seen) in self.members.iter_mut().filter(|((of, _), _)| *of == arm) {
                    seen.lost.get_or_insert_with(|| error.to_string());
                }
            }
        }
    }

    fn count(
        &mut self,
        arm: ArmIndex,
        standing: MemberStanding,
        events: u64,
    ) -> &mut MemberReadings {
        let seen = self.members.entry((arm, standing.member)).or_insert_with(|| MemberReadings {
            role: standing.role,
            rounds: 0,
            behind: 0,
            cpu_ns: 0.0,
            statements: 0.0,
            worst: standing.clone(),
            lost: None,
        });
        seen.rounds += 1;
        seen.behind += u32::from(has_fallen_behind(&standing, events));
        if standing.works == Works::No {
            seen.lost.get_or_insert_with(|| standing.state.clone());
        }
        let much =
            |one: &MemberStanding| (one.transactions.or(one.bytes), one.seconds.unwrap_or(0.0));
        if much(&standing) > much(&seen.worst) {
            seen.worst = standing;
        }
        seen
    }

    /// What the members used that are not in the cost of the server.
    fn cost(&self, arm: ArmIndex) -> Option<Warning> {
        let of_arm = self.members.iter().filter(|((of, _), seen)| *of == arm && seen.cpu_ns > 0.0);
        let each = of_arm.map(|((_, member), seen)| {
            let us_per_op = seen.cpu_ns / 1e3 / seen.statements.max(1.0);
            format!("member {member} ({}) {us_per_op:.1} µs/op", seen.role.name())
        });
        let each: Vec<String> = each.collect();
        (!each.is_empty()).then(|| {
            let text = format!(
                "{arm}: the cost of the server is that of its first member; beside it the others \
                 used processor time: {}",
                each.join(", ")
            );
            Warning::new(Severity::Note, "members-cost", text)
        })
    }

    /// What the reader of the run must know.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let mut arms: Vec<ArmIndex> = self.members.keys().map(|(arm, _)| *arm).collect();
        arms.dedup();
        let mut warnings: Vec<Warning> =
            arms.into_iter().filter_map(|arm| self.cost(arm)).collect();
        for (arm, refused) in self.refused.iter().filter(|(_, refused)| **refused > 0) {
            let text = format!(
                "{arm}: {refused} connections to the delayed ways between its members were \
                 refused: another account of this machine made them, or held so many that a \
                 member found no room; look with `ss -tnp` for who does"
            );
            warnings.push(Warning::new(Severity::Caution, "way-intruders", text));
        }
        for ((arm, member), seen) in &self.members {
            let who = format!("{arm}: member {member} ({})", seen.role.name());
            if let Some(why) = &seen.lost {
                let text = format!(
                    "{who} did not work all the time ({why}); rounds since then do not measure the \
                     whole topology"
                );
                warnings.push(Warning::new(Severity::Caution, "member-lost", text));
            }
            if seen.behind > 0 {
                let text = format!(
                    "{who} lagged behind at the end of {} of {} rounds, by {} at most: it cannot \
                     follow this rate for long",
                    seen.behind,
                    seen.rounds,
                    in_words(&seen.worst)
                );
                warnings.push(Warning::new(Severity::Note, "member-behind", text));
            }
        }
        warnings
    }
}

/// Whether what is left to do is more than what is always on the way: more than a tenth of what the
/// round wrote, if each event wrote.
fn has_fallen_behind(standing: &MemberStanding, events: u64) -> bool {
    standing.transactions.is_some_and(|left| left > 10 && left > events / 10)
        || standing.bytes.is_some_and(|left| left > BEHIND_BYTES)
        || standing.seconds.is_some_and(|seconds| seconds > BEHIND_S)
}

fn in_words(standing: &MemberStanding) -> String {
    let transactions = standing.transactions.map(|left| format!("{left} transactions"));
    let bytes = standing.bytes.map(|left| format!("{} kB of log", left / 1_000));
    let seconds = standing.seconds.filter(|s| *s > 0.0).map(|seconds| format!("{seconds:.1} s"));
    let words: Vec<String> = [transactions, bytes, seconds].into_iter().flatten().collect();
    words.join(", ")
}

fn note(readings: &mut Readings, standing: &MemberStanding) {
    let name = |what: &str| format!("topology.member.{}.behind_{what}", standing.member);
    readings.set(&name("transactions"), standing.transactions.map(|count| count as f64));
    readings.set(&name("bytes"), standing.bytes.map(|count| count as f64));
    readings.set(&name("seconds"), standing.seconds);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(transactions: u64, works: Works) -> MemberStanding {
        MemberStanding {
            member: 2,
            role: MemberRole::Replica,
            state: "IO No, SQL Yes".into(),
            works,
            transactions: Some(transactions),
            bytes: None,
            seconds: None,
        }
    }

    #[test]
    fn who_keeps_up_is_not_mentioned_and_who_does_not_is_with_its_worst() {
        let mut following = Following::default();
        for left in [0, 3, 90] {
            following.count(ArmIndex::TEST, standing(left, Works::Yes), 1_000);
        }
        assert!(following.warnings().is_empty());
        for left in [101, 500, 0] {
            following.count(ArmIndex::TEST, standing(left, Works::Yes), 1_000);
        }
        let warnings = following.warnings();
        assert_eq!(warnings.len(), 1);
        assert_eq!((warnings[0].severity, &*warnings[0].code), (Severity::Note, "member-behind"));
        let text = &warnings[0].text;
        assert!(text.contains("2 of 6 rounds, by 500 transactions"), "{text}");
        assert!(text.contains("test: member 2 (replica)"), "{text}");
    }

    #[test]
    fn who_has_stopped_is_named_with_its_own_words() {
        let mut following = Following::default();
        following.count(ArmIndex::BASE, standing(0, Works::Yes), 10);
        following.count(ArmIndex::BASE, standing(0, Works::No), 10);
        let warnings = following.warnings();
        assert_eq!((warnings.len(), &*warnings[0].code), (1, "member-lost"));
        assert!(warnings[0].text.contains("IO No, SQL Yes"), "{}", warnings[0].text);
    }

    #[test]
    fn intruders_of_a_way_are_said() {
        let mut following = Following::default();
        following.refused.insert(ArmIndex::BASE, 0);
        following.refused.insert(ArmIndex::TEST, 7);
        let warnings = following.warnings();
        assert_eq!((warnings.len(), &*warnings[0].code), (1, "way-intruders"));
        assert!(warnings[0].text.starts_with("test: 7 connections"), "{}", warnings[0].text);
    }
}
