//! What came of the statements of an interleaving, whoever carried it out: a server or a model.

/// What a statement was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementAnswer {
    /// A read saw what the statement at this place of the interleaving wrote; `None` is what was
    /// there at the beginning.
    Read(Option<usize>),
    /// It was done.
    Done,
    /// It was refused, and its transaction rolled back.
    Refused,
    /// It was not sent: its transaction had been rolled back before.
    LeftOut,
    /// Nothing came, and nobody said why.
    Nothing,
}

/// One statement of an interleaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatementReply {
    /// What came back.
    pub answer: StatementAnswer,
    /// Whether it waited.
    pub waited: bool,
}
