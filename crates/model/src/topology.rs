//! Servers that belong together, as the user writes it: the text of `topology=` and `delay=`.
//!
//! ```text
//!   replicas:2            source ──▶ replica, replica
//!   group:3               primary ◀──▶ secondary ◀──▶ secondary, all with all
//!   galera:3              node ◀──▶ node ◀──▶ node, all with all
//!   …, delay 5ms          every byte between two of them is 5 ms on its way, in each direction
//! ```
//!
//! The first member, the source, the primary or the first node, is the one that is asked.

use std::fmt;
use std::str::FromStr;

use crate::words::words;

/// How the servers belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TopologyShape {
    /// A source and this many replicas.
    Replicas(u8),
    /// MySQL Group Replication with this many members.
    Group(u8),
    /// A Galera cluster of MariaDB with this many nodes.
    Galera(u8),
}

/// The most replicas of a source.
const REPLICAS_MAX: u8 = 8;
/// The fewest and the most members of a group, and nodes of a Galera cluster: with fewer none may
/// fail, and MySQL takes no more than nine.
const GROUP: std::ops::RangeInclusive<u8> = 3..=9;
/// The longest delay: MySQL counts a silent member as lost after 5 s.
const DELAY_NS_MAX: f64 = 2e9;

impl TopologyShape {
    /// How many servers there are.
    pub fn members(self) -> u8 {
        match self {
            TopologyShape::Replicas(replicas) => replicas + 1,
            TopologyShape::Group(members) | TopologyShape::Galera(members) => members,
        }
    }

    /// What the member with this number is, from 0.
    pub fn role_of(self, member: u8) -> MemberRole {
        match (self, member) {
            (TopologyShape::Replicas(_), 0) => MemberRole::Source,
            (TopologyShape::Replicas(_), _) => MemberRole::Replica,
            (TopologyShape::Group(_), 0) => MemberRole::Primary,
            (TopologyShape::Group(_), _) => MemberRole::Secondary,
            (TopologyShape::Galera(_), _) => MemberRole::Node,
        }
    }
}

words! {
    /// What a member was made to be.
    MemberRole {
        /// It is written to; others follow.
        Source = "source",
        /// It follows a source.
        Replica = "replica",
        /// The member of a group that is written to.
        Primary = "primary",
        /// Another member of the group.
        Secondary = "secondary",
        /// One of a Galera cluster, in which all are alike.
        Node = "node",
    }
}

impl FromStr for TopologyShape {
    type Err = String;

    /// Reads `replicas:N`, `group:N` or `galera:N`. The error is a sentence that says what would be
    /// right.
    fn from_str(text: &str) -> Result<TopologyShape, String> {
        let (kind, count) = text.split_once(':').unwrap_or((text, ""));
        let count: Option<u8> = count.parse().ok();
        match (kind, count) {
            ("replicas", Some(count)) if (1..=REPLICAS_MAX).contains(&count) => {
                Ok(TopologyShape::Replicas(count))
            }
            ("group", Some(count)) if GROUP.contains(&count) => Ok(TopologyShape::Group(count)),
            ("galera", Some(count)) if GROUP.contains(&count) => Ok(TopologyShape::Galera(count)),
            _ => Err(format!(
                "topology {text:?}: write replicas:N, with 1 to {REPLICAS_MAX} replicas, or \
                 group:N or galera:N, with {} to {} members",
                GROUP.start(),
                GROUP.end()
            )),
        }
    }
}

/// The text that [`TopologyShape::from_str`] reads.
impl fmt::Display for TopologyShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TopologyShape::Replicas(count) => write!(f, "replicas:{count}"),
            TopologyShape::Group(count) => write!(f, "group:{count}"),
            TopologyShape::Galera(count) => write!(f, "galera:{count}"),
        }
    }
}

/// How long what one member sends to another is on its way, in one direction, beside what the
/// machine itself takes. Zero is not the same as none: the way is then the same, without the wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NetworkDelay {
    /// Nanoseconds.
    pub one_way_ns: u64,
}

impl FromStr for NetworkDelay {
    type Err = String;

    /// Reads `5ms` or `500us`; `0ms` too. The error is a sentence that says what would be right.
    fn from_str(text: &str) -> Result<NetworkDelay, String> {
        let units = [("us", 1e3), ("ms", 1e6), ("s", 1e9)];
        let number = units.iter().find_map(|(unit, ns)| {
            let number = text.strip_suffix(unit)?.parse::<f64>().ok()?;
            Some(number * ns)
        });
        match number.filter(|ns| (0.0..=DELAY_NS_MAX).contains(ns)) {
            Some(ns) => Ok(NetworkDelay { one_way_ns: ns.round() as u64 }),
            None => Err(format!(
                "delay {text:?}: write a time of 2s at most, for example 5ms or 500us (members \
                 count as lost after 5s)"
            )),
        }
    }
}

/// The text that [`NetworkDelay::from_str`] reads.
impl fmt::Display for NetworkDelay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.one_way_ns as f64 / 1e6)
    }
}

/// Servers that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Topology {
    /// How.
    pub shape: TopologyShape,
    /// What is added on the way between them; `None` lets them speak to each other directly.
    pub delay: Option<NetworkDelay>,
}

impl Topology {
    /// Whether the delay can be had.
    ///
    /// # Errors
    /// A sentence that says what would be right.
    pub fn check_delay(self) -> Result<(), String> {
        match (self.shape, self.delay) {
            (TopologyShape::Galera(_), Some(_)) => Err(
                "a delay is for replicas and groups: the nodes of a Galera cluster listen on the \
                 addresses that they tell each other, where nothing can stand between; leave the \
                 delay out"
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }
}

/// For people: `group:3, 5ms apart`.
impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.shape)?;
        self.delay.map_or(Ok(()), |delay| write!(f, ", {delay} apart"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_read_back() {
        for text in ["replicas:1", "replicas:8", "group:3", "group:9", "galera:3"] {
            assert_eq!(text.parse::<TopologyShape>().unwrap().to_string(), text);
        }
        for text in ["5ms", "0.5ms", "1000ms", "0ms"] {
            assert_eq!(text.parse::<NetworkDelay>().unwrap().to_string(), text);
        }
        assert_eq!("5ms".parse(), Ok(NetworkDelay { one_way_ns: 5_000_000 }));
        assert_eq!("500us".parse(), Ok(NetworkDelay { one_way_ns: 500_000 }));
        assert_eq!("1s".parse(), Ok(NetworkDelay { one_way_ns: 1_000_000_000 }));
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        for text in ["", "group", "group:2", "group:10", "replicas:0", "replicas:9", "galera:2"] {
            let error = text.parse::<TopologyShape>().unwrap_err();
            assert!(error.contains("replicas:N") && error.contains("group:N"), "{error}");
        }
        for text in ["", "5", "fast", "3s", "-1ms"] {
            let error = text.parse::<NetworkDelay>().unwrap_err();
            assert!(error.contains("5ms"), "{text}: {error}");
        }
    }

    #[test]
    fn the_first_is_asked_and_the_others_follow() {
        let roles = |shape: TopologyShape| -> Vec<_> {
            (0..shape.members()).map(|member| shape.role_of(member).name()).collect()
        };
        assert_eq!(roles(TopologyShape::Replicas(2)), ["source", "replica", "replica"]);
        assert_eq!(roles(TopologyShape::Group(3)), ["primary", "secondary", "secondary"]);
        assert_eq!(roles(TopologyShape::Galera(3)), ["node"; 3]);
        assert_eq!(MemberRole::named("secondary"), Some(MemberRole::Secondary));
        assert_eq!(MemberRole::named("leader"), None);
    }
}
