//! What a processor without work does while rounds are measured.
//!
//! ```text
//!   halt   │ statement │ sleeps … │ woken up │ statement │    as the kernel does by itself
//!   poll   │ statement │ polls ……………………………│ statement │    nothing to wake up from
//! ```
//!
//! With `halt` and few clients each statement contains the wake-up of a processor, which is the
//! same in both arms and makes a difference between them look smaller than it is.

use std::fmt;
use std::str::FromStr;

/// What processors without work do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Idle {
    /// What the kernel is set to, usually to halt.
    #[default]
    Halt,
    /// They poll for work (the kernel's PM QoS: the latency that processors may need to wake up is
    /// set to 0).
    Poll,
}

impl fmt::Display for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Idle::Halt => "halt",
            Idle::Poll => "poll",
        })
    }
}

impl FromStr for Idle {
    type Err = String;

    fn from_str(text: &str) -> Result<Idle, String> {
        match text {
            "halt" => Ok(Idle::Halt),
            "poll" => Ok(Idle::Poll),
            _ => Err("write halt or poll".to_owned()),
        }
    }
}
