//! What judges of objects say.

use crate::late::LateBeginning;

/// What can be said of the objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectVerdict {
    /// They are as they should be, and what was found.
    Holds(String),
    /// They are not: what it is called, and sentences that show it.
    Broken {
        /// Its name.
        anomaly: String,
        /// What shows it.
        evidence: Vec<String>,
    },
    /// Nothing was answered that could have shown that they are not, and what is needed.
    NothingCompared(String),
    /// It cannot be told, and why.
    CannotTell(String),
}

impl ObjectVerdict {
    /// What so many contradictions say that lie apart in time, in a file that begins late: each
    /// needs an operation from before it that was lost, and was carried out at that time.
    pub(super) fn from_contradictions(
        count: u64,
        late: LateBeginning,
        anomaly: &str,
        evidence: Vec<String>,
    ) -> ObjectVerdict {
        if late.lost_at_most().is_some_and(|most| count > most) {
            return ObjectVerdict::Broken { anomaly: anomaly.to_owned(), evidence };
        }
        ObjectVerdict::CannotTell(format!(
            "{anomaly}, unless one of unknown outcome that began before the file was carried out \
             within it: {}",
            evidence.join("; ")
        ))
    }
}
