//! What a plan will find and cost, and when a cell of it ends.
//!
//! ```text
//!   Plan ──outlook──▶ what it finds, in which time      Wish ──outlook::aim──▶ Plan
//!     │                 ▲
//!     │            runs before: how far pairs and restarts are spread, what they take
//!     ├── slices      which rounds are cut, so that both arms meet the same host
//!     ├── ending      whether a cell is over by what was measured of it
//!     ├── remaining   what is left of a run that stopped
//!     └── extension   the plan of a run that is made longer
//! ```
//!
//! Pure: no I/O and no clock.

pub mod ending;
mod extension;
pub mod interleaving;
mod outlook;
mod remaining;

pub use extension::{Extension, extended, warning as extension_warning};
pub use outlook::{End, Numbers, Outlook, USUAL_POWER, Wish, aim};
pub use remaining::Remaining;
