//! An estimate with its doubt, and what it says.

/// An estimate with a confidence interval. `low` and `high` may be infinite where too little was
/// measured to bound the estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub estimate: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// The four answers. There is no fifth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The test arm does fewer statements per second, or answers later at the same rate.
    Slower,
    /// Any difference is smaller than the budget.
    Equal,
    /// The test arm does more statements per second, or answers sooner at the same rate.
    Faster,
    /// What was measured does not decide it.
    Undecided,
}

impl Verdict {
    /// The spelling in JSON, CSV and store: `slower|equal|faster|undecided`.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Slower => "slower",
            Verdict::Equal => "equal",
            Verdict::Faster => "faster",
            Verdict::Undecided => "undecided",
        }
    }
}
