//! What a transaction goes through on its way to a replica, as state machines: an event in,
//! actions out, and no clock, thread or file inside.
//!
//! ```text
//!   source   rows that were written ─► certify    may it commit, and as which number
//!                                   ─► depend     on which of those before it
//!   replica                         ─► apply      who may be executed, and committed, now
//! ```
//!
//! Each is one seam: sibling files that do the same in different ways, one value of a field of a
//! [`dbdyno_model::Design`]. Threads drive them (`engine::follow`) as well as virtual time
//! ([`schedule`]), and see the same.

pub mod apply;
pub mod certify;
pub mod depend;
pub mod ids;
pub mod schedule;

pub use apply::Applier;
pub use certify::Certifier;
pub use depend::{Dependencies, Tracker};
pub use ids::{RowKey, Sequence};
pub use schedule::Schedule;
