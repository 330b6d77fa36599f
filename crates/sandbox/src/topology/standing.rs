//! How a member stands, in words that are the same for every shape.

use dbdyno_model::MemberRole;

/// What a member has yet to do. What cannot be known is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberStanding {
    /// Its number, from 1.
    pub member: u8,
    /// What it is.
    pub role: MemberRole,
    /// In its own words: `ONLINE`, `streaming`, `IO Yes, SQL Yes`.
    pub state: String,
    /// Whether it does its part.
    pub works: Works,
    /// Transactions that it has not applied.
    pub transactions: Option<u64>,
    /// Bytes of log that it has not applied.
    pub bytes: Option<u64>,
    /// For how long the oldest of them has waited, as the server says it.
    pub seconds: Option<f64>,
}

/// Whether a member does its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Works {
    /// It does.
    Yes,
    /// It has stopped, or was thrown out.
    No,
}
