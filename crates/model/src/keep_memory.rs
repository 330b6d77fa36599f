//! Whether memory that rests is kept from being taken away by the host of a virtual machine.
//!
//! ```text
//!   auto     read a byte of each page before rounds, once pages of an arm were found taken away
//!   always   from the first round on
//!   never    only look
//! ```
//!
//! A page that was taken away costs whoever touches it a hundred microseconds, and which pages are
//! taken is luck: servers with tables larger than what they touch all the time are compared by it.

use std::fmt;
use std::str::FromStr;

/// When pages of the arms are read before a round, so that the host has them all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeepMemory {
    /// Once the host was seen to take pages of an arm.
    #[default]
    Auto,
    /// From the first round on.
    Always,
    /// Never.
    Never,
}

impl KeepMemory {
    /// All of them.
    pub const ALL: [KeepMemory; 3] = [KeepMemory::Auto, KeepMemory::Always, KeepMemory::Never];
}

impl fmt::Display for KeepMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeepMemory::Auto => "auto",
            KeepMemory::Always => "always",
            KeepMemory::Never => "never",
        })
    }
}

impl FromStr for KeepMemory {
    type Err = String;

    fn from_str(text: &str) -> Result<KeepMemory, String> {
        let named = KeepMemory::ALL.into_iter().find(|keep| keep.to_string() == text);
        named.ok_or_else(|| "write auto, always or never".to_owned())
    }
}
