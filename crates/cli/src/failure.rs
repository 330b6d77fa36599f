//! What the user is told when it cannot be done.

use std::fmt;

use dbdyno_judge::JudgeError;
use dbdyno_lab::LabError;
use dbdyno_sandbox::SandboxError;
use dbdyno_store::StoreError;

use crate::exit::Exit;

/// A failure in the user's world; its text ends with what to try next.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was typed cannot be meant.
    Usage(String),
    /// The experiment could not be carried out.
    Lab(Box<LabError>),
    /// What was measured cannot be judged.
    Judge(JudgeError),
    /// The home or a server could not be used.
    Sandbox(SandboxError),
    /// The store could not be used.
    Store(StoreError),
    /// A file could not be written. Carries its path.
    Write(String, std::io::Error),
}

impl Failure {
    /// The exit code that belongs to it.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Failure::Lab(error) if error.is_interruption() => Exit::Interrupted,
            // Whoever reads our output has gone; that is no failure of ours.
            Failure::Write(_, error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                Exit::Holds
            }
            _ => Exit::CouldNot,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(text) => f.write_str(text),
            Failure::Lab(error) => write!(f, "{error}"),
            Failure::Judge(error) => write!(f, "{error}"),
            Failure::Sandbox(error) => write!(f, "{error}"),
            Failure::Store(error) => write!(f, "{error}"),
            Failure::Write(_, error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            Failure::Write(path, error) => {
                write!(f, "could not write {path}: {error}; free some space or name another place")
            }
        }
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        Failure::Lab(Box::new(error))
    }
}

impl From<JudgeError> for Failure {
    fn from(error: JudgeError) -> Self {
        Failure::Judge(error)
    }
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        Failure::Sandbox(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::Store(error)
    }
}
