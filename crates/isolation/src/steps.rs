//! A few sessions, a statement at a time, by somebody who sees who waits.
//!
//! ```text
//!   script   T1: begin │ T1: update … │ T2: update … │ T1: commit │ …      in this order
//!                                          │
//!   Stage    sends a step to the thread of its session, then settles:
//!              an answer?                            ─▶ noted
//!              none, and the server says it waits?   ─▶ on with the script (`waits`)
//!              a circle of waits?                    ─▶ the server will break it: goes on looking
//!              neither, for LIMIT                    ─▶ no verdict: it is ended from outside
//! ```
//!
//! That a step waits is never concluded from time. A session that waits keeps its further steps
//! until it has been answered, and takes them then before the script goes on. One that is refused
//! rolls back, as a client would, and its steps up to the next BEGIN are left out.

mod stage;
mod waits;

pub(crate) use stage::{Effect, Line, Stage, StepReport, few_rows};
pub(crate) use waits::WaitAttribution;
