//! Protocols of one server, each a row of a table.
//!
//! ```text
//!   protocol          a read sees           locked to the end  refused
//!   2pl               what is newest        reads and writes   deadlock
//!   2pl-queued        the same, and whoever wants a stronger lock waits behind those who wait
//!   read-committed    what is newest        writes             deadlock
//!   innodb-rr         view of first read    writes             deadlock
//!   si                view of first stmt.   –                  commit behind another writer
//!   si-first-updater  view of first stmt.   writes             write behind another writer
//!   mariadb-si        view of first read    writes             write behind another writer
//!   occ               what is newest        –                  commit after a read was replaced
//! ```
//!
//! "What is newest" is the newest committed version. A planted fault is a row with one entry
//! changed; it has to be found.
//!
//! Sources: Eswaran et al., *The Notions of Consistency and Predicate Locks*, CACM 1976 (2pl);
//! Berenson et al., *A Critique of ANSI SQL Isolation Levels*, SIGMOD 1995 (first committer);
//! Kung and Robinson, *On Optimistic Methods for Concurrency Control*, TODS 1981 (backward
//! validation); the manuals of MySQL, MariaDB (`innodb_snapshot_isolation`) and PostgreSQL.

use dbdyno_check::Level;

/// What a plain read sees, if its own transaction has not written the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// The newest committed version.
    Latest,
    /// The newest version of the view.
    View,
    /// The newest version, committed or not.
    Dirty,
}

/// When the view of a transaction is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewMoment {
    /// With its first statement.
    FirstStatement,
    /// With its first read.
    FirstRead,
}

/// Which locks there are; all are held until the transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locks {
    /// None.
    None,
    /// Exclusive ones for writes.
    Writes,
    /// Exclusive ones for writes, shared ones for reads.
    ReadsAndWrites,
}

/// Whom a request passes that wants more than its transaction holds of a key already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passes {
    /// Those who wait for the key: it waits for holders only.
    Waiting,
    /// Nobody: it waits behind who was there first.
    Nobody,
}

/// Who is refused, apart from the victims of deadlocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refuses {
    /// Nobody.
    Nobody,
    /// A write to a key of which a version is newer than the view.
    LateWrites,
    /// A commit of writes to a key of which a version is newer than the view.
    LateCommits,
    /// A commit after a read of a key of which a version is newer than the first statement.
    StaleReads,
}

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// What a read sees.
    pub reads: Reads,
    /// When the view is settled.
    pub view: ViewMoment,
    /// What is locked.
    pub locks: Locks,
    /// Whom a stronger request passes.
    pub passes: Passes,
    /// Who is refused.
    pub refuses: Refuses,
}

/// What a protocol is made wrong by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleFault {
    /// Its name in flags.
    pub name: &'static str,
    /// What is wrong.
    pub about: &'static str,
    /// The protocol with it.
    pub rules: Rules,
}

/// A protocol with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolEntry {
    /// Its name in flags.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The level that it promises.
    pub level: Level,
    /// Its row.
    pub rules: Rules,
    /// What can be planted.
    pub faults: &'static [RuleFault],
}

const LOCKING: Rules = Rules {
    reads: Reads::Latest,
    view: ViewMoment::FirstStatement,
    locks: Locks::ReadsAndWrites,
    passes: Passes::Waiting,
    refuses: Refuses::Nobody,
};
const QUEUED: Rules = Rules { passes: Passes::Nobody, ..LOCKING };
const COMMITTED: Rules = Rules { locks: Locks::Writes, ..LOCKING };
const INNODB: Rules = Rules { reads: Reads::View, view: ViewMoment::FirstRead, ..COMMITTED };
const FIRST_UPDATER: Rules =
    Rules { view: ViewMoment::FirstStatement, refuses: Refuses::LateWrites, ..INNODB };
const MARIADB: Rules = Rules { view: ViewMoment::FirstRead, ..FIRST_UPDATER };
const FIRST_COMMITTER: Rules =
    Rules { locks: Locks::None, refuses: Refuses::LateCommits, ..FIRST_UPDATER };
const OPTIMISTIC: Rules = Rules { locks: Locks::None, refuses: Refuses::StaleReads, ..LOCKING };

/// All of them.
pub const ONE_SERVER: [ProtocolEntry; 8] = [
    ProtocolEntry {
        name: "2pl",
        about: "strict two-phase locking: shared locks for reads, exclusive ones for writes",
        level: Level::Serializable,
        rules: LOCKING,
        faults: &[RuleFault {
            name: "no-read-locks",
            about: "reads take no locks",
            rules: COMMITTED,
        }],
    },
    ProtocolEntry {
        name: "2pl-queued",
        about: "2pl, and a stronger lock waits behind those who wait (InnoDB before MySQL 8.0)",
        level: Level::Serializable,
        rules: QUEUED,
        faults: &[RuleFault {
            name: "no-read-locks",
            about: "reads take no locks",
            rules: Rules { locks: Locks::Writes, ..QUEUED },
        }],
    },
    ProtocolEntry {
        name: "read-committed",
        about: "each read sees what is newest; writes are locked",
        level: Level::ReadCommitted,
        rules: COMMITTED,
        faults: &[RuleFault {
            name: "dirty-reads",
            about: "reads see what is not committed yet",
            rules: Rules { reads: Reads::Dirty, ..COMMITTED },
        }],
    },
    ProtocolEntry {
        name: "innodb-rr",
        about: "InnoDB's repeatable read: a view for plain reads, what is newest for writes",
        level: Level::InnodbRepeatableRead,
        rules: INNODB,
        faults: &[RuleFault {
            name: "view-per-statement",
            about: "every statement has a view of its own",
            rules: COMMITTED,
        }],
    },
    ProtocolEntry {
        name: "si",
        about: "snapshot isolation, the first committer wins",
        level: Level::SnapshotIsolation,
        rules: FIRST_COMMITTER,
        faults: &[RuleFault {
            name: "no-conflict-check",
            about: "a commit does not look for other writers",
            rules: Rules { refuses: Refuses::Nobody, ..FIRST_COMMITTER },
        }],
    },
    ProtocolEntry {
        name: "si-first-updater",
        about: "snapshot isolation, the first updater wins (PostgreSQL)",
        level: Level::SnapshotIsolation,
        rules: FIRST_UPDATER,
        faults: &[RuleFault {
            name: "no-conflict-check",
            about: "a write does not look for newer versions",
            rules: Rules { refuses: Refuses::Nobody, ..FIRST_UPDATER },
        }],
    },
    ProtocolEntry {
        name: "mariadb-si",
        about: "MariaDB with innodb_snapshot_isolation: a view from the first read on",
        level: Level::SnapshotIsolation,
        rules: MARIADB,
        faults: &[RuleFault {
            name: "no-conflict-check",
            about: "a write does not look for newer versions",
            rules: INNODB,
        }],
    },
    ProtocolEntry {
        name: "occ",
        about: "optimistic, validated backwards at the commit",
        level: Level::Serializable,
        rules: OPTIMISTIC,
        faults: &[
            RuleFault {
                name: "no-validation",
                about: "a commit is not validated",
                rules: Rules { refuses: Refuses::Nobody, ..OPTIMISTIC },
            },
            RuleFault {
                name: "validates-writes",
                about: "a commit is validated by what it wrote, not by what it read",
                rules: Rules { refuses: Refuses::LateCommits, ..OPTIMISTIC },
            },
        ],
    },
];
