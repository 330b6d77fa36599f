//! Isolation levels, and which cycles each of them forbids: as data.
//!
//! ```text
//!   one node a transaction               two nodes: snapshot s and commit c
//!   serializable, repeatable read        snapshot isolation      InnoDB's repeatable read
//!     A ──ww, wr, rw──▶ B                  c(A) ──ww, wr──▶ s(B)   c(A) ──wr, plain──▶ s(B)
//!                                          s(A) ──rw──▶ c(B)       s(A) ──rw, plain──▶ c(B)
//!                                          s(A) ────────▶ c(A)     c(A) ──current, ww─▶ c(B)
//! ```
//!
//! A history has a level if the graph of the level has no cycle and no flaw that the level forbids.
//! One node: Adya, *Weak Consistency*, MIT 1999. Two nodes for snapshot isolation: as the
//! begin-commit graph of Viper (Zhang et al., EuroSys 2023), which is acyclic where Adya's G-SI
//! phenomena are absent for some choice of starts. For InnoDB's repeatable read the same graph says
//! what its manual does: plain reads come from one view, which is some prefix of the commits, and
//! locking reads and writes are of the latest version, under locks that are held until the commit.

use std::fmt;

use crate::versions::FlawKind;

/// A level, with whose definition it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// A transaction that was read had committed before: Bernstein et al. 1987, as far as clients
    /// can tell.
    Recoverable,
    /// A transaction that was read had committed before the read.
    Cascadeless,
    /// A transaction that was read or overwritten had committed before.
    Strict,
    /// PL-1 of Adya: no G0.
    ReadUncommitted,
    /// PL-2 of Adya: no G0 and no G1.
    ReadCommitted,
    /// Of Bailis et al. (VLDB 2014): PL-2, and what was seen of a transaction is not lost again.
    MonotonicAtomicView,
    /// A session does not miss what it wrote: Terry et al. 1994, of transactions.
    ReadYourWrites,
    /// A session does not go back behind what it read: Terry et al. 1994, of transactions.
    MonotonicReads,
    /// To see a write of a session is to see what that session wrote before: Terry et al. 1994, of
    /// transactions.
    MonotonicWrites,
    /// To see a write of a session is to see what that session had read: Terry et al. 1994, of
    /// transactions.
    WritesFollowReads,
    /// No read goes back behind what its transaction had read before, in an order that agrees with
    /// sessions: read committed of Biswas and Enea 2019.
    MonotonicReadCommitted,
    /// What was read, or is earlier in the session, is seen whole: Biswas and Enea 2019.
    ReadAtomic,
    /// And so is what those had seen: Biswas and Enea 2019.
    Causal,
    /// What InnoDB documents of REPEATABLE READ.
    InnodbRepeatableRead,
    /// PL-2.99 of Adya: no G1 and no G2-item.
    RepeatableRead,
    /// Generalised snapshot isolation: Adya's PL-SI with free choice of starts.
    SnapshotIsolation,
    /// The same, and a session sees what it did before.
    StrongSessionSnapshotIsolation,
    /// The same, and each transaction sees what was done before.
    StrongSnapshotIsolation,
    /// Some serial order has the same reads and the same last versions: Yannakakis 1984.
    ViewSerializable,
    /// PL-3 of Adya: no G1 and no G2.
    Serializable,
    /// The same, in an order that agrees with every session.
    StrongSessionSerializable,
    /// The same, in an order that agrees with real time.
    StrictSerializable,
}

/// Where in its graph a dependency begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Snapshot,
    Commit,
}

/// How one transaction depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Dependency {
    /// It writes the next version of what the other wrote (ww).
    Write = 0,
    /// It read what the other wrote, by a plain read (wr).
    Read = 1,
    /// The same by a current read.
    CurrentRead = 2,
    /// The other read what this one replaces, by a plain read (rw).
    Anti = 3,
    /// The same by a current read.
    CurrentAnti = 4,
    /// The other's predicate did not match what this one made match (predicate rw).
    PredicateAnti = 5,
    /// The same by a current scan.
    CurrentPredicateAnti = 6,
    /// The same session, later.
    Session = 7,
    /// It began after the other was answered.
    RealTime = 8,
    /// Both wrote a key; a third had to see the other one, and read this one's version.
    Seen = 9,
    /// It asked for its commit after the other one had.
    CommitAsked = 10,
    /// It wrote the last version.
    Last = 11,
}

impl Dependency {
    /// All that come from versions; sessions and time follow.
    pub(crate) const OF_VERSIONS: usize = 7;

    /// Whether it is an anti-dependency.
    #[must_use]
    pub(crate) fn is_anti(self) -> bool {
        (Dependency::Anti as u8..=Dependency::CurrentPredicateAnti as u8).contains(&(self as u8))
    }

    /// Whether it says which version follows another one.
    pub(crate) fn is_link(self) -> bool {
        self == Dependency::Write || self.is_anti()
    }

    /// Whether it comes from a predicate.
    pub(crate) fn is_predicate(self) -> bool {
        matches!(self, Dependency::PredicateAnti | Dependency::CurrentPredicateAnti)
    }

    /// As Adya's graphs have it.
    #[must_use]
    pub fn short_name(self) -> &'static str {
        match self {
            Dependency::Write => "ww",
            Dependency::Read | Dependency::CurrentRead => "wr",
            Dependency::Session => "session",
            Dependency::RealTime => "time",
            Dependency::Seen => "seen",
            Dependency::CommitAsked => "commit",
            Dependency::Last => "last",
            _ if self.is_predicate() => "rw (predicate)",
            _ => "rw",
        }
    }
}

/// What order beside that of versions a level keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    Nothing,
    Sessions,
    RealTime,
}

/// The graph of a level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// By [`Dependency`]; `None`: the level does not care.
    pub ends: [Option<(End, End)>; Dependency::OF_VERSIONS],
    /// Whether a transaction has two nodes.
    pub has_snapshots: bool,
    pub keeps: Keeps,
}

const CC: Option<(End, End)> = Some((End::Commit, End::Commit));
const CS: Option<(End, End)> = Some((End::Commit, End::Snapshot));
const SC: Option<(End, End)> = Some((End::Snapshot, End::Commit));

impl Level {
    /// From the weakest to the strongest, as far as they can be compared.
    pub const ALL: [Level; 22] = [
        Level::Recoverable,
        Level::Cascadeless,
        Level::Strict,
        Level::ReadUncommitted,
        Level::ReadCommitted,
        Level::MonotonicAtomicView,
        Level::ReadYourWrites,
        Level::MonotonicReads,
        Level::MonotonicWrites,
        Level::WritesFollowReads,
        Level::MonotonicReadCommitted,
        Level::ReadAtomic,
        Level::Causal,
        Level::InnodbRepeatableRead,
        Level::RepeatableRead,
        Level::SnapshotIsolation,
        Level::StrongSessionSnapshotIsolation,
        Level::StrongSnapshotIsolation,
        Level::ViewSerializable,
        Level::Serializable,
        Level::StrongSessionSerializable,
        Level::StrictSerializable,
    ];

    /// Its graph.
    pub(crate) fn graph_shape(self) -> Shape {
        let none = None;
        let si = [CS, CS, CS, SC, SC, SC, SC];
        let (ends, keeps) = match self {
            Level::ReadUncommitted | Level::Recoverable | Level::Cascadeless | Level::Strict => {
                ([CC, none, none, none, none, none, none], Keeps::Nothing)
            }
            Level::ReadCommitted | Level::MonotonicAtomicView => {
                ([CC, CC, CC, none, none, none, none], Keeps::Nothing)
            }
            Level::ReadYourWrites
            | Level::MonotonicReads
            | Level::MonotonicWrites
            | Level::WritesFollowReads
            | Level::MonotonicReadCommitted
            | Level::ReadAtomic
            | Level::Causal => ([CC, CC, CC, none, none, none, none], Keeps::Sessions),
            Level::InnodbRepeatableRead => ([CC, CS, CC, SC, CC, SC, CC], Keeps::Nothing),
            Level::RepeatableRead => ([CC, CC, CC, CC, CC, none, none], Keeps::Nothing),
            Level::SnapshotIsolation => (si, Keeps::Nothing),
            Level::StrongSessionSnapshotIsolation => (si, Keeps::Sessions),
            Level::StrongSnapshotIsolation => (si, Keeps::RealTime),
            Level::Serializable | Level::ViewSerializable => ([CC; 7], Keeps::Nothing),
            Level::StrongSessionSerializable => ([CC; 7], Keeps::Sessions),
            Level::StrictSerializable => ([CC; 7], Keeps::RealTime),
        };
        let has_snapshots = ends.iter().flatten().any(|ends| *ends != (End::Commit, End::Commit));
        Shape { ends, has_snapshots, keeps }
    }

    /// Whether it is about commits that have to come first, which only clocks tell.
    pub(crate) fn is_of_commits(self) -> bool {
        matches!(self, Level::Recoverable | Level::Cascadeless | Level::Strict)
    }

    /// Whether it says what a transaction must have seen, so that no order of versions is needed.
    pub(crate) fn is_of_visibility(self) -> bool {
        matches!(
            self,
            Level::ReadYourWrites
                | Level::MonotonicReads
                | Level::MonotonicWrites
                | Level::WritesFollowReads
                | Level::MonotonicReadCommitted
                | Level::ReadAtomic
                | Level::Causal
        )
    }

    /// Whether a flaw breaks it by itself.
    pub(crate) fn forbids_flaw(self, flaw: FlawKind) -> bool {
        match flaw {
            FlawKind::GarbageRead | FlawKind::DuplicateWrite | FlawKind::IncompatibleOrder => true,
            FlawKind::AbortedRead if self.is_of_commits() => true,
            FlawKind::Internal | FlawKind::AbortedRead | FlawKind::IntermediateRead => {
                self != Level::ReadUncommitted && !self.is_of_commits()
            }
        }
    }

    /// As flags spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Level::Recoverable => "recoverable",
            Level::Cascadeless => "cascadeless",
            Level::Strict => "strict",
            Level::ReadUncommitted => "read-uncommitted",
            Level::ReadCommitted => "read-committed",
            Level::MonotonicAtomicView => "monotonic-atomic-view",
            Level::ReadYourWrites => "read-your-writes",
            Level::MonotonicReads => "monotonic-reads",
            Level::MonotonicWrites => "monotonic-writes",
            Level::WritesFollowReads => "writes-follow-reads",
            Level::MonotonicReadCommitted => "monotonic-read-committed",
            Level::ReadAtomic => "read-atomic",
            Level::Causal => "causal",
            Level::InnodbRepeatableRead => "innodb-repeatable-read",
            Level::RepeatableRead => "repeatable-read",
            Level::SnapshotIsolation => "snapshot-isolation",
            Level::StrongSessionSnapshotIsolation => "strong-session-snapshot-isolation",
            Level::StrongSnapshotIsolation => "strong-snapshot-isolation",
            Level::ViewSerializable => "view-serializable",
            Level::Serializable => "serializable",
            Level::StrongSessionSerializable => "strong-session-serializable",
            Level::StrictSerializable => "strict-serializable",
        }
    }

    /// Whose definition it is.
    #[must_use]
    pub fn definition_source(self) -> &'static str {
        match self {
            Level::Recoverable => "RC (Bernstein, Hadzilacos, Goodman 1987)",
            Level::Cascadeless => "ACA (Bernstein, Hadzilacos, Goodman 1987)",
            Level::Strict => "ST (Bernstein, Hadzilacos, Goodman 1987)",
            Level::ReadUncommitted => "PL-1 (Adya 1999)",
            Level::ReadCommitted => "PL-2 (Adya 1999)",
            Level::MonotonicAtomicView => "MAV (Bailis et al. 2014)",
            Level::ReadYourWrites => "read your writes (Terry et al. 1994)",
            Level::MonotonicReads => "monotonic reads (Terry et al. 1994)",
            Level::MonotonicWrites => "monotonic writes (Terry et al. 1994)",
            Level::WritesFollowReads => "writes follow reads (Terry et al. 1994)",
            Level::MonotonicReadCommitted => "read committed (Biswas and Enea 2019)",
            Level::ReadAtomic => "read atomic (Biswas and Enea 2019)",
            Level::Causal => "causal consistency (Biswas and Enea 2019)",
            Level::InnodbRepeatableRead => "REPEATABLE READ as InnoDB documents it",
            Level::RepeatableRead => "PL-2.99 (Adya 1999)",
            Level::SnapshotIsolation => "generalised SI (Elnikety et al. 2005)",
            Level::StrongSessionSnapshotIsolation => "strong session SI (Daudjee and Salem 2006)",
            Level::StrongSnapshotIsolation => "strong SI (Daudjee and Salem 2006)",
            Level::ViewSerializable => "view serializability (Yannakakis 1984)",
            Level::Serializable => "PL-3 (Adya 1999)",
            Level::StrongSessionSerializable => "strong session SR (Daudjee and Salem 2004)",
            Level::StrictSerializable => "strict serializability (Papadimitriou 1979)",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
