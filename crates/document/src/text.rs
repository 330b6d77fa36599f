//! Text that is of no format yet.

use dbdyno_model::foreign;

/// Text as it is meant, with whatever a server or a file put into it. Only a writer can take it
/// out, and each makes it harmless in its own way: there is no text that was escaped beforehand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(String);

impl Text {
    /// The text on one line, of characters that show themselves.
    pub(crate) fn one_line(&self) -> String {
        foreign::one_line(&self.0).into_owned()
    }

    /// Whether nothing is to be read.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text(text)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(text.to_owned())
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Text(text.clone())
    }
}
