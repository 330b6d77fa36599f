//! A password that cannot be printed by accident.

use std::fmt;

/// A secret string. `Debug` and `Display` show `***`; only [`Secret::expose`] gives the text, and
/// it is called where the text goes onto a wire and nowhere else.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Wraps a password.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// The password itself.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether the password is the empty string.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
