//! Warnings are values: stored with a result and shown wherever the result is shown.

use crate::foreign;
use crate::words::words;

/// Characters of a warning.
const TEXT_MOST: usize = 100_000;

words! {
    /// How much a warning weighs.
    #[derive(PartialOrd, Ord)]
    Severity {
        /// Worth knowing when reading the number.
        Note = "note",
        /// The number may mislead unless this is taken into account.
        Caution = "caution",
        /// No verdict is given because of this.
        Blocks = "blocks",
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

/// Codes of notes that say how dbdyno measures, whatever is measured.
const ABOUT_METHOD: [&str; 8] = [
    "idle-poll",
    "interleaved",
    "longer-rounds",
    "memory-shared",
    "one-processor",
    "one-start",
    "placed",
    "sharded-clients",
];

impl Warning {
    /// The code of the reason why a run did not come to its end; of a complete run it says nothing.
    pub const BROKE_OFF: &str = "broke-off";

    /// A warning with the given severity, key and sentence. What servers have said in it is made to
    /// show itself, and cut off where nobody reads on.
    pub fn new(severity: Severity, code: &str, text: impl Into<String>) -> Self {
        let text: String = text.into();
        let text = foreign::truncate_text(&foreign::lines(&text), TEXT_MOST).into_owned();
        Warning { severity, code: code.to_owned(), text }
    }

    /// Whether it is a note that explains how dbdyno measures. Whoever has read it once knows it;
    /// all others say something about this run.
    pub fn is_about_method(&self) -> bool {
        self.severity == Severity::Note && ABOUT_METHOD.contains(&self.code.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_on_the_method_is_known_by_severity_and_code() {
        let is = |severity, code| Warning::new(severity, code, "text").is_about_method();
        assert!(is(Severity::Note, "one-start"));
        assert!(!is(Severity::Blocks, "one-start"), "of two stored runs it withholds a verdict");
        assert!(!is(Severity::Note, "encrypted"), "that is a fact of the run");
    }
}
