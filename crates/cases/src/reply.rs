//! What came of the statements of an interleaving, whoever carried it out: a server or a model.

/// What a statement was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
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
pub struct Reply {
    /// What came back.
    pub answer: Answer,
    /// Whether it waited.
    pub waited: bool,
}
