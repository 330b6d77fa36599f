//! Servers, looked at each second.
//!
//! ```text
//!   observer   one session of a server, opened again when it is gone
//!     ├── pace     each question as often as its cost allows
//!     └── moments  what was read, and when ─▶ what it is by the second
//!   extremes   what each metric was over the whole time, in bounded memory
//! ```
//!
//! Whoever calls brings the clock, so that all of it is tested in virtual time. What a server does
//! not tell, or not this account, is absent and never zero.

mod extremes;
mod moments;
mod observer;
mod pace;

pub use extremes::MetricExtremes;
pub use moments::MetricValues;
pub use observer::{Observer, ServerLook};
