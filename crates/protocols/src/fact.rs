//! What is shown of a state: names and values, in the shapes that a trace has.

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A word or a sentence.
    Text(String),
    /// A number.
    Number(i64),
    /// Several, in an order.
    List(Vec<Fact>),
    /// Named values.
    Record(Vec<(&'static str, Fact)>),
    /// Values by what they belong to.
    Map(Vec<(String, Fact)>),
}

/// The variables of a state.
pub type Facts = Vec<(&'static str, Fact)>;

/// One state of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// What happened; empty at the beginning.
    pub action: String,
    /// What is there afterwards.
    pub facts: Facts,
}

impl Fact {
    /// A text.
    pub(crate) fn text(text: impl Into<String>) -> Fact {
        Fact::Text(text.into())
    }

    /// A list of texts.
    pub(crate) fn texts(texts: impl IntoIterator<Item = String>) -> Fact {
        Fact::List(texts.into_iter().map(Fact::Text).collect())
    }
}
