//! What a machine did not let us do, and where.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What was to be done with which place of a machine, and why that was not possible. `Display` is
/// one sentence: `/proc/7/io cannot be read (Permission denied)`.
#[derive(Debug)]
pub struct HostError {
    /// As it follows "cannot be": `read`, `listed`.
    action: &'static str,
    place: PathBuf,
    source: io::Error,
}

impl HostError {
    /// What failed, as it follows "cannot be", and where.
    pub fn new(action: &'static str, place: &Path, source: io::Error) -> HostError {
        HostError { action, place: place.to_owned(), source }
    }

    /// The kind of the reason: not found, not permitted, larger than the limit.
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }

    /// The file, folder or link.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// The reason alone, for who names the place himself.
    pub fn into_source(self) -> io::Error {
        self.source
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be {} ({})", self.place.display(), self.action, self.source)
    }
}

impl std::error::Error for HostError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
