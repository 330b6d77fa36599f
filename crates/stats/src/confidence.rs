//! How sure is sure enough.

/// The confidence of every interval that is shown.
pub const SHOWN_CONFIDENCE: f64 = 0.95;
/// How often a cell in which nothing changed may be called slower or faster.
pub const DECISION_ALPHA: f64 = 0.01;
