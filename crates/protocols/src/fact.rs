//! What is shown of a state: names and values, in the shapes that a trace has.

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateFact {
    /// A word or a sentence.
    Text(String),
    /// A number.
    Number(i64),
    /// Several, in an order.
    List(Vec<StateFact>),
    /// Named values.
    Record(Vec<(&'static str, StateFact)>),
    /// Values by what they belong to.
    Map(Vec<(String, StateFact)>),
}

/// The variables of a state.
pub type Facts = Vec<(&'static str, StateFact)>;

/// One state of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// What happened; empty at the beginning.
    pub action: String,
    /// What is there afterwards.
    pub facts: Facts,
}

impl StateFact {
    /// A text.
    pub(crate) fn from_text(text: impl Into<String>) -> StateFact {
        StateFact::Text(text.into())
    }

    /// A list of texts.
    pub(crate) fn from_texts(texts: impl IntoIterator<Item = String>) -> StateFact {
        StateFact::List(texts.into_iter().map(StateFact::Text).collect())
    }
}
