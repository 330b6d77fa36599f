//! What servers do when transactions meet, as far as it was looked at.
//!
//! ```text
//!   target ─▶ LevelTold, one for each level ─▶ CaseTold ─▶ StepTold    T1 said …, was answered …,
//!                                │                                     waited for T2 until …
//!                                └─▶ Permissiveness     many small interleavings, counted
//! ```
//!
//! A *case* is a story of two or three sessions that has a name. An *interleaving* is one of the
//! orders in which the operations of small transactions can follow each other.

use crate::words::words;

words! {
    /// An isolation level, by the name that SQL gives it. What it means is the server's.
    #[derive(PartialOrd, Ord)]
    IsolationLevel {
        /// `READ UNCOMMITTED`.
        ReadUncommitted = "read-uncommitted",
        /// `READ COMMITTED`.
        ReadCommitted = "read-committed",
        /// `REPEATABLE READ`.
        RepeatableRead = "repeatable-read",
        /// `SERIALIZABLE`.
        Serializable = "serializable",
    }
}

impl IsolationLevel {
    /// As SQL spells it.
    pub fn sql(self) -> &'static str {
        match self {
            IsolationLevel::ReadUncommitted => "READ UNCOMMITTED",
            IsolationLevel::ReadCommitted => "READ COMMITTED",
            IsolationLevel::RepeatableRead => "REPEATABLE READ",
            IsolationLevel::Serializable => "SERIALIZABLE",
        }
    }
}

/// What a statement was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepAnswer {
    /// Rows, in the order in which they came; `None` is NULL.
    Rows(Vec<Vec<Option<String>>>),
    /// It changed so many rows; 0 for what changes none, as BEGIN.
    Changed(u64),
    /// The server refused it.
    Refused {
        /// MySQL's error number; 0 for PostgreSQL.
        code: u16,
        /// SQLSTATE.
        sqlstate: String,
        /// The server's words.
        message: String,
    },
    /// It was not sent: the transaction had ended with an error before.
    LeftOut,
    /// Nothing came, and nobody said why.
    Nothing,
}

impl StepAnswer {
    /// How an error is called: its number, or its SQLSTATE where it has none.
    pub fn error(&self) -> Option<String> {
        match self {
            StepAnswer::Refused { code: 0, sqlstate, .. } => Some(sqlstate.clone()),
            StepAnswer::Refused { code, .. } => Some(code.to_string()),
            _ => None,
        }
    }
}

/// That a statement had to wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepWait {
    /// For which sessions, from 1, as the server says; empty where it does not say.
    pub for_whom: Vec<u8>,
    /// The step, from 0 in the order of sending, that was the last one before its answer.
    pub until: Option<usize>,
}

/// One statement of a story, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepTold {
    /// Who said it, from 1.
    pub session: u8,
    /// What was sent.
    pub sql: String,
    /// What came back.
    pub answer: StepAnswer,
    /// Whether it had to wait.
    pub waited: Option<StepWait>,
}

/// What became of an anomaly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseOutcome {
    /// It was seen.
    Occurs,
    /// A transaction waited, and then it was too late for it.
    ByWaiting,
    /// A transaction was refused with this error: see [`StepAnswer::error`].
    ByError(String),
    /// Nobody waited and nobody was refused: what was read was old enough.
    BySnapshot,
    /// It cannot be told; says why.
    Unknown(String),
}

/// What the server is known for at a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// It prevents the anomaly.
    Prevents,
    /// The anomaly may occur.
    Open,
}

/// A case that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseTold {
    /// Its name, which no other case has.
    pub name: String,
    /// The anomaly that it is a case of.
    pub anomaly: String,
    /// Whether it comes with dbdyno, and is not somebody's own.
    pub is_published: bool,
    /// One sentence.
    pub about: String,
    /// What became of it.
    pub outcome: CaseOutcome,
    /// What was to be expected.
    pub promise: Promise,
    /// What was said and answered, in the order of sending.
    pub steps: Vec<StepTold>,
    /// The statement before its steps that the server refused, so that none was taken.
    pub refused_setup: Option<RefusedSetup>,
}

/// A statement that should have set a case up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedSetup {
    /// Its place among those of the case, from 0.
    pub place: usize,
    /// What the server said.
    pub message: String,
}

impl CaseTold {
    /// Whether an anomaly was seen that the server is known to prevent.
    pub fn breaks_promise(&self) -> bool {
        self.promise == Promise::Prevents && self.outcome == CaseOutcome::Occurs
    }

    /// Whether it was prevented where nothing was promised.
    pub fn exceeds_promise(&self) -> bool {
        let prevented = !matches!(self.outcome, CaseOutcome::Occurs | CaseOutcome::Unknown(_));
        self.promise == Promise::Open && prevented
    }
}

/// How many of many interleavings went which way. Those that serializability *allows* can be
/// completed at once by a scheduler that shows committed values only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permissiveness {
    /// Played.
    pub played: u64,
    /// Of these, allowed by serializability.
    pub allowed: u64,
    /// Of those allowed: all statements were answered at once, and all transactions committed.
    pub completed: u64,
    /// Of those allowed: somebody waited, and then all committed.
    pub waited: u64,
    /// Of those allowed: a transaction was refused after somebody had waited, as in a deadlock.
    pub refused_after_waiting: u64,
    /// Of those allowed: a transaction was refused although nobody had waited.
    pub aborted: u64,
    /// Of those allowed: all were answered at once and committed, yet with a result that no serial
    /// order has.
    pub misread: u64,
    /// Of those that are not allowed: all statements were answered at once, and all committed.
    pub let_through: u64,
    /// Of all: what was read and what was left is what no serial order leaves.
    pub not_serializable: u64,
    /// Of all: it cannot be told.
    pub unknown: u64,
}

impl Permissiveness {
    /// What share of the allowed interleavings was completed at once; `None` of none.
    pub fn completed_share(&self) -> Option<f64> {
        (self.allowed > 0).then(|| self.completed as f64 / self.allowed as f64)
    }
}

/// Interleavings of one shape, at one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeTold {
    /// Transactions, keys and operations of a transaction at most: `2x2x2`.
    pub shape: String,
    /// How many there are up to symmetry; `played` may be a sample.
    pub canonical: u64,
    /// What became of them.
    pub counts: Permissiveness,
    /// The first one that let through what is not serializable, in words.
    pub example: Option<String>,
}

/// One level of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelTold {
    /// Which one.
    pub level: IsolationLevel,
    /// Cases, in the order of their files.
    pub cases: Vec<CaseTold>,
    /// Interleavings, by shape.
    pub shapes: Vec<ShapeTold>,
}

impl LevelTold {
    /// Whether interleavings ended as no serial order does, at a level that allows serial orders
    /// only.
    pub fn breaks_serializability(&self, shape: &ShapeTold) -> bool {
        self.level == IsolationLevel::Serializable && shape.counts.not_serializable > 0
    }
}

/// A server, asked how it isolates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsolationTold {
    /// As the user wrote it, without a password.
    pub target: String,
    /// What it says that it is.
    pub version: String,
    /// As which family its promises are read.
    pub family: String,
    /// Its levels, the weakest first.
    pub levels: Vec<LevelTold>,
    /// Whether it was ended before everything had been asked.
    pub is_cut_short: bool,
}
