//! What is to be explained.

use dbdyno_model::{Cell, Plan, RunPair, Witness};

/// What is to be explained, and how far.
#[derive(Clone, Copy)]
pub struct ExplainQuestion<'a> {
    /// Two arms of a run.
    pub run: RunPair<'a>,
    /// One of its cells.
    pub cell: &'a Cell,
    /// Cells of the run that are explained with it: a trial that counts instructions for this one
    /// counts them for those, too, that want the same, since starting the servers takes longest.
    pub beside: &'a [Cell],
    /// In what causes are looked for; `None`: in instructions, where these show the difference.
    pub by: Option<Witness>,
    /// How the rates of a trial are measured: all but its arms. Without it rates are not measured,
    /// and what was found by instructions is not confirmed.
    pub rates: Option<&'a Plan>,
    /// It ends after so many milliseconds, by the laboratory's clock; a trial that runs then is cut
    /// short.
    pub limit_ms: Option<u64>,
    /// The version of dbdyno.
    pub tool_version: &'a str,
}
