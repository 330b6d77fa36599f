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

use crate::words::words;

words! {
    /// When pages of the arms are read before a round, so that the host has them all.
    #[derive(Default)]
    KeepMemory {
        /// Once the host was seen to take pages of an arm.
        #[default]
        Auto = "auto",
        /// From the first round on.
        Always = "always",
        /// Never.
        Never = "never",
    }
}
