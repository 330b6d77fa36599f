//! What judges of objects say.

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
