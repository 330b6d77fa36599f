//! Warnings are values: stored with a result and shown wherever the result is shown.

/// How much a warning weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing when reading the number.
    Note,
    /// The number may mislead unless this is taken into account.
    Caution,
    /// No verdict is given because of this.
    Blocks,
}

impl Severity {
    /// `"note"`, `"caution"` or `"blocks"`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Caution => "caution",
            Severity::Blocks => "blocks",
        }
    }

    /// The severity with this [`Severity::name`].
    pub fn from_name(name: &str) -> Option<Severity> {
        [Severity::Note, Severity::Caution, Severity::Blocks]
            .into_iter()
            .find(|severity| severity.name() == name)
    }
}

/// Something the reader of a result must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// How much it weighs.
    pub severity: Severity,
    /// A stable key for machines, e.g. `client-saturated`.
    pub code: String,
    /// One sentence for people, ending with what to try next where there is something to try.
    pub text: String,
}

impl Warning {
    /// A warning with the given severity, key and sentence.
    pub fn new(severity: Severity, code: &str, text: impl Into<String>) -> Self {
        Warning { severity, code: code.to_owned(), text: text.into() }
    }
}
