//! Profiles of a server, from anybody's tool, and their difference.
//!
//! ```text
//!   stacks, collapsed │ perf script │ perf report ──read──▶ own samples, and samples by caller
//!     several a side ──names──▶ matched: exact, plain, renamed by callers and callees, alone
//!                    ──difference──▶ for an operation, with intervals and q-values
//!                    ──flame──▶ who called whom, and what that cost on each side
//! ```

mod difference;
mod flame;
mod names;
mod perf_report;
mod read;
mod samples;
mod waits;

pub(crate) use names::matched_names;

pub use difference::{Weighed, difference, flame};
pub use read::{ProfileError, read};
pub use samples::Profile;
pub use waits::{Waited, waits};
