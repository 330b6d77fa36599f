//! Values that many parts of the view have.

use dbdyno_model::{Verdict, Warning};
use serde::{Serialize, Serializer};

/// The value where it is a number, without the sign of a negative zero.
pub(crate) fn if_finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value + 0.0)
}

/// A verdict that is written as its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerdictView(pub Verdict);

impl Serialize for VerdictView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

/// Something that the reader must know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WarningView {
    /// `note`, `caution` or `blocks`.
    pub severity: &'static str,
    /// Stable key for machines.
    pub code: String,
    /// One sentence for people.
    pub text: String,
}

impl WarningView {
    pub(crate) fn new(warning: &Warning) -> WarningView {
        WarningView {
            severity: warning.severity.name(),
            code: warning.code.clone(),
            text: warning.text.clone(),
        }
    }
}
