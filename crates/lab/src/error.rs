//! Why an experiment could not be carried out.

use std::fmt;

use dbdyno_judge::JudgeError;
use dbdyno_load::LoadError;
use dbdyno_model::{ArmIndex, EndedArm, RunId};
use dbdyno_sandbox::SandboxError;
use dbdyno_store::StoreError;
use dbdyno_wire::{WireError, is_all_cut};
use dbdyno_workload::planned::PlanLoadsError;

/// Why an experiment could not be carried out. The text names the arm.
#[derive(Debug)]
pub enum LabError {
    /// A server could not be got or started.
    Sandbox(ArmIndex, SandboxError),
    /// A running server could not be reached or used. Carries what it is called.
    Server(ArmIndex, String, WireError),
    /// The load failed. Carries what it was doing.
    Load(ArmIndex, String, LoadError),
    /// A statement of a load that the user wrote failed. Carries the file.
    OwnLoad(String, Box<LabError>),
    /// The results could not be stored or read.
    Store(StoreError),
    /// What was measured cannot be judged.
    Judge(JudgeError),
    /// The servers are not those that began the run. A whole sentence.
    Unlike(String),
    /// Somebody else wrote what this run would carry out.
    Foreign(RunId),
    /// The loads of a plan cannot be asked of its arms. A whole sentence.
    Loads(String),
    /// Another process, with this pid, is measuring this run.
    Busy(RunId, i32),
    /// Recorded arrivals cannot be read. A whole sentence.
    Arrivals(String),
    /// Instructions cannot be counted. A clause.
    Counting(ArmIndex, String),
    /// Processors cannot be kept from halting. A whole sentence.
    Idle(String),
    /// Processors cannot be sampled. A whole sentence.
    Profile(String),
    /// A run broke off after rounds had been stored.
    BrokeOff(RunId, Box<LabError>),
}

impl LabError {
    /// The arm whose fault it is, if it is one's alone.
    fn arm(&self) -> Option<ArmIndex> {
        match self {
            LabError::Sandbox(arm, _) | LabError::Server(arm, ..) | LabError::Load(arm, ..) => {
                Some(*arm)
            }
            LabError::Counting(arm, _) => Some(*arm),
            LabError::OwnLoad(_, cause) => cause.arm(),
            LabError::Store(_)
            | LabError::Judge(_)
            | LabError::Unlike(_)
            | LabError::Foreign(_)
            | LabError::Loads(_)
            | LabError::Busy(..)
            | LabError::Arrivals(_)
            | LabError::Idle(_)
            | LabError::Profile(_)
            | LabError::BrokeOff(..) => None,
        }
    }

    /// Whether an experiment with so many others can go on without the arm that it is of. Where all
    /// connections are cut off, no failure is an arm's own.
    pub(crate) fn can_be_done_without(&self, others: usize) -> bool {
        others >= 2 && self.arm().is_some() && !self.is_interruption() && !is_all_cut()
    }

    /// The arm that an experiment can go on without, where it has so many `others`.
    ///
    /// # Errors
    /// The error itself, where it is no fault of an arm, or where fewer than two are left.
    pub(crate) fn ends_an_arm(self, others: usize) -> Result<EndedArm, LabError> {
        match self.arm() {
            Some(arm) if self.can_be_done_without(others) => {
                Ok(EndedArm { arm, why: self.to_string() })
            }
            _ => Err(self),
        }
    }

    /// Whether the user asked to stop.
    pub fn is_interruption(&self) -> bool {
        match self {
            LabError::Load(_, _, error) => error.is_interruption(),
            LabError::OwnLoad(_, cause) => cause.is_interruption(),
            LabError::Server(_, _, WireError::Cut) => true,
            LabError::BrokeOff(_, cause) => cause.is_interruption(),
            _ => false,
        }
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabError::Sandbox(arm, error) => write!(f, "{arm}: {error}"),
            LabError::Server(arm, label, error) => {
                write!(f, "{arm} ({label}): {error}{}", hint(error))
            }
            LabError::Load(arm, doing, error) => {
                write!(f, "{arm}, {doing}: {error}{}", room(error))
            }
            LabError::Counting(arm, text) => write!(f, "{arm}, counting instructions: {text}"),
            LabError::Store(error) => write!(f, "{error}"),
            LabError::Judge(error) => write!(f, "{error}"),
            LabError::Unlike(text)
            | LabError::Arrivals(text)
            | LabError::Idle(text)
            | LabError::Loads(text)
            | LabError::Profile(text) => f.write_str(text),
            LabError::Foreign(run) => write!(
                f,
                "run {run} was not begun from this home, was changed since, or lies where \
                 others can change it; what it names is not started, and none of its statements is \
                 sent; if you trust whoever wrote it: \
                 `dbdyno resume {run} --trust-store`, or `dbdyno explain {run} --trust-store`"
            ),
            LabError::Busy(run, pid) => {
                write!(
                    f,
                    "another dbdyno is measuring run {run} (pid {pid}); wait until it is done"
                )
            }
            LabError::OwnLoad(_, cause) => {
                write!(f, "{cause}")?;
                match &**cause {
                    LabError::Load(_, _, error) if error.is_out_of_range() => f.write_str(
                        "\n  a value of {seq} has 64 bits: the column that takes it is a BIGINT",
                    ),
                    _ => Ok(()),
                }
            }
            LabError::BrokeOff(run, cause) => {
                write!(f, "{cause}\n  what was measured until then: dbdyno show {run}\n  ")?;
                match &**cause {
                    LabError::OwnLoad(file, _) => {
                        write!(f, "mend {file} and compare again: the run keeps it as it was")
                    }
                    _ => write!(f, "to go on from there: dbdyno resume {run}"),
                }
            }
        }
    }
}

impl std::error::Error for LabError {}

impl From<StoreError> for LabError {
    fn from(error: StoreError) -> Self {
        LabError::Store(error)
    }
}

impl From<JudgeError> for LabError {
    fn from(error: JudgeError) -> Self {
        LabError::Judge(error)
    }
}

impl From<PlanLoadsError> for LabError {
    fn from(error: PlanLoadsError) -> Self {
        LabError::Loads(error.0)
    }
}

/// What to try next.
fn hint(error: &WireError) -> &'static str {
    match error {
        WireError::Connect(..) => {
            "\n  is the server running there? try host, port or ?socket=PATH in the URL"
        }
        WireError::Login(_) => {
            "\n  give user, password and database as mysql://USER:PASSWORD@HOST/DATABASE, or the \
             password in MYSQL_PWD or PGPASSWORD, in ~/.my.cnf, ~/.mylogin.cnf or ~/.pgpass"
        }
        WireError::Server(_)
        | WireError::Tls(_)
        | WireError::Exposed(_)
        | WireError::Broken(_)
        | WireError::Protocol(_)
        | WireError::Late(_)
        | WireError::Crowded { .. }
        | WireError::Cut
        | WireError::Interrupted => "",
    }
}

/// What to try next when a disk is full, in the words of SQLite, MySQL and PostgreSQL.
fn room(error: &LoadError) -> &'static str {
    let LoadError::Wire(WireError::Server(error), _) = error else { return "" };
    let full = ["is full", "No space left", "no space left"];
    if full.iter().any(|words| error.message.contains(words)) {
        "\n  make room on that disk, ask for fewer --rows, or give a --home on a larger one"
    } else {
        ""
    }
}
