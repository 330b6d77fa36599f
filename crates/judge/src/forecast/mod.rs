//! What a plan will find and cost, and when a cell of it ends.
//!
//! ```text
//!   Plan ──cell_forecast──▶ what it finds, in which time      Wish ──plan_for──▶ Plan
//!     │                 ▲
//!     │            earlier runs: variance of pairs and restarts, and their duration
//!     ├── interleaving which rounds are cut, so that both arms meet the same host
//!     ├── ending      whether the results of a cell end it
//!     ├── remaining   what is left of a run that stopped
//!     └── extension   the plan of a run that is extended
//! ```
//!
//! Pure: no I/O and no clock.

mod cell_forecast;
pub mod ending;
mod extension;
pub mod interleaving;
mod plan_for;
mod remaining;

pub use cell_forecast::CellForecast;
pub use extension::{Extension, extended_plan, extension_warning};
pub use plan_for::{End, Numbers, USUAL_POWER, Wish, plan_for_wish};
pub use remaining::RemainingWork;
