//! Profiles of a server, from anybody's tool, and their difference.
//!
//! ```text
//!   collapsed │ perf script, report, top │ gdb │ pt-pmp │ bcc │ bpftrace │ async-profiler │ pprof
//!                        ──read──▶ own samples, and samples by caller
//!     several a side ──names──▶ matched: exact, plain, renamed by callers and callees, alone
//!                    ──difference──▶ for an operation, with intervals and q-values
//!                    ──flame──▶ who called whom, and what that cost on each side
//! ```

mod async_profiler;
mod backtraces;
mod bcc;
mod bpftrace;
mod counts;
mod coverage;
mod difference;
mod excerpt;
mod filled;
mod flame;
mod form;
mod inlined;
mod lost;
mod nameless;
mod names;
mod others;
mod perf_report;
mod perf_script;
mod pprof;
mod primitives;
mod programs;
mod rate;
mod read;
mod ruby;
mod samples;
mod speedscope;
mod stack;
mod waits;

pub(crate) use names::matched_names;

pub use difference::{WeightedProfile, difference, flame_graph, why_incomparable};
pub use form::{
    CodePart, EVENT_LINE, MeasureUnit, PERIOD_LINE, ProfileError, ProfileMeasure, SAMPLES_LINE,
};
pub use read::{read, read_process};
pub use samples::Profile;
pub use waits::{WaitStacks, by_class, compare_waits, part_rest};
