//! Why a stored run cannot be judged.

use std::fmt;

use dbdyno_stats::StatsError;
use dbdyno_workload::planned::PlanLoadsError;

/// Why a stored run cannot be judged.
#[derive(Debug)]
pub enum JudgeError {
    /// Stored rates that cannot be judged.
    Stats(StatsError),
    /// Two stored runs cannot be compared, or one cannot be made longer. A whole sentence.
    Unlike(String),
    /// The loads of a plan are none. A whole sentence.
    Loads(PlanLoadsError),
    /// A history cannot be told. A whole sentence.
    History(String),
}

impl fmt::Display for JudgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JudgeError::Stats(error) => write!(f, "the stored rounds cannot be judged: {error}"),
            JudgeError::Loads(error) => write!(f, "{error}"),
            JudgeError::Unlike(text) | JudgeError::History(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for JudgeError {}

impl From<StatsError> for JudgeError {
    fn from(error: StatsError) -> Self {
        JudgeError::Stats(error)
    }
}

impl From<PlanLoadsError> for JudgeError {
    fn from(error: PlanLoadsError) -> Self {
        JudgeError::Loads(error)
    }
}
