//! What a processor without work does while rounds are measured.
//!
//! ```text
//!   halt   │ statement │ sleeps … │ woken up │ statement │    as the kernel does by itself
//!   poll   │ statement │ polls ……………………………│ statement │    nothing to wake up from
//! ```
//!
//! With `halt` and few clients each statement contains the wake-up of a processor, which is the
//! same in both arms and makes a difference between them look smaller than it is.

use crate::words::words;

words! {
    /// What processors without work do.
    #[derive(Default)]
    Idle {
        /// What the kernel is set to, usually to halt.
        #[default]
        Halt = "halt",
        /// They poll for work (the kernel's PM QoS: the latency that processors may need to wake up
        /// is set to 0).
        Poll = "poll",
    }
}
