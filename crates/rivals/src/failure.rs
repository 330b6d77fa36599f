//! What keeps a transaction from being done.

/// Why a transaction was not done. It is rolled back.
#[derive(Debug)]
pub enum Failure {
    /// Others were in the way: it is to be tried again.
    Conflict,
    /// Something else.
    Broken(String),
}
