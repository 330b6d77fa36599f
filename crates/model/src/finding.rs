//! What `dbdyno doctor` says about a host.

use crate::warning::Severity;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A stable key for machines, e.g. `governor`.
    pub code: String,
    /// How much it weighs; `None` if all is well.
    pub severity: Option<Severity>,
    /// What was found, with its figures.
    pub found: String,
    /// What to change, and what it costs to ignore it. Empty if all is well.
    pub advice: Option<Advice>,
}

/// What to do about a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What to change, as a command where there is one.
    pub change: String,
    /// What it costs to ignore it, measured here or by whom.
    pub cost: String,
}

impl Finding {
    /// All is well.
    pub fn without_advice(code: &str, found: impl Into<String>) -> Finding {
        Finding { code: code.to_owned(), severity: None, found: found.into(), advice: None }
    }

    /// Something is to be known or changed.
    pub fn with_advice(
        severity: Severity,
        code: &str,
        found: impl Into<String>,
        change: impl Into<String>,
        cost: impl Into<String>,
    ) -> Finding {
        let advice = Some(Advice { change: change.into(), cost: cost.into() });
        Finding { code: code.to_owned(), severity: Some(severity), found: found.into(), advice }
    }

    /// `"good"`, `"note"`, `"caution"` or `"blocks"`.
    pub fn state_name(&self) -> &'static str {
        self.severity.map_or("good", Severity::name)
    }
}
